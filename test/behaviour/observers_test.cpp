// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Observers: the events they receive for each kind of unit, once each and in order.
#include <stdexcept>
#include <thread>

#include "base/probe.hpp"
#include "test/behaviour/notes.hpp"
#include "unit/handle.hpp"

using namespace weft_test;

namespace {

// One stream and several, with pools of each kind.
std::vector<weft_settings> ways() {
    std::vector<weft_settings> made;
    for (auto [streams, pool] :
         {std::pair{1, WEFT_POOL_PRIVATE}, {1, WEFT_POOL_SHARED}, {2, WEFT_POOL_DEQUE}, {2, WEFT_POOL_PRIVATE}}) {
        for (const auto guard : {WEFT_GUARD_AUTO, WEFT_GUARD_CANARY}) {
            weft_settings settings = with_streams(static_cast<std::size_t>(streams));
            settings.pool = pool;
            settings.guard = guard;
            made.push_back(settings);
        }
    }
    return made;
}

}   // namespace

TEST(Observers, AUnitIsCreatedStartedFinishedJoinedAndFreedOnceEach) {
    for (const weft_settings& settings : ways()) {
        for (const auto kind : {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_TASKLET}) {
            Runtime runtime(settings);
            Notes notes;
            weft_unit_options how = options();
            if (kind != WEFT_KIND_TASKLET) how.kind = kind;
            auto* const spawner = kind == WEFT_KIND_TASKLET ? weft_tasklet_spawn : weft_ult_spawn;
            weft_unit *freed = nullptr, *joined = nullptr;
            EXPECT_EQ(spawner(nullptr, nothing, nullptr, &how, &freed), WEFT_OK);
            EXPECT_EQ(spawner(nullptr, nothing, nullptr, nullptr, &joined), WEFT_OK);
            weft_unit *const first = freed, *const second = joined;
            EXPECT_EQ(weft_unit_join_free(freed), WEFT_OK);
            EXPECT_EQ(weft_unit_join(joined), WEFT_OK);
            EXPECT_EQ(notes.life(second), "csfj");
            EXPECT_EQ(weft_unit_join(joined), WEFT_OK) << "a second time is no news";
            EXPECT_EQ(weft_unit_try_join(joined), WEFT_OK);
            EXPECT_EQ(weft_unit_join_free(joined), WEFT_OK);
            EXPECT_EQ(notes.life(first), "csfjx");
            EXPECT_EQ(notes.life(second), "csfjx");
            for (const Seen& seen : notes.of(second)) {
                EXPECT_EQ(seen.waits_for, "");
                EXPECT_EQ(seen.object, nullptr);
                EXPECT_EQ(seen.outcome, WEFT_OUTCOME_RETURNED);
                EXPECT_NE(seen.pool, nullptr);
            }
        }
    }
}

TEST(Observers, WhoDoesItIsTheCallingUnit) {
    Runtime runtime;
    weft_unit* const self = weft_unit_self();
    Notes notes;
    weft_unit* unit = spawn(yield_once);
    weft_unit_join_free(unit);
    std::string by;
    for (const Seen& seen : notes.of(unit)) by += seen.self == unit ? 'u' : seen.self == self ? 'm' : '?';
    EXPECT_EQ(notes.life(unit), "csyrfjx");
    EXPECT_EQ(by, "muuuuum") << "that its joiner learns of the end is told where it ends";
}

TEST(Observers, AJoinerThatCouldCallItsUnitSuspendsAndResumes) {
    Runtime runtime;
    weft_unit* const self = weft_unit_self();
    Notes notes;
    weft_unit* unit = spawn(nothing);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    std::string order;
    for (const Seen& seen : notes.all())
        order += seen.unit == self ? static_cast<char>(std::toupper(seen.what)) : seen.what;
    EXPECT_EQ(order, "cWsfjRx");
    const Seen wait = notes.at(self, 0);
    EXPECT_EQ(wait.waits_for, "join");
    EXPECT_EQ(wait.object, unit);
}

