// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++: references, members, templates, iterators, classes in clauses, exceptions in tasks and
// loops, std::thread beside teams, static locals.
#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

template <class Number>
Number sum_of(const std::vector<Number>& values) {
    Number sum{};
#pragma omp parallel for num_threads(4) reduction(+ : sum)
    for (const Number& value : values) sum += value;
    return sum;
}

void templates() {
    EQUAL(sum_of(std::vector<int>(1000, 3)), 3000);
    EQUAL(sum_of(std::vector<double>(1000, 0.5)), 500);
    EQUAL(sum_of(std::vector<unsigned long long>(10, 1ULL << 60)), 10ULL << 60);
}

class Counter {
public:
    void run() {
#pragma omp parallel for num_threads(4) schedule(dynamic, 3) firstprivate(step_) reduction(+ : total_)
        for (int i = 0; i < 100; ++i) total_ += i * step_;
#pragma omp parallel num_threads(4)
#pragma omp single
        for (int i = 0; i < 10; ++i) {
#pragma omp task
#pragma omp atomic
            count_ += 1;
        }
    }
    long total() const { return total_; }
    int count() const { return count_; }

private:
    long total_ = 0;
    int count_ = 0, step_ = 2;
};

struct Sorted {
    std::vector<int> values;
    void add(const Sorted& other) {
        std::vector<int> merged(values.size() + other.values.size());
        std::merge(values.begin(), values.end(), other.values.begin(), other.values.end(), merged.begin());
        values.swap(merged);
    }
};
#pragma omp declare reduction(merge : Sorted : omp_out.add(omp_in)) initializer(omp_priv = Sorted{})

void join(std::string& into, const std::string& from) { into += from; }
#pragma omp declare reduction(joined : std::string : join(omp_out, omp_in))

void own_reductions() {
    Sorted sorted;
#pragma omp parallel for num_threads(4) reduction(merge : sorted)
    for (int i = 0; i < 200; ++i) {
        Sorted one{{i * 37 % 200}};
        sorted.add(one);
    }
    EQUAL(sorted.values.size(), 200);
    CHECK(std::is_sorted(sorted.values.begin(), sorted.values.end()));
    std::string text = "=";   // gcc 12 does not compile task reductions of the class above
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup task_reduction(joined : text)
    for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(joined : text)
        text += "y";
    }
    EQUAL(text.size(), 51);
}

// Constructed, copied and destroyed as often as the clauses say.
struct Tracked {
    static inline std::atomic<int> alive{0}, copies{0};
    int value = 0;
    Tracked() { ++alive; }
    Tracked(const Tracked& other) : value(other.value) { ++alive, ++copies; }
    Tracked& operator=(const Tracked& other) = default;
    ~Tracked() { --alive; }
};

void classes_in_clauses() {
    {
        Tracked first, last, told;
        first.value = 4;
        int right = 0;
#pragma omp parallel num_threads(4) firstprivate(first) private(told) reduction(+ : right)
        {
#pragma omp for lastprivate(last) schedule(dynamic)
            for (int i = 0; i < 20; ++i) last.value = i + first.value;
#pragma omp single copyprivate(told)
            told.value = 11;
            right += told.value == 11;
        }
        EQUAL(right, 4);
        EQUAL(last.value, 23);
        CHECK(Tracked::copies >= 4);
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskloop firstprivate(first) grainsize(3)
        for (int i = 0; i < 30; ++i) {
            if (first.value != 4) CHECK(!"a task's copy");
        }
    }
    EQUAL(Tracked::alive, 0);
}

void exceptions() {
    int caught = 0;
#pragma omp parallel num_threads(8) reduction(+ : caught)
    {
        for (int round = 0; round < 20; ++round) {
            try {
#pragma omp taskyield
                throw std::out_of_range(std::string("x"));
            } catch (const std::exception&) {
                caught++;
            }
        }
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 40; ++i) {
            try {
                if (i % 2) throw i;
            } catch (int value) {
                caught += value == i;
            }
        }
#pragma omp for
        for (int i = 0; i < 40; ++i) {
#pragma omp task shared(caught) firstprivate(i)
            {
                try {
#pragma omp task if (0)
                    (void)0;
#pragma omp taskwait
                    throw std::make_unique<int>(i);
                } catch (const std::unique_ptr<int>& value) {
                    if (*value != i) CHECK(!"another's exception");
                }
            }
        }
    }
    EQUAL(caught, 180);
    // It leaves the region's functions, and a caller within the region catches it.
    const auto region = [] {
        int count = 0;
#pragma omp parallel num_threads(2) reduction(+ : count)
        count++;
        throw count;
    };
    int seen = 0;
#pragma omp parallel num_threads(3) reduction(+ : seen)
    {
        try {
            region();
        } catch (int) {
            seen++;
        }
    }
    EQUAL(seen, 3);
}

void iterators() {
    std::vector<int> values(500);
    std::iota(values.begin(), values.end(), 0);
    long sum = 0;
#pragma omp parallel for num_threads(4) schedule(guided) reduction(+ : sum)
    for (auto at = values.rbegin(); at < values.rend(); at += 1) sum += *at;
    EQUAL(sum, 124750);
    std::list<int> list(values.begin(), values.end());
    long listed = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int& value : list) {
#pragma omp task firstprivate(value) shared(listed)
#pragma omp atomic
        listed += value;
    }
    EQUAL(listed, 124750);
    std::array<std::array<int, 7>, 5> cells{};
#pragma omp parallel for num_threads(3) collapse(2)
    for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t k = 0; k < 7; ++k) cells[i][k]++;
    int right = 0;
    for (const auto& row : cells) right += static_cast<int>(std::count(row.begin(), row.end(), 1));
    EQUAL(right, 35);
}

int constructed = 0;
struct Once {
    Once() {
#pragma omp atomic
        constructed++;
    }
};
const Once& once() {
    static const Once one;
    return one;
}

thread_local std::vector<int> mine;

void threads() {
#pragma omp parallel num_threads(8)
    once();
    EQUAL(constructed, 1);
    std::atomic<int> sum{0};
    // Members that wait in the kernel for threads with regions of their own: their OS threads carry
    // other members, and all of them end.
#pragma omp parallel num_threads(8)
    {
        mine.assign(3, omp_get_thread_num());
        std::thread other([&sum] {
            int count = 0;
#pragma omp parallel num_threads(3) reduction(+ : count)
            count++;
            sum += count;
            if (!mine.empty()) CHECK(!"a new thread's");
        });
        other.join();
        if (mine[2] != omp_get_thread_num()) CHECK(!"its own");
    }
    EQUAL(sum, 24);
}

}   // namespace

int main() {
    templates();
    Counter counter;
    counter.run();
    EQUAL(counter.total(), 9900);
    EQUAL(counter.count(), 10);
    own_reductions();
    classes_in_clauses();
    exceptions();
    iterators();
    threads();
    return verdict();
}
