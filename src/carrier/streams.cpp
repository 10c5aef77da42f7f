// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "carrier/streams.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>

#include "base/handles.hpp"
#include "carrier/level.hpp"
#include "carrier/sentry.hpp"
#include "core/finish.hpp"
#include "core/idle.hpp"
#include "core/join.hpp"
#include "core/resume.hpp"
#include "core/run.hpp"
#include "core/suspend.hpp"
#include "hart/parker.hpp"
#include "hart/quota.hpp"
#include "observe/observe.hpp"
#include "os/clock.hpp"
#include "os/thread_pointer.hpp"
#include "process/domain_state.hpp"
#include "process/error.hpp"
#include "process/housekeeping.hpp"
#include "process/outside_wait.hpp"
#include "process/process.hpp"
#include "process/registry.hpp"

namespace weft {
namespace {

// ---- the carrier --------------------------------------------------------------------------------

void settle_on_carrier(Stream& stream) {
    os::set_local(&stream);
    stream.errno_address = os::errno_address();
    stream.exceptions = os::exception_globals();
    stream.carrier.own.thread_pointer = os::thread_pointer();
    stream.carrier.own.errno_address = stream.errno_address;
    stream.carrier.own.exceptions = stream.exceptions;
    stream.carrier.stack.fiber = sanitizer::fiber_current();
    if constexpr (config::address_sanitizer) {
        const os::Span span = os::thread_stack();
        stream.carrier.stack.lowest = static_cast<char*>(span.lowest);
        stream.carrier.stack.bytes = span.bytes;
    }
    // Without a signal stack an overflow ends without its message; nothing else depends on it. A
    // guest's thread gets one when it needs it (serve).
    if (stream.role.guest == nullptr) stream.carrier.signal_stack.enter();
    // release: pairs with the acquire of the thread that binds the stream. seq_cst by default.
    stream.carrier.thread_id.store(os::thread_id());
    os::futex_wake(stream.carrier.thread_id, ~0u >> 1);
}

// Whether the stream's OS thread is the program's.
bool runs_on_programs_thread(const Process& of, const Stream& stream) {
    return stream.role.guest != nullptr || (stream.rank == 0 && !of.by_itself);
}

// Chooses the OS thread that says which CPUs the process may use: an unbound one, and rather an OS
// thread of Weft than one that the program may have pinned by itself. Under the lock.
void choose_speaker(const Process& of) {
    const Stream* chosen = nullptr;
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        const Stream* const stream = of.streams[rank];
        const bool may = stream != nullptr && !stream->role.hidden && stream->carrier.thread_id.load() != 0 &&
                         stream->carrier.binding.empty();
        if (may && (chosen == nullptr || runs_on_programs_thread(of, *chosen))) chosen = stream;
    }
    hart::let_speak(chosen == nullptr ? 0 : chosen->carrier.thread_id.load());
}

// An OS thread inherits the CPUs of the thread that started it, which may be a bound carrier, or
// one of the application's.
void inherit_nothing(Process& of) {
    std::lock_guard guard(of.lock);
    choose_speaker(of);
    if ((of.bound_once || current().role.hidden || current().carrier.starts_late) && current().carrier.binding.empty())
        os::affinity_set(0, of.cpus);
    // the thread that has started it may have other signals, as the reactor has
    if (current().carrier.starts_late) os::thread_set_signals(of.signals);
}

// Frees the pools that a stream draws from for others.
void detach_pools(Stream& stream) {
    sched::detach(*stream.levels.main, &stream);
    if (stream.own != nullptr) pool::detach(*stream.own, &stream);
    if (stream.levels.beneath != nullptr) sched::detach(*stream.levels.beneath, &stream);
}

// After detach_pools().
void drop_beneath(Stream& stream) {
    Sched* beneath = std::exchange(stream.levels.beneath, nullptr);
    if (beneath == nullptr) return;
    Pool& pool = *beneath->pools[0];
    dismiss(*stream.of, *beneath);
    dismiss(*stream.of, pool);
}

// noinline: see arch/x86_64/context.hpp.
[[gnu::noinline]] void run_scheduler(Stream& stream) {
    context::leave(&stream.carrier.context, stream.sched_context, {nullptr, nullptr});
}

// Gives back what the stream has; it runs nothing any more.
void strip(Stream& stream) {
    stream.heap->stacks.give(stream.sched_context.stack);
    if (stream.rank != 0) hand_over_timers(stream);   // to stream 0
    give_stacks(stream);
    stream.heap->units->flush();
    stream.heap->extras->flush();
    stream.heap->stacks.flush();
    detach_pools(stream);
}

void carrier_main(void* raw) {
    auto& stream = *static_cast<Stream*>(raw);
    settle_on_carrier(stream);
    os::thread_name(stream.name);
    inherit_nothing(*stream.of);
    run_scheduler(stream);
    strip(stream);
    stream.carrier.signal_stack.leave();
    os::set_local(nullptr);
    finish_and_wake(stream.ending.join_state);
}

// ---- the table of streams -----------------------------------------------------------------------

Heap* take_heap(Process& of) {
    {
        std::lock_guard guard(of.lock);
        if (Heap* heap = of.idle_heaps) {
            of.idle_heaps = heap->next_idle;
            return heap;
        }
    }
    return make_heap(of);
}

void give_heap(Process& of, Heap* heap) {
    std::lock_guard guard(of.lock);
    heap->next_idle = of.idle_heaps;
    of.idle_heaps = heap;
}

weft_status enter_table(Process& of, Stream& stream, const char* name) {
    std::lock_guard guard(of.lock);
    std::size_t rank = 0;
    while (rank < Process::most_ranks && of.streams[rank] != nullptr) ++rank;
    if (rank == Process::most_ranks)
        return fail(WEFT_INVALID, "there are %zu streams and guests; more are not supported", Process::most_ranks);
    if (!stream.role.hidden && of.stream_count == Process::most_streams)
        return fail(WEFT_INVALID, "there are %zu streams; more are not supported", Process::most_streams);
    stream.rank = rank;
    stream.job_place.random = Random(rank);
    if (name != nullptr) {
        std::snprintf(stream.name, sizeof stream.name, "%s", name);
    } else {
        std::snprintf(stream.name, sizeof stream.name, "weft/%zu", rank);
    }
    if (!give_ring(of, stream))
        return fail(WEFT_NO_MEMORY, "no memory for the events of stream %zu; set WEFT_TRACE_EVENTS to less", rank);
    of.streams[rank] = &stream;
    if (!stream.role.hidden) {
        ++of.stream_count;
        of.hooks.stream_comes(of, of.jobs.streams.fetch_add(1) + 1);
    }
    if (of.polling) stream.attention.fetch_or(attention::polling.word);
    if (of.observing) stream.attention.fetch_or(attention::observing.word);
    stream.telling.observed = of.observing;
    if (rank >= of.ranks_used) of.ranks_used = rank + 1;
    return WEFT_OK;
}

void leave_table(Process& of, Stream& stream) {
    std::lock_guard guard(of.lock);
    of.streams[stream.rank] = nullptr;
    choose_speaker(of);
    if (!stream.role.hidden) {
        --of.stream_count;
        of.jobs.streams.fetch_sub(1);
    }
    for (std::size_t i = 0; i < trace::counts; ++i) {
        const auto which = static_cast<trace::Count>(i);
        of.ended.add(which, stream.counted(which));
    }
}

// Drops a stream that is in no table and has no carrier.
void drop_stream(Process& of, Stream* stream) {
    handles::freed(stream);
    if (stream->sched_context.stack != nullptr) stream->heap->stacks.give(stream->sched_context.stack);
    give_heap(of, stream->heap);
    os::destroy(stream);
}

// A stream without a carrier yet.
weft_status prepare_stream(Process& of, Sched& sched, Pool* own_pool, const char* name, bool carries, Guest* guest,
                           Stream** made) {
    auto* stream = os::make<Stream>(of);
    Heap* heap = stream == nullptr ? nullptr : take_heap(of);
    if (heap == nullptr) {
        os::destroy(stream);
        return fail(WEFT_NO_MEMORY, "no memory for a stream");
    }
    stream->role.hidden = carries;
    if (!carries) stream->job_place.takes_from.store(&of.jobs);
    stream->job_place.publishes_to.store(&of.jobs);
    stream->role.guest = guest;
    stream->heap = heap;
    stream->units = heap->units;
    stream->sleep.jobs_place.belong_to(stream->sleep.sleeper);
    stream->spawning.first_id.store(heap->next_id, std::memory_order_relaxed);   // relaxed: a number
    stream->next_id.store(heap->next_id);
    stream->spawning.tasklet_home.header = Unit::initial_header(Kind::tasklet, true);
    mem::Stack* stack = heap->stacks.take(of.settings.values.scheduler_stack_bytes);
    if (stack == nullptr) {
        drop_stream(of, stream);
        return fail(WEFT_NO_MEMORY, "no memory for the stack of a stream's scheduler, %zu bytes",
                    of.settings.values.scheduler_stack_bytes);
    }
    stream->sched_context = {arch::prepare(stack->top, scheduler_main), stack};
    if (!sched::attach(sched, stream)) {
        drop_stream(of, stream);
        return fail(WEFT_BUSY, "another stream has this scheduler, or owns its private pool or the deque at its head");
    }
    stream->levels.main = &sched;
    stream->levels.own_pool = own_pool;
    if (weft_status status = prepare_main(*stream, sched); status != WEFT_OK) {
        sched::detach(sched, stream);
        drop_stream(of, stream);
        return status;
    }
    for (std::size_t i = 0; i < sched.count; ++i) sched.places[i].belong_to(stream->sleep.sleeper);
    if (of.settings.values.timing) stream->attention.store(attention::timing.word);
    if (weft_status status = enter_table(of, *stream, name); status != WEFT_OK) {
        forget_main(sched);
        detach_pools(*stream);
        drop_beneath(*stream);
        drop_stream(of, stream);
        return status;
    }
    set_default_kind(*stream, of.default_kind);
    begin_main(*stream);
    *made = stream;
    return WEFT_OK;
}

// Abandons a stream that is in the table, and never had a carrier.
void abandon_stream(Process& of, Stream& stream) {
    // its unit
    if (stream.levels.main_runs) static_cast<PrivatePool*>(stream.levels.beneath->pools[0])->inbox.take_all();
    forget_main(*stream.levels.main);
    detach_pools(stream);
    drop_beneath(stream);
    leave_table(of, stream);
    drop_stream(of, &stream);
}

void discard_stream(Process& of, Stream* stream) {
    wait_for_wakers(*stream);
    handles::freed(stream);
    leave_table(of, *stream);
    stream->heap->next_id = stream->next_id.load();
    give_heap(of, stream->heap);
    os::destroy(stream);
}

// ---- waiting for a carrier to end ---------------------------------------------------------------

struct ThreadWait : JoinWaiter {
    Parker parker;
    ThreadWait() {
        wake = [](JoinWaiter* raw) { static_cast<ThreadWait*>(raw)->parker.unpark(); };
    }
};

struct UnitWait : Suspension {
    Stream& stream;

