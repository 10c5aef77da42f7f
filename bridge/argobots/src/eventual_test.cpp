// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

#include <atomic>
#include <cstring>
#include <thread>

namespace {

using abt_test::elsewhere;
using abt_test::expect_no_switch;
using abt_test::from_now;
using abt_test::in_tasklet;
using abt_test::own_pool;
using abt_test::Streams;
using abt_test::Units;

class Eventual : public abt_test::Argobots {
protected:
    static ABT_eventual make(int bytes) {
        ABT_eventual eventual = ABT_EVENTUAL_NULL;
        EXPECT_EQ(ABT_eventual_create(bytes, &eventual), ABT_SUCCESS);
        return eventual;
    }
};

TEST_F(Eventual, CarriesAValueToWhoWaits) {
    ABT_eventual eventual = make(sizeof(int));
    Units units;
    int seen = 0;
    for (int i = 0; i < 3; ++i) {
        units.ult(own_pool(), [&] {
            void* value = nullptr;
            EXPECT_EQ(ABT_eventual_wait(eventual, &value), ABT_SUCCESS);
            seen += *static_cast<int*>(value);
        });
    }
    ABT_thread_yield();
    int value = 7;
    EXPECT_EQ(ABT_eventual_set(eventual, &value, sizeof value), ABT_SUCCESS);
    value = 8;   // it was copied
    units.join();
    EXPECT_EQ(seen, 21);
    EXPECT_EQ(ABT_eventual_wait(eventual, nullptr), ABT_SUCCESS);
    EXPECT_EQ(ABT_eventual_free(&eventual), ABT_SUCCESS);
    EXPECT_EQ(eventual, ABT_EVENTUAL_NULL);
}

TEST_F(Eventual, Errors) {
    ABT_eventual none = ABT_EVENTUAL_NULL;
    void* value = nullptr;
    ABT_bool ready = ABT_FALSE;
    const timespec soon = from_now(0.01);
    EXPECT_EQ(ABT_eventual_free(&none), ABT_ERR_INV_EVENTUAL);
    EXPECT_EQ(ABT_eventual_wait(none, &value), ABT_ERR_INV_EVENTUAL);
    EXPECT_EQ(ABT_eventual_timedwait(none, &value, &soon), ABT_ERR_INV_EVENTUAL);
    EXPECT_EQ(ABT_eventual_test(none, &value, &ready), ABT_ERR_INV_EVENTUAL);
    EXPECT_EQ(ABT_eventual_set(none, nullptr, 0), ABT_ERR_INV_EVENTUAL);
    EXPECT_EQ(ABT_eventual_reset(none), ABT_ERR_INV_EVENTUAL);
    EXPECT_EQ(ABT_eventual_create(-1, &none), ABT_ERR_INV_ARG);
    EXPECT_EQ(none, ABT_EVENTUAL_NULL);
    ABT_eventual eventual = make(4);
    char bytes[8] = "1234567";
    EXPECT_EQ(ABT_eventual_set(eventual, bytes, -1), ABT_ERR_INV_ARG);
    EXPECT_EQ(ABT_eventual_set(eventual, bytes, 5), ABT_ERR_INV_EVENTUAL);
    EXPECT_EQ(ABT_eventual_test(eventual, &value, &ready), ABT_SUCCESS);
    EXPECT_EQ(ready, ABT_FALSE);
    EXPECT_EQ(value, nullptr);
    EXPECT_EQ(ABT_eventual_set(eventual, bytes, 2), ABT_SUCCESS);   // fewer than it holds
    EXPECT_EQ(ABT_eventual_set(eventual, bytes + 1, 2), ABT_ERR_EVENTUAL);
    EXPECT_EQ(ABT_eventual_test(eventual, &value, &ready), ABT_SUCCESS);
    EXPECT_EQ(ready, ABT_TRUE);
    EXPECT_EQ(std::memcmp(value, "12", 2), 0);
    ABT_eventual_free(&eventual);
}

TEST_F(Eventual, WithoutAValueItIsNull) {
    ABT_eventual eventual = make(0);
    int some = 0;
    void* value = &some;
    EXPECT_EQ(ABT_eventual_set(eventual, nullptr, 0), ABT_SUCCESS);
    EXPECT_EQ(ABT_eventual_set(eventual, nullptr, 0), ABT_ERR_EVENTUAL);
    EXPECT_EQ(ABT_eventual_wait(eventual, &value), ABT_SUCCESS);
    EXPECT_EQ(value, nullptr);
    ABT_eventual_free(&eventual);
}

TEST_F(Eventual, IsSetAgainAfterAReset) {
    for (const int bytes : {0, int{sizeof(int)}}) {
        ABT_eventual eventual = make(bytes);
        EXPECT_EQ(ABT_eventual_reset(eventual), ABT_SUCCESS);   // it was not set
        for (int i = 0; i < 3; ++i) {
            ABT_bool ready = -1;
            EXPECT_EQ(ABT_eventual_set(eventual, &i, bytes), ABT_SUCCESS);
            void* value = nullptr;
            EXPECT_EQ(ABT_eventual_wait(eventual, &value), ABT_SUCCESS);
            if (bytes != 0) {
                EXPECT_EQ(*static_cast<int*>(value), i);
            }
            EXPECT_EQ(ABT_eventual_reset(eventual), ABT_SUCCESS);
            EXPECT_EQ(ABT_eventual_test(eventual, &value, &ready), ABT_SUCCESS);
            EXPECT_EQ(ready, ABT_FALSE);
        }
        ABT_eventual_free(&eventual);
    }
}

TEST_F(Eventual, ATaskletSetsAndTestsButCannotWait) {
    ABT_eventual eventual = make(sizeof(int));
    const timespec later = from_now(60);
    void* value = nullptr;
    for (int i = 0; i < 2; ++i) {   // not even for a set eventual
        EXPECT_EQ(in_tasklet([&] { return ABT_eventual_wait(eventual, &value); }), ABT_ERR_EVENTUAL);
        EXPECT_EQ(in_tasklet([&] { return ABT_eventual_timedwait(eventual, &value, &later); }), ABT_ERR_EVENTUAL);
        int number = 5;
        EXPECT_EQ(in_tasklet([&] { return ABT_eventual_set(eventual, &number, sizeof number); }),
                  i == 0 ? ABT_SUCCESS : ABT_ERR_EVENTUAL);
    }
    ABT_bool ready = ABT_FALSE;
    EXPECT_EQ(in_tasklet([&] { return ABT_eventual_test(eventual, &value, &ready); }), ABT_SUCCESS);
    EXPECT_EQ(ready, ABT_TRUE);
    EXPECT_EQ(*static_cast<int*>(value), 5);
    ABT_eventual_free(&eventual);
}

TEST_F(Eventual, OneThatIsSetDoesNotSwitch) {
    ABT_eventual eventual = make(sizeof(int));
    const timespec past = from_now(-1);
    int number = 5;
    expect_no_switch([&] {
        EXPECT_EQ(ABT_eventual_set(eventual, &number, sizeof number), ABT_SUCCESS);
        EXPECT_EQ(ABT_eventual_wait(eventual, nullptr), ABT_SUCCESS);
        EXPECT_EQ(ABT_eventual_timedwait(eventual, nullptr, &past), ABT_SUCCESS);
        EXPECT_EQ(ABT_eventual_reset(eventual), ABT_SUCCESS);
    });
    ABT_eventual_free(&eventual);
}

TEST_F(Eventual, ATimedWaitEndsInTime) {
    ABT_eventual eventual = make(sizeof(int));
    int some = 0;
    for (const bool inside : {true, false}) {
        const auto wait = [&] {
            void* value = &some;
            const double begin = ABT_get_wtime(), used = abt_test::cpu_time();
            const timespec until = from_now(0.05);
            EXPECT_EQ(ABT_eventual_timedwait(eventual, &value, &until), ABT_ERR_COND_TIMEDOUT);
            EXPECT_EQ(value, &some);
            EXPECT_GE(ABT_get_wtime() - begin, 0.049);
            if (!elsewhere()) {   // Argobots polls here
                EXPECT_LT(abt_test::cpu_time() - used, 0.045);
            }
        };
        if (inside) {
            Units units;
            units.ult(own_pool(), wait);
        } else {
            std::thread(wait).join();
        }
    }
    Units units;
    units.ult(own_pool(), [&] {
        void* value = nullptr;
        const timespec until = from_now(60);
        EXPECT_EQ(ABT_eventual_timedwait(eventual, &value, &until), ABT_SUCCESS);
        EXPECT_EQ(*static_cast<int*>(value), 9);
    });
    ABT_thread_yield();
    int number = 9;
    ABT_eventual_set(eventual, &number, sizeof number);
    units.join();
    ABT_eventual_free(&eventual);
}

TEST_F(Eventual, OfManySettersOneSucceeds) {
    Streams streams(3);
    for (int round = 0; round < 50; ++round) {
        ABT_eventual eventual = make(sizeof(std::size_t) * 8);
        std::atomic<int> succeeded{0}, failed{0};
        Units units;
        for (std::size_t i = 0; i < 6; ++i) {
            units.ult(streams.pool(i), [&, i] {
                std::size_t values[8];
                for (std::size_t& value : values) value = i;
                const int result = ABT_eventual_set(eventual, values, sizeof values);
                ++(result == ABT_SUCCESS ? succeeded : failed);
                if (result != ABT_SUCCESS) {
                    EXPECT_EQ(result, ABT_ERR_EVENTUAL);
                }
            });
            units.ult(streams.pool(i + 1), [&] {
                void* value = nullptr;
                EXPECT_EQ(ABT_eventual_wait(eventual, &value), ABT_SUCCESS);
                const auto* values = static_cast<const std::size_t*>(value);
                for (int j = 1; j < 8; ++j) EXPECT_EQ(values[j], values[0]);
            });
        }
        units.join();
        EXPECT_EQ(succeeded, 1);
        EXPECT_EQ(failed, 5);
        ABT_eventual_free(&eventual);
    }
}

// The waiter frees the eventual at once, also from an external thread.
TEST_F(Eventual, MayBeFreedByWhoWaits) {
    Streams streams(2);
    for (int round = 0; round < 200; ++round) {
        ABT_eventual eventual = make(sizeof(int));
        const ABT_eventual set = eventual;
        Units units;
        units.ult(streams.pool(0), [&] {
            ABT_eventual_wait(eventual, nullptr);
            ABT_eventual_free(&eventual);
        });
        int number = round;
        EXPECT_EQ(ABT_eventual_set(set, &number, sizeof number), ABT_SUCCESS);
    }
}

TEST_F(Eventual, InStaticMemory) {
    alignas(16) unsigned char memory[16 + sizeof(ABT_eventual_memory) + 16];
    const ABT_eventual_memory original = ABT_EVENTUAL_INITIALIZER;
    for (std::size_t at = 4; at <= 16; at += 4) {
        std::memset(memory, 0xee, sizeof memory);
        std::memcpy(memory + at, &original, sizeof original);
        const ABT_eventual eventual =
            ABT_EVENTUAL_MEMORY_GET_HANDLE(reinterpret_cast<ABT_eventual_memory*>(memory + at));
        int some = 0;
        void* value = &some;
        std::thread external([&] { EXPECT_EQ(ABT_eventual_set(eventual, nullptr, 0), ABT_SUCCESS); });
        EXPECT_EQ(ABT_eventual_wait(eventual, &value), ABT_SUCCESS);
        external.join();
        EXPECT_EQ(value, nullptr);
        EXPECT_EQ(ABT_eventual_set(eventual, &some, sizeof some), ABT_ERR_INV_EVENTUAL);   // it holds nothing
        EXPECT_EQ(ABT_eventual_set(eventual, nullptr, 0), ABT_ERR_EVENTUAL);
        EXPECT_EQ(ABT_eventual_reset(eventual), ABT_SUCCESS);
        EXPECT_EQ(ABT_eventual_set(eventual, nullptr, 0), ABT_SUCCESS);
        for (std::size_t i = 0; i < sizeof memory; ++i) {
            if (i < at || i >= at + sizeof original) {
                EXPECT_EQ(memory[i], 0xee) << at << " " << i;
            }
        }
    }
}

}   // namespace
