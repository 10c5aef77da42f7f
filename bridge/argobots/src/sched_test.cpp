// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedulers: built-in and user-defined ones, stacked ones, and main schedulers that wait like any
// ULT.
#include "core_test_support.hpp"

using namespace abt_test;

namespace {

class Sched : public Argobots {};

ABT_sched basic(std::vector<ABT_pool> pools, ABT_sched_predef predef = ABT_SCHED_BASIC) {
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_sched_create_basic(predef, static_cast<int>(pools.size()), pools.data(), ABT_SCHED_CONFIG_NULL, &sched));
    return sched;
}

// A scheduler that the caller frees.
ABT_sched basic_to_free(std::vector<ABT_pool> pools, ABT_sched_predef predef = ABT_SCHED_BASIC) {
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    ok(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_config_var_end));
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_sched_create_basic(predef, static_cast<int>(pools.size()), pools.data(), config, &sched));
    ok(ABT_sched_config_free(&config));
    return sched;
}

int pools_in(ABT_sched sched) {
    int count = -1;
    ok(ABT_sched_get_num_pools(sched, &count));
    return count;
}

// The order in which units ran.
struct Journal {
    std::vector<std::string> lines;

    Body says(std::string line) {
        return [this, line] { lines.push_back(line); };
    }
};

using Lines = std::vector<std::string>;

constexpr ABT_sched_predef predefined[] = {ABT_SCHED_DEFAULT, ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS,
                                           ABT_SCHED_BASIC_WAIT};

}   // namespace

// ---- create, free -------------------------------------------------------------------------------

TEST_F(Sched, predefined_ones_make_their_pools_when_none_are_given) {
    for (const ABT_sched_predef predef : predefined) {
        ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
        ok(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_basic_freq, 10,
                                   ABT_sched_config_access, static_cast<int>(ABT_POOL_ACCESS_MPSC),
                                   ABT_sched_config_var_end));
        ABT_sched sched = ABT_SCHED_NULL;
        ok(ABT_sched_create_basic(predef, 0, nullptr, config, &sched));
        EXPECT_EQ(pools_in(sched), predef == ABT_SCHED_PRIO ? 3 : 1) << predef;
        ok(ABT_sched_free(&sched));
        EXPECT_EQ(sched, ABT_SCHED_NULL);
        ok(ABT_sched_config_free(&config));
    }
}

TEST_F(Sched, pools_that_are_not_given_are_made) {
    ABT_pool given = new_pool();
    ABT_sched sched = basic_to_free({given, ABT_POOL_NULL, ABT_POOL_NULL});
    ABT_pool pools[3] = {};
    ok(ABT_sched_get_pools(sched, 3, 0, pools));
    EXPECT_EQ(pools[0], given);
    EXPECT_NE(pools[1], ABT_POOL_NULL);
    EXPECT_NE(pools[1], pools[2]);
    ok(ABT_sched_free(&sched));
    EXPECT_EQ(size_of(given), 0u) << "still there";
    ok(ABT_pool_free(&given));
}

TEST_F(Sched, what_is_out_of_range_is_refused) {
    ABT_pool pool = new_pool();
    ABT_sched sched{};
    EXPECT_EQ(ABT_sched_create_basic(static_cast<ABT_sched_predef>(99), 1, &pool, ABT_SCHED_CONFIG_NULL, &sched),
              ABT_ERR_INV_SCHED_PREDEF);
    EXPECT_EQ(sched, ABT_SCHED_NULL);
    if (!elsewhere()) {   // Argobots does not check it
        sched = {};
        EXPECT_EQ(ABT_sched_create_basic(ABT_SCHED_BASIC, -1, &pool, ABT_SCHED_CONFIG_NULL, &sched), ABT_ERR_INV_ARG);
        EXPECT_EQ(sched, ABT_SCHED_NULL);
        ABT_sched_def def{ABT_SCHED_TYPE_ULT, nullptr, [](ABT_sched) {}, nullptr, nullptr};
        sched = {};
        EXPECT_EQ(ABT_sched_create(&def, -1, &pool, ABT_SCHED_CONFIG_NULL, &sched), ABT_ERR_INV_ARG);
        EXPECT_EQ(sched, ABT_SCHED_NULL);
        EXPECT_EQ(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, nullptr), ABT_ERR_SCHED);
    }
    ok(ABT_pool_free(&pool));
}

