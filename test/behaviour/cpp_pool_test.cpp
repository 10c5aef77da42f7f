// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools and schedulers that a program defines by concept, and the handles of those that come with
// the library.
#include <chrono>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "test/behaviour/atomic.hpp"

namespace {

// Last in, first out, with everything that a pool can have.
class Lifo {
public:
    explicit Lifo(weft_test::atomic<int>& destroyed) : destroyed_(destroyed) {}
    ~Lifo() { destroyed_.fetch_add(1); }

    void push(weft::unit_ref unit) noexcept {
        const std::lock_guard guard(mutex_);
        unit.link() = first_.native_handle();
        first_ = unit;
        length_.fetch_add(1);
    }
    weft::unit_ref pop() noexcept {
        const std::lock_guard guard(mutex_);
        const weft::unit_ref unit = first_;
        if (unit) {
            first_ = static_cast<weft_unit*>(unit.link());
            length_.fetch_sub(1);
        }
        return unit;
    }
    std::size_t length() const noexcept { return length_.load(); }
    bool remove(weft::unit_ref wanted) noexcept {
        const std::lock_guard guard(mutex_);
        for (weft::unit_ref before, unit = first_; unit; before = unit, unit = static_cast<weft_unit*>(unit.link())) {
            if (unit != wanted) continue;
            if (before) {
                before.link() = unit.link();
            } else {
                first_ = static_cast<weft_unit*>(unit.link());
            }
            length_.fetch_sub(1);
            removed.fetch_add(1);
            return true;
        }
        return false;
    }

