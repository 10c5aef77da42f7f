// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The condition: a signal or a broadcast reaches the waiters, whatever way they take to the mutex;
// a waiter that gives up takes no signal with it; and one agent holds the mutex.
#include "sync/condition.hpp"
#include "test/model/locking.hpp"

namespace weft::model {

// What a control does wrongly, besides the habits of its agents.
struct Sound {
    static constexpr bool pays = true;            // pending signals are delivered when the mutex is released
    static constexpr bool enlists_first = true;   // and the mutex is released afterwards
};

// The memory of a mutex and of a condition, and the steps of condition.cpp.
template <class Habits, class Orders, class Steps = Sound>
struct Meeting {
    using Agent = BasicAgent<Habits>;
    using AgentRef = BasicAgentRef<Habits>;
    using Mutex = sync::BasicMutex<AgentRef, Orders>;
    using Condition = sync::BasicCondition<AgentRef, Orders>;
    using Waiter = sync::BasicWaiter<AgentRef>;

    Mutual<Habits, Orders> mutex;
    typename Condition::Word word;
    typename Condition::Body body;
    plain<int> guarded{0};   // written by each holder

    Condition view() { return Condition(word, body); }

    void lock(Agent& agent) {
        mutex.lock(agent);
        hold(agent);
    }
    void hold(Agent& agent) {
        ++guarded;
        WEFT_ASSERT(mutex.view().is_held() && mutex.view().owner() == &agent);
    }
    void unlock() {
        Mutex of = mutex.view();
        if (Steps::pays && of.body().signalled != nullptr) {
            Condition::pay_and_unlock(of);
        } else {
            mutex.unlock();
        }
    }

    // Called by the holder; like signal() in condition.cpp.
    void signal_held() {
        if (view().length() == 0) return;
        WEFT_ASSERT(view().protected_by(mutex.view().address()));
        if (!view().signal_held(view().length())) view().signal();
    }

    // Returns false if it has given up.
    bool wait(Agent& agent, bool hurries = false) {
        Mutex of = mutex.view();
        agent.begin(hurries);
        if (!Steps::enlists_first) unlock();
        view().enlist(agent.waiter, of);
        if (Steps::enlists_first) unlock();
        const bool woken = agent.park(hurries);
        if (!woken) view().withdraw(agent.waiter);
        lock_again(agent);
        return woken;
    }

    // Like wait(), but if the agent owes a signal, the signalled waiter takes its place with the
    // mutex.
    void wait_or_pass(Agent& agent) {
        Mutex of = mutex.view();
        agent.begin(false);
        Leaving<Habits, typename Condition::Word> leaving{agent};
        Waiter* next = view().pass(
            of, agent.waiter, [](const Waiter& first) { return first.who.agent()->contested == 0; }, leaving);
        if (next == nullptr) {
            wait(agent);
            return;
        }
        const AgentRef heir = next->who;
        of.set_owner(heir.identity());
        leaving.left();
        heir.wake({});
        agent.park(false);
        lock_again(agent);
    }

    void lock_again(Agent& agent) {
        Mutex of = mutex.view();
        if (agent.waiter.answer != Answer::given) {
            Mutex::insist(agent.waiter);
            while (!of.take(agent.waiter)) {
                agent.wait(of);
                if (agent.waiter.answer != Answer::woken) break;
            }
        }
        of.set_owner(&agent);
        hold(agent);
    }

    void nobody_left() {
        WEFT_ASSERT(word.glance() == 0 && !mutex.word.glance().any() && body.ring.empty() && mutex.body.ring.empty());
        WEFT_ASSERT(mutex.body.signalled == nullptr && mutex.body.signals == 0);
    }
};

enum class How { held, free, broadcast, broadcast_held };

// One agent announces that it is ready; the others wait for that.
template <How how, int waiting, class Habits = Careful, class Orders = sync::WordOrders, class Steps = Sound>
struct Ready : rl::test_suite<Ready<how, waiting, Habits, Orders, Steps>, waiting + 1> {
    Meeting<Habits, Orders, Steps> at;
    BasicAgent<Habits> agents[waiting + 1];
    plain<int> ready{0};

