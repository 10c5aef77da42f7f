// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ULTs: creating, reviving, joining, cancelling, yielding to others, and migrating.
#include "core_test_support.hpp"

using namespace abt_test;

namespace {

class Thread : public Argobots {};

ABT_pool pool_of_thread(ABT_thread thread) {
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_thread_get_last_pool(thread, &pool));
    return pool;
}

ABT_xstream stream_of_thread(ABT_thread thread) {
    ABT_xstream stream{};
    ok(ABT_thread_get_last_xstream(thread, &stream));
    return stream;
}

Body sleeper_body = [] { ok(ABT_self_suspend()); };

// A ULT that is suspended.
ABT_thread suspended(ABT_pool pool) {
    ABT_thread made = spawn(pool, call_body, &sleeper_body);
    wait_until([&] { return state_of(made) == ABT_THREAD_STATE_BLOCKED; });
    return made;
}

void resume_and_free(ABT_thread& thread) {
    ok(ABT_thread_resume(thread));
    ok(ABT_thread_free(&thread));
}

}   // namespace

// ---- create -------------------------------------------------------------------------------------

TEST_F(Thread, a_created_ult_is_ready_and_runs_when_its_creator_waits) {
    std::atomic<int> ran{0};
    ABT_thread made = spawn(own_pool(), add_one, &ran);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_READY);
    EXPECT_EQ(ran.load(), 0);
    ok(ABT_thread_join(made));
    EXPECT_EQ(ran.load(), 1);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(made, ABT_THREAD_NULL);
}

TEST_F(Thread, creating_in_no_pool_or_stream_is_refused) {
    ABT_thread made = self_thread();
    EXPECT_EQ(ABT_thread_create(ABT_POOL_NULL, nothing, nullptr, ABT_THREAD_ATTR_NULL, &made), ABT_ERR_INV_POOL);
    EXPECT_EQ(made, ABT_THREAD_NULL);
    EXPECT_EQ(ABT_thread_create(ABT_POOL_NULL, nothing, nullptr, ABT_THREAD_ATTR_NULL, nullptr), ABT_ERR_INV_POOL);
    made = self_thread();
    EXPECT_EQ(ABT_thread_create_on_xstream(ABT_XSTREAM_NULL, nothing, nullptr, ABT_THREAD_ATTR_NULL, &made),
              ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(made, ABT_THREAD_NULL);
    made = self_thread();
    EXPECT_EQ(ABT_thread_create_to(ABT_POOL_NULL, nothing, nullptr, ABT_THREAD_ATTR_NULL, &made), ABT_ERR_INV_POOL);
    EXPECT_EQ(made, self_thread()) << "untouched";
}

TEST_F(Thread, unnamed_ones_free_themselves) {
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) ok(ABT_thread_create(own_pool(), add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr));
    wait_until([&] { return ran.load() == 100; });
}

TEST_F(Thread, a_stream_is_named_instead_of_its_pool) {
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    ABT_thread made = ABT_THREAD_NULL;
    Body looks = [&] { EXPECT_EQ(self_stream(), stream); };
    ok(ABT_thread_create_on_xstream(stream, call_body, &looks, ABT_THREAD_ATTR_NULL, &made));
    EXPECT_EQ(pool_of_thread(made), pool_of(stream));
    ok(ABT_thread_free(&made));
    std::atomic<int> ran{0};
    ok(ABT_thread_create_on_xstream(stream, add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr));
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(ran.load(), 1);
}