    weft_test::atomic<int> removed{0};

private:
    weft_test::atomic<int>& destroyed_;
    std::mutex mutex_;
    weft::unit_ref first_;
    weft_test::atomic<std::size_t> length_{0};
};

// With C handles, and only what a pool must have.
struct Slot {
    void push(weft_unit* unit) noexcept { next = unit; }
    weft_unit* pop() noexcept { return next.exchange(nullptr); }
    std::size_t length() const noexcept { return next == nullptr ? 0 : 1; }
    weft_test::atomic<weft_unit*> next{nullptr};
};
struct ThrowingPush : Slot {
    void push(weft_unit* unit) { next = unit; }
};
// The optional functions of a pool for several units at once, and for waiting.
struct Several {
    void push(weft::unit_ref unit) noexcept { units.push_back(unit.native_handle()); }
    weft::unit_ref pop() noexcept {
        if (units.empty()) return {};
        weft_unit* const last = units.back();
        units.pop_back();
        return last;
    }
    std::size_t length() const noexcept { return units.size(); }
    void push_many(std::span<weft_unit* const> more, weft_pool_operation) noexcept {
        ++pushes;
        units.insert(units.end(), more.begin(), more.end());
    }
    std::size_t pop_many(std::span<weft_unit*> to) noexcept {
        ++pops;
        std::size_t taken = 0;
        for (; taken < to.size() && !units.empty(); ++taken) to[taken] = pop().native_handle();
        return taken;
    }
    weft::unit_ref pop_wait(std::chrono::nanoseconds timeout) noexcept {
        waited = timeout;
        return {};
    }
    std::vector<weft_unit*> units;
    std::chrono::nanoseconds waited{};
    int pushes = 0, pops = 0;
};

struct NoLength {
    void push(weft_unit*) noexcept {}
    weft_unit* pop() noexcept { return nullptr; }
};

static_assert(weft::pool_policy<Lifo>);
static_assert(weft::pool_policy<Slot>);
static_assert(!weft::pool_policy<ThrowingPush>, "a push must be noexcept");
static_assert(!weft::pool_policy<NoLength>);
static_assert(weft::pool_ops<Slot>.remove == nullptr && weft::pool_ops<Slot>.push_many == nullptr);
static_assert(weft::pool_ops<Slot>.pop_many == nullptr && weft::pool_ops<Slot>.pop_wait == nullptr);
static_assert(weft::pool_ops<Slot>.size == sizeof(weft_pool_ops));

TEST(CppPool, UnitsComeOutAsTheirOwnPoolSays) {
    weft_test::atomic<int> destroyed{0};
    {
        const weft::runtime runtime{{.streams = 1}};
        auto pool = weft::make_pool<Lifo>(destroyed);
        EXPECT_EQ(pool.kind(), weft::pool_kind::user);
        std::string order;
        std::vector<weft::thread> threads;
        for (const char name : {'a', 'b', 'c', 'd'}) {
            threads.emplace_back(weft::attributes{.pool = pool}, [&order, name] { order += name; });
        }
        EXPECT_EQ(pool.length(), 4U);
        EXPECT_EQ(weft::pool_of(threads[0]), pool);
        weft::stream stream(pool);
        weft::join_all(threads);
        stream.stop();
        EXPECT_EQ(order, "dcba");
        EXPECT_EQ(destroyed, 0);
        pool.close();
        EXPECT_EQ(destroyed, 1);
    }
    EXPECT_EQ(destroyed, 1);
}

TEST(CppPool, SeveralUnitsGoInAndOutAtOnceWhereThePoolSaysHow) {
    const weft::runtime runtime{{.streams = 1}};
    auto pool = weft::make_pool<Several>();
    int ran = 0;
    std::vector<weft::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(weft::attributes{.pool = pool}, [&ran] { ++ran; });
    weft_unit* units[4] = {};
    std::size_t count = 0;
    ASSERT_EQ(weft_pool_pop_many(pool.native_handle(), units, 4, &count), WEFT_OK);
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(pool->pops, 1);
    ASSERT_EQ(weft_pool_push_many(pool.native_handle(), units, count), WEFT_OK);
    EXPECT_EQ(pool->pushes, 1);
    EXPECT_EQ(pool.length(), 3U);
    weft::stream stream(pool);
    weft::join_all(threads);
    EXPECT_EQ(ran, 3);
}

TEST(CppPool, WaitingInAPoolIsThePoolsOwnAffair) {
    const weft::runtime runtime{{.streams = 1}};
    auto pool = weft::make_pool<Several>();
    weft_unit* none = nullptr;
    std::thread([&] {
        EXPECT_EQ(weft_pool_pop_wait_until(pool.native_handle(), weft_now_ns() + 3'600'000'000'000, &none), WEFT_OK);
        EXPECT_GT(pool->waited, std::chrono::minutes(1));
        EXPECT_LE(pool->waited, std::chrono::hours(1));
        EXPECT_EQ(weft_pool_pop_wait(pool.native_handle(), &none), WEFT_OK);
        EXPECT_EQ(pool->waited, std::chrono::nanoseconds::max());
    }).join();
    EXPECT_EQ(none, nullptr);
}

TEST(CppPool, YieldToReachesIntoAPoolThatCanRemove) {
    weft_test::atomic<int> destroyed{0};
    const weft::runtime runtime{{.streams = 1}};
    auto pool = weft::make_pool<Lifo>(destroyed);
    std::string order;
    weft::thread deep({.pool = pool}, [&order] { order += "deep "; });
    weft::thread above({.pool = pool}, [&order] { order += "above "; });
    weft::thread first({.pool = pool}, [&] {
        weft::this_thread::yield_to(deep);
        order += "first ";
    });
    weft::stream stream(pool);
    deep.join();
    above.join();
    first.join();
    stream.stop();
    EXPECT_EQ(order, "deep first above ");
    EXPECT_EQ(pool->removed, 1);
    EXPECT_EQ(pool.policy().length(), 0U);
}

TEST(CppPool, APoolWithoutRemoveRefusesYieldTo) {
    const weft::runtime runtime{{.streams = 1}};
    auto pool = weft::make_pool<Slot>();
    weft_status code = WEFT_OK;
    weft::thread other([] {});
    weft::stream stream(pool);
    weft::thread target;
    weft::thread caller({.pool = pool}, [&] {
        target = weft::thread({.pool = pool}, [] {});
        try {
            weft::this_thread::yield_to(target);
        } catch (const weft::error& error) {
            code = error.code();
        }
    });
    caller.join();
    target.join();
    other.join();
    stream.stop();
    EXPECT_EQ(code, WEFT_UNSUPPORTED);
}

TEST(CppPool, APoolInUseIsNotFreed) {
    const weft::runtime runtime{{.streams = 1}};
    weft::pool pool(weft::pool_kind::shared_fifo);
    weft::thread waits({.pool = pool}, [] {});
    try {
        pool.close();
        ADD_FAILURE() << "a unit waits in it";
    } catch (const weft::error& error) {
        EXPECT_EQ(error.code(), WEFT_BUSY);
    }
    EXPECT_TRUE(pool);
    {
        const weft::stream stream(pool);
        waits.join();
    }
    EXPECT_NO_THROW(pool.close());
    EXPECT_FALSE(pool);
}

TEST(CppPool, MovingAPoolMovesTheOwnership) {
    const weft::runtime runtime{{.streams = 1}};
    weft::pool one(weft::pool_kind::deque);
    const weft::pool_ref same = one;
    weft::pool other(std::move(one));
    EXPECT_FALSE(one);
    EXPECT_EQ(other, same);
    EXPECT_EQ(other.kind(), weft::pool_kind::deque);
    one = std::move(other);
    EXPECT_EQ(one, same);
    weft_pool* const handle = one.release();
    EXPECT_EQ(weft_pool_free(handle), WEFT_OK);
}

// Of two pools, it always picks from the second one first.
struct Backwards {
    explicit Backwards(weft_test::atomic<int>& ends) : destroyed(ends) {}
    Backwards(const Backwards&) = delete;
    ~Backwards() { destroyed.fetch_add(1); }
    weft_unit* pick(weft::scheduler_ref self) noexcept {
        for (std::size_t i = self.pool_count(); i-- > 0;) {
            if (const auto unit = self.pool(i).pop()) return unit.native_handle();
        }
        return nullptr;
    }
    weft_test::atomic<int>& destroyed;
};

// A scheduler that owns its loop.
struct Loop {
    explicit Loop(weft_test::atomic<int>& units) : ran(units) {}
    void run(weft::scheduler_ref self) noexcept {
        while (!self.should_stop()) {
            const auto unit = self.pool(0).pop();
            if (!unit) {
                self.wait();
                continue;
            }
            self.run_unit(unit);
            ran.fetch_add(1);
        }
    }
    weft_test::atomic<int>& ran;
};
struct Both : Loop {
    using Loop::Loop;
    weft_unit* pick(weft::scheduler_ref) noexcept { return nullptr; }
};

static_assert(weft::scheduler_policy<Backwards> && weft::picking_scheduler<Backwards>);
static_assert(weft::scheduler_policy<Loop> && weft::running_scheduler<Loop>);
static_assert(!weft::scheduler_policy<Both>, "exactly one of pick and run");
static_assert(!weft::scheduler_policy<Slot>);
static_assert(weft::scheduler_ops<Loop>.pick == nullptr);

TEST(CppScheduler, UnitsRunAsTheirOwnSchedulerPicks) {
    weft_test::atomic<int> destroyed{0};
    {
        const weft::runtime runtime{{.streams = 1}};
        weft::pool first(weft::pool_kind::shared_fifo);
        weft::pool second(weft::pool_kind::shared_fifo);
        std::string order;
        std::vector<weft::thread> threads;
        threads.emplace_back(weft::attributes{.pool = first}, [&order] { order += "1 "; });
        threads.emplace_back(weft::attributes{.pool = second}, [&order] { order += "2 "; });
        threads.emplace_back(weft::attributes{.pool = second}, [&order] { order += "3 "; });
        auto scheduler = weft::make_scheduler<Backwards>({first, second}, destroyed);
        EXPECT_TRUE(scheduler.stateless());
        EXPECT_EQ(scheduler.pool_count(), 2U);
        EXPECT_EQ(scheduler.pool(1), second);
        weft::stream stream(std::move(scheduler), "backwards");
        EXPECT_FALSE(scheduler);
        EXPECT_EQ(stream.pool(), first);
        EXPECT_EQ(stream.name(), "backwards");
        weft::join_all(threads);
        EXPECT_EQ(order, "2 3 1 ");
        EXPECT_EQ(destroyed, 0);
        stream.stop();
        EXPECT_EQ(destroyed, 1);
    }
    EXPECT_EQ(destroyed, 1);
}

TEST(CppScheduler, ASchedulerMayOwnItsLoop) {
    const weft::runtime runtime{{.streams = 1}};
    weft_test::atomic<int> ran{0};
    std::vector<weft::pool> pools;
    pools.emplace_back(weft::pool_kind::shared_fifo);
    auto scheduler = weft::make_scheduler<Loop>(pools, ran);
    EXPECT_FALSE(scheduler.stateless());
    {
        const weft::stream stream(std::move(scheduler));
        for (int i = 0; i < 3; ++i) {
            weft::spawn_many({.pool = pools[0]}, 10, [] { weft::this_thread::yield(); }).join();
        }
    }
    EXPECT_EQ(ran, 60);   // each unit runs once until it yields, and once more
}

TEST(CppScheduler, OneThatNoStreamTookIsFreed) {
    weft_test::atomic<int> destroyed{0};
    const weft::runtime runtime{{.streams = 1}};
    weft::pool pool(weft::pool_kind::shared_fifo);
    { const auto scheduler = weft::make_scheduler<Backwards>({pool}, destroyed); }
    EXPECT_EQ(destroyed, 1);
    EXPECT_NO_THROW(pool.close());
}

TEST(CppScheduler, ARefusedOneIsDestroyedToo) {
    weft_test::atomic<int> destroyed{0};
    const weft::runtime runtime{{.streams = 1}};
    EXPECT_THROW(weft::make_scheduler<Backwards>(std::vector<weft::pool>(), destroyed), weft::error);
    EXPECT_EQ(destroyed, 1);
}

TEST(CppScheduler, TheOnesOfTheLibraryTakePoolsInAnyForm) {
    const weft::runtime runtime{{.streams = 1}};
    weft::pool one(weft::pool_kind::shared_fifo);
    weft::pool two(weft::pool_kind::shared_fifo);
    const std::vector<weft::pool_ref> pools{one, two};
    const weft::scheduler listed(weft::scheduler_kind::basic, {one, two});
    const weft::scheduler ranged(weft::scheduler_kind::random_steal, pools);
    EXPECT_EQ(listed.pool(0), one);
    EXPECT_EQ(ranged.pool(1), two);
    EXPECT_TRUE(listed.stateless());
}

// First in, first out, with some of the optional functions of a table.
class Diary {
public:
    void push(weft::unit_ref unit) noexcept { push(unit, WEFT_POOL_OP_OTHER); }
    void push(weft::unit_ref unit, weft_pool_operation operation) noexcept {
        const std::lock_guard guard(mutex_);
        units_.push_back(unit);
        operations.push_back(operation);
    }
    weft::unit_ref pop() noexcept {
        const std::lock_guard guard(mutex_);
        if (units_.empty()) return {};
        const weft::unit_ref unit = units_.front();
        units_.erase(units_.begin());
        return unit;
    }
    std::size_t length() const noexcept {
        const std::lock_guard guard(mutex_);
        return units_.size();
    }
    void attach(weft::unit_ref) noexcept { ++attached; }
    void detach(weft::unit_ref) noexcept { ++detached; }

