// On which CPUs execution streams run: as ABT_SET_AFFINITY asks, or as the program binds them.
#pragma once

#include <cstddef>

#include "xstream.hpp"

namespace weft::argobots {

// A set of the system's CPU numbers, in their order.
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

// Reads a list of places, as OpenMP writes them: "{0},{1,2}", "{0:4}" (from 0 on, 4 of them),
// "{0:4:2}" (every second), "{0:2}:3:2" (three places, each 2 further on), and "0,1,2" where a
// place is one CPU. Returns how many there are, and the place of that number in `place`; 0: the
// text is no such list.
std::size_t read_places(const char* text, std::size_t number, Cpus& place);

// The CPUs that the process may use, before any stream is bound.
void note_process_cpus();

// A stream whose rank is r runs on place r of the environment's list, which begins anew where it
// ends; nothing asked: nothing is done. What cannot be read, or is not to be had, is told on
// standard error and passed over.
void bind_as_asked(Xstream& xstream);

}   // namespace weft::argobots
