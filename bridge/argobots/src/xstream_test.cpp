// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Execution streams: their lives, ranks, main schedulers, and the calls that OS threads and units
// may make on them.
#include <csignal>
#include <ctime>

#include "core_test_support.hpp"

using namespace abt_test;

namespace {

class Xstream : public Argobots {};

int rank_of(ABT_xstream stream) {
    int rank = -1;
    ok(ABT_xstream_get_rank(stream, &rank));
    return rank;
}

ABT_xstream_state state_of_stream(ABT_xstream stream) {
    ABT_xstream_state state{};
    ok(ABT_xstream_get_state(stream, &state));
    return state;
}

ABT_sched main_sched_of(ABT_xstream stream) {
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_xstream_get_main_sched(stream, &sched));
    return sched;
}

int streams_alive() {
    int count = 0;
    ok(ABT_xstream_get_num(&count));
    return count;
}

ABT_xstream new_stream() {
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    return stream;
}

ABT_sched new_sched(std::vector<ABT_pool> pools, ABT_sched_predef predef = ABT_SCHED_BASIC) {
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_sched_create_basic(predef, static_cast<int>(pools.size()), pools.data(), ABT_SCHED_CONFIG_NULL, &sched));
    return sched;
}

// An automatic scheduler with its own pool.
ABT_sched fresh_sched(ABT_sched_predef predef = ABT_SCHED_BASIC) {
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_sched_create_basic(predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, &sched));
    return sched;
}

constexpr ABT_sched_predef predefined[] = {ABT_SCHED_DEFAULT, ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS,
                                           ABT_SCHED_BASIC_WAIT};

}   // namespace

// ---- create, free -------------------------------------------------------------------------------

TEST_F(Xstream, a_new_stream_runs_units_with_the_smallest_free_rank) {
    EXPECT_EQ(rank_of(self_stream()), 0);
    ABT_xstream a = new_stream(), b = new_stream(), c = new_stream();
    EXPECT_EQ(rank_of(a), 1);
    EXPECT_EQ(rank_of(b), 2);
    EXPECT_EQ(rank_of(c), 3);
    EXPECT_EQ(streams_alive(), 4);
    EXPECT_EQ(state_of_stream(a), ABT_XSTREAM_STATE_RUNNING);
    ok(ABT_xstream_free(&b));
    EXPECT_EQ(b, ABT_XSTREAM_NULL);
    EXPECT_EQ(streams_alive(), 3);
    b = new_stream();
    EXPECT_EQ(rank_of(b), 2);
    in_ult_of(pool_of(b), [&] {
        EXPECT_EQ(self_stream(), b);
        int rank = -1;
        ok(ABT_self_get_xstream_rank(&rank));
        EXPECT_EQ(rank, 2);
    });
    for (ABT_xstream* stream : {&a, &b, &c}) ok(ABT_xstream_free(stream));
}

TEST_F(Xstream, a_stream_takes_a_scheduler_that_nobody_uses) {
    ABT_pool pool = new_pool();
    ABT_sched sched = new_sched({pool});
    ABT_xstream stream = ABT_XSTREAM_NULL, other = self_stream();
    ok(ABT_xstream_create(sched, &stream));
    EXPECT_EQ(main_sched_of(stream), sched);
    EXPECT_EQ(pool_of(stream), pool);
    EXPECT_EQ(ABT_xstream_create(sched, &other), ABT_ERR_INV_SCHED);
    EXPECT_EQ(other, ABT_XSTREAM_NULL);
    other = self_stream();
    EXPECT_EQ(ABT_xstream_create_with_rank(sched, 7, &other), ABT_ERR_INV_SCHED);
    EXPECT_EQ(other, ABT_XSTREAM_NULL);
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_xstream_free(&stream));
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, each_predefined_scheduler_runs_units) {
    for (const ABT_sched_predef predef : predefined) {
        ABT_xstream stream = ABT_XSTREAM_NULL;
        ok(ABT_xstream_create_basic(predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, &stream));
        std::atomic<int> ran{0};
        {
            Units units;
            for (int i = 0; i < 20; ++i) {
                units.ult(pool_of(stream), [&] {
                    ok(ABT_self_yield());
                    ran.fetch_add(1);
                });
                units.tasklet(pool_of(stream), [&] { ran.fetch_add(1); });
            }
        }
        EXPECT_EQ(ran.load(), 40) << predef;
        ok(ABT_xstream_free(&stream));
    }
}

TEST_F(Xstream, create_basic_makes_the_pools_that_are_not_given) {
    ABT_pool given[2] = {new_pool(), ABT_POOL_NULL};
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, given, ABT_SCHED_CONFIG_NULL, &stream));
    ABT_pool pools[2] = {ABT_POOL_NULL, ABT_POOL_NULL};
    ok(ABT_xstream_get_main_pools(stream, 2, pools));
    EXPECT_EQ(pools[0], given[0]);
    EXPECT_NE(pools[1], ABT_POOL_NULL);
    std::atomic<int> ran{0};
    for (ABT_pool pool : pools) {
        ABT_thread made = spawn(pool, add_one, &ran);
        ok(ABT_thread_free(&made));
    }
    EXPECT_EQ(ran.load(), 2);
    ok(ABT_xstream_free(&stream));
    ok(ABT_pool_free(&given[0]));
}

