// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a runtime that embeds Weft attaches to its units, pools and streams, what it asks of them,
// and what it does with units that it has popped itself.
#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

int released;
void release(void* data) { released += *static_cast<int*>(data); }

weft_settings of_pool(weft_pool_kind kind) {
    auto settings = with_streams(1);
    settings.pool = kind;
    settings.scheduler = WEFT_SCHED_BASIC;
    return settings;
}

weft_unit_state state_of(const weft_unit* unit) {
    weft_unit_state state{};
    EXPECT_EQ(weft_unit_state_get(unit, &state), WEFT_OK);
    return state;
}

int anywhere;   // something with an address

}   // namespace

TEST(Embedding, DataHangOnAUnitFromWhenTheyAreGivenUntilItIsFreed) {
    released = 0;
    static int one = 1, ten = 10, hundred = 100;
    {
        Runtime runtime;
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      nullptr, [](void*) {}, nullptr, nullptr, &unit),
                  WEFT_OK);
        EXPECT_EQ(value_of(weft_unit_data_get, unit), nullptr);
        EXPECT_EQ(weft_unit_data_set(unit, &one, release), WEFT_OK);
        EXPECT_EQ(weft_unit_data_set(unit, &ten, release), WEFT_WRONG_STATE);
        EXPECT_EQ(weft_unit_data_set(unit, nullptr, release), WEFT_INVALID);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        EXPECT_EQ(value_of(weft_unit_data_get, unit), &one);
        ASSERT_EQ(weft_unit_revive(
                      unit, nullptr, [](void*) {}, nullptr),
                  WEFT_OK);
        EXPECT_EQ(value_of(weft_unit_data_get, unit), &one) << "another life has what the one before had";
        EXPECT_EQ(released, 0);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(released, 1);
        auto nobodys = [](void*) { EXPECT_EQ(weft_unit_data_set(weft_unit_self(), &ten, release), WEFT_OK); };
        ASSERT_EQ(weft_ult_spawn(nullptr, nobodys, nullptr, nullptr, nullptr), WEFT_OK);
        weft_unit* never = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      nullptr, [](void*) { weft_unit_suspend(nullptr, nullptr); }, nullptr, nullptr, &never),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_data_set(never, &hundred, release), WEFT_OK);
        weft_unit_yield();
        EXPECT_EQ(released, 11) << "a detached unit lets go of it when it ends";
        runtime.expected = WEFT_BUSY;
    }
    EXPECT_EQ(released, 111) << "and one that never ends with the runtime";
}

TEST(Embedding, DataThatASpawnIsGivenAreThereBeforeTheUnitRunsAndReleasedIfThereIsNone) {
    released = 0;
    static int one = 1;
    Runtime runtime;
    auto how = options();
    how.data = &one;
    how.release = release;
    {
        EXPECT_EQ(weft_unit_self_data(), nullptr) << "the primary unit was given none";
        Ult unit(
            [] {
                EXPECT_EQ(value_of(weft_unit_data_get, weft_unit_self()), &one);
                EXPECT_EQ(weft_unit_self_data(), &one);
            },
            &how);
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
    how.priority = 100;
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &how, &unit),
              WEFT_INVALID);
    EXPECT_EQ(released, 2);
    how.priority = 0;
    EXPECT_EQ(weft_ult_spawn(nullptr, nullptr, nullptr, &how, &unit), WEFT_INVALID);
    EXPECT_EQ(released, 3);
    weft_unit* units[2];
    EXPECT_EQ(weft_unit_spawn_many(
                  nullptr, 2, [](void*) {}, nullptr, &how, units),
              WEFT_INVALID);
}

