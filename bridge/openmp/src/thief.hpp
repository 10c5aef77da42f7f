// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When it is worth taking tasks from another thread's deque.
#pragma once

#include <cstdint>

namespace weft_openmp {

// To take a task costs both threads some 200 ns, in lines that move from one CPU to the other. If
// one thread makes tasks that are shorter than that, and another takes each as it comes, then each
// task costs both threads that much. So the thief takes short tasks slowly, and none as long as
// they become more: once the deque is full its owner runs at once what it makes (Deque::plenty),
// and the tasks become fewer until the deque is half empty.
class Thief {
public:
    // Whether to take a task from a deque that holds `length` of them, at least one. If not, the
    // thief checks again in a moment.
    bool takes(std::int64_t length) {
        if (!short_ || length <= seen_ || left_ == most_left) return true;
        seen_ = length;
        ++left_;
        return false;
    }
    // The thief has taken a task. Whether it is to report how long the task has run: now and then,
    // and each time while tasks are short.
    bool took() {
        seen_ = 0;
        left_ = 0;
        return short_ || ++taken_ % sample == 0;
    }
    void ran(std::uint64_t ns) { short_ = ns < short_ns; }

    // with two readings of the clock; a task that runs for 100 ns longer is worth it
    static constexpr std::uint64_t short_ns = 150;
    static constexpr unsigned sample = 8, most_left = 16;

private:
    bool short_ = false;   // the last task that was timed
    unsigned taken_ = 0;
    unsigned left_ = 0;       // how often in a row
    std::int64_t seen_ = 0;   // in the deque, when tasks were left last; 0: one has been taken since
};

}   // namespace weft_openmp
