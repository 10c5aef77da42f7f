// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where detached units wait for which no stack was available; shortage.hpp has the operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/fifo.hpp"
#include "os/lock.hpp"
#include "poll/timers.hpp"
#include "unit/unit.hpp"

namespace weft {

struct Shortage {
    static constexpr std::uint64_t shortest_pause_ns = 1'000'000, longest_pause_ns = 64'000'000;
    static constexpr std::uint64_t told_after_ns = 1'000'000'000;   // for which none has found a stack
    using Units = Fifo<Unit, &Unit::link>;

    atomic<std::size_t> count{0};   // how many wait. relaxed: a hint for threads that do not hold the lock

    os::Lock lock;   // guards what follows
    Units units;
    Timer timer;   // goes off when some are to be tried again
    bool armed = false;
    bool refused = false;   // a unit has come here since the timer last went off
    bool told = false;
    // how many are tried at once: twice as many each time, as long as all of them find a stack
    std::size_t batch = 1;
    std::uint64_t pause_ns = shortest_pause_ns;
    std::uint64_t tried_ns = 0;           // when the timer last went off
    std::uint64_t since_ns = 0;           // since when none has found a stack
    std::size_t left_before = SIZE_MAX;   // how many were left when weft_finalize last tried them all

    // On entry, under the lock.
    // relaxed: written under the lock
    void check() const { WEFT_ASSERT(units.empty() == (count.load(std::memory_order_relaxed) == 0)); }
    // While no thread runs: each unit that waits is ready, and all are tried again when the timer
    // goes off.
    void check_whole() const {
        check();
        WEFT_ASSERT(units.check_whole([](const Unit& unit) { WEFT_ASSERT(unit.life.is(State::ready)); }) ==
                    count.load());
        WEFT_ASSERT(armed == (timer.home.load() != nullptr));
    }
    // relaxed: a hint for threads that do not hold the lock
    bool any() const { return count.load(std::memory_order_relaxed) != 0; }
};

}   // namespace weft