    void thread(unsigned index) {
        at.lock(agents[index]);
        if (index != 0) {
            while (ready == 0) at.wait(agents[index]);
            at.unlock();
            return;
        }
        ready = 1;
        if (how == How::broadcast_held) at.view().broadcast();
        for (int i = 0; how == How::held && i < waiting; ++i) at.signal_held();
        at.unlock();
        for (int i = 0; how == How::free && i < waiting; ++i) at.view().signal();
        if (how == How::broadcast) at.view().broadcast();
    }
    void after() { at.nobody_left(); }
};

// A signal for one of two waiters, one of which may give up, or pass the signal on: the other is
// woken.
template <How how, class Habits = Careful, class Steps = Sound>
struct GivesUp : rl::test_suite<GivesUp<how, Habits, Steps>, 3> {
    Meeting<Habits, sync::WordOrders, Steps> at;
    BasicAgent<Habits> agents[3];
    plain<int> ready{0};

    void thread(unsigned index) {
        at.lock(agents[index]);
        if (index == 0) {
            ready = 1;
            if (how == How::held) at.signal_held();
            at.unlock();
            if (how == How::free) at.view().signal();
        } else if (index == 1) {
            if (ready == 0 && at.wait(agents[index], true)) at.signal_held();
            at.unlock();
        } else {
            while (ready == 0) at.wait(agents[index]);
            at.unlock();
        }
    }
    void after() { at.nobody_left(); }
};

// Two agents take turns and hand over to each other; a third one comes for the mutex, or wakes them
// for nothing.
template <int rounds, int others, class Habits = Careful, class Orders = sync::WordOrders, class Steps = Sound>
struct Turns : rl::test_suite<Turns<rounds, others, Habits, Orders, Steps>, 2 + others> {
    Meeting<Habits, Orders, Steps> at;
    BasicAgent<Habits> agents[2 + others];
    plain<int> turn{0};

    void thread(unsigned index) {
        if (index == 2) at.view().signal();
        at.lock(agents[index]);
        for (int i = 0; i < rounds && index < 2; ++i) {
            while (turn != static_cast<int>(index)) at.wait_or_pass(agents[index]);
            turn = 1 - static_cast<int>(index);
            at.signal_held();
        }
        at.unlock();
    }
    void after() { at.nobody_left(); }
};

struct PaysNothing : Sound {
    static constexpr bool pays = false;
};
struct LetsGoFirst : Sound {
    static constexpr bool enlists_first = false;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Strong = sync::WordOrders;
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 5 : 1;
    models.holds<Ready<How::held, 1>>("a signal by the holder", Preemptions{3 + more});
    models.holds<Ready<How::free, 1>>("a signal without the mutex", Preemptions{3 + more});
    models.holds<Ready<How::held, 2>>("two signals by the holder", Random{30'000 * times});
    models.holds<Ready<How::free, 2>>("two signals without the mutex", Random{30'000 * times});
    models.holds<Ready<How::broadcast, 2>>("a broadcast to two", Random{30'000 * times});
    models.holds<Ready<How::broadcast, 2>>("a broadcast to two", Preemptions{1 + more});
    models.holds<Ready<How::broadcast_held, 2>>("a broadcast by the holder to two", Random{30'000 * times});
    models.holds<GivesUp<How::held>>("a signal by the holder, and one that may give up", Preemptions{1});
    models.holds<GivesUp<How::held>>("a signal by the holder, and one that may give up", Random{30'000 * times});
    models.holds<GivesUp<How::free>>("a signal, and one that may give up", Preemptions{1});
    models.holds<GivesUp<How::free>>("a signal, and one that may give up", Random{30'000 * times});
    models.holds<Turns<1, 0>>("two that take turns", Preemptions{3 + more});
    models.holds<Turns<2, 0>>("two that take turns twice", Random{30'000 * times});
    models.holds<Turns<2, 1>>("two that take turns, and one more", Random{30'000 * times});

    models.fails<Ready<How::held, 1, Careful, EnterRelaxed>>("one that comes in and acquires nothing", Preemptions{3});
    models.fails<Ready<How::held, 1, Careful, LeaveRelaxed>>("one that lets go and releases nothing", Random{100'000});
    models.fails<Ready<How::held, 1, Wakeless>>("a signal that wakes nobody", Random{100'000});
    models.fails<Ready<How::held, 1, Careful, Strong, PaysNothing>>("a signal that is owed for ever", Random{100'000});
    models.fails<Ready<How::free, 1, Careful, Strong, LetsGoFirst>>("one that lets the mutex go before it waits",
                                                                    Random{100'000});
    models.fails<GivesUp<How::free, Careless>>("one that gives up without asking", Random{100'000});
    models.fails<GivesUp<How::held, Unsettled>>("one whose claim is contested in the mutex, too", Random{100'000});
    models.fails<Turns<2, 0, Careful, LeaveRelaxed>>("a hand-over that releases nothing", Random{100'000});
}
