// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of the table: initialization and finalization, streams, schedulers, pools and their units,
// queries and tools.
#include "../src/user_pool.hpp"
#include "refused.hpp"

#include <cstdlib>

using namespace refused;

namespace {

// ---- initialization and finalization ------------------------------------------------------------

REFUSED_BARE(ABT_init, memory) {
    t([] { return ABT_init(0, nullptr); }, [] { ok(ABT_finalize()); },
      [] { EXPECT_EQ(ABT_initialized(), ABT_ERR_UNINITIALIZED); });
}
REFUSED_BARE(ABT_finalize, aid) {
    for (const bool own_main : {false, true}) {   // true: with a replaced main scheduler
        ok(ABT_init(0, nullptr));
        Fresh* unit = own_main ? nullptr : new Fresh;
        if (own_main) ok(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_PRIO, 0, nullptr));
        delete unit;
        t([] { return ABT_finalize(); });
        EXPECT_EQ(ABT_initialized(), ABT_ERR_UNINITIALIZED);
    }
}
REFUSED(ABT_initialized, nothing) {
    t([] { return ABT_initialized(); });
}

// ---- user-defined schedulers --------------------------------------------------------------------

void run_own(ABT_sched sched) {
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_sched_get_pools(sched, 1, 0, &pool));
    for (ABT_bool stop = ABT_FALSE; stop == ABT_FALSE;) {
        const ABT_thread thread = abt_test::pop_from(pool);
        if (thread != ABT_THREAD_NULL) ok(ABT_self_schedule(thread, ABT_POOL_NULL));
        ok(ABT_sched_has_to_stop(sched, &stop));
        ok(ABT_xstream_check_events(sched));
    }
}
ABT_sched_def own_def() {
    ABT_sched_def def{};
    def.type = ABT_SCHED_TYPE_ULT;
    def.run = run_own;
    return def;
}

struct Sched {
    explicit Sched(ABT_sched_predef predef = ABT_SCHED_BASIC) {
        ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
        ok(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_config_var_end));
        ok(ABT_sched_create_basic(predef, 0, nullptr, config, &handle));
        ok(ABT_sched_config_free(&config));
    }
    Sched(const Sched&) = delete;
    ~Sched() {
        if (handle != ABT_SCHED_NULL) ok(ABT_sched_free(&handle));
    }
    ABT_sched handle = ABT_SCHED_NULL;
};

// An automatic pool that the caller gives away. If a call fails, the pool is still the caller's.
struct GivenPool {
    GivenPool() : handle(new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE)) {}
    GivenPool(const GivenPool&) = delete;
    void still_there() {
        std::size_t size = 1;
        ok(ABT_pool_get_size(handle, &size));
        EXPECT_EQ(size, 0u);
        std::atomic<int> ran{0};
        ABT_thread unit = spawn(handle, abt_test::add_one, &ran);
        EXPECT_EQ(abt_test::pop_from(handle), unit);
        ok(ABT_self_schedule(unit, ABT_POOL_NULL));
        ok(ABT_thread_free(&unit));
        EXPECT_EQ(ran.load(), 1);
    }
    ABT_pool handle;
};

// ---- streams ------------------------------------------------------------------------------------

void makes_stream(
    Try& t, const std::function<int(ABT_xstream*)>& make, const std::function<void()>& unchanged = [] {}) {
    ABT_xstream stream = before<ABT_xstream>();
    int streams = 0;
    ok(ABT_xstream_get_num(&streams));
    t([&] { return make(&stream); }, [&] { ok(ABT_xstream_free(&stream)); },
      [&] {
          EXPECT_EQ(stream, ABT_XSTREAM_NULL);
          int now = 0;
          ok(ABT_xstream_get_num(&now));
          EXPECT_EQ(now, streams);
          unchanged();
      });
}

