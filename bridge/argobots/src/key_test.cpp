// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values local to each work unit.
#include "core_test_support.hpp"

using namespace abt_test;

namespace {

class Key : public Argobots {};

std::atomic<int> destroyed{0};
void count_destroyed(void* value) { destroyed.fetch_add(*static_cast<int*>(value)); }

ABT_key new_key(void (*destructor)(void*) = nullptr) {
    ABT_key key = ABT_KEY_NULL;
    ok(ABT_key_create(destructor, &key));
    return key;
}

void* value_of(ABT_key key) {
    void* value = &destroyed;
    ok(ABT_key_get(key, &value));
    return value;
}

}   // namespace

TEST_F(Key, each_work_unit_has_a_value_of_its_own) {
    ABT_key key = new_key();
    int mine = 0;
    EXPECT_EQ(value_of(key), nullptr) << "none was set";
    ok(ABT_key_set(key, &mine));
    const auto check = [&] {
        int here = 0;
        EXPECT_EQ(value_of(key), nullptr);
        ok(ABT_key_set(key, &here));
        EXPECT_EQ(value_of(key), &here);
        ok(ABT_self_set_specific(key, nullptr));
        void* value = &here;
        ok(ABT_self_get_specific(key, &value));
        EXPECT_EQ(value, nullptr);
    };
    in_ult_of(own_pool(), check);
    in_tasklet_of(own_pool(), check);
    EXPECT_EQ(value_of(key), &mine);
    ok(ABT_key_free(&key));
    EXPECT_EQ(key, ABT_KEY_NULL);
}

