// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private pools and threads that reach them from elsewhere: other streams, and OS threads that are
// no streams. Only the pool's owner touches its units, so requests from others travel to the owner;
// when the owner has gone, they are served nevertheless.
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

TEST(Outside, AnOsThreadSpawnsJoinsAndFreesUnits) {
    Runtime runtime;
    Stream stream;
    atomic<int> ran{0};
    atomic<bool> over{false};
    std::thread thread([&] {
        EXPECT_EQ(weft_unit_self(), nullptr);
        EXPECT_EQ(weft_stream_self(), nullptr);
        EXPECT_EQ(weft_unit_yield(), WEFT_WRONG_CONTEXT);
        EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_WRONG_CONTEXT);
        for (int i = 0; i < 100; ++i) {
            Ult there([&] { ++ran; }, nullptr, stream.pool());
            EXPECT_EQ(there.join(), WEFT_OK);
        }
        Ult main([&] { ++ran; });   // no pool named: stream 0's
        EXPECT_EQ(main.join(), WEFT_OK);
        weft_unit* many[50];
        ASSERT_EQ(weft_unit_spawn_many(
                      stream.pool(), 50, [](void* count) { ++*static_cast<atomic<int>*>(count); },
                      std::vector<void*>(50, &ran).data(), nullptr, many),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join_free_many(many, 50), WEFT_OK);
        over = true;
    });
    until_set(over);
    thread.join();
    EXPECT_EQ(ran, 151);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Outside, AnOsThreadResumesAUnit) {
    Runtime runtime;
    Stream stream;
    Bed bed;
    weft_stream* woke_on = nullptr;
    Ult sleeper(
        [&] {
            bed.sleep();
            woke_on = weft_stream_self();
        },
        nullptr, stream.pool());
    std::thread thread([&] {
        until([&] { return bed.occupied(); });
        EXPECT_EQ(bed.wake(), WEFT_OK);
    });
    EXPECT_EQ(sleeper.join(), WEFT_OK);
    thread.join();
    EXPECT_EQ(woke_on, stream.handle());
}

TEST(Outside, TwoStreamsJoinEachOthersPrivateUnits) {
    Runtime runtime;
    Stream left, right;
    atomic<int> ran{0};
    Ult from_left(
        [&] {
            for (int i = 0; i < 200; ++i) {
                Ult there(
                    [&] {
                        ++ran;
                        if (ran % 3 == 0) weft_unit_yield();
                    },
                    nullptr, right.pool());
                EXPECT_EQ(there.join(), WEFT_OK);
            }
        },
        nullptr, left.pool());
    Ult from_right(
        [&] {
            for (int i = 0; i < 200; ++i) {
                Ult there(
                    [&] {
                        ++ran;
                        if (ran % 3 == 0) weft_unit_yield();
                    },
                    nullptr, left.pool());
                EXPECT_EQ(there.join(), WEFT_OK);
            }
        },
        nullptr, right.pool());
    EXPECT_EQ(from_left.join(), WEFT_OK);
    EXPECT_EQ(from_right.join(), WEFT_OK);
    EXPECT_EQ(ran, 400);
}

TEST(Outside, APrivateUnitThatOthersWaitForIsNotFreedWhereverTheyAre) {
    Runtime runtime;
    Stream stream;
    Bed bed;
    Ult sleeper([&] { bed.sleep(); }, nullptr, stream.pool());
    Ult first([&] { EXPECT_EQ(sleeper.join(), WEFT_OK); });
    until([&] { return bed.occupied() && first.state() == WEFT_UNIT_SUSPENDED; });
    // Remote calls run in the order in which they arrive: a unit that is sent after the remote call
    // of the first join runs after it.
    Ult(([] {}), nullptr, stream.pool()).join();
    std::thread thread([&] { EXPECT_EQ(weft_unit_join_free(sleeper.handle()), WEFT_BUSY); });
    thread.join();
    EXPECT_EQ(weft_unit_join_free(sleeper.handle()), WEFT_BUSY);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(first.join(), WEFT_OK);
}

TEST(Outside, APrivateUnitIsDetachedFromAnotherStream) {
    Runtime runtime;
    Stream stream;
    Bed bed;
    static Bed* to;
    to = &bed;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  stream.pool(), [](void*) { to->sleep(); }, nullptr, nullptr, &unit),
              WEFT_OK);
    until([&] { return bed.occupied(); });
    EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
    EXPECT_EQ(units_alive(), 2u);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    until([] { return units_alive() == 1; });
}

