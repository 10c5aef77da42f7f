// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every call that is refused, in every context and for every unit that it is refused for. Calls
// that are not refused have a dash here; other tests cover them.
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

// Short names for the tables.
constexpr auto context = WEFT_WRONG_CONTEXT, kind = WEFT_WRONG_KIND, state = WEFT_WRONG_STATE;
constexpr auto done = WEFT_OK;   // not refused

struct Call {
    const char* name;
    weft_status (*call)(weft_unit* target);
};

weft_pool* elsewhere;   // a target for migrations
weft_key* some_key;
weft_stream* some_stream;

void nothing(void*) {}

weft_status spawn_child_first(weft_unit*) {
    auto chosen = options();
    chosen.child_first = true;
    weft_unit* unit = nullptr;
    return weft_ult_spawn(nullptr, nothing, nullptr, &chosen, &unit);
}

constexpr Call join{"join", weft_unit_join};
constexpr Call join_many{"join_many", [](weft_unit* unit) { return weft_unit_join_many(&unit, 1); }};
constexpr Call join_free{"join_free", weft_unit_join_free};
constexpr Call join_free_many{"join_free_many", [](weft_unit* unit) { return weft_unit_join_free_many(&unit, 1); }};
constexpr Call detach{"detach", weft_unit_detach};
constexpr Call exit_unit{"exit", [](weft_unit*) { return weft_unit_exit(); }};
constexpr Call yield{"yield", [](weft_unit*) { return weft_unit_yield(); }};
constexpr Call suspend{"suspend", [](weft_unit*) { return weft_unit_suspend(nullptr, nullptr); }};
constexpr Call yield_to{"yield_to", weft_unit_yield_to};
constexpr Call suspend_to{"suspend_to", hand_off<WEFT_TO_READY, WEFT_BY_SUSPEND>};
constexpr Call exit_to{"exit_to", hand_off<WEFT_TO_READY, WEFT_BY_EXIT>};
constexpr Call resume{"resume", weft_unit_resume};
constexpr Call resume_yield_to{"resume_yield_to", hand_off<WEFT_TO_SUSPENDED, WEFT_BY_YIELD>};
constexpr Call resume_suspend_to{"resume_suspend_to", hand_off<WEFT_TO_SUSPENDED, WEFT_BY_SUSPEND>};
constexpr Call resume_exit_to{"resume_exit_to", hand_off<WEFT_TO_SUSPENDED, WEFT_BY_EXIT>};
constexpr Call cancel{"cancel", weft_unit_cancel};
constexpr Call migrate{"migrate_to_pool", [](weft_unit* unit) { return weft_unit_migrate_to_pool(unit, elsewhere); }};
constexpr Call migrate_to_stream{"migrate_to_stream",
                                 [](weft_unit* unit) { return weft_unit_migrate_to_stream(unit, some_stream); }};
constexpr Call migrate_wait{"migrate_wait", weft_unit_migrate_wait};
constexpr Call migratable_set{"migratable_set", [](weft_unit* unit) { return weft_unit_migratable_set(unit, false); }};
constexpr Call revive{"revive", [](weft_unit* unit) { return weft_unit_revive(unit, elsewhere, nothing, nullptr); }};
constexpr Call local_set{"local_set", [](weft_unit*) { return weft_local_set(some_key, nullptr); }};
constexpr Call unit_local_set{"unit_local_set",
                              [](weft_unit* unit) { return weft_unit_local_set(unit, some_key, nullptr); }};
constexpr Call child_first{"spawn child_first", spawn_child_first};
constexpr Call stream_free{"stream_free", [](weft_unit*) { return weft_stream_join_free(some_stream); }};

void expect(const Call& call, weft_unit* target, weft_status status, const char* where) {
    if (status == done) return;
    EXPECT_EQ(weft_status_name(call.call(target)), std::string(weft_status_name(status))) << call.name << " " << where;
    EXPECT_STRNE(weft_error_text(), "") << call.name << " " << where;
}

weft_settings shared_pools() {
    auto settings = with_streams(1);
    settings.pool = WEFT_POOL_SHARED;
    settings.scheduler = WEFT_SCHED_BASIC;
    return settings;
}

class Refused : public testing::Test {
protected:
    void SetUp() override {
        runtime_ = std::make_unique<Runtime>(shared_pools());
        elsewhere = make_pool(WEFT_POOL_SHARED);
        ASSERT_NE(elsewhere, nullptr);
        ASSERT_EQ(weft_key_create(nullptr, &some_key), WEFT_OK);
        stream_ = std::make_unique<Stream>();
        some_stream = stream_->handle();
    }
    void TearDown() override {
        stream_.reset();
        EXPECT_EQ(weft_key_free(some_key), WEFT_OK);
        runtime_.reset();
    }

private:
    std::unique_ptr<Runtime> runtime_;
    std::unique_ptr<Stream> stream_;
};