TEST_F(Xstream, create_basic_refuses_what_is_out_of_range_and_keeps_the_pools) {
    ABT_pool pool = new_pool();
    ABT_xstream stream = self_stream();
    EXPECT_EQ(ABT_xstream_create_basic(ABT_SCHED_BASIC, -1, &pool, ABT_SCHED_CONFIG_NULL, &stream), ABT_ERR_INV_ARG);
    EXPECT_EQ(stream, ABT_XSTREAM_NULL);
    stream = self_stream();
    EXPECT_EQ(ABT_xstream_create_basic(static_cast<ABT_sched_predef>(7), 1, &pool, ABT_SCHED_CONFIG_NULL, &stream),
              ABT_ERR_INV_SCHED_PREDEF);
    EXPECT_EQ(stream, ABT_XSTREAM_NULL);
    stream = stream_of(pool);
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(size_of(pool), 0u);
    ok(ABT_pool_free(&pool));
}

namespace {

// A pool that only one stream may draw from, and that stream. A further stream that would have it
// as first pool is refused.
struct OwnedPool {
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE);
    ABT_xstream owner = stream_of(pool);
    ~OwnedPool() { ok(ABT_xstream_free(&owner)); }
};

// Checks that the pool has not been freed: it still has its data, although new pools would have
// reused its memory, and it runs units.
void expect_alive(ABT_pool pool, void* its_data) {
    std::vector<ABT_pool> others;
    for (int i = 0; i < 8; ++i) others.push_back(new_pool());
    void* data = nullptr;
    ok(ABT_pool_get_data(pool, &data));
    EXPECT_EQ(data, its_data);
    ABT_thread thread = spawn(pool, nothing, nullptr);
    EXPECT_EQ(size_of(pool), 1u);
    run_all(pool);
    ok(ABT_thread_free(&thread));
    for (ABT_pool& other : others) ok(ABT_pool_free(&other));
}

}   // namespace

TEST_F(Xstream, create_basic_that_fails_leaves_the_pools_to_the_program) {
    if (elsewhere()) GTEST_SKIP() << "a private pool may be given to several streams there";
    OwnedPool owned;
    ABT_pool pools[2] = {owned.pool, new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE)};
    ok(ABT_pool_set_data(pools[1], &owned));
    for (const ABT_sched_predef predef : {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT}) {
        ABT_xstream stream{};
        EXPECT_EQ(ABT_xstream_create_basic(predef, 2, pools, ABT_SCHED_CONFIG_NULL, &stream), ABT_ERR_INV_SCHED)
            << predef;
        EXPECT_EQ(stream, ABT_XSTREAM_NULL);
        expect_alive(pools[1], &owned);
    }
    ok(ABT_pool_free(&pools[1]));
}

TEST_F(Xstream, set_main_sched_basic_that_fails_leaves_the_pools_to_the_program_and_the_caller_where_it_was) {
    if (elsewhere()) GTEST_SKIP() << "a private pool may be given to several streams there";
    OwnedPool owned;
    ABT_pool pools[2] = {owned.pool, new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE)};
    ok(ABT_pool_set_data(pools[1], &owned));
    const ABT_sched before = main_sched_of(self_stream());
    ABT_pool mine = ABT_POOL_NULL;
    ok(ABT_self_get_last_pool(&mine));
    EXPECT_EQ(ABT_xstream_set_main_sched_basic(self_stream(), ABT_SCHED_BASIC, 2, pools), ABT_ERR_INV_SCHED);
    EXPECT_EQ(main_sched_of(self_stream()), before);
    ABT_pool now = ABT_POOL_NULL;
    ok(ABT_self_get_last_pool(&now));
    EXPECT_EQ(now, mine);
    expect_alive(pools[1], &owned);
    ok(ABT_thread_yield());
    ABT_bool primary = ABT_FALSE;
    ok(ABT_xstream_is_primary(self_stream(), &primary));
    EXPECT_EQ(primary, ABT_TRUE);
    ok(ABT_pool_free(&pools[1]));
}

TEST_F(Xstream, set_main_sched_that_fails_leaves_the_caller_where_it_was) {
    if (elsewhere()) GTEST_SKIP() << "a private pool may be given to several streams there";
    OwnedPool owned;
    const ABT_sched before = main_sched_of(self_stream());
    ABT_sched sched = new_sched({owned.pool});
    EXPECT_EQ(ABT_xstream_set_main_sched(self_stream(), sched), ABT_ERR_INV_SCHED);
    EXPECT_EQ(main_sched_of(self_stream()), before);
    ABT_pool now = ABT_POOL_NULL;
    ok(ABT_self_get_last_pool(&now));
    EXPECT_EQ(now, own_pool());
    ok(ABT_sched_free(&sched));
}

