// What the C interface calls a weft_unit is a descriptor. In checked builds the handle carries the descriptor's
// generation in the 16 bits that addresses do not use, so that a handle of a freed unit stops the process at its
// first use instead of reaching whoever has the descriptor now.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "unit/unit.hpp"
#include "weft/pool.h"

namespace weft {

inline constexpr int generation_shift = 48;

// always_inline: weft_unit_each reads descriptors that change under its eyes, hidden from the thread sanitizer.
[[gnu::always_inline]] inline weft_unit* to_handle(const Unit* unit) {
    auto bits = reinterpret_cast<std::uintptr_t>(unit);
    if constexpr (config::checked) {
        if (unit != nullptr) bits |= static_cast<std::uintptr_t>(unit->generation()) << generation_shift;
    }
    return reinterpret_cast<weft_unit*>(bits);
}

// Of a copy of what lies at `unit`.
inline weft_unit* to_handle(const Unit* unit, const Unit& copy) {
    auto bits = reinterpret_cast<std::uintptr_t>(unit);
    if constexpr (config::checked) bits |= static_cast<std::uintptr_t>(copy.generation()) << generation_shift;
    return reinterpret_cast<weft_unit*>(bits);
}

inline Unit* to_unit(const weft_unit* handle) {
    auto bits = reinterpret_cast<std::uintptr_t>(handle);
    if constexpr (config::checked) {
        auto* unit = reinterpret_cast<Unit*>(bits & ((std::uintptr_t{1} << generation_shift) - 1));
        if (unit != nullptr && (unit->generation() != bits >> generation_shift || unit->life.is(State::free))) {
            fatal("stale handle %p: its unit has been freed (a unit is freed once, by weft_unit_free or when it "
                  "ends detached)", static_cast<const void*>(handle));
        }
        return unit;
    }
    return reinterpret_cast<Unit*>(bits);
}

}  // namespace weft
