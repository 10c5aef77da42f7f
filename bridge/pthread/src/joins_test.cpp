// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <threads.h>
#include <time.h>

#include <atomic>
#include <cerrno>

#include "test_support.hpp"

using namespace weft_pthread_test;

namespace {

using Joins = Bridge;

TEST_F(Joins, OthersRunMeanwhile) {
    in_child([] {
        Runtime runtime;
        std::atomic<bool> go{false};
        const Hosted joiner([&] {
            pthread_t thread;
            ASSERT_EQ(pthread_create(
                          &thread, nullptr,
                          [](void* raw) {
                              while (!*static_cast<std::atomic<bool>*>(raw)) std::this_thread::yield();
                              return raw;
                          },
                          &go),
                      0);
            timespec time{};
            clock_gettime(CLOCK_REALTIME, &time);
            void* result = nullptr;
            EXPECT_EQ(pthread_timedjoin_np(thread, &result, &time), ETIMEDOUT);
            clock_gettime(CLOCK_MONOTONIC, &time);
            EXPECT_EQ(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &time), ETIMEDOUT);
            EXPECT_EQ(pthread_join(thread, &result), 0);
            EXPECT_EQ(result, &go);
            EXPECT_EQ(pthread_join(pthread_self(), nullptr), EINVAL);
            thrd_t of_c11;
            ASSERT_EQ(thrd_create(
                          &of_c11, [](void*) { return 42; }, nullptr),
                      thrd_success);
            int number = 0;
            EXPECT_EQ(thrd_join(of_c11, &number), thrd_success);
            EXPECT_EQ(number, 42);
        });
        until_suspended(joiner);
        const Hosted other([&] { go = true; });   // on the waiting unit's stream
    });
}

TEST_F(Joins, OneThatWaitsIsCancelledAndTheThreadCanStillBeJoined) {
    in_child([] {
        Runtime runtime;
        std::atomic<bool> go{false};
        pthread_t its{}, thread{};
        {
            const Hosted joiner([&] {
                its = pthread_self();
                ASSERT_EQ(pthread_create(
                              &thread, nullptr,
                              [](void* raw) -> void* {
                                  while (!*static_cast<std::atomic<bool>*>(raw)) std::this_thread::yield();
                                  return nullptr;
                              },
                              &go),
                          0);
                pthread_join(thread, nullptr);
                ADD_FAILURE() << "it has not been cancelled";
            });
            until_suspended(joiner);
            EXPECT_EQ(pthread_cancel(its), 0);
        }
        go = true;
        EXPECT_EQ(pthread_join(thread, nullptr), 0);
    });
}

}   // namespace