    UnitWait(Unit& unit, Stream& of) : Suspension{unit}, stream(of) {}

    void publish() {
        if (stream.ending.join_state.announce_shared(&self) == JoinState::Announced::waiting) return;
        resume_waiting(self);
    }
};

[[gnu::noinline]] void wait_for_end(Stream& stream) {
    if (stream.ending.join_state.done()) return;
    if (Unit* self = running_or_null()) {
        UnitWait waiter(*self, stream);
        return suspend(current(), waiter, Waits::stream_free,
                       handles::to_handle<weft_stream>(handles::Thing::stream, &stream));
    }
    ThreadWait waiter;
    if (stream.ending.join_state.announce_shared(&waiter) != JoinState::Announced::waiting) return;
    const OutsideWait outside;
    waiter.parker.park();
}

}   // namespace

Heap* make_heap(Process& of) {
    mem::SlabCache* const units = of.descriptors.adopt();
    mem::SlabCache* const extras = units == nullptr ? nullptr : of.extras.adopt();
    if (extras == nullptr) {
        if (units != nullptr) of.descriptors.orphan(units);
        return nullptr;
    }
    std::uint64_t number;
    {
        std::lock_guard guard(of.lock);
        number = of.heaps_made++;
    }
    auto* heap = os::make<Heap>(units, extras, of.stacks, number);
    if (heap != nullptr) return heap;
    of.descriptors.orphan(units);
    of.extras.orphan(extras);
    return nullptr;
}

