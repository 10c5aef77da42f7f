// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which unit calls, as <weft/embed/here.hpp> reads it: it agrees with the calls, wherever it is
// read.
#include <weft/embed/here.hpp>

#include <vector>

#include "base/config.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

// `in_unit`: a unit runs here. Then everything is read, unless the library checks handles.
void expect_agreement(bool in_unit) {
    EXPECT_EQ(weft::here::unit(), weft_unit_self());
    EXPECT_EQ(weft::here::kind(), weft_unit_self_kind());
    EXPECT_EQ(weft_unit_self() != nullptr, in_unit);
    const weft_running* const running = weft::here::running();
    EXPECT_EQ(running != nullptr, in_unit && !weft::config::checked);
    if (running == nullptr) return;
    EXPECT_EQ(weft::here::unit_of(running), weft_unit_self());
    EXPECT_EQ(weft::here::data_of(running), weft_unit_self_data());
}

void agree(void*) { expect_agreement(true); }

}   // namespace

TEST(Here, IsWhatTheCallsSay) {
    expect_agreement(false);
    {
        Runtime runtime;
        expect_agreement(true);
        for (const weft_kind kind :
             {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_TASKLET, WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC}) {
            weft_unit_options options{};
            options.size = sizeof options;
            options.kind = kind;
            weft_unit* unit = nullptr;
            ASSERT_EQ(weft_ult_spawn(nullptr, agree, nullptr, &options, &unit), WEFT_OK) << weft_error_text();
            EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
            expect_agreement(true);
        }
        std::thread outside([] { expect_agreement(false); });
        outside.join();
        atomic<bool> called{false};
        ASSERT_EQ(weft_stream_post(
                      weft_stream_self(),
                      [](void* done) {
                          expect_agreement(false);
                          static_cast<atomic<bool>*>(done)->store(true);
                      },
                      &called),
                  WEFT_OK)
            << weft_error_text();
        until_set(called);
    }
    expect_agreement(false);
}

TEST(Here, DataAreTheUnitsOwn) {
    static int of_primary, of_unit;
    Runtime runtime;
    ASSERT_EQ(weft_unit_data_set(weft_unit_self(), &of_primary, nullptr), WEFT_OK);
    expect_agreement(true);
    EXPECT_EQ(weft_unit_self_data(), &of_primary);
    const auto body = [](void* expected) {
        expect_agreement(true);
        EXPECT_EQ(weft_unit_self_data(), expected);
        weft_unit_yield();
        expect_agreement(true);
    };
    // Many units, so that they lie all over a block; every other unit has data, some of it set by
    // the unit itself.
    std::vector<weft_unit*> units(700);
    for (std::size_t i = 0; i < units.size(); ++i) {
        weft_unit_options options{};
        options.size = sizeof options;
        options.data = i % 2 == 0 ? &of_unit : nullptr;
        ASSERT_EQ(weft_ult_spawn(nullptr, body, options.data, &options, &units[i]), WEFT_OK) << weft_error_text();
    }
    EXPECT_EQ(weft_unit_join_free_many(units.data(), units.size()), WEFT_OK) << weft_error_text();
    Ult late([] {
        expect_agreement(true);
        EXPECT_EQ(weft_unit_self_data(), nullptr) << "what was freed has left nothing";
        EXPECT_EQ(weft_unit_data_set(weft_unit_self(), &of_unit, nullptr), WEFT_OK);
        expect_agreement(true);
    });
    late.join();
    expect_agreement(true);
}

TEST(Here, IsReadAnewOnEachStream) {
    static constexpr int rounds = 200;
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_DEQUE;   // where units are stolen
    Runtime runtime(settings);
    std::vector<weft_unit*> units(4);
    ASSERT_EQ(weft_unit_spawn_many(
                  nullptr, units.size(),
                  [](void*) {
                      weft_unit* const self = weft_unit_self();
                      for (int i = 0; i < rounds; ++i) {
                          EXPECT_EQ(weft::here::unit(), self);
                          expect_agreement(true);
                          weft_unit_yield();
                      }
                  },
                  nullptr, nullptr, units.data()),
              WEFT_OK)
        << weft_error_text();
    EXPECT_EQ(weft_unit_join_free_many(units.data(), units.size()), WEFT_OK);
}