TEST_F(Sched, what_init_returns_is_returned_and_nothing_is_made) {
    ABT_sched_def def{ABT_SCHED_TYPE_ULT, [](ABT_sched, ABT_sched_config) { return ABT_ERR_FUTURE; }, [](ABT_sched) {},
                      nullptr, nullptr};
    ABT_pool pools[2] = {new_pool(), ABT_POOL_NULL};
    ABT_sched sched{};
    EXPECT_EQ(ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &sched), ABT_ERR_FUTURE);
    EXPECT_EQ(sched, ABT_SCHED_NULL);
    EXPECT_EQ(size_of(pools[0]), 0u);
    ok(ABT_pool_free(&pools[0]));
}

// Automatic pools, too: they are freed with their last scheduler, and this scheduler never existed.
TEST_F(Sched, one_that_its_init_refuses_leaves_the_pools_to_the_program) {
    ABT_sched_def def{ABT_SCHED_TYPE_ULT, [](ABT_sched, ABT_sched_config) { return ABT_ERR_FUTURE; }, [](ABT_sched) {},
                      nullptr, nullptr};
    ABT_pool pools[3] = {new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE), ABT_POOL_NULL,
                         new_pool(ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, ABT_TRUE)};
    int value = 0;
    for (const ABT_pool pool : {pools[0], pools[2]}) ok(ABT_pool_set_data(pool, &value));
    ABT_sched sched{};
    EXPECT_EQ(ABT_sched_create(&def, 3, pools, ABT_SCHED_CONFIG_NULL, &sched), ABT_ERR_FUTURE);
    std::vector<ABT_pool> others;   // would reuse the memory of freed pools
    for (int i = 0; i < 8; ++i) others.push_back(new_pool(i % 2 == 0 ? ABT_POOL_FIFO : ABT_POOL_FIFO_WAIT));
    for (ABT_pool pool : {pools[0], pools[2]}) {
        void* data = nullptr;
        ok(ABT_pool_get_data(pool, &data));
        EXPECT_EQ(data, &value);
        ABT_thread thread = spawn(pool, nothing, nullptr);
        EXPECT_EQ(size_of(pool), 1u);
        run_all(pool);
        ok(ABT_thread_free(&thread));
    }
    for (ABT_pool& pool : others) ok(ABT_pool_free(&pool));
    sched = basic({pools[0]});
    ok(ABT_sched_free(&sched));   // frees the pool with it
    ok(ABT_pool_free(&pools[2]));
}

TEST_F(Sched, a_definition_is_copied_and_its_functions_are_called_once_each) {
    OwnSched own;
    ABT_pool pool = new_pool();
    ABT_sched sched = own.make({pool}, false);   // its definition no longer exists
    EXPECT_EQ(own.begun.load(), 1);
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(sched, &stream));
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(own.runs.load(), 1);
    EXPECT_EQ(own.freed.load(), 0);
    ok(ABT_sched_free(&sched));
    EXPECT_EQ(own.freed.load(), 1);
    ok(ABT_pool_free(&pool));
}

TEST_F(Sched, an_automatic_one_is_freed_with_its_stream) {
    OwnSched own;
    ABT_pool pool = new_pool();
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(own.make({pool}, true), &stream));
    ok(ABT_xstream_join(stream));
    EXPECT_EQ(own.freed.load(), 0);
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(own.freed.load(), 1);
    ok(ABT_pool_free(&pool));
}

TEST_F(Sched, a_scheduler_needs_neither_init_nor_free) {
    ABT_sched_def def{ABT_SCHED_TYPE_ULT, nullptr, [](ABT_sched) {}, nullptr, nullptr};
    ABT_sched sched = ABT_SCHED_NULL;
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    EXPECT_EQ(pools_in(sched), 1);
    ok(ABT_sched_free(&sched));
}

