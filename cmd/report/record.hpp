// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records that processes hand in, and the report on all of them: for each program its
// processes, counters and libraries.
#pragma once

#include <cstdint>
#include <string_view>

#include "../kinds.hpp"
#include "memory.hpp"

namespace weft_report {

enum class Verdict : unsigned char { taken_over, limited, left_alone };

using weft_command::Kind;

struct Library {
    Verdict verdict = Verdict::left_alone;
    Kind kind = Kind::threads;
    String path;
    String by;    // the other library that serves its OpenMP, or has its TBB's workers, if Weft does not
    String why;   // why Weft does not, of a TBB or an OpenBLAS, or how Weft limits it; otherwise empty
    // whether its regions, or its TBB's workers, are counted: regions that bypass the counting
    // library, and workers of several TBBs, are in the process's sum only
    bool counted = true;
    std::uint64_t regions = 0;        // regions on Weft
    std::uint64_t threads = 0;        // threads that it has started
    std::uint64_t workers = 0;        // workers of its TBB on Weft
    bool thread_local_data = false;   // it defines thread_local or threadprivate variables
};

struct Counter {
    const char* name;       // as in the text; in JSON in lower case with underscores
    bool is_sum;            // summed over all processes; false: their maximum
    bool is_rare = false;   // printed in the text only if it is not 0
};
inline constexpr Counter counters[] = {
    {"regions", true},
    {"tasks", true},
    {"contexts", true},
    {"switches", true},
    {"harts at most", false},
    {"harts lent", true},
    {"harts rescued", true},
    {"voluntary kernel switches", true},
    {"involuntary kernel switches", true},
    {"peak OS threads", false},
    {"OS threads refused", true, true},
    {"TBB workers", true, true},
    {"TBB entries", true, true},
    {"OpenBLAS calls on Weft", true, true},
    {"OpenBLAS threads lowered", true, true},
    {"regions of units", true, true},
};
inline constexpr std::size_t tbb_workers = 11, tbb_entries = 12, blas_calls = 13, regions_of_units = 15;
inline constexpr std::size_t counter_count = sizeof counters / sizeof *counters;
static_assert(regions_of_units == counter_count - 1);

struct Program {
    String path;
    std::uint64_t process = 0;   // the id of the first process
    std::uint64_t processes = 1;
    String unreached;             // why Weft is not loaded into it; otherwise empty
    bool native_openmp = false;   // --openmp=native
    bool admits = false;          // --guests=admit
    std::uint64_t values[counter_count] = {};
    List<Library> libraries;
};

// Processes that have begun to use threads or OpenMP but have not reported: a signal has ended
// them, or they still run.
struct Silent {
    String path;
    std::uint64_t process = 0;
};

// The whole report.
struct Report {
    List<Program> programs;
    List<Silent> silent;

    void add(const Program& process);
    // Adds the contents of a spool. A record that was not finished is left out.
    void add(std::string_view lines);
};

// The lines of the spool: that a process has begun, and its record when it ends.
String to_lines(const Silent& begun);
String to_lines(const Program& program);

// The texts that the user reads.
String to_text(const Report& report);
String to_json(const Report& report);   // one line

}   // namespace weft_report
