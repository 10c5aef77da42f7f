// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasklets: what they have in common with ULTs, and what they cannot do.
#include "core_test_support.hpp"

using namespace abt_test;

namespace {

class Task : public Argobots {};

ABT_task create(ABT_pool pool, void (*body)(void*), void* argument) {
    ABT_task made = ABT_TASK_NULL;
    ok(ABT_task_create(pool, body, argument, &made));
    return made;
}

ABT_task_state state_of_task(ABT_task task) {
    ABT_task_state state{};
    ok(ABT_task_get_state(task, &state));
    return state;
}

}   // namespace

TEST_F(Task, a_tasklet_is_ready_runs_and_has_ended) {
    std::atomic<int> ran{0};
    ABT_task made = create(own_pool(), add_one, &ran);
    EXPECT_EQ(state_of_task(made), ABT_TASK_STATE_READY);
    EXPECT_EQ(ran.load(), 0);
    ok(ABT_task_join(made));
    EXPECT_EQ(ran.load(), 1);
    EXPECT_EQ(state_of_task(made), ABT_TASK_STATE_TERMINATED);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_task_free(&made));
    EXPECT_TRUE(made == ABT_TASK_NULL || made == ABT_THREAD_NULL);
    in_tasklet_of(own_pool(), [] { EXPECT_EQ(state_of_task(self_thread()), ABT_TASK_STATE_RUNNING); });
}

TEST_F(Task, none_is_refused_and_so_is_a_place_that_is_none) {
    ABT_task made = self_thread(), none = ABT_TASK_NULL;
    EXPECT_EQ(ABT_task_create(ABT_POOL_NULL, nothing, nullptr, &made), ABT_ERR_INV_POOL);
    EXPECT_TRUE(made == ABT_TASK_NULL || made == ABT_THREAD_NULL);
    made = self_thread();
    EXPECT_EQ(ABT_task_create_on_xstream(ABT_XSTREAM_NULL, nothing, nullptr, &made), ABT_ERR_INV_XSTREAM);
    EXPECT_TRUE(made == ABT_TASK_NULL || made == ABT_THREAD_NULL);
    const auto refused = [](int error) { return error == ABT_ERR_INV_TASK || error == ABT_ERR_INV_THREAD; };
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ABT_pool pool = ABT_POOL_NULL;
    ABT_task_state state{};
    ABT_bool flag{};
    uint64_t number = 0;
    int id = 0;
    void* argument = nullptr;
    EXPECT_TRUE(refused(ABT_task_free(&none)));
    EXPECT_TRUE(refused(ABT_task_join(none)));
    EXPECT_TRUE(refused(ABT_task_cancel(none)));
    EXPECT_TRUE(refused(ABT_task_revive(own_pool(), nothing, nullptr, &none)));
    EXPECT_TRUE(refused(ABT_task_get_xstream(none, &stream)));
    EXPECT_TRUE(refused(ABT_task_get_last_pool(none, &pool)));
    EXPECT_TRUE(refused(ABT_task_get_last_pool_id(none, &id)));
    EXPECT_TRUE(refused(ABT_task_set_migratable(none, ABT_TRUE)));
    EXPECT_TRUE(refused(ABT_task_is_migratable(none, &flag)));
    EXPECT_TRUE(refused(ABT_task_get_id(none, &number)));
    EXPECT_TRUE(refused(ABT_task_get_arg(none, &argument)));
    EXPECT_EQ(ABT_task_get_state(none, &state), ABT_ERR_INV_TASK);
    if (!elsewhere()) {   // Argobots does not check it
        EXPECT_EQ(ABT_task_get_state(self_thread(), &state), ABT_ERR_INV_TASK) << "a ULT";
    }
}

