// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values under lasting keys: what libraries that embed Weft attach to the handles of units, their
// own and others'.
#include <weft/embed/here.hpp>

#include <set>
#include <vector>

#include "base/config.hpp"
#include "os/fault.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

class Key {
public:
    explicit Key(void (*release)(void*) = nullptr) {
        weft_key_options how{};
        how.size = sizeof how;
        how.lasting = true;
        how.release = release;
        EXPECT_EQ(weft_key_create_with(&how, &key_), WEFT_OK) << weft_error_text();
    }
    ~Key() {
        if (key_ != nullptr) free();
    }
    Key(const Key&) = delete;
    operator weft_key*() const { return key_; }
    void free() { EXPECT_EQ(weft_key_free(std::exchange(key_, nullptr)), WEFT_OK); }

private:
    weft_key* key_ = nullptr;
};

void* number(std::uintptr_t of) { return reinterpret_cast<void*>(of); }

// The sum of the released values, whichever thread released them.
atomic<std::uintptr_t> released{0};
void release(void* value) { released.fetch_add(reinterpret_cast<std::uintptr_t>(value)); }

void* value_of(const weft_unit* unit, const weft_key* key) {
    void* value = nullptr;
    EXPECT_EQ(weft_unit_local_get(unit, key, &value), WEFT_OK);
    return value;
}

weft_unit* spawn(void (*body)(void*), void* argument = nullptr, const weft_unit_options* how = nullptr,
                 weft_pool* pool = nullptr) {
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_ult_spawn(pool, body, argument, how, &unit), WEFT_OK) << weft_error_text();
    return unit;
}

void nothing(void*) {}

class Lasting : public testing::Test {
protected:
    void SetUp() override { released.store(0); }
};

}   // namespace

TEST_F(Lasting, AValueIsSetOnceInAnyStateAndStaysUntilTheUnitIsFreed) {
    Runtime runtime;
    const Key waiting(release), suspended(release), ended(release), again(release);
    Bed bed;
    Ult unit([&] {
        EXPECT_EQ(weft_local_get(waiting), number(1));
        bed.sleep();
        EXPECT_EQ(weft_local_get(suspended), number(10));
    });
    EXPECT_EQ(value_of(unit.handle(), waiting), nullptr);
    EXPECT_EQ(weft_unit_local_set(unit.handle(), waiting, number(1)), WEFT_OK);
    EXPECT_EQ(weft_unit_local_set(unit.handle(), waiting, number(2)), WEFT_WRONG_STATE);
    until([&] { return bed.occupied(); });
    EXPECT_EQ(weft_unit_local_set(unit.handle(), suspended, number(10)), WEFT_OK);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(weft_unit_local_set(unit.handle(), ended, number(100)), WEFT_OK) << "one that has ended and is not freed";
    for (int life = 0; life < 2; ++life) {
        EXPECT_EQ(value_of(unit.handle(), waiting), number(1));
        EXPECT_EQ(value_of(unit.handle(), suspended), number(10));
        EXPECT_EQ(value_of(unit.handle(), ended), number(100));
        EXPECT_EQ(weft_unit_local_set(unit.handle(), suspended, number(20)), WEFT_WRONG_STATE);
        if (life == 1) continue;
        ASSERT_EQ(weft_unit_revive(unit.handle(), nullptr, nothing, nullptr), WEFT_OK);
        EXPECT_EQ(weft_unit_local_set(unit.handle(), again, number(1000)), WEFT_OK);
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
    EXPECT_EQ(released.load(), 0u);
    EXPECT_EQ(unit.free(), WEFT_OK);
    EXPECT_EQ(released.load(), 1111u);
    Ult next([&] { EXPECT_EQ(weft_local_get(waiting), nullptr) << "the next unit in the same memory has none"; });
}

TEST_F(Lasting, ADetachedUnitLetsGoWhenItEndsAndOneThatNeverEndsWithTheRuntime) {
    const Key key(release);
    {
        Runtime runtime;
        static const weft_key* of_body;
        of_body = key;
        const auto body = [](void* value) { EXPECT_EQ(weft_local_set(of_body, value), WEFT_OK); };
        ASSERT_EQ(weft_ult_spawn(nullptr, body, number(1), nullptr, nullptr), WEFT_OK);
        ASSERT_EQ(weft_tasklet_spawn(nullptr, body, number(10), nullptr, nullptr), WEFT_OK);
        weft_unit_yield();
        until([] { return released.load() == 11; });
        weft_unit* const never = spawn([](void*) { weft_unit_suspend(nullptr, nullptr); });
        EXPECT_EQ(weft_unit_local_set(never, key, number(100)), WEFT_OK);
        EXPECT_EQ(weft_local_set(key, number(1000)), WEFT_OK) << "the primary unit's";
        weft_unit_yield();
        EXPECT_EQ(released.load(), 11u);
        runtime.expected = WEFT_BUSY;
    }
    EXPECT_EQ(released.load(), 1111u);
}

// Every three further values lie in another place.
TEST_F(Lasting, ManyLibrariesHaveEachItsOwn) {
    Runtime runtime;
    std::vector<std::unique_ptr<Key>> keys;
    for (int i = 0; i < 20; ++i) keys.push_back(std::make_unique<Key>(release));
    constexpr std::size_t some = 50;
    std::vector<weft_unit*> units;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < some; ++i) units.push_back(spawn(nothing));
        std::uintptr_t sum = 0;
        for (std::size_t i = 0; i < some; ++i) {
            for (std::size_t k = i % 5; k < keys.size(); k += 1 + i % 7) {
                EXPECT_EQ(weft_unit_local_set(units[i], *keys[k], number(i * 100 + k + 1)), WEFT_OK);
                sum += i * 100 + k + 1;
            }
        }
        for (std::size_t i = 0; i < some; ++i) {
            for (std::size_t k = 0; k < keys.size(); ++k) {
                const bool is_set = k >= i % 5 && (k - i % 5) % (1 + i % 7) == 0;
                EXPECT_EQ(value_of(units[i], *keys[k]), is_set ? number(i * 100 + k + 1) : nullptr) << i << ' ' << k;
            }
        }
        released.store(0);
        EXPECT_EQ(weft_unit_join_free_many(units.data(), units.size()), WEFT_OK);
        EXPECT_EQ(released.load(), sum);
        units.clear();
    }
}

