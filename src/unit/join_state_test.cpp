// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/join_state.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace weft {
namespace {

struct Worker {
    alignas(8) int result = 0;
};
using WorkerJoinState = BasicJoinState<Worker>;
using Waiter = WorkerJoinState::Waiter;
using Announced = WorkerJoinState::Announced;

static_assert(sizeof(WorkerJoinState) == 8);

// Both families of operations, through one interface.
struct Shared {
    static Waiter finish(WorkerJoinState& join_state) { return join_state.finish_shared(); }
    static Waiter finish_as_news(WorkerJoinState& join_state) { return join_state.finish_shared_as_news(); }
    static Announced announce(WorkerJoinState& join_state, Waiter waiter) { return join_state.announce_shared(waiter); }
    static Announced detach(WorkerJoinState& join_state) { return join_state.detach_shared(); }
};
struct Local {
    static Waiter finish(WorkerJoinState& join_state) { return join_state.finish_local(); }
    static Waiter finish_as_news(WorkerJoinState& join_state) { return join_state.finish_local_as_news(); }
    static Announced announce(WorkerJoinState& join_state, Waiter waiter) { return join_state.announce_local(waiter); }
    static Announced detach(WorkerJoinState& join_state) { return join_state.detach_local(); }
};

template <class Family>
class JoinStates : public testing::Test {};
using Families = testing::Types<Shared, Local>;
TYPED_TEST_SUITE(JoinStates, Families);

TEST(LocalJoinState, TellsWhoAnnouncedBeforeTheEnd) {
    WorkerJoinState join_state;
    Worker worker;
    EXPECT_TRUE(join_state.untouched());
    EXPECT_TRUE(join_state.announced().none());
    join_state.announce_first(&worker);
    EXPECT_FALSE(join_state.untouched());
    EXPECT_EQ(join_state.announced().sole_unit(), &worker);
    EXPECT_FALSE(join_state.done());
    EXPECT_EQ(join_state.announce_local(&worker), Announced::taken);
    join_state.finish_announced();
    EXPECT_TRUE(join_state.done());
    EXPECT_FALSE(join_state.untouched());
}

TYPED_TEST(JoinStates, AnEndThatNobodyWaitsForReturnsNobody) {
    WorkerJoinState join_state;
    EXPECT_FALSE(join_state.done());
    const Waiter waiter = TypeParam::finish(join_state);
    EXPECT_TRUE(waiter.none());
    EXPECT_FALSE(waiter.detached());
    EXPECT_EQ(waiter.unit(), nullptr);
    EXPECT_EQ(waiter.other(), nullptr);
    EXPECT_TRUE(join_state.done());
}

TYPED_TEST(JoinStates, TheEndReturnsTheUnitThatWaits) {
    WorkerJoinState join_state;
    Worker worker;
    EXPECT_EQ(TypeParam::announce(join_state, &worker), Announced::waiting);
    EXPECT_FALSE(join_state.done());
    const Waiter waiter = TypeParam::finish(join_state);
    EXPECT_EQ(waiter.unit(), &worker);
    EXPECT_EQ(waiter.other(), nullptr);
    EXPECT_FALSE(waiter.none() || waiter.detached());
    EXPECT_TRUE(join_state.done());
}

TYPED_TEST(JoinStates, TheEndReturnsAWaiterThatIsNoUnit) {
    WorkerJoinState join_state;
    JoinWaiter thread{nullptr};
    EXPECT_EQ(TypeParam::announce(join_state, &thread), Announced::waiting);
    const Waiter waiter = TypeParam::finish(join_state);
    EXPECT_EQ(waiter.unit(), nullptr);
    EXPECT_EQ(waiter.other(), &thread);
    EXPECT_FALSE(waiter.none() || waiter.detached());
}

TYPED_TEST(JoinStates, WhoComesAfterTheEndFindsItDone) {
    WorkerJoinState join_state;
    Worker worker;
    TypeParam::finish(join_state);
    EXPECT_EQ(TypeParam::announce(join_state, &worker), Announced::done);
    EXPECT_EQ(TypeParam::detach(join_state), Announced::done);
    EXPECT_TRUE(join_state.done());
}

TYPED_TEST(JoinStates, ASecondJoinerAndADetacherAreRefusedWhileOneWaits) {
    WorkerJoinState join_state;
    Worker first, second;
    TypeParam::announce(join_state, &first);
    EXPECT_EQ(TypeParam::announce(join_state, &second), Announced::taken);
    EXPECT_EQ(TypeParam::detach(join_state), Announced::taken);
    EXPECT_EQ(TypeParam::finish(join_state).unit(), &first);
}

TYPED_TEST(JoinStates, TheEndOfADetachedUnitSaysSo) {
    WorkerJoinState join_state;
    Worker worker;
    EXPECT_EQ(TypeParam::detach(join_state), Announced::waiting);
    EXPECT_EQ(TypeParam::announce(join_state, &worker), Announced::taken);
    EXPECT_FALSE(join_state.done());
    const Waiter waiter = TypeParam::finish(join_state);
    EXPECT_TRUE(waiter.detached());
    EXPECT_EQ(waiter.unit(), nullptr);
    EXPECT_EQ(waiter.other(), nullptr);
}

TYPED_TEST(JoinStates, AWaiterThatGivesUpIsForgottenUnlessTheUnitHasEnded) {
    WorkerJoinState join_state;
    Worker worker;
    JoinWaiter thread{nullptr};
    TypeParam::announce(join_state, &thread);
    EXPECT_TRUE(join_state.withdraw(&thread));
    EXPECT_EQ(TypeParam::announce(join_state, &worker), Announced::waiting);
    EXPECT_EQ(TypeParam::finish(join_state).unit(), &worker);
    EXPECT_FALSE(join_state.withdraw(&worker));
    join_state.reset();
    EXPECT_FALSE(join_state.done());
}

TYPED_TEST(JoinStates, AnEndThatIsNewsIsDoneAndIsLearnedByOne) {
    WorkerJoinState join_state;
    Worker worker;
    EXPECT_TRUE(TypeParam::finish_as_news(join_state).none());
    EXPECT_TRUE(join_state.done());
    EXPECT_TRUE(join_state.done_after_all());
    EXPECT_FALSE(join_state.done_and_known());
    EXPECT_EQ(TypeParam::announce(join_state, &worker), Announced::done);
    EXPECT_EQ(TypeParam::detach(join_state), Announced::done);
    EXPECT_FALSE(join_state.done_and_known()) << "nobody has learned of it by that";
    EXPECT_TRUE(join_state.learn());
    EXPECT_TRUE(join_state.done_and_known());
    EXPECT_FALSE(join_state.learn()) << "the second one is not told";
    EXPECT_TRUE(join_state.done());
}

TYPED_TEST(JoinStates, EndsOnce) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    WorkerJoinState join_state;
    TypeParam::finish(join_state);
    EXPECT_DEATH(TypeParam::finish(join_state), "does not hold");
}

