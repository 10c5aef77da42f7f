// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects that count: the semaphore gives no more permits than it has and forgets no waiter; the
// latch and the barrier release their waiters when all have arrived.
#include "sync/barrier.hpp"
#include "sync/latch.hpp"
#include "sync/semaphore.hpp"
#include "test/model/agent.hpp"

namespace weft::model {

template <class Habits, class Orders>
struct Permits {
    using Semaphore = sync::BasicSemaphore<BasicAgentRef<Habits>, Orders>;
    typename Semaphore::Word word;
    typename Semaphore::Body body;

    Semaphore view() { return Semaphore(word, body); }
    bool acquire(BasicAgent<Habits>& agent, bool hurries) {
        return view().try_acquire() || agent.wait(view(), hurries);
    }
};

// One permit, for a value that one thread may change at a time.
template <class Habits, class Orders, int threads, int rounds, int hurried = 0>
struct OnePermit : rl::test_suite<OnePermit<Habits, Orders, threads, rounds, hurried>, threads> {
    Permits<Habits, Orders> permits;
    BasicAgent<Habits> agents[threads];
    plain<int> guarded{0};

    void before() { WEFT_ASSERT(permits.view().release(1)); }
    void thread(unsigned index) {
        for (int i = 0; i < rounds; ++i) {
            if (!permits.acquire(agents[index], index + hurried >= threads)) continue;
            ++guarded;
            WEFT_ASSERT(permits.view().count() == 0);
            WEFT_ASSERT(permits.view().release(1));
        }
        agents[index].begin(false);   // its memory is used for something else
    }
    void after() { WEFT_ASSERT(permits.word.glance() == 1 && permits.body.ring.empty()); }
};

// One thread releases two permits, at once or one by one, for two waiters.
template <class Habits, int at_once>
struct Releases : rl::test_suite<Releases<Habits, at_once>, 3> {
    Permits<Habits, sync::WordOrders> permits;
    BasicAgent<Habits> agents[3];
    plain<int> message{0};

    void thread(unsigned index) {
        if (index == 0) {
            message = 1;
            for (int i = 0; i < 2; i += at_once) WEFT_ASSERT(permits.view().release(at_once));
        } else {
            permits.acquire(agents[index], false);
            WEFT_ASSERT(message == 1);
            agents[index].begin(false);
        }
    }
    void after() { WEFT_ASSERT(permits.word.glance() == 0 && permits.body.ring.empty()); }
};

// Two threads count down, the others wait; a thread that has waited may end the latch.
template <class Habits, class Orders, int waiting, int hurried = 0>
struct CountsDown : rl::test_suite<CountsDown<Habits, Orders, waiting, hurried>, 2 + waiting> {
    using Latch = sync::BasicLatch<BasicAgentRef<Habits>, Orders>;
    typename Latch::Word word{2};
    typename Latch::Body body;
    BasicAgent<Habits> agents[2 + waiting];
    plain<int> messages[2];

    void thread(unsigned index) {
        Latch latch(word, body);
        if (index < 2) {
            messages[index] = 1;
            WEFT_ASSERT(latch.count_down(1));
        } else if (latch.come() || agents[index].wait(latch, index + hurried >= 2 + waiting)) {
            WEFT_ASSERT(messages[0] == 1 && messages[1] == 1);
            if (waiting == 1) body.ring.take_all();   // its memory is used for something else
        }
        agents[index].begin(false);
    }
    void after() { WEFT_ASSERT(word.glance() == 0 && body.ring.empty()); }
};

// All arrive `rounds` times; the last arrival of a phase ends it by itself (barrier.cpp).
template <class Habits, class Orders, int threads, int rounds, bool at_once>
struct Phases : rl::test_suite<Phases<Habits, Orders, threads, rounds, at_once>, threads> {
    using Barrier = sync::BasicBarrier<BasicAgentRef<Habits>, Orders>;
    typename Barrier::Word word{threads};
    typename Barrier::Body body;
    BasicAgent<Habits> agents[threads];
    plain<int> written[threads];
    plain<int> completions{0};