// ---- by the caller ------------------------------------------------------------------------------

struct ByCaller {
    Call call;
    weft_status outside, tasklet, scheduler;
};

constexpr ByCaller by_caller[] = {
    // call             outside  tasklet  scheduler
    {yield, context, kind, context},           {suspend, context, kind, context},
    {exit_unit, context, kind, context},       {yield_to, context, kind, context},
    {suspend_to, context, kind, context},      {exit_to, context, kind, context},
    {resume_yield_to, context, kind, context}, {resume_suspend_to, context, kind, context},
    {resume_exit_to, context, kind, context},  {join, done, kind, context},
    {join_many, done, kind, context},          {join_free, done, kind, context},
    {join_free_many, done, kind, context},     {migrate_wait, done, kind, context},
    {local_set, context, done, context},       {child_first, context, context, context},
    {stream_free, done, context, context},
};

}   // namespace

TEST_F(Refused, OutsideOfUnitsInATaskletAndOnASchedulersStack) {
    weft_pool* still = make_pool(WEFT_POOL_SHARED);   // no stream draws from it, so its units stay ready
    Ult ready([] {}, nullptr, still);
    EXPECT_EQ(weft_unit_migrate_to_pool(ready.handle(), elsewhere), WEFT_OK);   // something to wait for
    std::thread([&] {
        for (const auto& row : by_caller) expect(row.call, ready.handle(), row.outside, "outside of units");
    }).join();
    static weft_unit* target;
    target = ready.handle();
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void*) {
                      for (const auto& row : by_caller) expect(row.call, target, row.tasklet, "in a tasklet");
                  },
                  nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    atomic<bool> over{false};
    std::function<void()> all = [&] {
        for (const auto& row : by_caller) expect(row.call, ready.handle(), row.scheduler, "on a scheduler's stack");
        over = true;
    };
    ASSERT_EQ(weft_stream_post(
                  weft_stream_self(), [](void* calls) { (*static_cast<std::function<void()>*>(calls))(); }, &all),
              WEFT_OK);
    until_set(over);
    Stream drawer(still);
    Stream other(elsewhere);
    EXPECT_EQ(ready.join(), WEFT_OK);
}

// ---- by the unit that it is called for ----------------------------------------------------------

namespace {

struct ByUnit {
    Call call;
    weft_status itself, running, ready, suspended, waiting, ended, tasklet, primary;
};

constexpr ByUnit by_unit[] = {
    // call              itself running ready  suspended waiting ended  tasklet primary
    {join, state, done, done, done, done, done, done, state},
    {join_free, state, done, done, done, done, done, done, state},
    {detach, done, done, done, done, done, done, done, state},
    {yield_to, state, state, done, state, state, state, kind, state},
    {suspend_to, state, state, done, state, state, state, kind, state},
    {exit_to, state, state, done, state, state, state, kind, state},
    {resume, state, state, state, done, state, state, state, state},
    {resume_yield_to, state, state, state, done, state, state, kind, state},
    {resume_suspend_to, state, state, state, done, state, state, kind, state},
    {resume_exit_to, state, state, state, done, state, state, kind, state},
    {cancel, done, done, done, done, done, state, done, state},
    {migrate, done, done, done, done, done, state, done, state},
    {migrate_to_stream, done, done, done, done, done, state, done, state},
    {migratable_set, done, done, done, done, done, done, done, state},
    {revive, state, state, state, state, state, done, state, state},
    {unit_local_set, done, done, done, done, done, state, done, done},
};

}   // namespace

