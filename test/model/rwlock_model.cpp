// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The read-write lock: a writer is alone, readers are together, and each gets its turn.
#include "sync/rwlock.hpp"
#include "test/model/agent.hpp"

namespace weft::model {

template <class Habits, class Orders>
struct Shared {
    using Lock = sync::BasicRwLock<BasicAgentRef<Habits>, Orders>;
    using Agent = BasicAgent<Habits>;
    typename Lock::Word word;
    typename Lock::Body body;

    Lock view() { return Lock(word, body); }
    bool read(Agent& agent) { return view().try_read() || agent.wait(typename Lock::ForReading(view())); }
    bool write(Agent& agent, bool hurries) {
        if (!view().try_write() && !agent.wait(typename Lock::ForWriting(view()), hurries)) return false;
        view().set_owner(&agent);
        return true;
    }
    void unlock(Agent& agent) { WEFT_ASSERT(view().unlock(&agent)); }
};

// Writers first, then readers; the last `hurried` of the writers may give up. If a thread is never
// admitted, that is a deadlock here.
template <class Habits, class Orders, int writers, int readers, int rounds, int hurried = 0>
struct Turns : rl::test_suite<Turns<Habits, Orders, writers, readers, rounds, hurried>, writers + readers> {
    Shared<Habits, Orders> lock;
    BasicAgent<Habits> agents[writers + readers];
    plain<int> guarded{0};
    atomic<int> reading{0};
    int written[writers + readers] = {};

    void thread(unsigned index) {
        BasicAgent<Habits>& agent = agents[index];
        for (int i = 0; i < rounds; ++i) {
            if (index < writers) {
                if (!lock.write(agent, index + hurried >= writers)) continue;
                WEFT_ASSERT(reading.load(std::memory_order_relaxed) == 0 && lock.view().owner() == &agent);
                ++guarded;
                ++written[index];
            } else {
                lock.read(agent);
                reading.fetch_add(1, std::memory_order_relaxed);
                WEFT_ASSERT(guarded >= 0);
                reading.fetch_sub(1, std::memory_order_relaxed);
            }
            lock.unlock(agent);
        }
        agent.begin(false);   // its memory is used for something else
    }
    void after() {
        int sum = 0;
        for (int times : written) sum += times;
        WEFT_ASSERT(guarded == sum && lock.word.glance() == 0 && lock.body.readers.empty() &&
                    lock.body.writers.empty());
    }
};

// One thread reads for as long as another does not: the writer between them must give up, and the
// second reader must be admitted then.
template <bool lets_in>
struct GivesUp : rl::test_suite<GivesUp<lets_in>, 3> {
    using Mine = Shared<Careful, sync::WordOrders>;
    Mine lock;
    Agent agents[3];
    Parker second_reads;

    void before() { WEFT_ASSERT(lock.view().try_read()); }
    void thread(unsigned index) {
        Agent& agent = agents[index];
        if (index == 0) {
            second_reads.park();
            lock.unlock(agent);
        } else if (index == 1) {
            Mine::Lock::ForWriting writing(lock.view());
            agent.begin(true);
            if (!writing.enter(agent.waiter)) {
                lock.view().set_owner(&agent);
                lock.unlock(agent);
            } else if (agent.park(true)) {
                lock.unlock(agent);
            } else if (lets_in) {
                writing.withdraw(agent.waiter);
            } else {
                const std::uint32_t seen = lock.word.lock();
                sync::withdraw(lock.body.writers, agent.waiter);
                lock.word.unlock(lock.body.readers.empty() ? seen & ~Mine::Lock::waiters : seen);
            }
        } else {
            lock.read(agent);
            second_reads.unpark();
            lock.unlock(agent);
        }
    }
    void after() { WEFT_ASSERT(lock.word.glance() == 0); }
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    using Strong = sync::WordOrders;
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 5 : 1;
    models.holds<Turns<Careful, Strong, 1, 1, 1>>("a writer and a reader", Preemptions{4 + more});
    models.holds<Turns<Careful, Strong, 2, 0, 2>>("two writers, twice", Preemptions{2 + more});
    models.holds<Turns<Careful, Strong, 1, 2, 1>>("a writer and two readers", Preemptions{2 + more});
    models.holds<Turns<Careful, Strong, 1, 2, 2>>("a writer and two readers, twice", Random{50'000 * times});
    models.holds<Turns<Careful, Strong, 2, 1, 1>>("two writers and a reader", Preemptions{2 + more});
    models.holds<Turns<Careful, Strong, 2, 1, 2>>("two writers and a reader, twice", Random{50'000 * times});
    models.holds<Turns<Careful, Strong, 2, 1, 2, 1>>("a writer, one that may give up, and a reader",
                                                     Random{50'000 * times});
    models.holds<GivesUp<true>>("a writer that gives up between readers", Preemptions{2 + more});
    models.holds<GivesUp<true>>("a writer that gives up between readers", Random{50'000 * times});

    models.fails<Turns<Careful, EnterRelaxed, 2, 0, 1>>("one that comes in and acquires nothing", Random{100'000});
    models.fails<Turns<Careful, LeaveRelaxed, 1, 1, 1>>("one that lets go and releases nothing", Random{100'000});
    models.fails<Turns<Wakeless, Strong, 1, 1, 1>>("one that lets go and wakes nobody", Random{100'000});
    models.fails<Turns<Careless, Strong, 2, 1, 1, 1>>("one that gives up without asking", Random{100'000});
    models.fails<GivesUp<false>>("a writer that gives up and lets nobody in", Random{100'000});
}
