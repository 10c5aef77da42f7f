// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams come and go: their OS threads, their places in the table, and how to wait for their end.
#pragma once

#include "os/cpuset.hpp"
#include "process/stream.hpp"
#include "weft/status.h"

namespace weft {

struct Process;

Heap* make_heap(Process& of);   // null: no memory

// Starts a stream; from then on the scheduler is the stream's. On failure the scheduler is still
// the caller's. `carries`: the stream takes harts to domains (domain.hpp).
weft_status start_stream(Process& of, Sched& sched, Pool* own_pool, const char* name, Stream** stream, Kind kind,
                         void* data = nullptr, bool carries = false);

weft_status free_stream(Stream& stream);
void end_stream(Stream& stream);   // free_stream() after its checks

weft_status bind_stream(Stream& stream, const os::CpuSet& cpus, const char* what);

// A stream whose carrier is the calling OS thread; on failure the scheduler is still the caller's.
// It ends while it runs a unit, or from elsewhere when the thread has left it.
weft_status start_stream_here(Process& of, Sched& sched, const char* name, Guest* guest, Stream** stream);
void end_stream_here(Process& of, Stream& stream);

// ---- streams that weft_init starts --------------------------------------------------------------

// with the calling OS thread as its carrier, unless the runtime starts by itself
weft_status start_stream_zero(Process& of, Stream** zero);

// In a runtime that starts by itself stream 0 has no OS thread before something is pushed to its
// pool, or a request is made to it: most programs need none. This function starts the thread again,
// where the kernel has refused it. False: it still refuses.
bool start_zero_again(Process& of);
// start_zero_again() by the reactor; returns when it is to be called again, os::forever: it need
// not be.
std::uint64_t look_after_zero(Process& of, std::uint64_t now_ns);
// The stream's thread is needed now. Returns once the stream has one.
void await_thread(Stream& stream);

weft_status start_other_streams(Process& of);

}   // namespace weft
