// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random trees of forks, arenas, teams, waits and yields: each returns the number of its leaves.
#pragma once

#include <memory>
#include <vector>

#include "base/random.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/guests.hpp"
#include "weft/weft.hpp"

namespace weft_test {

struct Arenas {
    weft::arena any, one{1}, two{2}, many{8};

    const weft::arena& choose(weft::Random& random) const {
        const weft::arena* const all[] = {&any, &one, &two, &many};
        return *all[random.below(4)];
    }
};

// The number of leaves below, which depends on the depth alone; the seed decides how they are
// reached.
inline long leaves(const Arenas& arenas, std::uint64_t seed, int depth) {
    weft::Random random(seed);
    if (depth == 0) {
        if (random.below(4) == 0) weft::this_thread::yield();
        if (random.below(64) == 0) weft_sleep_for(random.below(50'000));
        return 1;
    }
    const auto both = [&arenas, seed, depth] {
        const auto sums = weft::invoke([&] { return leaves(arenas, seed * 2 + 1, depth - 1); },
                                       [&] { return leaves(arenas, seed * 2 + 2, depth - 1); });
        return sums.first + sums.second;
    };
    switch (random.below(12)) {
    case 0: return arenas.choose(random).execute(both);
    case 1: {
        atomic<long> sum{0};
        const auto member = [&] {
            failing([&] { sum.fetch_add(leaves(arenas, seed + weft::spmd_tid(), depth - 1)); });
        };
        weft::spmd(2, member);
        return sum.load();
    }
    case 2: {
        atomic<long> sum{0};
        weft::task_group group;
        for (std::uint64_t i = 0; i < 2; ++i) group.run([&, i] { sum.fetch_add(leaves(arenas, seed + i, depth - 1)); });
        group.wait();
        return sum.load();
    }
    case 3: weft::this_thread::yield(); [[fallthrough]];
    default: return both();
    }
}

// Several callers at once, on a runtime with `streams` streams.
inline void grow_trees(std::uint64_t seed, int depth, std::size_t streams) {
    const Arenas arenas;
    const long all = 1L << depth;
    std::vector<std::unique_ptr<Ult>> callers;
    for (std::uint64_t i = 0; i < 4; ++i) {
        callers.push_back(std::make_unique<Ult>(
            [&arenas, seed, depth, all, i] {
                EXPECT_EQ(arenas.any.execute([&] { return leaves(arenas, seed + i, depth); }), all);
            },
            nullptr, pool_of(i % streams)));
    }
    EXPECT_EQ(arenas.two.execute([&] { return leaves(arenas, seed + 4, depth); }), all);   // the primary unit
    for (auto& caller : callers) EXPECT_EQ(caller->join(), WEFT_OK);
}

}   // namespace weft_test
