// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A work unit's queries about itself, and its switches to other units: behaviours (e) and (n).
#include "core_test_support.hpp"

using namespace abt_test;

namespace {

class Self : public Argobots {};

using Order = std::vector<int>;

// A ULT popped from a pool that no stream draws from: a target for the calls that end in _to.
ABT_thread popped(ABT_pool pool, Body& body) {
    ABT_thread made = spawn(pool, call_body, &body);
    EXPECT_EQ(pop_from(pool), made);
    return made;
}

// The calls that switch to another unit.
struct Leaving {
    int (*call)(ABT_thread);
    bool resumes, ends;
    const char* name;
};
constexpr Leaving leavings[] = {{ABT_self_yield_to, false, false, "yield_to"},
                                {ABT_self_suspend_to, false, false, "suspend_to"},
                                {ABT_self_exit_to, false, true, "exit_to"},
                                {ABT_self_resume_yield_to, true, false, "resume_yield_to"},
                                {ABT_self_resume_suspend_to, true, false, "resume_suspend_to"},
                                {ABT_self_resume_exit_to, true, true, "resume_exit_to"}};

}   // namespace

// ---- identity -----------------------------------------------------------------------------------

TEST(SelfBefore, nobody_is_known_before_the_start_and_outputs_are_reset) {
    const auto check = [] {
        ABT_unit_type type = ABT_UNIT_TYPE_THREAD;
        EXPECT_EQ(ABT_self_get_type(&type), ABT_ERR_UNINITIALIZED);
        EXPECT_EQ(type, ABT_UNIT_TYPE_EXT);
        ABT_thread thread{};
        EXPECT_EQ(ABT_thread_self(&thread), ABT_ERR_UNINITIALIZED);
        EXPECT_EQ(thread, ABT_THREAD_NULL);
        ABT_unit_id id = 77;
        EXPECT_EQ(ABT_thread_self_id(&id), ABT_ERR_UNINITIALIZED);
        ABT_bool flag = ABT_TRUE;
        EXPECT_EQ(ABT_self_is_primary(&flag), ABT_ERR_UNINITIALIZED);
        EXPECT_EQ(flag, ABT_FALSE);
        flag = ABT_TRUE;
        EXPECT_EQ(ABT_self_on_primary_xstream(&flag), ABT_ERR_UNINITIALIZED);
        EXPECT_EQ(flag, ABT_FALSE);
        int number = 77;
        EXPECT_EQ(ABT_self_get_last_pool_id(&number), ABT_ERR_UNINITIALIZED);
        EXPECT_EQ(number, -1);
        void* argument = &id;
        EXPECT_EQ(ABT_self_get_arg(&argument), ABT_ERR_UNINITIALIZED);
        EXPECT_EQ(argument, nullptr);
        EXPECT_EQ(ABT_self_set_arg(nullptr), ABT_ERR_UNINITIALIZED);
        ok(ABT_thread_yield());
    };
    check();
    ok(ABT_init(0, nullptr));
    ok(ABT_finalize());
    check();
}

