// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pool/pool.hpp"

#include <bit>
#include <cstring>
#include <mutex>

#include "base/handles.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"

namespace weft {

void PrivatePool::collect() {
    for (Unit* unit = inbox.take_all(); unit != nullptr;) {
        Unit* following = unit->link;
        keep(unit);
        unit = following;
    }
}

void PrivatePool::send(Unit* unit) {
    if (!unit->has(Unit::internal)) access_check.pushed(access);
    inbox.push(unit);
    probe(Probe::push_before_wake);
    idle_list.wake_one();
    // seq_cst, after the push: an owner that leaves writes null and then checks the inbox, so the
    // sender or the owner sees the other. Without this a remote call could lie in a pool that no
    // thread serves.
    if (owner.load(std::memory_order_seq_cst) == nullptr) serve_orphan();
}

void PrivatePool::run_remote_calls() {
    Ready units;
    while (Unit* unit = ready.pop_front()) {
        if (unit->has(Unit::internal)) {
            waiting.add(-1);
            unit->body(unit->argument);
        } else {
            units.push_back(unit);
        }
    }
    while (Unit* unit = units.pop_front()) ready.push_back(unit);
}

// Collects what comes in while no stream owns the pool: no remote call is kept, so that none lies
// among the ready units.
void PrivatePool::collect_answering() {
    for (Unit* unit = inbox.take_all(); unit != nullptr;) {
        Unit* following = unit->link;
        if (unit->has(Unit::internal)) {
            unit->body(unit->argument);
        } else {
            keep(unit);
        }
        unit = following;
    }
}

// Remote calls (Unit::internal) announce joiners of units of this pool. A pool without an owner
// must still answer them, because a unit of it may have ended already; its real units wait for the
// next owner, or for a thread that pops them.
void PrivatePool::serve_orphan() {
    do {
        void* none = nullptr;
        if (!owner.compare_exchange_strong(none, this)) return;   // another thread owns or serves it, and checks again
        collect_answering();
        owner.store(nullptr, std::memory_order_seq_cst);
    } while (!inbox.looks_empty());
}

bool PrivatePool::pop_orphans(Unit** units, std::size_t capacity, std::size_t& count) {
    void* none = nullptr;
    while (!owner.compare_exchange_strong(none, this)) {
        if (none != this) return false;
        none = nullptr;   // another thread serves it, or pops: it is done at once
        os::thread_yield();
    }
    // Such temporary consumers come one at a time; which thread alone may push as well is a
    // separate question.
    if (access == WEFT_POOL_ACCESS_PRIVATE) access_check.popped(access);
    collect_answering();
    for (count = 0; count < capacity; ++count) {
        Unit* const unit = ready.pop_front();
        if (unit == nullptr) break;
        waiting.add(-1);
        // a joiner may still send a remote call: the call finds a unit that is not local, as after
        // a migration
        unit->change_pool(*this);
        units[count] = unit;
    }
    owner.store(nullptr, std::memory_order_seq_cst);
    if (!inbox.looks_empty()) serve_orphan();
    return true;
}

void LockedPool::push(Unit* unit, bool behind_all) {
    // relaxed: the priority is a wish; if it is changed while the unit is being pushed, the old or
    // the new value applies.
    const unsigned level = kind == WEFT_POOL_LIFO ? 0 : level_of(unit->priority());
    std::lock_guard guard(lock);
    check();
    if (kind == WEFT_POOL_LIFO && !behind_all) {
        lists[level].push_front(unit);
    } else {
        lists[level].push_back(unit);
    }
    filled |= 1u << level;
    count.fetch_add(1, std::memory_order_seq_cst);
}

// The most urgent level, but now and then the next one from a level on that goes round: units that
// are not urgent wait, but not forever.
unsigned LockedPool::next_level() {
    const auto first = static_cast<unsigned>(std::countr_zero(filled));
    if (++pops % turn != 0) return first;
    const unsigned from = pops / turn % levels;
    const std::uint32_t behind = filled >> from << from;
    return behind != 0 ? static_cast<unsigned>(std::countr_zero(behind)) : first;
}

Unit* LockedPool::pop() {
    if (looks_empty()) return nullptr;
    std::lock_guard guard(lock);
    check();
    if (filled == 0) return nullptr;
    const unsigned level = next_level();
    Unit* unit = lists[level].pop_front();
    if (lists[level].empty()) filled &= ~(1u << level);
    count.fetch_sub(1, std::memory_order_seq_cst);
    return unit;
}

bool LockedPool::remove(Unit* unit) {
    std::lock_guard guard(lock);
    check();
    for (unsigned level = 0; level < levels; ++level) {   // its priority may have changed since it was pushed
        if ((filled & 1u << level) == 0 || !lists[level].remove(unit)) continue;
        if (lists[level].empty()) filled &= ~(1u << level);
        count.fetch_sub(1, std::memory_order_seq_cst);
        return true;
    }
    return false;
}

namespace pool {

void push_other(Pool& to, Unit* unit, From from) {
    if (to.kind == WEFT_POOL_SHARED || to.kind == WEFT_POOL_BLOCKING)
        return push_shared(static_cast<SharedPool&>(to), unit);
    if (to.kind == WEFT_POOL_PRIVATE) return static_cast<PrivatePool&>(to).send(unit);
    to.access_check.pushed(to.access);
    switch (to.kind) {
    case WEFT_POOL_LIFO:
    case WEFT_POOL_PRIORITY: static_cast<LockedPool&>(to).push(unit, behind_all(from)); break;
    case WEFT_POOL_DEQUE: {
        auto& deque = static_cast<DequePool&>(to);
        if (deque.mine()) return behind_all(from) ? deque.push_yielded(unit) : deque.push_own(unit);
        deque.spill.push(unit);
        break;
    }
    case WEFT_POOL_USER: push_user(static_cast<UserPool&>(to), unit, operation_of(from)); return;
    case WEFT_POOL_PRIVATE:
    case WEFT_POOL_SHARED:
    case WEFT_POOL_BLOCKING:
    case WEFT_POOL_DEFAULT: break;
    }
    probe(Probe::push_before_wake);
    to.idle_list.wake_one();
}

void push_user(UserPool& to, Unit* unit, std::uint64_t operation) {
    to.pushing.fetch_add(1);
    if (to.ops.push_with != nullptr) {
        to.ops.push_with(to.self, to_handle(unit), operation);
    } else {
        to.ops.push(to.self, to_handle(unit));
    }
    probe(Probe::push_before_wake);
    to.idle_list.wake_after_plain_push();   // the user's push may have had any result
    to.pushing.fetch_sub(1);                // the last touch: the call that frees the pool waits for it
}

// In parts, since the units are linked and the table takes an array.
void push_many_user(UserPool& to, Unit* first, std::size_t count, std::uint64_t operation) {
    if (to.ops.push_many == nullptr) {
        while (count-- != 0) {
            Unit* const next = first->link;   // read before the pool has the link
            push_user(to, first, operation);
            first = next;
        }
        return;
    }
    constexpr std::size_t most = 64;
    to.pushing.fetch_add(1);
    while (count != 0) {
        weft_unit* row[most];
        std::size_t length = 0;
        for (; length < most && length < count; ++length) {
            row[length] = to_handle(first);
            first = first->link;
        }
        to.ops.push_many(to.self, row, length, operation);
        count -= length;
        probe(Probe::push_before_wake);
        to.idle_list.wake_after_plain_push(static_cast<std::uint32_t>(length));
    }
    to.pushing.fetch_sub(1);
}

bool ask_user(UserPool& to, Unit& unit) {
    return to.ops.admit == nullptr || to.ops.admit(to.self, to_handle(&unit)) != 0;
}

void expel(Pool& from, Unit& unit) {
    const auto& user = static_cast<UserPool&>(from);
    if (asks(from) && user.ops.detach != nullptr) user.ops.detach(user.self, to_handle(&unit));
}

void tell_attached(Unit& unit) {
    auto& user = static_cast<UserPool&>(*unit.pool);
    if (user.ops.attach != nullptr && user.ops.admit == nullptr) user.ops.attach(user.self, to_handle(&unit));
}

bool enters_users(Unit& unit) {
    if (!ask_user(static_cast<UserPool&>(*unit.pool), unit)) return false;
    tell_attached(unit);
    return true;
}

void tell_detached(Unit& unit) {
    auto& user = static_cast<UserPool&>(*unit.pool);
    if (user.ops.detach != nullptr) user.ops.detach(user.self, to_handle(&unit));
}

void move(Unit& unit, Pool& to) {
    if (unit.pool == &to) return;
    belongs_no_more(unit);
    if (unit.has(Unit::local) || to.kind == WEFT_POOL_PRIVATE) {
        unit.change_pool(to);
    } else {
        unit.set_pool(to);
    }
    belongs(unit);
}

std::size_t pop_many(Pool& from, Unit** units, std::size_t capacity) {
    if (from.kind == WEFT_POOL_USER && static_cast<UserPool&>(from).ops.pop_many != nullptr) {
        auto& user = static_cast<UserPool&>(from);
        auto* row = reinterpret_cast<weft_unit**>(units);   // handles first, then the units that they stand for
        const std::size_t count = user.ops.pop_many(user.self, row, capacity);
        for (std::size_t i = 0; i < count; ++i) units[i] = to_unit(row[i], "the pop_many of a pool");
        return count;
    }
    std::size_t count = 0;
    while (count < capacity) {
        Unit* unit = pop(from);
        if (unit == nullptr) break;
        units[count++] = unit;
    }
    return count;
}

void push_many(Pool& to, Unit* first, Unit* last, std::size_t count, From from) {
    if (to.kind == WEFT_POOL_USER && static_cast<UserPool&>(to).ops.push_many != nullptr) {
        return push_many_user(static_cast<UserPool&>(to), first, count, operation_of(from));
    }
    if (to.kind == WEFT_POOL_SHARED || to.kind == WEFT_POOL_BLOCKING) {
        to.access_check.pushed(to.access);
        static_cast<SharedPool&>(to).ready.push_chain(first, last);
        probe(Probe::push_before_wake);
        to.idle_list.wake_some(static_cast<std::uint32_t>(count));
        return;
    }
    if (to.kind == WEFT_POOL_PRIVATE && static_cast<PrivatePool&>(to).mine()) {
        static_cast<PrivatePool&>(to).put_chain(first, last, count);
        return;
    }
    if (to.kind == WEFT_POOL_DEQUE && static_cast<DequePool&>(to).mine() && !behind_all(from)) {
        to.access_check.pushed(to.access);
        return static_cast<DequePool&>(to).push_many_own(first, last);
    }
    for (Unit* unit = first; unit != nullptr;) {
        Unit* next = unit == last ? nullptr : unit->link;
        push(to, unit, from);
        unit = next;
    }
}

Unit* pop_other(Pool& from) {
    from.access_check.popped(from.access);
    switch (from.kind) {
    case WEFT_POOL_PRIVATE: return static_cast<PrivatePool&>(from).pop();
    case WEFT_POOL_BLOCKING:
    case WEFT_POOL_SHARED: return static_cast<SharedPool&>(from).ready.pop();
    case WEFT_POOL_LIFO:
    case WEFT_POOL_PRIORITY: return static_cast<LockedPool&>(from).pop();
    case WEFT_POOL_DEQUE: {
        auto& deque = static_cast<DequePool&>(from);
        return deque.mine() ? deque.pop_own() : deque.steal();
    }
    case WEFT_POOL_USER: {
        auto& user = static_cast<UserPool&>(from);
        return to_unit(user.ops.pop(user.self), "the pop of a pool");
    }
    case WEFT_POOL_DEFAULT: break;
    }
    return nullptr;
}

namespace {

// The deque, if another stream owns it.
DequePool* others_deque(Pool& pool) {
    if (pool.kind != WEFT_POOL_DEQUE) return nullptr;
    auto& deque = static_cast<DequePool&>(pool);
    return deque.mine() ? nullptr : &deque;
}

}   // namespace

Unit* pop_with_unpublished(Pool& from) {
    if (DequePool* const deque = others_deque(from)) deque->publish_for_owner();
    return pop(from);
}

Unit* pop_after_all(Pool& from) {
    Unit* const unit = pop(from);
    return unit != nullptr || from.kind != WEFT_POOL_DEQUE ? unit : pop_with_unpublished(from);
}

bool quiet(const Pool& pool) {
    switch (pool.kind) {
    case WEFT_POOL_PRIVATE: {
        const auto& mine = static_cast<const PrivatePool&>(pool);
        return mine.inbox.looks_empty() && mine.ready.empty();
    }
    case WEFT_POOL_BLOCKING:
    case WEFT_POOL_SHARED: return static_cast<const SharedPool&>(pool).ready.looks_empty();
    case WEFT_POOL_LIFO:
    case WEFT_POOL_PRIORITY: return static_cast<const LockedPool&>(pool).looks_empty();
    case WEFT_POOL_DEQUE: return static_cast<const DequePool&>(pool).quiet();
    case WEFT_POOL_USER: {
        const auto& user = static_cast<const UserPool&>(pool);
        return user.ops.length(user.self) == 0;
    }
    case WEFT_POOL_DEFAULT: break;
    }
    return true;
}

bool listen(Pool& pool, IdleList::Entry& place) {
    // Also where the caller's stream owns the deque: it may have another owner when this sleeper is
    // woken.
    if (pool.kind == WEFT_POOL_DEQUE) static_cast<DequePool&>(pool).restraint.insist();
    pool.idle_list.add(place);
    DequePool* const deque = others_deque(pool);
    return deque != nullptr && deque->insist_on_steal();
}

void stop_listening(Pool& pool, IdleList::Entry& place) {
    pool.idle_list.remove(place);
    if (pool.kind == WEFT_POOL_DEQUE) static_cast<DequePool&>(pool).restraint.insist_no_longer();
}

bool request_steal(Pool& pool, const void* stream) {
    DequePool* const deque = others_deque(pool);
    return deque != nullptr && deque->request_steal(stream);
}

bool quiet_after_all(Pool& pool) {
    DequePool* const deque = others_deque(pool);
    if (deque == nullptr) return quiet(pool);
    if (deque->restraint.declined()) return deque->nothing_published();
    if (deque->quiet()) return true;
    deque->publish_for_owner();
    return false;
}

bool watch(Pool& pool, void* stream) {
    DequePool* const deque = others_deque(pool);
    return deque != nullptr && deque->restraint.active() && deque->restraint.watch(stream);
}

std::uint64_t keep_watching(Pool& pool, void* stream) {
    DequePool* const deque = others_deque(pool);
    return deque != nullptr ? deque->keep_watching(stream) : os::forever;
}

void stop_watching(Pool& pool, void* stream) {
    if (pool.kind == WEFT_POOL_DEQUE && static_cast<DequePool&>(pool).restraint.stop_watching(stream))
        pool.idle_list.wake_one();
}

bool has_declined(const Pool& pool) {
    return pool.kind == WEFT_POOL_DEQUE && static_cast<const DequePool&>(pool).restraint.declined();
}

bool is_watched(const Pool& pool) {
    return pool.kind == WEFT_POOL_DEQUE && static_cast<const DequePool&>(pool).restraint.watched();
}

std::size_t length(const Pool& pool) {
    switch (pool.kind) {
    case WEFT_POOL_PRIVATE: {
        const auto& own = static_cast<const PrivatePool&>(pool);
        return own.length();
    }
    case WEFT_POOL_BLOCKING:
    case WEFT_POOL_SHARED: return static_cast<const SharedPool&>(pool).ready.length();
    case WEFT_POOL_LIFO:
    case WEFT_POOL_PRIORITY: return static_cast<const LockedPool&>(pool).count.load();
    case WEFT_POOL_DEQUE: return static_cast<const DequePool&>(pool).length();
    case WEFT_POOL_USER: {
        const auto& user = static_cast<const UserPool&>(pool);
        return user.ops.length(user.self);
    }
    case WEFT_POOL_DEFAULT: break;
    }
    return 0;
}

Removal remove(Pool& from, Unit* unit) {
    bool removed = false;
    switch (from.kind) {
    case WEFT_POOL_PRIVATE: {
        auto& own = static_cast<PrivatePool&>(from);
        if (!own.mine()) return Removal::impossible;
        own.collect();
        removed = own.ready.remove(unit);
        if (removed) own.waiting.add(-1);
        break;
    }
    case WEFT_POOL_BLOCKING:
    case WEFT_POOL_SHARED: removed = static_cast<SharedPool&>(from).ready.remove(unit); break;
    case WEFT_POOL_LIFO:
    case WEFT_POOL_PRIORITY: removed = static_cast<LockedPool&>(from).remove(unit); break;
    case WEFT_POOL_USER: {
        auto& user = static_cast<UserPool&>(from);
        if (user.ops.remove == nullptr) return Removal::impossible;
        removed = user.ops.remove(user.self, to_handle(unit)) != 0;
        break;
    }
    case WEFT_POOL_DEQUE:
    case WEFT_POOL_DEFAULT: return Removal::impossible;
    }
    return removed ? Removal::removed : Removal::absent;
}

bool attach(Pool& pool, void* stream, bool main) {
    void* none = nullptr;
    if (pool.kind == WEFT_POOL_PRIVATE) {
        auto& owner = static_cast<PrivatePool&>(pool).owner;
        while (!owner.compare_exchange_strong(none, stream)) {
            if (none == stream) break;   // the stream draws from it already, by another scheduler
            if (none != static_cast<PrivatePool*>(&pool)) return false;
            none = nullptr;   // another thread runs remote calls (serve_orphan), and is done at once
            os::thread_yield();
        }
    } else if (pool.kind == WEFT_POOL_DEQUE && main) {
        if (!static_cast<DequePool&>(pool).owner.compare_exchange_strong(none, stream) && none != stream) return false;
    }
    pool.drawers.fetch_add(1);
    return true;
}

void detach_sharing(Pool& pool) { pool.drawers.fetch_sub(1); }

void hand_over(Pool& pool, void* to, bool main) {
    // seq_cst: a sender checks the owner after its push (PrivatePool::send).
    if (pool.kind == WEFT_POOL_PRIVATE) static_cast<PrivatePool&>(pool).owner.store(to, std::memory_order_seq_cst);
    if (pool.kind == WEFT_POOL_DEQUE && main) static_cast<DequePool&>(pool).owner.store(to, std::memory_order_seq_cst);
}

void detach(Pool& pool, void* stream) {
    if (pool.kind == WEFT_POOL_PRIVATE) {
        auto& own = static_cast<PrivatePool&>(pool);
        own.run_remote_calls();   // of a stream that was asked to leave the waiting units
        own.owner.store(nullptr, std::memory_order_seq_cst);
        if (!own.inbox.looks_empty()) own.serve_orphan();
    } else if (pool.kind == WEFT_POOL_DEQUE) {
        auto& deque = static_cast<DequePool&>(pool);
        if (deque.owner.load() == stream) {
            deque.publish_all();
            deque.owner.store(nullptr);
        }
    }
    pool.access_check.left(stream);
    pool.drawers.fetch_sub(1);
}

Pool* create(weft_pool_kind kind, weft_pool_access access) {
    Pool* made = nullptr;
    switch (kind) {
    case WEFT_POOL_PRIVATE: made = os::make<PrivatePool>(); break;
    case WEFT_POOL_BLOCKING:
    case WEFT_POOL_SHARED: made = os::make<SharedPool>(kind); break;
    case WEFT_POOL_LIFO:
    case WEFT_POOL_PRIORITY: made = os::make<LockedPool>(kind); break;
    case WEFT_POOL_DEQUE:
        os::prepare_process_barrier_cheaply();
        made = os::make<DequePool>();
        break;
    case WEFT_POOL_USER:
    case WEFT_POOL_DEFAULT: break;
    }
    if (made != nullptr) made->access = access;
    return made;
}

Pool* create_user(const weft_pool_ops& ops, void* self) { return os::make<UserPool>(ops, self); }

void destroy(Pool* pool) {
    handles::freed(pool);
    switch (pool->kind) {
    case WEFT_POOL_PRIVATE: os::destroy(static_cast<PrivatePool*>(pool)); return;
    case WEFT_POOL_BLOCKING:
    case WEFT_POOL_SHARED: os::destroy(static_cast<SharedPool*>(pool)); return;
    case WEFT_POOL_LIFO:
    case WEFT_POOL_PRIORITY: os::destroy(static_cast<LockedPool*>(pool)); return;
    case WEFT_POOL_DEQUE: os::destroy(static_cast<DequePool*>(pool)); return;
    case WEFT_POOL_USER: {
        auto* user = static_cast<UserPool*>(pool);
        while (user->pushing.load() != 0) os::thread_yield();
        if (user->ops.destroy != nullptr) user->ops.destroy(user->self);
        os::destroy(user);
        return;
    }
    case WEFT_POOL_DEFAULT: return;
    }
}

}   // namespace pool
}   // namespace weft
