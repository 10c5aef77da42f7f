// What a table of the user's may have besides push and pop, and what is done with a pool by hand: many at once, out of the
// middle, waiting.
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

// A pool of the user's that writes down what it is told: first in, first out.
struct Diary {
    std::mutex mutex;
    std::vector<weft_unit*> units;
    std::vector<std::uint64_t> operations;
    std::vector<weft_unit*> attached, detached;
    int pushed_together = 0, popped_together = 0, waited = 0;

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

    weft_pool* make() {
        weft_pool_ops table{};
        table.size = sizeof table;
        table.push_with = push_with;
        table.pop = pop;
        table.length = length;
        table.remove = remove;
        table.attach = attach;
        table.detach = detach;
        table.push_many = push_many;
        table.pop_many = pop_many;
        table.pop_wait = pop_wait;
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_pool_create_user(&table, this, &pool), WEFT_OK) << weft_error_text();
        return pool;
    }
};

using Words = std::vector<std::uint64_t>;

}  // namespace

TEST(UserPool, IsToldWhereEachPushComesFrom) {
    Runtime runtime;
    Diary diary;
    weft_pool* pool = diary.make();
    Bed bed;
    {
        Stream stream(pool);
        Ult yields([&] {
            Ult other([] {}, nullptr, pool);
            weft_unit_yield();
        }, nullptr, pool);
        EXPECT_EQ(yields.join(), WEFT_OK);
        EXPECT_EQ(std::exchange(diary.operations, {}), (Words{WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_YIELD}));
        Ult sleeps([&] { bed.sleep(); }, nullptr, pool);
        until([&] { return bed.occupied(); });
        EXPECT_EQ(bed.wake(), WEFT_OK);
        EXPECT_EQ(sleeps.join(), WEFT_OK);
        EXPECT_EQ(std::exchange(diary.operations, {}), (Words{WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_RESUME}));
        Ult parent([&] {
            auto how = options();
            how.child_first = true;
            Ult child([] {}, &how, pool);
            EXPECT_EQ(child.join(), WEFT_OK);
        }, nullptr, pool);
        EXPECT_EQ(parent.join(), WEFT_OK);
        EXPECT_EQ(std::exchange(diary.operations, {}), (Words{WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_SPAWN_CHILD_FIRST}));
        Ult points([&] {
            Ult target([] {}, nullptr, pool);
            EXPECT_EQ(weft_unit_yield_to(target.handle()), WEFT_OK);
        }, nullptr, pool);
        EXPECT_EQ(points.join(), WEFT_OK);
        EXPECT_EQ(std::exchange(diary.operations, {}), (Words{WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_SPAWN, WEFT_POOL_OP_YIELD_TO}));
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
        EXPECT_EQ(other.detached, (std::vector<weft_unit*>{unit.handle()})) << "it has ended, though it is not freed yet";
        EXPECT_EQ(other.attached.size(), 1u) << "it yielded and came back";
    }
    {
        Stream stream(pool);
        diary.attached.clear();
        diary.detached.clear();
        weft_unit* many[100] = {};
        ASSERT_EQ(weft_unit_spawn_many(pool, 100, [](void*) {}, nullptr, nullptr, many), WEFT_OK);
        weft_unit* tasklet = nullptr;
        ASSERT_EQ(weft_tasklet_spawn(pool, [](void*) {}, nullptr, nullptr, &tasklet), WEFT_OK);
        auto how = options();
        how.child_first = true;
        Ult child([] {}, &how, pool);
        EXPECT_EQ(weft_unit_free_many(many, 100), WEFT_OK);
        EXPECT_EQ(weft_unit_free(tasklet), WEFT_OK);
        EXPECT_EQ(child.join(), WEFT_OK);
        EXPECT_EQ(diary.attached.size(), 102u);
        EXPECT_EQ(diary.detached.size(), 102u);
        EXPECT_EQ(diary.pushed_together, 2) << "by rows of 64";
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(weft_pool_free(second), WEFT_OK);
}

TEST(Many, AreTakenOutAndPutBackTogether) {
    Runtime runtime;
    Diary diary;
    std::vector<weft_pool*> pools{diary.make()};
    for (weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY, WEFT_POOL_BLOCKING}) pools.push_back(make_pool(kind));
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
    for (weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY, WEFT_POOL_BLOCKING}) pools.push_back(make_pool(kind));
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
    for (weft_pool_kind kind : {WEFT_POOL_BLOCKING, WEFT_POOL_SHARED, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY, WEFT_POOL_DEQUE}) {
        weft_pool* pool = make_pool(kind);
        atomic<weft_unit*> got{nullptr};
        atomic<bool> timed_out{false};
        std::thread waiter([&] {
            weft_unit* unit = nullptr;
            EXPECT_EQ(weft_pool_pop_wait(pool, 1'000'000, &unit), WEFT_OK);
            EXPECT_EQ(unit, nullptr) << "the time has passed";
            timed_out = true;
            EXPECT_EQ(weft_pool_pop_wait(pool, UINT64_MAX, &unit), WEFT_OK);
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
    EXPECT_EQ(weft_pool_pop_wait(pool, 0, &popped), WEFT_OK);
    EXPECT_EQ(popped, nullptr);
    EXPECT_EQ(weft_pool_pop_wait(pool, 1, &popped), WEFT_WRONG_CONTEXT);
    Ult unit([] {}, nullptr, pool);
    EXPECT_EQ(weft_pool_pop_wait(pool, 1, &popped), WEFT_OK) << "it need not wait";
    EXPECT_EQ(popped, unit.handle());
    EXPECT_EQ(weft_pool_push(pool, popped), WEFT_OK);
    EXPECT_EQ(weft_pool_pop_wait(nullptr, 1, &popped), WEFT_INVALID);
    EXPECT_EQ(weft_pool_pop_wait(pool, 1, nullptr), WEFT_INVALID);
    Stream stream(pool);
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(PopWait, ACallOnTheStreamsStackIsRefusedToo) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    auto refused = [](void* from) {
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_pool_pop_wait(static_cast<weft_pool*>(from), 1, &unit), WEFT_WRONG_CONTEXT);
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
        EXPECT_EQ(weft_pool_pop_wait(pool, UINT64_MAX, &unit), WEFT_OK);
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
        EXPECT_EQ(weft_sched_pools(sched, nullptr, 0, &pool), WEFT_OK);
        while (!weft_sched_should_stop(sched)) {
            weft_unit* unit = nullptr;
            EXPECT_EQ(weft_pool_pop_wait(pool, UINT64_MAX, &unit), WEFT_OK) << weft_error_text();
            if (unit == nullptr) continue;
            EXPECT_EQ(weft_sched_run_unit(sched, unit), WEFT_OK);
        }
    }
};

}  // namespace

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
