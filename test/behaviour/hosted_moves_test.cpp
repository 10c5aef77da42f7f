// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hosted units that go on on another stream than they have left. Two OS threads never run by one
// thread pointer; the simulator checks that at each change.
#include <cerrno>
#include <memory>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/hosted.hpp"

using namespace weft_test;

namespace {

constexpr int turns = 6;

// errno stands for everything that a thread pointer leads to.
void expect_own_errno(int mine) {
    EXPECT_EQ(errno, mine);
    errno = mine;
}

}   // namespace

TEST(HostedMoves, OneThatYieldsIsLeftBeforeItGoesOnElsewhere) {
    Runtime runtime;
    Two two;
    const weft_unit_options how = hosted();
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 1; i <= 3; ++i) {
        units.push_back(std::make_unique<Ult>(
            [i] {
                errno = i;
                for (int turn = 0; turn < turns; ++turn) {
                    yield();
                    expect_own_errno(i);
                }
            },
            &how, two.pool));
    }
    for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
}

TEST(HostedMoves, OneThatSuspendsIsLeftBeforeItIsResumedFromAfar) {
    Runtime runtime;
    Two two;
    const weft_unit_options how = hosted();
    Bed bed;
    Ult sleeper(
        [&] {
            errno = 1;
            for (int turn = 0; turn < turns; ++turn) {
                bed.sleep();
                expect_own_errno(1);
            }
        },
        &how, two.pool);
    Ult waker(
        [&] {
            errno = 2;
            for (int turn = 0; turn < turns; ++turn) {
                until([&] { return bed.occupied(); });
                EXPECT_EQ(bed.wake(), WEFT_OK);
                expect_own_errno(2);
            }
        },
        nullptr, two.pool);
    EXPECT_EQ(sleeper.join(), WEFT_OK);
    EXPECT_EQ(waker.join(), WEFT_OK);
}

TEST(HostedMoves, NativeUnitsOnTheSameStreamsKeepTheirOwn) {
    Runtime runtime;
    Two two;
    const weft_unit_options how = hosted();
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 1; i <= 4; ++i) {
        units.push_back(std::make_unique<Ult>(
            [i] {
                errno = i;
                weft_mutex mutex = WEFT_MUTEX_INIT;
                for (int turn = 0; turn < turns; ++turn) {
                    yield();
                    expect_own_errno(i);
                    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
                    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
                }
            },
            i % 2 == 0 ? &how : nullptr, two.pool));
    }
    for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
}

// The next unit begins on the host that another unit had, wherever that unit has ended.
TEST(HostedMoves, OnePthreadServesOneUnitAfterTheOther) {
    Runtime runtime;
    Two two;
    const weft_unit_options how = hosted();
    for (int round = 0; round < 3; ++round) {
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 1; i <= 2; ++i) {
            units.push_back(std::make_unique<Ult>(
                [i] {
                    EXPECT_EQ(errno, 0);
                    errno = i;
                    yield();
                    expect_own_errno(i);
                },
                &how, two.pool));
        }
        for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
    }
    EXPECT_LE(counter("/hosts/count/started"), 4u);   // two may be on their way back while two begin
}

TEST(HostedMoves, ThreadsThatTheKernelRefusesAreWaitedForOrTold) {
    Runtime runtime;
    Two two;
    const weft_unit_options how = hosted();
    atomic<int> ran{0};
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 0; i < 2; ++i) {
        units.push_back(std::make_unique<Ult>(
            [&] {
                ++ran;
                yield();
            },
            &how, two.pool));
    }
    int well = 0;
    for (const auto& unit : units) well += unit->free() == WEFT_OK ? 1 : 0;   // only the simulator refuses any
    EXPECT_EQ(ran.load(), well);
}
