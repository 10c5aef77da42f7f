// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/clock.hpp"

#include "os/sim/machine.hpp"

namespace weft::os {

std::uint64_t now_ns() {
    sim::system_call("clock");
    return sim::now_ns();
}

}   // namespace weft::os
