// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Precedes test/behaviour/atomic.hpp on the include path; see there.
#pragma once

#include <atomic>

#include "weft/sim.hpp"

namespace weft_test {

using weft::sim::atomic;

}   // namespace weft_test
