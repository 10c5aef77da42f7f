// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that have ended and begin anew, with the same handle.
#include <unistd.h>

#include <string>
#include <vector>

#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

int runs;
void count(void* by) { runs += static_cast<int>(reinterpret_cast<std::uintptr_t>(by)); }

}   // namespace

TEST(Revive, AUnitOfAnyKindRunsAgainByTheSameHandle) {
    Runtime runtime;
    Stream there;
    weft_pool* shared = make_pool(WEFT_POOL_SHARED);
    static std::vector<char> memory(128 << 10);
    {
        Stream drawer(shared);
        for (int kind = 0; kind < 6; ++kind) {
            auto chosen = options();
            if (kind == 1) chosen.kind = WEFT_KIND_FULL;
            if (kind == 2) chosen.stack_bytes = 256 << 10;
            if (kind == 3) {
                chosen.stack = memory.data();
                chosen.stack_bytes = memory.size();
            }
            if (kind == 4) {
                chosen.kind = WEFT_KIND_FULL;
                chosen.measure_stack = true;
                chosen.stack_bytes = 256 << 10;
            }
            chosen.name = "phoenix";
            weft_unit* unit = nullptr;
            runs = 0;
            const auto one = reinterpret_cast<void*>(1);
            if (kind == 5) {
                ASSERT_EQ(weft_tasklet_spawn(nullptr, count, one, &chosen, &unit), WEFT_OK);
            } else {
                ASSERT_EQ(weft_ult_spawn(nullptr, count, one, &chosen, &unit), WEFT_OK);
            }
            const auto id = value_of(weft_unit_id_get, unit);
            weft_kind before, after;
            EXPECT_EQ(weft_unit_kind_get(unit, &before), WEFT_OK);
            EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
            for (weft_pool* pool :
                 {static_cast<weft_pool*>(nullptr), there.pool(), shared, static_cast<weft_pool*>(nullptr)}) {
                for (int i = 0; i < 3; ++i) {
                    ASSERT_EQ(weft_unit_revive(unit, pool, count, reinterpret_cast<void*>(10)), WEFT_OK)
                        << weft_error_text();
                    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
                }
            }
            EXPECT_EQ(runs, 121);
            EXPECT_EQ(value_of(weft_unit_id_get, unit), id);
            EXPECT_STREQ(value_of(weft_unit_name_get, unit), "phoenix");
            EXPECT_EQ(weft_unit_kind_get(unit, &after), WEFT_OK);
            EXPECT_EQ(before, after);
            EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        }
    }
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Revive, AUsersStackIsNoSmallerInALaterLife) {
    Runtime runtime;
    const std::size_t least = static_cast<std::size_t>(sysconf(_SC_MINSIGSTKSZ)) + (8 << 10);
    std::vector<char> memory(least + 256);
    auto chosen = options();
    chosen.stack = memory.data();
    chosen.stack_bytes = memory.size();
    weft_unit* unit = nullptr;
    auto nothing = [](void*) {};
    ASSERT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &chosen, &unit), WEFT_OK);
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    for (int life = 0; life < 50; ++life) {
        ASSERT_EQ(weft_unit_revive(unit, nullptr, nothing, nullptr), WEFT_OK) << life;
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    }
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
}

TEST(Revive, TheStackOfEachLifeComesBack) {
    Runtime runtime;
    for (const weft_kind kind : {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC}) {
        auto chosen = options();
        chosen.kind = kind;
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      nullptr, [](void*) { weft_unit_yield(); }, nullptr, &chosen, &unit),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        const auto created = counter("/stacks/count/created");
        for (int life = 0; life < 300; ++life) {   // more than a stream keeps
            ASSERT_EQ(weft_unit_revive(
                          unit, nullptr, [](void*) { weft_unit_yield(); }, nullptr),
                      WEFT_OK);
            EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        }
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(counter("/stacks/count/created"), created) << kind;
    }
}

