// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedulers are replaced while they run: from outside and from the streams' own units, of all
// kinds, over pools that come and go with them, while units spawn, yield, join and wait.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "test/behaviour/several.hpp"
#include "test/stress/stress.hpp"

namespace {

using namespace weft_test;

void loop(void*, weft_sched* sched) {
    std::size_t count = 0;
    weft_sched_pool_count_get(sched, &count);
    while (!weft_sched_check_stop(sched)) {
        weft_unit* unit = nullptr;
        for (std::size_t i = 0; i < count && unit == nullptr; ++i) {
            weft_pool* pool = nullptr;
            weft_sched_pool_get(sched, i, &pool);
            weft_pool_pop(pool, &unit);
        }
        if (unit != nullptr) weft_sched_run_unit(sched, unit);
        else weft_sched_wait(sched);
    }
}

weft_sched* random_sched(weft::Random& random, std::vector<weft_pool*> pools) {
    weft_sched* sched = nullptr;
    const weft_sched_kind kinds[] = {WEFT_SCHED_BASIC, WEFT_SCHED_BASIC_WAIT, WEFT_SCHED_PRIORITY,
                                     WEFT_SCHED_RANDOM_STEAL, WEFT_SCHED_USER};
    const weft_sched_kind kind = kinds[random.below(5)];
    if (kind == WEFT_SCHED_USER) {
        weft_sched_ops table{};
        table.size = sizeof table;
        table.run = loop;
        EXPECT_EQ(weft_sched_create_user(&table, nullptr, pools.data(), pools.size(), &sched), WEFT_OK);
    } else {
        EXPECT_EQ(weft_sched_create(kind, pools.data(), pools.size(), &sched), WEFT_OK);
    }
    return sched;
}

void work(weft_pool* const* pools, std::uint64_t seed, std::atomic<int>& ended) {
    weft::Random random(seed);
    for (int i = 0; i < 20; ++i) {
        switch (random.below(3)) {
        case 0: weft_unit_yield(); break;
        case 1: {
            Ult child([] { weft_unit_yield(); }, nullptr, pools[random.below(3)]);
            EXPECT_EQ(child.join(), WEFT_OK);
            break;
        }
        default: {
            Ult child([] {});
            EXPECT_EQ(child.join(), WEFT_OK);
        }
        }
    }
    ++ended;
}

TEST(ReplacedStress, NothingIsLostHoweverOftenTheSchedulersChange) {
    const Deadline deadline(200);
    const std::uint64_t seed = first_seed();
    weft::Random random(seed);
    Runtime runtime;
    weft_pool* pools[3] = {make_pool(WEFT_POOL_SHARED), make_pool(WEFT_POOL_DEQUE), make_pool(WEFT_POOL_PRIORITY)};
    auto all = [&] { return std::vector<weft_pool*>{pools[0], pools[2], pools[1]}; };   // the deque has no owner
    Stream one(nullptr, random_sched(random, all())), other(nullptr, random_sched(random, all()));
    weft_stream* const streams[] = {weft_stream_at(0), one.handle(), other.handle()};
    std::atomic<int> ended{0};
    const int units = 200, rounds = scaled(3000);
    int spawned = 0;
    std::vector<std::unique_ptr<Ult>> living;
    for (int round = 0; round < rounds; ++round) {
        std::vector<weft_pool*> drawn = all();
        // Not as the main pool: units spawned there would wait forever once no stream draws from
        // it.
        if (random.below(3) == 0) drawn.push_back(make_pool(WEFT_POOL_PRIVATE));
        weft_stream* stream = streams[random.below(3)];
        weft_sched* next = random_sched(random, drawn);
        if (random.below(2) == 0) {
            Ult by_a_unit([&] { EXPECT_EQ(weft_stream_sched_set(stream, next), WEFT_OK) << weft_error_text(); },
                          nullptr, pools[random.below(3)]);
            EXPECT_EQ(by_a_unit.join(), WEFT_OK);
        } else {
            EXPECT_EQ(weft_stream_sched_set(stream, next), WEFT_OK) << weft_error_text();
        }
        if (round % 50 == 0) {   // stacked schedulers that come and go
            weft_pool* below = make_pool(random.below(2) == 0 ? WEFT_POOL_SHARED : WEFT_POOL_PRIORITY);
            for (int i = 0; i < 3; ++i) {
                living.push_back(std::make_unique<Ult>(
                    [&pools, &ended, s = random.below(1u << 30)] { work(pools, s, ended); }, nullptr, below));
                ++spawned;
            }
            EXPECT_EQ(weft_sched_push(random_sched(random, {below}), pools[random.below(3)], nullptr, nullptr),
                      WEFT_OK);
        }
        if (spawned < units * rounds / 100 && random.below(2) == 0) {
            living.push_back(
                std::make_unique<Ult>([&pools, &ended, s = random.below(1u << 30)] { work(pools, s, ended); }, nullptr,
                                      pools[random.below(3)]));
            ++spawned;
        }
        if (random.below(4) == 0) weft_unit_yield();
        if (living.size() > 100) living.clear();   // joins them
    }
    living.clear();
    EXPECT_EQ(ended, spawned);
}

}   // namespace
