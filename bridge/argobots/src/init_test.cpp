// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initialization and finalization: calls that nest, calls from several OS threads, and a restart of
// the library.
#include "core_test_support.hpp"

using namespace abt_test;

namespace {

std::size_t stack_bytes_of_a_run() {
    ok(ABT_init(0, nullptr));
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    std::size_t bytes = 0;
    ok(ABT_thread_attr_create(&attr));
    ok(ABT_thread_attr_get_stacksize(attr, &bytes));
    ok(ABT_thread_attr_free(&attr));
    ok(ABT_finalize());
    return bytes;
}

}   // namespace

TEST(Init, the_library_runs_between_init_and_finalize_only) {
    EXPECT_EQ(ABT_initialized(), ABT_ERR_UNINITIALIZED);
    EXPECT_EQ(ABT_finalize(), ABT_ERR_UNINITIALIZED);
    ok(ABT_init(0, nullptr));
    EXPECT_EQ(ABT_initialized(), ABT_SUCCESS);
    ok(ABT_finalize());
    EXPECT_EQ(ABT_initialized(), ABT_ERR_UNINITIALIZED);
    EXPECT_EQ(ABT_finalize(), ABT_ERR_UNINITIALIZED);
}

TEST(Init, calls_nest) {
    for (int i = 0; i < 3; ++i) ok(ABT_init(0, nullptr));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(ABT_initialized(), ABT_SUCCESS);
        ok(ABT_finalize());
    }
    EXPECT_EQ(ABT_initialized(), ABT_ERR_UNINITIALIZED);
}

