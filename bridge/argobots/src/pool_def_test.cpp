// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// User-defined pools, with either kind of definition: which of their functions are called, how
// often and with which context bits, and units that move from one kind of pool to another.
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "core_test_support.hpp"

using namespace abt_test;

namespace {

using Contexts = std::vector<ABT_pool_context>;

struct Unit {
    ABT_thread thread;
    bool inside = false;
};

// Shared by both kinds: a queue, and a journal of calls.
class Queue {
public:
    std::atomic<int> created{0}, freed{0}, inits{0}, frees{0}, refusals_left{0};
    std::atomic<bool> same_value{false};   // the unit's value is the handle of its thread
    ABT_pool_config config_seen = ABT_POOL_CONFIG_NULL;
    int init_result = ABT_SUCCESS;

    Contexts pushed() const { return pushed_; }
    Contexts popped() const { return popped_; }
    void forget() { pushed_.clear(), popped_.clear(); }
    int alive() const { return created - freed; }

    ABT_unit create(ABT_thread thread) {
        if (refusals_left > 0) {
            refusals_left.fetch_sub(1);
            return ABT_UNIT_NULL;
        }
        created.fetch_add(1);
        return same_value ? reinterpret_cast<ABT_unit>(thread) : reinterpret_cast<ABT_unit>(new Unit{thread});
    }
    void destroy(ABT_unit unit) {
        freed.fetch_add(1);
        if (!same_value) delete reinterpret_cast<Unit*>(unit);
    }
    ABT_thread thread_of(ABT_unit unit) const {
        if (unit == ABT_UNIT_NULL) return ABT_THREAD_NULL;
        return same_value ? reinterpret_cast<ABT_thread>(unit) : reinterpret_cast<Unit*>(unit)->thread;
    }
    void push(ABT_unit unit, ABT_pool_context context) {
        const std::lock_guard guard(lock_);
        if (journal) pushed_.push_back(context);
        if (!same_value) reinterpret_cast<Unit*>(unit)->inside = true;
        units_.push_back(unit);
    }
    ABT_unit pop(ABT_pool_context context) {
        const std::lock_guard guard(lock_);
        if (journal) popped_.push_back(context);
        if (units_.empty()) return ABT_UNIT_NULL;
        ABT_unit unit = units_.front();
        units_.pop_front();
        if (!same_value) reinterpret_cast<Unit*>(unit)->inside = false;
        return unit;
    }
    int remove(ABT_unit unit) {
        const std::lock_guard guard(lock_);
        if (std::erase(units_, unit) == 0) return ABT_ERR_POOL;
        reinterpret_cast<Unit*>(unit)->inside = false;
        return ABT_SUCCESS;
    }
    std::size_t size() {
        const std::lock_guard guard(lock_);
        return units_.size();
    }
    template <class Show>
    void show(Show each) {
        const std::lock_guard guard(lock_);
        for (ABT_unit unit : units_) each(unit);
    }

    static Queue& of(ABT_pool pool) {
        void* data = nullptr;
        ok(ABT_pool_get_data(pool, &data));
        return *static_cast<Queue*>(data);
    }
    int begin(ABT_pool pool, ABT_pool_config config) {
        inits.fetch_add(1);
        config_seen = config;
        ok(ABT_pool_set_data(pool, this));
        return init_result;
    }
    void end() {
        frees.fetch_add(1);
        EXPECT_EQ(alive(), 0) << "a pool outlives its units";
    }

    std::atomic<bool> journal{true};

private:
    std::mutex lock_;
    std::deque<ABT_unit> units_;
    Contexts pushed_, popped_;
};

// The queue of the definition in use; p_init has no other way to find it.
Queue* making = nullptr;

// ---- the new kind -------------------------------------------------------------------------------

ABT_pool_user_def new_def(bool complete = true) {
    ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
    ok(ABT_pool_user_def_create(
        [](ABT_pool pool, ABT_thread thread) { return Queue::of(pool).create(thread); },
        [](ABT_pool pool, ABT_unit unit) { Queue::of(pool).destroy(unit); },
        [](ABT_pool pool) -> ABT_bool { return Queue::of(pool).size() == 0 ? ABT_TRUE : ABT_FALSE; },
        [](ABT_pool pool, ABT_pool_context context) { return Queue::of(pool).thread_of(Queue::of(pool).pop(context)); },
        [](ABT_pool pool, ABT_unit unit, ABT_pool_context context) { Queue::of(pool).push(unit, context); }, &def));
    ok(ABT_pool_user_def_set_init(def,
                                  [](ABT_pool pool, ABT_pool_config config) { return making->begin(pool, config); }));
    if (!complete) return def;
    ok(ABT_pool_user_def_set_free(def, [](ABT_pool pool) { Queue::of(pool).end(); }));
    ok(ABT_pool_user_def_set_get_size(def, [](ABT_pool pool) { return Queue::of(pool).size(); }));
    ok(ABT_pool_user_def_set_pop_wait(def, [](ABT_pool pool, double, ABT_pool_context context) {
        return Queue::of(pool).thread_of(Queue::of(pool).pop(context));
    }));
    ok(ABT_pool_user_def_set_pop_many(
        def, [](ABT_pool pool, ABT_thread* threads, size_t most, size_t* count, ABT_pool_context context) {
            Queue& queue = Queue::of(pool);
            *count = 0;
            while (*count < most && queue.size() != 0) threads[(*count)++] = queue.thread_of(queue.pop(context));
        }));
    ok(ABT_pool_user_def_set_push_many(
        def, [](ABT_pool pool, const ABT_unit* units, size_t count, ABT_pool_context context) {
            for (size_t i = 0; i < count; ++i) Queue::of(pool).push(units[i], context);
        }));
    ok(ABT_pool_user_def_set_print_all(def, [](ABT_pool pool, void* argument, void (*print)(void*, ABT_thread)) {
        Queue& queue = Queue::of(pool);
        queue.show([&](ABT_unit unit) { print(argument, queue.thread_of(unit)); });
    }));
    return def;
}

ABT_pool make_new(Queue& queue, bool complete = true, ABT_pool_config config = ABT_POOL_CONFIG_NULL) {
    making = &queue;
    ABT_pool_user_def def = new_def(complete);
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_pool_create(def, config, &pool));
    ok(ABT_pool_user_def_free(&def));   // the pool keeps a copy of what it needs
    return pool;
}

// ---- the old kind -------------------------------------------------------------------------------

Queue* old_units = nullptr;   // u_create_from_thread makes its units: it does not get the pool

