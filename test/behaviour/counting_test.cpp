// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Synchronization objects that count: semaphore, latch, barrier, read-write lock.
#include <array>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

class CountingAs : public testing::TestWithParam<As> {};
INSTANTIATE_TEST_SUITE_P(Waiting, CountingAs, testing::Values(As::unit, As::thread));

// ---- semaphore ----------------------------------------------------------------------------------

TEST_P(CountingAs, ASemaphoreLetsAsManyInAsItCounts) {
    Runtime runtime;
    weft_semaphore semaphore;
    ASSERT_EQ(weft_semaphore_init(&semaphore, 3), WEFT_OK);
    atomic<int> inside{0}, most{0};
    std::vector<std::unique_ptr<Doing>> all;
    for (int i = 0; i < 8; ++i) {
        all.push_back(std::make_unique<Doing>(GetParam(), [&] {
            for (int k = 0; k < 20; ++k) {
                ASSERT_EQ(weft_semaphore_acquire(&semaphore), WEFT_OK);
                const int now = ++inside;
                for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {}
                if (weft_unit_self() != nullptr) weft_unit_yield();
                --inside;
                ASSERT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_OK);
            }
        }));
    }
    all.clear();
    EXPECT_LE(most, 3);
    std::uint32_t left = 0;
    EXPECT_EQ(weft_semaphore_count_get(&semaphore, &left), WEFT_OK);
    EXPECT_EQ(left, 3u);
}

TEST_P(CountingAs, ASemaphoreServesSeveralByOneRelease) {
    Runtime runtime;
    weft_semaphore semaphore = {};
    atomic<int> served{0};
    std::vector<std::unique_ptr<Doing>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(std::make_unique<Doing>(GetParam(), [&] {
            ASSERT_EQ(weft_semaphore_acquire(&semaphore), WEFT_OK);
            ++served;
        }));
    }
    let_others_wait();
    EXPECT_EQ(weft_semaphore_release(&semaphore, 5), WEFT_OK);
    until([&] { return served == 3; });
    std::uint32_t left = 0;
    EXPECT_EQ(weft_semaphore_count_get(&semaphore, &left), WEFT_OK);
    EXPECT_EQ(left, 2u);
}

TEST(Counting, ASemaphoreGivesNothingToOneWhoseTimeHasCome) {
    Runtime runtime;
    for (int round = 0; round < 20; ++round) {
        weft_semaphore semaphore = {};
        weft_status status = WEFT_OK;
        int served = 0;
        const std::uint64_t deadline = in_ms(3);
        Ult late([&] { status = weft_semaphore_acquire_until(&semaphore, deadline); });
        Ult waits([&] {
            EXPECT_EQ(weft_semaphore_acquire(&semaphore), WEFT_OK);
            ++served;
        });
        until([&] { return waiting_for("semaphore") == 2 || weft_now_ns() >= deadline; });   // later on a busy machine
        just_after(deadline, [&] { EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_OK); });
        late.join();
        for (int i = 0; i < 10; ++i) weft_unit_yield();
        EXPECT_EQ(served, status == WEFT_TIMED_OUT ? 1 : 0);
        if (served == 0) {
            EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_OK);
        }
        waits.join();
    }
}

