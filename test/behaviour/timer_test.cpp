// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time: nothing fires before its time, what is due fires although its stream is busy, and an idle
// process sleeps.
#include <sys/resource.h>

#include <algorithm>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

std::uint64_t processor_time_ns() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<std::uint64_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

TEST(Sleep, IsNotShorterThanAsked) {
    Runtime runtime;
    for (std::uint64_t duration : {0 * ms, ms / 10, 3 * ms}) {
        const std::uint64_t before = weft_now_ns();
        EXPECT_EQ(weft_sleep_for(duration), WEFT_OK);
        EXPECT_GE(weft_now_ns(), before + duration);
    }
    std::thread other([] {
        const std::uint64_t deadline = in_ms(2);
        EXPECT_EQ(weft_sleep_until(deadline), WEFT_OK);
        EXPECT_GE(weft_now_ns(), deadline);
    });
    other.join();
}

TEST(Sleep, EndsInTheOrderOfTheDeadlines) {
    Runtime runtime;
    std::vector<int> order;
    std::uint64_t start = 0;
    std::vector<std::unique_ptr<Ult>> all;
    for (int late : {3, 0, 4, 1, 2}) {
        all.push_back(std::make_unique<Ult>([&, late] {
            while (start == 0) weft_unit_yield();
            EXPECT_EQ(weft_sleep_until(start + static_cast<std::uint64_t>(late) * ms), WEFT_OK);
            order.push_back(late);
        }));
    }
    start = in_ms(30);   // late enough for all to sleep before the first is due, even on a busy machine
    all.clear();
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(order.size(), 5u);
}

TEST(Sleep, EndsThoughTheStreamIsNeverIdle) {
    Runtime runtime;
    bool stop = false;
    Ult a([&] {
        while (!stop) weft_unit_yield();
    }),
        b([&] {
            while (!stop) weft_unit_yield();
        });
    Ult sleeper([&] {
        for (int i = 0; i < 3; ++i) {
            const std::uint64_t deadline = in_ms(2);
            EXPECT_EQ(weft_sleep_until(deadline), WEFT_OK);
            EXPECT_GE(weft_now_ns(), deadline);
        }
        stop = true;
    });
    EXPECT_EQ(sleeper.join(), WEFT_OK);
}