// More units than a stream keeps memory for.
TEST(Embedding, UnitsWithDataHaveNothingOfThoseThatHadTheMemoryBefore) {
    released = 0;
    static int one = 1;
    static weft_key* key = nullptr;
    constexpr int at_once = 600;
    Runtime runtime(2);
    ASSERT_EQ(weft_key_create(nullptr, &key), WEFT_OK);
    static const auto body = [](void*) {
        EXPECT_EQ(weft_unit_self_data(), &one);
        EXPECT_EQ(weft_local_get(key), nullptr);
        EXPECT_EQ(weft_local_set(key, &one), WEFT_OK);
    };
    for (int round = 1; round <= 3; ++round) {
        weft_unit* units[at_once];
        auto how = options();
        for (int i = 0; i < at_once; ++i) {
            how.data = i % 2 == 0 ? &one : nullptr;
            how.release = i % 2 == 0 ? release : nullptr;
            ASSERT_EQ(weft_ult_spawn(
                          nullptr, i % 2 == 0 ? +body : [](void*) { EXPECT_EQ(weft_unit_self_data(), nullptr); },
                          nullptr, &how, &units[i]),
                      WEFT_OK);
        }
        EXPECT_EQ(weft_unit_join_free_many(units, at_once), WEFT_OK);
        EXPECT_EQ(released, round * at_once / 2);
    }
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}

TEST(Embedding, PoolsAndStreamsHaveAPointerOfTheProgramsToo) {
    Runtime runtime;
    int mine = 0;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    EXPECT_EQ(value_of(weft_pool_data_get, pool), nullptr);
    EXPECT_EQ(weft_pool_data_set(pool, &mine), WEFT_OK);
    EXPECT_EQ(value_of(weft_pool_data_get, pool), &mine);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    pool = make_pool(WEFT_POOL_SHARED);
    EXPECT_EQ(value_of(weft_pool_data_get, pool), nullptr) << "the next pool in the same memory has none";
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    void* data = nullptr;
    EXPECT_EQ(weft_stream_data_get(nullptr, &data), WEFT_INVALID);
    EXPECT_EQ(weft_stream_data_set(weft_stream_self(), &mine), WEFT_OK);
    EXPECT_EQ(value_of(weft_stream_data_get, weft_stream_self()), &mine);
    weft_stream_options how{};
    how.size = sizeof how;
    how.data = &mine;
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(&how, &stream), WEFT_OK);
    EXPECT_EQ(value_of(weft_stream_data_get, stream), &mine);
    EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK);
}

TEST(Embedding, AUnitIsLookedAtWithoutAllOthers) {
    Runtime runtime;
    auto how = options();
    how.name = "seen";
    Ult unit([] { weft_unit_yield(); }, &how);
    weft_unit_info info{};
    info.size = sizeof info;
    EXPECT_EQ(weft_unit_info_get(unit.handle(), &info), WEFT_OK);
    EXPECT_EQ(info.unit, unit.handle());
    EXPECT_EQ(info.state, WEFT_UNIT_READY);
    EXPECT_STREQ(info.name, "seen");
    EXPECT_FALSE(info.started);
    EXPECT_EQ(info.pool, pool_of(0));
    weft_unit_yield();
    EXPECT_EQ(weft_unit_info_get(unit.handle(), &info), WEFT_OK);
    EXPECT_EQ(info.state, WEFT_UNIT_READY);
    EXPECT_TRUE(info.started) << "it has yielded";
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(weft_unit_info_get(unit.handle(), &info), WEFT_OK);
    EXPECT_EQ(info.state, WEFT_UNIT_DONE);
    EXPECT_EQ(weft_unit_info_get(nullptr, &info), WEFT_INVALID);
}

