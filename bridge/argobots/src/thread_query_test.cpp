// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of work units: numbers, arguments, functions, pools, streams, stacks; and the attributes
// that ULTs are created with.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core_test_support.hpp"

using namespace abt_test;

namespace {

class Query : public Argobots {};

std::size_t default_bytes() {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    std::size_t bytes = 0;
    ok(ABT_thread_attr_create(&attr));
    ok(ABT_thread_attr_get_stacksize(attr, &bytes));
    ok(ABT_thread_attr_free(&attr));
    return bytes;
}

std::size_t stack_bytes_of(ABT_thread thread) {
    std::size_t bytes = 77;
    ok(ABT_thread_get_stacksize(thread, &bytes));
    return bytes;
}

ABT_thread spawn_with(ABT_thread_attr attr, void (*body)(void*), void* argument) {
    ABT_thread made = ABT_THREAD_NULL;
    ok(ABT_thread_create(own_pool(), body, argument, attr, &made));
    return made;
}

// Writes to this many bytes of stack.
[[gnu::noinline]] void use_stack(std::size_t bytes) {
    volatile char* room = static_cast<char*>(__builtin_alloca(bytes));
    for (std::size_t i = 0; i < bytes; i += 64) room[i] = 1;
}

}   // namespace

TEST_F(Query, the_primary_ult_is_one) {
    ABT_bool primary = ABT_FALSE;
    ok(ABT_thread_is_primary(self_thread(), &primary));
    EXPECT_EQ(primary, ABT_TRUE);
    ABT_thread made = spawn(own_pool(), nothing, nullptr);
    ok(ABT_thread_is_primary(made, &primary));
    EXPECT_EQ(primary, ABT_FALSE);
    EXPECT_EQ(ABT_thread_is_primary(ABT_THREAD_NULL, &primary), ABT_ERR_INV_THREAD);
    ok(ABT_thread_free(&made));
}

