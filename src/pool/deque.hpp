// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A work-stealing deque on a ring of fixed size (Chase and Lev 2005): its owner pushes and pops at
// the bottom, newest first; thieves steal at the top, oldest first. If the ring is full,
// push_bottom() returns false, and the owner puts the item elsewhere.
//
// Invariant: the items are those with indices in [top, bottom). `top` only grows. An index is
// claimed by moving `top` over it, or, by the owner, by lowering `bottom` below it while `top` is
// still lower.
//
// No fences: where Le, Pop, Cohen and Zappa Nardelli (2013) place them, the accesses themselves are
// seq_cst. On x86-64 a push is one exchange and a pop is one exchange, plus one for the last item.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/config.hpp"
#include "base/probe.hpp"

namespace weft {

// The orders of Deque; a model test passes weaker ones, which must fail.
struct DequeOrders {
    // seq_cst, not release: "push, then check for sleepers" must not be reordered.
    static constexpr std::memory_order push_bottom = std::memory_order_seq_cst;
    // acquire: pairs with `claim`. A thief has read the slot before it moved top; without this the
    // owner might refill the slot while the thief reads it.
    static constexpr std::memory_order push_top = std::memory_order_acquire;
    // The owner lowers bottom, then reads top; a thief reads top, then bottom, then moves top. All
    // of it seq_cst: weaker, both may take the last item.
    static constexpr std::memory_order pop_bottom = std::memory_order_seq_cst;
    static constexpr std::memory_order pop_top = std::memory_order_seq_cst;
    static constexpr std::memory_order steal_top = std::memory_order_seq_cst;
    static constexpr std::memory_order steal_bottom = std::memory_order_seq_cst;
    static constexpr std::memory_order claim = std::memory_order_seq_cst;
};

template <class Node, std::size_t Capacity = 1024, class Orders = DequeOrders>
class Deque {
    static_assert((Capacity & (Capacity - 1)) == 0, "an index becomes a slot by a mask");

public:
    struct Stolen {
        Node* node;   // null: there was nothing to steal
        bool lost;    // another thread took the item: another try may be worth it
    };

    // Called by the owner. False: full.
    bool push_bottom(Node* node) {
        // relaxed: only the owner writes it.
        const Index bottom = bottom_.load(std::memory_order_relaxed);
        const Index top = top_.load(Orders::push_top);
        check(top, bottom);
        if (bottom - top >= static_cast<Index>(Capacity)) [[unlikely]]
            return false;
        // relaxed: published with bottom.
        slot(bottom).store(node, std::memory_order_relaxed);
        bottom_.store(bottom + 1, Orders::push_bottom);
        return true;
    }

    // Called by the owner. The newest item, or null.
    Node* pop_bottom() {
        const Index bottom = bottom_.load(std::memory_order_relaxed) - 1;   // relaxed: only the owner writes it
        // relaxed: top only grows, so an old value can only make the deque look fuller than it is.
        // This check keeps the owner of an empty deque from paying for an exchange in each round.
        const Index seen = top_.load(std::memory_order_relaxed);
        check(seen, bottom + 1);
        if (seen > bottom) return nullptr;
        bottom_.store(bottom, Orders::pop_bottom);
        Index top = top_.load(Orders::pop_top);
        if (top < bottom) return slot(bottom).load(std::memory_order_relaxed);   // relaxed: the owner's own write
        Node* node = nullptr;
        if (top == bottom) {
            node = slot(bottom).load(std::memory_order_relaxed);
            probe(Probe::pop_before_claim);
            if (!top_.compare_exchange_strong(top, top + 1, Orders::claim, std::memory_order_relaxed)) node = nullptr;
        }
        // release, though nothing new is published: pairs with steal_bottom like each store to
        // bottom, since a relaxed one would end the release sequence of the pushes before it.
        // Everything below is claimed.
        bottom_.store(bottom + 1, std::memory_order_release);
        return node;
    }

    // Called by the owner. pop_bottom(), if that would return `node`.
    bool pop_bottom_if(Node* node) {
        // relaxed: only the owner writes either. If an index has come round to an old slot, the
        // slot holds another node, or one that has been taken, which pop_bottom() detects.
        return slot(bottom_.load(std::memory_order_relaxed) - 1).load(std::memory_order_relaxed) == node &&
               pop_bottom() != nullptr;
    }

    // Called by any thread. The oldest item.
    Stolen steal() {
        Index top = top_.load(Orders::steal_top);
        const Index bottom = bottom_.load(Orders::steal_bottom);
        if (top >= bottom) return {nullptr, false};
        // relaxed: written before bottom was, and bottom was read with acquire. If the owner has
        // gone round the ring since, top has moved and the claim fails.
        Node* node = slot(top).load(std::memory_order_relaxed);
        probe(Probe::steal_before_claim);
        if (!top_.compare_exchange_strong(top, top + 1, Orders::claim, std::memory_order_relaxed)) {
            return {nullptr, true};
        }
        return {node, false};
    }

    // For a thread that has announced that it will sleep: false if a push that did not see the
    // announcement has left something here.
    bool looks_empty() const {
        const Index top = top_.load(Orders::steal_top);
        return top >= bottom_.load(Orders::steal_bottom);
    }

    // The number of items: a hint. Relaxed, since the two are read one after the other anyway.
    std::size_t length() const {
        const Index top = top_.load(std::memory_order_relaxed);
        const Index bottom = bottom_.load(std::memory_order_relaxed);
        return bottom > top ? static_cast<std::size_t>(bottom - top) : 0;
    }

    static constexpr std::size_t capacity() { return Capacity; }

    // While no thread changes it: passes each item to `visit`.
    template <class Visit>
    void check_whole(Visit&& visit) const {
        const Index top = top_.load(), bottom = bottom_.load();
        check(top, bottom);
        for (Index index = top; index != bottom; ++index) {
            const Node* const node = slots_[static_cast<std::size_t>(index) & (Capacity - 1)].load();
            WEFT_ASSERT(node != nullptr);
            visit(*node);
        }
    }

private:
    using Index = std::int64_t;   // signed: the owner's bottom may be one less than top for a moment

    // On the owner's entry. An old value of `top`, with which there seem to be more items, is no
    // older than the value with which the owner has found room.
    static void check(Index top, Index bottom) {
        WEFT_ASSERT(top <= bottom);
        WEFT_ASSERT(bottom - top <= static_cast<Index>(Capacity));
    }

    atomic<Node*>& slot(Index index) { return slots_[static_cast<std::size_t>(index) & (Capacity - 1)]; }

    alignas(config::cache_line) atomic<Index> top_{0};      // written by thieves
    alignas(config::cache_line) atomic<Index> bottom_{0};   // written by the owner
    alignas(config::cache_line) atomic<Node*> slots_[Capacity];
};

}   // namespace weft