TEST(JoinState, OfSeveralWhoLearnOfAnEndAtOnceOneIsTheFirst) {
    for (int round = 0; round < 2'000; ++round) {
        WorkerJoinState join_state;
        join_state.finish_shared_as_news();
        std::atomic<int> first{0}, ready{0};
        auto learn = [&] {
            for (++ready; ready < 2;) {}
            if (join_state.learn()) ++first;
        };
        std::thread other(learn);
        learn();
        other.join();
        ASSERT_EQ(first, 1);
    }
}

TEST(JoinState, OfTheEndAndTheJoinerExactlyOneGoesOnAndSeesTheOther) {
    constexpr int rounds = 20'000;
    struct Round {
        WorkerJoinState join_state;
        Worker joined, joiner;
        atomic<int> going_on{0};
    };
    std::vector<Round> all(rounds);
    atomic<int> at[2]{0, 0};
    // The two threads walk through the rounds side by side.
    const auto meet = [&](int me, int round) {
        at[me].store(round + 1);
        while (at[1 - me].load() < round) std::this_thread::yield();
    };
    std::thread finisher([&] {
        for (int i = 0; i < rounds; ++i) {
            meet(0, i);
            all[i].joined.result = i;
            const Waiter waiter = all[i].join_state.finish_shared();
            if (waiter.none()) continue;
            EXPECT_EQ(waiter.unit()->result, -i);
            all[i].going_on.fetch_add(1);
        }
    });
    for (int i = 0; i < rounds; ++i) {
        meet(1, i);
        all[i].joiner.result = -i;
        if (all[i].join_state.announce_shared(&all[i].joiner) == Announced::waiting) continue;
        EXPECT_EQ(all[i].joined.result, i);
        all[i].going_on.fetch_add(1);
    }
    finisher.join();
    for (const Round& round : all) ASSERT_EQ(round.going_on.load(), 1);
}

}   // namespace
}   // namespace weft