weft_status start_stream_here(Process& of, Sched& sched, const char* name, Guest* guest, Stream** stream) {
    if (weft_status status = prepare_stream(of, sched, nullptr, name, guest != nullptr, guest, stream);
        status != WEFT_OK)
        return status;
    settle_on_carrier(**stream);
    return WEFT_OK;
}

void end_stream_here(Process& of, Stream& stream) {
    strip(stream);
    stream.carrier.signal_stack.leave();
    discard_stream(of, &stream);
}

namespace {

// On the idle lists and asleep, like a stream that has nothing to do: hart/README.md, "Going to
// sleep and being woken"; the numbers are the steps there.
void listen(Stream& stream) {
    Sched& by = *stream.sched;
    stream.sleep.asleep.store(true);
    stream.sleep.sleeper.prepare();   // 1
    sched::listen(by);                // 2
    stream.of->jobs.idle_list.add(stream.sleep.jobs_place);
}

void stop_listening(Stream& stream) {
    Sched& by = *stream.sched;
    sched::stop_listening(by);   // 5
    stream.of->jobs.idle_list.remove(stream.sleep.jobs_place);
    stream.sleep.asleep.store(false);
    stream.sleep.sleeper.rise();
}

}   // namespace

namespace {

// The time between two attempts of the reactor to start the OS thread that the kernel has refused.
constexpr std::uint64_t zero_again_ns = 10'000'000;

bool start_zeros_thread(Process& of) {
    Stream& zero = *of.streams[0];
    return os::thread_start(zero.carrier.thread, of.settings.values.scheduler_stack_bytes, carrier_main, &zero);
}

}   // namespace

