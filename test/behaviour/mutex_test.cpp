// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mutex: one unit holds it, no waiter waits longer than needed, and there are no needless
// switches.
#include <cstring>

#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

std::uint64_t switches() { return counter("/units/count/suspended") + counter("/units/count/yielded"); }

class MutexAs : public testing::TestWithParam<As> {};
INSTANTIATE_TEST_SUITE_P(Waiting, MutexAs, testing::Values(As::unit, As::thread));

TEST(Mutex, WorksBeforeTheRuntimeStartsAndAfterItHasEnded) {
    static weft_mutex mutex = WEFT_MUTEX_INIT;
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    {
        Runtime runtime;
        EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    }
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    std::thread other([] { EXPECT_EQ(weft_mutex_try_lock(&mutex), WEFT_BUSY); });
    other.join();
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
}

TEST(Mutex, ThatNobodyElseHoldsIsTakenWithoutASwitch) {
    Runtime runtime;
    Ult other([] {});   // a unit that could run
    weft_mutex plain = WEFT_MUTEX_INIT, recursive = WEFT_MUTEX_RECURSIVE_INIT;
    const auto before = switches();
    for (weft_mutex* mutex : {&plain, &recursive}) {
        EXPECT_EQ(weft_mutex_lock(mutex), WEFT_OK);
        EXPECT_EQ(weft_mutex_unlock(mutex), WEFT_OK);
        EXPECT_EQ(weft_mutex_try_lock(mutex), WEFT_OK);
        EXPECT_EQ(weft_mutex_unlock(mutex), WEFT_OK);
        EXPECT_EQ(weft_mutex_spin_lock(mutex), WEFT_OK);
        EXPECT_EQ(weft_mutex_unlock(mutex), WEFT_OK);
        EXPECT_EQ(weft_mutex_lock_urgent_until(mutex, WEFT_URGENCY_HIGH, 0), WEFT_OK);
        EXPECT_EQ(weft_mutex_unlock(mutex), WEFT_OK);
    }
    EXPECT_EQ(switches(), before);
}

TEST_P(MutexAs, IsGivenToOneAtATime) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    int inside = 0, most = 0, entered = 0;
    {
        std::vector<std::unique_ptr<Doing>> all;
        for (int i = 0; i < 8; ++i) {
            all.push_back(std::make_unique<Doing>(GetParam(), [&] {
                for (int k = 0; k < 20; ++k) {
                    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
                    most = std::max(most, ++inside);
                    ++entered;
                    if (weft_unit_self() != nullptr) weft_unit_yield();
                    --inside;
                    ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
                }
            }));
        }
    }
    EXPECT_EQ(most, 1);
    EXPECT_EQ(entered, 160);
}

TEST(Mutex, IsSharedByUnitsAndOsThreads) {
    Runtime runtime(2);
    weft_mutex mutex = WEFT_MUTEX_INIT;
    long sum = 0;
    {
        std::vector<std::unique_ptr<Doing>> all;
        for (int i = 0; i < 8; ++i) {
            all.push_back(std::make_unique<Doing>(i % 2 == 0 ? As::unit : As::thread, [&] {
                for (int k = 0; k < 500; ++k) {
                    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
                    ++sum;
                    ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
                }
            }));
        }
    }
    EXPECT_EQ(sum, 4000);
}

TEST_P(MutexAs, ThatIsHeldIsWaitedForUntilTheDeadlineAndNotLess) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    Doing late(GetParam(), [&] {
        const std::uint64_t deadline = in_ms(5);
        EXPECT_EQ(weft_mutex_lock_until(&mutex, deadline), WEFT_TIMED_OUT);
        EXPECT_GE(weft_now_ns(), deadline);
        EXPECT_EQ(weft_mutex_lock_until(&mutex, 0), WEFT_TIMED_OUT) << "a deadline that has passed";
    });
    late.join();
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_try_lock(&mutex), WEFT_OK) << "who gave up left nothing behind";
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
}

TEST_P(MutexAs, ThatIsUnlockedBeforeTheDeadlineIsTaken) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    Doing waits(GetParam(), [&] {
        EXPECT_EQ(weft_mutex_lock_until(&mutex, never_in_this_test()), WEFT_OK);
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    });
    let_others_wait();
    EXPECT_FALSE(waits.done());
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
}

TEST(Mutex, ServesTheUrgentFirstAndEqualsInTheirOrder) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    std::string order;
    {
        std::vector<std::unique_ptr<Ult>> all;
        const std::pair<char, weft_urgency> comers[] = {{'l', WEFT_URGENCY_LOW},  {'a', WEFT_URGENCY_NORMAL},
                                                        {'H', WEFT_URGENCY_HIGH}, {'m', WEFT_URGENCY_LOW},
                                                        {'I', WEFT_URGENCY_HIGH}, {'b', WEFT_URGENCY_NORMAL}};
        for (auto [name, urgency] : comers) {
            all.push_back(std::make_unique<Ult>([&, name = name, urgency = urgency] {
                ASSERT_EQ(weft_mutex_lock_urgent(&mutex, urgency), WEFT_OK);
                order += name;
                ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
            }));
        }
        until([] { return waiting_for("mutex") == 6; });
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    }
    EXPECT_EQ(order, "HIablm");
}

TEST(Mutex, WakesOneWaiterForAnUnlock) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    std::vector<std::unique_ptr<Ult>> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(std::make_unique<Ult>([&] {
            ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
            ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        }));
    }
    until([] { return waiting_for("mutex") == 100; });
    const auto before = counter("/units/count/resumed");
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    EXPECT_EQ(counter("/units/count/resumed"), before + 1);
}

