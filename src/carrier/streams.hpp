// Streams come and go: their OS threads, their places in the table, and how one waits for their
// end.
#pragma once

#include "os/cpuset.hpp"
#include "process/stream.hpp"
#include "weft/status.h"

namespace weft {

struct Process;

Heap* make_heap(Process& of);   // null: no memory

// Starts a stream; the scheduler is its from then on. On failure the scheduler is the caller's
// still. `carries`: it takes harts to domains (domain.hpp).
weft_status start_stream(Process& of, Sched& sched, Pool* own_pool, const char* name, Stream** stream, Kind kind,
                         void* data = nullptr, bool carries = false);

weft_status free_stream(Stream& stream);
void end_stream(Stream& stream);   // that where nothing speaks against it

weft_status bind_stream(Stream& stream, const os::CpuSet& cpus, const char* what);

// A stream whose carrier is the calling OS thread; on failure the scheduler is the caller's still.
// It ends while it runs a unit, or from elsewhere when the thread has left it.
weft_status start_stream_here(Process& of, Sched& sched, const char* name, Guest* guest, Stream** stream);
void end_stream_here(Process& of, Stream& stream);

// ---- those that weft_init starts ----------------------------------------------------------------

// with the calling OS thread for its carrier, unless the runtime starts by itself
weft_status start_stream_zero(Process& of, Stream** zero);

// The one that starts by itself has no OS thread before something is pushed to its pool, or asked
// of it: most programs need none. Again, where the kernel has refused it. False: it refuses still.
bool start_zero_again(Process& of);
// That by the reactor; returns when it is to come again, os::forever: it need not.
std::uint64_t look_after_zero(Process& of, std::uint64_t now_ns);
// It is needed now. Returns once it has one.
void await_thread(Stream& stream);

weft_status start_other_streams(Process& of);

}   // namespace weft
