// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of the table: work units, and the calls of a unit on itself.
#include "refused.hpp"

using namespace refused;

namespace {

struct Attr {
    Attr() { ok(ABT_thread_attr_create(&handle)); }
    Attr(const Attr&) = delete;
    ~Attr() { ok(ABT_thread_attr_free(&handle)); }
    ABT_thread_attr handle = ABT_THREAD_ATTR_NULL;
};

void on_migration(ABT_thread, void*) {}

// ---- create, revive -----------------------------------------------------------------------------

// After a failure the handle is as the header says: null, or unchanged.
void creates(Try& t, const std::function<int(ABT_thread*)>& make, ABT_thread after_failure = ABT_THREAD_NULL) {
    ABT_thread handle = before<ABT_thread>();
    t([&] { return make(&handle); },
      [&] {
          const int result = ABT_thread_free(&handle);
          EXPECT_EQ(result, ABT_SUCCESS);
      },
      [&] { EXPECT_EQ(handle, after_failure); });
}

REFUSED(ABT_thread_create, memory) {
    creates(t, [](ABT_thread* made) {
        return ABT_thread_create(own_pool(), nothing, nullptr, ABT_THREAD_ATTR_NULL, made);
    });
    Attr attr;
    ok(ABT_thread_attr_set_stacksize(attr.handle, std::size_t{3} << 20));
    creates(t, [&](ABT_thread* made) { return ABT_thread_create(own_pool(), nothing, nullptr, attr.handle, made); });
    ok(ABT_thread_attr_set_callback(attr.handle, on_migration, nullptr));
    creates(t, [&](ABT_thread* made) { return ABT_thread_create(own_pool(), nothing, nullptr, attr.handle, made); });
    // Unnamed ULTs: none is lost.
    std::atomic<int> ran{0};
    t([&] { return ABT_thread_create(own_pool(), abt_test::add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr); });
    t([&] { return ABT_thread_create(own_pool(), abt_test::add_one, &ran, attr.handle, nullptr); });
    t.once([] { return ABT_thread_yield(); });   // here it begins, or finds no stack
    while (ran.load() != 2) ok(ABT_thread_yield());
    {
        UserPool user;
        ABT_thread handle = before<ABT_thread>();
        t([&] { return ABT_thread_create(user.handle, nothing, nullptr, ABT_THREAD_ATTR_NULL, &handle); },
          [&] {
              abt_test::run_all(user.handle);
              ok(ABT_thread_free(&handle));
          },
          [&] { EXPECT_EQ(handle, ABT_THREAD_NULL); });
    }
}
REFUSED(ABT_thread_create_to, memory) {
    Attr attr;
    ok(ABT_thread_attr_set_stacksize(attr.handle, std::size_t{3} << 20));
    creates(
        t, [&](ABT_thread* made) { return ABT_thread_create_to(own_pool(), nothing, nullptr, attr.handle, made); },
        before<ABT_thread>());
}
REFUSED(ABT_thread_create_on_xstream, memory) {
    Attr attr;
    ok(ABT_thread_attr_set_stacksize(attr.handle, std::size_t{3} << 20));
    creates(t, [&](ABT_thread* made) {
        return ABT_thread_create_on_xstream(own_xstream(), nothing, nullptr, attr.handle, made);
    });
}
REFUSED(ABT_thread_create_many, memory) {
    ABT_pool pools[3] = {own_pool(), own_pool(), own_pool()};
    void (*bodies[3])(void*) = {nothing, nothing, nothing};
    Attr attr;
    ok(ABT_thread_attr_set_stacksize(attr.handle, std::size_t{3} << 20));
    ABT_thread made[3] = {ABT_THREAD_NULL, ABT_THREAD_NULL, ABT_THREAD_NULL};
    const auto free_those = [&] {
        for (ABT_thread& one : made) {
            if (one != ABT_THREAD_NULL) ok(ABT_thread_free(&one));
        }
    };
    // the ULTs before the refused one exist
    t([&] { return ABT_thread_create_many(3, pools, bodies, nullptr, attr.handle, made); }, free_those, free_those);
}
REFUSED(ABT_thread_revive, memory) {
    UserPool user;
    Ended unit;
    t([&] { return ABT_thread_revive(own_pool(), nothing, nullptr, &unit.handle); },
      [&] { ok(ABT_thread_join(unit.handle)); });
    t([&] { return ABT_thread_revive(user.handle, nothing, nullptr, &unit.handle); },
      [&] {
          abt_test::run_all(user.handle);
          ok(ABT_thread_join(unit.handle));
      },
      [&] { EXPECT_EQ(abt_test::state_of(unit.handle), ABT_THREAD_STATE_TERMINATED); });
}
REFUSED(ABT_thread_revive_to, memory) {
    UserPool user;
    Ended unit;
    t([&] { return ABT_thread_revive_to(user.handle, nothing, nullptr, &unit.handle); }, [] {},
      [&] { EXPECT_EQ(abt_test::state_of(unit.handle), ABT_THREAD_STATE_TERMINATED); });
}
REFUSED(ABT_task_create, memory) {
    makes<ABT_task>(
        t, [](ABT_task* task) { return ABT_task_create(own_pool(), nothing, nullptr, task); }, ABT_task_free,
        ABT_TASK_NULL);
    constexpr int many = 40'000;   // more descriptors than are allocated from the system at once
    std::atomic<int> ran{0};
    for (int i = 0; i < many; ++i) t([&] { return ABT_task_create(own_pool(), abt_test::add_one, &ran, nullptr); });
    while (ran.load() != many) ok(ABT_thread_yield());
}
REFUSED(ABT_task_create_on_xstream, aid) {
    makes<ABT_task>(
        t, [](ABT_task* task) { return ABT_task_create_on_xstream(own_xstream(), nothing, nullptr, task); },
        ABT_task_free, ABT_TASK_NULL);
}
REFUSED(ABT_task_revive, nothing) {
    FreshTask task;
    ok(ABT_task_join(task.handle));
    t([&] { return ABT_task_revive(own_pool(), nothing, nullptr, &task.handle); },
      [&] { ok(ABT_task_join(task.handle)); });
}

// ---- join, free, cancel -------------------------------------------------------------------------

// A unit that found no stack has ended, and the caller gets the error.
void ended_or_told(int result) { EXPECT_TRUE(result == ABT_SUCCESS || result == ABT_ERR_MEM) << result; }

REFUSED(ABT_thread_join, aid) {
    Fresh unit;
    ended_or_told(t.once([&] { return ABT_thread_join(unit.handle); }));
    EXPECT_EQ(abt_test::state_of(unit.handle), ABT_THREAD_STATE_TERMINATED);
}
REFUSED(ABT_thread_free, aid) {
    Fresh unit;
    ended_or_told(t.once([&] { return ABT_thread_free(&unit.handle); }));
    EXPECT_EQ(unit.handle, ABT_THREAD_NULL);
}
REFUSED(ABT_thread_join_many, aid) {
    Fresh one, two;
    ABT_thread both[] = {one.handle, two.handle};
    ended_or_told(t.once([&] { return ABT_thread_join_many(2, both); }));
}
REFUSED(ABT_thread_free_many, aid) {
    ABT_thread both[] = {spawn(own_pool(), nothing, nullptr), spawn(own_pool(), nothing, nullptr)};
    ended_or_told(t.once([&] { return ABT_thread_free_many(2, both); }));
    EXPECT_EQ(both[0], ABT_THREAD_NULL);
    EXPECT_EQ(both[1], ABT_THREAD_NULL);
}
REFUSED(ABT_task_join, aid) {
    FreshTask task;
    t([&] { return ABT_task_join(task.handle); });
}
REFUSED(ABT_task_free, aid) {
    FreshTask task;
    t([&] { return ABT_task_free(&task.handle); });
}
REFUSED(ABT_thread_exit, nothing) {
    in_a_ult([&] {
        t.begin();
        ABT_thread_exit();
    });
    t.end();
}
REFUSED(ABT_thread_cancel, nothing) {
    Fresh unit;
    t([&] { return ABT_thread_cancel(unit.handle); });
}
REFUSED(ABT_task_cancel, nothing) {
    FreshTask task;
    t([&] { return ABT_task_cancel(task.handle); });
}

// A popped ULT, which stays in its pool if it finds no stack.
class Popped {
public:
    Popped() : pool_(new_pool()), handle(spawn(pool_, nothing, nullptr)) {
        EXPECT_EQ(abt_test::pop_from(pool_), handle);
    }
    Popped(const Popped&) = delete;
    ~Popped() {
        abt_test::run_all(pool_);
        const int result = ABT_thread_free(&handle);
        EXPECT_TRUE(result == ABT_SUCCESS || result == ABT_ERR_MEM) << result;
        ok(ABT_pool_free(&pool_));
    }

private:
    ABT_pool pool_;

public:
    ABT_thread handle;
};

// ---- yield, resume ------------------------------------------------------------------------------

REFUSED(ABT_thread_yield, aid) {
    Fresh unit;
    t([] { return ABT_thread_yield(); });
}
REFUSED(ABT_thread_yield_to, aid) {
    Fresh unit;
    t([&] { return ABT_thread_yield_to(unit.handle); });
}
REFUSED(ABT_thread_resume, nothing) {
    Suspended unit;
    t([&] { return ABT_thread_resume(unit.handle); }, [&] { ok(ABT_thread_join(unit.handle)); });
}
REFUSED(ABT_self_yield, aid) {
    Fresh unit;
    t([] { return ABT_self_yield(); });
}
REFUSED(ABT_self_yield_to, aid) {
    Popped unit;
    t([&] { return ABT_self_yield_to(unit.handle); });
}
REFUSED(ABT_self_resume_yield_to, nothing) {
    Suspended unit;
    t([&] { return ABT_self_resume_yield_to(unit.handle); });
}

// A tasklet resumes the primary ULT.
class Resumer {
public:
    Resumer()
        : self_(self_thread()),
          task_([](void* raw) { ok(ABT_thread_resume(static_cast<Resumer*>(raw)->self_)); }, this) {}

private:
    ABT_thread self_;
    FreshTask task_;
};

REFUSED(ABT_self_suspend, nothing) {
    Resumer resumer;
    t([] { return ABT_self_suspend(); });
}
REFUSED(ABT_self_suspend_to, aid) {
    Popped unit;
    Resumer resumer;
    t([&] { return ABT_self_suspend_to(unit.handle); });
}
REFUSED(ABT_self_resume_suspend_to, nothing) {
    Suspended unit;
    Resumer resumer;
    t([&] { return ABT_self_resume_suspend_to(unit.handle); });
}
REFUSED(ABT_self_exit, nothing) {
    in_a_ult([&] {
        t.begin();
        ABT_self_exit();
    });
    t.end();
}
REFUSED(ABT_self_exit_to, aid) {
    Popped unit;
    in_a_ult([&] {
        t.begin();
        ABT_self_exit_to(unit.handle);
    });
    t.end();
}
REFUSED(ABT_self_resume_exit_to, nothing) {
    Suspended unit;
    in_a_ult([&] {
        t.begin();
        ABT_self_resume_exit_to(unit.handle);
    });
    t.end();
}
REFUSED(ABT_self_schedule, aid) {
    const ABT_pool pool = new_pool();
    {
        Fresh unit(nothing, nullptr, pool);
        const ABT_thread popped = abt_test::pop_from(pool);
        t([&] { return ABT_self_schedule(popped, ABT_POOL_NULL); });
        abt_test::run_all(pool);   // a unit that found no stack waits there
    }
    ABT_pool pool_again = pool;
    ok(ABT_pool_free(&pool_again));
}

// ---- migration ----------------------------------------------------------------------------------

REFUSED(ABT_thread_migrate_to_xstream, memory) {
    Stream stream;
    Fresh unit;
    t([&] { return ABT_thread_migrate_to_xstream(unit.handle, stream.handle); });
    ok(ABT_thread_join(unit.handle));
}
REFUSED(ABT_thread_migrate_to_sched, memory) {
    Stream stream;
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_xstream_get_main_sched(stream.handle, &sched));
    Fresh unit;
    t([&] { return ABT_thread_migrate_to_sched(unit.handle, sched); });
    ok(ABT_thread_join(unit.handle));
}
REFUSED(ABT_thread_migrate_to_pool, memory) {
    Stream stream;
    Fresh unit;
    t([&] { return ABT_thread_migrate_to_pool(unit.handle, abt_test::pool_of(stream.handle)); });
    ok(ABT_thread_join(unit.handle));
}
REFUSED(ABT_thread_migrate, memory) {
    Stream stream;
    Fresh unit;
    t([&] { return ABT_thread_migrate(unit.handle); });
    ok(ABT_thread_join(unit.handle));
}
REFUSED(ABT_thread_set_callback, memory) {
    Fresh unit;
    t([&] { return ABT_thread_set_callback(unit.handle, on_migration, nullptr); });
}
REFUSED(ABT_thread_set_migratable, nothing) {
    Fresh unit;
    t([&] { return ABT_thread_set_migratable(unit.handle, ABT_FALSE); });
}
REFUSED(ABT_task_set_migratable, nothing) {
    FreshTask task;
    t([&] { return ABT_task_set_migratable(task.handle, ABT_FALSE); });
}