TEST_F(Query, those_without_a_handle_are_unnamed) {
    ABT_bool unnamed = ABT_TRUE;
    ABT_thread made = spawn(own_pool(), nothing, nullptr);
    ok(ABT_thread_is_unnamed(made, &unnamed));
    EXPECT_EQ(unnamed, ABT_FALSE);
    EXPECT_EQ(ABT_thread_is_unnamed(ABT_THREAD_NULL, &unnamed), ABT_ERR_INV_THREAD);
    static std::atomic<int> seen;
    seen = 0;
    const auto look = [](void*) {
        ABT_bool flag = ABT_FALSE;
        ok(ABT_thread_is_unnamed(self_thread(), &flag));
        seen.fetch_add(flag);
    };
    ok(ABT_thread_create(own_pool(), look, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
    ok(ABT_task_create(own_pool(), look, nullptr, nullptr));
    ok(ABT_thread_free(&made));
    wait_until([] { return seen.load() == 2; });
}

TEST_F(Query, handles_are_compared_and_none_is_none_of_either_kind) {
    ABT_thread made = spawn(own_pool(), nothing, nullptr);
    ABT_bool same = ABT_FALSE;
    ok(ABT_thread_equal(made, made, &same));
    EXPECT_EQ(same, ABT_TRUE);
    ok(ABT_thread_equal(made, self_thread(), &same));
    EXPECT_EQ(same, ABT_FALSE);
    ok(ABT_thread_equal(made, ABT_THREAD_NULL, &same));
    EXPECT_EQ(same, ABT_FALSE);
    ok(ABT_thread_equal(ABT_THREAD_NULL, ABT_THREAD_NULL, &same));
    EXPECT_EQ(same, ABT_TRUE);
    ok(ABT_thread_equal(ABT_THREAD_NULL, ABT_TASK_NULL, &same));
    EXPECT_EQ(same, ABT_TRUE);
    ok(ABT_thread_free(&made));
}

TEST_F(Query, numbers_are_unique_and_stay) {
    std::vector<ABT_thread> made;
    std::vector<ABT_unit_id> ids;
    for (int i = 0; i < 50; ++i) made.push_back(spawn(own_pool(), nothing, nullptr));
    for (ABT_thread thread : made) {
        ABT_unit_id id = 0, again = 1;
        ok(ABT_thread_get_id(thread, &id));
        ok(ABT_thread_get_id(thread, &again));
        EXPECT_EQ(id, again);
        EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 0);
        ids.push_back(id);
    }
    ABT_unit_id id = 0;
    EXPECT_EQ(ABT_thread_get_id(ABT_THREAD_NULL, &id), ABT_ERR_INV_THREAD);
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
}

TEST_F(Query, an_argument_is_read_and_replaced_before_the_start) {
    std::atomic<int> first{0}, second{0};
    ABT_thread made = spawn(own_pool(), add_one, &first);
    void* argument = nullptr;
    ok(ABT_thread_get_arg(made, &argument));
    EXPECT_EQ(argument, static_cast<void*>(&first));
    ok(ABT_thread_set_arg(made, &second));
    ok(ABT_thread_get_arg(made, &argument));
    EXPECT_EQ(argument, static_cast<void*>(&second));
    ok(ABT_thread_join(made));
    EXPECT_EQ(first.load(), 0);
    EXPECT_EQ(second.load(), 1);
    ok(ABT_thread_revive(own_pool(), add_one, &first, &made));
    ok(ABT_thread_get_arg(made, &argument));
    EXPECT_EQ(argument, static_cast<void*>(&first));
    ok(ABT_thread_free(&made));
    EXPECT_EQ(ABT_thread_get_arg(ABT_THREAD_NULL, &argument), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_set_arg(ABT_THREAD_NULL, nullptr), ABT_ERR_INV_THREAD);
}

TEST_F(Query, the_function_is_told) {
    ABT_thread made = spawn(own_pool(), nothing, nullptr);
    void (*body)(void*) = nullptr;
    ok(ABT_thread_get_thread_func(made, &body));
    EXPECT_EQ(body, nothing);
    ok(ABT_thread_join(made));
    ok(ABT_thread_get_thread_func(made, &body));
    EXPECT_EQ(body, nothing);
    std::atomic<int> ran{0};
    ok(ABT_thread_revive(own_pool(), add_one, &ran, &made));
    ok(ABT_thread_get_thread_func(made, &body));
    EXPECT_EQ(body, add_one);
    EXPECT_EQ(ABT_thread_get_thread_func(ABT_THREAD_NULL, &body), ABT_ERR_INV_THREAD);
    ok(ABT_thread_free(&made));
}

TEST_F(Query, pools_and_streams_are_those_of_the_last_run) {
    Streams streams(1);
    ABT_thread made = spawn(streams.pool(0), nothing, nullptr);
    ABT_pool pool = ABT_POOL_NULL;
    ABT_xstream stream = ABT_XSTREAM_NULL;
    int id = -1, pool_id = -2, rank = -1;
    ok(ABT_thread_join(made));
    ok(ABT_thread_get_last_pool(made, &pool));
    EXPECT_EQ(pool, streams.pool(0));
    ok(ABT_thread_get_last_pool_id(made, &id));
    ok(ABT_pool_get_id(pool, &pool_id));
    EXPECT_EQ(id, pool_id);
    ok(ABT_thread_get_last_xstream(made, &stream));
    ok(ABT_xstream_get_rank(stream, &rank));
    EXPECT_EQ(rank, 1);
    ok(ABT_thread_get_last_xstream(self_thread(), &stream));
    EXPECT_EQ(stream, self_stream());
    ABT_pool idle = new_pool();
    ABT_thread waiting = spawn(idle, nothing, nullptr);
    ok(ABT_thread_get_last_xstream(waiting, &stream));
    EXPECT_EQ(stream, ABT_XSTREAM_NULL) << "it has not run yet";
    run_all(idle);
    ok(ABT_thread_get_last_xstream(waiting, &stream));
    EXPECT_EQ(stream, elsewhere() ? self_stream() : ABT_XSTREAM_NULL)
        << "no stream draws from its pool, and no note was taken";
    ABT_unit unit = ABT_UNIT_NULL;
    EXPECT_EQ(ABT_thread_get_last_pool(ABT_THREAD_NULL, &pool), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_get_last_pool_id(ABT_THREAD_NULL, &id), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_get_last_xstream(ABT_THREAD_NULL, &stream), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_get_unit(ABT_THREAD_NULL, &unit), ABT_ERR_INV_THREAD);
    ok(ABT_thread_free(&made));
    ok(ABT_thread_free(&waiting));
    ok(ABT_pool_free(&idle));
}

// ---- stacks: behaviour (o) ----------------------------------------------------------------------

TEST_F(Query, a_ult_has_the_stack_that_its_attribute_asks_for) {
    for (const std::size_t bytes : {default_bytes(), std::size_t{65536}, std::size_t{262144}, std::size_t{1} << 20}) {
        ABT_thread_attr attr = ABT_THREAD_ATTR_NULL, told = ABT_THREAD_ATTR_NULL;
        ok(ABT_thread_attr_create(&attr));
        ok(ABT_thread_attr_set_stacksize(attr, bytes));
        struct Room {
            std::size_t bytes;
            bool inside = false;
        } room{bytes};
        ABT_thread made = spawn_with(
            attr,
            [](void* raw) {
                auto& of = *static_cast<Room*>(raw);
                use_stack(of.bytes / 2);
                void* lowest = nullptr;
                std::size_t size = 0;
                ok(ABT_thread_get_stack(self_thread(), &lowest, &size));
                int here = 0;
                const auto address = reinterpret_cast<std::uintptr_t>(&here),
                           low = reinterpret_cast<std::uintptr_t>(lowest);
                of.inside = address >= low && address < low + size;
            },
            &room);
        EXPECT_EQ(stack_bytes_of(made), bytes);
        ok(ABT_thread_get_attr(made, &told));
        std::size_t told_bytes = 0;
        ok(ABT_thread_attr_get_stacksize(told, &told_bytes));
        EXPECT_EQ(told_bytes, bytes);
        ok(ABT_thread_attr_free(&told));
        ok(ABT_thread_attr_free(&attr));
        ok(ABT_thread_free(&made));
        EXPECT_TRUE(room.inside) << bytes;
    }
}

// Any size may be requested and is reported back; the unit gets at least as much as it needs.
TEST_F(Query, a_size_that_is_too_small_for_a_stack_is_taken) {
    if (abt_test::elsewhere()) GTEST_SKIP() << "a ULT gets as many bytes as it asks for there";
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{512}, std::size_t{1000}, std::size_t{5000}}) {
        ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
        ok(ABT_thread_attr_create(&attr));
        ok(ABT_thread_attr_set_stacksize(attr, bytes));
        std::atomic<int> ran{0};
        ABT_thread made = spawn_with(attr, add_one, &ran);
        EXPECT_EQ(stack_bytes_of(made), bytes);
        std::size_t told = 0;
        ok(ABT_thread_attr_get_stacksize(attr, &told));
        EXPECT_EQ(told, bytes);
        ok(ABT_thread_free(&made));
        EXPECT_EQ(ran.load(), 1);
        ok(ABT_thread_attr_free(&attr));
    }
}

