// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A place for a value that a unit's handle has under a lasting key (local/lasting.hpp), set once
// and taken once. Its memory stays a slot, whatever unit it belongs to: when it is freed and given
// out again only these operations write to it, so that a thread that frees a key may look at all
// slots that exist.
//
//     empty ──put──► there ──take──► being released ──done──► empty
//
// One thread at a time puts (under a lock). Any thread reads. Two may take: the last holder of the
// unit, and the last of the key; one gets the value, and the other can tell when that has been
// released.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft {

// The orders of Slot; a model test passes weaker ones, which must fail.
struct SlotOrders {
    // The release pairs with `look`: a thread that sees the mark sees the value, and what it points
    // to.
    static constexpr std::memory_order put = std::memory_order_release;
    static constexpr std::memory_order look = std::memory_order_acquire;
    // The release pairs with `look`: a thread that sees that the mark has gone sees what the
    // release of the value has done.
    static constexpr std::memory_order done = std::memory_order_release;
};

template <class Orders = SlotOrders>
class BasicSlot {
public:
    // Null: there is no value under that key.
    void* get(std::uint64_t mark) const {
        // relaxed: ordered by the mark.
        return has(mark) ? value_.load(std::memory_order_relaxed) : nullptr;
    }
    bool has(std::uint64_t mark) const { return mark_.load(Orders::look) == mark; }
    std::uint64_t mark() const { return mark_.load(Orders::look); }   // 0: empty

    // For an empty slot.
    void put(std::uint64_t mark, void* value) {
        check();
        WEFT_ASSERT(mark_.load(std::memory_order_relaxed) == 0);   // relaxed: as in check()
        value_.store(value, std::memory_order_relaxed);            // relaxed: published with the mark
        mark_.store(mark, Orders::put);
    }

    // For a slot that no thread has seen. relaxed: for the same reason.
    void clear() {
        value_.store(nullptr, std::memory_order_relaxed);
        mark_.store(0, std::memory_order_relaxed);
    }

    // The value, for one of the takers; null for the others. relaxed: a taker has seen the mark.
    void* take() { return value_.exchange(nullptr, std::memory_order_relaxed); }
    // The value has been released.
    void done() { mark_.store(0, Orders::done); }

    // On entry to a put, and while no thread runs: no value without a mark. relaxed: no other
    // thread changes an empty slot.
    void check() const {
        WEFT_ASSERT(mark_.load(std::memory_order_relaxed) != 0 || value_.load(std::memory_order_relaxed) == nullptr);
    }

private:
    atomic<void*> value_;
    atomic<std::uint64_t> mark_;   // of the key; 0: empty
};
using Slot = BasicSlot<>;

}   // namespace weft
