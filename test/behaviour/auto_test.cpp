// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kind auto: what Weft learns about each site that spawns units, how the learnt kind changes, and
// what kind auto leaves unchanged.
//
// About one unit in 16 is a sample until a site has 16 samples and is believed, and about one in
// 128 from then on. Loops here spawn as many units as that takes.
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>

#include <weft/weft.hpp>

#include "base/config.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"
#include "test/behaviour/variable.hpp"

using namespace weft_test;

namespace {

constexpr std::size_t enough = 2'000;          // units, for a site to be believed
constexpr std::size_t to_forget = 48'000;      // units, for a site to change its kind, however sure it was
constexpr std::size_t between_samples = 256;   // units, at least one of which is a sample

// ---- bodies: they tell the sites apart ----------------------------------------------------------

void returns(void*) {}
// It does not suspend by a yield: that is no suspension when no other unit is ready.
void suspends(void*) {
    EXPECT_EQ(weft_unit_suspend([](weft_unit* self, void*) { EXPECT_EQ(weft_unit_resume(self), WEFT_OK); }, nullptr),
              WEFT_OK);
}
void suspends_if(void* truly) {
    if (truly != nullptr) suspends(nullptr);
}
void counts(void* number) { static_cast<atomic<std::size_t>*>(number)->fetch_add(1); }

// ---- sites --------------------------------------------------------------------------------------

struct Place {
    const void* address;
    const void* what;
    std::uint32_t samples;
    double share;
    weft_kind kind;
};

std::vector<Place> places() {
    std::vector<Place> found;
    EXPECT_EQ(weft_site_each(
                  [](const weft_site_info* info, void* to) {
                      EXPECT_EQ(info->size, sizeof *info);
                      static_cast<std::vector<Place>*>(to)->push_back(
                          {info->address, info->what, info->samples, info->share, info->kind});
                  },
                  &found),
              WEFT_OK);
    return found;
}

// The only site.
Place place() {
    const auto all = places();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Place{} : all.front();
}

Place place_of(void (*body)(void*)) {
    for (const Place& one : places()) {
        if (one.what == reinterpret_cast<const void*>(body)) return one;
    }
    ADD_FAILURE() << "no place spawns that";
    return {};
}

// ---- spawning loops -----------------------------------------------------------------------------

weft_unit_options automatic() {
    weft_unit_options made = options();
    made.kind = WEFT_KIND_AUTO;
    return made;
}

weft_kind kind_of(weft_unit* unit) {
    weft_kind kind = WEFT_KIND_DEFAULT;
    EXPECT_EQ(weft_unit_kind_get(unit, &kind), WEFT_OK);
    return kind;
}

bool may_be(weft_kind kind) { return kind == WEFT_KIND_SC || kind == WEFT_KIND_ROC || kind == WEFT_KIND_LSA; }

// A site of its own: this call is nowhere else. Returns the kind of the last unit.
[[gnu::noinline]] weft_kind here(std::size_t count, void (*body)(void*), void* argument = nullptr,
                                 const weft_unit_options* chosen = nullptr, weft_pool* pool = nullptr) {
    weft_kind kind = WEFT_KIND_DEFAULT;
    for (std::size_t i = 0; i < count; ++i) {
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_ult_spawn(pool, body, argument, chosen, &unit), WEFT_OK) << weft_error_text();
        kind = kind_of(unit);
        EXPECT_TRUE(may_be(kind)) << kind;
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    return kind;
}

// Another site.
[[gnu::noinline]] weft_kind there(std::size_t count, void (*body)(void*), void* argument = nullptr,
                                  const weft_unit_options* chosen = nullptr) {
    weft_kind kind = WEFT_KIND_DEFAULT;
    for (std::size_t i = 0; i < count; ++i) {
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_ult_spawn(nullptr, body, argument, chosen, &unit), WEFT_OK) << weft_error_text();
        kind = kind_of(unit);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    return kind;
}

// A site of whose units one in `of` suspends.
[[gnu::noinline]] weft_kind now_and_then(std::size_t count, std::size_t of) {
    weft_kind kind = WEFT_KIND_DEFAULT;
    for (std::size_t i = 0; i < count; ++i) {
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_ult_spawn(nullptr, suspends_if, i % of == 0 ? &kind : nullptr, nullptr, &unit), WEFT_OK);
        kind = kind_of(unit);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    return kind;
}

// A runtime with one stream, whose ULTs are of kind auto unless they name a kind.
struct Learning {
    Runtime runtime;
    explicit Learning(weft_pool_kind pool = WEFT_POOL_SHARED) : runtime(of(pool)) {
        EXPECT_EQ(weft_stream_kind_set(weft_stream_self(), WEFT_KIND_AUTO), WEFT_OK);
    }
    static weft_settings of(weft_pool_kind pool) {
        weft_settings settings = with_streams(1);
        settings.pool = pool;
        return settings;
    }
};

constexpr weft_pool_kind pools_of_others[] = {WEFT_POOL_SHARED, WEFT_POOL_DEQUE};   // other streams may draw, too

}   // namespace

