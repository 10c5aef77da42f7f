// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events, futures, and waiting for any or all of several events.
#include <array>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

class EventAs : public testing::TestWithParam<As> {};
INSTANTIATE_TEST_SUITE_P(Waiting, EventAs, testing::Values(As::unit, As::thread));

TEST_P(EventAs, WakesAllThatWaitAndGivesThemItsValue) {
    Runtime runtime;
    weft_event event = WEFT_EVENT_INIT;
    int value = 7;
    atomic<int> woken{0};
    std::vector<std::unique_ptr<Doing>> all;
    for (int i = 0; i < 4; ++i) {
        all.push_back(std::make_unique<Doing>(GetParam(), [&] {
            void* got = nullptr;
            EXPECT_EQ(weft_event_wait(&event, &got), WEFT_OK);
            EXPECT_EQ(got, &value);
            ++woken;
        }));
    }
    let_others_wait();
    EXPECT_EQ(woken, 0);
    EXPECT_EQ(weft_event_set(&event, &value), WEFT_OK);
    until([&] { return woken == 4; });
}

// Two units that always make each other the next unit do not keep out work that comes from
// elsewhere.
TEST(Event, HandedToAndFroLetsInWhatComesFromElsewhere) {
    Runtime runtime;
    weft_stream* const here = weft_stream_self();
    weft_pool* const pool = pool_of(0);
    atomic<bool> stop{false};
    const auto stops = [](void* flag) { static_cast<atomic<bool>*>(flag)->store(true); };
    const std::pair<const char*, std::function<void()>> comings[] = {
        {"a unit", [&] { Ult([&] { stop = true; }, nullptr, pool).free(); }},
        {"a call", [&] { EXPECT_EQ(weft_stream_post(here, stops, &stop), WEFT_OK); }},
    };
    for (const auto& [what, comes] : comings) {
        stop = false;
        weft_event mine[2] = {WEFT_EVENT_INIT, WEFT_EVENT_INIT};
        ASSERT_EQ(weft_event_set(&mine[0], nullptr), WEFT_OK);
        atomic<int> turns{0};
        const std::uint64_t too_late = in_ms(20'000);
        auto play = [&](int me) {
            while (!stop && weft_now_ns() < too_late) {
                ASSERT_EQ(weft_event_wait(&mine[me], nullptr), WEFT_OK);
                ASSERT_EQ(weft_event_reset(&mine[me]), WEFT_OK);
                ++turns;
                ASSERT_EQ(weft_event_set(&mine[1 - me], nullptr), WEFT_OK);
            }
        };
        Ult a([&] { play(0); }), b([&] { play(1); });
        atomic<bool> done{false};
        std::thread elsewhere([&, &comes = comes] {
            until([&] { return turns > 100; });
            comes();
            done = true;
        });
        EXPECT_EQ(a.join(), WEFT_OK);
        EXPECT_EQ(b.join(), WEFT_OK);
        EXPECT_TRUE(stop) << what;
        until_set(done);   // the thread waits for the unit, and this stream answers
        elsewhere.join();
    }
}

TEST(Event, ThatIsSetIsNotWaitedFor) {
    Runtime runtime;
    Ult other([] {});
    weft_event event = WEFT_EVENT_INIT;
    int first = 1, second = 2;
    void* got = nullptr;
    EXPECT_EQ(weft_event_test(&event, &got), WEFT_BUSY);
    EXPECT_EQ(got, nullptr);
    EXPECT_NE(event.word, WEFT_EVENT_IS_SET);
    EXPECT_EQ(weft_event_set(&event, &first), WEFT_OK);
    EXPECT_EQ(event.word, WEFT_EVENT_IS_SET);
    EXPECT_EQ(weft_event_set(&event, &second), WEFT_WRONG_STATE);
    const auto before = counter("/units/count/suspended") + counter("/units/count/yielded");
    EXPECT_EQ(weft_event_wait(&event, &got), WEFT_OK);
    EXPECT_EQ(got, &first) << "the value of the first set stays";
    EXPECT_EQ(weft_event_test(&event, nullptr), WEFT_OK);
    EXPECT_EQ(counter("/units/count/suspended") + counter("/units/count/yielded"), before);
    EXPECT_EQ(weft_event_reset(&event), WEFT_OK);
    EXPECT_EQ(weft_event_test(&event, nullptr), WEFT_BUSY);
    EXPECT_NE(event.word, WEFT_EVENT_IS_SET);
    EXPECT_EQ(weft_event_set(&event, &second), WEFT_OK);
    EXPECT_EQ(weft_event_wait(&event, &got), WEFT_OK);
    EXPECT_EQ(got, &second);
}

TEST_P(EventAs, IsWaitedForUntilTheDeadlineAndNotLess) {
    Runtime runtime;
    weft_event event = WEFT_EVENT_INIT;
    Doing late(GetParam(), [&] {
        const std::uint64_t deadline = in_ms(5);
        EXPECT_EQ(weft_event_wait_until(&event, deadline, nullptr), WEFT_TIMED_OUT);
        EXPECT_GE(weft_now_ns(), deadline);
        EXPECT_EQ(weft_event_wait_until(&event, 0, nullptr), WEFT_TIMED_OUT);
        EXPECT_EQ(weft_event_wait_until(&event, never_in_this_test(), nullptr), WEFT_OK);
    });
    let_others_wait();
    EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
}

// Overwrites whatever lay on the stack.
[[gnu::noinline]] void overwrite_the_stack() {
    volatile unsigned char bytes[16 * 1024];
    for (auto& byte : bytes) byte = 0;
}

// Once a wait has ended early, its deadline has no effect any more.
TEST_P(EventAs, LeavesNothingOfADeadlineBehind) {
    Runtime runtime;
    weft_event event = WEFT_EVENT_INIT;
    atomic<bool> begins{false};
    Doing waits(GetParam(), [&] {
        const std::uint64_t deadline = in_ms(50);
        begins = true;
        // the machine is too slow to observe anything
        if (weft_event_wait_until(&event, deadline, nullptr) != WEFT_OK) return;
        overwrite_the_stack();
        EXPECT_EQ(weft_sleep_until(deadline + 5 * ms), WEFT_OK);
    });
    until_set(begins);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
    waits.join();
}

TEST_P(EventAs, ThatIsTheFirstOfSeveralIsTold) {
    Runtime runtime;
    for (std::size_t which = 0; which < 12; ++which) {   // more than the waiters that lie on the stack
        std::array<weft_event, 12> events{};
        std::vector<weft_event*> pointers;
        for (weft_event& event : events) pointers.push_back(&event);
        atomic<std::size_t> told{99};
        Doing waits(GetParam(), [&] {
            std::size_t index = 98;
            EXPECT_EQ(weft_event_wait_any(pointers.data(), pointers.size(), &index), WEFT_OK);
            told = index;
        });
        if (which % 2 == 0) weft_unit_yield();   // before it waits, and while it waits
        EXPECT_EQ(weft_event_set(&events[which], nullptr), WEFT_OK);
        waits.join();
        EXPECT_EQ(told, which);
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (i != which) {
                EXPECT_EQ(weft_event_set(&events[i], nullptr), WEFT_OK) << "nobody waits there any more";
            }
        }
    }
}

