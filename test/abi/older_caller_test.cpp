// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An older caller on a newer library: structures begin with their size, so the library understands
// a caller that was compiled when they were shorter, and neither reads nor writes behind the end of
// the part that the caller knows.
#include <weft/weft.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "test/behaviour/value_of.hpp"

namespace {

// A structure as an older header declared it: the fields up to `end`, and arbitrary bytes behind
// them.
template <class T>
struct Shorter {
    T whole;

    explicit Shorter(std::size_t end) {
        std::memset(static_cast<void*>(&whole), 0, end);
        std::memset(reinterpret_cast<char*>(&whole) + end, 0xa5, sizeof(T) - end);
        whole.size = end;
    }

    // Whether the bytes behind the end are unchanged.
    bool untouched(std::size_t end) const {
        const auto* bytes = reinterpret_cast<const unsigned char*>(&whole);
        for (std::size_t i = end; i < sizeof(T); ++i) {
            if (bytes[i] != 0xa5) return false;
        }
        return true;
    }
};

class OlderCaller : public testing::Test {
protected:
    // Ends the runtime if a test has started one.
    void TearDown() override {
        if (weft_initialized()) {
            EXPECT_EQ(weft_finalize(), WEFT_OK);
        }
    }
};

TEST_F(OlderCaller, SettingsThatEndEarlyLeaveTheRestAtTheDefaults) {
    constexpr std::size_t end = offsetof(weft_settings, stack_bytes);
    Shorter<weft_settings> settings(end);
    settings.whole.streams = 1;
    ASSERT_EQ(weft_init(&settings.whole), WEFT_OK) << weft_error_text();

    weft_settings now{};
    now.size = sizeof now;
    ASSERT_EQ(weft_settings_get(&now), WEFT_OK);
    EXPECT_EQ(now.streams, 1u);
    EXPECT_EQ(now.stack_bytes, 65536u);
    EXPECT_EQ(now.scheduler_stack_bytes, 262144u);
}

TEST_F(OlderCaller, TheSettingsInForceAreWrittenOnlyAsFarAsTheCallerKnowsThem) {
    ASSERT_EQ(weft_init(nullptr), WEFT_OK);
    constexpr std::size_t end = offsetof(weft_settings, stack_bytes);
    Shorter<weft_settings> settings(end);
    ASSERT_EQ(weft_settings_get(&settings.whole), WEFT_OK);
    EXPECT_GE(settings.whole.streams, 1u);
    EXPECT_TRUE(settings.untouched(end));
}

TEST_F(OlderCaller, OptionsOfAUnitThatEndEarlyLeaveTheRestAtTheDefaults) {
    ASSERT_EQ(weft_init(nullptr), WEFT_OK);
    Shorter<weft_unit_options> options(offsetof(weft_unit_options, stack_bytes));
    options.whole.kind = WEFT_KIND_FULL;
    bool ran = false;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void* p) { *static_cast<bool*>(p) = true; }, &ran, &options.whole, &unit),
              WEFT_OK)
        << weft_error_text();
    EXPECT_STREQ(weft_test::value_of(weft_unit_name_get, unit), "");
    ASSERT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_TRUE(ran);
}

TEST_F(OlderCaller, OptionsOfAStreamThatEndEarlyLeaveTheRestAtTheDefaults) {
    ASSERT_EQ(weft_init(nullptr), WEFT_OK);
    Shorter<weft_stream_options> options(offsetof(weft_stream_options, sched));
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(&options.whole, &stream), WEFT_OK) << weft_error_text();
    EXPECT_EQ(weft_test::value_of(weft_stream_name_get, stream), "weft/" + std::to_string(weft_stream_count() - 1));
    ASSERT_EQ(weft_stream_join_free(stream), WEFT_OK);
}

TEST_F(OlderCaller, WhatIsKnownOfAStackIsWrittenOnlyAsFarAsTheCallerKnowsIt) {
    ASSERT_EQ(weft_init(nullptr), WEFT_OK);
    constexpr std::size_t end = offsetof(weft_stack_info, most_bytes);
    Shorter<weft_stack_info> info(end);
    auto body = [](void* p) {
        auto& mine = *static_cast<Shorter<weft_stack_info>*>(p);
        EXPECT_EQ(weft_unit_stack_get(weft_unit_self(), &mine.whole), WEFT_OK);
    };
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(nullptr, body, &info, nullptr, &unit), WEFT_OK);
    ASSERT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_GT(info.whole.bytes, 0u);
    EXPECT_TRUE(info.untouched(end));
}

TEST_F(OlderCaller, HowHartsAreUsedIsWrittenOnlyAsFarAsTheCallerKnowsIt) {
    ASSERT_EQ(weft_init(nullptr), WEFT_OK);
    constexpr std::size_t end = offsetof(weft_hart_use, granted);
    Shorter<weft_hart_use> use(end);
    ASSERT_EQ(weft_hart_use_get(&use.whole), WEFT_OK);
    EXPECT_EQ(use.whole.limit, weft_hart_limit());
    EXPECT_TRUE(use.untouched(end));
}

TEST_F(OlderCaller, AStructureWithoutItsSizeIsRefused) {
    weft_settings settings{};
    EXPECT_EQ(weft_init(&settings), WEFT_INVALID);
    EXPECT_FALSE(weft_initialized());
    ASSERT_EQ(weft_init(nullptr), WEFT_OK);
    EXPECT_EQ(weft_settings_get(&settings), WEFT_INVALID);
    weft_unit_options options{};
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &options, &unit),
              WEFT_INVALID);
    EXPECT_EQ(unit, nullptr);
}

}   // namespace
