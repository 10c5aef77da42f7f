// Counters of one stream: written by it alone, read by anybody. A sum over streams is made when it is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"

namespace weft::trace {

enum class Count : unsigned char {
    created,      // units spawned by this stream
    run,          // times a unit was started or continued
    finished,     // units whose body ended here
    suspended,    // suspensions, joins included
    resumed,      // units made ready again by this stream
    yielded,      // yields that let somebody else run
    stolen,       // units taken from another stream's deque
    postponed,    // starts put off because no stack could be had
    slept,        // times the stream gave its hart back and slept
    idle_ns,      // looking for work or asleep
    units_ns,     // in units (with WEFT_TIMING=on)
    scheduling_ns,   // in the scheduler (with WEFT_TIMING=on)
    count_
};

inline constexpr std::size_t counts = static_cast<std::size_t>(Count::count_);

class Counters {
public:
    void add(Count which, std::uint64_t amount = 1) {
        auto& value = values_[static_cast<std::size_t>(which)];
        // relaxed: one writer, and readers want a number, not an order.
        value.store(value.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }

    std::uint64_t read(Count which) const {
        return values_[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);   // relaxed: a number
    }

    // What a stream that ends hands to the sum of those that ended. Needs a lock around it.
    void absorb(const Counters& other) {
        for (std::size_t i = 0; i < counts; ++i) add(static_cast<Count>(i), other.read(static_cast<Count>(i)));
    }

private:
    atomic<std::uint64_t> values_[counts] = {};
};

// The path of a counter below /units or /streams: "/units/count/created".
const char* path(Count which);

}  // namespace weft::trace
