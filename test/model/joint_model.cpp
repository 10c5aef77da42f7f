// The Joint: a unit's end against its joiner, its detacher and those who look.
#include "test/model/model.hpp"
#include "unit/joint.hpp"

namespace weft::model {

struct Unit {
    alignas(8) int unused = 0;
};

// The unit writes its result and ends; the joiner saves its context and announces itself. Exactly one of the two goes
// on: the finisher wakes the joiner, or the joiner finds the end; and each sees what the other wrote.
template <class Orders>
struct FinishAndAnnounce : rl::test_suite<FinishAndAnnounce<Orders>, 2> {
    using Joint = BasicJoint<Unit, Orders>;
    Joint joint;
    Unit joiner;
    plain<int> result{0}, context{0};
    int woken = 0, found = 0;

    void thread(unsigned index) {
        if (index == 0) {
            result = 1;
            const auto waiter = joint.finish_shared();
            if (waiter.none()) return;
            WEFT_ASSERT(waiter.unit() == &joiner && waiter.other() == nullptr && !waiter.detached());
            WEFT_ASSERT(context == 1);
            ++woken;
        } else {
            context = 1;
            if (joint.announce_shared(&joiner) == Joint::Announced::waiting) return;
            WEFT_ASSERT(joint.done());
            WEFT_ASSERT(result == 1);
            ++found;
        }
    }

    void after() { WEFT_ASSERT(woken + found == 1 && joint.done()); }
};

// The unit ends while one detaches it: exactly one of them frees it, and may write to all of it.
template <class Orders>
struct FinishAndDetach : rl::test_suite<FinishAndDetach<Orders>, 2> {
    using Joint = BasicJoint<Unit, Orders>;
    Joint joint;
    plain<int> body{0}, handle{0};   // what each side writes to the unit before
    int freed = 0;

    void thread(unsigned index) {
        if (index == 0) {
            body = 1;
            if (joint.finish_shared().detached()) release();
        } else {
            handle = 1;
            if (joint.detach_shared() == Joint::Announced::done) release();
        }
    }

    void release() {
        body = 2;
        handle = 2;
        ++freed;
    }

    void after() { WEFT_ASSERT(freed == 1); }
};

// Two joiners: one is refused and nothing of it is kept, unless the unit has ended.
template <class Orders>
struct TwoJoiners : rl::test_suite<TwoJoiners<Orders>, 3> {
    using Joint = BasicJoint<Unit, Orders>;
    Joint joint;
    Unit unit;
    JoinWaiter other{nullptr};
    int waiting = 0, refused = 0, woken = 0;

    void thread(unsigned index) {
        if (index == 0) {
            const auto waiter = joint.finish_shared();
            if (!waiter.none()) ++woken;
            WEFT_ASSERT(waiter.none() || waiter.unit() == &unit || waiter.other() == &other);
        } else {
            const auto answer = index == 1 ? joint.announce_shared(&unit) : joint.announce_shared(&other);
            if (answer == Joint::Announced::waiting) ++waiting;
            if (answer == Joint::Announced::taken) ++refused;
        }
    }

    void after() { WEFT_ASSERT(waiting == woken && waiting <= 1 && refused <= waiting); }
};

// A joiner that gives up just when the unit ends: it is woken, or nobody knows it.
template <class Orders>
struct FinishAndWithdraw : rl::test_suite<FinishAndWithdraw<Orders>, 2> {
    using Joint = BasicJoint<Unit, Orders>;
    Joint joint;
    JoinWaiter joiner{nullptr};
    int woken = 0;
    bool announced = false, withdrawn = false;

    void thread(unsigned index) {
        if (index == 0) {
            if (!joint.finish_shared().none()) ++woken;
        } else if (joint.announce_shared(&joiner) == Joint::Announced::waiting) {
            announced = true;
            withdrawn = joint.withdraw(&joiner);
        }
    }

    void after() { WEFT_ASSERT(woken == (announced && !withdrawn ? 1 : 0)); }
};

// The local forms, on one stream, while another one asks whether the unit has ended.
template <class Orders>
struct LocalAndLooker : rl::test_suite<LocalAndLooker<Orders>, 2> {
    using Joint = BasicJoint<Unit, Orders>;
    Joint joint;
    Unit joiner;
    plain<int> result{0};

    void thread(unsigned index) {
        if (index == 0) {
            WEFT_ASSERT(joint.announce_local(&joiner) == Joint::Announced::waiting);
            result = 1;
            WEFT_ASSERT(joint.finish_local().unit() == &joiner);
            WEFT_ASSERT(joint.announce_local(&joiner) == Joint::Announced::done);
        } else if (joint.done()) {
            WEFT_ASSERT(result == 1);
        }
    }
};

struct FinishRelease : JointOrders {
    static constexpr std::memory_order finish = std::memory_order_release;
};
struct FinishAcquire : JointOrders {
    static constexpr std::memory_order finish = std::memory_order_acquire;
};
struct AnnounceRelaxed : JointOrders {
    static constexpr std::memory_order announce = std::memory_order_relaxed;
    static constexpr std::memory_order announce_failed = std::memory_order_relaxed;
};
struct DoneRelaxed : JointOrders {
    static constexpr std::memory_order done = std::memory_order_relaxed;
};
struct FinishLocalRelaxed : JointOrders {
    static constexpr std::memory_order finish_local = std::memory_order_relaxed;
};

}  // namespace weft::model

void weft::model::search(Models& models) {
    models.holds<FinishAndAnnounce<JointOrders>>("the end against a joiner", All{});
    models.holds<FinishAndDetach<JointOrders>>("the end against a detacher", All{});
    models.holds<TwoJoiners<JointOrders>>("the end against two joiners", All{});
    models.holds<FinishAndWithdraw<JointOrders>>("the end against one that gives up", All{});
    models.holds<LocalAndLooker<JointOrders>>("the local forms, and one who looks", All{});
    models.fails<FinishAndAnnounce<FinishRelease>>("an end that does not see the joiner's context", All{});
    models.fails<FinishAndAnnounce<FinishAcquire>>("an end that does not publish the result", All{});
    models.fails<FinishAndAnnounce<AnnounceRelaxed>>("a joiner that publishes nothing", All{});
    models.fails<FinishAndDetach<AnnounceRelaxed>>("a detacher that publishes nothing", All{});
    models.fails<LocalAndLooker<DoneRelaxed>>("a look that acquires nothing", All{});
    models.fails<LocalAndLooker<FinishLocalRelaxed>>("a local end that publishes nothing", All{});
}
