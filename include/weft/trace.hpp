// Counters in C++, and the list of the units that live.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include <weft/status.hpp>
#include <weft/trace.h>

namespace weft {
inline namespace v0 {

/** Reads a counter by name, "/units/count/created" or "/units{stream#2}/count/created"; times in nanoseconds. */
inline std::uint64_t counter(const char* name) {
    std::uint64_t value = 0;
    check(weft_counter_read(name, &value));
    return value;
}

/** The same, from a std::string. */
inline std::uint64_t counter(const std::string& name) { return counter(name.c_str()); }

/** Writes all counters to `file`, a line each. */
inline void print_counters(std::FILE* file) { check(weft_counters_print(file)); }

/** Writes all units that live to `file`, a line each. */
inline void print_units(std::FILE* file) { check(weft_units_print(file)); }

/** Writes a dump of all streams and units to `file`, with frames. See weft_dump. Since 0.3. */
inline void dump(std::FILE* file) { check(weft_dump(file)); }

}  // namespace v0
}  // namespace weft
