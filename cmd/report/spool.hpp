// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The spool: a file, named by WEFT_REPORT_SPOOL, where the processes of one `weft run --report`
// hand in their records. The first process reports its contents and removes it when it ends. As
// long as the first process lives it holds a lock on the file's first byte. A process that ends and
// finds no file reports on itself. A process that finds the file without that lock (the first
// process was killed, or has become a program that Weft is not loaded into) reports the contents
// and removes the file.
#pragma once

#include "memory.hpp"

namespace weft_report {

// For `weft run`: makes the file, and returns its path; empty: it cannot be made.
String make_spool();

// For the first process, when it starts: takes the lock. Locks of this kind end with the process
// and when it becomes another program, and children do not inherit them.
void hold_spool(const char* path);

// Hands lines in. False: no other process would report them, so the caller must; then `others`
// holds the lines that were handed in before, and the file is removed.
bool hand_in(const char* path, const String& lines, bool is_first, String& others);

// For a process that has begun to use what it will report: hands a line in, if the first process
// will report it. From any thread, without allocating.
void announce(const char* path, const char* line, std::size_t length);

// Duplicates a descriptor to a number that programs do not expect to use; -1: not possible. The old
// one stays open.
int out_of_the_way(int descriptor);

}   // namespace weft_report
