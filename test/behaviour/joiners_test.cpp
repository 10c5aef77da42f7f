// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several joiners of one unit: units on its stream and on another one, and OS threads, with
// deadlines and without.
#include <memory>
#include <stdexcept>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

enum class Home { own_private, foreign_private, shared, deque };

class Joiners : public testing::TestWithParam<Home> {
protected:
    Joiners()
        : shared_(make_pool(WEFT_POOL_SHARED)),
          deque_(make_pool(WEFT_POOL_DEQUE)),
          private_(make_pool(WEFT_POOL_PRIVATE)),
          both_(shared_),
          other_(private_),
          third_(deque_) {}
    ~Joiners() override {
        EXPECT_EQ(both_.free(), WEFT_OK);
        EXPECT_EQ(other_.free(), WEFT_OK);
        EXPECT_EQ(third_.free(), WEFT_OK);
        for (weft_pool* pool : {shared_, private_, deque_}) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
    weft_pool* pool() const {
        switch (GetParam()) {
        case Home::own_private: return pool_of(0);
        case Home::foreign_private: return private_;
        case Home::shared: return shared_;
        case Home::deque: return deque_;
        }
        return nullptr;
    }
    weft_pool* elsewhere() const { return shared_; }

private:
    Runtime runtime_{with_streams(1)};
    weft_pool *shared_, *deque_, *private_;
    Stream both_, other_, third_;
};
INSTANTIATE_TEST_SUITE_P(Of, Joiners,
                         testing::Values(Home::own_private, Home::foreign_private, Home::shared, Home::deque));

void let_them_wait() {
    for (int i = 0; i < 20; ++i) {
        weft_unit_yield();
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

// One of several joiners of a unit; it records the status of its join.
class Joiner {
public:
    Joiner(weft_unit* target, As as, std::uint64_t deadline_ns = 0)
        : doing_(as, [this, target, deadline_ns] {
              calls = true;
              learnt = deadline_ns == 0 ? weft_unit_join(target) : weft_unit_join_until(target, deadline_ns);
              back = true;
          }) {}

    atomic<weft_status> learnt{WEFT_BUSY};
    atomic<bool> calls{false}, back{false};

private:
    Doing doing_;
};
using JoinersOfOne = std::vector<std::unique_ptr<Joiner>>;

void add(JoinersOfOne& to, weft_unit* target, As as, std::uint64_t deadline_ns = 0) {
    to.push_back(std::make_unique<Joiner>(target, as, deadline_ns));
}

TEST_P(Joiners, LearnAllOfThemHowTheUnitEnded) {
    for (const weft_unit_outcome end : {WEFT_OUTCOME_RETURNED, WEFT_OUTCOME_EXCEPTION, WEFT_OUTCOME_CANCELLED}) {
        if (end == WEFT_OUTCOME_CANCELLED && (weft_features() & WEFT_FEATURE_CANCEL) == 0) continue;
        Bed bed;
        Ult target(
            [&] {
                bed.sleep();
                if (end == WEFT_OUTCOME_EXCEPTION) throw std::runtime_error("the end");
            },
            nullptr, pool());
        until([&] { return bed.occupied(); });
        JoinersOfOne joiners;
        for (const As as : {As::unit, As::thread, As::unit, As::thread}) {
            add(joiners, target.handle(), as);
            let_them_wait();
            add(joiners, target.handle(), as, never_in_this_test());
            let_them_wait();
        }
        weft_status elsewhere_learnt = WEFT_BUSY;
        Ult other([&] { elsewhere_learnt = weft_unit_join(target.handle()); }, nullptr, elsewhere());
        let_them_wait();
        for (auto& joiner : joiners) EXPECT_FALSE(joiner->back);
        if (end == WEFT_OUTCOME_CANCELLED) {
            EXPECT_EQ(weft_unit_cancel(target.handle()), WEFT_OK);
        }
        EXPECT_EQ(bed.wake(), WEFT_OK);
        EXPECT_EQ(other.join(), WEFT_OK);
        const weft_status learnt = end == WEFT_OUTCOME_RETURNED ? WEFT_OK : WEFT_NOT_RETURNED;
        EXPECT_EQ(elsewhere_learnt, learnt);
        for (auto& joiner : joiners) {
            until_set(joiner->back);
            EXPECT_EQ(joiner->learnt, learnt);
        }
        EXPECT_EQ(target.end(), end);
    }
}

TEST_P(Joiners, KeepTheUnitFromBeingFreedOrDetached) {
    Bed bed;
    Ult target([&] { bed.sleep(); }, nullptr, pool());
    until([&] { return bed.occupied(); });
    JoinersOfOne joiners;
    for (const As as : {As::unit, As::thread}) {
        add(joiners, target.handle(), as);
        until([] { return waiting_for("join") == 1; });   // otherwise the free might be the first to wait
        EXPECT_EQ(weft_unit_join_free(target.handle()), WEFT_BUSY);
        weft_unit* row[] = {target.handle()};
        EXPECT_EQ(weft_unit_join_free_many(row, 1), WEFT_BUSY);
        EXPECT_EQ(row[0], target.handle());
        Doing(As::thread, [&] { EXPECT_EQ(weft_unit_join_free(target.handle()), WEFT_BUSY); }).join();
        if (GetParam() != Home::foreign_private) {   // only its stream could say
            EXPECT_EQ(weft_unit_detach(target.handle()), WEFT_BUSY);
        }
    }
    EXPECT_EQ(bed.wake(), WEFT_OK);
    for (auto& joiner : joiners) {
        until_set(joiner->back);
        EXPECT_EQ(joiner->learnt, WEFT_OK);
    }
    EXPECT_EQ(target.free(), WEFT_OK);
}

// A caller that frees waits like the others, if it is the first.
TEST_P(Joiners, LearnTheEndThoughTheFirstFreesTheUnitAtOnce) {
    Bed bed;
    weft_unit* target = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  pool(), [](void* raw) { static_cast<Bed*>(raw)->sleep(); }, &bed, nullptr, &target),
              WEFT_OK);
    until([&] { return bed.occupied(); });
    atomic<weft_status> freed{WEFT_BUSY};
    weft_unit* next[4] = {};   // one of them reuses the descriptor before the others read it
    Doing first(As::unit, [&] {
        freed = weft_unit_join_free(target);
        for (weft_unit*& unit : next)
            EXPECT_EQ(weft_ult_spawn(
                          nullptr, [](void*) {}, nullptr, nullptr, &unit),
                      WEFT_OK);
    });
    let_them_wait();
    JoinersOfOne joiners;
    for (const As as : {As::unit, As::thread}) add(joiners, target, as);
    add(joiners, target, As::unit, never_in_this_test());
    // The OS thread among them must have called: afterwards the handle belongs to another unit.
    for (auto& joiner : joiners) until_set(joiner->calls);
    for (int i = 0; i < 10; ++i) let_them_wait();
    EXPECT_EQ(bed.wake(), WEFT_OK);
    for (auto& joiner : joiners) {
        until_set(joiner->back);
        EXPECT_EQ(joiner->learnt, WEFT_OK);
    }
    first.join();
    EXPECT_EQ(freed, WEFT_OK);
    EXPECT_EQ(weft_unit_join_free_many(next, 4), WEFT_OK);
}

TEST_P(Joiners, LeaveByTheirDeadlinesAndDisturbNobody) {
    // The places, of four, whose joiners leave: one of them, some, or all.
    for (const unsigned leave : {0b0001u, 0b0010u, 0b1000u, 0b0110u, 0b1001u, 0b0111u, 0b1111u}) {
        Bed bed;
        Ult target([&] { bed.sleep(); }, nullptr, pool());
        until([&] { return bed.occupied(); });
        JoinersOfOne joiners;
        const std::uint64_t soon = in_ms(15);
        for (unsigned place = 0; place < 4; ++place) {
            const std::uint64_t deadline = (leave >> place & 1) != 0 ? soon : place % 2 == 0 ? 0 : never_in_this_test();
            add(joiners, target.handle(), place < 2 ? As::unit : As::thread, deadline);
            until([&] { return weft_now_ns() >= soon || place >= 2 || waiting_for("join") == place + 1; });
        }
        for (unsigned place = 0; place < 4; ++place) {
            if ((leave >> place & 1) != 0) until_set(joiners[place]->back);
        }
        let_them_wait();
        for (unsigned place = 0; place < 4; ++place)
            EXPECT_EQ(joiners[place]->back, (leave >> place & 1) != 0) << leave << ' ' << place;
        add(joiners, target.handle(), As::unit);   // and another joiner comes
        let_them_wait();
        EXPECT_EQ(bed.wake(), WEFT_OK);
        for (unsigned place = 0; place < 5; ++place) {
            until_set(joiners[place]->back);
            EXPECT_EQ(joiners[place]->learnt, (leave >> place & 1) != 0 ? WEFT_TIMED_OUT : WEFT_OK)
                << leave << ' ' << place;
        }
        EXPECT_EQ(target.free(), WEFT_OK);
    }
}

// Joiners that have left do not keep another from freeing the unit.
TEST_P(Joiners, MayFreeTheUnitWhenTheOthersHaveLeft) {
    Bed bed;
    weft_unit* target = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  pool(), [](void* raw) { static_cast<Bed*>(raw)->sleep(); }, &bed, nullptr, &target),
              WEFT_OK);
    until([&] { return bed.occupied(); });
    JoinersOfOne joiners;
    for (const As as : {As::unit, As::thread, As::unit}) add(joiners, target, as, in_ms(3));
    for (auto& joiner : joiners) {
        until_set(joiner->back);
        EXPECT_EQ(joiner->learnt, WEFT_TIMED_OUT);
    }
    let_them_wait();
    Doing last(As::unit, [&] { EXPECT_EQ(weft_unit_join_free(target), WEFT_OK) << weft_error_text(); });
    let_them_wait();
    EXPECT_EQ(bed.wake(), WEFT_OK);
    last.join();
}

