// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A million units, created by one stream and freed by another, under a bound on memory. See
// one_creates_one_frees.hpp.
#include "test/stress/one_creates_one_frees.hpp"

using namespace weft_test;

namespace {

constexpr std::size_t bound = 24 << 20;   // some thousand units with their stacks; without homes: gigabytes

void expect_bounded(std::uint64_t count, weft_kind kind, bool detached) {
    const Deadline deadline(120);
    const std::size_t grown = create_here_free_there(count, kind, detached);
    if (!sanitized) {
        EXPECT_LT(grown, bound);
    }
}

}   // namespace

TEST(OneCreatesOneFrees, JoinedUnitsComeHome) {
    expect_bounded(static_cast<std::uint64_t>(scaled(400'000)), WEFT_KIND_LSA, false);
}

TEST(OneCreatesOneFrees, DetachedUnitsComeHome) {
    expect_bounded(static_cast<std::uint64_t>(scaled(400'000)), WEFT_KIND_LSA, true);
}

// Here the stacks move too: taken where the unit is spawned, given back where it ends.
TEST(OneCreatesOneFrees, UnitsThatGetTheirStacksAtOnceComeHome) {
    expect_bounded(static_cast<std::uint64_t>(scaled(200'000)), WEFT_KIND_FULL, true);
}
