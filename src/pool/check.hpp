// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The invariants of a pool and of the units that wait in it while no thread runs. The checks on
// entry to pools do only what takes constant time (check() in pool.hpp).
#pragma once

#include "pool/pool.hpp"

namespace weft::pool {

// A user's pool answers by the user's own code, which may do anything.
inline void check_whole(const Pool& pool) {
    const auto here = [&pool](const Unit& unit) { check(pool, unit); };
    WEFT_ASSERT(pool.drawers.load() >= pool.stateful.load());
    WEFT_ASSERT(!pool.orphan || pool.owned);
    switch (pool.kind) {
    case WEFT_POOL_PRIVATE: {
        const auto& own = static_cast<const PrivatePool&>(pool);
        own.check();
        WEFT_ASSERT(own.ready.check_whole(here) == static_cast<std::size_t>(own.waiting.read()));
        WEFT_ASSERT(own.owner.load() != &own);   // no thread is in the middle of running remote calls
        break;
    }
    case WEFT_POOL_BLOCKING:
    case WEFT_POOL_SHARED: static_cast<const SharedPool&>(pool).ready.check_whole(here); break;
    case WEFT_POOL_LIFO:
    case WEFT_POOL_PRIORITY: {
        const auto& locked = static_cast<const LockedPool&>(pool);
        locked.check();
        std::size_t found = 0;
        for (const auto& list : locked.lists) found += list.check_whole(here);
        WEFT_ASSERT(found == locked.count.load());
        break;
    }
    case WEFT_POOL_DEQUE: {
        const auto& deque = static_cast<const DequePool&>(pool);
        deque.own.check_whole();
        deque.own.data().newest.check_whole(here);
        deque.own.data().yielded.check_whole(here);
        deque.ring.check_whole(here);
        deque.spill.check_whole(here);
        break;
    }
    case WEFT_POOL_USER: WEFT_ASSERT(static_cast<const UserPool&>(pool).pushing.load() == 0); break;
    case WEFT_POOL_DEFAULT: WEFT_ASSERT(pool.kind != WEFT_POOL_DEFAULT); break;
    }
    pool.idle_list.check_whole();
    if (pool.freed) WEFT_ASSERT(pool.drawers.load() == 0 && quiet(pool));
}

}   // namespace weft::pool
