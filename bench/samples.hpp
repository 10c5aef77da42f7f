// For what Google Benchmark cannot time in a loop (one event per idle gap, one per process): each sample is
// printed as a line of JSON that run.py reads as if it were a repetition of PRIMITIVE:SUBJECT.
#pragma once

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace bench {

inline std::uint64_t read_clock(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }

// What the process has used of its processors, kernel included: what a busy machine disturbs least.
inline std::uint64_t processor_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

inline void sleep_ns(std::uint64_t ns) {
    const timespec span{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    nanosleep(&span, nullptr);
}

// `unit` is "ns" or "bytes".
inline void print_sample(const std::string& name, double value, const char* unit = "ns") {
    std::printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n", name.c_str(), value, unit);
}

// A line "Rss:   123 kB" of /proc/self/smaps_rollup (exact) or of /proc/self/status, in bytes; 0 when it is not there.
inline double memory_field(const char* file, const char* field) {
    std::FILE* stream = std::fopen(file, "r");
    if (stream == nullptr) return 0;
    char line[256];
    unsigned long kilobytes = 0;
    const std::size_t length = std::strlen(field);
    while (std::fgets(line, sizeof line, stream) != nullptr) {
        if (std::strncmp(line, field, length) == 0 && std::sscanf(line + length, " %lu", &kilobytes) == 1) break;
    }
    std::fclose(stream);
    return static_cast<double>(kilobytes) * 1024;
}

inline double resident_bytes() { return memory_field("/proc/self/smaps_rollup", "Rss:"); }
inline double page_table_bytes() { return memory_field("/proc/self/status", "VmPTE:"); }

}  // namespace bench
