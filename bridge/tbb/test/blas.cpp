// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TBB, OpenMP and a BLAS that has threads of its own, or OpenMP's, in one program: to be compiled
// with OpenMP.
//
//     blas LIBRARY...
#include <oneapi/tbb.h>

#include <thread>
#include <vector>

#include "check.hpp"
#include "product.hpp"

namespace {

const Product* product = nullptr;

bool right() { return product->is_right(); }

int right_in_region(int threads) {
    int rights = 0;
#pragma omp parallel num_threads(threads) reduction(+ : rights)
    for (int i = 0; i < 2; ++i) rights += right();
    return rights;
}

void in_tasks() {
    std::atomic<int> rights{0};
    tbb::parallel_for(
        0, 20, [&](int) { rights += right(); }, tbb::simple_partitioner());
    EQUAL(rights, 20);
}

void in_regions_in_tasks() {
    std::atomic<int> rights{0};
    tbb::parallel_for(
        0, 6, [&](int) { rights += right_in_region(3); }, tbb::simple_partitioner());
    EQUAL(rights, 36);
}

void in_tasks_in_regions() {
    std::atomic<int> rights{0};
#pragma omp parallel num_threads(3)
    tbb::parallel_for(
        0, 4, [&](int) { rights += right(); }, tbb::simple_partitioner());
    EQUAL(rights, 12);
}

// Threads that are neither library's, all at once: regions, tasks and products.
void in_foreign_threads() {
    std::atomic<int> rights{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            for (int step = i; step < i + 4; ++step) {
                switch (step % 4) {
                case 0: rights += right_in_region(2); break;
                case 1:
                    tbb::parallel_for(
                        0, 4, [&](int) { rights += right(); }, tbb::simple_partitioner());
                    break;
                case 2: rights += right(), rights += right(), rights += right(), rights += right(); break;
                case 3:
                    tbb::parallel_for(
                        0, 2, [&](int) { rights += right_in_region(1); }, tbb::simple_partitioner());
                    break;
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EQUAL(rights, 8 * 16);
}

}   // namespace

int main(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        const Product by_library(arguments[i]);
        if (!by_library.is_there()) continue;
        product = &by_library;
        in_tasks();
        in_regions_in_tasks();
        in_tasks_in_regions();
        in_foreign_threads();
    }
    return verdict();
}