TEST_F(Key, none_and_callers_that_are_no_work_units_are_refused) {
    ABT_key none = ABT_KEY_NULL, key = new_key();
    void* value = nullptr;
    EXPECT_EQ(ABT_key_free(&none), ABT_ERR_INV_KEY);
    EXPECT_EQ(ABT_key_set(none, nullptr), ABT_ERR_INV_KEY);
    EXPECT_EQ(ABT_key_get(none, &value), ABT_ERR_INV_KEY);
    EXPECT_EQ(ABT_self_set_specific(none, nullptr), ABT_ERR_INV_KEY);
    EXPECT_EQ(ABT_self_get_specific(none, &value), ABT_ERR_INV_KEY);
    EXPECT_EQ(ABT_thread_set_specific(self_thread(), none, nullptr), ABT_ERR_INV_KEY);
    EXPECT_EQ(ABT_thread_get_specific(self_thread(), none, &value), ABT_ERR_INV_KEY);
    EXPECT_EQ(ABT_thread_set_specific(ABT_THREAD_NULL, key, nullptr), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_get_specific(ABT_THREAD_NULL, key, &value), ABT_ERR_INV_THREAD);
    EXPECT_EQ(outside([&] { return ABT_key_set(key, &key); }), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(outside([&] { return ABT_key_get(key, &value); }), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(outside([&] { return ABT_self_set_specific(key, &key); }), ABT_ERR_INV_XSTREAM);
    EXPECT_EQ(outside([&] { return ABT_self_get_specific(key, &value); }), ABT_ERR_INV_XSTREAM);
    ok(ABT_key_free(&key));
}

TEST(KeyAfter, keys_serve_while_the_library_runs) {
    ok(ABT_init(0, nullptr));
    ABT_key key = new_key();
    ok(ABT_finalize());
    void* value = nullptr;
    EXPECT_EQ(ABT_key_set(key, nullptr), ABT_ERR_UNINITIALIZED);
    EXPECT_EQ(ABT_key_get(key, &value), ABT_ERR_UNINITIALIZED);
    ok(ABT_init(0, nullptr));
    ok(ABT_key_free(&key));
    ok(ABT_finalize());
}

TEST_F(Key, a_value_is_readable_after_the_end_of_its_unit_and_in_its_next_life) {
    ABT_key key = new_key();
    int first = 1;
    Body sets = [&] { ok(ABT_key_set(key, &first)); };
    Body looks = [&] { EXPECT_EQ(value_of(key), &first); };
    ABT_thread made = spawn(own_pool(), call_body, &sets);
    ok(ABT_thread_join(made));
    void* value = nullptr;
    ok(ABT_thread_get_specific(made, key, &value));
    EXPECT_EQ(value, &first);
    ok(ABT_thread_revive(own_pool(), call_body, &looks, &made));
    ok(ABT_thread_free(&made));
    ok(ABT_key_free(&key));
}

TEST_F(Key, destructors_are_called_when_a_unit_is_freed_and_not_before) {
    destroyed = 0;
    ABT_key key = new_key(count_destroyed), other = new_key(count_destroyed), silent = new_key();
    int one = 1, ten = 10;
    Body sets = [&] {
        ok(ABT_key_set(key, &one));
        ok(ABT_key_set(other, &ten));
        ok(ABT_key_set(silent, &ten));
    };
    ABT_thread made = spawn(own_pool(), call_body, &sets);
    ok(ABT_thread_join(made));
    EXPECT_EQ(destroyed.load(), 0);
    ok(ABT_thread_revive(own_pool(), nothing, nullptr, &made));
    ok(ABT_thread_join(made));
    EXPECT_EQ(destroyed.load(), 0);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(destroyed.load(), 11);
    for (ABT_key* each : {&key, &other, &silent}) ok(ABT_key_free(each));
}

TEST_F(Key, no_destructor_is_called_for_a_value_that_is_null) {
    destroyed = 0;
    ABT_key key = new_key(count_destroyed);
    int one = 1;
    in_ult_of(own_pool(), [&] {
        ok(ABT_key_set(key, &one));
        ok(ABT_key_set(key, nullptr));
    });
    EXPECT_EQ(destroyed.load(), 0);
    in_ult_of(own_pool(), [&] {
        int two = 2;
        ok(ABT_key_set(key, &two));
        ok(ABT_key_set(key, &one));
    });
    EXPECT_EQ(destroyed.load(), 1) << "of the last value";
    ok(ABT_key_free(&key));
}

TEST_F(Key, unnamed_units_and_tasklets_destroy_their_values_too) {
    destroyed = 0;
    static ABT_key key;
    static int one = 1;
    key = new_key(count_destroyed);
    const auto set = [](void*) { ok(ABT_key_set(key, &one)); };
    ok(ABT_thread_create(own_pool(), set, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
    ok(ABT_task_create(own_pool(), set, nullptr, nullptr));
    wait_until([] { return destroyed.load() == 2; });
    ABT_task named = ABT_TASK_NULL;
    ok(ABT_task_create(own_pool(), set, nullptr, &named));
    ok(ABT_task_free(&named));
    EXPECT_EQ(destroyed.load(), 3);
    ok(ABT_key_free(&key));
}

TEST_F(Key, values_and_their_destructors_outlive_the_key) {
    destroyed = 0;
    ABT_key key = new_key(count_destroyed);
    int one = 1;
    Body sets = [&] { ok(ABT_key_set(key, &one)); };
    ABT_thread made = spawn(own_pool(), call_body, &sets);
    ok(ABT_thread_join(made));
    ok(ABT_key_free(&key));
    EXPECT_EQ(destroyed.load(), 0);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(destroyed.load(), 1);
}

TEST_F(Key, a_new_key_never_finds_the_values_of_one_that_was_freed) {
    int one = 1;
    for (int i = 0; i < 100; ++i) {
        ABT_key key = new_key();
        EXPECT_EQ(value_of(key), nullptr);
        ok(ABT_key_set(key, &one));
        ok(ABT_key_free(&key));
    }
}

TEST_F(Key, many_keys_live_at_once) {
    constexpr std::size_t count = 100;
    std::vector<ABT_key> keys;
    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; ++i) keys.push_back(new_key());
    in_ult_of(own_pool(), [&] {
        for (std::size_t i = 0; i < count; ++i) ok(ABT_key_set(keys[i], &values[i]));
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(value_of(keys[i]), &values[i]);
        for (std::size_t i = 0; i < count; i += 2) ok(ABT_key_set(keys[i], nullptr));
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(value_of(keys[i]), i % 2 == 0 ? nullptr : &values[i]);
    });
    for (ABT_key& key : keys) ok(ABT_key_free(&key));
}

TEST_F(Key, values_are_set_and_read_for_others) {
    ABT_key key = new_key();
    ABT_pool pool = new_pool();
    int one = 1, two = 2;
    Body looks = [&] {
        EXPECT_EQ(value_of(key), &one);
        ok(ABT_key_set(key, &two));
    };
    ABT_thread made = spawn(pool, call_body, &looks);
    EXPECT_EQ(outside([&] { return ABT_thread_set_specific(made, key, &one); }), ABT_SUCCESS);
    run_all(pool);
    void* value = nullptr;
    EXPECT_EQ(outside([&] { return ABT_thread_get_specific(made, key, &value); }), ABT_SUCCESS);
    EXPECT_EQ(value, &two);
    ok(ABT_thread_free(&made));
    ABT_task task = ABT_TASK_NULL;
    ok(ABT_task_create(pool, nothing, nullptr, &task));
    ok(ABT_task_set_specific(task, key, &one));
    ok(ABT_task_get_specific(task, key, &value));
    EXPECT_EQ(value, &one);
    run_all(pool);
    ok(ABT_task_free(&task));
    ok(ABT_pool_free(&pool));
    ok(ABT_key_free(&key));
}

TEST_F(Key, several_os_threads_set_the_first_values_of_one_unit) {
    constexpr std::size_t keys_of_each = 20, threads = 4;
    ABT_pool pool = new_pool();
    for (int round = 0; round < 20; ++round) {
        std::vector<ABT_key> keys;
        for (std::size_t i = 0; i < keys_of_each * threads; ++i) keys.push_back(new_key());
        ABT_thread made = spawn(pool, nothing, nullptr);
        std::vector<std::thread> setters;
        for (std::size_t me = 0; me < threads; ++me) {
            setters.emplace_back([&, me] {
                for (std::size_t i = me; i < keys.size(); i += threads)
                    ok(ABT_thread_set_specific(made, keys[i], &keys[i]));
            });
        }
        for (auto& setter : setters) setter.join();
        for (ABT_key& key : keys) {
            void* value = nullptr;
            ok(ABT_thread_get_specific(made, key, &value));
            EXPECT_EQ(value, &key);
        }
        run_all(pool);
        ok(ABT_thread_free(&made));
        for (ABT_key& key : keys) ok(ABT_key_free(&key));
    }
    ok(ABT_pool_free(&pool));
}

TEST(KeyAtTheEnd, finalize_destroys_the_primary_ults_values) {
    destroyed = 0;
    int one = 1;
    ok(ABT_init(0, nullptr));
    ABT_key key = new_key(count_destroyed);
    ok(ABT_key_set(key, &one));
    ok(ABT_key_free(&key));
    EXPECT_EQ(destroyed.load(), 0);
    ok(ABT_finalize());
    EXPECT_EQ(destroyed.load(), 1);
}
