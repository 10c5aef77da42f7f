// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenBLAS as distributions build it, each library alone and then all at once: eight threads
// compute, each all of BLAS' levels and LAPACK's LU, QR and eigenvalues, and find what one thread
// found with one thread of OpenBLAS.
//
//     real LIBRARY...
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

// Large enough that OpenBLAS shares each operation among its threads.
constexpr int size = 200, length = 60'000, block = 64;
using Numbers = std::vector<double>;

Numbers numbers(int count, int seed) {
    Numbers of(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) of[static_cast<std::size_t>(i)] = std::sin(i * .7 + seed) + .01 * (i % 31);
    return of;
}

const Numbers x = numbers(length, 1), y = numbers(length, 2), a = numbers(size * size, 3), b = numbers(size * size, 4);

class Blas {
public:
    explicit Blas(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {}
    bool is_open() const { return library_ != nullptr; }

    void set_threads(int count) const {
        reinterpret_cast<void (*)(int)>(dlsym(library_, "openblas_set_num_threads"))(count);
    }

    Numbers dot() const { return {call<double>("ddot_", length, x.data(), 1, y.data(), 1)}; }
    Numbers matrix_vector() const {
        Numbers result(size);
        call<void>("dgemv_", 'N', size, size, 1., a.data(), size, x.data(), 1, 0., result.data(), 1);
        return result;
    }
    Numbers product() const {
        Numbers result(size * size);
        call<void>("dgemm_", 'N', 'T', size, size, size, 1., a.data(), size, b.data(), size, 0., result.data(), size);
        return result;
    }
    Numbers lu() const {
        Numbers result = with_diagonal();
        int pivots[size], info = 0;
        call<void>("dgetrf_", size, size, result.data(), size, pivots, &info);
        return ended(result, info);
    }
    Numbers qr() const {
        Numbers result = with_diagonal(), tau(size), work(size * block);
        int info = 0;
        call<void>("dgeqrf_", size, size, result.data(), size, tau.data(), work.data(), size * block, &info);
        return ended(result, info);
    }
    Numbers eigenvalues() const {
        Numbers matrix = with_diagonal(), result(size), work(1 + 6 * size + 2 * size * size);
        std::vector<int> whole(3 + 5 * size);
        int info = 0;
        call<void>("dsyevd_", 'V', 'L', size, matrix.data(), size, result.data(), work.data(),
                   static_cast<int>(work.size()), whole.data(), static_cast<int>(whole.size()), &info);
        return ended(result, info);
    }

private:
    static Numbers with_diagonal() {
        Numbers of = a;
        for (std::size_t i = 0; i < size; ++i) of[i * size + i] += 3 + static_cast<double>(i);
        return of;
    }
    static Numbers ended(const Numbers& result, int info) { return info == 0 ? result : Numbers{}; }

    // Numbers and letters go by address, as in Fortran, and the letters' lengths behind all others.
    template <class T>
    static const T* address(const T& value) {
        return &value;
    }
    template <class T>
    static T* address(T* const& pointer) {
        return pointer;
    }
    template <class Result, class... Arguments>
    Result call(const char* name, const Arguments&... arguments) const {
        using Function = Result (*)(decltype(address(arguments))..., std::size_t, std::size_t);
        return reinterpret_cast<Function>(dlsym(library_, name))(address(arguments)..., 1, 1);
    }

    void* library_;
};

struct Operation {
    const char* name;
    Numbers (Blas::*run)() const;
};
constexpr Operation operations[] = {{"dot", &Blas::dot},      {"gemv", &Blas::matrix_vector},
                                    {"gemm", &Blas::product}, {"LU", &Blas::lu},
                                    {"QR", &Blas::qr},        {"eigh", &Blas::eigenvalues}};
constexpr std::size_t operation_count = std::size(operations);

// Relative to the largest value; with another number of threads, sums have another order.
bool is_near(const Numbers& found, const Numbers& expected) {
    if (found.empty() || found.size() != expected.size()) return false;
    double largest = 0, off = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        const double difference = std::abs(found[i] - expected[i]);
        off = difference >= off || difference != difference ? difference : off;   // one that is not a number stays
    }
    return off <= 1e-10 * largest;
}

std::atomic<int> wrong{0};

void compute(const std::vector<Blas>& libraries, const std::vector<Numbers>& expected, int first) {
    for (std::size_t round = 0; round < 2 * operation_count; ++round) {
        const std::size_t which = (round + static_cast<std::size_t>(first)) % operation_count;
        const Blas& blas = libraries[(round + static_cast<std::size_t>(first)) / operation_count % libraries.size()];
        if (is_near((blas.*operations[which].run)(), expected[which])) continue;
        ++wrong;
        std::printf("%s is wrong in thread %d\n", operations[which].name, first);
    }
}

void try_them(const std::vector<Blas>& libraries) {
    for (const Blas& blas : libraries) blas.set_threads(1);
    std::vector<Numbers> expected;
    for (const Operation& operation : operations) expected.push_back((libraries.front().*operation.run)());
    for (const int threads : {4, 2}) {
        for (const Blas& blas : libraries) blas.set_threads(threads);
        compute(libraries, expected, 0);
        std::vector<std::jthread> callers;
        for (int i = 0; i < 8; ++i) callers.emplace_back(compute, std::cref(libraries), std::cref(expected), i);
    }
}

}   // namespace

int main(int count, char** paths) {
    std::vector<Blas> all;
    for (int i = 1; i < count; ++i) {
        all.emplace_back(paths[i]);
        if (!all.back().is_open()) return std::printf("%s\n", dlerror()), 2;
        try_them({all.back()});
    }
    if (all.size() > 1) try_them(all);
    return wrong == 0 ? 0 : 1;
}
