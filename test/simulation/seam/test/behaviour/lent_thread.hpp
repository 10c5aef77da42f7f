// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Precedes test/behaviour/lent_thread.hpp on the include path; see there.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <thread>

namespace weft_test {

// A schedule may bring every hart to a carrier; in most schedules these rounds are enough to bring
// one to the guest's thread.
inline constexpr int rounds_until_lent = 20;
inline constexpr bool is_lent_in_the_end = false;

// There is no kernel to ask; most deadlines expire when no virtual hart can run.
inline void await_sleep(pid_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}   // namespace weft_test
