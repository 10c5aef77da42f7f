// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The algorithms of bench/algorithms.cpp with oneTBB, and with the C++ standard library's parallel
// policy, which here is based on oneTBB.
#include <execution>
#include <ranges>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>

#include "algorithms.hpp"

int main(int argc, char** argv) {
    const auto streams = std::stoul(bench::take_flag(argc, argv, "streams", "1"));
    if (streams == 1) bench::pin(bench::usable_cpus().back());
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, streams);
    using range = oneapi::tbb::blocked_range<std::size_t>;
    bench::add_plain();
    bench::add_algorithms(
        "tbb", [](std::size_t first, std::size_t last, const auto& f) { oneapi::tbb::parallel_for(first, last, f); },
        [](const auto& numbers) {
            return oneapi::tbb::parallel_reduce(
                range(0, numbers.size()), std::uint32_t{0},
                [&](const range& part, std::uint32_t sum) {
                    for (std::size_t i = part.begin(); i != part.end(); ++i) sum += numbers[i];
                    return sum;
                },
                std::plus<>());
        },
        [](const auto& numbers, auto& sums) {
            oneapi::tbb::parallel_scan(
                range(0, numbers.size()), std::uint32_t{0},
                [&](const range& part, std::uint32_t sum, bool is_final) {
                    for (std::size_t i = part.begin(); i != part.end(); ++i) {
                        sum += numbers[i];
                        if (is_final) sums[i] = sum;
                    }
                    return sum;
                },
                std::plus<>());
        },
        [](auto& numbers) { oneapi::tbb::parallel_sort(numbers.begin(), numbers.end()); });
    bench::add_algorithms(
        "std.par",
        [](std::size_t first, std::size_t last, const auto& f) {
            const auto numbers = std::views::iota(first, last);
            std::for_each(std::execution::par, numbers.begin(), numbers.end(), f);
        },
        [](const auto& numbers) { return std::reduce(std::execution::par, numbers.begin(), numbers.end()); },
        [](const auto& numbers, auto& sums) {
            std::inclusive_scan(std::execution::par, numbers.begin(), numbers.end(), sums.begin());
        },
        [](auto& numbers) { std::sort(std::execution::par, numbers.begin(), numbers.end()); });
    return bench::run_registered(argc, argv);
}