TEST_F(Lasting, AKeyThatIsFreedReleasesWhatUnitsHaveAndTheNextOneSeesNothing) {
    Runtime runtime;
    for (const std::size_t before : {0, 5}) {   // a key with one of the first places, and a later one
        std::vector<std::unique_ptr<Key>> others;
        for (std::size_t i = 0; i < before; ++i) others.push_back(std::make_unique<Key>());
        released.store(0);
        Key key(release);
        const Key other(release);
        weft_key* const place = key;
        std::vector<weft_unit*> units;
        for (int i = 0; i < 200; ++i) units.push_back(spawn(nothing));   // more than are taken at once without memory
        for (weft_unit* const unit : units) EXPECT_EQ(weft_unit_local_set(unit, key, number(1)), WEFT_OK);
        EXPECT_EQ(weft_unit_local_set(units[0], other, number(1000)), WEFT_OK);
        EXPECT_EQ(weft_unit_join(units[0]), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(std::exchange(units[1], nullptr)), WEFT_OK);
        EXPECT_EQ(released.load(), 1u);
        key.free();
        EXPECT_EQ(released.load(), 200u) << "each once";
        const Key next(release);
        if (!weft::config::checked) {   // which gives each key a handle of its own
            EXPECT_EQ(next, place) << "keys are used again";
        }
        for (weft_unit* const unit : units) EXPECT_EQ(unit == nullptr ? nullptr : value_of(unit, next), nullptr);
        EXPECT_EQ(weft_unit_local_set(units[2], next, number(10'000)), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free_many(units.data(), units.size()), WEFT_OK);
        EXPECT_EQ(released.load(), 11'200u);
    }
}

TEST_F(Lasting, KeysOutliveTheRuntimeAndMayGoWhenThereIsNone) {
    Key key(release);
    for (int run = 0; run < 2; ++run) {
        Runtime runtime;
        EXPECT_EQ(weft_local_get(key), nullptr);
        EXPECT_EQ(weft_local_set(key, number(1)), WEFT_OK);
    }
    EXPECT_EQ(released.load(), 2u);
    key.free();
    EXPECT_EQ(released.load(), 2u);
}

TEST_F(Lasting, ASpawnGivesAValueThatIsThereBeforeTheUnitRuns) {
    Runtime runtime;
    Key key(release), far[3];
    const Key further(release);
    static int data;
    auto how = options();
    how.data = number(1);
    how.key = key;
    {
        Ult unit(
            [&] {
                EXPECT_EQ(weft_local_get(key), number(1));
                EXPECT_EQ(weft_unit_self_data(), nullptr) << "which is for whoever spawns it";
                EXPECT_EQ(weft_unit_data_set(weft_unit_self(), &data, nullptr), WEFT_OK);
                EXPECT_EQ(weft_local_get(key), number(1));
            },
            &how);
    }
    EXPECT_EQ(released.load(), 1u);
    how.key = further;
    how.data = number(10);
    {
        Ult unit([&] { EXPECT_EQ(weft_local_get(further), number(10)); }, &how);
    }
    EXPECT_EQ(released.load(), 11u);
    weft_unit* unit = nullptr;
    how.priority = 100;
    EXPECT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &how, &unit), WEFT_INVALID);
    EXPECT_EQ(released.load(), 21u) << "also where there is no unit to have it";
    how.priority = 0;
    EXPECT_EQ(weft_ult_spawn(nullptr, nullptr, nullptr, &how, &unit), WEFT_INVALID);
    EXPECT_EQ(released.load(), 31u);
}

// Several OS threads set values at once; a thread that has set one sees its own value, while others
// read.
TEST_F(Lasting, OfSeveralThatSetAValueAtOnceOneSucceeds) {
    constexpr int threads = 3;
    Runtime runtime(2);
    const Key keys[5] = {Key(release), Key(release), Key(release), Key(release), Key(release)};
    for (int round = 0; round < 20; ++round) {
        Ult runs([] {
            for (int i = 0; i < 50; ++i) weft_unit_yield();
        });
        atomic<int> won{0};
        with_threads(threads, [&](int i) {
            for (const Key& key : keys) {
                const weft_status status =
                    weft_unit_local_set(runs.handle(), key, number(static_cast<std::uintptr_t>(i) + 1));
                EXPECT_TRUE(status == WEFT_OK || status == WEFT_WRONG_STATE);
                if (status == WEFT_OK) won.fetch_add(1);
                void* const value = value_of(runs.handle(), key);
                EXPECT_NE(value, nullptr);
                EXPECT_EQ(value == number(static_cast<std::uintptr_t>(i) + 1), status == WEFT_OK);
            }
        });
        EXPECT_EQ(won.load(), 5);
        EXPECT_EQ(runs.join(), WEFT_OK);
    }
}

// The library goes away while other units that have a value are still being freed: every call of
// its release function has returned before weft_key_free returns.
TEST_F(Lasting, AKeyIsFreedWhileUnitsEndOnOtherStreams) {
    static atomic<bool> gone{false};
    static atomic<int> calls{0};
    Runtime runtime(2);
    for (int round = 0; round < 30; ++round) {
        gone.store(false);
        calls.store(0);
        Key key([](void*) {
            EXPECT_FALSE(gone.load());
            for (int i = 0; i < 100; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
            EXPECT_FALSE(gone.load());
            calls.fetch_add(1);
        });
        constexpr int some = 100;
        std::vector<weft_unit*> units;
        auto how = options();
        for (int i = 0; i < some; ++i) {
            how.data = number(1);
            how.key = key;
            units.push_back(spawn(nothing, nullptr, &how));
        }
        atomic<bool> begun{false};
        auto there = options();
        there.stream = weft_stream_at(1);
        Ult frees(
            [&] {
                for (weft_unit*& unit : units) {
                    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
                    begun.store(true);
                    if (reinterpret_cast<std::uintptr_t>(&unit) % 5 == 0) weft_unit_yield();
                }
            },
            &there);
        until_set(begun);
        key.free();
        gone.store(true);
        EXPECT_EQ(calls.load(), some);
        EXPECT_EQ(frees.join(), WEFT_OK);
    }
}

TEST_F(Lasting, WhatAGuestHasItHasUntilItLeaves) {
    const Key key(release);
    Runtime runtime;
    with_threads(2, [&](int) {
        for (int stay = 0; stay < 2; ++stay) {
            Inside inside;
            EXPECT_EQ(weft_local_get(key), nullptr);
            EXPECT_EQ(weft_local_set(key, number(1)), WEFT_OK);
            weft_unit_yield();
            EXPECT_EQ(weft_local_get(key), number(1));
        }
    });
    EXPECT_EQ(released.load(), 4u);
}

TEST_F(Lasting, IsReadWithoutACallToo) {
    Runtime runtime;
    std::vector<std::unique_ptr<Key>> keys;
    for (int i = 0; i < 5; ++i) {
        keys.push_back(std::make_unique<Key>());
        ASSERT_NE(static_cast<weft_key*>(*keys.back()), nullptr);
    }
    const auto look = [&](std::uintptr_t expected) {
        const weft_running* const running = weft::here::running();
        if (running == nullptr) return;   // a library that checks handles
        for (std::size_t i = 0; i < keys.size(); ++i) {
            EXPECT_EQ(weft::here::value_of(running, *keys[i]), expected == 0 ? nullptr : number(expected + i)) << i;
            if (i >= 3) continue;
            EXPECT_EQ(weft::here::value_at_once(running, *keys[i]), weft::here::value_of(running, *keys[i])) << i;
        }
    };
    const auto set = [&](std::uintptr_t first) {
        look(0);
        for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(weft_local_set(*keys[i], number(first + i)), WEFT_OK);
        look(first);
    };
    set(100);
    for (std::uintptr_t of = 200; of < 500; of += 100) {
        Ult unit([&, of] {
            set(of);
            weft_unit_yield();
            look(of);
        });
        EXPECT_EQ(weft::here::value_of(unit.handle(), *keys[0]), nullptr);
        EXPECT_EQ(unit.join(), WEFT_OK);
        for (std::size_t i = 0; i < keys.size(); ++i)
            EXPECT_EQ(weft::here::value_of(unit.handle(), *keys[i]), number(of + i)) << "from outside, " << i;
    }
    look(100);
}

TEST_F(Lasting, WhatIsWrongHasItsStatus) {
    weft_key* key = nullptr;
    weft_key_options how{};
    how.size = sizeof how;
    how.lasting = true;
    how.destructor = release;
    EXPECT_EQ(weft_key_create_with(&how, &key), WEFT_INVALID);
    how.lasting = false;
    how.release = release;
    EXPECT_EQ(weft_key_create_with(&how, &key), WEFT_INVALID);
    how.destructor = nullptr;
    EXPECT_EQ(weft_key_create_with(&how, &key), WEFT_INVALID);
    how.release = nullptr;
    ASSERT_EQ(weft_key_create_with(&how, &key), WEFT_OK) << "one of the other kind";
    const Key lasting(release);
    EXPECT_EQ(weft_local_set(lasting, &how), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_local_get(lasting), nullptr);
    Runtime runtime;
    EXPECT_EQ(weft_local_set(lasting, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_local_set(weft_unit_self(), lasting, nullptr), WEFT_INVALID);
    auto spawned = options();
    spawned.data = &how;
    spawned.key = key;
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &spawned, &unit), WEFT_INVALID);
    spawned.key = lasting;
    spawned.release = release;
    EXPECT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &spawned, &unit), WEFT_INVALID);
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
    std::vector<weft_key*> keys;
    how.lasting = true;
    weft_status status = WEFT_OK;
    while (status == WEFT_OK && keys.size() < 2000) {
        status = weft_key_create_with(&how, &key);
        if (status == WEFT_OK) keys.push_back(key);
    }
    EXPECT_EQ(status, WEFT_NO_MEMORY);
    EXPECT_EQ(keys.size(), 1023u) << "with the one that there was";
    EXPECT_EQ(weft_local_set(keys.back(), &how), WEFT_OK);
    EXPECT_EQ(weft_local_get(keys.back()), &how);
    for (weft_key* const one : keys) EXPECT_EQ(weft_key_free(one), WEFT_OK);
}

