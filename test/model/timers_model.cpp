// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The timers: a timer fires or is cancelled, never both; and a thread that has learnt that nothing
// refers to the timer any more may use its memory.
#include "poll/timers.hpp"
#include "test/model/model.hpp"

#include "hart/parker.hpp"
#include "poll/timers.cpp"   // as it is: the library's one, behind the seams of a model

namespace weft::model {

// The thread that learns that a timer is gone writes to all of it.
inline void use_otherwise(Timer& timer) {
    timer.deadline_ns = 0;
    timer.child = nullptr;
    timer.next = nullptr;
    timer.previous = nullptr;
}

enum class Wrong { nothing, forgets_to_cancel, claims_without_asking, looks_without_order };

// A wait with a deadline, as in sync/agent.cpp: either the timer or another thread wakes the
// waiter. The waiter cancels the timer afterwards, and goes. A second timer is in the heap before
// or behind it.
template <Wrong wrong, int other_ns>
struct Deadline : rl::test_suite<Deadline<wrong, other_ns>, 3> {
    struct Mine : Timer {
        Deadline* of = nullptr;
    };

    Timers timers;
    Mine mine;
    Timer other;
    Parker parker;
    atomic<int> winner{0};
    int woken = 0;

    bool win(int who) {
        int none = 0;
        if (wrong == Wrong::claims_without_asking) return true;
        return winner.compare_exchange_strong(none, who, std::memory_order_acq_rel, std::memory_order_relaxed);
    }
    void wake() {
        ++woken;
        parker.unpark();
    }

    void before() {
        other.deadline_ns = other_ns;
        other.claim = [](Timer&) { return true; };
        other.fire = [](Timer& timer) { use_otherwise(timer); };
        timers.add(other);
    }
    void thread(unsigned index) {
        if (index == 1) {
            timers.expire(5);
        } else if (index == 2) {
            if (win(2)) wake();
        } else {
            mine.of = this;
            mine.deadline_ns = 5;
            mine.claim = [](Timer& timer) { return static_cast<Mine&>(timer).of->win(1); };
            mine.fire = [](Timer& timer) { static_cast<Mine&>(timer).of->wake(); };
            timers.add(mine);
            parker.park();
            if (wrong != Wrong::forgets_to_cancel) {
                const bool waited = cancel();
                WEFT_ASSERT(!waited || winner.load() == 2);
            }
            use_otherwise(mine);
        }
    }
    bool cancel() {
        if (wrong == Wrong::looks_without_order && mine.home.load(std::memory_order_relaxed) == nullptr) return false;
        return Timers::cancel(mine);
    }
    void after() {
        WEFT_ASSERT(woken == 1);
        if (wrong == Wrong::forgets_to_cancel) return;   // its timer stays in the heap forever
        const std::size_t left = other.home.load() == nullptr ? 0 : 1;
        WEFT_ASSERT(timers.expire(Timers::never) == left);
        WEFT_ASSERT(timers.earliest() == Timers::never);
    }
};

// User timers (abi/io.cpp): some are due, all are in one heap; one thread fires, two cancel, and
// one of those adds before.
struct Many : rl::test_suite<Many, 3> {
    struct Mine : Timer {
        Many* of = nullptr;
        int number = 0;
    };
    static constexpr int timers_ = 5, last = timers_ - 1;

    Timers timers;
    Mine mine[timers_];
    atomic<int> fired[timers_]{};
    int cancelled[timers_] = {};
    std::uint64_t latest = 0;   // of the firing thread: in which order

    void add(int i) {
        static constexpr std::uint64_t at[timers_] = {3, 1, 9, 2, 1};
        mine[i].of = this;
        mine[i].number = i;
        mine[i].deadline_ns = at[i];
        mine[i].claim = [](Timer&) { return true; };
        mine[i].fire = [](Timer& timer) {
            Mine& one = static_cast<Mine&>(timer);
            Many& many = *one.of;
            if (one.number != last) WEFT_ASSERT(one.deadline_ns >= many.latest && one.deadline_ns <= 5);
            if (one.number != last) many.latest = one.deadline_ns;
            use_otherwise(one);
            many.fired[one.number].fetch_add(1);   // the canceller may end it after this
        };
        timers.add(mine[i]);
    }
    void cancel(int i) {
        if (Timers::cancel(mine[i])) {
            cancelled[i] = 1;
            use_otherwise(mine[i]);
        } else if (fired[i].load() != 0) {
            use_otherwise(mine[i]);
        }
    }

    void before() {
        for (int i = 0; i < last; ++i) add(i);
    }
    void thread(unsigned index) {
        if (index == 0) {
            cancel(0);
        } else if (index == 1) {
            WEFT_ASSERT(timers.expire(5) <= 4);
        } else {
            add(last);
            cancel(1);
            cancel(last);
        }
    }
    void after() {
        const std::size_t left = timers.expire(5);
        WEFT_ASSERT(left <= 1);   // the one that was added too late
        for (int i = 0; i < timers_; ++i) WEFT_ASSERT(fired[i].load() + cancelled[i] == (i == 2 ? 0 : 1));
        WEFT_ASSERT(timers.earliest() == 9 && Timers::cancel(mine[2]) && timers.earliest() == Timers::never);
    }
};

// The stream ends: its timers go to another, which fires them, while a third thread cancels.
struct Moves : rl::test_suite<Moves, 3> {
    struct Mine : Timer {
        int fired = 0;
    };
    Timers from, to;
    Mine mine[2];
    bool cancelled = false;

    void before() {
        for (Mine& one : mine) {
            one.deadline_ns = 1;
            one.claim = [](Timer&) { return true; };
            one.fire = [](Timer& timer) { ++static_cast<Mine&>(timer).fired; };
            from.add(one);
        }
    }
    void thread(unsigned index) {
        if (index == 0) {
            cancelled = Timers::cancel(mine[0]);
            if (cancelled) use_otherwise(mine[0]);
        } else if (index == 1) {
            from.move_to(to);
        } else {
            to.expire(1);
        }
    }
    void after() {
        to.expire(1);
        WEFT_ASSERT(mine[0].fired == (cancelled ? 0 : 1) && mine[1].fired == 1);
        WEFT_ASSERT(from.earliest() == Timers::never && to.earliest() == Timers::never);
    }
};

}   // namespace weft::model

void weft::model::search(Models& models) {
    const unsigned more = models.full() ? 1 : 0;
    const unsigned times = models.full() ? 5 : 1;
    models.holds<Deadline<Wrong::nothing, 9>>("a deadline and a waker, another timer later", Preemptions{3 + more});
    models.holds<Deadline<Wrong::nothing, 1>>("a deadline and a waker, another timer sooner", Preemptions{3 + more});
    models.holds<Deadline<Wrong::nothing, 5>>("a deadline and a waker, another timer then", Random{100'000 * times});
    models.holds<Many>("five timers, one that fires, two that cancel", Preemptions{2 + more});
    models.holds<Many>("five timers, one that fires, two that cancel", Random{100'000 * times});
    models.holds<Moves>("timers that move, one that fires, one that cancels", Preemptions{3 + more});
    models.holds<Moves>("timers that move, one that fires, one that cancels", Random{100'000 * times});

    models.fails<Deadline<Wrong::forgets_to_cancel, 9>>("one that goes and leaves its timer", Random{100'000});
    models.fails<Deadline<Wrong::claims_without_asking, 9>>("a deadline that wakes without asking", Random{100'000});
    models.fails<Deadline<Wrong::looks_without_order, 9>>("a look at the timer that acquires nothing", Random{100'000});
}