TEST_F(Xstream, free_refuses_none_the_primary_one_and_the_callers_own) {
    ABT_xstream none = ABT_XSTREAM_NULL, primary = self_stream();
    EXPECT_EQ(ABT_xstream_free(&none), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_free(&primary), ABT_ERR_INV_XSTREAM);
    if (elsewhere()) GTEST_SKIP() << "a ULT that joins its own stream hangs there";
    ABT_xstream stream = new_stream();
    in_ult_of(pool_of(stream), [&] {
        ABT_xstream own = stream;
        EXPECT_EQ(ABT_xstream_free(&own), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(own, stream);
        EXPECT_EQ(ABT_xstream_join(own), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(ABT_xstream_free(&primary), ABT_ERR_INV_XSTREAM);
    });
    EXPECT_EQ(outside([&] { return ABT_xstream_free(&stream); }), ABT_SUCCESS);
    EXPECT_EQ(stream, ABT_XSTREAM_NULL);
}

// ---- join, revive, cancel, exit -----------------------------------------------------------------

TEST_F(Xstream, join_runs_what_is_left_in_the_pools) {
    ABT_xstream stream = new_stream();
    std::atomic<int> ran{0};
    std::vector<ABT_thread> made;
    static const auto yields = [](void* count) {
        for (int i = 0; i < 3; ++i) ok(ABT_self_yield());
        add_one(count);
    };
    for (int i = 0; i < 50; ++i) made.push_back(spawn(pool_of(stream), yields, &ran));
    ok(ABT_xstream_join(stream));
    EXPECT_EQ(ran.load(), 50);
    EXPECT_EQ(state_of_stream(stream), ABT_XSTREAM_STATE_TERMINATED);
    EXPECT_EQ(streams_alive(), 2);
    ok(ABT_xstream_join(stream));
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
    ok(ABT_xstream_free(&stream));
}

TEST_F(Xstream, join_waits_for_a_ult_that_is_suspended_in_the_streams_own_pool) {
    ABT_xstream stream = new_stream();
    std::atomic<bool> woken{false};
    Body sleeps = [&] {
        ok(ABT_self_suspend());
        woken = true;
    };
    ABT_thread sleeper = spawn(pool_of(stream), call_body, &sleeps);
    wait_until([&] { return state_of(sleeper) == ABT_THREAD_STATE_BLOCKED; });
    // These units begin to run when the join below has suspended the caller.
    Units units;
    units.ult(own_pool(), [&] {
        for (int i = 0; i < 100; ++i) ok(ABT_self_yield());
        EXPECT_EQ(state_of_stream(stream), ABT_XSTREAM_STATE_RUNNING);
        ok(ABT_thread_resume(sleeper));
    });
    ok(ABT_xstream_join(stream));
    EXPECT_TRUE(woken);
    units.join();
    ok(ABT_thread_free(&sleeper));
    ok(ABT_xstream_free(&stream));
}

TEST_F(Xstream, join_refuses_none_and_the_primary_one) {
    EXPECT_EQ(ABT_xstream_join(ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_join(self_stream()), ABT_ERR_INV_XSTREAM);
    const ABT_xstream primary = self_stream();
    EXPECT_EQ(outside([&] { return ABT_xstream_join(primary); }), ABT_ERR_INV_XSTREAM);
}

TEST_F(Xstream, an_os_thread_and_a_ult_of_another_stream_join) {
    ABT_xstream a = new_stream(), b = new_stream();
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool_of(a), add_one, &ran);
    EXPECT_EQ(outside([&] { return ABT_xstream_join(a); }), ABT_SUCCESS);
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_thread_free(&made));
    in_ult_of(pool_of(b), [&] { ok(ABT_xstream_free(&a)); });
    EXPECT_EQ(a, ABT_XSTREAM_NULL);
    ok(ABT_xstream_free(&b));
}

TEST_F(Xstream, a_ult_joins_the_stream_that_it_runs_on_and_goes_on_elsewhere) {
    ABT_pool pool = new_pool();
    ABT_xstream first = stream_of(pool), second = stream_of(pool);
    in_ult_of(pool, [&] {
        const ABT_xstream here = self_stream();
        ok(ABT_xstream_join(here));
        EXPECT_NE(self_stream(), here);
        EXPECT_EQ(state_of_stream(here), ABT_XSTREAM_STATE_TERMINATED);
    });
    ok(ABT_xstream_free(&first));
    ok(ABT_xstream_free(&second));
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, a_stream_that_has_ended_is_revived_with_its_scheduler_and_rank) {
    ABT_xstream stream = new_stream();
    EXPECT_EQ(ABT_xstream_revive(ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_revive(stream), ABT_ERR_INV_XSTREAM) << "it runs";
    EXPECT_EQ(ABT_xstream_revive(self_stream()), ABT_ERR_INV_XSTREAM);
    const ABT_sched sched = main_sched_of(stream);
    const ABT_pool pool = pool_of(stream);
    std::atomic<int> ran{0};
    for (int round = 1; round <= 20; ++round) {
        ABT_thread made = spawn(pool, add_one, &ran);
        ok(ABT_xstream_join(stream));
        EXPECT_EQ(ran.load(), round);
        ok(ABT_thread_free(&made));
        ok(ABT_xstream_revive(stream));
        EXPECT_EQ(state_of_stream(stream), ABT_XSTREAM_STATE_RUNNING);
        EXPECT_EQ(main_sched_of(stream), sched);
        EXPECT_EQ(pool_of(stream), pool);
        EXPECT_EQ(rank_of(stream), 1);
    }
    ok(ABT_xstream_free(&stream));
}

TEST_F(Xstream, what_was_pushed_while_a_stream_had_ended_is_run_when_it_is_revived) {
    ABT_xstream stream = new_stream();
    ok(ABT_xstream_join(stream));
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool_of(stream), add_one, &ran);
    EXPECT_EQ(ran.load(), 0);
    ok(ABT_xstream_revive(stream));
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_xstream_free(&stream));
}

TEST_F(Xstream, exit_ends_the_caller_and_its_stream_whatever_is_left) {
    ABT_pool pool = new_pool();
    std::atomic<bool> returned{false}, stop{false};
    Body exits = [&] {
        ABT_xstream_exit();
        returned = true;
    };
    Body loops = [&] {
        while (!stop) ok(ABT_thread_yield());
    };
    ABT_thread exiting = spawn(pool, call_body, &exits), looping = spawn(pool, call_body, &loops);
    ABT_xstream stream = stream_of(pool);
    ok(ABT_thread_free(&exiting));
    wait_until([&] { return state_of_stream(stream) == ABT_XSTREAM_STATE_TERMINATED; });
    EXPECT_FALSE(returned);
    EXPECT_EQ(size_of(pool), 1u);
    stop = true;
    ok(ABT_xstream_free(&stream));
    run_all(pool);
    ok(ABT_thread_free(&looping));
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, exit_is_refused_outside_in_tasklets_and_on_the_primary_stream) {
    EXPECT_EQ(outside([] { return ABT_xstream_exit(); }), ABT_ERR_INV_XSTREAM);
    in_ult_of(own_pool(), [] { EXPECT_EQ(ABT_xstream_exit(), ABT_ERR_INV_XSTREAM); });
    Streams streams(1);
    in_tasklet_of(streams.pool(0), [] { EXPECT_EQ(ABT_xstream_exit(), ABT_ERR_INV_THREAD); });
    EXPECT_NE(ABT_xstream_exit(), ABT_SUCCESS) << "the primary ULT";
}

