// Jobs: the owner of a ring against those who ask for what lies in it and take what it shows. Each job is run once, by
// one who sees what its owner wrote; an owner whose job was taken sees what it has done; and nobody sleeps while a job
// is shown.
//
// The orders of the limit's stores and of `asked` that is set and taken rest on their comments (model.hpp says why);
// that they are made in the right succession is controlled here. push() and pop() are what include/weft/parallel.hpp
// does inline.
#include <mutex>

#include "hart/parker.hpp"
#include "process/job_ring.hpp"
#include "process/shown.hpp"
#include "test/model/model.hpp"

namespace weft {

struct alignas(64) Unit {};   // an owner: nothing is asked of it

}   // namespace weft

namespace weft::model {

// One fault of logic each, for the controls.
enum class Wrong {
    nothing,
    pushes_beyond_the_limit,   // the owner
    heeds_before_it_opens,
    pops_without_a_look,
    keeps_what_it_shows,
    removes_without_a_second_look,
    does_not_wait,
    waits_without_a_look,
    closes_before_it_asks,   // a thief
    finishes_before_it_runs,
    finishes_without_a_look,
    is_silent,   // one who has searched, or was woken
};

struct Job {
    alignas(16) unsigned char kept[256];
    plain<int> given{0};    // by its owner, before the fork
    plain<int> result{0};   // by who runs it
    int times = 0;
};

struct Face {
    plain<Job**> bottom;
    atomic<Job**> limit;
};

// A stream's ring and the runtime's list, and what owners and thieves do with them: as jobs.cpp and invoke.cpp have it.
template <class RingOrders, class Orders, Wrong wrong>
struct Part {
    using Ring = BasicJobRing<Job, Face, RingOrders>;
    using Shown = BasicShown<Job, Orders>;
    using Jobs = BasicJobs<Job, Orders>;

    struct Waiter : JobWaiter {
        Parker parker;
        plain<int> ready{0};

        Waiter()
            : JobWaiter{[](JobWaiter* raw) {
                  auto* self = static_cast<Waiter*>(raw);
                  WEFT_ASSERT(self->ready == 1);
                  self->parker.unpark();
              }} {
            ready = 1;
        }
    };

    Job* slots[Ring::capacity + 1] = {};
    Ring ring;
    Jobs jobs;
    Unit owner;
    // not on the owner's stack: a wake may come to where it was
    alignas(Waiter) unsigned char waiter_place[sizeof(Waiter)];
    int shows = 0;   // in model time, so no race of its own

    void before() {
        ring.slots = slots;
        ring.first = ring.begin();
        ring.face.bottom = ring.begin();
    }

    // ---- the owner

    // `unasked`: the first fork of a unit.
    void fork(Job& job, bool unasked = false) {
        job.given = 1;
        if constexpr (wrong == Wrong::pushes_beyond_the_limit) {
            Job** const bottom = ring.face.bottom;
            *bottom = &job;
            ring.face.bottom = bottom + 1;
            return;
        }
        if (ring.push(job)) return;
        bool asked = false;
        if constexpr (wrong == Wrong::heeds_before_it_opens) asked = ring.take_request();
        if (ring.push_and_open(job) && wrong != Wrong::heeds_before_it_opens) asked = true;
        if (asked || unasked) show((ring.length() + 1) / 2);
    }

    void show(std::size_t count) {
        ++shows;
        Job* const last = ring.first[count - 1];
        jobs.show(ring, count, owner, 0);
        if constexpr (wrong == Wrong::keeps_what_it_shows) ring.first[-1] = last;
    }

    void leave() {
        if (!ring.empty()) show(ring.length());
        ring.first = ring.begin();
        ring.face.bottom = ring.first;
        ring.close();
    }

    void join(Job& job) {
        if (pop(job)) {
            run(job);
        } else {
            const bool mine = remove(job);
            if (!mine && wrong != Wrong::does_not_wait && !Shown::of(job).done()) wait(job);
            Shown::of(job).~Shown();   // no more than the job: a thief that comes too late is found
            if (mine) run(job);
            else ring.ask();
        }
        WEFT_ASSERT(job.result == 1);
    }