TEST_F(Task, unnamed_ones_free_themselves) {
    std::atomic<int> ran{0};
    for (int i = 0; i < 50; ++i) {
        ok(ABT_task_create(own_pool(), add_one, &ran, nullptr));
        ok(ABT_task_create_on_xstream(self_stream(), add_one, &ran, nullptr));
    }
    wait_until([&] { return ran.load() == 100; });
}

TEST_F(Task, a_stream_is_named_instead_of_its_pool) {
    ABT_xstream stream = ABT_XSTREAM_NULL, last = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    ABT_task made = ABT_TASK_NULL;
    ok(ABT_task_create_on_xstream(stream, nothing, nullptr, &made));
    ok(ABT_task_join(made));
    ok(ABT_task_get_xstream(made, &last));
    EXPECT_EQ(last, stream);
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_task_get_last_pool(made, &pool));
    EXPECT_EQ(pool, pool_of(stream));
    int id = -1, expected = -2;
    ok(ABT_task_get_last_pool_id(made, &id));
    ok(ABT_pool_get_id(pool, &expected));
    EXPECT_EQ(id, expected);
    ok(ABT_task_free(&made));
    ok(ABT_xstream_free(&stream));
}

TEST_F(Task, a_tasklet_that_has_ended_is_revived) {
    std::atomic<int> ran{0};
    ABT_task made = create(own_pool(), add_one, &ran);
    const ABT_task handle = made;
    if (!elsewhere()) {   // Argobots does not check it
        EXPECT_EQ(ABT_task_revive(own_pool(), add_one, &ran, &made), ABT_ERR_INV_THREAD) << "it has not ended";
    }
    for (int life = 1; life <= 5; ++life) {
        ok(ABT_task_join(made));
        EXPECT_EQ(ran.load(), life);
        ok(ABT_task_revive(own_pool(), add_one, &ran, &made));
        EXPECT_EQ(made, handle);
        EXPECT_EQ(state_of_task(made), ABT_TASK_STATE_READY);
    }
    EXPECT_EQ(ABT_task_revive(ABT_POOL_NULL, add_one, &ran, &made) == ABT_SUCCESS, false);
    ok(ABT_task_free(&made));
    EXPECT_EQ(ran.load(), 6);
}

TEST_F(Task, a_ready_tasklet_that_is_cancelled_never_runs) {
    std::atomic<int> ran{0};
    ABT_task made = create(own_pool(), add_one, &ran);
    ok(ABT_task_cancel(made));
    ok(ABT_task_free(&made));
    EXPECT_EQ(ran.load(), 0);
}

