// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pool/inbox.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weft {
namespace {

struct Message {
    atomic<Message*> link{nullptr};
    int sender = 0;
    int number = 0;

    atomic<Message*>& atomic_link() { return link; }
    Message* next() { return link.load(std::memory_order_relaxed); }   // relaxed: the taker owns the chain
};

TEST(Inbox, GivesAllAtOnceOldestFirst) {
    Inbox<Message> inbox;
    EXPECT_TRUE(inbox.empty());
    EXPECT_TRUE(inbox.looks_empty());
    EXPECT_EQ(inbox.take_all(), nullptr);
    Message messages[3];
    for (Message& message : messages) inbox.push(&message);
    EXPECT_FALSE(inbox.empty());
    EXPECT_FALSE(inbox.looks_empty());
    Message* taken = inbox.take_all();
    for (Message& message : messages) {
        EXPECT_EQ(taken, &message);
        taken = taken->next();
    }
    EXPECT_EQ(taken, nullptr);
    EXPECT_TRUE(inbox.looks_empty());
}

TEST(Inbox, LosesNothingAndKeepsEachSendersOrderUnderManySenders) {
    constexpr int senders = 3, each = 20'000;
    Inbox<Message> inbox;
    std::vector<std::vector<Message>> messages;
    for (int i = 0; i < senders; ++i) messages.emplace_back(each);
    std::vector<std::thread> threads;
    for (int sender = 0; sender < senders; ++sender) {
        threads.emplace_back([&, sender] {
            for (int number = 0; number < each; ++number) {
                Message& message = messages[sender][number];
                message.sender = sender;
                message.number = number;
                inbox.push(&message);
            }
        });
    }
    int next[senders] = {};
    for (int taken = 0; taken < senders * each;) {
        Message* message = inbox.take_all();
        if (message == nullptr) std::this_thread::yield();
        for (; message != nullptr; message = message->next(), ++taken) {
            ASSERT_EQ(message->number, next[message->sender]++);
        }
    }
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(inbox.looks_empty());
}

}   // namespace
}   // namespace weft
