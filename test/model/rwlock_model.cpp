// The read-write lock: a writer is alone, readers are together, and everybody has its turn.
#include "sync/rwlock.hpp"
#include "test/model/who.hpp"

namespace weft::model {

template <class Habits, class Orders>
struct Shared {
    using Lock = sync::BasicRwLock<BasicWhom<Habits>, Orders>;
    using Party = BasicParty<Habits>;
    typename Lock::Word word;
    typename Lock::Body body;

    Lock view() { return Lock(word, body); }
    bool read(Party& party) { return view().try_read() || party.wait(typename Lock::ForReading(view())); }
    bool write(Party& party, bool hurries) {
        if (!view().try_write() && !party.wait(typename Lock::ForWriting(view()), hurries)) return false;
        view().set_owner(&party);
        return true;
    }
    void unlock(Party& party) { WEFT_ASSERT(view().unlock(&party)); }
};

// Writers first, then readers; the last `hurried` of the writers may give up. Who is not let in is a deadlock here.
template <class Habits, class Orders, int writers, int readers, int rounds, int hurried = 0>
struct Turns : rl::test_suite<Turns<Habits, Orders, writers, readers, rounds, hurried>, writers + readers> {
    Shared<Habits, Orders> lock;
    BasicParty<Habits> parties[writers + readers];
    plain<int> guarded{0};
    atomic<int> reading{0};
    int written[writers + readers] = {};

    void thread(unsigned index) {
        BasicParty<Habits>& party = parties[index];
        for (int i = 0; i < rounds; ++i) {
            if (index < writers) {
                if (!lock.write(party, index + hurried >= writers)) continue;
                WEFT_ASSERT(reading.load(std::memory_order_relaxed) == 0 && lock.view().owner() == &party);
                ++guarded;
                ++written[index];
            } else {
                lock.read(party);
                reading.fetch_add(1, std::memory_order_relaxed);
                WEFT_ASSERT(guarded >= 0);
                reading.fetch_sub(1, std::memory_order_relaxed);
            }
            lock.unlock(party);
        }
        party.begin(false);   // its memory is used for something else
    }
    void after() {
        int sum = 0;
        for (int times : written) sum += times;
        WEFT_ASSERT(guarded == sum && lock.word.glance() == 0 && lock.body.readers.empty() &&
                    lock.body.writers.empty());
    }
};

// One reads for as long as another does not: the writer between them must give up, and the second be let in then.
template <bool lets_in>
struct GivesUp : rl::test_suite<GivesUp<lets_in>, 3> {
    using Mine = Shared<Careful, sync::WordOrders>;
    Mine lock;
    Party parties[3];
    Parker second_reads;

    void before() { WEFT_ASSERT(lock.view().try_read()); }
    void thread(unsigned index) {
        Party& party = parties[index];
        if (index == 0) {
            second_reads.park();
            lock.unlock(party);
        } else if (index == 1) {
            Mine::Lock::ForWriting writing(lock.view());
            party.begin(true);
            if (!writing.enter(party.waiter)) {
                lock.view().set_owner(&party);
                lock.unlock(party);
            } else if (party.park(true)) {
                lock.unlock(party);
            } else if (lets_in) {
                writing.withdraw(party.waiter);
            } else {
                const std::uint32_t seen = lock.word.lock();
                sync::withdraw(lock.body.writers, party.waiter);
                lock.word.unlock(lock.body.readers.empty() ? seen & ~Mine::Lock::waiters : seen);
            }
        } else {
            lock.read(party);
            second_reads.unpark();
            lock.unlock(party);
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
