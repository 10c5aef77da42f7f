// What a guest is; guest.hpp has what it does.
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
    unsigned inits = 0;                   // of them, those of weft_init
    bool admitted = false;                // and has not gone on since: it is its turn
    bool has_signal_stack = false;        // ours, perhaps: since it ran units of others
    bool steps_aside = false;             // it has looked in vain, and yields. So it does
    unsigned stays = 0;                   // when it has kept its hart so often,
    unsigned stayed = 0;                  // and did so often before the last time;
    std::uint64_t aside_ns = 1'000'000;   // for how long it has been aside, on average
    bool lends = false;                   // its OS thread is counted among the carriers that are free

    Guest* next = nullptr;   // of all, under their lock
    Guest* previous = nullptr;

    Guest() { root.guest = true; }

    // At the door, by its thread, or where that is outside: it has all of a stream, or nothing.
    void check() const {
        WEFT_ASSERT((stream == nullptr) == (unit == nullptr) && (stream == nullptr) == (pool == nullptr));
        WEFT_ASSERT(inits <= entries && root.guest);
    }
    // While nobody runs: where it stands goes with what its root has of harts.
    void check_whole() const;
};

inline void Guest::check_whole() const {
    using Keeps = hart::Root::Keeps;
    check();
    WEFT_ASSERT((next == nullptr || next->previous == this) && (previous == nullptr || previous->next == this));
    switch (root.keeps.load()) {
    case Keeps::nothing: WEFT_ASSERT(stream == nullptr && root.held == 0); break;
    case Keeps::outside: WEFT_ASSERT(entries == 0 && root.held == 0 && root.asked == 0); break;
    case Keeps::loose: WEFT_ASSERT(entries == 0 && root.held == 1); break;
    case Keeps::waits:
    case Keeps::carries:
    case Keeps::claims: WEFT_ASSERT(root.held == 0 && root.asked == 0); break;
    case Keeps::wants: WEFT_ASSERT(root.asked == 1); break;
    case Keeps::held:
    case Keeps::ready: WEFT_ASSERT(root.held == 1); break;
    case Keeps::gives: WEFT_ASSERT(entries != 0); break;
    }
}

// Its thread is outside: what it has here waits for it.
inline bool is_outside(const Guest& guest) {
    const hart::Root::Keeps now = guest.root.keeps.load();
    return now == hart::Root::Keeps::outside || now == hart::Root::Keeps::loose;
}

}   // namespace weft
