// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What accesses cost in a timed run.
#include <gtest/gtest.h>

#include <cstdint>

#include "os/sim/costs.hpp"
#include "weft/location.hpp"

namespace {

using weft::sim::Accesses;
using weft::sim::Costs;

struct CostsOfAccesses : testing::Test {
    // Returns how long the access takes.
    std::uint64_t access(std::uint16_t hart, const void* word, Accesses how, std::uint64_t now_ns = 1'000'000) {
        return costs.access(hart, word, how, now_ns, weft::location::current()) - now_ns;
    }
    static constexpr std::uint64_t here = Costs::step_ns, elsewhere = Costs::step_ns + Costs::transfer_ns;

    Costs costs;
    alignas(64) std::uint64_t words[16] = {};
};

TEST_F(CostsOfAccesses, ALineThatNoHartHasIsFree) { EXPECT_EQ(access(0, &words[0], Accesses::changes), here); }

TEST_F(CostsOfAccesses, AHartKeepsALineUntilAnotherWritesThere) {
    access(0, &words[0], Accesses::changes);
    EXPECT_EQ(access(0, &words[7], Accesses::reads), here) << "the same line";
    access(1, &words[1], Accesses::changes);
    EXPECT_EQ(access(0, &words[0], Accesses::reads, 2'000'000), elsewhere);
    EXPECT_EQ(access(0, &words[8], Accesses::reads), here) << "another line";
}

TEST_F(CostsOfAccesses, ReadersShareALineUntilOneWrites) {
    access(0, &words[0], Accesses::reads);
    EXPECT_EQ(access(1, &words[0], Accesses::reads, 2'000'000), elsewhere);
    EXPECT_EQ(access(0, &words[0], Accesses::reads, 3'000'000), here);
    EXPECT_EQ(access(0, &words[0], Accesses::changes, 4'000'000), elsewhere) << "the other must drop it";
    EXPECT_EQ(access(0, &words[0], Accesses::changes, 5'000'000), here);
}

TEST_F(CostsOfAccesses, HartsThatWantALineAtOnceAreServedInTurn) {
    access(0, &words[0], Accesses::changes);
    EXPECT_EQ(access(1, &words[0], Accesses::changes), elsewhere);
    EXPECT_EQ(access(2, &words[0], Accesses::changes), elsewhere + Costs::transfer_ns);
    EXPECT_EQ(access(3, &words[0], Accesses::reads), elsewhere + 2 * Costs::transfer_ns);
}

TEST_F(CostsOfAccesses, AStoreDoesNotMakeItsHartWaitButOthers) {
    access(0, &words[0], Accesses::changes);
    EXPECT_EQ(access(1, &words[0], Accesses::stores), here);
    EXPECT_EQ(access(0, &words[0], Accesses::reads), elsewhere + Costs::transfer_ns);
}

TEST_F(CostsOfAccesses, AreCountedByTheirLineOfTheSource) {
    for (std::uint16_t hart : {0, 1, 0}) access(hart, &words[0], Accesses::changes);
    ASSERT_EQ(costs.by_place().size(), 1u);
    const weft::sim::AccessCost& all = costs.by_place().begin()->second;
    EXPECT_EQ(all.accesses, 3u);
    EXPECT_EQ(all.transfers, 2u);
    EXPECT_EQ(all.waited_ns, 2 * elsewhere + Costs::transfer_ns);
    costs.count_anew();
    EXPECT_TRUE(costs.by_place().empty());
}

}   // namespace
