// A first-in-first-out list for one owner, linked through a field of its nodes: no memory, no atomics.
// Invariant: `last_` is the address of the null link that ends the list, so that a push has no branch.
#pragma once

namespace weft {

template <class Node, Node* Node::*Link>
class Fifo {
public:
    Fifo() = default;
    Fifo(const Fifo&) = delete;              // last_ may point into the list itself
    Fifo& operator=(const Fifo&) = delete;

    bool empty() const { return first_ == nullptr; }
    Node* front() const { return first_; }

    void push_back(Node* node) {
        node->*Link = nullptr;
        *last_ = node;
        last_ = &(node->*Link);
    }

    void push_front(Node* node) {
        if (first_ == nullptr) last_ = &(node->*Link);
        node->*Link = first_;
        first_ = node;
    }

    // Null when there is none.
    Node* pop_front() {
        Node* node = first_;
        if (node == nullptr) return nullptr;
        first_ = node->*Link;
        if (first_ == nullptr) last_ = &first_;
        return node;
    }

    // Puts `first` .. `last`, linked in this order, behind the others; the link of `last` may be anything.
    void push_chain(Node* first, Node* last) {
        last->*Link = nullptr;
        *last_ = first;
        last_ = &(last->*Link);
    }

    // Puts all of `other`, in its order, behind the others and leaves it empty.
    void splice(Fifo& other) {
        if (other.first_ == nullptr) return;
        *last_ = other.first_;
        last_ = other.last_;
        other.first_ = nullptr;
        other.last_ = &other.first_;
    }

    // Takes `node` out of the middle, by a walk. False: it is not here.
    bool remove(Node* node) {
        for (Node** link = &first_; *link != nullptr; link = &((*link)->*Link)) {
            if (*link != node) continue;
            *link = node->*Link;
            if (*link == nullptr) last_ = link;
            return true;
        }
        return false;
    }

private:
    Node* first_ = nullptr;
    Node** last_ = &first_;
};

}  // namespace weft
