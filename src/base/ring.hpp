// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A doubly linked ring of nodes that lie elsewhere, for one owner at a time: no memory, every
// operation takes a few instructions, and all zero is an empty ring.
#pragma once

#include <cstddef>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft {

// Node has `Node* next` and `Node* previous`, which are valid while it is in a ring.
template <class Node>
class Ring {
public:
    bool empty() const { return first_ == nullptr; }
    Node* front() const { return first_; }
    Node* back() const { return first_ == nullptr ? nullptr : first_->previous; }

    // The node behind `node`, or null when it is the last.
    Node* after(const Node& node) const { return node.next == first_ ? nullptr : node.next; }
    // The node before `node`, or null when it is the first.
    Node* before(const Node& node) const { return &node == first_ ? nullptr : node.previous; }

    void push_back(Node& node) {
        check();
        if (first_ == nullptr) [[likely]] {   // with units one by one or back and forth, each instruction shows
            node.next = node.previous = &node;
            first_ = &node;
        } else {
            link_before(node, *first_);
        }
    }

    void push_front(Node& node) {
        push_back(node);
        first_ = &node;
    }

    void insert_before(Node& node, Node& place) {
        link_before(node, place);
        if (&place == first_) first_ = &node;
    }

    // Behind the last node means at the end, since the ring closes there.
    void insert_after(Node& node, Node& place) { link_before(node, *place.next); }

    // Removes the first node, and puts `node` last.
    void pass_on(Node& node) {
        if (first_->next == first_) {
            clear();
        } else {
            remove(*first_);
        }
        push_back(node);
    }

    // Drops all nodes; their links keep what they hold.
    void clear() { first_ = nullptr; }

    // Returns all nodes, linked by `next` from the first to the last, whose `next` is null; the
    // ring is empty afterwards.
    Node* take_all() {
        Node* const first = first_;
        if (first != nullptr) first->previous->next = nullptr;
        first_ = nullptr;
        return first;
    }

    void remove(Node& node) {
        check(node);
        if (node.next == &node) {
            WEFT_ASSERT(first_ == &node);
            first_ = nullptr;
            return;
        }
        node.previous->next = node.next;
        node.next->previous = node.previous;
        if (first_ == &node) first_ = node.next;
    }

    // On entry: the first node and its neighbours are linked both ways.
    void check() const {
        if (first_ != nullptr) check(*first_);
    }

    // Walks through the ring, and shows each node to `visit`; returns how many there are.
    template <class Visit>
    std::size_t check_whole(Visit&& visit) const {
        std::size_t count = 0;
        for (Node* node = first_; node != nullptr; node = after(*node), ++count) {
            check(*node);
            visit(*node);
        }
        return count;
    }
    std::size_t check_whole() const {
        return check_whole([](const Node&) {});
    }

private:
    static void check(const Node& node) {
        WEFT_ASSERT(node.next->previous == &node);
        WEFT_ASSERT(node.previous->next == &node);
    }

    void link_before(Node& node, Node& place) {
        check(place);
        node.next = &place;
        node.previous = place.previous;
        place.previous->next = &node;
        place.previous = &node;
    }

    plain<Node*> first_{nullptr};
};

}   // namespace weft
