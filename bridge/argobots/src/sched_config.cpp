// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configurations of schedulers.
#include <cstdarg>
#include <new>

#include "config.hpp"

using namespace weft::argobots;

namespace {

// The value that follows a variable in the arguments of ABT_sched_config_create.
Config::Value next_value(int key, ValueType type, va_list& arguments) {
    Config::Value value{};
    value.key = key;
    value.type = type;
    switch (type) {
    case ValueType::integer: value.integer = va_arg(arguments, int); break;
    case ValueType::real: value.real = va_arg(arguments, double); break;
    case ValueType::pointer: value.pointer = va_arg(arguments, void*); break;
    }
    return value;
}

int read_all(Config& config, va_list& arguments) {
    for (;;) {
        const auto variable = va_arg(arguments, ABT_sched_config_var);
        if (variable.idx == ABT_sched_config_var_end.idx) return ABT_SUCCESS;
        const auto type = to_value_type(variable.type);
        if (!type) return ABT_ERR_INV_ARG;
        if (!config.set(next_value(variable.idx, *type, arguments))) return ABT_ERR_MEM;
    }
}

}   // namespace

extern "C" {

ABT_sched_config_var ABT_sched_config_var_end = {-1, ABT_SCHED_CONFIG_INT};
ABT_sched_config_var ABT_sched_config_access = {-2, ABT_SCHED_CONFIG_INT};
ABT_sched_config_var ABT_sched_config_automatic = {-3, ABT_SCHED_CONFIG_INT};
ABT_sched_config_var ABT_sched_basic_freq = {-4, ABT_SCHED_CONFIG_INT};

int ABT_sched_config_create(ABT_sched_config* config, ...) {
    auto* created = new (std::nothrow) Config;
    if (created == nullptr) return ABT_ERR_MEM;
    va_list arguments;
    va_start(arguments, config);
    const int error = read_all(*created, arguments);
    va_end(arguments);
    if (error != ABT_SUCCESS) {
        delete created;
        return error;
    }
    *config = reinterpret_cast<ABT_sched_config>(created);
    return ABT_SUCCESS;
}

int ABT_sched_config_read(ABT_sched_config config, int num_vars, ...) {
    if (num_vars < 0) return ABT_ERR_INV_ARG;
    if (is_null(config)) return ABT_ERR_INV_SCHED_CONFIG;
    va_list arguments;
    va_start(arguments, num_vars);
    for (int key = 0; key < num_vars; ++key) {
        void* place = va_arg(arguments, void*);
        if (const Config::Value* value = to_config(config)->find(key)) value->to(place);
    }
    va_end(arguments);
    return ABT_SUCCESS;
}

int ABT_sched_config_free(ABT_sched_config* config) {
    if (is_null_at(config)) return ABT_ERR_INV_SCHED_CONFIG;
    delete to_config(*config);
    *config = ABT_SCHED_CONFIG_NULL;
    return ABT_SUCCESS;
}

int ABT_sched_config_set(ABT_sched_config config, int idx, ABT_sched_config_type type, const void* val) {
    if (is_null(config)) return ABT_ERR_INV_SCHED_CONFIG;
    return set_value(*to_config(config), idx, type, val);
}

int ABT_sched_config_get(ABT_sched_config config, int idx, ABT_sched_config_type* p_type, void* val) {
    if (is_null(config)) return ABT_ERR_INV_SCHED_CONFIG;
    return get_value(*to_config(config), idx, p_type, val);
}

}   // extern "C"
