// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of a guest; guest.hpp has its operations.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "hart/base.hpp"

namespace weft {

struct Pool;
struct Stream;
struct Unit;

struct Guest {
    hart::RootOf<Guest> root{*this};
    Stream* stream = nullptr;   // null: it has none in this runtime
    Unit* unit = nullptr;       // the thread's code
    Pool* pool = nullptr;       // the unit's: a push asks for a hart
    unsigned entries = 0;
    unsigned inits = 0;                   // how many of the entries are calls of weft_init
    bool admitted = false;                // and has not continued since: it is its turn
    bool has_signal_stack = false;        // perhaps one of Weft's: set once it ran units of others
    bool steps_aside = false;             // it has polled without success, and yields
    unsigned stays = 0;                   // how many more times it keeps its hart before it yields again
    unsigned stayed = 0;                  // what `stays` began with the last time
    std::uint64_t aside_ns = 1'000'000;   // for how long it has been yielding, on average
    bool lends = false;                   // its OS thread counts among the free carriers

    Guest* next = nullptr;   // of all guests, under their lock
    Guest* previous = nullptr;

    Guest() { root.guest = true; }

    // On entry, by its thread, or while its thread is outside: it has all of a stream, or nothing.
    void check() const {
        WEFT_ASSERT((stream == nullptr) == (unit == nullptr) && (stream == nullptr) == (pool == nullptr));
        WEFT_ASSERT(inits <= entries && root.guest);
    }
    // While no thread runs: its phase agrees with the harts that its root has.
    void check_whole() const;
};

inline void Guest::check_whole() const {
    using GuestPhase = hart::Root::GuestPhase;
    check();
    WEFT_ASSERT((next == nullptr || next->previous == this) && (previous == nullptr || previous->next == this));
    switch (root.guest_phase.load()) {
    case GuestPhase::nothing: WEFT_ASSERT(stream == nullptr && root.held == 0); break;
    case GuestPhase::outside: WEFT_ASSERT(entries == 0 && root.held == 0 && root.asked == 0); break;
    case GuestPhase::reclaimable: WEFT_ASSERT(entries == 0 && root.held == 1); break;
    case GuestPhase::waits:
    case GuestPhase::carries:
    case GuestPhase::claims: WEFT_ASSERT(root.held == 0 && root.asked == 0); break;
    case GuestPhase::wants: WEFT_ASSERT(root.asked == 1); break;
    case GuestPhase::held:
    case GuestPhase::ready: WEFT_ASSERT(root.held == 1); break;
    case GuestPhase::gives: WEFT_ASSERT(entries != 0); break;
    }
}

// Its thread is outside: what belongs to it here waits for it.
inline bool is_outside(const Guest& guest) {
    const hart::Root::GuestPhase now = guest.root.guest_phase.load();
    return now == hart::Root::GuestPhase::outside || now == hart::Root::GuestPhase::reclaimable;
}

}   // namespace weft