// ---- queries ------------------------------------------------------------------------------------

// Queries about a unit that need no memory.
template <class Value>
void asks(Try& t, int (*question)(ABT_thread, Value*)) {
    Fresh unit;
    Value value{};
    t([&] { return question(unit.handle, &value); });
}
template <class Value>
void asks_task(Try& t, int (*question)(ABT_task, Value*)) {
    FreshTask task;
    Value value{};
    t([&] { return question(task.handle, &value); });
}
template <class Value>
void asks_self(Try& t, int (*question)(Value*)) {
    Value value{};
    t([&] { return question(&value); });
}

REFUSED(ABT_thread_get_last_xstream, nothing) { asks(t, ABT_thread_get_last_xstream); }
REFUSED(ABT_thread_get_state, nothing) { asks(t, ABT_thread_get_state); }
REFUSED(ABT_thread_get_last_pool, nothing) { asks(t, ABT_thread_get_last_pool); }
REFUSED(ABT_thread_get_last_pool_id, nothing) { asks(t, ABT_thread_get_last_pool_id); }
REFUSED(ABT_thread_get_unit, nothing) { asks(t, ABT_thread_get_unit); }
REFUSED(ABT_thread_is_migratable, nothing) { asks(t, ABT_thread_is_migratable); }
REFUSED(ABT_thread_is_primary, nothing) { asks(t, ABT_thread_is_primary); }
REFUSED(ABT_thread_is_unnamed, nothing) { asks(t, ABT_thread_is_unnamed); }
REFUSED(ABT_thread_get_stacksize, nothing) { asks(t, ABT_thread_get_stacksize); }
REFUSED(ABT_thread_get_id, memory) { asks(t, ABT_thread_get_id); }
REFUSED(ABT_thread_get_arg, nothing) { asks(t, ABT_thread_get_arg); }
REFUSED(ABT_thread_get_thread_func, nothing) { asks(t, ABT_thread_get_thread_func); }
REFUSED(ABT_thread_equal, nothing) {
    Fresh one, two;
    ABT_bool equal = ABT_TRUE;
    t([&] { return ABT_thread_equal(one.handle, two.handle, &equal); });
}
REFUSED(ABT_thread_get_stack, nothing) {
    Fresh unit;
    void* address = nullptr;
    std::size_t bytes = 0;
    t([&] { return ABT_thread_get_stack(unit.handle, &address, &bytes); });
}
REFUSED(ABT_thread_set_arg, nothing) {
    Fresh unit;
    t([&] { return ABT_thread_set_arg(unit.handle, nullptr); });
}
REFUSED(ABT_thread_get_attr, memory) {
    Fresh unit;
    makes<ABT_thread_attr>(
        t, [&](ABT_thread_attr* attr) { return ABT_thread_get_attr(unit.handle, attr); }, ABT_thread_attr_free,
        before<ABT_thread_attr>());
}
REFUSED(ABT_thread_set_associated_pool, memory) {
    OwnPool from;
    UserPool to;
    Fresh unit(nothing, nullptr, from.handle);
    EXPECT_EQ(abt_test::pop_from(from.handle), unit.handle);
    t([&] { return ABT_thread_set_associated_pool(unit.handle, to.handle); }, [] {},
      [&] {
          ABT_pool pool = ABT_POOL_NULL;
          ok(ABT_thread_get_last_pool(unit.handle, &pool));
          EXPECT_EQ(pool, from.handle);
      });
    ok(ABT_pool_push_thread(from.handle, unit.handle));
    abt_test::run_all(from.handle);
}
REFUSED(ABT_thread_self, nothing) { asks_self(t, ABT_thread_self); }
REFUSED(ABT_thread_self_id, memory) { asks_self(t, ABT_thread_self_id); }

