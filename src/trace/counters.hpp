// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters of one stream: only the stream writes them, any thread reads them. A sum over streams is
// computed when it is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/relaxed_counter.hpp"

namespace weft::trace {

enum class Count : unsigned char {
    created,    // units spawned by this stream, which counts them by the ids it gives (Stream::counted)
    run,        // times a unit was started or continued: each ends in one of the next three, so it is their sum
    finished,   // units whose body ended here
    // units that were revived; together with the created ones they make up the finished and the
    // living ones
    revived,
    suspended,       // suspensions, joins included
    promoted,        // units that began as a call and became ULTs when they suspended
    yielded,         // yields that let another unit run, and spawns that run the child first
    resumed,         // units made ready again by this stream
    stolen,          // units taken from another stream's deque
    postponed,       // starts put off because no stack was available
    slept,           // times the stream gave its hart back and slept
    lent,            // times it gave its hart to others while it had work
    idle_ns,         // searching for work or asleep
    units_ns,        // in units (with WEFT_TIMING=on)
    scheduling_ns,   // in the scheduler (with WEFT_TIMING=on)
    count_
};

inline constexpr std::size_t counts = static_cast<std::size_t>(Count::count_);

class Counters {
public:
    void add(Count which, std::uint64_t amount = 1) {
        values_[static_cast<std::size_t>(which)].add(static_cast<std::int64_t>(amount));
    }

    std::uint64_t read(Count which) const {
        return static_cast<std::uint64_t>(values_[static_cast<std::size_t>(which)].read());
    }

private:
    RelaxedCounter values_[counts];
};

// The path of a counter below /units or /streams: "/units/count/created".
const char* path(Count which);

}   // namespace weft::trace
