// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The agent of the models of src/sync: a thread of the model, with a parker that it sleeps at.
//
// An agent and its waiter are reused again and again, and its fields are plain: a thread that
// touches them after it has woken the agent races with that reuse, so the search finds it, as it
// would be found on a stack that is used for something else.
#pragma once

#include "hart/parker.hpp"
#include "sync/waiter.hpp"
#include "sync/word.hpp"
#include "test/model/model.hpp"

namespace weft::model {

// What an agent does right; each control omits one of these.
struct Careful {
    static constexpr bool wakes = true;
    static constexpr bool settles = true;
    static constexpr bool competes = true;     // one compare-and-swap decides between a waker and the time-out
    static constexpr bool stays_busy = true;   // the object's word, until the context of a waiting unit is saved
};

template <class Habits>
struct BasicAgent;

template <class Habits>
class BasicAgentRef {
public:
    using Agent = BasicAgent<Habits>;
    struct Waker {};
    struct Wakes {
        bool keep(BasicAgentRef) { return false; }
        void add(BasicAgentRef who) { who.wake(Waker()); }
        void done() {}
    };

    BasicAgentRef() = default;
    BasicAgentRef(Agent& agent) : agent_(&agent) {}

    Agent* agent() const { return agent_; }
    void* identity() const { return agent_; }
    bool nobody() const { return agent_ == nullptr; }
    bool certain() const { return agent_->contested == 0; }
    bool claim(std::uint32_t index) const {
        return !Habits::competes || agent_->contested == 0 || agent_->win(index + 1);
    }
    void settle() const {
        if (Habits::settles) agent_->contested = 0;
    }
    void wake(const Waker&) const {
        WEFT_ASSERT(agent_->saved == 1);
        if (Habits::wakes) agent_->parker.unpark();
    }

private:
    Agent* agent_ = nullptr;
};

// Like sync::Leaving: the word stays busy until the context is saved.
template <class Habits, class Word>
struct Leaving {
    BasicAgent<Habits>& agent;
    Word* word = nullptr;

    template <class May>
    typename Word::Seen lock_if(Word& of, May&& may) {
        agent.saved = 0;
        return of.lock_among_others(may);
    }
    static bool changed(bool now) { return now; }
    void let_go_unchanged(Word& of, typename Word::Seen) {
        word = &of;
        if (!Habits::stays_busy) word->unlock_prepared();
    }
    void let_go(Word& of, typename Word::Seen next) {
        of.prepare(next);
        let_go_unchanged(of, next);
    }
    // Called after the switch.
    void left() {
        agent.saved = 1;
        if (Habits::stays_busy) word->unlock_prepared();
    }
};

template <class Habits>
struct BasicAgent {
    using AgentRef = BasicAgentRef<Habits>;
    static constexpr std::uint32_t too_late = ~std::uint32_t{0};

    Parker parker;
    atomic<std::uint32_t> winner{0};
    plain<int> contested{0};
    plain<int> saved{0};   // the context of a unit; an OS thread needs none
    sync::BasicWaiter<AgentRef> waiter{AgentRef(*this)};

    // Called before the agent enters anything.
    void begin(bool is_contested) {
        saved = 1;
        contested = is_contested ? 1 : 0;
        winner.store(0, std::memory_order_relaxed);
        clear(waiter);
    }
    void clear(sync::BasicWaiter<AgentRef>& place) {
        place.next = nullptr;
        place.previous = nullptr;
        place.answer = sync::Answer::none;
    }

    bool win(std::uint32_t as) {
        std::uint32_t none = 0;
        return winner.compare_exchange_strong(none, as, std::memory_order_acq_rel, std::memory_order_relaxed);
    }

    // Parks until it is woken. An agent that hurries gives up as soon as it may: at any moment,
    // since the search tries them all.
    bool park(bool hurries) {
        if (hurries && (!Habits::competes || win(too_late))) return false;
        parker.park();
        return true;
    }

    // Like wait_at(): returns false if it has given up.
    template <class Object>
    bool wait(Object object, bool hurries = false) {
        begin(hurries);
        return !object.enter(waiter) || parked(object, hurries);
    }
    // Like suspend_among_others() (agent.hpp).
    template <class Object>
    void leave(Object object) {
        begin(false);
        Leaving<Habits, typename Object::Word> leaving{*this};
        if (!object.enter(waiter, leaving)) return;
        leaving.left();
        parker.park();
    }
    // Parks in an object that it has entered, and that need not be a view. Returns false if it has
    // given up.
    template <class Object>
    bool parked(Object& object, bool hurries) {
        if (park(hurries)) return true;
        object.withdraw(waiter);
        return false;
    }
};

using Agent = BasicAgent<Careful>;
using AgentRef = BasicAgentRef<Careful>;

struct Hasty : Careful {
    static constexpr bool stays_busy = false;
};
struct Wakeless : Careful {
    static constexpr bool wakes = false;
};
struct Unsettled : Careful {
    static constexpr bool settles = false;
};
struct Careless : Careful {
    static constexpr bool competes = false;
};

// The orders of the word, with one of them weakened.
struct EnterRelaxed : sync::WordOrders {
    static constexpr std::memory_order enter = std::memory_order_relaxed;
};
struct LeaveRelaxed : sync::WordOrders {
    static constexpr std::memory_order leave = std::memory_order_relaxed;
};
struct LookRelaxed : sync::WordOrders {
    static constexpr std::memory_order look = std::memory_order_relaxed;
};

}   // namespace weft::model
