#include "unit/joint.hpp"

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
using WorkerJoint = BasicJoint<Worker>;
using Waiter = WorkerJoint::Waiter;
using Announced = WorkerJoint::Announced;

static_assert(sizeof(WorkerJoint) == 8);

// Both families of operations, through one face.
struct Shared {
    static Waiter finish(WorkerJoint& joint) { return joint.finish_shared(); }
    static Waiter finish_as_news(WorkerJoint& joint) { return joint.finish_shared_as_news(); }
    static Announced announce(WorkerJoint& joint, Waiter waiter) { return joint.announce_shared(waiter); }
    static Announced detach(WorkerJoint& joint) { return joint.detach_shared(); }
};
struct Local {
    static Waiter finish(WorkerJoint& joint) { return joint.finish_local(); }
    static Waiter finish_as_news(WorkerJoint& joint) { return joint.finish_local_as_news(); }
    static Announced announce(WorkerJoint& joint, Waiter waiter) { return joint.announce_local(waiter); }
    static Announced detach(WorkerJoint& joint) { return joint.detach_local(); }
};

template <class Family>
class Joints : public testing::Test {};
using Families = testing::Types<Shared, Local>;
TYPED_TEST_SUITE(Joints, Families);

TEST(LocalJoint, TellsWhoAnnouncedBeforeTheEnd) {
    WorkerJoint joint;
    Worker worker;
    EXPECT_TRUE(joint.untouched());
    EXPECT_TRUE(joint.announced().none());
    joint.announce_first(&worker);
    EXPECT_FALSE(joint.untouched());
    EXPECT_EQ(joint.announced().sole_unit(), &worker);
    EXPECT_FALSE(joint.done());
    EXPECT_EQ(joint.announce_local(&worker), Announced::taken);
    joint.finish_announced();
    EXPECT_TRUE(joint.done());
    EXPECT_FALSE(joint.untouched());
}

TYPED_TEST(Joints, AnEndThatNobodyWaitsForReturnsNobody) {
    WorkerJoint joint;
    EXPECT_FALSE(joint.done());
    const Waiter waiter = TypeParam::finish(joint);
    EXPECT_TRUE(waiter.none());
    EXPECT_FALSE(waiter.detached());
    EXPECT_EQ(waiter.unit(), nullptr);
    EXPECT_EQ(waiter.other(), nullptr);
    EXPECT_TRUE(joint.done());
}

TYPED_TEST(Joints, TheEndReturnsTheUnitThatWaits) {
    WorkerJoint joint;
    Worker worker;
    EXPECT_EQ(TypeParam::announce(joint, &worker), Announced::waiting);
    EXPECT_FALSE(joint.done());
    const Waiter waiter = TypeParam::finish(joint);
    EXPECT_EQ(waiter.unit(), &worker);
    EXPECT_EQ(waiter.other(), nullptr);
    EXPECT_FALSE(waiter.none() || waiter.detached());
    EXPECT_TRUE(joint.done());
}

TYPED_TEST(Joints, TheEndReturnsAWaiterThatIsNoUnit) {
    WorkerJoint joint;
    JoinWaiter thread{nullptr};
    EXPECT_EQ(TypeParam::announce(joint, &thread), Announced::waiting);
    const Waiter waiter = TypeParam::finish(joint);
    EXPECT_EQ(waiter.unit(), nullptr);
    EXPECT_EQ(waiter.other(), &thread);
    EXPECT_FALSE(waiter.none() || waiter.detached());
}

TYPED_TEST(Joints, WhoComesAfterTheEndFindsItDone) {
    WorkerJoint joint;
    Worker worker;
    TypeParam::finish(joint);
    EXPECT_EQ(TypeParam::announce(joint, &worker), Announced::done);
    EXPECT_EQ(TypeParam::detach(joint), Announced::done);
    EXPECT_TRUE(joint.done());
}