// Two joiners that poll again and again, side by side, and one that stays.
TEST_P(Joiners, ThatComeAndGoLeaveNothingBehind) {
    Bed bed;
    Ult target([&] { bed.sleep(); }, nullptr, pool());
    until([&] { return bed.occupied(); });
    auto look = [&] {
        for (int i = 0; i < 100; ++i)
            EXPECT_EQ(weft_unit_join_until(target.handle(), weft_now_ns() + ms / 20), WEFT_TIMED_OUT);
    };
    JoinersOfOne stays;
    add(stays, target.handle(), As::unit);
    Doing one(As::unit, look), two(As::thread, look);
    one.join();
    two.join();
    EXPECT_EQ(bed.wake(), WEFT_OK);
    until_set(stays[0]->back);
    EXPECT_EQ(stays[0]->learnt, WEFT_OK);
    EXPECT_EQ(target.free(), WEFT_OK);
}

TEST_P(Joiners, OfManyUnitsAreSeveralToo) {
    constexpr std::size_t count = 6;
    Bed beds[count];
    std::vector<std::unique_ptr<Ult>> units;
    std::vector<weft_unit*> handles;
    for (Bed& bed : beds) {
        units.push_back(std::make_unique<Ult>([&bed] { bed.sleep(); }, nullptr, pool()));
        handles.push_back(units.back()->handle());
    }
    until([&] {
        for (Bed& bed : beds)
            if (!bed.occupied()) return false;
        return true;
    });
    JoinersOfOne single;
    add(single, handles[0], As::unit);
    add(single, handles[3], As::thread);
    let_them_wait();
    atomic<int> told{0};
    auto join_all = [&] {
        EXPECT_EQ(weft_unit_join_many(handles.data(), handles.size()), WEFT_OK);
        ++told;
    };
    Doing all_in_unit(As::unit, join_all), all_in_thread(As::thread, join_all), again(As::unit, join_all);
    let_them_wait();
    for (std::size_t i = count; i-- > 0;) {
        EXPECT_EQ(told, 0);
        EXPECT_EQ(beds[i].wake(), WEFT_OK);
    }
    all_in_unit.join();
    all_in_thread.join();
    again.join();
    for (auto& joiner : single) {
        until_set(joiner->back);
        EXPECT_EQ(joiner->learnt, WEFT_OK);
    }
    EXPECT_EQ(told, 3);
}

