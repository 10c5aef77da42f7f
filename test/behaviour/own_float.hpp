// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of floating-point environments share.
#pragma once

#include <cfenv>

#include "test/behaviour/several.hpp"
#include "test/behaviour/support.hpp"

namespace weft_test {

inline constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

// The rounding mode of both floating-point units that a processor may have: the one that the
// compiler uses, and on x86-64 the x87.
inline int rounding() {
    volatile double one = 1.0, tiny = 1e-30;
    const double up = one + tiny, down = -one - tiny, below = one - tiny;
    const int seen = up > 1.0 ? FE_UPWARD : down < -1.0 ? FE_DOWNWARD : below < 1.0 ? FE_TOWARDZERO : FE_TONEAREST;
    EXPECT_EQ(seen, std::fegetround());
    volatile long double wide = 1.0L, wide_tiny = 1e-60L;
    if constexpr (sizeof(long double) > sizeof(double)) {
        const long double wide_up = wide + wide_tiny, wide_down = -wide - wide_tiny, wide_below = wide - wide_tiny;
        EXPECT_EQ(wide_up > 1.0L      ? FE_UPWARD
                  : wide_down < -1.0L ? FE_DOWNWARD
                  : wide_below < 1.0L ? FE_TOWARDZERO
                                      : FE_TONEAREST,
                  seen);
    }
    return seen;
}

inline weft_unit_options own_float(weft_kind kind = WEFT_KIND_DEFAULT) {
    auto made = options();
    made.kind = kind;
    made.own_float = true;
    return made;
}

// Sets the environment of the test itself.
struct Rounding {
    explicit Rounding(int mode) { std::fesetround(mode); }
    ~Rounding() { std::fesetround(FE_TONEAREST); }
    Rounding(const Rounding&) = delete;
};

}   // namespace weft_test