// One stream fires the timer of a wait that a release has just ended, while the unit is already in
// its next wait on another stream.
TEST(Counting, AWaitThatEndsAsItsTimeComesLeavesNothingToTheNext) {
    Runtime runtime;
    weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
    {
        Stream one(pool), another(pool);
        weft_semaphore semaphore = {}, next = {};
        atomic<std::uint64_t> soon{0};
        Ult waits(
            [&] {
                for (int round = 0; round < 20; ++round) {
                    const std::uint64_t deadline = weft_now_ns() + 20'000;
                    soon = deadline;
                    const weft_status status = weft_semaphore_acquire_until(&semaphore, deadline);
                    EXPECT_EQ(weft_semaphore_acquire_until(&next, in_ms(60'000)), WEFT_OK);
                    if (status != WEFT_OK) {
                        EXPECT_EQ(weft_semaphore_acquire(&semaphore), WEFT_OK);
                    }
                }
            },
            nullptr, pool);
        for (int round = 0; round < 20; ++round) {
            std::uint64_t deadline = 0;
            until([&] { return (deadline = soon.exchange(0)) != 0; });
            just_after(deadline, [&] { EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_OK); });
            for (int i = 0; i < 10; ++i) weft_unit_yield();
            EXPECT_EQ(weft_semaphore_release(&next, 1), WEFT_OK);
        }
        EXPECT_EQ(waits.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST_P(CountingAs, ASemaphoreIsWaitedForUntilTheDeadlineAndNotLess) {
    Runtime runtime;
    weft_semaphore semaphore = {};
    Doing late(GetParam(), [&] {
        const std::uint64_t deadline = in_ms(4);
        EXPECT_EQ(weft_semaphore_acquire_until(&semaphore, deadline), WEFT_TIMED_OUT);
        EXPECT_GE(weft_now_ns(), deadline);
        EXPECT_EQ(weft_semaphore_acquire_until(&semaphore, 0), WEFT_TIMED_OUT);
    });
    late.join();
    EXPECT_EQ(weft_semaphore_try_acquire(&semaphore), WEFT_BUSY);
    EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_OK);
    EXPECT_EQ(weft_semaphore_try_acquire(&semaphore), WEFT_OK) << "it was not given to one that has gone";
    EXPECT_EQ(weft_semaphore_release(&semaphore, WEFT_COUNT_MAX), WEFT_OK);
    EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_INVALID);
    EXPECT_EQ(weft_semaphore_init(&semaphore, WEFT_COUNT_MAX + 1), WEFT_INVALID);
    EXPECT_EQ(weft_semaphore_acquire(nullptr), WEFT_INVALID);
}

// ---- latch --------------------------------------------------------------------------------------

TEST_P(CountingAs, ALatchOpensAtZeroAndStaysOpen) {
    Runtime runtime;
    weft_latch latch;
    ASSERT_EQ(weft_latch_init(&latch, 3), WEFT_OK);
    atomic<int> through{0};
    std::vector<std::unique_ptr<Doing>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(std::make_unique<Doing>(GetParam(), [&] {
            ASSERT_EQ(weft_latch_wait(&latch), WEFT_OK);
            ++through;
        }));
    }
    let_others_wait();
    EXPECT_EQ(weft_latch_count_down(&latch, 2), WEFT_OK);
    EXPECT_EQ(weft_latch_test(&latch), WEFT_BUSY);
    EXPECT_EQ(weft_latch_count_down(&latch, 2), WEFT_INVALID) << "more than is left";
    let_others_wait();
    EXPECT_EQ(through, 0);
    EXPECT_EQ(weft_latch_count_down(&latch, 1), WEFT_OK);
    until([&] { return through == 3; });
    EXPECT_EQ(weft_latch_wait(&latch), WEFT_OK);
    EXPECT_EQ(weft_latch_test(&latch), WEFT_OK);
}

TEST_P(CountingAs, ALatchIsWaitedForUntilTheDeadlineAndNotLess) {
    Runtime runtime;
    weft_latch latch;
    ASSERT_EQ(weft_latch_init(&latch, 1), WEFT_OK);
    Doing late(GetParam(), [&] {
        const std::uint64_t deadline = in_ms(4);
        EXPECT_EQ(weft_latch_wait_until(&latch, deadline), WEFT_TIMED_OUT);
        EXPECT_GE(weft_now_ns(), deadline);
    });
    late.join();
    EXPECT_EQ(weft_latch_count_down(&latch, 1), WEFT_OK);
}

// ---- barrier ------------------------------------------------------------------------------------

TEST_P(CountingAs, ABarrierHoldsAllUntilTheLastHasCome) {
    Runtime runtime;
    constexpr int count = 5, phases = 10;
    weft_barrier barrier;
    std::array<atomic<int>, phases> arrived{};
    static atomic<int> completions;
    completions = 0;
    ASSERT_EQ(weft_barrier_init(
                  &barrier, count, [](void*) { ++completions; }, nullptr),
              WEFT_OK);
    std::vector<std::unique_ptr<Doing>> all;
    for (int i = 0; i < count; ++i) {
        all.push_back(std::make_unique<Doing>(GetParam(), [&] {
            for (int phase = 0; phase < phases; ++phase) {
                ++arrived[phase];
                ASSERT_EQ(weft_barrier_wait(&barrier), WEFT_OK);
                EXPECT_EQ(arrived[phase], count);
                EXPECT_GE(completions, phase + 1);
            }
        }));
    }
    all.clear();
    EXPECT_EQ(completions, phases);
}

TEST(Barrier, ForOneNeverSwitches) {
    Runtime runtime;
    Ult other([] {});
    weft_barrier barrier;
    ASSERT_EQ(weft_barrier_init(&barrier, 1, nullptr, nullptr), WEFT_OK);
    const auto before = counter("/units/count/suspended") + counter("/units/count/yielded");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(weft_barrier_wait(&barrier), WEFT_OK);
    EXPECT_EQ(counter("/units/count/suspended") + counter("/units/count/yielded"), before);
}

// A unit that polled for the others before it arrives would keep the others waiting.
TEST(Barrier, IsArrivedAtBeforeAnybodyLooksAround) {
    Runtime runtime(two_that_look_long());
    weft_barrier barrier;
    ASSERT_EQ(weft_barrier_init(&barrier, 6, nullptr, nullptr), WEFT_OK);
    auto arrive = [&] {
        for (int phase = 0; phase < 20; ++phase) ASSERT_EQ(weft_barrier_wait(&barrier), WEFT_OK);
    };
    const std::uint64_t begin_ns = weft_now_ns();
    {
        std::vector<std::unique_ptr<Ult>> others;
        for (std::size_t i = 1; i < 6; ++i) {
            auto placed = options();
            placed.stream = weft_stream_at(i % 2);
            others.push_back(std::make_unique<Ult>(arrive, &placed));
        }
        arrive();
    }
    EXPECT_LT(weft_now_ns() - begin_ns, 5 * long_look_ns) << "more than one look in four";
}

// The first unit that goes on frees the barrier while others, among them the last to arrive, are
// still about to return (address sanitizer).
TEST_P(CountingAs, ABarrierMayBeGoneForTheFirstThatGoesOn) {
    Runtime runtime;
    for (int i = 0; i < 100; ++i) {
        auto barrier = std::make_unique<weft_barrier>();
        weft_barrier* const at = barrier.get();
        atomic<bool> first{true};
        ASSERT_EQ(weft_barrier_init(at, 4, nullptr, nullptr), WEFT_OK);
        std::vector<std::unique_ptr<Doing>> all;
        for (int k = 0; k < 4; ++k) {
            all.push_back(std::make_unique<Doing>(GetParam(), [&] {
                ASSERT_EQ(weft_barrier_wait(at), WEFT_OK);
                if (first.exchange(false)) barrier.reset();
            }));
        }
    }
}

TEST_P(CountingAs, ABarrierMayBeArrivedAtWithoutWaitingAndLeft) {
    Runtime runtime;
    weft_barrier barrier;
    ASSERT_EQ(weft_barrier_init(&barrier, 3, nullptr, nullptr), WEFT_OK);
    std::uint32_t phase = 99;
    EXPECT_EQ(weft_barrier_arrive(&barrier, 2, &phase), WEFT_OK);
    EXPECT_EQ(weft_barrier_arrive(&barrier, 2, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_barrier_wait_phase_until(&barrier, phase, in_ms(2)), WEFT_TIMED_OUT);
    Doing waits(GetParam(), [&] { EXPECT_EQ(weft_barrier_wait_phase(&barrier, phase), WEFT_OK); });
    let_others_wait();
    EXPECT_FALSE(waits.done());
    EXPECT_EQ(weft_barrier_arrive_and_drop(&barrier), WEFT_OK);
    waits.join();
    EXPECT_EQ(weft_barrier_wait_phase(&barrier, phase), WEFT_OK) << "it has ended";
    EXPECT_EQ(weft_barrier_arrive(&barrier, 2, &phase), WEFT_OK) << "two are expected from now on";
    EXPECT_EQ(weft_barrier_wait_phase_until(&barrier, phase, 0), WEFT_OK);
    EXPECT_EQ(weft_barrier_init(&barrier, 0, nullptr, nullptr), WEFT_INVALID);
}

// ---- read-write lock ----------------------------------------------------------------------------

TEST_P(CountingAs, ARwLockLetsReadersInTogetherAndWritersAlone) {
    Runtime runtime;
    weft_rwlock lock = WEFT_RWLOCK_INIT;
    atomic<int> readers{0}, writers{0}, together{0};
    std::vector<std::unique_ptr<Doing>> all;
    for (int i = 0; i < 6; ++i) {
        all.push_back(std::make_unique<Doing>(GetParam(), [&, i] {
            for (int k = 0; k < 30; ++k) {
                if (i % 3 == 0) {
                    ASSERT_EQ(weft_rwlock_write_lock(&lock), WEFT_OK);
                    EXPECT_EQ(++writers, 1);
                    EXPECT_EQ(readers, 0);
                    if (weft_unit_self() != nullptr) weft_unit_yield();
                    --writers;
                } else {
                    ASSERT_EQ(weft_rwlock_read_lock(&lock), WEFT_OK);
                    const int now = ++readers;
                    EXPECT_EQ(writers, 0);
                    if (now > together) together = now;
                    if (weft_unit_self() != nullptr) weft_unit_yield();
                    --readers;
                }
                ASSERT_EQ(weft_rwlock_unlock(&lock), WEFT_OK) << weft_error_text();
            }
        }));
    }
    all.clear();
    if (GetParam() == As::unit) {
        EXPECT_GT(together, 1);
    }
    EXPECT_EQ(weft_rwlock_try_write_lock(&lock), WEFT_OK);
    EXPECT_EQ(weft_rwlock_unlock(&lock), WEFT_OK);
}

TEST(RwLock, LetsAWriterInThoughReadersKeepComing) {
    Runtime runtime;
    weft_rwlock lock = WEFT_RWLOCK_INIT;
    bool wrote = false;
    auto read_until_written = [&] {
        while (!wrote) {
            ASSERT_EQ(weft_rwlock_read_lock(&lock), WEFT_OK);
            weft_unit_yield();   // so that one of them reads at any time
            ASSERT_EQ(weft_rwlock_unlock(&lock), WEFT_OK);
        }
    };
    Ult a(read_until_written), b(read_until_written);
    Ult writer([&] {
        ASSERT_EQ(weft_rwlock_write_lock(&lock), WEFT_OK);
        wrote = true;
        ASSERT_EQ(weft_rwlock_unlock(&lock), WEFT_OK);
    });
    EXPECT_EQ(writer.join(), WEFT_OK);
}

TEST(RwLock, LetsReadersInThoughWritersKeepComing) {
    Runtime runtime;
    weft_rwlock lock = WEFT_RWLOCK_INIT;
    bool read = false;
    auto write_until_read = [&] {
        while (!read) {
            ASSERT_EQ(weft_rwlock_write_lock(&lock), WEFT_OK);
            weft_unit_yield();
            ASSERT_EQ(weft_rwlock_unlock(&lock), WEFT_OK);
        }
    };
    Ult a(write_until_read), b(write_until_read), c(write_until_read);
    Ult reader([&] {
        ASSERT_EQ(weft_rwlock_read_lock(&lock), WEFT_OK);
        read = true;
        ASSERT_EQ(weft_rwlock_unlock(&lock), WEFT_OK);
    });
    EXPECT_EQ(reader.join(), WEFT_OK);
}

TEST_P(CountingAs, AWriterThatGivesUpLetsReadersInThatWaitedForIt) {
    Runtime runtime;
    weft_rwlock lock = WEFT_RWLOCK_INIT;
    ASSERT_EQ(weft_rwlock_read_lock(&lock), WEFT_OK);
    atomic<bool> waits{false};
    Doing writer(GetParam(), [&] {
        waits = true;
        EXPECT_EQ(weft_rwlock_write_lock_until(&lock, in_ms(30)), WEFT_TIMED_OUT);
    });
    until_set(waits);
    until([&] {
        return writer.done() || weft_rwlock_try_read_lock(&lock) == WEFT_BUSY || weft_rwlock_unlock(&lock) != WEFT_OK;
    });
    Doing reader(GetParam(), [&] {
        EXPECT_EQ(weft_rwlock_read_lock(&lock), WEFT_OK);
        EXPECT_EQ(weft_rwlock_unlock(&lock), WEFT_OK);
    });
    reader.join();   // while the first reader still reads
    EXPECT_EQ(weft_rwlock_unlock(&lock), WEFT_OK);
}

TEST(RwLock, RefusesWhatMakesNoSense) {
    Runtime runtime;
    weft_rwlock lock = WEFT_RWLOCK_INIT;
    EXPECT_EQ(weft_rwlock_unlock(&lock), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_rwlock_unlock(nullptr), WEFT_INVALID);
    ASSERT_EQ(weft_rwlock_write_lock(&lock), WEFT_OK);
    EXPECT_EQ(weft_rwlock_write_lock(&lock), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_rwlock_read_lock(&lock), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_rwlock_try_read_lock(&lock), WEFT_BUSY);
    EXPECT_EQ(weft_rwlock_try_write_lock(&lock), WEFT_BUSY);
    Ult other([&] { EXPECT_EQ(weft_rwlock_unlock(&lock), WEFT_WRONG_STATE); });
    other.join();
    EXPECT_EQ(weft_rwlock_unlock(&lock), WEFT_OK);
}

}   // namespace
