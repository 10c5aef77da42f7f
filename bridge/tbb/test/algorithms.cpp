// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops, reductions, prefix sums, sorting, work that feeds itself, and calls side by side: each
// index is done once, and the results are those of the sequential programs.
#include <oneapi/tbb.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using Marks = std::vector<std::atomic<int>>;

bool each_once(const Marks& marks) {
    return std::all_of(marks.begin(), marks.end(), [](const auto& mark) { return mark == 1; });
}

template <class... Partitioner>
void loop(int count, std::size_t grain, Partitioner&&... partitioner) {
    Marks marks(static_cast<std::size_t>(count));
    tbb::parallel_for(
        tbb::blocked_range<int>(0, count, grain),
        [&](const tbb::blocked_range<int>& range) {
            for (int i = range.begin(); i < range.end(); ++i) ++marks[static_cast<std::size_t>(i)];
        },
        partitioner...);
    CHECK(each_once(marks));
}

void loops() {
    tbb::affinity_partitioner affinity;
    for (const int count : {0, 1, 2, 7, 100, 3000}) {
        for (const std::size_t grain : {1U, 16U}) {
            loop(count, grain);
            loop(count, grain, tbb::simple_partitioner());
            loop(count, grain, tbb::auto_partitioner());
            loop(count, grain, tbb::static_partitioner());
            for (int again = 0; again < 3; ++again) loop(count, grain, affinity);
        }
    }
}

void steps() {
    for (const int step : {1, 2, 3, 7, 1000}) {
        std::atomic<long> sum{0}, calls{0};
        tbb::parallel_for(5, 500, step, [&](int i) { sum += i, ++calls; });
        long expected = 0, expected_calls = 0;
        for (int i = 5; i < 500; i += step) expected += i, ++expected_calls;
        EQUAL(sum, expected);
        EQUAL(calls, expected_calls);
    }
}

void planes() {
    constexpr int rows = 37, columns = 53;
    Marks marks(rows * columns);
    tbb::parallel_for(tbb::blocked_range2d<int>(0, rows, 4, 0, columns, 4), [&](const tbb::blocked_range2d<int>& part) {
        for (int row = part.rows().begin(); row < part.rows().end(); ++row)
            for (int column = part.cols().begin(); column < part.cols().end(); ++column)
                ++marks[static_cast<std::size_t>(row * columns + column)];
    });
    CHECK(each_once(marks));
    std::atomic<int> points{0};
    tbb::parallel_for(tbb::blocked_range3d<int>(0, 7, 0, 8, 0, 9), [&](const tbb::blocked_range3d<int>& part) {
        points += static_cast<int>(part.pages().size() * part.rows().size() * part.cols().size());
    });
    EQUAL(points, 504);
}

void nested_loops() {
    std::atomic<int> sum{0};
    tbb::parallel_for(
        0, 10, [&](int) { tbb::parallel_for(0, 10, [&](int) { tbb::parallel_for(0, 10, [&](int) { ++sum; }); }); });
    EQUAL(sum, 1000);
}

// In order, since joining strings does not commute.
void reductions() {
    std::string expected;
    for (int i = 0; i < 500; ++i) expected += static_cast<char>('a' + i % 26);
    const auto append = [](const tbb::blocked_range<int>& range, std::string text) {
        for (int i = range.begin(); i < range.end(); ++i) text += static_cast<char>('a' + i % 26);
        return text;
    };
    const tbb::blocked_range<int> all(0, 500, 3);
    tbb::affinity_partitioner affinity;
    const std::plus<std::string> join;
    CHECK(tbb::parallel_reduce(all, std::string(), append, join) == expected);
    CHECK(tbb::parallel_reduce(all, std::string(), append, join, tbb::simple_partitioner()) == expected);
    CHECK(tbb::parallel_reduce(all, std::string(), append, join, tbb::static_partitioner()) == expected);
    CHECK(tbb::parallel_reduce(all, std::string(), append, join, affinity) == expected);
    CHECK(tbb::parallel_deterministic_reduce(all, std::string(), append, join) == expected);
}

// Sums of floating-point numbers depend on the order, which is always the same here.
void deterministic() {
    const auto sum = [] {
        return tbb::parallel_deterministic_reduce(
            tbb::blocked_range<int>(1, 5000, 10), 0.0F,
            [](const tbb::blocked_range<int>& range, float start) {
                for (int i = range.begin(); i < range.end(); ++i) start += 1.0F / static_cast<float>(i);
                return start;
            },
            std::plus<float>());
    };
    const float first = sum();
    for (int i = 0; i < 10; ++i) CHECK(sum() == first);
}

void scans() {
    constexpr int count = 4000;
    std::vector<long> input(count), output(count), expected(count);
    std::iota(input.begin(), input.end(), 1);
    std::partial_sum(input.begin(), input.end(), expected.begin());
    const long total = tbb::parallel_scan(
        tbb::blocked_range<std::size_t>(0, count, 16), 0L,
        [&](const tbb::blocked_range<std::size_t>& range, long sum, bool is_final) {
            for (std::size_t i = range.begin(); i < range.end(); ++i) {
                sum += input[i];
                if (is_final) output[i] = sum;
            }
            return sum;
        },
        std::plus<long>());
    EQUAL(total, expected.back());
    CHECK(output == expected);
}

void sorts() {
    std::vector<unsigned> values(30000);
    unsigned next = 1;
    for (unsigned& value : values) value = next = next * 1103515245U + 12345U;
    std::vector<unsigned> expected = values;
    std::sort(expected.begin(), expected.end());
    tbb::parallel_sort(values);
    CHECK(values == expected);
    tbb::parallel_sort(values.begin(), values.end(), std::greater<>());
    std::reverse(expected.begin(), expected.end());
    CHECK(values == expected);
}

// A tree of tasks: each item of more than 1 feeds two of half its size.
void feeders() {
    std::atomic<int> leaves{0}, items{0};
    const std::vector<int> roots{64, 32, 1};
    tbb::parallel_for_each(roots, [&](int item, tbb::feeder<int>& feeder) {
        ++items;
        if (item == 1) ++leaves;
        else feeder.add(item / 2), feeder.add(item / 2);
    });
    EQUAL(leaves, 97);
    EQUAL(items, 127 + 63 + 1);
}

int fibonacci(int n) {
    if (n < 2) return n;
    int a = 0, b = 0;
    tbb::parallel_invoke([&] { a = fibonacci(n - 1); }, [&] { b = fibonacci(n - 2); });
    return a + b;
}

void invocations() {
    EQUAL(fibonacci(16), 987);
    std::atomic<int> bits{0};
    tbb::parallel_invoke([&] { bits |= 1; }, [&] { bits |= 2; }, [&] { bits |= 4; }, [&] { bits |= 8; },
                         [&] { bits |= 16; }, [&] { bits |= 32; });
    EQUAL(bits, 63);
}

void all() {
    loops();
    steps();
    planes();
    nested_loops();
    reductions();
    deterministic();
    scans();
    sorts();
    feeders();
    invocations();
}

}   // namespace

int main() {
    all();
    for (const int threads : {1, 2, 8}) with_threads(threads, all);
    return verdict();
}
