// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix product by a BLAS that is opened when the program runs, with a result that is known.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <vector>

#include "check.hpp"

class Product {
public:
    explicit Product(const char* library) {
        void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) std::fprintf(stderr, "%s\n", dlerror());
        else dgemm_ = reinterpret_cast<Dgemm>(dlsym(handle, "cblas_dgemm"));
        CHECK(dgemm_ != nullptr);
    }

    bool is_there() const { return dgemm_ != nullptr; }
    // Calls the library. Whether the result is the right one.
    bool is_right() const {
        Matrix c(size * size);
        constexpr int by_rows = 101, not_transposed = 111, n = size;
        dgemm_(by_rows, not_transposed, not_transposed, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
        return c == by_hand;
    }

private:
    // Large enough that OpenBLAS shares the product among its threads.
    static constexpr std::size_t size = 128;
    using Matrix = std::vector<double>;
    using Dgemm = void (*)(int order, int transposed_a, int transposed_b, int m, int n, int k, double alpha,
                           const double* a, int a_stride, const double* b, int b_stride, double beta, double* c,
                           int c_stride);

    // Small whole numbers, so that all sums are exact, in whatever order they are added up.
    static Matrix matrix(std::size_t seed) {
        Matrix of(size * size);
        for (std::size_t i = 0; i < of.size(); ++i) of[i] = static_cast<double>((i * seed + i / size) % 17) - 8;
        return of;
    }
    static Matrix product_of(const Matrix& a, const Matrix& b) {
        Matrix c(size * size);
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t k = 0; k < size; ++k)
                for (std::size_t j = 0; j < size; ++j) c[i * size + j] += a[i * size + k] * b[k * size + j];
        return c;
    }

    inline static const Matrix a = matrix(3), b = matrix(5), by_hand = product_of(a, b);
    Dgemm dgemm_ = nullptr;
};