// ---- what is learnt -----------------------------------------------------------------------------

TEST(Auto, UnitsThatNeverSuspendComeToSc) {
    for (const auto pool : pools_of_others) {
        Learning learning(pool);
        EXPECT_EQ(here(1, returns), WEFT_KIND_ROC) << "nothing is known yet";
        EXPECT_EQ(here(enough, returns), WEFT_KIND_SC);
        EXPECT_GE(place().samples, 16u);
        EXPECT_EQ(place().share, 0);
        EXPECT_EQ(place().kind, WEFT_KIND_SC);
    }
}

// A unit that calls the unit it waits for has not suspended.
TEST(Auto, UnitsThatJoinWhatReturnsAtOnceComeToSc) {
    if (weft::config::address_sanitizer || weft::config::thread_sanitizer) GTEST_SKIP() << "nobody is called there";
    Learning learning(WEFT_POOL_SHARED);
    const auto joins = [](void*) {
        auto child = options();
        child.kind = WEFT_KIND_ROC;
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_ult_spawn(
                      nullptr, [](void*) {}, nullptr, &child, &unit),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    };
    EXPECT_EQ(here(enough, joins), WEFT_KIND_SC);
    EXPECT_EQ(place().share, 0);
}

TEST(Auto, UnitsThatAlwaysSuspendComeToLsa) {
    for (const auto pool : pools_of_others) {
        Learning learning(pool);
        EXPECT_EQ(here(enough, suspends), WEFT_KIND_LSA);
        EXPECT_EQ(place().share, 1);
        EXPECT_EQ(place().kind, WEFT_KIND_LSA);
    }
}

TEST(Auto, InBetweenTheyComeToRoc) {
    Learning learning(WEFT_POOL_SHARED);
    EXPECT_EQ(now_and_then(2 * enough, 3), WEFT_KIND_ROC);
    EXPECT_NEAR(place().share, 0.33, 0.13);
    EXPECT_EQ(place().kind, WEFT_KIND_ROC);
}

TEST(Auto, OneInSome16IsASampleAtFirstAndOneInSome128Later) {
    Learning learning;
    here(16 * 16, returns);
    EXPECT_GT(place().samples, 10u);
    EXPECT_LT(place().samples, 24u);
    here(128 * 100, returns);
    EXPECT_GT(place().samples, 80u);
    EXPECT_LT(place().samples, 160u);
}

// A unit that its joiner calls, or that is promoted, may or may not have suspended, whatever its
// kind.
TEST(Auto, TheShareIsOfUnitsThatSuspendedWhateverTheirKind) {
    for (const std::size_t of : {1, 2, 10, 50}) {
        Learning learning;
        now_and_then(8 * enough, of);
        EXPECT_NEAR(place().share, 1.0 / static_cast<double>(of), 0.2) << of;
    }
}

TEST(Auto, FollowsAProgramWhoseUnitsBeginToSuspend) {
    for (const auto pool : pools_of_others) {
        Learning learning(pool);
        auto turn = [](std::size_t count, bool suspend) {
            return here(count, suspends_if, suspend ? &errno : nullptr);
        };
        ASSERT_EQ(turn(2 * enough, false), WEFT_KIND_SC);
        EXPECT_EQ(turn(to_forget / 2, true), WEFT_KIND_LSA);
    }
}

TEST(Auto, FollowsAProgramWhoseUnitsNoLongerSuspend) {
    for (const auto pool : pools_of_others) {
        Learning learning(pool);
        auto turn = [](std::size_t count, bool suspend) {
            return here(count, suspends_if, suspend ? &errno : nullptr);
        };
        ASSERT_EQ(turn(2 * enough, true), WEFT_KIND_LSA);
        EXPECT_EQ(turn(to_forget, false), WEFT_KIND_SC);
        EXPECT_EQ(turn(to_forget / 2, true), WEFT_KIND_LSA) << "and once more";
    }
}

