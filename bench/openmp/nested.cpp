// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nested regions, as created by libraries that know nothing about each other: 64 items of an outer
// loop, each of which runs 20 inner regions. The amount of work is equal for every shape;
// --levels=AxB[xC] gives the number of threads that each level asks for, --tasks=1 makes a task of
// each outer item.
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace {

constexpr int innermost = 64;   // iterations of an innermost loop

// A chain of dependent operations that the compiler cannot shorten: some 0.75 us.
double work(double seed, int length) {
    double x = seed;
    for (int i = 0; i < length; ++i) x = x * 0.999999 + 0.5 / (x + 2);
    return x;
}

struct Shape {
    std::vector<int> threads;   // the number for each level
    bool tasks = false;
    int items = 64, regions = 20, length = 156;
};

class Nest {
public:
    explicit Nest(const Shape& shape) : shape_(shape), results_(static_cast<std::size_t>(shape.items) * innermost) {}

    // Runs everything and returns the sum of the results.
    double run() {
        if (shape_.tasks) {
#pragma omp parallel num_threads(shape_.threads[0])
#pragma omp single
            for (int item = 0; item < shape_.items; ++item) {
#pragma omp task
                do_item(item, 1);
            }
        } else {
#pragma omp parallel for num_threads(shape_.threads[0])
            for (int item = 0; item < shape_.items; ++item) do_item(item, 1);
        }
        double sum = 0;
        for (const double result : results_) sum += result;
        return sum;
    }

private:
    void do_item(int item, std::size_t level) {
        double* const results = results_.data() + static_cast<std::size_t>(item) * innermost;
        for (int i = 0; i < innermost; ++i) results[i] = item;
        for (int region = 0; region < shape_.regions; ++region) do_region(results, 0, innermost, level);
    }

    // Runs the loop from `begin` to `end` by the threads of this level; if there are levels below,
    // splits it into parts for them.
    void do_region(double* results, int begin, int end, std::size_t level) {
        if (level + 1 == shape_.threads.size()) {
#pragma omp parallel for num_threads(shape_.threads[level])
            for (int i = begin; i < end; ++i) results[i] = work(results[i], shape_.length);
            return;
        }
        const int parts = shape_.threads[level], size = (end - begin + parts - 1) / parts;
#pragma omp parallel for num_threads(parts)
        for (int part = 0; part < parts; ++part) {
            const int first = begin + part * size;
            if (first < end) do_region(results, first, first + size < end ? first + size : end, level + 1);
        }
    }

    const Shape shape_;
    std::vector<double> results_;
};

std::vector<int> threads_of(const std::string& levels) {
    std::vector<int> threads;
    for (std::size_t at = 0; at <= levels.size();) {
        const std::size_t end = std::min(levels.find('x', at), levels.size());
        threads.push_back(std::atoi(levels.substr(at, end - at).c_str()));
        if (threads.back() < 1) nas::fail("nested", "--levels=AxB or AxBxC");
        at = end + 1;
    }
    if (threads.size() < 2) nas::fail("nested", "--levels=AxB or AxBxC");
    return threads;
}

int number(int& argc, char** argv, const char* name, const char* otherwise) {
    return std::atoi(bench::take_flag(argc, argv, name, otherwise).c_str());
}

}   // namespace

int main(int argc, char** argv) {
    Shape shape;
    const std::string levels = bench::take_flag(argc, argv, "levels", "8x8");
    shape.threads = threads_of(levels);
    shape.tasks = number(argc, argv, "tasks", "0") != 0;
    shape.items = number(argc, argv, "items", "64");
    shape.regions = number(argc, argv, "regions", "20");
    shape.length = number(argc, argv, "length", "156");
    omp_set_max_active_levels(static_cast<int>(shape.threads.size()));
    omp_set_dynamic(0);

    Shape alone = shape;
    alone.threads.assign(2, 1);
    alone.tasks = false;
    Nest sequential(alone);
    const double known = sequential.run();
    const std::uint64_t start = bench::now_ns();
    sequential.run();
    bench::print_sample("nested/sequential", static_cast<double>(bench::now_ns() - start));

    Nest nest(shape);
    const std::string name = "nested/" + levels + (shape.tasks ? ".tasks" : "");
    nas::measure(argc, argv, name.c_str(), "5", [&] {
        if (nest.run() != known) nas::fail("nested", "not the sequential result");
    });
    return 0;
}