TEST(Outside, APrivateUnitIsDetachedWhereverItIsInItsLife) {
    Runtime runtime;
    Stream stream;
    for (int round = 0; round < 300; ++round) {
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      stream.pool(), [](void*) { weft_unit_yield(); }, nullptr, nullptr, &unit),
                  WEFT_OK);
        for (int spin = 0; spin < round % 7 * 50; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
        EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
    }
    EXPECT_EQ(stream.free(), WEFT_OK);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Orphan, ASuspendedUnitGoesOnWithTheNextStreamThatTakesItsPool) {
    Runtime runtime;
    weft_pool* pool = nullptr;
    Bed bed;
    std::unique_ptr<Ult> sleeper;
    {
        Stream stream;
        pool = stream.pool();
        sleeper = std::make_unique<Ult>([&] { bed.sleep(); }, nullptr, pool);
        until([&] { return bed.occupied(); });
    }
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(sleeper->state(), WEFT_UNIT_READY);
    Stream next;
    EXPECT_EQ(next.pool(), pool) << "the orphaned pool is taken over";
    EXPECT_EQ(sleeper->join(), WEFT_OK);
}

TEST(Orphan, JoinsAnnouncedBeforeAndAfterTheStreamEndedAreAnswered) {
    Runtime runtime;
    Bed beds[3];
    std::unique_ptr<Ult> sleepers[3];
    std::unique_ptr<Ult> early;
    {
        Stream stream;
        for (int i = 0; i < 3; ++i) {
            sleepers[i] = std::make_unique<Ult>([&bed = beds[i]] { bed.sleep(); }, nullptr, stream.pool());
        }
        until([&] { return beds[0].occupied() && beds[1].occupied() && beds[2].occupied(); });
        early = std::make_unique<Ult>([&] { EXPECT_EQ(sleepers[0]->join(), WEFT_OK); });
        until([&] { return early->state() == WEFT_UNIT_SUSPENDED; });
    }
    Ult late([&] { EXPECT_EQ(sleepers[1]->join(), WEFT_OK); });
    std::thread thread([&] { EXPECT_EQ(sleepers[2]->join(), WEFT_OK); });
    until([&] { return late.state() == WEFT_UNIT_SUSPENDED; });
    for (Bed& bed : beds) EXPECT_EQ(bed.wake(), WEFT_OK);
    Stream next;
    EXPECT_EQ(early->join(), WEFT_OK);
    EXPECT_EQ(late.join(), WEFT_OK);
    thread.join();
}

TEST(Orphan, AUnitIsDetachedThoughItsStreamHasEnded) {
    Runtime runtime;
    static Bed bed;
    weft_unit* unit = nullptr;
    {
        Stream stream;
        ASSERT_EQ(weft_ult_spawn(
                      stream.pool(), [](void*) { bed.sleep(); }, nullptr, nullptr, &unit),
                  WEFT_OK);
        until([&] { return bed.occupied(); });
    }
    EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(units_alive(), 2u);
    Stream next;
    until([] { return units_alive() == 1; });
}

TEST(Orphan, AJoinMeetsTheEndOfTheStreamAtAnyMoment) {
    Runtime runtime;
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int round = 0; round < 100; ++round) {
        Stream stream;
        const int turns = static_cast<int>(random() % 4);
        Ult unit(
            [&] {
                for (int i = 0; i < turns; ++i) weft_unit_yield();
            },
            nullptr, stream.pool());
        atomic<bool> joined{false};
        std::thread outside([&] {
            EXPECT_EQ(unit.join(), WEFT_OK);
            joined = true;
        });
        for (unsigned spin = random() % 2000; spin > 0; --spin) std::atomic_signal_fence(std::memory_order_seq_cst);
        EXPECT_EQ(stream.free(), WEFT_OK);
        until_set(joined);
        outside.join();
    }
}

TEST(Mixed, TaskletsAndUltsOfManyMakersAllRun) {
    Runtime runtime;
    constexpr int rounds = 100;
    static atomic<int> ran;
    ran = 0;
    Stream streams[3];
    weft_pool* pools[4] = {pool_of(0), streams[0].pool(), streams[1].pool(), streams[2].pool()};
    auto count = [](void*) { ++ran; };
    auto spawner = [&](unsigned start) {
        for (int i = 0; i < rounds; ++i) {
            weft_pool* pool = pools[(start + static_cast<unsigned>(i)) % 4];
            weft_unit* tasklet = nullptr;
            EXPECT_EQ(weft_tasklet_spawn(pool, count, nullptr, nullptr, &tasklet), WEFT_OK);
            Ult ult(
                [&] {
                    weft_unit_yield();
                    ++ran;
                },
                nullptr, pools[(start + static_cast<unsigned>(i) / 2) % 4]);
            EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
            EXPECT_EQ(ult.free(), WEFT_OK);
        }
    };
    atomic<bool> over{false};
    std::thread outside([&] {
        spawner(1);
        over = true;
    });
    {
        Ult a([&] { spawner(2); }, nullptr, pools[1]);
        Ult b([&] { spawner(3); }, nullptr, pools[2]);
        spawner(0);
    }
    until_set(over);
    outside.join();
    EXPECT_EQ(ran, 4 * 2 * rounds);
}
