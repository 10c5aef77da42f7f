// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library that was built without a feature (doc/decisions/0019) refuses calls that need it and
// names the build option; a library that was built with the feature accepts them. These tests run
// in both builds.
#include <gtest/gtest.h>

#include <string>

#include "test/behaviour/file.hpp"
#include "test/behaviour/several.hpp"
#include "weft/weft.hpp"

using weft_test::make_pool;
using weft_test::Runtime;
using weft_test::Stream;
using weft_test::Ult;

namespace {

bool is_in(weft_feature feature) { return (weft_features() & feature) != 0; }

// Checks the status of a call that needs `feature`, and that is legal where the feature is built
// in.
void expect_as_built(weft_status came_to, weft_feature feature, const char* option, const char* call) {
    if (is_in(feature)) {
        EXPECT_EQ(came_to, WEFT_OK) << call << ": " << weft_error_text();
    } else {
        EXPECT_EQ(came_to, WEFT_UNSUPPORTED) << call;
        EXPECT_NE(std::string(weft_error_text()).find(option), std::string::npos) << call << ": " << weft_error_text();
    }
}

void expect_migration(weft_status came_to, const char* call) {
    expect_as_built(came_to, WEFT_FEATURE_MIGRATION, "WEFT_MIGRATION", call);
}

}   // namespace

TEST(Features, AreKnownByNameBeforeTheRuntimeStarts) {
    EXPECT_EQ(weft_features() & ~unsigned{WEFT_FEATURE_MIGRATION | WEFT_FEATURE_CANCEL | WEFT_FEATURE_OBSERVERS}, 0u);
    EXPECT_EQ(weft::has(weft::feature::migration), is_in(WEFT_FEATURE_MIGRATION));
    EXPECT_EQ(weft::has(weft::feature::cancel), is_in(WEFT_FEATURE_CANCEL));
    EXPECT_EQ(weft::has(weft::feature::observers), is_in(WEFT_FEATURE_OBSERVERS));
}

TEST(Features, MigrationIsInOrRefused) {
    Runtime runtime;
    Stream there;
    weft_sched* const sched = weft_test::make_sched(WEFT_SCHED_BASIC, {make_pool(WEFT_POOL_SHARED)});
    Stream scheduled(nullptr, sched);
    Ult unit([] {});
    expect_migration(weft_unit_on_migration(
                         unit.handle(), [](weft_unit*, void*) {}, nullptr),
                     "weft_unit_on_migration");
    expect_migration(weft_unit_migratable_set(unit.handle(), true), "weft_unit_migratable_set");
    bool migratable = false;
    EXPECT_EQ(weft_unit_migratable_get(unit.handle(), &migratable), WEFT_OK);
    EXPECT_EQ(migratable, is_in(WEFT_FEATURE_MIGRATION));
    expect_migration(weft_unit_migrate(unit.handle()), "weft_unit_migrate");
    expect_migration(weft_unit_migrate_to_stream(unit.handle(), there.handle()), "weft_unit_migrate_to_stream");
    expect_migration(weft_unit_migrate_to_sched(unit.handle(), sched), "weft_unit_migrate_to_sched");
    expect_migration(weft_unit_migrate_to_pool(unit.handle(), there.pool()), "weft_unit_migrate_to_pool");
    expect_migration(weft_unit_migrate_wait(unit.handle()), "weft_unit_migrate_wait");
    EXPECT_EQ(unit.join(), WEFT_OK);
    weft_pool* home = nullptr;
    EXPECT_EQ(weft_unit_pool_get(unit.handle(), &home), WEFT_OK);
    EXPECT_EQ(home, is_in(WEFT_FEATURE_MIGRATION) ? there.pool() : weft_test::pool_of(0));
}

TEST(Features, WhoNeedsNoMigrationIsSpawnedWhateverIsIn) {
    Runtime runtime;
    auto options = weft_test::options();
    options.not_migratable = true;
    Ult stays([] {}, &options);
    EXPECT_EQ(stays.free(), WEFT_OK);
    options = weft_test::options();
    options.on_migration = [](weft_unit*, void*) {};
    weft_unit* unit = nullptr;
    const auto nothing = [](void*) {};
    const weft_status came_to = weft_ult_spawn(nullptr, nothing, nullptr, &options, &unit);
    expect_migration(came_to, "weft_ult_spawn with on_migration");
    if (came_to == WEFT_OK) {
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    EXPECT_EQ(weft_test::units_alive(), 1u);
}

TEST(Features, CancellationIsInOrRefused) {
    Runtime runtime;
    bool ran = false;
    Ult unit([&] { ran = true; });
    expect_as_built(weft_unit_cancel(unit.handle()), WEFT_FEATURE_CANCEL, "WEFT_CANCEL", "weft_unit_cancel");
    EXPECT_EQ(unit.end(), is_in(WEFT_FEATURE_CANCEL) ? WEFT_OUTCOME_CANCELLED : WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(ran, !is_in(WEFT_FEATURE_CANCEL));
}

TEST(Features, ObserversAreInOrRefused) {
    Runtime runtime;
    int told = 0;
    weft_observer_options options{};
    options.size = sizeof options;
    options.events = WEFT_OBSERVED_START;
    options.call = [](const weft_observation*, void* count) { ++*static_cast<int*>(count); };
    options.argument = &told;
    weft_observer* observer = nullptr;
    expect_as_built(weft_observer_register(&options, &observer), WEFT_FEATURE_OBSERVERS, "WEFT_OBSERVERS",
                    "weft_observer_register");
    Ult unit([] {});
    EXPECT_EQ(unit.free(), WEFT_OK);
    EXPECT_EQ(told, is_in(WEFT_FEATURE_OBSERVERS) ? 1 : 0);
    if (observer != nullptr) {
        EXPECT_EQ(weft_observer_unregister(observer), WEFT_OK);
    }
}

TEST(Features, ATraceIsInOrRefusedAndNothingIsLeftOfThat) {
    weft_test::File file;
    auto settings = weft_test::with_streams(1);
    settings.trace = file.name();
    const weft_status came_to = weft_init(&settings);
    expect_as_built(came_to, WEFT_FEATURE_OBSERVERS, "WEFT_OBSERVERS", "weft_init with a trace");
    if (came_to == WEFT_OK) {
        EXPECT_EQ(weft_finalize(), WEFT_OK);
    }
    EXPECT_EQ(weft_initialized(), false);
    EXPECT_EQ(file.text().empty(), !is_in(WEFT_FEATURE_OBSERVERS));
    Runtime runtime;
}
