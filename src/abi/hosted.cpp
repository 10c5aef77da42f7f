// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/embed/hosted.h"

#include "abi/convert.hpp"
#include "core/plan.hpp"
#include "core/spawn.hpp"
#include "core/suspend.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"
#include "process/process.hpp"
#include "share/guest.hpp"
#include "share/hosted.hpp"
#include "sync/objects.hpp"

using namespace weft;

namespace {

constexpr std::uint64_t moment_ns = 50'000;

// A guest's hart and OS thread are for the units and carriers that are about to have nothing to do.
// Any other caller lets those run once, and keeps its OS thread, which may be the only one: it
// would continue from a sleep only if it were notified of the time.
void wait_a_moment() {
    if (calling_guest() != nullptr) {
        static_cast<void>(sync::sleep_until(os::now_ns() + moment_ns));
        return;
    }
    static_cast<void>(yield_now());   // an OS thread that is outside cannot
    const atomic<std::uint32_t> nobody_wakes{0};
    os::futex_wait(nobody_wakes, 0, moment_ns);
}

// An OS thread that is outside comes in for the time, if that takes no waiting. If no other OS
// thread can be had, no other might run the units that are about to have nothing to do.
class Inside {
public:
    explicit Inside(const Process& of)
        : entered_(current_or_null() == nullptr && of.base.available() != 0 && enter_as_guest() == WEFT_OK) {}
    ~Inside() {
        if (entered_) leave_as_guest();
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

private:
    const bool entered_;
};

}   // namespace

extern "C" {

bool weft_hosted(void) noexcept { return hosted_or_null() != nullptr; }

uint32_t weft_hosted_thread_id(void) noexcept {
    const Unit* const unit = hosted_or_null();
    return unit == nullptr ? 0 : thread_id_of(*unit);
}

void weft_hosted_as_carrier(void (*fn)(void*), void* argument) noexcept { call_by_carrier(fn, argument); }

void weft_hosted_unconfined(void (*fn)(void*), void* argument) noexcept { call_unconfined(fn, argument); }

weft_status weft_hosted_signal(uintptr_t thread, int signal) noexcept {
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();
    if (signal < 0 || signal > 64) return fail(WEFT_INVALID, "there is no signal %d", signal);
    return signal_hosted(*of, thread, signal) ? WEFT_OK : fail(WEFT_INVALID, "this pthread is none of hosted units");
}

weft_status weft_hosted_prepare(size_t count, size_t stack_bytes) noexcept {
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();
    if (stack_bytes != 0 && stack_bytes < WEFT_STACK_LEAST) return stack_too_small(stack_bytes);
    return prepare_hosts(*of, count, stack_bytes, wait_a_moment)
               ? WEFT_OK
               : fail(WEFT_SYSTEM, "the kernel starts no more threads");
}

weft_status weft_hosted_make_room(bool (*attempt)(void*), void* argument) noexcept {
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();
    if (os::thread_is_starting_one()) return fail(WEFT_WRONG_CONTEXT, "Weft starts a thread of its own there");
    const Inside inside(*of);
    return make_room_for_program(*of, attempt, argument, wait_a_moment)
               ? WEFT_OK
               : fail(WEFT_SYSTEM, "the kernel starts no more threads");
}

}   // extern "C"