REFUSED(ABT_task_get_xstream, nothing) { asks_task(t, ABT_task_get_xstream); }
REFUSED(ABT_task_get_state, nothing) { asks_task(t, ABT_task_get_state); }
REFUSED(ABT_task_get_last_pool, nothing) { asks_task(t, ABT_task_get_last_pool); }
REFUSED(ABT_task_get_last_pool_id, nothing) { asks_task(t, ABT_task_get_last_pool_id); }
REFUSED(ABT_task_is_migratable, nothing) { asks_task(t, ABT_task_is_migratable); }
REFUSED(ABT_task_get_id, memory) { asks_task(t, ABT_task_get_id); }
REFUSED(ABT_task_get_arg, nothing) { asks_task(t, ABT_task_get_arg); }
REFUSED(ABT_task_equal, nothing) {
    FreshTask one, two;
    ABT_bool equal = ABT_TRUE;
    t([&] { return ABT_task_equal(one.handle, two.handle, &equal); });
}
REFUSED(ABT_task_self, nothing) {
    in_a_tasklet([&] { asks_self(t, ABT_task_self); });
}
REFUSED(ABT_task_self_id, memory) {
    in_a_tasklet([&] { asks_self(t, ABT_task_self_id); });
}

REFUSED(ABT_self_get_xstream, nothing) { asks_self(t, ABT_self_get_xstream); }
REFUSED(ABT_self_get_xstream_rank, nothing) { asks_self(t, ABT_self_get_xstream_rank); }
REFUSED(ABT_self_get_thread, nothing) { asks_self(t, ABT_self_get_thread); }
REFUSED(ABT_self_get_thread_id, memory) { asks_self(t, ABT_self_get_thread_id); }
REFUSED(ABT_self_get_type, nothing) { asks_self(t, ABT_self_get_type); }
REFUSED(ABT_self_is_primary, nothing) { asks_self(t, ABT_self_is_primary); }
REFUSED(ABT_self_on_primary_xstream, nothing) { asks_self(t, ABT_self_on_primary_xstream); }
REFUSED(ABT_self_is_unnamed, nothing) { asks_self(t, ABT_self_is_unnamed); }
REFUSED(ABT_self_get_last_pool, nothing) { asks_self(t, ABT_self_get_last_pool); }
REFUSED(ABT_self_get_last_pool_id, nothing) { asks_self(t, ABT_self_get_last_pool_id); }
REFUSED(ABT_self_get_unit, nothing) { asks_self(t, ABT_self_get_unit); }
REFUSED(ABT_self_get_arg, nothing) { asks_self(t, ABT_self_get_arg); }
REFUSED(ABT_self_get_thread_func, nothing) { asks_self(t, ABT_self_get_thread_func); }
REFUSED(ABT_self_set_arg, nothing) {
    t([] { return ABT_self_set_arg(nullptr); });
}
REFUSED(ABT_self_set_associated_pool, memory) {
    const ABT_pool home = own_pool();
    UserPool other;
    in_a_ult([&] {
        t([&] { return ABT_self_set_associated_pool(other.handle); }, [] {},
          [&] {
              ABT_pool pool = ABT_POOL_NULL;
              ok(ABT_self_get_last_pool(&pool));
              EXPECT_EQ(pool, home);
          });
        ok(ABT_self_set_associated_pool(home));
    });
}

