// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the C interface calls a weft_unit is a descriptor. In checked builds the handle carries the
// descriptor's generation in the 16 bits that addresses do not use, so that a handle of a freed
// unit stops the process at its first use instead of reaching the unit that has the descriptor now.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/assert.hpp"
#include "base/handles.hpp"
#include "unit/unit.hpp"
#include "weft/pool.h"

namespace weft {

inline constexpr int generation_shift = 48;

// always_inline: weft_unit_each reads descriptors that change meanwhile, hidden from the thread
// sanitizer.
[[gnu::always_inline]] inline weft_unit* to_handle(const Unit* unit) {
    auto bits = reinterpret_cast<std::uintptr_t>(unit);
    if constexpr (config::checked) {
        if (unit != nullptr) bits |= static_cast<std::uintptr_t>(unit->generation()) << generation_shift;
    }
    return reinterpret_cast<weft_unit*>(bits);
}

// The handle of the unit of which `copy` is a copy.
inline weft_unit* to_handle(const Unit* unit, const Unit& copy) {
    auto bits = reinterpret_cast<std::uintptr_t>(unit);
    if constexpr (config::checked) bits |= static_cast<std::uintptr_t>(copy.generation()) << generation_shift;
    return reinterpret_cast<weft_unit*>(bits);
}

// `call`: the function of the C interface that was given the handle; by default, the calling one.
inline Unit* to_unit(const weft_unit* handle, [[maybe_unused]] const char* call = __builtin_FUNCTION()) {
    auto bits = reinterpret_cast<std::uintptr_t>(handle);
    if constexpr (config::checked) {
        auto* unit = reinterpret_cast<Unit*>(bits & ((std::uintptr_t{1} << generation_shift) - 1));
        if (unit != nullptr && handles::units_are_gone()) {
            handles::wrong_call(
                call,
                "stale handle %p: its unit has gone with the runtime, by weft_finalize; units are joined before that",
                static_cast<const void*>(handle));
        }
        if (unit != nullptr && (unit->generation() != bits >> generation_shift || unit->life.is(State::free))) {
            handles::wrong_call(call,
                                "stale handle %p: its unit has been freed; a unit is freed once, by weft_unit_free, "
                                "weft_unit_join_free or when it ends "
                                "detached, and not used afterwards",
                                static_cast<const void*>(handle));
        }
        return unit;
    }
    return reinterpret_cast<Unit*>(bits);
}

// The call that was given handles of this type: it frees the units and sets the handles to null, or
// it only joins the units.
template <class Handle>
inline constexpr const char* call_on_many =
    std::is_const_v<Handle> ? "weft_unit_join_many" : "weft_unit_join_free_many";

}   // namespace weft