REFUSED(ABT_xstream_create, memory) {
    makes_stream(t, [](ABT_xstream* stream) { return ABT_xstream_create(ABT_SCHED_NULL, stream); });
    Sched sched;
    makes_stream(t, [&](ABT_xstream* stream) { return ABT_xstream_create(sched.handle, stream); });
    ABT_sched_def def = own_def();
    OwnPool pool;
    ABT_sched own = ABT_SCHED_NULL;
    ok(ABT_sched_create(&def, 1, &pool.handle, ABT_SCHED_CONFIG_NULL, &own));
    makes_stream(t, [&](ABT_xstream* stream) { return ABT_xstream_create(own, stream); });
    ok(ABT_sched_free(&own));
}
REFUSED(ABT_xstream_create_basic, memory) {
    for (const ABT_sched_predef predef : {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT}) {
        GivenPool given;
        makes_stream(
            t,
            [&](ABT_xstream* stream) {
                return ABT_xstream_create_basic(predef, 1, &given.handle, ABT_SCHED_CONFIG_NULL, stream);
            },
            [&] { given.still_there(); });
        makes_stream(t, [&](ABT_xstream* stream) {
            return ABT_xstream_create_basic(predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, stream);
        });
    }
}
REFUSED(ABT_xstream_create_with_rank, memory) {
    makes_stream(t, [](ABT_xstream* stream) { return ABT_xstream_create_with_rank(ABT_SCHED_NULL, 7, stream); });
}
REFUSED(ABT_xstream_free, memory) {
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    t([&] { return ABT_xstream_free(&stream); });
    ok(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    // from a tasklet, an OS thread waits for the stream
    in_a_tasklet(
        [&] { t([&] { return ABT_xstream_free(&stream); }, [] {}, [&] { EXPECT_NE(stream, ABT_XSTREAM_NULL); }); });
}
REFUSED(ABT_xstream_join, memory) {
    Stream one, two;
    t([&] { return ABT_xstream_join(one.handle); });
    in_a_tasklet([&] { t([&] { return ABT_xstream_join(two.handle); }); });
}
REFUSED(ABT_xstream_revive, memory) {
    Stream stream;
    ok(ABT_xstream_join(stream.handle));
    t([&] { return ABT_xstream_revive(stream.handle); }, [&] { ok(ABT_xstream_join(stream.handle)); },
      [&] {
          ABT_xstream_state state = ABT_XSTREAM_STATE_RUNNING;
          ok(ABT_xstream_get_state(stream.handle, &state));
          EXPECT_EQ(state, ABT_XSTREAM_STATE_TERMINATED);
          ok(ABT_xstream_join(stream.handle));   // can be repeated
      });
    ok(ABT_xstream_revive(stream.handle));   // the stream works after that
    std::atomic<int> ran{0};
    ABT_thread unit = spawn(abt_test::pool_of(stream.handle), abt_test::add_one, &ran);
    ok(ABT_thread_free(&unit));
    EXPECT_EQ(ran.load(), 1);
}
REFUSED(ABT_xstream_exit, nothing) {
    Stream stream;
    ABT_thread unit = spawn(
        abt_test::pool_of(stream.handle),
        [](void* raw) {
            static_cast<Try*>(raw)->begin();   // for the stream's OS thread, which ends with the stream
            ABT_xstream_exit();
        },
        &t);
    ok(ABT_thread_free(&unit));
    ok(ABT_xstream_join(stream.handle));
    t.end();
}
REFUSED(ABT_xstream_cancel, nothing) {
    Stream stream;
    t([&] { return ABT_xstream_cancel(stream.handle); });
}

template <class Value>
void asks_stream(Try& t, int (*question)(ABT_xstream, Value*)) {
    Stream stream;
    Value value{};
    t([&] { return question(stream.handle, &value); });
}

REFUSED(ABT_xstream_self, nothing) {
    ABT_xstream self = ABT_XSTREAM_NULL;
    t([&] { return ABT_xstream_self(&self); });
}
REFUSED(ABT_xstream_self_rank, nothing) {
    int rank = 0;
    t([&] { return ABT_xstream_self_rank(&rank); });
}
REFUSED(ABT_xstream_set_rank, nothing) {
    Stream stream;
    t([&] { return ABT_xstream_set_rank(stream.handle, 9); });
}
REFUSED(ABT_xstream_get_rank, nothing) { asks_stream(t, ABT_xstream_get_rank); }
REFUSED(ABT_xstream_get_main_sched, nothing) { asks_stream(t, ABT_xstream_get_main_sched); }
REFUSED(ABT_xstream_get_state, nothing) { asks_stream(t, ABT_xstream_get_state); }
REFUSED(ABT_xstream_is_primary, nothing) { asks_stream(t, ABT_xstream_is_primary); }
REFUSED(ABT_xstream_get_num, nothing) {
    int number = 0;
    t([&] { return ABT_xstream_get_num(&number); });
}
REFUSED(ABT_xstream_equal, nothing) {
    ABT_bool equal = ABT_FALSE;
    t([&] { return ABT_xstream_equal(own_xstream(), own_xstream(), &equal); });
}
REFUSED(ABT_xstream_get_main_pools, nothing) {
    ABT_pool pool = ABT_POOL_NULL;
    t([&] { return ABT_xstream_get_main_pools(own_xstream(), 1, &pool); });
}
REFUSED(ABT_xstream_set_main_sched, memory) {
    const ABT_sched first = own_sched();
    const ABT_pool home = own_pool();
    const auto unchanged = [&] {
        EXPECT_EQ(own_sched(), first);
        EXPECT_EQ(own_pool(), home);
        ABT_pool pool = ABT_POOL_NULL;
        ok(ABT_self_get_last_pool(&pool));
        EXPECT_EQ(pool, home);
    };
    t([] { return ABT_xstream_set_main_sched(own_xstream(), ABT_SCHED_NULL); }, [] {}, unchanged);
    Stream stream;   // a further stream, which has ended
    ok(ABT_xstream_join(stream.handle));
    t([&] { return ABT_xstream_set_main_sched(stream.handle, ABT_SCHED_NULL); });
}
REFUSED(ABT_xstream_set_main_sched_basic, memory) {
    GivenPool given;
    const ABT_sched first = own_sched();
    t([&] { return ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_PRIO, 1, &given.handle); }, [] {},
      [&] {
          EXPECT_EQ(own_sched(), first);
          given.still_there();
      });
}
REFUSED(ABT_xstream_run_unit, aid) {
    const ABT_pool pool = new_pool();
    {
        Fresh unit(nothing, nullptr, pool);
        ABT_unit popped = ABT_UNIT_NULL;
        ok(ABT_pool_pop(pool, &popped));
        t([&] { return ABT_xstream_run_unit(popped, pool); });
        abt_test::run_all(pool);
    }
    ABT_pool pool_again = pool;
    ok(ABT_pool_free(&pool_again));
}
REFUSED(ABT_xstream_check_events, nothing) {
    static Try* tried;
    tried = &t;
    ABT_sched_def def{};
    def.run = [](ABT_sched sched) {
        (*tried)([&] { return ABT_xstream_check_events(sched); });
        run_own(sched);
    };
    ABT_sched sched = ABT_SCHED_NULL;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE);
    ok(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create(sched, &stream));
    ok(ABT_xstream_free(&stream));
    ok(ABT_sched_free(&sched));
}
REFUSED(ABT_xstream_set_cpubind, nothing) {
    int cpu = 0;
    ok(ABT_xstream_get_cpubind(own_xstream(), &cpu));
    t([&] { return ABT_xstream_set_cpubind(own_xstream(), cpu); },
      [] { ok(ABT_xstream_set_affinity(own_xstream(), 0, nullptr)); });
}
REFUSED(ABT_xstream_get_cpubind, nothing) {
    int cpu = 0;
    t([&] { return ABT_xstream_get_cpubind(own_xstream(), &cpu); });
}
REFUSED(ABT_xstream_set_affinity, nothing) {
    t([] { return ABT_xstream_set_affinity(own_xstream(), 0, nullptr); });
}
REFUSED(ABT_xstream_get_affinity, nothing) {
    int cpus[4] = {}, count = 0;
    t([&] { return ABT_xstream_get_affinity(own_xstream(), 4, cpus, &count); });
}

