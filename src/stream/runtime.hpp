// The runtime: everything between the first weft_init and the last weft_finalize. One at a time.
#pragma once

#include <cstddef>

#include "hart/base.hpp"
#include "hart/quota.hpp"
#include "os/lock.hpp"
#include "poll/lookout.hpp"
#include "poll/pollers.hpp"
#include "stream/blocking.hpp"
#include "stream/deadlock.hpp"
#include "stream/domain.hpp"
#include "stream/lending.hpp"
#include "stream/neighbours.hpp"
#include "stream/observe.hpp"
#include "stream/rescue.hpp"
#include "stream/sentry.hpp"
#include "stream/settings.hpp"
#include "stream/stream.hpp"

namespace weft {

struct GivenUp;

struct Runtime {
    static constexpr std::size_t most_streams = 1024;
    static constexpr std::size_t most_ranks = 16 * most_streams;   // with those that carry harts

    Settings settings;
    mem::SlabStore descriptors{sizeof(Unit), true, true};
    mem::SlabStore extras{extras_bytes, false};
    mem::StackStore stacks;
    hart::Base base;
    hart::Root streams_root;                     // the application's streams
    Lending lending;
    Carriers carriers{"weft/hart", Carriers::What::harts};
    Carriers guest_threads{nullptr, Carriers::What::guests};   // which take harts to domains, too, while their guests wait
    Rescue rescue{settings.values.rescue};
    Sentry sentry;
    Neighbourhood neighbours;
    Pollers pollers;
    atomic<Stream*> watch{nullptr};              // the idle stream that looks at the pollers without a descriptor now and then
    Lookout lookout;
    Jobs jobs;                                   // of the streams that are in no domain
    Crew crew;
    context::Hosts hosts;
    atomic<std::uint64_t> crew_alarm_ns{os::forever};   // when the lookout is to ask whether the crew is large enough
    const bool by_itself;                        // a guest has started it: no unit is primary, stream 0 has a carrier of its own, from when it is needed, and it stays
    atomic<bool> zero_waits{false};              // stream 0 is needed, and the kernel has refused its OS thread
    atomic<std::size_t> wait_for_room{0};        // hosted units, for OS threads that are refused
    atomic<std::size_t> starving{0};             // streams that hold a hart and have only units that got no stack
    atomic<bool> running_out{false};             // weft_finalize lets run what can, and waits for nothing else
    Kind default_kind = Kind::lsa;
    Unit* primary = nullptr;
    Unit* inherited = nullptr;                   // in the child of a fork: the primary unit, whose descriptor is none of ours
    Observers observers;

    mutable os::Lock lock;                       // guards what follows
    unsigned nesting;                            // calls of weft_init whose weft_finalize is to come, but for guests' own
    Stream* streams[most_ranks] = {};            // by rank
    std::size_t stream_count = 0;
    std::size_t ranks_used = 0;                  // no stream at or above
    Heap* idle_heaps = nullptr;
    std::uint64_t heaps_made = 0;
    Pool* initial_pools[most_streams] = {};      // main pools of the streams that weft_init starts
    os::CpuSet cpus;                             // the process's own, when it started; constant
    bool polling = false;                        // there are pollers, and each stream knows it
    bool observing = false;                      // somebody listens, and each stream knows it
    bool bound_once = false;                     // some stream has been bound, so a new carrier may inherit that
    Domain* created = nullptr;                   // all, linked by Domain::sibling
    Pool* pools = nullptr;                       // all, linked by Pool::next
    Pool* freed_pools = nullptr;                 // empty; their memory stays what it is (dismiss)
    Sched* scheds = nullptr;                     // all, linked by Sched::next
    trace::Counters ended;                       // of streams that have ended
    Quiet quiet;
    atomic<std::size_t> guests{0};               // OS threads of the program's that have streams (guest.hpp)

    os::Lock replacing;                          // one at a time gives a stream another scheduler, or a pool for bound units; before `lock`

    os::Lock given_up_lock;                      // guards the list of waits that have been given up (join.hpp)
    GivenUp* given_up = nullptr;

    os::Lock outside_lock;                       // guards what OS threads that are no streams share
    Heap* outside = nullptr;
    trace::Counters outside_counters;

    Runtime* left_behind = nullptr;              // by forks (fork.cpp): the parent's of this one's

    Runtime(const Settings& chosen, bool itself);

