// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether any unit could run at all: when all streams sleep, the last one checks after a while
// whether something could still wake them. If not, it reports which unit waits for what
// (WEFT_DEADLOCK). doc/decisions/0028 says how it knows, and what it cannot know.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "os/clock.hpp"

namespace weft {

struct Process;
struct Stream;

// A record of a state in which all streams sleep. Under the runtime's lock.
struct Quiet {
    static constexpr std::uint64_t shortest_ns = 100'000'000;

    const Stream* watcher = nullptr;           // the stream that will check
    std::uint64_t runs = ~std::uint64_t{0};    // units run so far: another number is another state
    std::uint64_t patience_ns = shortest_ns;   // until the next check
    unsigned found = 0;                        // checks in a row that have found nothing that could wake them
    bool settled = false;                      // there is nothing more to check

    atomic<std::uint64_t> reports{0};   // without the lock
};

// For a stream that is about to sleep until it is woken: the time after which it checks, if it
// does; else os::forever.
std::uint64_t begin_watch(Stream& stream);
// An OS thread that could have woken a stream ends: stream 0 checks, if all sleep.
void look_anew(Process& of);
// After that sleep. If the stream has not been woken it checks.
void end_watch(Stream& stream, bool woken);

}   // namespace weft
