// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that other threads ask a stream to make: a bounded ring for many senders, any of which may
// be a signal handler that has interrupted another, and one taker (Vyukov's bounded queue). Nothing
// is allocated, and no sender waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"

namespace weft {

// The orders of Posts; a model test passes weaker ones, which must fail.
struct PostsOrders {
    // release: pairs with `look`; the taker sees the call, and a sender sees that its place is free
    // again.
    static constexpr std::memory_order publish = std::memory_order_release;
    static constexpr std::memory_order look = std::memory_order_acquire;
};

template <std::size_t size, class Orders = PostsOrders>
class BasicPosts {
    static_assert((size & (size - 1)) == 0);

public:
    BasicPosts() {
        // relaxed: no other thread knows the object yet.
        for (std::size_t i = 0; i < size; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
    }

    // From anywhere. False: the ring is full.
    bool send(void (*call)(void*), void* argument) {
        // relaxed: `turn` carries the order; the ticket only says whose place it is.
        std::size_t ticket = next_.load(std::memory_order_relaxed);
        for (;;) {
            Cell& place = cells_[ticket % size];
            const std::size_t turn = place.turn.load(Orders::look);
            if (turn == ticket) {
                // relaxed: `turn` carries the order
                if (!next_.compare_exchange_strong(ticket, ticket + 1, std::memory_order_relaxed,
                                                   std::memory_order_relaxed))
                    continue;
                place.call = call;
                place.argument = argument;
                place.turn.store(ticket + 1, Orders::publish);
                return true;
            }
            if (turn < ticket) return false;                  // it holds a call of the previous round: not taken yet
            ticket = next_.load(std::memory_order_relaxed);   // relaxed: `turn` carries the order
        }
    }

    // For the one taker: makes the calls that have arrived, in their order; returns how many. A
    // call whose sender has been interrupted in the middle waits for the sender, and so do those
    // behind it.
    std::size_t take_all() {
        check();
        std::size_t taken = 0;
        for (;; ++taken) {
            Cell& place = cells_[first_ % size];
            if (place.turn.load(Orders::look) != first_ + 1) return taken;
            void (*call)(void*) = place.call;
            void* argument = place.argument;
            place.turn.store(first_ + size, Orders::publish);
            ++first_;
            call(argument);
        }
    }

    // While no thread runs: some places are filled, in a row, and the others are free for their
    // next turns.
    void check_whole() const {
        check();
        const std::size_t next = next_.load();
        for (std::size_t ticket = first_; ticket != first_ + size; ++ticket) {
            WEFT_ASSERT(cells_[ticket % size].turn.load() == ticket + (ticket < next ? 1 : 0));
        }
    }

private:
    // On the taker's entry. relaxed: the sender that filled a place that was taken has counted
    // before.
    void check() const { WEFT_ASSERT(next_.load(std::memory_order_relaxed) - first_ <= size); }

    struct Cell {
        atomic<std::size_t> turn{0};   // the ticket that may fill it; one more once it is filled
        plain<void (*)(void*)> call{nullptr};
        plain<void*> argument{nullptr};
    };

    atomic<std::size_t> next_{0};
    plain<std::size_t> first_{0};   // used by the taker only
    Cell cells_[size];
};

using Posts = BasicPosts<64>;

}   // namespace weft
