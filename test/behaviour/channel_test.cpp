// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channels: each element is received once, in order, and closing a channel wakes every waiter.
#include <algorithm>
#include <array>
#include <memory>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

weft_channel* make_channel(std::size_t capacity, std::size_t bytes = sizeof(int)) {
    weft_channel_options options{};
    options.size = sizeof options;
    options.capacity = capacity;
    options.element_bytes = bytes;
    weft_channel* channel = nullptr;
    EXPECT_EQ(weft_channel_create(&options, &channel), WEFT_OK) << weft_error_text();
    return channel;
}

weft_status send(weft_channel* to, int value, std::uint64_t deadline = WEFT_FOREVER) {
    return weft_channel_send_until(to, &value, deadline);
}

struct Case {
    As as;
    std::size_t capacity;
};
class Channels : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Waiting, Channels,
                         testing::Values(Case{As::unit, 0}, Case{As::unit, 1}, Case{As::unit, 3}, Case{As::thread, 0},
                                         Case{As::thread, 3}));

TEST_P(Channels, KeepTheOrder) {
    Runtime runtime;
    weft_channel* channel = make_channel(GetParam().capacity);
    Doing sender(GetParam().as, [&] {
        for (int i = 0; i < 100; ++i) ASSERT_EQ(send(channel, i), WEFT_OK);
    });
    for (int i = 0; i < 100; ++i) {
        int got = -1;
        ASSERT_EQ(weft_channel_receive(channel, &got), WEFT_OK);
        ASSERT_EQ(got, i);
    }
    sender.join();
    EXPECT_EQ(weft_channel_free(channel), WEFT_OK);
}

// A sender and a receiver that each only poll for the other would never meet.
TEST(Channel, WithoutABufferLetsTwoStreamsMeetAtOnce) {
    Runtime runtime(two_that_look_long());
    weft_channel* there = make_channel(0);
    weft_channel* back = make_channel(0);
    const std::uint64_t begin_ns = weft_now_ns();
    {
        auto elsewhere = options();
        elsewhere.stream = weft_stream_at(1);
        Ult other(
            [&] {
                for (int got = -1; weft_channel_receive(there, &got) == WEFT_OK;) ASSERT_EQ(send(back, got), WEFT_OK);
            },
            &elsewhere);
        for (int i = 0; i < 20; ++i) {
            int got = -1;
            ASSERT_EQ(send(there, i), WEFT_OK);
            ASSERT_EQ(weft_channel_receive(back, &got), WEFT_OK);
            ASSERT_EQ(got, i);
        }
        EXPECT_EQ(weft_channel_close(there), WEFT_OK);
    }
    EXPECT_LT(weft_now_ns() - begin_ns, 5 * long_look_ns) << "more than one look in four";
    EXPECT_EQ(weft_channel_free(there), WEFT_OK);
    EXPECT_EQ(weft_channel_free(back), WEFT_OK);
}

TEST_P(Channels, GiveEachElementToOneReceiver) {
    Runtime runtime(2);
    weft_channel* channel = make_channel(GetParam().capacity);
    std::array<atomic<int>, 300> received{};
    {
        std::vector<std::unique_ptr<Doing>> receivers;
        for (int r = 0; r < 3; ++r) {
            receivers.push_back(std::make_unique<Doing>(GetParam().as, [&] {
                for (int got = -1; weft_channel_receive(channel, &got) == WEFT_OK;) ++received[got];
            }));
        }
        {
            std::vector<std::unique_ptr<Doing>> senders;
            for (int s = 0; s < 3; ++s) {
                senders.push_back(std::make_unique<Doing>(GetParam().as, [&, s] {
                    for (int i = 0; i < 100; ++i) ASSERT_EQ(send(channel, s * 100 + i), WEFT_OK);
                }));
            }
        }
        EXPECT_EQ(weft_channel_close(channel), WEFT_OK);
    }
    for (auto& times : received) EXPECT_EQ(times, 1);
    EXPECT_EQ(weft_channel_free(channel), WEFT_OK);
}

