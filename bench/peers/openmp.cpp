// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenMP tasks, of the runtime that the program is linked with (PEER is its name). They cannot be
// suspended and resumed on another stack, so they are compared with tasklets. A team of one thread
// runs each task where it is created, before the next.
#include <omp.h>

#include "algorithms.hpp"

namespace {

// Runs f() on one thread of a team of `threads`.
template <class F>
void in_team(int threads, F f) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    f();
}

void create_and_wait(benchmark::State& state, std::size_t count) {
    in_team(1, [&] {
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            for (std::size_t i = 0; i < count; ++i) {
#pragma omp task
                bench::nothing(nullptr);
            }
#pragma omp taskwait
        }
    });
}

// NOLINTNEXTLINE(misc-no-recursion): what is measured
long fib(int n) {
    if (n < 2) return n;
    long other = 0;
#pragma omp task shared(other) firstprivate(n)
    other = fib(n - 2);
    const long one = fib(n - 1);
#pragma omp taskwait
    return one + other;
}

void fib_in_team(benchmark::State& state, int threads, int n) {
    in_team(threads, [&] {
        while (state.KeepRunning()) benchmark::DoNotOptimize(fib(n));
    });
}

constexpr std::size_t tasks = 512'000, row = 128;

void busy(benchmark::State& state, int rounds) {
    in_team(1, [&] {
        while (state.KeepRunning()) {
            for (std::size_t done = 0; done < tasks; done += row) {
                for (std::size_t i = 0; i < row; ++i) {
#pragma omp task firstprivate(rounds)
                    benchmark::DoNotOptimize(bench::compute(1, rounds));
                }
#pragma omp taskwait
            }
        }
    });
}

}   // namespace

int main(int argc, char** argv) {
    const int streams = std::stoi(bench::take_flag(argc, argv, "streams", "1"));
    if (streams == 1) bench::pin(bench::usable_cpus().back());
    const std::string peer = PEER;
    if (streams == 1) {
        bench::add("spawn_join/one", peer, create_and_wait, std::size_t{1});
        for (const std::size_t count : {64, 256, 4096, 262144})
            bench::add("spawn_join/" + std::to_string(count), peer, create_and_wait, count);
        for (const auto& [name, rounds] : bench::grains) bench::add(std::string("busy/") + name, peer, busy, rounds);
    }
    for (const int n : {35, 20})
        bench::add("fib/" + std::to_string(n), peer + "." + std::to_string(streams), fib_in_team, streams, n)
            ->UseRealTime();
    return bench::run_registered(argc, argv);
}