TEST(Observers, AnEndThatNobodyWaitedForIsLearnedOnce) {
    for (const weft_settings& settings : ways()) {
        Runtime runtime(settings);
        Notes notes;
        weft_unit* units[4];
        for (weft_unit*& unit : units) unit = spawn(nothing);
        until([&] {
            for (weft_unit* unit : units) {
                if (notes.life(unit) != "csf") return false;
            }
            return true;
        });
        until([&] { return units_alive() == 5 && waiting_for("join") == 0; });
        for (weft_unit* unit : units) {
            weft_unit_state state;
            until([&] { return weft_unit_state_get(unit, &state) == WEFT_OK && state == WEFT_UNIT_DONE; });
        }
        until([&] { return weft_unit_try_join(units[0]) == WEFT_OK; });
        EXPECT_EQ(notes.life(units[0]), "csfj");
        EXPECT_EQ(weft_unit_join(units[1]), WEFT_OK);
        EXPECT_EQ(weft_unit_join(units[1]), WEFT_OK);
        EXPECT_EQ(notes.life(units[1]), "csfj");
        weft_unit* const third = units[2];
        until([&] { return weft_unit_join_until(third, weft_now_ns()) == WEFT_OK; });
        EXPECT_EQ(notes.life(third), "csfj");
        std::thread([&] { EXPECT_EQ(weft_unit_join(units[3]), WEFT_OK); }).join();
        EXPECT_EQ(notes.life(units[3]), "csfj");
        // The OS thread learns the end; or the end is reported where the unit ended, if the thread
        // came just before the unit's very last step.
        weft_stream* const learned_on = notes.at(units[3], 3).stream;
        EXPECT_TRUE(learned_on == nullptr || learned_on == notes.at(units[3], 2).stream);
        std::vector<weft_unit*> kept(units, units + 4);
        EXPECT_EQ(weft_unit_join_free_many(units, 4), WEFT_OK);
        for (weft_unit* unit : kept) EXPECT_EQ(notes.life(unit), "csfjx");
    }
}

// The unit ends between the joiner's check and its announcement.
TEST(Observers, AnEndThatComesWhileSomebodyBeginsToWaitIsLearnedOnce) {
    if constexpr (!weft::config::checked) GTEST_SKIP() << "probes are in checked builds";
    static atomic<bool> holds, come, let;
    for (const bool from_outside : {false, true}) {
        Runtime runtime;
        weft_pool* pool = make_pool(WEFT_POOL_SHARED);
        auto elsewhere = std::make_unique<Stream>(pool);
        holds = come = let = false;
        Notes notes;
        weft_unit* unit = spawn(
            [](void*) {
                while (!come) std::this_thread::yield();
            },
            nullptr, pool);
        until([&] { return notes.life(unit) == "cs"; });
        weft::probe_hook.store([](weft::Probe where) {
            if (where != weft::Probe::join_before_announce || !holds.exchange(false)) return;
            come = true;
            while (!let) std::this_thread::yield();
        });
        holds = true;
        std::thread watcher([&] {
            weft_unit_state state = WEFT_UNIT_RUNNING;
            while (notes.life(unit) != "csf" || weft_unit_state_get(unit, &state) != WEFT_OK || state != WEFT_UNIT_DONE)
                std::this_thread::yield();
            while (!weft::to_unit(unit)->join_state.done()) std::this_thread::yield();
            let = true;
        });
        auto join = [&] { EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK); };
        if (from_outside) {
            std::thread(join).join();
        } else {
            join();
        }
        watcher.join();
        weft::probe_hook.store(nullptr);
        EXPECT_EQ(notes.life(unit), "csfjx");
        elsewhere.reset();
        notes.stop();
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
}

TEST(Observers, ManyUnitsAtOnceAreToldOfOneByOne) {
    for (const weft_settings& settings : ways()) {
        Runtime runtime(settings);
        Notes notes;
        std::vector<weft_unit*> units(20'000);
        EXPECT_EQ(weft_unit_spawn_many(nullptr, units.size(), nothing, nullptr, nullptr, units.data()), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free_many(units.data(), units.size()), WEFT_OK);
        notes.stop();
        const auto lives = notes.lives();
        EXPECT_EQ(lives.size(), units.size());
        for (const std::string& life : lives) EXPECT_EQ(life, "csfjx");
    }
}

TEST(Observers, ADetachedUnitIsFreedWithoutAJoin) {
    for (const weft_settings& settings : ways()) {
        Runtime runtime(settings);
        Notes notes;
        atomic<bool> done{false};
        auto body = [](void* flag) { static_cast<atomic<bool>*>(flag)->store(true); };
        EXPECT_EQ(weft_ult_spawn(nullptr, body, &done, nullptr, nullptr), WEFT_OK);
        until_set(done);
        weft_unit* unit = spawn(nothing);
        EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
        until([] { return units_alive() == 1; });
        notes.stop();
        const auto lives = notes.lives();
        EXPECT_EQ(lives.size(), 2u);
        for (const std::string& life : lives) EXPECT_EQ(life, "csfx");
    }
}

TEST(Observers, AChildThatRunsFirstStartsWhileItsParentYields) {
    Runtime runtime;
    weft_unit* const self = weft_unit_self();
    Notes notes;
    auto how = options();
    how.child_first = true;
    weft_unit* child = nullptr;
    EXPECT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &how, &child), WEFT_OK);
    std::string order;
    for (const Seen& seen : notes.all())
        order += seen.unit == self ? static_cast<char>(std::toupper(seen.what)) : seen.what;
    EXPECT_EQ(order, "cYsfR");
    EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);
    EXPECT_EQ(notes.life(child), "csfjx");
}

