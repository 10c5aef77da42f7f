// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The atomics through which behavioural tests share data: std::atomic, and in simulation
// (test/simulation/seam) atomics that virtual harts observe.
#pragma once

#include <atomic>

namespace weft_test {

using std::atomic;

}   // namespace weft_test
