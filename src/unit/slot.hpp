// A place for a value that a unit's handle has under a lasting key (local/lasting.hpp), set once
// and taken once. Its memory stays a place, whosever it is: what is freed and given out again is
// never written here but by these operations, so that who frees a key may look at all places there
// are.
//
//     empty ──put──► there ──take──► being released ──done──► empty
//
// One at a time puts (under a lock). Anybody reads. Two may take: the last of the unit, and the
// last of the key; one gets the value, and the other can tell when that has been released.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft {

// The orders of Slot; a model test passes weaker ones, which must fail.
struct SlotOrders {
    // The release pairs with `look`: whoever sees the mark sees the value, and what it points to.
    static constexpr std::memory_order put = std::memory_order_release;
    static constexpr std::memory_order look = std::memory_order_acquire;
    // The release pairs with `look`: who sees that the mark has gone sees what the release of the
    // value has done.
    static constexpr std::memory_order done = std::memory_order_release;
};

template <class Orders = SlotOrders>
class BasicSlot {
public:
    // Null: there is none under that key.
    void* get(std::uint64_t mark) const {
        // relaxed: ordered by the mark.
        return has(mark) ? value_.load(std::memory_order_relaxed) : nullptr;
    }
    bool has(std::uint64_t mark) const { return mark_.load(Orders::look) == mark; }
    std::uint64_t mark() const { return mark_.load(Orders::look); }   // 0: empty

    // Of one that is empty.
    void put(std::uint64_t mark, void* value) {
        check();
        WEFT_ASSERT(mark_.load(std::memory_order_relaxed) == 0);   // relaxed: as in check()
        value_.store(value, std::memory_order_relaxed);            // relaxed: published with the mark
        mark_.store(mark, Orders::put);
    }

    // Of one that nobody has seen. relaxed: as that.
    void clear() {
        value_.store(nullptr, std::memory_order_relaxed);
        mark_.store(0, std::memory_order_relaxed);
    }

    // The value, for one of those who take it; null for the others. relaxed: whoever takes has seen
    // the mark.
    void* take() { return value_.exchange(nullptr, std::memory_order_relaxed); }
    // It has been released.
    void done() { mark_.store(0, Orders::done); }

    // On entry to a put, and while nobody runs: no value without a mark. relaxed: nobody else
    // changes an empty slot.
    void check() const {
        WEFT_ASSERT(mark_.load(std::memory_order_relaxed) != 0 || value_.load(std::memory_order_relaxed) == nullptr);
    }

private:
    atomic<void*> value_;
    atomic<std::uint64_t> mark_;   // of the key; 0: empty
};
using Slot = BasicSlot<>;

}   // namespace weft
