#include "pool/inbox.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weft {
namespace {

struct Letter {
    atomic<Letter*> link{nullptr};
    int sender = 0;
    int number = 0;

    atomic<Letter*>& atomic_link() { return link; }
    Letter* next() { return link.load(std::memory_order_relaxed); }   // relaxed: the taker owns the chain
};

TEST(Inbox, GivesAllAtOnceOldestFirst) {
    Inbox<Letter> inbox;
    EXPECT_TRUE(inbox.empty());
    EXPECT_TRUE(inbox.looks_empty());
    EXPECT_EQ(inbox.take_all(), nullptr);
    Letter letters[3];
    for (Letter& letter : letters) inbox.push(&letter);
    EXPECT_FALSE(inbox.empty());
    EXPECT_FALSE(inbox.looks_empty());
    Letter* taken = inbox.take_all();
    for (Letter& letter : letters) {
        EXPECT_EQ(taken, &letter);
        taken = taken->next();
    }
    EXPECT_EQ(taken, nullptr);
    EXPECT_TRUE(inbox.looks_empty());
}

TEST(Inbox, LosesNothingAndKeepsEachSendersOrderUnderManySenders) {
    constexpr int senders = 3, each = 20'000;
    Inbox<Letter> inbox;
    std::vector<std::vector<Letter>> letters;
    for (int i = 0; i < senders; ++i) letters.emplace_back(each);
    std::vector<std::thread> threads;
    for (int sender = 0; sender < senders; ++sender) {
        threads.emplace_back([&, sender] {
            for (int number = 0; number < each; ++number) {
                Letter& letter = letters[sender][number];
                letter.sender = sender;
                letter.number = number;
                inbox.push(&letter);
            }
        });
    }
    int next[senders] = {};
    for (int taken = 0; taken < senders * each;) {
        Letter* letter = inbox.take_all();
        if (letter == nullptr) std::this_thread::yield();
        for (; letter != nullptr; letter = letter->next(), ++taken) {
            ASSERT_EQ(letter->number, next[letter->sender]++);
        }
    }
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(inbox.looks_empty());
}

}   // namespace
}   // namespace weft