TEST_F(Self, an_os_thread_that_is_no_stream_is_nobody) {
    outside([] {
        ABT_unit_type type = ABT_UNIT_TYPE_THREAD;
        EXPECT_EQ(ABT_self_get_type(&type), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(type, ABT_UNIT_TYPE_EXT);
        ABT_thread thread{}, untouched{};
        EXPECT_EQ(ABT_thread_self(&thread), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(thread, ABT_THREAD_NULL);
        EXPECT_EQ(ABT_self_get_thread(&untouched), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(untouched, ABT_thread{});
        ABT_unit_id id = 77;
        EXPECT_EQ(ABT_thread_self_id(&id), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(ABT_self_get_thread_id(&id), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(id, 77u);
        ABT_xstream stream{};
        EXPECT_EQ(ABT_self_get_xstream(&stream), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(stream, ABT_xstream{});
        int number = 77;
        EXPECT_EQ(ABT_self_get_xstream_rank(&number), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(number, 77);
        EXPECT_EQ(ABT_self_get_last_pool_id(&number), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(number, -1);
        ABT_bool flag = ABT_TRUE;
        EXPECT_EQ(ABT_self_is_primary(&flag), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(flag, ABT_FALSE);
        flag = ABT_TRUE;
        EXPECT_EQ(ABT_self_on_primary_xstream(&flag), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(flag, ABT_FALSE);
        EXPECT_EQ(ABT_self_is_unnamed(&flag), ABT_ERR_INV_XSTREAM);
        ABT_pool pool = ABT_POOL_NULL;
        EXPECT_EQ(ABT_self_get_last_pool(&pool), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(ABT_self_set_associated_pool(pool), ABT_ERR_INV_XSTREAM);
        ABT_unit unit{};
        EXPECT_EQ(ABT_self_get_unit(&unit), ABT_ERR_INV_XSTREAM);
        void* argument = &id;
        EXPECT_EQ(ABT_self_get_arg(&argument), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(argument, nullptr);
        EXPECT_EQ(ABT_self_set_arg(nullptr), ABT_ERR_INV_XSTREAM);
        void (*body)(void*) = nothing;
        EXPECT_EQ(ABT_self_get_thread_func(&body), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(ABT_self_yield(), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(ABT_self_suspend(), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(ABT_self_exit(), ABT_ERR_INV_XSTREAM);
        if (!elsewhere()) {   // Argobots checks the handle first
            EXPECT_EQ(ABT_self_schedule(ABT_THREAD_NULL, ABT_POOL_NULL), ABT_ERR_INV_XSTREAM);
        }
        return 0;
    });
}

TEST_F(Self, a_ult_knows_itself) {
    Streams streams(1);
    std::atomic<int> dummy{0};
    Body looks = [&] {
        ABT_unit_type type{};
        ok(ABT_self_get_type(&type));
        EXPECT_EQ(type, ABT_UNIT_TYPE_THREAD);
        ABT_thread thread = ABT_THREAD_NULL;
        ok(ABT_thread_self(&thread));
        EXPECT_EQ(thread, self_thread());
        ABT_unit_id first = 0, second = 1;
        ok(ABT_thread_self_id(&first));
        ok(ABT_self_get_thread_id(&second));
        EXPECT_EQ(first, second);
        ok(ABT_thread_get_id(thread, &second));
        EXPECT_EQ(first, second);
        ABT_bool flag = ABT_TRUE;
        ok(ABT_self_is_primary(&flag));
        EXPECT_EQ(flag, ABT_FALSE);
        ok(ABT_self_on_primary_xstream(&flag));
        EXPECT_EQ(flag, ABT_FALSE);
        ok(ABT_self_is_unnamed(&flag));
        EXPECT_EQ(flag, ABT_FALSE);
        ABT_pool pool = ABT_POOL_NULL;
        ok(ABT_self_get_last_pool(&pool));
        EXPECT_EQ(pool, streams.pool(0));
        int id = -1, same = -2;
        ok(ABT_self_get_last_pool_id(&id));
        ok(ABT_pool_get_id(pool, &same));
        EXPECT_EQ(id, same);
        ABT_unit unit = ABT_UNIT_NULL, of_thread = ABT_UNIT_NULL;
        ok(ABT_self_get_unit(&unit));
        ok(ABT_thread_get_unit(thread, &of_thread));
        EXPECT_EQ(unit, of_thread);
        void* argument = nullptr;
        ok(ABT_self_get_arg(&argument));
        EXPECT_EQ(argument, static_cast<void*>(&looks));
        ok(ABT_self_set_arg(&dummy));
        ok(ABT_self_get_arg(&argument));
        EXPECT_EQ(argument, static_cast<void*>(&dummy));
        void (*body)(void*) = nullptr;
        ok(ABT_self_get_thread_func(&body));
        EXPECT_EQ(body, call_body);
    };
    ABT_thread made = spawn(streams.pool(0), call_body, &looks);
    ok(ABT_thread_free(&made));
}

TEST_F(Self, a_tasklet_knows_itself_but_is_no_ult) {
    std::atomic<int> dummy{0};
    in_tasklet_of(own_pool(), [&] {
        ABT_unit_type type{};
        ok(ABT_self_get_type(&type));
        EXPECT_EQ(type, ABT_UNIT_TYPE_TASK);
        ABT_task self = ABT_TASK_NULL;
        ok(ABT_self_get_task(&self));
        EXPECT_NE(self, ABT_TASK_NULL);
        uint64_t first = 0, second = 1;
        ok(ABT_self_get_task_id(&first));
        ok(ABT_task_get_id(self, &second));
        EXPECT_EQ(first, second);
        ABT_bool flag = ABT_TRUE;
        EXPECT_EQ(ABT_self_is_primary(&flag), ABT_ERR_INV_THREAD);
        EXPECT_EQ(flag, ABT_FALSE);
        ok(ABT_self_on_primary_xstream(&flag));
        EXPECT_EQ(flag, ABT_TRUE);
        ABT_pool pool = ABT_POOL_NULL;
        ok(ABT_self_get_last_pool(&pool));
        EXPECT_EQ(pool, own_pool());
        ok(ABT_self_set_arg(&dummy));
        void* argument = nullptr;
        ok(ABT_self_get_arg(&argument));
        EXPECT_EQ(argument, static_cast<void*>(&dummy));
        void (*body)(void*) = nullptr;
        ok(ABT_self_get_thread_func(&body));
        EXPECT_NE(body, nullptr);
    });
}

TEST_F(Self, the_primary_ult_knows_itself) {
    ABT_unit_type type{};
    ok(ABT_self_get_type(&type));
    EXPECT_EQ(type, ABT_UNIT_TYPE_THREAD);
    ABT_bool flag = ABT_FALSE;
    ok(ABT_self_is_primary(&flag));
    EXPECT_EQ(flag, ABT_TRUE);
    ok(ABT_self_on_primary_xstream(&flag));
    EXPECT_EQ(flag, ABT_TRUE);
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_self_get_last_pool(&pool));
    EXPECT_EQ(pool, own_pool());
    EXPECT_EQ(ABT_self_exit(), ABT_ERR_INV_THREAD);
}

TEST_F(Self, an_unnamed_ult_knows_that_it_is) {
    static std::atomic<int> seen;
    seen = 0;
    ok(ABT_thread_create(
        own_pool(),
        [](void*) {
            ABT_bool flag = ABT_FALSE;
            ok(ABT_self_is_unnamed(&flag));
            EXPECT_EQ(flag, ABT_TRUE);
            seen = 1;
        },
        nullptr, ABT_THREAD_ATTR_NULL, nullptr));
    wait_until([] { return seen.load() == 1; });
}

TEST_F(Self, the_caller_belongs_to_another_pool_from_its_next_push_on) {
    Streams streams(1);
    EXPECT_EQ(ABT_self_set_associated_pool(ABT_POOL_NULL), ABT_ERR_INV_POOL);
    in_ult_of(own_pool(), [&] {
        ok(ABT_self_set_associated_pool(streams.pool(0)));
        int rank = -1;
        ok(ABT_self_get_xstream_rank(&rank));
        EXPECT_EQ(rank, 0);
        ok(ABT_self_yield());
        ok(ABT_self_get_xstream_rank(&rank));
        EXPECT_EQ(rank, 1);
    });
}

// ---- suspend and schedule -----------------------------------------------------------------------

TEST_F(Self, suspend_waits_for_a_resume) {
    Order order;
    Body sleeps = [&] {
        order.push_back(1);
        ok(ABT_self_suspend());
        order.push_back(3);
    };
    ABT_thread made = spawn(own_pool(), call_body, &sleeps);
    ok(ABT_self_yield());
    order.push_back(2);
    ok(ABT_thread_resume(made));
    ok(ABT_thread_free(&made));
    EXPECT_EQ(order, (Order{1, 2, 3}));
}

TEST_F(Self, the_primary_ult_suspends_too) {
    const ABT_thread primary = self_thread();
    std::atomic<int> resumed{0};
    Units units;
    units.ult(own_pool(), [&] {
        resumed = 1;
        ok(ABT_thread_resume(primary));
    });
    ok(ABT_self_suspend());
    EXPECT_EQ(resumed.load(), 1);
    std::thread other([&] {
        while (state_of(primary) != ABT_THREAD_STATE_BLOCKED) sched_yield();
        ok(ABT_thread_resume(primary));
    });
    ok(ABT_self_suspend());
    other.join();
}

TEST_F(Self, schedule_runs_a_popped_unit_until_it_yields_is_suspended_or_ends) {
    ABT_pool pool = new_pool();
    Order order;
    Body body = [&] {
        order.push_back(1);
        ok(ABT_self_yield());
        order.push_back(2);
        ok(ABT_self_suspend());
        order.push_back(3);
    };
    ABT_thread made = popped(pool, body);
    ok(ABT_self_schedule(made, ABT_POOL_NULL));
    EXPECT_EQ(order, (Order{1}));
    EXPECT_EQ(pop_from(pool), made);
    ok(ABT_self_schedule(made, pool));
    EXPECT_EQ(order, (Order{1, 2}));
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_BLOCKED);
    EXPECT_EQ(size_of(pool), 0u);
    ok(ABT_thread_resume(made));
    EXPECT_EQ(pop_from(pool), made);
    ok(ABT_self_schedule(made, ABT_POOL_NULL));
    EXPECT_EQ(order, (Order{1, 2, 3}));
    EXPECT_EQ(ABT_self_schedule(ABT_THREAD_NULL, ABT_POOL_NULL), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_self_schedule(ABT_THREAD_NULL, pool), ABT_ERR_INV_THREAD);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&pool));
}

TEST_F(Self, ults_schedule_each_other_many_levels_deep) {
    ABT_pool pool = new_pool();
    int depth = 0;
    Body nests;
    nests = [&] {
        if (++depth == 20) return;
        ABT_thread made = popped(pool, nests);
        ok(ABT_self_schedule(made, ABT_POOL_NULL));
        ok(ABT_thread_free(&made));
    };
    in_ult_of(own_pool(), nests);
    EXPECT_EQ(depth, 20);
    ok(ABT_pool_free(&pool));
}

// ---- switching to another unit ------------------------------------------------------------------

TEST_F(Self, leaving_refuses_none_the_caller_tasklets_and_callers_that_are_no_ults) {
    ABT_task task = ABT_TASK_NULL;
    ABT_pool pool = new_pool();
    ok(ABT_task_create(pool, nothing, nullptr, &task));
    Body body = [] {};
    ABT_thread target = popped(new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE), body);
    ABT_pool home = ABT_POOL_NULL;
    ok(ABT_thread_get_last_pool(target, &home));
    in_ult_of(own_pool(), [&] {
        for (const Leaving& leaving : leavings) {
            EXPECT_EQ(leaving.call(ABT_THREAD_NULL), ABT_ERR_INV_THREAD) << leaving.name;
            if (!leaving.resumes) {
                EXPECT_EQ(leaving.call(self_thread()), ABT_ERR_INV_THREAD) << leaving.name;
            }
            EXPECT_EQ(leaving.call(task), ABT_ERR_INV_THREAD) << leaving.name;
        }
    });
    for (const Leaving& leaving : leavings) {
        EXPECT_EQ(outside([&] { return leaving.call(target); }), ABT_ERR_INV_XSTREAM) << leaving.name;
        EXPECT_EQ(in_tasklet([&] { return leaving.call(target); }), ABT_ERR_INV_THREAD) << leaving.name;
        if (leaving.ends && !(leaving.call == ABT_self_exit_to && elsewhere())) {   // there the primary ULT is gone
            EXPECT_EQ(leaving.call(target), ABT_ERR_INV_THREAD) << leaving.name << " by the primary ULT";
        }
    }
    ok(ABT_self_schedule(target, ABT_POOL_NULL));
    ok(ABT_thread_free(&target));
    run_all(pool);
    ok(ABT_task_free(&task));
    ok(ABT_pool_free(&pool));
    ok(ABT_pool_free(&home));
}

TEST_F(Self, yield_to_pushes_the_caller_and_runs_the_target) {
    ABT_pool pool = new_pool();
    Order order;
    Body two = [&] { order.push_back(2); };
    ABT_thread target = popped(pool, two);
    Units units;
    units.ult(own_pool(), [&] {
        order.push_back(1);
        ok(ABT_self_yield_to(target));
        order.push_back(4);
    });
    units.ult(own_pool(), [&] { order.push_back(3); });
    units.join();
    EXPECT_EQ(order, (Order{1, 2, 3, 4}));
    ok(ABT_thread_free(&target));
    ok(ABT_pool_free(&pool));
}

TEST_F(Self, suspend_to_suspends_the_caller_and_runs_the_target) {
    ABT_pool pool = new_pool();
    Order order;
    ABT_thread caller = ABT_THREAD_NULL, target = ABT_THREAD_NULL;
    Body two = [&] {
        order.push_back(2);
        EXPECT_EQ(state_of(caller), ABT_THREAD_STATE_BLOCKED);
        ok(ABT_thread_resume(caller));
    };
    Body one = [&] {
        order.push_back(1);
        ok(ABT_self_suspend_to(target));
        order.push_back(3);
    };
    target = popped(pool, two);
    caller = spawn(own_pool(), call_body, &one);
    ok(ABT_thread_free(&caller));
    EXPECT_EQ(order, (Order{1, 2, 3}));
    ok(ABT_thread_free(&target));
    ok(ABT_pool_free(&pool));
}

TEST_F(Self, exit_to_ends_the_caller_and_runs_the_target) {
    ABT_pool pool = new_pool();
    Order order;
    ABT_thread caller = ABT_THREAD_NULL, target = ABT_THREAD_NULL;
    Body two = [&] {
        order.push_back(2);
        EXPECT_EQ(state_of(caller), ABT_THREAD_STATE_TERMINATED);
    };
    Body one = [&] {
        order.push_back(1);
        ABT_self_exit_to(target);
        order.push_back(99);
    };
    target = popped(pool, two);
    caller = spawn(own_pool(), call_body, &one);
    ok(ABT_thread_join(target));
    ok(ABT_thread_free(&caller));
    EXPECT_EQ(order, (Order{1, 2}));
    ok(ABT_thread_free(&target));
    ok(ABT_pool_free(&pool));
}

TEST_F(Self, resume_yield_to_resumes_its_target) {
    Order order;
    Body sleeps = [&] {
        order.push_back(1);
        ok(ABT_self_suspend());
        order.push_back(3);
    };
    ABT_thread sleeper = spawn(own_pool(), call_body, &sleeps);
    ok(ABT_self_yield());
    order.push_back(2);
    ok(ABT_self_resume_yield_to(sleeper));
    order.push_back(4);
    EXPECT_EQ(order, (Order{1, 2, 3, 4}));
    EXPECT_EQ(state_of(sleeper), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_thread_free(&sleeper));
}

TEST_F(Self, resume_suspend_to_plays_ping_pong) {
    constexpr int rounds = 100;
    ABT_thread ping = ABT_THREAD_NULL, pong = ABT_THREAD_NULL;
    int turns = 0;
    Body second = [&] {
        ok(ABT_self_suspend());
        for (int i = 0; i < rounds; ++i) {
            EXPECT_EQ(turns++ % 2, 1);
            i + 1 == rounds ? ok(ABT_thread_resume(ping)) : ok(ABT_self_resume_suspend_to(ping));
        }
    };
    Body first = [&] {
        for (int i = 0; i < rounds; ++i) {
            EXPECT_EQ(turns++ % 2, 0);
            ok(ABT_self_resume_suspend_to(pong));
        }
    };
    pong = spawn(own_pool(), call_body, &second);
    ok(ABT_self_yield());
    ping = spawn(own_pool(), call_body, &first);
    ok(ABT_thread_free(&ping));
    ok(ABT_thread_free(&pong));
    EXPECT_EQ(turns, 2 * rounds);
}

TEST_F(Self, resume_exit_to_ends_the_caller_and_resumes_the_target) {
    Order order;
    ABT_thread ends = ABT_THREAD_NULL;
    Body sleeps = [&] {
        ok(ABT_self_suspend());
        order.push_back(2);
        EXPECT_EQ(state_of(ends), ABT_THREAD_STATE_TERMINATED);
    };
    ABT_thread sleeper = spawn(own_pool(), call_body, &sleeps);
    ok(ABT_self_yield());
    Body exits = [&] {
        order.push_back(1);
        ABT_self_resume_exit_to(sleeper);
        order.push_back(99);
    };
    ends = spawn(own_pool(), call_body, &exits);
    ok(ABT_thread_free(&sleeper));
    ok(ABT_thread_free(&ends));
    EXPECT_EQ(order, (Order{1, 2}));
}

TEST_F(Self, the_primary_ult_leaves_for_others_and_comes_back) {
    ABT_pool pool = new_pool();
    const ABT_thread primary = self_thread();
    int ran = 0;
    Body plain = [&] { ++ran; };
    Body wakes = [&] {
        ++ran;
        ok(ABT_thread_resume(primary));
    };
    ABT_thread first = popped(pool, plain), second = popped(pool, wakes);
    ok(ABT_self_yield_to(first));
    EXPECT_EQ(ran, 1);
    ok(ABT_self_suspend_to(second));
    EXPECT_EQ(ran, 2);
    ok(ABT_thread_free(&first));
    ok(ABT_thread_free(&second));
    ok(ABT_pool_free(&pool));
}

TEST_F(Self, streams_hand_ults_that_they_have_popped_to_each_other) {
    constexpr std::size_t count = 2;
    constexpr int ults = 40, turns = 50;
    ABT_pool pool = new_pool();
    std::vector<ABT_xstream> streams;
    for (std::size_t i = 0; i < count; ++i) streams.push_back(stream_of(pool));
    std::atomic<int> done{0};
    {
        Units units;
        for (int me = 0; me < ults; ++me) {
            units.ult(pool, [&] {
                for (int i = 0; i < turns; ++i) {
                    ABT_thread next = pop_from(pool);
                    // The popped unit may not be a possible target: then it is pushed back.
                    if (next == ABT_THREAD_NULL) {
                        ok(ABT_self_yield());
                    } else {
                        ok(ABT_self_yield_to(next));
                    }
                }
                done.fetch_add(1);
                ABT_thread next = pop_from(pool);
                if (next == ABT_THREAD_NULL) return;
                ABT_self_exit_to(next);
                ADD_FAILURE();
            });
        }
    }
    EXPECT_EQ(done.load(), ults);
    for (ABT_xstream& stream : streams) ok(ABT_xstream_free(&stream));
    ok(ABT_pool_free(&pool));
}

TEST_F(Self, unnamed_ults_leave_for_others_when_they_end) {
    ABT_pool pool = new_pool();
    static std::atomic<int> ran;
    static ABT_pool from;
    ran = 0;
    from = pool;
    const auto chain = [](void*) {
        ran.fetch_add(1);
        ABT_thread next = pop_from(from);
        if (next != ABT_THREAD_NULL) ABT_self_exit_to(next);
    };
    for (int i = 0; i < 20; ++i) ok(ABT_thread_create(pool, chain, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
    ok(ABT_self_schedule(pop_from(pool), ABT_POOL_NULL));
    EXPECT_EQ(ran.load(), 20);
    EXPECT_EQ(size_of(pool), 0u);
    ok(ABT_pool_free(&pool));
}