TEST(Embedding, TheUnitsOfAPoolAreSeenAndNobodyElses) {
    Runtime runtime;
    weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
    Ult elsewhere([] { weft_unit_yield(); });
    Ult here([] {}, nullptr, pool);
    const auto units = [](const weft_pool* of) {
        std::vector<const weft_unit*> seen;
        EXPECT_EQ(weft_pool_unit_each(
                      of,
                      [](const weft_unit_info* info, void* to) {
                          static_cast<std::vector<const weft_unit*>*>(to)->push_back(info->unit);
                      },
                      &seen),
                  WEFT_OK);
        return seen;
    };
    EXPECT_EQ(units(pool), std::vector<const weft_unit*>{here.handle()});
    EXPECT_EQ(units(pool_of(0)).size(), 2u) << "the primary unit, and the one that was spawned there";
    weft_unit* popped = nullptr;
    EXPECT_EQ(weft_pool_pop(pool, &popped), WEFT_OK);
    EXPECT_EQ(weft_unit_pool_set(popped, pool_of(0)), WEFT_OK);
    EXPECT_TRUE(units(pool).empty());
    EXPECT_EQ(weft_pool_push(pool_of(0), popped), WEFT_OK);
    EXPECT_EQ(here.join(), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(weft_pool_unit_each(
                  nullptr, [](const weft_unit_info*, void*) {}, nullptr),
              WEFT_INVALID);
    EXPECT_EQ(weft_pool_unit_each(pool_of(0), nullptr, nullptr), WEFT_INVALID);
}

TEST(Embedding, WhoCallsLearnsWhatKindOfUnitItIs) {
    EXPECT_EQ(weft_unit_self_kind(), WEFT_KIND_DEFAULT);
    Runtime runtime;
    EXPECT_EQ(weft_unit_self_kind(), WEFT_KIND_FULL) << "the primary unit";
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(
        weft_tasklet_spawn(
            nullptr, [](void*) { EXPECT_EQ(weft_unit_self_kind(), WEFT_KIND_TASKLET); }, nullptr, nullptr, &tasklet),
        WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}

TEST(Embedding, AUnitTellsItsArgumentItsSiteAndWhetherItIsDetached) {
    Runtime runtime;
    weft_unit* unit = nullptr;
    int first = 0, second = 0;
    static void* seen;
    ASSERT_EQ(weft_ult_spawn_at(
                  nullptr, [](void* argument) { seen = argument; }, &first, nullptr, &anywhere, &unit),
              WEFT_OK);
    void* argument = nullptr;
    EXPECT_EQ(weft_unit_argument_get(unit, &argument), WEFT_OK);
    EXPECT_EQ(argument, &first);
    EXPECT_EQ(weft_unit_argument_set(unit, &second), WEFT_OK);
    EXPECT_EQ(value_of(weft_unit_spawn_site_get, unit), &anywhere);
    bool detached = true;
    EXPECT_EQ(weft_unit_detached_get(unit, &detached), WEFT_OK);
    EXPECT_FALSE(detached);
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    EXPECT_EQ(seen, &second);
    EXPECT_EQ(weft_unit_argument_get(unit, &argument), WEFT_OK);
    EXPECT_EQ(argument, &second);
    EXPECT_EQ(weft_unit_argument_set(unit, &first), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    auto asks = [](void*) {
        bool mine = false;
        EXPECT_EQ(weft_unit_detached_get(weft_unit_self(), &mine), WEFT_OK);
        EXPECT_TRUE(mine);
    };
    EXPECT_EQ(weft_tasklet_spawn_at(nullptr, asks, nullptr, nullptr, &anywhere, nullptr), WEFT_OK);
    weft_unit_yield();
}

TEST(Embedding, AUnitThatWasPoppedRunsInTheCallersPlace) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        Runtime runtime(of_pool(kind));
        weft_pool* const pool = kind == WEFT_POOL_PRIVATE ? pool_of(0) : make_pool(kind);
        std::string steps;
        {
            std::unique_ptr<Ult> target;
            Ult yields([&] {
                steps += 'a';
                EXPECT_EQ(weft_unit_hand_off(weft_unit_self(), WEFT_TO_POPPED, WEFT_BY_YIELD), WEFT_WRONG_STATE);
                EXPECT_EQ(weft_unit_hand_off(pop(pool), WEFT_TO_POPPED, WEFT_BY_YIELD), WEFT_OK);
                steps += 'b';
            });
            target = std::make_unique<Ult>([&] { steps += 't'; }, nullptr, pool);
            yields.join();
            EXPECT_EQ(steps, "atb");
            steps.clear();
            Ult suspends([&] {
                steps += 'a';
                EXPECT_EQ(weft_unit_hand_off(pop(pool), WEFT_TO_POPPED, WEFT_BY_SUSPEND), WEFT_OK);
                steps += 'b';
            });
            Ult resumes(
                [&] {
                    steps += 't';
                    EXPECT_EQ(suspends.state(), WEFT_UNIT_SUSPENDED);
                    EXPECT_EQ(weft_unit_resume(suspends.handle()), WEFT_OK);
                },
                nullptr, pool);
            suspends.join();
            EXPECT_EQ(steps, "atb");
            steps.clear();
            Ult ends([&] {
                steps += 'a';
                weft_unit_hand_off(pop(pool), WEFT_TO_POPPED, WEFT_BY_EXIT);
                steps += '!';
            });
            Ult last([&] { steps += 't'; }, nullptr, pool);
            ends.join();
            last.join();
            EXPECT_EQ(steps, "at");
            EXPECT_EQ(weft_unit_hand_off(last.handle(), WEFT_TO_POPPED, WEFT_BY_YIELD), WEFT_WRONG_STATE)
                << "it has ended";
        }
        if (kind == WEFT_POOL_SHARED) {
            EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
        }
    }
}

namespace {

// First in, first out; counts which units belong to it.
struct Counting {
    std::mutex mutex;
    std::deque<weft_unit*> ready;
    atomic<int> members{0}, joined{0};
    bool full = false;

    static Counting& of(const void* self) { return *static_cast<Counting*>(const_cast<void*>(self)); }
    weft_pool* make() {
        weft_pool_ops table{};
        table.size = sizeof table;
        table.push = [](void* self, weft_unit* unit) {
            std::lock_guard guard(of(self).mutex);
            of(self).ready.push_back(unit);
        };
        table.pop = [](void* self) -> weft_unit* {
            std::lock_guard guard(of(self).mutex);
            if (of(self).ready.empty()) return nullptr;
            weft_unit* unit = of(self).ready.front();
            of(self).ready.pop_front();
            return unit;
        };
        table.length = [](const void* self) {
            std::lock_guard guard(of(self).mutex);
            return of(self).ready.size();
        };
        table.admit = [](void* self, weft_unit*) {
            if (of(self).full) return 0;
            ++of(self).members;
            ++of(self).joined;
            return 1;
        };
        table.detach = [](void* self, weft_unit*) { --of(self).members; };
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_pool_create_user(&table, this, &pool), WEFT_OK) << weft_error_text();
        return pool;
    }
};

weft_pool* now_of(const weft_unit* unit) {
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_unit_pool_get(unit, &pool), WEFT_OK);
    return pool;
}

}   // namespace