TEST(Init, nested_calls_come_from_os_threads_ults_and_tasklets) {
    ok(ABT_init(0, nullptr));
    const auto nested = [] {
        for (int i = 0; i < 100; ++i) {
            ok(ABT_init(0, nullptr));
            ok(ABT_finalize());
        }
        return ABT_SUCCESS;
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(nested);
    in_ult_of(own_pool(), [&] { nested(); });
    EXPECT_EQ(in_tasklet(nested), ABT_SUCCESS);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(ABT_initialized(), ABT_SUCCESS);
    ok(ABT_finalize());
}

TEST(Init, the_primary_ult_ends_the_library_also_where_it_has_just_been_rescued) {
    const Variable rescue("WEFT_RESCUE", "all");
    const auto hold_the_thread = [](void*) {
        for (int i = 0; i < 3; ++i) {
            const double end = ABT_get_wtime() + 0.012;
            while (ABT_get_wtime() < end) {}
            ok(ABT_thread_yield());
        }
    };
    for (int round = 0; round < 10; ++round) {
        ok(ABT_init(0, nullptr));
        for (int i = 0; i < 4; ++i)
            ok(ABT_thread_create(own_pool(), hold_the_thread, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
        ok(ABT_finalize());
    }
}

TEST(Init, whoever_calls_first_becomes_the_primary_ult) {
    outside([] {
        ok(ABT_init(0, nullptr));
        ABT_bool primary = ABT_FALSE;
        ok(ABT_self_is_primary(&primary));
        EXPECT_EQ(primary, ABT_TRUE);
        ok(ABT_self_on_primary_xstream(&primary));
        EXPECT_EQ(primary, ABT_TRUE);
        int rank = -1, streams = 0;
        ok(ABT_self_get_xstream_rank(&rank));
        EXPECT_EQ(rank, 0);
        ok(ABT_xstream_get_num(&streams));
        EXPECT_EQ(streams, 1);
        ok(ABT_finalize());
        return 0;
    });
}

TEST(Init, works_again_after_the_end_in_this_os_thread_or_another) {
    const auto round = [] {
        ok(ABT_init(0, nullptr));
        std::atomic<int> ran{0};
        {
            Streams streams(1);
            Units units;
            for (int i = 0; i < 10; ++i)
                units.ult(i % 2 == 0 ? own_pool() : streams.pool(0), [&] { ran.fetch_add(1); });
        }
        EXPECT_EQ(ran.load(), 10);
        ok(ABT_finalize());
        return 0;
    };
    for (int i = 0; i < 10; ++i) {
        round();
        outside(round);
    }
}

TEST(Init, numbers_of_work_units_begin_at_0_again) {
    for (int round = 0; round < 3; ++round) {
        ok(ABT_init(0, nullptr));
        ABT_unit_id first = 77, second = 77, again = 77;
        ABT_thread made = spawn(own_pool(), nothing, nullptr);
        ok(ABT_thread_get_id(made, &first));
        ok(ABT_self_get_thread_id(&second));
        ok(ABT_thread_get_id(made, &again));
        EXPECT_LT(first, 4u) << "counts from 0, a few that the library made itself aside";
        EXPECT_NE(first, second);
        EXPECT_EQ(first, again);
        ok(ABT_thread_free(&made));
        ok(ABT_finalize());
    }
}

TEST(Init, the_same_work_unit_has_the_same_number_in_each_run) {
    ABT_unit_id ids[2];
    for (ABT_unit_id& id : ids) {
        ok(ABT_init(0, nullptr));
        ABT_thread made = spawn(own_pool(), nothing, nullptr);
        ok(ABT_thread_get_id(made, &id));
        ok(ABT_thread_free(&made));
        ok(ABT_finalize());
    }
    EXPECT_EQ(ids[0], ids[1]);
}

TEST(Init, an_external_thread_cannot_end_what_another_began) {
    if (elsewhere()) GTEST_SKIP() << "the count is lowered before the caller is looked at there";
    ok(ABT_init(0, nullptr));
    EXPECT_EQ(outside([] { return ABT_finalize(); }), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(ABT_initialized(), ABT_SUCCESS);
    ok(ABT_init(0, nullptr));
    EXPECT_EQ(outside([] { return ABT_finalize(); }), ABT_SUCCESS) << "not the last one";
    std::atomic<int> ran{0};
    ABT_thread made = spawn(own_pool(), add_one, &ran);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_finalize());
}

TEST(Init, another_ult_cannot_end_what_the_primary_one_began) {
    if (elsewhere()) GTEST_SKIP() << "the count is lowered before the caller is looked at there";
    ok(ABT_init(0, nullptr));
    in_ult_of(own_pool(), [] { EXPECT_EQ(ABT_finalize(), ABT_ERR_INV_THREAD); });
    EXPECT_EQ(in_tasklet([] { return ABT_finalize(); }), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_initialized(), ABT_SUCCESS);
    ok(ABT_finalize());
}

TEST(Init, finalize_runs_what_is_ready_in_the_primary_streams_pools) {
    ok(ABT_init(0, nullptr));
    std::atomic<int> ran{0};
    for (int i = 0; i < 20; ++i) ok(ABT_thread_create(own_pool(), add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr));
    for (int i = 0; i < 20; ++i) ok(ABT_task_create(own_pool(), add_one, &ran, nullptr));
    ok(ABT_finalize());
    EXPECT_EQ(ran.load(), 40);
}

TEST(Init, finalize_runs_ults_that_yield_and_create_more) {
    ok(ABT_init(0, nullptr));
    static std::atomic<int> ran;
    ran = 0;
    const auto body = [](void*) {
        for (int i = 0; i < 5; ++i) ok(ABT_thread_yield());
        ok(ABT_thread_create(own_pool(), add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr));
        ran.fetch_add(1);
    };
    for (int i = 0; i < 5; ++i) ok(ABT_thread_create(own_pool(), body, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
    ok(ABT_finalize());
    EXPECT_EQ(ran.load(), 10);
}

TEST(Init, the_environment_is_read_each_time) {
    const Variable unset("ABT_ENV_THREAD_STACKSIZE", nullptr);
    {
        const Variable size("ABT_THREAD_STACKSIZE", "65536");
        EXPECT_EQ(stack_bytes_of_a_run(), 65536u);
    }
    {
        const Variable size("ABT_THREAD_STACKSIZE", "131072");
        EXPECT_EQ(stack_bytes_of_a_run(), 131072u);
    }
    const Variable size("ABT_THREAD_STACKSIZE", nullptr);
    EXPECT_EQ(stack_bytes_of_a_run(), 16384u);
}

TEST(Init, variables_have_two_prefixes_of_which_the_shorter_wins) {
    const Variable longer("ABT_ENV_THREAD_STACKSIZE", "65536");
    {
        const Variable shorter("ABT_THREAD_STACKSIZE", nullptr);
        EXPECT_EQ(stack_bytes_of_a_run(), 65536u);
    }
    const Variable shorter("ABT_THREAD_STACKSIZE", "32768");
    EXPECT_EQ(stack_bytes_of_a_run(), 32768u);
}

TEST(Init, values_that_are_no_numbers_are_passed_over_and_small_ones_are_raised) {
    const Variable longer("ABT_ENV_THREAD_STACKSIZE", nullptr);
    {
        const Variable size("ABT_THREAD_STACKSIZE", "much");
        EXPECT_EQ(stack_bytes_of_a_run(), 16384u);
    }
    const Variable size("ABT_THREAD_STACKSIZE", "1");
    EXPECT_EQ(stack_bytes_of_a_run(), 512u);
}
