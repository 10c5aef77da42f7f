// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the benchmarks of parallel algorithms: the work of an element, the inputs, and the
// plain loops that all are compared with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "harness.hpp"

namespace bench {

// A chain of dependent arithmetic: each of the `rounds` takes some 0.7 ns.
[[gnu::always_inline]] inline std::uint64_t compute(std::uint64_t x, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        x ^= x >> 29;
        asm volatile("" : "+r"(x));
    }
    return x;
}

// The busy tasks: each name says how long a task takes; `rounds` is how many rounds it computes.
inline constexpr struct {
    const char* name;
    int rounds;
} grains[] = {{"0.2us", 128}, {"0.5us", 320}, {"1us", 640}};

inline constexpr std::size_t few = 100, many = 10'000'000, sorted = 1'000'000;
inline constexpr int ten_ns = 14, one_ns = 1;

inline std::vector<std::uint32_t> random_numbers(std::size_t count) {
    std::mt19937 generator(1);
    std::vector<std::uint32_t> made(count);
    for (auto& number : made) number = generator();
    return made;
}

// Registers the calls of loop(first, last, f), reduce(v), scan(v, output) and sort(v) under
// `subject`.
template <class Loop, class Reduce, class Scan, class Sort>
void add_algorithms(const std::string& subject, Loop loop, Reduce reduce, Scan scan, Sort sort) {
    add("loop/100x10ns", subject, [loop](benchmark::State& state) {
        std::vector<std::uint64_t> cells(few, 1);
        for (auto _ : state) {
            loop(std::size_t{0}, few, [&](std::size_t i) { cells[i] = compute(cells[i], ten_ns); });
            benchmark::ClobberMemory();
        }
    })->UseRealTime();
    add("loop/10Mx1ns", subject,
        [loop](benchmark::State& state) {
            std::vector<std::uint32_t> cells(many, 1);
            for (auto _ : state) {
                loop(std::size_t{0}, many,
                     [&](std::size_t i) { cells[i] = static_cast<std::uint32_t>(compute(cells[i], one_ns)); });
                benchmark::ClobberMemory();
            }
        })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    add("reduce/10M", subject,
        [reduce](benchmark::State& state) {
            const std::vector<std::uint32_t> numbers = random_numbers(many);
            for (auto _ : state) benchmark::DoNotOptimize(reduce(numbers));
        })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    add("scan/10M", subject,
        [scan](benchmark::State& state) {
            const std::vector<std::uint32_t> numbers = random_numbers(many);
            std::vector<std::uint32_t> sums(many);
            for (auto _ : state) {
                scan(numbers, sums);
                benchmark::ClobberMemory();
            }
        })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    add("sort/1M", subject,
        [sort](benchmark::State& state) {
            const std::vector<std::uint32_t> numbers = random_numbers(sorted);
            for (auto _ : state) {
                state.PauseTiming();
                auto copy = numbers;
                state.ResumeTiming();
                sort(copy);
                benchmark::DoNotOptimize(copy.data());
            }
        })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
}

// The baseline: loops, and the standard's algorithms on one thread.
inline void add_plain() {
    add_algorithms(
        "plain",
        [](std::size_t first, std::size_t last, const auto& f) {
            for (; first != last; ++first) f(first);
        },
        [](const auto& numbers) { return std::accumulate(numbers.begin(), numbers.end(), std::uint32_t{0}); },
        [](const auto& numbers, auto& sums) { std::inclusive_scan(numbers.begin(), numbers.end(), sums.begin()); },
        [](auto& numbers) { std::sort(numbers.begin(), numbers.end()); });
}

}   // namespace bench