TEST(Observers, ASuspensionSaysWhatForAndEndsWithAResume) {
    for (const weft_settings& settings : ways()) {
        Runtime runtime(settings);
        Notes notes;
        Bed bed;
        weft_event event = WEFT_EVENT_INIT;
        weft_mutex mutex = WEFT_MUTEX_INIT;
        weft_unit* sleeper = spawn(sleep_in, &bed);
        EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
        weft_unit* locker = spawn(
            [](void* raw) {
                auto* of = static_cast<weft_mutex*>(raw);
                EXPECT_EQ(weft_mutex_lock(of), WEFT_OK);
                EXPECT_EQ(weft_mutex_unlock(of), WEFT_OK);
            },
            &mutex);
        weft_unit* listener = spawn(
            [](void* raw) { EXPECT_EQ(weft_event_wait(static_cast<weft_event*>(raw), nullptr), WEFT_OK); }, &event);
        weft_unit* dozer = spawn([](void*) { EXPECT_EQ(weft_sleep_until(in_ms(1)), WEFT_OK); });
        until([&] { return bed.occupied() && waiting_for("mutex") == 1 && waiting_for("event") == 1; });
        EXPECT_EQ(notes.life(listener), "csw");
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
        until([&] { return bed.wake() == WEFT_OK; });
        const struct {
            weft_unit* unit;
            const char* waits_for;
            const void* object;
        } all[] = {{sleeper, "suspend", &bed},
                   {locker, "mutex", &mutex},
                   {listener, "event", &event},
                   {dozer, "sleep", nullptr}};
        for (const auto& one : all) {
            EXPECT_EQ(weft_unit_join_free(one.unit), WEFT_OK);
            EXPECT_EQ(without_pairs(notes.life(one.unit), {"wr"}), "csfjx") << one.waits_for;
            EXPECT_NE(notes.life(one.unit), "csfjx");
            for (const Seen& seen : notes.of(one.unit)) {
                if (seen.what != 'w') continue;
                EXPECT_EQ(seen.waits_for, one.waits_for);
                EXPECT_EQ(seen.object, one.object) << one.waits_for;
            }
        }
    }
}

TEST(Observers, AConditionAndABlockingCallAreWaitedFor) {
    Runtime runtime(2);
    Notes notes;
    struct Shared {
        weft_mutex mutex = WEFT_MUTEX_INIT;
        weft_cond condition = WEFT_COND_INIT;
        bool come = false;
    } shared;
    weft_unit* waits = spawn(
        [](void* raw) {
            auto& of = *static_cast<Shared*>(raw);
            weft_mutex_lock(&of.mutex);
            while (!of.come) EXPECT_EQ(weft_cond_wait(&of.condition, &of.mutex), WEFT_OK);
            weft_mutex_unlock(&of.mutex);
        },
        &shared);
    weft_unit* blocks = spawn([](void*) { EXPECT_EQ(weft_blocking(nothing, nullptr), WEFT_OK); });
    until([&] { return waiting_for("condition") == 1; });
    weft_mutex_lock(&shared.mutex);
    shared.come = true;
    weft_cond_signal(&shared.condition);
    weft_mutex_unlock(&shared.mutex);
    for (weft_unit* unit : {waits, blocks}) {
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(without_pairs(notes.life(unit), {"wr"}), "csfjx");
        EXPECT_NE(notes.life(unit), "csfjx");
    }
    EXPECT_EQ(notes.at(blocks, 2).waits_for, "blocking call");
}

