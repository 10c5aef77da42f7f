// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that a unit's handle has, under lasting keys: for libraries that meet units of other
// libraries. Each value lies in a slot of the unit's extras. It is set once, from any thread, while
// the unit is in any state, and released with the unit or with the key, whichever goes first.
#pragma once

#include "local/locals.hpp"
#include "process/stream.hpp"
#include "unit/extras.hpp"

namespace weft {

// Null: the unit has none. From any thread, while the unit is not freed.
inline void* lasting_of(const Unit& unit, const Key& key) {
    const Extras* extras = extras_of(unit);
    std::uint32_t place = key.place;
    while (extras != nullptr && place >= Extras::slots_here) [[unlikely]] {
            // acquire: pairs with the release in set_lasting(), for the reader of the value.
            extras = extras->more.load(std::memory_order_acquire);
            place -= Extras::slots_here;
        }
    return extras == nullptr ? nullptr : extras->slots[place].get(key.mark);
}

enum class Lasting { set, has_one, no_memory };
// From any thread, like lasting_of(). `stream`: the calling one, or null.
Lasting set_lasting(Unit& unit, const Key& key, void* value, Stream* stream);

// The unit that has had them is freed.
[[gnu::always_inline]] inline void release_slots(Extras& extras) {
#pragma GCC unroll 3
    for (Slot& slot : extras.slots) {
        const std::uint64_t mark = slot.mark();
        if (mark == 0) continue;
        void* const value = slot.take();
        if (value == nullptr) continue;   // the thread that frees the key has been faster
        // relaxed: the key exists as long as a value does.
        if (void (*const release)(void*) = lasting_key(mark).release.load(std::memory_order_relaxed)) release(value);
        slot.done();
    }
}

// The key is about to be freed, and no thread uses it: releases the values that units have under
// it. After that none of its functions is running or will be called.
void release_lasting(const Key& key);

}   // namespace weft