ABT_pool_def old_def(bool complete = true) {
    ABT_pool_def def;
    std::memset(&def, 0xdd, sizeof def);   // ignored members may hold anything
    def.access = ABT_POOL_ACCESS_MPMC;
    def.u_is_in_pool = nullptr;
    def.u_create_from_thread = [](ABT_thread thread) { return old_units->create(thread); };
    def.u_free = [](ABT_unit* unit) { old_units->destroy(*unit); };
    def.p_init = [](ABT_pool pool, ABT_pool_config config) { return making->begin(pool, config); };
    def.p_get_size = [](ABT_pool pool) { return Queue::of(pool).size(); };
    def.p_push = [](ABT_pool pool, ABT_unit unit) { Queue::of(pool).push(unit, 0); };
    def.p_pop = [](ABT_pool pool) { return Queue::of(pool).pop(0); };
    def.p_pop_timedwait = nullptr;
    def.p_remove = nullptr;
    def.p_free = [](ABT_pool pool) -> int {
        Queue::of(pool).end();
        return ABT_SUCCESS;
    };
    def.p_print_all = nullptr;
    if (!complete) return def;
    def.u_is_in_pool = [](ABT_unit unit) -> ABT_bool {
        return reinterpret_cast<Unit*>(unit)->inside ? ABT_TRUE : ABT_FALSE;
    };
    def.p_pop_timedwait = [](ABT_pool pool, double) { return Queue::of(pool).pop(0); };
    def.p_remove = [](ABT_pool pool, ABT_unit unit) { return Queue::of(pool).remove(unit); };
    def.p_print_all = [](ABT_pool pool, void* argument, void (*print)(void*, ABT_unit)) {
        Queue::of(pool).show([&](ABT_unit unit) { print(argument, unit); });
        return ABT_SUCCESS;
    };
    return def;
}

ABT_pool make_old(Queue& queue, bool complete = true) {
    making = old_units = &queue;
    ABT_pool_def def = old_def(complete);
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_pool_create(&def, ABT_POOL_CONFIG_NULL, &pool));
    return pool;
}

ABT_unit unit_of(ABT_thread thread) {
    ABT_unit unit = ABT_UNIT_NULL;
    ok(ABT_thread_get_unit(thread, &unit));
    return unit;
}

ABT_thread thread_of(ABT_unit unit) {
    ABT_thread thread = ABT_THREAD_NULL;
    ok(ABT_unit_get_thread(unit, &thread));
    return thread;
}

ABT_pool pool_of_thread(ABT_thread thread) {
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_thread_get_last_pool(thread, &pool));
    return pool;
}

// The caller's handle and its unit map to each other.
void expect_mapped() {
    ABT_unit unit = ABT_UNIT_NULL;
    ok(ABT_self_get_unit(&unit));
    EXPECT_EQ(thread_of(unit), self_thread());
    EXPECT_EQ(unit_of(self_thread()), unit);
}

class UserPool : public Argobots {
protected:
    Queue queue;
    ABT_pool pool = ABT_POOL_NULL;

    void SetUp() override {
        Argobots::SetUp();
        pool = make_new(queue);
    }
    void TearDown() override {
        if (pool != ABT_POOL_NULL) {
            ok(ABT_pool_free(&pool));
            EXPECT_EQ(queue.frees.load(), 1);
        }
        EXPECT_EQ(queue.alive(), 0);
        Argobots::TearDown();
    }
};

class OldPool : public Argobots {
protected:
    Queue queue;
    ABT_pool pool = ABT_POOL_NULL;

    void SetUp() override {
        Argobots::SetUp();
        pool = make_old(queue);
    }
    void TearDown() override {
        ok(ABT_pool_free(&pool));
        EXPECT_EQ(queue.frees.load(), 1);
        EXPECT_EQ(queue.alive(), 0);
        Argobots::TearDown();
    }
};

}   // namespace

// ---- definitions --------------------------------------------------------------------------------

TEST_F(UserPool, definitions_that_are_none_are_refused) {
    ABT_pool_user_def none = ABT_POOL_USER_DEF_NULL;
    if (!elsewhere()) {   // Argobots does not check it
        ABT_pool made{};
        EXPECT_EQ(ABT_pool_create(none, ABT_POOL_CONFIG_NULL, &made), ABT_ERR_INV_POOL_USER_DEF);
        EXPECT_EQ(made, ABT_POOL_NULL);
    }
    EXPECT_EQ(ABT_pool_user_def_free(&none), ABT_ERR_INV_POOL_USER_DEF);
    EXPECT_EQ(ABT_pool_user_def_set_init(none, nullptr), ABT_ERR_INV_POOL_USER_DEF);
    EXPECT_EQ(ABT_pool_user_def_set_free(none, nullptr), ABT_ERR_INV_POOL_USER_DEF);
    EXPECT_EQ(ABT_pool_user_def_set_get_size(none, nullptr), ABT_ERR_INV_POOL_USER_DEF);
    EXPECT_EQ(ABT_pool_user_def_set_pop_wait(none, nullptr), ABT_ERR_INV_POOL_USER_DEF);
    EXPECT_EQ(ABT_pool_user_def_set_pop_many(none, nullptr), ABT_ERR_INV_POOL_USER_DEF);
    EXPECT_EQ(ABT_pool_user_def_set_push_many(none, nullptr), ABT_ERR_INV_POOL_USER_DEF);
    EXPECT_EQ(ABT_pool_user_def_set_print_all(none, nullptr), ABT_ERR_INV_POOL_USER_DEF);
    ABT_pool_user_def def = new_def();
    ok(ABT_pool_user_def_free(&def));
    EXPECT_EQ(def, ABT_POOL_USER_DEF_NULL);
}

TEST_F(UserPool, init_is_given_the_configuration_and_its_error_is_returned) {
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    ok(ABT_pool_config_create(&config));
    Queue other;
    ABT_pool made = make_new(other, true, config);
    EXPECT_EQ(other.config_seen, config);
    EXPECT_EQ(other.inits.load(), 1);
    ok(ABT_pool_free(&made));
    ok(ABT_pool_config_free(&config));
    EXPECT_EQ(queue.config_seen, ABT_POOL_CONFIG_NULL);
    Queue failing;
    failing.init_result = ABT_ERR_BARRIER;
    making = &failing;
    ABT_pool_user_def def = new_def();
    made = {};
    EXPECT_EQ(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &made), ABT_ERR_BARRIER);
    EXPECT_EQ(made, ABT_POOL_NULL);
    EXPECT_EQ(failing.frees.load(), 0);
    ok(ABT_pool_user_def_free(&def));
    ABT_pool_def old = old_def();
    made = {};
    EXPECT_EQ(ABT_pool_create(&old, ABT_POOL_CONFIG_NULL, &made), ABT_ERR_BARRIER);
    EXPECT_EQ(made, ABT_POOL_NULL);
}

