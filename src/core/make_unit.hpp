// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A descriptor becomes a unit: the fast path of a spawn, which is inlined into the C interface, and
// of units that are made without a spawn.
#pragma once

#include <cstring>

#include "observe/observe.hpp"
#include "process/process.hpp"
#include "process/stream.hpp"

namespace weft {

// Fills a descriptor that no other thread knows, except its id, its pool and its header, which
// begin_life() writes. Its link is null then.
[[gnu::always_inline]] inline void describe(Unit& unit, void (*body)(void*), void* argument, const void* site) {
    // link, context, join state and stack: together two stores instead of four.
    static_assert(offsetof(Unit, link) == 0 && offsetof(Unit, context) == 8 && offsetof(Unit, join_state) == 16 &&
                  offsetof(Unit, stack) == 24);
    std::memset(static_cast<void*>(&unit), 0, 32);
    unit.body = body;
    unit.argument = argument;
    unit.spawn_site = site;
    unit.name[0] = '\0';
}

// A ready unit that is in no pool yet, from the heap of the stream or, if `stream` is null, from
// the common one; null: no memory. `initial_header`: that of its kind in such a pool.
[[gnu::always_inline]] inline Unit* make_unit(Stream* stream, Pool& pool, void (*body)(void*), void* argument,
                                              Unit::InitialHeader initial_header, const void* site) {
    Unit* unit;
    if (stream != nullptr) {
        unit = static_cast<Unit*>(stream->units->take());
        if (unit != nullptr) unit->id = stream->take_id();
    } else {
        unit = process().take_outside();
    }
    if (unit == nullptr) return nullptr;
    describe(*unit, body, argument, site);
    unit->pool = &pool;
    unit->begin_life(initial_header);
    return unit;
}

// The initial header of a unit of that kind in that pool. If it has marks, the unit is observed,
// and the spawner reports that before the unit goes into its pool.
inline Unit::InitialHeader initial_header_in(const Pool& pool, Kind kind) {
    return initial_headers.of(kind, pool.kind == WEFT_POOL_PRIVATE);
}

}   // namespace weft
