// What a runtime that embeds Weft hangs on its units, pools and streams, asks of them, and does with units that it has popped itself.
#include <string>
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

}  // namespace

TEST(Embedding, DataHangOnAUnitFromWhenTheyAreGivenUntilItIsFreed) {
    released = 0;
    static int one = 1, ten = 10, hundred = 100;
    {
        Runtime runtime;
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(nullptr, [](void*) {}, nullptr, nullptr, &unit), WEFT_OK);
        EXPECT_EQ(weft_unit_data(unit), nullptr);
        EXPECT_EQ(weft_unit_data_set(unit, &one, release), WEFT_OK);
        EXPECT_EQ(weft_unit_data_set(unit, &ten, release), WEFT_WRONG_STATE);
        EXPECT_EQ(weft_unit_data_set(unit, nullptr, release), WEFT_INVALID);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        EXPECT_EQ(weft_unit_data(unit), &one);
        ASSERT_EQ(weft_unit_revive(nullptr, [](void*) {}, nullptr, unit), WEFT_OK);
        EXPECT_EQ(weft_unit_data(unit), &one) << "another life has what the one before had";
        EXPECT_EQ(released, 0);
        EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
        EXPECT_EQ(released, 1);
        auto nobodys = [](void*) { EXPECT_EQ(weft_unit_data_set(weft_unit_self(), &ten, release), WEFT_OK); };
        ASSERT_EQ(weft_ult_spawn(nullptr, nobodys, nullptr, nullptr, nullptr), WEFT_OK);
        weft_unit* never = nullptr;
        ASSERT_EQ(weft_ult_spawn(nullptr, [](void*) { weft_unit_suspend(nullptr, nullptr); }, nullptr, nullptr, &never), WEFT_OK);
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
        Ult unit([] { EXPECT_EQ(weft_unit_data(weft_unit_self()), &one); }, &how);
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
    how.priority = 100;
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_ult_spawn(nullptr, [](void*) {}, nullptr, &how, &unit), WEFT_INVALID);
    EXPECT_EQ(released, 2);
    how.priority = 0;
    EXPECT_EQ(weft_ult_spawn(nullptr, nullptr, nullptr, &how, &unit), WEFT_INVALID);
    EXPECT_EQ(released, 3);
    weft_unit* units[2];
    EXPECT_EQ(weft_unit_spawn_many(nullptr, 2, [](void*) {}, nullptr, &how, units), WEFT_INVALID);
}

TEST(Embedding, PoolsAndStreamsHaveAPointerOfTheProgramsToo) {
    Runtime runtime;
    int mine = 0;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    EXPECT_EQ(weft_pool_data(pool), nullptr);
    EXPECT_EQ(weft_pool_data_set(pool, &mine), WEFT_OK);
    EXPECT_EQ(weft_pool_data(pool), &mine);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    pool = make_pool(WEFT_POOL_SHARED);
    EXPECT_EQ(weft_pool_data(pool), nullptr) << "the next pool in the same memory has none";
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(weft_stream_data(nullptr), nullptr);
    EXPECT_EQ(weft_stream_data_set(weft_stream_self(), &mine), WEFT_OK);
    EXPECT_EQ(weft_stream_data(weft_stream_self()), &mine);
    weft_stream_options how{};
    how.size = sizeof how;
    how.data = &mine;
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(&how, &stream), WEFT_OK);
    EXPECT_EQ(weft_stream_data(stream), &mine);
    EXPECT_EQ(weft_stream_free(stream), WEFT_OK);
}

TEST(Embedding, AUnitTellsItsArgumentItsSiteAndWhetherItIsDetached) {
    Runtime runtime;
    weft_unit* unit = nullptr;
    int first = 0, second = 0;
    static void* seen;
    ASSERT_EQ(weft_ult_spawn_at(nullptr, [](void* argument) { seen = argument; }, &first, nullptr, &unit, &anywhere), WEFT_OK);
    void* argument = nullptr;
    EXPECT_EQ(weft_unit_argument(unit, &argument), WEFT_OK);
    EXPECT_EQ(argument, &first);
    EXPECT_EQ(weft_unit_argument_set(unit, &second), WEFT_OK);
    EXPECT_EQ(weft_unit_spawn_site(unit), &anywhere);
    bool detached = true;
    EXPECT_EQ(weft_unit_detached(unit, &detached), WEFT_OK);
    EXPECT_FALSE(detached);
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    EXPECT_EQ(seen, &second);
    EXPECT_EQ(weft_unit_argument(unit, &argument), WEFT_OK);
    EXPECT_EQ(argument, &second);
    EXPECT_EQ(weft_unit_argument_set(unit, &first), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
    auto asks = [](void*) {
        bool mine = false;
        EXPECT_EQ(weft_unit_detached(weft_unit_self(), &mine), WEFT_OK);
        EXPECT_TRUE(mine);
    };
    EXPECT_EQ(weft_tasklet_spawn_at(nullptr, asks, nullptr, nullptr, nullptr, &anywhere), WEFT_OK);
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
                EXPECT_EQ(weft_unit_yield_to_popped(weft_unit_self()), WEFT_WRONG_STATE);
                EXPECT_EQ(weft_unit_yield_to_popped(pop(pool)), WEFT_OK);
                steps += 'b';
            });
            target = std::make_unique<Ult>([&] { steps += 't'; }, nullptr, pool);
            yields.join();
            EXPECT_EQ(steps, "atb");
            steps.clear();
            Ult suspends([&] {
                steps += 'a';
                EXPECT_EQ(weft_unit_suspend_to_popped(pop(pool)), WEFT_OK);
                steps += 'b';
            });
            Ult resumes([&] {
                steps += 't';
                EXPECT_EQ(suspends.state(), WEFT_UNIT_SUSPENDED);
                EXPECT_EQ(weft_unit_resume(suspends.handle()), WEFT_OK);
            }, nullptr, pool);
            suspends.join();
            EXPECT_EQ(steps, "atb");
            steps.clear();
            Ult ends([&] {
                steps += 'a';
                weft_unit_exit_to_popped(pop(pool));
                steps += '!';
            });
            Ult last([&] { steps += 't'; }, nullptr, pool);
            ends.join();
            last.join();
            EXPECT_EQ(steps, "at");
            EXPECT_EQ(weft_unit_yield_to_popped(last.handle()), WEFT_WRONG_STATE) << "it has ended";
        }
        if (kind == WEFT_POOL_SHARED) {
            EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
        }
    }
}