    // For an OS thread that is no stream.
    Unit* take_outside();
    mem::Stack* take_stack_outside(std::size_t bytes);
    void give_stack_outside(mem::Stack* stack);
    void give_outside(Unit& unit);
    void untake_outside(Unit& unit);             // it was never spawned
    void count_outside(trace::Count which);
};

// The one that runs, or null; for whoever calls in. For its own streams it is there from the first on.
Runtime* runtime_or_null();
Runtime& runtime();

weft_status start(const weft_settings* asked);
weft_status stop();

// In the child of a fork: that is the one from now on.
void set_runtime(Runtime* now);

// Runs what is ready until all pools are empty. Afterwards stream 0 is the only one. From the primary unit, on stream 0.
void run_out(Runtime& of);

// Where the primary unit waits: a pool of which only stream 0 draws, or that stream's main pool if it roams. Null: no memory.
Pool* primary_pool(Stream& zero, bool roams);
// The unit, which runs, is the primary one from now on.
void begin_primary(Runtime& of, Stream& zero, Unit& unit, Pool& pool, bool roams);

// Each descriptor that was ever used, as SlabStore::each() has it.
void each_descriptor(Runtime& of, void (*visit)(void* unit, void* argument), void* argument);

// For a guest, where there is none. Under door_to_runtimes(), as any start.
weft_status start_by_itself();
// That one ends, unless guests are inside. Nobody calls this but who looks for what is left at the end of a process (test/simulation).
bool end_by_itself();

// ---- streams ---------------------------------------------------------------------------------------

Heap* make_heap(Runtime& of);                    // null: no memory
weft_status start_stream_zero(Runtime& of, Stream** zero);   // with the calling OS thread for its carrier, unless the runtime starts by itself

// The one that starts by itself has no OS thread before something is pushed to its pool, or asked of it: most programs need none. Again, where the kernel has refused it.
// False: it refuses still.
bool start_zero_again(Runtime& of);
// That by the lookout; returns when it is to come again, os::forever: it need not.
std::uint64_t look_after_zero(Runtime& of, std::uint64_t now_ns);
// It is needed now. Returns once it has one.
void await_thread(Stream& stream);

// An OS thread that Weft can do without ends, for whoever needs the room more: the sentry, an idle carrier, or the lookout. False: there is none. From a unit; may switch.
bool give_up_thread(Runtime& of, bool& lookout_stood_down);
std::size_t busy_carriers(Runtime& of);
// The lookout has stood down: it, or whoever waits to be told, looks at what it was to watch.
void watch_again(Runtime& of);

// A stream whose carrier is the calling OS thread; on failure the scheduler is the caller's still. It ends while it runs a unit, or from elsewhere when the thread has left it.
weft_status start_stream_here(Runtime& of, Sched& sched, const char* name, Guest* guest, Stream** stream);
void end_stream_here(Runtime& of, Stream& stream);

// What runs on such a stream is a unit from now on. `flags`: Unit's.
void begin_as_unit(Runtime& of, Stream& stream, Unit& unit, Pool& pool, std::uint8_t flags);
weft_status start_other_streams(Runtime& of);
void stop_other_streams(Runtime& of);

// A pool or a scheduler joins the runtime's list, or leaves it and is freed.
// A built-in one, not listed yet; null: no memory.
Pool* make_pool(weft_pool_kind kind, weft_pool_access access = WEFT_POOL_ACCESS_DEFAULT);
void drop_freed_pools(Runtime& of);
// The calling OS thread, which has been started by one that may be bound, may use all CPUs of the process.
void leave_bindings(Runtime& of);
// What it may use then; null: as it is.
const os::CpuSet* cpus_of_process(Runtime& of);
void enlist(Pool& pool);
void dismiss(Pool& pool);
void enlist(Sched& sched);
void dismiss(Sched& sched);

// Starts a stream; the scheduler is its from then on. On failure the scheduler is the caller's still.
// `carries`: it takes harts to domains (domain.hpp).
weft_status start_stream(Sched& sched, Pool* automatic_pool, const char* name, Stream** stream, Kind kind, void* data = nullptr, bool carries = false);

// A scheduler as the settings say, for a stream whose main pool is `main`.
Sched* default_sched(Pool& main);
weft_pool_kind default_pool_kind();
// What a program gets that asks for a pool of that kind, and promises nothing: one that others may draw from, where rescue is to help all.
weft_pool_kind given_for(weft_pool_kind kind);

// A main pool for a stream that was given none; null: no memory. It belongs to the runtime.
Pool* automatic_pool(weft_pool_kind kind);

weft_status free_stream(Stream& stream);
void end_stream(Stream& stream);                 // the same where nothing speaks against it

// Not of those that carry harts: a program knows them by weft_stream_self only.
weft_status is_the_programs(const Stream& stream);
Pool& main_pool_of(const Stream& stream);        // where units go that are spawned there
weft_status bind_stream(Stream& stream, const os::CpuSet& cpus, const char* what);

// Runs what is ready on the calling stream until nothing is. From the primary unit.
void drain();

// Prints the counters where WEFT_COUNTERS says, if anywhere.
void print_counters_at_end(Runtime& of);
void print_counters(const Runtime& of, std::FILE* file);

}  // namespace weft
