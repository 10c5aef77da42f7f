// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of the process's CPU set share.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>

namespace weft_test {

inline cpu_set_t all_cpus() {
    cpu_set_t all;
    EXPECT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    return all;
}

inline cpu_set_t first_of(const cpu_set_t& all) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    return one;
}

// Sets the mask of every OS thread of the process, as `taskset -a` does.
inline void set_affinity(const cpu_set_t& cpus) {
    DIR* const tasks = opendir("/proc/self/task");
    ASSERT_NE(tasks, nullptr);
    while (const dirent* entry = readdir(tasks)) {
        if (const int thread = std::atoi(entry->d_name); thread != 0) sched_setaffinity(thread, sizeof cpus, &cpus);
    }
    closedir(tasks);
}

}   // namespace weft_test
