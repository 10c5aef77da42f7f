// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The JoinState: a unit's end against its joiner, its detacher and threads that check for the end.
#include <mutex>

#include "os/lock.hpp"
#include "test/model/model.hpp"
#include "unit/join_state.hpp"

namespace weft::model {

struct Unit {
    alignas(8) int unused = 0;
};

// The unit writes its result and ends; the joiner saves its context and announces itself. Exactly
// one of two things happens: the unit's end wakes the joiner, or the joiner finds the end; and each
// side sees what the other wrote.
template <class Orders>
struct FinishAndAnnounce : rl::test_suite<FinishAndAnnounce<Orders>, 2> {
    using JoinState = BasicJoinState<Unit, Orders>;
    JoinState join_state;
    Unit joiner;
    plain<int> result{0}, context{0};
    int woken = 0, found = 0;

    void thread(unsigned index) {
        if (index == 0) {
            result = 1;
            const auto waiter = join_state.finish_shared();
            if (waiter.none()) return;
            WEFT_ASSERT(waiter.unit() == &joiner && waiter.other() == nullptr && !waiter.detached());
            WEFT_ASSERT(context == 1);
            ++woken;
        } else {
            context = 1;
            if (join_state.announce_shared(&joiner) == JoinState::Announced::waiting) return;
            WEFT_ASSERT(join_state.done());
            WEFT_ASSERT(result == 1);
            ++found;
        }
    }

    void after() { WEFT_ASSERT(woken + found == 1 && join_state.done()); }
};

// The unit ends while another thread detaches it: exactly one of the two frees it, and may write to
// all of it.
template <class Orders>
struct FinishAndDetach : rl::test_suite<FinishAndDetach<Orders>, 2> {
    using JoinState = BasicJoinState<Unit, Orders>;
    JoinState join_state;
    plain<int> body{0}, handle{0};   // what each side writes to the unit before
    int freed = 0;

    void thread(unsigned index) {
        if (index == 0) {
            body = 1;
            if (join_state.finish_shared().detached()) release();
        } else {
            handle = 1;
            if (join_state.detach_shared() == JoinState::Announced::done) release();
        }
    }

    void release() {
        body = 2;
        handle = 2;
        ++freed;
    }

    void after() { WEFT_ASSERT(freed == 1); }
};

// Two joiners: one is refused and leaves no trace, unless the unit has ended.
template <class Orders>
struct TwoJoiners : rl::test_suite<TwoJoiners<Orders>, 3> {
    using JoinState = BasicJoinState<Unit, Orders>;
    JoinState join_state;
    Unit unit;
    JoinWaiter other{nullptr};
    int waiting = 0, refused = 0, woken = 0;

    void thread(unsigned index) {
        if (index == 0) {
            const auto waiter = join_state.finish_shared();
            if (!waiter.none()) ++woken;
            WEFT_ASSERT(waiter.none() || waiter.unit() == &unit || waiter.other() == &other);
        } else {
            const auto answer = index == 1 ? join_state.announce_shared(&unit) : join_state.announce_shared(&other);
            if (answer == JoinState::Announced::waiting) ++waiting;
            if (answer == JoinState::Announced::taken) ++refused;
        }
    }

    void after() { WEFT_ASSERT(waiting == woken && waiting <= 1 && refused <= waiting); }
};

// What crowd.cpp and join.cpp do with a JoinState and its lock; each mutant omits a step.
struct CrowdSteps {
    static constexpr bool wakes_under_lock = true;    // an end takes the crowd apart under the lock
    static constexpr bool leaves_under_lock = true;   // and a joiner leaves under it
    static constexpr bool keeps_those_below = true;   // a joiner that leaves from above passes on those below
    static constexpr bool comes_under_lock = true;
};

// Two joiners come, each as the first or over the other, and may leave; the unit ends meanwhile.
// Each joiner is woken once or has left, and its memory is its own again then.
template <class Orders, class Steps, bool first_leaves, bool second_leaves>
struct Crowd : rl::test_suite<Crowd<Orders, Steps, first_leaves, second_leaves>, 3> {
    using JoinState = BasicJoinState<Unit, Orders>;
    struct Joiner : JoinWaiter {
        plain<int> context{0};
        int woken = 0, found = 0, left = 0;
    };
    JoinState join_state;
    os::Lock lock;
    plain<int> result{0};
    Joiner joiners[2];

    void thread(unsigned index) {
        if (index == 2) {
            result = 1;
            return end(join_state.finish_shared());
        }
        Joiner& self = joiners[index];
        self.context = 1;
        typename JoinState::Announced answer = join_state.announce_shared(&self);
        if (answer == JoinState::Announced::taken) {
            if (Steps::comes_under_lock) lock.lock();
            answer = join_state.announce_over(self);
            if (Steps::comes_under_lock) lock.unlock();
        }
        WEFT_ASSERT(answer != JoinState::Announced::taken);
        if (answer == JoinState::Announced::done) {
            WEFT_ASSERT(result == 1);
            ++self.found;
        } else if (index == 0 ? first_leaves : second_leaves) {
            leave(self);
        }
    }

    void leave(Joiner& self) {
        bool gone = join_state.withdraw(&self);
        if (!gone && !join_state.done()) {
            if (Steps::leaves_under_lock) lock.lock();
            if (!Steps::keeps_those_below) self.below = 0;
            gone = join_state.withdraw_from_crowd(self);
            if (Steps::leaves_under_lock) lock.unlock();
        }
        if (!gone) return;
        ++self.left;
        self.context = 2;   // a thread that reads it now races
    }

