// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unit-local values: the values that a unit keeps under keys that the program has made. Keys belong
// to the process, not to the runtime: they may be made before it starts and outlive it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "unit/extras.hpp"

namespace weft {

struct Stream;

// Never freed, so that a value that was left under a key can be distinguished from values of the
// key's successor in the same place.
struct Key {
    // The words of a lasting key that programs read without a call (include/weft/embed/here.h);
    // constant while the key lives.
    std::uint64_t mark = 0;     // generation and place: unique to this use
    std::uint32_t offset = 0;   // of its slot in the extras
    bool near = false;          // its slot is in the first extras; else in further ones
    bool lasting = false;       // for good: lasting.hpp

    atomic<void (*)(void*)> destructor{nullptr};
    atomic<std::uint32_t> generation{0};   // odd: it lives
    std::uint32_t place = 0;               // among keys of its sort
    Key* next_free = nullptr;
    atomic<void (*)(void*)> release{nullptr};
    // for a key that follows units: read by way of following()
    atomic<void (*)(void*)> leaves{nullptr}, returns{nullptr};

    // acquire: pairs with the release of make_key(), for a thread that got the key by a way without
    // ordering.
    bool lives() const { return generation.load(std::memory_order_acquire) % 2 == 1; }
    // relaxed: the key lives, so no thread changes it
    bool follows() const { return leaves.load(std::memory_order_relaxed) != nullptr; }
};

// Null: no memory.
Key* make_key(void (*destructor)(void*));
Key* make_lasting_key(void (*release)(void*));
void free_key(Key& key);

// The lasting key of that mark, or the key that has its place now.
const Key& lasting_key(std::uint64_t mark);

// For a key that is not lasting. For the unit itself, or a thread that knows that the unit does not
// run.
inline void* local_of(const Unit& unit, const Key& key) {
    const Extras* extras = extras_of(unit);
    if (extras == nullptr || key.place >= extras->locals_room) return nullptr;
    const Local& local = extras->locals[key.place];
    // relaxed: the key lives, so no thread changes it.
    return local.generation == key.generation.load(std::memory_order_relaxed) ? local.value : nullptr;
}

// Sets the value, for the unit itself or a thread that knows that the unit does not run. False: no
// memory. `stream`: the calling one, or null.
bool set_local(Unit& unit, const Key& key, void* value, Stream* stream);

// The unit ends: the destructors of its values run, on its stack, where they may switch; for a unit
// without a stack on the scheduler's. From here on no request to the unit has an effect.
void end_locals(Unit& unit) noexcept;

// ---- keys that follow units ---------------------------------------------------------------------
//
// A unit with a value under such a key has the mark `careful`, with which it checks before it
// leaves, and `inline_pool` is empty while it runs: a unit that was called in its place would find
// its words.

inline constexpr std::size_t most_following = 8;

// False: there are as many already.
bool follow(Key& key, void (*leaves)(void*), void (*returns)(void*));

// How many keys follow units.
extern atomic<std::uint32_t> following;

// Whether the unit, which runs or forks, has a value under such a key.
bool is_followed(const Unit& unit);

// Whether the unit's own OS thread runs it: a guest, or a primary unit that does not roam.
bool is_own_code(const Unit& unit);

// Whether a key may follow the unit, which runs; relaxed: the unit has set its values itself, or is
// a guest, which has the mark.
inline bool may_be_followed(const Unit& unit) {
    return unit.marked(Unit::careful) && unit.kind != Kind::hosted && following.load(std::memory_order_relaxed) != 0;
}

// The unit, which runs and is about to leave, or has come back, may have a value under such a key.
void tell_followers_it_leaves(Stream& stream, const Unit& unit);
void tell_followers_it_returns(Stream& stream, const Unit& unit);
// In the unit that weft_init has made of the calling thread.
void tell_followers_of_primary();
// A guest has got a unit.
inline void let_follow_guest(Unit& unit) {
    // seq_cst: pairs with follow(), which lists the guests that exist by now
    if (following.load() != 0) unit.mark(Unit::careful);
}

// While no thread runs, in builds that check: whether the tables of keys are consistent. Null: no
// key has been made.
inline void (*check_keys)() = nullptr;

// In the child of a fork. Each step of the code under the lock leaves the keys consistent.
void keys_forked();

}   // namespace weft
