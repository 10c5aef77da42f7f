// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rescue: units that could run while every stream is stuck run nevertheless, and a program that has
// turned rescue off is notified.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/probe.hpp"
#include "test/behaviour/created_domain.hpp"
#include "test/behaviour/file.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

weft_settings settings_of(weft_pool_kind pool, weft_rescue rescue = WEFT_RESCUE_ON) {
    weft_settings settings = with_streams(2);
    settings.pool = pool;
    settings.rescue = rescue;
    return settings;
}

// A shared pool, and streams that draw from it.
struct OnePool {
    explicit OnePool(std::size_t streams, weft_pool_access access = WEFT_POOL_ACCESS_DEFAULT) {
        weft_pool_options options{};
        options.size = sizeof options;
        options.kind = WEFT_POOL_SHARED;
        options.access = access;
        EXPECT_EQ(weft_pool_create_with(&options, &pool), WEFT_OK);
        for (std::size_t i = 0; i < streams; ++i) {
            weft_sched* sched = nullptr;
            EXPECT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched), WEFT_OK);
            weft_stream_options stream{};
            stream.size = sizeof stream;
            stream.sched = sched;
            EXPECT_EQ(weft_stream_create(&stream, &all.emplace_back()), WEFT_OK) << weft_error_text();
        }
    }
    ~OnePool() {
        for (weft_stream* stream : all) EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK);
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK) << weft_error_text();
    }

    weft_pool* pool = nullptr;
    std::vector<weft_stream*> all;
};

// Two streams that can replace each other: with deques, the runtime's own streams; otherwise those
// of a shared pool, and the runtime's streams have pools of their own.
class Two {
public:
    explicit Two(weft_pool_kind kind) : runtime_(settings_of(kind == WEFT_POOL_DEQUE ? kind : WEFT_POOL_PRIVATE)) {
        if (kind == WEFT_POOL_SHARED) shared_ = std::make_unique<OnePool>(2);
    }
    weft_pool* pool() const { return shared_ == nullptr ? nullptr : shared_->pool; }

private:
    Runtime runtime_;
    std::unique_ptr<OnePool> shared_;
};

// Spins until `when()`, without ever letting a unit run.
template <class When>
void spin(When when) {
    while (!when()) sched_yield();
}

// An OS thread that ends what a test without rescue could never end.
class Afterwards {
public:
    template <class Do>
    Afterwards(std::uint64_t count_ms, Do act)
        : thread_([count_ms, act] {
              std::this_thread::sleep_for(std::chrono::milliseconds(count_ms));
              act();
          }) {}
    ~Afterwards() { thread_.join(); }

private:
    std::thread thread_;
};

// `count` units, each of which spins until all of them run at once.
class Together {
public:
    explicit Together(int count, weft_pool* pool = nullptr) : count_(count) {
        for (int i = 0; i < count; ++i) units_.push_back(std::make_unique<Ult>([this] { meet(); }, nullptr, pool));
    }
    void join() {
        for (auto& unit : units_) EXPECT_EQ(unit->join(), WEFT_OK);
    }
    int here() const { return here_.load(); }
    void give_up() { given_up_ = true; }

private:
    void meet() {
        here_.fetch_add(1);
        spin([&] { return here_.load() == count_ || given_up_.load(); });
    }

    const int count_;
    atomic<int> here_{0};
    atomic<bool> given_up_{false};
    std::vector<std::unique_ptr<Ult>> units_;
};

}   // namespace

class RescueOf : public testing::TestWithParam<weft_pool_kind> {};