TEST(Embedding, AUnitBelongsToThePoolThatItIsSaidToFromItsNextPushOn) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        Runtime runtime(of_pool(kind));
        Counting counting;
        weft_pool* const mine = pool_of(0);
        weft_pool* const users = counting.make();
        weft_pool* const shared = make_pool(WEFT_POOL_SHARED);
        for (weft_pool* to : {users, shared}) {
            Stream stream(to);
            // A unit that was popped.
            weft_unit* unit = nullptr;
            ASSERT_EQ(weft_ult_spawn(
                          nullptr, [](void*) { weft_unit_yield(); }, nullptr, nullptr, &unit),
                      WEFT_OK);
            ASSERT_EQ(pop(mine), unit);
            EXPECT_EQ(weft_unit_pool_set(unit, to), WEFT_OK) << weft_error_text();
            EXPECT_EQ(now_of(unit), to);
            EXPECT_EQ(length(to), 0u) << "it is not put there";
            EXPECT_EQ(weft_pool_push(to, unit), WEFT_OK);
            EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
            // A unit that is suspended.
            Bed bed;
            weft_stream* on = nullptr;
            Ult sleeps([&] {
                bed.sleep();
                on = weft_stream_self();
            });
            until([&] { return bed.occupied(); });
            EXPECT_EQ(weft_unit_pool_set(sleeps.handle(), to), WEFT_OK) << weft_error_text();
            EXPECT_EQ(bed.wake(), WEFT_OK);
            EXPECT_EQ(sleeps.join(), WEFT_OK);
            EXPECT_EQ(on, stream.handle());
            // The caller: it goes on where it is until it yields, or until it waits and is woken.
            for (const bool waits : {false, true}) {
                weft_stream* before = nullptr;
                atomic<bool> gone{false};
                Ult goes([&] {
                    EXPECT_EQ(weft_unit_pool_set(weft_unit_self(), to), WEFT_OK) << weft_error_text();
                    before = weft_stream_self();
                    if (waits) {
                        Ult other([] { weft_unit_yield(); });
                        EXPECT_EQ(other.join(), WEFT_OK);
                    } else {
                        weft_unit_yield();
                    }
                    on = weft_stream_self();
                    gone = true;
                });
                until_set(gone);
                EXPECT_EQ(before, weft_stream_self());
                EXPECT_EQ(on, stream.handle());
                EXPECT_EQ(goes.join(), WEFT_OK);
            }
        }
        EXPECT_EQ(counting.joined, 4);
        EXPECT_EQ(counting.members, 0);
        EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
        EXPECT_EQ(weft_pool_free(users), WEFT_OK);
    }
}