// ---- schedulers ---------------------------------------------------------------------------------

REFUSED(ABT_sched_create, memory) {
    ABT_sched_def def = own_def();
    GivenPool given;
    ABT_pool pools[3] = {given.handle, ABT_POOL_NULL, ABT_POOL_NULL};
    ABT_sched sched = before<ABT_sched>();
    t([&] { return ABT_sched_create(&def, 3, pools, ABT_SCHED_CONFIG_NULL, &sched); },
      [&] { ok(ABT_sched_free(&sched)); },
      [&] {
          EXPECT_EQ(sched, ABT_SCHED_NULL);
          given.still_there();
      });
}
REFUSED(ABT_sched_create_basic, memory) {
    for (const ABT_sched_predef predef : {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT}) {
        GivenPool given;
        ABT_pool pools[2] = {given.handle, ABT_POOL_NULL};
        ABT_sched sched = before<ABT_sched>();
        t([&] { return ABT_sched_create_basic(predef, 2, pools, ABT_SCHED_CONFIG_NULL, &sched); },
          [&] { ok(ABT_sched_free(&sched)); },
          [&] {
              EXPECT_EQ(sched, ABT_SCHED_NULL);
              given.still_there();
          });
    }
}
REFUSED(ABT_sched_free, nothing) {
    Sched sched;
    t([&] { return ABT_sched_free(&sched.handle); });
}
REFUSED(ABT_sched_set_data, nothing) {
    Sched sched;
    t([&] { return ABT_sched_set_data(sched.handle, &sched); });
}
template <class Value>
void asks_sched(Try& t, int (*question)(ABT_sched, Value*)) {
    Value value{};
    t([&] { return question(own_sched(), &value); });
}
REFUSED(ABT_sched_get_data, nothing) { asks_sched(t, ABT_sched_get_data); }
REFUSED(ABT_sched_get_num_pools, nothing) { asks_sched(t, ABT_sched_get_num_pools); }
REFUSED(ABT_sched_get_size, nothing) { asks_sched(t, ABT_sched_get_size); }
REFUSED(ABT_sched_get_total_size, nothing) { asks_sched(t, ABT_sched_get_total_size); }
REFUSED(ABT_sched_has_to_stop, nothing) { asks_sched(t, ABT_sched_has_to_stop); }
REFUSED(ABT_sched_get_pools, nothing) {
    ABT_pool pool = ABT_POOL_NULL;
    t([&] { return ABT_sched_get_pools(own_sched(), 1, 0, &pool); });
}
REFUSED(ABT_sched_finish, nothing) {
    Stream stream;
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_xstream_get_main_sched(stream.handle, &sched));
    t([&] { return ABT_sched_finish(sched); });
}
REFUSED(ABT_sched_exit, nothing) {
    Stream stream;
    ABT_sched sched = ABT_SCHED_NULL;
    ok(ABT_xstream_get_main_sched(stream.handle, &sched));
    t([&] { return ABT_sched_exit(sched); });
}

