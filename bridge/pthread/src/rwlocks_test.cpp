// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <time.h>

#include <atomic>
#include <cerrno>
#include <shared_mutex>

#include "test_support.hpp"

using namespace weft_pthread_test;

namespace {

using ReadWriteLocks = Bridge;

TEST_F(ReadWriteLocks, WhoWaitsLeavesItsStreamToTheHolder) {
    in_child([] {
        Runtime runtime;
        pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
        int readers = 0, writers = 0, most_readers = 0;
        auto read = [&] {
            for (int i = 0; i < 50; ++i) {
                EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
                EXPECT_EQ(writers, 0);
                most_readers = std::max(most_readers, ++readers);
                weft_unit_yield();
                --readers;
                EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
                weft_unit_yield();
            }
        };
        auto write = [&] {
            for (int i = 0; i < 50; ++i) {
                EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
                EXPECT_EQ(writers++, 0);
                EXPECT_EQ(readers, 0);
                weft_unit_yield();
                --writers;
                EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
                weft_unit_yield();
            }
        };
        { const Hosted first(read), second(write), third(read), fourth(write); }
        EXPECT_EQ(most_readers, 2);
    });
}

TEST_F(ReadWriteLocks, OfUnitsAndThreads) {
    in_child([] {
        Runtime runtime(2);
        std::shared_mutex mutex;
        long count = 0;
        constexpr long steps = 5000;
        auto body = [&] {
            for (long i = 0; i < steps; ++i) {
                {
                    const std::unique_lock guard(mutex);
                    ++count;
                    if (i % 50 == 0 && weft_hosted()) weft_unit_yield();
                }
                const std::shared_lock guard(mutex);
                EXPECT_GT(count, i);
            }
        };
        std::thread thread(body);
        { const Hosted first(body, 0), second(body, 1), third(body, 1); }
        thread.join();
        EXPECT_EQ(count, 4 * steps);
    });
}

TEST_F(ReadWriteLocks, AWaitEndsWithItsTimeAndErrorsAreTheCLibrarys) {
    in_child([] {
        Runtime runtime;
        pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
        const Hosted writer([&] {
            EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
            EXPECT_EQ(pthread_rwlock_rdlock(&lock), EDEADLK);
            EXPECT_EQ(pthread_rwlock_wrlock(&lock), EDEADLK);
            {
                const Hosted reader([&] {
                    timespec time{};
                    clock_gettime(CLOCK_MONOTONIC, &time);
                    time.tv_sec += (time.tv_nsec + 10'000'000) / 1'000'000'000;
                    time.tv_nsec = (time.tv_nsec + 10'000'000) % 1'000'000'000;
                    EXPECT_EQ(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &time), ETIMEDOUT);
                    EXPECT_EQ(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &time), ETIMEDOUT);
                    const timespec past{}, wrong{0, -1};
                    EXPECT_EQ(pthread_rwlock_timedrdlock(&lock, &past), ETIMEDOUT);
                    EXPECT_EQ(pthread_rwlock_timedwrlock(&lock, &past), ETIMEDOUT);
                    EXPECT_EQ(pthread_rwlock_timedwrlock(&lock, &wrong), EINVAL);
                    EXPECT_EQ(pthread_rwlock_clockrdlock(&lock, CLOCK_THREAD_CPUTIME_ID, &time), EINVAL);
                });
            }
            EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
        });
    });
}

}   // namespace