TEST_F(Sched, none_is_refused_and_so_is_freeing_one_in_use) {
    ABT_sched none = ABT_SCHED_NULL;
    ABT_pool pool = ABT_POOL_NULL;
    void* data = nullptr;
    int count = 0;
    size_t size = 77;
    ABT_bool stop = ABT_TRUE;
    EXPECT_EQ(ABT_sched_free(&none), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_sched_set_data(none, nullptr), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_sched_get_data(none, &data), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_sched_get_num_pools(none, &count), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_sched_get_pools(none, 1, 0, &pool), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_sched_get_size(none, &size), ABT_ERR_INV_SCHED);
    EXPECT_EQ(size, 0u);
    size = 77;
    EXPECT_EQ(ABT_sched_get_total_size(none, &size), ABT_ERR_INV_SCHED);
    EXPECT_EQ(size, 0u);
    EXPECT_EQ(ABT_sched_finish(none), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_sched_exit(none), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_sched_has_to_stop(none, &stop), ABT_ERR_INV_SCHED);
    EXPECT_EQ(stop, ABT_FALSE);
    ABT_sched main = ABT_SCHED_NULL;
    ok(ABT_xstream_get_main_sched(self_stream(), &main));
    EXPECT_EQ(ABT_sched_free(&main), ABT_ERR_SCHED);
    EXPECT_NE(main, ABT_SCHED_NULL);
}

// ---- queries ------------------------------------------------------------------------------------

TEST_F(Sched, keeps_a_pointer_of_the_programs) {
    ABT_sched_def def{ABT_SCHED_TYPE_ULT, nullptr, [](ABT_sched) {}, nullptr, nullptr};
    ABT_sched sched = ABT_SCHED_NULL;
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    void* data = &sched;
    ok(ABT_sched_set_data(sched, &data));
    ok(ABT_sched_get_data(sched, &data));
    EXPECT_EQ(data, static_cast<void*>(&data));
    ok(ABT_sched_free(&sched));
}

TEST_F(Sched, tells_some_of_its_pools) {
    ABT_pool made[3] = {new_pool(), new_pool(), new_pool()}, told[3] = {};
    ABT_sched sched = basic_to_free({made[0], made[1], made[2]});
    EXPECT_EQ(pools_in(sched), 3);
    ok(ABT_sched_get_pools(sched, 2, 1, told));
    EXPECT_EQ(told[0], made[1]);
    EXPECT_EQ(told[1], made[2]);
    ok(ABT_sched_get_pools(sched, 0, 3, told));
    EXPECT_EQ(ABT_sched_get_pools(sched, 2, 2, told), ABT_ERR_SCHED);
    EXPECT_EQ(ABT_sched_get_pools(sched, 4, 0, told), ABT_ERR_SCHED);
    if (!elsewhere()) {   // Argobots does not check them
        EXPECT_EQ(ABT_sched_get_pools(sched, -1, 0, told), ABT_ERR_INV_ARG);
        EXPECT_EQ(ABT_sched_get_pools(sched, 1, -1, told), ABT_ERR_INV_ARG);
    }
    ok(ABT_sched_free(&sched));
    for (ABT_pool& pool : made) ok(ABT_pool_free(&pool));
}

TEST_F(Sched, sizes_are_those_of_its_pools_and_the_total_counts_the_suspended) {
    ABT_pool pools[2] = {new_pool(), new_pool()};
    ABT_sched sched = basic_to_free({pools[0], pools[1]});
    std::vector<ABT_thread> made;
    for (int i = 0; i < 5; ++i) made.push_back(spawn(pools[i % 2], nothing, nullptr));
    Body sleeps = [] { ok(ABT_self_suspend()); };
    ABT_thread sleeper = spawn(pools[0], call_body, &sleeps);
    size_t size = 77;
    ok(ABT_sched_get_size(sched, &size));
    EXPECT_EQ(size, 6u);
    ok(ABT_sched_get_total_size(sched, &size));
    EXPECT_EQ(size, 6u);
    for (ABT_pool pool : pools) run_all(pool);
    ok(ABT_sched_get_size(sched, &size));
    EXPECT_EQ(size, 0u);
    ok(ABT_sched_get_total_size(sched, &size));
    EXPECT_EQ(size, 1u);
    ok(ABT_thread_resume(sleeper));
    run_all(pools[0]);
    ok(ABT_sched_get_total_size(sched, &size));
    EXPECT_EQ(size, 0u);
    ok(ABT_thread_free(&sleeper));
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
    ok(ABT_sched_free(&sched));
    for (ABT_pool& pool : pools) ok(ABT_pool_free(&pool));
}

// ---- the end of a run ---------------------------------------------------------------------------