// ---- pools --------------------------------------------------------------------------------------

using namespace abt_test::user_pool;

}   // namespace

ABT_pool_user_def refused::new_user_def() {
    if (waiting.capacity() < 64) waiting.reserve(64);
    ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
    ok(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def));
    ok(ABT_pool_user_def_set_push_many(
        def, [](ABT_pool pool, const ABT_unit* units, std::size_t count, ABT_pool_context context) {
            for (std::size_t i = 0; i < count; ++i) push(pool, units[i], context);
        }));
    ok(ABT_pool_user_def_set_get_size(def, [](ABT_pool) { return waiting.size(); }));
    return def;
}
refused::UserPool::UserPool() {
    ABT_pool_user_def def = new_user_def();
    ok(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &handle));
    ok(ABT_pool_user_def_free(&def));
}
refused::UserPool::~UserPool() { ok(ABT_pool_free(&handle)); }

namespace {

struct UserDef {
    ABT_pool_user_def handle = new_user_def();
    UserDef() = default;
    UserDef(const UserDef&) = delete;
    ~UserDef() {
        if (handle != ABT_POOL_USER_DEF_NULL) ok(ABT_pool_user_def_free(&handle));
    }
};

REFUSED(ABT_pool_create, memory) {
    UserDef def;
    makes<ABT_pool>(
        t, [&](ABT_pool* pool) { return ABT_pool_create(def.handle, ABT_POOL_CONFIG_NULL, pool); }, ABT_pool_free,
        ABT_POOL_NULL);
}
REFUSED(ABT_pool_create_basic, memory) {
    for (const ABT_pool_kind kind : {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS}) {
        makes<ABT_pool>(
            t, [&](ABT_pool* pool) { return ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_FALSE, pool); },
            ABT_pool_free, ABT_POOL_NULL);
    }
}
REFUSED(ABT_pool_free, nothing) {
    ABT_pool pool = new_pool();
    t([&] { return ABT_pool_free(&pool); });
}
template <class Value>
void asks_pool(Try& t, int (*question)(ABT_pool, Value*)) {
    Value value{};
    t([&] { return question(own_pool(), &value); });
}
REFUSED(ABT_pool_get_access, nothing) { asks_pool(t, ABT_pool_get_access); }
REFUSED(ABT_pool_is_empty, nothing) { asks_pool(t, ABT_pool_is_empty); }
REFUSED(ABT_pool_get_size, nothing) { asks_pool(t, ABT_pool_get_size); }
REFUSED(ABT_pool_get_total_size, nothing) { asks_pool(t, ABT_pool_get_total_size); }
REFUSED(ABT_pool_get_data, nothing) { asks_pool(t, ABT_pool_get_data); }
REFUSED(ABT_pool_get_id, nothing) { asks_pool(t, ABT_pool_get_id); }
REFUSED(ABT_pool_set_data, nothing) {
    t([] { return ABT_pool_set_data(own_pool(), nullptr); });
}

