// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

#include <atomic>
#include <thread>

namespace {

using abt_test::expect_no_switch;
using abt_test::in_tasklet;
using abt_test::own_pool;
using abt_test::Streams;
using abt_test::Units;

class Future : public abt_test::Argobots {
protected:
    static ABT_future make(uint32_t compartments, void (*callback)(void**) = nullptr) {
        ABT_future future = ABT_FUTURE_NULL;
        EXPECT_EQ(ABT_future_create(compartments, callback, &future), ABT_SUCCESS);
        return future;
    }
    static bool is_ready(ABT_future future) {
        ABT_bool ready = -1;
        EXPECT_EQ(ABT_future_test(future, &ready), ABT_SUCCESS);
        return ready == ABT_TRUE;
    }
};

TEST_F(Future, IsReadyWhenAllIsSet) {
    ABT_future future = make(3);
    int values[3] = {};
    Units units;
    int woken = 0;
    for (int i = 0; i < 2; ++i) {
        units.ult(own_pool(), [&] {
            EXPECT_EQ(ABT_future_wait(future), ABT_SUCCESS);
            ++woken;
        });
    }
    for (int& value : values) {
        ABT_thread_yield();
        EXPECT_FALSE(is_ready(future));
        EXPECT_EQ(woken, 0);
        EXPECT_EQ(ABT_future_set(future, &value), ABT_SUCCESS);
    }
    EXPECT_TRUE(is_ready(future));
    EXPECT_EQ(ABT_future_set(future, nullptr), ABT_ERR_FUTURE);
    units.join();
    EXPECT_EQ(woken, 2);
    EXPECT_EQ(ABT_future_free(&future), ABT_SUCCESS);
    EXPECT_EQ(future, ABT_FUTURE_NULL);
}

TEST_F(Future, NoFutureIsAnError) {
    ABT_future none = ABT_FUTURE_NULL;
    ABT_bool ready = ABT_FALSE;
    EXPECT_EQ(ABT_future_free(&none), ABT_ERR_INV_FUTURE);
    EXPECT_EQ(ABT_future_wait(none), ABT_ERR_INV_FUTURE);
    EXPECT_EQ(ABT_future_test(none, &ready), ABT_ERR_INV_FUTURE);
    EXPECT_EQ(ABT_future_set(none, nullptr), ABT_ERR_INV_FUTURE);
    EXPECT_EQ(ABT_future_reset(none), ABT_ERR_INV_FUTURE);
}

TEST_F(Future, WithoutCompartmentsItIsReadyAlways) {
    ABT_future future = make(0);
    EXPECT_TRUE(is_ready(future));
    EXPECT_EQ(ABT_future_wait(future), ABT_SUCCESS);
    EXPECT_EQ(ABT_future_set(future, nullptr), ABT_ERR_FUTURE);
    EXPECT_EQ(ABT_future_reset(future), ABT_SUCCESS);
    EXPECT_TRUE(is_ready(future));
    ABT_future_free(&future);
}

std::atomic<int> calls{0};

TEST_F(Future, TheCallbackSeesAllValuesInTheirOrderBeforeOthersGoOn) {
    calls = 0;
    ABT_future future = make(3, [](void** values) {
        EXPECT_STREQ(static_cast<const char*>(values[0]), "a");
        EXPECT_STREQ(static_cast<const char*>(values[1]), "b");
        EXPECT_STREQ(static_cast<const char*>(values[2]), "c");
        ++calls;
    });
    Units units;
    units.ult(own_pool(), [&] {
        EXPECT_EQ(ABT_future_wait(future), ABT_SUCCESS);
        EXPECT_EQ(calls, 1);
    });
    ABT_thread_yield();
    char a[] = "a", b[] = "b", c[] = "c";
    for (char* value : {a, b, c}) EXPECT_EQ(ABT_future_set(future, value), ABT_SUCCESS);
    EXPECT_EQ(calls, 1);
    units.join();
    EXPECT_EQ(ABT_future_reset(future), ABT_SUCCESS);
    EXPECT_FALSE(is_ready(future));
    for (char* value : {a, b, c}) EXPECT_EQ(ABT_future_set(future, value), ABT_SUCCESS);
    EXPECT_TRUE(is_ready(future));
    EXPECT_EQ(calls, 2);
    ABT_future_free(&future);
}

struct Seen {
    ABT_future future;
    ABT_eventual done;
    int result = -1;
};

// No lock is held during the callback: it may query the future, and wait for something else.
TEST_F(Future, TheCallbackMayWait) {
    Seen seen{make(1,
                   [](void** values) {
                       auto* of = static_cast<Seen*>(values[0]);
                       ABT_bool ready = -1;
                       EXPECT_EQ(ABT_future_test(of->future, &ready), ABT_SUCCESS);
                       EXPECT_EQ(ready, ABT_FALSE);
                       of->result = ABT_eventual_wait(of->done, nullptr);
                   }),
              ABT_EVENTUAL_NULL};
    ABT_eventual_create(0, &seen.done);
    Units units;
    units.ult(own_pool(), [&] { EXPECT_EQ(ABT_future_set(seen.future, &seen), ABT_SUCCESS); });
    ABT_thread_yield();
    EXPECT_EQ(seen.result, -1);
    EXPECT_EQ(ABT_eventual_set(seen.done, nullptr, 0), ABT_SUCCESS);
    units.join();
    EXPECT_EQ(seen.result, ABT_SUCCESS);
    EXPECT_TRUE(is_ready(seen.future));
    ABT_eventual_free(&seen.done);
    ABT_future_free(&seen.future);
}

TEST_F(Future, ATaskletSetsAndTestsButCannotWait) {
    ABT_future future = make(1);
    for (int i = 0; i < 2; ++i) {   // not even for a ready future
        EXPECT_EQ(in_tasklet([&] { return ABT_future_wait(future); }), ABT_ERR_FUTURE);
        EXPECT_EQ(in_tasklet([&] { return ABT_future_set(future, nullptr); }), i == 0 ? ABT_SUCCESS : ABT_ERR_FUTURE);
    }
    EXPECT_EQ(in_tasklet([&] { return is_ready(future) ? 1 : 0; }), 1);
    ABT_future_free(&future);
}

TEST_F(Future, OneThatIsReadyDoesNotSwitch) {
    ABT_future future = make(1);
    expect_no_switch([&] {
        EXPECT_EQ(ABT_future_set(future, nullptr), ABT_SUCCESS);
        EXPECT_EQ(ABT_future_wait(future), ABT_SUCCESS);
        EXPECT_EQ(ABT_future_reset(future), ABT_SUCCESS);
    });
    ABT_future_free(&future);
}

// There are many setters, each counted once; the waiter frees the future.
TEST_F(Future, IsSetFromEverywhere) {
    Streams streams(3);
    static std::atomic<long> sum{0};
    for (int round = 0; round < 50; ++round) {
        sum = 0;
        ABT_future future = make(9, [](void** values) {
            for (int i = 0; i < 9; ++i) sum += *static_cast<long*>(values[i]);
        });
        const ABT_future set = future;
        long values[10];
        std::atomic<int> refused{0};
        Units units;
        units.ult(streams.pool(0), [&] {
            EXPECT_EQ(ABT_future_wait(set), ABT_SUCCESS);
            EXPECT_EQ(sum, 45);
        });
        for (long i = 1; i < 10; ++i) {
            values[i] = i;
            const auto put = [&, i] { refused += ABT_future_set(set, &values[i]) == ABT_SUCCESS ? 0 : 1; };
            if (i % 2 == 0) units.ult(streams.pool(static_cast<std::size_t>(i)), put);
            else units.tasklet(streams.pool(static_cast<std::size_t>(i)), put);
        }
        EXPECT_EQ(ABT_future_wait(future), ABT_SUCCESS);
        units.join();
        EXPECT_EQ(refused, 0);
        EXPECT_EQ(ABT_future_set(future, values), ABT_ERR_FUTURE);
        ABT_future_free(&future);
    }
}

}   // namespace