TEST_F(Query, a_ult_runs_on_a_stack_of_the_programs) {
    constexpr std::size_t bytes = 131072;
    std::vector<char> memory(bytes + 64);
    char* const stack = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL, told = ABT_THREAD_ATTR_NULL;
    ok(ABT_thread_attr_create(&attr));
    ok(ABT_thread_attr_set_stack(attr, stack, bytes));
    void* address = nullptr;
    std::size_t size = 0;
    ok(ABT_thread_attr_get_stack(attr, &address, &size));
    EXPECT_EQ(address, static_cast<void*>(stack));
    EXPECT_EQ(size, bytes);
    char* seen = nullptr;
    Body looks = [&] {
        char here = 0;
        seen = &here;
        use_stack(bytes / 2);
    };
    ABT_thread made = spawn_with(attr, call_body, &looks);
    EXPECT_EQ(stack_bytes_of(made), bytes);
    ok(ABT_thread_get_stack(made, &address, &size));
    EXPECT_EQ(address, static_cast<void*>(stack));
    EXPECT_EQ(size, bytes);
    ok(ABT_thread_get_attr(made, &told));
    ok(ABT_thread_attr_get_stack(told, &address, &size));
    EXPECT_EQ(address, static_cast<void*>(stack));
    EXPECT_EQ(size, bytes);
    for (int life = 0; life < 3; ++life) {
        ok(ABT_thread_join(made));
        EXPECT_GE(seen, stack);
        EXPECT_LT(seen, stack + bytes);
        seen = nullptr;
        if (life != 2) ok(ABT_thread_revive(own_pool(), call_body, &looks, &made));
    }
    ok(ABT_thread_free(&made));
    std::memset(stack, 0, bytes);   // the program owns it again
    ok(ABT_thread_attr_free(&told));
    ok(ABT_thread_attr_free(&attr));
}