TEST_F(UserPool, a_pool_needs_five_functions) {
    static std::deque<ABT_thread> ready;
    ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
    ok(ABT_pool_user_def_create(
        [](ABT_pool, ABT_thread thread) { return reinterpret_cast<ABT_unit>(thread); }, [](ABT_pool, ABT_unit) {},
        [](ABT_pool) -> ABT_bool { return ready.empty() ? ABT_TRUE : ABT_FALSE; },
        [](ABT_pool, ABT_pool_context) -> ABT_thread {
            if (ready.empty()) return ABT_THREAD_NULL;
            ABT_thread first = ready.front();
            ready.pop_front();
            return first;
        },
        [](ABT_pool, ABT_unit unit, ABT_pool_context) { ready.push_back(reinterpret_cast<ABT_thread>(unit)); }, &def));
    ABT_pool small = ABT_POOL_NULL;
    ok(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &small));
    ok(ABT_pool_user_def_free(&def));
    std::atomic<int> ran{0};
    ABT_thread made = spawn(small, add_one, &ran);
    ABT_bool empty = ABT_TRUE;
    ok(ABT_pool_is_empty(small, &empty));
    EXPECT_EQ(empty, ABT_FALSE);
    size_t size = 77;
    ABT_thread some[2] = {};
    ABT_unit unit = ABT_UNIT_NULL;
    EXPECT_EQ(ABT_pool_get_size(small, &size), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_get_total_size(small, &size), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_pop_threads(small, some, 2, &size), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_push_threads(small, some, 0), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_pop_wait_thread(small, some, 0.001), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_pop_wait(small, &unit, 0.001), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_print_all_threads(small, nullptr, [](void*, ABT_thread) {}), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_print_all(small, nullptr, [](void*, ABT_unit) {}), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_remove(small, unit_of(made)), ABT_ERR_POOL);
    EXPECT_EQ(ABT_thread_yield_to(made), ABT_ERR_POOL);
    ABT_sched sched = ABT_SCHED_NULL;
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    ok(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_config_var_end));
    ok(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &small, config, &sched));
    ok(ABT_sched_config_free(&config));
    EXPECT_EQ(ABT_sched_get_size(sched, &size), ABT_ERR_POOL);
    EXPECT_EQ(ABT_sched_get_total_size(sched, &size), ABT_ERR_POOL);
    ok(ABT_sched_free(&sched));
    run_all(small);
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&small));
}

TEST_F(UserPool, an_automatic_one_goes_with_its_stream) {
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    int automatic = 1;
    ok(ABT_pool_config_create(&config));
    ok(ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_pool_config_automatic.type, &automatic));
    Queue other;
    ABT_pool made = make_new(other, true, config);
    ok(ABT_pool_config_free(&config));
    ABT_xstream stream = stream_of(made);
    std::atomic<int> ran{0};
    ABT_thread thread = spawn(made, add_one, &ran);
    ok(ABT_thread_free(&thread));
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(other.frees.load(), 1);
    EXPECT_EQ(queue.frees.load(), 0);
}

// ---- counts and bits: behaviour (g) -------------------------------------------------------------

TEST_F(UserPool, a_work_unit_has_one_unit_for_all_its_lives_in_a_pool) {
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran);
    EXPECT_EQ(queue.created.load(), 1);
    EXPECT_EQ(queue.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_CREATE}));
    run_all(pool);
    EXPECT_EQ(queue.freed.load(), 0);
    for (int life = 2; life <= 4; ++life) {
        queue.forget();
        ok(ABT_thread_revive(pool, add_one, &ran, &made));
        EXPECT_EQ(queue.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_REVIVE}));
        run_all(pool);
        EXPECT_EQ(ran.load(), life);
    }
    EXPECT_EQ(queue.created.load(), 1);
    EXPECT_EQ(queue.freed.load(), 0);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(queue.freed.load(), 1);
}

TEST_F(UserPool, tasklets_have_units_too) {
    std::atomic<int> ran{0};
    ABT_task made = ABT_TASK_NULL;
    ok(ABT_task_create(pool, add_one, &ran, &made));
    run_all(pool);
    ok(ABT_task_revive(pool, add_one, &ran, &made));
    run_all(pool);
    EXPECT_EQ(ran.load(), 2);
    EXPECT_EQ(queue.created.load(), 1);
    EXPECT_EQ(queue.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_CREATE, ABT_POOL_CONTEXT_OP_THREAD_REVIVE}));
    ok(ABT_task_free(&made));
    EXPECT_EQ(queue.freed.load(), 1);
}

TEST_F(UserPool, unnamed_work_units_free_their_unit_when_they_end) {
    std::atomic<int> ran{0};
    ok(ABT_thread_create(pool, add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr));
    ok(ABT_task_create(pool, add_one, &ran, nullptr));
    run_all(pool);
    EXPECT_EQ(ran.load(), 2);
    EXPECT_EQ(queue.created.load(), 2);
    EXPECT_EQ(queue.freed.load(), 2);
}

TEST_F(UserPool, creating_or_reviving_a_child_that_begins_at_once_pushes_the_caller) {
    ABT_thread child = ABT_THREAD_NULL;
    std::atomic<int> ran{0};
    Body parent = [&] {
        queue.forget();
        ok(ABT_thread_create_to(pool, add_one, &ran, ABT_THREAD_ATTR_NULL, &child));
        EXPECT_EQ(ran.load(), 1);
        EXPECT_EQ(queue.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO}));
        queue.forget();
        ok(ABT_thread_revive_to(pool, add_one, &ran, &child));
        EXPECT_EQ(ran.load(), 2);
        EXPECT_EQ(queue.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO}));
    };
    ABT_thread made = spawn(pool, call_body, &parent);
    run_all(pool);
    EXPECT_EQ(queue.created.load(), 2);
    ok(ABT_thread_free(&made));
    ok(ABT_thread_free(&child));
}

TEST_F(UserPool, yielding_suspending_and_resuming_push_with_their_bits) {
    ABT_thread sleeper = ABT_THREAD_NULL, other = ABT_THREAD_NULL;
    Body sleeps = [] { ok(ABT_self_suspend()); };
    Body works = [&] {
        queue.forget();
        ok(ABT_thread_yield());
        ok(ABT_self_yield());
        EXPECT_EQ(queue.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_YIELD, ABT_POOL_CONTEXT_OP_THREAD_YIELD}));
        queue.forget();
        ok(ABT_thread_resume(sleeper));
        EXPECT_EQ(queue.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_RESUME}));
        queue.forget();
        EXPECT_EQ(pop_from(pool), sleeper);
        ok(ABT_self_yield_to(sleeper));
        EXPECT_EQ(queue.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO}));
        other = spawn(pool, call_body, &sleeps);
        ok(ABT_self_yield());
        EXPECT_EQ(state_of(other), ABT_THREAD_STATE_BLOCKED);
        queue.forget();
        ok(ABT_self_resume_yield_to(other));
        EXPECT_EQ(queue.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO}));
        EXPECT_EQ(state_of(other), ABT_THREAD_STATE_TERMINATED);
    };
    sleeper = spawn(pool, call_body, &sleeps);
    ABT_thread worker = spawn(pool, call_body, &works);
    run_all(pool);
    EXPECT_EQ(queue.created.load(), 3);
    for (ABT_thread* thread : {&sleeper, &worker, &other}) ok(ABT_thread_free(thread));
}

