// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lot where hosted units (and guests) are parked by the address of the object that they wait
// for. It keeps no state in the object, which stays the C library's.
//
// A waiter first enters the lot, then tries the object once more, and only then waits. A thread
// that changes the object does so first, and then checks whether there is a waiter for this
// address: by one load if there is none. One of the two sees the other. Wake-ups may be spurious: a
// waiter checks the object itself.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include <weft/sync.h>

#include "../../common/spin_lock.hpp"

namespace weft_pthread {

using weft_bridge::relax;
using weft_bridge::SpinLock;

// Disables cancellation of the calling thread while it exists: inside Weft, a guest's OS thread may
// reach calls that are cancellation points.
class NotCancelled {
public:
    NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }
    NotCancelled(const NotCancelled&) = delete;
    NotCancelled& operator=(const NotCancelled&) = delete;

private:
    int before_ = 0;
};

enum class Why : unsigned char {
    time,     // the time has come; no waker
    waker,    // a waker, by the address
    signal,   // pthread_kill
    cancel,   // pthread_cancel
};

// A waiter, on the stack of the thread or unit that waits.
class Waiter {
public:
    // `bits`: wakers that have no bit in common skip this waiter.
    explicit Waiter(const void* address, std::uint32_t bits = ~std::uint32_t{0}) : address_(address), bits_(bits) {}
    ~Waiter() { leave(); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    // Enters the lot: as last, or as first if it was repeatedly woken without success.
    void enter();
    // Waits until it is woken, or until the deadline (on weft_now_ns's clock). Afterwards it is no
    // longer in the lot.
    Why wait(std::uint64_t deadline_ns);
    // Like wait(), and also returns the signal.
    struct Outcome {
        Why why;
        int signal;
    };
    Outcome wait_for(std::uint64_t deadline_ns) {
        const Why why = wait(deadline_ns);
        return {why, signal_};
    }
    // Leaves the lot; returns what has woken it meanwhile.
    Why leave();

    // Records that it was woken without success.
    void in_vain() { ++vain_; }

private:
    friend class Lot;

    bool starved() const { return vain_ >= 3; }

    const void* const address_;
    const std::uint32_t bits_;
    unsigned vain_ = 0;
    bool listed_ = false;   // entered and not left; its owner's alone
    bool taken_ = false;    // removed by a waker. Guarded by the bucket's lock, like the next four
    Why why_ = Why::time;
    int signal_ = 0;
    Waiter* next_ = nullptr;
    Waiter* previous_ = nullptr;
    pthread_t thread_{};
    weft_latch latch_{};
};

class Lot {
public:
    // Whether there may be a waiter parked by this address. Called after the change that it may
    // wait for.
    static bool any(const void* address) {
#if !defined(__x86_64__)
        // on x86-64 the C library's read-modify-write that changed the object acts as this fence
        std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
        // relaxed: pairs, by this fence, with the fence in Waiter::enter
        return bucket_of(address).count.load(std::memory_order_relaxed) != 0;
    }

    struct Woken {
        unsigned count;
        bool starved;   // one of them was woken without success before: it needs a turn
    };
    // Wakes up to `most` waiters, in the order of their arrival. Within a signal handler, a stream
    // is asked to do it soon.
    static Woken wake(const void* address, unsigned most, std::uint32_t bits = ~std::uint32_t{0});

    // Wakes this thread, if it waits.
    static void poke(pthread_t thread, Why why, int signal = 0);

private:
    friend class Waiter;

    struct alignas(64) Bucket {
        std::atomic<std::uint32_t> count{0};
        SpinLock lock;
        Waiter* first = nullptr;
        Waiter* last = nullptr;

        void insert(Waiter& waiter, bool in_front);
        void remove(Waiter& waiter);
    };
    static constexpr std::size_t size = 512;
    static Bucket buckets[size];

    static Bucket& bucket_of(const void* address) {
        const auto number = reinterpret_cast<std::uintptr_t>(address);
        return buckets[(number >> 3 ^ number >> 12) % size];
    }
    static void forget();
    static void begin();
};

}   // namespace weft_pthread
