// The lot where hosted units (and guests) are parked by the address of what they wait for. Nothing
// of it is in the object: that stays the C library's.
//
// Who waits takes its place first, then tries the object once more, and only then waits. Who
// changes the object does that first, and then looks whether anybody has a place for that address:
// by one load where nobody has. One of the two sees the other. A waiter may be woken for nothing,
// and looks itself.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include <weft/sync.h>

#include "../../common/spin_lock.hpp"

namespace weft_pthread {

using weft_bridge::relax;
using weft_bridge::SpinLock;

// While one lives the calling thread is not cancelled: inside of Weft, where a guest's OS thread
// may come to calls at which it would be.
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
    time,     // nobody has woken it
    waker,    // somebody by the address
    signal,   // pthread_kill
    cancel,   // pthread_cancel
};

// Of one that waits, on its stack.
class Waiter {
public:
    // `bits`: wakers that have none in common pass it over.
    explicit Waiter(const void* address, std::uint32_t bits = ~std::uint32_t{0}) : address_(address), bits_(bits) {}
    ~Waiter() { leave(); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    // Takes its place: the last, or the first where it has been woken in vain again and again.
    void enter();
    // Waits until somebody wakes it, or the time has come (as weft_now_ns). It has no place
    // afterwards.
    Why wait(std::uint64_t deadline_ns);
    // As wait(), and tells by which signal.
    struct Outcome {
        Why why;
        int signal;
    };
    Outcome wait_for(std::uint64_t deadline_ns) {
        const Why why = wait(deadline_ns);
        return {why, signal_};
    }
    // Gives its place up; who has woken it meanwhile.
    Why leave();

    // It has been woken and has not got what it wants.
    void in_vain() { ++vain_; }

private:
    friend class Lot;

    bool starved() const { return vain_ >= 3; }

    const void* const address_;
    const std::uint32_t bits_;
    unsigned vain_ = 0;
    bool listed_ = false;   // it has entered, and has not left. Its own
    bool taken_ = false;    // out of the list, by a waker. Guarded by the bucket's lock, like the next four
    Why why_ = Why::time;
    int signal_ = 0;
    Waiter* next_ = nullptr;
    Waiter* previous_ = nullptr;
    pthread_t thread_{};
    weft_latch latch_{};
};

class Lot {
public:
    // Whether anybody may be parked by that address; after the change that it may wait for.
    static bool any(const void* address) {
#if !defined(__x86_64__)
        // on x86-64 the C library's own read-modify-write, which has changed the object, is one
        std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
        // relaxed: pairs, by that fence, with the one in Waiter::enter
        return bucket_of(address).count.load(std::memory_order_relaxed) != 0;
    }

    struct Woken {
        unsigned count;
        bool starved;   // one of them has been woken in vain before: it needs a turn
    };
    // Wakes up to `most`, those first that came first. Within a signal handler a stream does so,
    // soon.
    static Woken wake(const void* address, unsigned most, std::uint32_t bits = ~std::uint32_t{0});

    // Wakes that thread, if it waits.
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