TEST(Embedding, AYieldTakesAUnitToItsPoolThoughNobodyElseIsReady) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        Runtime runtime;
        weft_pool* const from = make_pool(kind);
        weft_pool* const to = make_pool(kind);
        {
            Stream first(from), second(to);
            Ult goes(
                [&] {
                    EXPECT_EQ(weft_stream_self(), first.handle());
                    EXPECT_EQ(weft_unit_pool_set(weft_unit_self(), to), WEFT_OK) << weft_error_text();
                    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                    EXPECT_EQ(weft_stream_self(), second.handle());
                    EXPECT_EQ(weft_unit_yield(), WEFT_OK) << "and stays there";
                    EXPECT_EQ(weft_stream_self(), second.handle());
                },
                nullptr, from);
            EXPECT_EQ(goes.join(), WEFT_OK);
        }
        EXPECT_EQ(weft_pool_free(from), WEFT_OK);
        EXPECT_EQ(weft_pool_free(to), WEFT_OK);
    }
}

TEST(Embedding, OneThatIsCalledByItsJoinerEndsInThePoolThatItWentOverTo) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        for (const auto of :
             {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC, WEFT_KIND_TASKLET}) {
            Runtime runtime(of_pool(kind));
            static Counting counting;
            counting.joined = 0;
            weft_pool* const users = counting.make();
            auto goes = [](void* pool) {
                EXPECT_EQ(weft_unit_pool_set(weft_unit_self(), static_cast<weft_pool*>(pool)), WEFT_OK)
                    << weft_error_text();
                EXPECT_EQ(counting.members, 1);
            };
            auto how = options();
            how.kind = of;
            int expected = 0;
            // One by one: freed, joined, detached, and child-first; then a row.
            for (int way = 0; way < 4; ++way) {
                how.child_first = way == 3 && of != WEFT_KIND_SS && of != WEFT_KIND_SC && of != WEFT_KIND_TASKLET;
                weft_unit* unit = nullptr;
                ASSERT_EQ(weft_ult_spawn(nullptr, goes, users, &how, way == 2 ? nullptr : &unit), WEFT_OK)
                    << weft_error_text();
                if (way == 1) {
                    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
                }
                if (way != 2) {
                    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
                }
                weft_unit_yield();
                EXPECT_EQ(counting.joined, ++expected) << "kind " << of << ", way " << way;
                EXPECT_EQ(counting.members, 0) << "kind " << of << ", way " << way;
            }
            how.child_first = false;
            weft_unit* row[8] = {};
            void* arguments[8];
            std::fill(std::begin(arguments), std::end(arguments), users);
            ASSERT_EQ(weft_unit_spawn_many(nullptr, 8, goes, arguments, &how, row), WEFT_OK);
            EXPECT_EQ(weft_unit_join_free_many(row, 8), WEFT_OK);
            EXPECT_EQ(counting.joined, expected + 8);
            EXPECT_EQ(counting.members, 0);
            EXPECT_EQ(weft_pool_free(users), WEFT_OK);
        }
    }
}