TEST_F(Query, the_primary_ult_and_tasklets_have_no_stack_of_their_own) {
    EXPECT_EQ(stack_bytes_of(self_thread()), 0u);
    ABT_task task = ABT_TASK_NULL;
    ok(ABT_task_create(own_pool(), nothing, nullptr, &task));
    EXPECT_EQ(stack_bytes_of(task), 0u);
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    EXPECT_EQ(ABT_thread_get_attr(task, &attr), ABT_ERR_INV_THREAD);
    std::size_t bytes = 0;
    void* address = nullptr;
    EXPECT_EQ(ABT_thread_get_stacksize(ABT_THREAD_NULL, &bytes), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_get_stack(ABT_THREAD_NULL, &address, &bytes), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_get_attr(ABT_THREAD_NULL, &attr), ABT_ERR_INV_THREAD);
    ok(ABT_task_free(&task));
}

TEST_F(Query, a_stack_below_its_middle_belongs_to_nobody_else) {
    std::atomic<int> ran{0};
    std::vector<ABT_thread> made;
    Body fills = [&] {
        use_stack(default_bytes() / 2);
        ok(ABT_self_yield());
        use_stack(default_bytes() / 2);
        ran.fetch_add(1);
    };
    for (int i = 0; i < 50; ++i) made.push_back(spawn(own_pool(), call_body, &fills));
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
    EXPECT_EQ(ran.load(), 50);
}