    void end(typename JoinState::Waiter found) {
        if (found.none()) return;
        if (!found.crowd()) return wake(found.other());
        if (Steps::wakes_under_lock) lock.lock();
        const typename JoinState::Row row = JoinState::in_order(found);
        if (Steps::wakes_under_lock) lock.unlock();
        wake(row.first.other());
        for (JoinWaiter* waiter = row.rest; waiter != nullptr;) {
            JoinWaiter* const next = JoinState::Row::next(*waiter);
            wake(waiter);
            waiter = next;
        }
    }

    void wake(JoinWaiter* waiter) {
        if (waiter == nullptr) return;
        auto& joiner = static_cast<Joiner&>(*waiter);
        WEFT_ASSERT(joiner.context == 1);
        ++joiner.woken;
    }

    void after() {
        for (const Joiner& joiner : joiners) WEFT_ASSERT(joiner.woken + joiner.found + joiner.left == 1);
        WEFT_ASSERT(join_state.done());
    }
};

// A joiner gives up just when the unit ends: it is woken, or the end does not know it.
template <class Orders>
struct FinishAndWithdraw : rl::test_suite<FinishAndWithdraw<Orders>, 2> {
    using JoinState = BasicJoinState<Unit, Orders>;
    JoinState join_state;
    JoinWaiter joiner{nullptr};
    int woken = 0;
    bool announced = false, withdrawn = false;

    void thread(unsigned index) {
        if (index == 0) {
            if (!join_state.finish_shared().none()) ++woken;
        } else if (join_state.announce_shared(&joiner) == JoinState::Announced::waiting) {
            announced = true;
            withdrawn = join_state.withdraw(&joiner);
        }
    }

    void after() { WEFT_ASSERT(woken == (announced && !withdrawn ? 1 : 0)); }
};

// The local forms, on one stream, while another stream checks whether the unit has ended.
template <class Orders>
struct LocalAndLooker : rl::test_suite<LocalAndLooker<Orders>, 2> {
    using JoinState = BasicJoinState<Unit, Orders>;
    JoinState join_state;
    Unit joiner;
    plain<int> result{0};

    void thread(unsigned index) {
        if (index == 0) {
            WEFT_ASSERT(join_state.announce_local(&joiner) == JoinState::Announced::waiting);
            result = 1;
            WEFT_ASSERT(join_state.finish_local().unit() == &joiner);
            WEFT_ASSERT(join_state.announce_local(&joiner) == JoinState::Announced::done);
        } else if (join_state.done()) {
            WEFT_ASSERT(result == 1);
        }
    }
};

struct WakesWithoutLock : CrowdSteps {
    static constexpr bool wakes_under_lock = false;
};
struct LeavesWithoutLock : CrowdSteps {
    static constexpr bool leaves_under_lock = false;
};
struct ComesWithoutLock : CrowdSteps {
    static constexpr bool comes_under_lock = false;
};
struct LosesThoseBelow : CrowdSteps {
    static constexpr bool keeps_those_below = false;
};

struct FinishRelease : JoinStateOrders {
    static constexpr std::memory_order finish = std::memory_order_release;
};
struct FinishAcquire : JoinStateOrders {
    static constexpr std::memory_order finish = std::memory_order_acquire;
};
struct AnnounceRelaxed : JoinStateOrders {
    static constexpr std::memory_order announce = std::memory_order_relaxed;
    static constexpr std::memory_order announce_failed = std::memory_order_relaxed;
};
struct DoneRelaxed : JoinStateOrders {
    static constexpr std::memory_order done = std::memory_order_relaxed;
};
struct FinishLocalRelaxed : JoinStateOrders {
    static constexpr std::memory_order finish_local = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    models.holds<FinishAndAnnounce<JoinStateOrders>>("the end against a joiner", All{});
    models.holds<FinishAndDetach<JoinStateOrders>>("the end against a detacher", All{});
    models.holds<TwoJoiners<JoinStateOrders>>("the end against two joiners", All{});
    models.holds<FinishAndWithdraw<JoinStateOrders>>("the end against one that gives up", All{});
    models.holds<LocalAndLooker<JoinStateOrders>>("the local forms, and one who looks", All{});
    models.holds<Crowd<JoinStateOrders, CrowdSteps, false, false>>("the end against two that wait together", All{});
    models.holds<Crowd<JoinStateOrders, CrowdSteps, true, false>>("the end against two of whom the first may leave",
                                                                  All{});
    models.holds<Crowd<JoinStateOrders, CrowdSteps, true, true>>("the end against two who may leave", All{});
    models.fails<Crowd<JoinStateOrders, WakesWithoutLock, true, true>>(
        "an end that takes a crowd apart without the lock", All{});
    models.fails<Crowd<JoinStateOrders, LeavesWithoutLock, true, true>>("one that leaves a crowd without the lock",
                                                                        All{});
    models.fails<Crowd<JoinStateOrders, LosesThoseBelow, true, true>>("one that leaves and forgets who is below",
                                                                      All{});
    models.fails<Crowd<FinishAcquire, CrowdSteps, false, false>>("an end that publishes nothing to a crowd", All{});
    models.fails<Crowd<FinishRelease, CrowdSteps, false, false>>("an end that does not see a crowd's contexts", All{});
    models.fails<FinishAndAnnounce<FinishRelease>>("an end that does not see the joiner's context", All{});
    models.fails<FinishAndAnnounce<FinishAcquire>>("an end that does not publish the result", All{});
    models.fails<FinishAndAnnounce<AnnounceRelaxed>>("a joiner that publishes nothing", All{});
    models.fails<FinishAndDetach<AnnounceRelaxed>>("a detacher that publishes nothing", All{});
    models.fails<LocalAndLooker<DoneRelaxed>>("a look that acquires nothing", All{});
    models.fails<LocalAndLooker<FinishLocalRelaxed>>("a local end that publishes nothing", All{});
}