TEST_F(Sched, finish_ends_it_when_its_pools_are_empty) {
    OwnSched own;
    ABT_pool pool = new_pool();
    std::atomic<int> ran{0};
    std::vector<ABT_thread> made;
    for (int i = 0; i < 10; ++i) made.push_back(spawn(pool, add_one, &ran));
    bool asked = false;
    own.each = [&](ABT_sched sched) {
        if (!std::exchange(asked, true)) ok(ABT_sched_finish(sched));
    };
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(own.make({pool}, true), &stream));
    wait_until([&] {
        ABT_xstream_state state{};
        ok(ABT_xstream_get_state(stream, &state));
        return state == ABT_XSTREAM_STATE_TERMINATED;
    });
    EXPECT_EQ(ran.load(), 10);
    ok(ABT_xstream_free(&stream));
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
    ok(ABT_pool_free(&pool));
}

TEST_F(Sched, exit_ends_it_whatever_is_left) {
    if (elsewhere()) GTEST_SKIP() << "the scheduler ends there, but its stream does not";
    OwnSched own;
    ABT_pool pool = new_pool();
    std::atomic<int> ran{0};
    std::vector<ABT_thread> made;
    for (int i = 0; i < 10; ++i) made.push_back(spawn(pool, add_one, &ran));
    own.each = [&](ABT_sched sched) {
        if (ran == 3) ok(ABT_sched_exit(sched));
    };
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(own.make({pool}, true), &stream));
    wait_until([&] {
        ABT_xstream_state state{};
        ok(ABT_xstream_get_state(stream, &state));
        return state == ABT_XSTREAM_STATE_TERMINATED;
    });
    EXPECT_EQ(ran.load(), 4) << "one that it had begun to run";
    EXPECT_EQ(size_of(pool), 6u);
    ok(ABT_xstream_free(&stream));
    run_all(pool);
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
    ok(ABT_pool_free(&pool));
}

TEST_F(Sched, finish_and_exit_end_those_that_come_with_the_library) {
    for (const auto end : {ABT_sched_finish, ABT_sched_exit}) {
        if (end == ABT_sched_exit && elsewhere()) break;   // in Argobots the scheduler ends, but its stream does not
        ABT_pool pool = new_pool();
        ABT_sched sched = basic({pool});
        ABT_xstream stream = ABT_XSTREAM_NULL;
        ok(ABT_xstream_create(sched, &stream));
        ok(end(sched));
        wait_until([&] {
            ABT_xstream_state state{};
            ok(ABT_xstream_get_state(stream, &state));
            return state == ABT_XSTREAM_STATE_TERMINATED;
        });
        ok(ABT_xstream_free(&stream));
        ok(ABT_pool_free(&pool));
    }
}

TEST_F(Sched, has_to_stop_is_asked_by_work_units) {
    ABT_sched main = ABT_SCHED_NULL;
    ok(ABT_xstream_get_main_sched(self_stream(), &main));
    ABT_bool stop = ABT_TRUE;
    ok(ABT_sched_has_to_stop(main, &stop));
    EXPECT_EQ(stop, ABT_FALSE);
    stop = ABT_TRUE;
    EXPECT_EQ(outside([&] { return ABT_sched_has_to_stop(main, &stop); }), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(stop, ABT_FALSE);
}

// ---- strict orders ------------------------------------------------------------------------------

TEST_F(Sched, basic_draws_from_its_first_pool_first) {
    ABT_pool pools[2] = {new_pool(), new_pool()};
    Journal journal;
    Units units;
    for (int i = 0; i < 3; ++i) units.ult(pools[1], journal.says("second"));
    for (int i = 0; i < 3; ++i) units.ult(pools[0], journal.says("first"));
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &stream));
    units.join();
    EXPECT_EQ(journal.lines, (Lines{"first", "first", "first", "second", "second", "second"}));
    ok(ABT_xstream_free(&stream));
    for (ABT_pool& pool : pools) ok(ABT_pool_free(&pool));
}

TEST_F(Sched, prio_runs_nothing_of_a_lower_level_while_a_higher_one_has_something) {
    constexpr int levels = 3;
    ABT_pool pools[levels] = {new_pool(), new_pool(), new_pool()};
    std::atomic<int> waiting[levels] = {};
    std::atomic<int> wrong{0}, ran{0};
    const auto check = [&](int level) {
        for (int above = 0; above < level; ++above) wrong.fetch_add(waiting[above].load() != 0 ? 1 : 0);
    };
    Units units;
    for (int level = levels - 1; level >= 0; --level) {
        for (int i = 0; i < 10; ++i) {
            waiting[level].fetch_add(1);
            units.ult(pools[level], [&, level] {
                for (int turn = 0; turn < 3; ++turn) {
                    waiting[level].fetch_sub(1);
                    check(level);
                    waiting[level].fetch_add(1);
                    ok(ABT_self_yield());
                }
                waiting[level].fetch_sub(1);
                check(level);
                ran.fetch_add(1);
            });
        }
    }
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create_basic(ABT_SCHED_PRIO, levels, pools, ABT_SCHED_CONFIG_NULL, &stream));
    units.join();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(ran.load(), 30);
    ok(ABT_xstream_free(&stream));
    for (ABT_pool& pool : pools) ok(ABT_pool_free(&pool));
}

