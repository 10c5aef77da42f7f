// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// weft::spawn returns the value that its body returns.
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "test/behaviour/atomic.hpp"

namespace {

// Each test runs with one stream and with several.
class CppSpawn : public testing::TestWithParam<std::size_t> {
protected:
    weft::runtime runtime_{{.streams = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Streams, CppSpawn, testing::Values(1, 3), testing::PrintToStringParamName());

// Counts how many objects of this type live.
struct Counted {
    explicit Counted(weft_test::atomic<int>& alive) : alive_(&alive) { alive_->fetch_add(1); }
    Counted(Counted&& other) noexcept : alive_(other.alive_) { alive_->fetch_add(1); }
    Counted(const Counted&) = delete;
    ~Counted() { alive_->fetch_sub(1); }

private:
    weft_test::atomic<int>* alive_;
};

static_assert(std::is_same_v<decltype(weft::spawn(std::declval<int (*)()>())), weft::join_handle<int>>);
static_assert(std::is_same_v<decltype(weft::spawn(std::declval<int& (*)()>())), weft::join_handle<int&>>);
static_assert(std::is_nothrow_move_constructible_v<weft::join_handle<int>> &&
              !std::is_copy_constructible_v<weft::join_handle<int>>);

TEST_P(CppSpawn, JoinGivesWhatTheBodyReturns) {
    EXPECT_EQ(weft::spawn([] { return 42; }).join(), 42);
    EXPECT_EQ(weft::spawn([](const std::string& text, int number) { return text + std::to_string(number); }, "n = ", 7)
                  .join(),
              "n = 7");
    EXPECT_EQ(*weft::spawn([] { return std::make_unique<int>(3); }).join(), 3);
    int place = 0;
    weft::join_handle<int&> reference = weft::spawn([&place]() -> int& { return place; });
    EXPECT_EQ(&reference.join(), &place);
    EXPECT_EQ(weft::spawn(&std::string::size, std::string("four")).join(), 4U);
}

TEST_P(CppSpawn, AManyTimesForkedSumIsRight) {
    const std::function<int(int)> fibonacci = [&](int n) {
        if (n < 2) return n;
        auto one = weft::spawn(fibonacci, n - 1);
        return fibonacci(n - 2) + one.join();
    };
    EXPECT_EQ(fibonacci(12), 144);
}

TEST_P(CppSpawn, ABodyThatReturnsNothingIsJoinedToo) {
    int ran = 0;
    weft::join_handle<void> packed = weft::spawn([&ran] { ++ran; });
    packed.join();
    weft::spawn([&ran](int more) { ran += more; }, 2).join();
    EXPECT_EQ(ran, 3);
}

TEST_P(CppSpawn, JoinIsForOnce) {
    auto handle = weft::spawn([] { return 1; });
    EXPECT_TRUE(handle.joinable());
    EXPECT_EQ(handle.get_id(), handle.ref().get_id());
    EXPECT_EQ(handle.join(), 1);
    EXPECT_FALSE(handle.joinable());
    EXPECT_EQ(handle.get_id(), weft::unit_id());
    EXPECT_THROW(handle.join(), weft::error);
    EXPECT_THROW(weft::join_handle<int>().join(), weft::error);
}

TEST_P(CppSpawn, TheExceptionOfTheBodyComesOutOfItsJoin) {
    auto handle = weft::spawn([]() -> int { throw std::runtime_error("the end"); });
    try {
        handle.join();
        ADD_FAILURE() << "the body has thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "the end");
    }
    EXPECT_FALSE(handle.joinable());
}

TEST_P(CppSpawn, TheDestructorJoins) {
    weft_test::atomic<bool> ran{false};
    {
        auto handle = weft::spawn([&ran] {
            weft::this_thread::yield();
            ran = true;
            return 5;
        });
    }
    EXPECT_TRUE(ran);
    auto handle = weft::spawn([] { return 1; });
    handle = weft::spawn([] { return 2; });   // the first one is joined
    EXPECT_EQ(handle.join(), 2);
    auto other = weft::spawn([] { return 3; });
    swap(handle, other);
    EXPECT_FALSE(other.joinable());
    EXPECT_EQ(handle.join(), 3);
}

TEST_P(CppSpawn, WhatTheBodyHoldsIsDestroyedBeforeItsJoinReturnsAndTheValueWithTheHandle) {
    weft_test::atomic<int> alive{0};
    auto handle = weft::spawn([held = Counted(alive)](Counted) { return 1; }, Counted(alive));
    while (alive != 0) weft::this_thread::yield();   // by itself, without a join
    EXPECT_EQ(handle.join(), 1);
    {
        auto dropped = weft::spawn([&alive] { return Counted(alive); });
        while (dropped.ref().state() != weft::unit_state::done) weft::this_thread::yield();
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0) << "the value that nobody asked for";
}

TEST_P(CppSpawn, ACancelledOneHasNoValueAndWhatItHeldIsDestroyed) {
    if (!weft::has(weft::feature::cancel)) GTEST_SKIP() << "built without cancellation";
    weft_test::atomic<int> alive{0};
    for (const bool begun : {false, true}) {
        weft_test::atomic<bool> runs{false};
        auto handle = weft::spawn([&runs, held = Counted(alive)] {
            runs = true;
            for (;;) weft::this_thread::yield();
            return 1;
        });
        if (begun) {
            while (!runs) weft::this_thread::yield();
        }
        handle.ref().cancel();
        try {
            handle.join();
            ADD_FAILURE() << "it was cancelled";
        } catch (const weft::not_returned& error) {
            EXPECT_EQ(error.outcome(), weft::unit_outcome::cancelled);
        }
        EXPECT_EQ(alive, 0);
        auto dropped = weft::spawn([] {
            for (;;) weft::this_thread::yield();
        });
        dropped.ref().cancel();   // its destructor does not end the process because of this
    }
}

TEST_P(CppSpawn, OneThatExitsHasNoValue) {
    auto handle = weft::spawn([]() -> int { weft::this_thread::exit(); });
    try {
        handle.join();
        ADD_FAILURE() << "it has none";
    } catch (const weft::error& error) {
        EXPECT_EQ(error.code(), WEFT_NOT_RETURNED);
        EXPECT_NE(std::string(error.what()).find("exit"), std::string::npos) << error.what();
    }
    weft::spawn([] { weft::this_thread::exit(); }).join();   // a body that returns nothing needs no value
}

TEST_P(CppSpawn, TheAttributesAreThoseThatItIsGiven) {
    std::string name;
    EXPECT_EQ(weft::spawn({.kind = weft::unit_kind::full, .name = "worker"},
                          [&name] {
                              name = weft::this_thread::name();
                              return weft::this_thread::self().kind();
                          })
                  .join(),
              weft::unit_kind::full);
    EXPECT_EQ(name, "worker");
    std::byte tiny[16];
    weft_test::atomic<int> alive{0};
    EXPECT_THROW(static_cast<void>(weft::spawn({.stack = tiny}, [held = Counted(alive)] { return 1; })), weft::error);
    EXPECT_EQ(alive, 0);
}

TEST_P(CppSpawn, AnExceptionThatIsOnItsWayIsNotReplacedByAnother) {
    EXPECT_THROW(
        {
            auto other = weft::spawn([]() -> int { throw std::runtime_error("the second"); });
            while (other.ref().state() != weft::unit_state::done) weft::this_thread::yield();
            throw std::logic_error("the first");
        },
        std::logic_error);
}

TEST(CppSpawnDeathTest, AnExceptionThatNobodyAsksForEndsTheProcess) {
    EXPECT_DEATH(
        {
            const weft::runtime runtime{{.streams = 1}};
            auto handle = weft::spawn([]() -> int { throw std::runtime_error("lost"); });
        },
        "lost");
}

}   // namespace
