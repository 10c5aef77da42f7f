// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hart/base.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "os/futex.hpp"

namespace weft::hart {
namespace {

std::size_t harts = 0;
void (*on_limit)() = nullptr;
std::size_t limit() noexcept {
    if (on_limit != nullptr) on_limit();
    return harts;
}

constexpr std::uint64_t slice = 1000;
std::uint64_t now = 0;
std::uint64_t clock() { return now; }

// A thread that is sent arrives at once, and is noted.
struct BaseTest : testing::Test {
    std::vector<Root*> sent;
    bool refuses = false;
    bool comes_free = false;   // an OS thread, after the search for one failed
    Base base{
        {.limit = limit,
         .now_ns = clock,
         .send =
             [](Root& root, void* raw) {
                 auto& self = *static_cast<BaseTest*>(raw);
                 if (!self.refuses) self.sent.push_back(&root);
                 const bool refused = self.refuses;
                 if (std::exchange(self.comes_free, false)) {
                     self.refuses = false;
                     self.base.thread_is_free();
                 }
                 return !refused;
             },
         .closed = [](Root& root, void* raw) { static_cast<BaseTest*>(raw)->closed = &root; },
         .notify =
             [](Root& root, void* raw) {
                 static_cast<BaseTest*>(raw)->told.push_back({&root, root.to_reclaim.load()});
             },
         .watch = [](std::uint64_t deadline_ns, void* raw) { static_cast<BaseTest*>(raw)->watched_ns = deadline_ns; },
         .lacking = [](void*) {},
         .argument = this},
        Policy::fair,
        slice};
    using Told = std::pair<Root*, std::uint32_t>;
    std::vector<Told> told;
    std::uint64_t watched_ns = 0;
    Root* closed = nullptr;
    Root a, b, c;

    void SetUp() override {
        harts = 4;
        now = 0;
        for (Root* root : {&a, &b, &c}) base.join(*root);
    }
    void TearDown() override {
        for (Root* root : {&a, &b, &c}) base.request(*root, -root->asked);
        for (Root* root : {&a, &b, &c}) {
            base.take(*root, 1);
            base.close(*root);
            bool left = false;
            while (!left) {
                EXPECT_EQ(base.give_back(*root, left), nullptr);
            }
            EXPECT_EQ(root->held, 0u);
        }
        EXPECT_EQ(base.granted(), 0u);
    }
    Root* give_back(Root& root) {
        bool last = true;
        Root* const next = base.give_back(root, last);
        EXPECT_FALSE(last);
        return next;
    }
    std::size_t came(const Root& root) const {
        return static_cast<std::size_t>(std::count(sent.begin(), sent.end(), &root));
    }
};

TEST_F(BaseTest, ARequestIsGrantedWhileThereAreHarts) {
    base.request(a, 3);
    EXPECT_EQ(came(a), 3u);
    base.request(b, 3);
    EXPECT_EQ(came(b), 1u);
    EXPECT_EQ(base.granted(), 4u);
}

TEST_F(BaseTest, RequestsAreDeltasInAnyOrder) {
    base.request(a, -2);
    base.request(a, 1);
    EXPECT_EQ(came(a), 0u);
    base.request(a, 2);
    EXPECT_EQ(came(a), 1u);
}

TEST_F(BaseTest, AFairBaseAsksForWhatIsBeyondAFairShare) {
    base.request(a, 4);
    EXPECT_EQ(a.to_reclaim, 0u);
    base.request(b, 4);
    EXPECT_EQ(a.to_reclaim, 2u);
    EXPECT_EQ(give_back(a), &b);
    EXPECT_EQ(a.to_reclaim, 1u);
    EXPECT_EQ(give_back(a), &b);
    EXPECT_EQ(a.to_reclaim, 0u);
    EXPECT_EQ(b.to_reclaim, 0u);
}

TEST_F(BaseTest, ARequestThatIsCancelledIsWantedBackByNobody) {
    base.request(a, 4);
    base.request(b, 2);
    EXPECT_EQ(a.to_reclaim, 2u);
    base.request(b, -2);
    EXPECT_EQ(a.to_reclaim, 0u);
}

TEST_F(BaseTest, WhatIsBeyondARequestIsWantedBack) {
    base.request(a, 4);
    base.request(a, -1);
    EXPECT_EQ(a.to_reclaim, 1u);
    EXPECT_EQ(give_back(a), nullptr);
    EXPECT_EQ(a.to_reclaim, 0u);
}

TEST_F(BaseTest, AnOddHartStaysWhereItIs) {
    harts = 3;
    base.request(a, 3);
    base.request(b, 3);
    EXPECT_EQ(a.to_reclaim, 1u);
    EXPECT_EQ(give_back(a), &b);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(a.to_reclaim, 0u);
        EXPECT_EQ(b.to_reclaim, 0u);
        base.look();
    }
}

TEST_F(BaseTest, WhereHartsAreFewAllHaveTheirTurn) {
    harts = 1;
    for (Root* root : {&a, &b, &c}) base.request(*root, 1);
    EXPECT_EQ(sent, std::vector<Root*>{&a});
    Root* has = &a;
    std::vector<Root*> order;
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(has->to_reclaim, 0u) << "its slice is not over";
        EXPECT_EQ(base.look_at_ns(), now + slice);
        EXPECT_EQ(watched_ns, base.look_at_ns());
        now += slice;
        base.look();
        EXPECT_EQ(has->to_reclaim, 1u);
        has = give_back(*has);
        order.push_back(has);
    }
    EXPECT_EQ(order, (std::vector<Root*>{&b, &c, &a, &b, &c, &a}));
}

