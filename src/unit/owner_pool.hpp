// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The owner pool of a unit, for threads that neither run nor own it: its pool, and whether it is
// local there (in a private pool, where its end and its joiners meet without atomics). Both change
// when the unit goes to another pool: first the unit ceases to be local, then the pool changes.
// They are read in the opposite order, so a thread that finds the unit local has read the pool that
// it is local to. A unit becomes local only where no other thread knows it.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/probe.hpp"

namespace weft {

// The orders of both words; a model test passes weaker ones, which must fail.
struct OwnerPoolOrders {
    // release, pairs with `flags_read`: a thread that still reads the old pool, and that the unit
    // is not local, may end the life of an object that the mover has read before: of a waiter with
    // a deadline (forget_given_up).
    static constexpr std::memory_order flags = std::memory_order_release;
    // release, pairs with `pool_read`: a thread that reads the new pool sees that the unit is not
    // local.
    static constexpr std::memory_order pool = std::memory_order_release;
    static constexpr std::memory_order pool_read = std::memory_order_acquire;
    static constexpr std::memory_order flags_read = std::memory_order_acquire;
};

template <class Flags, class PoolWord, class Pool, class Orders = OwnerPoolOrders>
void change_owner_pool(Flags&& flags, std::uint8_t not_local, PoolWord&& pool, Pool* to, Orders = {}) {
    flags.store(not_local, Orders::flags);
    probe(Probe::move_before_pool);
    pool.store(to, Orders::pool);
}

// The pool that the unit is local to, or null.
template <class Flags, class PoolWord, class Orders = OwnerPoolOrders>
auto local_to(const Flags& flags, std::uint8_t local, const PoolWord& pool, Orders = {}) {
    auto* const seen = pool.load(Orders::pool_read);
    probe(Probe::join_after_pool);
    return (flags.load(Orders::flags_read) & local) != 0 ? seen : nullptr;
}

}   // namespace weft