TEST_F(Thread, many_are_created_joined_and_freed_by_one_call_each) {
    constexpr int count = 50;
    std::atomic<int> ran{0};
    std::vector<ABT_pool> pools(count, own_pool());
    std::vector<void (*)(void*)> bodies(count, add_one);
    std::vector<void*> arguments(count, &ran);
    std::vector<ABT_thread> made(count, ABT_THREAD_NULL);
    ok(ABT_thread_create_many(count, pools.data(), bodies.data(), arguments.data(), ABT_THREAD_ATTR_NULL, made.data()));
    ok(ABT_thread_join_many(count, made.data()));
    EXPECT_EQ(ran.load(), count);
    for (ABT_thread thread : made) EXPECT_EQ(state_of(thread), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_thread_free_many(count, made.data()));
    for (ABT_thread thread : made) EXPECT_EQ(thread, ABT_THREAD_NULL);
    ok(ABT_thread_create_many(count, pools.data(), bodies.data(), arguments.data(), ABT_THREAD_ATTR_NULL, nullptr));
    wait_until([&] { return ran.load() == 2 * count; });
    ok(ABT_thread_create_many(0, nullptr, nullptr, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
    ok(ABT_thread_join_many(0, nullptr));
    ok(ABT_thread_free_many(0, nullptr));
}

TEST_F(Thread, one_that_asks_for_a_small_stack_runs) {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ok(ABT_thread_attr_create(&attr));
    for (const std::size_t asked : {std::size_t{8192}, std::size_t{12288}}) {
        ok(ABT_thread_attr_set_stacksize(attr, asked));
        ABT_thread made = ABT_THREAD_NULL;
        ok(ABT_thread_create(own_pool(), nothing, nullptr, attr, &made));
        std::size_t bytes = 0;
        ok(ABT_thread_get_stacksize(made, &bytes));
        EXPECT_EQ(bytes, asked);
        ok(ABT_thread_free(&made));
    }
    ok(ABT_thread_attr_free(&attr));
}

TEST_F(Thread, many_have_one_attribute_but_not_one_stack) {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ok(ABT_thread_attr_create(&attr));
    ok(ABT_thread_attr_set_stacksize(attr, 262144));
    ABT_pool pools[2] = {own_pool(), own_pool()};
    void (*bodies[2])(void*) = {nothing, nothing};
    void* arguments[2] = {nullptr, nullptr};
    ABT_thread made[2] = {ABT_THREAD_NULL, ABT_THREAD_NULL};
    ok(ABT_thread_create_many(2, pools, bodies, arguments, attr, made));
    for (ABT_thread thread : made) {
        std::size_t bytes = 0;
        ok(ABT_thread_get_stacksize(thread, &bytes));
        EXPECT_EQ(bytes, 262144u);
    }
    ok(ABT_thread_free_many(2, made));
    alignas(64) static char stack[262144];
    ok(ABT_thread_attr_set_stack(attr, stack, sizeof stack));
    EXPECT_EQ(ABT_thread_create_many(2, pools, bodies, arguments, attr, made), ABT_ERR_INV_THREAD_ATTR);
    ok(ABT_thread_attr_free(&attr));
}

TEST_F(Thread, entries_that_are_none_are_passed_over_by_join_many_and_free_many) {
    std::atomic<int> ran{0};
    ABT_thread list[5] = {ABT_THREAD_NULL, spawn(own_pool(), add_one, &ran), ABT_TASK_NULL,
                          spawn(own_pool(), add_one, &ran), ABT_THREAD_NULL};
    ok(ABT_thread_join_many(5, list));
    EXPECT_EQ(ran.load(), 2);
    ok(ABT_thread_free_many(5, list));
    EXPECT_EQ(list[1], ABT_THREAD_NULL);
    EXPECT_EQ(list[3], ABT_THREAD_NULL);
}

TEST_F(Thread, join_many_waits_for_units_of_all_streams_also_outside) {
    Streams streams(2);
    std::atomic<int> ran{0};
    Body yields = [&] {
        for (int i = 0; i < 10; ++i) ok(ABT_self_yield());
        ran.fetch_add(1);
    };
    for (const bool external : {false, true}) {
        std::vector<ABT_thread> made;
        for (std::size_t i = 0; i < 60; ++i)
            made.push_back(spawn(i % 3 == 0 ? own_pool() : streams.pool(i), call_body, &yields));
        if (external) {
            // The primary stream runs its share meanwhile.
            std::atomic<bool> over{false};
            std::thread joiner([&] {
                ok(ABT_thread_join_many(60, made.data()));
                over = true;
            });
            wait_until([&] { return over.load(); });
            joiner.join();
        } else {
            ok(ABT_thread_join_many(60, made.data()));
        }
        for (ABT_thread thread : made) EXPECT_EQ(state_of(thread), ABT_THREAD_STATE_TERMINATED);
        ok(ABT_thread_free_many(60, made.data()));
    }
    EXPECT_EQ(ran.load(), 120);
}

// ---- children that begin at once ----------------------------------------------------------------

TEST_F(Thread, create_to_runs_the_child_before_it_returns) {
    std::atomic<int> ran{0};
    ABT_thread other = spawn(own_pool(), add_one, &ran), made = ABT_THREAD_NULL;
    Body body = [&] { EXPECT_EQ(ran.load(), 0) << "before those that are ready"; };
    ok(ABT_thread_create_to(own_pool(), call_body, &body, ABT_THREAD_ATTR_NULL, &made));
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    EXPECT_EQ(ran.load(), 1) << "the caller waited in the pool, behind the other";
    ok(ABT_thread_free(&made));
    ok(ABT_thread_free(&other));
    ok(ABT_thread_create_to(own_pool(), add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr));
    EXPECT_EQ(ran.load(), 2);
}

TEST_F(Thread, create_to_and_revive_to_are_for_ults) {
    ABT_pool pool = own_pool();
    ABT_thread ended = spawn(pool, nothing, nullptr);
    ok(ABT_thread_join(ended));
    const auto create = [&] {
        ABT_thread made = ABT_THREAD_NULL;
        return ABT_thread_create_to(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &made);
    };
    const auto revive = [&] { return ABT_thread_revive_to(pool, nothing, nullptr, &ended); };
    EXPECT_EQ(outside(create), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(outside(revive), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(in_tasklet(create), ABT_ERR_INV_THREAD);
    EXPECT_EQ(in_tasklet(revive), ABT_ERR_INV_THREAD);
    EXPECT_EQ(state_of(ended), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_thread_free(&ended));
}

TEST_F(Thread, chains_of_children_that_begin_at_once) {
    int depth = 0;
    Body body;
    body = [&] {
        if (++depth == 100) return;
        ABT_thread made = ABT_THREAD_NULL;
        ok(ABT_thread_create_to(own_pool(), call_body, &body, ABT_THREAD_ATTR_NULL, &made));
        ok(ABT_thread_free(&made));
    };
    in_ult_of(own_pool(), body);
    EXPECT_EQ(depth, 100);
}

// ---- revive -------------------------------------------------------------------------------------

TEST_F(Thread, a_ult_that_has_ended_is_revived_with_its_handle_number_and_stack) {
    std::atomic<int> ran{0};
    void* stack = nullptr;
    Body notes = [&] {
        int here = 0;
        stack = &here;
        ran.fetch_add(1);
    };
    ABT_thread made = spawn(own_pool(), call_body, &notes);
    const ABT_thread handle = made;
    ABT_unit_id before = 0, after = 1;
    ok(ABT_thread_get_id(made, &before));
    ok(ABT_thread_join(made));
    void* const first_stack = stack;
    ok(ABT_thread_revive(own_pool(), call_body, &notes, &made));
    EXPECT_EQ(made, handle);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_READY);
    ok(ABT_thread_join(made));
    ok(ABT_thread_get_id(made, &after));
    EXPECT_EQ(before, after);
    EXPECT_EQ(stack, first_stack);
    ok(ABT_thread_revive_to(own_pool(), call_body, &notes, &made));
    EXPECT_EQ(ran.load(), 3);
    ok(ABT_thread_revive(own_pool(), add_one, &ran, &made));
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ran.load(), 4);
}

TEST_F(Thread, revive_refuses_none_and_those_that_have_not_ended) {
    ABT_pool pool = new_pool();
    ABT_thread ready = spawn(pool, nothing, nullptr), none = ABT_THREAD_NULL;
    EXPECT_EQ(ABT_thread_revive(pool, nothing, nullptr, &ready), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_revive_to(pool, nothing, nullptr, &ready), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_revive(pool, nothing, nullptr, &none), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_revive_to(pool, nothing, nullptr, &none), ABT_ERR_INV_THREAD);
    run_all(pool);
    EXPECT_EQ(ABT_thread_revive(ABT_POOL_NULL, nothing, nullptr, &ready), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_thread_revive_to(ABT_POOL_NULL, nothing, nullptr, &ready), ABT_ERR_INV_POOL);
    ABT_task task = ABT_TASK_NULL;
    ok(ABT_task_create(own_pool(), nothing, nullptr, &task));
    ok(ABT_task_join(task));
    EXPECT_EQ(ABT_thread_revive_to(pool, nothing, nullptr, &task), ABT_ERR_INV_THREAD) << "a tasklet";
    ok(ABT_thread_revive(own_pool(), nothing, nullptr, &task));
    ok(ABT_task_free(&task));
    ok(ABT_thread_free(&ready));
    ok(ABT_pool_free(&pool));
}

// ---- join and free: behaviour (d) ---------------------------------------------------------------

TEST_F(Thread, free_waits_for_the_end) {
    int turns = 0;
    Body yields = [&] {
        for (; turns < 10; ++turns) ok(ABT_self_yield());
    };
    ABT_thread made = spawn(own_pool(), call_body, &yields);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(made, ABT_THREAD_NULL);
    EXPECT_EQ(turns, 10);
}

TEST_F(Thread, join_and_free_refuse_none_the_caller_and_the_primary_ult) {
    ABT_thread none = ABT_THREAD_NULL, primary = self_thread();
    EXPECT_EQ(ABT_thread_join(none), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_free(&none), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_join(primary), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_free(&primary), ABT_ERR_INV_THREAD);
    EXPECT_EQ(primary, self_thread());
    in_ult_of(own_pool(), [&] {
        ABT_thread self = self_thread();
        EXPECT_EQ(ABT_thread_join(self), ABT_ERR_INV_THREAD);
        EXPECT_EQ(ABT_thread_free(&self), ABT_ERR_INV_THREAD);
        EXPECT_EQ(ABT_thread_join(primary), ABT_ERR_INV_THREAD);
        EXPECT_EQ(ABT_thread_free(&primary), ABT_ERR_INV_THREAD);
    });
    outside([&] {
        EXPECT_EQ(ABT_thread_join(primary), ABT_ERR_INV_THREAD);
        return ABT_thread_free(&primary);
    });
    EXPECT_EQ(primary, self_thread());
}

TEST_F(Thread, an_ended_ult_is_joined_again_and_again) {
    ABT_thread made = spawn(own_pool(), nothing, nullptr);
    for (int i = 0; i < 3; ++i) ok(ABT_thread_join(made));
    ok(ABT_thread_free(&made));
}

TEST_F(Thread, several_join_the_same_ult) {
    Streams streams(1);
    std::atomic<int> joined{0};
    ABT_thread target = suspended(streams.pool(0));
    Units units;
    const auto join = [&] {
        ok(ABT_thread_join(target));
        joined.fetch_add(1);
    };
    for (int i = 0; i < 5; ++i) units.ult(own_pool(), join);
    for (int i = 0; i < 5; ++i) units.ult(streams.pool(0), join);
    std::thread outer(join);
    for (int i = 0; i < 10; ++i) ok(ABT_self_yield());
    EXPECT_EQ(joined.load(), 0);
    ok(ABT_thread_resume(target));
    units.join();
    outer.join();
    EXPECT_EQ(joined.load(), 11);
    ok(ABT_thread_free(&target));
}

TEST_F(Thread, tasklets_join_too) {
    Streams streams(1);
    ABT_thread made = ABT_THREAD_NULL;
    std::atomic<int> ran{0};
    made = spawn(streams.pool(0), add_one, &ran);
    EXPECT_EQ(in_tasklet([&] { return ABT_thread_join(made); }), ABT_SUCCESS);
    EXPECT_EQ(ran.load(), 1);
    EXPECT_EQ(in_tasklet([&] { return ABT_thread_free(&made); }), ABT_SUCCESS);
    EXPECT_EQ(made, ABT_THREAD_NULL);
}

// ---- ends ---------------------------------------------------------------------------------------

TEST_F(Thread, exit_ends_the_caller) {
    for (const auto exit : {ABT_thread_exit, ABT_self_exit}) {
        std::atomic<int> ran{0};
        Body exits = [&] {
            ran.fetch_add(1);
            exit();
            ran.fetch_add(100);
        };
        in_ult_of(own_pool(), exits);
        EXPECT_EQ(ran.load(), 1);
        EXPECT_EQ(exit(), ABT_ERR_INV_THREAD) << "the primary ULT";
        EXPECT_EQ(outside(exit), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(in_tasklet(exit), ABT_ERR_INV_THREAD);
    }
}

TEST_F(Thread, a_ready_ult_that_is_cancelled_never_runs) {
    std::atomic<int> ran{0};
    ABT_thread made = spawn(own_pool(), add_one, &ran);
    ok(ABT_thread_cancel(made));
    ok(ABT_thread_join(made));
    EXPECT_EQ(ran.load(), 0);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_thread_revive(own_pool(), add_one, &ran, &made));
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ran.load(), 1) << "revived, it is not cancelled";
}

TEST_F(Thread, a_ult_that_is_cancelled_ends_where_it_yields) {
    std::atomic<int> turns{0};
    Body loops = [&] {
        for (;;) {
            turns.fetch_add(1);
            ok(ABT_self_yield());
        }
    };
    ABT_thread made = spawn(own_pool(), call_body, &loops);
    wait_until([&] { return turns.load() > 3; });
    ok(ABT_thread_cancel(made));
    ok(ABT_thread_free(&made));
    EXPECT_GT(turns.load(), 3);
}

TEST_F(Thread, a_ult_that_cancels_itself_ends_where_it_next_yields) {
    int reached = 0;
    Body body = [&] {
        ok(ABT_thread_cancel(self_thread()));
        reached = 1;
        ok(ABT_self_yield());
        reached = 2;
    };
    in_ult_of(own_pool(), body);
    EXPECT_EQ(reached, 1);
}

TEST_F(Thread, cancel_refuses_none_and_the_primary_ult) {
    EXPECT_EQ(ABT_thread_cancel(ABT_THREAD_NULL), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_cancel(self_thread()), ABT_ERR_INV_THREAD);
}

// ---- yield: behaviours (a), (c), (f) ------------------------------------------------------------

TEST_F(Thread, after_each_yield_every_other_ult_has_run_once) {
    constexpr int count = 10, rounds = 20;
    int turns[count] = {};
    bool even = true;
    Units units;
    for (int me = 0; me < count; ++me) {
        units.ult(own_pool(), [&, me] {
            for (int round = 0; round < rounds; ++round) {
                ++turns[me];
                for (int other = 0; other < count; ++other)
                    even = even && turns[other] == (other <= me ? round + 1 : round);
                ok(ABT_thread_yield());
            }
        });
    }
    units.join();
    EXPECT_TRUE(even);
    EXPECT_EQ(turns[count - 1], rounds);
}

TEST_F(Thread, the_primary_ult_takes_its_turn_like_the_others) {
    int turns[3] = {};
    Units units;
    for (int me = 0; me < 3; ++me) {
        units.ult(own_pool(), [&, me] {
            for (int i = 0; i < 10; ++i) {
                ++turns[me];
                ok(ABT_self_yield());
            }
        });
    }
    for (int round = 1; round <= 10; ++round) {
        ok(ABT_self_yield());
        for (const int turn : turns) EXPECT_EQ(turn, round);
    }
}

TEST_F(Thread, new_ults_run_in_the_order_of_their_creation) {
    std::vector<int> order;
    Units units;
    for (int i = 0; i < 10; ++i) {
        units.ult(own_pool(), [&, i] { order.push_back(i); });
        units.tasklet(own_pool(), [&, i] { order.push_back(100 + i); });
    }
    ok(ABT_thread_yield());
    ASSERT_EQ(order.size(), 20u);
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(order[2 * i], static_cast<int>(i));
        EXPECT_EQ(order[2 * i + 1], 100 + static_cast<int>(i));
    }
}

