// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For measurements that Google Benchmark cannot time in a loop (one event per idle gap, one per
// process): each sample is printed as a line of JSON that run.py reads like a repetition of
// PRIMITIVE:SUBJECT.
#pragma once

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace bench {

inline std::uint64_t read_clock(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }

// The processor time of the process, including the kernel: the measure that a busy machine disturbs
// least.
inline std::uint64_t processor_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

inline void sleep_ns(std::uint64_t ns) {
    const timespec span{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    nanosleep(&span, nullptr);
}

// `unit` is "ns" or "bytes".
inline void print_sample(const std::string& name, double value, const char* unit = "ns") {
    std::printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n", name.c_str(), value, unit);
}

// Replaces benchmark::State where other processes would hide the result: each burst of operations
// is a sample. A burst is short compared with a time slice, so most bursts are undisturbed even if
// one of several threads is interrupted occasionally.
class Bursts {
public:
    Bursts(std::string name, std::int64_t operations, std::size_t samples)
        : name_(std::move(name)), operations_(operations), samples_left_(samples) {}

    // Like benchmark::State's: whether to do `count` more operations.
    [[gnu::always_inline]] bool KeepRunningBatch(std::int64_t count) {
        if (left_ > 0) [[likely]] {
            left_ -= count;
            return true;
        }
        return next_burst(count);
    }

    void print() const {
        for (const double sample : samples_) print_sample(name_, sample);
    }

private:
    [[gnu::noinline]] bool next_burst(std::int64_t count) {
        const std::uint64_t now = now_ns();
        if (since_ != 0)
            samples_.push_back(static_cast<double>(now - since_) / static_cast<double>(operations_ - left_));
        if (samples_left_-- == 0) return false;
        left_ = operations_ - count;
        since_ = now_ns();
        return true;
    }

    std::string name_;
    std::int64_t operations_;   // in a burst, at least
    std::size_t samples_left_;
    std::int64_t left_ = 0;   // of this burst; below 0 if the last batch exceeded the burst
    std::uint64_t since_ = 0;
    std::vector<double> samples_;
};

// The value of a line like "Rss: 123 kB" of /proc/self/smaps_rollup (exact) or of
// /proc/self/status, in bytes; 0 if it is missing.
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

}   // namespace bench
