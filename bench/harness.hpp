// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the programs that Google Benchmark times, on top of program.hpp: names that
// bench/run.py can read.
//
// A benchmark is called PRIMITIVE:SUBJECT, for instance "spawn_join/256:weft.private.full";
// benchmarks with the same PRIMITIVE are compared. Programs run each benchmark 63 times, shuffled,
// so that noise affects all subjects alike; run.py computes medians and spreads from the single
// repetitions.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace bench {

// Google Benchmark's own main, with defaults that make medians possible; arguments override them.
inline int run_registered(int argc, char** argv) {
    std::vector<std::string> words = {argv[0], "--benchmark_repetitions=63", "--benchmark_min_time=0.006",
                                      "--benchmark_enable_random_interleaving=true"};
    words.insert(words.end(), argv + 1, argv + argc);
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    int count = static_cast<int>(pointers.size());
    benchmark::Initialize(&count, pointers.data());
    if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

// Registers f(state, arguments...) under "primitive:subject".
template <class F, class... Arguments>
benchmark::internal::Benchmark* add(const std::string& primitive, const std::string& subject, F&& f,
                                    Arguments&&... arguments) {
    return benchmark::RegisterBenchmark((primitive + ":" + subject).c_str(), std::forward<F>(f),
                                        std::forward<Arguments>(arguments)...);
}

}   // namespace bench
