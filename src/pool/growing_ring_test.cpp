// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pool/growing_ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/random.hpp"
#include "os/fault.hpp"

namespace weft {
namespace {

struct Item {};

TEST(GrowingRing, GivesFromTheBackAndFromTheFront) {
    using Ring = GrowingRing<Item>;
    Ring ring;
    Item items[3];
    EXPECT_TRUE(ring.empty());
    EXPECT_EQ(ring.pop_back(), nullptr);
    EXPECT_EQ(ring.pop_front(), nullptr);
    EXPECT_EQ(ring.front(), nullptr);
    for (Item& item : items) EXPECT_TRUE(ring.push_back(&item));
    EXPECT_EQ(ring.length(), 3u);
    EXPECT_EQ(ring.front(), &items[0]);
    EXPECT_EQ(ring.pop_back_if(&items[1]), Ring::Popped::not_last);
    EXPECT_EQ(ring.pop_back_if(&items[2]), Ring::Popped::yes);
    EXPECT_EQ(ring.pop_front(), &items[0]);
    EXPECT_EQ(ring.pop_back(), &items[1]);
    EXPECT_TRUE(ring.empty());
    EXPECT_EQ(ring.pop_back_if(&items[1]), Ring::Popped::empty);
}

// It grows while its first item lies anywhere in the slots.
TEST(GrowingRing, KeepsItsOrderWhereverItsItemsLieWhenItGrows) {
    constexpr std::uint64_t seed = 7;
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Item> items(20'000);
    GrowingRing<Item> ring;
    std::deque<Item*> model;
    for (Item& item : items) {
        ASSERT_TRUE(ring.push_back(&item));
        model.push_back(&item);
        if (random.below(3) == 0) {
            ASSERT_EQ(ring.pop_front(), model.front());
            model.pop_front();
        } else if (random.below(4) == 0) {
            ASSERT_EQ(ring.pop_back(), model.back());
            model.pop_back();
        }
        ASSERT_EQ(ring.length(), model.size());
    }
    for (; !model.empty(); model.pop_front()) ASSERT_EQ(ring.pop_front(), model.front());
    EXPECT_TRUE(ring.empty());
}

TEST(GrowingRing, RefusesAPushForWhichThereIsNoMemoryAndLosesNothing) {
    if constexpr (!config::checked) GTEST_SKIP() << "memory is refused in checked builds";
    GrowingRing<Item> ring;
    std::vector<Item> items(1000);
    os::fault_hook.store([](os::Seam seam) { return seam == os::Seam::allocate; });
    EXPECT_FALSE(ring.push_back(&items[0]));
    os::fault_hook.store(nullptr);
    EXPECT_TRUE(ring.push_back(&items[0]));
    os::fault_hook.store([](os::Seam seam) { return seam == os::Seam::allocate; });
    std::size_t kept = 1;
    while (kept < items.size() && ring.push_back(&items[kept])) ++kept;
    os::fault_hook.store(nullptr);
    EXPECT_LT(kept, items.size());
    EXPECT_EQ(ring.length(), kept);
    for (std::size_t i = 0; i < kept; ++i) EXPECT_EQ(ring.pop_front(), &items[i]);
}

}   // namespace
}   // namespace weft