TEST_F(Thread, tasklets_and_os_threads_yield_to_nobody) {
    std::atomic<int> ran{0};
    ABT_thread made = ABT_THREAD_NULL;
    in_tasklet_of(own_pool(), [&] {
        made = spawn(own_pool(), add_one, &ran);
        ok(ABT_thread_yield());
        ok(ABT_thread_yield_to(made));
        EXPECT_EQ(ran.load(), 0);
    });
    ok(ABT_thread_free(&made));
    made = spawn(own_pool(), add_one, &ran);
    EXPECT_EQ(outside(ABT_thread_yield), ABT_SUCCESS);
    EXPECT_EQ(outside([&] { return ABT_thread_yield_to(made); }), ABT_SUCCESS);
    EXPECT_EQ(ran.load(), 1);
    EXPECT_EQ(size_of(own_pool()), 1u);
    ok(ABT_thread_free(&made));
}

TEST_F(Thread, yield_to_takes_its_target_out_of_the_pool) {
    std::vector<int> order;
    Units units;
    ABT_thread last = ABT_THREAD_NULL;
    Body says = [&] { order.push_back(3); };
    units.ult(own_pool(), [&] {
        order.push_back(1);
        ok(ABT_thread_yield_to(last));
        order.push_back(4);
    });
    units.ult(own_pool(), [&] { order.push_back(2); });
    last = spawn(own_pool(), call_body, &says);
    units.join();
    EXPECT_EQ(order, (std::vector<int>{1, 3, 2, 4}));
    ok(ABT_thread_yield_to(last));   // it has ended
    ok(ABT_thread_free(&last));
}