TEST(Revive, HowTheLastLifeEndedIsForgotten) {
    Runtime runtime;
    Stream there;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) { throw 1; }, nullptr, nullptr, &unit),
              WEFT_OK);
    EXPECT_EQ(outcome_of(unit), WEFT_OUTCOME_EXCEPTION);
    auto nothing = [](void*) {};
    ASSERT_EQ(weft_unit_revive(unit, nullptr, nothing, nullptr), WEFT_OK);
    EXPECT_EQ(weft_unit_cancel(unit), WEFT_OK);
    EXPECT_EQ(outcome_of(unit), WEFT_OUTCOME_CANCELLED);
    EXPECT_EQ(value_of(weft_unit_exception_get, unit), nullptr);
    ASSERT_EQ(weft_unit_revive(unit, nullptr, nothing, nullptr), WEFT_OK);
    EXPECT_EQ(weft_unit_migrate_to_pool(unit, there.pool()), WEFT_OK);
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    ASSERT_EQ(weft_unit_revive(unit, nullptr, nothing, nullptr), WEFT_OK);   // local again, in this life
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Revive, WhatWasSaidOfMigrationStaysAndValuesDoNot) {
    Runtime runtime;
    Stream there;
    static int moves;
    moves = 0;
    weft_key* key = nullptr;
    ASSERT_EQ(weft_key_create(nullptr, &key), WEFT_OK);
    static weft_key* value_of;
    value_of = key;
    weft_unit* unit = nullptr;
    auto chosen = options();
    chosen.on_migration = [](weft_unit*, void*) { ++moves; };
    auto body = [](void*) {
        EXPECT_EQ(weft_local_get(value_of), nullptr);
        EXPECT_EQ(weft_local_set(value_of, value_of), WEFT_OK);
    };
    ASSERT_EQ(weft_ult_spawn(nullptr, body, nullptr, &chosen, &unit), WEFT_OK);
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    ASSERT_EQ(weft_unit_revive(unit, nullptr, body, nullptr), WEFT_OK);
    EXPECT_EQ(weft_unit_migrate_to_pool(unit, there.pool()), WEFT_OK);
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    EXPECT_EQ(moves, 1);
    EXPECT_EQ(weft_unit_migratable_set(unit, false), WEFT_OK);
    ASSERT_EQ(weft_unit_revive(unit, nullptr, body, nullptr), WEFT_OK);
    EXPECT_EQ(weft_unit_migrate_to_pool(unit, there.pool()), WEFT_UNSUPPORTED);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}

// What a unit keeps of its stack for another life is not mistaken for what the next unit in the
// same memory waits for.
TEST(Revive, AUnitOnAUsersStackLeavesNothingToItsSuccessor) {
    Runtime runtime;
    static std::vector<char> memory(128 << 10);
    auto chosen = options();
    chosen.stack = memory.data();
    chosen.stack_bytes = memory.size();
    EXPECT_EQ(Ult([] {}, &chosen).free(), WEFT_OK);
    Bed bed;
    Ult joiner([&] { Ult child([&] { bed.sleep(); }); });
    until([&] { return bed.occupied() && joiner.state() == WEFT_UNIT_SUSPENDED; });
    static std::string seen;
    static weft_unit* waits;
    seen.clear();
    waits = joiner.handle();
    weft_unit_each(
        [](const weft_unit_info* info, void*) {
            if (info->unit == waits) seen = info->waits_for;
        },
        nullptr);
    EXPECT_EQ(seen, "join");
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(joiner.join(), WEFT_OK);
}

TEST(Revive, OnlyWhatHasEndedIsRevived) {
    Runtime runtime;
    auto nothing = [](void*) {};
    EXPECT_EQ(weft_unit_revive(nullptr, nullptr, nothing, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_revive(weft_unit_self(), nullptr, nothing, nullptr), WEFT_WRONG_STATE);
    Bed bed;
    Ult unit([&] { bed.sleep(); });
    EXPECT_EQ(weft_unit_revive(unit.handle(), nullptr, nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_revive(unit.handle(), nullptr, nothing, nullptr), WEFT_WRONG_STATE) << "it is ready";
    until([&] { return bed.occupied(); });
    EXPECT_EQ(weft_unit_revive(unit.handle(), nullptr, nothing, nullptr), WEFT_WRONG_STATE) << "it is suspended";
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
}