TEST(Embedding, AUnitThatIsNotTheCallersIsNotSaidToBelongElsewhere) {
    Runtime runtime;
    Counting counting;
    weft_pool* const users = counting.make();
    weft_pool* const shared = make_pool(WEFT_POOL_SHARED);
    {
        EXPECT_EQ(weft_unit_pool_set(nullptr, users), WEFT_INVALID);
        EXPECT_EQ(weft_unit_pool_set(weft_unit_self(), nullptr), WEFT_INVALID);
        EXPECT_EQ(weft_unit_pool_set(weft_unit_self(), users), WEFT_WRONG_STATE) << "the primary unit stays";
        EXPECT_EQ(weft_unit_pool_set(weft_unit_self(), now_of(weft_unit_self())), WEFT_OK);
        atomic<bool> runs{false}, over{false};
        Stream stream(shared);
        Ult busy(
            [&] {
                runs = true;
                until_set(over);
            },
            nullptr, shared);
        until_set(runs);
        Ult joins([&] { EXPECT_EQ(busy.join(), WEFT_OK); });
        weft_unit_yield();
        EXPECT_EQ(weft_unit_pool_set(joins.handle(), users), WEFT_WRONG_STATE) << "it waits";
        EXPECT_NE(std::string(weft_error_text()).find("waits"), std::string::npos) << weft_error_text();
        Ult local([] {});
        std::thread([&] { EXPECT_EQ(weft_unit_pool_set(local.handle(), users), WEFT_WRONG_CONTEXT); }).join();
        EXPECT_EQ(local.join(), WEFT_OK);
        EXPECT_EQ(weft_unit_pool_set(local.handle(), users), WEFT_WRONG_STATE) << "it has ended";
        counting.full = true;
        Ult refused([] {});
        ASSERT_EQ(pop(pool_of(0)), refused.handle());
        EXPECT_EQ(weft_unit_pool_set(refused.handle(), users), WEFT_NO_MEMORY);
        EXPECT_EQ(now_of(refused.handle()), pool_of(0));
        EXPECT_EQ(weft_pool_push(pool_of(0), refused.handle()), WEFT_OK);
        over = true;
    }
    EXPECT_EQ(counting.joined, 0);
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
    EXPECT_EQ(weft_pool_free(users), WEFT_OK);
}

TEST(Embedding, AnyUltRunsUnitsThatItPoppedAsItsChildren) {
    Runtime runtime;
    weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
    std::string steps;
    {
        Ult first(
            [&] {
                steps += 'a';
                weft_unit_yield();
                steps += 'b';
                EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_OK);
                steps += 'c';
            },
            nullptr, pool);
        Ult second(
            [&] {
                steps += '1';
                weft_unit_yield();
                steps += '2';
            },
            nullptr, pool);
        Ult parent([&] {
            while (weft_unit* child = pop(pool)) {
                EXPECT_EQ(weft_unit_run(child), WEFT_OK) << weft_error_text();
                steps += '.';
                if (state_of(child) == WEFT_UNIT_SUSPENDED) {
                    EXPECT_EQ(weft_unit_resume(child), WEFT_OK);
                }
            }
        });
        EXPECT_EQ(parent.join(), WEFT_OK);
        EXPECT_EQ(steps, "a.1.b.2.c.");
        EXPECT_EQ(weft_unit_run(first.handle()), WEFT_WRONG_STATE);
    }
    steps.clear();
    {
        // The primary unit as well, and children that run children.
        Ult outer(
            [&] {
                steps += '(';
                Ult inner([&] { steps += 'i'; }, nullptr, pool);
                EXPECT_EQ(weft_unit_run(pop(pool)), WEFT_OK);
                steps += ')';
            },
            nullptr, pool);
        EXPECT_EQ(weft_unit_run(pop(pool)), WEFT_OK);
        EXPECT_EQ(steps, "(i)");
    }
    EXPECT_EQ(weft_unit_run(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Embedding, UnitsThatLeaveForEachOtherAreOneTurnOfTheirSchedulers) {
    Runtime runtime;
    static weft_pool* pool;
    pool = make_pool(WEFT_POOL_SHARED);
    static int ran;
    ran = 0;
    for (int i = 0; i < 20; ++i) {
        auto chain = [](void*) {
            ++ran;
            if (weft_unit* next = pop(pool)) weft_unit_hand_off(next, WEFT_TO_POPPED, WEFT_BY_EXIT);
        };
        ASSERT_EQ(weft_ult_spawn(pool, chain, nullptr, nullptr, nullptr), WEFT_OK);
    }
    EXPECT_EQ(weft_unit_run(pop(pool)), WEFT_OK);
    EXPECT_EQ(ran, 20);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Embedding, ARevivedUnitMayBeginBeforeTheCallerGoesOn) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        Runtime runtime(of_pool(kind));
        static std::string steps;
        steps.clear();
        auto body = [](void* step) {
            steps += *static_cast<const char*>(step);
            weft_unit_yield();
            steps += *static_cast<const char*>(step);
        };
        weft_unit* unit = nullptr;
        auto of_kind = options();
        of_kind.kind = WEFT_KIND_ROC;   // no kind that begins in its scheduler's place
        ASSERT_EQ(weft_ult_spawn(nullptr, body, const_cast<char*>("1"), &of_kind, &unit), WEFT_OK);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        weft_revive_options how{};
        how.size = sizeof how;
        how.child_first = true;
        how.site = &anywhere;
        Ult parent([&] {
            steps += 'p';
            EXPECT_EQ(weft_unit_revive_with(unit, nullptr, body, const_cast<char*>("2"), &how), WEFT_OK)
                << weft_error_text();
            steps += 'q';
            EXPECT_EQ(value_of(weft_unit_spawn_site_get, unit), &anywhere);
        });
        EXPECT_EQ(parent.join(), WEFT_OK);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        EXPECT_EQ(steps, "11p2q2");
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        weft_unit* tasklet = nullptr;
        ASSERT_EQ(weft_tasklet_spawn(
                      nullptr, [](void*) {}, nullptr, nullptr, &tasklet),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join(tasklet), WEFT_OK);
        EXPECT_EQ(weft_unit_revive_with(
                      tasklet, nullptr, [](void*) {}, nullptr, &how),
                  WEFT_UNSUPPORTED);
        EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    }
}

