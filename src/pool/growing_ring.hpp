// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row of nodes for one thread at a time, in a ring of slots that grows: a push at the back, a pop
// at either end. Other threads may read its length. Its slots are the only memory that it needs;
// when there is none, the push fails, and the caller puts the node elsewhere.
//
// Its indices are atomic for those other threads, and relaxed: one thread at a time writes them,
// and the next one is ordered after it by what the ring lies in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/memory.hpp"

namespace weft {

template <class Node>
class GrowingRing {
public:
    GrowingRing() = default;
    GrowingRing(const GrowingRing&) = delete;
    GrowingRing& operator=(const GrowingRing&) = delete;
    ~GrowingRing() { os::release(slots_); }

    // False: full.
    [[gnu::always_inline]] bool push_back_at_once(Node* node) {
        const Index back = last();
        if (back - first() == capacity_) [[unlikely]]
            return false;
        slots_[back & (capacity_ - 1)] = node;
        set_last(back + 1);
        return true;
    }
    // False: full, and no memory.
    bool push_back(Node* node) { return push_back_at_once(node) || (grow() && push_back_at_once(node)); }

    // Null: it is empty.
    [[gnu::always_inline]] Node* pop_back() {
        const Index back = last();
        if (back == first()) return nullptr;
        set_last(back - 1);
        return slots_[(back - 1) & (capacity_ - 1)];
    }
    // pop_back(), if that would return `node`.
    enum class Popped : unsigned char { yes, not_last, empty };
    [[gnu::always_inline]] Popped pop_back_if(const Node* node) {
        const Index back = last();
        if (back == first()) return Popped::empty;
        if (slots_[(back - 1) & (capacity_ - 1)] != node) return Popped::not_last;
        set_last(back - 1);
        return Popped::yes;
    }

    // Null: it is empty.
    [[gnu::always_inline]] Node* pop_front() {
        const Index front = first();
        if (front == last()) return nullptr;
        set_first(front + 1);
        return slots_[front & (capacity_ - 1)];
    }
    // The node at that place from the front, or null.
    Node* at(std::size_t place) const {
        if (place >= length()) return nullptr;
        return slots_[(first() + static_cast<Index>(place)) & (capacity_ - 1)];
    }
    Node* front() const { return at(0); }

    // From any thread: a hint.
    std::size_t length() const { return static_cast<Index>(last() - first()); }
    bool empty() const { return last() == first(); }

    // While no thread changes it: passes each node to `visit`.
    template <class Visit>
    void check_whole(Visit&& visit) const {
        WEFT_ASSERT(length() <= capacity_ && (capacity_ & (capacity_ - 1)) == 0);
        for (std::size_t place = 0; place < length(); ++place) visit(*at(place));
    }

private:
    using Index = std::uint32_t;   // wraps

    // relaxed, all four: see above
    Index first() const { return first_.load(std::memory_order_relaxed); }
    Index last() const { return last_.load(std::memory_order_relaxed); }
    void set_first(Index index) { first_.store(index, std::memory_order_relaxed); }
    void set_last(Index index) { last_.store(index, std::memory_order_relaxed); }

    static constexpr Index least = 128, most = Index{1} << 31;

    // When it is full.
    [[gnu::noinline]] bool grow() {
        if (capacity_ == most) return false;
        const Index wanted = capacity_ == 0 ? least : 2 * capacity_;
        auto** const made = static_cast<Node**>(os::allocate(wanted * sizeof(Node*)));
        if (made == nullptr) return false;
        // The indices stay: only the slots that they stand for change.
        const Index front = first();
        for (Index place = 0; place < capacity_; ++place) made[(front + place) & (wanted - 1)] = at(place);
        os::release(slots_);
        slots_ = made;
        capacity_ = wanted;
        return true;
    }

    Node** slots_ = nullptr;
    Index capacity_ = 0;                 // a power of two, or 0 before the first push
    atomic<Index> first_{0}, last_{0};   // of the first node, and behind the last one
};

}   // namespace weft
