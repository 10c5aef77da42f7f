// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two races of a unit's life, by the hundred thousand: its end against its joiner, and a
// suspension against several threads that resume it.
#include <atomic>
#include <thread>
#include <vector>

#include "test/stress/stress.hpp"

namespace {

using namespace weft_test;

weft_settings shared_streams(std::size_t streams) {
    weft_settings settings = with_streams(streams);
    settings.pool = WEFT_POOL_SHARED;
    return settings;
}

// Spins a little, for a different time each time, so that the two sides meet at all distances.
void turn(weft::Random& random) {
    for (std::uint32_t left = random.below(200); left > 0; --left) asm volatile("");
}

TEST(Race, EveryJoinerComesBackHoweverCloseTheEndIs) {
    const Deadline deadline(200);
    const std::uint64_t seed = first_seed();
    Runtime runtime(shared_streams(2));
    weft::Random random(seed);
    for (int round = 0; round < scaled(200'000); ++round) {
        weft_unit* unit = nullptr;
        std::atomic<int> ran{0};
        ASSERT_EQ(
            weft_ult_spawn(
                pool_of(1), [](void* raw) { static_cast<std::atomic<int>*>(raw)->fetch_add(1); }, &ran, nullptr, &unit),
            WEFT_OK);
        turn(random);
        ASSERT_EQ(weft_unit_join_free(unit), WEFT_OK);
        ASSERT_EQ(ran, 1);
    }
}

TEST(Race, ADetachedUnitIsFreedOnceHoweverCloseItsEndIs) {
    const Deadline deadline(200);
    const std::uint64_t seed = first_seed();
    Runtime runtime(shared_streams(2));
    weft::Random random(seed);
    static std::atomic<int> ran;
    ran = 0;
    const int rounds = scaled(100'000);
    for (int round = 0; round < rounds; ++round) {
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      pool_of(1), [](void*) { ran.fetch_add(1); }, nullptr, nullptr, &unit),
                  WEFT_OK);
        turn(random);
        ASSERT_EQ(weft_unit_detach(unit), WEFT_OK);
    }
    must_happen("all have run", [&] { return ran == rounds; });
    must_happen("all are freed", [] { return units_alive() == 1; });   // the primary unit
}

TEST(Race, OneOfThoseWhoResumeMakesTheUnitReady) {
    const Deadline deadline(200);
    Runtime runtime(shared_streams(2));
    static std::atomic<int> suspensions, resumptions;
    static std::atomic<bool> over;
    suspensions = 0;
    resumptions = 0;
    over = false;
    const int rounds = scaled(100'000);
    static int wanted;
    wanted = rounds;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  pool_of(1),
                  [](void*) {
                      for (int i = 0; i < wanted; ++i) {
                          suspensions.fetch_add(1);
                          EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_OK);
                      }
                      over = true;
                  },
                  nullptr, nullptr, &unit),
              WEFT_OK);
    std::vector<std::thread> resumers;
    for (int i = 0; i < 2; ++i) {
        resumers.emplace_back([unit] {
            while (!over) {
                if (weft_unit_resume(unit) == WEFT_OK) resumptions.fetch_add(1);
            }
        });
    }
    for (auto& thread : resumers) thread.join();
    EXPECT_EQ(resumptions, suspensions);
    EXPECT_EQ(suspensions, rounds);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
}

}   // namespace
