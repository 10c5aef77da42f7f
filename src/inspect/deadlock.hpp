// Whether anybody could go on at all: when all streams sleep, the last one looks after a while
// whether something could wake them still. If not, it says who waits for what (WEFT_DEADLOCK).
// doc/decisions/0028 tells how it knows, and what it cannot know.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "os/clock.hpp"

namespace weft {

struct Process;
struct Stream;

// What is known of a state in which all streams sleep. Under the runtime's lock.
struct Quiet {
    static constexpr std::uint64_t shortest_ns = 100'000'000;

    const Stream* watcher = nullptr;           // the one that will look
    std::uint64_t runs = ~std::uint64_t{0};    // of units, ever: another number is another state
    std::uint64_t patience_ns = shortest_ns;   // until the next look
    unsigned found = 0;                        // looks in a row that have found nobody who could wake them
    bool settled = false;                      // there is nothing more to be looked at

    atomic<std::uint64_t> reports{0};   // without the lock
};

// Of a stream that is about to sleep until it is woken: after which time it looks, if it does; else
// os::forever.
std::uint64_t begin_watch(Stream& stream);
// An OS thread that could have woken somebody ends: stream 0 looks, if all sleep.
void look_anew(Process& of);
// When it has slept so. Where it has not been woken it looks.
void end_watch(Stream& stream, bool woken);

}   // namespace weft
