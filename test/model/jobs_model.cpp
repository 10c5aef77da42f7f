// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jobs: the owner of a list against thieves that request the jobs in it and take those that it
// publishes. Each job is run once, by a thread that sees what the job's owner wrote; an owner whose
// job was taken sees what the job has done; and no stream sleeps while a job is published.
//
// The orders of the stores of `closed`, and of the set and take of `steal_requested`, rest on their
// comments (model.hpp says why); the controls here check the succession of these accesses. push()
// and pop() do what include/weft/embed/job.h does inline.
#include <mutex>

#include "hart/parker.hpp"
#include "process/own_jobs.hpp"
#include "process/published_job.hpp"
#include "test/model/model.hpp"

namespace weft {

struct alignas(64) Unit {};   // an owner: nothing is asked of it

}   // namespace weft

namespace weft::model {

// One fault of logic each, for the controls.
enum class Wrong {
    nothing,
    pushes_where_it_is_closed,   // the owner
    heeds_before_it_opens,
    pops_without_a_look,
    keeps_what_it_publishes,
    removes_without_a_second_look,
    does_not_wait,
    waits_without_a_look,
    closes_before_it_requests,   // a thief
    finishes_before_it_runs,
    finishes_without_a_look,
    is_silent,   // a thread that has searched, or was woken
};

struct Job {
    alignas(16) unsigned char kept[256];
    plain<Job*> older{nullptr};
    plain<int> given{0};    // by its owner, before the fork
    plain<int> result{0};   // by the thread that runs it
    int times = 0;
};

struct Face {
    plain<Job*> newest;
    atomic<bool> closed;
};

// A stream's own list and the runtime's lists, and what owners and thieves do with them, like
// jobs.cpp and invoke.cpp.
template <class OwnOrders, class Orders, Wrong wrong>
struct Part {
    using Own = BasicOwnJobs<Job, Face, OwnOrders>;
    using PublishedJob = BasicPublishedJob<Job, Orders>;
    // Several lists, of which one stream uses one: a thief that looks at another finds nothing.
    using Jobs = BasicJobsIn<Job, 2, Orders>;
    using List = typename Jobs::List;

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

    Own own;
    Jobs jobs;
    Unit owner;
    // not on the owner's stack: a wake may reach the place after the waiter has left it
    alignas(Waiter) unsigned char waiter_place[sizeof(Waiter)];
    int publishes = 0;   // in model time, so no race of its own

    // ---- the owner

    // `unrequested`: the first fork of a unit.
    void fork(Job& job, bool unrequested = false) {
        job.given = 1;
        if constexpr (wrong == Wrong::pushes_where_it_is_closed) {
            job.older = static_cast<Job*>(own.face.newest);
            own.face.newest = &job;
            return;
        }
        if (own.push(job)) return;
        bool steal_requested = false;
        if constexpr (wrong == Wrong::heeds_before_it_opens) steal_requested = own.take_steal_request();
        if (own.push_and_open(job) && wrong != Wrong::heeds_before_it_opens) steal_requested = true;
        if (steal_requested || unrequested) publish(own.take_older_half());
    }

    void publish(typename Own::Part part) {
        ++publishes;
        jobs.template publish<Own>(0, part, owner, 0);
        if constexpr (wrong == Wrong::keeps_what_it_publishes) own.face.newest = part.newest;
    }

    void leave() {
        if (!own.empty()) publish(own.take_all());
        own.close();
    }

    void join(Job& job) {
        if (pop(job)) {
            run(job);
        } else {
            const bool mine = remove(job);
            if (!mine && wrong != Wrong::does_not_wait && !PublishedJob::of(job).done()) wait(job);
            PublishedJob::of(job).~PublishedJob();   // a thief that comes too late for the job is found
            if (mine) run(job);
            else own.request_steal();
        }
        WEFT_ASSERT(job.result == 1);
    }

    bool pop(Job& job) {
        if constexpr (wrong == Wrong::pops_without_a_look) {
            own.face.newest = own.older(job);
            return true;
        }
        return own.pop(job);
    }

    bool remove(Job& job) {
        if constexpr (wrong == Wrong::removes_without_a_second_look) {
            if (PublishedJob::of(job).state.load() != PublishedJob::available) return false;
            std::lock_guard guard(PublishedJob::of(job).list->lock);
            PublishedJob::of(job).list->unlink(job);
            return true;
        }
        return PublishedJob::of(job).list->remove(job);
    }

