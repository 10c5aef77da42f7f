// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions and units: an exception that leaves a body is thrown by join, and each unit handles
// its own exceptions.
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "test/behaviour/atomic.hpp"

namespace {

class CppException : public testing::TestWithParam<std::size_t> {
protected:
    weft::runtime runtime_{{.streams = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Streams, CppException, testing::Values(1, 3), testing::PrintToStringParamName());

struct Torn : std::runtime_error {
    explicit Torn(int where) : std::runtime_error("torn at " + std::to_string(where)), at(where) {}
    int at;
};

template <class Call>
int torn_at(Call&& call) {
    try {
        call();
    } catch (const Torn& torn) {
        return torn.at;
    }
    return 0;
}

TEST_P(CppException, JoinRethrowsWhatLeftTheBody) {
    weft::thread thread([] { throw Torn(3); });
    EXPECT_EQ(torn_at([&] { thread.join(); }), 3);
    EXPECT_FALSE(thread.joinable());
}

TEST_P(CppException, TryJoinRethrowsIt) {
    weft::thread thread([] { throw Torn(4); });
    const int at = torn_at([&] {
        while (!thread.try_join()) weft::this_thread::yield();
    });
    EXPECT_EQ(at, 4);
    EXPECT_FALSE(thread.joinable());
}

TEST_P(CppException, ItSurvivesTheStackItWasThrownOn) {
    std::exception_ptr kept;
    try {
        weft::thread([] {
            char deep[1024] = "deep";
            throw std::string(deep);
        }).join();
    } catch (...) {
        kept = std::current_exception();
    }
    weft::spawn_many(64, [](std::size_t) { weft::this_thread::yield(); }).join();   // stacks are used again
    try {
        std::rethrow_exception(kept);
    } catch (const std::string& text) {
        EXPECT_EQ(text, "deep");
    }
}

TEST_P(CppException, ItPassesThroughALineOfJoins) {
    weft::thread outer([] {
        weft::thread middle([] {
            weft::thread inner([] { throw Torn(7); });
            inner.join();
        });
        middle.join();
    });
    EXPECT_EQ(torn_at([&] { outer.join(); }), 7);
}

TEST_P(CppException, JoinAllRethrowsTheFirstInOrderAndJoinsAll) {
    std::vector<weft::unit_handle> units;
    units.push_back(weft::thread([] { weft::this_thread::yield(); }));
    units.push_back(weft::thread());
    units.push_back(weft::thread([] {
        for (int i = 0; i < 5; ++i) weft::this_thread::yield();
        throw Torn(2);
    }));
    units.push_back(weft::tasklet([] { throw Torn(3); }));
    EXPECT_EQ(torn_at([&] { weft::join_all(units); }), 2);
    for (const auto& unit : units) EXPECT_FALSE(unit.joinable());
}

TEST_P(CppException, UnitsThatThrowAndYieldInTheirHandlersGetTheirOwnBack) {
    constexpr int count = 24;
    weft_test::atomic<int> right{0};
    auto body = [&right](int own) {
        for (int round = 0; round < 20; ++round) {
            const int mark = own * 1000 + round;
            const int back = torn_at([mark] {
                try {
                    throw Torn(mark);
                } catch (const Torn& torn) {
                    weft::this_thread::yield();
                    EXPECT_EQ(torn.at, mark);
                    EXPECT_NE(std::current_exception(), nullptr);
                    weft::this_thread::yield();
                    throw;
                }
            });
            if (back == mark) right.fetch_add(1);
            EXPECT_EQ(std::current_exception(), nullptr);
        }
    };
    std::vector<weft::thread> threads;
    for (int i = 1; i <= count; ++i) threads.emplace_back(body, i);
    weft::join_all(threads);
    EXPECT_EQ(right, count * 20);
}

TEST_P(CppException, HandlersMayNestAndYieldAtEachDepth) {
    auto body = [](int own) {
        try {
            throw Torn(own);
        } catch (const Torn& outer) {
            weft::this_thread::yield();
            try {
                throw Torn(own + 1);
            } catch (const Torn& inner) {
                weft::this_thread::yield();
                EXPECT_EQ(inner.at, own + 1);
            }
            weft::this_thread::yield();
            EXPECT_EQ(outer.at, own);
            EXPECT_EQ(torn_at([] { std::rethrow_exception(std::current_exception()); }), own);
        }
    };
    std::vector<weft::thread> threads;
    for (int i = 0; i < 16; ++i) threads.emplace_back(body, 10 * i);
    weft::join_all(threads);
}

struct YieldsWhenDestroyed {
    weft_test::atomic<int>* right;
    ~YieldsWhenDestroyed() {
        const int before = std::uncaught_exceptions();
        weft::this_thread::yield();
        if (before == 1 && std::uncaught_exceptions() == 1) right->fetch_add(1);
    }
};

TEST_P(CppException, AUnitMayYieldWhileItUnwinds) {
    weft_test::atomic<int> right{0};
    std::vector<weft::thread> threads;
    for (int i = 1; i <= 8; ++i) {
        threads.emplace_back([&right, i] {
            const int at = torn_at([&right, i] {
                const YieldsWhenDestroyed guard{&right};
                throw Torn(i);
            });
            EXPECT_EQ(at, i);
            EXPECT_EQ(std::uncaught_exceptions(), 0);
        });
    }
    weft::join_all(threads);
    EXPECT_EQ(right, 8);
}

TEST_P(CppException, AUnitSpawnedInAHandlerStartsWithNone) {
    bool none = false;
    bool none_in_tasklet = false;
    bool none_child_first = false;
    weft::thread spawner([&] {
        try {
            throw Torn(1);
        } catch (const Torn& torn) {
            weft::thread child([&] { none = std::current_exception() == nullptr; });
            weft::tasklet tasklet([&] { none_in_tasklet = std::current_exception() == nullptr; });
            child.join();
            tasklet.join();
            weft::thread first({.child_first = true}, [&] { none_child_first = std::current_exception() == nullptr; });
            first.join();
            EXPECT_EQ(torn.at, 1);
            EXPECT_NE(std::current_exception(), nullptr);
        }
    });
    spawner.join();
    EXPECT_TRUE(none);
    EXPECT_TRUE(none_in_tasklet);
    EXPECT_TRUE(none_child_first);
}

TEST_P(CppException, AnErrorNamesItsStatus) {
    weft::thread thread;
    try {
        thread.join();
        ADD_FAILURE() << "an empty handle was joined";
    } catch (const weft::error& error) {
        EXPECT_EQ(error.code(), WEFT_INVALID);
        EXPECT_EQ(std::string(error.what()).rfind("WEFT_INVALID", 0), 0U) << error.what();
    }
    EXPECT_NO_THROW(weft::check(WEFT_OK));
    EXPECT_THROW(weft::check(WEFT_BUSY), weft::error);
}

TEST(CppExceptionDeath, AnExceptionThatNobodyTookEndsTheProcess) {
    EXPECT_DEATH(
        {
            const weft::runtime runtime{{.streams = 1}};
            const weft::thread thread([] { throw Torn(1); });
        },
        "torn at 1|terminate");
}

TEST(CppExceptionDeath, AGroupsExceptionThatNobodyTookEndsTheProcess) {
    EXPECT_DEATH(
        {
            const weft::runtime runtime{{.streams = 1}};
            const auto group = weft::spawn_many(3, [](std::size_t i) {
                if (i == 1) throw Torn(1);
            });
        },
        "torn at 1|terminate");
}

}   // namespace
