// Where the processes of one `weft run --report` hand their records in: a file, named by
// WEFT_REPORT_SPOOL, that the first process tells and removes when it ends. As long as that process
// lives it has a lock on the file's first byte. A process that ends and finds no file tells of
// itself; one that finds the file without that lock (the first was killed, or has become a program
// that Weft is not in) tells what is there and removes it.
#pragma once

#include "memory.hpp"

namespace weft_report {

// For `weft run`: makes the file. Empty: it cannot be.
String make_spool();

// For the first process, when it starts. Locks of this kind end with the process and when it
// becomes another program, and children do not inherit them.
void hold_spool(const char* path);

// Hands lines in. False: nobody would tell of them, and the caller has to; then `others` is what
// was handed in before, and the file is gone.
bool hand_in(const char* path, const String& lines, bool is_first, String& others);

// For a process that has begun what it will tell of: hands a line in where the first process will
// tell of it. From any thread, without allocating.
void announce(const char* path, const char* line, std::size_t length);

// A descriptor where programs do not look for theirs; -1: none. The old one stays open.
int out_of_the_way(int descriptor);

}   // namespace weft_report