TEST_F(UserPool, bits_of_the_program_are_handed_on) {
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran), popped = ABT_THREAD_NULL;
    queue.forget();
    ok(ABT_pool_pop_thread_ex(pool, &popped, 777));
    EXPECT_EQ(popped, made);
    ok(ABT_pool_push_thread_ex(pool, popped, 777));
    std::size_t count = 0;
    ok(ABT_pool_pop_threads_ex(pool, &popped, 1, &count, 778));
    ok(ABT_pool_push_threads_ex(pool, &popped, 1, 778));
    ok(ABT_pool_pop_wait_thread_ex(pool, &popped, 0.1, 779));
    ok(ABT_pool_push_thread(pool, ABT_THREAD_NULL));
    ok(ABT_pool_push_thread(pool, popped));
    ok(ABT_pool_pop_thread(pool, &popped));
    ok(ABT_pool_push_threads(pool, &popped, 1));
    ok(ABT_pool_pop_threads(pool, &popped, 1, &count));
    ok(ABT_pool_push(pool, unit_of(popped)));
    ABT_unit unit = ABT_UNIT_NULL;
    ok(ABT_pool_pop(pool, &unit));
    EXPECT_EQ(unit, unit_of(made));
    EXPECT_EQ(queue.popped(), (Contexts{777, 778, 779, 0, 0, 0}));
    EXPECT_EQ(queue.pushed(), (Contexts{777, 778, 0, 0, 0}));
    ok(ABT_pool_push(pool, unit));
    run_all(pool);
    EXPECT_EQ(ran.load(), 1);
    EXPECT_EQ(queue.created.load(), 1);
    ok(ABT_thread_free(&made));
}

namespace {

// The context bits with which a scheduler with two user-defined pools pops from each.
std::vector<Contexts> bits_of(ABT_sched_predef predef, const std::vector<Queue*>& queues) {
    std::vector<ABT_pool> pools;
    for (Queue* queue : queues) pools.push_back(make_new(*queue));
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create_basic(predef, static_cast<int>(pools.size()), pools.data(), ABT_SCHED_CONFIG_NULL, &stream));
    std::atomic<int> ran{0};
    for (ABT_pool pool : pools) {
        ABT_thread made = spawn(pool, add_one, &ran);
        ok(ABT_thread_free(&made));
    }
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(ran.load(), static_cast<int>(queues.size()));
    for (ABT_pool& pool : pools) ok(ABT_pool_free(&pool));
    std::vector<Contexts> bits;
    for (const Queue* queue : queues) {
        Contexts seen = queue->popped();
        EXPECT_FALSE(seen.empty());
        std::sort(seen.begin(), seen.end());
        seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
        bits.push_back(seen);
    }
    return bits;
}

}   // namespace

TEST_F(UserPool, schedulers_that_own_their_pools_pop_without_bits) {
    for (const ABT_sched_predef predef : {ABT_SCHED_DEFAULT, ABT_SCHED_BASIC, ABT_SCHED_PRIO}) {
        Queue first, second;
        EXPECT_EQ(bits_of(predef, {&first, &second}), (std::vector<Contexts>{{0}, {0}})) << predef;
    }
    Queue first, second;
    bits_of(ABT_SCHED_BASIC_WAIT, {&first, &second});
}

TEST_F(UserPool, a_scheduler_that_steals_says_which_pool_is_its_own) {
    Queue first, second;
    EXPECT_EQ(bits_of(ABT_SCHED_RANDWS, {&first, &second}),
              (std::vector<Contexts>{{ABT_POOL_CONTEXT_OWNER_PRIMARY}, {ABT_POOL_CONTEXT_OWNER_SECONDARY}}));
}

TEST_F(UserPool, a_ult_that_migrates_frees_its_old_unit) {
    Queue target;
    ABT_pool to = make_new(target);
    int called = 0;
    Body goes = [&] {
        ok(ABT_thread_migrate_to_pool(self_thread(), to));
        ok(ABT_self_yield());
        expect_mapped();
    };
    ABT_thread made = spawn(pool, call_body, &goes);
    ok(ABT_thread_set_callback(
        made, [](ABT_thread, void* count) { ++*static_cast<int*>(count); }, &called));
    run_all(pool);
    EXPECT_EQ(called, 1);
    EXPECT_EQ(queue.alive(), 0);
    EXPECT_EQ(target.created.load(), 1);
    EXPECT_EQ(target.pushed().size(), 1u);
    run_all(to);
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&to));
}

TEST_F(UserPool, a_ready_unit_that_migrates_is_pushed_with_its_bit) {
    Queue target;
    ABT_pool to = make_new(target);
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran);
    ok(ABT_thread_migrate_to_pool(made, to));
    run_all(pool);
    EXPECT_EQ(ran.load(), 0);
    EXPECT_EQ(queue.alive(), 0);
    EXPECT_EQ(target.created.load(), 1);
    EXPECT_EQ(target.pushed(), (Contexts{ABT_POOL_CONTEXT_OP_THREAD_MIGRATE}));
    run_all(to);
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&to));
}

TEST_F(UserPool, a_unit_may_have_the_value_of_its_threads_handle) {
    Queue other;
    other.same_value = true;
    ABT_pool plain = make_new(other);
    Body yields = [] {
        expect_mapped();
        ok(ABT_self_yield());
        expect_mapped();
    };
    std::vector<ABT_thread> made;
    for (int i = 0; i < 10; ++i) made.push_back(spawn(plain, call_body, &yields));
    for (ABT_thread thread : made) EXPECT_EQ(static_cast<void*>(unit_of(thread)), static_cast<void*>(thread));
    run_all(plain);
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
    EXPECT_EQ(other.created.load(), 10);
    EXPECT_EQ(other.alive(), 0);
    ok(ABT_pool_free(&plain));
}

