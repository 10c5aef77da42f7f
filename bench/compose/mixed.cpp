// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenMP in TBB: 64 tasks, each of which has parallel regions. --kernel: barriers (one region with
// 100 phases), loops (50 regions), dgemm (4 products of OpenBLAS built with OpenMP). --outer: TBB's
// threads; --inner: OpenMP's; --clause=1: regions name that number, and else have as many as OpenMP
// gives them. The work of a task is the same, however many threads share it.
#include <omp.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "program.hpp"
#include "samples.hpp"

#ifdef WITH_OPENBLAS
extern "C" void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a,
                            int lda, const double* b, int ldb, double beta, double* c, int ldc);
#endif

namespace {

constexpr int tasks = 64;

int number(int& argc, char** argv, const char* name, const char* otherwise) {
    return std::atoi(bench::take_flag(argc, argv, name, otherwise).c_str());
}

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "bench: mixed: %s\n", what);
    std::exit(1);
}

// Steps of a dependent chain, some 4 cycles each: the time does not depend on memory.
void compute(long steps) {
    std::uint64_t x = 1;
    for (long i = 0; i < steps; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        asm volatile("" : "+r"(x));   // nothing of the loop is left out
    }
}

class Mixed {
public:
    Mixed(std::string kernel, int inner, bool clause) : kernel_(std::move(kernel)), inner_(inner), clause_(clause) {}

    void task() {
        if (kernel_ == "barriers") {
            if (clause_) {
#pragma omp parallel num_threads(inner_)
                phases();
            } else {
#pragma omp parallel
                phases();
            }
        } else if (kernel_ == "loops") {
            for (int region = 0; region < 50; ++region) loop();
        } else {
            products();
        }
    }
    bool right() { return done_.exchange(0) == tasks * per_task(); }

private:
    static constexpr int phases_of_task = 100;
    static constexpr long steps_of_phase = 24'000;   // some 32 us, of all threads of a team together
    static constexpr int items = 16;
    static constexpr long steps_of_item = 3'000;   // a region is some 64 us

    long per_task() const { return kernel_ == "barriers" ? phases_of_task : kernel_ == "loops" ? 50 * items : 4; }

    void phases() {
        const long mine = steps_of_phase / omp_get_num_threads();
        for (int phase = 0; phase < phases_of_task; ++phase) {
            compute(mine);
            if (omp_get_thread_num() == 0) ++done_;
#pragma omp barrier
        }
    }
    void loop() {
        if (clause_) {
#pragma omp parallel for num_threads(inner_)
            for (int i = 0; i < items; ++i) item();
        } else {
#pragma omp parallel for
            for (int i = 0; i < items; ++i) item();
        }
    }
    void item() {
        compute(steps_of_item);
        ++done_;
    }
    void products() {
#ifdef WITH_OPENBLAS
        constexpr int n = 256;
        const std::vector<double> a(n * n, 0.5), b(n * n, 2.0);
        std::vector<double> c(n * n);
        for (int i = 0; i < 4; ++i) {
            cblas_dgemm(101, 111, 111, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
            const bool same = std::all_of(c.begin(), c.end(), [](double x) { return std::fabs(x - n) < 1e-9; });
            done_ += same ? 1 : 0;
        }
#else
        fail("this was built without OpenBLAS");
#endif
    }

    const std::string kernel_;
    const int inner_;
    const bool clause_;
    std::atomic<long> done_{0};
};

}   // namespace

int main(int argc, char** argv) {
    const std::string kernel = bench::take_flag(argc, argv, "kernel", "barriers");
    const int outer = number(argc, argv, "outer", "2"), inner = number(argc, argv, "inner", "2");
    const bool clause = number(argc, argv, "clause", "0") != 0;
    const int passes = number(argc, argv, "passes", "3");
    bench::refuse_others(argc, argv);
    if (kernel != "barriers" && kernel != "loops" && kernel != "dgemm") fail("--kernel is barriers, loops or dgemm");
    // OMP_NUM_THREADS says `inner`, too: a call of omp_set_num_threads would count as the program's
    // own choice.
    if (omp_get_max_threads() != inner) fail("OMP_NUM_THREADS is not --inner");
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(outer));
    tbb::task_arena arena(outer);
    Mixed mixed(kernel, inner, clause);
    for (int pass = 0; pass <= passes; ++pass) {
        const std::uint64_t start = bench::now_ns();
        arena.execute([&] {
            tbb::parallel_for(
                0, tasks, [&](int) { mixed.task(); }, tbb::simple_partitioner());
        });
        const auto ns = static_cast<double>(bench::now_ns() - start);
        if (!mixed.right()) fail("wrong result");
        if (pass != 0) bench::print_sample(kernel.c_str(), ns);
    }
    return 0;
}
