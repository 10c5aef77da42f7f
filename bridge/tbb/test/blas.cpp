// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TBB, OpenMP and a BLAS that has threads of its own, or OpenMP's, in one program: to be compiled
// with OpenMP.
//
//     blas LIBRARY...
#include <dlfcn.h>
#include <oneapi/tbb.h>

#include <thread>
#include <vector>

#include "check.hpp"

namespace {

// Large enough that OpenBLAS shares the product among its threads.
constexpr int size = 128;
using Matrix = std::vector<double>;

using Dgemm = void (*)(int order, int transposed_a, int transposed_b, int m, int n, int k, double alpha,
                       const double* a, int a_stride, const double* b, int b_stride, double beta, double* c,
                       int c_stride);
constexpr int by_rows = 101, not_transposed = 111;

// Small whole numbers, so that all sums are exact, whoever adds them up.
Matrix matrix(int seed) {
    Matrix of(size * size);
    for (int i = 0; i < size * size; ++i) of[static_cast<std::size_t>(i)] = (i * seed + i / size) % 17 - 8;
    return of;
}

const Matrix a = matrix(3), b = matrix(5);

Matrix product_by_hand() {
    Matrix c(size * size);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t k = 0; k < size; ++k)
            for (std::size_t j = 0; j < size; ++j) c[i * size + j] += a[i * size + k] * b[k * size + j];
    return c;
}

const Matrix product = product_by_hand();
Dgemm dgemm = nullptr;

bool right() {
    Matrix c(size * size);
    dgemm(by_rows, not_transposed, not_transposed, size, size, size, 1, a.data(), size, b.data(), size, 0, c.data(),
          size);
    return c == product;
}

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
        void* const library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
        CHECK(library != nullptr);
        if (library == nullptr) continue;
        dgemm = reinterpret_cast<Dgemm>(dlsym(library, "cblas_dgemm"));
        CHECK(dgemm != nullptr);
        if (dgemm == nullptr) continue;
        in_tasks();
        in_regions_in_tasks();
        in_tasks_in_regions();
        in_foreign_threads();
    }
    return verdict();
}