TEST_F(BaseTest, WhoHasHadAHartForLongerThanASliceIsAskedForItAtOnce) {
    harts = 1;
    base.request(a, 1);
    now = slice;
    base.request(b, 1);
    EXPECT_EQ(a.to_reclaim, 1u);
    EXPECT_EQ(give_back(a), &b);
    EXPECT_EQ(b.to_reclaim, 0u) << "its slice has begun";
}

// A root that has just joined has not been served later than a root that has a hart.
TEST_F(BaseTest, WhoComesLaterHasHisTurnToo) {
    harts = 1;
    base.request(a, 1);
    now = slice;
    Root d;
    base.join(d);
    base.request(d, 1);
    EXPECT_EQ(a.to_reclaim, 1u);
    base.take(d, 0);
    base.close(d);
    bool last = false;
    base.give_back(d, last);
    EXPECT_TRUE(last);
}

TEST_F(BaseTest, OneThatIsToldIsToldWhatIsWantedBackAndOnceMoreWhenItHasNotAnswered) {
    Root d;
    d.notified = true;
    base.join(d);
    for (int i = 0; i < 4; ++i) base.take(d, 1);
    EXPECT_TRUE(told.empty());
    base.request(a, 2);
    EXPECT_EQ(told, (std::vector<Told>{{&d, 2}}));
    EXPECT_EQ(base.look_at_ns(), now + slice);
    base.request(b, 0);
    base.look();
    EXPECT_EQ(told.size(), 1u);
    now += slice;
    base.look();
    EXPECT_EQ(told, (std::vector<Told>{{&d, 2}, {&d, 2}}));
    base.put(d, 0);
    EXPECT_EQ(told.back(), (Told{&d, 1})) << "there is one left to give";
    base.put(d, 0);
    EXPECT_EQ(told.size(), 3u);
    EXPECT_EQ(came(a), 2u);
    base.request(a, -2);
    EXPECT_EQ(give_back(a), nullptr) << "the caller goes on with it nowhere";
    EXPECT_EQ(came(d), 1u) << "it asks for what it has given";
    base.request(d, -4);
    base.close(d);
    bool last = false;
    while (!last) base.give_back(d, last);
}