TEST_F(Xstream, cancel_ends_a_stream_whatever_is_left) {
    ABT_pool pool = new_pool();
    std::atomic<bool> stop{false};
    Body loops = [&] {
        while (!stop) ok(ABT_thread_yield());
    };
    ABT_thread looper = spawn(pool, call_body, &loops);
    ABT_xstream stream = stream_of(pool);
    wait_until([&] {
        ABT_xstream last = ABT_XSTREAM_NULL;
        ok(ABT_thread_get_last_xstream(looper, &last));
        return last == stream;
    });
    ok(ABT_xstream_cancel(stream));
    ok(ABT_xstream_join(stream));
    EXPECT_EQ(state_of_stream(stream), ABT_XSTREAM_STATE_TERMINATED);
    EXPECT_EQ(size_of(pool), 1u);
    stop = true;
    ok(ABT_xstream_free(&stream));
    run_all(pool);
    ok(ABT_thread_free(&looper));
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, an_idle_stream_that_is_cancelled_ends_and_can_be_revived) {
    ABT_xstream stream = new_stream();
    EXPECT_EQ(outside([&] { return ABT_xstream_cancel(stream); }), ABT_SUCCESS);
    wait_until([&] { return state_of_stream(stream) == ABT_XSTREAM_STATE_TERMINATED; });
    ok(ABT_xstream_revive(stream));
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool_of(stream), add_one, &ran);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_xstream_free(&stream));
}

TEST_F(Xstream, cancel_refuses_none_and_the_primary_one) {
    EXPECT_EQ(ABT_xstream_cancel(ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_cancel(self_stream()), ABT_ERR_INV_XSTREAM);
}

// ---- identity and number ------------------------------------------------------------------------

TEST_F(Xstream, self_names_the_callers_stream_and_nobody_outside) {
    ABT_xstream stream = new_stream();
    const auto check = [&] {
        ABT_xstream self = ABT_XSTREAM_NULL;
        int rank = -1;
        ok(ABT_xstream_self(&self));
        EXPECT_EQ(self, stream);
        ok(ABT_xstream_self_rank(&rank));
        EXPECT_EQ(rank, 1);
    };
    in_ult_of(pool_of(stream), check);
    in_tasklet_of(pool_of(stream), check);
    outside([&] {
        ABT_xstream self = stream;
        int rank = 77;
        EXPECT_EQ(ABT_xstream_self(&self), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(self, ABT_XSTREAM_NULL);
        EXPECT_EQ(ABT_xstream_self_rank(&rank), ABT_ERR_INV_XSTREAM);
        EXPECT_EQ(rank, 77);
        return 0;
    });
    ok(ABT_xstream_free(&stream));
}

TEST(XstreamBefore, nothing_is_known_before_the_start) {
    ABT_xstream self{};
    int number = 77;
    EXPECT_EQ(ABT_xstream_self(&self), ABT_ERR_UNINITIALIZED);
    EXPECT_EQ(self, ABT_XSTREAM_NULL);
    EXPECT_EQ(ABT_xstream_self_rank(&number), ABT_ERR_UNINITIALIZED);
    EXPECT_EQ(number, 77);
    EXPECT_EQ(ABT_xstream_get_num(&number), ABT_ERR_UNINITIALIZED);
    if (!elsewhere()) {
        EXPECT_EQ(number, 0);
    }
    EXPECT_EQ(ABT_xstream_exit(), ABT_ERR_UNINITIALIZED);
    ABT_bool same = ABT_TRUE;
    ok(ABT_xstream_equal(ABT_XSTREAM_NULL, ABT_XSTREAM_NULL, &same));
    EXPECT_EQ(same, ABT_TRUE);
}

TEST_F(Xstream, equal_compares_handles) {
    ABT_xstream stream = new_stream();
    ABT_bool same = ABT_FALSE;
    ok(ABT_xstream_equal(stream, stream, &same));
    EXPECT_EQ(same, ABT_TRUE);
    ok(ABT_xstream_equal(stream, self_stream(), &same));
    EXPECT_EQ(same, ABT_FALSE);
    ok(ABT_xstream_equal(stream, ABT_XSTREAM_NULL, &same));
    EXPECT_EQ(same, ABT_FALSE);
    ok(ABT_xstream_free(&stream));
}

TEST_F(Xstream, one_stream_is_the_primary_one) {
    ABT_xstream stream = new_stream();
    ABT_bool primary = ABT_FALSE;
    ok(ABT_xstream_is_primary(self_stream(), &primary));
    EXPECT_EQ(primary, ABT_TRUE);
    ok(ABT_xstream_is_primary(stream, &primary));
    EXPECT_EQ(primary, ABT_FALSE);
    EXPECT_EQ(ABT_xstream_is_primary(ABT_XSTREAM_NULL, &primary), ABT_ERR_INV_XSTREAM);
    ok(ABT_xstream_free(&stream));
}

TEST_F(Xstream, a_rank_is_chosen_and_taken_by_one_alone) {
    ABT_xstream five = ABT_XSTREAM_NULL, other = self_stream();
    ok(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 5, &five));
    EXPECT_EQ(rank_of(five), 5);
    EXPECT_EQ(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 5, &other), ABT_ERR_INV_XSTREAM_RANK);
    EXPECT_EQ(other, ABT_XSTREAM_NULL);
    other = self_stream();
    EXPECT_EQ(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 0, &other), ABT_ERR_INV_XSTREAM_RANK);
    EXPECT_EQ(other, ABT_XSTREAM_NULL);
    EXPECT_EQ(ABT_xstream_create_with_rank(ABT_SCHED_NULL, -1, &other), ABT_ERR_INV_XSTREAM_RANK);
    EXPECT_EQ(ABT_xstream_create_with_rank(ABT_SCHED_NULL, -3, &other), ABT_ERR_INV_XSTREAM_RANK);
    ABT_xstream one = new_stream();
    EXPECT_EQ(rank_of(one), 1);
    EXPECT_EQ(streams_alive(), 3);
    ok(ABT_xstream_free(&five));
    ok(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 5, &five));
    ok(ABT_xstream_free(&five));
    ok(ABT_xstream_free(&one));
}

