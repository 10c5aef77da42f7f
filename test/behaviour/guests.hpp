// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of guests share: OS threads of the test, and a stay inside.
#pragma once

#include <pthread.h>

#include <exception>
#include <thread>
#include <vector>

#include "test/behaviour/support.hpp"
#include "weft/guest.h"

namespace weft_test {

// The calling OS thread, read anew each time: a compiler takes pthread_self for constant, but a
// unit may go on on another OS thread.
[[gnu::noinline]] inline pthread_t os_thread() {
    asm volatile("");
    return pthread_self();
}

class Inside {
public:
    Inside() { EXPECT_EQ(weft_guest_enter(), WEFT_OK) << weft_error_text(); }
    ~Inside() { EXPECT_EQ(weft_guest_leave(), WEFT_OK) << weft_error_text(); }
    Inside(const Inside&) = delete;
};

// An exception from a refused call ends the test, not the process: an OS thread, or a member of a
// team, may throw nothing.
template <class Body>
void failing(Body body) {
    try {
        body();
    } catch (const std::exception& thrown) {
        ADD_FAILURE() << thrown.what();
    }
}

// Calls body(i) on `count` OS threads at once.
template <class Body>
void with_plain_threads(int count, Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&body, i] { failing([&] { body(i); }); });
    }
    for (std::thread& thread : threads) thread.join();
}

// Like with_plain_threads(), but called from a unit, which suspends until they are done: its stream
// gives its hart back.
template <class Body>
void with_threads(int count, Body body) {
    weft_latch done;
    ASSERT_EQ(weft_latch_init(&done, 1), WEFT_OK);
    std::thread all([&] {
        with_plain_threads(count, body);
        EXPECT_EQ(weft_latch_count_down(&done, 1), WEFT_OK);
    });
    EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
    all.join();
}

}   // namespace weft_test
