// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rescue of units that block in the kernel: each of them costs as much as the first, however many
// there are, and computing is not mistaken for blocking.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "test/behaviour/waiting.hpp"
#include "weft/spmd.h"

using namespace weft_test;

namespace {

// The time until `count` units, which two streams run, all block in a read of what the last unit
// writes.
std::uint64_t time_of_readers(int count) {
    Runtime runtime(with_streams(2));
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    atomic<int> begun{0};
    const std::uint64_t since_ns = weft_now_ns();
    {
        std::vector<std::unique_ptr<Ult>> readers;
        for (int i = 0; i < count; ++i) {
            readers.push_back(std::make_unique<Ult>([&] {
                begun.fetch_add(1);
                char byte;
                EXPECT_EQ(read(ends[0], &byte, 1), 1);
            }));
        }
        Ult writer([&] {
            while (begun.load() != count) weft_unit_yield();
            const std::vector<char> bytes(static_cast<std::size_t>(count));
            EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()), count);
        });
        EXPECT_EQ(writer.join(), WEFT_OK);
    }
    const std::uint64_t took_ns = weft_now_ns() - since_ns;
    close(ends[0]);
    close(ends[1]);
    return took_ns;
}

}   // namespace

// When each unit waited longer than the one before, twelve took 25 times as long as the first two.
TEST(RescueOfBlocked, TwelveThatBlockInARowCostNoMoreThanTwelveTimesTheFirst) {
    // Several tries, because other programs may interfere.
    std::uint64_t first_ns = 0, all_ns = ~std::uint64_t{0};
    for (int tries = 0; tries < 5 && all_ns > 12 * std::max(first_ns, 12 * ms); ++tries) {
        first_ns = time_of_readers(2);
        all_ns = time_of_readers(12);
    }
    EXPECT_LE(all_ns, 12 * std::max(first_ns, 12 * ms));
}

// Lent harts do not count as OS threads, of which as many may help as there are units.
TEST(RescueOfBlocked, HartsThatWereLentToADomainLeaveRoomForStandIns) {
    static constexpr int readers = 6, members = 10;
    struct Ends {
        int ends[readers + 1][2], between[members][2];
    } all;
    for (auto& ends : all.ends) ASSERT_EQ(pipe(ends), 0);
    for (auto& ends : all.between) ASSERT_EQ(pipe(ends), 0);
    const auto passes_on = [](int(*ends)[2], int self, int last) {
        char byte = 0;
        if (self != last) {
            EXPECT_EQ(read(ends[self + 1][0], &byte, 1), 1);
        }
        if (self != 0) {
            EXPECT_EQ(write(ends[self][1], &byte, 1), 1);
        }
    };
    {
        Runtime runtime(with_streams(2));
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < readers; ++i)
            units.push_back(std::make_unique<Ult>([&, i] { passes_on(all.ends, i, readers); }));
        Doing outside(As::thread, [&] {
            EXPECT_EQ(weft_spmd(
                          members,
                          [](void* raw) {
                              auto& of = *static_cast<Ends*>(raw);
                              const int self = static_cast<int>(weft_spmd_member());
                              char byte = 0;
                              weft_unit_yield();
                              if (self + 1 < members) {
                                  EXPECT_EQ(read(of.between[self + 1][0], &byte, 1), 1);
                              }
                              if (self != 0) {
                                  EXPECT_EQ(write(of.between[self][1], &byte, 1), 1);
                              }
                          },
                          &all),
                      WEFT_OK);
            units.push_back(std::make_unique<Ult>([&] { passes_on(all.ends, readers, readers); }));
        });
        outside.join();
        units.clear();
    }
    for (auto& ends : all.ends) {
        close(ends[0]);
        close(ends[1]);
    }
    for (auto& ends : all.between) {
        close(ends[0]);
        close(ends[1]);
    }
}

// A thread that waits for a processor uses no time, just as a thread that blocks.
TEST(RescueOfBlocked, UnitsThatOnlyComputeAreHelpedLaterEachTimeHoweverManyThereAre) {
    constexpr int count = 40;
    Runtime runtime(with_streams(2));
    const std::uint64_t end_ns = in_ms(400);
    std::vector<std::unique_ptr<Ult>> all;
    for (int i = 0; i < count; ++i) {
        all.push_back(std::make_unique<Ult>([end_ns] {
            while (weft_now_ns() < end_ns) {}
        }));
    }
    for (auto& unit : all) EXPECT_EQ(unit->join(), WEFT_OK);
    EXPECT_LE(counter("/rescue/count/emergencies"), 8u);   // after 10, 30, 70, 150, 230, ... ms
}