TEST(Observers, LeavingForANamedUnitIsAYieldASuspensionOrAnEnd) {
    Runtime runtime;
    Notes notes;
    weft_unit* target = spawn(yield_once);
    EXPECT_EQ(weft_unit_yield_to(target), WEFT_OK);
    weft_unit_join_free(target);
    EXPECT_EQ(notes.life(target), "csyrfjx");
    weft_unit* goes = nullptr;
    target = spawn(
        [](void* unit) {
            EXPECT_EQ(weft_unit_hand_off(*static_cast<weft_unit**>(unit), WEFT_TO_SUSPENDED, WEFT_BY_YIELD), WEFT_OK);
        },
        &goes);
    goes = spawn(
        [](void* unit) {
            EXPECT_EQ(weft_unit_hand_off(static_cast<weft_unit*>(unit), WEFT_TO_READY, WEFT_BY_SUSPEND), WEFT_OK);
        },
        target);
    EXPECT_EQ(weft_unit_yield_to(goes), WEFT_OK);
    weft_unit_join_free(target);
    weft_unit_join_free(goes);
    EXPECT_EQ(notes.life(goes), "cswrfjx");
    EXPECT_EQ(notes.life(target), "csyrfjx");
    weft_unit* last = spawn(nothing);
    weft_unit* ends =
        spawn([](void* unit) { weft_unit_hand_off(static_cast<weft_unit*>(unit), WEFT_TO_READY, WEFT_BY_EXIT); }, last);
    EXPECT_EQ(weft_unit_yield_to(ends), WEFT_OK);
    weft_unit_join_free(ends);
    weft_unit_join_free(last);
    EXPECT_EQ(notes.life(ends), "csfjx");
    EXPECT_EQ(notes.life(last), "csfjx");
}

TEST(Observers, HowAUnitEndedIsTold) {
    Runtime runtime(2);
    Notes notes;
    weft_unit* throws = spawn([](void*) { throw std::runtime_error("no"); });
    weft_unit* exits = spawn([](void*) { weft_unit_exit(); });
    EXPECT_EQ(end_of(throws), WEFT_OUTCOME_EXCEPTION);
    EXPECT_EQ(weft_unit_join_free(exits), WEFT_OK);
    EXPECT_EQ(notes.life(throws), "csfjx");
    EXPECT_EQ(notes.life(exits), "csfjx");
    for (const Seen& seen : notes.of(throws))
        EXPECT_EQ(seen.outcome, seen.what == 'c' || seen.what == 's' ? WEFT_OUTCOME_RETURNED : WEFT_OUTCOME_EXCEPTION)
            << seen.what;
}

TEST(Observers, AUnitThatIsCancelledBeforeItsTurnHasNoStart) {
    Runtime runtime;
    Notes notes;
    weft_unit* ult = spawn(nothing);
    weft_unit* tasklet = spawn_tasklet(nothing);
    weft_unit* yields = spawn([](void*) {
        for (;;) weft_unit_yield();
    });
    for (weft_unit* unit : {ult, tasklet}) EXPECT_EQ(weft_unit_cancel(unit), WEFT_OK);
    for (weft_unit* unit : {ult, tasklet}) {
        EXPECT_EQ(end_of(unit), WEFT_OUTCOME_CANCELLED);
        EXPECT_EQ(notes.life(unit), "ckfjx");
        EXPECT_EQ(notes.at(unit, 2).outcome, WEFT_OUTCOME_CANCELLED);
    }
    weft_unit_yield();
    EXPECT_EQ(weft_unit_cancel(yields), WEFT_OK);
    EXPECT_EQ(end_of(yields), WEFT_OUTCOME_CANCELLED);
    EXPECT_EQ(without_pairs(notes.life(yields), {"yr"}), "csykrfjx");
}

