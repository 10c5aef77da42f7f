// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The waiting agent, and its places in the objects that it waits for; both lie on its stack.
//
// A Waiter is the place with one object. The thread that takes it out of an object's ring (under
// the object's lock) claims the agent, and if that succeeds wakes it after releasing the lock. If
// nothing else could wake the agent, having taken it out is claim enough; if a deadline or another
// object could, one compare-and-swap decides.
//
// `Who` names the agent: a value with claim(index), certain(), nobody(), wake(waker), settle() and
// identity(), and a type Who::Wakes, whose add(who) wakes like wake(), at the latest in done(), and
// whose keep(who) may do so under the object's lock already. It is a parameter for the model tests;
// the library uses AgentRef (agent.hpp).
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/ring.hpp"

namespace weft::sync {

// Where a waiter stands, and its waker's answer.
enum class Answer : std::uint8_t {
    none,      // it is in no ring, and has not been answered
    awaited,   // it is in the ring
    woken,     // check again: what is waited for may be there
    given,     // it is the waiter's already
    closed,    // it will never come
};

template <class Who>
struct BasicWaiter {
    plain<BasicWaiter*> next;   // in the object's ring; they mean something while it is in one
    plain<BasicWaiter*> previous;
    Who who;
    std::uint32_t index;                  // which of the objects that `who` waits for
    plain<Answer> answer{Answer::none};   // under the object's lock; by the claimer, until it wakes the agent
    plain<std::uint8_t> mark{0};          // the object's own
    plain<void*> item;                    // what is to be passed, where the object passes things

    BasicWaiter() : index(0) {}   // `who` is set before it comes into a ring
    explicit BasicWaiter(Who of, std::uint32_t nth = 0) : who(of), index(nth) {}
};

template <class Who>
using WaiterRing = Ring<BasicWaiter<Who>>;

// While no thread runs: each waiter in the ring is awaited there. Returns how many there are.
template <class Who>
std::size_t check_whole(const WaiterRing<Who>& ring) {
    return ring.check_whole([](const BasicWaiter<Who>& waiter) { WEFT_ASSERT(waiter.answer == Answer::awaited); });
}

template <class Who>
void enlist(WaiterRing<Who>& ring, BasicWaiter<Who>& waiter) {
    ring.push_back(waiter);
    waiter.answer = Answer::awaited;
}

template <class Who>
void delist(WaiterRing<Who>& ring, BasicWaiter<Who>& waiter) {
    WEFT_ASSERT(waiter.answer == Answer::awaited);
    ring.remove(waiter);
    waiter.answer = Answer::none;
}

// Takes the waiter out if it is still in.
template <class Who>
bool withdraw(WaiterRing<Who>& ring, BasicWaiter<Who>& waiter) {
    if (waiter.answer != Answer::awaited) return false;
    delist(ring, waiter);
    return true;
}

// Takes out the first waiter that can be claimed, and those before it, which something else has
// woken. Null: none.
template <class Who>
BasicWaiter<Who>* claim_first(WaiterRing<Who>& ring) {
    while (BasicWaiter<Who>* first = ring.front()) {
        delist(ring, *first);
        if (first->who.claim(first->index)) return first;
    }
    return nullptr;
}

// The waiters that have been claimed under a lock and are to be woken after it, linked by `next`.
template <class Who>
class Claimed {
public:
    using Waiter = BasicWaiter<Who>;

    Claimed() = default;
    Claimed(const Claimed&) = delete;
    Claimed& operator=(const Claimed&) = delete;
    bool empty() const { return first_ == nullptr; }

    void add(Waiter& waiter, Answer answer) {
        waiter.answer = answer;
        waiter.next = nullptr;
        *end_ = &waiter;
        end_ = &waiter.next;
    }

    // The waiters stay linked as they were in the ring; those that something else has woken go.
    void add_all(WaiterRing<Who>& ring, Answer answer) {
        plain<Waiter*>* end = end_;
        *end = ring.take_all();
        while (Waiter* const waiter = *end) {
            if (waiter->who.claim(waiter->index)) [[likely]] {
                waiter->answer = answer;
                end = &waiter->next;
            } else {
                waiter->answer = Answer::none;
                *end = waiter->next;
            }
        }
        end_ = end;
    }

    Waiter* take() {
        Waiter* waiter = first_;
        if (waiter != nullptr) first_ = waiter->next;
        return waiter;
    }

    // The waiters are gone after this.
    [[gnu::always_inline]] void wake_all() {
        Waiter* waiter = first_;
        if (waiter == nullptr) return;
        typename Who::Wakes wakes;
        do {
            Waiter* const following = waiter->next;
            wakes.add(waiter->who);
            waiter = following;
        } while (waiter != nullptr);
        wakes.done();
    }

private:
    plain<Waiter*> first_{nullptr};
    plain<Waiter*>* end_ = &first_;
};

// All waiters of a ring, which are answered under the lock and woken after it. Those of the calling
// stream are gone through once.
template <class Who>
class Released {
public:
    using Waiter = BasicWaiter<Who>;

    // The ring is empty afterwards.
    [[gnu::always_inline]] Released(WaiterRing<Who>& ring, Answer answer) {
        plain<Waiter*>* end = &others_;
        for (Waiter* waiter = ring.take_all(); waiter != nullptr;) {
            Waiter* const following = waiter->next;
            const bool claimed = waiter->who.claim(waiter->index);
            waiter->answer = claimed ? answer : Answer::none;
            if (claimed && !wakes_.keep(waiter->who)) [[unlikely]] {
                *end = waiter;
                end = &waiter->next;
            }
            waiter = following;
        }
        *end = nullptr;
    }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

    // The waiters are gone after this.
    [[gnu::always_inline]] void wake_all() {
        for (Waiter* waiter = others_; waiter != nullptr;) {
            Waiter* const following = waiter->next;
            wakes_.add(waiter->who);
            waiter = following;
        }
        wakes_.done();
    }

private:
    typename Who::Wakes wakes_;
    plain<Waiter*> others_{nullptr};
};

}   // namespace weft::sync
