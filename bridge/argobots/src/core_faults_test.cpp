// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Like faults_test.cpp, for objects that need streams, stacks and pools, and for ABT_init
// (Argobots' leakcheck).
#include "faults.hpp"
#include "user_pool.hpp"

#include <cstring>

using namespace faults;

namespace {

// Refuses each resource that `call` asks for in turn, until there are no more. After each refusal,
// and at the end, `call` succeeds and `undo` undoes it.
template <class Call, class Undo>
void refused_in_turn(const char* what, Call&& call, Undo&& undo) {
    ASSERT_EQ(call(), ABT_SUCCESS) << what;   // things that are made once are made now
    undo();
    for (int i = 0;; ++i) {
        ASSERT_LT(i, 300) << what;
        // a call that succeeds may leave memory that is kept for the next one; a call that fails
        // must not
        const long before = live;
        refused = false;
        until_refused = i;
        const int result = call();
        until_refused = -1;
        if (result == ABT_SUCCESS) {
            undo();   // nothing was refused, or the call can do without it
            if (!refused) return;
            continue;
        }
        EXPECT_TRUE(refused) << what;
        EXPECT_TRUE(result == ABT_ERR_MEM || result == ABT_ERR_SYS || result == ABT_ERR_OTHER)
            << what << ", " << i << ": " << result;
        EXPECT_LE(live, before) << what << ", " << i;   // less: memory of an ended stream was freed here
        ASSERT_EQ(call(), ABT_SUCCESS) << what << ", " << i;
        undo();
    }
}

void nothing(void*) {}
void ok(int result) { ASSERT_EQ(result, ABT_SUCCESS); }

// ---- a user-defined pool ------------------------------------------------------------------------

using namespace abt_test::user_pool;

ABT_pool new_user_pool() {
    waiting.reserve(64);
    ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
    ABT_pool pool = ABT_POOL_NULL;
    EXPECT_EQ(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool), ABT_SUCCESS);
    EXPECT_EQ(ABT_pool_user_def_free(&def), ABT_SUCCESS);
    return pool;
}

// ---- a user-defined scheduler -------------------------------------------------------------------

void run(ABT_sched sched) {
    ABT_pool pool = ABT_POOL_NULL;
    EXPECT_EQ(ABT_sched_get_pools(sched, 1, 0, &pool), ABT_SUCCESS);
    for (ABT_bool stop = ABT_FALSE; stop == ABT_FALSE;) {
        ABT_thread thread = ABT_THREAD_NULL;
        EXPECT_EQ(ABT_pool_pop_thread(pool, &thread), ABT_SUCCESS);
        if (thread != ABT_THREAD_NULL) {
            EXPECT_EQ(ABT_self_schedule(thread, ABT_POOL_NULL), ABT_SUCCESS);
        }
        EXPECT_EQ(ABT_sched_has_to_stop(sched, &stop), ABT_SUCCESS);
    }
}

class CoreFaults : public abt_test::Argobots {};

}   // namespace

TEST(InitFaults, WhatAbtInitIsRefusedItSaysAndTheNextOneSucceeds) {
    refused_in_turn(
        "ABT_init", [] { return ABT_init(0, nullptr); }, [] { ok(ABT_finalize()); });
}

TEST_F(CoreFaults, Streams) {
    ABT_xstream stream = ABT_XSTREAM_NULL;
    const auto free = [&] { ok(ABT_xstream_free(&stream)); };
    refused_in_turn(
        "ABT_xstream_create", [&] { return ABT_xstream_create(ABT_SCHED_NULL, &stream); }, free);
    refused_in_turn(
        "ABT_xstream_create_with_rank", [&] { return ABT_xstream_create_with_rank(ABT_SCHED_NULL, 7, &stream); }, free);
    for (const ABT_sched_predef predef : {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT}) {
        refused_in_turn(
            "ABT_xstream_create_basic",
            [&] { return ABT_xstream_create_basic(predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, &stream); }, free);
    }
    ok(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    ok(ABT_xstream_join(stream));
    refused_in_turn(
        "ABT_xstream_revive", [&] { return ABT_xstream_revive(stream); }, [&] { ok(ABT_xstream_join(stream)); });
    free();
}

TEST_F(CoreFaults, AStreamThatIsRefusedLeavesItsSchedulerAndPoolsToTheProgram) {
    ABT_sched_def def{};
    def.type = ABT_SCHED_TYPE_ULT;
    def.run = run;
    ABT_pool pool = ABT_POOL_NULL;
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    ok(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    ABT_xstream stream = ABT_XSTREAM_NULL;
    refused_in_turn(
        "ABT_xstream_create", [&] { return ABT_xstream_create(sched, &stream); },
        [&] { ok(ABT_xstream_free(&stream)); });
    ok(ABT_sched_free(&sched));
    ok(ABT_pool_free(&pool));
}

TEST_F(CoreFaults, SchedulersAndPools) {
    ABT_sched sched = ABT_SCHED_NULL;
    const auto free_sched = [&] { ok(ABT_sched_free(&sched)); };
    refused_in_turn(
        "ABT_sched_create_basic",
        [&] { return ABT_sched_create_basic(ABT_SCHED_PRIO, 0, nullptr, ABT_SCHED_CONFIG_NULL, &sched); }, free_sched);
    ABT_sched_def def{};
    def.run = run;
    ABT_pool none[2] = {ABT_POOL_NULL, ABT_POOL_NULL};
    refused_in_turn(
        "ABT_sched_create", [&] { return ABT_sched_create(&def, 2, none, ABT_SCHED_CONFIG_NULL, &sched); }, free_sched);
    ABT_pool pool = ABT_POOL_NULL;
    const auto free_pool = [&] { ok(ABT_pool_free(&pool)); };
    for (const ABT_pool_kind kind : {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS}) {
        refused_in_turn(
            "ABT_pool_create_basic",
            [&] { return ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool); }, free_pool);
    }
    ABT_pool_user_def user = ABT_POOL_USER_DEF_NULL;
    refused_in_turn(
        "ABT_pool_user_def_create",
        [&] { return ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &user); },
        [&] { ok(ABT_pool_user_def_free(&user)); });
    ok(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &user));
    refused_in_turn(
        "ABT_pool_create", [&] { return ABT_pool_create(user, ABT_POOL_CONFIG_NULL, &pool); }, free_pool);
    ok(ABT_pool_user_def_free(&user));
}

