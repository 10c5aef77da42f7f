// Typed values under numbers: what schedulers and pools are configured with.
#pragma once

#include <cstddef>
#include <optional>

#include "common.hpp"

namespace weft::argobots {

// The numbers of ABT_sched_config_type, and of ABT_pool_config_type.
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
        void to(void* place) const;   // nowhere, if that is null
    };

    Config() = default;
    Config(const Config&) = delete;
    ~Config();

    const Value* find(int key) const;
    std::optional<int> integer(int key) const;   // nothing, too, if it is of another type

    bool set(const Value& value);   // false: no memory; nothing has changed
    void erase(int key);

private:
    Value* place_of(int key);

    // Few: to look through all is quick, and there is one block to allocate.
    Value* values_ = nullptr;
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

inline Config* to_config(ABT_sched_config config) { return reinterpret_cast<Config*>(config); }
inline Config* to_config(ABT_pool_config config) { return reinterpret_cast<Config*>(config); }

// ABT_sched_config_set and _get, and those of pools.
int set_value(Config& config, int key, int type, const void* place);
template <class Type>
int get_value(const Config& config, int key, Type* type, void* place) {
    const Config::Value* value = config.find(key);
    if (value == nullptr) return ABT_ERR_INV_ARG;
    if (type != nullptr) *type = static_cast<Type>(value->type);
    value->to(place);
    return ABT_SUCCESS;
}

// The value of a configuration that may be none.
template <class Handle>
std::optional<int> configured(Handle config, int key) {
    return is_null(config) ? std::nullopt : to_config(config)->integer(key);
}

}   // namespace weft::argobots
