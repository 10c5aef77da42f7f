// A dump: all streams and all units as text, with what they wait for and the frames of those that
// do not run. It is made while the program goes on, from copies (os/safe_read.hpp): nobody is
// paused, and what changed under the look is said to have. doc/decisions/0014-dumps.md tells why.
#pragma once

#include <cstddef>
#include <cstdio>

#include "base/atomic.hpp"
#include "process/process.hpp"
#include "weft/status.h"

namespace weft {

// Where the text goes. False: nobody takes it any more.
struct DumpSink {
    bool (*write)(void* self, const char* text, std::size_t bytes);
    void* self;
};

// Of all, or of one unit alone. On an OS thread with dump_stack_bytes and no unit. Ends early when
// `stop` is set.
inline constexpr std::size_t dump_stack_bytes = std::size_t{1} << 20;
void dump(Process& of, DumpSink to, const atomic<bool>& stop, const Unit* unit = nullptr);

// The units that wait, after the line, to standard error; on an OS thread of its own, for which the
// caller waits. Where none can be had: the line.
void dump_waiting(Process& of, const char* line);
void dump_waiting(Process& of, DumpSink to, const char* line);   // as dump()

// weft_dump and weft_unit_dump: on an OS thread of its own, for which the caller waits.
weft_status dump_to(Process& of, std::FILE* file, const Unit* unit = nullptr);

// From now on `signal` makes the process write a dump to standard error; dumps_end() restores what
// it did before. One at a time. The end is called also where the beginning was not, or failed.
weft_status dumps_begin(Process& of, int signal);
void dumps_end();

// In the child of a fork, whose runtime `now` is, or null: the thread that made them is no more.
// They go on if there is a runtime and a thread can be had.
void dumps_forked(Process* now);

}   // namespace weft