TEST_F(Xstream, a_scheduler_that_was_refused_with_its_rank_can_be_used) {
    ABT_pool pool = new_pool();
    ABT_sched sched = new_sched({pool});
    ABT_xstream stream = ABT_XSTREAM_NULL;
    EXPECT_EQ(ABT_xstream_create_with_rank(sched, 0, &stream), ABT_ERR_INV_XSTREAM_RANK);
    ok(ABT_xstream_create_with_rank(sched, 3, &stream));
    EXPECT_EQ(main_sched_of(stream), sched);
    ok(ABT_xstream_free(&stream));
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, a_rank_is_changed_but_for_the_primary_streams) {
    ABT_xstream stream = new_stream(), other = new_stream();
    ok(ABT_xstream_set_rank(stream, 9));
    EXPECT_EQ(rank_of(stream), 9);
    ok(ABT_xstream_set_rank(stream, 9));
    EXPECT_EQ(ABT_xstream_set_rank(stream, 2), ABT_ERR_INV_XSTREAM_RANK);
    EXPECT_EQ(ABT_xstream_set_rank(stream, 0), ABT_ERR_INV_XSTREAM_RANK);
    EXPECT_EQ(ABT_xstream_set_rank(stream, -1), ABT_ERR_INV_XSTREAM_RANK);
    EXPECT_EQ(rank_of(stream), 9);
    EXPECT_EQ(ABT_xstream_set_rank(self_stream(), 4), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_set_rank(ABT_XSTREAM_NULL, 4), ABT_ERR_INV_XSTREAM);
    ok(ABT_xstream_set_rank(other, 1));
    EXPECT_EQ(rank_of(other), 1);
    int rank = 77;
    EXPECT_EQ(ABT_xstream_get_rank(ABT_XSTREAM_NULL, &rank), ABT_ERR_INV_XSTREAM);
    in_ult_of(pool_of(stream), [] {
        int own = -1;
        ok(ABT_xstream_self_rank(&own));
        EXPECT_EQ(own, 9);
    });
    ok(ABT_xstream_free(&stream));
    ok(ABT_xstream_free(&other));
}

TEST_F(Xstream, questions_about_none_are_refused) {
    ABT_sched sched = ABT_SCHED_NULL;
    ABT_pool pool = ABT_POOL_NULL;
    ABT_xstream_state state{};
    EXPECT_EQ(ABT_xstream_get_main_sched(ABT_XSTREAM_NULL, &sched), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_get_main_pools(ABT_XSTREAM_NULL, 1, &pool), ABT_ERR_INV_XSTREAM);
    if (!elsewhere()) {   // Argobots does not check it
        EXPECT_EQ(ABT_xstream_get_main_pools(self_stream(), -1, &pool), ABT_ERR_INV_ARG);
    }
    EXPECT_EQ(ABT_xstream_get_state(ABT_XSTREAM_NULL, &state), ABT_ERR_INV_XSTREAM);
}

TEST_F(Xstream, no_more_pools_are_told_than_asked_for_or_there_are) {
    ABT_pool pools[4] = {ABT_POOL_NULL, ABT_POOL_NULL, ABT_POOL_NULL, ABT_POOL_NULL};
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create_basic(ABT_SCHED_PRIO, 0, nullptr, ABT_SCHED_CONFIG_NULL, &stream));
    ok(ABT_xstream_get_main_pools(stream, 0, nullptr));
    ok(ABT_xstream_get_main_pools(stream, 2, pools));
    EXPECT_NE(pools[1], ABT_POOL_NULL);
    EXPECT_EQ(pools[2], ABT_POOL_NULL);
    ok(ABT_xstream_get_main_pools(stream, 4, pools));
    EXPECT_NE(pools[2], ABT_POOL_NULL);
    EXPECT_EQ(pools[3], ABT_POOL_NULL);
    ok(ABT_xstream_free(&stream));
}

// ---- another main scheduler ---------------------------------------------------------------------

TEST_F(Xstream, the_primary_streams_scheduler_is_replaced_and_the_caller_belongs_to_the_new_one) {
    for (const ABT_sched_predef predef : predefined) {
        ABT_sched sched = fresh_sched(predef);
        ABT_pool first = ABT_POOL_NULL, mine = ABT_POOL_NULL;
        ok(ABT_sched_get_pools(sched, 1, 0, &first));
        ok(ABT_xstream_set_main_sched(self_stream(), sched));
        EXPECT_EQ(main_sched_of(self_stream()), sched);
        EXPECT_EQ(own_pool(), first);
        ok(ABT_self_get_last_pool(&mine));
        EXPECT_EQ(mine, first);
        std::atomic<int> ran{0};
        ABT_thread made = spawn(first, add_one, &ran);
        ok(ABT_thread_yield());
        ok(ABT_thread_free(&made));
        EXPECT_EQ(ran.load(), 1);
    }
}