TEST_F(UserPool, pools_whose_units_are_handles_exchange_them) {
    Queue one, two;
    one.same_value = two.same_value = true;
    ABT_pool first = make_new(one), second = make_new(two);
    ABT_thread made = spawn(first, nothing, nullptr);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(pop_from(first), made);
        ok(ABT_pool_push_thread(second, made));
        EXPECT_EQ(thread_of(unit_of(made)), made);
        EXPECT_EQ(pop_from(second), made);
        ok(ABT_pool_push_thread(first, made));
        EXPECT_EQ(thread_of(unit_of(made)), made);
    }
    EXPECT_EQ(one.created.load(), 6);
    EXPECT_EQ(one.alive(), 1);
    EXPECT_EQ(two.alive(), 0);
    run_all(first);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&first));
    ok(ABT_pool_free(&second));
}

// ---- a pool that creates no unit ----------------------------------------------------------------

namespace {

bool refused(int error) { return error == ABT_ERR_OTHER || error == ABT_ERR_UNIT; }

}   // namespace

TEST_F(UserPool, a_creation_fails_when_the_pool_makes_no_unit_and_can_be_repeated) {
    std::atomic<int> ran{0};
    ABT_thread made{};
    queue.refusals_left = 1;
    EXPECT_TRUE(refused(ABT_thread_create(pool, add_one, &ran, ABT_THREAD_ATTR_NULL, &made)));
    EXPECT_EQ(made, ABT_THREAD_NULL);
    queue.refusals_left = 1;
    EXPECT_TRUE(refused(ABT_thread_create(pool, add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr)));
    ABT_task task{};
    queue.refusals_left = 1;
    EXPECT_TRUE(refused(ABT_task_create(pool, add_one, &ran, &task)));
    EXPECT_TRUE(task == ABT_TASK_NULL || task == ABT_THREAD_NULL);
    Body parent = [&] {
        ABT_thread child = self_thread();
        queue.refusals_left = 1;
        EXPECT_TRUE(refused(ABT_thread_create_to(pool, add_one, &ran, ABT_THREAD_ATTR_NULL, &child)));
        EXPECT_EQ(child, self_thread()) << "untouched";
    };
    ABT_thread caller = spawn(pool, call_body, &parent);
    run_all(pool);
    ok(ABT_thread_free(&caller));
    EXPECT_EQ(ran.load(), 0);
    ok(ABT_thread_create(pool, add_one, &ran, ABT_THREAD_ATTR_NULL, &made));
    run_all(pool);
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_thread_free(&made));
}

TEST_F(UserPool, a_unit_that_the_pool_refuses_stays_where_it_was) {
    std::atomic<int> ran{0};
    ABT_pool plain = new_pool();
    ABT_thread made = spawn(plain, add_one, &ran);
    EXPECT_EQ(pop_from(plain), made);
    queue.refusals_left = 1;
    EXPECT_TRUE(refused(ABT_pool_push_thread(pool, made)));
    EXPECT_EQ(pool_of_thread(made), plain);
    queue.refusals_left = 1;
    EXPECT_TRUE(refused(ABT_thread_set_associated_pool(made, pool)));
    EXPECT_EQ(pool_of_thread(made), plain);
    queue.refusals_left = 1;
    EXPECT_TRUE(refused(ABT_self_schedule(made, pool)));
    queue.refusals_left = 1;
    EXPECT_TRUE(refused(ABT_xstream_run_unit(unit_of(made), pool)));
    queue.refusals_left = 1;
    EXPECT_TRUE(refused(ABT_pool_push(pool, unit_of(made))));
    EXPECT_EQ(ran.load(), 0);
    EXPECT_EQ(thread_of(unit_of(made)), made);
    ok(ABT_pool_push_thread(plain, made));
    run_all(plain);
    EXPECT_EQ(ran.load(), 1);
    queue.refusals_left = 1;
    EXPECT_TRUE(refused(ABT_thread_revive(pool, add_one, &ran, &made)));
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_thread_revive(pool, add_one, &ran, &made));
    run_all(pool);
    EXPECT_EQ(ran.load(), 2);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&plain));
    in_ult_of(own_pool(), [&] {
        queue.refusals_left = 1;
        EXPECT_TRUE(refused(ABT_self_set_associated_pool(pool)));
        ok(ABT_self_yield());
        expect_mapped();
    });
}

// ---- the old kind -------------------------------------------------------------------------------

TEST_F(OldPool, members_that_are_not_looked_at_may_hold_anything) {
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran);
    ABT_task task = ABT_TASK_NULL;
    ok(ABT_task_create(pool, add_one, &ran, &task));
    EXPECT_EQ(size_of(pool), 2u);
    run_all(pool);
    EXPECT_EQ(ran.load(), 2);
    EXPECT_EQ(queue.created.load(), 2);
    ok(ABT_thread_free(&made));
    ok(ABT_task_free(&task));
    EXPECT_EQ(queue.freed.load(), 2);
    ABT_pool_access access{};
    ok(ABT_pool_get_access(pool, &access));
    EXPECT_EQ(access, ABT_POOL_ACCESS_MPMC);
}

TEST_F(OldPool, a_definition_is_copied_and_its_optional_functions_may_be_missing) {
    Queue other;
    ABT_pool small = make_old(other, false);   // the definition no longer exists
    std::atomic<int> ran{0};
    ABT_thread made = spawn(small, add_one, &ran);
    ABT_unit unit = ABT_UNIT_NULL;
    EXPECT_EQ(size_of(small), 1u);
    EXPECT_EQ(ABT_pool_remove(small, unit_of(made)), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_print_all(small, nullptr, [](void*, ABT_unit) {}), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_print_all_threads(small, nullptr, [](void*, ABT_thread) {}), ABT_ERR_POOL);
    EXPECT_EQ(ABT_pool_pop_wait(small, &unit, 0.001), ABT_ERR_POOL);
    EXPECT_EQ(ABT_thread_yield_to(made), ABT_ERR_POOL);
    run_all(small);
    EXPECT_EQ(ran.load(), 1);
    ok(ABT_thread_free(&made));
    ok(ABT_pool_free(&small));
    old_units = &queue;
}