// The named unit has left its pool, which may be a pool that no stream draws from.
TEST(Embedding, OnAStreamThatStopsAtOnceAUnitRunsForWhichAnotherHasLeft) {
    Runtime runtime;
    weft_pool *const pool = make_pool(WEFT_POOL_SHARED), *const alone = make_pool(WEFT_POOL_SHARED);
    {
        Ult named([] {}, nullptr, alone);
        Ult stops(
            [&] {
                EXPECT_EQ(weft_stream_stop(weft_stream_self(), true), WEFT_OK);
                EXPECT_EQ(weft_unit_yield_to(named.handle()), WEFT_OK) << weft_error_text();
            },
            nullptr, pool);
        {
            Stream stream(pool);
            EXPECT_EQ(named.join(), WEFT_OK);
        }
        Stream another(pool);
        EXPECT_EQ(stops.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(alone), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Embedding, AStreamStopsAtOnceAndLeavesWhatWaitsOrWhenItsPoolsAreEmpty) {
    for (const bool at_once : {false, true}) {
        Runtime runtime;
        weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
        std::vector<std::unique_ptr<Ult>> units;
        int ran = 0;
        {
            // They are spawned before there is a stream, so all of them wait when the first one
            // stops it.
            Ult stops([&] { EXPECT_EQ(weft_stream_stop(weft_stream_self(), at_once), WEFT_OK); }, nullptr, pool);
            for (int i = 0; i < 10; ++i) units.push_back(std::make_unique<Ult>([&] { ++ran; }, nullptr, pool));
            Stream stream(pool);
            bool ended = false;
            while (!ended) {
                EXPECT_EQ(weft_stream_ended_get(stream.handle(), &ended), WEFT_OK);
                weft_unit_yield();
            }
            if (!at_once) {
                EXPECT_EQ(ran, 10);
            }
        }
        Stream another(pool);   // runs what the first one has left
        for (auto& unit : units) EXPECT_EQ(unit->join(), WEFT_OK);
        EXPECT_EQ(ran, 10);
        units.clear();
        EXPECT_EQ(weft_stream_stop(weft_stream_self(), at_once), WEFT_WRONG_CONTEXT);
    }
}

TEST(Embedding, WithOwnStacksNoUnitOfKindAutoStandsOnItsSchedulersStack) {
    auto settings = of_pool(WEFT_POOL_SHARED);
    settings.own_stacks = true;
    settings.kind = WEFT_KIND_AUTO;
    Runtime runtime(settings);
    auto how = options();
    how.kind = WEFT_KIND_AUTO;   // whatever the environment says
    how.site = &anywhere;
    for (int i = 0; i < 2000; ++i) {
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      nullptr, [](void*) {}, nullptr, &how, &unit),
                  WEFT_OK);
        weft_kind kind;
        EXPECT_EQ(weft_unit_kind_get(unit, &kind), WEFT_OK);
        ASSERT_NE(kind, WEFT_KIND_SC) << i;
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
}
