// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/behaviour/trees.hpp"
#include "test/stress/stress.hpp"

namespace {

using namespace weft_test;

TEST(ArenaStress, RandomTreesComeToTheNumberOfTheirLeaves) {
    const Deadline deadline(250);
    const std::uint64_t first = first_seed();
    weft::Random random(first);
    for (int round = 0; round < scaled(10'000); ++round) {
        weft_settings settings = with_streams(1 + random.below(3));
        settings.spin_ns = random.below(2) == 0 ? 1 : 20'000;
        const Runtime runtime(settings);
        grow_trees(first + static_cast<std::uint64_t>(round) * 1'000, 7, settings.streams);
    }
}

}   // namespace
