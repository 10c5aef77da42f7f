// The runtime: everything between the first weft_init and the last weft_finalize. One at a time.
#pragma once

#include <cstddef>

#include "hart/quota.hpp"
#include "stream/blocking.hpp"
#include "stream/deadlock.hpp"
#include "stream/domain.hpp"
#include "stream/lending.hpp"
#include "stream/neighbours.hpp"
#include "stream/process.hpp"
#include "stream/rescue.hpp"
#include "stream/sentry.hpp"
#include "stream/shortage.hpp"

namespace weft {

// The process, and what its rooms have.
struct Runtime : Process {
    Runtime(const Settings& chosen, bool itself);

private:
    Lending lending_;
    Carriers carriers_{"weft/hart", Carriers::What::harts};
    Carriers guest_threads_{nullptr, Carriers::What::guests};
    Rescue rescue_{settings.values.rescue};
    Sentry sentry_;
    Neighbourhood neighbours_;
    Crew crew_;
    Shortage shortage_;
    Quiet quiet_;
};

weft_status start(const weft_settings* asked);
weft_status stop();

// Runs what is ready until all pools are empty. Afterwards stream 0 is the only one. From the primary unit, on stream 0.
void run_out(Process& of);

// Where the primary unit waits: a pool of which only stream 0 draws, or that stream's main pool if it roams. Null: no memory.
Pool* primary_pool(Stream& zero, bool roams);
// The unit, which runs, is the primary one from now on.
void begin_primary(Process& of, Stream& zero, Unit& unit, Pool& pool, bool roams);

// For a guest, where there is none. Under door_to_runtimes(), as any start.
weft_status start_by_itself();
// That one ends, unless guests are inside. Nobody calls this but who looks for what is left at the end of a process (test/simulation).
bool end_by_itself();

// ---- streams ---------------------------------------------------------------------------------------

Heap* make_heap(Process& of);                    // null: no memory
weft_status start_stream_zero(Process& of, Stream** zero);   // with the calling OS thread for its carrier, unless the runtime starts by itself

// The one that starts by itself has no OS thread before something is pushed to its pool, or asked of it: most programs need none. Again, where the kernel has refused it.
// False: it refuses still.
bool start_zero_again(Process& of);
// That by the lookout; returns when it is to come again, os::forever: it need not.
std::uint64_t look_after_zero(Process& of, std::uint64_t now_ns);
// It is needed now. Returns once it has one.
void await_thread(Stream& stream);

// An OS thread that Weft can do without ends, for whoever needs the room more: the sentry, an idle carrier, or the lookout. False: there is none. From a unit; may switch.
bool give_up_thread(Process& of, bool& lookout_stood_down);
std::size_t busy_carriers(Process& of);
// The lookout has stood down: it, or whoever waits to be told, looks at what it was to watch.
void watch_again(Process& of);

// A stream whose carrier is the calling OS thread; on failure the scheduler is the caller's still. It ends while it runs a unit, or from elsewhere when the thread has left it.
weft_status start_stream_here(Process& of, Sched& sched, const char* name, Guest* guest, Stream** stream);
void end_stream_here(Process& of, Stream& stream);

// What runs on such a stream is a unit from now on. `flags`: Unit's.
void begin_as_unit(Process& of, Stream& stream, Unit& unit, Pool& pool, std::uint8_t flags);
weft_status start_other_streams(Process& of);
void stop_other_streams(Process& of);

// A pool or a scheduler joins the runtime's list, or leaves it and is freed.
// A built-in one, not listed yet; null: no memory.
Pool* make_pool(weft_pool_kind kind, weft_pool_access access = WEFT_POOL_ACCESS_DEFAULT);
void drop_freed_pools(Process& of);
// The calling OS thread, which has been started by one that may be bound, may use all CPUs of the process.
void leave_bindings(Process& of);
// What it may use then; null: as it is.
const os::CpuSet* cpus_of_process(Process& of);
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

weft_status bind_stream(Stream& stream, const os::CpuSet& cpus, const char* what);

// Runs what is ready on the calling stream until nothing is. From the primary unit.
void drain();

// Prints the counters where WEFT_COUNTERS says, if anywhere.
void print_counters_at_end(Process& of);
void print_counters(const Process& of, std::FILE* file);

}  // namespace weft
