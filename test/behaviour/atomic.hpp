// The atomics that behavioural tests share data by: std::atomic, and in simulation
// (test/simulation/seam) those that virtual harts see.
#pragma once

#include <atomic>

namespace weft_test {

using std::atomic;

}   // namespace weft_test
