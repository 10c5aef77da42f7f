// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Typed values under numeric keys: the configurations of schedulers and pools.
#pragma once

#include <cstddef>
#include <optional>

#include "common.hpp"

namespace weft::argobots {

// The numbers equal those of ABT_sched_config_type and ABT_pool_config_type.
enum class ValueType : int { integer, real, pointer };
static_assert(int{ABT_SCHED_CONFIG_INT} == 0 && int{ABT_SCHED_CONFIG_DOUBLE} == 1 && int{ABT_SCHED_CONFIG_PTR} == 2);
static_assert(int{ABT_POOL_CONFIG_INT} == 0 && int{ABT_POOL_CONFIG_DOUBLE} == 1 && int{ABT_POOL_CONFIG_PTR} == 2);

inline std::optional<ValueType> to_value_type(int type) {
    if (type < 0 || type > static_cast<int>(ValueType::pointer)) return std::nullopt;
    return static_cast<ValueType>(type);
}

class Config {
public:
    struct Value {
        int key;
        ValueType type;
        union {
            int integer;
            double real;
            void* pointer;
        };

        static Value from(int key, ValueType type, const void* place);
        void to(void* place) const;   // does nothing if `place` is null
    };

    Config() = default;
    Config(const Config&) = delete;
    ~Config();

    const Value* find(int key) const;
    std::optional<int> integer(int key) const;   // nullopt also if the value has another type

    bool set(const Value& value);   // false: no memory, and nothing has changed
    void erase(int key);

private:
    Value* place_of(int key);

    // There are few values: a linear search is fast, and there is one block to allocate.
    Value* values_ = nullptr;
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

inline Config* to_config(ABT_sched_config config) { return reinterpret_cast<Config*>(config); }
inline Config* to_config(ABT_pool_config config) { return reinterpret_cast<Config*>(config); }

// Implement ABT_sched_config_set, ABT_pool_config_set and the matching _get calls.
int set_value(Config& config, int key, int type, const void* place);
template <class Type>
int get_value(const Config& config, int key, Type* type, void* place) {
    const Config::Value* value = config.find(key);
    if (value == nullptr) return ABT_ERR_INV_ARG;
    if (type != nullptr) *type = static_cast<Type>(value->type);
    value->to(place);
    return ABT_SUCCESS;
}

// A value of a configuration; the handle may be NULL.
template <class Handle>
std::optional<int> configured(Handle config, int key) {
    return is_null(config) ? std::nullopt : to_config(config)->integer(key);
}

}   // namespace weft::argobots
