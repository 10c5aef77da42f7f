// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "share/hosted.hpp"

#include <mutex>
#include <utility>

#include "carrier/sentry.hpp"
#include "context/host.hpp"
#include "core/announce.hpp"
#include "core/finish.hpp"
#include "core/jobs.hpp"
#include "core/requests.hpp"
#include "core/start.hpp"
#include "hart/quota.hpp"
#include "observe/observe.hpp"
#include "os/clock.hpp"
#include "os/thread_pointer.hpp"
#include "process/process.hpp"
#include "share/carriers.hpp"

namespace weft {
namespace {

using context::Carrier;
using context::Host;

Host& host_of(const Unit& unit) { return context::host_of(*unit.stack); }

bool goes_to_hosted(const Stream& stream) { return stream.running != nullptr && stream.running->kind == Kind::hosted; }

// ---- the thread pointer -------------------------------------------------------------------------

// Raises the signals that waited for the unit that continues.
[[gnu::noinline]] void take_signals(Host& host) {
    std::uint64_t waiting = host.signals.exchange(0);
    for (int signal = 1; waiting != 0; ++signal, waiting >>= 1) {
        if ((waiting & 1) != 0) os::signal_here(signal);
    }
}

// The first time that the carrier is to run by a thread pointer other than its own.
[[gnu::noinline]] void prepare_carrier(Carrier& carrier) {
    os::host_prepare_carrier();
    if constexpr (config::thread_sanitizer) carrier.fiber = sanitizer::fiber_create();
    carrier.prepared = true;
}

// From a unit, or a scheduler, that runs by the carrier's own thread pointer, which is still set.
[[gnu::always_inline]] inline void arrive_from_native(Stream& stream) {
    Carrier& carrier = stream.carrier.own;
    carrier.floating_point = arch::floating_point();
    if (!carrier.prepared) [[unlikely]]
        prepare_carrier(carrier);
    if constexpr (config::address_sanitizer) sanitizer::asan_finish_switch(nullptr, nullptr, nullptr);
    // The unit that has left may be continued by another OS thread as soon as it is published: this
    // thread is no longer that unit's.
    if constexpr (config::thread_sanitizer) sanitizer::fiber_switch(carrier.fiber);
}

// From now on the thread sanitizer takes this for another thread, which comes after the one before.
[[gnu::always_inline]] inline void change_thread_pointer(Stream& stream, void* pointer) {
    if constexpr (config::thread_sanitizer) sanitizer::tsan_release(&stream);
    os::set_thread_pointer(pointer);
    if constexpr (config::thread_sanitizer) sanitizer::tsan_acquire(&stream);
}

// Before anything else on a host's stack, and before the message of the unit that left is run: the
// message may make that unit known to other threads, and no two OS threads may run by one thread
// pointer. The word is written before the pointer is set, so that a signal's handler finds the
// stream by either.
[[gnu::always_inline]] inline Stream& enter_host(Host& host) {
    Stream& stream = current();
    Carrier& carrier = stream.carrier.own;
    arch::FloatingPoint now = carrier.left_floating_point;
    if (carrier.host == nullptr) {
        arrive_from_native(stream);
        now = carrier.floating_point;
    }
    *host.thread.local_word = &stream;
    host.thread.carrier = carrier.thread_pointer;
    change_thread_pointer(stream, host.thread.thread_pointer);
    carrier.host = &host;
    // relaxed: see signal_hosted()
    host.runs_on.store(stream.carrier.thread_id.load(std::memory_order_relaxed), std::memory_order_relaxed);
    stream.errno_address = host.thread.errno_address;
    stream.exceptions = host.thread.exceptions;
    stream.inline_pool =
        &Stream::no_pool;   // a unit that is called in the place of one that waits runs by its thread pointer
    arch::set_floating_point(host.floating_point, now);
    return stream;
}

// Before the switch to a unit, or a scheduler, that is not hosted.
[[gnu::always_inline]] inline void leave_thread_pointer(Stream& stream, Host& host) {
    Carrier& carrier = stream.carrier.own;
    carrier.host = nullptr;
    stream.errno_address = carrier.errno_address;
    stream.exceptions = carrier.exceptions;
    arch::set_floating_point(carrier.floating_point, host.floating_point);
    change_thread_pointer(stream, carrier.thread_pointer);
}

// Before the switch, on the stack that is left: sets the thread pointer for `target`, and notifies
// the sanitizers.
[[gnu::always_inline]] inline void prepare_to_leave(Stream& stream, Host& host, const context::Target& target) {
    host.floating_point = stream.carrier.own.left_floating_point = arch::floating_point();
    host.runs_on.store(0, std::memory_order_relaxed);   // relaxed: see signal_hosted()
    if (goes_to_hosted(stream)) return;                 // the hosted unit sets its own
    if (stream.running != nullptr && stream.direct != nullptr) stream.inline_pool = stream.direct;
    leave_thread_pointer(stream, host);
    if constexpr (config::address_sanitizer)
        sanitizer::asan_start_switch(nullptr, target.stack->lowest, target.stack->bytes);
    if constexpr (config::thread_sanitizer) sanitizer::fiber_switch(target.stack->fiber);
}

// ---- beginning ----------------------------------------------------------------------------------

// False: the body has been left because the pthread is to end, which no handler sees.
[[nodiscard]] bool call_body(Unit& unit) noexcept {
    try {
        return os::host_call(unit.body, unit.argument);
    } catch (...) {
        keep_exception();
        return true;
    }
}

// Where a hosted unit begins. noinline, like all functions that hold a switch: see
// arch/x86_64/context.hpp.
[[noreturn, gnu::noinline]] void hosted_main(void (*call)(void*), void* argument) {
    // The sanitizer has noted the call of this function for the thread that it took this for; the
    // function does not return.
    if constexpr (config::thread_sanitizer) sanitizer::tsan_function_exit();
    Host& host = host_of(*current().running);
    *enter_host(host).errno_address = 0;
    context::run({call, argument});
    Unit& unit = *current().running;
    if ((!unit.marked(Unit::at_start) || starts(unit)) && !call_body(unit)) host.spoilt = true;
    finish();
}

void release_host(void* host) { current().of->hosts.give(*static_cast<Host*>(host)); }

// Under the thread sanitizer, frames that are never returned from fill the record that it keeps for
// a thread.
bool used_up(Host& host) {
    constexpr unsigned most = 1000;
    return config::thread_sanitizer && ++host.uses == most;
}

}   // namespace

void* begin_hosted(Stream& stream, Unit& unit) {
    Process& of = *stream.of;
    const context::HostsWanted wanted{unit.wanted_stack_bytes(), unit.wants_fresh};
    Host* host = of.hosts.take_idle(wanted);
    if (host == nullptr && stream.running == nullptr) {
        host = of.hosts.start(wanted, cpus_of_process(of));
        if (host == nullptr && end_sentry(of)) [[unlikely]]
            host = of.hosts.start(wanted, cpus_of_process(of));
    }
    if (host == nullptr) return nullptr;
    unit.wants_fresh = false;   // from here on the byte says how the unit ends
    unit.stack = host;
    unit.mark(Unit::careful);
    host->signals.store(0);
    host->floating_point =
        stream.carrier.own.host == nullptr ? arch::floating_point() : stream.carrier.own.floating_point;
    return arch::prepare(host->top, hosted_main);
}

namespace {

// A caller that waits for room, and occupies one of Weft's OS threads while it polls.
class WaitsForRoom {
public:
    explicit WaitsForRoom(Process& of) : of_(of), counts_(hosted_or_null() != nullptr) {
        if (counts_) of_.wait_for_room.fetch_add(1);
    }
    ~WaitsForRoom() {
        if (counts_) of_.wait_for_room.fetch_sub(1);
    }
    WaitsForRoom(const WaitsForRoom&) = delete;
    WaitsForRoom& operator=(const WaitsForRoom&) = delete;

private:
    Process& of_;
    const bool counts_;
};

// The kernel has refused an OS thread that is worth more than the threads that this library can do
// without: these end, one after the other, until attempt() succeeds. Some threads may be about to
// run out of work, and the kernel counts a thread for a moment after others have seen its end.
// False: attempt() has not succeeded in that time, which is longer while more than `busy` carriers
// have something to do.
template <class Attempt>
bool make_room(Process& of, context::Hosts* hosts, Moment moment, std::size_t busy, Attempt attempt) {
    constexpr int most_moments = 400;
    constexpr std::uint64_t longest_ns = 10'000'000'000;
    const WaitsForRoom waits(of);
    const std::uint64_t until_ns = os::now_ns() + longest_ns;
    bool stood_down = false, done = false, one_has_ended = false;
    for (int moments = 0; !done && moments < most_moments; done = attempt()) {
        one_has_ended =
            !one_has_ended && ((hosts != nullptr && hosts->end_one_to_spare()) || give_up_thread(of, stood_down));
        if (one_has_ended) continue;
        if (busy_carriers(of) <= busy + of.wait_for_room.load() || os::now_ns() > until_ns) ++moments;
        moment();
    }
    if (stood_down) watch_again(of);
    return done;
}

}   // namespace

// A missing host ends the program, a missing carrier makes it slower.
bool prepare_hosts(Process& of, std::size_t count, std::size_t stack_bytes, Moment moment) {
    const os::CpuSet* const cpus = cpus_of_process(of);
    std::size_t missing = of.hosts.prepare(count, stack_bytes, cpus);
    if (missing == 0) [[likely]]
        return true;
    return make_room(of, nullptr, moment, 0,
                     [&] { return (missing = of.hosts.prepare(missing, stack_bytes, cpus)) == 0; });
}

bool make_room_for_program(Process& of, bool (*attempt)(void*), void* argument, Moment moment) {
    return make_room(of, &of.hosts, moment, hart::limit(), [&] { return attempt(argument); });
}

[[gnu::noinline]] Stream& leave_hosted(Stream& stream, Unit& self, Unit* next, AfterSwitch after) {
    Host& host = host_of(self);
    const int error = *host.thread.errno_address;
    const context::Target target = detail::way_to(stream, next);
    prepare_to_leave(stream, host, target);
    const context::Message arrived = arch::swap(&self.context, target.context, after);
    Stream& now = enter_host(host);
    context::run(arrived);
    // relaxed: a hint; the signals that wait are taken by an exchange.
    if (host.signals.load(std::memory_order_relaxed) != 0) [[unlikely]]
        take_signals(host);
    *host.thread.errno_address = error;
    return now;
}

[[gnu::noinline]] void conclude_hosted(Unit& unit, Unit* next) {
    Host& host = host_of(unit);
    unit.mark(Unit::ending);   // the destructors may switch
    if (!os::host_settle()) host.spoilt = true;
    if (!os::host_end_of_unit(host.thread)) host.spoilt = true;
    if (next != nullptr && foreign_pool(*next) != nullptr) make_ready(&current(), *std::exchange(next, nullptr));
    Stream& stream = current();
    if (unit.has_jobs()) leave_jobs(stream, unit);
    if (unit.marked(Unit::observed)) observe(trace::Event::finish, unit);
    if (used_up(host)) host.spoilt = true;
    unit.stack = nullptr;
    end_unit_slow(stream, unit);
    next = next != nullptr ? detail::unless_wanted(stream, next) : detail::successor(stream);
    const context::Target target = detail::way_to(stream, next);
    prepare_to_leave(stream, host, target);
    arch::jump(target.context, {release_host, &host});
}

Unit* hosted_or_null() {
    Unit* const unit = running_or_null();
    return unit != nullptr && unit->kind == Kind::hosted ? unit : nullptr;
}

[[gnu::noinline]] void call_by_carrier(void (*fn)(void*), void* argument) {
    const Unit* const unit = hosted_or_null();
    if (unit == nullptr) return fn(argument);
    const os::HostThread& thread = host_of(*unit).thread;
    Stream& stream = current();
    void* const own = stream.carrier.own.thread_pointer;
    void* const hosts = thread.thread_pointer;
    int* const error_there = stream.carrier.own.errno_address;
    int error = *thread.errno_address;
    change_thread_pointer(stream, own);
    *error_there = error;
    fn(argument);
    error = *error_there;
    change_thread_pointer(stream, hosts);
    *thread.errno_address = error;
}

void call_unconfined(void (*fn)(void*), void* argument) {
    if (hosted_or_null() == nullptr) return fn(argument);
    Stream& stream = current();
    os::CpuSet bound_to;
    {
        std::lock_guard guard(stream.of->lock);
        bound_to = stream.carrier.binding;
    }
    if (bound_to.empty()) return fn(argument);
    os::affinity_set(0, stream.of->cpus);
    fn(argument);
    os::affinity_set(0, bound_to);
}

void become_thread(Unit& unit) {
    os::host_forked();
    unit.kind = Kind::full;
    unit.unmark(Unit::careful);
}

std::uint32_t thread_id_of(const Unit& unit) { return host_of(unit).thread.id; }

bool signal_hosted(Process& of, std::uintptr_t pthread, int signal) {
    Host* const host = of.hosts.find(pthread);
    if (host == nullptr) return false;
    if (signal == 0) return true;
    const std::uint64_t bit = std::uint64_t{1} << (signal - 1);
    host->signals.fetch_or(bit);
    // A unit that comes back first writes where it runs and then checks for signals, without a
    // fence in between: a system call later the write has been seen, as far as processors are
    // known.
    os::thread_yield();
    const std::uint32_t carrier = host->runs_on.load();
    if (carrier != 0 && (host->signals.fetch_and(~bit) & bit) != 0) os::signal_thread(carrier, signal);
    return true;
}

}   // namespace weft
