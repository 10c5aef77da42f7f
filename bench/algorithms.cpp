// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops, reductions, scans and sorts, compared with the plain ones: what they cost on one
// stream, and what they gain on several.
//
//   --streams=N   1 (then on one CPU), or more
#include <weft/weft.hpp>

#include "algorithms.hpp"

int main(int argc, char** argv) {
    const auto streams = static_cast<std::size_t>(std::stoul(bench::take_flag(argc, argv, "streams", "1")));
    if (streams == 1) bench::pin(bench::usable_cpus().back());
    const weft::runtime runtime{{.streams = streams}};
    bench::add_plain();
    bench::add_algorithms(
        "weft", [](std::size_t first, std::size_t last, const auto& f) { weft::parallel_for(first, last, f); },
        [](const auto& numbers) { return weft::parallel_reduce(numbers, std::uint32_t{0}); },
        [](const auto& numbers, auto& sums) { weft::parallel_scan(numbers, sums.begin()); },
        [](auto& numbers) { weft::parallel_sort(numbers); });
    return bench::run_registered(argc, argv);
}