    void wait(Job& job) {
        auto& waiter = *new (waiter_place) Waiter;
        if constexpr (wrong == Wrong::waits_without_a_look) {
            PublishedJob::of(job).state.store(reinterpret_cast<std::uintptr_t>(static_cast<JobWaiter*>(&waiter)));
            waiter.parker.park();
        } else if (PublishedJob::of(job).enroll(waiter)) {
            waiter.parker.park();
        }
        waiter.~Waiter();
    }

    // ---- a thief

    void request_steal() {
        if constexpr (wrong == Wrong::closes_before_it_requests) {
            if (own.steal_requested.load()) return;
            own.close();
            own.steal_requested.store(true);
            return;
        }
        own.request_steal();
    }

    // Returns true if it has run a job. `insists`: before it sleeps.
    bool take_one(bool insists = false) {
        if (!jobs.any()) return false;
        Job* const job = jobs.look_at_lists(0, insists, [](List& list) {
            Job* const oldest = list.oldest;
            if (oldest != nullptr) list.unlink(*oldest);
            return oldest;
        });
        if (job == nullptr) return false;
        if constexpr (wrong != Wrong::finishes_before_it_runs) run(*job);
        if constexpr (wrong == Wrong::finishes_without_a_look)
            PublishedJob::of(*job).state.store(PublishedJob::finished);
        else PublishedJob::of(*job).finish();
        if constexpr (wrong == Wrong::finishes_before_it_runs) run(*job);
        return true;
    }

