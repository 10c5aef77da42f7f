// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pool/fifo_shared.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/random.hpp"

namespace weft {
namespace {

struct Item {
    atomic<Item*> link{nullptr};
    int pusher = 0;
    int number = 0;
    atomic<int> taken{0};

    atomic<Item*>& atomic_link() { return link; }
};

TEST(SharedFifo, GivesWhatWasPushedInItsOrder) {
    SharedFifo<Item> queue;
    Item items[3];
    EXPECT_TRUE(queue.looks_empty());
    EXPECT_EQ(queue.pop(), nullptr);
    for (Item& item : items) queue.push(&item);
    EXPECT_FALSE(queue.looks_empty());
    EXPECT_EQ(queue.length(), 3u);
    EXPECT_EQ(queue.length(2), 2u);
    for (Item& item : items) EXPECT_EQ(queue.pop(), &item);
    EXPECT_EQ(queue.pop(), nullptr);
    EXPECT_TRUE(queue.looks_empty());
    EXPECT_EQ(queue.length(), 0u);
    queue.push(&items[1]);
    EXPECT_EQ(queue.pop(), &items[1]);
}

TEST(SharedFifo, PopsACertainNodeIfThatIsTheOldest) {
    SharedFifo<Item> queue;
    Item items[2];
    EXPECT_FALSE(queue.pop_if(&items[0]));
    for (Item& item : items) queue.push(&item);
    EXPECT_FALSE(queue.pop_if(&items[1]));
    EXPECT_TRUE(queue.pop_if(&items[0]));
    EXPECT_FALSE(queue.pop_if(&items[0]));
    EXPECT_TRUE(queue.pop_if(&items[1]));
    EXPECT_TRUE(queue.looks_empty());
    queue.push(&items[0]);
    EXPECT_EQ(queue.pop(), &items[0]);
}

TEST(SharedFifo, AChainIsPushedWhole) {
    SharedFifo<Item> queue;
    Item items[5];
    items[1].link.store(&items[2]);
    items[2].link.store(&items[3]);
    queue.push(&items[0]);
    queue.push_chain(&items[1], &items[3]);
    queue.push(&items[4]);
    EXPECT_EQ(queue.length(), 5u);
    for (Item& item : items) EXPECT_EQ(queue.pop(), &item);
    EXPECT_TRUE(queue.looks_empty());
    items[1].link.store(&items[2]);
    items[2].link.store(&items[3]);   // wherever it led: the chain ends at its last
    queue.push_chain(&items[1], &items[2]);
    EXPECT_EQ(queue.pop(), &items[1]);
    EXPECT_EQ(queue.pop(), &items[2]);
    EXPECT_EQ(queue.pop(), nullptr);
    EXPECT_TRUE(queue.looks_empty());
}

TEST(SharedFifo, RemoveTakesOneFromAnywhere) {
    for (int which = 0; which < 3; ++which) {
        SharedFifo<Item> queue;
        Item items[4];
        for (int i = 0; i < 3; ++i) queue.push(&items[i]);
        EXPECT_FALSE(queue.remove(&items[3]));
        EXPECT_TRUE(queue.remove(&items[which]));
        EXPECT_FALSE(queue.remove(&items[which]));
        queue.push(&items[3]);
        for (int i = 0; i < 4; ++i) {
            if (i != which) {
                EXPECT_EQ(queue.pop(), &items[i]) << "without " << which;
            }
        }
        EXPECT_TRUE(queue.looks_empty());
    }
    SharedFifo<Item> queue;
    Item only;
    queue.push(&only);
    EXPECT_TRUE(queue.remove(&only));
    EXPECT_TRUE(queue.looks_empty());
    EXPECT_EQ(queue.pop(), nullptr);
}

// The queue as seen from inside a push, between its two steps.
SharedFifo<Item>* in_window = nullptr;
Item* popped_in_window = nullptr;
bool empty_in_window = true;
std::size_t length_in_window = 0;

void look_in_window(Probe where) {
    if (where != Probe::fifo_push_before_link) return;
    empty_in_window = in_window->looks_empty();
    length_in_window = in_window->length();
    popped_in_window = in_window->pop();
}

TEST(SharedFifo, AHalfDonePushIntoAnEmptyQueueGivesNothingButIsSeen) {
    if constexpr (!config::checked) GTEST_SKIP() << "probes are in checked builds";
    SharedFifo<Item> queue;
    Item item;
    in_window = &queue;
    probe_hook.store(look_in_window);
    queue.push(&item);
    probe_hook.store(nullptr);
    EXPECT_FALSE(empty_in_window);
    EXPECT_EQ(length_in_window, 1u);
    EXPECT_EQ(popped_in_window, nullptr);
    EXPECT_EQ(queue.pop(), &item);
    EXPECT_TRUE(queue.looks_empty());
}

TEST(SharedFifo, AHalfDonePushBehindTheLastHoldsTheLastBack) {
    if constexpr (!config::checked) GTEST_SKIP() << "probes are in checked builds";
    SharedFifo<Item> queue;
    Item first, second;
    queue.push(&first);
    in_window = &queue;
    probe_hook.store(look_in_window);
    queue.push(&second);
    probe_hook.store(nullptr);
    EXPECT_EQ(popped_in_window, nullptr);   // `first` has no link yet and is not the last
    EXPECT_EQ(queue.pop(), &first);
    EXPECT_EQ(queue.pop(), &second);
    EXPECT_TRUE(queue.looks_empty());
}

// Pushers, poppers and a pusher that takes its own items back, until everything has gone through. A
// single popper also sees each pusher's order.
void everything_comes_once(int poppers, bool remover, std::uint64_t seed) {
    constexpr int pushers = 2, each = 30'000;
    SharedFifo<Item> queue;
    std::vector<std::vector<Item>> items;
    for (int i = 0; i < pushers; ++i) items.emplace_back(each);
    atomic<int> left{pushers * each};
    std::vector<std::thread> threads;
    for (int pusher = 0; pusher < pushers; ++pusher) {
        threads.emplace_back([&, pusher] {
            Random random(seed + static_cast<unsigned>(pusher));
            for (int number = 0; number < each; ++number) {
                Item& item = items[pusher][number];
                item.pusher = pusher;
                item.number = number;
                queue.push(&item);
                if (remover && random.below(8) == 0 && queue.length(64) < 64 && queue.remove(&item)) {
                    item.taken.fetch_add(1);
                    left.fetch_sub(1);
                }
            }
        });
    }
    for (int popper = 0; popper < poppers; ++popper) {
        threads.emplace_back([&] {
            int last[pushers] = {-1, -1};
            while (left.load() != 0) {
                Item* item = queue.pop();
                if (item == nullptr) {
                    std::this_thread::yield();
                    continue;
                }
                EXPECT_GT(item->number, last[item->pusher]);
                last[item->pusher] = item->number;
                item->taken.fetch_add(1);
                left.fetch_sub(1);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(queue.looks_empty());
    for (const auto& row : items) {
        for (const Item& item : row) ASSERT_EQ(item.taken.load(), 1);
    }
}

TEST(SharedFifo, OnePopperSeesEachPushersOrder) { everything_comes_once(1, false, 1); }
TEST(SharedFifo, TwoPoppersTakeEachItemOnce) { everything_comes_once(2, false, 2); }
TEST(SharedFifo, TakingOutOfTheMiddleDisturbsNobody) {
    constexpr std::uint64_t seed = 3;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    everything_comes_once(2, true, seed);
}

}   // namespace
}   // namespace weft