// ---- sites --------------------------------------------------------------------------------------

TEST(Auto, PlacesAreToldApartByTheirAddress) {
    Learning learning;
    for (std::size_t i = 0; i < enough; i += 10) {   // alternating
        here(10, suspends_if, nullptr);
        there(10, suspends_if, &learning);
    }
    EXPECT_EQ(here(enough, suspends_if, nullptr), WEFT_KIND_SC);
    EXPECT_EQ(there(enough, suspends_if, &learning), WEFT_KIND_LSA);
    const auto all = places();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_NE(all[0].address, all[1].address);
    EXPECT_EQ(all[0].what, all[1].what);
    EXPECT_NE(all[0].share, all[1].share);
}

TEST(Auto, PlacesAreToldApartByTheBody) {
    Learning learning;
    for (std::size_t i = 0; i < 2 * enough; ++i) here(1, i % 2 == 0 ? returns : suspends);
    EXPECT_EQ(here(1, returns), WEFT_KIND_SC);
    EXPECT_EQ(here(1, suspends), WEFT_KIND_LSA);
    EXPECT_EQ(place_of(returns).address, place_of(suspends).address);
    EXPECT_EQ(place_of(returns).share, 0);
    EXPECT_EQ(place_of(suspends).share, 1);
}

TEST(Auto, AnObjectStandsForSeveralAddresses) {
    Runtime runtime(Learning::of(WEFT_POOL_SHARED));
    static const char object = 0;
    auto chosen = automatic();
    chosen.site = &object;
    for (std::size_t i = 0; i < enough; i += 10) {
        here(5, returns, nullptr, &chosen);
        there(5, suspends_if, nullptr, &chosen);
    }
    EXPECT_EQ(here(1, returns, nullptr, &chosen), WEFT_KIND_SC);
    EXPECT_EQ(there(1, suspends_if, nullptr, &chosen), WEFT_KIND_SC);
    EXPECT_EQ(place().address, &object);
    EXPECT_EQ(place().what, nullptr);
}