TEST_P(RescueOf, AUnitThatMustSetAFlagForWhichBothStreamsSpinRuns) {
    Two two(GetParam());
    atomic<int> begun{0};
    atomic<bool> flag{false};
    weft_unit* setter = nullptr;
    const auto body = [&] {
        if (begun.fetch_add(1) == 0) {
            spin([&] { return begun.load() == 2; });
            EXPECT_EQ(
                weft_ult_spawn(
                    two.pool(), [](void* raw) { *static_cast<atomic<bool>*>(raw) = true; }, &flag, nullptr, &setter),
                WEFT_OK);
        }
        spin([&] { return flag.load(); });
    };
    {
        Ult one(body, nullptr, two.pool()), other(body, nullptr, two.pool());
        EXPECT_EQ(one.join(), WEFT_OK);
        EXPECT_EQ(other.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_unit_join_free(setter), WEFT_OK);
    EXPECT_GE(counter("/rescue/count/emergencies"), 1u);
}

TEST_P(RescueOf, OneWhoIsRescuedAndStuckHimselfIsRescuedInHisTurn) {
    Two two(GetParam());
    Together all(5, two.pool());
    all.join();
    EXPECT_EQ(all.here(), 5);
    EXPECT_GE(counter("/rescue/count/emergencies"), 3u);
}

namespace {

// A unit sleeps, and meanwhile both streams spin until it has woken.
void sleep_while_both_spin(const Two& two) {
    atomic<int> asleep{0}, begun{0};
    atomic<bool> flag{false};
    const auto sleeper = [&] {
        asleep.fetch_add(1);
        EXPECT_EQ(weft_sleep_for(5 * ms), WEFT_OK);
        flag = true;
    };
    const auto spinner = [&] {
        begun.fetch_add(1);
        spin([&] { return flag.load(); });
    };
    Ult sleeps(sleeper, nullptr, two.pool());
    while (asleep.load() == 0) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    Ult one(spinner, nullptr, two.pool()), other(spinner, nullptr, two.pool());
    EXPECT_EQ(one.join(), WEFT_OK);
    EXPECT_EQ(other.join(), WEFT_OK);
    EXPECT_EQ(sleeps.join(), WEFT_OK);
}

}   // namespace

TEST_P(RescueOf, AUnitWhoseSleepEndsWhileItsStreamIsStuckGoesOn) {
    const Two two(GetParam());
    sleep_while_both_spin(two);
}

// The guest's thread checks no timers before it enters again.
TEST_P(RescueOf, AUnitWhoseSleepEndsIsNotLeftToAGuestThatIsOutside) {
    const Two two(GetParam());
    atomic<bool> is_outside{false}, over{false};
    std::thread thread([&] {
        { Inside in; }
        is_outside = true;
        while (!over) std::this_thread::yield();
    });
    while (!is_outside) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    sleep_while_both_spin(two);
    over = true;
    thread.join();
}

TEST_P(RescueOf, AUnitThatHoldsALockForWhichBothStreamsBlockRuns) {
    if (weft::config::thread_sanitizer) GTEST_SKIP() << "it holds that a lock is let go by the OS thread that took it";
    Two two(GetParam());
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    atomic<int> coming{0};
    weft_event held = WEFT_EVENT_INIT, go_on = WEFT_EVENT_INIT;
    Ult holder(
        [&] {
            pthread_mutex_lock(&mutex);
            weft_event_set(&held, nullptr);
            weft_event_wait(&go_on, nullptr);
            pthread_mutex_unlock(&mutex);
        },
        nullptr, two.pool());
    EXPECT_EQ(weft_event_wait(&held, nullptr), WEFT_OK);
    const auto body = [&] {
        coming.fetch_add(1);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    };
    std::thread lets_go([&] {
        while (coming.load() != 2) sched_yield();
        weft_event_set(&go_on, nullptr);
    });
    Ult one(body, nullptr, two.pool()), other(body, nullptr, two.pool());
    EXPECT_EQ(one.join(), WEFT_OK);
    EXPECT_EQ(other.join(), WEFT_OK);
    EXPECT_EQ(holder.join(), WEFT_OK);
    lets_go.join();
}

TEST_P(RescueOf, AUnitRunsThatWritesWhatBothStreamsReadFromAPipe) {
    Two two(GetParam());
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    atomic<int> begun{0};
    weft_unit* writer = nullptr;
    const auto body = [&] {
        if (begun.fetch_add(1) == 0) {
            spin([&] { return begun.load() == 2; });
            EXPECT_EQ(weft_ult_spawn(
                          two.pool(), [](void* raw) { EXPECT_EQ(write(*static_cast<int*>(raw), "ab", 2), 2); },
                          &ends[1], nullptr, &writer),
                      WEFT_OK);
        }
        char read_in;
        EXPECT_EQ(read(ends[0], &read_in, 1), 1);
    };
    {
        Ult one(body, nullptr, two.pool()), other(body, nullptr, two.pool());
        EXPECT_EQ(one.join(), WEFT_OK);
        EXPECT_EQ(other.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_unit_join_free(writer), WEFT_OK);
    close(ends[0]);
    close(ends[1]);
}

TEST_P(RescueOf, UnitsThatComputeForLongEndAndAreDisturbedLittle) {
    Two two(GetParam());
    constexpr int count = 8;
    std::array<std::uint64_t, count> sums{};
    std::vector<std::unique_ptr<Ult>> all;
    for (auto& sum : sums) {
        all.push_back(std::make_unique<Ult>(
            [&sum] {
                const std::uint64_t end_ns = in_ms(30);
                std::uint64_t i = 0;
                do sum += ++i % 3;
                while (weft_now_ns() < end_ns);
            },
            nullptr, two.pool()));
    }
    for (auto& unit : all) EXPECT_EQ(unit->join(), WEFT_OK);
    for (std::uint64_t sum : sums) EXPECT_NE(sum, 0u);
}

// Rescue ends with the emergency: a stream that goes on has no stand-in any more.
TEST_P(RescueOf, WhoStoodInForAStreamGoesWhenThatSwitches) {
    Two two(GetParam());
    {
        Together all(4, two.pool());
        all.join();
    }
    // A stand-in that leaves may have been woken for the next unit.
    for (int i = 0; i < 30; ++i) Ult unit([] {}, nullptr, two.pool());
    while (counter("/rescue/count/running") != 0) {
        Ult unit([] {}, nullptr, two.pool());
        EXPECT_EQ(weft_sleep_for(ms), WEFT_OK);
    }
}

INSTANTIATE_TEST_SUITE_P(Pools, RescueOf, testing::Values(WEFT_POOL_DEQUE, WEFT_POOL_SHARED),
                         [](const auto& of) { return of.param == WEFT_POOL_DEQUE ? "Deque" : "Shared"; });

namespace {

// A unit spins there, and the unit that it spins for waits behind it: no stand-in comes, and
// another OS thread ends it.
void is_left_alone(weft_pool* pool) {
    atomic<bool> begun{false}, flag{false};
    atomic<int> set_by{0};
    Ult spinner(
        [&] {
            begun = true;
            spin([&] { return flag.load(); });
        },
        nullptr, pool);
    while (!begun.load()) weft_unit_yield();
    Ult setter(
        [&] {
            set_by = set_by.load() == 0 ? 1 : set_by.load();
            flag = true;
        },
        nullptr, pool);
    Afterwards thread(100, [&] {
        set_by = set_by.load() == 0 ? 2 : set_by.load();
        flag = true;
    });
    EXPECT_EQ(spinner.join(), WEFT_OK);
    EXPECT_EQ(setter.join(), WEFT_OK);
    EXPECT_EQ(set_by.load(), 2) << "the other unit has run meanwhile";
    EXPECT_EQ(counter("/rescue/count/emergencies"), 0u);
}

}   // namespace

// Units of such pools never run at once, and may rely on that.
TEST(Rescue, WhatOneStreamAloneDrawsFromIsLeftAlone) {
    Runtime runtime(settings_of(WEFT_POOL_SHARED));
    OnePool one(1);
    is_left_alone(one.pool);
}

TEST(Rescue, PrivatePoolsAreLeftAlone) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    is_left_alone(pool_of(1));
}

TEST(Rescue, AlsoWithAllAPoolOfOneConsumerAtATimeIsLeftAlone) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE, WEFT_RESCUE_ALL));
    OnePool one(1, WEFT_POOL_ACCESS_MPSC);
    is_left_alone(one.pool);
}

