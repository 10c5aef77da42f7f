// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A biased lock: its owner, one thread at a time, enters and leaves it by plain stores and one
// load. Another thread may revoke it, by a system call, and has what it guards until it restores
// it. The owner never waits: while the lock is revoked it does without what the lock guards.
//
//     owner      inside = 1; light fence; look at `wanted`       ... inside = 0
//     another    wanted |= revoked; process barrier; look at `inside` until it is 0
//                                                                ... wanted &= ~revoked
//
// At least one of the two sees the other, as in Dekker's algorithm. The other bits of `wanted` are
// the caller's: requests to the owner, which it sees by the same load. A thread that sets such a
// bit, calls the process barrier and then finds the owner outside knows that the owner sees the bit
// when it enters next.
//
// Rejected: a read-modify-write by the owner, which is what the lock is there to save. Waiting
// instead of doing without: the thread that has revoked the lock may be preempted.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/config.hpp"
#include "base/probe.hpp"
#include "os/process_barrier.hpp"
#include "os/spin.hpp"

namespace weft::os {

// The orders of BiasedLock; a model test passes weaker ones, which must fail.
struct BiasedLockOrders {
    static constexpr bool fences = true;
    // acquire, pairs with `restore`: the owner sees what was done while the lock was revoked.
    static constexpr std::memory_order look = std::memory_order_acquire;
    static constexpr std::memory_order restore = std::memory_order_release;
    // release, pairs with `look_inside`: a thread that revokes sees what the owner has done.
    static constexpr std::memory_order leave = std::memory_order_release;
    static constexpr std::memory_order look_inside = std::memory_order_acquire;
};

// `Data` is what the lock guards; it lies in the cache line of the word that the owner writes. The
// word that others write has a line of its own, which stays in the owner's cache while no thread
// wants anything.
template <class Data, class Orders = BiasedLockOrders>
class BiasedLock {
public:
    using Bits = std::uint32_t;
    static constexpr Bits revoked = 1;   // callers' bits are the others

    // Called by the owner. It is inside, unless the result has the bit `revoked`; it calls leave()
    // in either case.
    [[gnu::always_inline]] Bits enter() {
        inside_.store(1, std::memory_order_relaxed);   // relaxed: the light fence orders it before the load
        if constexpr (Orders::fences) light_fence();
        return wanted_.load(Orders::look);
    }
    [[gnu::always_inline]] void leave() { inside_.store(0, Orders::leave); }

    // Called by another thread, where the process barrier is ready. False: another thread has
    // revoked the lock, or the owner stands still inside.
    bool revoke() {
        if ((set(revoked) & revoked) != 0) return false;
        probe(Probe::revoke_before_barrier);
        if (process_barrier()) {
            Backoff backoff;
            for (int looks = 0; looks < most_looks; ++looks) {
                if (inside_.load(Orders::look_inside) == 0) return true;
                backoff.wait();
            }
        }
        clear(revoked);
        return false;
    }
    void restore() { wanted_.fetch_and(~revoked, Orders::restore); }

    // From any thread. Both return the bits from before. seq_cst: a request comes before the
    // requester's barrier or check.
    Bits set(Bits bits) { return wanted_.fetch_or(bits, std::memory_order_seq_cst); }
    Bits clear(Bits bits) { return wanted_.fetch_and(~bits, std::memory_order_seq_cst); }
    Bits wanted() const { return wanted_.load(std::memory_order_seq_cst); }
    bool inside() const { return inside_.load(Orders::look_inside) != 0; }

    // For the owner inside the lock, for the thread that has revoked it, or as a hint.
    Data& data() { return data_; }
    const Data& data() const { return data_; }

    // While no thread runs.
    void check_whole() const { WEFT_ASSERT(inside_.load() == 0 && (wanted_.load() & revoked) == 0); }

private:
    static constexpr int most_looks = 256;

    alignas(config::cache_line) atomic<Bits> wanted_{0};
    alignas(config::cache_line) atomic<std::uint32_t> inside_{0};
    Data data_{};
};

}   // namespace weft::os
