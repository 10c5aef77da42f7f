// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

namespace {

class SchedConfig : public abt_test::Argobots {};

TEST_F(SchedConfig, WhatItIsCreatedWithCanBeRead) {
    const ABT_sched_config_var number{0, ABT_SCHED_CONFIG_INT}, ratio{1, ABT_SCHED_CONFIG_DOUBLE},
        place{3, ABT_SCHED_CONFIG_PTR};
    int target = 0;
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    ASSERT_EQ(ABT_sched_config_create(&config, number, 42, ratio, 1.5, ABT_sched_basic_freq, 16, place,
                                      static_cast<void*>(&target), ABT_sched_config_var_end),
              ABT_SUCCESS);
    int n = 0, unset = 77;
    double r = 0;
    void* p = nullptr;
    EXPECT_EQ(ABT_sched_config_read(config, 4, &n, &r, &unset, &p), ABT_SUCCESS);
    EXPECT_EQ(n, 42);
    EXPECT_EQ(r, 1.5);
    EXPECT_EQ(unset, 77);
    EXPECT_EQ(p, &target);
    ABT_sched_config_type type = ABT_SCHED_CONFIG_PTR;
    int frequency = 0;
    EXPECT_EQ(ABT_sched_config_get(config, ABT_sched_basic_freq.idx, &type, &frequency), ABT_SUCCESS);
    EXPECT_EQ(type, ABT_SCHED_CONFIG_INT);
    EXPECT_EQ(frequency, 16);
    EXPECT_EQ(ABT_sched_config_free(&config), ABT_SUCCESS);
    EXPECT_EQ(config, ABT_SCHED_CONFIG_NULL);
}

TEST_F(SchedConfig, ReadingSkipsNullAndReadsNoMoreThanItIsAsked) {
    const ABT_sched_config_var first{0, ABT_SCHED_CONFIG_INT}, second{1, ABT_SCHED_CONFIG_INT},
        third{2, ABT_SCHED_CONFIG_INT};
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    ASSERT_EQ(ABT_sched_config_create(&config, first, 1, second, 2, third, 3, ABT_sched_config_var_end), ABT_SUCCESS);
    int b = 0, c = 0;
    EXPECT_EQ(ABT_sched_config_read(config, 2, static_cast<void*>(nullptr), &b, &c), ABT_SUCCESS);
    EXPECT_EQ(b, 2);
    EXPECT_EQ(c, 0);
    EXPECT_EQ(ABT_sched_config_read(config, 0), ABT_SUCCESS);
    ABT_sched_config_free(&config);
}

TEST_F(SchedConfig, TheSameTwiceIsTheLatter) {
    const ABT_sched_config_var first{0, ABT_SCHED_CONFIG_INT};
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    ASSERT_EQ(ABT_sched_config_create(&config, first, 1, first, 2, ABT_sched_config_var_end), ABT_SUCCESS);
    int value = 0;
    EXPECT_EQ(ABT_sched_config_get(config, 0, nullptr, &value), ABT_SUCCESS);
    EXPECT_EQ(value, 2);
    ABT_sched_config_free(&config);
}

TEST_F(SchedConfig, ATypeThatIsNone) {
    const ABT_sched_config_var wrong{0, static_cast<ABT_sched_config_type>(3)};
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    const ABT_sched_config_var first{0, ABT_SCHED_CONFIG_INT};
    EXPECT_EQ(ABT_sched_config_create(&config, first, 1, wrong, 2, ABT_sched_config_var_end), ABT_ERR_INV_ARG);
    EXPECT_EQ(config, ABT_SCHED_CONFIG_NULL);
    ASSERT_EQ(ABT_sched_config_create(&config, ABT_sched_config_var_end), ABT_SUCCESS);
    const int value = 1;
    EXPECT_EQ(ABT_sched_config_set(config, 0, wrong.type, &value), ABT_ERR_INV_ARG);
    EXPECT_EQ(ABT_sched_config_get(config, 0, nullptr, nullptr), ABT_ERR_INV_ARG);
    ABT_sched_config_free(&config);
}

TEST_F(SchedConfig, ValuesAreSetReplacedAndTakenAway) {
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    ASSERT_EQ(ABT_sched_config_create(&config, ABT_sched_config_var_end), ABT_SUCCESS);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(ABT_sched_config_set(config, i, ABT_SCHED_CONFIG_INT, &i), ABT_SUCCESS);
    const double real = 2.5;
    EXPECT_EQ(ABT_sched_config_set(config, 7, ABT_SCHED_CONFIG_DOUBLE, &real), ABT_SUCCESS);
    EXPECT_EQ(ABT_sched_config_set(config, 9, ABT_SCHED_CONFIG_INT, nullptr), ABT_SUCCESS);
    EXPECT_EQ(ABT_sched_config_set(config, 100, ABT_SCHED_CONFIG_INT, nullptr), ABT_SUCCESS);   // there was no value
    for (int i = 0; i < 20; ++i) {
        ABT_sched_config_type type = ABT_SCHED_CONFIG_PTR;
        double value = -1;
        const int result = ABT_sched_config_get(config, i, &type, &value);
        if (i == 9) {
            EXPECT_EQ(result, ABT_ERR_INV_ARG);
            EXPECT_EQ(type, ABT_SCHED_CONFIG_PTR);
            EXPECT_EQ(value, -1);
        } else if (i == 7) {
            EXPECT_EQ(result, ABT_SUCCESS);
            EXPECT_EQ(type, ABT_SCHED_CONFIG_DOUBLE);
            EXPECT_EQ(value, 2.5);
        } else {
            int number = -1;
            EXPECT_EQ(ABT_sched_config_get(config, i, &type, &number), ABT_SUCCESS);
            EXPECT_EQ(type, ABT_SCHED_CONFIG_INT);
            EXPECT_EQ(number, i);
        }
    }
    EXPECT_EQ(ABT_sched_config_get(config, 3, nullptr, nullptr), ABT_SUCCESS);
    ABT_sched_config_free(&config);
}

TEST_F(SchedConfig, NoConfigurationIsAnError) {
    ABT_sched_config none = ABT_SCHED_CONFIG_NULL;
    int value = 5;
    EXPECT_EQ(ABT_sched_config_free(&none), ABT_ERR_INV_SCHED_CONFIG);
    EXPECT_EQ(ABT_sched_config_read(none, 1, &value), ABT_ERR_INV_SCHED_CONFIG);
    EXPECT_EQ(ABT_sched_config_set(none, 0, ABT_SCHED_CONFIG_INT, &value), ABT_ERR_INV_SCHED_CONFIG);
    EXPECT_EQ(ABT_sched_config_get(none, 0, nullptr, &value), ABT_ERR_INV_SCHED_CONFIG);
    EXPECT_EQ(value, 5);
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    ASSERT_EQ(ABT_sched_config_create(&config, ABT_sched_config_var_end), ABT_SUCCESS);
    if (!abt_test::elsewhere()) {   // Argobots does not check it
        EXPECT_EQ(ABT_sched_config_read(config, -1), ABT_ERR_INV_ARG);
    }
    ABT_sched_config_free(&config);
}

}   // namespace
