// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For objects that consist of memory only, refuses in turn each allocation that a call makes. The
// call must report the refusal, change nothing, succeed when repeated, and leak nothing.
#include "faults.hpp"

using namespace faults;

namespace {

class Faults : public abt_test::Argobots {
    void SetUp() override {
        if (abt_test::elsewhere())
            GTEST_SKIP() << "memory is taken there by other calls than those that are refused here";
        Argobots::SetUp();
    }
    void TearDown() override {
        if (!abt_test::elsewhere()) Argobots::TearDown();
    }
};

TEST_F(Faults, Mutexes) {
    each_is_refused(ABT_MUTEX_NULL, OnError::none, ABT_mutex_create, ABT_mutex_free);
    each_is_refused(ABT_MUTEX_ATTR_NULL, OnError::as_before, ABT_mutex_attr_create, ABT_mutex_attr_free);
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    ABT_mutex_attr_create(&attr);
    each_is_refused(
        ABT_MUTEX_NULL, OnError::none, [&](ABT_mutex* mutex) { return ABT_mutex_create_with_attr(attr, mutex); },
        ABT_mutex_free);
    ABT_mutex_attr_free(&attr);
    ABT_mutex mutex = ABT_MUTEX_NULL;
    ABT_mutex_create(&mutex);
    each_is_refused(
        ABT_MUTEX_ATTR_NULL, OnError::as_before, [&](ABT_mutex_attr* of) { return ABT_mutex_get_attr(mutex, of); },
        ABT_mutex_attr_free);
    ABT_mutex_free(&mutex);
}

TEST_F(Faults, ConditionsAndLocks) {
    each_is_refused(ABT_COND_NULL, OnError::none, ABT_cond_create, ABT_cond_free);
    each_is_refused(ABT_RWLOCK_NULL, OnError::none, ABT_rwlock_create, ABT_rwlock_free);
}

TEST_F(Faults, EventualsAndFutures) {
    for (const int bytes : {0, 100}) {
        each_is_refused(
            ABT_EVENTUAL_NULL, OnError::as_before,
            [&](ABT_eventual* eventual) { return ABT_eventual_create(bytes, eventual); }, ABT_eventual_free);
    }
    for (const uint32_t compartments : {0u, 3u}) {
        each_is_refused(
            ABT_FUTURE_NULL, OnError::as_before,
            [&](ABT_future* future) { return ABT_future_create(compartments, nullptr, future); }, ABT_future_free);
    }
}

TEST_F(Faults, Barriers) {
    each_is_refused(
        ABT_BARRIER_NULL, OnError::none, [](ABT_barrier* barrier) { return ABT_barrier_create(3, barrier); },
        ABT_barrier_free);
    each_is_refused(
        ABT_XSTREAM_BARRIER_NULL, OnError::none,
        [](ABT_xstream_barrier* barrier) { return ABT_xstream_barrier_create(3, barrier); }, ABT_xstream_barrier_free);
}

TEST_F(Faults, Timers) {
    each_is_refused(ABT_TIMER_NULL, OnError::none, ABT_timer_create, ABT_timer_free);
    ABT_timer timer = ABT_TIMER_NULL;
    ABT_timer_create(&timer);
    each_is_refused(
        ABT_TIMER_NULL, OnError::none, [&](ABT_timer* copy) { return ABT_timer_dup(timer, copy); }, ABT_timer_free);
    ABT_timer_free(&timer);
}

TEST_F(Faults, Configurations) {
    each_is_refused(ABT_POOL_CONFIG_NULL, OnError::as_before, ABT_pool_config_create, ABT_pool_config_free);
    const ABT_sched_config_var first{0, ABT_SCHED_CONFIG_INT}, second{1, ABT_SCHED_CONFIG_DOUBLE};
    each_is_refused(
        ABT_SCHED_CONFIG_NULL, OnError::as_before,
        [&](ABT_sched_config* config) {
            return ABT_sched_config_create(config, first, 1, second, 2.0, ABT_sched_config_var_end);
        },
        ABT_sched_config_free);
}

// A value for which there is no memory leaves the other values unchanged.
TEST_F(Faults, ValuesOfConfigurations) {
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    ASSERT_EQ(ABT_pool_config_create(&config), ABT_SUCCESS);
    int failures = 0;
    for (int key = 0; key < 40; ++key) {
        faults::until_refused = 0;
        int result = ABT_pool_config_set(config, key, ABT_POOL_CONFIG_INT, &key);
        faults::until_refused = -1;
        if (result != ABT_SUCCESS) {
            ++failures;
            EXPECT_EQ(result, ABT_ERR_MEM);
            int value = -1;
            EXPECT_EQ(ABT_pool_config_get(config, key, nullptr, &value), ABT_ERR_INV_ARG);
            result = ABT_pool_config_set(config, key, ABT_POOL_CONFIG_INT, &key);
        }
        EXPECT_EQ(result, ABT_SUCCESS);
        for (int each = 0; each <= key; ++each) {
            int value = -1;
            EXPECT_EQ(ABT_pool_config_get(config, each, nullptr, &value), ABT_SUCCESS);
            EXPECT_EQ(value, each);
        }
    }
    EXPECT_GT(failures, 0);
    ABT_pool_config_free(&config);
}

}   // namespace