TEST(Rescue, APoolOfOneConsumerAtATimeIsLeftAlone) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    OnePool one(1, WEFT_POOL_ACCESS_MPSC);
    is_left_alone(one.pool);
}

TEST(Rescue, ATimerThatAnOsThreadOutsideStartsIsHeardThoughStreamZeroBlocks) {
    Runtime runtime(settings_of(WEFT_POOL_DEQUE));
    std::thread outside([] {
        weft_event rung = WEFT_EVENT_INIT;
        weft_timer timer{};
        EXPECT_EQ(weft_timer_start(
                      &timer, [](void* event) { weft_event_set(static_cast<weft_event*>(event), nullptr); }, &rung,
                      weft_now_ns() + ms),
                  WEFT_OK);
        EXPECT_EQ(weft_event_wait(&rung, nullptr), WEFT_OK);
    });
    outside.join();   // by the OS thread of stream 0
}

TEST(Rescue, APausedStreamIsNotStoodInFor) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    OnePool two(2);
    for (weft_stream* stream : two.all) EXPECT_EQ(weft_stream_suspend(stream), WEFT_OK);
    atomic<bool> ran{false};
    Ult unit([&] { ran = true; }, nullptr, two.pool);
    EXPECT_EQ(weft_sleep_for(60 * ms), WEFT_OK);
    EXPECT_FALSE(ran.load());
    for (weft_stream* stream : two.all) EXPECT_EQ(weft_stream_resume(stream), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(Rescue, AStreamThatBlocksIsStoodInForThoughTheOtherGoesOn) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    OnePool two(2);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    atomic<bool> stop{false};
    atomic<int> reading{0};
    Ult reader(
        [&] {
            reading = 1;
            char read_in;
            EXPECT_EQ(read(ends[0], &read_in, 1), 1);
        },
        nullptr, two.pool);
    while (reading.load() == 0) weft_unit_yield();
    const auto busy = [&] {
        while (!stop.load()) weft_unit_yield();
    };
    Ult one(busy, nullptr, two.pool), other(busy, nullptr, two.pool);
    const std::uint64_t end_ns = in_ms(patience_ms);
    while (counter("/rescue/count/running") == 0 && weft_now_ns() < end_ns) weft_unit_yield();
    EXPECT_EQ(counter("/rescue/count/running"), 1u);
    stop = true;
    EXPECT_EQ(write(ends[1], "a", 1), 1);
    EXPECT_EQ(reader.join(), WEFT_OK);
    close(ends[0]);
    close(ends[1]);
}