namespace {

bool can_be_written(void* page) {
    // The kernel probes the page for the test: it reads into the page from a pipe.
    int ends[2];
    if (pipe(ends) != 0) return true;
    const char byte = 0;
    bool written = write(ends[1], &byte, 1) == 1 && read(ends[0], page, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return written;
}

}   // namespace

TEST(QueryGuards, a_page_at_the_low_end_of_each_stack_is_guarded_when_asked_for) {
    setenv("ABT_STACK_OVERFLOW_CHECK", "mprotect_strict", 1);
    ok(ABT_init(0, nullptr));
    unsetenv("ABT_STACK_OVERFLOW_CHECK");
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    constexpr std::size_t bytes = 262144;
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (const int sort : {0, 1, 2}) {
        ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
        ok(ABT_thread_attr_create(&attr));
        if (sort == 1) ok(ABT_thread_attr_set_stacksize(attr, bytes));
        if (sort == 2) ok(ABT_thread_attr_set_stack(attr, memory, bytes));
        bool guarded = false;
        Body looks = [&] {
            void* lowest = nullptr;
            std::size_t size = 0;
            ok(ABT_thread_get_stack(self_thread(), &lowest, &size));
            const auto low = (reinterpret_cast<std::uintptr_t>(lowest) + page - 1) / page * page;
            // Weft's guards lie below the reported stack, so no byte of the stack is lost.
            for (const std::uintptr_t at : {low - page, low, low + page}) {
                if (sort == 2 && at < reinterpret_cast<std::uintptr_t>(memory)) continue;
                guarded = guarded || !can_be_written(reinterpret_cast<void*>(at));
            }
        };
        ABT_thread made = spawn_with(attr, call_body, &looks);
        ok(ABT_thread_free(&made));
        EXPECT_TRUE(guarded) << sort;
        ok(ABT_thread_attr_free(&attr));
    }
    EXPECT_TRUE(can_be_written(memory)) << "the guard is gone with its ULT";
    munmap(memory, bytes);
    ok(ABT_finalize());
}

// ---- attributes ---------------------------------------------------------------------------------

TEST_F(Query, an_attribute_says_the_defaults_and_what_was_set) {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ok(ABT_thread_attr_create(&attr));
    void* address = &attr;
    std::size_t bytes = 0;
    ok(ABT_thread_attr_get_stack(attr, &address, &bytes));
    EXPECT_EQ(address, nullptr);
    EXPECT_EQ(bytes, default_bytes());
    ok(ABT_thread_attr_set_stacksize(attr, 99 * 1024));
    ok(ABT_thread_attr_get_stacksize(attr, &bytes));
    EXPECT_EQ(bytes, 99u * 1024);
    alignas(8) char room[64];
    ok(ABT_thread_attr_set_stack(attr, room, 65536));
    ok(ABT_thread_attr_get_stack(attr, &address, &bytes));
    EXPECT_EQ(address, static_cast<void*>(room));
    EXPECT_EQ(bytes, 65536u);
    EXPECT_EQ(ABT_thread_attr_set_stack(attr, room + 1, 65536), ABT_ERR_INV_ARG);
    ok(ABT_thread_attr_set_stack(attr, nullptr, 32768));
    ok(ABT_thread_attr_get_stack(attr, &address, &bytes));
    EXPECT_EQ(address, nullptr);
    EXPECT_EQ(bytes, 32768u);
    ok(ABT_thread_attr_free(&attr));
    EXPECT_EQ(attr, ABT_THREAD_ATTR_NULL);
}

TEST_F(Query, attributes_that_are_none_are_refused) {
    ABT_thread_attr none = ABT_THREAD_ATTR_NULL;
    void* address = nullptr;
    std::size_t bytes = 0;
    EXPECT_EQ(ABT_thread_attr_free(&none), ABT_ERR_INV_THREAD_ATTR);
    EXPECT_EQ(ABT_thread_attr_set_stack(none, nullptr, 1), ABT_ERR_INV_THREAD_ATTR);
    EXPECT_EQ(ABT_thread_attr_get_stack(none, &address, &bytes), ABT_ERR_INV_THREAD_ATTR);
    EXPECT_EQ(ABT_thread_attr_set_stacksize(none, 1), ABT_ERR_INV_THREAD_ATTR);
    EXPECT_EQ(ABT_thread_attr_get_stacksize(none, &bytes), ABT_ERR_INV_THREAD_ATTR);
    EXPECT_EQ(ABT_thread_attr_set_callback(none, nullptr, nullptr), ABT_ERR_INV_THREAD_ATTR);
    EXPECT_EQ(ABT_thread_attr_set_migratable(none, ABT_TRUE), ABT_ERR_INV_THREAD_ATTR);
}

TEST_F(Query, an_attribute_says_whether_its_ults_migrate) {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL, told = ABT_THREAD_ATTR_NULL;
    ok(ABT_thread_attr_create(&attr));
    for (const ABT_bool may : {ABT_FALSE, ABT_TRUE}) {
        ok(ABT_thread_attr_set_migratable(attr, may));
        ABT_thread made = spawn_with(attr, nothing, nullptr);
        ABT_bool seen = !may;
        ok(ABT_thread_is_migratable(made, &seen));
        EXPECT_EQ(seen, may);
        // The attribute that a unit reports creates similar units.
        ok(ABT_thread_get_attr(made, &told));
        ABT_thread alike = spawn_with(told, nothing, nullptr);
        ok(ABT_thread_is_migratable(alike, &seen));
        EXPECT_EQ(seen, may);
        ok(ABT_thread_attr_free(&told));
        ok(ABT_thread_free(&made));
        ok(ABT_thread_free(&alike));
    }
    ok(ABT_thread_attr_free(&attr));
}
