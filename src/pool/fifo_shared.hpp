// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A strict first-in-first-out queue for any number of pushers and poppers, linked through its
// nodes: a push needs no memory and cannot fail. Pushing is one exchange and one store (the list of
// Vyukov's intrusive queue, without its stub node); poppers take turns by a lock that is held for a
// few loads.
//
// Invariant: from `head_` the links lead to `tail_`, except that a pusher that has moved the tail
// and not yet set its link (or, in an empty queue, the head) leaves a gap there. Nodes behind the
// gap cannot be popped until the link is set; looks_empty() is false meanwhile, so no stream goes
// to sleep.
//
// The lock is released by a store: one read-modify-write less for each pop. A thread that walks
// through the queue under the lock (length, remove) lets the waiting threads yield their
// processors.
//
// Rejected: a two-lock queue (the pusher's lock may be held by a preempted thread, which then stops
// all pushers), a ring of slots (bounded), Michael and Scott's (needs tags, two compare-and-swaps a
// push).
#pragma once

#include <cstddef>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/config.hpp"
#include "base/probe.hpp"
#include "os/spin.hpp"

namespace weft {

// The orders of SharedFifo; a model test passes weaker ones, which must fail.
struct SharedFifoOrders {
    // seq_cst, not acq_rel: "push, then check for sleepers" must not be reordered. Its release and
    // acquire parts also order the null link of a node before the link that the next pusher sets.
    static constexpr std::memory_order push = std::memory_order_seq_cst;
    // release, pairs with `follow`: a thread that pops the node sees what was written to it before
    // the push.
    static constexpr std::memory_order link = std::memory_order_release;
    static constexpr std::memory_order follow = std::memory_order_acquire;
    // seq_cst: the last check of a stream that has announced that it will sleep.
    static constexpr std::memory_order look = std::memory_order_seq_cst;
};

// Node::atomic_link() gives the node's atomic<Node*>, which belongs to the queue while the node is
// in it.
template <class Node, class Orders = SharedFifoOrders>
class SharedFifo {
public:
    void push(Node* node) {
        // relaxed: the exchange orders it before the next pusher's link.
        node->atomic_link().store(nullptr, std::memory_order_relaxed);
        attach(node, node);
    }

    // Pushes `first` .. `last`, linked in this order by atomic_link(), by one exchange: they stay
    // neighbours.
    void push_chain(Node* first, Node* last) {
        last->atomic_link().store(nullptr, std::memory_order_relaxed);   // relaxed: as in push()
        attach(first, last);
    }

    // The oldest node. Null: there is none, or a pusher has not yet set the oldest one's link
    // (looks_empty() distinguishes them).
    Node* pop() {
        if (looks_empty()) return nullptr;
        lock_.lock();
        check();
        Node* node = take_first();
        lock_.unlock();
        return node;
    }

    // pop(), if that would return `node`. False also where another popper, or a pusher, is in the
    // way.
    bool pop_if(Node* node) {
        // relaxed: a hint; the load that counts is made under the lock.
        if (head_.load(std::memory_order_relaxed) != node || !lock_.try_lock()) return false;
        const bool popped = head_.load(Orders::follow) == node && take_after(head_, node);
        lock_.unlock();
        return popped;
    }

    // Takes `node` out of the middle, by a walk under the poppers' lock. False: it is not here, or
    // so new that a pusher is about to link the next node to it.
    bool remove(Node* node) {
        if (looks_empty()) return false;
        lock_.lock();
        check();
        const bool removed = take(node);
        lock_.unlock();
        return removed;
    }

    // seq_cst: true means that no push that came before, in the order of all such operations, has
    // left anything here. False while a pusher is between its two steps.
    bool looks_empty() const { return tail_.load(Orders::look) == nullptr; }

    // The number of nodes, counted up to `limit` under the poppers' lock: a hint. A counter would
    // cost each push a second read-modify-write. Not 0 when looks_empty() is false.
    std::size_t length(std::size_t limit = 4096) const {
        if (looks_empty()) return 0;
        lock_.lock();
        std::size_t count = 0;
        for (Node* node = head_.load(Orders::follow); node != nullptr && count < limit; ++count) {
            node = node->atomic_link().load(Orders::follow);
        }
        lock_.unlock();
        return count != 0 ? count : 1;
    }

    // While no thread changes it: the links lead to the tail. Passes each node to `visit`.
    template <class Visit>
    void check_whole(Visit&& visit) const {
        const Node* last = nullptr;
        for (Node* node = head_.load(); node != nullptr; node = node->atomic_link().load()) {
            visit(*node);
            last = node;
        }
        WEFT_ASSERT(last == tail_.load());
    }

private:
    // On the entry of poppers, under the lock: the tail is set before the head, and cleared after
    // it. relaxed: only poppers clear it, and a pusher sets it before the head.
    void check() const {
        WEFT_ASSERT(head_.load(Orders::follow) == nullptr || tail_.load(std::memory_order_relaxed) != nullptr);
    }

    void attach(Node* first, Node* last) {
        Node* previous = tail_.exchange(last, Orders::push);
        probe(Probe::fifo_push_before_link);
        // Before this store `previous` cannot be popped: it is not the last and has no next. After
        // it, neither `previous` nor the pushed nodes may be touched.
        atomic<Node*>& link = previous != nullptr ? previous->atomic_link() : head_;
        link.store(first, Orders::link);
    }

    // Under the lock.
    Node* take_first() {
        Node* first = head_.load(Orders::follow);
        if (first == nullptr) return nullptr;
        return take_after(head_, first) ? first : nullptr;
    }

    // Under the lock.
    bool take(Node* node) {
        atomic<Node*>* link = &head_;
        Node* previous = nullptr;
        for (Node* at = link->load(Orders::follow); at != nullptr; at = link->load(Orders::follow)) {
            if (at == node) return previous != nullptr ? take_after(*link, node, previous) : take_after(*link, node);
            previous = at;
            link = &at->atomic_link();
        }
        return false;
    }

    // Under the lock: takes `node`, which `link` points to and `previous` (null: it is the first)
    // precedes.
    bool take_after(atomic<Node*>& link, Node* node, Node* previous = nullptr) {
        Node* next = node->atomic_link().load(Orders::follow);
        if (next == nullptr) {
            // The last: the tail goes back. `link` is cleared first because a pusher may set it as
            // soon as the tail has moved. relaxed: the release in the exchange of the tail orders
            // it before that pusher's store.
            link.store(nullptr, std::memory_order_relaxed);
            Node* last = node;
            if (tail_.compare_exchange_strong(last, previous, std::memory_order_seq_cst)) return true;
            // A pusher has moved the tail from `node` on and is about to link, or has just done so.
            next = node->atomic_link().load(Orders::follow);
        }
        // relaxed: only poppers read it from here on, and the lock orders them.
        link.store(next != nullptr ? next : node, std::memory_order_relaxed);
        return next != nullptr;
    }

    alignas(config::cache_line) atomic<Node*> tail_{nullptr};   // by pushers
    alignas(config::cache_line) atomic<Node*> head_{nullptr};   // by poppers, and the pusher into an empty queue
    mutable os::SpinLock lock_;                                 // poppers take turns
};

}   // namespace weft