TEST_F(Task, the_calling_tasklet_names_itself) {
    in_tasklet_of(own_pool(), [] {
        ABT_task self = ABT_TASK_NULL;
        ABT_thread thread = ABT_THREAD_NULL;
        uint64_t id = 0, same = 1;
        ok(ABT_task_self(&self));
        EXPECT_EQ(self, self_thread());
        ok(ABT_task_self_id(&id));
        ok(ABT_task_get_id(self, &same));
        EXPECT_EQ(id, same);
        thread = self;
        EXPECT_EQ(ABT_thread_self(&thread), ABT_ERR_INV_THREAD);
        EXPECT_EQ(thread, ABT_THREAD_NULL);
        ABT_unit_id untouched = 77;
        EXPECT_EQ(ABT_thread_self_id(&untouched), ABT_ERR_INV_THREAD);
    });
    ABT_task self = self_thread();
    uint64_t id = 77;
    EXPECT_EQ(ABT_task_self(&self), ABT_ERR_INV_TASK);
    EXPECT_EQ(self, ABT_TASK_NULL);
    EXPECT_EQ(ABT_task_self_id(&id), ABT_ERR_INV_TASK);
    self = self_thread();
    EXPECT_EQ(outside([&] { return ABT_task_self(&self); }), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(self, ABT_TASK_NULL);
    EXPECT_EQ(outside([&] { return ABT_task_self_id(&id); }), ABT_ERR_INV_XSTREAM);
}

TEST(TaskBefore, nobody_is_known_before_the_start) {
    ABT_task self{};
    uint64_t id = 77;
    EXPECT_EQ(ABT_task_self(&self), ABT_ERR_UNINITIALIZED);
    EXPECT_EQ(self, ABT_TASK_NULL);
    EXPECT_EQ(ABT_task_self_id(&id), ABT_ERR_UNINITIALIZED);
}

TEST_F(Task, tells_its_argument_number_and_name) {
    std::atomic<int> ran{0};
    ABT_task one = create(own_pool(), add_one, &ran), other = create(own_pool(), add_one, &ran);
    void* argument = nullptr;
    ok(ABT_task_get_arg(one, &argument));
    EXPECT_EQ(argument, static_cast<void*>(&ran));
    uint64_t first = 0, second = 0;
    ok(ABT_task_get_id(one, &first));
    ok(ABT_task_get_id(other, &second));
    EXPECT_NE(first, second);
    ABT_bool flag = ABT_TRUE;
    ok(ABT_task_is_unnamed(one, &flag));
    EXPECT_EQ(flag, ABT_FALSE);
    ok(ABT_task_equal(one, other, &flag));
    EXPECT_EQ(flag, ABT_FALSE);
    ok(ABT_task_equal(one, one, &flag));
    EXPECT_EQ(flag, ABT_TRUE);
    ok(ABT_task_equal(ABT_TASK_NULL, ABT_THREAD_NULL, &flag));
    EXPECT_EQ(flag, ABT_TRUE);
    void (*body)(void*) = nullptr;
    ok(ABT_thread_get_thread_func(one, &body));
    EXPECT_EQ(body, add_one);
    ok(ABT_task_free(&one));
    ok(ABT_task_free(&other));
}

TEST_F(Task, a_tasklet_migrates_unless_it_may_not) {
    std::atomic<int> ran{0};
    ABT_pool there = new_pool();
    ABT_task made = create(own_pool(), add_one, &ran);
    ABT_bool may = ABT_FALSE;
    ok(ABT_task_is_migratable(made, &may));
    EXPECT_EQ(may, ABT_TRUE);
    ok(ABT_task_set_migratable(made, ABT_FALSE));
    ok(ABT_task_is_migratable(made, &may));
    EXPECT_EQ(may, ABT_FALSE);
    EXPECT_EQ(ABT_thread_migrate_to_pool(made, there), ABT_ERR_INV_THREAD);
    ok(ABT_task_set_migratable(made, ABT_TRUE));
    ok(ABT_thread_migrate_to_pool(made, there));
    ok(ABT_self_yield());
    EXPECT_EQ(ran.load(), 0);
    EXPECT_EQ(size_of(there), 1u);
    run_all(there);
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_task_free(&made));
    ok(ABT_pool_free(&there));
}

TEST_F(Task, a_tasklet_cannot_yield_suspend_or_end_early) {
    EXPECT_EQ(in_tasklet(ABT_self_yield), ABT_ERR_INV_THREAD);
    EXPECT_EQ(in_tasklet(ABT_self_suspend), ABT_ERR_INV_THREAD);
    EXPECT_EQ(in_tasklet(ABT_self_exit), ABT_ERR_INV_THREAD);
    EXPECT_EQ(in_tasklet([] { return ABT_self_schedule(ABT_THREAD_NULL, ABT_POOL_NULL); }), ABT_ERR_INV_THREAD);
}

TEST_F(Task, tasklets_create_work_for_all_streams) {
    Streams streams(2);
    std::atomic<int> ran{0};
    {
        Units units;
        for (std::size_t i = 0; i < 50; ++i) {
            units.tasklet(streams.pool(i), [&, i] {
                ok(ABT_task_create(streams.pool(i + 1), add_one, &ran, nullptr));
                ok(ABT_thread_create(streams.pool(i + 1), add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr));
            });
        }
    }
    wait_until([&] { return ran.load() == 100; });
}
