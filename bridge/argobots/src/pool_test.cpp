// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built-in pools: their order, sizes, pushes and pops from anywhere, and units.
#include <algorithm>
#include <cstdint>

#include "core_test_support.hpp"

using namespace abt_test;

namespace {

class Pool : public Argobots {};

constexpr ABT_pool_kind kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};
constexpr ABT_pool_access accesses[] = {ABT_POOL_ACCESS_PRIV, ABT_POOL_ACCESS_SPSC, ABT_POOL_ACCESS_MPSC,
                                        ABT_POOL_ACCESS_SPMC, ABT_POOL_ACCESS_MPMC};

bool is_empty(ABT_pool pool) {
    ABT_bool empty = ABT_FALSE;
    ok(ABT_pool_is_empty(pool, &empty));
    return empty == ABT_TRUE;
}

std::size_t total_size_of(ABT_pool pool) {
    std::size_t size = 0;
    ok(ABT_pool_get_total_size(pool, &size));
    return size;
}

ABT_unit unit_of(ABT_thread thread) {
    ABT_unit unit = ABT_UNIT_NULL;
    ok(ABT_thread_get_unit(thread, &unit));
    return unit;
}

ABT_thread thread_of(ABT_unit unit) {
    ABT_thread thread = ABT_THREAD_NULL;
    ok(ABT_unit_get_thread(unit, &thread));
    return thread;
}

// Units that do nothing, in a pool that no stream draws from.
struct Idle {
    explicit Idle(ABT_pool of, std::size_t count) : pool(of) {
        for (std::size_t i = 0; i < count; ++i) made.push_back(spawn(of, add_one, &ran));
    }
    ~Idle() {
        run_all(pool);
        for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
        EXPECT_EQ(ran.load(), static_cast<int>(made.size()));
    }
    Idle(const Idle&) = delete;

    ABT_pool pool;
    std::atomic<int> ran{0};
    std::vector<ABT_thread> made;
};

}   // namespace

// ---- create, free -------------------------------------------------------------------------------

TEST_F(Pool, each_kind_and_access_is_made_and_runs_units) {
    for (const ABT_pool_kind kind : kinds) {
        for (const ABT_pool_access access : accesses) {
            ABT_pool pool = new_pool(kind, access);
            ABT_pool_access told{};
            ok(ABT_pool_get_access(pool, &told));
            EXPECT_EQ(told, access);
            { Idle idle(pool, 10); }
            ok(ABT_pool_free(&pool));
            EXPECT_EQ(pool, ABT_POOL_NULL);
        }
    }
}

TEST_F(Pool, unknown_kinds_and_accesses_are_refused) {
    ABT_pool pool{};
    EXPECT_EQ(ABT_pool_create_basic(static_cast<ABT_pool_kind>(3), ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool),
              ABT_ERR_INV_POOL_KIND);
    EXPECT_EQ(pool, ABT_POOL_NULL);
    pool = {};
    EXPECT_EQ(ABT_pool_create_basic(ABT_POOL_FIFO, static_cast<ABT_pool_access>(5), ABT_TRUE, &pool),
              ABT_ERR_INV_POOL_ACCESS);
    EXPECT_EQ(pool, ABT_POOL_NULL);
}

TEST_F(Pool, an_automatic_one_goes_with_its_last_scheduler_and_another_stays) {
    ABT_pool automatic = new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE), lasting = new_pool();
    ABT_pool pools[2] = {automatic, lasting};
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &stream));
    ok(ABT_xstream_free(&stream));
    { Idle idle(lasting, 3); }
    ok(ABT_pool_free(&lasting));
}

TEST_F(Pool, an_automatic_one_that_nobody_took_is_freed_by_hand) {
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE);
    ok(ABT_pool_free(&pool));
    EXPECT_EQ(pool, ABT_POOL_NULL);
}