TEST_F(Thread, yield_to_a_ult_that_is_not_ready_does_nothing) {
    ABT_thread target = suspended(own_pool());
    ok(ABT_thread_yield_to(target));
    EXPECT_EQ(state_of(target), ABT_THREAD_STATE_BLOCKED);
    resume_and_free(target);
    ABT_pool pool = new_pool();
    ABT_thread popped = spawn(pool, nothing, nullptr);
    EXPECT_EQ(pop_from(pool), popped);
    ok(ABT_thread_yield_to(popped));
    EXPECT_EQ(state_of(popped), ABT_THREAD_STATE_READY) << "it is in no pool";
    ok(ABT_self_schedule(popped, ABT_POOL_NULL));
    ok(ABT_thread_free(&popped));
    ok(ABT_pool_free(&pool));
}

TEST_F(Thread, yield_to_refuses_none_the_caller_and_tasklets) {
    EXPECT_EQ(ABT_thread_yield_to(ABT_THREAD_NULL), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_yield_to(self_thread()), ABT_ERR_INV_THREAD);
    ABT_task task = ABT_TASK_NULL;
    ok(ABT_task_create(own_pool(), nothing, nullptr, &task));
    EXPECT_EQ(ABT_thread_yield_to(task), ABT_ERR_INV_THREAD);
    ok(ABT_task_free(&task));
}