// Each mapping and each block that a set may need is refused in turn; a refused set changes
// nothing.
TEST_F(Lasting, WithoutMemoryNothingIsSet) {
    if (!weft::config::checked) GTEST_SKIP() << "the fault injector is in checked builds";
    static atomic<int> left{0};
    const auto hook = [](weft::os::Seam seam) {
        return (seam == weft::os::Seam::allocate || seam == weft::os::Seam::map) && left.fetch_sub(1) <= 0;
    };
    Runtime runtime;
    std::vector<std::unique_ptr<Key>> keys;
    for (int i = 0; i < 7; ++i) keys.push_back(std::make_unique<Key>(release));
    const Key& last = *keys.back();
    int refused = 0;
    for (int allowed = 0; allowed < 10; ++allowed) {
        Ult unit([] {});
        left.store(allowed);
        weft::os::fault_hook.store(hook);
        const weft_status status = weft_unit_local_set(unit.handle(), last, number(1));
        weft::os::fault_hook.store(nullptr);
        EXPECT_TRUE(status == WEFT_OK || status == WEFT_NO_MEMORY);
        EXPECT_EQ(value_of(unit.handle(), last), status == WEFT_OK ? number(1) : nullptr);
        if (status == WEFT_NO_MEMORY) ++refused;
    }
    EXPECT_GT(refused, 0);
    // The memory in which weft_key_free gathers the values may be refused, too.
    std::vector<weft_unit*> units;
    for (int i = 0; i < 300; ++i) units.push_back(spawn(nothing));
    for (weft_unit* const unit : units) EXPECT_EQ(weft_unit_local_set(unit, last, number(1)), WEFT_OK);
    released.store(0);
    left.store(0);
    weft::os::fault_hook.store(hook);
    keys.back()->free();
    weft::os::fault_hook.store(nullptr);
    EXPECT_EQ(released.load(), 300u);
    EXPECT_EQ(weft_unit_join_free_many(units.data(), units.size()), WEFT_OK);
}
