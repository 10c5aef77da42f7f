// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The joint operations of Weft units, for the crowds of crowd.hpp. In a game, turn(me) waits for
// the turn of `me` and gives it to the other unit.
#pragma once

#include <weft/weft.h>

#include "crowd.hpp"
#include "weft_harness.hpp"

namespace bench {

// Gives the turn and waits for it in one critical section: the signalled unit gets the mutex when
// the wait releases it.
struct ConditionGame {
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_cond changed = WEFT_COND_INIT;
    int turns = 0;
    bool over = false;

    void meet(int me) {
        if (me == 0) return;
        must(weft_mutex_lock(&mutex));
        while (turns != me) must(weft_cond_wait(&changed, &mutex));
        must(weft_mutex_unlock(&mutex));
    }
    void turn(int me) {
        must(weft_mutex_lock(&mutex));
        turns = 1 - me;
        must(weft_cond_signal(&changed));
        while (turns != me && !over) must(weft_cond_wait(&changed, &mutex));
        must(weft_mutex_unlock(&mutex));
    }
    void release() {
        must(weft_mutex_lock(&mutex));
        over = true;
        must(weft_cond_broadcast(&changed));
        must(weft_mutex_unlock(&mutex));
    }
};

// Gives and waits in two critical sections: between the signal and the wait the mutex is released
// and acquired again.
struct UnlockedConditionGame {
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_cond changed = WEFT_COND_INIT;
    int turns = 0;

    void turn(int me) {
        must(weft_mutex_lock(&mutex));
        while (turns != me) must(weft_cond_wait(&changed, &mutex));
        turns = 1 - me;
        must(weft_cond_signal(&changed));
        must(weft_mutex_unlock(&mutex));
    }
};

// Holds the mutex throughout, like the two ends of a queue that work in lockstep.
struct HeldConditionGame {
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_cond changed = WEFT_COND_INIT;
    int turns = 0;

    void begin() { must(weft_mutex_lock(&mutex)); }
    void end() { must(weft_mutex_unlock(&mutex)); }
    void turn(int me) {
        while (turns != me) must(weft_cond_wait(&changed, &mutex));
        turns = 1 - me;
        must(weft_cond_signal(&changed));
    }
};

// The deadline of a wait for an event: none, computed once, or computed anew for each wait.
enum class Deadline : std::uint8_t { none, fixed, fresh };

template <Deadline kind>
struct EventGameWith {
    static constexpr uint64_t hour_ns = 3'600'000'000'000;
    weft_event mine[2] = {WEFT_EVENT_INIT, WEFT_EVENT_INIT};
    uint64_t deadline_ns = weft_now_ns() + hour_ns;

    EventGameWith() { must(weft_event_set(&mine[0], nullptr)); }   // the first turn
    void turn(int me) {
        if constexpr (kind == Deadline::none) {
            must(weft_event_wait(&mine[me], nullptr));
        } else if constexpr (kind == Deadline::fixed) {
            must(weft_event_wait_until(&mine[me], deadline_ns, nullptr));
        } else {
            must(weft_event_wait_until(&mine[me], weft_now_ns() + hour_ns, nullptr));
        }
        must(weft_event_reset(&mine[me]));
        must(weft_event_set(&mine[1 - me], nullptr));
    }
};

using EventGame = EventGameWith<Deadline::none>;

struct SemaphoreGame {
    weft_semaphore mine[2] = {};

    SemaphoreGame() { must(weft_semaphore_release(&mine[0], 1)); }
    void turn(int me) {
        must(weft_semaphore_acquire(&mine[me]));
        must(weft_semaphore_release(&mine[1 - me], 1));
    }
};

// Unbuffered ping-pong: the first unit sends first.
struct ChannelGame {
    weft_channel* to[2];

    ChannelGame() {
        weft_channel_options options = {};
        options.size = sizeof options;
        for (weft_channel*& channel : to) must(weft_channel_create(&options, &channel));
    }
    ~ChannelGame() {
        for (weft_channel* channel : to) must(weft_channel_free(channel));
    }
    ChannelGame(const ChannelGame&) = delete;
    ChannelGame& operator=(const ChannelGame&) = delete;
    void turn(int me) {
        void* ball = nullptr;
        if (me == 0) must(weft_channel_send(to[1], &ball));
        must(weft_channel_receive(to[me], &ball));
        if (me == 1) must(weft_channel_send(to[0], &ball));
    }
};

// Returns a function that spawns into `pool`, for the crowds.
inline auto spawner(weft_pool* pool) {
    return [pool](auto body) { return Ult(pool, body); };
}

// Locks for bench::lock_among: each unit holds the mutex over a yield, so that all others arrive
// and wait.
inline auto locked_over_a_yield(weft_mutex& mutex) {
    return [&mutex](auto inside) {
        must(weft_mutex_lock(&mutex));
        const bool goes_on = inside();
        must(weft_unit_yield());
        must(weft_mutex_unlock(&mutex));
        return goes_on;
    };
}

// Yield among `count` units of `pool`, the caller one of them.
inline void yield_among(benchmark::State& state, weft_pool* pool, std::size_t count) {
    Crowd crowd{state, static_cast<benchmark::IterationCount>(count)};
    constexpr auto yield = [] { must(weft_unit_yield()); };
    std::vector<Ult> others;
    others.reserve(count - 1);
    for (std::size_t i = 1; i < count; ++i) {
        others.emplace_back(pool, [&crowd, yield] { crowd.yield_together(false, yield); });
    }
    yield();
    crowd.yield_together(true, yield);
    crowd.stop = true;
}

}   // namespace bench
