// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two sorts. The first is a merge sort that is written with weft::invoke: both halves may be sorted
// at the same time, and a half that no stream takes is sorted by a plain call. The second is
// weft::parallel_sort, with a projection. Both are compared with std::sort.
//
// Prints what was sorted, and whether the order is right.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include <weft/weft.hpp>

namespace {

// Sorts `from` into itself or, if `into_spare`, into `spare`, which has the same length. Each level
// of the recursion merges in the other direction, so nothing is copied back.
void merge_sort(std::span<std::uint32_t> from, std::span<std::uint32_t> spare, bool into_spare) {
    // A fork costs a few nanoseconds, so the recursion may go as deep as it would in a sort for one
    // processor.
    if (from.size() <= 32) {
        std::sort(from.begin(), from.end());
        if (into_spare) std::copy(from.begin(), from.end(), spare.begin());
        return;
    }
    const std::size_t half = from.size() / 2;
    weft::invoke([&] { merge_sort(from.first(half), spare.first(half), !into_spare); },
                 [&] { merge_sort(from.subspan(half), spare.subspan(half), !into_spare); });
    const auto source = into_spare ? from : spare;
    const auto target = into_spare ? spare : from;
    std::merge(source.begin(), source.begin() + half, source.begin() + half, source.end(), target.begin());
}

struct measurement {
    std::uint32_t place;
    double value;
    bool operator==(const measurement&) const = default;
};

bool report(const char* what, std::size_t count, bool right) {
    std::printf("%s: %zu elements, %s\n", what, count, right ? "sorted" : "NOT SORTED");
    return right;
}

}   // namespace

int main() try {
    const weft::runtime runtime;
    std::mt19937 random(1);

    std::vector<std::uint32_t> numbers(200'000);
    for (std::uint32_t& number : numbers) number = random();
    std::vector<std::uint32_t> expected = numbers;
    std::sort(expected.begin(), expected.end());
    std::vector<std::uint32_t> spare(numbers.size());
    merge_sort(numbers, spare, false);
    bool right = report("merge sort", numbers.size(), numbers == expected);

    // By value, the largest first. The sort is not stable: of equal values any may come first. Here
    // all values differ.
    std::vector<measurement> measurements(100'000);
    for (std::uint32_t i = 0; i < measurements.size(); ++i) measurements[i] = {i, (i * 7919 % 100'003) / 8.0};
    std::vector<measurement> in_order = measurements;
    std::sort(in_order.begin(), in_order.end(),
              [](const measurement& a, const measurement& b) { return a.value > b.value; });
    weft::parallel_sort(measurements, std::greater<>(), &measurement::value);
    right &= report("weft::parallel_sort", measurements.size(), measurements == in_order);
    return right ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