TEST_F(Refused, ForAUnitThatIsItselfRunsIsReadySuspendedWaitsOrHasEnded) {
    weft_unit* const primary = weft_unit_self();
    weft_pool* still = make_pool(WEFT_POOL_SHARED);
    ASSERT_NE(still, nullptr);
    Stream stream;
    atomic<bool> runs{false}, stop{false};
    Bed bed, child_bed;
    Ult running(
        [&] {
            runs = true;
            while (!stop) std::this_thread::yield();
        },
        nullptr, stream.pool());
    Ult ready([] {}, nullptr, still);
    Ult suspended([&] { bed.sleep(); });
    Ult child([&] { child_bed.sleep(); });
    Ult waiting([&] { EXPECT_EQ(child.join(), WEFT_OK); });
    Ult ended([] {});
    EXPECT_EQ(ended.join(), WEFT_OK);
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(still, nothing, nullptr, nullptr, &tasklet), WEFT_OK);
    until([&] { return runs && bed.occupied() && child_bed.occupied() && waiting.state() == WEFT_UNIT_SUSPENDED; });
    Ult caller([&] {
        for (const auto& row : by_unit) {
            expect(row.call, weft_unit_self(), row.itself, "for itself");
            expect(row.call, running.handle(), row.running, "for one that runs");
            expect(row.call, ready.handle(), row.ready, "for one that is ready");
            expect(row.call, suspended.handle(), row.suspended, "for one that is suspended");
            expect(row.call, waiting.handle(), row.waiting, "for one that waits");
            expect(row.call, ended.handle(), row.ended, "for one that has ended");
            expect(row.call, tasklet, row.tasklet, "for a tasklet");
            expect(row.call, primary, row.primary, "for the primary unit");
        }
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
    stop = true;
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(child_bed.wake(), WEFT_OK);
    Stream drawer(still);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    for (Ult* unit : {&running, &ready, &suspended, &waiting}) EXPECT_EQ(unit->join(), WEFT_OK);
}

TEST_F(Refused, ThePrimaryUnitDoesNotEnd) {
    weft_pool* still = make_pool(WEFT_POOL_SHARED);
    ASSERT_NE(still, nullptr);
    Bed bed;
    Ult ready([] {}, nullptr, still);
    Ult sleeper([&] { bed.sleep(); });
    until([&] { return bed.occupied(); });
    EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_hand_off(ready.handle(), WEFT_TO_READY, WEFT_BY_EXIT), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_hand_off(sleeper.handle(), WEFT_TO_SUSPENDED, WEFT_BY_EXIT), WEFT_WRONG_STATE);
    EXPECT_EQ(ready.state(), WEFT_UNIT_READY) << "nothing has happened to it";
    EXPECT_EQ(sleeper.state(), WEFT_UNIT_SUSPENDED);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    Stream drawer(still);
    EXPECT_EQ(ready.join(), WEFT_OK);
}

TEST_F(Refused, AUnitOfAnotherStreamsPrivatePoolRunsNowhereElse) {
    Stream owner(make_pool(WEFT_POOL_PRIVATE));
    weft_pool* unowned = make_pool(WEFT_POOL_PRIVATE);
    Bed bed;
    Ult sleeper([&] { bed.sleep(); }, nullptr, owner.pool());
    until([&] { return bed.occupied(); });
    Ult ready([] {}, nullptr, unowned);
    for (const Call& call : {resume_yield_to, resume_suspend_to}) {
        EXPECT_EQ(call.call(sleeper.handle()), WEFT_UNSUPPORTED) << call.name;
    }
    for (const Call& call : {yield_to, suspend_to}) EXPECT_EQ(call.call(ready.handle()), WEFT_UNSUPPORTED) << call.name;
    EXPECT_EQ(sleeper.state(), WEFT_UNIT_SUSPENDED);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(sleeper.join(), WEFT_OK);
    Stream drawer(unowned);
    EXPECT_EQ(ready.join(), WEFT_OK);
}

TEST_F(Refused, AUnitThatWasTakenOutOfAPrivatePoolIsMovedByTheStreamOfThatPoolAlone) {
    weft_pool* const owned = make_pool(WEFT_POOL_PRIVATE);
    ASSERT_NE(owned, nullptr);
    Stream owner(owned);
    atomic<weft_unit*> popped{nullptr};
    atomic<bool> go_on{false};
    std::unique_ptr<Ult> unit;
    Ult taker(
        [&] {
            unit = std::make_unique<Ult>([] {}, nullptr, owner.pool());
            weft_unit* taken = nullptr;
            EXPECT_EQ(weft_pool_pop(owner.pool(), &taken), WEFT_OK);
            popped = taken;
            until_set(go_on);
            EXPECT_EQ(weft_pool_push(elsewhere, taken), WEFT_OK);
        },
        nullptr, owner.pool());
    until([&] { return popped != nullptr; });
    EXPECT_EQ(weft_pool_push(elsewhere, popped), WEFT_WRONG_CONTEXT);
    go_on = true;
    EXPECT_EQ(taker.join(), WEFT_OK);
    Stream drawer(elsewhere);
    EXPECT_EQ(unit->join(), WEFT_OK);
}

TEST_F(Refused, ATaskletThatHasStartedGoesNowhere) {
    static atomic<bool> runs, stop;
    runs = stop = false;
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  [] {
                      weft_pool* pool = nullptr;
                      EXPECT_EQ(weft_stream_pool_get(some_stream, &pool), WEFT_OK);
                      return pool;
                  }(),
                  [](void*) {
                      runs = true;
                      while (!stop) std::this_thread::yield();
                  },
                  nullptr, nullptr, &tasklet),
              WEFT_OK);
    until([] { return runs.load(); });
    for (const Call& call : {migrate, resume, yield_to, resume_yield_to})
        EXPECT_NE(call.call(tasklet), WEFT_OK) << call.name;
    EXPECT_EQ(migrate.call(tasklet), WEFT_WRONG_STATE);
    stop = true;
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}
