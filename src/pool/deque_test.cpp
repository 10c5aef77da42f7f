// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pool/deque.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace weft {
namespace {

struct Item {
    int value = 0;
    atomic<int> taken{0};
};

TEST(Deque, TheOwnerTakesTheNewestAndAThiefTheOldest) {
    Deque<Item, 8> deque;
    Item items[4];
    EXPECT_TRUE(deque.looks_empty());
    EXPECT_EQ(deque.pop_bottom(), nullptr);
    EXPECT_EQ(deque.steal().node, nullptr);
    EXPECT_FALSE(deque.steal().lost);
    for (Item& item : items) EXPECT_TRUE(deque.push_bottom(&item));
    EXPECT_EQ(deque.length(), 4u);
    EXPECT_EQ(deque.pop_bottom(), &items[3]);
    EXPECT_EQ(deque.steal().node, &items[0]);
    EXPECT_EQ(deque.steal().node, &items[1]);
    EXPECT_FALSE(deque.looks_empty());
    EXPECT_EQ(deque.pop_bottom(), &items[2]);
    EXPECT_EQ(deque.pop_bottom(), nullptr);
    EXPECT_TRUE(deque.looks_empty());
    EXPECT_EQ(deque.length(), 0u);
}

TEST(Deque, TheOwnerTakesACertainItemIfThatIsTheNewest) {
    Deque<Item, 4> deque;
    Item items[2];
    EXPECT_FALSE(deque.pop_bottom_if(&items[0]));
    EXPECT_FALSE(deque.pop_bottom_if(nullptr));
    for (Item& item : items) EXPECT_TRUE(deque.push_bottom(&item));
    EXPECT_FALSE(deque.pop_bottom_if(&items[0]));
    EXPECT_TRUE(deque.pop_bottom_if(&items[1]));
    EXPECT_EQ(deque.steal().node, &items[0]);
    EXPECT_FALSE(deque.pop_bottom_if(&items[0]));   // though it is still in the slot
    EXPECT_TRUE(deque.push_bottom(&items[1]));
    EXPECT_TRUE(deque.pop_bottom_if(&items[1]));
    EXPECT_TRUE(deque.looks_empty());
}

TEST(Deque, AFullRingSaysSoAndKeepsWhatItHas) {
    Deque<Item, 4> deque;
    Item items[6];
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(deque.push_bottom(&items[i]));
    EXPECT_FALSE(deque.push_bottom(&items[4]));
    EXPECT_EQ(deque.length(), 4u);
    EXPECT_EQ(deque.steal().node, &items[0]);
    EXPECT_TRUE(deque.push_bottom(&items[4]));
    EXPECT_FALSE(deque.push_bottom(&items[5]));
    for (int i = 4; i > 0; --i) EXPECT_EQ(deque.pop_bottom(), &items[i]);
    EXPECT_EQ(deque.pop_bottom(), nullptr);
}

TEST(Deque, WrapsAroundManyTimes) {
    Deque<Item, 4> deque;
    Item items[3];
    for (int round = 0; round < 1000; ++round) {
        for (Item& item : items) ASSERT_TRUE(deque.push_bottom(&item));
        ASSERT_EQ(deque.steal().node, &items[0]);
        ASSERT_EQ(deque.pop_bottom(), &items[2]);
        ASSERT_EQ(deque.pop_bottom(), &items[1]);
        ASSERT_EQ(deque.pop_bottom(), nullptr);
    }
}

// The probe that opens the window between a thief's reading and its claim: the owner empties the
// deque in there.
Deque<Item, 4>* in_window = nullptr;
Item* taken_in_window = nullptr;

TEST(Deque, AThiefThatWasOvertakenIsToldSo) {
    if constexpr (!config::checked) GTEST_SKIP() << "probes are in checked builds";
    Deque<Item, 4> deque;
    Item item;
    deque.push_bottom(&item);
    in_window = &deque;
    probe_hook.store([](Probe where) {
        if (where == Probe::steal_before_claim) taken_in_window = in_window->pop_bottom();
    });
    const auto stolen = deque.steal();
    probe_hook.store(nullptr);
    EXPECT_EQ(taken_in_window, &item);
    EXPECT_EQ(stolen.node, nullptr);
    EXPECT_TRUE(stolen.lost);
    EXPECT_TRUE(deque.looks_empty());
}

// The thief stands before its claim until the owner stands before its own, and claims first.
atomic<bool> thief_looked{false}, owner_looked{false}, thief_finished{false};

TEST(Deque, AnOwnerThatWasOvertakenOnTheLastItemGetsNothing) {
    if constexpr (!config::checked) GTEST_SKIP() << "probes are in checked builds";
    const auto until = [](atomic<bool>& flag) {
        while (!flag.load()) std::this_thread::yield();
    };
    static const auto wait_for = until;
    Deque<Item, 4> deque;
    Item item, next;
    deque.push_bottom(&item);
    probe_hook.store([](Probe where) {
        if (where == Probe::steal_before_claim) {
            thief_looked.store(true);
            wait_for(owner_looked);
        } else if (where == Probe::pop_before_claim) {
            owner_looked.store(true);
            wait_for(thief_finished);
        }
    });
    std::thread thief([&] {
        EXPECT_EQ(deque.steal().node, &item);
        thief_finished.store(true);
    });
    until(thief_looked);
    EXPECT_EQ(deque.pop_bottom(), nullptr);
    probe_hook.store(nullptr);
    thief.join();
    EXPECT_TRUE(deque.looks_empty());
    EXPECT_TRUE(deque.push_bottom(&next));
    EXPECT_EQ(deque.pop_bottom(), &next);
}

TEST(Deque, EveryItemIsTakenOnceByTheOwnerOrOneThief) {
    constexpr int items = 100'000, thieves = 2;
    constexpr std::uint64_t seed = 77;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    auto deque = std::make_unique<Deque<Item, 64>>();
    std::vector<Item> all(items);
    atomic<bool> finished{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < thieves; ++i) {
        threads.emplace_back([&] {
            int last = -1;
            while (!finished.load() || !deque->looks_empty()) {
                const auto stolen = deque->steal();
                if (stolen.node == nullptr) {
                    std::this_thread::yield();
                    continue;
                }
                EXPECT_GT(stolen.node->value, last);   // oldest first
                last = stolen.node->value;
                stolen.node->taken.fetch_add(1);
            }
        });
    }
    Random random(seed);
    const auto pop = [&] {
        Item* item = deque->pop_bottom();
        if (item != nullptr) item->taken.fetch_add(1);
    };
    for (int i = 0; i < items; ++i) {
        all[i].value = i;
        while (!deque->push_bottom(&all[i])) pop();
        if (random.below(3) == 0) pop();
    }
    while (!deque->looks_empty()) pop();
    finished.store(true);
    for (auto& thread : threads) thread.join();
    for (const Item& item : all) ASSERT_EQ(item.taken.load(), 1) << item.value;
}

}   // namespace
}   // namespace weft