TEST(Auto, MorePlacesThanAreKeptDoNoHarm) {
    Runtime runtime(Learning::of(WEFT_POOL_SHARED));
    static const char objects[2'000] = {};
    atomic<std::size_t> ran{0};
    auto chosen = automatic();
    for (const char& object : objects) {
        chosen.site = &object;
        here(2, counts, &ran, &chosen);
    }
    EXPECT_EQ(ran, 2 * std::size(objects));
    const auto all = places();
    EXPECT_LE(all.size(), 256u);
    EXPECT_GT(all.size(), 128u);
    std::set<const void*> addresses;
    for (const Place& one : all) addresses.insert(one.address);
    EXPECT_EQ(addresses.size(), all.size());
    // All sites for which there is no room count as one.
    for (std::size_t round = 0; round < 3; ++round) {
        for (const char& object : objects) {
            chosen.site = &object;
            here(1, counts, &ran, &chosen);
        }
    }
    EXPECT_EQ(here(1, counts, &ran, &chosen), WEFT_KIND_SC);
}

TEST(Auto, WhatWasLearntIsForgottenWithTheRuntime) {
    for (int run = 0; run < 2; ++run) {
        Learning learning;
        EXPECT_TRUE(places().empty());
        EXPECT_EQ(here(1, returns), WEFT_KIND_ROC);
        EXPECT_EQ(here(enough, returns), WEFT_KIND_SC);
    }
}

TEST(Auto, PlacesAreNotShownToNobodyOrWithoutARuntime) {
    auto visit = [](const weft_site_info*, void*) { FAIL(); };
    EXPECT_EQ(weft_site_each(visit, nullptr), WEFT_NOT_INITIALIZED);
    Runtime runtime;
    EXPECT_EQ(weft_site_each(nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_site_each(visit, nullptr), WEFT_OK);
}

// ---- where the kind is asked for ----------------------------------------------------------------

TEST(Auto, IsAskedForByOptions) {
    Runtime runtime(Learning::of(WEFT_POOL_SHARED));
    const auto chosen = automatic();
    EXPECT_EQ(here(enough, returns, nullptr, &chosen), WEFT_KIND_SC);
    EXPECT_EQ(here(enough, suspends, nullptr, &chosen), WEFT_KIND_LSA);
    EXPECT_EQ(place_of(returns).kind, WEFT_KIND_SC);
}

TEST(Auto, OptionsThatDoNotSayLeaveItToTheStream) {
    Learning learning;
    auto named = options();
    named.name = "named";
    EXPECT_EQ(here(enough, returns, nullptr, &named), WEFT_KIND_SC);
}

TEST(Auto, IsTheKindOfAStream) {
    Runtime runtime(Learning::of(WEFT_POOL_SHARED));
    auto chosen = stream_options();
    chosen.kind = WEFT_KIND_AUTO;
    chosen.pool = make_pool(WEFT_POOL_SHARED);
    {
        Stream stream(&chosen);
        auto of_kind_full = options();
        of_kind_full.kind = WEFT_KIND_FULL;
        weft_kind last = WEFT_KIND_DEFAULT;
        Ult spawner([&] { last = here(enough, returns); }, &of_kind_full, chosen.pool);
        EXPECT_EQ(spawner.free(), WEFT_OK);
        EXPECT_EQ(last, WEFT_KIND_SC);
        EXPECT_EQ(places().size(), 1u);
    }
    EXPECT_EQ(weft_pool_free(chosen.pool), WEFT_OK);
}

TEST(Auto, AStreamThatIsOfAnotherKindForAWhileRemembers) {
    Learning learning;
    ASSERT_EQ(here(enough, returns), WEFT_KIND_SC);
    for (const weft_kind other : {WEFT_KIND_ROC, WEFT_KIND_LSA}) {
        ASSERT_EQ(weft_stream_kind_set(weft_stream_self(), other), WEFT_OK);
        EXPECT_EQ(here(between_samples, returns), other);
        const auto samples = place().samples;
        EXPECT_EQ(here(between_samples, returns), other);
        EXPECT_EQ(place().samples, samples);
        ASSERT_EQ(weft_stream_kind_set(weft_stream_self(), WEFT_KIND_AUTO), WEFT_OK);
        EXPECT_EQ(here(1, returns), WEFT_KIND_SC);
    }
}

TEST(Auto, IsTheKindOfTheProcess) {
    const Variable pool("WEFT_POOL", "shared");
    for (const bool asked : {false, true}) {                           // it is also the default
        if (!asked && std::getenv("WEFT_KIND") != nullptr) continue;   // all tests run with each kind
        std::optional<Variable> kind;
        if (asked) kind.emplace("WEFT_KIND", "auto");
        Runtime runtime;
        EXPECT_EQ(here(enough, returns), WEFT_KIND_SC);
        EXPECT_EQ(place().what, reinterpret_cast<const void*>(returns));
    }
}

TEST(Auto, IsLsaInPrivatePoolsAndLearnsNothingThere) {
    Learning learning(WEFT_POOL_PRIVATE);
    const auto chosen = automatic();
    for (const weft_unit_options* how : {static_cast<const weft_unit_options*>(nullptr), &chosen}) {
        EXPECT_EQ(here(enough, returns, nullptr, how), WEFT_KIND_LSA);
        weft_unit* units[10];
        ASSERT_EQ(weft_unit_spawn_many(nullptr, 10, returns, nullptr, how, units), WEFT_OK);
        for (weft_unit* unit : units) EXPECT_EQ(kind_of(unit), WEFT_KIND_LSA);
        EXPECT_EQ(weft_unit_join_free_many(units, 10), WEFT_OK);
    }
    EXPECT_TRUE(places().empty());
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);   // a shared pool, drawn from by a stream whose own pool is private
    {
        auto with = stream_options();
        with.pool = pool;
        Stream stream(&with);
        EXPECT_EQ(here(enough, returns, nullptr, nullptr, pool), WEFT_KIND_SC);
        EXPECT_EQ(here(1, returns), WEFT_KIND_LSA);
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Auto, UnitsSpawnedTogetherAreOfOnePlace) {
    for (const auto pool : pools_of_others) {
        Learning learning(pool);
        constexpr std::size_t count = 100;
        weft_unit* units[count];
        weft_kind kind = WEFT_KIND_DEFAULT;
        for (std::size_t round = 0; round < 100; ++round) {
            ASSERT_EQ(weft_unit_spawn_many(nullptr, count, returns, nullptr, nullptr, units), WEFT_OK);
            kind = kind_of(units[0]);
            for (weft_unit* unit : units) EXPECT_EQ(kind_of(unit), kind);
            EXPECT_EQ(weft_unit_join_free_many(units, count), WEFT_OK);
        }
        EXPECT_EQ(kind, WEFT_KIND_SC);
        EXPECT_GT(place().samples, 60u);
        EXPECT_LT(place().samples, 130u);
    }
}

TEST(Auto, DetachedUnitsTeachToo) {
    for (const auto pool : pools_of_others) {
        Learning learning(pool);
        atomic<std::size_t> ran{0};
        std::vector<void*> arguments(10, &ran);
        std::size_t spawned = 0;
        while (spawned < 2 * enough) {
            for (int i = 0; i < 10; ++i) ASSERT_EQ(weft_ult_spawn(nullptr, counts, &ran, nullptr, nullptr), WEFT_OK);
            ASSERT_EQ(weft_unit_spawn_many(nullptr, 10, counts, arguments.data(), nullptr, nullptr), WEFT_OK);
            spawned += 20;
            until([&] { return ran == spawned; });
        }
        const auto all = places();
        ASSERT_EQ(all.size(), 2u);
        for (const Place& one : all) {
            EXPECT_GE(one.samples, 8u);
            EXPECT_EQ(one.share, 0);
        }
        EXPECT_EQ(units_alive(), 1u);
    }
}

TEST(Auto, IsAThreadsKindInCpp) {
    Runtime runtime(Learning::of(WEFT_POOL_SHARED));
    static const char object = 0;
    std::size_t ran = 0;
    weft_kind last = WEFT_KIND_DEFAULT;
    for (std::size_t i = 0; i < enough; ++i) {
        weft::thread one({.kind = weft::unit_kind::automatic}, [&ran] { ++ran; });
        weft::thread other({.kind = weft::unit_kind::automatic, .site = &object}, [&ran] { ++ran; });
        last = kind_of(other.native_handle());
    }
    EXPECT_EQ(ran, 2 * enough);
    EXPECT_EQ(last, WEFT_KIND_SC);
    const auto all = places();
    ASSERT_EQ(all.size(), 2u);
    for (const Place& one : all) EXPECT_EQ(one.address == &object, one.what == nullptr);
}

// ---- combinations with other options ------------------------------------------------------------

TEST(Auto, OptionsThatLeaveNoChoiceTeachNothing) {
    Runtime runtime(Learning::of(WEFT_POOL_SHARED));
    static char memory[256 << 10];
    auto large = automatic(), huge = automatic(), own = automatic(), measured = automatic(), first = automatic();
    large.stack_bytes = 1 << 20;
    huge.stack_bytes = 128 << 20;
    own.stack = memory;
    own.stack_bytes = sizeof memory;
    measured.measure_stack = true;
    first.child_first = true;
    for (const weft_unit_options* chosen : {&large, &huge, &own, &measured, &first}) {
        const bool forced = chosen == &huge || chosen == &own;   // has its stack from the start
        for (std::size_t i = 0; i < between_samples; ++i) {
            weft_unit* unit = nullptr;
            ASSERT_EQ(weft_ult_spawn(nullptr, i % 2 == 0 ? returns : suspends, nullptr, chosen, &unit), WEFT_OK)
                << weft_error_text();
            EXPECT_EQ(kind_of(unit), forced ? WEFT_KIND_FULL : WEFT_KIND_LSA);
            EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        }
        std::uint32_t samples = 0;
        for (const Place& one : places()) samples += one.samples;
        EXPECT_EQ(samples, 0u);
    }
}

TEST(Auto, UnitsHaveTheStackOfTheSettingsWhateverTheirKind) {
    weft_settings settings = Learning::of(WEFT_POOL_SHARED);
    settings.stack_bytes = 2 << 20;
    settings.scheduler_stack_bytes = 64 << 10;
    Runtime runtime(settings);
    const auto chosen = automatic();
    const auto uses_much = [](void*) {
        volatile char much[1 << 20];
        for (std::size_t i = 0; i < sizeof much; i += 1024) much[i] = 1;
    };
    EXPECT_EQ(here(enough, uses_much, nullptr, &chosen), WEFT_KIND_ROC);
    // units that are neither joined nor called
    for (std::size_t i = 0; i < 10; ++i)
        EXPECT_EQ(weft_ult_spawn(nullptr, uses_much, nullptr, &chosen, nullptr), WEFT_OK);
    until([] { return units_alive() == 1; });
}

TEST(Auto, IsNoTaskletsKind) {
    Runtime runtime(Learning::of(WEFT_POOL_SHARED));
    const auto chosen = automatic();
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_tasklet_spawn(nullptr, returns, nullptr, &chosen, &unit), WEFT_WRONG_KIND);
}

TEST(Auto, OfWhatNoStreamSpawnsNothingIsLearnt) {
    Learning learning(WEFT_POOL_SHARED);
    const auto chosen = automatic();
    atomic<bool> spawned{false};
    std::thread thread([&] {
        for (std::size_t i = 0; i < enough; ++i)
            EXPECT_EQ(weft_ult_spawn(nullptr, returns, nullptr, &chosen, nullptr), WEFT_OK);
        spawned = true;
    });
    until_set(spawned);
    thread.join();
    EXPECT_EQ(place().samples, 0u);
    until([] { return units_alive() == 1; });
}

// No unit may run in the place of such a scheduler.
TEST(Auto, UnderASchedulerThatOwnsItsLoopUnitsRunAllTheSame) {
    Runtime runtime(Learning::of(WEFT_POOL_SHARED));
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    weft_sched_ops ops{};
    ops.size = sizeof ops;
    ops.run = run_all;
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create_user(&ops, nullptr, &pool, 1, &sched), WEFT_OK);
    {
        Stream stream(nullptr, sched);
        const auto chosen = automatic();
        EXPECT_EQ(here(enough, suspends_if, nullptr, &chosen, pool), WEFT_KIND_SC);
        // these units suspend although they are taken for units that do not
        here(between_samples, suspends_if, &runtime, &chosen, pool);
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Auto, SeveralStreamsLearnOfOnePlace) {
    weft_settings settings = with_streams(3);
    settings.pool = WEFT_POOL_SHARED;
    Runtime runtime(settings);
    atomic<std::size_t> ran{0};
    {
        auto spawn = [&] {
            const auto chosen = automatic();
            for (std::size_t i = 0; i < enough; ++i) {
                weft_unit* unit = nullptr;
                EXPECT_EQ(weft_ult_spawn(nullptr, counts, &ran, &chosen, &unit), WEFT_OK);
                EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
            }
        };
        Ult a(spawn, nullptr, pool_of(0)), b(spawn, nullptr, pool_of(1)), c(spawn, nullptr, pool_of(2));
    }
    EXPECT_EQ(ran, 3 * enough);
    EXPECT_GE(place_of(counts).samples, 16u);
}

// ---- samples behave like other units ------------------------------------------------------------

TEST(Auto, ExceptionsOfSamplesAreTheJoiners) {
    Learning learning;
    for (std::size_t i = 0; i < 3 * between_samples; ++i) {
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      nullptr, [](void*) { throw std::runtime_error("why"); }, nullptr, nullptr, &unit),
                  WEFT_OK);
        EXPECT_EQ(outcome_of(unit), WEFT_OUTCOME_EXCEPTION);
        EXPECT_NE(value_of(weft_unit_exception_get, unit), nullptr);
        EXPECT_EQ(end_of(unit), WEFT_OUTCOME_EXCEPTION);
    }
    EXPECT_GE(place().samples, 2u);
}

