// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/behaviour/trees.hpp"

namespace {

using namespace weft_test;

TEST(ArenaTrees, ComeToTheNumberOfTheirLeaves) {
    for (std::size_t streams = 1; streams <= 3; ++streams) {
        weft_settings settings = with_streams(streams);
        settings.spin_ns = streams == 2 ? 20'000 : 1;
        const Runtime runtime(settings);
        for (std::uint64_t seed = 1; seed <= 3; ++seed) grow_trees(seed * 1'000, 3, streams);
    }
}

}   // namespace