TEST_F(OldPool, each_of_its_functions_is_used) {
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran), second = spawn(pool, add_one, &ran);
    std::vector<ABT_thread> shown;
    ok(ABT_pool_print_all(pool, &shown, [](void* to, ABT_unit unit) {
        static_cast<std::vector<ABT_thread>*>(to)->push_back(thread_of(unit));
    }));
    EXPECT_EQ(shown, (std::vector<ABT_thread>{made, second}));
    ok(ABT_pool_remove(pool, unit_of(made)));
    EXPECT_EQ(size_of(pool), 1u);
    ok(ABT_pool_push(pool, unit_of(made)));
    ABT_unit unit = ABT_UNIT_NULL;
    ok(ABT_pool_pop(pool, &unit));
    EXPECT_EQ(unit, unit_of(second));
    ok(ABT_pool_push(pool, unit));
    EXPECT_EQ(size_of(pool), 2u);
    run_all(pool);
    EXPECT_EQ(ran.load(), 2);
    ok(ABT_thread_free(&made));
    ok(ABT_thread_free(&second));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_F(OldPool, the_deprecated_wait_calls_the_old_function) {
    ABT_thread made = spawn(pool, nothing, nullptr);
    ABT_unit unit = ABT_UNIT_NULL;
    ok(ABT_pool_pop_timedwait(pool, &unit, ABT_get_wtime() + 1));
    EXPECT_EQ(unit, unit_of(made));
    ok(ABT_pool_push(pool, unit));
    run_all(pool);
    ok(ABT_thread_free(&made));
    Queue fresh;
    ABT_pool other = make_new(fresh);
    EXPECT_EQ(ABT_pool_pop_timedwait(other, &unit, ABT_get_wtime()), ABT_ERR_POOL);
    ok(ABT_pool_free(&other));
}
#pragma GCC diagnostic pop

TEST_F(OldPool, yield_to_removes_its_target) {
    std::vector<int> order;
    ABT_thread third = ABT_THREAD_NULL;
    Body one = [&] {
        order.push_back(1);
        ok(ABT_thread_yield_to(third));
        order.push_back(4);
    };
    Body two = [&] { order.push_back(2); }, three = [&] { order.push_back(3); };
    ABT_thread first = spawn(pool, call_body, &one), second = spawn(pool, call_body, &two);
    third = spawn(pool, call_body, &three);
    run_all(pool);
    EXPECT_EQ(order, (std::vector<int>{1, 3, 2, 4}));
    for (ABT_thread* thread : {&first, &second, &third}) ok(ABT_thread_free(thread));
}

TEST_F(OldPool, a_stream_draws_from_it) {
    ABT_xstream stream = stream_of(pool);
    std::atomic<int> ran{0};
    {
        Units units;
        for (int i = 0; i < 50; ++i) {
            units.ult(pool, [&] {
                expect_mapped();
                ok(ABT_self_yield());
                ran.fetch_add(1);
            });
        }
    }
    EXPECT_EQ(ran.load(), 50);
    EXPECT_EQ(queue.created.load(), 50);
    ok(ABT_xstream_free(&stream));
}

// ---- from one kind of pool to another: behaviour (h) --------------------------------------------

namespace {

// A pool of each kind, and a ULT that moves between them.
class Hops : public Argobots {
protected:
    Queue one, two, old_one;
    std::vector<ABT_pool> pools;

    void SetUp() override {
        Argobots::SetUp();
        pools = {new_pool(),
                 make_new(one),
                 make_old(old_one),
                 make_new(two),
                 new_pool(ABT_POOL_FIFO_WAIT),
                 new_pool(ABT_POOL_RANDWS)};
        two.same_value = true;
    }
    void TearDown() override {
        for (ABT_pool& pool : pools) ok(ABT_pool_free(&pool));
        for (const Queue* queue : {&one, &two, &old_one}) EXPECT_EQ(queue->alive(), 0);
        Argobots::TearDown();
    }
    // The number of live units of user-defined pools.
    int units_alive() const { return one.alive() + two.alive() + old_one.alive(); }
    bool has_units(ABT_pool pool) const { return pool == pools[1] || pool == pools[2] || pool == pools[3]; }
    // The ULT's next pool; over the sequence, every kind follows every other kind.
    ABT_pool stop(std::size_t number) const {
        constexpr std::size_t route[] = {0, 1, 2, 3, 1, 0, 2, 4, 3, 5, 1, 3, 2, 0, 3, 4, 1, 5, 2, 1};
        return pools[route[number % std::size(route)]];
    }
    static constexpr std::size_t stops = 40;
};

}   // namespace

TEST_F(Hops, a_work_unit_is_pushed_to_pools_of_all_sorts) {
    std::atomic<int> ran{0};
    ABT_thread made = spawn(stop(0), add_one, &ran);
    ABT_task task = ABT_TASK_NULL;
    ok(ABT_task_create(stop(0), add_one, &ran, &task));
    for (std::size_t i = 0; i < stops; ++i) {
        ABT_thread popped[2] = {pop_from(stop(i)), pop_from(stop(i))};
        for (ABT_thread thread : popped) {
            EXPECT_TRUE(thread == made || thread == task);
            i % 3 == 0 ? ok(ABT_pool_push(stop(i + 1), unit_of(thread)))
                       : ok(ABT_pool_push_thread(stop(i + 1), thread));
            EXPECT_EQ(thread_of(unit_of(thread)), thread);
            EXPECT_EQ(pool_of_thread(thread), stop(i + 1));
        }
        EXPECT_EQ(units_alive(), has_units(stop(i + 1)) ? 2 : 0);
    }
    run_all(stop(stops));
    EXPECT_EQ(ran.load(), 2);
    ok(ABT_thread_free(&made));
    ok(ABT_task_free(&task));
    EXPECT_EQ(units_alive(), 0);
}

TEST_F(Hops, a_ult_belongs_to_another_pool_each_time_it_yields) {
    std::size_t at = 0;
    Body hops = [&] {
        for (; at < stops;) {
            expect_mapped();
            ok(ABT_self_set_associated_pool(stop(at + 1)));
            expect_mapped();
            ++at;
            ok(ABT_self_yield());
            EXPECT_EQ(pool_of_thread(self_thread()), stop(at));
        }
    };
    ABT_thread made = spawn(stop(0), call_body, &hops);
    while (state_of(made) != ABT_THREAD_STATE_TERMINATED) {
        EXPECT_EQ(size_of(stop(at)), 1u);
        ok(ABT_self_schedule(pop_from(stop(at)), ABT_POOL_NULL));
    }
    EXPECT_EQ(at, stops);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(units_alive(), 0);
}

TEST_F(Hops, whoever_runs_a_unit_says_where_it_belongs) {
    Body yields = [] {
        for (std::size_t i = 0; i < stops; ++i) {
            expect_mapped();
            ok(ABT_self_yield());
        }
    };
    ABT_thread made = spawn(stop(0), call_body, &yields);
    for (std::size_t i = 0; i < stops; ++i) {
        EXPECT_EQ(pop_from(stop(i)), made);
        i % 2 == 0 ? ok(ABT_xstream_run_unit(unit_of(made), stop(i + 1))) : ok(ABT_self_schedule(made, stop(i + 1)));
        EXPECT_EQ(size_of(stop(i + 1)), 1u);
        EXPECT_EQ(units_alive(), has_units(stop(i + 1)) ? 1 : 0);
    }
    EXPECT_EQ(pop_from(stop(stops)), made);
    ok(ABT_self_schedule(made, ABT_POOL_NULL));
    EXPECT_EQ(state_of(made), ABT_THREAD_STATE_TERMINATED);
    ok(ABT_thread_free(&made));
    EXPECT_EQ(units_alive(), 0);
}

