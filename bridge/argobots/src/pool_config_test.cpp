// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

namespace {

class PoolConfig : public abt_test::Argobots {};

TEST_F(PoolConfig, ValuesOfAllTypes) {
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    ASSERT_EQ(ABT_pool_config_create(&config), ABT_SUCCESS);
    const int number = 3;
    const double real = 0.25;
    void* const pointer = &config;
    EXPECT_EQ(ABT_pool_config_set(config, 0, ABT_POOL_CONFIG_INT, &number), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_config_set(config, 1, ABT_POOL_CONFIG_DOUBLE, &real), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_config_set(config, 2, ABT_POOL_CONFIG_PTR, &pointer), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_pool_config_automatic.type, &number),
              ABT_SUCCESS);
    ABT_pool_config_type type{};
    int n = 0, automatic = 0;
    double r = 0;
    void* p = nullptr;
    EXPECT_EQ(ABT_pool_config_get(config, 0, &type, &n), ABT_SUCCESS);
    EXPECT_EQ(type, ABT_POOL_CONFIG_INT);
    EXPECT_EQ(n, number);
    EXPECT_EQ(ABT_pool_config_get(config, 1, &type, &r), ABT_SUCCESS);
    EXPECT_EQ(type, ABT_POOL_CONFIG_DOUBLE);
    EXPECT_EQ(r, real);
    EXPECT_EQ(ABT_pool_config_get(config, 2, &type, &p), ABT_SUCCESS);
    EXPECT_EQ(type, ABT_POOL_CONFIG_PTR);
    EXPECT_EQ(p, pointer);
    EXPECT_EQ(ABT_pool_config_get(config, ABT_pool_config_automatic.key, nullptr, &automatic), ABT_SUCCESS);
    EXPECT_EQ(automatic, number);
    EXPECT_EQ(ABT_pool_config_free(&config), ABT_SUCCESS);
    EXPECT_EQ(config, ABT_POOL_CONFIG_NULL);
}

TEST_F(PoolConfig, NullTakesAValueAway) {
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    ASSERT_EQ(ABT_pool_config_create(&config), ABT_SUCCESS);
    const int number = 3;
    EXPECT_EQ(ABT_pool_config_set(config, 5, ABT_POOL_CONFIG_INT, &number), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_config_set(config, 6, ABT_POOL_CONFIG_INT, &number), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_config_set(config, 5, ABT_POOL_CONFIG_INT, nullptr), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_config_set(config, 5, ABT_POOL_CONFIG_INT, nullptr), ABT_SUCCESS);
    int value = -1;
    ABT_pool_config_type type = ABT_POOL_CONFIG_PTR;
    EXPECT_EQ(ABT_pool_config_get(config, 5, &type, &value), ABT_ERR_INV_ARG);
    EXPECT_EQ(value, -1);
    EXPECT_EQ(type, ABT_POOL_CONFIG_PTR);
    EXPECT_EQ(ABT_pool_config_get(config, 6, &type, &value), ABT_SUCCESS);
    EXPECT_EQ(value, number);
    ABT_pool_config_free(&config);
}

TEST_F(PoolConfig, Errors) {
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    int value = 5;
    EXPECT_EQ(ABT_pool_config_free(&config), ABT_ERR_INV_POOL_CONFIG);
    EXPECT_EQ(ABT_pool_config_set(config, 0, ABT_POOL_CONFIG_INT, &value), ABT_ERR_INV_POOL_CONFIG);
    EXPECT_EQ(ABT_pool_config_get(config, 0, nullptr, &value), ABT_ERR_INV_POOL_CONFIG);
    ASSERT_EQ(ABT_pool_config_create(&config), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_config_set(config, 0, static_cast<ABT_pool_config_type>(3), &value), ABT_ERR_INV_ARG);
    EXPECT_EQ(ABT_pool_config_get(config, 0, nullptr, &value), ABT_ERR_INV_ARG);
    EXPECT_EQ(value, 5);
    ABT_pool_config_free(&config);
}

}   // namespace