namespace {

std::size_t threads_called(const char* name) {
    std::size_t count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(task.path() / "comm");
        std::string comm;
        std::getline(file, comm);
        count += comm == name;
    }
    return count;
}

}   // namespace

TEST(Rescue, TheWatchdogSleepsWhenNothingWaits) {
    Runtime runtime(settings_of(WEFT_POOL_DEQUE));
    for (int i = 0; i < 100; ++i) {
        Ult unit([] { weft_unit_yield(); });
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const std::uint64_t looks = counter("/rescue/count/looks");
    // the primary unit could compute here; no unit waits for its stream
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(counter("/rescue/count/looks"), looks);
}

TEST(Rescue, OffItTellsOnceWhoStandsWhereAndStartsNoThread) {
    testing::internal::CaptureStderr();
    {
        Runtime runtime(settings_of(WEFT_POOL_DEQUE, WEFT_RESCUE_OFF));
        Together all(3);
        Afterwards thread(2'500, [&] { all.give_up(); });
        all.join();
        EXPECT_EQ(threads_called("weft/rescue"), 0u);
        EXPECT_EQ(counter("/rescue/count/emergencies"), 0u);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("stream 0 'weft/0'"), std::string::npos) << said;
    EXPECT_NE(said.find("stream 1 'weft/1'"), std::string::npos) << said;
    EXPECT_NE(said.find("WEFT_RESCUE=on"), std::string::npos) << said;
    EXPECT_EQ(said.find("WEFT_RESCUE=on"), said.rfind("WEFT_RESCUE=on")) << said;
}

TEST(Rescue, IgnoredNobodyLooks) {
    testing::internal::CaptureStderr();
    {
        Runtime runtime(settings_of(WEFT_POOL_DEQUE, WEFT_RESCUE_IGNORE));
        Together all(3);
        Afterwards thread(1'300, [&] { all.give_up(); });
        all.join();
        EXPECT_EQ(counter("/rescue/count/looks"), 0u);
        EXPECT_EQ(threads_called("weft/lookout"), 0u);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Rescue, ABoundThatIsReachedIsReportedOnce) {
    testing::internal::CaptureStderr();
    {
        weft_settings settings = settings_of(WEFT_POOL_DEQUE);
        settings.rescue_bound = 1;
        Runtime runtime(settings);
        Together all(4);
        Afterwards thread(400, [&] {
            EXPECT_EQ(all.here(), 3);
            all.give_up();
        });
        all.join();
        EXPECT_EQ(threads_called("weft/rescue"), 1u);
        EXPECT_GE(counter("/rescue/count/refused"), 1u);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("WEFT_RESCUE_BOUND"), std::string::npos) << said;
    EXPECT_EQ(said.find("WEFT_RESCUE_BOUND"), said.rfind("WEFT_RESCUE_BOUND")) << said;
}

namespace {

atomic<bool> falls_asleep{false}, may_sleep{false};

}   // namespace

TEST(Rescue, AUnitThatComesAsTheWatchdogFallsAsleepIsNotMissed) {
    if (!weft::config::checked) GTEST_SKIP() << "there are no probes";
    falls_asleep = may_sleep = false;
    weft::probe_hook.store([](weft::Probe where) {
        if (where != weft::Probe::watch_before_listening || falls_asleep.exchange(true)) return;
        spin([] { return may_sleep.load(); });
    });
    {
        Runtime runtime(settings_of(WEFT_POOL_DEQUE));
        // Until the watchdog has looked and found nothing: from here on it observes nothing until
        // it is released.
        while (!falls_asleep.load()) {
            Ult one([] {}), other([] {}), third([] {});
            EXPECT_EQ(weft_sleep_for(ms), WEFT_OK);
        }
        atomic<int> begun{0};
        atomic<bool> flag{false};
        const auto body = [&] {
            begun.fetch_add(1);
            spin([&] { return flag.load(); });
        };
        std::thread comes([&] {
            spin([&] { return begun.load() == 2; });
            Ult unit([&] { flag = true; }, nullptr, pool_of(0));
            may_sleep = true;
            EXPECT_EQ(unit.join(), WEFT_OK);
        });
        Ult one(body), other(body);
        EXPECT_EQ(one.join(), WEFT_OK);
        EXPECT_EQ(other.join(), WEFT_OK);
        comes.join();
    }
    weft::probe_hook.store(nullptr);
}

TEST(Rescue, IsSeenInTheTrace) {
    File file;
    {
        weft_settings settings = settings_of(WEFT_POOL_DEQUE);
        settings.trace = file.name();
        Runtime runtime(settings);
        Together all(3);
        all.join();
    }
    EXPECT_NE(file.text().find("\"rescues\""), std::string::npos);
    EXPECT_NE(file.text().find("\"relieved\""), std::string::npos);
}

// The unit runs where there is no stream that the program can see.
TEST(Rescue, ARescuedUnitSpawnsWaitsAndEndsAsAnyOther) {
    Runtime runtime(settings_of(WEFT_POOL_DEQUE));
    atomic<int> begun{0}, children{0};
    atomic<bool> flag{false}, elsewhere{false};
    weft_unit* rescued = nullptr;
    struct All {
        atomic<int>& children;
        atomic<bool>&flag, &elsewhere;
    } shared{children, flag, elsewhere};
    const auto body = [&] {
        if (begun.fetch_add(1) == 0) {
            spin([&] { return begun.load() == 2; });
            EXPECT_EQ(weft_ult_spawn(
                          nullptr,
                          [](void* raw) {
                              auto& of = *static_cast<All*>(raw);
                              size_t rank = 0;
                              EXPECT_EQ(weft_stream_rank_get(weft_stream_self(), &rank), WEFT_OK);
                              of.elsewhere =
                                  weft_stream_at(rank) == nullptr || weft_stream_at(rank) == weft_stream_self();
                              for (int i = 0; i < 50; ++i) {
                                  Ult child([&of] {
                                      of.children.fetch_add(1);
                                      weft_unit_yield();
                                  });
                                  EXPECT_EQ(child.join(), WEFT_OK);
                              }
                              EXPECT_EQ(weft_sleep_for(2 * ms), WEFT_OK);
                              of.flag = true;
                          },
                          &shared, nullptr, &rescued),
                      WEFT_OK);
        }
        spin([&] { return flag.load(); });
    };
    {
        Ult one(body), other(body);
        EXPECT_EQ(one.join(), WEFT_OK);
        EXPECT_EQ(other.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_unit_join_free(rescued), WEFT_OK);
    EXPECT_EQ(children.load(), 50);
    EXPECT_TRUE(elsewhere.load());
}

namespace {

// A library with as many contexts as it requests harts, each of which spins until all have begun.
class Crowd {
public:
    explicit Crowd(int count) : count_(count) {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) { static_cast<Crowd*>(self)->enter(); };
        ops.unblock = [](void* self, weft_unit* context) {
            auto& of = *static_cast<Crowd*>(self);
            std::lock_guard guard(of.lock_);
            of.ready_.push_back(context);
        };
        EXPECT_EQ(weft_domain_register(&ops, this, &domain_), WEFT_OK) << weft_error_text();
        EXPECT_EQ(weft_latch_init(&ended_, static_cast<std::size_t>(count)), WEFT_OK);
        for (int i = 0; i < count; ++i) EXPECT_EQ(weft_context_create(nullptr, 0, &contexts_.emplace_back()), WEFT_OK);
        fresh_ = count;
        EXPECT_EQ(weft_domain_request(domain_, count - 1), WEFT_OK);
    }
    ~Crowd() {
        EXPECT_EQ(weft_latch_wait(&ended_), WEFT_OK);
        EXPECT_EQ(weft_domain_request(domain_, 1 - count_), WEFT_OK);
        for (weft_unit* context : contexts_) EXPECT_EQ(weft_unit_join_free(context), WEFT_OK);
        EXPECT_EQ(weft_domain_unregister(domain_), WEFT_OK) << weft_error_text();
    }
    void give_up() { given_up_ = true; }

private:
    void enter() {
        std::lock_guard guard(lock_);
        if (!ready_.empty()) {
            EXPECT_EQ(weft_context_resume(ready_.back()), WEFT_OK);
            ready_.pop_back();
        } else if (fresh_ != 0) {
            EXPECT_EQ(weft_context_run(
                          contexts_[static_cast<std::size_t>(--fresh_)],
                          [](void* raw) { static_cast<Crowd*>(raw)->meet(); }, this),
                      WEFT_OK);
        } else {
            EXPECT_EQ(weft_domain_yield(), WEFT_OK);
        }
    }
    void meet() {
        here_.fetch_add(1);
        spin([&] { return here_.load() == count_ || given_up_.load(); });
        weft_latch_count_down(&ended_, 1);
    }

    const int count_;
    weft_domain* domain_ = nullptr;
    std::mutex lock_;
    std::vector<weft_unit*> ready_, contexts_;
    int fresh_ = 0;
    atomic<int> here_{0};
    atomic<bool> given_up_{false};
    weft_latch ended_;
};

}   // namespace

TEST(RescueOfDomains, ContextsThatWaitForOneWithoutAHartAreLentOneBeyondTheLimit) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    Ult caller([] { Crowd crowd(static_cast<int>(weft_hart_limit()) + 2); });
    EXPECT_EQ(caller.join(), WEFT_OK);
    EXPECT_GE(counter("/rescue/count/emergencies"), 2u);
}

// Harts that were lent go back when no stream is stuck any more.
TEST(RescueOfDomains, WhatWasLentIsTakenBack) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    Ult caller([] { Crowd crowd(static_cast<int>(weft_hart_limit()) + 1); });
    EXPECT_EQ(caller.join(), WEFT_OK);
    while (counter("/rescue/count/running") != 0) EXPECT_EQ(weft_sleep_for(ms), WEFT_OK);
    EXPECT_LE(counter("/harts/count/granted"), std::max<std::uint64_t>(2, weft_hart_limit()));
}

TEST(RescueOfDomains, OneThatHasWhatItAskedForIsLeftAlone) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart, which others want";
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    Ult caller([] {
        Crowd crowd(1);
        const std::uint64_t before = counter("/rescue/count/emergencies");   // from an OS thread that was held up
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(counter("/rescue/count/emergencies"), before);
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

// The program has one stream, and its only unit waits, so that no stream but the carrier comes to
// timers.
TEST(RescueOfDomains, AContextWakesThoughTheCarrierThatItHasLeftSpinsForIt) {
    Created library;
    Runtime runtime(with_streams(1));
    library.create();
    weft_latch ended;
    ASSERT_EQ(weft_latch_init(&ended, 2), WEFT_OK);
    atomic<bool> awake{false};
    atomic<int> spinning{0};
    auto spin_for_it = [&] {
        spinning.fetch_add(1);
        EXPECT_EQ(weft_domain_request(library.domain, 1), WEFT_OK);   // for the sleeper, from here on
        spin([&] { return awake.load(); });
        EXPECT_EQ(weft_latch_count_down(&ended, 1), WEFT_OK);
    };
    auto sleep_once = [&] {
        library.spawn(spin_for_it);
        EXPECT_EQ(weft_sleep_for(5 * ms), WEFT_OK);
        EXPECT_EQ(spinning.load(), 1) << "the test is about a busy carrier";
        awake = true;
        EXPECT_EQ(weft_latch_count_down(&ended, 1), WEFT_OK);
    };
    library.spawn(sleep_once);
    EXPECT_EQ(weft_domain_request(library.domain, 1), WEFT_OK);
    EXPECT_EQ(weft_latch_wait(&ended), WEFT_OK);
}

TEST(RescueOfDomains, OffItTellsWhoStandsWhere) {
    testing::internal::CaptureStderr();
    {
        Runtime runtime(settings_of(WEFT_POOL_PRIVATE, WEFT_RESCUE_OFF));
        Ult caller([] {
            Crowd crowd(static_cast<int>(weft_hart_limit()) + 1);
            Afterwards thread(2'500, [&] { crowd.give_up(); });
        });
        EXPECT_EQ(caller.join(), WEFT_OK);
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("WEFT_RESCUE=on"), std::string::npos);
}

// Each thread keeps its hart until as many are inside as there are threads.
TEST(RescueOfGuests, ThreadsThatSpinForOneThatIsNotAdmittedAreJoinedByIt) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    const int count = static_cast<int>(weft_hart_limit()) + 2;
    atomic<int> here{0};
    with_threads(count, [&](int) {
        Inside in;
        here.fetch_add(1);
        spin([&] { return here.load() == count; });
    });
    EXPECT_GE(counter("/rescue/count/emergencies"), 2u);
    while (counter("/rescue/count/running") != 0) EXPECT_EQ(weft_sleep_for(ms), WEFT_OK);
}

// The stand-in lends its hart to no guest, and all other streams spin.
TEST(RescueOfGuests, OneComesInThoughWhatStandsInAlwaysHasSomethingToRun) {
    const std::size_t count = weft_hart_limit();
    weft_settings settings = settings_of(WEFT_POOL_DEQUE);
    settings.streams = count < 2 ? 2 : count;
    Runtime runtime(settings);
    atomic<std::size_t> spinning{0};
    atomic<bool> yields{false}, over{false};
    std::vector<std::unique_ptr<Ult>> units;
    for (std::size_t i = 0; i < settings.streams; ++i) {
        units.push_back(std::make_unique<Ult>([&] {
            spinning.fetch_add(1);
            spin([&] { return over.load(); });
        }));
    }
    with_threads(1, [&](int) {
        spin([&] { return spinning.load() == settings.streams; });
        for (int i = 0; i < 2; ++i) {
            units.push_back(std::make_unique<Ult>([&] {
                yields = true;
                while (!over.load()) weft_unit_yield();
            }));
        }
        spin([&] { return yields.load(); });
        Inside in;
        over = true;
    });
}

TEST(RescueOfGuests, OneIsAdmittedWhoWritesWhatAllThatAreInsideReadFromAPipe) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    const int count = static_cast<int>(weft_hart_limit());
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    atomic<int> inside{0};
    with_threads(count + 1, [&](int self) {
        char byte = 0;
        if (self == count) {
            spin([&] { return inside.load() == count; });
            Inside in;
            for (int i = 0; i < count; ++i) EXPECT_EQ(write(ends[1], &byte, 1), 1);
        } else {
            Inside in;
            inside.fetch_add(1);
            EXPECT_EQ(read(ends[0], &byte, 1), 1);
        }
    });
    close(ends[0]);
    close(ends[1]);
}

TEST(RescueOfGuests, AUnitRunsForWhichOneSpinsThatKeepsTheLastHart) {
    Runtime runtime(settings_of(WEFT_POOL_PRIVATE));
    const int count = static_cast<int>(weft_hart_limit());
    with_threads(count, [&](int) {
        Inside in;
        atomic<bool> flag{false};
        Ult unit([&] { flag = true; });
        spin([&] { return flag.load(); });
        EXPECT_EQ(unit.join(), WEFT_OK);
    });
}

TEST(RescueOfGuests, OffItTellsWhoStandsWhere) {
    testing::internal::CaptureStderr();
    {
        Runtime runtime(settings_of(WEFT_POOL_PRIVATE, WEFT_RESCUE_OFF));
        const int count = static_cast<int>(weft_hart_limit()) + 1;
        atomic<int> here{0};
        atomic<bool> given_up{false};
        Afterwards thread(2'500, [&] { given_up = true; });
        with_threads(count, [&](int) {
            Inside in;
            here.fetch_add(1);
            spin([&] { return here.load() == count || given_up.load(); });
        });
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("'guest'"), std::string::npos) << said;
    EXPECT_NE(said.find("WEFT_RESCUE=on"), std::string::npos) << said;
}
