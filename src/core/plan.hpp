// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the options of a spawn amount to: the kind, the pool and the stack of the unit, and its
// other attributes.
#pragma once

#include <cstring>

#include "core/make_unit.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "weft/unit.h"

namespace weft {

struct Key;

// The result of the options of the C interface.
struct Plan {
    using Special = Bits<struct OfSpecial, std::uint8_t>;
    static constexpr Special fixed{1};   // it may not be asked to go to another pool
    static constexpr Special own_float{2};
    static constexpr Special fresh{4};   // for a hosted unit: it is to have a pthread that no unit has had

    Kind kind;
    bool as_asked = false;   // that kind and no other
    Unit::Flags flags{};     // user_stack, measured, bound
    Unit::Shape stack_class{};
    bool child_first = false;
    std::size_t stack_bytes = 0;   // for units that get their stack at once
    void* stack = nullptr;         // the user's memory
    const char* name = nullptr;
    std::int8_t priority = 0;
    bool placed = false;        // by its stream, or bound to it
    Stream* stream = nullptr;   // null: the calling one
    Special special{};
    void (*on_migration)(weft_unit* unit, void* argument) = nullptr;
    void* on_migration_argument = nullptr;
    void* data = nullptr;   // the program's, as in Extras
    void (*release)(void* data) = nullptr;
    const Key* key = nullptr;     // under which `data` and `release` are the unit's; null: as in Extras
    const void* site = nullptr;   // an object that stands for the place where it is spawned
    Site* learner = nullptr;      // for kind auto: the place

    // Whether furnish() has anything to do.
    bool asks_for_more() const {
        return kind == Kind::full || (flags.word | stack_class.word | priority) != 0 || name != nullptr ||
               special.any() || on_migration != nullptr || data != nullptr;
    }
};

inline bool is_priority(int priority) { return priority >= least_priority && priority <= most_priority; }
static_assert(least_priority == WEFT_PRIORITY_LEAST && most_priority == WEFT_PRIORITY_MOST);
weft_status no_such_priority(int priority);

// For a stack that Weft is to allocate: the requested number of bytes is less than
// WEFT_STACK_LEAST.
weft_status stack_too_small(std::size_t bytes);

// Whether priorities mean anything in the pool: to a user's pool they may. And the error where they
// do not.
inline bool has_priorities(const Pool& pool) { return pool.kind == WEFT_POOL_PRIORITY || pool.kind == WEFT_POOL_USER; }
weft_status no_priorities(int priority);

// The number that a caller gave for a kind; it may be no kind, and then no value of the type.
inline int number_of(const weft_kind& kind) {
    int number;
    static_assert(sizeof number == sizeof kind);
    std::memcpy(&number, &kind, sizeof number);
    return number;
}
inline bool is_kind(int number) { return number >= WEFT_KIND_FULL && number <= WEFT_KIND_HOSTED; }
static_assert(static_cast<std::size_t>(WEFT_KIND_HOSTED) + 1 == kinds &&
              static_cast<int>(Kind::automatic) == WEFT_KIND_AUTO);
weft_status no_such_kind(int number);

// The pool for a unit that names a stream, or is bound to one, and names no pool.
weft_status place(const Plan& plan, Stream* caller, Pool** pool);

// Looks up the place of a unit of kind auto that is spawned on the stream without options: from now
// on it is one of the stream's latest.
void look_up_site(LatestSites::Entry& entry, const void* address, void (*body)(void*));

// For kind auto: chooses the cheapest suitable kind in that pool. Any other kind stays.
void decide(Plan& plan, const Pool& pool, const void* address, void (*body)(void*));

// Completes and checks the options (null: defaults).
weft_status plan(const weft_unit_options* options, bool tasklet, Plan& out);

// Whether a unit of the kind that was requested can be run out of that pool.
weft_status fits(const Plan& plan, const Pool& pool);

// Null: no stack could be had. `bytes` 0: the default.
mem::Stack* take_stack(Stream* stream, std::size_t bytes);

// Gives back a stack that no unit has stood on; it may be the user's memory.
void give_stack_back(Stream* stream, mem::Stack* stack);

// Takes back a unit that no other thread knows, as if it had never been; the units made after it
// have been taken back before.
void give_back(Stream* stream, Unit& unit);

// A unit of kind Full, as long as nothing else is asked for, has a default stack from the
// beginning. False: no stack could be had.
bool give_default_stack(Stream* stream, Unit& unit);

// Applies what `plan` adds: a name, a stack. Not WEFT_OK: the descriptor has been given back.
weft_status furnish(Stream* stream, Unit& unit, const Plan& plan);

// Where a unit goes when the caller names no pool.
inline Pool& standard_pool(Stream* stream) {
    return stream != nullptr ? *stream->standard : *process().streams[0]->levels.main_pool.load();
}

// The new unit's pool has not admitted it: it is given back.
[[gnu::cold, gnu::noinline]] weft_status turn_away(Stream* stream, Unit& unit);

}   // namespace weft
