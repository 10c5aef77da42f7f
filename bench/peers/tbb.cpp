// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The primitives of Weft's benchmarks with oneTBB: a task_group in an arena of one thread, whose
// tasks cannot suspend, so that they are compared with tasklets; and parallel_invoke.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "harness.hpp"

namespace {

void run_and_wait(benchmark::State& state, std::size_t count) {
    oneapi::tbb::task_arena arena(1);
    arena.execute([&] {
        oneapi::tbb::task_group group;
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            for (std::size_t i = 0; i < count; ++i) group.run([] { bench::nothing(nullptr); });
            group.wait();
        }
    });
}

// NOLINTNEXTLINE(misc-no-recursion): what is measured
long fib(int n) {
    if (n < 2) return n;
    long other = 0;
    oneapi::tbb::task_group group;
    group.run([&] { other = fib(n - 2); });
    const long one = fib(n - 1);
    group.wait();
    return one + other;
}

// NOLINTNEXTLINE(misc-no-recursion): what is measured
long fib_by_invoke(int n) {
    if (n < 2) return n;
    long one = 0, other = 0;
    oneapi::tbb::parallel_invoke([&] { one = fib_by_invoke(n - 1); }, [&] { other = fib_by_invoke(n - 2); });
    return one + other;
}

template <long fib(int)>
void fib_in_arena(benchmark::State& state, int threads, int n) {
    oneapi::tbb::task_arena arena(threads);
    arena.execute([&] {
        while (state.KeepRunning()) benchmark::DoNotOptimize(fib(n));
    });
}

}   // namespace

int main(int argc, char** argv) {
    const int streams = std::stoi(bench::take_flag(argc, argv, "streams", "1"));
    if (streams == 1) bench::pin(bench::usable_cpus().back());
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(streams));
    if (streams == 1) {
        bench::add("spawn_join/one", "tbb.task_group", run_and_wait, std::size_t{1});
        for (std::size_t count : {64, 256, 4096, 262144}) {
            bench::add("spawn_join/" + std::to_string(count), "tbb.task_group", run_and_wait, count);
        }
    }
    const std::string on = "." + std::to_string(streams);
    for (const int n : {35, 20}) {
        const std::string primitive = "fib/" + std::to_string(n);
        bench::add(primitive, "tbb.task_group" + on, fib_in_arena<fib>, streams, n)->UseRealTime();
        bench::add(primitive, "tbb.parallel_invoke" + on, fib_in_arena<fib_by_invoke>, streams, n)->UseRealTime();
    }
    return bench::run_registered(argc, argv);
}