TEST_P(Joiners, OfEveryKindWaitForUnitsOfEveryKind) {
    constexpr weft_kind kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC,
                                   WEFT_KIND_SS,   WEFT_KIND_SC,  WEFT_KIND_AUTO};
    for (const weft_kind of : kinds) {
        auto chosen = options();
        chosen.kind = of;
        Bed bed;
        Ult target([&] { bed.sleep(); }, &chosen, pool());
        until([&] { return bed.occupied(); });
        int told = 0;
        std::vector<std::unique_ptr<Ult>> joiners;
        for (const weft_kind kind : kinds) {
            auto as = options();
            as.kind = kind;
            joiners.push_back(std::make_unique<Ult>(
                [&] {
                    EXPECT_EQ(target.join(), WEFT_OK);
                    ++told;
                },
                &as));
            let_them_wait();
        }
        EXPECT_EQ(told, 0);
        EXPECT_EQ(bed.wake(), WEFT_OK);
        for (auto& joiner : joiners) EXPECT_EQ(joiner->join(), WEFT_OK);
        EXPECT_EQ(told, 6);
        EXPECT_EQ(target.free(), WEFT_OK);
    }
}

// The joiner begins the unit by a call; the other joiners cannot see that.
class JoinersOfACalled : public testing::TestWithParam<weft_pool_kind> {
protected:
    static weft_settings settings() {
        weft_settings made = with_streams(1);
        made.pool = GetParam();
        return made;
    }
    Runtime runtime{settings()};
};
INSTANTIATE_TEST_SUITE_P(Pools, JoinersOfACalled,
                         testing::Values(WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_LIFO));

