// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a stream makes the units that are spawned on it without options: which kind they are, and
// where they go. Only the stream writes it, and each spawn reads it.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/config.hpp"
#include "process/sites.hpp"
#include "unit/unit.hpp"

namespace weft {

struct Pool;

struct Spawning {
    Kind default_kind = Kind::lsa;        // of the settings
    Unit::Home ult_home{nowhere()};       // the direct pool, if a ULT without options may go there by the short way
    Unit::Home tasklet_home{nowhere()};   // the direct pool, if a tasklet without options may go there by the short way
    Pool* common_home = nowhere();        // the common pool, if a ULT without options may go there by the short way
    Unit::InitialHeader common_header;    // of a unit of the default kind in the common pool, if the kind is not auto
    LatestSites latest_sites;             // of units of kind auto that it has spawned without options
    Sampling sampling;                    // of the units of kind auto that it spawns
    atomic<std::uint64_t> first_id{0};    // Stream::next_id when the stream began; only its own thread writes it

    // Stands for "no home": no pool has this address, and no caller passes it; a caller that names
    // no pool passes null. It is aligned as pools are.
    static Pool* nowhere() { return reinterpret_cast<Pool*>(std::uintptr_t{config::cache_line}); }
};

}   // namespace weft