    bool pop(Job& job) {
        if constexpr (wrong == Wrong::pops_without_a_look) {
            if (ring.face.bottom == ring.begin()) return ring.pop(job);
            ring.face.bottom = ring.face.bottom - 1;
            return true;
        }
        return ring.pop(job);
    }

    bool remove(Job& job) {
        if constexpr (wrong == Wrong::removes_without_a_second_look) {
            if (Shown::of(job).state.load() != Shown::available) return false;
            std::lock_guard guard(jobs.lock);
            jobs.unlink(job);
            return true;
        }
        return jobs.remove(job);
    }

    void wait(Job& job) {
        auto& waiter = *new (waiter_place) Waiter;
        if constexpr (wrong == Wrong::waits_without_a_look) {
            Shown::of(job).state.store(reinterpret_cast<std::uintptr_t>(static_cast<JobWaiter*>(&waiter)));
            waiter.parker.park();
        } else if (Shown::of(job).enroll(waiter)) {
            waiter.parker.park();
        }
        waiter.~Waiter();
    }

    // ---- a thief

    void ask() {
        if constexpr (wrong == Wrong::closes_before_it_asks) {
            if (ring.asked.load()) return;
            ring.close();
            ring.asked.store(true);
            return;
        }
        ring.ask();
    }

    // True: it has run one.
    bool take_one() {
        if (!jobs.any()) return false;
        Job* job;
        {
            std::lock_guard guard(jobs.lock);
            job = jobs.oldest;
            if (job == nullptr) return false;
            jobs.unlink(*job);
        }
        if constexpr (wrong != Wrong::finishes_before_it_runs) run(*job);
        if constexpr (wrong == Wrong::finishes_without_a_look) Shown::of(*job).state.store(Shown::finished);
        else Shown::of(*job).finish();
        if constexpr (wrong == Wrong::finishes_before_it_runs) run(*job);
        return true;
    }

    // As sleep() in stream.cpp has it, until it has run one.
    void sleep_until_one() {
        Sleeper sleeper;
        Sleeper::Entry place(sleeper);
        bool found = false;
        while (!found) {
            sleeper.prepare();
            jobs.idle_list.add(place);
            ask();
            found = take_one();
            const bool claimed = !found && !jobs.any() ? sleeper.wait() : sleeper.cancel();
            jobs.idle_list.remove(place);
            if (claimed) {
                if (!found) found = take_one();
                if (wrong != Wrong::is_silent && jobs.any()) jobs.idle_list.wake_one();
            }
            if (!found) rl::yield(1, info(std::source_location::current()));
        }
    }

    // ---- either

    static void run(Job& job) {
        WEFT_ASSERT(job.given == 1);
        job.result = job.result + 1;
        ++job.times;
    }

    // Nothing is left, and the ring is not open to one who has asked.
    void is_at_rest() const {
        WEFT_ASSERT(!jobs.any() && static_cast<Job*>(jobs.oldest) == nullptr &&
                    static_cast<Job*>(jobs.newest) == nullptr);
        WEFT_ASSERT(!ring.asked.load() || ring.face.limit.load() == nullptr);
    }
};

// The owner forks `count` jobs, each within the one before, perhaps leaves its stream, and joins them; thieves ask and
// take `looks` times each.
template <int thieves, int count, int looks, bool leaves = false, Wrong wrong = Wrong::nothing,
          class Orders = ShownOrders>
struct Branches : rl::test_suite<Branches<thieves, count, looks, leaves, wrong, Orders>, 1 + thieves> {
    Part<JobRingOrders, Orders, wrong> part;
    Job all[count];

    void before() { part.before(); }

    void thread(unsigned index) {
        if (index != 0) {
            for (int look = 0; look < looks; ++look) {
                part.ask();
                part.take_one();
            }
            return;
        }
        for (int i = 0; i < count; ++i) part.fork(all[i], i == 0);
        if constexpr (leaves) part.leave();
        for (int i = count; i-- != 0;) part.join(all[i]);
    }

