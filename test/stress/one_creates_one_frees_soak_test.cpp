// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fifty million units, created by one stream and freed by another, under a bound on memory.
#include "test/stress/one_creates_one_frees.hpp"

using namespace weft_test;

TEST(OneCreatesOneFrees, FiftyMillionUnitsStayUnderABound) {
    const std::size_t grown = create_here_free_there(sanitized ? 1'000'000 : 50'000'000, WEFT_KIND_LSA, true);
    if (!sanitized) {
        EXPECT_LT(grown, std::size_t{24} << 20);
    }
}
