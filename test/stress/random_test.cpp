// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs: a quick selection. See random.hpp; the soak test runs many more.
#include "test/stress/random.hpp"

using namespace weft_test;

TEST(Random, EachUnitRunsOnceWhateverItDoes) {
    const Deadline deadline(120);
    const std::uint64_t seed = first_seed();
    for (std::uint64_t i = 0; i < (sanitized ? 6u : 25u); ++i) {
        SCOPED_TRACE("WEFT_SEED=" + std::to_string(seed + i));
        RandomProgram(seed + i, sanitized ? 300 : 1500).run();
        if (HasFatalFailure()) return;
    }
}