TEST_F(Pool, none_is_refused) {
    ABT_pool none = ABT_POOL_NULL;
    ABT_thread thread = self_thread(), some[2] = {};
    ABT_unit unit = unit_of(thread);
    ABT_pool_access access{};
    ABT_bool flag{};
    size_t size = 0;
    int id = 0;
    void* data = nullptr;
    EXPECT_EQ(ABT_pool_free(&none), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_get_access(none, &access), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_is_empty(none, &flag), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_get_size(none, &size), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_get_total_size(none, &size), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_pop_thread(none, &thread), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_pop_thread_ex(none, &thread, 0), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_pop_threads(none, some, 2, &size), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_pop_threads_ex(none, some, 2, &size, 0), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_push_thread(none, thread), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_push_thread_ex(none, thread, 0), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_push_threads(none, &thread, 1), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_push_threads_ex(none, &thread, 1, 0), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_pop_wait_thread(none, &thread, 0.1), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_pop_wait_thread_ex(none, &thread, 0.1, 0), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_print_all_threads(none, nullptr, [](void*, ABT_thread) {}), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_print_all(none, nullptr, [](void*, ABT_unit) {}), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_set_data(none, nullptr), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_get_data(none, &data), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_get_id(none, &id), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_pop(none, &unit), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_pop_wait(none, &unit, 0.1), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_remove(none, unit), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_push(none, unit), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_push(own_pool(), ABT_UNIT_NULL), ABT_ERR_INV_UNIT);
    if (!elsewhere()) {   // in Argobots the first does nothing, and the second is ERR_POOL
        ok(ABT_pool_push_thread(own_pool(), ABT_THREAD_NULL));
        EXPECT_EQ(ABT_pool_remove(own_pool(), ABT_UNIT_NULL), ABT_ERR_INV_UNIT);
    }
}

// ---- order and size -----------------------------------------------------------------------------

TEST_F(Pool, fifo_is_first_in_first_out_whoever_pops) {
    for (const ABT_pool_kind kind : {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT}) {
        for (const ABT_pool_access access : accesses) {
            ABT_pool pool = new_pool(kind, access);
            {
                Idle idle(pool, 20);
                for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(pop_from(pool), idle.made[i]);
                EXPECT_EQ(pop_from(pool), ABT_THREAD_NULL);
                for (std::size_t i = 20; i-- > 0;) ok(ABT_pool_push_thread(pool, idle.made[i]));
                for (std::size_t i = 20; i-- > 0;) EXPECT_EQ(pop_from(pool), idle.made[i]);
                ok(ABT_pool_push_threads(pool, idle.made.data(), 20));
                std::vector<ABT_thread> popped(20, ABT_THREAD_NULL);
                std::size_t count = 0;
                ok(ABT_pool_pop_threads(pool, popped.data(), 20, &count));
                EXPECT_EQ(count, 20u);
                EXPECT_EQ(popped, idle.made);
                ok(ABT_pool_push_threads(pool, popped.data(), 20));
            }
            ok(ABT_pool_free(&pool));
        }
    }
}

TEST_F(Pool, size_and_emptiness_follow_pushes_and_pops) {
    for (const ABT_pool_kind kind : kinds) {
        ABT_pool pool = new_pool(kind);
        EXPECT_TRUE(is_empty(pool));
        {
            Idle idle(pool, 3);
            EXPECT_FALSE(is_empty(pool));
            EXPECT_EQ(size_of(pool), 3u);
            EXPECT_EQ(total_size_of(pool), 3u);
            ABT_thread popped = pop_from(pool);
            EXPECT_EQ(size_of(pool), 2u);
            ok(ABT_pool_push_thread(pool, popped));
            EXPECT_EQ(size_of(pool), 3u);
        }
        EXPECT_TRUE(is_empty(pool));
        EXPECT_EQ(size_of(pool), 0u);
        ok(ABT_pool_free(&pool));
    }
}

TEST_F(Pool, the_total_size_counts_ults_that_are_suspended) {
    ABT_pool pool = new_pool();
    std::vector<ABT_thread> made;
    Body sleeps = [] { ok(ABT_self_suspend()); };
    for (int i = 0; i < 4; ++i) made.push_back(spawn(pool, call_body, &sleeps));
    run_all(pool);
    EXPECT_EQ(size_of(pool), 0u);
    EXPECT_EQ(total_size_of(pool), 4u);
    ok(ABT_thread_resume(made[2]));
    EXPECT_EQ(size_of(pool), 1u);
    EXPECT_EQ(total_size_of(pool), 4u);
    run_all(pool);
    EXPECT_EQ(total_size_of(pool), 3u);
    for (const std::size_t i : {0u, 1u, 3u}) ok(ABT_thread_resume(made[i]));
    run_all(pool);
    EXPECT_EQ(total_size_of(pool), 0u);
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
    ok(ABT_pool_free(&pool));
}

