// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit's life. Every arrow is one call of Life::move; nothing else writes the state.
//
//      free ──spawn──► ready ───run──► running ──finish──► done ──release──► free
//                       ▲ ▲             │  │
//                       │ └───yield─────┘  │
//                       ├─resume─ suspended◄┤ suspend, by the program
//                       └─wake─── waiting◄──┘ suspend, by the runtime: a join
//
// A unit that is revived goes from done to ready by way of free, and its owner is the same
// throughout.
//
// One arrow is not drawn: waiting to running, for a joiner that would come out of its pool at once
// and does not go in.
//
// There are two states of suspension, so that a resume that checked the one cannot act upon the
// other: any thread may resume a suspended unit, and only what it waits for wakes a waiting one.
//
// A second race is not drawn here: the end of a unit against its joiner. It is decided by the
// JoinState (join_state.hpp); `done` in the state is for threads that look, the JoinState is for
// threads that wait.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft {

enum class State : std::uint8_t {
    free,        // in a slab's free list
    ready,       // in a pool, or popped and about to run
    running,     // on a stream
    suspended,   // its context is saved, any thread may resume it
    done,        // its body has ended
    waiting,     // its context is saved, and one waker knows it
};

// How a unit has ended.
enum class Outcome : std::uint8_t {
    returned,    // from its body, or by weft_unit_exit
    exception,   // which its descriptor keeps
    cancelled,
    no_stack,     // its body was not called: no stack could be had, and none would have come free
    no_pthread,   // its body was not called: a hosted unit without a pthread
};

// Whether the unit's body was not called, for want of a resource.
constexpr bool is_refused(Outcome outcome) { return outcome >= Outcome::no_stack; }

// The state as the program sees it.
constexpr State shown(State state) { return state == State::waiting ? State::suspended : state; }

constexpr bool legal(State from, State to) {
    switch (from) {
    case State::free: return to == State::ready || to == State::running;   // running: child-first, primary
    case State::ready: return to == State::running;
    case State::running:
        return to == State::ready || to == State::suspended || to == State::waiting || to == State::done;
    case State::suspended: return to == State::ready;
    case State::waiting: return to == State::ready || to == State::running;
    case State::done: return to == State::free;
    }
    return false;
}
static_assert(!legal(State::done, State::running), "a unit that has ended does not run again");

// The orders of Life; a model test passes weaker ones, which must fail.
struct LifeOrders {
    // release: pairs with the acquire in claim(). The resumer must see what publish saw: the saved
    // context. Where the unit travels by a pool, the pool's own release and acquire carry it.
    static constexpr std::memory_order move = std::memory_order_release;
    // acquire: pairs with the release in move(), so that the saved context is there. Without it the
    // next stream could jump to a stale stack pointer.
    static constexpr std::memory_order claim = std::memory_order_acquire;
    // acquire: pairs with the release in move(): a thread that sees that a unit is done sees what
    // it did.
    static constexpr std::memory_order look = std::memory_order_acquire;
};

// `Orders` is a parameter for the model tests; the library uses Life, below.
template <class Orders = LifeOrders>
class BasicLife {
public:
    // Relaxed: a hint; a caller that acts on it goes through a compare-and-swap or already owns the
    // unit.
    State now() const { return state_.load(std::memory_order_relaxed); }
    bool is(State state) const { return now() == state; }
    // For the program, which may act only upon `done`.
    State seen() const { return state_.load(Orders::look); }

    // For the owner of the unit at this moment: the stream that runs it, the waker that claimed it.
    void move(State from, State to) {
        WEFT_ASSERT(legal(from, to));
        WEFT_ASSERT(now() == from);
        state_.store(to, Orders::move);
    }

    // running -> done -> free, for a unit whose joiner frees it at once. relaxed: no other thread
    // knows the unit any more.
    void end_and_drop() {
        WEFT_ASSERT(now() == State::running);
        state_.store(State::free, std::memory_order_relaxed);
    }

    // ready -> free, when a spawn fails after all: relaxed, since no other thread knows the unit.
    void drop() { state_.store(State::free, std::memory_order_relaxed); }

    // suspended -> ready, for one of several callers that may try. True: the caller makes it ready.
    bool claim() {
        State expected = State::suspended;
        // relaxed when it fails: the caller then reads nothing of the unit.
        return state_.compare_exchange_strong(expected, State::ready, Orders::claim, std::memory_order_relaxed);
    }

private:
    atomic<State> state_{State::free};
};

using Life = BasicLife<>;

}   // namespace weft