// ---- suspend and resume -------------------------------------------------------------------------

TEST_F(Thread, resume_pushes_a_suspended_ult) {
    ABT_thread made = suspended(own_pool());
    ok(ABT_thread_resume(made));
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_READY);
    ok(ABT_thread_join(made));
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    EXPECT_EQ(ABT_thread_resume(made), ABT_ERR_THREAD);
    ok(ABT_thread_free(&made));
}

TEST_F(Thread, resume_refuses_none_tasklets_and_those_that_are_not_suspended) {
    EXPECT_EQ(ABT_thread_resume(ABT_THREAD_NULL), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_resume(self_thread()), ABT_ERR_THREAD);
    ABT_thread made = spawn(own_pool(), nothing, nullptr);
    EXPECT_EQ(ABT_thread_resume(made), ABT_ERR_THREAD);
    ok(ABT_thread_free(&made));
    ABT_task task = ABT_TASK_NULL;
    ok(ABT_task_create(own_pool(), nothing, nullptr, &task));
    EXPECT_EQ(ABT_thread_resume(task), ABT_ERR_INV_THREAD);
    ok(ABT_task_free(&task));
}

TEST_F(Thread, anybody_resumes) {
    Streams streams(1);
    for (int i = 0; i < 20; ++i) {
        ABT_thread made = suspended(streams.pool(0));
        const auto resume = [&] { return ABT_thread_resume(made); };
        EXPECT_EQ(i % 2 == 0 ? outside(resume) : in_tasklet(resume), ABT_SUCCESS);
        ok(ABT_thread_free(&made));
    }
}

