// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenBLAS built with OpenMP, called by several pthreads at once: each multiplies its own matrices,
// and each product is a region. The program itself has no region. --callers, --size, --products (of
// each caller in a pass).
#include <pthread.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "kernel.hpp"

extern "C" void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a,
                            int lda, const double* b, int ldb, double beta, double* c, int ldc);

namespace {

constexpr int row_major = 101, not_transposed = 111;

int number(int& argc, char** argv, const char* name, const char* otherwise) {
    return std::atoi(bench::take_flag(argc, argv, name, otherwise).c_str());
}

class Caller {
public:
    Caller(int size, int seed) : n_(size), a_(count()), b_(count()), c_(count()) {
        nas::Random random(271828183 + 2 * static_cast<unsigned>(seed));
        for (std::size_t i = 0; i < count(); ++i) {
            a_[i] = random.next() - 0.5;
            b_[i] = random.next() - 0.5;
        }
    }

    void multiply() {
        cblas_dgemm(row_major, not_transposed, not_transposed, n_, n_, n_, 1, a_.data(), n_, b_.data(), n_, 0,
                    c_.data(), n_);
    }

    // Freivalds' check: C x equals A (B x), for some x.
    bool right() const {
        const std::vector<double> x(static_cast<std::size_t>(n_), 1.0), known = times(a_, times(b_, x)),
                                                                        found = times(c_, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (!(std::fabs(known[i] - found[i]) < 1e-9 * n_)) return false;
        }
        return true;
    }

private:
    std::size_t count() const { return static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_); }

    std::vector<double> times(const std::vector<double>& matrix, const std::vector<double>& x) const {
        std::vector<double> y(x.size(), 0.0);
        for (std::size_t row = 0; row < y.size(); ++row) {
            for (std::size_t column = 0; column < x.size(); ++column)
                y[row] += matrix[row * x.size() + column] * x[column];
        }
        return y;
    }

    const int n_;
    std::vector<double> a_, b_, c_;
};

}   // namespace

int main(int argc, char** argv) {
    const int callers = number(argc, argv, "callers", "8"), size = number(argc, argv, "size", "256"),
              products = number(argc, argv, "products", "8");
    std::vector<Caller> all;
    for (int i = 0; i < callers; ++i) all.emplace_back(size, i);
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(callers) + 1);
    const int passes = number(argc, argv, "passes", "3");
    // The callers are kept, as in a library's thread pool; the barriers before and after a pass
    // delimit the timing.
    std::vector<std::thread> threads;
    for (Caller& caller : all) {
        threads.emplace_back([&] {
            for (int pass = 0; pass <= passes; ++pass) {
                pthread_barrier_wait(&barrier);
                for (int i = 0; i < products; ++i) caller.multiply();
                pthread_barrier_wait(&barrier);
            }
        });
    }
    const std::string name = "dgemm/" + std::to_string(callers) + "x" + std::to_string(size);
    nas::measure(argc, argv, name.c_str(), std::to_string(passes).c_str(), [&barrier] {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    });
    for (std::thread& thread : threads) thread.join();
    for (const Caller& caller : all) {
        if (!caller.right()) nas::fail("dgemm", "wrong products");
    }
    return 0;
}
