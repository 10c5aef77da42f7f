// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of guests' threads assume about the kernel. In simulation (test/simulation/seam) a
// hart may be arbitrarily slow.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>
#include <thread>

namespace weft_test {

// How often a test retries until a hart comes to a guest's OS thread, and whether one must have
// come by then.
inline constexpr int rounds_until_lent = 1000;
inline constexpr bool is_lent_in_the_end = true;

// Returns when the OS thread of this process with the given id sleeps in the kernel: a guest's OS
// thread has been lent then. A hart that is on its way before that is brought by a carrier, which
// is started for it, and is preferred from then on.
inline void await_sleep(pid_t thread) {
    for (std::string state; state != "S";) {
        std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
        for (std::string word; file >> word && word != "State:";) {}
        file >> state;
        std::this_thread::yield();
    }
}

}   // namespace weft_test
