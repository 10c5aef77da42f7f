// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by all programs here, whether or not Google Benchmark times them: the CPU they run on, and
// their flags.
#pragma once

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace bench {

// A body that does nothing, and that the compiler cannot inline.
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

// Binds the calling thread to one CPU: on most machines the last one handles the fewest interrupts.
inline void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        std::perror("bench: sched_setaffinity");
        std::exit(1);
    }
}

// The flags that the program has taken.
inline std::string known_flags;

// The value of --NAME=VALUE, which is removed from the arguments; `otherwise` if it is missing.
inline std::string take_flag(int& argc, char** argv, const char* name, std::string otherwise) {
    const std::string prefix = std::string("--") + name + "=";
    known_flags += ' ' + prefix;
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

// Called when all flags have been taken.
inline void refuse_others(int argc, char** argv) {
    if (argc <= 1) return;
    std::fprintf(stderr, "bench: %s is not legal; legal are:%s\n", argv[1], known_flags.c_str());
    std::exit(1);
}

}   // namespace bench
