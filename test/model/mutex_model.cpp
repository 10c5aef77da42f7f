// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mutex: one agent holds it, no waiter is forgotten, and no thread touches a waiter that has
// been woken.
#include "test/model/locking.hpp"

namespace weft::model {

// Each thread locks `rounds` times, changes what the mutex guards and the holder's fields of its
// body, and unlocks. The last `hurried` of them may give up. If a waiter is not woken, that is a
// deadlock here. `patient`: see Mutual::lock().
template <class Habits, class Orders, int threads, int rounds, int hurried = 0, Urgency last = Urgency::normal,
          bool patient = false>
struct Exclusion : rl::test_suite<Exclusion<Habits, Orders, threads, rounds, hurried, last, patient>, threads> {
    Mutual<Habits, Orders> mutex;
    BasicAgent<Habits> agents[threads];
    plain<int> guarded{0};
    int locked[threads] = {};

    void thread(unsigned index) {
        for (int i = 0; i < rounds; ++i) {
            const Urgency urgency = index + 1 == threads ? last : Urgency::normal;
            if (!mutex.lock(agents[index], index + hurried >= threads, urgency, patient)) continue;
            ++guarded;
            ++mutex.body.depth;
            ++locked[index];
            WEFT_ASSERT(mutex.view().is_held() && mutex.view().owner() == &agents[index]);
            mutex.unlock();
        }
    }

    void after() {
        int sum = 0;
        for (int times : locked) sum += times;
        WEFT_ASSERT(guarded == sum);
        WEFT_ASSERT(!mutex.view().is_held() && mutex.view().owner() == nullptr && mutex.body.ring.empty());
        WEFT_ASSERT(mutex.body.last_high == nullptr && mutex.body.first_low == nullptr);
        WEFT_ASSERT(!mutex.word.glance().any());
    }
};

// Like Exclusion, with one step done wrongly.
enum class Wrong { looks_then_stores, takes_woken_for_given, stays_in_the_ring, stays_on_its_way };

template <Wrong wrong, int threads>
struct Broken : rl::test_suite<Broken<wrong, threads>, threads> {
    using Mine = Mutual<Careful, sync::WordOrders>;
    using Mutex = Mine::Mutex;
    Mine mutex;
    Agent agents[threads];
    plain<int> guarded{0};

    void thread(unsigned index) {
        Agent& agent = agents[index];
        if (!lock(agent, wrong == Wrong::stays_in_the_ring && index == 0)) return;
        ++guarded;
        unlock();
    }

    bool lock(Agent& agent, bool hurries) {
        if (wrong == Wrong::looks_then_stores) return mutex.lock(agent);
        Mutex view = mutex.view();
        if (view.try_take()) {
            view.set_owner(&agent);
            return true;
        }
        Mutex::ask(agent.waiter, Urgency::normal);
        agent.begin(hurries);
        if (!view.enter(agent.waiter)) return true;
        if (wrong == Wrong::stays_on_its_way) {
            agent.park(false);
            Mutex::ask(agent.waiter, Urgency::normal);   // forgets that it was woken
            return mutex.lock(agent);
        }
        if (agent.park(hurries)) return wrong == Wrong::takes_woken_for_given || mutex.lock(agent);
        agent.begin(false);   // its memory is used for something else
        return false;
    }
    void unlock() {
        if (wrong != Wrong::looks_then_stores) return mutex.unlock();
        if (mutex.word.look().has(Mutex::waiters | Mutex::Word::busy)) return mutex.view().unlock_slow();
        mutex.word.unlock({});
    }
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Strong = sync::WordOrders;
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 5 : 1;
    models.holds<Exclusion<Careful, Strong, 2, 1>>("two that lock once", Preemptions{4 + more});
    models.holds<Exclusion<Careful, Strong, 2, 2>>("two that lock twice", Preemptions{2 + more});
    models.holds<Exclusion<Careful, Strong, 2, 3>>("two that lock three times", Random{50'000 * times});
    models.holds<Exclusion<Careful, Strong, 3, 1>>("three that lock", Preemptions{2 + more});
    models.holds<Exclusion<Careful, Strong, 3, 2>>("three that lock twice", Random{50'000 * times});
    models.holds<Exclusion<Careful, Strong, 3, 1, 0, Urgency::high>>("three, one of them urgent",
                                                                     Random{50'000 * times});
    models.holds<Exclusion<Careful, Strong, 3, 1, 0, Urgency::low>>("three, one of them patient",
                                                                    Random{50'000 * times});
    models.holds<Exclusion<Careful, Strong, 2, 1, 1>>("one that locks, one that may give up", Preemptions{3 + more});
    models.holds<Exclusion<Careful, Strong, 3, 1, 1>>("two that lock, one that may give up", Preemptions{2 + more});
    models.holds<Exclusion<Careful, Strong, 3, 2, 2>>("one that locks, two that may give up", Random{50'000 * times});
    models.holds<Exclusion<Careful, Strong, 2, 2, 0, Urgency::normal, true>>("two that are overtaken and try again",
                                                                             Preemptions{2 + more});
    models.holds<Exclusion<Careful, Strong, 3, 2, 0, Urgency::normal, true>>("three that are overtaken and try again",
                                                                             Random{50'000 * times});
    models.holds<Exclusion<Careful, Strong, 3, 2, 2, Urgency::high, true>>(
        "three that try again, two of them may give up", Random{50'000 * times});

    models.fails<Exclusion<Careful, EnterRelaxed, 2, 1>>("one that comes in and acquires nothing", Random{100'000});
    models.fails<Exclusion<Careful, LeaveRelaxed, 2, 1>>("one that lets go and releases nothing", Random{100'000});
    models.fails<Exclusion<Wakeless, Strong, 2, 1>>("one that lets go and wakes nobody", Random{100'000});
    models.fails<Exclusion<Careless, Strong, 3, 1, 1>>("one that gives up without asking", Random{100'000});
    models.fails<Broken<Wrong::looks_then_stores, 2>>("one that lets go by a look and a store", Random{100'000});
    models.fails<Broken<Wrong::takes_woken_for_given, 3>>("one that was woken and does not try", Random{100'000});
    models.fails<Broken<Wrong::stays_on_its_way, 3>>("one that stays on its way", Random{100'000});
    models.fails<Broken<Wrong::stays_in_the_ring, 2>>("one that gives up and stays in the ring", Random{100'000});
}
