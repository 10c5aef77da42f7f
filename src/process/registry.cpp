// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/registry.hpp"

#include <mutex>

#include "base/handles.hpp"
#include "process/process.hpp"

namespace weft {

weft_pool_kind default_pool_kind(const Process& of) {
    const weft_settings& values = of.settings.values;
    if (values.pool == WEFT_POOL_DEFAULT)
        return values.streams > 1 ? WEFT_POOL_DEQUE : given_for(of, WEFT_POOL_PRIVATE);
    return given_for(of, values.pool);
}

weft_pool_kind given_for(const Process& of, weft_pool_kind kind) {
    return kind == WEFT_POOL_PRIVATE && of.settings.values.rescue == WEFT_RESCUE_ALL ? WEFT_POOL_SHARED : kind;
}

Sched* default_sched(Process& of, Pool& main) {
    weft_sched_kind kind = of.settings.values.scheduler;
    if (kind == WEFT_SCHED_DEFAULT) {
        const bool shared = of.settings.values.streams > 1 && main.owned && main.kind != WEFT_POOL_PRIVATE;
        kind = shared || main.kind == WEFT_POOL_DEQUE ? WEFT_SCHED_RANDOM_STEAL : WEFT_SCHED_BASIC;
    }
    Pool* pools[Process::most_streams] = {&main};
    std::size_t count = 1;
    if (kind == WEFT_SCHED_RANDOM_STEAL) {
        // It steals from every pool of this make, including those of later streams, which are made
        // before the scheduler.
        std::lock_guard guard(of.lock);
        for (Pool* pool = of.pools; pool != nullptr; pool = pool->next) {
            const bool stealable = pool->owned && pool != &main && pool->kind != WEFT_POOL_PRIVATE;
            if (stealable && count < Process::most_streams) pools[count++] = pool;
        }
    }
    Sched* made = sched::create(kind, nullptr, nullptr, pools, count);
    if (made != nullptr) enlist(of, *made);
    return made;
}

Pool* make_owned_pool(Process& of, weft_pool_kind kind) {
    {
        std::lock_guard guard(of.lock);
        for (Pool* pool = of.pools; pool != nullptr; pool = pool->next) {
            if (!pool->orphan || pool->kind != kind) continue;
            pool->orphan = false;
            return pool;
        }
    }
    Pool* made = make_pool(of, kind);
    if (made == nullptr) return nullptr;
    made->owned = true;
    enlist(of, *made);
    return made;
}

void enlist(Process& of, Pool& pool) {
    std::lock_guard guard(of.lock);
    WEFT_ASSERT(!pool.freed);
    pool.next = of.pools;
    of.pools = &pool;
    of.hooks.pool_comes(of, pool);
}

void enlist(Process& of, Sched& sched) {
    std::lock_guard guard(of.lock);
    sched.next = of.scheds;
    of.scheds = &sched;
}

namespace {

template <class T>
void unlist(T*& first, T& element) {
    for (T** at = &first; *at != nullptr; at = &(*at)->next) {
        if (*at != &element) continue;
        *at = element.next;
        return;
    }
}

}   // namespace

void dismiss(Process& of, Pool& pool) {
    {
        std::lock_guard guard(of.lock);
        unlist(of.pools, pool);
        of.hooks.pool_goes(of, pool);
        if (pool.kind != WEFT_POOL_USER) {
            // The pusher of the last unit wakes a sleeper afterwards, possibly so late that the
            // unit has run, ended and let the pool be freed. So the memory stays a pool of its
            // kind: a superfluous wake is harmless.
            pool.freed = true;
            handles::freed(&pool);
            pool.next = of.freed_pools;
            of.freed_pools = &pool;
            return;
        }
    }
    pool::destroy(&pool);
}

void drop_freed_pools(Process& of) {
    while (Pool* pool = of.freed_pools) {
        of.freed_pools = pool->next;
        pool::destroy(pool);
    }
}

Pool* make_pool(Process& of, weft_pool_kind kind, weft_pool_access access) {
    {
        std::lock_guard guard(of.lock);
        for (Pool** at = &of.freed_pools; *at != nullptr; at = &(*at)->next) {
            Pool* pool = *at;
            if (pool->kind != kind) continue;
            WEFT_ASSERT(pool->freed && pool->drawers.load() == 0 && pool::quiet(*pool));
            *at = pool->next;
            pool->freed = false;   // empty, and without drawers, as when it was made
            pool->access = access;
            pool->data = nullptr;
            pool->access_check.reset();
            return pool;
        }
    }
    return pool::create(kind, access);
}

void dismiss(Process& of, Sched& sched) {
    {
        std::lock_guard guard(of.lock);
        unlist(of.scheds, sched);
    }
    sched::destroy(&sched);
}

}   // namespace weft