TEST_F(CoreFaults, MainSchedulers) {
    const ABT_xstream self = abt_test::own_xstream();
    refused_in_turn(
        "ABT_xstream_set_main_sched", [&] { return ABT_xstream_set_main_sched(self, ABT_SCHED_NULL); }, [] {});
    refused_in_turn(
        "ABT_xstream_set_main_sched_basic",
        [&] { return ABT_xstream_set_main_sched_basic(self, ABT_SCHED_PRIO, 0, nullptr); }, [] {});
}

TEST_F(CoreFaults, WorkUnits) {
    const ABT_pool pool = abt_test::own_pool(), user = new_user_pool();
    ABT_thread thread = ABT_THREAD_NULL;
    const auto free = [&] { ok(ABT_thread_free(&thread)); };
    refused_in_turn(
        "ABT_thread_create", [&] { return ABT_thread_create(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &thread); },
        free);
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    refused_in_turn(
        "ABT_thread_attr_create", [&] { return ABT_thread_attr_create(&attr); },
        [&] { ok(ABT_thread_attr_free(&attr)); });
    ok(ABT_thread_attr_create(&attr));
    ok(ABT_thread_attr_set_stacksize(attr, std::size_t{3} << 20));
    refused_in_turn(
        "ABT_thread_create, a stack", [&] { return ABT_thread_create(pool, nothing, nullptr, attr, &thread); }, free);
    refused_in_turn(
        "ABT_thread_create_to", [&] { return ABT_thread_create_to(pool, nothing, nullptr, attr, &thread); }, free);
    ok(ABT_thread_attr_free(&attr));
    refused_in_turn(
        "ABT_task_create", [&] { return ABT_task_create(pool, nothing, nullptr, &thread); }, free);
    refused_in_turn(
        "ABT_thread_create, a pool of one's own",
        [&] { return ABT_thread_create(user, nothing, nullptr, ABT_THREAD_ATTR_NULL, &thread); },
        [&] {
            ABT_thread popped = ABT_THREAD_NULL;
            ok(ABT_pool_pop_thread(user, &popped));
            ASSERT_EQ(popped, thread);
            ok(ABT_self_schedule(popped, ABT_POOL_NULL));
            free();
        });
    ok(ABT_pool_free(const_cast<ABT_pool*>(&user)));
}

TEST_F(CoreFaults, WhatHangsOnAUnit) {
    ABT_key key = ABT_KEY_NULL;
    refused_in_turn(
        "ABT_key_create", [&] { return ABT_key_create(nullptr, &key); }, [&] { ok(ABT_key_free(&key)); });
    ok(ABT_key_create(nullptr, &key));
    ABT_thread thread = ABT_THREAD_NULL;
    const ABT_pool pool = abt_test::own_pool();
    const auto of_a_new_unit = [&](const char* what, auto call) {
        ok(ABT_thread_create(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &thread));
        for (int i = 0;; ++i) {
            ASSERT_LT(i, 20) << what;
            until_refused = i;
            const int result = call();
            until_refused = -1;
            if (result == ABT_SUCCESS) break;
            EXPECT_EQ(result, ABT_ERR_MEM) << what;
        }
        ok(ABT_thread_free(&thread));
    };
    of_a_new_unit("ABT_thread_set_specific", [&] { return ABT_thread_set_specific(thread, key, &key); });
    of_a_new_unit("ABT_thread_set_callback", [&] {
        return ABT_thread_set_callback(
            thread, [](ABT_thread, void*) {}, nullptr);
    });
    of_a_new_unit("ABT_thread_get_attr", [&] {
        ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
        const int result = ABT_thread_get_attr(thread, &attr);
        if (result == ABT_SUCCESS) ok(ABT_thread_attr_free(&attr));
        return result;
    });
    of_a_new_unit("ABT_thread_get_id", [&] {
        ABT_unit_id id = 0;
        return ABT_thread_get_id(thread, &id);
    });
    ok(ABT_key_free(&key));
}
