// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dump: all streams and all units as text, with what the units wait for and the frames of those
// that do not run. It is made while the program runs on, from copies (os/safe_read.hpp): no thread
// is paused, and a unit that changed during the dump is marked as such. doc/decisions/0014-dumps.md
// has the reasons.
#pragma once

#include <cstddef>
#include <cstdio>

#include "base/atomic.hpp"
#include "process/process.hpp"
#include "weft/status.h"

namespace weft {

// Where the text goes. False: it is no longer accepted.
struct DumpSink {
    bool (*write)(void* self, const char* text, std::size_t bytes);
    void* self;
};

// Of all units, or of one unit alone. On an OS thread with dump_stack_bytes and no unit. Ends early
// when `stop` is set.
inline constexpr std::size_t dump_stack_bytes = std::size_t{1} << 20;
void dump(Process& of, DumpSink to, const atomic<bool>& stop, const Unit* unit = nullptr);

// Writes the line and then the units that wait, to standard error; on an OS thread of its own, for
// which the caller waits. Where no thread can be had: the line only.
void dump_waiting(Process& of, const char* line);
void dump_waiting(Process& of, DumpSink to, const char* line);   // on the calling thread, like dump()

// weft_dump and weft_unit_dump: on an OS thread of its own, for which the caller waits.
weft_status dump_to(Process& of, std::FILE* file, const Unit* unit = nullptr);

// From now on `signal` makes the process write a dump to standard error; dumps_end() restores the
// signal's previous action. One signal at a time. dumps_end() is called also where dumps_begin()
// was not, or failed.
weft_status dumps_begin(Process& of, int signal);
void dumps_end();

// In the child of a fork, whose runtime `now` is, or null: the thread that made the dumps is gone.
// The dumps continue if there is a runtime and a thread can be had.
void dumps_forked(Process* now);

}   // namespace weft
