// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries about the library, and dumps of all ULTs' stacks on request.
#pragma once

#include <atomic>

#include "common.hpp"

namespace weft::argobots {

// ABT_info_trigger_print_all_thread_stacks may be called from signal handlers. It only leaves its
// request and posts a remote call to the streams in a table of this module. The first stream that
// runs the call starts an OS thread, which gathers the other streams, prints, and ends.

// Called once Weft runs, and before it ends; the latter serves the pending requests.
void begin_dumps();
void end_dumps();

// Enters a stream into the table, if there is room, and removes it before Weft frees the stream.
void enter_dumps(weft_stream* stream);
void leave_dumps(weft_stream* stream);

extern std::atomic<unsigned> dumps_pending;
void serve_dumps();

// Called by user-defined schedulers when they check for events.
inline void serve_dump_request() {
    // relaxed: a hint; serve_dumps() checks again
    if (dumps_pending.load(std::memory_order_relaxed) != 0) serve_dumps();
}

// Prints the content of the stack of a ULT that does not run, in hexadecimal.
void print_raw_stack(std::FILE* file, const weft_unit* unit);

}   // namespace weft::argobots