    void after() {
        for (const Job& job : all) WEFT_ASSERT(job.times == 1);
        WEFT_ASSERT(part.ring.empty());
        part.is_at_rest();
    }
};

// Others ask, each `times` times, while the owner forks; one who has asked before a fork begins is shown something, by
// that fork or since he began to ask. Of two, one may find that the other has asked, who has not taken the room away
// yet: then it is the first fork after that.
template <int askers, int times, Wrong wrong = Wrong::nothing, class RingOrders = JobRingOrders>
struct Asked : rl::test_suite<Asked<askers, times, wrong, RingOrders>, 1 + askers> {
    static constexpr int forks = times + 1;

    Part<RingOrders, ShownOrders, wrong> part;
    Job all[forks];
    atomic<int> told{0};                    // by the only asker
    int shown_before[askers][times] = {};   // as he began to ask

    void before() { part.before(); }

    void thread(unsigned index) {
        if (index != 0) {
            for (int i = 0; i < times; ++i) {
                shown_before[index - 1][i] = part.shows;
                part.ask();
                if (askers == 1) told.store(i + 1);
            }
            return;
        }
        for (Job& job : all) {
            const int seen = told.load();
            part.fork(job);
            if (seen != 0) was_shown(0, seen);
        }
        for (int i = forks; i-- != 0;) part.join(all[i]);
    }

    void was_shown(int asker, int time) { WEFT_ASSERT(part.shows > shown_before[asker][time - 1]); }

    void after() {
        part.is_at_rest();
        Job last;
        part.fork(last);
        for (int asker = 0; asker < askers; ++asker) was_shown(asker, times);
        part.join(last);
    }
};

// The owner leaves its stream with `count` jobs, and waits for all of them, which it does not take back; as many others
// sleep until each has run one, and `searchers` look once.
template <int count, int searchers, Wrong wrong = Wrong::nothing, class Orders = ShownOrders>
struct Sleepers : rl::test_suite<Sleepers<count, searchers, wrong, Orders>, 1 + count + searchers> {
    using Of = Part<JobRingOrders, Orders, wrong>;
    Of part;
    Job all[count];

    void before() { part.before(); }

    void thread(unsigned index) {
        if (index == 0) {
            for (Job& job : all) part.fork(job);
            part.leave();
        } else if (index <= count) {
            part.sleep_until_one();
        } else {
            search();
        }
    }

    // What it leaves is left for those who sleep.
    void search() {
        if constexpr (wrong == Wrong::is_silent) {
            part.jobs.searching.fetch_add(1);
            static_cast<void>(part.jobs.any());
            part.jobs.searching.fetch_sub(1);
        } else {
            const BasicSearch<typename Of::Jobs, Orders> searching(part.jobs);
            static_cast<void>(part.jobs.any());
        }
    }