TEST_F(Thread, states_are_seen_from_outside) {
    ABT_pool pool = new_pool();
    ABT_thread made = spawn(pool, call_body, &sleeper_body);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_READY);
    EXPECT_EQ(state_of(self_thread()), ABT_THREAD_STATE_RUNNING);
    run_all(pool);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_BLOCKED);
    ok(ABT_thread_resume(made));
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_READY);
    run_all(pool);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    ABT_thread_state state{};
    EXPECT_EQ(ABT_thread_get_state(ABT_THREAD_NULL, &state), ABT_ERR_INV_THREAD);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&pool));
}

// ---- migration ----------------------------------------------------------------------------------

TEST_F(Thread, a_ready_ult_migrates_before_it_runs) {
    Streams streams(1);
    const ABT_pool there = streams.pool(0);
    Body looks = [&] {
        int rank = -1;
        ok(ABT_self_get_xstream_rank(&rank));
        EXPECT_EQ(rank, 1);
        EXPECT_EQ(pool_of_thread(self_thread()), there);
    };
    ABT_thread made = spawn(own_pool(), call_body, &looks);
    ok(ABT_thread_migrate_to_pool(made, there));
    ok(ABT_thread_free(&made));
}

TEST_F(Thread, a_running_ult_migrates_where_it_next_yields) {
    Streams streams(1);
    const ABT_pool there = streams.pool(0);
    Body goes = [&] {
        EXPECT_EQ(self_stream(), stream_of_thread(self_thread()));
        ok(ABT_thread_migrate_to_pool(self_thread(), there));
        int rank = -1;
        ok(ABT_self_get_xstream_rank(&rank));
        EXPECT_EQ(rank, 0);
        ok(ABT_self_yield());
        ok(ABT_self_get_xstream_rank(&rank));
        EXPECT_EQ(rank, 1);
    };
    ABT_thread made = spawn(own_pool(), call_body, &goes);
    ok(ABT_thread_free(&made));
}

