// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit's states: a unit that suspends against threads that resume it.
#include "test/model/model.hpp"
#include "unit/state.hpp"

namespace weft {

// For the histories that Relacy prints.
inline std::ostream& operator<<(std::ostream& to, State state) { return to << static_cast<int>(state); }

}   // namespace weft

namespace weft::model {

// A suspended unit as a stream leaves it behind: what it saved must be there for the thread that
// continues it.
template <class Orders>
struct Suspended {
    BasicLife<Orders> life;
    plain<int> context{0};
    int times = 0;   // it was continued; in model time, so no race of its own

    void start() {
        life.move(State::free, State::ready);
        life.move(State::ready, State::running);
    }

    void suspend(int saved) {
        context = saved;
        life.move(State::running, State::suspended);
    }

    // What a resumer that has claimed the unit does: it continues what was saved.
    void go_on(int saved) {
        WEFT_ASSERT(context == saved);
        context = 0;
        ++times;
    }
};

// Two threads resume a unit that suspends: neither continues it before its context is saved, and at
// most one does.
template <class Orders>
struct TwoResumers : rl::test_suite<TwoResumers<Orders>, 3> {
    Suspended<Orders> unit;
    int claimed = 0;

    void before() { unit.start(); }

    void thread(unsigned index) {
        if (index == 0) return unit.suspend(1);
        if (!unit.life.claim()) return;
        ++claimed;
        unit.go_on(1);
        unit.life.move(State::ready, State::running);
    }

    void after() {
        WEFT_ASSERT(claimed <= 1 && unit.times == claimed);
        WEFT_ASSERT(unit.life.is(claimed == 1 ? State::running : State::suspended));
    }
};

// The thread that resumes it lets it suspend again, and the other may claim it then.
template <class Orders>
struct SuspendsTwice : rl::test_suite<SuspendsTwice<Orders>, 3> {
    Suspended<Orders> unit;
    bool again = false;

    void before() { unit.start(); }

    void thread(unsigned index) {
        if (index == 0) return unit.suspend(1);
        if (!unit.life.claim()) return;
        const bool second = again;
        unit.go_on(second ? 2 : 1);
        again = true;
        unit.life.move(State::ready, State::running);
        unit.suspend(2);
    }

    void after() { WEFT_ASSERT(unit.life.is(State::suspended) && unit.times <= 2); }
};

// The unit ends, and a thread that does not join it reads its state: if it sees that the unit is
// done, it sees what the unit did.
template <class Orders>
struct Ends : rl::test_suite<Ends<Orders>, 2> {
    BasicLife<Orders> life;
    plain<int> done{0};

    void before() {
        life.move(State::free, State::ready);
        life.move(State::ready, State::running);
    }

    void thread(unsigned index) {
        if (index == 0) {
            done = 1;
            life.move(State::running, State::done);
        } else if (life.seen() == State::done) {
            WEFT_ASSERT(done == 1);
        }
    }
};

// A control: if a thread checks first and moves then, several threads succeed.
template <class Orders>
struct LookThenMove : rl::test_suite<LookThenMove<Orders>, 2> {
    Suspended<Orders> unit;
    int claimed = 0;

    void before() {
        unit.start();
        unit.suspend(1);
    }

    void thread(unsigned) {
        if (!unit.life.is(State::suspended)) return;
        unit.life.move(State::suspended, State::ready);
        ++claimed;
    }

    void after() { WEFT_ASSERT(claimed <= 1); }
};

struct RelaxedMove : LifeOrders {
    static constexpr std::memory_order move = std::memory_order_relaxed;
};
struct RelaxedClaim : LifeOrders {
    static constexpr std::memory_order claim = std::memory_order_relaxed;
};
struct RelaxedLook : LifeOrders {
    static constexpr std::memory_order look = std::memory_order_relaxed;
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    models.holds<TwoResumers<LifeOrders>>("two resume one that suspends", All{});
    models.holds<SuspendsTwice<LifeOrders>>("it suspends again, and another resumes it", All{});
    models.holds<SuspendsTwice<LifeOrders>>("the same, with older values read",
                                            Random{models.full() ? 2'000'000u : 100'000u});
    models.holds<Ends<LifeOrders>>("it ends, and another looks", All{});
    models.fails<Ends<RelaxedMove>>("it ends by a move that releases nothing", Random{100'000});
    models.fails<Ends<RelaxedLook>>("a look that acquires nothing", Random{100'000});
    models.fails<TwoResumers<RelaxedMove>>("move relaxed", Random{100'000});
    models.fails<TwoResumers<RelaxedClaim>>("claim relaxed", Random{100'000});
    models.fails<LookThenMove<LifeOrders>>("a look and a move instead of the claim", All{});
}