    void after() {
        for (Job& job : all) {
            WEFT_ASSERT(job.times == 1);
            Of::Shown::of(job).~BasicShown();
        }
        part.is_at_rest();
    }
};

struct FinishAcquire : ShownOrders {
    static constexpr std::memory_order finish = std::memory_order_acquire;
};
struct FinishRelease : ShownOrders {
    static constexpr std::memory_order finish = std::memory_order_release;
};
struct EnrollAcquire : ShownOrders {
    static constexpr std::memory_order enroll = std::memory_order_acquire;
};
struct EnrollFailedRelaxed : ShownOrders {
    static constexpr std::memory_order enroll_failed = std::memory_order_relaxed;
};
struct DoneRelaxed : ShownOrders {
    static constexpr std::memory_order done = std::memory_order_relaxed;
};
struct LengthRelaxed : ShownOrders {
    static constexpr std::memory_order length = std::memory_order_relaxed;
};
struct SearchingRelaxed : ShownOrders {
    static constexpr std::memory_order searching = std::memory_order_relaxed;
};
struct LookRelaxed : JobRingOrders {
    static constexpr std::memory_order look = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 10 : 1;
    if (models.full()) models.holds<Branches<1, 1, 1>>("a job and a thief", All{});
    else models.holds<Branches<1, 1, 1>>("a job and a thief", Preemptions{5});
    models.holds<Branches<1, 2, 2>>("two jobs and a thief", Preemptions{3 + more});
    models.holds<Branches<1, 2, 2, true>>("two jobs whose owner leaves, and a thief", Preemptions{3 + more});
    models.holds<Branches<2, 1, 1>>("a job and two thieves", Preemptions{3 + more});
    models.holds<Branches<2, 3, 2>>("three jobs and two thieves", Random{100'000 * times});
    models.holds<Branches<2, 3, 2, true>>("three jobs whose owner leaves, and two thieves", Random{100'000 * times});
    models.holds<Asked<1, 1>>("one asks", All{});
    models.holds<Asked<1, 2>>("one asks twice", Random{100'000 * times});
    models.holds<Asked<2, 2>>("two ask twice", Random{100'000 * times});
    models.holds<Sleepers<1, 0>>("one sleeps", Preemptions{4 + more});
    models.holds<Sleepers<1, 1>>("one sleeps, and one searches", Preemptions{2 + more});
    models.holds<Sleepers<1, 1>>("one sleeps, and one searches", Random{100'000 * times});
    models.holds<Sleepers<2, 0>>("two sleep", Random{100'000 * times});

    constexpr Wrong right = Wrong::nothing;
    models.fails<Branches<1, 1, 1, false, right, FinishAcquire>>("an end that publishes nothing", Random{200'000});
    models.fails<Branches<1, 1, 1, false, right, FinishRelease>>("an end that does not see who waits", Random{200'000});
    models.fails<Branches<1, 1, 1, false, right, EnrollAcquire>>("one who waits and publishes nothing",
                                                                 Random{200'000});
    models.fails<Branches<1, 1, 1, false, right, EnrollFailedRelaxed>>(
        "one who comes too late to wait, and acquires nothing", Random{200'000});
    models.fails<Branches<1, 1, 1, false, right, DoneRelaxed>>("a look at the end that acquires nothing",
                                                               Random{200'000});
    models.fails<Asked<1, 2, right, LookRelaxed>>("one who believes that he has asked", Random{200'000});
    models.fails<Sleepers<1, 0, right, LengthRelaxed>>("a look at the list's length that may come early",
                                                       Random{200'000});
    models.fails<Sleepers<1, 1, right, SearchingRelaxed>>("a look for searchers that may come early", Random{200'000});

    models.fails<Asked<1, 1, Wrong::pushes_beyond_the_limit>>("an owner who does not look at the limit",
                                                              Random{200'000});
    models.fails<Asked<1, 1, Wrong::heeds_before_it_opens>>("one who looks who has asked, and then opens",
                                                            Random{200'000});
    models.fails<Asked<1, 1, Wrong::closes_before_it_asks>>("one who takes the room away, and then asks",
                                                            Random{200'000});
    models.fails<Branches<1, 1, 1, false, Wrong::pops_without_a_look>>("an owner who takes what is not there",
                                                                       Random{200'000});
    models.fails<Branches<1, 1, 1, false, Wrong::keeps_what_it_shows>>("one who shows, and keeps", Random{200'000});
    models.fails<Branches<1, 1, 1, false, Wrong::removes_without_a_second_look>>("one who does not look under the lock",
                                                                                 Random{200'000});
    models.fails<Branches<1, 1, 1, false, Wrong::does_not_wait>>("one who does not wait", Random{200'000});
    models.fails<Branches<1, 1, 1, false, Wrong::waits_without_a_look>>("one who waits for what has ended",
                                                                        Random{200'000});
    models.fails<Branches<1, 1, 1, false, Wrong::finishes_before_it_runs>>("a thief who tells before it has run",
                                                                           Random{200'000});
    models.fails<Branches<1, 1, 1, false, Wrong::finishes_without_a_look>>("a thief who does not look who waits",
                                                                           Random{200'000});
    models.fails<Sleepers<2, 0, Wrong::is_silent>>("one who is woken and passes nothing on", Random{200'000});
    models.fails<Sleepers<1, 1, Wrong::is_silent>>("one who has searched and says nothing", Random{200'000});
}
