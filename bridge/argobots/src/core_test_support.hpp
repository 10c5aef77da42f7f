// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers that the tests of streams, schedulers, pools and work units share beyond
// test_support.hpp.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "test_support.hpp"

namespace abt_test {

// Makes each ULT's stack large enough to print a failed expectation, also in checked builds.
inline const int roomy_stacks = setenv("ABT_THREAD_STACKSIZE", "131072", 0);

inline void ok(int error, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (error == ABT_SUCCESS) return;
    char name[64] = "?";
    ABT_error_get_str(error, name, nullptr);
    ADD_FAILURE_AT(file, line) << name;
}

// The call's result on an OS thread that is not a stream.
template <class Call>
int outside(Call call) {
    int result = -1;
    std::thread([&] { result = call(); }).join();
    return result;
}

using Body = std::function<void()>;
inline void call_body(void* body) { (*static_cast<Body*>(body))(); }

// Runs the body in a ULT of this pool and waits for the ULT.
inline void in_ult_of(ABT_pool pool, Body body) {
    Units units;
    units.ult(pool, std::move(body));
}
inline void in_tasklet_of(ABT_pool pool, Body body) {
    Units units;
    units.tasklet(pool, std::move(body));
}

inline void nothing(void*) {}
inline void add_one(void* to) { static_cast<std::atomic<int>*>(to)->fetch_add(1); }

inline ABT_thread spawn(ABT_pool pool, void (*body)(void*), void* argument) {
    ABT_thread made = ABT_THREAD_NULL;
    ok(ABT_thread_create(pool, body, argument, ABT_THREAD_ATTR_NULL, &made));
    return made;
}

inline ABT_thread_state state_of(ABT_thread thread) {
    ABT_thread_state state{};
    ok(ABT_thread_get_state(thread, &state));
    return state;
}

inline ABT_thread self_thread() {
    ABT_thread self = ABT_THREAD_NULL;
    ok(ABT_self_get_thread(&self));
    return self;
}

inline ABT_xstream self_stream() {
    ABT_xstream self = ABT_XSTREAM_NULL;
    ok(ABT_self_get_xstream(&self));
    return self;
}

inline std::size_t size_of(ABT_pool pool) {
    std::size_t size = 0;
    ok(ABT_pool_get_size(pool, &size));
    return size;
}

inline ABT_pool new_pool(ABT_pool_kind kind = ABT_POOL_FIFO, ABT_pool_access access = ABT_POOL_ACCESS_MPMC,
                         ABT_bool automatic = ABT_FALSE) {
    ABT_pool pool = ABT_POOL_NULL;
    ok(ABT_pool_create_basic(kind, access, automatic, &pool));
    return pool;
}

inline ABT_thread pop_from(ABT_pool pool) {
    ABT_thread popped = ABT_THREAD_NULL;
    ok(ABT_pool_pop_thread(pool, &popped));
    return popped;
}

// Yields until the condition holds, in a ULT or on any OS thread.
template <class Condition>
void wait_until(Condition condition) {
    while (!condition()) {
        if (ABT_self_yield() != ABT_SUCCESS) sched_yield();
    }
}

// Runs the units of a pool that no stream draws from, as a scheduler would, until the pool is
// empty.
inline void run_all(ABT_pool pool) {
    for (ABT_thread popped = pop_from(pool); popped != ABT_THREAD_NULL; popped = pop_from(pool))
        ok(ABT_self_schedule(popped, ABT_POOL_NULL));
}

// A stream whose only pool is `pool`.
inline ABT_xstream stream_of(ABT_pool pool, ABT_sched_predef predef = ABT_SCHED_BASIC) {
    ABT_xstream stream = ABT_XSTREAM_NULL;
    ok(ABT_xstream_create_basic(predef, 1, &pool, ABT_SCHED_CONFIG_NULL, &stream));
    return stream;
}

// A user-defined scheduler that runs from the first non-empty pool. Calls `each` before each check.
struct OwnSched {
    std::function<void(ABT_sched)> each = [](ABT_sched) {};
    std::atomic<int> begun{0}, runs{0}, freed{0};

    static OwnSched& of(ABT_sched sched) {
        void* data = nullptr;
        ok(ABT_sched_get_data(sched, &data));
        return *static_cast<OwnSched*>(data);
    }
    static int init(ABT_sched sched, ABT_sched_config config) {
        void* data = nullptr;
        ok(ABT_sched_config_get(config, 0, nullptr, &data));
        ok(ABT_sched_set_data(sched, data));
        of(sched).begun.fetch_add(1);
        return ABT_SUCCESS;
    }
    static void run(ABT_sched sched) {
        OwnSched& self = of(sched);
        self.runs.fetch_add(1);
        int count = 0;
        ok(ABT_sched_get_num_pools(sched, &count));
        std::vector<ABT_pool> pools(static_cast<std::size_t>(count));
        ok(ABT_sched_get_pools(sched, count, 0, pools.data()));
        for (;;) {
            self.each(sched);
            const bool ran = run_one(pools);
            ABT_bool stop = ABT_FALSE;
            ok(ABT_sched_has_to_stop(sched, &stop));
            if (stop == ABT_TRUE) return;
            ok(ABT_xstream_check_events(sched));
            if (!ran) sched_yield();
        }
    }
    static int free(ABT_sched sched) {
        of(sched).freed.fetch_add(1);
        return ABT_SUCCESS;
    }

    // The caller frees the scheduler, unless it is `automatic`.
    ABT_sched make(std::vector<ABT_pool> pools, bool automatic) {
        ABT_sched_def def{ABT_SCHED_TYPE_ULT, init, run, free, nullptr};
        ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
        ABT_sched_config_var place{0, ABT_SCHED_CONFIG_PTR};
        ok(ABT_sched_config_create(&config, place, static_cast<void*>(this), ABT_sched_config_automatic,
                                   automatic ? 1 : 0, ABT_sched_config_var_end));
        ABT_sched sched = ABT_SCHED_NULL;
        ok(ABT_sched_create(&def, static_cast<int>(pools.size()), pools.data(), config, &sched));
        ok(ABT_sched_config_free(&config));
        return sched;
    }

private:
    static bool run_one(const std::vector<ABT_pool>& pools) {
        for (ABT_pool pool : pools) {
            ABT_unit unit = ABT_UNIT_NULL;
            ok(ABT_pool_pop(pool, &unit));
            if (unit == ABT_UNIT_NULL) continue;
            ok(ABT_xstream_run_unit(unit, pool));
            return true;
        }
        return false;
    }
};

}   // namespace abt_test
