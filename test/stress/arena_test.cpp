// Random trees of forks, arenas, teams, waits and yields, from several callers at once: each comes to the number of its leaves.
#include <memory>
#include <vector>

#include "test/stress/stress.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft_test;

struct Arenas {
    weft::arena any, one{1}, two{2}, many{8};

    const weft::arena& choose(weft::Random& random) const {
        const weft::arena* const all[] = {&any, &one, &two, &many};
        return *all[random.below(4)];
    }
};

// The number of leaves below, which the seed alone says.
long leaves(const Arenas& arenas, std::uint64_t seed, int depth) {
    weft::Random random(seed);
    if (depth == 0) {
        if (random.below(4) == 0) weft::this_thread::yield();
        if (random.below(64) == 0) weft_sleep_for(random.below(50'000));
        return 1;
    }
    const auto both = [&arenas, seed, depth] {
        const auto sums = weft::invoke([&] { return leaves(arenas, seed * 2 + 1, depth - 1); }, [&] { return leaves(arenas, seed * 2 + 2, depth - 1); });
        return sums.first + sums.second;
    };
    switch (random.below(12)) {
    case 0: return arenas.choose(random).execute(both);
    case 1: {
        std::atomic<long> sum{0};
        const auto member = [&] { sum += leaves(arenas, seed + weft::spmd_tid(), depth - 1); };
        weft::spmd(2, member);
        return sum;
    }
    case 2: {
        std::atomic<long> sum{0};
        weft::task_group group;
        for (std::uint64_t i = 0; i < 2; ++i) group.run([&, i] { sum += leaves(arenas, seed + i, depth - 1); });
        group.wait();
        return sum;
    }
    case 3: weft::this_thread::yield(); [[fallthrough]];
    default: return both();
    }
}

TEST(ArenaStress, RandomTreesComeToTheNumberOfTheirLeaves) {
    const Deadline deadline(250);
    const std::uint64_t first = first_seed();
    weft::Random random(first);
    for (int round = 0; round < scaled(10'000); ++round) {
        weft_settings settings = with_streams(1 + random.below(3));
        settings.spin_ns = random.below(2) == 0 ? 1 : 20'000;
        const Runtime runtime(settings);
        const Arenas arenas;
        const std::uint64_t seed = first + static_cast<std::uint64_t>(round) * 1'000;
        std::vector<std::unique_ptr<Ult>> callers;
        for (std::uint64_t i = 0; i < 4; ++i) {
            callers.push_back(std::make_unique<Ult>([&arenas, seed, i] {
                EXPECT_EQ(arenas.any.execute([&] { return leaves(arenas, seed + i, 7); }), 128);
            }, nullptr, pool_of(i % settings.streams)));
        }
        EXPECT_EQ(arenas.two.execute([&] { return leaves(arenas, seed + 4, 7); }), 128);   // the primary unit
        for (auto& caller : callers) EXPECT_EQ(caller->join(), WEFT_OK);
    }
}

}  // namespace
