// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines: filters that are serial, in order or not, are never in two threads at once; all items
// come through each filter once; no more of them are under way than there are tokens.
#include <oneapi/tbb.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "check.hpp"

namespace {

// Notes how many threads are inside at once.
class Inside {
public:
    explicit Inside(std::atomic<int>& count, std::atomic<int>& most) : count_(count) {
        const int now = ++count;
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {}
    }
    ~Inside() { --count_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

private:
    std::atomic<int>& count_;
};

struct Counts {
    std::atomic<int> first{0}, most_first{0}, middle{0}, most_middle{0}, last{0}, most_last{0};
    std::atomic<int> under_way{0}, most_under_way{0};
};

std::vector<int> through(std::size_t tokens, tbb::filter_mode middle, tbb::filter_mode last, int items) {
    Counts counts;
    std::vector<int> results;
    int next = 0;
    const auto source = tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
        const Inside inside(counts.first, counts.most_first);
        if (next == items) {
            flow.stop();
            return 0;
        }
        const int now = ++counts.under_way;
        int before = counts.most_under_way;
        while (before < now && !counts.most_under_way.compare_exchange_weak(before, now)) {}
        return next++;
    });
    const auto square = tbb::make_filter<int, long>(middle, [&](int item) {
        const Inside inside(counts.middle, counts.most_middle);
        return static_cast<long>(item) * 2;
    });
    const auto sink = tbb::make_filter<long, void>(last, [&](long item) {
        const Inside inside(counts.last, counts.most_last);
        results.push_back(static_cast<int>(item / 2));
        --counts.under_way;
    });
    tbb::parallel_pipeline(tokens, source & square & sink);
    EQUAL(next, items);
    EQUAL(counts.most_first, 1);
    EQUAL(counts.most_last, items == 0 ? 0 : 1);
    if (middle != tbb::filter_mode::parallel) EQUAL(counts.most_middle, items == 0 ? 0 : 1);
    CHECK(static_cast<std::size_t>(counts.most_under_way) <= tokens);
    return results;
}

void orders() {
    const auto in_order = tbb::filter_mode::serial_in_order, any_order = tbb::filter_mode::serial_out_of_order,
               parallel = tbb::filter_mode::parallel;
    for (const std::size_t tokens : {1U, 2U, 4U, 16U}) {
        for (const tbb::filter_mode middle : {in_order, any_order, parallel}) {
            for (const int items : {0, 1, 300}) {
                std::vector<int> expected(static_cast<std::size_t>(items));
                std::iota(expected.begin(), expected.end(), 0);
                CHECK(through(tokens, middle, in_order, items) == expected);
                std::vector<int> results = through(tokens, middle, any_order, items);
                std::sort(results.begin(), results.end());
                CHECK(results == expected);
            }
        }
    }
}

// Filters with loops inside, as programs that read, compute and write have them.
void loops_inside() {
    int next = 0;
    long sum = 0;
    tbb::parallel_pipeline(
        8, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
               if (next == 40) flow.stop();
               return next++;
           }) & tbb::make_filter<int, long>(tbb::filter_mode::parallel, [](int item) {
               std::atomic<long> part{0};
               tbb::parallel_for(0, 50, [&](int i) { part += item * i; });
               return part.load();
           }) & tbb::make_filter<long, void>(tbb::filter_mode::serial_in_order, [&](long part) { sum += part; }));
    EQUAL(sum, 780L * 1225L);
}

void exceptions() {
    for (int where = 0; where < 3; ++where) {
        int next = 0, caught = 0;
        const auto at = [where](int filter, int item) {
            if (filter == where && item == 20) throw std::runtime_error("filter");
        };
        try {
            tbb::parallel_pipeline(
                4, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
                       if (next == 100) flow.stop();
                       at(0, next);
                       return next++;
                   }) & tbb::make_filter<int, int>(tbb::filter_mode::parallel, [&](int item) {
                       return at(1, item), item;
                   }) & tbb::make_filter<int, void>(tbb::filter_mode::serial_out_of_order, [&](int item) {
                       at(2, item);
                   }));
        } catch (const std::runtime_error&) {
            ++caught;
        }
        EQUAL(caught, 1);
    }
}

void all() {
    orders();
    loops_inside();
    exceptions();
}

}   // namespace

int main() {
    all();
    for (const int threads : {1, 2, 8}) with_threads(threads, all);
    return verdict();
}
