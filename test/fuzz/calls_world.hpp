// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage of calls_fuzz: a runtime with some pools, streams and objects that all actors may use,
// actors that each run a program of calls, and a janitor that keeps waits from lasting forever.
//
// Only calls with a documented outcome are made. So a handle has one owner, the actor in whose slot
// it lies; common objects live until all actors have ended; waits have deadlines, or the janitor
// ends them. The thread that learns that an actor has ended cleans up after it.
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

#include "test/fuzz/fuzz.hpp"
#include "weft/weft.h"

namespace weft_test {

// Where an actor calls from.
enum class Who { primary, ult, tasklet, thread, callback };

// Whether a unit is detached, or may be cancelled or throw: these exclude each other, and the first
// decision stands.
enum class Fate { open, pinned, detached };

struct World;

struct Actor {
    static constexpr std::size_t slots = 4;

    Actor(World& of, Input calls, Who from) : world(of), program(calls), who(from) {}

    World& world;
    Input program;
    Who who;
    std::atomic<Fate> fate{Fate::open};
    std::atomic<bool> ended{false};
    weft_unit* parked = nullptr;   // the janitor resumes it; under World::lock

    // What the actor owns.
    std::array<weft_unit*, slots> units{};
    std::array<Actor*, slots> bodies{};   // of those units
    weft_unit* stale = nullptr;           // a handle of a unit that was freed
    weft_stream* stream = nullptr;
    weft_key* key = nullptr;
    weft_future* future = nullptr;
    weft_channel* channel = nullptr;
    weft_poller* poller = nullptr;
    weft_timer timer{};
    weft_mutex mutex{};
    weft_cond cond{};
    weft_event event{};
    weft_rwlock rwlock{};
    weft_barrier barrier{};
    std::array<unsigned, 2> locked{};   // how often it holds the common mutexes
    std::array<bool, 2> reads{}, writes{};
    bool barrier_made = false;
    int depth = 0;   // of callbacks

    bool pin() {
        Fate found = Fate::open;
        return fate.compare_exchange_strong(found, Fate::pinned) || found == Fate::pinned;
    }
    bool detach() {
        Fate found = Fate::open;
        return fate.compare_exchange_strong(found, Fate::detached);
    }
    bool suspends() const { return who == Who::primary || who == Who::ult; }
};

// A user-defined pool, which counts the units that belong to it.
struct OwnPool {
    std::mutex lock;
    std::deque<weft_unit*> ready;
    std::atomic<int> attached{0};

    static OwnPool& of(void* self) { return *static_cast<OwnPool*>(self); }
    // `admits`: the pool is asked for each unit, instead of being notified.
    weft_pool_ops ops(bool admits) {
        weft_pool_ops table{};
        table.size = sizeof table;
        table.push = [](void* self, weft_unit* unit) {
            std::lock_guard guard(of(self).lock);
            of(self).ready.push_back(unit);
        };
        table.pop = [](void* self) -> weft_unit* {
            std::lock_guard guard(of(self).lock);
            if (of(self).ready.empty()) return nullptr;
            weft_unit* unit = of(self).ready.front();
            of(self).ready.pop_front();
            return unit;
        };
        table.length = [](const void* self) {
            auto& from = of(const_cast<void*>(self));
            std::lock_guard guard(from.lock);
            return from.ready.size();
        };
        table.remove = [](void* self, weft_unit* unit) {
            std::lock_guard guard(of(self).lock);
            return std::erase(of(self).ready, unit) != 0 ? 1 : 0;
        };
        table.attach = [](void* self, weft_unit*) { of(self).attached.fetch_add(1); };
        if (admits) {
            table.admit = [](void* self, weft_unit*) {
                of(self).attached.fetch_add(1);
                return 1;
            };
        }
        table.detach = [](void* self, weft_unit*) { of(self).attached.fetch_sub(1); };
        return table;
    }
};

struct World {
    explicit World(Input all) : text(all) {}
    ~World() {
        for (auto& actor : actors) delete actor.load();
    }
    World(const World&) = delete;

