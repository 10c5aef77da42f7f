// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small generator (splitmix64, Steele, Lea and Flood 2014): for choosing victims and for seeded
// tests. Not for secrets.
#pragma once

#include <cstdint>

namespace weft {

class Random {
public:
    explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

    constexpr std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    // In [0, bound); bound > 0. The bias of the multiplication is below 2^-32.
    constexpr std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
    }

private:
    std::uint64_t state_;
};

}   // namespace weft