TEST_F(BaseTest, TheLimitIsLookedAtAgainWhileMoreThanOneHartIsWanted) {
    EXPECT_EQ(base.look_at_ns(), os::forever);
    base.request(a, 1);
    EXPECT_EQ(base.look_at_ns(), os::forever) << "there is always one";
    base.request(a, 1);
    EXPECT_EQ(base.look_at_ns(), 1'000'000'000u);
    base.request(a, -2);
    give_back(a);
    give_back(a);
    EXPECT_EQ(base.look_at_ns(), 1'000'000'000u) << "who is back soon need not have it planned anew";
    now = 1'000'000'000;
    base.look();
    EXPECT_EQ(base.look_at_ns(), os::forever);
}

TEST_F(BaseTest, WeightsShareInProportion) {
    base.set_policy(Policy::weighted);
    base.set_weight(a, 3);
    base.request(b, 4);
    base.request(a, 4);
    EXPECT_EQ(b.to_reclaim, 3u);
}

TEST_F(BaseTest, WhoCameFirstKeepsWhatHeHas) {
    base.set_policy(Policy::first_come);
    base.request(a, 3);
    base.request(b, 3);
    EXPECT_EQ(came(b), 1u);
    EXPECT_EQ(a.to_reclaim, 0u);
    base.request(a, -3);
    EXPECT_EQ(a.to_reclaim, 3u);
    EXPECT_EQ(give_back(a), &b);
}

TEST_F(BaseTest, OneThatIsTakenWithoutAQuestionMayBeExtra) {
    base.request(b, 4);
    base.take(a, 1);
    EXPECT_EQ(base.granted(), 5u);
    EXPECT_EQ(b.to_reclaim, 1u);
    EXPECT_EQ(give_back(b), nullptr) << "there was one too many";
    EXPECT_EQ(b.to_reclaim, 0u);
    base.put(a, -1);
    EXPECT_EQ(sent.back(), &b);
    EXPECT_EQ(base.granted(), 4u);
}

TEST_F(BaseTest, TheLimitIsLookedAtAlsoWhileAnIdleRootHasTheOnlyHart) {
    base.request(a, 2);
    EXPECT_EQ(came(a), 2u);
    a.is_idle = true;
    give_back(a);
    now = 1'000'000'000;
    base.look();
    EXPECT_EQ(base.look_at_ns(), 2'000'000'000u) << "it asks for two";
    give_back(a);
}

TEST_F(BaseTest, AHartThatGoesOnToAnotherRootIsGrantedAllTheWhile) {
    harts = 1;
    base.request(a, 1);
    base.request(b, 1);
    static const Base* looked_at;
    static std::size_t seen;
    looked_at = &base;
    seen = 99;
    on_limit = [] { seen = looked_at->granted(); };   // amid the change
    EXPECT_EQ(give_back(a), &b);
    on_limit = nullptr;
    EXPECT_EQ(seen, 1u);
    EXPECT_EQ(base.granted(), 1u);
}

TEST_F(BaseTest, WhereNobodyCanBeSentTheHartStaysAndIsTriedAgain) {
    refuses = true;
    base.request(a, 2);
    EXPECT_EQ(base.granted(), 0u);
    refuses = false;
    base.look();
    EXPECT_EQ(came(a), 2u);
    EXPECT_EQ(base.granted(), 2u);
}

TEST_F(BaseTest, WhoeverComesFreeIsSentWithWhatNobodyCouldBeSentWith) {
    refuses = true;
    base.request(a, 2);
    refuses = false;
    base.thread_is_free();
    EXPECT_EQ(came(a), 2u);
    base.request(a, 1);
    base.thread_is_free();
    EXPECT_EQ(came(a), 3u) << "each hart once";
}

TEST_F(BaseTest, WhoeverComesFreeWhileNobodyIsFoundIsSent) {
    refuses = comes_free = true;
    base.request(a, 2);
    EXPECT_EQ(came(a), 2u);
}

TEST_F(BaseTest, WhatNobodyCouldBeSentWithDoesNotKeepARootFromClosing) {
    Root d;
    base.join(d);
    base.take(d, 1);
    refuses = true;
    base.request(d, 2);
    EXPECT_EQ(d.held, 1u);
    base.close(d);
    bool last = false;
    EXPECT_EQ(base.give_back(d, last), nullptr);
    EXPECT_TRUE(last);
    EXPECT_EQ(closed, nullptr);
}

TEST_F(BaseTest, WhereTheLimitChangesHartsAreGrantedOrWantedBack) {
    base.request(a, 6);
    EXPECT_EQ(came(a), 4u);
    harts = 5;
    base.look();
    EXPECT_EQ(came(a), 5u);
    harts = 2;
    base.look();
    EXPECT_EQ(a.to_reclaim, 3u);
}

TEST_F(BaseTest, AHartThatMovesIsRequestedByWhoHasIt) {
    base.take(a, 1);
    bool last = true;
    base.move(a, -1, b, 1, last);
    EXPECT_FALSE(last);
    EXPECT_EQ(a.asked, 0);
    EXPECT_EQ(b.asked, 1);
    EXPECT_EQ(b.held, 1u);
    base.move(b, -1, a, 1, last);
    EXPECT_EQ(base.granted(), 1u);
}

TEST_F(BaseTest, AHartThatMovesToAndFroIsAskedForAfterASliceAltogether) {
    harts = 1;
    bool last = false;
    base.request(a, 1);
    base.request(c, 1);
    now = slice / 2;
    base.move(a, -1, b, 1, last);
    EXPECT_EQ(b.to_reclaim, 0u) << "its slice is not over";
    base.move(b, -1, a, 1, last);
    now = slice;
    base.move(a, -1, b, 1, last);
    EXPECT_EQ(b.to_reclaim, 1u);
    base.move(b, -1, a, 1, last);
    EXPECT_EQ(a.to_reclaim, 1u);
}

TEST_F(BaseTest, OneThatHasNothingToDoIsGrantedNothingUntilItIsKicked) {
    base.request(a, 2);
    a.is_idle = true;
    EXPECT_EQ(give_back(a), nullptr);
    base.look();
    EXPECT_EQ(a.held, 1u);
    EXPECT_EQ(a.to_reclaim, 0u);
    base.kick(a);
    EXPECT_EQ(a.held, 2u);
    a.is_idle = true;
    EXPECT_EQ(give_back(a), nullptr);
    base.request(a, 1);
    EXPECT_EQ(a.held, 3u) << "a request kicks";
    a.is_idle = true;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(give_back(a), nullptr);
    base.request(a, -1);
    EXPECT_EQ(a.held, 1u) << "who wants fewer has no more to do";
}

TEST_F(BaseTest, OneThatClosesLeavesWithItsLastHart) {
    Root d;
    base.join(d);
    base.request(d, 3);
    base.close(d);
    EXPECT_EQ(d.to_reclaim, 3u);
    bool last = true;
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(base.give_back(d, last), nullptr);
        EXPECT_FALSE(last);
    }
    EXPECT_EQ(base.give_back(d, last), nullptr);
    EXPECT_TRUE(last);
}

TEST_F(BaseTest, HartsBeyondTheLimitGoWhereHartsLackAndAreAskedBackWhenTheyAreOver) {
    base.request(a, 4);
    base.request(b, 3);
    EXPECT_EQ(a.to_reclaim, 2u);
    base.request(b, -3);
    base.request(a, 2);
    EXPECT_EQ(came(a), 4u);
    const Root* lacking[3];
    EXPECT_TRUE(base.lacks());
    EXPECT_EQ(base.lacking(lacking, 3), 1u);
    EXPECT_EQ(lacking[0], &a);
    base.lend_beyond(1);
    EXPECT_EQ(came(a), 5u);
    EXPECT_EQ(a.to_reclaim, 0u);
    base.lend_beyond(1);
    EXPECT_FALSE(base.lacks());
    EXPECT_EQ(base.lacking(lacking, 3), 0u);
    base.lend_beyond(-2);
    EXPECT_EQ(a.to_reclaim, 2u);
    EXPECT_EQ(give_back(a), nullptr);
    EXPECT_EQ(give_back(a), nullptr);
    EXPECT_EQ(a.to_reclaim, 0u);
}

TEST_F(BaseTest, OneThatIsTakenBeyondTheLimitIsNobodyElsesLoss) {
    base.request(a, 4);
    base.take_beyond(b);
    EXPECT_EQ(a.to_reclaim, 0u);
    EXPECT_EQ(base.granted(), 5u);
    base.put(b, -1);
    base.lend_beyond(-1);
    EXPECT_EQ(came(a), 4u);
    EXPECT_EQ(base.granted(), 4u);
}

TEST(Base, TellsWhenHartsLack) {
    harts = 1;
    int told = 0;
    Base base{{.limit = limit,
               .now_ns = clock,
               .send = [](Root&, void*) { return true; },
               .closed = [](Root&, void*) {},
               .notify = [](Root&, void*) {},
               .watch = [](std::uint64_t, void*) {},
               .lacking = [](void* raw) { ++*static_cast<int*>(raw); },
               .argument = &told},
              Policy::fair,
              slice};
    Root root;
    base.join(root);
    base.request(root, 1);
    EXPECT_EQ(told, 0);
    base.request(root, 1);
    EXPECT_EQ(told, 1);
    base.request(root, -1);
    EXPECT_EQ(told, 1);
    bool last = false;
    base.close(root);
    EXPECT_EQ(base.give_back(root, last), nullptr);
    EXPECT_TRUE(last);
}

// A guest's root, which is on the list only while it has a hart or wants one.
struct GuestRoot : Root {
    GuestRoot() { guest = true; }
};
using GuestPhase = Root::GuestPhase;

TEST_F(BaseTest, AGuestIsAdmittedAtOnceOrInItsTurn) {
    harts = 2;
    GuestRoot one, two, three, four;
    EXPECT_TRUE(base.admit(one));
    EXPECT_TRUE(base.admit(two));
    EXPECT_FALSE(base.admit(three));
    EXPECT_FALSE(base.admit(four));
    EXPECT_TRUE(one.contended.load());
    EXPECT_EQ(base.contended().load(), 1u);
    EXPECT_EQ(base.release(one), &three) << "the caller tells it";
    base.put(two, -1);
    EXPECT_EQ(sent, std::vector<Root*>{&four});
    EXPECT_FALSE(three.contended.load());
    EXPECT_EQ(base.contended().load(), 0u);
    base.put(three, -1);
    base.put(four, -1);
    EXPECT_EQ(base.granted(), 0u);
}

// A guest that has polled without success, beside a root that could use more harts than there are.
struct StepsAside : BaseTest {
    GuestRoot guest;

    void SetUp() override {
        BaseTest::SetUp();
        harts = 2;
        EXPECT_TRUE(base.admit(guest));
        base.request(a, 4);
        EXPECT_EQ(a.held, 1u);
        EXPECT_EQ(base.step_aside(guest), &a);
        EXPECT_EQ(a.held, 2u);
        EXPECT_EQ(a.to_reclaim.load(), 0u);
    }
    void TearDown() override {
        base.request(a, -a.asked);
        if (guest.held == 0) {
            EXPECT_EQ(give_back(a), &guest);
        }
        EXPECT_EQ(base.release(guest), nullptr);
        BaseTest::TearDown();
    }
};

TEST_F(StepsAside, AGuestHasAHartAgainThatNobodyElseHasAUseFor) {
    EXPECT_EQ(base.contended().load(), 1u) << "whoever only looks for something to do lets a hart go";
    a.is_idle.store(true);
    EXPECT_EQ(give_back(a), &guest);
    EXPECT_EQ(base.contended().load(), 0u);
    base.kick(a);
    EXPECT_EQ(a.to_reclaim.load(), 0u);
    EXPECT_EQ(a.held, 1u) << "it has its hart as any guest";
}

TEST_F(StepsAside, AGuestIsNextWhenAnotherThatLooksMakesWay) {
    base.make_way(a);
    EXPECT_EQ(a.to_reclaim.load(), 0u) << "not at once: that would have no end";
    now = base.make_way_at_ns();
    EXPECT_LT(now, slice);
    base.make_way(a);
    EXPECT_EQ(a.to_reclaim.load(), 1u);
    EXPECT_EQ(give_back(a), &guest);
}

TEST_F(StepsAside, AGuestWaitsLongerEachTimeThatItHasLookedInVain) {
    const std::uint64_t first = base.make_way_at_ns() - now;
    now += first;
    base.make_way(a);
    EXPECT_EQ(give_back(a), &guest);
    EXPECT_EQ(base.step_aside(guest), &a);
    EXPECT_EQ(base.make_way_at_ns() - now, 2 * first);
}

TEST_F(StepsAside, AGuestWantsAHartAsEverAfterASlice) {
    EXPECT_EQ(base.look_at_ns(), slice);
    now = slice;
    base.look();
    EXPECT_EQ(a.to_reclaim.load(), 1u);
    EXPECT_EQ(give_back(a), &guest);
}

TEST_F(BaseTest, AGuestThatStepsAsideForNobodyKeepsItsHart) {
    GuestRoot guest;
    EXPECT_TRUE(base.admit(guest));
    EXPECT_EQ(base.step_aside(guest), &guest);
    EXPECT_EQ(guest.held, 1u);
    EXPECT_EQ(base.release(guest), nullptr);
}

// The root that has the hart was served longer ago than the root that waits has been there.
TEST_F(BaseTest, OneThatComesLateHasItsTurnOnceASliceIsOver) {
    harts = 2;
    GuestRoot one, two, three;
    EXPECT_TRUE(base.admit(one));
    EXPECT_TRUE(base.admit(two));
    base.put(two, -1);
    harts = 1;
    EXPECT_FALSE(base.admit(three));
    EXPECT_EQ(one.to_reclaim, 0u);
    now = slice;
    base.look();
    EXPECT_EQ(one.to_reclaim, 1u);
    EXPECT_EQ(base.release(one), &three);
    base.put(three, -1);
}

// One hart. A guest that waits again for what it was woken for gives the hart to the next one, and
// is the first of those that wait afterwards.
struct InVain : BaseTest {
    GuestRoot one, two, three;

    void SetUp() override {
        BaseTest::SetUp();
        harts = 1;
        EXPECT_TRUE(base.admit(one));
        EXPECT_FALSE(base.admit(two));
        EXPECT_FALSE(base.admit(three));
    }
    void TearDown() override {
        for (Root* next = one.held != 0 ? &one : two.held != 0 ? &two : &three; next != nullptr;)
            next = base.release(*next);
        BaseTest::TearDown();
    }
    // The guest waits, and is woken at once, where others have come meanwhile.
    Root* waits_again(GuestRoot& guest, bool in_vain) {
        guest.in_vain = in_vain;
        Root* const next = base.release(guest);
        EXPECT_FALSE(base.admit(guest));
        return next;
    }
};

TEST_F(InVain, WhoIsWokenForNothingKeepsItsPlace) {
    EXPECT_EQ(waits_again(one, true), &two);
    EXPECT_EQ(waits_again(two, false), &one);
    EXPECT_EQ(waits_again(one, false), &three);
}

TEST_F(InVain, WhoIsWokenForSomethingGoesToTheEnd) {
    EXPECT_EQ(waits_again(one, false), &two);
    EXPECT_EQ(waits_again(two, false), &three);
}

TEST_F(InVain, AfterASliceAltogetherItGoesToTheEndAsWell) {
    now += slice / 2;
    EXPECT_EQ(waits_again(one, true), &two);
    EXPECT_EQ(waits_again(two, false), &one);
    now += slice / 2;
    EXPECT_EQ(waits_again(one, true), &three);
    EXPECT_EQ(waits_again(three, true), &two);
    EXPECT_EQ(waits_again(two, false), &three);
    EXPECT_EQ(waits_again(three, false), &one);
    EXPECT_EQ(waits_again(one, true), &two);   // the guest has come anew
    EXPECT_EQ(waits_again(two, false), &one);
}

TEST_F(BaseTest, AHartThatAGuestHasLeftLooseIsTakenWhenSomebodyLacksOne) {
    harts = 2;
    GuestRoot one, two, three;
    EXPECT_TRUE(base.admit(one));
    one.guest_phase.store(GuestPhase::reclaimable);
    EXPECT_TRUE(base.admit(two)) << "there is another";
    two.guest_phase.store(GuestPhase::held);
    EXPECT_EQ(one.guest_phase.load(), GuestPhase::reclaimable);
    EXPECT_TRUE(base.admit(three));
    EXPECT_EQ(one.guest_phase.load(), GuestPhase::outside);
    EXPECT_EQ(one.held, 0u);
    base.put(two, -1);
    base.put(three, -1);
    EXPECT_EQ(base.granted(), 0u);
}

TEST_F(BaseTest, AHartThatIsReclaimableIsAvailableAsThoseThatNobodyHas) {
    harts = 3;
    GuestRoot one;
    EXPECT_EQ(base.available(), 3u);
    EXPECT_TRUE(base.admit(one));
    one.guest_phase.store(GuestPhase::held);
    EXPECT_EQ(base.available(), 2u);
    one.guest_phase.store(GuestPhase::reclaimable);
    EXPECT_EQ(base.available(), 3u);
    harts = 0;
    EXPECT_EQ(base.available(), 0u) << "of fewer harts than are held none is";
    harts = 3;
    one.guest_phase.store(GuestPhase::held);
    base.put(one, -1);
}

TEST_F(BaseTest, AHartThatAGuestHasTakenUpAgainIsNotTaken) {
    harts = 1;
    GuestRoot one, two;
    EXPECT_TRUE(base.admit(one));
    one.guest_phase.store(GuestPhase::reclaimable);
    EXPECT_EQ(one.to_reclaim, 0u);
    one.guest_phase.store(GuestPhase::held);
    EXPECT_FALSE(base.admit(two));
    EXPECT_TRUE(one.contended.load()) << "it does not leave its hart reclaimable again";
    now = slice;
    base.look();
    EXPECT_EQ(one.to_reclaim, 1u);
    EXPECT_EQ(base.release(one), &two);
    base.put(two, -1);
}

TEST_F(BaseTest, AGuestIsAdmittedThoughNobodyCanBeSentToTheOthers) {
    harts = 1;
    refuses = true;
    base.request(a, 1);
    refuses = false;
    GuestRoot one;
    EXPECT_TRUE(base.admit(one) || came(a) == 1);
    if (one.held == 0) {
        EXPECT_EQ(give_back(a), &one);
    }
    base.put(one, -1);
}

TEST_F(BaseTest, AHartThatIsWithheldIsAskedBackAndGoesToNobody) {
    base.request(a, 4);
    EXPECT_TRUE(base.withhold(1));
    EXPECT_EQ(base.limit_in_effect(), 3u);
    EXPECT_EQ(a.to_reclaim, 1u);
    EXPECT_EQ(give_back(a), nullptr);
    EXPECT_EQ(a.to_reclaim, 0u);
    EXPECT_EQ(base.available(), 0u);
    base.request(b, 1);
    EXPECT_EQ(came(b), 0u);
    EXPECT_TRUE(base.withhold(0));
    EXPECT_EQ(came(b), 1u);
}

TEST_F(BaseTest, OneHartIsLeftHoweverManyAreWithheld) {
    EXPECT_TRUE(base.withhold(9));
    EXPECT_EQ(base.limit_in_effect(), 1u);
    base.request(a, 1);
    EXPECT_EQ(came(a), 1u);
}

TEST_F(BaseTest, NoneIsWithheldOfOneThatIsTold) {
    Root streams;
    streams.notified = true;
    base.join(streams);
    EXPECT_TRUE(base.withhold(1));
    base.take(streams, 1);
    EXPECT_FALSE(base.withhold(1));
    EXPECT_EQ(base.limit_in_effect(), 4u);
    base.put(streams, -1);
    EXPECT_TRUE(base.withhold(1));
    base.take(streams, 1);
    base.close(streams);
    bool last = false;
    base.give_back(streams, last);
    EXPECT_TRUE(last);
}

using BaseDeathTest = BaseTest;

TEST_F(BaseDeathTest, ARootWithMoreHartsOnTheirWayThanItHoldsStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    a.coming = 1;
    EXPECT_DEATH(base.take(a, 1), "does not hold");
    a.coming = 0;
}

TEST_F(BaseDeathTest, AHartThatNobodyWasGrantedStopsTheSimulator) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    base.check_whole();
    base.take(a, 1);
    base.check_whole();
    ++a.held;
    EXPECT_DEATH(base.check_whole(), "does not hold");
    --a.held;
    give_back(a);
}

}   // namespace
}   // namespace weft::hart