TEST_F(Xstream, units_of_the_old_schedulers_pools_run_before_it_goes) {
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) ok(ABT_thread_create(own_pool(), add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr));
    ok(ABT_xstream_set_main_sched(self_stream(), ABT_SCHED_NULL));
    EXPECT_EQ(ran.load(), 10);
    EXPECT_NE(main_sched_of(self_stream()), ABT_SCHED_NULL);
}

TEST_F(Xstream, a_pool_stays_when_the_new_scheduler_has_it_too) {
    ABT_pool pool = own_pool();
    ABT_sched sched = new_sched({pool});
    ok(ABT_xstream_set_main_sched(self_stream(), sched));
    EXPECT_EQ(own_pool(), pool);
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ran.load(), 1);
}

TEST_F(Xstream, set_main_sched_basic_makes_the_scheduler) {
    ok(ABT_xstream_set_main_sched_basic(self_stream(), ABT_SCHED_PRIO, 0, nullptr));
    int count = 0;
    ok(ABT_sched_get_num_pools(main_sched_of(self_stream()), &count));
    EXPECT_EQ(count, 3);
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE);
    ok(ABT_xstream_set_main_sched_basic(self_stream(), ABT_SCHED_BASIC, 1, &pool));
    EXPECT_EQ(own_pool(), pool);
    if (!elsewhere()) {   // Argobots does not check it
        EXPECT_EQ(ABT_xstream_set_main_sched_basic(self_stream(), ABT_SCHED_BASIC, -1, &pool), ABT_ERR_INV_ARG);
    }
    EXPECT_EQ(ABT_xstream_set_main_sched_basic(self_stream(), static_cast<ABT_sched_predef>(9), 0, nullptr),
              ABT_ERR_INV_SCHED_PREDEF);
    EXPECT_EQ(ABT_xstream_set_main_sched_basic(ABT_XSTREAM_NULL, ABT_SCHED_BASIC, 0, nullptr), ABT_ERR_INV_XSTREAM);
    const ABT_xstream primary = self_stream();
    EXPECT_EQ(outside([&] { return ABT_xstream_set_main_sched_basic(primary, ABT_SCHED_BASIC, 0, nullptr); }),
              ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(in_tasklet([&] { return ABT_xstream_set_main_sched_basic(primary, ABT_SCHED_BASIC, 0, nullptr); }),
              ABT_ERR_INV_THREAD);
    EXPECT_EQ(own_pool(), pool);
}

TEST_F(Xstream, only_a_ult_replaces_the_scheduler_of_its_own_stream_or_of_one_that_has_ended) {
    ABT_xstream stream = new_stream();
    const ABT_xstream primary = self_stream();
    EXPECT_EQ(ABT_xstream_set_main_sched(ABT_XSTREAM_NULL, ABT_SCHED_NULL), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_xstream_set_main_sched(stream, ABT_SCHED_NULL), ABT_ERR_XSTREAM_STATE);
    EXPECT_EQ(outside([&] { return ABT_xstream_set_main_sched(primary, ABT_SCHED_NULL); }), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(in_tasklet([&] { return ABT_xstream_set_main_sched(primary, ABT_SCHED_NULL); }), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_xstream_set_main_sched(primary, main_sched_of(stream)), ABT_ERR_INV_SCHED) << "in use";
    ok(ABT_xstream_join(stream));
    EXPECT_EQ(ABT_xstream_set_main_sched(stream, main_sched_of(primary)), ABT_ERR_INV_SCHED) << "in use";
    ABT_pool pool = new_pool();
    ABT_sched sched = new_sched({pool});
    ok(ABT_xstream_set_main_sched(stream, sched));
    EXPECT_EQ(main_sched_of(stream), sched);
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran);
    ok(ABT_xstream_revive(stream));
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_xstream_free(&stream));
    ok(ABT_pool_free(&pool));
}

namespace {

void replace_often(ABT_pool pool) {
    std::atomic<int> done{0};
    Units units;
    for (int i = 0; i < 10; ++i) {
        units.ult(pool, [&] {
            for (int round = 0; round < 100; ++round) {
                ok(ABT_xstream_set_main_sched(self_stream(), new_sched({pool}, predefined[round % 4])));
                if (round % 5 == 0) ok(ABT_self_yield());
            }
            done.fetch_add(1);
        });
    }
    units.join();
    EXPECT_EQ(done.load(), 10);
}

}   // namespace

TEST_F(Xstream, ten_ults_replace_a_running_scheduler_a_hundred_times_each) {
    ABT_pool pool = new_pool();
    ABT_xstream stream = stream_of(pool);
    replace_often(pool);
    ok(ABT_xstream_free(&stream));
    ok(ABT_pool_free(&pool));
    replace_often(own_pool());
}