TYPED_TEST(Joints, ASecondJoinerAndADetacherAreRefusedWhileOneWaits) {
    WorkerJoint joint;
    Worker first, second;
    TypeParam::announce(joint, &first);
    EXPECT_EQ(TypeParam::announce(joint, &second), Announced::taken);
    EXPECT_EQ(TypeParam::detach(joint), Announced::taken);
    EXPECT_EQ(TypeParam::finish(joint).unit(), &first);
}

TYPED_TEST(Joints, TheEndOfADetachedUnitSaysSo) {
    WorkerJoint joint;
    Worker worker;
    EXPECT_EQ(TypeParam::detach(joint), Announced::waiting);
    EXPECT_EQ(TypeParam::announce(joint, &worker), Announced::taken);
    EXPECT_FALSE(joint.done());
    const Waiter waiter = TypeParam::finish(joint);
    EXPECT_TRUE(waiter.detached());
    EXPECT_EQ(waiter.unit(), nullptr);
    EXPECT_EQ(waiter.other(), nullptr);
}

TYPED_TEST(Joints, AWaiterThatGivesUpIsForgottenUnlessTheUnitHasEnded) {
    WorkerJoint joint;
    Worker worker;
    JoinWaiter thread{nullptr};
    TypeParam::announce(joint, &thread);
    EXPECT_TRUE(joint.withdraw(&thread));
    EXPECT_EQ(TypeParam::announce(joint, &worker), Announced::waiting);
    EXPECT_EQ(TypeParam::finish(joint).unit(), &worker);
    EXPECT_FALSE(joint.withdraw(&worker));
    joint.reset();
    EXPECT_FALSE(joint.done());
}

TYPED_TEST(Joints, AnEndThatIsNewsIsDoneAndIsLearnedByOne) {
    WorkerJoint joint;
    Worker worker;
    EXPECT_TRUE(TypeParam::finish_as_news(joint).none());
    EXPECT_TRUE(joint.done());
    EXPECT_TRUE(joint.done_after_all());
    EXPECT_FALSE(joint.done_and_known());
    EXPECT_EQ(TypeParam::announce(joint, &worker), Announced::done);
    EXPECT_EQ(TypeParam::detach(joint), Announced::done);
    EXPECT_FALSE(joint.done_and_known()) << "nobody has learned of it by that";
    EXPECT_TRUE(joint.learn());
    EXPECT_TRUE(joint.done_and_known());
    EXPECT_FALSE(joint.learn()) << "the second one is not told";
    EXPECT_TRUE(joint.done());
}

TYPED_TEST(Joints, EndsOnce) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    WorkerJoint joint;
    TypeParam::finish(joint);
    EXPECT_DEATH(TypeParam::finish(joint), "does not hold");
}

TEST(Joint, OfSeveralWhoLearnOfAnEndAtOnceOneIsTheFirst) {
    for (int round = 0; round < 2'000; ++round) {
        WorkerJoint joint;
        joint.finish_shared_as_news();
        std::atomic<int> first{0}, ready{0};
        auto learn = [&] {
            for (++ready; ready < 2;) {}
            if (joint.learn()) ++first;
        };
        std::thread other(learn);
        learn();
        other.join();
        ASSERT_EQ(first, 1);
    }
}

TEST(Joint, OfTheEndAndTheJoinerExactlyOneGoesOnAndSeesTheOther) {
    constexpr int rounds = 20'000;
    struct Round {
        WorkerJoint joint;
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
            const Waiter waiter = all[i].joint.finish_shared();
            if (waiter.none()) continue;
            EXPECT_EQ(waiter.unit()->result, -i);
            all[i].going_on.fetch_add(1);
        }
    });
    for (int i = 0; i < rounds; ++i) {
        meet(1, i);
        all[i].joiner.result = -i;
        if (all[i].joint.announce_shared(&all[i].joiner) == Announced::waiting) continue;
        EXPECT_EQ(all[i].joined.result, i);
        all[i].going_on.fetch_add(1);
    }
    finisher.join();
    for (const Round& round : all) ASSERT_EQ(round.going_on.load(), 1);
}

}   // namespace
}   // namespace weft