TEST(Mutex, WakesNobodyWhileOneThatWasWokenHasNotTried) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    int entered = 0;
    std::vector<std::unique_ptr<Ult>> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(std::make_unique<Ult>([&] {
            ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
            ++entered;
            ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        }));
    }
    until([] { return waiting_for("mutex") == 10; });
    const auto before = counter("/units/count/resumed");
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK) << "barging is allowed";
    }
    EXPECT_EQ(counter("/units/count/resumed"), before + 1);
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    all.clear();
    EXPECT_EQ(entered, 10);
}

// The first waiter is woken, finds the mutex taken again, and is handed it the next time.
TEST(Mutex, IsGivenToOneThatWasOvertaken) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    bool got = false;
    Ult waits([&] {
        ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
        got = true;
        ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    });
    until([] { return waiting_for("mutex") == 1; });
    ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK) << "barging is allowed";
    until([] { return waiting_for("mutex") == 1; });
    EXPECT_FALSE(got);
    ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_try_lock(&mutex), WEFT_BUSY) << "it is the other's already";
    EXPECT_EQ(waits.join(), WEFT_OK);
    EXPECT_TRUE(got);
}

// Another unit keeps the waiter's stream while the waiter is overtaken, so that it cannot try
// before.
TEST(Mutex, IsGivenInTheEndToOneThatIsOvertakenFromAnotherStream) {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;
    Runtime runtime(settings);
    weft_mutex mutex = WEFT_MUTEX_INIT;
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    bool got = false;
    atomic<bool> over{false}, wanted{false}, kept{false};
    Ult waits(
        [&] {
            ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
            got = true;
            ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        },
        nullptr, pool_of(1));
    Ult keeps(
        [&] {
            while (!over) {
                while (wanted) {
                    kept = true;
                    std::this_thread::yield();
                }
                kept = false;
                weft_unit_yield();
            }
        },
        nullptr, pool_of(1));
    int overtaken = -1;
    bool mine = true;
    for (; mine && overtaken < 100; ++overtaken) {
        until([] { return waiting_for("mutex") == 1; });
        wanted = true;
        until([&] { return kept.load(); });
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        mine = weft_mutex_try_lock(&mutex) == WEFT_OK;
        wanted = false;
    }
    EXPECT_EQ(overtaken, 8);
    EXPECT_FALSE(mine) << "nobody is overtaken for ever";
    if (mine) {
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    }
    EXPECT_EQ(waits.join(), WEFT_OK);
    EXPECT_TRUE(got);
    over = true;
}

TEST(Mutex, ThatIsRecursiveIsUnlockedAsOftenAsItWasLocked) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_RECURSIVE_INIT;
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_try_lock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_spin_lock(&mutex), WEFT_OK);
    for (int left = 4; left > 0; --left) {
        Ult other([&] { EXPECT_EQ(weft_mutex_try_lock(&mutex), WEFT_BUSY) << left; });
        other.join();
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    }
    Ult other([&] {
        EXPECT_EQ(weft_mutex_try_lock(&mutex), WEFT_OK);
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    });
}

TEST(Mutex, LiesInSixtyFourBytesAtAnyMultipleOfFour) {
    static_assert(sizeof(weft_mutex) <= 56 && sizeof(weft_cond) <= 56 && sizeof(weft_event) <= 56);
    Runtime runtime;
    for (std::size_t offset = 0; offset < 128; offset += 4) {
        alignas(64) unsigned char memory[192];
        std::memset(memory, 0xa5, sizeof memory);
        unsigned char* place = memory + offset;
        std::memset(place, 0, 64);
        auto* mutex = reinterpret_cast<weft_mutex*>(place);
        ASSERT_EQ(weft_mutex_lock(mutex), WEFT_OK);
        Ult waits([&] {
            ASSERT_EQ(weft_mutex_lock(mutex), WEFT_OK);
            ASSERT_EQ(weft_mutex_unlock(mutex), WEFT_OK);
        });
        until([] { return waiting_for("mutex") == 1; });
        ASSERT_EQ(weft_mutex_unlock(mutex), WEFT_OK);
        ASSERT_EQ(waits.join(), WEFT_OK);
        for (unsigned char* at = memory; at < memory + sizeof memory; ++at) {
            if (at < place || at >= place + 64) {
                ASSERT_EQ(*at, 0xa5) << offset << ": outside of its 64 bytes";
            }
        }
    }
}

TEST(Mutex, RefusesWhatMakesNoSense) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    EXPECT_EQ(weft_mutex_lock(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_mutex_unlock(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_WRONG_STATE) << "nobody holds it";
    EXPECT_EQ(weft_mutex_lock_urgent_until(&mutex, static_cast<weft_urgency>(9), 0), WEFT_INVALID);
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_WRONG_STATE) << "it would wait for itself";
    EXPECT_EQ(weft_mutex_spin_lock(&mutex), WEFT_WRONG_STATE);
    Ult other([&] { EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_WRONG_STATE) << "somebody else's"; });
    other.join();
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void* held) {
                      EXPECT_EQ(weft_mutex_lock(static_cast<weft_mutex*>(held)), WEFT_WRONG_KIND);
                      weft_mutex mine = WEFT_MUTEX_INIT;
                      EXPECT_EQ(weft_mutex_lock(&mine), WEFT_OK) << "no wait is needed";
                      EXPECT_EQ(weft_mutex_unlock(&mine), WEFT_OK);
                  },
                  &mutex, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
}

}   // namespace