TEST(Embedding, AnyUltRunsUnitsThatItPoppedAsItsChildren) {
    Runtime runtime;
    weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
    std::string steps;
    {
        Ult first([&] {
            steps += 'a';
            weft_unit_yield();
            steps += 'b';
            EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_OK);
            steps += 'c';
        }, nullptr, pool);
        Ult second([&] {
            steps += '1';
            weft_unit_yield();
            steps += '2';
        }, nullptr, pool);
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
        Ult outer([&] {
            steps += '(';
            Ult inner([&] { steps += 'i'; }, nullptr, pool);
            EXPECT_EQ(weft_unit_run(pop(pool)), WEFT_OK);
            steps += ')';
        }, nullptr, pool);
        EXPECT_EQ(weft_unit_run(pop(pool)), WEFT_OK);
        EXPECT_EQ(steps, "(i)");
    }
    EXPECT_EQ(weft_unit_run(nullptr), WEFT_INVALID);
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
        ASSERT_EQ(weft_ult_spawn(nullptr, body, const_cast<char*>("1"), nullptr, &unit), WEFT_OK);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        weft_revive_options how{};
        how.size = sizeof how;
        how.child_first = true;
        how.site = &anywhere;
        Ult parent([&] {
            steps += 'p';
            EXPECT_EQ(weft_unit_revive_with(nullptr, body, const_cast<char*>("2"), &how, unit), WEFT_OK) << weft_error_text();
            steps += 'q';
            EXPECT_EQ(weft_unit_spawn_site(unit), &anywhere);
        });
        EXPECT_EQ(parent.join(), WEFT_OK);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        EXPECT_EQ(steps, "11p2q2");
        EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
        weft_unit* tasklet = nullptr;
        ASSERT_EQ(weft_tasklet_spawn(nullptr, [](void*) {}, nullptr, nullptr, &tasklet), WEFT_OK);
        EXPECT_EQ(weft_unit_join(tasklet), WEFT_OK);
        EXPECT_EQ(weft_unit_revive_with(nullptr, [](void*) {}, nullptr, &how, tasklet), WEFT_UNSUPPORTED);
        EXPECT_EQ(weft_unit_free(tasklet), WEFT_OK);
    }
}

TEST(Embedding, AStreamStopsAtOnceAndLeavesWhatWaitsOrWhenItsPoolsAreEmpty) {
    for (const bool at_once : {false, true}) {
        Runtime runtime;
        weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
        std::vector<std::unique_ptr<Ult>> units;
        int ran = 0;
        {
            Stream stream(pool);
            Ult stops([&] { EXPECT_EQ(weft_stream_stop(stream.handle(), at_once), WEFT_OK); }, nullptr, pool);
            for (int i = 0; i < 10; ++i) units.push_back(std::make_unique<Ult>([&] { ++ran; }, nullptr, pool));
            bool ended = false;
            while (!ended) {
                EXPECT_EQ(weft_stream_ended(stream.handle(), &ended), WEFT_OK);
                weft_unit_yield();
            }
            if (!at_once) {
                EXPECT_EQ(ran, 10);
            }
        }
        Stream another(pool);   // what the first has left
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
    for (int i = 0; i < 2000; ++i) {
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn_at(nullptr, [](void*) {}, nullptr, nullptr, &unit, &anywhere), WEFT_OK);
        weft_kind kind;
        EXPECT_EQ(weft_unit_kind(unit, &kind), WEFT_OK);
        ASSERT_NE(kind, WEFT_KIND_SC) << i;
        EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
    }
}