TEST_P(JoinersOfACalled, WaitBesideTheOneThatCalls) {
    for (int i = 0; i < 3; ++i) Ult([] {}).join();   // then a stack is at hand
    for (const bool suspends : {false, true}) {
        // the others could not announce themselves before it has ended
        if (GetParam() == WEFT_POOL_PRIVATE && !suspends) continue;
        weft_unit* handle = nullptr;
        std::vector<std::unique_ptr<std::thread>> others;
        atomic<int> on_their_way{0}, told{0};
        atomic<weft_status> wrong{WEFT_OK};
        Ult target([&] {
            for (int i = 0; i < 2; ++i) {
                others.push_back(std::make_unique<std::thread>([&] {
                    ++on_their_way;
                    const weft_status status = weft_unit_join(handle);
                    if (status != WEFT_NOT_RETURNED) wrong = status;
                    ++told;
                }));
            }
            while (on_their_way != 2) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::milliseconds(3));   // mostly, they wait by then
            if (suspends) {
                for (int i = 0; i < 10; ++i) weft_unit_yield();
            }
            EXPECT_EQ(told, 0);
            throw 1;
        });
        handle = target.handle();
        EXPECT_EQ(target.outcome(), WEFT_OUTCOME_EXCEPTION);
        until([&] { return told == 2; });
        for (auto& other : others) other->join();
        EXPECT_EQ(wrong, WEFT_OK);
    }
}

TEST(JoinersOfATasklet, LearnItsEndAllOfThem) {
    Runtime runtime(with_streams(1));
    Stream stream;
    static atomic<bool> go;
    go = false;
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  stream.pool(),
                  [](void*) {
                      while (!go) std::this_thread::yield();
                  },
                  nullptr, nullptr, &tasklet),
              WEFT_OK);
    JoinersOfOne joiners;
    for (const As as : {As::unit, As::thread, As::unit}) add(joiners, tasklet, as);
    let_them_wait();
    go = true;
    for (auto& joiner : joiners) {
        until_set(joiner->back);
        EXPECT_EQ(joiner->learnt, WEFT_OK);
    }
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}

// The unit moves from a private pool to a shared one while they wait.
TEST(JoinersOfOneThatMoves, LearnItsEnd) {
    Runtime runtime(with_streams(1));
    weft_pool* shared = make_pool(WEFT_POOL_SHARED);
    {
        Stream stream(shared);
        Bed bed;
        Ult target([&] {
            bed.sleep();
            bed.sleep();
        });
        until([&] { return bed.occupied(); });
        JoinersOfOne joiners;
        add(joiners, target.handle(), As::unit);
        let_them_wait();
        add(joiners, target.handle(), As::thread, in_ms(10));
        let_them_wait();
        add(joiners, target.handle(), As::thread);
        let_them_wait();
        EXPECT_EQ(weft_unit_migrate_to_pool(target.handle(), shared), WEFT_OK);
        EXPECT_EQ(bed.wake(), WEFT_OK);
        until([&] { return bed.occupied(); });
        add(joiners, target.handle(), As::unit);
        let_them_wait();
        until_set(joiners[1]->back);
        EXPECT_EQ(bed.wake(), WEFT_OK);
        for (std::size_t i = 0; i < joiners.size(); ++i) {
            until_set(joiners[i]->back);
            EXPECT_EQ(joiners[i]->learnt, i == 1 ? WEFT_TIMED_OUT : WEFT_OK);
        }
    }
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}

}   // namespace
