// Units that do the same together: one measures, the others go on until told. They all do it at the
// same place in the code, as workers of one program do: otherwise the processor's guess where each
// call returns to is wrong every time, and that is what would be measured. Used by all libraries
// alike: `spawn(f)` starts a unit of theirs that runs f(), and gives what joins it when it goes out
// of scope. A State is Google Benchmark's, or anything that has its KeepRunningBatch.
#pragma once

#include <atomic>

#include "harness.hpp"

namespace bench {

// relaxed throughout: what is told reaches the others by whatever they wait for; until then a turn
// more does no harm.

struct Crowd {
    benchmark::State& state;
    benchmark::IterationCount count;   // units, the one that measures included
    std::atomic<bool> stop{false};

    // The measuring one asks Google Benchmark, the others look whether it has stopped.
    [[gnu::always_inline]] bool goes_on(bool measures) {
        return measures ? state.KeepRunningBatch(count) : !stop.load(std::memory_order_relaxed);
    }

    // noipa, and a value that the compiler cannot know: no copy of the loop for either side.
    template <class Yield>
    [[gnu::noipa]] void yield_together(bool measures, Yield yield) {
        while (goes_on(measures)) {
            yield();
            asm volatile("" : "+r"(measures));
        }
    }
};

// Units that do turn 0, 1, 2, ... of something, none of which can end without all of them. The
// measuring one says before it begins a turn that it is the last; what the others wait for in that
// turn brings it to them. The clock starts when all have come.
template <class State>
struct Turns {
    static constexpr std::size_t all_have_come = 2;   // turns after which nobody can be missing
    State& state;
    benchmark::IterationCount count;   // operations in a turn, of all together
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

// Units that lock one mutex. Nobody can say whose turn it is, so whoever holds the mutex counts,
// and asks Google Benchmark for all.
template <class State>
class Lockers {
public:
    Lockers(State& state, std::size_t count)
        : state_(state), left_(static_cast<benchmark::IterationCount>(2 * count)) {}   // then nobody is missing

    // locked(inside) returns what inside() says, called with the mutex held: whether to go on.
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
    benchmark::IterationCount left_;   // guarded by the mutex, as what follows
    bool over_ = false;
};

// Two that hand a turn to each other: game.turn(me) waits until it is the turn of `me`, and gives
// it to the other, or the other way round; then game.release() ends the last wait, and
// game.meet(me) lets the second begin only when the first has begun: each of its turns ends in the
// first one's next turn then, and the last by the release. One iteration is one hand-off. spawn's
// unit is the second; the caller is the first.
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

// `count` units that wait for all, again and again; one iteration is one wait of one of them.
template <class State, class Wait, class Spawn>
void wait_for_all(State& state, std::size_t count, Wait wait, Spawn spawn) {
    Turns<State> turns{state, static_cast<benchmark::IterationCount>(count)};
    auto play = [&](bool measures) { turns.take(measures, wait); };
    auto other = [&play] { play(false); };
    std::vector<decltype(spawn(other))> others;
    for (std::size_t i = 1; i < count; ++i) others.push_back(spawn(other));
    play(true);
}

// `count` units that lock; one iteration is one lock of any of them.
template <class State, class Locked, class Spawn>
void lock_among(State& state, std::size_t count, Locked locked, Spawn spawn) {
    Lockers<State> lockers(state, count);
    auto play = [&] { lockers.lock_together(locked); };
    std::vector<decltype(spawn(play))> others;
    for (std::size_t i = 1; i < count; ++i) others.push_back(spawn(play));
    play();
}

}   // namespace bench