    std::vector<weft_pool_operation> operations;
    weft_test::atomic<int> attached{0}, detached{0};

private:
    mutable std::mutex mutex_;
    std::vector<weft::unit_ref> units_;
};

TEST(CppPool, ATypeMayLearnWhereItsUnitsComeFromAndWhichItHas) {
    const weft::runtime runtime{{.streams = 1}};
    auto pool = weft::make_pool<Diary>();
    {
        weft::thread thread({.pool = pool}, [] {});
        const weft::stream stream(pool);
        thread.join();
    }
    EXPECT_EQ(pool->operations, std::vector{WEFT_POOL_OP_SPAWN});
    EXPECT_EQ(pool->attached, 1);
    EXPECT_EQ(pool->detached, 1);
}

namespace {

// A pool that has room for two units.
class Strict : public Diary {
public:
    bool admit(weft::unit_ref) noexcept { return ++admitted <= 2; }

    int admitted = 0;
};

}   // namespace

TEST(CppPool, ATypeMayRefuseUnits) {
    const weft::runtime runtime{{.streams = 1}};
    auto pool = weft::make_pool<Strict>();
    {
        weft::thread one({.pool = pool}, [] {}), two({.pool = pool}, [] {});
        EXPECT_THROW((weft::thread({.pool = pool}, [] {})), weft::error);
        const weft::stream stream(pool);
        one.join();
        two.join();
    }
    EXPECT_EQ(pool->admitted, 3);
    EXPECT_EQ(pool->attached, 0) << "it was asked instead";
    EXPECT_EQ(pool->detached, 2);
}

TEST(CppPool, UnitsAreTakenOutAndPutBackByHand) {
    const weft::runtime runtime{{.streams = 1}};
    const weft::pool pool(weft::pool_kind::priority, weft::pool_access::mpmc);
    EXPECT_EQ(pool.access(), weft::pool_access::mpmc);
    weft::thread low({.pool = pool, .priority = -1}, [] {}), high({.pool = pool, .priority = 1}, [] {});
    EXPECT_EQ(high.ref().priority(), 1);
    weft_unit* row[3];
    const auto taken = pool.pop_many(row);
    ASSERT_EQ(taken.size(), 2U);
    EXPECT_EQ(taken[0], high.native_handle());
    pool.push_many(taken);
    pool.remove(low);
    EXPECT_THROW(pool.remove(low), weft::error);
    EXPECT_EQ(pool.pop_wait(std::chrono::nanoseconds(1)), high.ref());
    EXPECT_THROW(pool.pop_wait(std::chrono::hours(1)), weft::error);
    low.ref().set_priority(7);
    const std::vector<weft_unit*> both{low.native_handle(), high.native_handle()};
    pool.push_many(both);
    const weft::stream stream(pool);
    low.join();
    high.join();
    EXPECT_THROW(weft::thread({.priority = 300}, [] {}), weft::error);
}

TEST(CppScheduler, IsPushedIntoAPoolAndReplaced) {
    const weft::runtime runtime{{.streams = 1}};
    const weft::pool pool(weft::pool_kind::lifo), below(weft::pool_kind::shared_fifo);
    const weft::stream stream(pool);
    weft::scheduler lower(weft::scheduler_kind::priority, {below});
    weft::thread inner({.pool = below}, [] {});
    weft_unit* unit = lower.push_into(pool, 5);
    EXPECT_FALSE(lower);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    inner.join();
    stream.set_scheduler(weft::scheduler(weft::scheduler_kind::basic_wait, {below}));
    weft::thread late({.stream = stream, .bound = true}, [&] { EXPECT_EQ(weft::this_stream::self(), stream); });
    late.join();
    EXPECT_EQ(stream.get_scheduler().pool(0), below);
}

}   // namespace