// Takes a unit out of a pool that has one, and puts it back afterwards.
template <class Pop>
void pops(Try& t, Pop by) {
    OwnPool pool;
    Fresh unit(nothing, nullptr, pool.handle);
    t([&] { return by(pool.handle); }, [&] { ok(ABT_pool_push_thread(pool.handle, unit.handle)); });
    abt_test::run_all(pool.handle);
}
REFUSED(ABT_pool_pop_thread, nothing) {
    ABT_thread popped = ABT_THREAD_NULL;
    pops(t, [&](ABT_pool pool) { return ABT_pool_pop_thread(pool, &popped); });
}
REFUSED(ABT_pool_pop_thread_ex, nothing) {
    ABT_thread popped = ABT_THREAD_NULL;
    pops(t, [&](ABT_pool pool) { return ABT_pool_pop_thread_ex(pool, &popped, ABT_POOL_CONTEXT_OP_POOL_OTHER); });
}
REFUSED(ABT_pool_pop_threads, nothing) {
    ABT_thread popped[2] = {};
    std::size_t count = 0;
    pops(t, [&](ABT_pool pool) { return ABT_pool_pop_threads(pool, popped, 2, &count); });
}
REFUSED(ABT_pool_pop_threads_ex, nothing) {
    ABT_thread popped[2] = {};
    std::size_t count = 0;
    pops(t, [&](ABT_pool pool) {
        return ABT_pool_pop_threads_ex(pool, popped, 2, &count, ABT_POOL_CONTEXT_OP_POOL_OTHER);
    });
}
REFUSED(ABT_pool_pop_wait_thread, nothing) {
    ABT_thread popped = ABT_THREAD_NULL;
    pops(t, [&](ABT_pool pool) { return ABT_pool_pop_wait_thread(pool, &popped, 0.0); });
}
REFUSED(ABT_pool_pop_wait_thread_ex, nothing) {
    ABT_thread popped = ABT_THREAD_NULL;
    pops(t, [&](ABT_pool pool) {
        return ABT_pool_pop_wait_thread_ex(pool, &popped, 0.0, ABT_POOL_CONTEXT_OP_POOL_OTHER);
    });
}
REFUSED(ABT_pool_pop, nothing) {
    ABT_unit popped = ABT_UNIT_NULL;
    pops(t, [&](ABT_pool pool) { return ABT_pool_pop(pool, &popped); });
}
REFUSED(ABT_pool_pop_wait, nothing) {
    ABT_unit popped = ABT_UNIT_NULL;
    pops(t, [&](ABT_pool pool) { return ABT_pool_pop_wait(pool, &popped, 0.0); });
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
REFUSED(ABT_pool_pop_timedwait, nothing) {
    ABT_unit popped = ABT_UNIT_NULL;
    pops(t, [&](ABT_pool pool) { return ABT_pool_pop_timedwait(pool, &popped, ABT_get_wtime()); });
}
#pragma GCC diagnostic pop
REFUSED(ABT_pool_remove, nothing) {
    OwnPool pool;
    Fresh unit(nothing, nullptr, pool.handle);
    ABT_unit of = ABT_UNIT_NULL;
    ok(ABT_thread_get_unit(unit.handle, &of));
    t([&] { return ABT_pool_remove(pool.handle, of); }, [&] { ok(ABT_pool_push(pool.handle, of)); });
    abt_test::run_all(pool.handle);
}

// Moves a unit from one pool to another: a user-defined pool creates a handle for it.
template <class Push>
void pushes(Try& t, Push by) {
    OwnPool from;
    UserPool to;   // outlives the unit, for which it has created a handle
    Fresh unit(nothing, nullptr, from.handle);
    ASSERT_EQ(abt_test::pop_from(from.handle), unit.handle);
    t([&] { return by(to.handle, unit.handle); }, [] {}, [&] { EXPECT_EQ(abt_test::size_of(to.handle), 0u); });
    EXPECT_EQ(abt_test::size_of(to.handle), 1u);
    abt_test::run_all(to.handle);
}
REFUSED(ABT_pool_push_thread, memory) {
    pushes(t, [](ABT_pool pool, ABT_thread thread) { return ABT_pool_push_thread(pool, thread); });
}
REFUSED(ABT_pool_push_thread_ex, memory) {
    pushes(t, [](ABT_pool pool, ABT_thread thread) {
        return ABT_pool_push_thread_ex(pool, thread, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    });
}
REFUSED(ABT_pool_push_threads, memory) {
    pushes(t, [](ABT_pool pool, ABT_thread thread) { return ABT_pool_push_threads(pool, &thread, 1); });
}
REFUSED(ABT_pool_push_threads_ex, memory) {
    pushes(t, [](ABT_pool pool, ABT_thread thread) {
        return ABT_pool_push_threads_ex(pool, &thread, 1, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    });
}
REFUSED(ABT_pool_push, memory) {
    pushes(t, [](ABT_pool pool, ABT_thread thread) {
        ABT_unit unit = ABT_UNIT_NULL;
        ok(ABT_thread_get_unit(thread, &unit));
        return ABT_pool_push(pool, unit);
    });
}
REFUSED(ABT_pool_print_all_threads, nothing) {
    Fresh unit;
    t([] { return ABT_pool_print_all_threads(own_pool(), nullptr, [](void*, ABT_thread) {}); });
}
REFUSED(ABT_pool_print_all, nothing) {
    Fresh unit;
    t([] { return ABT_pool_print_all(own_pool(), nullptr, [](void*, ABT_unit) {}); });
}
REFUSED(ABT_pool_add_sched, memory) {
    Sched sched;
    t([&] { return ABT_pool_add_sched(own_pool(), sched.handle); },
      [&] {
          ok(ABT_sched_finish(sched.handle));
          while (ABT_sched_free(&sched.handle) != ABT_SUCCESS) ok(ABT_self_yield());
      });
}

REFUSED(ABT_pool_user_def_create, memory) {
    makes<ABT_pool_user_def>(
        t,
        [](ABT_pool_user_def* def) {
            return ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, def);
        },
        ABT_pool_user_def_free, ABT_POOL_USER_DEF_NULL);
}
REFUSED(ABT_pool_user_def_free, nothing) {
    UserDef def;
    t([&] { return ABT_pool_user_def_free(&def.handle); });
}
template <class Set, class Function>
void sets(Try& t, Set set, Function function) {
    UserDef def;
    t([&] { return set(def.handle, function); });
}
REFUSED(ABT_pool_user_def_set_init, nothing) { sets(t, ABT_pool_user_def_set_init, nullptr); }
REFUSED(ABT_pool_user_def_set_free, nothing) { sets(t, ABT_pool_user_def_set_free, nullptr); }
REFUSED(ABT_pool_user_def_set_get_size, nothing) { sets(t, ABT_pool_user_def_set_get_size, nullptr); }
REFUSED(ABT_pool_user_def_set_pop_wait, nothing) { sets(t, ABT_pool_user_def_set_pop_wait, nullptr); }
REFUSED(ABT_pool_user_def_set_pop_many, nothing) { sets(t, ABT_pool_user_def_set_pop_many, nullptr); }
REFUSED(ABT_pool_user_def_set_push_many, nothing) { sets(t, ABT_pool_user_def_set_push_many, nullptr); }
REFUSED(ABT_pool_user_def_set_print_all, nothing) { sets(t, ABT_pool_user_def_set_print_all, nullptr); }

REFUSED(ABT_unit_get_thread, nothing) {
    Fresh unit;
    ABT_unit of = ABT_UNIT_NULL;
    ABT_thread thread = ABT_THREAD_NULL;
    ok(ABT_thread_get_unit(unit.handle, &of));
    t([&] { return ABT_unit_get_thread(of, &thread); });
}
REFUSED(ABT_unit_set_associated_pool, nothing) {
    OwnPool from;
    Fresh unit(nothing, nullptr, from.handle);
    UserPool to;
    ABT_unit of = ABT_UNIT_NULL;
    ok(ABT_pool_pop(from.handle, &of));
    t([&] { return ABT_unit_set_associated_pool(of, to.handle); });
    ok(ABT_pool_push_thread(from.handle, unit.handle));
    abt_test::run_all(from.handle);
}

// ---- queries and tools --------------------------------------------------------------------------

REFUSED(ABT_info_query_config, nothing) {
    ABT_bool value = ABT_FALSE;
    t([&] { return ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_DEBUG, &value); });
}
template <class Of>
void prints(Try& t, int (*print)(std::FILE*, Of), Of of) {
    Sink sink;
    t([&] { return print(sink, of); });
}
REFUSED(ABT_info_print_config, nothing) {
    Sink sink;
    t([&] { return ABT_info_print_config(sink); });
}
REFUSED(ABT_info_print_all_xstreams, memory) {
    Sink sink;
    t([&] { return ABT_info_print_all_xstreams(sink); });
}
REFUSED(ABT_info_print_xstream, nothing) { prints(t, ABT_info_print_xstream, own_xstream()); }
REFUSED(ABT_info_print_sched, nothing) { prints(t, ABT_info_print_sched, own_sched()); }
REFUSED(ABT_info_print_pool, nothing) { prints(t, ABT_info_print_pool, own_pool()); }
REFUSED(ABT_info_print_thread, nothing) { prints(t, ABT_info_print_thread, self_thread()); }
REFUSED(ABT_info_print_thread_attr, nothing) {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ok(ABT_thread_attr_create(&attr));
    prints(t, ABT_info_print_thread_attr, attr);
    ok(ABT_thread_attr_free(&attr));
}
REFUSED(ABT_info_print_task, nothing) {
    FreshTask task;
    prints(t, ABT_info_print_task, task.handle);
}
REFUSED(ABT_info_print_thread_stack, aid) {
    Suspended unit;
    prints(t, ABT_info_print_thread_stack, unit.handle);
}
REFUSED(ABT_info_print_thread_stacks_in_pool, memory) {
    Fresh unit;
    prints(t, ABT_info_print_thread_stacks_in_pool, own_pool());
}
REFUSED(ABT_info_trigger_print_all_thread_stacks, aid) {
    static std::atomic<int> told;
    told = 0;
    t.begin();   // streams, or their OS thread, print it; the function learns whether they could
    ok(ABT_info_trigger_print_all_thread_stacks(
        nullptr, 0.0, [](ABT_bool, void*) { told.fetch_add(1); }, nullptr));
    while (told.load() == 0) ok(ABT_self_yield());
    t.end();
}
REFUSED(ABT_tool_register_thread_callback, memory) {
    static std::atomic<int> calls, new_calls;
    calls = 0;
    new_calls = 0;
    const auto one = [](ABT_thread, ABT_xstream, uint64_t, ABT_tool_context, void*) { calls.fetch_add(1); };
    const auto another = [](ABT_thread, ABT_xstream, uint64_t, ABT_tool_context, void*) { new_calls.fetch_add(1); };
    t([&] { return ABT_tool_register_thread_callback(one, ABT_TOOL_EVENT_THREAD_ALL, nullptr); });
    t([&] { return ABT_tool_register_thread_callback(another, ABT_TOOL_EVENT_THREAD_ALL, nullptr); }, [] {},
      [&] {
          const int so_far = calls.load();
          Fresh unit;
          ok(ABT_thread_free(&unit.handle));
          EXPECT_GT(calls.load(), so_far) << "the one before is told still";
      });
    { Fresh unit; }
    EXPECT_GT(new_calls.load(), 0);
    ok(ABT_tool_register_thread_callback(nullptr, ABT_TOOL_EVENT_THREAD_NONE, nullptr));
}
REFUSED(ABT_tool_query_thread, nothing) {
    static Try* tried;
    tried = &t;
    ok(ABT_tool_register_thread_callback(
        [](ABT_thread, ABT_xstream, uint64_t event, ABT_tool_context context, void*) {
            ABT_tool_query_kind kind = ABT_TOOL_QUERY_KIND_STACK_DEPTH;
            int depth = 0;
            (*tried)([&] { return ABT_tool_query_thread(context, event, kind, &depth); });
        },
        ABT_TOOL_EVENT_THREAD_RUN, nullptr));
    { Fresh unit; }
    ok(ABT_tool_register_thread_callback(nullptr, ABT_TOOL_EVENT_THREAD_NONE, nullptr));
}

}   // namespace
