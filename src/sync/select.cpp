// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting for one of several objects.
#include <algorithm>
#include <cstddef>

#include "base/handles.hpp"
#include "os/memory.hpp"
#include "sync/objects.hpp"

namespace weft::sync {
namespace {

// As many waiters as there are objects, on the stack when they are few.
class Places {
public:
    explicit Places(std::size_t count) {
        if (count > few) {
            places_ = static_cast<Waiter*>(count > most ? nullptr : os::allocate(count * sizeof(Waiter)));
        }
    }
    ~Places() {
        if (places_ != here()) os::release(places_);
    }
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;

    bool none() const { return places_ == nullptr; }
    Waiter& make(std::size_t index, Agent& agent) {
        return *new (places_ + index) Waiter(agent, static_cast<std::uint32_t>(index));
    }
    Waiter& operator[](std::size_t index) { return places_[index]; }

private:
    static constexpr std::size_t few = 8, most = std::size_t{1} << 24;

    Waiter* here() { return reinterpret_cast<Waiter*>(memory_); }

    alignas(Waiter) unsigned char memory_[few * sizeof(Waiter)];
    Waiter* places_ = here();
};

std::size_t first_set(weft_event* const* events, std::size_t count) {
    std::size_t index = 0;
    while (index < count && !at<Event>(events[index]).come()) ++index;
    return index;
}

}   // namespace

[[gnu::noinline]] weft_status wait_any(weft_event* const* events, std::size_t count, std::size_t* index,
                                       std::uint64_t deadline_ns) {
    std::size_t set = first_set(events, count);
    if (set == count) {
        const Caller caller;
        if (!caller.may_wait()) return may_not_wait(caller, Waits::event);
        Places places(count);
        if (places.none()) return fail(WEFT_NO_MEMORY, "no memory to wait for %zu events", count);
        Agent agent(caller, true);
        std::size_t entered = 0;
        bool waits = true;
        for (; waits && entered < count; ++entered)
            waits = at<Event>(events[entered]).enter(places.make(entered, agent));
        // One event was set meanwhile: the winner's event is the result. If another thread has
        // won, it is about to wake this agent.
        const bool won = !waits && agent.win(static_cast<std::uint32_t>(entered));
        const bool woken = won || agent.park(deadline_ns, Waits::any_event, events);
        if (!waits) --entered;
        for (std::size_t i = 0; i < entered; ++i) at<Event>(events[i]).withdraw(places[i]);
        if (!woken) return too_late();
        set = std::min(first_set(events, count), std::size_t{agent.winner.load()} - 1);
    }
    if (index != nullptr) *index = set;
    return WEFT_OK;
}

namespace {

Channel& channel_of(const weft_channel_case& one) {
    return *handles::to_object<Channel>(handles::Thing::channel, one.channel, "weft_channel_select");
}

// The channels of the cases, each once, in the order of their addresses: every caller that locks
// several does so in this order.
class Locked {
public:
    Locked(weft_channel_case* cases, std::size_t count, Channel** order, ChannelBits* words)
        : order_(order), words_(words) {
        for (std::size_t i = 0; i < count; ++i) {
            if (cases[i].channel != nullptr) order_[count_++] = &channel_of(cases[i]);
        }
        std::sort(order_, order_ + count_);
        count_ = static_cast<std::size_t>(std::unique(order_, order_ + count_) - order_);
    }
    void lock() {
        for (std::size_t i = 0; i < count_; ++i) words_[i] = order_[i]->lock();
    }
    void unlock() {
        for (std::size_t i = 0; i < count_; ++i) order_[i]->unlock(words_[i]);
    }
    ChannelBits word(const Channel* of) const { return words_[std::lower_bound(order_, order_ + count_, of) - order_]; }

private:
    Channel** order_;
    ChannelBits* words_;
    std::size_t count_ = 0;
};

// Memory for the order, on the stack when the channels are few.
template <class T>
class Array {
public:
    explicit Array(std::size_t count) {
        if (count > few) data_ = static_cast<T*>(os::allocate(count * sizeof(T)));
    }
    ~Array() {
        if (data_ != here_) os::release(data_);
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    T* data() { return data_; }

private:
    static constexpr std::size_t few = 8;
    T here_[few];
    T* data_ = here_;
};

// Does the first of the cases that can be done now, beginning at `start`, with all channels locked.
// Returns its number, or `count`.
std::size_t do_one(weft_channel_case* cases, std::size_t count, std::size_t start, const Locked& locked,
                   Claimed<AgentRef>& claimed) {
    for (std::size_t step = 0; step < count; ++step) {
        const std::size_t i = (start + step) % count;
        if (cases[i].channel == nullptr) continue;
        Channel& channel = channel_of(cases[i]);
        Waiter waiter;
        waiter.item = cases[i].element;
        const ChannelBits word = locked.word(&channel);
        const bool done =
            cases[i].send ? channel.try_send(word, waiter, claimed) : channel.try_receive(word, waiter, claimed);
        if (!done) continue;
        cases[i].status = waiter.answer == Answer::closed ? WEFT_CLOSED : WEFT_OK;
        return i;
    }
    return count;
}

}   // namespace

[[gnu::noinline]] weft_status select(weft_channel_case* cases, std::size_t count, std::size_t* index,
                                     std::uint64_t deadline_ns) {
    const Caller caller;
    Places places(count);
    Array<Channel*> order(count);
    Array<ChannelBits> words(count);
    if (places.none() || order.data() == nullptr || words.data() == nullptr) {
        return fail(WEFT_NO_MEMORY, "no memory to wait for %zu channels", count);
    }
    Locked locked(cases, count, order.data(), words.data());
    Claimed<AgentRef> claimed;
    Agent agent(caller, true);
    // Any starting point: it changes from call to call, and from caller to caller.
    const std::size_t start = static_cast<std::size_t>(arch::cycles() >> 4) % count;
    locked.lock();
    const std::size_t done = do_one(cases, count, start, locked, claimed);
    const bool waits = done == count && caller.may_wait();
    for (std::size_t i = 0; waits && i < count; ++i) {
        Waiter& waiter = places.make(i, agent);
        waiter.item = cases[i].element;
        if (cases[i].channel == nullptr) continue;
        if (cases[i].send) {
            channel_of(cases[i]).enlist_sender(waiter);
        } else {
            channel_of(cases[i]).enlist_receiver(waiter);
        }
    }
    locked.unlock();
    claimed.wake_all();
    if (done != count) {
        *index = done;
        return WEFT_OK;
    }
    if (!waits) return may_not_wait(caller, Waits::channel);
    const bool woken = agent.park(deadline_ns, Waits::any_channel, cases);
    for (std::size_t i = 0; i < count; ++i) {
        if (cases[i].channel == nullptr) continue;
        if (cases[i].send) {
            channel_of(cases[i]).withdraw_sender(places[i]);
        } else {
            channel_of(cases[i]).withdraw_receiver(places[i]);
        }
    }
    if (!woken) return too_late();
    const std::size_t which = agent.winner.load() - 1;
    cases[which].status = places[which].answer == Answer::closed ? WEFT_CLOSED : WEFT_OK;
    *index = which;
    return WEFT_OK;
}

}   // namespace weft::sync
