// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The event: the set wakes every waiter, which sees what was written before; of several events, one
// wakes the waiter.
#include "sync/event.hpp"
#include "test/model/agent.hpp"

namespace weft::model {

template <class Habits, class Orders>
struct Occasion {
    using Event = sync::BasicEvent<BasicAgentRef<Habits>, Orders>;
    typename Event::Word word;
    typename Event::Body body;

    Event view() { return Event(word, body); }
    // Like weft_event_set().
    bool set(void* value) {
        BasicAgentRef<Habits> one{};
        switch (view().begin_set(value, one, sync::AtOnce())) {
        case Event::Set::nobody_waits: return true;
        case Event::Set::one_waits: one.wake({}); return true;
        case Event::Set::many_wait: view().release_many(); return true;
        case Event::Set::already: return false;
        case Event::Set::busy: break;
        }
        return view().set(value);
    }
    // Returns false if it has given up.
    bool wait(BasicAgent<Habits>& agent, bool hurries = false) { return view().come() || agent.wait(view(), hurries); }
};

// One thread sets the event, the others wait; the last `hurried` of them may give up.
template <class Habits, class Orders, int waiting, int hurried = 0>
struct SetAndWait : rl::test_suite<SetAndWait<Habits, Orders, waiting, hurried>, waiting + 1> {
    Occasion<Habits, Orders> event;
    BasicAgent<Habits> agents[waiting + 1];
    plain<int> message{0};

    void thread(unsigned index) {
        if (index == 0) {
            message = 1;
            WEFT_ASSERT(event.set(this));
        } else if (event.wait(agents[index], index + hurried > waiting)) {
            WEFT_ASSERT(message == 1 && event.view().value() == this && event.view().come());
        }
        agents[index].begin(false);   // its memory is used for something else
    }
    void after() { WEFT_ASSERT(event.body.ring.empty() && event.view().come()); }
};

// Two threads set it: one of them succeeds.
template <class Orders>
struct TwoSet : rl::test_suite<TwoSet<Orders>, 3> {
    Occasion<Careful, Orders> event;
    Agent agent;
    int sets = 0;

    void thread(unsigned index) {
        if (index == 2) {
            event.wait(agent);
        } else if (event.set(nullptr)) {
            ++sets;
        }
    }
    void after() { WEFT_ASSERT(sets == 1); }
};

// Two events, to and fro: the waiter resets its event, and owns what the event carried.
template <class Orders, int rounds>
struct Again : rl::test_suite<Again<Orders, rounds>, 2> {
    Occasion<Careful, Orders> events[2];
    Agent agents[2];
    plain<int> message{0};

    void thread(unsigned index) {
        for (int i = 0; i < rounds; ++i) {
            if (index == 0) turn(1, i);
            WEFT_ASSERT(events[index].wait(agents[index]));
            WEFT_ASSERT(message == i);
            events[index].view().reset();
            events[index].body.value = nullptr;
            if (index == 1) turn(0, i);
        }
    }
    void turn(int whose, int i) {
        message = i;
        WEFT_ASSERT(events[whose].set(nullptr));
    }
};

// A thread waits for the first of two events, which two threads set (select.cpp): one of them wakes
// it, once, and both leave it alone afterwards.
template <class Habits, bool hurries>
struct AnyOfTwo : rl::test_suite<AnyOfTwo<Habits, hurries>, 3> {
    Occasion<Habits, sync::WordOrders> events[2];
    BasicAgent<Habits> agent;
    sync::BasicWaiter<BasicAgentRef<Habits>> places[2]{sync::BasicWaiter<BasicAgentRef<Habits>>{agent, 0},
                                                       sync::BasicWaiter<BasicAgentRef<Habits>>{agent, 1}};
    plain<int> messages[2];