    Input text;                          // the whole input; units run pieces of it
    std::vector<weft_pool*> pools;       // drawn from by the last stream, until the end
    std::vector<weft_stream*> streams;   // without stream 0
    std::vector<weft_unit*> common;      // units that all actors may use and none frees
    OwnPool own_pool;
    weft_key* key = nullptr;   // its destructor marks the end of a unit
    weft_future* future = nullptr;
    weft_channel* channel = nullptr;
    std::array<weft_mutex, 2> mutexes{};
    weft_mutex cond_mutex{};
    weft_cond cond{};
    std::array<weft_event, 2> events{};
    weft_semaphore semaphore{};
    weft_latch latch{};
    weft_barrier barrier{};
    std::array<weft_rwlock, 2> rwlocks{};
    std::atomic<int> steps{400};              // calls that may still be made
    std::atomic<int> noise{0};                // what callbacks count
    std::atomic<int> given{0}, released{0};   // data of units
    std::atomic<bool> over{false};
    std::atomic<int> forks{1};

    static constexpr std::size_t most_actors = 72;
    std::array<std::atomic<Actor*>, most_actors> actors{};   // in the order in which they came
    std::atomic<std::size_t> recruited{0};
    std::mutex lock;                      // never held across a switch
    std::vector<weft_stream*> pausable;   // under lock
    std::vector<weft_pool*> left;         // under lock: to be freed at the end

    // Returns null if there are enough actors.
    Actor* recruit(Input program, Who who) {
        const std::size_t number = recruited.fetch_add(1);
        if (number >= most_actors) return nullptr;
        auto* actor = new Actor(*this, program, who);
        actors[number].store(actor);
        return actor;
    }

    // A piece of the input, which `from` names by its next two bytes.
    Input piece(Input& from) const {
        Input rest = text;
        rest.part(from.byte());
        return rest.part(from.byte() % 64);
    }
};

constexpr unsigned bit(weft_status status) { return 1u << status; }
constexpr unsigned bits(std::initializer_list<weft_status> all) {
    unsigned sum = 0;
    for (const weft_status one : all) sum |= bit(one);
    return sum;
}

// Checks that a call returned a status that its header names, and that every status but WEFT_OK has
// an error text.
inline weft_status expect(weft_status status, unsigned legal, const char* call) {
    if ((bit(status) & legal) == 0) {
        std::fprintf(stderr, "%s returned %s: %s\n", call, weft_status_name(status), weft_error_text());
        std::abort();
    }
    check(status == WEFT_OK || weft_error_text()[0] != '\0', "a refusal has a sentence", call);
    return status;
}

// The legal statuses of a wait, besides those of the call's own.
inline unsigned waits(const Actor& actor) {
    switch (actor.who) {
    case Who::tasklet: return bits({WEFT_OK, WEFT_TIMED_OUT, WEFT_WRONG_KIND});
    case Who::callback: return bits({WEFT_OK, WEFT_TIMED_OUT, WEFT_WRONG_CONTEXT});
    default: return bits({WEFT_OK, WEFT_TIMED_OUT});
    }
}

// The legal statuses of a call that only ULTs may make.
inline unsigned switches(const Actor& actor, unsigned otherwise) {
    switch (actor.who) {
    case Who::tasklet: return bit(WEFT_WRONG_KIND) | (otherwise & bit(WEFT_INVALID));
    case Who::callback:
    case Who::thread: return bit(WEFT_WRONG_CONTEXT) | (otherwise & bit(WEFT_INVALID));
    default: return otherwise;
    }
}

inline std::uint64_t soon(Input& program) {
    constexpr std::uint64_t spans[] = {0, 20'000, 100'000, 400'000};
    return weft_now_ns() + spans[program.below(std::size(spans))];
}

void step(Actor& actor);

// The calls of one actor, until its program or the common budget is used up.
inline void act(Actor& actor) {
    for (int calls = 0; calls < 40 && !actor.program.empty() && actor.world.steps.fetch_sub(1) > 0; ++calls)
        step(actor);
}

}   // namespace weft_test
