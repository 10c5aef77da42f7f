// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdlib>
#include <cstring>

namespace weft::argobots {

Config::Value Config::Value::from(int key, ValueType type, const void* place) {
    Value value{};
    value.key = key;
    value.type = type;
    switch (type) {
    case ValueType::integer: std::memcpy(&value.integer, place, sizeof value.integer); break;
    case ValueType::real: std::memcpy(&value.real, place, sizeof value.real); break;
    case ValueType::pointer: std::memcpy(&value.pointer, place, sizeof value.pointer); break;
    }
    return value;
}

void Config::Value::to(void* place) const {
    if (place == nullptr) return;
    switch (type) {
    case ValueType::integer: std::memcpy(place, &integer, sizeof integer); break;
    case ValueType::real: std::memcpy(place, &real, sizeof real); break;
    case ValueType::pointer: std::memcpy(place, &pointer, sizeof pointer); break;
    }
}

Config::~Config() { std::free(values_); }

Config::Value* Config::place_of(int key) {
    for (std::size_t i = 0; i < count_; ++i) {
        if (values_[i].key == key) return &values_[i];
    }
    return nullptr;
}

const Config::Value* Config::find(int key) const { return const_cast<Config*>(this)->place_of(key); }

std::optional<int> Config::integer(int key) const {
    const Value* value = find(key);
    if (value == nullptr || value->type != ValueType::integer) return std::nullopt;
    return value->integer;
}

bool Config::set(const Value& value) {
    if (Value* place = place_of(value.key)) {
        *place = value;
        return true;
    }
    if (count_ == room_) {
        const std::size_t room = room_ == 0 ? 4 : 2 * room_;
        void* larger = std::realloc(values_, room * sizeof(Value));
        if (larger == nullptr) return false;
        values_ = static_cast<Value*>(larger);
        room_ = room;
    }
    values_[count_++] = value;
    return true;
}

void Config::erase(int key) {
    if (Value* place = place_of(key)) *place = values_[--count_];
}

int set_value(Config& config, int key, int type, const void* place) {
    if (place == nullptr) {
        config.erase(key);
        return ABT_SUCCESS;
    }
    const auto known = to_value_type(type);
    if (!known) return ABT_ERR_INV_ARG;
    return config.set(Config::Value::from(key, *known, place)) ? ABT_SUCCESS : ABT_ERR_MEM;
}

}   // namespace weft::argobots