TEST_F(Hops, a_popped_unit_is_given_another_pool) {
    ABT_thread made = spawn(stop(0), nothing, nullptr);
    EXPECT_EQ(pop_from(stop(0)), made);
    for (std::size_t i = 1; i < stops; ++i) {
        ok(ABT_thread_set_associated_pool(made, stop(i)));
        EXPECT_EQ(thread_of(unit_of(made)), made);
        EXPECT_EQ(units_alive(), has_units(stop(i)) ? 1 : 0);
    }
    EXPECT_EQ(ABT_thread_set_associated_pool(ABT_THREAD_NULL, stop(0)), ABT_ERR_INV_THREAD);
    EXPECT_EQ(ABT_thread_set_associated_pool(made, ABT_POOL_NULL), ABT_ERR_INV_POOL);
    ok(ABT_self_schedule(made, ABT_POOL_NULL));
    ok(ABT_thread_free(&made));
    EXPECT_EQ(units_alive(), 0);
}

TEST_F(Hops, a_work_unit_is_revived_in_another_pool) {
    std::atomic<int> ran{0};
    ABT_thread made = spawn(stop(0), add_one, &ran);
    run_all(stop(0));
    for (std::size_t i = 1; i < stops; ++i) {
        ok(ABT_thread_revive(stop(i), add_one, &ran, &made));
        EXPECT_EQ(thread_of(unit_of(made)), made);
        EXPECT_EQ(units_alive(), has_units(stop(i)) ? 1 : 0);
        run_all(stop(i));
    }
    EXPECT_EQ(ran.load(), static_cast<int>(stops));
    ok(ABT_thread_free(&made));
    EXPECT_EQ(units_alive(), 0);
}

TEST_F(Hops, streams_draw_from_pools_of_all_sorts_while_ults_hop) {
    std::vector<ABT_xstream> streams;
    for (Queue* queue : {&one, &two, &old_one}) queue->journal = false;
    for (int i = 0; i < 2; ++i) {
        ABT_xstream stream = ABT_XSTREAM_NULL;
        // Five pools: the last one allows one owner only.
        ok(ABT_xstream_create_basic(ABT_SCHED_BASIC, 5, pools.data(), ABT_SCHED_CONFIG_NULL, &stream));
        streams.push_back(stream);
    }
    std::atomic<int> ran{0};
    {
        Units units;
        for (std::size_t me = 0; me < 40; ++me) {
            units.ult(pools[me % 5], [&, me] {
                for (std::size_t i = 0; i < 20; ++i) {
                    ok(ABT_self_set_associated_pool(pools[(me + i) % 5]));
                    expect_mapped();
                    ok(ABT_self_yield());
                    expect_mapped();
                }
                ran.fetch_add(1);
            });
        }
    }
    EXPECT_EQ(ran.load(), 40);
    EXPECT_EQ(units_alive(), 0);
    for (ABT_xstream& stream : streams) ok(ABT_xstream_free(&stream));
}

TEST_F(Hops, the_primary_ult_goes_through_pools_of_all_sorts) {
    const ABT_pool home = own_pool();
    ABT_pool all[6] = {home, pools[0], pools[1], pools[2], pools[3], pools[4]};
    ok(ABT_xstream_set_main_sched_basic(self_stream(), ABT_SCHED_BASIC, 6, all));
    for (std::size_t i = 0; i < stops; ++i) {
        if (stop(i) == pools[5]) continue;
        ok(ABT_self_set_associated_pool(stop(i)));
        expect_mapped();
        ok(ABT_self_yield());
        expect_mapped();
        EXPECT_EQ(pool_of_thread(self_thread()), stop(i));
    }
    ok(ABT_self_set_associated_pool(home));
    EXPECT_EQ(units_alive(), 0);
    // Finalization frees all pools of that scheduler; the remaining pool is not one of them.
    for (std::size_t i = 0; i < 5; ++i) pools[i] = ABT_POOL_NULL;
    ok(ABT_pool_free(&pools[5]));
    pools.clear();
}

TEST(PoolsAtTheEnd, finalize_frees_the_pools_of_the_primary_scheduler_and_their_units_before) {
    Queue one, old_one;
    ok(ABT_init(0, nullptr));
    ABT_pool pools[2] = {make_new(one), make_old(old_one)};
    ok(ABT_xstream_set_main_sched_basic(self_stream(), ABT_SCHED_BASIC, 2, pools));
    EXPECT_EQ(one.created.load(), 1) << "the primary ULT's";
    expect_mapped();
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) ok(ABT_thread_create(pools[i % 2], add_one, &ran, ABT_THREAD_ATTR_NULL, nullptr));
    ok(ABT_finalize());
    EXPECT_EQ(ran.load(), 10);
    EXPECT_EQ(one.frees.load(), 1);
    EXPECT_EQ(old_one.frees.load(), 1);
    EXPECT_EQ(one.alive(), 0);
    EXPECT_EQ(old_one.alive(), 0);
}

TEST_F(UserPool, a_main_scheduler_has_a_unit_too) {
    std::atomic<int> looked{0};
    OwnSched own;
    own.each = [&](ABT_sched) {
        if (looked.fetch_add(1) < 10) expect_mapped();
    };
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(own.make({pool}, true), &stream));
    std::atomic<int> ran{0};
    ABT_thread made = spawn(pool, add_one, &ran);
    ok(ABT_thread_free(&made));
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(ran.load(), 1);
    EXPECT_GT(looked.load(), 0);
}

TEST_F(UserPool, a_scheduler_is_stacked_in_one_and_draws_from_one) {
    Queue below;
    ABT_pool under = make_new(below);
    ABT_xstream stream = stream_of(under);
    std::atomic<int> ran{0};
    std::vector<ABT_thread> made;
    for (int i = 0; i < 10; ++i) made.push_back(spawn(pool, add_one, &ran));
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    ok(ABT_pool_add_sched(under, sched));
    for (ABT_thread& thread : made) ok(ABT_thread_free(&thread));
    EXPECT_EQ(ran.load(), 10);
    ok(ABT_xstream_free(&stream));
    EXPECT_EQ(below.created.load(), 1);
    EXPECT_EQ(below.alive(), 0);
    ok(ABT_pool_free(&under));
}

