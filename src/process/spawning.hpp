// What a stream makes units of that are spawned on it without options: of which kind they are, and
// where they go. The stream alone writes it, and each spawn reads it.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "process/sites.hpp"
#include "unit/unit.hpp"

namespace weft {

struct Pool;

struct Spawning {
    Kind default_kind = Kind::lsa;    // of the settings
    Pool* ult_home = nowhere();       // the direct pool, where a ULT without options may go there by the short way
    Pool* tasklet_home = nowhere();   // the direct pool, where a tasklet without options may go there by the short way
    Pool* common_home = nowhere();    // the common pool, as ult_home
    Unit::InitialHeader ult_header;   // of a unit of the default kind in the direct pool
    Unit::InitialHeader common_header;   // of a unit of the default kind in the common pool, if that is not auto
    Unit::InitialHeader tasklet_header;
    LatestSites latest_sites;            // of units of kind auto that it has spawned without options
    Sampling sampling;                   // of the units of kind auto that it spawns
    atomic<std::uint64_t> first_id{0};   // what Stream::next_id was when the stream began; written by its thread alone

    // Instead of a home: no pool is here, and no caller says so, as one who names no pool says
    // null.
    static Pool* nowhere() { return reinterpret_cast<Pool*>(alignof(void*)); }
};

}   // namespace weft