TEST_F(Sched, prio_runs_an_urgent_unit_next_that_comes_while_others_wait) {
    ABT_pool pools[2] = {new_pool(), new_pool()};
    Journal journal;
    Units units, urgent;
    for (int i = 0; i < 3; ++i) {
        units.ult(pools[1], [&] {
            journal.lines.push_back("plain");
            urgent.ult(pools[0], journal.says("urgent"));
            ok(ABT_self_yield());
            journal.lines.push_back("again");
        });
    }
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create_basic(ABT_SCHED_PRIO, 2, pools, ABT_SCHED_CONFIG_NULL, &stream));
    units.join();
    urgent.join();
    EXPECT_EQ(journal.lines,
              (Lines{"plain", "urgent", "plain", "urgent", "plain", "urgent", "again", "again", "again"}));
    ok(ABT_xstream_free(&stream));
    for (ABT_pool& pool : pools) ok(ABT_pool_free(&pool));
}

// ---- stacked ------------------------------------------------------------------------------------

TEST_F(Sched, a_stacked_one_runs_until_its_pools_are_empty_before_the_one_below_goes_on) {
    ABT_pool below = own_pool(), above = new_pool();
    Journal journal;
    Units units;
    units.ult(below, journal.says("before"));
    for (int i = 0; i < 3; ++i) {
        units.ult(above, [&] {
            journal.lines.push_back("above");
            ok(ABT_self_yield());
            journal.lines.push_back("above again");
        });
    }
    ok(ABT_pool_add_sched(below, basic({above})));
    units.ult(below, journal.says("behind"));
    units.join();
    EXPECT_EQ(journal.lines,
              (Lines{"before", "above", "above", "above", "above again", "above again", "above again", "behind"}));
    EXPECT_EQ(size_of(above), 0u);
    ok(ABT_thread_yield());
    ok(ABT_pool_free(&above));
}

TEST_F(Sched, stacked_ones_stand_on_each_other) {
    ABT_pool first = new_pool(), second = new_pool();
    Journal journal;
    Units units;
    units.ult(first, [&] {
        journal.lines.push_back("first");
        ok(ABT_pool_add_sched(first, basic({second})));
    });
    units.ult(second, journal.says("second"));
    units.ult(second, journal.says("second"));
    units.ult(first, journal.says("first again"));
    ok(ABT_pool_add_sched(own_pool(), basic({first})));
    units.ult(own_pool(), journal.says("last"));
    units.join();
    EXPECT_EQ(journal.lines, (Lines{"first", "first again", "second", "second", "last"}));
    for (int i = 0; i < 3; ++i) ok(ABT_thread_yield());
    ok(ABT_pool_free(&first));
    ok(ABT_pool_free(&second));
}

TEST_F(Sched, a_stacked_one_of_the_programs_own_is_freed_when_it_has_run) {
    OwnSched own;
    ABT_pool above = new_pool();
    std::atomic<int> ran{0};
    ABT_thread made = spawn(above, add_one, &ran);
    ok(ABT_pool_add_sched(own_pool(), own.make({above}, true)));
    ok(ABT_thread_free(&made));
    wait_until([&] { return own.freed.load() == 1; });
    EXPECT_EQ(ran.load(), 1);
    EXPECT_EQ(own.runs.load(), 1);
    ok(ABT_pool_free(&above));
}