// ---- attributes ---------------------------------------------------------------------------------

REFUSED(ABT_thread_attr_create, memory) {
    makes<ABT_thread_attr>(t, ABT_thread_attr_create, ABT_thread_attr_free, ABT_THREAD_ATTR_NULL);
}
REFUSED(ABT_thread_attr_free, nothing) {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ok(ABT_thread_attr_create(&attr));
    t([&] { return ABT_thread_attr_free(&attr); });
}
REFUSED(ABT_thread_attr_set_stack, nothing) {
    Attr attr;
    alignas(64) static char memory[65536];
    t([&] { return ABT_thread_attr_set_stack(attr.handle, memory, sizeof memory); });
}
REFUSED(ABT_thread_attr_get_stack, nothing) {
    Attr attr;
    void* address = nullptr;
    std::size_t bytes = 0;
    t([&] { return ABT_thread_attr_get_stack(attr.handle, &address, &bytes); });
}
REFUSED(ABT_thread_attr_set_stacksize, nothing) {
    Attr attr;
    t([&] { return ABT_thread_attr_set_stacksize(attr.handle, 65536); });
}
REFUSED(ABT_thread_attr_get_stacksize, nothing) {
    Attr attr;
    std::size_t bytes = 0;
    t([&] { return ABT_thread_attr_get_stacksize(attr.handle, &bytes); });
}
REFUSED(ABT_thread_attr_set_callback, nothing) {
    Attr attr;
    t([&] { return ABT_thread_attr_set_callback(attr.handle, on_migration, nullptr); });
}
REFUSED(ABT_thread_attr_set_migratable, nothing) {
    Attr attr;
    t([&] { return ABT_thread_attr_set_migratable(attr.handle, ABT_FALSE); });
}

}   // namespace
