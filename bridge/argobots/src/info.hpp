// What the library tells of itself, and the stacks of all ULTs on request.
#pragma once

#include <atomic>

#include "common.hpp"

namespace weft::argobots {

// ABT_info_trigger_print_all_thread_stacks is called from signal handlers too, and does nothing but
// leave its request and post a call to the streams that are in a table here. Whichever comes to it
// first starts an OS thread, which has the others come, prints, and ends.

// Once Weft runs, and before it ends: what was asked for is done then.
void begin_dumps();
void end_dumps();

// Into the table, if there is room, and out of it, before Weft frees the stream.
void enter_dumps(weft_stream* stream);
void leave_dumps(weft_stream* stream);

extern std::atomic<unsigned> dumps_pending;
void serve_dumps();

// By schedulers of the program's own, as they look for events.
inline void serve_dump_request() {
    // relaxed: a hint; serve_dumps() looks again
    if (dumps_pending.load(std::memory_order_relaxed) != 0) serve_dumps();
}

// What the stack of a ULT that does not run holds, in hexadecimal.
void print_raw_stack(std::FILE* file, const weft_unit* unit);

}   // namespace weft::argobots
