// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages from other threads to one owner: a stack that any thread pushes to and the owner empties
// whole (Treiber 1986). Taking everything at once leaves no room for the ABA problem of popping
// one.
#pragma once

#include "arch/look.hpp"
#include "base/atomic.hpp"

namespace weft {

// The orders of Inbox; a model test passes weaker ones, which must fail.
struct InboxOrders {
    // seq_cst, not release: "push, then check whether the owner sleeps" must not be reordered.
    static constexpr std::memory_order push = std::memory_order_seq_cst;
    // acquire: pairs with push; the owner reads what was written to the nodes before they were
    // pushed.
    static constexpr std::memory_order take = std::memory_order_acquire;
    // seq_cst: the owner's last check before it sleeps, after it has announced that it will.
    static constexpr std::memory_order look = std::memory_order_seq_cst;
};

// Node::atomic_link() gives the node's atomic<Node*>, which belongs to the inbox while the node is
// in it.
template <class Node, class Orders = InboxOrders>
class Inbox {
public:
    // From any thread.
    void push(Node* node) {
        // relaxed here, after a lost race and for the link: the exchange that succeeds publishes
        // the link, and is the only one whose result counts.
        Node* newest = newest_.load(std::memory_order_relaxed);
        do {
            node->atomic_link().store(newest, std::memory_order_relaxed);
        } while (!newest_.compare_exchange_weak(newest, node, Orders::push, std::memory_order_relaxed));
    }

    // The owner takes all, oldest first, linked by atomic_link() and ended by null; null: there was
    // nothing.
    Node* take_all() {
        if (empty()) return nullptr;
        Node* newest = newest_.exchange(nullptr, Orders::take);
        Node* oldest = nullptr;
        while (newest != nullptr) {
            // relaxed: the nodes are the owner's since the exchange.
            Node* next = newest->atomic_link().load(std::memory_order_relaxed);
            newest->atomic_link().store(oldest, std::memory_order_relaxed);
            oldest = newest;
            newest = next;
        }
        return oldest;
    }

    // A hint for the owner's loop. Relaxed: it may be a little late, take_all() reads reliably.
    bool empty() const { return arch::is_zero(newest_); }

    // For an owner that has announced that it will sleep: false if a push came before the
    // announcement was seen.
    bool looks_empty() const { return newest_.load(Orders::look) == nullptr; }

private:
    atomic<Node*> newest_{nullptr};
};

}   // namespace weft