// The thread that watches the clock for busy streams wakes for one of them, which is too late for
// the other.
TEST(Sleep, EndsThoughSeveralStreamsAreNeverIdle) {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;
    Runtime runtime(settings);
    const std::uint64_t give_up = in_ms(20'000);
    std::atomic<int> asleep{2};
    auto keep_busy = [&] {
        while (asleep.load() != 0 && weft_now_ns() < give_up) weft_unit_yield();
    };
    std::vector<std::unique_ptr<Ult>> all;
    for (std::size_t rank = 0; rank < 2; ++rank) {
        for (int i = 0; i < 2; ++i) all.push_back(std::make_unique<Ult>(keep_busy, nullptr, pool_of(rank)));
        all.push_back(std::make_unique<Ult>(
            [&asleep, rank] {
                for (int i = 0; i < 100; ++i) EXPECT_EQ(weft_sleep_for(ms / (rank + 3)), WEFT_OK);
                asleep.fetch_sub(1);
            },
            nullptr, pool_of(rank)));
    }
    all.clear();
    EXPECT_LT(weft_now_ns(), give_up) << "a sleep ended only when its stream had nothing else to do";
}

TEST(Sleep, EndsThoughItsStreamHasBecomeBusyMeanwhile) {
    Runtime runtime(two_that_look_long());
    const std::uint64_t give_up = in_ms(20'000);
    std::atomic<bool> woke{false};
    Ult sleeper(
        [&] {
            EXPECT_EQ(weft_sleep_for(20 * ms), WEFT_OK);
            woke = true;
        },
        nullptr, pool_of(1));
    until([&] { return sleeper.state() == WEFT_UNIT_SUSPENDED; });   // its stream searches for work
    auto keep_busy = [&] {
        while (!woke && weft_now_ns() < give_up) weft_unit_yield();
    };
    Ult a(keep_busy, nullptr, pool_of(1)), b(keep_busy, nullptr, pool_of(1));
    EXPECT_EQ(a.join(), WEFT_OK);
    EXPECT_LT(weft_now_ns(), give_up) << "the sleep ended only when its stream had nothing else to do";
}

TEST(Sleep, LetsAnIdleProcessSleep) {
    Runtime runtime(2);
    weft_sleep_for(5 * ms);   // everything has come to rest
    const std::uint64_t before = processor_time_ns();
    EXPECT_EQ(weft_sleep_for(200 * ms), WEFT_OK);
    EXPECT_LT(processor_time_ns() - before, 50 * ms);
}

TEST(Sleep, OfAStreamThatEndsIsTakenOverByAnother) {
    Runtime runtime;
    weft_pool* shared = make_pool(WEFT_POOL_SHARED);
    atomic<bool> sleeps{false}, woke{false};
    auto body = [&] {
        sleeps = true;
        EXPECT_EQ(weft_sleep_for(20 * ms), WEFT_OK);
        woke = true;
    };
    {
        Stream brief(shared);
        Ult* sleeper = new Ult(body, nullptr, shared);
        until_set(sleeps);
        until([&] { return waiting_for("sleep") == 1 || woke; });   // woken before it was seen, on a slow machine
        EXPECT_EQ(brief.free(), WEFT_OK);
        Stream next(shared);
        EXPECT_EQ(sleeper->join(), WEFT_OK);
        delete sleeper;
    }
    EXPECT_TRUE(woke);
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}

TEST(Sleep, IsRefusedWhereNobodyCouldSleep) {
    Runtime runtime;
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) { EXPECT_EQ(weft_sleep_for(ms), WEFT_WRONG_KIND); }, nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}

TEST(Timer, FiresOnceAndNotTooEarly) {
    Runtime runtime;
    weft_timer timer = {};
    atomic<std::uint64_t> fired{0};
    atomic<int> times{0};
    struct Both {
        atomic<std::uint64_t>& fired;
        atomic<int>& times;
    } both{fired, times};
    const std::uint64_t deadline = in_ms(3);
    ASSERT_EQ(weft_timer_start(
                  &timer,
                  [](void* raw) {
                      auto* to = static_cast<Both*>(raw);
                      to->fired = weft_now_ns();
                      ++to->times;
                  },
                  &both, deadline),
              WEFT_OK);
    EXPECT_EQ(weft_timer_start(
                  &timer, [](void*) {}, nullptr, deadline),
              WEFT_WRONG_STATE);
    weft_sleep_for(10 * ms);
    EXPECT_EQ(times, 1);
    EXPECT_GE(fired, deadline);
    EXPECT_EQ(weft_timer_cancel(&timer), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_timer_start(
                  &timer, [](void* raw) { ++static_cast<Both*>(raw)->times; }, &both, 0),
              WEFT_OK)
        << "again";
    until([&] { return times == 2; });
}

TEST(Timer, ThatIsCancelledDoesNotFire) {
    Runtime runtime;
    weft_timer timer = {};
    atomic<int> times{0};
    ASSERT_EQ(weft_timer_start(
                  &timer, [](void* raw) { ++*static_cast<atomic<int>*>(raw); }, &times, in_ms(2)),
              WEFT_OK);
    EXPECT_EQ(weft_timer_cancel(&timer), WEFT_OK);
    weft_sleep_for(5 * ms);
    EXPECT_EQ(times, 0);
    EXPECT_EQ(weft_timer_cancel(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_timer_start(
                  nullptr, [](void*) {}, nullptr, 0),
              WEFT_INVALID);
    EXPECT_EQ(weft_timer_start(&timer, nullptr, nullptr, 0), WEFT_INVALID);
}

TEST(Timer, OfAnOsThreadIsFiredByStreamZero) {
    Runtime runtime;
    atomic<bool> fired{false};
    std::thread other([&] {
        static weft_timer timer;
        timer = {};
        EXPECT_EQ(weft_timer_start(
                      &timer, [](void* raw) { static_cast<atomic<bool>*>(raw)->store(true); }, &fired, in_ms(1)),
                  WEFT_OK);
    });
    until_set(fired);
    other.join();
}

TEST(Timer, ManyPendingOnesAreFiredInOrder) {
    Runtime runtime;
    constexpr std::size_t count = 20000;
    struct One {
        weft_timer timer;
        std::uint64_t deadline;
        std::uint64_t* last;
        std::size_t* fired;
    };
    std::vector<One> all(count);
    std::uint64_t last = 0;
    std::size_t fired = 0, cancelled = 0;
    const std::uint64_t start = in_ms(10);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = {{}, start + (i * 7919 % count) * 1000, &last, &fired};
        ASSERT_EQ(weft_timer_start(
                      &all[i].timer,
                      [](void* raw) {
                          auto* one = static_cast<One*>(raw);
                          EXPECT_GE(one->deadline, *one->last);
                          *one->last = one->deadline;
                          ++*one->fired;
                      },
                      &all[i], all[i].deadline),
                  WEFT_OK);
    }
    for (std::size_t i = 0; i < count; i += 3) cancelled += weft_timer_cancel(&all[i].timer) == WEFT_OK;
    until([&] { return fired + cancelled == count; });
    EXPECT_GT(cancelled, 0u);
}

}   // namespace
