// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that do the same operation together: one measures, the others continue until it tells them
// to stop. All do it at the same place in the code, as workers of one program do: otherwise the
// processor mispredicts every return, and the misprediction would be measured. All libraries use
// this file alike: `spawn(f)` starts a unit of the library that runs f(), and returns an object
// that joins the unit when it goes out of scope. A State is Google Benchmark's, or any type with
// its KeepRunningBatch.
#pragma once

#include <atomic>

#include "harness.hpp"

namespace bench {

// relaxed throughout: the others' own synchronization makes the flags visible; until then an extra
// turn does no harm.

// A State for a number of operations, where no clock runs.
class Countdown {
public:
    explicit Countdown(std::size_t operations) : left_(static_cast<std::int64_t>(operations)) {}
    [[gnu::always_inline]] bool KeepRunningBatch(std::int64_t count) { return (left_ -= count) >= 0; }

private:
    std::int64_t left_;
};

struct Crowd {
    benchmark::State& state;
    benchmark::IterationCount count;   // units, including the one that measures
    std::atomic<bool> stop{false};

    // The measuring unit asks Google Benchmark; the others check whether it has stopped.
    [[gnu::always_inline]] bool goes_on(bool measures) {
        return measures ? state.KeepRunningBatch(count) : !stop.load(std::memory_order_relaxed);
    }

    // noipa, and a value that the compiler cannot know, keep the compiler from making a copy of the
    // loop for each side.
    template <class Yield>
    [[gnu::noipa]] void yield_together(bool measures, Yield yield) {
        while (goes_on(measures)) {
            yield();
            asm volatile("" : "+r"(measures));
        }
    }
};

// Units that do turn 0, 1, 2, ... of an operation; no turn can end without all units. The measuring
// unit announces the last turn before that turn begins; the synchronization within the turn makes
// the announcement visible to the others. The clock starts when all units have arrived.
template <class State>
struct Turns {
    static constexpr std::size_t all_have_come = 2;   // turns after which no unit can be missing
    State& state;
    benchmark::IterationCount count;   // operations in a turn, of all units together
    std::atomic<std::size_t> last{~std::size_t{0}};

    template <class Turn>
    [[gnu::noipa]] void take(bool measures, Turn turn) {
        for (std::size_t number = 0;; ++number) {
            if (measures && number >= all_have_come && !state.KeepRunningBatch(count))
                last.store(number, std::memory_order_relaxed);
            turn();
            if (last.load(std::memory_order_relaxed) == number) return;
            asm volatile("" : "+r"(measures));
        }
    }
};

// Units that lock one mutex. There is no order of turns, so the holder of the mutex counts and asks
// Google Benchmark on behalf of all.
template <class State>
class Lockers {
public:
    Lockers(State& state, std::size_t count)
        : state_(state), left_(static_cast<benchmark::IterationCount>(2 * count)) {}   // then no unit is missing

    // locked(inside) calls inside() with the mutex held and returns its result: whether to
    // continue.
    template <class Locked>
    [[gnu::noipa]] void lock_together(Locked locked) {
        while (locked([this] { return count(); })) {}
    }

private:
    static constexpr benchmark::IterationCount batch = 64;

    [[gnu::always_inline]] bool count() {
        if (left_-- == 0 && !over_) {
            left_ = batch - 1;
            over_ = !state_.KeepRunningBatch(batch);
        }
        return !over_;
    }

    State& state_;
    benchmark::IterationCount left_;   // guarded by the mutex, like over_
    bool over_ = false;
};

// Two units hand a turn to each other: game.turn(me) waits until it is the turn of `me` and gives
// the turn to the other, or first gives and then waits. In the second case game.release() ends the
// last wait, and game.meet(me) lets the second unit begin only when the first has begun: each of
// the second unit's turns then ends in the first one's next turn, and the last one by the release.
// One iteration is one hand-off. spawn's unit is the second; the caller is the first.
template <class Game, class State, class Spawn>
void hand_off(State& state, Spawn spawn) {
    alignas(64) Game game{};
    Turns<State> turns{state, 2};
    auto play = [&](int me) {
        if constexpr (requires { game.begin(); }) game.begin();
        if constexpr (requires { game.meet(me); }) game.meet(me);
        turns.take(me == 0, [&game, me] { game.turn(me); });
        if (me == 0) {
            if constexpr (requires { game.release(); }) game.release();
        }
        if constexpr (requires { game.end(); }) game.end();
    };
    auto other = spawn([&play] { play(1); });
    play(0);
}

// `count` units that repeatedly wait for all; one iteration is one wait of one unit.
template <class State, class Wait, class Spawn>
void wait_for_all(State& state, std::size_t count, Wait wait, Spawn spawn) {
    Turns<State> turns{state, static_cast<benchmark::IterationCount>(count)};
    auto play = [&](bool measures) { turns.take(measures, wait); };
    auto other = [&play] { play(false); };
    std::vector<decltype(spawn(other))> others;
    for (std::size_t i = 1; i < count; ++i) others.push_back(spawn(other));
    play(true);
}

// `count` units that lock; one iteration is one lock of any unit.
template <class State, class Locked, class Spawn>
void lock_among(State& state, std::size_t count, Locked locked, Spawn spawn) {
    Lockers<State> lockers(state, count);
    auto play = [&] { lockers.lock_together(locked); };
    std::vector<decltype(spawn(play))> others;
    for (std::size_t i = 1; i < count; ++i) others.push_back(spawn(play));
    play();
}

}   // namespace bench
