// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What few units have: a migration that was requested, values of their own (local/locals.hpp),
// values that their handles have (local/lasting.hpp), a pointer of the program. Made by the first
// that needs them, and freed with the descriptor; found by a word beside it, in its slab.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"
#include "mem/slab.hpp"
#include "os/lock.hpp"
#include "os/memory.hpp"
#include "unit/slot.hpp"
#include "unit/unit.hpp"
#include "weft/pool.h"

namespace weft {

// The value of a key; if the generation is another, the value is of an older use of its place.
struct Local {
    void* value = nullptr;
    std::uint32_t generation = 0;
};

// They lie in slabs of their own, which are zero at first; a freed object stays as it was, except
// for its first word. So nothing is constructed here: a thread that frees a key may read the slots,
// also while they are no unit's, and the rest is begun anew.
struct alignas(config::cache_line) Extras {
    static constexpr std::uint32_t few = 4;
    static constexpr std::uint32_t slots_here = 3;

    // The program's pointer; given once, and published by `data`, which comes first: units read
    // their own (include/weft/embed/here.h), and their slots.
    atomic<void*> data;
    // The values of lasting keys, by their places: values that do not fit here lie in further
    // extras, of which nothing else is used.
    atomic<Extras*> more;
    Slot slots[slots_here];

    void (*release)(void* data);
    os::Lock lock;               // guards what follows, and writers of slots
    std::uint32_t locals_room;   // of `locals`; 0 until the first is set
    Pool* target;                // where it was asked to go; with Unit::migrate
    void (*on_migration)(weft_unit* unit, void* argument);
    void* on_migration_argument;

    // The unit's own: no lock.
    Local* locals;   // by the key's place
    Local first_locals[few];

    Extras() = delete;

    // For memory that a slab has given out: initializes it for a unit. relaxed: no other thread
    // knows it.
    void begin() {
        data.store(nullptr, std::memory_order_relaxed);
        release = nullptr;
        target = nullptr;
        on_migration = nullptr;
        on_migration_argument = nullptr;
        locals = first_locals;
        locals_room = 0;
    }

    // While no thread runs, of extras that a unit has.
    void check_whole() const {
        for (const Slot& slot : slots) slot.check();
        WEFT_ASSERT(locals != nullptr && (locals == first_locals) == (locals_room <= few));
        WEFT_ASSERT(std::has_single_bit(locals_room) || locals_room == 0);
    }
};
static_assert(offsetof(Extras, release) == config::cache_line, "what others read without a call is in one line");

// For slabs and heaps that have extras in them.
inline constexpr std::size_t extras_bytes = sizeof(Extras);

inline atomic<void*>& extras_word(const Unit& unit) { return mem::annex_of(const_cast<Unit*>(&unit), sizeof(Unit)); }

// Null: the unit has none, or is about to get some. The mark comes first, and a thread that has
// seen another mark that stands for something in them finds the word.
inline Extras* extras_of(const Unit& unit) {
    // acquire: pairs with the release of Unit::mark(), by the thread that has put something into
    // them.
    if (!Unit::Marks{unit.marks.load(std::memory_order_acquire)}.has(Unit::extras)) return nullptr;
    // acquire: pairs with publish_extras()
    return static_cast<Extras*>(extras_word(unit).load(std::memory_order_acquire));
}

}   // namespace weft
