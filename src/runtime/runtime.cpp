// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/runtime.hpp"

#include <cstdlib>
#include <mutex>

#include "base/handles.hpp"
#include "carrier/level.hpp"
#include "carrier/streams.hpp"
#include "core/spawn.hpp"
#include "core/suspend.hpp"
#include "hart/quota.hpp"
#include "hart/topology.hpp"
#include "inspect/dump.hpp"
#include "inspect/list.hpp"
#include "local/extras.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "os/error_text.hpp"
#include "process/crash.hpp"
#include "process/error.hpp"
#include "process/outlived.hpp"
#include "process/overflow.hpp"
#include "process/registry.hpp"
#include "process/variables.hpp"
#include "process/way.hpp"
#include "runtime/fork.hpp"
#include "runtime/reactor_rounds.hpp"
#include "share/carriers.hpp"
#include "share/domain.hpp"
#include "share/guest.hpp"

namespace weft {
namespace {

static_assert(static_cast<int>(hart::Policy::fair) == WEFT_HART_FAIR &&
              static_cast<int>(hart::Policy::weighted) == WEFT_HART_WEIGHTED &&
              static_cast<int>(hart::Policy::first_come) == WEFT_HART_FIRST_COME);

// exit() called anywhere: the other carriers stop at their next switch, so that units do not use
// what the exit handlers destroy. Once per process. The carriers of a runtime that has started by
// itself do not stop: their units represent threads, and threads keep running beside exit's
// handlers; and handlers may run guests' regions.
void at_exit() {
    Process* ending = process_or_null();
    if (ending == nullptr) return;
    print_counters_at_end(*ending);
    write_trace_at_end(*ending);
    if (ending->by_itself) return;
    // units wait from now on, and the rest of the process may take its time, so the sentry is
    // silenced. Its thread stays: sanitizers report threads that were not joined
    ending->sentry.told.store(Sentry::most_told);
    const Stream* mine = current_or_null();
    std::lock_guard guard(ending->lock);
    for (std::size_t rank = 0; rank < ending->ranks_used; ++rank) {
        Stream* stream = ending->streams[rank];
        if (stream != nullptr && stream != mine) ask(*stream, attention::exit);
    }
}

void register_handlers() {
    static const bool registered = std::atexit(at_exit) == 0 && prepare_forks();
    if (!registered)
        fatal("no memory to register the handlers that stop the streams at exit and see to the children of forks");
}

// The calling OS thread becomes the primary unit of stream 0.
weft_status make_primary(Process& of, Stream& zero) {
    const bool roams = of.settings.values.roaming_primary;
    auto* unit = static_cast<Unit*>(zero.heap->units->take());
    Pool* const pool = unit == nullptr ? nullptr : primary_pool(zero, roams);
    if (pool == nullptr) {
        if (unit != nullptr) zero.heap->units->give(unit);
        return fail(WEFT_NO_MEMORY, "no memory for the primary unit");
    }
    begin_as_unit(of, zero, *unit, *pool, Unit::primary);
    begin_primary(of, zero, *unit, *pool, roams);
    return WEFT_OK;
}

bool never_goes_on(const Unit& unit) {
    return !is_scheduler(unit) && (unit.life.is(State::ready) || shown(unit.life.now()) == State::suspended);
}

// Counts contexts that only wait for more work. Called before any unit is dropped: the libraries'
// knowledge of the other contexts goes with the units.
std::size_t count_idle(Process& of) {
    struct Idle {
        Process& of;
        std::size_t count;
    } idle{of, 0};
    if (of.created == nullptr) return 0;
    each_descriptor(
        of,
        [](void* object, void* raw) {
            auto& unit = *static_cast<Unit*>(object);
            auto& found = *static_cast<Idle*>(raw);
            if (never_goes_on(unit) && is_idle_context(found.of, unit)) ++found.count;
        },
        &idle);
    return idle.count;
}

void drop_suspended(void* object, void* argument) {
    auto* unit = static_cast<Unit*>(object);
    auto& dropped = *static_cast<std::size_t*>(argument);
    release_extras(*unit);
    if (is_scheduler(*unit)) return;   // it waits for units that are counted
    if (!unit->has(Unit::primary) && !unit->life.is(State::free)) note_left(*unit);
    if (never_goes_on(*unit)) ++dropped;
    if (unit->life.is(State::done) && unit->outcome == Outcome::exception) unit->exception().~exception_ptr();
}

void destroy_heaps(Process& of) {
    while (Heap* heap = of.idle_heaps) {
        of.idle_heaps = heap->next_idle;
        os::destroy(heap);
    }
    os::destroy(of.outside);
}

// A stream to be ended, which no other thread ends; null: there is none.
Stream* claim_other_stream(Process& of) {
    const std::lock_guard starting(of.carriers.lock);   // a carrier that is in the table has its OS thread then
    const std::lock_guard guard(of.lock);
    for (std::size_t rank = of.ranks_used; rank-- > 1;) {
        if (of.streams[rank] != nullptr && !of.streams[rank]->ending.freeing.exchange(true)) return of.streams[rank];
    }
    return nullptr;
}

// Searches again for each one: a stream that ends may send its hart on, and a carrier may start for
// it in any place of the table.
void stop_other_streams(Process& of) {
    while (Stream* const stream = claim_other_stream(of)) end_stream(*stream);
}

// Stream 0 ends with its runtime; the calling OS thread, if that is its carrier, is a plain thread
// again.
void end_stream_zero(Process& of) {
    Stream* zero = of.streams[0];
    if (zero == nullptr) return;
    if (of.by_itself) return end_stream(*zero);
    os::set_local(nullptr);
    end_stream_here(of, *zero);
}

void tear_down(Process* ending) {
    dumps_end();
    ending->reactor.stop();   // before the streams that it checks are gone
    ending->blocking_pool.stop();
    stop_other_streams(*ending);   // carriers that have started since: the reactor hands harts out, too
    end_stream_zero(*ending);
    ending->hosts.stop();
    drop_created(*ending);
    mem::overflow_remove();
    while (ending->scheds != nullptr) dismiss(*ending, *ending->scheds);
    while (ending->pools != nullptr) dismiss(*ending, *ending->pools);
    drop_freed_pools(*ending);
    destroy_heaps(*ending);
    end_observing(*ending);
    hart::topology_release();
    set_process(nullptr);
    handles::runtime_lives(false);
    os::destroy(static_cast<Runtime*>(ending));
    open_to_guests();
}

// For the message about a broken promise.
void describe_caller(char* text, std::size_t bytes) {
    if (const Stream* stream = current_or_null()) {
        std::snprintf(text, bytes, "stream %zu", stream->rank);
    } else {
        std::snprintf(text, bytes, "OS thread %u", os::thread_id());
    }
}

weft_status bring_up(Process& made) {
    mem::overflow_install(overflow_describe, crash_describe());   // first, because the following steps may crash
    if (!made.stacks.usable()) {
        return fail(WEFT_UNSUPPORTED,
                    "this kernel has no guards of the kind that WEFT_GUARD asks for (install needs "
                    "Linux 6.13); use auto");
    }
    if (!os::affinity_get(0, made.cpus)) return fail(WEFT_SYSTEM, "the kernel does not tell this process's CPUs");
    os::host_begin();
    static_cast<void>(hart::process_cpus());   // read now: the first later reader may be a bound carrier
    if (weft_status status = begin_trace(made); status != WEFT_OK) return status;
    const weft_settings& values = made.settings.values;
    sites.begin(!values.own_stacks && values.scheduler_stack_bytes >= values.stack_bytes);
    made.outside = make_heap(made);
    begin_rescue(made);
    Stream* zero = nullptr;
    if (made.outside == nullptr) return fail(WEFT_NO_MEMORY, "no memory for the runtime");
    if (weft_status status = start_stream_zero(made, &zero); status != WEFT_OK) return status;
    if (!made.by_itself) {
        if (weft_status status = make_primary(made, *zero); status != WEFT_OK) return status;
    }
    pool::describe_caller.store(describe_caller);
    begin_sentry(made);
    if (weft_status status = start_other_streams(made); status != WEFT_OK) return status;
    if (weft_status status = begin_own_float(made); status != WEFT_OK) return status;
    return dumps_begin(made, made.settings.values.dump);
}

}   // namespace

Runtime::Runtime(const Settings& chosen, bool itself)
    : Process(chosen, itself,
              {lending_, carriers_, guest_threads_, rescue_, sentry_, neighbours_, blocking_pool_, shortage_, quiet_,
               observers_},
              {base_hooks(*this), reactor_round, reactor_ready, watch_pool, forget_pool, watch_pools}) {}

Pool* primary_pool(Stream& zero, bool roams) {
    Pool* const main = zero.levels.main->pools[0];
    if (roams || main->kind == WEFT_POOL_PRIVATE) return main;
    Pool* const pool = pool::create(WEFT_POOL_PRIVATE);
    if (pool == nullptr) return nullptr;
    enlist(*zero.of, *pool);
    pool::attach(*pool, &zero, true);
    zero.own = static_cast<PrivatePool*>(pool);
    zero.sleep.own_place.belong_to(zero.sleep.sleeper);
    settle_way(zero);
    return pool;
}

void begin_primary(Process& of, Stream& zero, Unit& unit, Pool& pool, bool roams) {
    if (!roams) zero.bound.store(static_cast<PrivatePool*>(&pool));
    unit.flags |= Unit::bound.only_if(!roams) | Unit::local.only_if(pool.kind == WEFT_POOL_PRIVATE);
    unit.pool = &pool;
    zero.running = &unit;
    if (zero.direct != nullptr) zero.inline_pool = zero.direct;
    of.primary = &unit;
}

namespace {

void unwind(Process* ending) {
    end_rescue(*ending);
    stop_other_streams(*ending);
    tear_down(ending);
}

weft_status start_one(const weft_settings* asked, bool by_itself) {
    Settings chosen;
    tell_doubts();
    if (weft_status status = chosen.read(asked); status != WEFT_OK) return status;
    register_handlers();
    auto* made = os::make<Runtime>(chosen, by_itself);
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for the runtime");
    begin_process(*made);
    handles::runtime_lives(true);
    const weft_status status = bring_up(*made);
    if (status != WEFT_OK) {
        unwind(made);
    } else {
        set_process(made);
        if (!by_itself) tell_followers_of_primary();
    }
    return status;
}

// Whether the call counts as one of a guest's entries: so it does in a runtime that has started by
// itself, which no call ends.
bool nests_as_guest(const Process& of) {
    return of.by_itself && (current_or_null() == nullptr || calling_guest() != nullptr);
}

weft_status nest(Process& of) {
    if (nests_as_guest(of)) {
        const weft_status status = enter_as_guest();
        if (status == WEFT_OK) ++calling_guest()->inits;
        return status;
    }
    if (current_or_null() == nullptr)
        return fail(WEFT_WRONG_CONTEXT,
                    "another OS thread has started the runtime; enter as a guest (weft_guest_enter), or call from one "
                    "of its units");
    std::lock_guard guard(of.lock);
    ++of.nesting;
    return WEFT_OK;
}

}   // namespace

weft_status start(const weft_settings* asked) {
    if (process_or_null() == nullptr) {
        std::lock_guard guard(runtime_start_lock());
        if (process_or_null() == nullptr) return start_one(asked, false);
    }
    return nest(*process_or_null());
}

// One stream: such a program has threads of its own, and its guests usually spawn nothing. Streams
// on all harts would be OS threads that count towards the user's limit.
weft_status start_by_itself() {
    weft_settings asked{};
    asked.size = sizeof asked;
    asked.streams = 1;
    return start_one(&asked, true);
}

bool end_by_itself() {
    Process* const ending = process_or_null();
    std::size_t inside = 0;
    if (ending == nullptr || !ending->by_itself || !close_to_guests(*ending, inside)) return false;
    unwind(ending);
    return true;
}

void drain() {
    Stream& zero = current();
    do weft::yield_now();
    while (!sched::quiet(*zero.levels.main) || (zero.own != nullptr && !pool::quiet(*zero.own)));
}

namespace {

// A temporary stream runs the pool dry. False: it could not be started.
bool run_dry(Process& of, Pool& pool) {
    Pool* pools[] = {&pool};
    Sched* sched = sched::create(WEFT_SCHED_BASIC, nullptr, nullptr, pools, 1);
    if (sched == nullptr) return false;
    enlist(of, *sched);
    Stream* stream;
    if (start_stream(of, *sched, nullptr, nullptr, &stream, of.default_kind) != WEFT_OK) {
        dismiss(of, *sched);
        return false;
    }
    free_stream(*stream);
    return true;
}

// Units may wait in a pool that no stream draws from: one that never had a stream, or the pool of a
// stream that had ended before another stream sent a unit there.
Pool* not_empty(Process& of) {
    std::lock_guard guard(of.lock);
    Pool* pool = of.pools;
    while (pool != nullptr && pool::quiet(*pool)) pool = pool->next;
    return pool;
}

// A primary unit that has roamed, and runs on stream 0, stays there. Earlier requests for its
// migration no longer count (migrate.cpp).
weft_status bind_primary(Unit& primary) {
    if (primary.has(Unit::bound)) return WEFT_OK;
    PrivatePool* pool = bound_pool(current());
    if (pool == nullptr)
        return fail(
            WEFT_NO_MEMORY,
            "no memory for the pool where the primary unit waits; the runtime runs on, call weft_finalize again");
    pool::move(primary, *pool);
    primary.be(Unit::bound, true);
    return WEFT_OK;
}

// A main scheduler of stream 0 that owns its loop returns from it; a basic one takes its place.
weft_status stop_main_loop() {
    Stream& zero = current();
    if (zero.levels.main->stateless()) return WEFT_OK;
    const Sched& old = *zero.levels.main;
    Sched* basic = sched::create(WEFT_SCHED_BASIC, nullptr, nullptr, old.pools, old.count);
    if (basic == nullptr)
        return fail(WEFT_NO_MEMORY,
                    "no memory to end the scheduler of stream 0; the runtime runs on, call weft_finalize again");
    enlist(*zero.of, *basic);
    if (set_main(zero, *basic) != WEFT_OK) fatal("the scheduler of stream 0 cannot be ended: %s", os::error_text());
    while (zero.levels.main != basic) weft::yield_now();
    return WEFT_OK;
}

// From now on the primary unit runs on stream 0 only, and that stream serves its pools by Weft's
// own loop. On failure the runtime continues as before.
weft_status stay_on_zero(const Process& of, Unit& primary) {
    Pool& roamed = *primary.pool;
    if (const weft_status status = bind_primary(primary); status != WEFT_OK) return status;
    const weft_status status = stop_main_loop();
    if (status != WEFT_OK && of.settings.values.roaming_primary) {
        primary.be(Unit::bound, false);
        pool::try_move(primary, roamed);   // if that no longer admits it, it waits where it is, like any other
    }
    return status;
}

}   // namespace

void run_out(Process& of) {
    bool goes_on;
    of.running_out.store(true);
    do {
        drain();
        end_rescue(of);
        stop_other_streams(of);
        drain();
        goes_on = try_kept_again(of);
        if (Pool* const left = goes_on ? nullptr : not_empty(of)) goes_on = run_dry(of, *left);
    } while (goes_on);
}

weft_status stop() {
    Process* ending = process_or_null();
    if (ending == nullptr) return fail(WEFT_NOT_INITIALIZED, "there is no runtime to finalize");
    if (Guest* const guest = calling_guest(); guest != nullptr && guest->inits != 0) return finalize_as_guest(*guest);
    {
        std::lock_guard guard(ending->lock);
        if (ending->nesting > (ending->by_itself ? 0 : 1)) {
            --ending->nesting;
            return WEFT_OK;
        }
    }
    if (ending->by_itself)
        return fail(WEFT_NOT_INITIALIZED,
                    "the runtime has started by itself and ends with the process; there was no weft_init for this "
                    "weft_finalize");
    Unit& primary = *ending->primary;
    if (running_or_null() != &primary) {
        return fail(WEFT_WRONG_CONTEXT, "the last weft_finalize belongs to the primary unit, which called weft_init");
    }
    if (has_forked(primary)) {
        return fail(WEFT_WRONG_CONTEXT,
                    "this runtime has gone on in the child of a fork with the unit that forked, and ends with it: "
                    "return from its body, or call weft_unit_exit or exit");
    }
    if (current().rank != 0) {
        return fail(WEFT_WRONG_CONTEXT,
                    "the primary unit runs on stream %zu, and the last weft_finalize belongs to stream 0: say by "
                    "weft_unit_pool_set that it belongs to a "
                    "pool that only stream 0 draws from, or stop those that draw from its pool besides "
                    "(weft_stream_stop), and yield",
                    current().rank);
    }
    if (std::size_t inside = 0; !close_to_guests(*ending, inside)) {
        return fail(WEFT_BUSY,
                    "%zu guests are inside (by weft_guest_enter, or as OS threads with a region of OpenMP); the "
                    "runtime runs on, call weft_finalize again when they have left",
                    inside);
    }
    if (const weft_status status = stay_on_zero(*ending, primary); status != WEFT_OK) {
        open_to_guests();
        return status;
    }
    run_out(*ending);
    if (primary.marked(Unit::extras)) {
        end_locals(primary);
        run_out(*ending);   // a destructor may have spawned
    }
    tell_of_kept(*ending);
    std::size_t dropped = 0;
    primary.life.move(State::running, State::done);
    const std::size_t idle = count_idle(*ending);
    each_descriptor(*ending, drop_suspended, &dropped);
    dropped -= idle;
    tell_created_of_end(*ending);
    print_counters_at_end(*ending);
    write_trace_at_end(*ending);
    tear_down(ending);
    if (dropped == 0) return WEFT_OK;
    return fail(WEFT_BUSY, "%zu units were still suspended, or had found no stack; they never go on", dropped);
}

}   // namespace weft