    void thread(unsigned index) {
        if (index < 2) {
            messages[index] = 1;
            events[index].set(nullptr);
            return;
        }
        agent.begin(true);
        unsigned entered = 0;
        bool waits = true;
        for (; waits && entered < 2; ++entered) waits = events[entered].view().enter(places[entered]);
        const bool won = !waits && agent.win(entered);
        const bool woken = won || agent.park(hurries);
        if (!waits) --entered;
        for (unsigned i = 0; i < entered; ++i) events[i].view().withdraw(places[i]);
        for (auto& place : places) agent.clear(place);
        if (!woken) return;
        const unsigned which = agent.winner.load() - 1;
        WEFT_ASSERT(which < 2 && events[which].view().come() && messages[which] == 1);
        agent.begin(false);
    }
};

// A unit waits, and a thread sets: the waker finds the unit's context.
template <class Habits, unsigned waiting>
struct SetAndLeave : rl::test_suite<SetAndLeave<Habits, waiting>, waiting + 1> {
    Occasion<Habits, sync::WordOrders> event;
    BasicAgent<Habits> agents[waiting + 1];
    plain<int> message{0};

    void thread(unsigned index) {
        if (index == 0) {
            message = 1;
            event.set(nullptr);
            return;
        }
        agents[index].leave(event.view());
        WEFT_ASSERT(message == 1);
    }
};

// A waiter that gives up and stays in the ring.
struct Stays : rl::test_suite<Stays, 2> {
    Occasion<Careful, sync::WordOrders> event;
    Agent agent;

    void thread(unsigned index) {
        if (index == 0) {
            event.set(nullptr);
            return;
        }
        agent.begin(true);
        if (!event.view().enter(agent.waiter) || agent.park(true)) return;
        agent.begin(false);
    }
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Strong = sync::WordOrders;
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 5 : 1;
    models.holds<SetAndWait<Careful, Strong, 1>>("a set and a wait", Preemptions{6 + more});
    models.holds<SetAndWait<Careful, Strong, 1, 1>>("a set, and one that may give up", Preemptions{6 + more});
    models.holds<SetAndWait<Careful, Strong, 2>>("a set, and two that wait", Preemptions{3 + more});
    models.holds<SetAndWait<Careful, Strong, 2, 1>>("a set, one that waits, one that may give up",
                                                    Preemptions{2 + more});
    models.holds<SetAndWait<Careful, Strong, 2, 2>>("a set, and two that may give up", Random{50'000 * times});
    models.holds<TwoSet<Strong>>("two sets", Preemptions{2 + more});
    models.holds<Again<Strong, 2>>("set, waited for and reset, to and fro", Random{50'000 * times});
    models.holds<AnyOfTwo<Careful, false>>("one of two events", Preemptions{2 + more});
    models.holds<AnyOfTwo<Careful, false>>("one of two events", Random{50'000 * times});
    models.holds<AnyOfTwo<Careful, true>>("one of two events, or it gives up", Random{50'000 * times});

    models.holds<SetAndLeave<Careful, 1>>("a set, and a unit that leaves", Preemptions{6 + more});
    models.holds<SetAndLeave<Careful, 2>>("a set, and two units that leave", Preemptions{2 + more});

    models.fails<SetAndLeave<Hasty, 1>>("a unit that is found before it has left", Random{100'000});
    models.fails<SetAndWait<Careful, EnterRelaxed, 2>>("one that comes in and acquires nothing", Random{100'000});
    models.fails<SetAndWait<Careful, LeaveRelaxed, 1>>("a set that releases nothing", Random{100'000});
    models.fails<SetAndWait<Careful, LookRelaxed, 1>>("a look that acquires nothing", Random{100'000});
    models.fails<SetAndWait<Wakeless, Strong, 1>>("a set that wakes nobody", Random{100'000});
    models.fails<SetAndWait<Careless, Strong, 1, 1>>("one that gives up without asking", Random{100'000});
    models.fails<AnyOfTwo<Careless, false>>("two that wake without asking", Random{100'000});
    models.fails<Stays>("one that gives up and stays in the ring", Random{100'000});
    models.fails<Again<LookRelaxed, 2>>("to and fro, with a look that acquires nothing", Random{100'000});
}
