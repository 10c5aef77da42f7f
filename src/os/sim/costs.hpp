// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What accesses to memory cost in a timed run, in which virtual harts run side by side. A cache
// line lies in the caches of the harts that have read it since it was last written, or of the one
// that has written it. To move it to another takes time, and of the harts that want it at once each
// waits for its turn. Only accesses to atomics are seen.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "weft/location.hpp"

namespace weft::sim {

// What the accesses at one line of the source have cost.
struct AccessCost {
    std::uint64_t accesses = 0;
    std::uint64_t transfers = 0;   // the cache line lay elsewhere
    std::uint64_t waited_ns = 0;   // for these
};

enum class Accesses : std::uint8_t { reads, stores, changes };

class Costs {
public:
    static constexpr std::size_t most_harts = 256;
    // About what they are on a processor with a few dozen cores.
    static constexpr std::uint64_t step_ns = 2;         // an access to the hart's own cache, with what comes before it
    static constexpr std::uint64_t transfer_ns = 60;    // a cache line from one core to another
    static constexpr std::uint64_t read_busy_ns = 20;   // until the next hart is served after a read

    // Returns when the access that hart `hart` begins at `now_ns` is done. A store waits in the
    // hart's store buffer for its line, and the hart does not.
    std::uint64_t access(std::uint16_t hart, const void* word, Accesses how, std::uint64_t now_ns,
                         const weft::location& where) {
        AccessCost& cost = by_place_[{where.file_name(), where.line()}];
        ++cost.accesses;
        const std::uint64_t plainly = now_ns + step_ns;
        Line& line = lines_[reinterpret_cast<std::uintptr_t>(word) / line_bytes];
        const bool writes = how != Accesses::reads;
        const bool is_new = line.in.none(), has = line.in.test(hart);
        if (is_new || (has && (!writes || line.in.count() == 1))) {
            line.in.set(hart);
            return plainly;
        }
        if (writes) line.in.reset();
        line.in.set(hart);
        const std::uint64_t begins = std::max(plainly, line.free_ns);
        line.free_ns = begins + (writes ? transfer_ns : read_busy_ns);
        ++cost.transfers;
        if (how == Accesses::stores) return plainly;
        cost.waited_ns += begins + transfer_ns - now_ns;
        return begins + transfer_ns;
    }

    // By file and line.
    using Places = std::map<std::pair<std::string_view, std::uint32_t>, AccessCost>;
    const Places& by_place() const { return by_place_; }
    // Counts from now on; the lines stay where they are.
    void count_anew() { by_place_.clear(); }

private:
    static constexpr std::uintptr_t line_bytes = 64;
    struct Line {
        std::bitset<most_harts> in;   // the caches that have it
        std::uint64_t free_ns = 0;    // for the next hart
    };
    std::unordered_map<std::uintptr_t, Line> lines_;
    Places by_place_;
};

}   // namespace weft::sim