TEST_P(EventAs, OfManyThatAreAllWaitedForMayComeInAnyOrder) {
    Runtime runtime;
    std::array<weft_event, 3> events{};
    weft_event* pointers[] = {&events[0], &events[1], &events[2]};
    Doing waits(GetParam(), [&] { EXPECT_EQ(weft_event_wait_all(pointers, 3), WEFT_OK); });
    for (std::size_t i : {2u, 0u, 1u}) {
        let_others_wait();
        EXPECT_FALSE(waits.done());
        EXPECT_EQ(weft_event_set(&events[i], nullptr), WEFT_OK);
    }
    waits.join();
}

TEST_P(EventAs, AnyAndAllHaveDeadlines) {
    Runtime runtime;
    std::array<weft_event, 3> events{};
    weft_event* pointers[] = {&events[0], &events[1], &events[2]};
    EXPECT_EQ(weft_event_set(&events[1], nullptr), WEFT_OK);
    Doing waits(GetParam(), [&] {
        const std::uint64_t deadline = in_ms(3);
        std::size_t index = 98;
        EXPECT_EQ(weft_event_wait_all_until(pointers, 3, deadline), WEFT_TIMED_OUT);
        EXPECT_GE(weft_now_ns(), deadline);
        EXPECT_EQ(weft_event_wait_any_until(pointers, 3, 0, &index), WEFT_OK);
        EXPECT_EQ(index, 1u);
        EXPECT_EQ(weft_event_wait_any_until(pointers + 2, 1, in_ms(3), &index), WEFT_TIMED_OUT);
        EXPECT_EQ(index, 1u) << "not written";
        EXPECT_EQ(weft_event_wait_all_until(pointers, 0, 0), WEFT_OK);
    });
}

