// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about units, legal and illegal.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "test/fuzz/calls_world.hpp"

namespace weft_test {

struct Boom {};

inline void unit_body(void* raw) {
    auto& actor = *static_cast<Actor*>(raw);
    expect(weft_local_set(actor.world.key, &actor), bit(WEFT_OK), "weft_local_set");
    act(actor);
    if (actor.program.byte() == 0xee && actor.pin()) throw Boom{};
}

// The destructor of the world's key: the unit of the actor ends, so the janitor need not wake it.
inline void unit_ends(void* raw) {
    auto& actor = *static_cast<Actor*>(raw);
    std::lock_guard guard(actor.world.lock);
    actor.parked = nullptr;
    actor.ended.store(true);
}

inline weft_pool* some_pool(Actor& actor) {
    auto& pools = actor.world.pools;
    const std::size_t which = actor.program.below(static_cast<std::uint32_t>(pools.size() + 2));
    return which < pools.size() ? pools[which] : nullptr;
}

inline weft_stream* some_stream(Actor& actor) {
    auto& streams = actor.world.streams;
    const std::size_t which = actor.program.below(static_cast<std::uint32_t>(streams.size() + 2));
    if (which < streams.size()) return streams[which];
    return which == streams.size() ? weft_stream_at(0) : actor.stream;
}

// A unit of the actor's own, one of the common units, the calling unit, or null.
inline weft_unit* some_unit(Actor& actor) {
    const std::uint32_t which = actor.program.below(8);
    auto& common = actor.world.common;
    if (which < Actor::slots) return actor.units[which];
    if (which < 7) return common.empty() ? nullptr : common[which % common.size()];
    return weft_unit_self();
}

inline void release_data(void* raw) { static_cast<World*>(raw)->released.fetch_add(1); }

// `later`: choose among the kinds that came later.
inline weft_unit_options some_options(Actor& actor, bool later) {
    Input& program = actor.program;
    weft_unit_options options{};
    options.size = sizeof options;
    const std::uint8_t choice = program.byte();
    options.kind = static_cast<weft_kind>(choice % 4 + (later ? WEFT_KIND_ROC : 0));
    if (choice & 4) options.stack_bytes = std::size_t{65536} << program.below(3);
    options.child_first = (choice & 8) != 0;
    options.measure_stack = (choice & 16) != 0;
    if (choice & 32) options.priority = static_cast<std::int8_t>(static_cast<int>(program.below(18)) - 9);
    options.not_migratable = (choice & 64) != 0;
    if (choice & 128) {
        options.name = "a name of more than the twenty-three bytes that are kept";
        const std::uint32_t which = program.below(4);
        if (which < actor.world.streams.size()) options.stream = actor.world.streams[which];
        options.bound = options.stream != nullptr && program.below(4) == 0;   // to a stream that stays
        options.on_migration = [](weft_unit*, void* noise) { static_cast<std::atomic<int>*>(noise)->fetch_add(1); };
        options.on_migration_argument = &actor.world.noise;
    }
    return options;
}

// The legal statuses of a spawn with these options.
inline unsigned spawns(const Actor& actor, const weft_unit_options& options, bool tasklet, const weft_pool* pool) {
    if (options.priority < WEFT_PRIORITY_LEAST || options.priority > WEFT_PRIORITY_MOST) return bit(WEFT_INVALID);
    if (tasklet && options.kind != WEFT_KIND_DEFAULT && options.kind != WEFT_KIND_TASKLET) return bit(WEFT_WRONG_KIND);
    const bool rtc = !tasklet && options.kind == WEFT_KIND_RTC, sc = options.kind == WEFT_KIND_SC,
               ss = options.kind == WEFT_KIND_SS;
    if ((rtc || sc) && options.measure_stack) return bit(WEFT_UNSUPPORTED);
    if ((rtc || sc || ss) && options.child_first) return bit(WEFT_UNSUPPORTED);
    if (!tasklet && options.child_first && !actor.suspends()) return bit(WEFT_WRONG_CONTEXT);
    // or the pool does not order by priority
    const unsigned under_a_stateful_scheduler = sc || ss || options.priority != 0 ? bit(WEFT_UNSUPPORTED) : 0;
    if (options.stream != nullptr && pool != nullptr) return bit(WEFT_INVALID) | under_a_stateful_scheduler;
    if (!tasklet && options.bound && options.child_first)
        return bits({WEFT_OK, WEFT_INVALID}) | (options.priority != 0 ? bit(WEFT_UNSUPPORTED) : 0);
    return bit(WEFT_OK) | under_a_stateful_scheduler;
}

inline void spawn_one(Actor& actor, bool tasklet) {
    Input& program = actor.program;
    const std::size_t slot = program.below(Actor::slots);
    if (actor.units[slot] != nullptr) return;
    const Input piece = actor.world.piece(program);
    const std::uint8_t how = program.byte();
    weft_unit_options options{};
    if ((how & 1) != 0) options = some_options(actor, (how & 8) != 0);
    weft_pool* pool = options.stream != nullptr ? nullptr : some_pool(actor);
    if ((how & 2) != 0 && options.stream != nullptr) pool = actor.world.pools[0];
    if ((how & 17) == 17) {
        options.data = &actor.world;
        options.release = release_data;
    }
    Actor* body = actor.world.recruit(piece, tasklet || options.kind == WEFT_KIND_RTC ? Who::tasklet : Who::ult);
    if (body == nullptr) return;
    const bool detached = how % 8 == 4 && body->detach();
    actor.bodies[slot] = body;
    weft_unit** handle = detached ? nullptr : &actor.units[slot];
    if (options.data != nullptr) actor.world.given.fetch_add(1);   // also released if the spawn fails
    // If the child runs first, this actor may be on another stream afterwards, or be cancelled on
    // its way back.
    const weft_unit_options* const given = (how & 1) != 0 ? &options : nullptr;
    const weft_status status = tasklet ? weft_tasklet_spawn(pool, unit_body, body, given, handle)
                                       : weft_ult_spawn(pool, unit_body, body, given, handle);
    if (status != WEFT_OK) body->ended.store(true);
    expect(status, given == nullptr ? bit(WEFT_OK) : spawns(actor, options, tasklet, pool),
           "weft_ult_spawn or weft_tasklet_spawn");
}

inline void spawn_several(Actor& actor) {
    std::array<std::size_t, Actor::slots> free{};
    std::array<void*, Actor::slots> bodies{};
    std::array<weft_unit*, Actor::slots> units{};
    weft_unit_options options = some_options(actor, actor.program.below(2) != 0);
    options.child_first = false;
    const bool tasklets = options.kind == WEFT_KIND_TASKLET;
    std::size_t count = 0;
    for (std::size_t slot = 0; slot < Actor::slots; ++slot) {
        if (actor.units[slot] != nullptr) continue;
        bodies[count] = actor.world.recruit(actor.world.piece(actor.program), tasklets ? Who::tasklet : Who::ult);
        if (bodies[count] == nullptr) break;
        free[count++] = slot;
    }
    weft_pool* pool = options.stream != nullptr ? nullptr : some_pool(actor);
    const weft_status status = weft_unit_spawn_many(pool, count, unit_body, bodies.data(), &options, units.data());
    const unsigned legal = count == 0 ? bit(WEFT_OK) : spawns(actor, options, tasklets, pool);
    for (std::size_t i = 0; i < count; ++i) {
        actor.units[free[i]] = units[i];
        actor.bodies[free[i]] = static_cast<Actor*>(bodies[i]);
        check((status == WEFT_OK) == (units[i] != nullptr), "all of them or none");
    }
    expect(status, legal, "weft_unit_spawn_many");
}

constexpr unsigned endings = bits({WEFT_OK, WEFT_NOT_RETURNED});

// The legal statuses of a join of the actor's own unit, which ends some time.
inline unsigned joins(const Actor& actor) {
    if (actor.who == Who::tasklet) return endings | bit(WEFT_WRONG_KIND);
    if (actor.who == Who::callback) return endings | bit(WEFT_WRONG_CONTEXT);
    return endings;
}

// Frees a unit that weft_unit_join_free has kept.
inline void free_unreturned(weft_unit* unit) {
    weft_unit_outcome outcome{};
    expect(weft_unit_outcome_get(unit, &outcome), bit(WEFT_OK), "weft_unit_outcome_get");
    check(outcome == WEFT_OUTCOME_EXCEPTION || outcome == WEFT_OUTCOME_CANCELLED, "what returns is freed");
    expect(weft_unit_free(unit), bit(WEFT_OK), "weft_unit_free");
}

inline void free_slot(Actor& actor, std::size_t slot) {
    weft_unit* unit = actor.units[slot];
    if (unit == nullptr) return;
    const weft_status status = expect(weft_unit_join_free(unit), joins(actor), "weft_unit_join_free");
    if (!weft_unit_joined(status)) return;
    if (status == WEFT_NOT_RETURNED) free_unreturned(unit);
    actor.units[slot] = nullptr;
    actor.stale = unit;
}

inline void join_own(Actor& actor) {
    Input& program = actor.program;
    const std::size_t slot = program.below(Actor::slots);
    weft_unit* unit = actor.units[slot];
    if (unit == nullptr) return;
    switch (program.below(6)) {
    case 0: expect(weft_unit_join(unit), joins(actor), "weft_unit_join"); break;
    case 1: expect(weft_unit_try_join(unit), endings | bit(WEFT_BUSY), "weft_unit_try_join"); break;
    case 2: {
        const unsigned legal = joins(actor) | waits(actor);
        expect(weft_unit_join_until(unit, soon(program)), legal, "weft_unit_join_until");
        break;
    }
    case 3: expect(weft_unit_join_many(actor.units.data(), Actor::slots), joins(actor), "weft_unit_join_many"); break;
    case 4: {
        weft_unit* const last = unit;
        const weft_status status = expect(weft_unit_join_free_many(actor.units.data(), Actor::slots), joins(actor),
                                          "weft_unit_join_free_many");
        if (weft_unit_joined(status)) {
            for (weft_unit*& kept : actor.units) {
                check(status == WEFT_NOT_RETURNED || kept == nullptr, "the handles are null");
                if (kept != nullptr) free_unreturned(std::exchange(kept, nullptr));
            }
            actor.stale = last;
        }
        break;
    }
    default: free_slot(actor, slot);
    }
}

inline void detach_own(Actor& actor) {
    const std::size_t slot = actor.program.below(Actor::slots);
    if (actor.units[slot] == nullptr || !actor.bodies[slot]->detach()) return;
    expect(weft_unit_detach(actor.units[slot]), bit(WEFT_OK), "weft_unit_detach");
    actor.units[slot] = nullptr;
}

inline void revive_own(Actor& actor) {
    const std::size_t slot = actor.program.below(Actor::slots);
    weft_unit* unit = actor.units[slot];
    if (unit == nullptr) return;
    Actor* body = actor.world.recruit(actor.world.piece(actor.program), actor.bodies[slot]->who);
    if (body == nullptr) return;
    const weft_status status = weft_unit_revive(unit, some_pool(actor), unit_body, body);
    expect(status, bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_unit_revive");
    if (status == WEFT_OK) actor.bodies[slot] = body;
    else body->ended.store(true);
}

// ---- calls that leave ---------------------------------------------------------------------------

// The janitor knows the caller before it leaves, and until it is back or ends.
template <class Leave>
weft_status parked(Actor& actor, Leave leave) {
    weft_unit* self = weft_unit_self();
    {
        std::lock_guard guard(actor.world.lock);
        if (actor.suspends()) actor.parked = self;
    }
    const weft_status status = leave();
    std::lock_guard guard(actor.world.lock);
    actor.parked = nullptr;
    return status;
}

inline void suspend(Actor& actor) {
    const std::uint32_t how = actor.program.below(3);
    auto publish = [](weft_unit* unit, void*) { weft_unit_resume(unit); };
    const weft_status status = parked(actor, [&] { return weft_unit_suspend(how == 0 ? +publish : nullptr, nullptr); });
    expect(status, switches(actor, bit(WEFT_OK)), "weft_unit_suspend");
}

inline void leave_for_another(Actor& actor) {
    const std::uint32_t how = actor.program.below(6);
    weft_unit* unit = some_unit(actor);
    // A unit cannot leave for a unit on the same user-supplied stack; a unit that ends never comes
    // back to report that.
    weft_status status = WEFT_OK;
    switch (how) {
    case 0: status = weft_unit_yield_to(unit); break;
    case 1: status = parked(actor, [&] { return weft_unit_hand_off(unit, WEFT_TO_READY, WEFT_BY_SUSPEND); }); break;
    case 2: status = weft_unit_hand_off(unit, WEFT_TO_READY, WEFT_BY_EXIT); break;
    case 3: status = weft_unit_hand_off(unit, WEFT_TO_SUSPENDED, WEFT_BY_YIELD); break;
    case 4: status = parked(actor, [&] { return weft_unit_hand_off(unit, WEFT_TO_SUSPENDED, WEFT_BY_SUSPEND); }); break;
    default: status = weft_unit_hand_off(unit, WEFT_TO_SUSPENDED, WEFT_BY_EXIT);
    }
    unsigned legal = bits({WEFT_OK, WEFT_WRONG_STATE, WEFT_UNSUPPORTED, WEFT_WRONG_KIND});
    if (unit == nullptr) legal = bit(WEFT_INVALID);
    expect(status, switches(actor, legal), "a call that leaves for a named unit");
    check(status != WEFT_OK || (how != 2 && how != 5), "who has ended does not come back");
}

inline void leave(Actor& actor) {
    switch (actor.program.below(5)) {
    case 0:
    case 1: expect(weft_unit_yield(), switches(actor, bit(WEFT_OK)), "weft_unit_yield"); break;
    case 2: suspend(actor); break;
    case 3: {
        const weft_status status = weft_unit_exit();
        expect(status, actor.who == Who::primary ? bit(WEFT_WRONG_STATE) : switches(actor, 0), "weft_unit_exit");
        break;
    }
    default: leave_for_another(actor);
    }
}

// ---- requests and queries -----------------------------------------------------------------------

inline void ask(Actor& actor) {
    Input& program = actor.program;
    const std::uint32_t what = program.below(9);
    weft_unit* unit = some_unit(actor);
    // A cancelled unit must be joined: otherwise the end of a detached unit that never began would
    // go unnoticed.
    if (what == 0 && unit != nullptr) {
        if (unit == weft_unit_self() && !actor.pin()) return;
        for (std::size_t slot = 0; slot < Actor::slots; ++slot) {
            if (actor.units[slot] == unit) actor.bodies[slot]->pin();
        }
    }
    const unsigned asked =
        unit == nullptr ? bit(WEFT_INVALID) : bits({WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE, WEFT_UNSUPPORTED});
    switch (what) {
    case 0:
        expect(weft_unit_cancel(unit), unit == nullptr ? bit(WEFT_INVALID) : bits({WEFT_OK, WEFT_WRONG_STATE}),
               "weft_unit_cancel");
        break;
    case 1:
    case 2: {
        weft_pool* pool = some_pool(actor);
        expect(weft_unit_migrate_to_pool(unit, pool), pool == nullptr ? bit(WEFT_INVALID) : asked,
               "weft_unit_migrate_to_pool");
        break;
    }
    case 3: {
        weft_stream* stream = some_stream(actor);
        expect(weft_unit_migrate_to_stream(unit, stream), stream == nullptr ? bit(WEFT_INVALID) : asked,
               "weft_unit_migrate_to_stream");
        break;
    }
    case 4:
        expect(weft_unit_resume(unit), unit == nullptr ? bit(WEFT_INVALID) : bits({WEFT_OK, WEFT_WRONG_STATE}),
               "weft_unit_resume");
        break;
    case 5: {
        const unsigned legal = unit == nullptr ? bit(WEFT_INVALID) : bits({WEFT_OK, WEFT_WRONG_STATE});
        expect(weft_unit_migratable_set(unit, program.below(2) != 0), legal, "weft_unit_migratable_set");
        break;
    }
    case 6: {
        const int priority = static_cast<int>(program.below(18)) - 9;
        const bool legal = unit != nullptr && priority >= WEFT_PRIORITY_LEAST && priority <= WEFT_PRIORITY_MOST;
        expect(weft_unit_priority_set(unit, priority),
               !legal          ? bit(WEFT_INVALID)
               : priority == 0 ? bit(WEFT_OK)
                               : bits({WEFT_OK, WEFT_UNSUPPORTED}),
               "weft_unit_priority_set");
        break;
    }
    case 7: {
        const weft_status status = weft_unit_data_set(unit, &actor.world, release_data);
        expect(status, unit == nullptr ? bit(WEFT_INVALID) : bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_unit_data_set");
        if (status == WEFT_OK) actor.world.given.fetch_add(1);
        break;
    }
    default: expect(weft_unit_migrate(unit), unit == nullptr ? bit(WEFT_INVALID) : asked, "weft_unit_migrate");
    }
}

inline void question(Actor& actor) {
    weft_unit* unit = some_unit(actor);
    const unsigned legal = bit(unit == nullptr ? WEFT_INVALID : WEFT_OK);
    weft_unit_state state{};
    weft_kind kind{};
    weft_pool* pool = nullptr;
    int priority = 99;
    bool migratable = false;
    expect(weft_unit_state_get(unit, &state), legal, "weft_unit_state_get");
    expect(weft_unit_kind_get(unit, &kind), legal, "weft_unit_kind_get");
    expect(weft_unit_pool_get(unit, &pool), legal, "weft_unit_pool_get");
    expect(weft_unit_priority_get(unit, &priority), legal, "weft_unit_priority_get");
    expect(weft_unit_migratable_get(unit, &migratable), legal, "weft_unit_migratable_get");
    weft_unit_info info{};
    void* argument = nullptr;
    bool detached = false;
    expect(weft_unit_info_get(unit, &info), legal | bit(WEFT_WRONG_STATE), "weft_unit_info_get");
    expect(weft_unit_argument_get(unit, &argument), legal | bit(WEFT_WRONG_STATE), "weft_unit_argument_get");
    expect(weft_unit_detached_get(unit, &detached), legal, "weft_unit_detached_get");
    void* data = nullptr;
    expect(weft_unit_data_get(unit, &data), legal, "weft_unit_data_get");
    check(data == nullptr || data == &actor.world, "data are what was given");
    check((weft_unit_self_kind() == WEFT_KIND_TASKLET) == (actor.who == Who::tasklet),
          "a tasklet knows that it is one");
    std::uint64_t id = 0;
    expect(weft_unit_id_get(unit, &id), legal, "weft_unit_id_get");
    check((id == 0) == (unit == nullptr), "a unit has a number");
    const char* name = "";
    expect(weft_unit_name_get(unit, &name), legal, "weft_unit_name_get");
    check(std::strlen(name) <= 23, "a name is kept up to its 23rd byte");
    if (unit == nullptr) return;
    check(state >= WEFT_UNIT_READY && state <= WEFT_UNIT_DONE, "a unit is in a state");
    check(priority >= WEFT_PRIORITY_LEAST && priority <= WEFT_PRIORITY_MOST, "a unit has a priority");
    check(pool != nullptr, "a unit belongs to a pool");
    if (unit == weft_unit_self()) check(state == WEFT_UNIT_RUNNING, "who asks runs");
}

// In a checked build, the handle of a freed unit aborts the process. So a child process makes the
// call; it has only the calling thread, and that is enough, since the assertion is the first thing
// the call does, before any lock. If the assertion jumped back here instead, the test would not
// show that the process stops. A fork takes milliseconds, so an input has one.
inline void use_stale(Actor& actor) {
    if (actor.stale == nullptr || actor.world.forks.fetch_sub(1) <= 0) return;
    const std::uint32_t what = actor.program.below(5);
    int ends[2];
    check(pipe(ends) == 0, "a pipe can be had");
    const pid_t child = fork();
    if (child == 0) {
        for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGALRM, SIGTERM}) signal(number, SIG_DFL);
        alarm(10);
        dup2(ends[1], 2);
        bool migratable;
        switch (what) {
        case 0: weft_unit_join_free(actor.stale); break;
        case 1: weft_unit_resume(actor.stale); break;
        case 2: weft_unit_join(actor.stale); break;
        case 3: weft_unit_migratable_get(actor.stale, &migratable); break;
        default: weft_unit_yield_to(actor.stale);
        }
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char room[256];
    for (ssize_t got; (got = read(ends[0], room, sizeof room)) > 0;) said.append(room, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    if (child < 0) return;   // no process can be had
    check(waitpid(child, &status, 0) == child, "the child ends");
    check(WIFSIGNALED(status), "a stale handle stops the process");
    if (WTERMSIG(status) == SIGABRT) check(said.find("stale handle") != std::string::npos, "and is called so", said);
    else check(WTERMSIG(status) == SIGSEGV, "if its memory is there still", said);
}

}   // namespace weft_test