    void before() {
        body.expected = threads;
        body.argument = this;
        body.completion = [](void* self) { ++static_cast<Phases*>(self)->completions; };
    }
    void thread(unsigned index) {
        for (int i = 0; i < rounds; ++i) {
            if (i % 2 == 0) written[index] = i;
            arrive_and_wait(agents[index]);
            WEFT_ASSERT(completions >= i + 1);
            for (const auto& one : written) WEFT_ASSERT(i % 2 != 0 || one == i);
            agents[index].begin(false);   // its memory is used for something else
        }
    }
    void arrive_and_wait(BasicAgent<Habits>& agent) {
        Barrier barrier(word, body);
        while (at_once) {
            if (barrier.nearly_complete() && barrier.arrive_last() == 1) return;
            agent.waiter.mark = 0;
            agent.wait(typename Barrier::Arrival(barrier));
            if (agent.waiter.mark == 0) return;
        }
        std::uint32_t phase = 0;
        WEFT_ASSERT(barrier.arrive(1, 0, &phase));
        typename Barrier::End end(barrier, phase);
        if (!end.come()) agent.wait(end);
    }
    void after() { WEFT_ASSERT(word.glance() == threads && completions == rounds && body.ring.empty()); }
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Strong = sync::WordOrders;
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 5 : 1;
    models.holds<OnePermit<Careful, Strong, 2, 1>>("one permit for two", Preemptions{4 + more});
    models.holds<OnePermit<Careful, Strong, 2, 2>>("one permit for two, twice", Preemptions{2 + more});
    models.holds<OnePermit<Careful, Strong, 3, 1>>("one permit for three", Preemptions{2 + more});
    models.holds<OnePermit<Careful, Strong, 3, 2, 2>>("one permit, two that may give up", Random{50'000 * times});
    models.holds<Releases<Careful, 1>>("two releases for two", Preemptions{2 + more});
    models.holds<Releases<Careful, 2>>("a release for two", Preemptions{2 + more});
    models.holds<Releases<Careful, 2>>("a release for two", Random{50'000 * times});
    models.holds<CountsDown<Careful, Strong, 1>>("two that count down, one that waits", Preemptions{3 + more});
    models.holds<CountsDown<Careful, Strong, 1>>("two that count down, one that waits", Random{50'000 * times});
    models.holds<CountsDown<Careful, Strong, 2, 1>>("the same, and one that may give up", Random{50'000 * times});
    models.holds<Phases<Careful, Strong, 2, 2, false>>("two phases of two", Preemptions{2 + more});
    models.holds<Phases<Careful, Strong, 3, 2, false>>("two phases of three", Random{30'000 * times});
    models.holds<Phases<Careful, Strong, 3, 2, true>>("two phases of three that arrive and wait at once",
                                                      Random{30'000 * times});

    models.fails<OnePermit<Careful, EnterRelaxed, 2, 1>>("an acquiring that acquires nothing", Random{100'000});
    models.fails<OnePermit<Careful, LeaveRelaxed, 2, 1>>("a release that releases nothing", Random{100'000});
    models.fails<OnePermit<Wakeless, Strong, 2, 1>>("a release that wakes nobody", Random{100'000});
    models.fails<OnePermit<Careless, Strong, 3, 2, 1>>("one that gives up without asking", Random{100'000});
    models.fails<CountsDown<Careful, LookRelaxed, 1>>("a look that acquires nothing", Random{100'000});
    models.fails<CountsDown<Careful, LeaveRelaxed, 1>>("a count that releases nothing", Random{100'000});
    models.fails<CountsDown<Careful, EnterRelaxed, 2>>("one that comes in and acquires nothing", Random{100'000});
    models.fails<CountsDown<Wakeless, Strong, 1>>("a last count that wakes nobody", Random{100'000});
    models.fails<Phases<Careful, LeaveRelaxed, 2, 1, false>>("an arrival that releases nothing", Random{100'000});
    models.fails<Phases<Wakeless, Strong, 2, 1, false>>("a last arrival that wakes nobody", Random{100'000});
}