TEST_F(UserPool, thousands_of_units_live_at_once) {
    queue.journal = false;
    std::atomic<int> ran{0};
    std::vector<ABT_thread> made;
    for (int i = 0; i < 4000; ++i) made.push_back(spawn(pool, add_one, &ran));
    for (ABT_thread thread : made) ASSERT_EQ(thread_of(unit_of(thread)), thread);
    run_all(pool);
    for (std::size_t i = 0; i < made.size(); i += 2) ok(ABT_thread_free(&made[i]));
    for (std::size_t i = 1; i < made.size(); i += 2) ASSERT_EQ(thread_of(unit_of(made[i])), made[i]);
    for (std::size_t i = 1; i < made.size(); i += 2) ok(ABT_thread_free(&made[i]));
    EXPECT_EQ(ran.load(), 4000);
    EXPECT_EQ(queue.created.load(), 4000);
}

namespace {

// A program that has few handles and gives each to one unit after another, in random order.
class FewHandles {
public:
    static constexpr std::size_t count = 12;

    FewHandles() {
        for (long& place : places_) free_.push_back(reinterpret_cast<ABT_unit>(&place));
    }
    ABT_unit take(ABT_thread thread) {
        const std::lock_guard guard(lock_);
        if (free_.empty()) return ABT_UNIT_NULL;
        random_ = random_ * 1103515245 + 12345;
        std::swap(free_[(random_ >> 16) % free_.size()], free_.back());
        const ABT_unit unit = free_.back();
        free_.pop_back();
        threads_[unit] = thread;
        return unit;
    }
    void give(ABT_unit unit) {
        const std::lock_guard guard(lock_);
        threads_.erase(unit);
        free_.push_back(unit);
    }
    void push(ABT_unit unit) {
        const std::lock_guard guard(lock_);
        ready_.push_back(unit);
    }
    ABT_unit pop() {
        const std::lock_guard guard(lock_);
        if (ready_.empty()) return ABT_UNIT_NULL;
        const ABT_unit unit = ready_.front();
        ready_.pop_front();
        return unit;
    }
    bool empty() {
        const std::lock_guard guard(lock_);
        return ready_.empty();
    }
    std::size_t live() const { return threads_.size(); }
    const std::map<ABT_unit, ABT_thread>& threads() const { return threads_; }

private:
    std::mutex lock_;
    long places_[count] = {};
    unsigned random_ = 1;
    std::vector<ABT_unit> free_;
    std::deque<ABT_unit> ready_;
    std::map<ABT_unit, ABT_thread> threads_;
};
FewHandles* few = nullptr;

class FewHandlesPool : public Argobots {
protected:
    FewHandles handles;
    ABT_pool pool = ABT_POOL_NULL;

    void SetUp() override {
        Argobots::SetUp();
        few = &handles;
        ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
        ok(ABT_pool_user_def_create([](ABT_pool, ABT_thread thread) { return few->take(thread); },
                                    [](ABT_pool, ABT_unit unit) { few->give(unit); },
                                    [](ABT_pool) -> ABT_bool { return few->empty() ? ABT_TRUE : ABT_FALSE; },
                                    [](ABT_pool, ABT_pool_context) -> ABT_thread {   // looks it up
                                        const ABT_unit unit = few->pop();
                                        return unit == ABT_UNIT_NULL ? ABT_THREAD_NULL : thread_of(unit);
                                    },
                                    [](ABT_pool, ABT_unit unit, ABT_pool_context) { few->push(unit); }, &def));
        ok(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool));
        ok(ABT_pool_user_def_free(&def));
    }
    void TearDown() override {
        ok(ABT_pool_free(&pool));
        EXPECT_EQ(handles.live(), 0u);
        Argobots::TearDown();
    }
};

}   // namespace

TEST_F(FewHandlesPool, a_handle_leads_to_the_unit_that_has_it_now) {
    std::deque<ABT_thread> live;
    std::atomic<int> ran{0};
    int made = 0;
    for (unsigned i = 0; i < 3000; ++i) {
        // their number alternately grows and shrinks
        const bool more = live.empty() || (i / 40 % 2 == 0 ? i % 3 != 0 : i % 3 == 0);
        if (more) {
            ABT_thread thread = ABT_THREAD_NULL;
            const int result = ABT_thread_create(pool, add_one, &ran, ABT_THREAD_ATTR_NULL, &thread);
            EXPECT_EQ(result == ABT_SUCCESS, live.size() < FewHandles::count);
            if (result != ABT_SUCCESS) continue;
            live.push_back(thread);
            ++made;
        } else {
            ABT_thread thread = ABT_THREAD_NULL;
            ok(ABT_pool_pop_thread(pool, &thread));
            ASSERT_EQ(thread, live.front());
            live.pop_front();
            ok(ABT_self_schedule(thread, ABT_POOL_NULL));
            ok(ABT_thread_free(&thread));
        }
        ASSERT_EQ(handles.live(), live.size());
        for (const auto& [unit, thread] : handles.threads()) ASSERT_EQ(thread_of(unit), thread);
    }
    while (!live.empty()) {
        ok(ABT_self_schedule(live.front(), ABT_POOL_NULL));
        static_cast<void>(handles.pop());
        ok(ABT_thread_free(&live.front()));
        live.pop_front();
    }
    EXPECT_EQ(ran.load(), made);
}

TEST_F(FewHandlesPool, handles_go_from_stream_to_stream) {
    ABT_xstream streams[2] = {stream_of(pool), stream_of(pool)};
    std::atomic<int> ran{0};
    const auto work = [&] {
        for (int i = 0; i < 300; ++i) {
            ABT_thread threads[3];
            for (ABT_thread& thread : threads)
                ok(ABT_thread_create(pool, add_one, &ran, ABT_THREAD_ATTR_NULL, &thread));
            for (ABT_thread& thread : threads) ok(ABT_thread_free(&thread));
        }
    };
    // Each record stays with the thread that freed its unit, while the handles go to all threads.
    std::thread a(work), b(work);
    Units units;
    units.ult(pool, work);
    a.join();
    b.join();
    units.join();
    EXPECT_EQ(ran.load(), 2700);
    for (ABT_xstream& stream : streams) ok(ABT_xstream_free(&stream));
}

TEST_F(UserPool, streams_and_os_threads_share_one) {
    queue.journal = false;
    ABT_xstream streams[2] = {stream_of(pool), stream_of(pool, ABT_SCHED_PRIO)};
    std::atomic<int> ran{0};
    const auto work = [&] {
        Units units;
        for (int i = 0; i < 100; ++i) {
            units.ult(pool, [&] {
                ok(ABT_self_yield());
                ran.fetch_add(1);
            });
        }
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    EXPECT_EQ(ran.load(), 200);
    EXPECT_EQ(queue.created.load(), 200);
    EXPECT_EQ(queue.alive(), 0);
    for (ABT_xstream& stream : streams) ok(ABT_xstream_free(&stream));
}
