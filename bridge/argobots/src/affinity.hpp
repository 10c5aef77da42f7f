// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPUs that execution streams run on: set by ABT_SET_AFFINITY, or by the program.
#pragma once

#include <cstddef>

#include "xstream.hpp"

namespace weft::argobots {

// A set of the system's CPU numbers, in ascending order.
class Cpus {
public:
    static constexpr long limit = 4096;

    void add(long cpu) { words_[cpu / 64] |= std::uint64_t{1} << cpu % 64; }
    bool has(long cpu) const { return (words_[cpu / 64] >> cpu % 64 & 1) != 0; }
    void clear() { *this = Cpus{}; }
    std::size_t count() const;

private:
    std::uint64_t words_[limit / 64] = {};
};

// Reads a list of places in OpenMP's notation: "{0},{1,2}", "{0:4}" (from 0 on, 4 of them),
// "{0:4:2}" (every second), "{0:2}:3:2" (three places, each 2 further on), and "0,1,2" where a
// place is one CPU. Returns the number of places, and stores place number `number` in `place`; 0:
// the text is not such a list.
std::size_t read_places(const char* text, std::size_t number, Cpus& place);

// Records the CPUs that the process may use, before any stream is bound.
void note_process_cpus();

// Binds the stream of rank r to place r of the environment's list, modulo the list's length. Does
// nothing if the environment has no list. A list that cannot be parsed or applied is reported on
// standard error and ignored.
void bind_as_asked(Xstream& xstream);

}   // namespace weft::argobots