    // Sleeps like sleep() in stream.cpp, until it has run a job.
    void sleep_until_one() {
        Sleeper sleeper;
        Sleeper::Entry place(sleeper);
        bool found = false;
        while (!found) {
            sleeper.prepare();
            jobs.idle_list.add(place);
            request_steal();
            found = take_one(true);
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

    // Nothing is left, and the list is not open with a steal request.
    void is_at_rest() const {
        WEFT_ASSERT(!jobs.any());
        jobs.check_whole();
        WEFT_ASSERT(!own.steal_requested.load() || own.face.closed.load());
    }
};

// The owner forks `count` jobs, each within the one before, may leave its stream, and joins them;
// thieves request and take `looks` times each.
template <int thieves, int count, int looks, bool leaves = false, Wrong wrong = Wrong::nothing,
          class Orders = PublishedJobOrders>
struct Branches : rl::test_suite<Branches<thieves, count, looks, leaves, wrong, Orders>, 1 + thieves> {
    Part<OwnJobsOrders, Orders, wrong> part;
    Job all[count];

    void thread(unsigned index) {
        if (index != 0) {
            for (int look = 0; look < looks; ++look) {
                part.request_steal();
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
        WEFT_ASSERT(part.own.empty());
        part.is_at_rest();
    }
};

// Thieves request, each `times` times, while the owner forks; if a thief has requested before a
// fork begins, something is published, by that fork or since the thief began to request. Of two
// thieves, one may find that the other has requested but not yet closed the list: then the first
// fork after that publishes.
template <int thieves, int times, Wrong wrong = Wrong::nothing, class OwnOrders = OwnJobsOrders>
struct Requested : rl::test_suite<Requested<thieves, times, wrong, OwnOrders>, 1 + thieves> {
    static constexpr int forks = times + 1;

    Part<OwnOrders, PublishedJobOrders, wrong> part;
    Job all[forks];
    atomic<int> told{0};                         // by the only thief
    int published_before[thieves][times] = {};   // when it began to request

    void thread(unsigned index) {
        if (index != 0) {
            for (int i = 0; i < times; ++i) {
                published_before[index - 1][i] = part.publishes;
                part.request_steal();
                if (thieves == 1) told.store(i + 1);
            }
            return;
        }
        for (Job& job : all) {
            const int seen = told.load();
            part.fork(job);
            if (seen != 0) was_published(0, seen);
        }
        for (int i = forks; i-- != 0;) part.join(all[i]);
    }

    void was_published(int thief, int time) { WEFT_ASSERT(part.publishes > published_before[thief][time - 1]); }

    void after() {
        part.is_at_rest();
        Job last;
        part.fork(last);
        for (int thief = 0; thief < thieves; ++thief) was_published(thief, times);
        part.join(last);
    }
};

// The owner leaves its stream with `count` jobs, and waits for all of them without taking any back;
// as many others sleep until each has run one, and `searchers` check once.
template <int count, int searchers, Wrong wrong = Wrong::nothing, class Orders = PublishedJobOrders>
struct Sleepers : rl::test_suite<Sleepers<count, searchers, wrong, Orders>, 1 + count + searchers> {
    using Of = Part<OwnJobsOrders, Orders, wrong>;
    Of part;
    Job all[count];

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

    // Jobs that a searcher leaves are left for the sleepers.
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
            Of::PublishedJob::of(job).~BasicPublishedJob();
        }
        part.is_at_rest();
    }
};

// Two owners, each with a list of its own, publish a job each, and as many others sleep until each
// has run one.
template <class Orders = PublishedJobOrders>
struct TwoLists : rl::test_suite<TwoLists<Orders>, 4> {
    using Of = Part<OwnJobsOrders, Orders, Wrong::nothing>;
    Of part;
    typename Of::Own second;
    Job all[2];

    void thread(unsigned index) {
        if (index == 0) {
            part.fork(all[0]);
            part.leave();
        } else if (index == 1) {
            all[1].given = 1;
            static_cast<void>(second.push_and_open(all[1]));
            part.jobs.template publish<typename Of::Own>(1, second.take_all(), part.owner, 0);
        } else {
            part.sleep_until_one();
        }
    }

    void after() {
        for (Job& job : all) {
            WEFT_ASSERT(job.times == 1);
            Of::PublishedJob::of(job).~BasicPublishedJob();
        }
        part.is_at_rest();
    }
};

struct FinishAcquire : PublishedJobOrders {
    static constexpr std::memory_order finish = std::memory_order_acquire;
};
struct FinishRelease : PublishedJobOrders {
    static constexpr std::memory_order finish = std::memory_order_release;
};
struct EnrollAcquire : PublishedJobOrders {
    static constexpr std::memory_order enroll = std::memory_order_acquire;
};
struct EnrollFailedRelaxed : PublishedJobOrders {
    static constexpr std::memory_order enroll_failed = std::memory_order_relaxed;
};
struct DoneRelaxed : PublishedJobOrders {
    static constexpr std::memory_order done = std::memory_order_relaxed;
};
struct FilledRelaxed : PublishedJobOrders {
    static constexpr std::memory_order filled = std::memory_order_relaxed;
};
struct SearchingRelaxed : PublishedJobOrders {
    static constexpr std::memory_order searching = std::memory_order_relaxed;
};
struct LookRelaxed : OwnJobsOrders {
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
    models.holds<Requested<1, 1>>("one requests", All{});
    models.holds<Requested<1, 2>>("one requests twice", Random{100'000 * times});
    models.holds<Requested<2, 2>>("two request twice", Random{100'000 * times});
    models.holds<Sleepers<1, 0>>("one sleeps", Preemptions{4 + more});
    models.holds<Sleepers<1, 1>>("one sleeps, and one searches", Preemptions{2 + more});
    models.holds<Sleepers<1, 1>>("one sleeps, and one searches", Random{100'000 * times});
    models.holds<Sleepers<2, 0>>("two sleep", Random{100'000 * times});
    models.holds<TwoLists<>>("two lists", Random{50'000 * times});

    constexpr Wrong right = Wrong::nothing;
    models.fails<Branches<1, 1, 1, false, right, FinishAcquire>>("an end that publishes nothing", Random{200'000});
    models.fails<Branches<1, 1, 1, false, right, FinishRelease>>("an end that does not see who waits", Random{200'000});
    models.fails<Branches<1, 1, 1, false, right, EnrollAcquire>>("one who waits and publishes nothing",
                                                                 Random{200'000});
    models.fails<Branches<1, 1, 1, false, right, EnrollFailedRelaxed>>(
        "one who comes too late to wait, and acquires nothing", Random{200'000});
    models.fails<Branches<1, 1, 1, false, right, DoneRelaxed>>("a look at the end that acquires nothing",
                                                               Random{200'000});
    models.fails<Requested<1, 2, right, LookRelaxed>>("one that believes that it has requested", Random{200'000});
    models.fails<Sleepers<1, 0, right, FilledRelaxed>>("a look at the lists that may come early", Random{200'000});
    models.fails<TwoLists<FilledRelaxed>>("a look at two lists that may come early", Random{200'000});
    models.fails<Sleepers<1, 1, right, SearchingRelaxed>>("a look for searchers that may come early", Random{200'000});

    models.fails<Requested<1, 1, Wrong::pushes_where_it_is_closed>>("an owner who does not look whether it is closed",
                                                                    Random{200'000});
    models.fails<Requested<1, 1, Wrong::heeds_before_it_opens>>("one that looks for requests, and then opens",
                                                                Random{200'000});
    models.fails<Requested<1, 1, Wrong::closes_before_it_requests>>("one that closes the list, and then requests",
                                                                    Random{200'000});
    models.fails<Branches<1, 1, 1, false, Wrong::pops_without_a_look>>("an owner who takes what is not there",
                                                                       Random{200'000});
    models.fails<Branches<1, 1, 1, false, Wrong::keeps_what_it_publishes>>("one that publishes, and keeps",
                                                                           Random{200'000});
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
