// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OS threads, and what each of them has of its own.
#include "os/thread.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <string>

#include "base/atomic.hpp"
#include "os/fault.hpp"
#include "os/local.hpp"

namespace weft::os {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

// Runs body on an OS thread and waits for it.
template <class Body>
void on_thread(Body body) {
    Thread thread;
    ASSERT_TRUE(thread_start(
        thread, stack_bytes, [](void* raw) { (*static_cast<Body*>(raw))(); }, &body));
    EXPECT_NE(thread.handle, 0u);
    thread_join(thread);
    EXPECT_EQ(thread.handle, 0u);
}

TEST(Thread, RunsItsBodyWithItsArgumentAndIsJoined) {
    int ran = 0;
    on_thread([&] { ++ran; });
    EXPECT_EQ(ran, 1);
}

TEST(Thread, ManyRunAtOnce) {
    struct {
        atomic<int> inside{0};
    } shared;
    Thread threads[8];
    for (Thread& thread : threads) {
        ASSERT_TRUE(thread_start(
            thread, stack_bytes,
            [](void* raw) {
                auto& inside = static_cast<decltype(shared)*>(raw)->inside;
                inside.fetch_add(1);
                while (inside.load() < 8) thread_yield();   // ends only when all threads are inside
            },
            &shared));
    }
    for (Thread& thread : threads) thread_join(thread);
    EXPECT_EQ(shared.inside.load(), 8);
}

TEST(Thread, WithAStackThatCannotBeIsRefused) {
    Thread thread;
    EXPECT_FALSE(thread_start(
        thread, std::size_t{1} << 60, [](void*) {}, nullptr));
    EXPECT_EQ(thread.handle, 0u);
}

TEST(Thread, IsRefusedWhenATestSaysSo) {
    if constexpr (!config::checked) GTEST_SKIP() << "faults are injected in checked builds only";
    Thread thread;
    fault_hook.store([](Seam seam) { return seam == Seam::thread; });
    EXPECT_FALSE(thread_start(
        thread, stack_bytes, [](void*) {}, nullptr));
    fault_hook.store([](Seam seam) { return seam == Seam::allocate; });
    EXPECT_FALSE(thread_start(
        thread, stack_bytes, [](void*) {}, nullptr));
    fault_hook.store(nullptr);
}

TEST(Thread, HasTheKernelsNumberAndTheNameThatItGaveItself) {
    std::uint32_t number = 0, expected = 0;
    std::string name;
    on_thread([&] {
        number = thread_id();
        expected = static_cast<std::uint32_t>(syscall(SYS_gettid));
        thread_name("weft test");
        char read[16] = {};
        pthread_getname_np(pthread_self(), read, sizeof(read));
        name = read;
    });
    EXPECT_EQ(number, expected);
    EXPECT_NE(number, thread_id());
    EXPECT_EQ(name, "weft test");
}

TEST(Thread, KnowsItsStack) {
    Span span;
    bool inside = false;
    on_thread([&] {
        span = thread_stack();
        auto* here = static_cast<char*>(__builtin_frame_address(0));
        auto* lowest = static_cast<char*>(span.lowest);
        inside = here >= lowest && here < lowest + span.bytes;
    });
    EXPECT_TRUE(inside);
    EXPECT_GE(span.bytes, stack_bytes / 2);
    EXPECT_LE(span.bytes, 4 * stack_bytes);
}

TEST(Local, WordErrnoAndExceptionGlobalsBelongToTheThread) {
    int ours = 0, theirs = 0;
    void* at_start = &ours;
    int* their_errno = nullptr;
    ExceptionGlobals* their_exceptions = nullptr;
    set_local(&ours);
    on_thread([&] {
        at_start = local();
        set_local(&theirs);
        their_errno = errno_address();
        their_exceptions = exception_globals();
    });
    EXPECT_EQ(at_start, nullptr);
    EXPECT_EQ(local(), &ours);
    EXPECT_NE(their_errno, errno_address());
    EXPECT_NE(their_exceptions, exception_globals());
    set_local(nullptr);
}

TEST(Local, ErrnoIsReachedThroughItsAddress) {
    *errno_address() = E2BIG;
    EXPECT_EQ(errno, E2BIG);
    errno = 0;
    EXPECT_EQ(*errno_address(), 0);
}

TEST(Local, ExceptionGlobalsAreWhatTheRunTimeLibraryCountsIn) {
    ExceptionGlobals* globals = exception_globals();
    EXPECT_EQ(globals->caught, nullptr);
    EXPECT_EQ(globals->uncaught, 0u);
    struct InFlight {
        ExceptionGlobals* globals;
        unsigned& seen;
        ~InFlight() { seen = globals->uncaught; }
    };
    unsigned in_flight = 0;
    try {
        InFlight destroyed{globals, in_flight};
        throw 1;
    } catch (int) {
        EXPECT_NE(globals->caught, nullptr);
    }
    EXPECT_EQ(in_flight, 1u);
    EXPECT_EQ(globals->caught, nullptr);
}

}   // namespace
}   // namespace weft::os
