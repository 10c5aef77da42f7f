// See test/behaviour/atomic.hpp, in front of which it stands on the include path.
#pragma once

#include <atomic>

#include "weft/sim.hpp"

namespace weft_test {

using weft::sim::atomic;

}   // namespace weft_test
