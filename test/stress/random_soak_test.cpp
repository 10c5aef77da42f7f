// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs for minutes.
#include "test/stress/random.hpp"

using namespace weft_test;

TEST(Random, EachUnitRunsOnceWhateverItDoesForMinutes) {
    const std::uint64_t first = first_seed();
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(4);
    std::uint64_t seed = first;
    for (; std::chrono::steady_clock::now() < end; ++seed) {
        const Deadline deadline(120);
        SCOPED_TRACE("WEFT_SEED=" + std::to_string(seed));
        RandomProgram(seed, 200 + static_cast<int>(seed % 7) * 2000).run();
        ASSERT_FALSE(HasFailure()) << "WEFT_SEED=" << seed;
    }
    std::printf("%llu seeds\n", static_cast<unsigned long long>(seed - first));
}