TEST_F(Xstream, schedulers_of_the_programs_own_replace_each_other_and_are_freed_when_automatic) {
    ABT_pool pool = new_pool();
    ABT_xstream stream = stream_of(pool);
    std::vector<OwnSched> scheds(20);
    in_ult_of(pool, [&] {
        for (OwnSched& sched : scheds) ok(ABT_xstream_set_main_sched(stream, sched.make({pool}, true)));
    });
    for (std::size_t i = 0; i + 1 < scheds.size(); ++i) EXPECT_EQ(scheds[i].freed.load(), 1) << i;
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_xstream_free(&stream));
    for (OwnSched& sched : scheds) EXPECT_EQ(sched.freed.load(), 1);
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, a_second_replacement_overtakes_the_first) {
    ABT_pool pool = new_pool();
    ABT_xstream stream = stream_of(pool);
    OwnSched first, second;
    const ABT_sched one = first.make({pool}, true), two = second.make({pool}, true);
    std::atomic<int> done{0};
    Units units;
    units.ult(pool, [&] {
        ok(ABT_xstream_set_main_sched(stream, one));
        done.fetch_add(1);
    });
    units.ult(pool, [&] {
        ok(ABT_xstream_set_main_sched(stream, two));
        done.fetch_add(1);
    });
    units.join();
    EXPECT_EQ(done.load(), 2);
    EXPECT_EQ(main_sched_of(stream), two);
    EXPECT_EQ(first.freed.load(), 1);
    EXPECT_EQ(second.freed.load(), 0);
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(second.freed.load(), 1);
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, a_scheduler_that_is_not_automatic_can_be_used_again) {
    OwnSched sched;
    ABT_pool pool = new_pool();
    ABT_sched made = sched.make({pool}, false);
    for (int round = 1; round <= 3; ++round) {
        ABT_xstream stream = ABT_XSTREAM_NULL;
        ok(ABT_xstream_create(made, &stream));
        std::atomic<int> ran{0};
        ABT_thread unit = spawn(pool, add_one, &ran);
        ok(ABT_thread_free(&unit));
        ok(ABT_xstream_free(&stream));
        EXPECT_EQ(sched.freed.load(), 0);
        EXPECT_EQ(sched.runs.load(), round);
    }
    ok(ABT_sched_free(&made));
    EXPECT_EQ(sched.freed.load(), 1);
    EXPECT_EQ(sched.begun.load(), 1);
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, a_unit_may_run_before_the_call_that_creates_its_stream_has_returned) {
    ABT_pool pool = new_pool();
    for (int i = 0; i < 50; ++i) {
        std::atomic<int> ran{0};
        Body asks = [&] {
            const ABT_xstream self = self_stream();
            EXPECT_EQ(state_of_stream(self), ABT_XSTREAM_STATE_RUNNING);
            EXPECT_EQ(ABT_xstream_revive(self), ABT_ERR_INV_XSTREAM);
            ok(ABT_xstream_set_main_sched(self, new_sched({pool})));
            ran.fetch_add(1);
            ABT_xstream_exit();
        };
        ABT_thread made = spawn(pool, call_body, &asks);
        ABT_xstream stream = stream_of(pool);
        wait_until([&] { return state_of_stream(stream) == ABT_XSTREAM_STATE_TERMINATED; });
        EXPECT_EQ(ran.load(), 1);
        ok(ABT_thread_free(&made));
        ok(ABT_xstream_free(&stream));
    }
    ok(ABT_pool_free(&pool));
}

// ---- calls for schedulers -----------------------------------------------------------------------

TEST_F(Xstream, a_ult_runs_a_unit_as_its_child) {
    ABT_pool pool = new_pool();
    std::atomic<int> ran{0};
    Body twice = [&] {
        ran.fetch_add(1);
        ok(ABT_self_yield());
        ran.fetch_add(1);
    };
    ABT_thread made = spawn(pool, call_body, &twice);
    for (int turn = 1; turn <= 2; ++turn) {
        ABT_unit unit = ABT_UNIT_NULL;
        ok(ABT_pool_pop(pool, &unit));
        ok(ABT_xstream_run_unit(unit, pool));
        EXPECT_EQ(ran.load(), turn);
    }
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    EXPECT_EQ(size_of(pool), 0u);
    ok(ABT_thread_free(&made));
    ABT_task task = ABT_TASK_NULL;
    ok(ABT_task_create(pool, add_one, &ran, &task));
    ABT_unit unit = ABT_UNIT_NULL;
    ok(ABT_pool_pop(pool, &unit));
    ok(ABT_xstream_run_unit(unit, pool));
    EXPECT_EQ(ran.load(), 3);
    ok(ABT_task_free(&task));
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, run_unit_lets_the_unit_belong_to_the_pool) {
    ABT_pool from = new_pool(), to = new_pool();
    Body yields = [&] { ok(ABT_self_yield()); };
    ABT_thread made = spawn(from, call_body, &yields);
    ABT_unit unit = ABT_UNIT_NULL;
    ok(ABT_pool_pop(from, &unit));
    ok(ABT_xstream_run_unit(unit, to));
    EXPECT_EQ(size_of(from), 0u);
    EXPECT_EQ(size_of(to), 1u);
    run_all(to);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&from));
    ok(ABT_pool_free(&to));
}

TEST_F(Xstream, run_unit_refuses_none_tasklets_and_those_outside) {
    ABT_pool pool = new_pool();
    ABT_thread made = spawn(pool, nothing, nullptr);
    ABT_unit unit = ABT_UNIT_NULL;
    ok(ABT_pool_pop(pool, &unit));
    EXPECT_EQ(ABT_xstream_run_unit(ABT_UNIT_NULL, pool), ABT_ERR_INV_UNIT);
    EXPECT_EQ(ABT_xstream_run_unit(unit, ABT_POOL_NULL), ABT_ERR_INV_POOL);
    EXPECT_EQ(outside([&] { return ABT_xstream_run_unit(unit, pool); }), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(in_tasklet([&] { return ABT_xstream_run_unit(unit, pool); }), ABT_ERR_INV_THREAD);
    ok(ABT_xstream_run_unit(unit, pool));
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&pool));
}

TEST_F(Xstream, check_events_is_for_the_scheduler_that_runs) {
    EXPECT_EQ(ABT_xstream_check_events(ABT_SCHED_NULL), ABT_ERR_INV_SCHED);
    const ABT_sched primary = main_sched_of(self_stream());
    EXPECT_EQ(outside([&] { return ABT_xstream_check_events(primary); }), ABT_ERR_INV_XSTREAM);
    OwnSched own;
    std::atomic<int> wrong{-1};
    own.each = [&](ABT_sched) { wrong = ABT_xstream_check_events(primary); };
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ABT_pool pool = new_pool();
    ok(ABT_xstream_create(own.make({pool}, true), &stream));
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(wrong.load(), ABT_ERR_INV_THREAD);
    ok(ABT_pool_free(&pool));
}

