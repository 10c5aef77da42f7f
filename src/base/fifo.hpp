// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A first-in-first-out list for one owner, linked through a field of its nodes: no memory, no
// atomics. Invariant: `last_` is the last node while `first_` is not null, and means nothing
// otherwise, so that a pop need not check whether it took the last one.
#pragma once

#include <cstddef>

#include "base/assert.hpp"

namespace weft {

template <class Node, Node* Node::*Link>
class Fifo {
public:
    bool empty() const { return first_ == nullptr; }
    Node* front() const { return first_; }

    void push_back(Node* node) { push_chain(node, node); }

    void push_front(Node* node) {
        check();
        if (first_ == nullptr) last_ = node;
        node->*Link = first_;
        first_ = node;
    }

    // Null when there is none.
    Node* pop_front() {
        check();
        Node* node = first_;
        if (node != nullptr) drop_front(node);
        return node;
    }

    // Takes out `front`, which is front(). The next node is needed soon, and in a long list it is
    // in no near cache.
    void drop_front(Node* front) {
        first_ = front->*Link;
        __builtin_prefetch(first_, 1);
    }

    // pop_front() and push_back(node) in one; the list is not empty. `expect` is called with the
    // node that is first afterwards, unless that is `node`.
    template <class Expect>
    void rotate(Node* node, Expect expect) {
        check();
        Node* const second = first_->*Link;
        node->*Link = nullptr;
        if (second == nullptr) [[likely]] {   // with two nodes, each instruction shows
            first_ = node;
        } else {
            first_ = second;
            expect(*second);
            last_->*Link = node;
        }
        last_ = node;
    }

    // Puts `first` .. `last`, linked in this order, behind the others; the link of `last` may be
    // anything.
    void push_chain(Node* first, Node* last) {
        last->*Link = nullptr;
        append(first, last);
    }

    // push_back() of a node whose link is null.
    void push_unlinked(Node* node) {
        WEFT_ASSERT(node->*Link == nullptr);
        append(node, node);
    }

    // Puts all nodes of `other`, in its order, behind these and leaves `other` empty.
    void splice(Fifo& other) {
        other.check();
        if (other.first_ == nullptr) return;
        push_chain(other.first_, other.last_);
        other.first_ = nullptr;
    }

    // Takes `node` out from anywhere, by a walk. False: it is not here.
    bool remove(Node* node) {
        check();
        Node* before = nullptr;
        for (Node* at = first_; at != nullptr; before = at, at = at->*Link) {
            if (at != node) continue;
            if (before == nullptr) {
                first_ = node->*Link;
            } else {
                before->*Link = node->*Link;
            }
            if (last_ == node) last_ = before;
            return true;
        }
        return false;
    }

    // On entry.
    void check() const { WEFT_ASSERT(first_ == nullptr || last_->*Link == nullptr); }

    // Walks through the list and checks that the links lead to the last node. Shows each node to
    // `visit`; returns how many there are.
    template <class Visit>
    std::size_t check_whole(Visit&& visit) const {
        std::size_t count = 0;
        const Node* last = nullptr;
        for (const Node* at = first_; at != nullptr; at = at->*Link, ++count) {
            visit(*at);
            last = at;
        }
        WEFT_ASSERT(last == nullptr || last == last_);
        return count;
    }
    std::size_t check_whole() const {
        return check_whole([](const Node&) {});
    }

private:
    // `last` has no link.
    [[gnu::always_inline]] void append(Node* first, Node* last) {
        check();
        if (first_ == nullptr) [[likely]] {   // with units one by one or back and forth, each instruction shows
            first_ = first;
        } else {
            last_->*Link = first;
        }
        last_ = last;
    }

    Node* first_ = nullptr;
    Node* last_ = nullptr;
};

}   // namespace weft
