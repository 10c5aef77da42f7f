// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about streams, pools, schedulers, time, and the runtime itself; and calls with null where
// something is required.
#pragma once

#include "test/fuzz/calls_sync.hpp"
#include "test/fuzz/calls_units.hpp"

namespace weft_test {

inline std::FILE* nowhere() {
    static std::FILE* const file = std::fopen("/dev/null", "we");
    return file;
}

inline void pausable(World& world, weft_stream* stream, bool now) {
    std::lock_guard guard(world.lock);
    if (now) world.pausable.push_back(stream);
    else std::erase(world.pausable, stream);
}

inline void free_stream(Actor& actor) {
    if (actor.stream == nullptr) return;
    pausable(actor.world, actor.stream, false);
    const weft_status status =
        expect(weft_stream_join_free(actor.stream), bits({WEFT_OK, WEFT_WRONG_CONTEXT}), "weft_stream_join_free");
    if (status == WEFT_OK) actor.stream = nullptr;
    else pausable(actor.world, actor.stream, true);
}

// Gives a stream a new scheduler over the pools that the old one draws from, so that no unit is
// left behind.
inline void replace_sched(Actor& actor) {
    Input& program = actor.program;
    weft_stream* stream = actor.world.streams[program.below(static_cast<std::uint32_t>(actor.world.streams.size()))];
    weft_pool* pools[8] = {};
    std::size_t count = 1;
    expect(weft_stream_pool_get(stream, &pools[0]), bit(WEFT_OK), "weft_stream_pool_get");
    for (weft_pool* pool : actor.world.pools) {
        if (pool != pools[0] && count < 8) pools[count++] = pool;
    }
    constexpr weft_sched_kind kinds[] = {WEFT_SCHED_BASIC, WEFT_SCHED_RANDOM_STEAL, WEFT_SCHED_BASIC_WAIT,
                                         WEFT_SCHED_PRIORITY};
    weft_sched* sched = nullptr;
    expect(weft_sched_create(kinds[program.below(4)], pools, count, &sched), bit(WEFT_OK), "weft_sched_create");
    std::size_t found = 0;
    expect(weft_sched_pool_count_get(sched, &found), bit(WEFT_OK), "weft_sched_pool_count_get");
    expect(weft_sched_pool_get(sched, 0, &pools[0]), bit(WEFT_OK), "weft_sched_pool_get");
    check(found == count, "a scheduler has its pools");
    const weft_status status =
        expect(weft_stream_sched_set(stream, sched), bits({WEFT_OK, WEFT_BUSY}), "weft_stream_sched_set");
    if (status != WEFT_OK) expect(weft_sched_free(sched), bit(WEFT_OK), "weft_sched_free");
}

inline void use_stream(Actor& actor) {
    Input& program = actor.program;
    weft_stream* stream = some_stream(actor);
    const unsigned invalid = stream == nullptr ? bit(WEFT_INVALID) : 0;
    switch (program.below(9)) {
    case 0: {
        if (actor.stream != nullptr) return free_stream(actor);
        weft_stream_options options{};
        options.size = program.below(16) == 0 ? program.below(8) : sizeof options;
        if (program.below(2) == 0) options.pool = actor.world.pools[0];
        const weft_status status = weft_stream_create(&options, &actor.stream);
        expect(status, bit(options.size == sizeof options ? WEFT_OK : WEFT_INVALID), "weft_stream_create");
        if (status == WEFT_OK) pausable(actor.world, actor.stream, true);
        break;
    }
    case 1:
        expect(weft_stream_suspend(stream),
               invalid != 0 ? invalid : bits({WEFT_OK, WEFT_WRONG_STATE, WEFT_WRONG_CONTEXT}), "weft_stream_suspend");
        break;
    case 2:
        expect(weft_stream_resume(stream), invalid != 0 ? invalid : bits({WEFT_OK, WEFT_WRONG_STATE}),
               "weft_stream_resume");
        break;
    case 3: replace_sched(actor); break;
    case 4: {
        const weft_status status = weft_stream_post(
            stream, [](void* noise) { static_cast<std::atomic<int>*>(noise)->fetch_add(1); }, &actor.world.noise);
        check(invalid != 0 ? status == WEFT_INVALID : status == WEFT_OK || status == WEFT_BUSY, "weft_stream_post",
              weft_status_name(status));
        break;
    }
    case 5: {
        const std::string cpus = program.below(2) == 0 ? std::string("0") : program.text(',');
        expect(weft_stream_bind_cpus(stream, cpus.c_str()), invalid != 0 ? invalid : bits({WEFT_OK, WEFT_INVALID}),
               "weft_stream_bind_cpus");
        if (invalid == 0) expect(weft_stream_unbind(stream), bit(WEFT_OK), "weft_stream_unbind");
        break;
    }
    case 6:
        expect(weft_stream_join_free(weft_stream_at(0)), bit(WEFT_WRONG_CONTEXT), "weft_stream_join_free of stream 0");
        break;
    case 7: {
        char text[64];
        expect(weft_stream_binding_get(stream, text, program.below(sizeof text)),
               invalid != 0 ? invalid : bits({WEFT_OK, WEFT_INVALID}), "weft_stream_binding_get");
        break;
    }
    default: {
        std::size_t rank = 99;
        expect(weft_stream_rank_get(stream, &rank), invalid != 0 ? invalid : bit(WEFT_OK), "weft_stream_rank_get");
        check(weft_stream_count() >= 1 + actor.world.streams.size(), "the streams are counted");
        const char* name = "";
        expect(weft_stream_name_get(stream, &name), invalid != 0 ? invalid : bit(WEFT_OK), "weft_stream_name_get");
        check((name[0] == '\0') == (stream == nullptr), "a stream has a name");
    }
    }
}

// Runs a unit that was popped, or leaves for it. Returns false if that was not possible.
inline bool run_popped(Actor& actor, weft_unit* unit) {
    const std::uint32_t how = actor.program.below(3);
    weft_status status = WEFT_OK;
    switch (how) {
    case 0: status = weft_unit_run(unit); break;
    case 1: status = weft_unit_hand_off(unit, WEFT_TO_POPPED, WEFT_BY_YIELD); break;
    default: status = parked(actor, [&] { return weft_unit_hand_off(unit, WEFT_TO_POPPED, WEFT_BY_SUSPEND); });
    }
    const unsigned legal = bits({WEFT_OK, WEFT_UNSUPPORTED}) | (how == 0 ? 0 : bit(WEFT_WRONG_KIND));
    return expect(status, switches(actor, legal), "a call that runs a popped unit") == WEFT_OK;
}

// A unit that was taken out of a pool goes back, into another pool or the same, or is run. Nothing
// may switch in between.
inline void put_back(Actor& actor, weft_pool* from, weft_unit* unit, weft_pool* to) {
    if (actor.program.below(4) == 0 && run_popped(actor, unit)) return;
    if (to != nullptr) {
        const weft_status status = weft_pool_push(to, unit);
        expect(status, bits({WEFT_OK, WEFT_WRONG_STATE, WEFT_WRONG_CONTEXT}), "weft_pool_push");
        if (status == WEFT_OK) return;
    }
    expect(weft_pool_push_with(from, unit, 256 + actor.program.byte()), bit(WEFT_OK),
           "weft_pool_push_with to where it was");
}

inline void use_pool(Actor& actor) {
    Input& program = actor.program;
    weft_pool* from = some_pool(actor);
    const bool of_stream = from == nullptr;
    if (of_stream)
        expect(weft_stream_pool_get(weft_stream_at(program.below(2)), &from), bits({WEFT_OK, WEFT_INVALID}),
               "weft_stream_pool_get");
    if (from == nullptr) return;
    weft_pool* to = some_pool(actor);
    const unsigned legal = of_stream ? bits({WEFT_OK, WEFT_WRONG_CONTEXT}) : bit(WEFT_OK);
    weft_unit* unit = nullptr;
    switch (program.below(6)) {
    case 0:
    case 1:
        expect(weft_pool_pop(from, &unit), legal, "weft_pool_pop");
        if (unit != nullptr) put_back(actor, from, unit, to);
        break;
    case 2: {
        weft_unit* units[3] = {};
        std::size_t count = 0;
        expect(weft_pool_pop_many(from, units, 3, &count), legal, "weft_pool_pop_many");
        check(count <= 3, "no more than there is room for");
        if (count == 0) break;
        const weft_status status = weft_pool_push_many(from, units, count);
        expect(status, bit(WEFT_OK), "weft_pool_push_many");
        break;
    }
    case 3: {
        // only an OS thread may wait in a stream's place
        const unsigned here = actor.who == Who::thread ? 0 : bit(WEFT_WRONG_CONTEXT);
        expect(weft_pool_pop_wait_until(from, weft_now_ns() + program.below(2) * 50'000u, &unit), legal | here,
               "weft_pool_pop_wait_until");
        if (unit != nullptr) put_back(actor, from, unit, to);
        break;
    }
    case 4: {
        weft_unit* named = some_unit(actor);
        const weft_status status = weft_pool_remove(from, named);
        expect(status, named == nullptr ? bit(WEFT_INVALID) : bits({WEFT_OK, WEFT_WRONG_STATE, WEFT_UNSUPPORTED}),
               "weft_pool_remove");
        if (status == WEFT_OK) put_back(actor, from, named, to);
        break;
    }
    default: {
        std::size_t length = 0;
        weft_pool_kind kind{};
        weft_pool_access access{};
        expect(weft_pool_length_get(from, &length), bit(WEFT_OK), "weft_pool_length_get");
        expect(weft_pool_kind_get(from, &kind), bit(WEFT_OK), "weft_pool_kind_get");
        expect(weft_pool_access_get(from, &access), bit(WEFT_OK), "weft_pool_access_get");
        expect(weft_pool_free(from), bit(WEFT_BUSY), "weft_pool_free of a pool that is drawn from");
    }
    }
}

// A pool by itself; and a pool of a scheduler that runs as a unit, until nothing belongs to the
// pool any more.
inline void make_pools(Actor& actor) {
    Input& program = actor.program;
    constexpr weft_pool_kind kinds[] = {WEFT_POOL_SHARED,   WEFT_POOL_LIFO,    WEFT_POOL_PRIORITY, WEFT_POOL_DEQUE,
                                        WEFT_POOL_BLOCKING, WEFT_POOL_PRIVATE, WEFT_POOL_USER,     WEFT_POOL_DEFAULT};
    weft_pool_options options{};
    options.size = sizeof options;
    options.kind = kinds[program.below(std::size(kinds))];
    options.access = program.below(4) == 0 ? WEFT_POOL_ACCESS_MPMC : WEFT_POOL_ACCESS_DEFAULT;
    weft_pool* pool = nullptr;
    const weft_status status = weft_pool_create_with(&options, &pool);
    expect(status, bits({WEFT_OK, WEFT_INVALID}), "weft_pool_create_with");
    if (status != WEFT_OK) return;
    weft_sched* sched = nullptr;
    expect(weft_sched_create(program.below(2) == 0 ? WEFT_SCHED_BASIC : WEFT_SCHED_RANDOM_STEAL, &pool, 1, &sched),
           bit(WEFT_OK), "weft_sched_create");
    expect(weft_pool_free(pool), bit(WEFT_BUSY), "weft_pool_free of a pool that a scheduler has");
    const std::size_t slot = program.below(Actor::slots);
    const bool any =
        options.kind != WEFT_POOL_PRIVATE && options.kind != WEFT_POOL_DEQUE && options.kind != WEFT_POOL_DEFAULT;
    Actor* body = nullptr;
    if (any && program.below(2) != 0 && actor.units[slot] == nullptr)
        body = actor.world.recruit(actor.world.piece(program), Who::ult);
    if (body == nullptr) {
        expect(weft_sched_free(sched), bit(WEFT_OK), "weft_sched_free");
        expect(weft_pool_free(pool), bit(WEFT_OK), "weft_pool_free");
        return;
    }
    {
        std::lock_guard guard(actor.world.lock);
        actor.world.left.push_back(pool);
    }
    actor.bodies[slot] = body;
    expect(weft_ult_spawn(pool, unit_body, body, nullptr, &actor.units[slot]), bit(WEFT_OK), "weft_ult_spawn");
    weft_sched_push_options turn{sizeof(weft_sched_push_options), program.below(3)};
    expect(weft_sched_push(sched, actor.world.pools[program.below(2)], &turn, nullptr), bit(WEFT_OK),
           "weft_sched_push");
}

inline void use_time(Actor& actor) {
    Input& program = actor.program;
    auto count = [](void* noise) { static_cast<std::atomic<int>*>(noise)->fetch_add(1); };
    switch (program.below(6)) {
    case 0: expect(weft_sleep_until(soon(program)), waits(actor), "weft_sleep_until"); break;
    case 1: {
        const std::uint64_t due = soon(program);
        expect(weft_timer_start(&actor.timer, count, &actor.world.noise, due), bits({WEFT_OK, WEFT_WRONG_STATE}),
               "weft_timer_start");
        break;
    }
    case 2: expect(weft_timer_cancel(&actor.timer), bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_timer_cancel"); break;
    case 3: {
        if (actor.poller != nullptr) break;
        weft_poller_hint hint{};
        hint.size = sizeof hint;
        hint.only_when_ready = program.below(8) == 0;   // there is no descriptor that could be ready
        const weft_status status = weft_poller_register(
            [](void* noise) { return static_cast<std::atomic<int>*>(noise)->fetch_add(1) % 2 == 0; },
            &actor.world.noise, &hint, &actor.poller);
        expect(status, bit(hint.only_when_ready ? WEFT_INVALID : WEFT_OK), "weft_poller_register");
        break;
    }
    case 4:
        if (actor.poller == nullptr) break;
        expect(weft_poller_unregister(actor.poller), bit(WEFT_OK), "weft_poller_unregister");
        actor.poller = nullptr;
        break;
    default: expect(weft_sleep_for(program.byte() * 1000u), waits(actor), "weft_sleep_for");
    }
}

// Calls from the stream's stack, or from a thread of the blocking pool: a few calls of the same
// actor, which has other rights there.
inline void call_elsewhere(Actor& actor) {
    if (actor.depth > 0) return;
    const bool blocking = actor.program.below(2) == 0;
    const Who who = actor.who;
    auto some = [](void* raw) {
        auto& of = *static_cast<Actor*>(raw);
        for (std::uint32_t calls = of.program.below(4); calls > 0; --calls) step(of);
    };
    if (blocking && !actor.suspends() && who != Who::thread) {
        expect(weft_blocking(some, &actor), bits({WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT}), "weft_blocking");
        return;
    }
    ++actor.depth;
    if (actor.suspends()) actor.who = blocking ? Who::thread : Who::callback;
    const weft_status status = blocking ? weft_blocking(some, &actor) : weft_on_stream_stack(some, &actor);
    actor.who = who;
    --actor.depth;
    expect(status, bit(WEFT_OK), blocking ? "weft_blocking" : "weft_on_stream_stack");
}

inline void use_key(Actor& actor) {
    Input& program = actor.program;
    if (actor.key == nullptr) {
        expect(weft_key_create(
                   program.below(2) == 0 ? nullptr : +[](void*) {}, &actor.key),
               bit(WEFT_OK), "weft_key_create");
    }
    const unsigned legal = bit(weft_unit_self() == nullptr ? WEFT_WRONG_CONTEXT : WEFT_OK);
    expect(weft_local_set(actor.key, &actor), legal, "weft_local_set");
    check((weft_local_get(actor.key) == &actor) == (weft_unit_self() != nullptr), "a unit has what it was given");
    if (program.below(2) == 0) return;
    expect(weft_key_free(actor.key), bit(WEFT_OK), "weft_key_free");
    actor.key = nullptr;
}

inline void use_runtime(Actor& actor) {
    Input& program = actor.program;
    switch (program.below(8)) {
    case 0: {
        const bool here = weft_stream_self() != nullptr;
        const weft_status status =
            expect(weft_init(nullptr), bit(here ? WEFT_OK : WEFT_WRONG_CONTEXT), "weft_init within");
        if (status == WEFT_OK) expect(weft_finalize(), bit(WEFT_OK), "weft_finalize within");
        break;
    }
    case 1: expect(weft_memory_trim(), bit(WEFT_OK), "weft_memory_trim"); break;
    case 2: expect(weft_counters_print(nowhere()), bit(WEFT_OK), "weft_counters_print"); break;
    case 3: expect(weft_units_print(nowhere()), bit(WEFT_OK), "weft_units_print"); break;
    case 4: {
        std::uint64_t value = 0;
        const std::string name =
            program.below(2) == 0 ? std::string("/units{stream#1}/count/created") : program.text('\n');
        expect(weft_counter_read(name.c_str(), &value), bits({WEFT_OK, WEFT_INVALID}), "weft_counter_read");
        break;
    }
    case 5: {
        weft_hart_use use{};
        use.size = sizeof use;
        expect(weft_hart_use_get(&use), bit(WEFT_OK), "weft_hart_use_get");
        check(use.limit >= 1 && use.streams >= 1, "there is a hart and a stream");
        break;
    }
    case 6: {
        weft_settings settings{};
        settings.size = program.byte();
        const std::size_t size = settings.size;
        expect(weft_settings_get(&settings), bit(size < sizeof size ? WEFT_INVALID : WEFT_OK), "weft_settings_get");
        break;
    }
    default: {
        std::size_t alive = 0;
        expect(weft_unit_each([](const weft_unit_info*, void* count) { ++*static_cast<std::size_t*>(count); }, &alive),
               bit(WEFT_OK), "weft_unit_each");
        check(alive >= 1, "the primary unit lives");
    }
    }
}

// Null where something is required.
inline void use_nothing(Actor& actor) {
    using Call = weft_status (*)();
    static constexpr Call calls[] = {
        [] { return weft_ult_spawn(nullptr, nullptr, nullptr, nullptr, nullptr); },
        [] { return weft_tasklet_spawn(nullptr, nullptr, nullptr, nullptr, nullptr); },
        [] { return weft_unit_spawn_many(nullptr, 1, nullptr, nullptr, nullptr, nullptr); },
        [] { return weft_unit_revive(nullptr, nullptr, nullptr, nullptr); },
        [] { return weft_unit_join(nullptr); },
        [] { return weft_unit_join_until(nullptr, 0); },
        [] { return weft_unit_try_join(nullptr); },
        [] { return weft_unit_join_many(nullptr, 1); },
        [] { return weft_unit_join_free(nullptr); },
        [] { return weft_unit_join_free_many(nullptr, 1); },
        [] { return weft_unit_detach(nullptr); },
        [] { return weft_unit_cancel(nullptr); },
        [] { return weft_unit_migrate_wait(nullptr); },
        [] { return weft_unit_migrate_wait_until(nullptr, 0); },
        [] { return weft_unit_on_migration(nullptr, nullptr, nullptr); },
        [] { return weft_unit_each(nullptr, nullptr); },
        [] { return weft_pool_unit_each(nullptr, nullptr, nullptr); },
        [] { return weft_unit_name_set(nullptr, nullptr); },
        [] { return weft_unit_stack_get(nullptr, nullptr); },
        [] { return weft_pool_create(WEFT_POOL_SHARED, nullptr); },
        [] { return weft_pool_create_user(nullptr, nullptr, nullptr); },
        [] { return weft_pool_free(nullptr); },
        [] { return weft_pool_push(nullptr, nullptr); },
        [] { return weft_pool_push_many(nullptr, nullptr, 1); },
        [] { return weft_pool_pop_wait(nullptr, nullptr); },
        [] { return weft_sched_create(WEFT_SCHED_BASIC, nullptr, 0, nullptr); },
        [] { return weft_sched_create_user(nullptr, nullptr, nullptr, 0, nullptr); },
        [] { return weft_sched_push(nullptr, nullptr, nullptr, nullptr); },
        [] { return weft_sched_run_unit(nullptr, nullptr); },
        [] { return weft_sched_wait(nullptr); },
        [] { return weft_stream_create(nullptr, nullptr); },
        [] { return weft_stream_join_free(nullptr); },
        [] { return weft_stream_sched_set(nullptr, nullptr); },
        [] { return weft_stream_bind_hart(nullptr, 0); },
        [] { return weft_mutex_lock(nullptr); },
        [] { return weft_mutex_spin_lock(nullptr); },
        [] { return weft_cond_wait(nullptr, nullptr); },
        [] { return weft_cond_settle(nullptr, nullptr); },
        [] { return weft_event_wait(nullptr, nullptr); },
        [] { return weft_event_wait_all_until(nullptr, 1, 0); },
        [] { return weft_semaphore_acquire(nullptr); },
        [] { return weft_latch_wait(nullptr); },
        [] { return weft_barrier_wait(nullptr); },
        [] { return weft_rwlock_read_lock(nullptr); },
        [] { return weft_rwlock_write_lock(nullptr); },
        [] { return weft_future_create(1, nullptr, nullptr, nullptr); },
        [] { return weft_future_wait_until(nullptr, 0, nullptr); },
        [] { return weft_channel_create(nullptr, nullptr); },
        [] { return weft_channel_send_until(nullptr, nullptr, 0); },
        [] { return weft_channel_select_until(nullptr, 1, 0, nullptr); },
        [] { return weft_timer_start(nullptr, nullptr, nullptr, 0); },
        [] { return weft_timer_cancel(nullptr); },
        [] { return weft_poller_register(nullptr, nullptr, nullptr, nullptr); },
        [] { return weft_poller_unregister(nullptr); },
        [] { return weft_blocking(nullptr, nullptr); },
        [] { return weft_on_stream_stack(nullptr, nullptr); },
        [] { return weft_key_create(nullptr, nullptr); },
        [] { return weft_key_free(nullptr); },
        [] { return weft_local_set(nullptr, nullptr); },
        [] { return weft_unit_local_get(nullptr, nullptr, nullptr); },
        [] { return weft_counter_read(nullptr, nullptr); },
        [] { return weft_counters_print(nullptr); },
        [] { return weft_settings_get(nullptr); },
        [] { return weft_hart_use_get(nullptr); },
    };
    const std::size_t which = actor.program.below(std::size(calls));
    const weft_status status = expect(calls[which](), bit(WEFT_INVALID), "a call without what it requires");
    check(status == WEFT_INVALID, "a null handle is refused");
}

inline void step(Actor& actor) {
    switch (actor.program.below(26)) {
    case 0:
    case 1:
    case 2: return spawn_one(actor, false);
    case 3: return spawn_one(actor, true);
    case 4: return spawn_several(actor);
    case 5:
    case 6: return join_own(actor);
    case 7: return detach_own(actor);
    case 8: return revive_own(actor);
    case 9:
    case 10: return leave(actor);
    case 11: return ask(actor);
    case 12: return question(actor);
    case 13: return use_mutex(actor);
    case 14: return use_own_mutex(actor);
    case 15: return use_event(actor);
    case 16: return use_counts(actor);
    case 17: return use_barrier(actor);
    case 18: return use_rwlock(actor);
    case 19: return use_future(actor);
    case 20: return use_channel(actor);
    case 21: return use_stream(actor);
    case 22: return actor.program.below(2) == 0 ? use_pool(actor) : make_pools(actor);
    case 23: return use_time(actor);
    case 24: return actor.program.below(2) == 0 ? call_elsewhere(actor) : use_key(actor);
    default:
        switch (actor.program.below(3)) {
        case 0: return use_runtime(actor);
        case 1: return use_nothing(actor);
        default: return use_stale(actor);
        }
    }
}

}   // namespace weft_test