TEST_P(Channels, ThatAreClosedGiveWhatIsInThemAndTakeNothing) {
    Runtime runtime;
    weft_channel* channel = make_channel(GetParam().capacity);
    for (std::size_t i = 0; i < GetParam().capacity; ++i) ASSERT_EQ(send(channel, static_cast<int>(i)), WEFT_OK);
    atomic<bool> told{false};
    Doing sender(GetParam().as, [&] {
        EXPECT_EQ(send(channel, 9), WEFT_CLOSED);
        told = true;
    });
    let_others_wait();
    EXPECT_FALSE(told);
    EXPECT_EQ(weft_channel_close(channel), WEFT_OK);
    until_set(told);
    EXPECT_EQ(weft_channel_close(channel), WEFT_WRONG_STATE);
    EXPECT_EQ(send(channel, 9), WEFT_CLOSED);
    int got = -1;
    for (std::size_t i = 0; i < GetParam().capacity; ++i) {
        EXPECT_EQ(weft_channel_receive(channel, &got), WEFT_OK);
        EXPECT_EQ(got, static_cast<int>(i));
    }
    EXPECT_EQ(weft_channel_receive(channel, &got), WEFT_CLOSED);
    sender.join();
    EXPECT_EQ(weft_channel_free(channel), WEFT_OK);
}

TEST_P(Channels, AreWaitedForUntilTheDeadlineAndNotLess) {
    Runtime runtime;
    weft_channel* channel = make_channel(GetParam().capacity);
    Doing late(GetParam().as, [&] {
        int got = -1;
        std::uint64_t deadline = in_ms(3);
        EXPECT_EQ(weft_channel_receive_until(channel, deadline, &got), WEFT_TIMED_OUT);
        EXPECT_GE(weft_now_ns(), deadline);
        for (std::size_t i = 0; i < GetParam().capacity; ++i)
            EXPECT_EQ(send(channel, 1, 0), WEFT_OK) << "there is room";
        deadline = in_ms(3);
        EXPECT_EQ(send(channel, 2, deadline), WEFT_TIMED_OUT);
        EXPECT_GE(weft_now_ns(), deadline);
    });
    late.join();
    std::size_t length = 99;
    EXPECT_EQ(weft_channel_length_get(channel, &length), WEFT_OK);
    EXPECT_EQ(length, GetParam().capacity) << "what was not sent is not in it";
    EXPECT_EQ(weft_channel_free(channel), WEFT_OK);
}

TEST_P(Channels, AreSelectedFromByWhoComesFirst) {
    Runtime runtime;
    weft_channel* in = make_channel(GetParam().capacity);
    weft_channel* out = make_channel(GetParam().capacity);
    for (std::size_t i = 0; i < GetParam().capacity; ++i) ASSERT_EQ(send(out, 0), WEFT_OK);   // full
    atomic<int> received{0}, sent{0};
    Doing chooser(GetParam().as, [&] {
        while (received + sent < 40) {
            int got = -1, mine = 77;
            weft_channel_case cases[] = {
                {in, false, &got, WEFT_OK}, {nullptr, true, nullptr, WEFT_OK}, {out, true, &mine, WEFT_OK}};
            std::size_t index = 99;
            ASSERT_EQ(weft_channel_select(cases, 3, &index), WEFT_OK);
            ASSERT_NE(index, 1u);
            ASSERT_EQ(cases[index].status, WEFT_OK);
            if (index == 0) {
                EXPECT_EQ(got, 55);
                ++received;
            } else {
                ++sent;
            }
        }
    });
    for (int i = 0; i < 20; ++i) {
        int got = -1;
        ASSERT_EQ(send(in, 55), WEFT_OK);
        ASSERT_EQ(weft_channel_receive(out, &got), WEFT_OK);
    }
    until([&] { return chooser.done() || received + sent == 40; });
    chooser.join();
    EXPECT_EQ(received, 20);
    EXPECT_EQ(weft_channel_free(in), WEFT_OK);
    EXPECT_EQ(weft_channel_free(out), WEFT_OK);
}

TEST(Select, LeavesTheCasesUntouchedThatItDidNotDo) {
    Runtime runtime;
    weft_channel* a = make_channel(0);
    weft_channel* b = make_channel(0);
    int from_a = -1, from_b = -1;
    Ult chooser([&] {
        weft_channel_case cases[] = {{a, false, &from_a, WEFT_OK}, {b, false, &from_b, WEFT_OK}};
        std::size_t index = 99;
        EXPECT_EQ(weft_channel_select(cases, 2, &index), WEFT_OK);
        EXPECT_EQ(index, 1u);
        EXPECT_EQ(weft_channel_select_until(cases, 2, in_ms(2), &index), WEFT_TIMED_OUT);
    });
    until([] { return waiting_for("one of several channels") == 1; });
    EXPECT_EQ(send(b, 5), WEFT_OK);
    EXPECT_EQ(chooser.join(), WEFT_OK);
    EXPECT_EQ(from_a, -1);
    EXPECT_EQ(from_b, 5);
    EXPECT_EQ(send(a, 6, 0), WEFT_TIMED_OUT) << "nobody waits there any more";
    EXPECT_EQ(weft_channel_free(a), WEFT_OK);
    EXPECT_EQ(weft_channel_free(b), WEFT_OK);
}

