// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// std::stop_token in weft::thread, cancellation in C++, migration and unit-local objects.
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/support.hpp"
#include "weft/weft.hpp"

using weft_test::Runtime;

TEST(Stop, ABodyThatTakesATokenGetsOneBeforeItsArguments) {
    Runtime runtime;
    std::string seen;
    weft::thread thread(
        [&](std::stop_token stop, std::string text, int number) {
            EXPECT_TRUE(stop.stop_possible());
            while (!stop.stop_requested()) weft::this_thread::yield();
            seen = text + std::to_string(number);
        },
        "x", 7);
    EXPECT_TRUE(thread.get_stop_token().stop_possible());
    EXPECT_EQ(thread.get_stop_source().get_token(), thread.get_stop_token());
    weft::this_thread::yield();
    EXPECT_TRUE(thread.request_stop());
    EXPECT_FALSE(thread.request_stop()) << "it was asked already";
    thread.join();
    EXPECT_EQ(seen, "x7");
}

TEST(Stop, TheDestructorAndAnAssignmentAskAndJoin) {
    Runtime runtime;
    int stopped = 0;
    auto patient = [&](std::stop_token stop) {
        while (!stop.stop_requested()) weft::this_thread::yield();
        ++stopped;
    };
    {
        weft::thread thread(patient);
        weft::this_thread::yield();
    }
    EXPECT_EQ(stopped, 1);
    weft::thread one(patient), two(patient);
    one = std::move(two);
    EXPECT_EQ(stopped, 2);
    EXPECT_FALSE(two.joinable());
    weft::thread other;
    swap(one, other);
    EXPECT_FALSE(one.request_stop()) << "the state goes with the thread";
    EXPECT_TRUE(other.request_stop());
    other.join();
    EXPECT_EQ(stopped, 3);
}

TEST(Stop, ABodyWithoutATokenHasNoStopState) {
    Runtime runtime;
    weft::thread thread([] {});
    EXPECT_FALSE(thread.get_stop_source().stop_possible());
    EXPECT_FALSE(thread.get_stop_token().stop_possible());
    EXPECT_FALSE(thread.request_stop());
}

TEST(Stop, ACallbackRunsWhereStopIsRequested) {
    Runtime runtime;
    weft::unit_id on;
    weft::thread thread([&](std::stop_token stop) {
        const std::stop_callback note(stop, [&] { on = weft::this_thread::get_id(); });
        while (!stop.stop_requested()) weft::this_thread::yield();
    });
    weft::this_thread::yield();
    thread.request_stop();
    thread.join();
    EXPECT_EQ(on, weft::this_thread::get_id());
}

TEST(Cancelled, AJoinThrowsTheOutcomeAndTheArgumentsAreDestroyed) {
    Runtime runtime;
    for (const bool begun : {false, true}) {
        const auto held = std::make_shared<int>(1);
        weft::thread thread(
            [](const std::shared_ptr<int>&) {
                for (;;) weft::this_thread::yield();
            },
            held);
        if (begun) weft::this_thread::yield();
        thread.ref().cancel();
        try {
            thread.join();
            ADD_FAILURE() << "it was cancelled";
        } catch (const weft::not_returned& error) {
            EXPECT_EQ(error.code(), WEFT_NOT_RETURNED);
            EXPECT_EQ(error.outcome(), weft::unit_outcome::cancelled);
            EXPECT_NE(std::string(error.what()).find("cancelled"), std::string::npos) << error.what();
        }
        EXPECT_FALSE(thread.joinable());
        EXPECT_EQ(held.use_count(), 1);
    }
}

namespace {

struct YieldsWhenDestroyed {
    int* destroyed;
    explicit YieldsWhenDestroyed(int* count) : destroyed(count) {}
    YieldsWhenDestroyed(YieldsWhenDestroyed&& other) noexcept : destroyed(std::exchange(other.destroyed, nullptr)) {}
    ~YieldsWhenDestroyed() {
        if (destroyed == nullptr) return;
        ++*destroyed;
        weft_unit_cancel(weft_unit_self());
        weft_unit_yield();
    }
};

}   // namespace

TEST(Cancelled, ADestructorOfAnArgumentThatWasLeftInItsMiddleDoesNotRunAgain) {
    Runtime runtime;
    int destroyed = 0;
    weft::thread thread([](const YieldsWhenDestroyed&) {}, YieldsWhenDestroyed(&destroyed));
    EXPECT_THROW(thread.join(), weft::error);
    EXPECT_EQ(destroyed, 1);
}

TEST(Cancelled, ADestructorAndAGroupTakeItForAnEnd) {
    Runtime runtime;
    {
        weft::thread thread([] {});
        thread.ref().cancel();
    }
    auto group = weft::spawn_many(3, [] {});
    group[1].cancel();
    EXPECT_THROW(group.join(), weft::error);
    EXPECT_FALSE(group.joinable());
    std::vector<weft::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([] {});
    threads[2].ref().cancel();
    EXPECT_THROW(weft::join_all(threads), weft::error);
    for (auto& thread : threads) EXPECT_FALSE(thread.joinable());
    EXPECT_EQ(weft_test::units_alive(), 1u);
}

TEST(Migration, AThreadGoesToAnotherPool) {
    auto settings = weft_test::with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;   // no stream steals it meanwhile
    Runtime runtime(settings);
    weft::thread fixed(weft::attributes{.migratable = false}, [] {});
    EXPECT_FALSE(fixed.ref().migratable());
    EXPECT_THROW(fixed.ref().migrate_to(weft_test::pool_of(1)), weft::error);
    fixed.ref().set_migratable(true);
    fixed.ref().migrate_to(weft_test::pool_of(1));
    fixed.join();
    weft_test::atomic<bool> stop{false};
    weft::thread thread([&] {
        while (!stop) weft::this_thread::yield();
    });
    thread.ref().migrate_to(weft_test::pool_of(1));
    thread.ref().wait_for_migration();
    stop = true;
    thread.join();
}

TEST(UnitLocal, EachUnitHasAnObjectOfItsOwnUntilItEnds) {
    static weft::unit_local<std::shared_ptr<int>> local;   // made before the runtime
    Runtime runtime;
    const auto one = std::make_shared<int>(1);
    EXPECT_EQ(local.get(), nullptr);
    *local = one;
    EXPECT_EQ(one.use_count(), 2);
    weft::thread thread([&] {
        EXPECT_EQ(local.get(), nullptr);
        EXPECT_EQ(*local, nullptr);
        local.emplace(one);
        weft::this_thread::yield();
        EXPECT_EQ(local->use_count(), 3);
        local.emplace(one);
        EXPECT_EQ(one.use_count(), 3) << "the former is destroyed";
    });
    thread.join();
    EXPECT_EQ(one.use_count(), 2);
    local.reset();
    EXPECT_EQ(one.use_count(), 1);
    EXPECT_EQ(local.get(), nullptr);
}