// Behaviour (b).
TEST_F(Pool, a_create_pushes_one_unit_and_the_ult_that_runs_is_not_counted) {
    const ABT_pool pool = own_pool();
    EXPECT_EQ(size_of(pool), 0u);
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran);
    EXPECT_EQ(size_of(pool), 1u);
    EXPECT_EQ(ran.load(), 0) << "the parent goes on";
    ok(ABT_thread_join(made));
    EXPECT_EQ(size_of(pool), 0u);
    ok(ABT_thread_revive(pool, add_one, &ran, &made));
    EXPECT_EQ(size_of(pool), 1u);
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_thread_join(made));
    EXPECT_EQ(ran.load(), 2);
    ok(ABT_thread_free(&made));
}

TEST_F(Pool, a_child_that_begins_at_once_finds_its_parent_in_the_pool) {
    const ABT_pool pool = own_pool();
    std::size_t seen = 77;
    Body looks = [&] { seen = size_of(pool); };
    ABT_thread made = ABT_THREAD_NULL;
    ok(ABT_thread_create_to(pool, call_body, &looks, ABT_THREAD_ATTR_NULL, &made));
    EXPECT_EQ(seen, 1u);
    EXPECT_EQ(size_of(pool), 0u);
    ok(ABT_thread_join(made));
    seen = 77;
    ok(ABT_thread_revive_to(pool, call_body, &looks, &made));
    EXPECT_EQ(seen, 1u);
    EXPECT_EQ(size_of(pool), 0u);
    ok(ABT_thread_free(&made));
}

// ---- push and pop -------------------------------------------------------------------------------

TEST_F(Pool, several_are_popped_up_to_a_number) {
    for (const ABT_pool_kind kind : kinds) {
        ABT_pool pool = new_pool(kind);
        {
            Idle idle(pool, 5);
            ABT_thread some[8] = {};
            std::size_t count = 77;
            ok(ABT_pool_pop_threads(pool, some, 3, &count));
            EXPECT_EQ(count, 3u);
            EXPECT_EQ(size_of(pool), 2u);
            ok(ABT_pool_push_threads(pool, some, count));
            ok(ABT_pool_pop_threads_ex(pool, some, 8, &count, ABT_POOL_CONTEXT_OWNER_SECONDARY));
            EXPECT_EQ(count, 5u);
            ok(ABT_pool_push_threads_ex(pool, some, count, ABT_POOL_CONTEXT_OP_THREAD_YIELD));
            ok(ABT_pool_pop_threads(pool, some, 0, &count));
            if (!elsewhere()) {   // Argobots does not write it
                EXPECT_EQ(count, 0u);
            }
            ok(ABT_pool_push_threads(pool, some, 0));
            EXPECT_EQ(size_of(pool), 5u);
        }
        std::size_t count = 77;
        ABT_thread none[2] = {};
        ok(ABT_pool_pop_threads(pool, none, 2, &count));
        EXPECT_EQ(count, 0u);
        ok(ABT_pool_free(&pool));
    }
}

TEST_F(Pool, entries_that_are_none_are_passed_over) {
    ABT_pool pool = new_pool();
    {
        Idle idle(pool, 2);
        ABT_thread some[5] = {ABT_THREAD_NULL, pop_from(pool), ABT_TASK_NULL, pop_from(pool), ABT_THREAD_NULL};
        ok(ABT_pool_push_threads(pool, some, 5));
        EXPECT_EQ(size_of(pool), 2u);
    }
    ok(ABT_pool_free(&pool));
}

TEST_F(Pool, bits_are_taken_by_every_kind) {
    for (const ABT_pool_kind kind : kinds) {
        ABT_pool pool = new_pool(kind);
        {
            Idle idle(pool, 2);
            for (const ABT_pool_context bits :
                 {ABT_POOL_CONTEXT_OWNER_PRIMARY, ABT_POOL_CONTEXT_OWNER_SECONDARY, ABT_POOL_CONTEXT_PRIO_HIGH}) {
                ABT_thread popped = ABT_THREAD_NULL;
                ok(ABT_pool_pop_thread_ex(pool, &popped, bits));
                EXPECT_NE(popped, ABT_THREAD_NULL);
                ok(ABT_pool_push_thread_ex(pool, popped, ABT_POOL_CONTEXT_OP_THREAD_CREATE));
            }
        }
        ok(ABT_pool_free(&pool));
    }
}

TEST_F(Pool, randws_gives_the_oldest_to_those_who_steal) {
    ABT_pool pool = new_pool(ABT_POOL_RANDWS);
    {
        Idle idle(pool, 3);
        ABT_thread popped = ABT_THREAD_NULL;
        ok(ABT_pool_pop_thread_ex(pool, &popped, ABT_POOL_CONTEXT_OWNER_SECONDARY));
        EXPECT_NE(popped, ABT_THREAD_NULL);
        ok(ABT_pool_push_thread(pool, popped));
        EXPECT_EQ(size_of(pool), 3u);
    }
    ok(ABT_pool_free(&pool));
}

