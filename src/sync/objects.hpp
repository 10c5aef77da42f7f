// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The objects of this folder as the library has them: views of the structures of
// include/weft/sync.h, for units and OS threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/agent.hpp"
#include "sync/barrier.hpp"
#include "sync/channel.hpp"
#include "sync/condition.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/mutex.hpp"
#include "sync/rwlock.hpp"
#include "sync/semaphore.hpp"
#include "weft/sync.h"

namespace weft::sync {

using Mutex = BasicMutex<AgentRef>;
using Condition = BasicCondition<AgentRef, WordOrders>;
using Event = BasicEvent<AgentRef>;
using Semaphore = BasicSemaphore<AgentRef>;
using Latch = BasicLatch<AgentRef>;
using Barrier = BasicBarrier<AgentRef>;
using RwLock = BasicRwLock<AgentRef>;
using Channel = BasicChannel<AgentRef>;

// An object lies as a word at the beginning of the user's memory and a body behind it, aligned to 8
// wherever that is. The word is of four bytes, so that it never crosses a cache line in memory that
// is aligned to 4 only.
template <class Object>
[[gnu::always_inline]] inline Object at(void* memory) {
    constexpr std::uintptr_t mask = alignof(std::uint64_t) - 1;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t body = (address + sizeof(typename Object::Word) + mask) & ~mask;
    return Object(*reinterpret_cast<typename Object::Word*>(address), *reinterpret_cast<typename Object::Body*>(body));
}

template <class Object, class Public>
concept Fits = sizeof(typename Object::Word) + 4 + sizeof(typename Object::Body) <= sizeof(Public) &&
               alignof(typename Object::Body) <= 8;
static_assert(Fits<Mutex, weft_mutex> && sizeof(weft_mutex) <= 56);
static_assert(Fits<Condition, weft_cond> && sizeof(weft_cond) <= 56);
static_assert(Fits<Event, weft_event> && sizeof(weft_event) <= 56);
static_assert(Fits<Semaphore, weft_semaphore> && Fits<Latch, weft_latch> && Fits<Barrier, weft_barrier> &&
              Fits<RwLock, weft_rwlock>);
static_assert(offsetof(Mutex::Body, owner) == 0, "a dump names its holder (inspect/dump.cpp)");
static_assert(Mutex::recursive.word == 1, "WEFT_MUTEX_RECURSIVE_INIT");
static_assert(Event::is_set.word == WEFT_EVENT_IS_SET);
static_assert(Semaphore::most == WEFT_COUNT_MAX && Latch::most == WEFT_COUNT_MAX);

// The blocking halves that are more than wait_at(): mutex.cpp, condition.cpp, select.cpp.
weft_status lock_slow(Mutex mutex, Urgency urgency, std::uint64_t deadline_ns) noexcept;
weft_status unlock_slow(Mutex mutex) noexcept;
weft_status wait_condition(Condition condition, Mutex mutex) noexcept;
weft_status wait_condition(Condition condition, Mutex mutex, std::uint64_t deadline_ns, bool (*unless)(void*),
                           void* argument) noexcept;
weft_status signal(Condition condition) noexcept;
weft_status settle(Condition condition, Mutex mutex);
weft_status arrive_and_wait(Barrier barrier) noexcept;
weft_status sleep_until(std::uint64_t deadline_ns);
weft_status join_until(Unit& target, std::uint64_t deadline_ns);
weft_status wait_for_move_until(Unit& target, std::uint64_t deadline_ns);
weft_status wait_any(weft_event* const* events, std::size_t count, std::size_t* index, std::uint64_t deadline_ns);
weft_status select(weft_channel_case* cases, std::size_t count, std::size_t* index, std::uint64_t deadline_ns);

// Wakes a unit that has been claimed and of which nothing else is known; returns WEFT_OK, so that
// the call may be a caller's last step.
[[gnu::noinline]] weft_status wake_elsewhere(Stream* stream, Unit& unit) noexcept;
[[gnu::always_inline]] inline weft_status wake_unit(Unit& unit) {
    Stream* const stream = current_or_null();
    unit.life.move(State::waiting, State::ready);
    if (stream == nullptr || unit.pool != stream->direct) [[unlikely]]
        return wake_elsewhere(stream, unit);
    stream->counters.add(trace::Count::resumed);
    stream->direct->put(&unit);
    return WEFT_OK;
}

// By the holder, which has locked the mutex once: pays the signals that it owes to a condition, and
// releases the mutex.
inline void unlock(Mutex mutex) {
    if (mutex.body().signalled != nullptr) {
        Condition::pay_and_unlock(mutex);
    } else if (!mutex.unlock_quickly(mutex.owner())) {
        mutex.unlock_slow();
    }
}

// The caller has locked the mutex.
[[gnu::always_inline]] inline void note_holder(Mutex& mutex, Unit* unit, void* identity) {
    mutex.set_owner(identity);
    if (unit != nullptr) [[likely]]
        unit->latest_lock = mutex.address();
}

// Takes what is wanted of the object, or waits for it as wait_at() does.
template <class Object>
[[gnu::always_inline]] inline weft_status take_or_wait(Object&& object, Waiter& waiter, std::uint64_t deadline_ns,
                                                       Waits what, const void* address) {
    if (object.come() && object.take(waiter)) return WEFT_OK;
    return wait_at(object, waiter, deadline_ns, what, address);
}

}   // namespace weft::sync