// The thread that has claimed the sleeper calls: something has come, or a request is pending.
void start_zero(Sleeper&) {
    Process& of = process();
    Stream& zero = *of.streams[0];
    stop_listening(zero);
    zero.sleep.sleeper.be_called(false);
    if (start_zeros_thread(of)) return;
    // No sleeper is there now, so a push wakes nothing. Idle streams try again, and so does the
    // reactor, because all streams may be asleep, or there is none. Where the reactor cannot be had
    // either, only the next idle stream can try.
    of.zero_waits.store(true);
    of.reactor.watch(os::now_ns() + zero_again_ns);
}

namespace {

weft_status start_when_needed(Process& of, Sched& sched, Pool* own_pool, Stream** made) {
    if (weft_status status = prepare_stream(of, sched, own_pool, nullptr, false, nullptr, made); status != WEFT_OK)
        return status;
    Stream& zero = **made;
    zero.carrier.starts_late = true;
    set_default_kind(zero, of.default_kind);
    zero.sleep.sleeper.be_called(true);
    listen(zero);
    zero.sleep.sleeper.lie_down();   // 4b: no other thread knows it yet
    return WEFT_OK;
}

}   // namespace

bool start_zero_again(Process& of) {
    if (of.zero_waits.exchange(false) && !start_zeros_thread(of)) of.zero_waits.store(true);
    return !of.zero_waits.load();
}

std::uint64_t look_after_zero(Process& of, std::uint64_t now_ns) {
    if (!of.zero_waits.load() || start_zero_again(of)) return os::forever;
    return now_ns + zero_again_ns;
}

void await_thread(Stream& stream) {
    constexpr std::uint64_t patience_ns = 1'000'000;
    while (stream.carrier.thread_id.load() == 0) {
        if (stream.carrier.starts_late) {
            stream.sleep.sleeper.wake();
            start_zero_again(*stream.of);
        }
        os::futex_wait(stream.carrier.thread_id, 0, patience_ns);
    }
}

