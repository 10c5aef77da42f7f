// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lot.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <weft/io.h>
#include <weft/stream.h>

#include "caller.hpp"

namespace weft_pthread {

constinit Lot::Bucket Lot::buckets[size];

void Lot::Bucket::insert(Waiter& waiter, bool in_front) {
    waiter.next_ = in_front ? first : nullptr;
    waiter.previous_ = in_front ? nullptr : last;
    (waiter.next_ == nullptr ? last : waiter.next_->previous_) = &waiter;
    (waiter.previous_ == nullptr ? first : waiter.previous_->next_) = &waiter;
    count.fetch_add(1, std::memory_order_relaxed);   // relaxed: a fence follows
}

void Lot::Bucket::remove(Waiter& waiter) {
    (waiter.next_ == nullptr ? last : waiter.next_->previous_) = waiter.previous_;
    (waiter.previous_ == nullptr ? first : waiter.previous_->next_) = waiter.next_;
    count.fetch_sub(1, std::memory_order_relaxed);   // relaxed: after the old count a waker finds no waiter in the list
}

void Lot::forget() {
    for (Bucket& bucket : buckets) {
        bucket.first = bucket.last = nullptr;
        bucket.count.store(0);
        bucket.lock.forget();
    }
}

void Lot::begin() {
    // The parked waiters do not exist in the child of a fork.
    static const int at_fork = pthread_atfork(nullptr, nullptr, forget);
    static_cast<void>(at_fork);
}

void Waiter::enter() {
    Lot::begin();
    weft_latch_init(&latch_, 1);
    thread_ = pthread_self();
    taken_ = false;
    why_ = Why::time;
    listed_ = true;
    Lot::Bucket& bucket = Lot::bucket_of(address_);
    bucket.lock.lock();
    bucket.insert(*this, starved());
    bucket.lock.unlock();
    // seq_cst: pairs with the fence in Lot::any; the object is tried after this
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

Why Waiter::leave() {
    if (!listed_) return Why::time;
    const NotCancelled inside;
    listed_ = false;
    Lot::Bucket& bucket = Lot::bucket_of(address_);
    bucket.lock.lock();
    const bool taken = taken_;
    if (!taken) bucket.remove(*this);
    bucket.lock.unlock();
    if (taken) weft_latch_wait(&latch_);   // the waker is about to count it down, and this memory ends
    return why_;
}

Why Waiter::wait(std::uint64_t deadline_ns) {
    const NotCancelled inside;
    if (weft_latch_wait_until(&latch_, deadline_ns) != WEFT_OK) return leave();
    listed_ = false;
    return why_;
}

Lot::Woken Lot::wake(const void* address, unsigned most, std::uint32_t bits) {
    if (most == 0) return {0, false};
    if (in_handler()) {
        // The interrupted code may hold the bucket's lock, or a lock of Weft. If too many remote
        // calls are queued there, the waiters check again by themselves.
        weft_stream_post(
            weft_stream_at(0), [](void* raw) { wake(raw, ~0u); }, const_cast<void*>(address));
        return {0, false};
    }
    Bucket& bucket = bucket_of(address);
    Waiter* first = nullptr;
    Waiter** end = &first;
    Woken woken{0, false};
    bucket.lock.lock();
    for (Waiter* waiter = bucket.first; waiter != nullptr && woken.count < most;) {
        Waiter* const next = waiter->next_;
        if (waiter->address_ == address && (waiter->bits_ & bits) != 0) {
            bucket.remove(*waiter);
            waiter->taken_ = true;
            waiter->why_ = Why::waker;
            waiter->next_ = nullptr;
            *end = waiter;
            end = &waiter->next_;
            ++woken.count;
            woken.starved |= waiter->starved();
        }
        waiter = next;
    }
    bucket.lock.unlock();
    while (first != nullptr) {
        Waiter* const next = first->next_;   // its memory ends with the waiter
        weft_latch_count_down(&first->latch_, 1);
        first = next;
    }
    return woken;
}

void Lot::poke(pthread_t thread, Why why, int signal) {
    for (Bucket& bucket : buckets) {
        if (bucket.count.load() == 0) continue;
        bucket.lock.lock();
        Waiter* waiter = bucket.first;
        while (waiter != nullptr && !pthread_equal(waiter->thread_, thread)) waiter = waiter->next_;
        if (waiter != nullptr) {
            bucket.remove(*waiter);
            waiter->taken_ = true;
            waiter->why_ = why;
            waiter->signal_ = signal;
        }
        bucket.lock.unlock();
        // a thread waits in only one place
        if (waiter != nullptr) return static_cast<void>(weft_latch_count_down(&waiter->latch_, 1));
    }
}

}   // namespace weft_pthread
