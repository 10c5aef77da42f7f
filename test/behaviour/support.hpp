// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What behavioural tests share: a runtime that ends with the test, and shorthands over the C
// interface.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "test/behaviour/value_of.hpp"
#include "weft/weft.h"

namespace weft_test {

inline weft_settings with_streams(std::size_t streams) {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = streams;
    return settings;
}

// The runtime, for the duration of a test; units that are left behind fail the test.
class Runtime {
public:
    explicit Runtime(std::size_t streams = 1) : Runtime(with_streams(streams)) {}
    explicit Runtime(const weft_settings& settings) { EXPECT_EQ(weft_init(&settings), WEFT_OK) << weft_error_text(); }
    ~Runtime() { EXPECT_EQ(weft_finalize(), expected) << weft_error_text(); }
    Runtime(const Runtime&) = delete;

    weft_status expected = WEFT_OK;   // of the finalize
};

// Joins a unit, and returns how it has ended.
inline weft_unit_outcome outcome_of(weft_unit* unit) {
    const weft_status status = weft_unit_join(unit);
    EXPECT_TRUE(weft_unit_joined(status)) << weft_error_text();
    weft_unit_outcome outcome{};
    EXPECT_EQ(weft_unit_outcome_get(unit, &outcome), WEFT_OK) << weft_error_text();
    EXPECT_EQ(outcome == WEFT_OUTCOME_RETURNED, status == WEFT_OK);
    return outcome;
}

// Joins a unit, frees it however it has ended, and returns how that was.
inline weft_unit_outcome end_of(weft_unit* unit) {
    const weft_status status = weft_unit_join_free(unit);
    if (status == WEFT_OK) return WEFT_OUTCOME_RETURNED;
    EXPECT_EQ(status, WEFT_NOT_RETURNED) << weft_error_text();
    const weft_unit_outcome outcome = outcome_of(unit);
    EXPECT_NE(outcome, WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(weft_unit_free(unit), WEFT_OK) << weft_error_text();
    return outcome;
}

// weft_unit_hand_off as a function of the unit alone.
template <weft_hand_off_to to, weft_hand_off_by by>
weft_status hand_off(weft_unit* unit) {
    return weft_unit_hand_off(unit, to, by);
}

// A unit whose body is a lambda; joined and freed at the end.
class Ult {
public:
    template <class Body>
    explicit Ult(Body body, const weft_unit_options* options = nullptr, weft_pool* pool = nullptr)
        : body_(std::move(body)) {
        EXPECT_EQ(weft_ult_spawn(
                      pool, [](void* self) { static_cast<Ult*>(self)->body_(); }, this, options, &unit_),
                  WEFT_OK)
            << weft_error_text();
    }
    ~Ult() {
        if (unit_ != nullptr) end();
    }
    Ult(const Ult&) = delete;

    weft_status join() { return weft_unit_join(unit_); }
    weft_status free() { return weft_unit_join_free(std::exchange(unit_, nullptr)); }
    weft_unit_outcome outcome() { return outcome_of(unit_); }
    weft_unit_outcome end() { return end_of(std::exchange(unit_, nullptr)); }
    weft_unit* handle() const { return unit_; }
    void forget() { unit_ = nullptr; }   // another caller has freed it
    weft_unit_state state() const {
        weft_unit_state now;
        EXPECT_EQ(weft_unit_state_get(unit_, &now), WEFT_OK);
        return now;
    }

private:
    std::function<void()> body_;
    weft_unit* unit_ = nullptr;
};

inline weft_unit_options options() {
    weft_unit_options made{};
    made.size = sizeof made;
    return made;
}

inline std::uint64_t counter(const char* name) {
    std::uint64_t value = 0;
    EXPECT_EQ(weft_counter_read(name, &value), WEFT_OK) << weft_error_text();
    return value;
}

// How often a text contains a part.
inline std::size_t times(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

// The number of live units, the primary unit among them.
inline std::size_t units_alive() {
    std::size_t alive = 0;
    weft_unit_each([](const weft_unit_info*, void* count) { ++*static_cast<std::size_t*>(count); }, &alive);
    return alive;
}

// The main pool of the stream with that rank.
inline weft_pool* pool_of(std::size_t rank) {
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_stream_pool_get(weft_stream_at(rank), &pool), WEFT_OK);
    return pool;
}

}   // namespace weft_test
