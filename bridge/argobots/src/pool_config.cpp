// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configurations of pools.
#include <new>

#include "config.hpp"

using namespace weft::argobots;

extern "C" {

// A C++ constant has internal linkage unless it was declared otherwise; abt.h declares it.
const ABT_pool_config_var ABT_pool_config_automatic = {-2, ABT_POOL_CONFIG_INT};

int ABT_pool_config_create(ABT_pool_config* config) {
    auto* created = new (std::nothrow) Config;
    if (created == nullptr) return ABT_ERR_MEM;
    *config = reinterpret_cast<ABT_pool_config>(created);
    return ABT_SUCCESS;
}

int ABT_pool_config_free(ABT_pool_config* config) {
    if (is_null_at(config)) return ABT_ERR_INV_POOL_CONFIG;
    delete to_config(*config);
    *config = ABT_POOL_CONFIG_NULL;
    return ABT_SUCCESS;
}

int ABT_pool_config_set(ABT_pool_config config, int key, ABT_pool_config_type type, const void* val) {
    if (is_null(config)) return ABT_ERR_INV_POOL_CONFIG;
    return set_value(*to_config(config), key, type, val);
}

int ABT_pool_config_get(ABT_pool_config config, int key, ABT_pool_config_type* p_type, void* val) {
    if (is_null(config)) return ABT_ERR_INV_POOL_CONFIG;
    return get_value(*to_config(config), key, p_type, val);
}

}   // extern "C"