TEST(Auto, SamplesKeepTheirNamesAndWhereTheyWereSpawned) {
    Learning learning;
    auto named = options();
    named.name = "a name of some length";
    for (const weft_unit_options* chosen :
         {static_cast<const weft_unit_options*>(nullptr), const_cast<const weft_unit_options*>(&named)}) {
        constexpr std::size_t count = 3 * between_samples;
        weft_unit* units[count];
        for (weft_unit*& unit : units) ASSERT_EQ(weft_ult_spawn(nullptr, returns, nullptr, chosen, &unit), WEFT_OK);
        struct Seen {
            std::set<const void*> addresses;
            std::size_t named = 0;
        } seen;
        weft_unit_each(
            [](const weft_unit_info* info, void* to) {
                if (info->state != WEFT_UNIT_READY) return;
                static_cast<Seen*>(to)->addresses.insert(info->spawn_site);
                static_cast<Seen*>(to)->named += std::strcmp(info->name, "a name of some length") == 0 ? 1 : 0;
            },
            &seen);
        EXPECT_EQ(seen.addresses, std::set<const void*>{place().address});
        EXPECT_EQ(seen.named, chosen == nullptr ? 0 : count);
        EXPECT_EQ(weft_unit_join_free_many(units, count), WEFT_OK);
    }
    EXPECT_GE(place().samples, 4u);
}

TEST(Auto, ASampleThatRunsAgainIsNone) {
    Learning learning;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(nullptr, suspends, nullptr, nullptr, &unit), WEFT_OK);   // the first unit is a sample
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    ASSERT_EQ(weft_unit_revive(unit, nullptr, suspends, nullptr), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(place().samples, 0u);
}