TEST_F(Sched, a_stacked_one_that_is_not_automatic_can_be_stacked_again) {
    OwnSched own;
    ABT_pool above = new_pool();
    ABT_sched sched = own.make({above}, false);
    for (int round = 1; round <= 3; ++round) {
        std::atomic<int> ran{0};
        ABT_thread made = spawn(above, add_one, &ran);
        ok(ABT_pool_add_sched(own_pool(), sched));
        EXPECT_EQ(ABT_pool_add_sched(own_pool(), sched), ABT_ERR_INV_SCHED) << "in use";
        ok(ABT_thread_free(&made));
        for (int i = 0; i < 3; ++i) ok(ABT_thread_yield());
        EXPECT_EQ(ran.load(), 1);
        EXPECT_EQ(own.runs.load(), round);
    }
    EXPECT_EQ(own.freed.load(), 0);
    ok(ABT_sched_free(&sched));
    EXPECT_EQ(own.freed.load(), 1);
    ok(ABT_pool_free(&above));
}

TEST_F(Sched, stacking_needs_a_pool_and_a_scheduler_that_nobody_uses) {
    ABT_sched main = ABT_SCHED_NULL, sched = basic_to_free({ABT_POOL_NULL});
    ok(ABT_xstream_get_main_sched(self_stream(), &main));
    EXPECT_EQ(ABT_pool_add_sched(ABT_POOL_NULL, sched), ABT_ERR_INV_POOL);
    EXPECT_EQ(ABT_pool_add_sched(own_pool(), ABT_SCHED_NULL), ABT_ERR_INV_SCHED);
    EXPECT_EQ(ABT_pool_add_sched(own_pool(), main), ABT_ERR_INV_SCHED);
    ok(ABT_sched_free(&sched));
}

TEST_F(Sched, predefined_ones_are_stacked) {
    for (const ABT_sched_predef predef : predefined) {
        ABT_pool above = new_pool();
        std::atomic<int> ran{0};
        std::vector<ABT_thread> made;
        for (int i = 0; i < 10; ++i) made.push_back(spawn(above, add_one, &ran));
        ok(ABT_pool_add_sched(own_pool(), basic({above}, predef)));
        for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
        EXPECT_EQ(ran.load(), 10) << predef;
        for (int i = 0; i < 3; ++i) ok(ABT_thread_yield());
        ok(ABT_pool_free(&above));
    }
}

TEST_F(Sched, schedulers_are_stacked_on_a_stream_by_others) {
    Streams streams(2);
    std::atomic<int> ran{0};
    std::vector<ABT_pool> pools;
    std::vector<ABT_thread> made;
    for (std::size_t i = 0; i < 10; ++i) {
        pools.push_back(new_pool());
        for (int j = 0; j < 5; ++j) made.push_back(spawn(pools[i], add_one, &ran));
        outside([&] { return ABT_pool_add_sched(streams.pool(i), basic({pools[i]})); });
    }
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
    EXPECT_EQ(ran.load(), 50);
    std::atomic<int> behind{0};
    for (std::size_t i = 0; i < 2; ++i) {   // stacked schedulers have ended when the units behind them run
        ABT_thread last = spawn(streams.pool(i), add_one, &behind);
        ok(ABT_thread_free(&last));
    }
    for (ABT_pool& pool : pools) ok(ABT_pool_free(&pool));
}

// ---- schedulers that are ULTs themselves --------------------------------------------------------

TEST_F(Sched, a_main_scheduler_yields_locks_waits_at_barriers_and_for_eventuals) {
    constexpr int count = 2;
    ABT_mutex mutex = ABT_MUTEX_NULL;
    ABT_barrier barrier = ABT_BARRIER_NULL;
    ABT_eventual eventual = ABT_EVENTUAL_NULL;
    ok(ABT_mutex_create(&mutex));
    ok(ABT_barrier_create(count, &barrier));
    ok(ABT_eventual_create(0, &eventual));
    int guarded = 0;
    std::atomic<int> ran{0};
    OwnSched scheds[count];
    ABT_xstream streams[count];
    ABT_pool pools[count];
    for (int i = 0; i < count; ++i) {
        scheds[i].each = [&, turn = 0](ABT_sched) mutable {
            if (++turn > 100) return;
            ok(ABT_thread_yield());
            ok(ABT_mutex_lock(mutex));
            ++guarded;
            ok(ABT_thread_yield());
            ok(ABT_mutex_unlock(mutex));
            if (turn % 10 == 0) ok(ABT_barrier_wait(barrier));
            if (turn == 50) ok(ABT_eventual_wait(eventual, nullptr));
        };
        pools[i] = new_pool();
        ok(ABT_xstream_create(scheds[i].make({pools[i]}, true), &streams[i]));
    }
    ok(ABT_eventual_set(eventual, nullptr, 0));
    {
        Units units;
        for (int i = 0; i < 40; ++i) {
            units.ult(pools[i % count], [&] {
                // It does not yield while it holds the lock: the scheduler that waits for the lock
                // would have to run this unit.
                ok(ABT_mutex_lock(mutex));
                ++guarded;
                ok(ABT_mutex_unlock(mutex));
                ran.fetch_add(1);
            });
        }
        units.join();
        // The streams may end once each has reached all its barriers.
        wait_until([&] {
            ok(ABT_mutex_lock(mutex));
            const int now = guarded;
            ok(ABT_mutex_unlock(mutex));
            return now == 100 * count + 40;
        });
    }
    for (ABT_xstream& stream : streams) ok(ABT_xstream_free(&stream));
    EXPECT_EQ(ran.load(), 40);
    for (ABT_pool& pool : pools) ok(ABT_pool_free(&pool));
    ok(ABT_mutex_free(&mutex));
    ok(ABT_barrier_free(&barrier));
    ok(ABT_eventual_free(&eventual));
}