TEST(Event, RefusesWhatMakesNoSense) {
    Runtime runtime;
    weft_event event = WEFT_EVENT_INIT;
    weft_event* none[] = {nullptr};
    EXPECT_EQ(weft_event_set(nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_event_wait(nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_event_wait_any_until(none, 1, 0, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_event_wait_any_until(none, 0, 0, nullptr), WEFT_INVALID);
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void* raw) {
                      auto* unset = static_cast<weft_event*>(raw);
                      EXPECT_EQ(weft_event_wait(unset, nullptr), WEFT_WRONG_KIND);
                      EXPECT_EQ(weft_event_wait_any_until(&unset, 1, 0, nullptr), WEFT_WRONG_KIND);
                      EXPECT_EQ(weft_event_set(unset, nullptr), WEFT_OK);
                      EXPECT_EQ(weft_event_wait(unset, nullptr), WEFT_OK) << "no wait is needed";
                  },
                  &event, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}

// ---- future -------------------------------------------------------------------------------------

struct Called {
    int times = 0;
    void* first = nullptr;
    weft_future* future = nullptr;
    bool ready_inside = true;
};

void note_values(void** values, void* raw) {
    auto* called = static_cast<Called*>(raw);
    ++called->times;
    called->first = values[0];
    called->ready_inside = weft_future_test(called->future) == WEFT_OK;   // it may use the future: no lock is held
    weft_unit_yield();
}

TEST_P(EventAs, AFutureIsReadyWhenAllItsCompartmentsAre) {
    Runtime runtime;
    Called called;
    weft_future* future = nullptr;
    ASSERT_EQ(weft_future_create(3, note_values, &called, &future), WEFT_OK);
    called.future = future;
    int values[3];
    Doing waits(GetParam(), [&] {
        void** got = nullptr;
        EXPECT_EQ(weft_future_wait(future, &got), WEFT_OK);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(got[i], &values[i]);
    });
    for (int& value : values) {
        let_others_wait();
        EXPECT_FALSE(waits.done());
        EXPECT_EQ(weft_future_test(future), WEFT_BUSY);
        EXPECT_EQ(weft_future_set(future, &value), WEFT_OK);
    }
    waits.join();
    EXPECT_EQ(called.times, 1);
    EXPECT_EQ(called.first, &values[0]);
    EXPECT_FALSE(called.ready_inside) << "the callback comes before those who wait";
    EXPECT_EQ(weft_future_set(future, nullptr), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_future_reset(future), WEFT_OK);
    EXPECT_EQ(weft_future_test(future), WEFT_BUSY);
    EXPECT_EQ(weft_future_wait_until(future, in_ms(2), nullptr), WEFT_TIMED_OUT);
    EXPECT_EQ(weft_future_free(future), WEFT_OK);
}

TEST(Future, OfNothingIsReadyAtOnce) {
    Runtime runtime;
    weft_future* future = nullptr;
    ASSERT_EQ(weft_future_create(0, nullptr, nullptr, &future), WEFT_OK);
    EXPECT_EQ(weft_future_wait(future, nullptr), WEFT_OK);
    EXPECT_EQ(weft_future_set(future, nullptr), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_future_reset(future), WEFT_OK);
    EXPECT_EQ(weft_future_test(future), WEFT_OK);
    weft_event* event = value_of(weft_future_event_get, future);
    EXPECT_EQ(weft_event_wait_any_until(&event, 1, 0, nullptr), WEFT_OK);
    EXPECT_EQ(weft_future_free(future), WEFT_OK);
    EXPECT_EQ(weft_future_create(~std::size_t{0}, nullptr, nullptr, &future), WEFT_NO_MEMORY);
}

}   // namespace