TEST_F(Thread, a_suspended_ult_migrates_when_it_is_resumed) {
    Streams streams(1);
    const ABT_pool there = streams.pool(0);
    Body goes = [&] {
        ok(ABT_self_suspend());
        ok(ABT_self_yield());
        int rank = -1;
        ok(ABT_self_get_xstream_rank(&rank));
        EXPECT_EQ(rank, 1);
    };
    ABT_thread made = spawn(own_pool(), call_body, &goes);
    wait_until([&] { return state_of(made) == ABT_THREAD_STATE_BLOCKED; });
    ok(ABT_thread_migrate_to_pool(made, there));
    ok(ABT_thread_resume(made));
    ok(ABT_thread_free(&made));
}

TEST_F(Thread, a_stream_or_a_scheduler_is_a_target_too) {
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    ok(ABT_xstream_get_main_sched(stream, &sched));
    Body looks = [&] { EXPECT_EQ(self_stream(), stream); };
    ABT_thread first = spawn(own_pool(), call_body, &looks), second = spawn(own_pool(), call_body, &looks);
    ok(ABT_thread_migrate_to_xstream(first, stream));
    ok(ABT_thread_migrate_to_sched(second, sched));
    ok(ABT_thread_free(&first));
    ok(ABT_thread_free(&second));
    ok(ABT_xstream_free(&stream));
}

TEST_F(Thread, a_scheduler_of_the_programs_own_names_the_pool_for_those_who_come) {
    struct Named {
        static void run(ABT_sched) {}
        static ABT_pool pool(ABT_sched sched) {
            ABT_pool pools[2] = {};
            ok(ABT_sched_get_pools(sched, 2, 0, pools));
            return pools[1];
        }
    };
    ABT_sched_def def{ABT_SCHED_TYPE_ULT, nullptr, Named::run, nullptr, Named::pool};
    ABT_pool pools[2] = {new_pool(), new_pool()};
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
    std::atomic<int> ran{0};
    ABT_thread made = spawn(own_pool(), add_one, &ran);
    ok(ABT_thread_migrate_to_sched(made, sched));
    ok(ABT_self_yield());
    EXPECT_EQ(size_of(pools[1]), 1u);
    run_all(pools[1]);
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_thread_free(&made));
    ok(ABT_sched_free(&sched));
    for (ABT_pool& pool : pools) ok(ABT_pool_free(&pool));
}

TEST_F(Thread, a_migration_to_where_it_is_is_refused) {
    ABT_thread made = spawn(own_pool(), nothing, nullptr);
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_xstream_get_main_sched(self_stream(), &sched));
    EXPECT_EQ(ABT_thread_migrate_to_pool(made, own_pool()), ABT_ERR_MIGRATION_TARGET);
    EXPECT_EQ(ABT_thread_migrate_to_xstream(made, self_stream()), ABT_ERR_MIGRATION_TARGET);
    EXPECT_EQ(ABT_thread_migrate_to_sched(made, sched), ABT_ERR_MIGRATION_TARGET);
    ok(ABT_thread_free(&made));
}

