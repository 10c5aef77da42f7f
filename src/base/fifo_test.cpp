// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/fifo.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/random.hpp"

namespace weft {
namespace {

struct Item {
    int value = 0;
    Item* link = nullptr;
};
using Items = Fifo<Item, &Item::link>;

std::vector<int> drained(Items& items) {
    std::vector<int> values;
    while (Item* item = items.pop_front()) values.push_back(item->value);
    return values;
}

TEST(Fifo, GivesWhatWasPushedInItsOrder) {
    Item items[3] = {{1}, {2}, {3}};
    Items list;
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.pop_front(), nullptr);
    for (Item& item : items) list.push_back(&item);
    EXPECT_EQ(list.front(), &items[0]);
    EXPECT_EQ(drained(list), (std::vector<int>{1, 2, 3}));
    EXPECT_TRUE(list.empty());
}

TEST(Fifo, AnEmptiedListTakesMore) {
    Item items[2] = {{1}, {2}};
    Items list;
    list.push_back(&items[0]);
    list.pop_front();
    list.push_back(&items[1]);
    EXPECT_EQ(drained(list), (std::vector<int>{2}));
}

TEST(Fifo, RotateTakesTheFirstForOneThatGoesBehindTheOthers) {
    Item items[3] = {{1}, {2}, {3}};
    Items list;
    std::vector<int> expected;
    const auto expect = [&](const Item& item) { expected.push_back(item.value); };
    list.push_back(&items[1]);
    list.rotate(&items[0], expect);
    EXPECT_EQ(list.front(), &items[0]);
    EXPECT_EQ(expected, std::vector<int>{});   // no node but the one that went in
    list.push_back(&items[2]);
    list.rotate(&items[1], expect);
    EXPECT_EQ(list.front(), &items[2]);
    EXPECT_EQ(expected, std::vector<int>{3});
    EXPECT_EQ(drained(list), (std::vector<int>{3, 2}));
}

TEST(Fifo, DropFrontTakesOutTheFirst) {
    Item items[3] = {{1}, {2}, {3}};
    Items list;
    for (Item& item : items) list.push_back(&item);
    list.drop_front(&items[0]);
    EXPECT_EQ(list.front(), &items[1]);
    list.drop_front(&items[1]);
    list.drop_front(&items[2]);
    EXPECT_TRUE(list.empty());
    list.push_back(&items[0]);
    EXPECT_EQ(drained(list), (std::vector<int>{1}));
}

TEST(Fifo, PushFrontGoesAheadOfAllAndIntoAnEmptyList) {
    Item items[3] = {{1}, {2}, {3}};
    Items list;
    list.push_front(&items[0]);
    list.push_front(&items[1]);
    list.push_back(&items[2]);
    EXPECT_EQ(drained(list), (std::vector<int>{2, 1, 3}));
}

TEST(Fifo, SpliceMovesAllAndLeavesBothGoodToUse) {
    Item items[5] = {{1}, {2}, {3}, {4}, {5}};
    Items list, other, empty;
    list.push_back(&items[0]);
    other.push_back(&items[1]);
    other.push_back(&items[2]);
    list.splice(empty);
    list.splice(other);
    EXPECT_TRUE(other.empty());
    other.push_back(&items[4]);
    list.push_back(&items[3]);
    EXPECT_EQ(drained(list), (std::vector<int>{1, 2, 3, 4}));
    EXPECT_EQ(drained(other), (std::vector<int>{5}));
    other.push_back(&items[4]);
    list.splice(other);
    EXPECT_EQ(drained(list), (std::vector<int>{5}));
}

TEST(Fifo, AChainIsPushedWhole) {
    Item items[4] = {{1}, {2}, {3}, {4}};
    Items list;
    list.push_back(&items[0]);
    items[1].link = &items[2];
    items[2].link = &items[3];   // is cut: the chain ends at its last
    list.push_chain(&items[1], &items[2]);
    list.push_back(&items[3]);
    EXPECT_EQ(drained(list), (std::vector<int>{1, 2, 3, 4}));
}

TEST(Fifo, RemoveTakesOneFromAnywhere) {
    for (int which = 0; which < 3; ++which) {
        Item items[4] = {{0}, {1}, {2}, {9}};
        Items list;
        for (int i = 0; i < 3; ++i) list.push_back(&items[i]);
        EXPECT_FALSE(list.remove(&items[3]));
        EXPECT_TRUE(list.remove(&items[which]));
        EXPECT_FALSE(list.remove(&items[which]));
        list.push_back(&items[3]);
        std::vector<int> expected;
        for (int i = 0; i < 3; ++i) {
            if (i != which) expected.push_back(i);
        }
        expected.push_back(9);
        EXPECT_EQ(drained(list), expected) << "without " << which;
    }
}

TEST(Fifo, DoesWhatADequeDoesUnderRandomCalls) {
    constexpr std::uint64_t seed = 20240607;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    std::vector<Item> items(64);
    std::vector<Item*> idle;
    for (Item& item : items) idle.push_back(&item);
    Items list;
    std::deque<Item*> expected;
    for (int step = 0; step < 20'000; ++step) {
        const auto choice = random.below(5);
        if (choice < 2 && !idle.empty()) {
            Item* item = idle.back();
            idle.pop_back();
            if (choice == 0) {
                list.push_back(item);
                expected.push_back(item);
            } else {
                list.push_front(item);
                expected.push_front(item);
            }
        } else if (choice == 2 && !expected.empty()) {
            const auto at = expected.begin() + random.below(static_cast<std::uint32_t>(expected.size()));
            ASSERT_TRUE(list.remove(*at));
            idle.push_back(*at);
            expected.erase(at);
        } else {
            Item* item = list.pop_front();
            ASSERT_EQ(item, expected.empty() ? nullptr : expected.front());
            if (item == nullptr) continue;
            expected.pop_front();
            idle.push_back(item);
        }
        ASSERT_EQ(list.empty(), expected.empty());
    }
}

TEST(FifoDeathTest, ANodeThatIsPushedTwiceStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Items items;
    Item first, second;
    items.push_back(&first);
    items.push_back(&first);
    EXPECT_DEATH(items.push_back(&second), "does not hold");
}

}   // namespace
}   // namespace weft
