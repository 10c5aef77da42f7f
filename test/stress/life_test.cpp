// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that are cancelled, migrated, resumed and joined from several streams and OS threads at
// once. Each ends once, its values are destroyed once, and nothing is left.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "test/stress/stress.hpp"

using namespace weft_test;

namespace {

std::atomic<long> values_made, values_destroyed, bodies_ended;
weft_key* key;

struct Plan {
    std::uint64_t seed;
    weft_pool* const* pools;
    std::size_t pool_count;
};

// What each unit does: it migrates, yields, and sometimes waits for a child.
void body(void* raw) {
    const auto& plan = *static_cast<const Plan*>(raw);
    weft::Random random(plan.seed);
    if (weft_local_set(key, key) == WEFT_OK) values_made.fetch_add(1);
    const unsigned steps = static_cast<unsigned>(random.below(6));
    for (unsigned step = 0; step < steps; ++step) {
        switch (random.below(4)) {
        case 0:
            weft_unit_migrate_to_pool(weft_unit_self(),
                                      plan.pools[random.below(static_cast<std::uint32_t>(plan.pool_count))]);
            break;
        case 1: weft_unit_suspend([](weft_unit* self, void*) { weft_unit_resume(self); }, nullptr); break;
        case 2: {
            weft_unit* child = nullptr;
            if (weft_ult_spawn(
                    plan.pools[random.below(static_cast<std::uint32_t>(plan.pool_count))],
                    [](void*) { weft_unit_yield(); }, nullptr, nullptr, &child) != WEFT_OK)
                break;
            EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);
            break;
        }
        default: break;
        }
        weft_unit_yield();
    }
    bodies_ended.fetch_add(1);
}

// One crowd: spawned, then disturbed and joined from here.
void crowd(std::uint64_t seed, weft_pool* const* pools, std::size_t pool_count, int size) {
    weft::Random random(seed);
    std::vector<Plan> plans(static_cast<std::size_t>(size));
    std::vector<weft_unit*> units(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
        plans[i] = {random.next(), pools, pool_count};
        ASSERT_EQ(weft_ult_spawn(pools[random.below(static_cast<std::uint32_t>(pool_count))], body, &plans[i], nullptr,
                                 &units[i]),
                  WEFT_OK);
    }
    long cancelled = 0, ended = 0;
    for (weft_unit* unit : units) {
        const auto what = random.below(5);
        if (what == 0) weft_unit_cancel(unit);
        if (what == 1 || what == 2) {
            const weft_status asked =
                weft_unit_migrate_to_pool(unit, pools[random.below(static_cast<std::uint32_t>(pool_count))]);
            EXPECT_TRUE(asked == WEFT_OK || asked == WEFT_INVALID || asked == WEFT_WRONG_STATE)
                << weft_status_name(asked);
            if (what == 2 && asked == WEFT_OK) {
                // half of the waits may give up at any moment: before they are enrolled, while they
                // are, and after
                const bool timed = random.below(2) == 0;
                const weft_status waited =
                    timed ? weft_unit_migrate_wait_until(unit, weft_now_ns() + random.below(20'000))
                          : weft_unit_migrate_wait(unit);
                EXPECT_TRUE(waited == WEFT_OK || waited == WEFT_WRONG_STATE || (timed && waited == WEFT_TIMED_OUT))
                    << weft_status_name(waited);
            }
        }
        weft_unit_resume(unit);
        const weft_unit_outcome how = end_of(unit);
        EXPECT_TRUE(how == WEFT_OUTCOME_RETURNED || (how == WEFT_OUTCOME_CANCELLED && what == 0)) << how;
        (how == WEFT_OUTCOME_CANCELLED ? cancelled : ended) += 1;
    }
    EXPECT_EQ(cancelled + ended, size);
}

}   // namespace

TEST(Life, UnitsCancelledMigratedAndJoinedFromEverywhereEndOnce) {
    const Deadline deadline(300);
    const std::uint64_t seed = first_seed();
    values_made = values_destroyed = bodies_ended = 0;
    ASSERT_EQ(weft_key_create([](void*) { values_destroyed.fetch_add(1); }, &key), WEFT_OK);
    {
        Runtime runtime;
        std::vector<weft_pool*> pools;
        for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_PRIVATE}) {
            weft_pool* pool = nullptr;
            ASSERT_EQ(weft_pool_create(kind, &pool), WEFT_OK);
            pools.push_back(pool);
        }
        std::vector<weft_stream*> streams;
        for (weft_pool* pool : pools) {
            weft_stream_options chosen{};
            chosen.size = sizeof chosen;
            chosen.pool = pool;
            weft_stream* stream = nullptr;
            ASSERT_EQ(weft_stream_create(&chosen, &stream), WEFT_OK);
            streams.push_back(stream);
        }
        const int rounds = scaled(300);
        for (int round = 0; round < rounds; ++round) {
            const auto from = seed + static_cast<std::uint64_t>(round) * 16;
            std::thread outside([&] { crowd(from, pools.data(), pools.size(), 12); });
            Ult there([&] { crowd(from + 1, pools.data(), pools.size(), 12); }, nullptr, pools[0]);
            Ult shared([&] { crowd(from + 2, pools.data(), pools.size(), 12); }, nullptr, pools[1]);
            crowd(from + 3, pools.data(), pools.size(), 12);
            EXPECT_EQ(there.join(), WEFT_OK);
            EXPECT_EQ(shared.join(), WEFT_OK);
            outside.join();
        }
        EXPECT_EQ(units_alive(), 1u);
        for (weft_stream* stream : streams) EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK);
        for (weft_pool* pool : pools) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
    EXPECT_EQ(values_made, values_destroyed);
    EXPECT_GT(bodies_ended, 0);
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}
