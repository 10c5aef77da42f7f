// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Suspending, resuming and yielding from C++.
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "test/behaviour/atomic.hpp"

namespace {

class CppSuspend : public testing::TestWithParam<std::size_t> {
protected:
    weft::runtime runtime_{{.streams = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Streams, CppSuspend, testing::Values(1, 3), testing::PrintToStringParamName());

// One unit waits in it until another unit notifies it.
class Baton {
public:
    void take() {
        weft::this_thread::suspend([this](weft::unit_ref self) { waiting_.store(self.native_handle()); });
    }
    void give() {
        weft_unit* unit = nullptr;
        while ((unit = waiting_.exchange(nullptr)) == nullptr) weft::this_thread::yield();
        weft::unit_ref(unit).resume();
    }

private:
    weft_test::atomic<weft_unit*> waiting_{nullptr};
};

TEST_P(CppSuspend, AResumedThreadGoesOnWhereItWas) {
    Baton baton;
    std::string order;
    weft::thread waiter([&] {
        order += "before ";
        baton.take();
        order += "after";
    });
    baton.give();
    waiter.join();
    EXPECT_EQ(order, "before after");
}

TEST_P(CppSuspend, TwoThreadsHandABatonToAndFro) {
    Baton there;
    Baton back;
    int rounds = 0;
    weft::thread one([&] {
        for (int i = 0; i < 2000; ++i) {
            there.take();
            ++rounds;
            back.give();
        }
    });
    weft::thread other([&] {
        for (int i = 0; i < 2000; ++i) {
            there.give();
            back.take();
        }
    });
    one.join();
    other.join();
    EXPECT_EQ(rounds, 2000);
}

TEST_P(CppSuspend, PublishMayResumeTheUnitItself) {
    int rounds = 0;
    weft::thread thread([&rounds] {
        for (int i = 0; i < 1000; ++i) {
            weft::this_thread::suspend([](weft::unit_ref self) { self.resume(); });
            ++rounds;
        }
    });
    thread.join();
    EXPECT_EQ(rounds, 1000);
}

// The unit's frame is left, and overwritten, while publish still runs on another stream.
struct Overtaken {
    weft_test::atomic<bool> overwritten{false};
    weft_test::atomic<int> seen{0};

    [[gnu::noinline]] void suspend_once() {
        weft::this_thread::suspend([this, capture = 77](weft::unit_ref self) {
            self.resume();
            while (!overwritten) std::this_thread::yield();
            seen = capture;
        });
    }

    [[gnu::noinline]] static void write_over() {
        volatile unsigned char frame[1024];
        for (auto& byte : frame) byte = 0x5a;
    }
};

TEST_P(CppSuspend, PublishKeepsItsCapturesAfterTheUnitWentOn) {
    if (GetParam() == 1) GTEST_SKIP() << "with one stream nobody overtakes";
    for (int round = 0; round < 5; ++round) {
        Overtaken overtaken;
        weft::pool pool(weft::pool_kind::shared_fifo);
        const weft::stream one(pool);
        const weft::stream other(pool);
        weft::thread thread({.pool = pool}, [&overtaken] {
            overtaken.suspend_once();
            Overtaken::write_over();
            overtaken.overwritten = true;
        });
        thread.join();
        while (overtaken.seen == 0) weft::this_thread::yield();
        EXPECT_EQ(overtaken.seen, 77);
    }
}

TEST_P(CppSuspend, ANamedCallableMayPublishToo) {
    struct Publish {
        std::vector<weft::unit_ref>& seen;
        std::string not_trivial = "long enough not to fit into the string itself";
        void operator()(weft::unit_ref self) {
            seen.push_back(self);
            self.resume();
        }
    };
    std::vector<weft::unit_ref> seen;
    weft::thread thread([&seen] {
        Publish publish{seen};
        weft::this_thread::suspend(publish);
    });
    const weft::unit_ref unit = thread;
    while (unit.state() != weft::unit_state::done) weft::this_thread::yield();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0], unit);
    thread.join();
}

TEST_P(CppSuspend, ResumingWhatIsNotSuspendedIsRefused) {
    weft_test::atomic<bool> go{false};
    weft::thread thread([&go] {
        while (!go) weft::this_thread::yield();
        weft::this_thread::suspend();
    });
    const weft::unit_ref unit = thread;
    EXPECT_FALSE(unit.try_resume());
    try {
        unit.resume();
        ADD_FAILURE() << "it was not suspended";
    } catch (const weft::error& error) {
        EXPECT_EQ(error.code(), WEFT_WRONG_STATE);
    }
    go = true;
    while (unit.state() != weft::unit_state::suspended) weft::this_thread::yield();
    EXPECT_TRUE(unit.try_resume());
    thread.join();
}

TEST_P(CppSuspend, OfManyWhoResumeOneSucceeds) {
    for (int round = 0; round < 50; ++round) {
        weft::thread sleeper([] { weft::this_thread::suspend(); });
        const weft::unit_ref unit = sleeper;
        while (unit.state() != weft::unit_state::suspended) weft::this_thread::yield();
        weft_test::atomic<int> won{0};
        weft::spawn_many(8, [&] { won += unit.try_resume() ? 1 : 0; }).join();
        EXPECT_EQ(won, 1);
        sleeper.join();
    }
}

TEST_P(CppSuspend, ThreadsTakeTurnsWhenTheyYield) {
    if (GetParam() != 1) GTEST_SKIP() << "the order is that of one stream";
    std::string order;
    auto pool = weft::pool(weft::pool_kind::shared_fifo);
    std::vector<weft::thread> threads;
    for (const char name : {'a', 'b', 'c'}) {
        threads.emplace_back(weft::attributes{.pool = pool}, [&order, name] {
            for (int i = 0; i < 3; ++i) {
                order += name;
                weft::this_thread::yield();
            }
        });
    }
    weft::stream stream(pool);
    weft::join_all(threads);
    stream.stop();
    EXPECT_EQ(order, "abcabcabc");
}

TEST_P(CppSuspend, YieldToRunsThatThreadNext) {
    if (GetParam() != 1) GTEST_SKIP() << "the order is that of one stream";
    std::string order;
    auto pool = weft::pool(weft::pool_kind::private_fifo);
    const weft::attributes there{.pool = pool};
    weft::thread second;
    weft::thread third;
    weft::thread first(there, [&] {
        order += '1';
        weft::this_thread::yield_to(third);
        order += 'x';
    });
    second = weft::thread(there, [&order] { order += '2'; });
    third = weft::thread(there, [&order] { order += '3'; });
    weft::stream stream(pool);
    first.join();
    second.join();
    third.join();
    EXPECT_EQ(order, "132x");
    stream.stop();
}

TEST_P(CppSuspend, EveryUnitThatLivesIsListed) {
    weft::thread sleeper({.name = "sleeper"}, [] { weft::this_thread::suspend(); });
    const weft::unit_ref unit = sleeper;
    while (unit.state() != weft::unit_state::suspended) weft::this_thread::yield();
    int found = 0;
    weft::for_each_unit([&](const weft_unit_info& info) {
        if (info.unit != unit.native_handle()) return;
        ++found;
        EXPECT_STREQ(info.name, "sleeper");
        EXPECT_EQ(info.state, WEFT_UNIT_SUSPENDED);
        EXPECT_STREQ(info.waits_for, "suspend");
    });
    EXPECT_EQ(found, 1);
    EXPECT_THROW(weft::for_each_unit([](const weft_unit_info&) { throw 5; }), int);
    unit.resume();
    sleeper.join();
}

}   // namespace
