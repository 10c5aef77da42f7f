// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the kernels after the NAS parallel benchmarks: random numbers and timing. The kernels
// do not depend on Weft: they run on the OpenMP runtime that the process loads (run.py).
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "program.hpp"
#include "samples.hpp"

namespace nas {

// The report's generator: x becomes 5^13 x modulo 2^46, and the number is x / 2^46.
class Random {
public:
    explicit Random(std::uint64_t seed = 314159265) : x_(seed) {}

    double next() {
        x_ = x_ * multiplier & mask;
        return static_cast<double>(x_) * 0x1p-46;
    }

    // Has the effect of `count` calls of next().
    void skip(std::uint64_t count) {
        for (std::uint64_t power = multiplier; count != 0; count >>= 1, power = power * power & mask) {
            if ((count & 1) != 0) x_ = x_ * power & mask;
        }
    }

private:
    static constexpr std::uint64_t multiplier = 1220703125;
    static constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;

    std::uint64_t x_;
};

[[noreturn]] inline void fail(const char* kernel, const char* what) {
    std::fprintf(stderr, "bench: %s: %s\n", kernel, what);
    std::exit(1);
}

inline bool near(double found, double known, double tolerance) {
    const double error = (found - known) / known;
    return -tolerance < error && error < tolerance;
}

// Calls pass() once, which makes the threads and touches the memory, and then --passes times; each
// of these is a sample.
template <class Pass>
void measure(int argc, char** argv, const char* kernel, const char* passes, Pass pass) {
    const std::string said = bench::take_flag(argc, argv, "passes", passes);
    bench::refuse_others(argc, argv);
    pass();
    for (int left = std::atoi(said.c_str()); left > 0; --left) {
        const std::uint64_t start = bench::now_ns();
        pass();
        bench::print_sample(kernel, static_cast<double>(bench::now_ns() - start));
    }
}

}   // namespace nas
