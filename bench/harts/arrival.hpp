// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time from a request until its result arrives: one event at a time, each a sample.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "samples.hpp"

namespace bench {

inline std::atomic<std::uint64_t> came_at{0};   // 0: not yet

// Only the first arrival counts.
inline void note_arrival() {
    std::uint64_t none = 0;
    came_at.compare_exchange_strong(none, now_ns());
}

// ask() makes some thread call note_arrival(); wait() is called repeatedly until then.
template <class Ask, class Wait>
void sample_arrival(const std::string& name, Ask ask, Wait wait) {
    came_at.store(0);
    const std::uint64_t asked_at = now_ns();
    ask();
    std::uint64_t at;
    while ((at = came_at.load()) == 0) wait();
    print_sample(name, static_cast<double>(at - std::min(at, asked_at)));
}

// An OS thread that is woken, and sleeps again.
class FutexSleeper {
public:
    ~FutexSleeper() {
        stop_.store(true);
        wake();
        thread_.join();
    }
    void wake() {
        word_.fetch_add(1);
        syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

private:
    void sleep_and_note() {
        for (unsigned seen = 0; !stop_.load(); ++seen) {
            while (word_.load() == seen) syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
            note_arrival();
        }
    }

    std::atomic<unsigned> word_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_{[this] { sleep_and_note(); }};
};

}   // namespace bench
