// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/io.h"

#include <sys/epoll.h>

#include <cstring>

#include "abi/convert.hpp"
#include "os/clock.hpp"
#include "process/housekeeping.hpp"
#include "runtime/blocking.hpp"
#include "sync/objects.hpp"

using namespace weft;

namespace {

// The contents of a weft_timer.
struct UserTimer : Timer {
    void (*fn)(void*) = nullptr;
    void* argument = nullptr;
};
static_assert(sizeof(UserTimer) <= sizeof(weft_timer) && alignof(UserTimer) <= alignof(weft_timer));

UserTimer& to_timer(weft_timer* handle) { return *reinterpret_cast<UserTimer*>(handle); }

Poller* to_poller(weft_poller* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<Poller>(handles::Thing::poller, handle, call);
}

// Completes the hint; not WEFT_OK: it makes no sense.
weft_status complete(const weft_poller_hint* hint, weft_poller_hint& out) {
    if (hint == nullptr) return WEFT_OK;
    if (hint->size < sizeof(std::size_t) || hint->size > 4096) {
        return fail(WEFT_INVALID, "weft_poller_hint.size is %zu; set it to sizeof(weft_poller_hint)", hint->size);
    }
    std::memcpy(&out, hint, hint->size < sizeof out ? hint->size : sizeof out);
    if (out.events == 0) out.events = EPOLLIN;
    if (out.has_descriptor && out.descriptor < 0) return fail(WEFT_INVALID, "%d is no file descriptor", out.descriptor);
    if (out.only_when_ready && !out.has_descriptor)
        return fail(WEFT_INVALID, "only_when_ready needs a descriptor that says when");
    return WEFT_OK;
}

}   // namespace

extern "C" {

weft_status weft_sleep_until(uint64_t deadline_ns) noexcept { return sync::sleep_until(deadline_ns); }

weft_status weft_sleep_for(uint64_t duration_ns) noexcept {
    const std::uint64_t now_ns = os::now_ns();
    return sync::sleep_until(duration_ns > ~now_ns ? os::forever : now_ns + duration_ns);
}

weft_status weft_timer_start(weft_timer* timer, void (*fn)(void*), void* argument, uint64_t deadline_ns) noexcept {
    if (timer == nullptr || fn == nullptr) return is_null(timer == nullptr ? "timer" : "fn");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    UserTimer& made = to_timer(timer);
    if (made.home.load() != nullptr) return fail(WEFT_WRONG_STATE, "the timer is started already; cancel it first");
    made.deadline_ns = deadline_ns;
    made.fn = fn;
    made.argument = argument;
    made.claim = [](Timer&) { return true; };
    made.fire = [](Timer& fired) {
        auto& due = static_cast<UserTimer&>(fired);
        due.fn(due.argument);
    };
    if (Stream* stream = current_or_null()) {
        arm(*stream, made);
    } else {
        arm_outside(*of, made);
    }
    return WEFT_OK;
}

weft_status weft_timer_cancel(weft_timer* timer) noexcept {
    if (timer == nullptr) return is_null("timer");
    return Timers::cancel(to_timer(timer))
               ? WEFT_OK
               : say(WEFT_WRONG_STATE, "the timer is not waiting: it has fired, or was not started");
}

weft_status weft_poller_register(bool (*fn)(void*), void* argument, const weft_poller_hint* hint,
                                 weft_poller** poller) noexcept {
    if (fn == nullptr || poller == nullptr) return is_null(fn == nullptr ? "fn" : "poller");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    weft_poller_hint known{};
    if (const weft_status status = complete(hint, known); status != WEFT_OK) return status;
    const int descriptor = known.has_descriptor ? known.descriptor : -1;
    if (descriptor >= 0 && !of->reactor.thread_there()) {
        return fail(WEFT_SYSTEM,
                    "the kernel refused the thread that waits for descriptors, or the two descriptors that it needs "
                    "(see ulimit -u and -n)");
    }
    Poller* made = of->pollers.add(fn, argument, descriptor, known.events, known.only_when_ready);
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a poller");
    if (descriptor >= 0 && !of->reactor.add(descriptor, known.events, made->tag)) {
        of->pollers.remove(*made, nullptr);
        return fail(WEFT_INVALID, "the kernel does not tell when descriptor %d is ready (a regular file, or closed)",
                    descriptor);
    }
    note_pollers(*of);
    *poller = handles::to_handle<weft_poller>(handles::Thing::poller, made);
    return WEFT_OK;
}

weft_status weft_poller_unregister(weft_poller* poller) noexcept {
    if (poller == nullptr) return is_null("poller");
    Process* of = process_or_null();
    if (of == nullptr) return not_initialized();
    Poller* gone = to_poller(poller);
    const int descriptor = gone->descriptor;
    handles::freed(gone);
    of->pollers.remove(*gone, current_or_null());
    if (descriptor >= 0) of->reactor.remove(descriptor);   // no thread arms it any more
    note_pollers(*of);
    return WEFT_OK;
}

weft_status weft_stream_post(weft_stream* stream, void (*fn)(void*), void* argument) noexcept {
    if (stream == nullptr || fn == nullptr) return WEFT_INVALID;     // no text: the caller may be a signal handler
    if (to_stream(stream)->role.hidden) return WEFT_WRONG_CONTEXT;   // no text, for the same reason
    return post(*to_stream(stream), fn, argument) ? WEFT_OK : WEFT_BUSY;
}

weft_status weft_blocking(void (*fn)(void*), void* argument) noexcept {
    if (fn == nullptr) return is_null("fn");
    return blocking(fn, argument);
}

weft_status weft_on_stream_stack(void (*fn)(void*), void* argument) noexcept {
    if (fn == nullptr) return is_null("fn");
    on_stream_stack(fn, argument);
    return WEFT_OK;
}

}   // extern "C"