TEST(Select, MeetsAnotherSelect) {
    Runtime runtime(2);
    weft_channel* a = make_channel(0);
    weft_channel* b = make_channel(0);
    atomic<int> met{0};
    auto choose = [&](bool send_on_a) {
        for (int i = 0; i < 200; ++i) {
            int mine = 1, got = 0;
            weft_channel_case cases[] = {{a, send_on_a, send_on_a ? &mine : &got, WEFT_OK},
                                         {b, !send_on_a, send_on_a ? &got : &mine, WEFT_OK}};
            std::size_t index = 99;
            ASSERT_EQ(weft_channel_select(cases, 2, &index), WEFT_OK);
            ++met;
        }
    };
    {
        Doing one(As::unit, [&] { choose(true); }), other(As::thread, [&] { choose(false); });
    }
    EXPECT_EQ(met, 400);
    EXPECT_EQ(weft_channel_free(a), WEFT_OK);
    EXPECT_EQ(weft_channel_free(b), WEFT_OK);
}

// Elements that must be moved and destroyed, and cannot be copied.
TEST(Channel, MovesElementsAndDropsWhatNobodyReceived) {
    using Element = std::unique_ptr<int>;
    Runtime runtime;
    weft_channel_options options{};
    options.size = sizeof options;
    options.capacity = 3;
    options.element_bytes = sizeof(Element);
    options.move = [](void* to, void* from) {
        new (to) Element(std::move(*static_cast<Element*>(from)));
        static_cast<Element*>(from)->~Element();
    };
    options.drop = [](void* element) { static_cast<Element*>(element)->~Element(); };
    weft_channel* channel = nullptr;
    ASSERT_EQ(weft_channel_create(&options, &channel), WEFT_OK);
    for (int i = 0; i < 3; ++i) {
        alignas(Element) unsigned char sent[sizeof(Element)];
        new (sent) Element(std::make_unique<int>(i));
        ASSERT_EQ(weft_channel_send(channel, sent), WEFT_OK);
    }
    alignas(Element) unsigned char got[sizeof(Element)];
    ASSERT_EQ(weft_channel_receive(channel, got), WEFT_OK);
    EXPECT_EQ(**reinterpret_cast<Element*>(got), 0);
    reinterpret_cast<Element*>(got)->~Element();
    EXPECT_EQ(weft_channel_free(channel), WEFT_OK);   // two elements are destroyed; the address sanitizer counts them
}

TEST(Channel, RefusesWhatMakesNoSense) {
    Runtime runtime;
    weft_channel* channel = make_channel(0);
    int value = 1;
    std::size_t index;
    EXPECT_EQ(weft_channel_send_until(nullptr, &value, 0), WEFT_INVALID);
    EXPECT_EQ(weft_channel_send_until(channel, nullptr, 0), WEFT_INVALID);
    EXPECT_EQ(weft_channel_select_until(nullptr, 1, 0, &index), WEFT_INVALID);
    weft_channel_case none{channel, true, nullptr, WEFT_OK};
    EXPECT_EQ(weft_channel_select_until(&none, 1, 0, &index), WEFT_INVALID);
    EXPECT_EQ(weft_channel_select_until(&none, 0, 0, &index), WEFT_INVALID);
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void* to) {
                      int mine = 1;
                      EXPECT_EQ(weft_channel_send(static_cast<weft_channel*>(to), &mine), WEFT_WRONG_KIND);
                  },
                  channel, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    {
        Ult waits([&] { EXPECT_EQ(weft_channel_receive(channel, &value), WEFT_CLOSED); });
        until([] { return waiting_for("channel") == 1; });
        EXPECT_EQ(weft_channel_free(channel), WEFT_BUSY);
        EXPECT_EQ(weft_channel_close(channel), WEFT_OK);
    }
    EXPECT_EQ(weft_channel_free(channel), WEFT_OK);
    weft_channel_options options{};
    EXPECT_EQ(weft_channel_create(&options, &channel), WEFT_INVALID) << "no size";
    options.size = sizeof options;
    options.capacity = ~std::size_t{0} / 8;
    EXPECT_EQ(weft_channel_create(&options, &channel), WEFT_NO_MEMORY);
}

}   // namespace
