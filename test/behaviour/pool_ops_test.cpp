// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user-defined table may have besides push and pop, and what a program does with a pool by
// hand: many units at once, removal from the middle, waiting.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

// A user-defined pool that records its calls: first in, first out.
struct Diary {
    std::mutex mutex;
    std::vector<weft_unit*> units;
    std::vector<std::uint64_t> operations;
    std::vector<weft_unit*> attached, detached;
    int pushed_together = 0, popped_together = 0, waited = 0;
    int room = 1000;                      // for `admit`, which may refuse
    std::vector<weft_pool*> asked_from;   // the pools of the units that it was asked to admit

    static Diary& of(void* self) { return *static_cast<Diary*>(self); }
    static void push_with(void* self, weft_unit* unit, std::uint64_t operation) {
        std::lock_guard guard(of(self).mutex);
        of(self).units.push_back(unit);
        of(self).operations.push_back(operation);
    }
    static void push_many(void* self, weft_unit* const* units, std::size_t count, std::uint64_t operation) {
        ++of(self).pushed_together;
        for (std::size_t i = 0; i < count; ++i) push_with(self, units[i], operation);
    }
    static weft_unit* pop(void* self) {
        std::lock_guard guard(of(self).mutex);
        if (of(self).units.empty()) return nullptr;
        weft_unit* unit = of(self).units.front();
        of(self).units.erase(of(self).units.begin());
        return unit;
    }
    static std::size_t pop_many(void* self, weft_unit** units, std::size_t capacity) {
        ++of(self).popped_together;
        std::size_t count = 0;
        while (count < capacity && (units[count] = pop(self)) != nullptr) ++count;
        return count;
    }
    static weft_unit* pop_wait(void* self, std::uint64_t) {
        ++of(self).waited;
        return nullptr;
    }
    static std::size_t length(const void* self) {
        auto& diary = of(const_cast<void*>(self));
        std::lock_guard guard(diary.mutex);
        return diary.units.size();
    }
    static int remove(void* self, weft_unit* unit) {
        std::lock_guard guard(of(self).mutex);
        return std::erase(of(self).units, unit) != 0;
    }
    static void attach(void* self, weft_unit* unit) {
        std::lock_guard guard(of(self).mutex);
        of(self).attached.push_back(unit);
    }
    static void detach(void* self, weft_unit* unit) {
        std::lock_guard guard(of(self).mutex);
        of(self).detached.push_back(unit);
    }

    static int admit(void* self, weft_unit* unit) {
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_unit_pool_get(unit, &pool), WEFT_OK);
        std::lock_guard guard(of(self).mutex);
        of(self).asked_from.push_back(pool);
        if (of(self).room == 0) return 0;
        --of(self).room;
        of(self).attached.push_back(unit);
        return 1;
    }
    std::size_t members() {
        std::lock_guard guard(mutex);
        return attached.size() - detached.size();
    }

    weft_pool* make(bool may_refuse = false) {
        weft_pool_ops table{};
        table.size = sizeof table;
        table.push_with = push_with;
        table.pop = pop;
        table.length = length;
        table.remove = remove;
        table.attach = attach;
        table.detach = detach;
        if (may_refuse) table.admit = admit;
        table.push_many = push_many;
        table.pop_many = pop_many;
        table.pop_wait = pop_wait;
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_pool_create_user(&table, this, &pool), WEFT_OK) << weft_error_text();
        return pool;
    }
};

using Words = std::vector<std::uint64_t>;

}   // namespace

