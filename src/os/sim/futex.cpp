// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/futex.hpp"

#include "os/fault.hpp"
#include "os/sim/machine.hpp"

namespace weft::os {

void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns) {
    sim::system_call("futex-wait", &word);
    if (sim::seam_fails() || fault(Seam::futex_wait)) return;   // as a signal would end it
    if (*reinterpret_cast<const std::uint32_t*>(&word) != expected) return;
    const std::uint64_t now = sim::now_ns();
    sim::block(sim::Wait::futex, &word, timeout_ns < forever - now ? now + timeout_ns : forever);
}

void futex_wake(const atomic<std::uint32_t>& word, std::uint32_t count) {
    sim::system_call("futex-wake", &word);
    sim::wake(&word, count);
}

}   // namespace weft::os
