// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about objects that units and OS threads wait for, legal and illegal.
#pragma once

#include "test/fuzz/calls_world.hpp"

namespace weft_test {

// A wait locks its mutex again without a deadline, so this mutex is held only within this call.
inline void use_condition(Actor& actor) {
    Input& program = actor.program;
    weft_cond& cond = actor.world.cond;
    weft_mutex& mutex = actor.world.cond_mutex;
    const unsigned signalled = bit(WEFT_OK);
    switch (program.below(6)) {
    case 0: expect(weft_cond_signal(&cond), signalled, "weft_cond_signal"); return;
    case 1: expect(weft_cond_broadcast(&cond), signalled, "weft_cond_broadcast"); return;
    case 2: expect(weft_cond_interrupt(&cond), signalled, "weft_cond_interrupt"); return;
    case 3: {
        if (actor.depth > 0) return;
        const weft_status status = weft_cond_wait_until(&actor.cond, &actor.mutex, soon(program));
        expect(status, actor.who == Who::tasklet ? bits({WEFT_WRONG_STATE, WEFT_WRONG_KIND}) : bit(WEFT_WRONG_STATE),
               "weft_cond_wait_until without the mutex");
        return;
    }
    default: break;
    }
    if (expect(weft_mutex_lock_until(&mutex, soon(program)), waits(actor), "weft_mutex_lock_until") != WEFT_OK) return;
    const std::uint64_t deadline = soon(program);
    const std::uint32_t how = program.below(4);
    weft_status status = WEFT_OK;
    if (how == 0) {
        status = weft_cond_wait_until(&cond, &mutex, deadline);
    } else if (how < 3) {
        status = weft_cond_wait_unless_until(
            &cond, &mutex, [](void* now) { return now != nullptr; }, how == 1 ? &actor : nullptr, deadline);
    } else {
        expect(weft_cond_signal(&cond), signalled, "weft_cond_signal by the holder");
        expect(weft_cond_settle(&cond, &mutex), bits({WEFT_OK, WEFT_BUSY}), "weft_cond_settle");
    }
    expect(status, waits(actor), "weft_cond_wait_until or weft_cond_wait_unless");
    expect(weft_mutex_unlock(&mutex), bit(WEFT_OK), "weft_mutex_unlock of what was locked again");
}

// The actor may wait, also without success, at an object that others have: a deadline ends the
// wait.
inline void use_mutex(Actor& actor) {
    Input& program = actor.program;
    const std::size_t which = program.below(2);
    weft_mutex& mutex = actor.world.mutexes[which];
    unsigned& locked = actor.locked[which];
    const bool recursive = which == 1;
    switch (program.below(4)) {
    case 0: {
        const auto urgency = static_cast<weft_urgency>(program.below(4));
        const weft_status status = weft_mutex_lock_urgent_until(&mutex, urgency, soon(program));
        expect(status, static_cast<int>(urgency) == 3 ? bit(WEFT_INVALID) : waits(actor) | bit(WEFT_WRONG_STATE),
               "weft_mutex_lock_until");
        if (status == WEFT_OK) ++locked;
        break;
    }
    case 1: {
        const weft_status status =
            expect(weft_mutex_try_lock(&mutex), bits({WEFT_OK, WEFT_BUSY}), "weft_mutex_try_lock");
        check(status != WEFT_OK || locked == 0 || recursive || actor.depth > 0,
              "who holds a mutex cannot lock it again");
        if (status == WEFT_OK) ++locked;
        break;
    }
    case 2: {
        // A holder may have ended, and the caller be a unit in the same memory, which is taken for
        // the holder.
        const bool holds = locked > 0 && actor.depth == 0;
        const weft_status status = weft_mutex_unlock(&mutex);
        expect(status, holds ? bit(WEFT_OK) : bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_mutex_unlock");
        if (status == WEFT_OK && locked > 0) --locked;
        break;
    }
    default: use_condition(actor);
    }
}

// A mutex of the actor's own: no other holds it, so no deadline is needed.
inline void use_own_mutex(Actor& actor) {
    if (actor.depth > 0) return;
    expect(weft_mutex_lock(&actor.mutex), bit(WEFT_OK), "weft_mutex_lock");
    if (actor.program.below(2) == 0)
        expect(weft_mutex_lock(&actor.mutex), bit(WEFT_WRONG_STATE), "weft_mutex_lock of what one holds");
    expect(weft_mutex_unlock(&actor.mutex), bit(WEFT_OK), "weft_mutex_unlock");
    expect(weft_mutex_unlock(&actor.mutex), bit(WEFT_WRONG_STATE), "weft_mutex_unlock of what nobody holds");
    expect(weft_mutex_spin_lock(&actor.mutex), bit(WEFT_OK), "weft_mutex_spin_lock");
    expect(weft_mutex_unlock(&actor.mutex), bit(WEFT_OK), "weft_mutex_unlock");
}

inline void use_event(Actor& actor) {
    Input& program = actor.program;
    weft_event& event = actor.world.events[program.below(2)];
    void* value = nullptr;
    switch (program.below(6)) {
    case 0: expect(weft_event_set(&event, &event), bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_event_set"); break;
    case 1: {
        const weft_status status =
            expect(weft_event_wait_until(&event, soon(program), &value), waits(actor), "weft_event_wait_until");
        check(status != WEFT_OK || value == &event, "an event carries what it was set with");
        break;
    }
    case 2: {
        const weft_status status =
            expect(weft_event_test(&event, &value), bits({WEFT_OK, WEFT_BUSY}), "weft_event_test");
        check(status != WEFT_OK || value == &event, "an event carries what it was set with");
        break;
    }
    case 3: {
        weft_event* events[] = {&actor.world.events[0], &actor.world.events[1], &actor.world.events[0], &actor.event};
        std::size_t index = 99;
        const std::size_t count = program.below(5);
        const weft_status status = weft_event_wait_any_until(events, count, soon(program), &index);
        expect(status, count == 0 ? bit(WEFT_INVALID) : waits(actor), "weft_event_wait_any");
        check(status != WEFT_OK || index < count, "it is said which event was set");
        break;
    }
    case 4: {
        weft_event* events[] = {&actor.world.events[0], &actor.world.events[1]};
        expect(weft_event_wait_all_until(events, program.below(3), soon(program)), waits(actor), "weft_event_wait_all");
        break;
    }
    default:
        expect(weft_event_reset(&actor.event), bit(WEFT_OK), "weft_event_reset");
        expect(weft_event_set(&actor.event, nullptr), bit(WEFT_OK), "weft_event_set");
        expect(weft_event_set(&actor.event, nullptr), bit(WEFT_WRONG_STATE), "weft_event_set again");
        expect(weft_event_wait(&actor.event, nullptr), bit(WEFT_OK), "weft_event_wait");
    }
}

inline void use_counts(Actor& actor) {
    Input& program = actor.program;
    World& world = actor.world;
    std::uint32_t count = 0;
    switch (program.below(7)) {
    case 0:
        expect(weft_semaphore_acquire_until(&world.semaphore, soon(program)), waits(actor),
               "weft_semaphore_acquire_until");
        break;
    case 1:
        expect(weft_semaphore_try_acquire(&world.semaphore), bits({WEFT_OK, WEFT_BUSY}), "weft_semaphore_try_acquire");
        break;
    case 2:
        expect(weft_semaphore_release(&world.semaphore, program.below(4)), bits({WEFT_OK, WEFT_INVALID}),
               "weft_semaphore_release");
        break;
    case 3:
        expect(weft_semaphore_release(&world.semaphore, WEFT_COUNT_MAX + program.below(2)),
               bits({WEFT_OK, WEFT_INVALID}), "weft_semaphore_release of very many");
        expect(weft_semaphore_count_get(&world.semaphore, &count), bit(WEFT_OK), "weft_semaphore_count_get");
        check(count <= WEFT_COUNT_MAX, "a semaphore has a most");
        break;
    case 4:
        expect(weft_latch_count_down(&world.latch, program.below(4)), bits({WEFT_OK, WEFT_INVALID}),
               "weft_latch_count_down");
        break;
    case 5: expect(weft_latch_wait_until(&world.latch, soon(program)), waits(actor), "weft_latch_wait_until"); break;
    default: expect(weft_latch_test(&world.latch), bits({WEFT_OK, WEFT_BUSY}), "weft_latch_test");
    }
}

inline void use_barrier(Actor& actor) {
    Input& program = actor.program;
    weft_barrier& barrier = actor.world.barrier;
    std::uint32_t phase = program.byte();
    switch (program.below(4)) {
    case 0:
        if (expect(weft_barrier_arrive(&barrier, program.below(4), &phase), bits({WEFT_OK, WEFT_INVALID}),
                   "weft_barrier_arrive") != WEFT_OK)
            break;
        [[fallthrough]];
    case 1:
        expect(weft_barrier_wait_phase_until(&barrier, phase, soon(program)), waits(actor), "weft_barrier_wait_phase");
        break;
    case 2:
        expect(weft_barrier_arrive_and_drop(&barrier), bits({WEFT_OK, WEFT_INVALID}), "weft_barrier_arrive_and_drop");
        break;
    default: {
        // The actor's own barrier, for one: it waits for no other.
        const std::uint32_t expected = program.below(3);
        const weft_status made = weft_barrier_init(
            &actor.barrier, expected, [](void* noise) { static_cast<std::atomic<int>*>(noise)->fetch_add(1); },
            &actor.world.noise);
        expect(made, bit(expected == 0 ? WEFT_INVALID : WEFT_OK), "weft_barrier_init");
        if (made == WEFT_OK && expected == 2)
            expect(weft_barrier_arrive_and_drop(&actor.barrier), bit(WEFT_OK), "weft_barrier_arrive_and_drop");
        const bool alone = actor.suspends() || (actor.who == Who::thread);
        if (made == WEFT_OK && alone) expect(weft_barrier_wait(&actor.barrier), bit(WEFT_OK), "weft_barrier_wait");
    }
    }
}

inline void use_rwlock(Actor& actor) {
    Input& program = actor.program;
    const std::size_t which = program.below(2);
    weft_rwlock& lock = actor.world.rwlocks[which];
    bool &reads = actor.reads[which], &writes = actor.writes[which];
    if (actor.depth > 0) return;   // in a callback, another has the lock
    switch (program.below(5)) {
    case 0:
        if (reads) break;   // a reader does not lock for reading again
        reads = expect(weft_rwlock_read_lock_until(&lock, soon(program)), waits(actor) | bit(WEFT_WRONG_STATE),
                       "weft_rwlock_read_lock_until") == WEFT_OK;
        check(!reads || !writes, "nobody reads while somebody writes");
        break;
    case 1: {
        const weft_status status = weft_rwlock_write_lock_until(&lock, soon(program));
        expect(status, writes ? bit(WEFT_WRONG_STATE) : waits(actor) | bit(WEFT_WRONG_STATE),
               "weft_rwlock_write_lock_until");
        check(status != WEFT_OK || !reads, "nobody writes while somebody reads");
        if (status == WEFT_OK) writes = true;
        break;
    }
    case 2:
        if (!reads)
            reads = expect(weft_rwlock_try_read_lock(&lock), bits({WEFT_OK, WEFT_BUSY}), "weft_rwlock_try_read_lock") ==
                    WEFT_OK;
        check(!reads || !writes, "nobody reads while somebody writes");
        break;
    case 3: {
        const weft_status status =
            expect(weft_rwlock_try_write_lock(&lock), bits({WEFT_OK, WEFT_BUSY}), "weft_rwlock_try_write_lock");
        check(status != WEFT_OK || (!reads && !writes), "nobody writes while the lock is held");
        if (status == WEFT_OK) writes = true;
        break;
    }
    default:
        if (reads || writes) {
            expect(weft_rwlock_unlock(&lock), bit(WEFT_OK), "weft_rwlock_unlock");
            reads = writes = false;
        } else {
            expect(weft_rwlock_unlock(&actor.rwlock), bit(WEFT_WRONG_STATE), "weft_rwlock_unlock of what nobody holds");
        }
    }
}

inline void use_future(Actor& actor) {
    Input& program = actor.program;
    weft_future* shared = actor.world.future;
    switch (program.below(5)) {
    case 0: expect(weft_future_set(shared, &actor), bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_future_set"); break;
    case 1: {
        void** values = nullptr;
        const weft_status status =
            expect(weft_future_wait_until(shared, soon(program), &values), waits(actor), "weft_future_wait");
        check(status != WEFT_OK || (values != nullptr && values[0] != nullptr),
              "a future that is ready has its values");
        break;
    }
    case 2: expect(weft_future_test(shared), bits({WEFT_OK, WEFT_BUSY}), "weft_future_test"); break;
    case 3:
        if (actor.future != nullptr) break;
        expect(weft_future_create(
                   program.below(3), [](void**, void* noise) { static_cast<std::atomic<int>*>(noise)->fetch_add(1); },
                   &actor.world.noise, &actor.future),
               bit(WEFT_OK), "weft_future_create");
        break;
    default:
        if (actor.future == nullptr) break;
        if (program.below(2) == 0) expect(weft_future_reset(actor.future), bit(WEFT_OK), "weft_future_reset");
        expect(weft_future_set(actor.future, &actor), bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_future_set");
        weft_event* event = nullptr;
        expect(weft_future_event_get(actor.future, &event), bit(WEFT_OK), "weft_future_event_get");
        check(event != nullptr, "a future has its event");
        if (program.below(2) == 0) {
            expect(weft_future_free(actor.future), bit(WEFT_OK), "weft_future_free");
            actor.future = nullptr;
        }
    }
}

inline void use_channel(Actor& actor) {
    Input& program = actor.program;
    World& world = actor.world;
    std::size_t length = 0;
    std::uint64_t element = program.byte();
    const unsigned legal = waits(actor) | bit(WEFT_CLOSED);
    switch (program.below(8)) {
    case 0: expect(weft_channel_send_until(world.channel, &element, soon(program)), legal, "weft_channel_send"); break;
    case 1:
        expect(weft_channel_receive_until(world.channel, soon(program), &element), legal, "weft_channel_receive");
        break;
    case 2:
        expect(weft_channel_length_get(world.channel, &length), bit(WEFT_OK), "weft_channel_length_get");
        check(length <= 2, "a channel has its capacity");
        break;
    case 3: {
        std::uint64_t sent = 1, received = 0, own = 2;
        weft_channel_case cases[] = {{world.channel, true, &sent, WEFT_OK},
                                     {world.channel, false, &received, WEFT_OK},
                                     {actor.channel, program.below(2) == 0, &own, WEFT_OK},
                                     {nullptr, false, nullptr, WEFT_OK}};
        std::size_t index = 99;
        const std::size_t count = program.below(5);
        const weft_status status = weft_channel_select_until(cases, count, soon(program), &index);
        expect(status, count == 0 ? bit(WEFT_INVALID) : waits(actor), "weft_channel_select");
        check(status != WEFT_OK || index < count, "it is said which case was done");
        break;
    }
    case 4: {
        if (actor.channel != nullptr) break;
        weft_channel_options options{};
        options.size = sizeof options;
        options.capacity = program.below(3);
        options.element_bytes = 8;
        expect(weft_channel_create(&options, &actor.channel), bit(WEFT_OK), "weft_channel_create");
        break;
    }
    case 5:
        if (actor.channel == nullptr) break;
        expect(weft_channel_send_until(actor.channel, &element, soon(program)), legal, "weft_channel_send");
        expect(weft_channel_receive_until(actor.channel, soon(program), &element), legal, "weft_channel_receive");
        break;
    case 6:
        if (program.below(4) == 0)
            expect(weft_channel_close(world.channel), bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_channel_close");
        break;
    default:
        if (actor.channel == nullptr) break;
        if (program.below(2) == 0)
            expect(weft_channel_close(actor.channel), bits({WEFT_OK, WEFT_WRONG_STATE}), "weft_channel_close");
        expect(weft_channel_free(actor.channel), bit(WEFT_OK), "weft_channel_free");
        actor.channel = nullptr;
    }
}

}   // namespace weft_test