TEST(UserPool, IsToldWhereEachPushComesFrom) {
    Runtime runtime;
    Diary diary;
    weft_pool* pool = diary.make();
    Bed bed;
    {
        Stream stream(pool);
        Ult yields(
            [&] {
                Ult other([] {}, nullptr, pool);
                weft_unit_yield();
            },
            nullptr, pool);
        EXPECT_EQ(yields.join(), WEFT_OK);
        EXPECT_EQ(std::exchange(diary.operations, {}),
                  (Words{WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_YIELD}));
        Ult sleeps([&] { bed.sleep(); }, nullptr, pool);
        until([&] { return bed.occupied(); });
        EXPECT_EQ(bed.wake(), WEFT_OK);
        EXPECT_EQ(sleeps.join(), WEFT_OK);
        EXPECT_EQ(std::exchange(diary.operations, {}), (Words{WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_RESUME}));
        Ult parent(
            [&] {
                auto how = options();
                how.child_first = true;
                Ult child([] {}, &how, pool);
                EXPECT_EQ(child.join(), WEFT_OK);
            },
            nullptr, pool);
        EXPECT_EQ(parent.join(), WEFT_OK);
        EXPECT_EQ(std::exchange(diary.operations, {}), (Words{WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_SPAWN_CHILD_FIRST}));
        Ult points(
            [&] {
                Ult target([] {}, nullptr, pool);
                EXPECT_EQ(weft_unit_yield_to(target.handle()), WEFT_OK);
            },
            nullptr, pool);
        EXPECT_EQ(points.join(), WEFT_OK);
        EXPECT_EQ(std::exchange(diary.operations, {}),
                  (Words{WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_YIELD_TO}));
    }
    {
        Ult waits([] {}, nullptr, pool);
        diary.operations.clear();
        EXPECT_EQ(weft_pool_push(pool, pop(pool)), WEFT_OK);
        EXPECT_EQ(weft_pool_push_with(pool, pop(pool), 777), WEFT_OK);
        EXPECT_EQ(diary.operations, (Words{WEFT_POOL_OP_OTHER, 777}));
        EXPECT_EQ(weft_unit_yield_to(waits.handle()), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(UserPool, LearnsWhichUnitsBelongToItAndWhenTheyDoNoMore) {
    Runtime runtime;
    Diary diary, other;
    weft_pool* pool = diary.make();
    weft_pool* second = other.make();
    {
        Ult unit([] { weft_unit_yield(); }, nullptr, pool);
        EXPECT_EQ(diary.attached, (std::vector<weft_unit*>{unit.handle()}));
        EXPECT_EQ(weft_pool_push(second, pop(pool)), WEFT_OK);
        EXPECT_EQ(diary.detached, (std::vector<weft_unit*>{unit.handle()}));
        EXPECT_EQ(other.attached, (std::vector<weft_unit*>{unit.handle()}));
        {
            Stream stream(second);
            EXPECT_EQ(unit.join(), WEFT_OK);
        }
        EXPECT_EQ(other.detached, (std::vector<weft_unit*>{unit.handle()}))
            << "it has ended, though it is not freed yet";
        EXPECT_EQ(other.attached.size(), 1u) << "it yielded and came back";
    }
    {
        Stream stream(pool);
        diary.attached.clear();
        diary.detached.clear();
        weft_unit* many[100] = {};
        ASSERT_EQ(weft_unit_spawn_many(
                      pool, 100, [](void*) {}, nullptr, nullptr, many),
                  WEFT_OK);
        weft_unit* tasklet = nullptr;
        ASSERT_EQ(weft_tasklet_spawn(
                      pool, [](void*) {}, nullptr, nullptr, &tasklet),
                  WEFT_OK);
        auto how = options();
        how.child_first = true;
        Ult child([] {}, &how, pool);
        EXPECT_EQ(weft_unit_join_free_many(many, 100), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
        EXPECT_EQ(child.join(), WEFT_OK);
        EXPECT_EQ(diary.attached.size(), 102u);
        EXPECT_EQ(diary.detached.size(), 102u);
        EXPECT_EQ(diary.pushed_together, 2) << "by rows of 64";
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(weft_pool_free(second), WEFT_OK);
}

namespace {

void nothing(void*) {}

// Each way into a pool.
struct Way {
    const char* name;
    weft_status (*spawn)(weft_pool* pool, weft_unit** unit);
};

constexpr Way ways[] = {
    {"ULT", [](weft_pool* pool, weft_unit** unit) { return weft_ult_spawn(pool, nothing, nullptr, nullptr, unit); }},
    {"tasklet",
     [](weft_pool* pool, weft_unit** unit) { return weft_tasklet_spawn(pool, nothing, nullptr, nullptr, unit); }},
    {"with options",
     [](weft_pool* pool, weft_unit** unit) {
         auto how = options();
         how.name = "named";
         how.kind = WEFT_KIND_FULL;
         return weft_ult_spawn(pool, nothing, nullptr, &how, unit);
     }},
    {"with a stack of its own",
     [](weft_pool* pool, weft_unit** unit) {
         alignas(16) static char memory[65536];
         auto how = options();
         how.stack = memory;
         how.stack_bytes = sizeof memory;
         return weft_ult_spawn(pool, nothing, nullptr, &how, unit);
     }},
    {"child-first",
     [](weft_pool* pool, weft_unit** unit) {
         auto how = options();
         how.child_first = true;
         return weft_ult_spawn(pool, nothing, nullptr, &how, unit);
     }},
    {"detached",
     [](weft_pool* pool, weft_unit** unit) {
         *unit = nullptr;
         return weft_ult_spawn(pool, nothing, nullptr, nullptr, nullptr);
     }},
    {"scheduler",
     [](weft_pool* pool, weft_unit** unit) {
         weft_pool* own = make_pool(WEFT_POOL_SHARED);
         weft_sched* sched = nullptr;
         EXPECT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &own, 1, &sched), WEFT_OK);
         const weft_status status = weft_sched_push(sched, pool, nullptr, unit);
         if (status != WEFT_OK) {
             EXPECT_EQ(weft_sched_free(sched), WEFT_OK) << "it is still the caller's";
         }
         return status;
     }},
};

int let_go;

std::vector<weft_unit*> sorted(std::vector<weft_unit*> units) {
    std::sort(units.begin(), units.end());
    return units;
}

}   // namespace

TEST(Admission, APoolThatHasNoRoomRefusesASpawnWhichHasNotBeen) {
    Runtime runtime;
    Diary diary;
    weft_pool* pool = diary.make(true);
    {
        Stream stream(pool);
        const std::size_t alive = units_alive();
        for (const Way& way : ways) {
            diary.room = 0;
            const std::uint64_t created = counter("/units/count/created");
            weft_unit* unit = nullptr;
            EXPECT_EQ(way.spawn(pool, &unit), WEFT_NO_MEMORY) << way.name;
            EXPECT_NE(std::string(weft_error_text()).find("admit"), std::string::npos) << weft_error_text();
            EXPECT_EQ(units_alive(), alive) << way.name;
            EXPECT_EQ(counter("/units/count/created"), created) << way.name;
            EXPECT_EQ(diary.members(), 0u) << way.name;
            diary.room = 1;
            ASSERT_EQ(way.spawn(pool, &unit), WEFT_OK) << way.name;
            if (unit != nullptr) {
                EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK) << way.name;
            }
            // a detached unit is released after the pool has been notified of its end
            until([&] { return diary.members() == 0 && units_alive() == alive; });
        }
        EXPECT_EQ(diary.attached, diary.detached) << "each, when it had ended";
        // From an OS thread that is no stream.
        diary.room = 0;
        std::thread([&] {
            weft_unit* unit = nullptr;
            for (const Way& way : {ways[0], ways[1], ways[2]}) EXPECT_EQ(way.spawn(pool, &unit), WEFT_NO_MEMORY);
        }).join();
        auto with_data = options();
        with_data.data = &let_go;
        with_data.release = [](void* count) { ++*static_cast<int*>(count); };
        let_go = 0;
        EXPECT_EQ(weft_ult_spawn(pool, nothing, nullptr, &with_data, nullptr), WEFT_NO_MEMORY);
        EXPECT_EQ(let_go, 1) << "what the unit was given is let go of, once";
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Admission, OfMany) {
    Runtime runtime;
    Diary diary;
    weft_pool* pool = diary.make(true);
    {
        diary.room = 99;
        weft_unit* many[100] = {};
        const std::size_t alive = units_alive();
        EXPECT_EQ(weft_unit_spawn_many(pool, 100, nothing, nullptr, nullptr, many), WEFT_NO_MEMORY);
        EXPECT_EQ(units_alive(), alive);
        for (weft_unit* unit : many) EXPECT_EQ(unit, nullptr);
        EXPECT_EQ(diary.attached.size(), 99u);
        EXPECT_EQ(sorted(diary.attached), sorted(diary.detached)) << "those that were admitted before";
        EXPECT_EQ(weft_unit_spawn_many(pool, 100, nothing, nullptr, nullptr, nullptr), WEFT_NO_MEMORY);
        weft_pool* shared = make_pool(WEFT_POOL_SHARED);
        ASSERT_EQ(weft_unit_spawn_many(shared, 100, nothing, nullptr, nullptr, many), WEFT_OK);
        weft_unit* popped[100] = {};
        std::size_t count = 0;
        EXPECT_EQ(weft_pool_pop_many(shared, popped, 100, &count), WEFT_OK);
        diary.room = 50;
        EXPECT_EQ(weft_pool_push(pool, popped[10]), WEFT_OK);
        EXPECT_EQ(pop(pool), popped[10]);
        diary.attached.clear();
        diary.detached.clear();
        diary.asked_from.clear();
        EXPECT_EQ(weft_pool_push_many(pool, popped, 100), WEFT_NO_MEMORY);
        EXPECT_EQ(diary.attached.size(), 49u);
        EXPECT_EQ(sorted(diary.attached), sorted(diary.detached));
        EXPECT_EQ(diary.asked_from, std::vector<weft_pool*>(50, shared))
            << "one belongs to the pool already, and none was moved before all were asked for";
        EXPECT_EQ(length(pool), 0u);
        diary.room = 99;
        EXPECT_EQ(weft_pool_push_many(pool, popped, 100), WEFT_OK);
        EXPECT_EQ(diary.room, 0);
        Stream stream(pool);
        EXPECT_EQ(weft_unit_join_free_many(many, 100), WEFT_OK);
        EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Admission, AUnitThatIsPushedOrRevivedStaysWhatItWas) {
    Runtime runtime;
    Diary diary, other;
    weft_pool* pool = diary.make(true);
    weft_pool* second = other.make();
    static std::vector<char> memory(65536);
    for (const bool with_a_stack : {false, true}) {
        auto how = options();
        if (with_a_stack) {
            how.stack = memory.data();
            how.stack_bytes = memory.size();
        }
        diary.room = 0;
        Ult unit([] {}, &how, second);
        weft_unit* popped = pop(second);
        EXPECT_EQ(weft_pool_push(pool, popped), WEFT_NO_MEMORY);
        weft_pool* of = nullptr;
        EXPECT_EQ(weft_unit_pool_get(popped, &of), WEFT_OK);
        EXPECT_EQ(of, second);
        EXPECT_EQ(other.members(), 1u) << "it has not left";
        diary.room = 1;
        EXPECT_EQ(weft_pool_push(pool, popped), WEFT_OK);
        EXPECT_EQ(other.members(), 0u);
        EXPECT_EQ(weft_pool_push(pool, pop(pool)), WEFT_OK) << "it belongs to the pool: it is not asked for again";
        Stream stream(pool);
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_EQ(weft_unit_revive(unit.handle(), pool, nothing, nullptr), WEFT_NO_MEMORY);
        EXPECT_EQ(unit.state(), WEFT_UNIT_DONE);
        EXPECT_EQ(unit.join(), WEFT_OK) << "of its last life";
        diary.room = 1;
        EXPECT_EQ(weft_unit_revive(unit.handle(), pool, nothing, nullptr), WEFT_OK);
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(weft_pool_free(second), WEFT_OK);
}

TEST(Admission, AMigrationThatIsRefusedIsDroppedAndThoseWhoWaitForItAreTold) {
    Runtime runtime;
    Diary diary;
    weft_pool* pool = diary.make(true);
    weft_pool* shared = make_pool(WEFT_POOL_SHARED);
    {
        diary.room = 0;
        Bed bed;
        atomic<bool> over{false}, called{false};
        auto how = options();
        how.on_migration = [](weft_unit*, void* flag) { static_cast<atomic<bool>*>(flag)->store(true); };
        how.on_migration_argument = &called;
        Stream stream(shared);
        Ult unit(
            [&] {
                bed.sleep();
                while (!over) weft_unit_yield();
                EXPECT_EQ(weft_unit_migrate_to_pool(weft_unit_self(), pool), WEFT_OK);
                EXPECT_EQ(weft_unit_migrate_wait(weft_unit_self()), WEFT_NO_MEMORY);
                EXPECT_EQ(weft_unit_migrate_wait(weft_unit_self()), WEFT_OK) << "it is not asked any more";
            },
            &how, shared);
        until([&] { return bed.occupied(); });
        EXPECT_EQ(weft_unit_migrate_to_pool(unit.handle(), pool), WEFT_OK);
        Ult waiter([&] { EXPECT_EQ(weft_unit_migrate_wait(unit.handle()), WEFT_NO_MEMORY) << weft_error_text(); });
        std::thread thread([&] {
            const weft_status status = weft_unit_migrate_wait(unit.handle());
            EXPECT_TRUE(status == WEFT_NO_MEMORY || status == WEFT_OK)
                << "it waited, or came too late; " << weft_error_text();
        });
        weft_unit_yield();
        until([&] { return waiter.state() == WEFT_UNIT_SUSPENDED; });
        until_others_rest();
        EXPECT_EQ(bed.wake(), WEFT_OK);
        EXPECT_EQ(waiter.join(), WEFT_OK);
        thread.join();
        weft_pool* of = nullptr;
        EXPECT_EQ(weft_unit_pool_get(unit.handle(), &of), WEFT_OK);
        EXPECT_EQ(of, shared);
        over = true;
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_FALSE(called) << "it has not migrated";
        EXPECT_EQ(diary.members(), 0u);
    }
    {
        // A unit that has not begun, and a tasklet.
        Ult fresh([] {}, nullptr, shared);
        weft_unit* tasklet = nullptr;
        EXPECT_EQ(weft_tasklet_spawn(shared, nothing, nullptr, nullptr, &tasklet), WEFT_OK);
        EXPECT_EQ(weft_unit_migrate_to_pool(fresh.handle(), pool), WEFT_OK);
        EXPECT_EQ(weft_unit_migrate_to_pool(tasklet, pool), WEFT_OK);
        Stream stream(shared);
        EXPECT_EQ(fresh.join(), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
        EXPECT_EQ(diary.asked_from, std::vector<weft_pool*>(4, shared));
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}

TEST(Many, AreTakenOutAndPutBackTogether) {
    Runtime runtime;
    Diary diary;
    std::vector<weft_pool*> pools{diary.make()};
    for (weft_pool_kind kind :
         {WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY, WEFT_POOL_BLOCKING})
        pools.push_back(make_pool(kind));
    for (weft_pool* pool : pools) {
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 10; ++i) units.push_back(std::make_unique<Ult>([] {}, nullptr, pool));
        weft_unit* row[12] = {};
        std::size_t count = 99;
        EXPECT_EQ(weft_pool_pop_many(pool, row, 4, &count), WEFT_OK);
        EXPECT_EQ(count, 4u);
        EXPECT_EQ(length(pool), 6u);
        EXPECT_EQ(weft_pool_pop_many(pool, row + 4, 8, &count), WEFT_OK);
        EXPECT_EQ(count, 6u);
        EXPECT_EQ(weft_pool_pop_many(pool, row + 10, 1, &count), WEFT_OK);
        EXPECT_EQ(count, 0u);
        weft_unit* with_null[] = {row[0], nullptr};
        EXPECT_EQ(weft_pool_push_many(pool, with_null, 2), WEFT_INVALID);
        EXPECT_EQ(length(pool), 0u) << "all or none";
        EXPECT_EQ(weft_pool_push_many(pool, row, 10), WEFT_OK);
        EXPECT_EQ(length(pool), 10u);
        EXPECT_EQ(weft_pool_push_many(pool, nullptr, 0), WEFT_OK);
        Stream stream(pool);
        units.clear();
    }
    EXPECT_EQ(diary.pushed_together, 1);
    EXPECT_EQ(diary.popped_together, 3);
    for (weft_pool* pool : pools) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Many, OfAPrivatePoolArePoppedByItsStream) {
    Runtime runtime;
    Ult a([] {}), b([] {});
    weft_unit* row[4] = {};
    std::size_t count = 0;
    EXPECT_EQ(weft_pool_pop_many(pool_of(0), row, 4, &count), WEFT_OK);
    ASSERT_EQ(count, 2u);
    EXPECT_EQ(row[0], a.handle());
    EXPECT_EQ(weft_pool_push_many(pool_of(0), row, 2), WEFT_OK);
    std::thread([&] { EXPECT_EQ(weft_pool_pop_many(pool_of(0), row, 4, &count), WEFT_WRONG_CONTEXT); }).join();
}

TEST(Remove, TakesAUnitOutOfTheMiddle) {
    Runtime runtime;
    Diary diary;
    std::vector<weft_pool*> pools{diary.make(), pool_of(0)};
    for (weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY, WEFT_POOL_BLOCKING})
        pools.push_back(make_pool(kind));
    for (weft_pool* pool : pools) {
        Ult a([] {}, nullptr, pool), b([] {}, nullptr, pool), c([] {}, nullptr, pool);
        EXPECT_EQ(weft_pool_remove(pool, b.handle()), WEFT_OK) << weft_error_text();
        EXPECT_EQ(length(pool), 2u);
        EXPECT_EQ(weft_pool_remove(pool, b.handle()), WEFT_WRONG_STATE);
        EXPECT_EQ(weft_pool_push(pool, b.handle()), WEFT_OK);
        if (pool == pool_of(0)) continue;
        EXPECT_EQ(weft_pool_remove(pool_of(0), b.handle()), WEFT_WRONG_STATE) << "another pool";
        Stream stream(pool);
        EXPECT_EQ(b.join(), WEFT_OK);
        EXPECT_EQ(weft_pool_remove(pool, b.handle()), WEFT_WRONG_STATE) << "it has ended";
        EXPECT_EQ(a.join(), WEFT_OK);
        EXPECT_EQ(c.join(), WEFT_OK);
    }
    weft_pool* deque = make_pool(WEFT_POOL_DEQUE);
    Ult unit([] {}, nullptr, deque);
    EXPECT_EQ(weft_pool_remove(deque, unit.handle()), WEFT_UNSUPPORTED);
    EXPECT_EQ(weft_pool_remove(nullptr, unit.handle()), WEFT_INVALID);
    EXPECT_EQ(weft_pool_remove(deque, nullptr), WEFT_INVALID);
    Stream stream(deque);
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(PopWait, AnOsThreadSleepsUntilAUnitComes) {
    Runtime runtime;
    for (weft_pool_kind kind :
         {WEFT_POOL_BLOCKING, WEFT_POOL_SHARED, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY, WEFT_POOL_DEQUE}) {
        weft_pool* pool = make_pool(kind);
        atomic<weft_unit*> got{nullptr};
        atomic<bool> timed_out{false};
        std::thread waiter([&] {
            weft_unit* unit = nullptr;
            EXPECT_EQ(weft_pool_pop_wait_until(pool, weft_now_ns() + 1'000'000, &unit), WEFT_OK);
            EXPECT_EQ(unit, nullptr) << "the time has passed";
            timed_out = true;
            EXPECT_EQ(weft_pool_pop_wait(pool, &unit), WEFT_OK);
            got = unit;
        });
        while (!timed_out) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));   // so that it sleeps, most times
        Ult unit([] {}, nullptr, pool);
        while (got == nullptr) std::this_thread::yield();
        waiter.join();
        EXPECT_EQ(got, unit.handle());
        EXPECT_EQ(weft_pool_push(pool, unit.handle()), WEFT_OK);
        Stream stream(pool);
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
}

TEST(PopWait, AUnitIsRefusedRatherThanItsStreamStopped) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_BLOCKING);
    weft_unit* popped = nullptr;
    EXPECT_EQ(weft_pool_pop_wait_until(pool, weft_now_ns(), &popped), WEFT_OK);
    EXPECT_EQ(popped, nullptr);
    EXPECT_EQ(weft_pool_pop_wait(pool, &popped), WEFT_WRONG_CONTEXT);
    Ult unit([] {}, nullptr, pool);
    EXPECT_EQ(weft_pool_pop_wait(pool, &popped), WEFT_OK) << "it need not wait";
    EXPECT_EQ(popped, unit.handle());
    EXPECT_EQ(weft_pool_push(pool, popped), WEFT_OK);
    EXPECT_EQ(weft_pool_pop_wait(nullptr, &popped), WEFT_INVALID);
    EXPECT_EQ(weft_pool_pop_wait(pool, nullptr), WEFT_INVALID);
    Stream stream(pool);
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(PopWait, ACallOnTheStreamsStackIsRefusedToo) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    auto refused = [](void* from) {
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_pool_pop_wait(static_cast<weft_pool*>(from), &unit), WEFT_WRONG_CONTEXT);
    };
    EXPECT_EQ(weft_on_stream_stack(refused, pool), WEFT_OK);
    EXPECT_EQ(weft_stream_post(weft_stream_at(0), refused, pool), WEFT_OK);
    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(PopWait, AUsersPoolMayWaitInItsOwnWay) {
    Runtime runtime;
    Diary diary;
    weft_pool* pool = diary.make();
    std::thread([&] {
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_pool_pop_wait(pool, &unit), WEFT_OK);
        EXPECT_EQ(unit, nullptr);
    }).join();
    EXPECT_EQ(diary.waited, 1);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

namespace {

// A scheduler that waits in its pool.
struct Waiting {
    static void run(void*, weft_sched* sched) {
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_sched_pool_get(sched, 0, &pool), WEFT_OK);
        while (!weft_sched_check_stop(sched)) {
            weft_unit* unit = nullptr;
            EXPECT_EQ(weft_pool_pop_wait(pool, &unit), WEFT_OK) << weft_error_text();
            if (unit == nullptr) continue;
            EXPECT_EQ(weft_sched_run_unit(sched, unit), WEFT_OK);
        }
    }
};

}   // namespace

TEST(PopWait, ASchedulerWaitsInItsPoolAndIsWokenToStop) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_BLOCKING);
    weft_sched_ops table{};
    table.size = sizeof table;
    table.run = Waiting::run;
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create_user(&table, nullptr, &pool, 1, &sched), WEFT_OK);
    {
        Stream stream(nullptr, sched);
        for (int i = 0; i < 20; ++i) {
            if (i % 4 == 0) until_others_rest();
            Ult unit([] { weft_unit_yield(); }, nullptr, pool);
            EXPECT_EQ(unit.join(), WEFT_OK);
        }
        until_others_rest();
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}
