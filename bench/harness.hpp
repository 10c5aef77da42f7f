// What every benchmark here shares: one CPU, a runtime of one stream, names that bench/run.py can read.
//
// A benchmark is called PRIMITIVE:SUBJECT, for instance "spawn_join/256:weft.private.full"; what has the same
// PRIMITIVE is compared. Programs run each benchmark 63 times, shuffled, so that noise hits all
// subjects alike; run.py takes medians and spreads from the single repetitions.
#pragma once

#include <benchmark/benchmark.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// A body that does nothing, and that no compiler looks into.
[[gnu::noinline]] inline void nothing(void*) { asm volatile(""); }

// The CPUs this process may use, lowest first.
inline std::vector<int> usable_cpus() {
    cpu_set_t set;
    std::vector<int> cpus;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
}

// Binds the calling thread to one CPU: the last one, which has the least to do with interrupts on most machines.
inline void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        std::perror("bench: sched_setaffinity");
        std::exit(1);
    }
}

// The value of --NAME=VALUE, taken out of the arguments; `otherwise` when it is not there.
inline std::string take_flag(int& argc, char** argv, const char* name, std::string otherwise) {
    const std::string prefix = std::string("--") + name + "=";
    int kept = 1;
    for (int i = 1; i < argc; ++i) {
        if (std::strncmp(argv[i], prefix.c_str(), prefix.size()) == 0) {
            otherwise = argv[i] + prefix.size();
        } else {
            argv[kept++] = argv[i];
        }
    }
    argc = kept;
    return otherwise;
}

// Google Benchmark's own main, with defaults that make medians possible; arguments win over them.
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

}  // namespace bench