TEST_F(Pool, os_threads_push_and_pop) {
    ABT_pool pool = new_pool();
    {
        Idle idle(pool, 200);
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                for (int turn = 0; turn < 200; ++turn) {
                    if (ABT_thread popped = pop_from(pool); popped != ABT_THREAD_NULL)
                        ok(ABT_pool_push_thread(pool, popped));
                }
            });
        }
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(size_of(pool), 200u);
    }
    ok(ABT_pool_free(&pool));
}

TEST_F(Pool, a_unit_that_another_pool_is_given_belongs_there) {
    ABT_pool from = new_pool(), to = new_pool(ABT_POOL_FIFO_WAIT);
    Body yields = [&] { ok(ABT_self_yield()); };
    ABT_thread made = spawn(from, call_body, &yields);
    EXPECT_EQ(pop_from(from), made);
    ok(ABT_pool_push_thread(to, made));
    ABT_pool last = ABT_POOL_NULL;
    ok(ABT_thread_get_last_pool(made, &last));
    EXPECT_EQ(last, to);
    ok(ABT_self_schedule(pop_from(to), ABT_POOL_NULL));
    EXPECT_EQ(size_of(from), 0u);
    EXPECT_EQ(size_of(to), 1u) << "where it yields to";
    run_all(to);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&from));
    ok(ABT_pool_free(&to));
}

// ---- waiting in a pool --------------------------------------------------------------------------

TEST_F(Pool, a_wait_for_a_unit_ends_when_its_time_is_over) {
    for (const ABT_pool_kind kind : kinds) {
        ABT_pool pool = new_pool(kind);
        ABT_thread popped = self_thread();
        const double begin = ABT_get_wtime();
        ok(ABT_pool_pop_wait_thread(pool, &popped, 0.02));
        EXPECT_EQ(popped, ABT_THREAD_NULL);
        EXPECT_GE(ABT_get_wtime() - begin, 0.015);
        popped = self_thread();
        ok(ABT_pool_pop_wait_thread_ex(pool, &popped, 0.001, ABT_POOL_CONTEXT_OWNER_PRIMARY));
        EXPECT_EQ(popped, ABT_THREAD_NULL);
        ABT_unit unit = unit_of(self_thread());
        ok(ABT_pool_pop_wait(pool, &unit, 0.001));
        EXPECT_EQ(unit, ABT_UNIT_NULL);
        ok(ABT_pool_free(&pool));
    }
}