weft_status start_stream_zero(Process& of, Stream** zero) {
    const std::size_t streams = of.settings.values.streams;
    Pool* first = nullptr;
    // All main pools are made before any scheduler, so that each scheduler can steal from all.
    for (std::size_t i = 0; i < streams; ++i) {
        Pool* pool = pool::create(default_pool_kind(of));
        if (pool == nullptr) return fail(WEFT_NO_MEMORY, "no memory for pools");
        pool->owned = true;
        enlist(of, *pool);
        of.initial_pools[i] = pool;
        if (i == 0) first = pool;
    }
    Sched* sched = default_sched(of, *first);
    if (sched == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a scheduler");
    of.streams_root.notified = true;
    of.base.join(of.streams_root);
    if (of.by_itself) return start_when_needed(of, *sched, first, zero);
    if (weft_status status = start_stream_here(of, *sched, nullptr, nullptr, zero); status != WEFT_OK) return status;
    (*zero)->levels.own_pool = first;
    {
        std::lock_guard guard(of.lock);
        choose_speaker(of);
    }
    hold_hart(**zero);
    return WEFT_OK;
}

namespace {

weft_status start_initial(Process& of, Pool& main) {
    Sched* const sched = default_sched(of, main);
    if (sched == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a scheduler");
    Stream* stream;
    return start_stream(of, *sched, &main, nullptr, &stream, of.default_kind);
}

}   // namespace

// If the number of streams was not given, as many as the system grants are enough: a program that
// would do with one must not fail on a machine of many harts because of a limit on OS threads or
// memory. The pools of the missing streams stay, empty, until the runtime ends.
weft_status start_other_streams(Process& of) {
    std::size_t& wanted = of.settings.values.streams;
    for (std::size_t i = 1; i < wanted; ++i) {
        const weft_status status = start_initial(of, *of.initial_pools[i]);
        if (status == WEFT_OK) continue;
        if (!of.settings.streams_unasked) return status;
        std::fprintf(stderr,
                     "weft: of %zu streams, one for each hart, %zu can start: %s; WEFT_STREAMS=%zu asks for no more\n",
                     wanted, i, weft_error_text(), i);
        wanted = i;
    }
    return WEFT_OK;
}

weft_status start_stream(Process& of, Sched& sched, Pool* own_pool, const char* name, Stream** stream, Kind kind,
                         void* data, bool carries) {
    Stream* made;
    if (weft_status status = prepare_stream(of, sched, own_pool, name, carries, nullptr, &made); status != WEFT_OK)
        return status;
    set_default_kind(*made, kind);
    made->data = data;
    const auto start = [&] {
        return os::thread_start(made->carrier.thread, of.settings.values.scheduler_stack_bytes, carrier_main, made);
    };
    if (!start() && !(end_sentry(of) && start())) {
        abandon_stream(of, *made);
        return fail(WEFT_SYSTEM, "the kernel refused another OS thread (see ulimit -u and the cgroup's pids.max)");
    }
    *stream = made;
    return WEFT_OK;
}

weft_status free_stream(Stream& stream) {
    const Unit* self = running_or_null();
    if (const weft_status status = is_the_programs(stream); status != WEFT_OK) return status;
    if (stream.rank == 0) return fail(WEFT_WRONG_CONTEXT, "stream 0 ends with weft_finalize");
    if (current_or_null() == &stream)
        return fail(WEFT_WRONG_CONTEXT, "a stream cannot wait for its own end; free it from another");
    if (self != nullptr && self->kind == Kind::tasklet)
        return fail(WEFT_WRONG_CONTEXT, "a tasklet cannot wait for a stream's end; make it a ULT");
    if (self == nullptr && current_or_null() != nullptr)
        return fail(WEFT_WRONG_CONTEXT, "a scheduler cannot wait for a stream's end");
    if (stream.ending.freeing.exchange(true)) return fail(WEFT_BUSY, "stream %zu is being freed already", stream.rank);
    end_stream(stream);
    return WEFT_OK;
}

namespace {

// For stream 0, at the runtime's end, when no request arrives any more: whether it has no OS
// thread. Then it is on no idle list. A stream 0 that has an OS thread may sleep, too.
bool has_never_started(Stream& stream) {
    if (!stream.carrier.starts_late || stream.carrier.thread_id.load() != 0) return false;
    // the kernel has refused the thread, and the stream no longer listens
    if (stream.of->zero_waits.exchange(false)) return true;
    if (!stream.sleep.sleeper.sleeps()) return false;   // its OS thread is about to begin
    stop_listening(stream);
    return true;
}

}   // namespace

void end_stream(Stream& stream) {
    Process& of = *stream.of;
    if (has_never_started(stream)) return abandon_stream(of, stream);
    unask(stream, attention::pause);
    ask(stream, attention::stop);
    wait_for_end(stream);
    os::thread_join(stream.carrier.thread);
    if (stream.levels.main->owned) dismiss(of, *stream.levels.main);
    drop_beneath(stream);
    // Suspended units may belong to these pools: the next stream that needs a pool of its own takes
    // them over.
    Pool* const left[] = {stream.levels.own_pool, stream.bound.load()};
    discard_stream(of, &stream);
    std::lock_guard guard(of.lock);
    for (Pool* pool : left) {
        if (pool != nullptr && pool->owned) pool->orphan = true;
    }
}

weft_status bind_stream(Stream& stream, const os::CpuSet& cpus, const char* what) {
    Process& of = *stream.of;
    await_thread(stream);
    std::lock_guard guard(of.lock);
    if (!os::affinity_set(stream.carrier.thread_id.load(), cpus)) {
        return fail(WEFT_SYSTEM, "the kernel refused to bind stream %zu to %.100s", stream.rank, what);
    }
    stream.carrier.binding = cpus;
    of.bound_once = true;
    choose_speaker(of);
    return WEFT_OK;
}

}   // namespace weft