TEST_F(Thread, a_migration_of_none_to_none_or_of_one_that_may_not_is_refused) {
    Streams streams(1);
    ABT_thread made = spawn(own_pool(), nothing, nullptr);
    EXPECT_EQ(ABT_thread_migrate_to_pool(ABT_THREAD_NULL, streams.pool(0)), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_migrate_to_pool(made, ABT_POOL_NULL), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_thread_migrate_to_xstream(ABT_THREAD_NULL, self_stream()), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_migrate_to_xstream(made, ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_thread_migrate_to_sched(ABT_THREAD_NULL, ABT_SCHED_NULL), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_migrate_to_sched(made, ABT_SCHED_NULL), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_thread_migrate(ABT_THREAD_NULL), ABT_ERR_INV_THREAD);
    ok(ABT_thread_set_migratable(made, ABT_FALSE));
    ABT_bool may = ABT_TRUE;
    ok(ABT_thread_is_migratable(made, &may));
    EXPECT_EQ(may, ABT_FALSE);
    EXPECT_EQ(ABT_thread_migrate_to_pool(made, streams.pool(0)), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_migrate(made), ABT_ERR_INV_THREAD);
    ok(ABT_thread_set_migratable(made, ABT_TRUE));
    ok(ABT_thread_is_migratable(made, &may));
    EXPECT_EQ(may, ABT_TRUE);
    ok(ABT_thread_migrate_to_pool(made, streams.pool(0)));
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ABT_thread_is_migratable(ABT_THREAD_NULL, &may), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_set_migratable(ABT_THREAD_NULL, ABT_TRUE), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_set_callback(ABT_THREAD_NULL, nullptr, nullptr), ABT_ERR_INV_THREAD);
    ok(ABT_thread_set_migratable(self_thread(), ABT_TRUE));   // without effect
}

TEST_F(Thread, migrate_finds_another_stream) {
    if (elsewhere()) GTEST_SKIP() << "it looks for its own stream there";
    ABT_thread alone = spawn(own_pool(), nothing, nullptr);
    EXPECT_EQ(ABT_thread_migrate(alone), ABT_ERR_MIGRATION_NA) << "there is no other";
    ok(ABT_thread_free(&alone));
    Streams streams(2);
    Body looks = [&] {
        int rank = 0;
        ok(ABT_self_get_xstream_rank(&rank));
        EXPECT_NE(rank, 0);
    };
    ABT_thread made = spawn(own_pool(), call_body, &looks);
    ok(ABT_thread_migrate(made));
    ok(ABT_thread_free(&made));
}

TEST_F(Thread, a_callback_is_called_for_each_migration) {
    struct Seen {
        int count = 0;
        ABT_thread thread = ABT_THREAD_NULL;
        ABT_pool pool = ABT_POOL_NULL;
    } seen;
    const auto note = [](ABT_thread thread, void* to) {
        auto& there = *static_cast<Seen*>(to);
        ++there.count;
        there.thread = thread;
        ok(ABT_thread_get_last_pool(thread, &there.pool));
    };
    ABT_pool there = new_pool(), further = new_pool();
    ABT_thread made = spawn(own_pool(), nothing, nullptr);
    ok(ABT_thread_set_callback(made, note, &seen));
    ok(ABT_thread_migrate_to_pool(made, there));
    ok(ABT_self_yield());
    EXPECT_EQ(seen.count, 1);
    EXPECT_EQ(seen.thread, made);
    EXPECT_EQ(seen.pool, there);
    EXPECT_EQ(size_of(there), 1u);
    ok(ABT_thread_set_callback(made, nullptr, nullptr));
    ok(ABT_thread_migrate_to_pool(made, further));
    run_all(there);
    EXPECT_EQ(seen.count, 1);
    run_all(further);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_thread_free(&made));
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ok(ABT_thread_attr_create(&attr));
    ok(ABT_thread_attr_set_callback(attr, note, &seen));
    ok(ABT_thread_create(own_pool(), nothing, nullptr, attr, &made));
    ok(ABT_thread_attr_free(&attr));
    ok(ABT_thread_migrate_to_pool(made, there));
    ok(ABT_self_yield());
    EXPECT_EQ(seen.count, 2);
    EXPECT_EQ(seen.thread, made);
    run_all(there);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&there));
    ok(ABT_pool_free(&further));
}

TEST_F(Thread, ults_migrate_back_and_forth) {
    Streams streams(2);
    std::atomic<int> ran{0};
    {
        Units units;
        for (std::size_t me = 0; me < 20; ++me) {
            units.ult(streams.pool(me), [&, me] {
                for (std::size_t i = 1; i <= 20; ++i) {
                    const ABT_pool next = streams.pool(me + i);
                    ok(ABT_thread_migrate_to_pool(self_thread(), next));
                    ok(ABT_self_yield());
                    EXPECT_EQ(pool_of_thread(self_thread()), next);
                }
                ran.fetch_add(1);
            });
        }
    }
    EXPECT_EQ(ran.load(), 20);
}

TEST(ThreadBefore, exit_needs_the_library) { EXPECT_EQ(ABT_thread_exit(), ABT_ERR_UNINITIALIZED); }