TEST(XstreamBefore, check_events_needs_the_library) {
    EXPECT_EQ(ABT_xstream_check_events(ABT_SCHED_NULL), ABT_ERR_UNINITIALIZED);
}

// ---- OS threads that are not streams ------------------------------------------------------------

TEST_F(Xstream, os_threads_create_join_and_free_units_that_others_made) {
    Streams streams(2);
    std::atomic<int> ran{0};
    std::vector<ABT_thread> made(200, ABT_THREAD_NULL);
    for (std::size_t i = 0; i < 100; ++i) made[i] = spawn(streams.pool(i), add_one, &ran);
    std::thread other([&] {
        for (std::size_t i = 100; i < 200; ++i) made[i] = spawn(streams.pool(i), add_one, &ran);
        for (std::size_t i = 0; i < 100; ++i) {
            if (i % 2 == 0) ok(ABT_thread_join(made[i]));
            ok(ABT_thread_free(&made[i]));
        }
    });
    other.join();
    for (std::size_t i = 100; i < 200; ++i) ok(ABT_thread_free(&made[i]));
    EXPECT_EQ(ran.load(), 200);
}

namespace {

std::atomic<int> signals_seen{0};

// A timer that sends a signal to the process every 100 us.
class SignalStorm {
public:
    SignalStorm(int number, int flags) : number_(number) {
        struct sigaction action {};
        action.sa_handler = [](int) { signals_seen.fetch_add(1, std::memory_order_relaxed); };
        action.sa_flags = flags;
        sigaction(number, &action, &before_);
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = number;
        EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer_), 0);
        const itimerspec every{{0, 100'000}, {0, 100'000}};
        EXPECT_EQ(timer_settime(timer_, 0, &every, nullptr), 0);
    }
    ~SignalStorm() {
        timer_delete(timer_);
        // A signal still in flight must not meet the default action.
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        sigaction(number_, &ignore, nullptr);
    }
    SignalStorm(const SignalStorm&) = delete;

private:
    int number_;
    timer_t timer_{};
    struct sigaction before_ {};
};

// OS threads and ULTs use locks, conditions, eventuals and joins together while signals interrupt
// them.
void use_everything() {
    ok(ABT_init(0, nullptr));
    {
        Streams streams(2);
        ABT_mutex mutex = ABT_MUTEX_NULL;
        ABT_eventual eventual = ABT_EVENTUAL_NULL;
        ABT_barrier barrier = ABT_BARRIER_NULL;
        ABT_cond cond = ABT_COND_NULL;
        ok(ABT_mutex_create(&mutex));
        ok(ABT_cond_create(&cond));
        ok(ABT_eventual_create(0, &eventual));
        ok(ABT_barrier_create(4, &barrier));
        int sum = 0, turn = 0;
        const auto work = [&](int me) {
            for (int i = 0; i < 50; ++i) {
                ok(ABT_mutex_lock(mutex));
                while (turn != me) ok(ABT_cond_wait(cond, mutex));
                turn = (turn + 1) % 4;
                ++sum;
                ok(ABT_cond_broadcast(cond));
                ok(ABT_mutex_unlock(mutex));
                if (i % 10 == 0) ok(ABT_barrier_wait(barrier));
            }
            if (me == 0) ok(ABT_eventual_set(eventual, nullptr, 0));
            ok(ABT_eventual_wait(eventual, nullptr));
        };
        Units units;
        units.ult(streams.pool(0), [&] { work(0); });
        units.ult(streams.pool(1), [&] { work(1); });
        std::thread a([&] { work(2); }), b([&] { work(3); });
        a.join();
        b.join();
        units.join();
        EXPECT_EQ(sum, 200);
        ok(ABT_mutex_free(&mutex));
        ok(ABT_cond_free(&cond));
        ok(ABT_eventual_free(&eventual));
        ok(ABT_barrier_free(&barrier));
    }
    ok(ABT_finalize());
}

}   // namespace

TEST(XstreamSignals, a_storm_of_signals_disturbs_nobody) {
    for (const int flags : {0, SA_RESTART}) {
        const SignalStorm user(SIGUSR1, flags);
        use_everything();
    }
    EXPECT_GT(signals_seen.load(), 0);
}

TEST(XstreamSignals, a_storm_of_real_time_signals_disturbs_nobody) {
    signals_seen = 0;
    for (const int flags : {0, SA_RESTART}) {
        const SignalStorm real_time(SIGRTMIN + 3, flags);
        use_everything();
    }
    EXPECT_GT(signals_seen.load(), 0);
}

TEST(XstreamSignals, static_mutexes_and_conditions_serve_before_the_start_and_after_the_end) {
    static ABT_mutex_memory mutex_memory = ABT_MUTEX_INITIALIZER;
    static ABT_cond_memory cond_memory = ABT_COND_INITIALIZER;
    const ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);
    const ABT_cond cond = ABT_COND_MEMORY_GET_HANDLE(&cond_memory);
    const auto meet = [&] {
        bool there = false;
        std::thread other([&] {
            ok(ABT_mutex_lock(mutex));
            there = true;
            ok(ABT_cond_signal(cond));
            ok(ABT_mutex_unlock(mutex));
        });
        ok(ABT_mutex_lock(mutex));
        while (!there) ok(ABT_cond_wait(cond, mutex));
        ok(ABT_mutex_unlock(mutex));
        other.join();
    };
    meet();
    ok(ABT_init(0, nullptr));
    meet();
    ok(ABT_finalize());
    meet();
}
