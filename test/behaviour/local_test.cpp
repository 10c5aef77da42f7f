// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values under keys: each belongs to its unit, moves with it, and is destroyed with it.
#include <atomic>
#include <set>
#include <vector>

#include "base/config.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

class Key {
public:
    explicit Key(void (*destructor)(void*) = nullptr) { EXPECT_EQ(weft_key_create(destructor, &key_), WEFT_OK); }
    ~Key() {
        if (key_ != nullptr) free();
    }
    operator weft_key*() const { return key_; }
    void free() { EXPECT_EQ(weft_key_free(std::exchange(key_, nullptr)), WEFT_OK); }

private:
    weft_key* key_ = nullptr;
};

// The values that destructors were called with.
std::multiset<void*> destroyed;
void destroy(void* value) { destroyed.insert(value); }

void* number(std::uintptr_t of) { return reinterpret_cast<void*>(of); }

class Locals : public testing::Test {
protected:
    void SetUp() override { destroyed.clear(); }
};

}   // namespace

TEST_F(Locals, EachUnitHasItsOwnAndTheyGoWithIt) {
    Runtime runtime;
    Stream there;
    Key key;
    EXPECT_EQ(weft_local_get(key), nullptr);
    EXPECT_EQ(weft_local_set(key, number(1)), WEFT_OK);
    Ult unit([&] {
        EXPECT_EQ(weft_local_get(key), nullptr);
        EXPECT_EQ(weft_local_set(key, number(2)), WEFT_OK);
        weft_unit_yield();
        EXPECT_EQ(weft_unit_migrate_to_stream(weft_unit_self(), there.handle()), WEFT_OK);
        weft_unit_yield();
        EXPECT_EQ(weft_stream_self(), there.handle());
        EXPECT_EQ(weft_local_get(key), number(2));
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(weft_local_get(key), number(1));
    EXPECT_EQ(weft_local_set(key, nullptr), WEFT_OK);
    EXPECT_EQ(weft_local_get(key), nullptr);
}

TEST_F(Locals, ManyKeysHaveManyValues) {
    Runtime runtime;
    std::vector<std::unique_ptr<Key>> keys;
    for (int i = 0; i < 200; ++i) keys.push_back(std::make_unique<Key>(destroy));
    Ult unit([&] {
        for (std::size_t i = 0; i < keys.size(); i += 3) EXPECT_EQ(weft_local_set(*keys[i], number(i + 1)), WEFT_OK);
        for (std::size_t i = 0; i < keys.size(); ++i)
            EXPECT_EQ(weft_local_get(*keys[i]), i % 3 == 0 ? number(i + 1) : nullptr);
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(destroyed.size(), 67u);
}

TEST_F(Locals, ValuesAreDestroyedBeforeTheJoinerLearnsOfTheEndHoweverItComes) {
    for (const auto pool : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        auto settings = with_streams(1);
        settings.pool = pool;
        Runtime runtime(settings);
        static Key* key;
        Key made(destroy);
        key = &made;
        destroyed.clear();
        std::uintptr_t expected = 0;
        auto set = [](std::uintptr_t value) { EXPECT_EQ(weft_local_set(*key, number(value)), WEFT_OK); };
        auto ends = [&](Ult& unit, weft_unit_outcome how) {
            EXPECT_EQ(unit.outcome(), how);
            EXPECT_EQ(destroyed.count(number(++expected)), 1u);
        };
        Ult returns([&] { set(1); });
        ends(returns, WEFT_OUTCOME_RETURNED);
        Ult waits([&] {
            set(2);
            weft_unit_yield();
        });
        ends(waits, WEFT_OUTCOME_RETURNED);
        Ult exits([&] {
            set(3);
            weft_unit_exit();
        });
        ends(exits, WEFT_OUTCOME_RETURNED);
        Ult throws([&] {
            set(4);
            throw 4;
        });
        ends(throws, WEFT_OUTCOME_EXCEPTION);
        Ult cancelled([&] {
            set(5);
            weft_unit_cancel(weft_unit_self());
            weft_unit_yield();
        });
        ends(cancelled, WEFT_OUTCOME_CANCELLED);
        Ult not_begun([] {});
        EXPECT_EQ(weft_unit_local_set(not_begun.handle(), made, number(6)), WEFT_OK);
        EXPECT_EQ(weft_unit_cancel(not_begun.handle()), WEFT_OK);
        ends(not_begun, WEFT_OUTCOME_CANCELLED);
        weft_unit* tasklet = nullptr;
        ASSERT_EQ(weft_tasklet_spawn(
                      nullptr, [](void*) { weft_local_set(*key, number(7)); }, nullptr, nullptr, &tasklet),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
        ASSERT_EQ(weft_tasklet_spawn(
                      nullptr, [](void*) {}, nullptr, nullptr, &tasklet),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_local_set(tasklet, made, number(8)), WEFT_OK);
        EXPECT_EQ(weft_unit_cancel(tasklet), WEFT_OK);
        EXPECT_EQ(end_of(tasklet), WEFT_OUTCOME_CANCELLED);
        EXPECT_EQ(destroyed, (std::multiset<void*>{number(1), number(2), number(3), number(4), number(5), number(6),
                                                   number(7), number(8)}));
    }
}

// A joiner may call the unit that it waits for; such a unit ends by a shorter path.
TEST_F(Locals, ValuesOfUnitsThatAreJoinedOneByOneAreDestroyed) {
    Runtime runtime;
    Key key(destroy);
    auto lazy = options();
    lazy.kind = WEFT_KIND_LSA;
    for (std::uintptr_t i = 1; i <= 10; ++i) {
        EXPECT_EQ(Ult([] {}, &lazy).free(), WEFT_OK);   // leaves its stack, on which the next one is called
        Ult unit([&] { EXPECT_EQ(weft_local_set(key, number(i)), WEFT_OK); }, &lazy);
        EXPECT_EQ(unit.free(), WEFT_OK);
        EXPECT_EQ(destroyed.size(), i);
    }
}

TEST_F(Locals, TheDestructorRunsInItsUnitAndMayYieldAndSetMore) {
    Runtime runtime;
    static weft_unit* ends;
    static Key* second;
    static int rounds;
    rounds = 0;
    Key other(destroy);
    second = &other;
    Key key([](void* value) {
        EXPECT_EQ(weft_unit_self(), ends);
        weft_unit_cancel(weft_unit_self());   // too late to have an effect
        weft_unit_yield();
        ++rounds;
        EXPECT_EQ(weft_local_set(*second, value), WEFT_OK);
    });
    Ult unit([&] {
        ends = weft_unit_self();
        EXPECT_EQ(weft_local_set(key, number(1)), WEFT_OK);
    });
    Ult neighbour([] {
        for (int i = 0; i < 5; ++i) weft_unit_yield();
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(rounds, 1);
    EXPECT_EQ(destroyed.size(), 1u);
}

TEST_F(Locals, ADestructorThatAlwaysSetsAnewIsLeftAtLast) {
    Runtime runtime;
    static Key* self;
    static int rounds;
    rounds = 0;
    Key key([](void* value) {
        ++rounds;
        weft_local_set(*self, value);
    });
    self = &key;
    Ult unit([&] { weft_local_set(key, number(1)); });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_GT(rounds, 1);
    EXPECT_LT(rounds, 10);
}

TEST_F(Locals, AKeyInTheSamePlaceDoesNotSeeTheValuesOfItsPredecessor) {
    Runtime runtime;
    Key old(destroy);
    weft_key* const place = old;
    Bed bed;
    weft_key* key = nullptr;
    Ult unit([&] {
        EXPECT_EQ(weft_local_set(old, number(1)), WEFT_OK);
        bed.sleep();
        EXPECT_EQ(weft_local_get(key), nullptr);
    });
    until([&] { return bed.occupied(); });
    old.free();
    ASSERT_EQ(weft_key_create(destroy, &key), WEFT_OK);
    // a build that checks handles gives each key a handle of its own
    EXPECT_TRUE(weft::config::checked || key == place) << "keys are used again";
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_TRUE(destroyed.empty()) << "what lay under the old key is forgotten";
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}

TEST_F(Locals, OneSetsAndReadsTheValuesOfAUnitThatDoesNotRun) {
    Runtime runtime;
    Key key(destroy);
    Bed bed;
    Ult unit([&] {
        EXPECT_EQ(weft_local_get(key), number(1));
        bed.sleep();
        EXPECT_EQ(weft_local_get(key), number(2));
    });
    EXPECT_EQ(weft_unit_local_set(unit.handle(), key, number(1)), WEFT_OK);
    until([&] { return bed.occupied(); });
    void* value = nullptr;
    EXPECT_EQ(weft_unit_local_get(unit.handle(), key, &value), WEFT_OK);
    EXPECT_EQ(value, number(1));
    EXPECT_EQ(weft_unit_local_set(unit.handle(), key, number(2)), WEFT_OK);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(weft_unit_local_get(unit.handle(), key, &value), WEFT_OK);
    EXPECT_EQ(value, nullptr);
    EXPECT_EQ(weft_unit_local_set(unit.handle(), key, number(3)), WEFT_WRONG_STATE);
    EXPECT_EQ(destroyed, (std::multiset<void*>{number(2)}));
}

TEST_F(Locals, ThePrimaryUnitsValuesAreDestroyedWhenTheRuntimeEnds) {
    Key key(destroy);   // from before the runtime until after it
    {
        Runtime runtime;
        EXPECT_EQ(weft_local_set(key, number(1)), WEFT_OK);
    }
    EXPECT_EQ(destroyed, (std::multiset<void*>{number(1)}));
    {
        Runtime runtime;
        EXPECT_EQ(weft_local_get(key), nullptr);
    }
}

TEST_F(Locals, WhatIsWrongHasItsStatus) {
    Key key;
    void* value = nullptr;
    EXPECT_EQ(weft_key_create(nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_key_free(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_local_get(key), nullptr);
    EXPECT_EQ(weft_local_set(key, &value), WEFT_WRONG_CONTEXT);
    Runtime runtime;
    std::thread([&] {
        EXPECT_EQ(weft_local_set(key, &value), WEFT_WRONG_CONTEXT);
        EXPECT_EQ(weft_local_get(key), nullptr);
    }).join();
    EXPECT_EQ(weft_local_set(nullptr, &value), WEFT_INVALID);
    EXPECT_EQ(weft_local_get(nullptr), nullptr);
    EXPECT_EQ(weft_unit_local_set(nullptr, key, &value), WEFT_INVALID);
    EXPECT_EQ(weft_unit_local_set(weft_unit_self(), nullptr, &value), WEFT_INVALID);
    EXPECT_EQ(weft_unit_local_get(weft_unit_self(), key, nullptr), WEFT_INVALID);
}