TEST_F(Sched, a_main_scheduler_creates_joins_and_runs_units_itself) {
    ABT_pool pool = new_pool();
    std::atomic<int> ran{0};
    OwnSched own;
    own.each = [&, done = false](ABT_sched) mutable {
        if (std::exchange(done, true)) return;
        ABT_thread made = spawn(pool, add_one, &ran);
        ABT_thread self = self_thread();
        EXPECT_EQ(pop_from(pool), made);
        ok(ABT_self_schedule(made, ABT_POOL_NULL));
        ok(ABT_thread_free(&made));
        EXPECT_EQ(ran.load(), 1);
        EXPECT_EQ(ABT_thread_join(self), ABT_ERR_INV_THREAD);
        EXPECT_EQ(ABT_thread_free(&self), ABT_ERR_INV_THREAD);
        EXPECT_EQ(ABT_thread_create_to(pool, add_one, &ran, ABT_THREAD_ATTR_NULL, &made), ABT_ERR_INV_THREAD);
    };
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(own.make({pool}, true), &stream));
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_pool_free(&pool));
}

TEST_F(Sched, a_main_scheduler_is_no_target_of_those_who_join_free_or_yield_to_one) {
    ABT_pool pool = new_pool();
    std::atomic<ABT_thread> scheduler{ABT_THREAD_NULL};
    OwnSched own;
    own.each = [&](ABT_sched) { scheduler = self_thread(); };
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(own.make({pool}, true), &stream));
    wait_until([&] { return scheduler.load() != ABT_THREAD_NULL; });
    ABT_thread target = scheduler;
    EXPECT_EQ(ABT_thread_join(target), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_free(&target), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_self_yield_to(target), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_self_suspend_to(target), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_self_resume_yield_to(target), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_migrate_to_pool(target, own_pool()), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_migrate_to_xstream(target, self_stream()), ABT_ERR_INV_THREAD);
    EXPECT_EQ(target, scheduler.load());
    ok(ABT_xstream_free(&stream));
    ok(ABT_pool_free(&pool));
}

TEST_F(Sched, schedulers_of_the_programs_own_share_a_pool) {
    constexpr int count = 3;
    ABT_pool pool = new_pool();
    OwnSched scheds[count];
    ABT_xstream streams[count];
    for (int i = 0; i < count; ++i) ok(ABT_xstream_create(scheds[i].make({pool}, true), &streams[i]));
    std::atomic<int> ran{0};
    {
        Units units;
        for (int i = 0; i < 200; ++i) {
            units.ult(pool, [&] {
                for (int turn = 0; turn < 5; ++turn) ok(ABT_thread_yield());
                ran.fetch_add(1);
            });
        }
    }
    EXPECT_EQ(ran.load(), 200);
    for (ABT_xstream& stream : streams) ok(ABT_xstream_free(&stream));
    ok(ABT_pool_free(&pool));
}

TEST_F(Sched, a_ult_acts_as_a_scheduler) {
    ABT_pool pool = new_pool();
    std::atomic<int> ran{0};
    Units units;
    for (int i = 0; i < 10; ++i) {
        units.ult(pool, [&] {
            ok(ABT_self_yield());
            ran.fetch_add(1);
        });
    }
    in_ult_of(own_pool(), [&] { run_all(pool); });
    EXPECT_EQ(ran.load(), 10);
    units.join();
    ok(ABT_pool_free(&pool));
}
