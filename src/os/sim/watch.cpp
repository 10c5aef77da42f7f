// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A virtual kernel has no files: a watch knows only its ring.
#include "os/watch.hpp"

#include "os/fault.hpp"
#include "os/futex.hpp"
#include "os/memory.hpp"
#include "os/sim/machine.hpp"

namespace weft::os {
namespace {

constexpr int most = 64;
struct Ring {
    bool open = false;
    bool rung = false;
};
Ring rings[most];

}   // namespace

bool watch_open(Watch& watch) {
    sim::system_call("watch-open");
    if (sim::seam_fails() || fault(Seam::watch)) return false;
    for (int i = 0; i < most; ++i) {
        if (rings[i].open) continue;
        rings[i] = {true, false};
        watch = {i, i};
        return true;
    }
    return false;
}

void watch_close(Watch& watch) {
    sim::system_call("watch-close");
    if (watch.ring >= 0) rings[watch.ring].open = false;
    watch = Watch{};
}

bool watch_add(const Watch&, int, std::uint32_t, std::uint32_t) { return false; }
bool watch_arm(const Watch&, int, std::uint32_t, std::uint32_t) { return false; }
void watch_remove(const Watch&, int) {}

std::size_t watch_wait(const Watch& watch, std::uint64_t timeout_ns, std::uint32_t*, std::size_t) {
    sim::system_call("watch-wait");
    Ring& ring = rings[watch.ring];
    const std::uint64_t now = sim::now_ns();
    if (!ring.rung) sim::block(sim::Wait::futex, &ring, timeout_ns < forever - now ? now + timeout_ns : forever);
    ring.rung = false;
    return 0;
}

void watch_ring(const Watch& watch) {
    sim::system_call("watch-ring");
    rings[watch.ring].rung = true;
    sim::wake(&rings[watch.ring], 1);
}

}   // namespace weft::os