TEST_F(Pool, a_wait_ends_when_a_unit_is_there_or_comes) {
    for (const ABT_pool_kind kind : kinds) {
        ABT_pool pool = new_pool(kind);
        {
            Idle idle(pool, 1);
            ABT_thread popped = ABT_THREAD_NULL;
            ok(ABT_pool_pop_wait_thread(pool, &popped, 10));
            EXPECT_EQ(popped, idle.made[0]);
            std::thread pusher([&] { ok(ABT_pool_push_thread(pool, idle.made[0])); });
            ok(ABT_pool_pop_wait_thread(pool, &popped, 10));
            EXPECT_EQ(popped, idle.made[0]);
            pusher.join();
            std::thread again([&] { ok(ABT_pool_push_thread(pool, idle.made[0])); });
            ABT_unit unit = ABT_UNIT_NULL;
            ok(ABT_pool_pop_wait(pool, &unit, 10));
            EXPECT_EQ(thread_of(unit), idle.made[0]);
            again.join();
            ok(ABT_pool_push_thread(pool, idle.made[0]));
        }
        ok(ABT_pool_free(&pool));
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_F(Pool, the_deprecated_wait_has_a_point_in_time) {
    ABT_pool pool = new_pool(ABT_POOL_FIFO_WAIT);
    ABT_unit unit = unit_of(self_thread());
    ok(ABT_pool_pop_timedwait(pool, &unit, ABT_get_wtime() + 0.01));
    EXPECT_EQ(unit, ABT_UNIT_NULL);
    {
        Idle idle(pool, 1);
        ok(ABT_pool_pop_timedwait(pool, &unit, ABT_get_wtime() + 10));
        EXPECT_EQ(thread_of(unit), idle.made[0]);
        ok(ABT_pool_push(pool, unit));
    }
    EXPECT_EQ(ABT_pool_pop_timedwait(ABT_POOL_NULL, &unit, 0), ABT_ERR_INV_POOL);
    ok(ABT_pool_free(&pool));
}
#pragma GCC diagnostic pop

// ---- units --------------------------------------------------------------------------------------

TEST_F(Pool, units_are_popped_pushed_and_removed) {
    for (const ABT_pool_kind kind : kinds) {
        ABT_pool pool = new_pool(kind);
        {
            Idle idle(pool, 3);
            ABT_unit unit = ABT_UNIT_NULL;
            ok(ABT_pool_pop(pool, &unit));
            EXPECT_NE(unit, ABT_UNIT_NULL);
            EXPECT_EQ(unit_of(thread_of(unit)), unit);
            ok(ABT_pool_push(pool, unit));
            if (kind == ABT_POOL_RANDWS && !elsewhere()) {
                EXPECT_EQ(ABT_pool_remove(pool, unit_of(idle.made[1])), ABT_ERR_POOL)
                    << "a deque gives nothing out of its middle";
                continue;
            }
            ok(ABT_pool_remove(pool, unit_of(idle.made[1])));
            EXPECT_EQ(size_of(pool), 2u);
            ok(ABT_pool_push(pool, unit_of(idle.made[1])));
            EXPECT_EQ(size_of(pool), 3u);
        }
        ABT_unit unit{};
        ok(ABT_pool_pop(pool, &unit));
        EXPECT_EQ(unit, ABT_UNIT_NULL);
        ok(ABT_pool_free(&pool));
    }
}

TEST_F(Pool, a_unit_stands_for_its_work_unit) {
    const ABT_unit mine = unit_of(self_thread());
    EXPECT_EQ(thread_of(mine), self_thread());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mine) % 2, 1u) << "bit 0 marks units of pools that are built in";
    ABT_thread thread = ABT_THREAD_NULL;
    EXPECT_EQ(ABT_unit_get_thread(ABT_UNIT_NULL, &thread), ABT_ERR_INV_UNIT);
    EXPECT_EQ(ABT_unit_set_associated_pool(ABT_UNIT_NULL, own_pool()), ABT_ERR_INV_UNIT);
    EXPECT_EQ(ABT_unit_set_associated_pool(mine, ABT_POOL_NULL), ABT_ERR_INV_POOL);
    ok(ABT_unit_set_associated_pool(mine, own_pool()));
    EXPECT_EQ(unit_of(self_thread()), mine);
}

// ---- other calls --------------------------------------------------------------------------------

TEST_F(Pool, each_unit_in_it_is_shown) {
    for (const ABT_pool_kind kind : kinds) {
        ABT_pool pool = new_pool(kind);
        {
            Idle idle(pool, 3);
            std::vector<ABT_thread> shown;
            ok(ABT_pool_print_all_threads(pool, &shown, [](void* to, ABT_thread thread) {
                static_cast<std::vector<ABT_thread>*>(to)->push_back(thread);
            }));
            EXPECT_EQ(shown.size(), 3u);
            for (ABT_thread made : idle.made) EXPECT_EQ(std::count(shown.begin(), shown.end(), made), 1);
            shown.clear();
            ok(ABT_pool_print_all(pool, &shown, [](void* to, ABT_unit unit) {
                static_cast<std::vector<ABT_thread>*>(to)->push_back(thread_of(unit));
            }));
            EXPECT_EQ(shown.size(), 3u);
            EXPECT_EQ(size_of(pool), 3u);
        }
        ok(ABT_pool_free(&pool));
    }
}

TEST_F(Pool, numbers_differ_and_begin_low) {
    ABT_pool a = new_pool(), b = new_pool();
    int first = -1, second = -1, mine = -1;
    ok(ABT_pool_get_id(own_pool(), &mine));
    ok(ABT_pool_get_id(a, &first));
    ok(ABT_pool_get_id(b, &second));
    EXPECT_GE(mine, 0);
    EXPECT_GT(first, mine);
    EXPECT_GT(second, first);
    ok(ABT_pool_free(&a));
    ok(ABT_pool_free(&b));
}

TEST_F(Pool, priv_is_enough_for_one_stream) {
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV);
    ok(ABT_xstream_set_main_sched_basic(self_stream(), ABT_SCHED_BASIC, 1, &pool));
    std::atomic<int> ran{0};
    {
        Units units;
        for (int i = 0; i < 100; ++i) {
            units.ult(pool, [&] {
                ok(ABT_self_yield());
                ran.fetch_add(1);
            });
        }
    }
    EXPECT_EQ(ran.load(), 100);
}