TEST(Observers, AMigrationIsToldWithTheNewPool) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    Notes notes;
    weft_unit* unstarted = spawn(nothing);
    weft_unit* tasklet = spawn_tasklet(nothing);
    weft_unit* started = spawn([](void*) {
        weft_unit_yield();
        weft_unit_yield();
    });
    {
        Stream other(pool);
        EXPECT_EQ(weft_unit_migrate_to_pool(unstarted, pool), WEFT_OK);
        EXPECT_EQ(weft_unit_migrate_to_pool(tasklet, pool), WEFT_OK);
        until([&] { return notes.life(started) == "csy"; });
        EXPECT_EQ(weft_unit_migrate_to_pool(started, pool), WEFT_OK);
        for (weft_unit* unit : {unstarted, tasklet, started}) {
            EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
            for (const Seen& seen : notes.of(unit)) {
                EXPECT_TRUE(seen.what != 'm' || seen.pool == pool);
                EXPECT_TRUE(seen.what != 'f' || seen.stream == other.handle());
            }
        }
    }
    EXPECT_EQ(notes.life(unstarted), "cmsfjx");
    EXPECT_EQ(notes.life(tasklet), "cmsfjx");
    EXPECT_EQ(notes.life(started), "csyrmyryrfjx");
    notes.stop();
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Observers, ARevivedUnitLivesOnceMore) {
    for (const weft_settings& settings : ways()) {
        Runtime runtime(settings);
        weft_unit* unseen = spawn(nothing);
        EXPECT_EQ(weft_unit_join(unseen), WEFT_OK);
        Notes notes;
        weft_unit* unit = spawn(nothing);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        EXPECT_EQ(weft_unit_revive(unit, nullptr, yield_once, nullptr), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(without_pairs(notes.life(unit), {"yr"}), "csfjvsfjx");
        EXPECT_EQ(weft_unit_revive(unseen, nullptr, nothing, nullptr), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unseen), WEFT_OK);
        EXPECT_EQ(notes.life(unseen), "vsfjx");
        unit = spawn(nothing);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        notes.stop();
        const std::size_t before = notes.count();
        EXPECT_EQ(weft_unit_revive(unit, nullptr, nothing, nullptr), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(notes.count(), before);
    }
}

TEST(Observers, AStackOfTheUsersAndAMeasuredOneAreNoExceptions) {
    Runtime runtime(2);
    Notes notes;
    std::vector<char> memory(1 << 16);
    auto how = options();
    how.stack = memory.data();
    how.stack_bytes = memory.size();
    weft_unit *on_memory = nullptr, *measured = nullptr;
    EXPECT_EQ(weft_ult_spawn(nullptr, yield_once, nullptr, &how, &on_memory), WEFT_OK) << weft_error_text();
    auto measure = options();
    measure.measure_stack = true;
    EXPECT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &measure, &measured), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(on_memory), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(measured), WEFT_OK);
    EXPECT_EQ(without_pairs(notes.life(on_memory), {"yr"}), "csfjx");
    EXPECT_EQ(notes.life(measured), "csfjx");
}

TEST(Observers, ValuesOfAUnitAreDestroyedBeforeItsEndIsTold) {
    Runtime runtime;
    Notes notes;
    weft_key* key = nullptr;
    EXPECT_EQ(weft_key_create([](void*) { weft_unit_yield(); }, &key), WEFT_OK);
    weft_unit* unit = spawn([](void* of) { EXPECT_EQ(weft_local_set(static_cast<weft_key*>(of), of), WEFT_OK); }, key);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(notes.life(unit), "csyrfjx");
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}

TEST(Observers, AnOsThreadThatSpawnsIsOnNoStream) {
    Runtime runtime(2);
    Notes notes;
    weft_unit* unit = nullptr;
    std::thread([&] {
        unit = spawn(nothing);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }).join();
    EXPECT_EQ(notes.life(unit), "csfjx");
    EXPECT_EQ(notes.at(unit, 0).stream, nullptr);
    EXPECT_EQ(notes.at(unit, 0).self, nullptr);
    EXPECT_NE(notes.at(unit, 1).stream, nullptr);
}

TEST(Observers, SchedulersAreNotObserved) {
    Runtime runtime;
    Notes notes;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    weft_sched* sched = make_sched(WEFT_SCHED_BASIC, {pool});
    weft_unit* by = nullptr;
    weft_sched_push_options how{};
    how.size = sizeof how;
    EXPECT_EQ(weft_sched_push(sched, pool_of(0), &how, &by), WEFT_OK) << weft_error_text();
    weft_unit* unit = spawn(yield_once, nullptr, pool);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(by), WEFT_OK);
    EXPECT_EQ(notes.life(by), "");
    EXPECT_EQ(notes.life(unit), "csyrfjx");
    notes.stop();
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}
