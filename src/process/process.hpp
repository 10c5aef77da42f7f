// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the process has one of while the runtime runs, for the code that runs units: settings,
// memory, harts, the table of streams. What only one room needs is that room's own (runtime.hpp has
// it), and a reference leads there.
#pragma once

#include <cstddef>

#include "hart/base.hpp"
#include "os/lock.hpp"
#include "os/thread.hpp"
#include "poll/pollers.hpp"
#include "poll/reactor.hpp"
#include "process/settings.hpp"
#include "process/stream.hpp"

namespace weft {

class BlockingPool;
struct Carriers;
struct GivenUp;
struct Lending;
struct Neighbourhood;
struct Observers;
struct Process;
struct Quiet;
struct Rescue;
struct Sentry;
struct Shortage;

// What belongs to one room each.
struct RoomsOwn {
    Lending& lending;
    Carriers& carriers;
    Carriers& guest_threads;   // these threads, too, take harts to domains while their guests wait
    Rescue& rescue;
    Sentry& sentry;
    Neighbourhood& neighbours;
    BlockingPool& blocking_pool;
    // detached units that got no stack, and for which no unit would return one
    Shortage& shortage;
    Quiet& quiet;   // under Process::lock
    Observers& observers;
};

// Questions and notifications to rooms above.
struct ProcessHooks {
    hart::Base::Hooks harts;
    Reactor::Round round;
    Reactor::Ready ready;
    void (*pool_comes)(Process& of, Pool& pool);   // into the list; under Process::lock, as is pool_goes
    void (*pool_goes)(Process& of, Pool& pool);
    // that many streams of the program exist now; under Process::lock
    void (*stream_comes)(Process& of, std::size_t streams);
};

struct Process : RoomsOwn {
    static constexpr std::size_t most_streams = 1024;
    static constexpr std::size_t most_ranks = 16 * most_streams;   // with the streams that carry harts

    const ProcessHooks hooks;
    Settings settings;
    mem::SlabStore descriptors{sizeof(Unit), true, true};
    mem::SlabStore extras{extras_bytes, false};
    mem::StackStore stacks;
    hart::Base base;
    hart::Root streams_root;   // the application's streams
    Pollers pollers;
    // the idle stream that now and then polls the pollers that have no descriptor
    atomic<Stream*> watch{nullptr};
    Reactor reactor;
    RuntimesJobs jobs;   // of the streams that are in no domain
    context::Hosts hosts;
    atomic<std::uint64_t> blocking_alarm_ns{os::forever};   // when the reactor checks whether it is large enough
    // of the OS thread that started the runtime: for the threads that run its units
    const os::SignalMask signals = os::thread_signals();
    // a guest has started it: no unit is primary, stream 0 has a carrier of its own, from when one
    // is needed, and it stays
    const bool by_itself;
    atomic<bool> zero_waits{false};         // stream 0 is needed, and the kernel has refused its OS thread
    atomic<std::size_t> wait_for_room{0};   // hosted units, for OS threads that are refused
    atomic<std::size_t> starving{0};        // streams that hold a hart and have only units that got no stack
    atomic<bool> running_out{false};        // weft_finalize lets those units run that can, and waits for nothing else
    Kind default_kind = Kind::lsa;
    Unit* primary = nullptr;
    // in the child of a fork: the primary unit, whose descriptor does not belong to this process's
    // runtime
    Unit* inherited = nullptr;

    mutable os::Lock lock;   // guards what follows
    // calls of weft_init whose weft_finalize is to come, except the guests' own
    unsigned nesting;
    Stream* streams[most_ranks] = {};   // by rank
    std::size_t stream_count = 0;
    std::size_t ranks_used = 0;   // no stream has this rank or a higher one
    Heap* idle_heaps = nullptr;
    std::uint64_t heaps_made = 0;
    Pool* initial_pools[most_streams] = {};   // main pools of the streams that weft_init starts
    os::CpuSet cpus;                          // the process's own, when it started; constant
    bool polling = false;                     // there are pollers, and each stream knows it
    bool observing = false;                   // there are observers, and each stream knows it
    bool bound_once = false;                  // some stream has been bound, so a new carrier may inherit that
    Domain* created = nullptr;                // all domains created without a registrant, linked by next_created
    Pool* pools = nullptr;                    // all, linked by Pool::next
    Pool* freed_pools = nullptr;              // empty; the memory remains that of a pool (dismiss)
    Sched* scheds = nullptr;                  // all, linked by Sched::next
    trace::Counters ended;                    // of streams that have ended
    atomic<std::size_t> guests{0};            // the program's OS threads that have streams (guest.hpp)

    // one thread at a time gives a stream another scheduler, or a pool for bound units; acquired
    // before `lock`
    os::Lock replacing;

    os::Lock given_up_lock;   // guards the list of waits that have been given up (announce.hpp)
    GivenUp* given_up = nullptr;

    os::Lock outside_lock;   // guards what OS threads share that are no streams
    Heap* outside = nullptr;
    trace::Counters outside_counters;

    Process* left_behind = nullptr;   // by forks (fork.cpp): the parent's process object, kept by the child's

    Process(const Settings& chosen, bool itself, const RoomsOwn& rooms, const ProcessHooks& above);
    Process(const Process&) = delete;

    // For an OS thread that is no stream.
    Unit* take_outside();
    mem::Stack* take_stack_outside(std::size_t bytes);
    void give_stack_outside(mem::Stack* stack);
    void give_outside(Unit& unit);
    void untake_outside(Unit& unit);   // it was never spawned
    void count_outside(trace::Count which);
};

// The unit that has forked, in the child, if it runs on a stack of its own: its end is the child's
// end (runtime/fork.hpp). Null elsewhere.
extern const Unit* forked_unit;
inline bool has_forked(const Unit& unit) { return &unit == forked_unit; }

// The process, or null; for calls from outside. Its own streams find it from the beginning.
Process* process_or_null();
Process& process();

// While the runtime begins, its own streams see the process, and calls from outside do not yet.
void begin_process(Process& made);
// In the child of a fork: `now` is the process from now on. Null: there is no process any more.
void set_process(Process* now);

// Fails for streams that carry harts: a program knows them only by weft_stream_self.
weft_status is_the_programs(const Stream& stream);
Pool& main_pool_of(const Stream& stream);   // where units spawned there go

// Lets the calling OS thread, which a bound thread may have started, use all CPUs of the process.
void leave_bindings(Process& of);
// The CPUs that a thread may use then; null: as it is.
const os::CpuSet* cpus_of_process(Process& of);

// The sum over all streams, including those that have ended and OS threads that are no streams.
// Under the runtime's lock.
std::uint64_t sum(const Process& of, trace::Count which);

// Visits each descriptor that was ever used, as SlabStore::each() does.
void each_descriptor(Process& of, void (*visit)(void* unit, void* argument), void* argument);

}   // namespace weft
