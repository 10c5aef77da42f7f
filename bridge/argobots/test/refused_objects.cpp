// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of the table: synchronization objects, timers, keys, configurations, errors.
#include "refused.hpp"

using namespace refused;

namespace {

// ---- mutexes ------------------------------------------------------------------------------------

struct Mutex {
    Mutex() { ok(ABT_mutex_create(&handle)); }
    Mutex(const Mutex&) = delete;
    ~Mutex() { ok(ABT_mutex_free(&handle)); }
    ABT_mutex handle = ABT_MUTEX_NULL;
};
struct MutexAttr {
    MutexAttr() { ok(ABT_mutex_attr_create(&handle)); }
    MutexAttr(const MutexAttr&) = delete;
    ~MutexAttr() { ok(ABT_mutex_attr_free(&handle)); }
    ABT_mutex_attr handle = ABT_MUTEX_ATTR_NULL;
};

REFUSED(ABT_mutex_create, memory) { makes<ABT_mutex>(t, ABT_mutex_create, ABT_mutex_free, ABT_MUTEX_NULL); }
REFUSED(ABT_mutex_create_with_attr, memory) {
    MutexAttr attr;
    makes<ABT_mutex>(
        t, [&](ABT_mutex* mutex) { return ABT_mutex_create_with_attr(attr.handle, mutex); }, ABT_mutex_free,
        ABT_MUTEX_NULL);
}
REFUSED(ABT_mutex_free, nothing) {
    ABT_mutex mutex = ABT_MUTEX_NULL;
    ok(ABT_mutex_create(&mutex));
    t([&] { return ABT_mutex_free(&mutex); });
}

template <class Lock>
void locks(Try& t, Lock lock) {
    Mutex mutex;
    t([&] { return lock(mutex.handle); }, [&] { ok(ABT_mutex_unlock(mutex.handle)); });
}
template <class Unlock>
void unlocks(Try& t, Unlock unlock) {
    Mutex mutex;
    ok(ABT_mutex_lock(mutex.handle));
    t([&] { return unlock(mutex.handle); });
}

REFUSED(ABT_mutex_lock, nothing) { locks(t, ABT_mutex_lock); }
REFUSED(ABT_mutex_lock_high, nothing) { locks(t, ABT_mutex_lock_high); }
REFUSED(ABT_mutex_lock_low, nothing) { locks(t, ABT_mutex_lock_low); }
REFUSED(ABT_mutex_trylock, nothing) { locks(t, ABT_mutex_trylock); }
REFUSED(ABT_mutex_spinlock, nothing) { locks(t, ABT_mutex_spinlock); }
REFUSED(ABT_mutex_unlock, nothing) { unlocks(t, ABT_mutex_unlock); }
REFUSED(ABT_mutex_unlock_se, nothing) { unlocks(t, ABT_mutex_unlock_se); }
REFUSED(ABT_mutex_unlock_de, nothing) { unlocks(t, ABT_mutex_unlock_de); }
REFUSED(ABT_mutex_equal, nothing) {
    Mutex a, b;
    ABT_bool equal = ABT_TRUE;
    t([&] { return ABT_mutex_equal(a.handle, b.handle, &equal); });
}
REFUSED(ABT_mutex_get_attr, memory) {
    Mutex mutex;
    makes<ABT_mutex_attr>(
        t, [&](ABT_mutex_attr* attr) { return ABT_mutex_get_attr(mutex.handle, attr); }, ABT_mutex_attr_free,
        before<ABT_mutex_attr>());
}
REFUSED(ABT_mutex_attr_create, memory) {
    makes<ABT_mutex_attr>(t, ABT_mutex_attr_create, ABT_mutex_attr_free, before<ABT_mutex_attr>());
}
REFUSED(ABT_mutex_attr_free, nothing) {
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    ok(ABT_mutex_attr_create(&attr));
    t([&] { return ABT_mutex_attr_free(&attr); });
}
REFUSED(ABT_mutex_attr_set_recursive, nothing) {
    MutexAttr attr;
    t([&] { return ABT_mutex_attr_set_recursive(attr.handle, ABT_TRUE); });
}
REFUSED(ABT_mutex_attr_get_recursive, nothing) {
    MutexAttr attr;
    ABT_bool recursive = ABT_TRUE;
    t([&] { return ABT_mutex_attr_get_recursive(attr.handle, &recursive); });
}

// ---- conditions, locks, barriers ----------------------------------------------------------------

struct Cond {
    Cond() { ok(ABT_cond_create(&handle)); }
    Cond(const Cond&) = delete;
    ~Cond() { ok(ABT_cond_free(&handle)); }
    ABT_cond handle = ABT_COND_NULL;
};

REFUSED(ABT_cond_create, memory) { makes<ABT_cond>(t, ABT_cond_create, ABT_cond_free, ABT_COND_NULL); }
REFUSED(ABT_cond_free, nothing) {
    ABT_cond cond = ABT_COND_NULL;
    ok(ABT_cond_create(&cond));
    t([&] { return ABT_cond_free(&cond); });
}
REFUSED(ABT_cond_wait, nothing) {
    Cond cond;
    Mutex mutex;
    ok(ABT_mutex_lock(mutex.handle));
    FreshTask signals([](void* raw) { ok(ABT_cond_signal(static_cast<Cond*>(raw)->handle)); }, &cond);
    t([&] { return ABT_cond_wait(cond.handle, mutex.handle); });
    ok(ABT_mutex_unlock(mutex.handle));
}
REFUSED(ABT_cond_timedwait, nothing) {
    Cond cond;
    Mutex mutex;
    ok(ABT_mutex_lock(mutex.handle));
    const timespec soon = abt_test::from_now(0.001);
    EXPECT_EQ(t.once([&] { return ABT_cond_timedwait(cond.handle, mutex.handle, &soon); }), ABT_ERR_COND_TIMEDOUT);
    ok(ABT_mutex_unlock(mutex.handle));
}
REFUSED(ABT_cond_signal, nothing) {
    Cond cond;
    t([&] { return ABT_cond_signal(cond.handle); });
}
REFUSED(ABT_cond_broadcast, nothing) {
    Cond cond;
    t([&] { return ABT_cond_broadcast(cond.handle); });
}

struct RwLock {
    RwLock() { ok(ABT_rwlock_create(&handle)); }
    RwLock(const RwLock&) = delete;
    ~RwLock() { ok(ABT_rwlock_free(&handle)); }
    ABT_rwlock handle = ABT_RWLOCK_NULL;
};

REFUSED(ABT_rwlock_create, memory) { makes<ABT_rwlock>(t, ABT_rwlock_create, ABT_rwlock_free, ABT_RWLOCK_NULL); }
REFUSED(ABT_rwlock_free, nothing) {
    ABT_rwlock lock = ABT_RWLOCK_NULL;
    ok(ABT_rwlock_create(&lock));
    t([&] { return ABT_rwlock_free(&lock); });
}
REFUSED(ABT_rwlock_rdlock, nothing) {
    RwLock lock;
    t([&] { return ABT_rwlock_rdlock(lock.handle); }, [&] { ok(ABT_rwlock_unlock(lock.handle)); });
}
REFUSED(ABT_rwlock_wrlock, nothing) {
    RwLock lock;
    t([&] { return ABT_rwlock_wrlock(lock.handle); }, [&] { ok(ABT_rwlock_unlock(lock.handle)); });
}
REFUSED(ABT_rwlock_unlock, nothing) {
    RwLock lock;
    ok(ABT_rwlock_wrlock(lock.handle));
    t([&] { return ABT_rwlock_unlock(lock.handle); });
}

struct Barrier {
    Barrier() { ok(ABT_barrier_create(1, &handle)); }
    Barrier(const Barrier&) = delete;
    ~Barrier() { ok(ABT_barrier_free(&handle)); }
    ABT_barrier handle = ABT_BARRIER_NULL;
};

REFUSED(ABT_barrier_create, memory) {
    makes<ABT_barrier>(
        t, [](ABT_barrier* barrier) { return ABT_barrier_create(3, barrier); }, ABT_barrier_free, ABT_BARRIER_NULL);
}
REFUSED(ABT_barrier_reinit, nothing) {
    Barrier barrier;
    t([&] { return ABT_barrier_reinit(barrier.handle, 7); });
}
REFUSED(ABT_barrier_free, nothing) {
    ABT_barrier barrier = ABT_BARRIER_NULL;
    ok(ABT_barrier_create(2, &barrier));
    t([&] { return ABT_barrier_free(&barrier); });
}
REFUSED(ABT_barrier_wait, nothing) {
    Barrier barrier;
    t([&] { return ABT_barrier_wait(barrier.handle); });
}
REFUSED(ABT_barrier_get_num_waiters, nothing) {
    Barrier barrier;
    uint32_t waiters = 0;
    t([&] { return ABT_barrier_get_num_waiters(barrier.handle, &waiters); });
}
REFUSED(ABT_xstream_barrier_create, memory) {
    makes<ABT_xstream_barrier>(
        t, [](ABT_xstream_barrier* barrier) { return ABT_xstream_barrier_create(3, barrier); },
        ABT_xstream_barrier_free, ABT_XSTREAM_BARRIER_NULL);
}
REFUSED(ABT_xstream_barrier_free, nothing) {
    ABT_xstream_barrier barrier = ABT_XSTREAM_BARRIER_NULL;
    ok(ABT_xstream_barrier_create(1, &barrier));
    t([&] { return ABT_xstream_barrier_free(&barrier); });
}
REFUSED(ABT_xstream_barrier_wait, nothing) {
    ABT_xstream_barrier barrier = ABT_XSTREAM_BARRIER_NULL;
    ok(ABT_xstream_barrier_create(1, &barrier));
    t([&] { return ABT_xstream_barrier_wait(barrier); });
    ok(ABT_xstream_barrier_free(&barrier));
}

// ---- eventuals, futures -------------------------------------------------------------------------

struct Eventual {
    Eventual() { ok(ABT_eventual_create(8, &handle)); }
    Eventual(const Eventual&) = delete;
    ~Eventual() { ok(ABT_eventual_free(&handle)); }
    ABT_eventual handle = ABT_EVENTUAL_NULL;
};

REFUSED(ABT_eventual_create, memory) {
    for (const int bytes : {0, 100}) {
        makes<ABT_eventual>(
            t, [&](ABT_eventual* eventual) { return ABT_eventual_create(bytes, eventual); }, ABT_eventual_free,
            before<ABT_eventual>());
    }
}
REFUSED(ABT_eventual_free, nothing) {
    ABT_eventual eventual = ABT_EVENTUAL_NULL;
    ok(ABT_eventual_create(8, &eventual));
    t([&] { return ABT_eventual_free(&eventual); });
}
REFUSED(ABT_eventual_wait, nothing) {
    Eventual eventual;
    FreshTask sets([](void* raw) { ok(ABT_eventual_set(static_cast<Eventual*>(raw)->handle, nullptr, 0)); }, &eventual);
    t([&] { return ABT_eventual_wait(eventual.handle, nullptr); });
}
REFUSED(ABT_eventual_timedwait, nothing) {
    Eventual eventual;
    const timespec soon = abt_test::from_now(0.001);
    EXPECT_EQ(t.once([&] { return ABT_eventual_timedwait(eventual.handle, nullptr, &soon); }), ABT_ERR_COND_TIMEDOUT);
}
REFUSED(ABT_eventual_test, nothing) {
    Eventual eventual;
    ABT_bool ready = ABT_TRUE;
    t([&] { return ABT_eventual_test(eventual.handle, nullptr, &ready); });
}
REFUSED(ABT_eventual_set, nothing) {
    Eventual eventual;
    std::int64_t value = 7;
    t([&] { return ABT_eventual_set(eventual.handle, &value, sizeof value); });
}
REFUSED(ABT_eventual_reset, nothing) {
    Eventual eventual;
    ok(ABT_eventual_set(eventual.handle, nullptr, 0));
    t([&] { return ABT_eventual_reset(eventual.handle); });
}

struct Future {
    Future() { ok(ABT_future_create(1, nullptr, &handle)); }
    Future(const Future&) = delete;
    ~Future() { ok(ABT_future_free(&handle)); }
    ABT_future handle = ABT_FUTURE_NULL;
};

REFUSED(ABT_future_create, memory) {
    for (const uint32_t compartments : {0u, 3u}) {
        makes<ABT_future>(
            t, [&](ABT_future* future) { return ABT_future_create(compartments, nullptr, future); }, ABT_future_free,
            before<ABT_future>());
    }
}
REFUSED(ABT_future_free, nothing) {
    ABT_future future = ABT_FUTURE_NULL;
    ok(ABT_future_create(1, nullptr, &future));
    t([&] { return ABT_future_free(&future); });
}
REFUSED(ABT_future_wait, nothing) {
    Future future;
    FreshTask sets([](void* raw) { ok(ABT_future_set(static_cast<Future*>(raw)->handle, nullptr)); }, &future);
    t([&] { return ABT_future_wait(future.handle); });
}
REFUSED(ABT_future_test, nothing) {
    Future future;
    ABT_bool ready = ABT_TRUE;
    t([&] { return ABT_future_test(future.handle, &ready); });
}
REFUSED(ABT_future_set, nothing) {
    Future future;
    t([&] { return ABT_future_set(future.handle, nullptr); });
}
REFUSED(ABT_future_reset, nothing) {
    Future future;
    t([&] { return ABT_future_reset(future.handle); });
}

// ---- timers -------------------------------------------------------------------------------------

struct Timer {
    Timer() {
        ok(ABT_timer_create(&handle));
        ok(ABT_timer_start(handle));
        ok(ABT_timer_stop(handle));
    }
    Timer(const Timer&) = delete;
    ~Timer() { ok(ABT_timer_free(&handle)); }
    ABT_timer handle = ABT_TIMER_NULL;
    double seconds = 0;
};

REFUSED(ABT_timer_create, memory) { makes<ABT_timer>(t, ABT_timer_create, ABT_timer_free, ABT_TIMER_NULL); }
REFUSED(ABT_timer_dup, memory) {
    Timer timer;
    makes<ABT_timer>(
        t, [&](ABT_timer* copy) { return ABT_timer_dup(timer.handle, copy); }, ABT_timer_free, ABT_TIMER_NULL);
}
REFUSED(ABT_timer_free, nothing) {
    ABT_timer timer = ABT_TIMER_NULL;
    ok(ABT_timer_create(&timer));
    t([&] { return ABT_timer_free(&timer); });
}
REFUSED(ABT_timer_start, nothing) {
    Timer timer;
    t([&] { return ABT_timer_start(timer.handle); });
}
REFUSED(ABT_timer_stop, nothing) {
    Timer timer;
    t([&] { return ABT_timer_stop(timer.handle); });
}
REFUSED(ABT_timer_read, nothing) {
    Timer timer;
    t([&] { return ABT_timer_read(timer.handle, &timer.seconds); });
}
REFUSED(ABT_timer_stop_and_read, nothing) {
    Timer timer;
    t([&] { return ABT_timer_stop_and_read(timer.handle, &timer.seconds); });
}
REFUSED(ABT_timer_stop_and_add, nothing) {
    Timer timer;
    t([&] { return ABT_timer_stop_and_add(timer.handle, &timer.seconds); });
}
REFUSED(ABT_timer_get_overhead, nothing) {
    double seconds = 0;
    t([&] { return ABT_timer_get_overhead(&seconds); });
}
REFUSED(ABT_get_wtime, nothing) {
    t([] {
        EXPECT_GE(ABT_get_wtime(), 0);
        return ABT_SUCCESS;
    });
}

// ---- keys ---------------------------------------------------------------------------------------

struct Key {
    Key() { ok(ABT_key_create(nullptr, &handle)); }
    Key(const Key&) = delete;
    ~Key() { ok(ABT_key_free(&handle)); }
    ABT_key handle = ABT_KEY_NULL;
    void* value = nullptr;
};

REFUSED(ABT_key_create, memory) {
    makes<ABT_key>(
        t, [](ABT_key* key) { return ABT_key_create(nullptr, key); }, ABT_key_free, ABT_KEY_NULL);
}
REFUSED(ABT_key_free, nothing) {
    ABT_key key = ABT_KEY_NULL;
    ok(ABT_key_create(nullptr, &key));
    t([&] { return ABT_key_free(&key); });
}
REFUSED(ABT_key_set, memory) {
    Key keys[40];   // more than the first table has room for
    for (Key& key : keys) {
        t([&] { return ABT_key_set(key.handle, &key); }, [] {},
          [&] {
              void* value = &value;
              ok(ABT_key_get(key.handle, &value));
              EXPECT_EQ(value, nullptr);
          });
    }
}
REFUSED(ABT_key_get, nothing) {
    Key key;
    t([&] { return ABT_key_get(key.handle, &key.value); });
}
REFUSED(ABT_self_set_specific, memory) {
    Key key;
    t([&] { return ABT_self_set_specific(key.handle, &key); });
}
REFUSED(ABT_self_get_specific, nothing) {
    Key key;
    t([&] { return ABT_self_get_specific(key.handle, &key.value); });
}
REFUSED(ABT_thread_set_specific, memory) {
    Key key;
    Fresh unit;
    t([&] { return ABT_thread_set_specific(unit.handle, key.handle, &key); });
    ok(ABT_thread_get_specific(unit.handle, key.handle, &key.value));
    EXPECT_EQ(key.value, &key);
}
REFUSED(ABT_thread_get_specific, nothing) {
    Key key;
    Fresh unit;
    t([&] { return ABT_thread_get_specific(unit.handle, key.handle, &key.value); });
}

// ---- configurations, errors ---------------------------------------------------------------------

const ABT_sched_config_var first_var{0, ABT_SCHED_CONFIG_INT}, second_var{1, ABT_SCHED_CONFIG_DOUBLE};

struct SchedConfig {
    SchedConfig() { ok(ABT_sched_config_create(&handle, first_var, 1, second_var, 2.0, ABT_sched_config_var_end)); }
    SchedConfig(const SchedConfig&) = delete;
    ~SchedConfig() { ok(ABT_sched_config_free(&handle)); }
    ABT_sched_config handle = ABT_SCHED_CONFIG_NULL;
};

REFUSED(ABT_sched_config_create, memory) {
    makes<ABT_sched_config>(
        t,
        [](ABT_sched_config* config) {
            return ABT_sched_config_create(config, first_var, 1, second_var, 2.0, ABT_sched_config_var_end);
        },
        ABT_sched_config_free, before<ABT_sched_config>());
}
REFUSED(ABT_sched_config_read, nothing) {
    SchedConfig config;
    int number = 0;
    double real = 0;
    t([&] { return ABT_sched_config_read(config.handle, 2, &number, &real); });
}
REFUSED(ABT_sched_config_free, nothing) {
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    ok(ABT_sched_config_create(&config, first_var, 1, ABT_sched_config_var_end));
    t([&] { return ABT_sched_config_free(&config); });
}
REFUSED(ABT_sched_config_set, memory) {
    SchedConfig config;
    for (int key = 0; key < 40; ++key)
        t([&] { return ABT_sched_config_set(config.handle, key, ABT_SCHED_CONFIG_INT, &key); });
}
REFUSED(ABT_sched_config_get, nothing) {
    SchedConfig config;
    int number = 0;
    t([&] { return ABT_sched_config_get(config.handle, 0, nullptr, &number); });
}

struct PoolConfig {
    PoolConfig() { ok(ABT_pool_config_create(&handle)); }
    PoolConfig(const PoolConfig&) = delete;
    ~PoolConfig() { ok(ABT_pool_config_free(&handle)); }
    ABT_pool_config handle = ABT_POOL_CONFIG_NULL;
};

REFUSED(ABT_pool_config_create, memory) {
    makes<ABT_pool_config>(t, ABT_pool_config_create, ABT_pool_config_free, before<ABT_pool_config>());
}
REFUSED(ABT_pool_config_free, nothing) {
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    ok(ABT_pool_config_create(&config));
    t([&] { return ABT_pool_config_free(&config); });
}
REFUSED(ABT_pool_config_set, memory) {
    PoolConfig config;
    for (int key = 0; key < 40; ++key) {
        t([&] { return ABT_pool_config_set(config.handle, key, ABT_POOL_CONFIG_INT, &key); }, [] {},
          [&] {
              for (int each = 0; each < key; ++each) {
                  int value = -1;
                  ok(ABT_pool_config_get(config.handle, each, nullptr, &value));
                  EXPECT_EQ(value, each);
              }
          });
    }
}
REFUSED(ABT_pool_config_get, nothing) {
    PoolConfig config;
    const int one = 1;
    int value = 0;
    ok(ABT_pool_config_set(config.handle, 0, ABT_POOL_CONFIG_INT, &one));
    t([&] { return ABT_pool_config_get(config.handle, 0, nullptr, &value); });
}

REFUSED(ABT_error_get_str, nothing) {
    char text[64];
    size_t length = 0;
    t([&] { return ABT_error_get_str(ABT_ERR_MEM, text, &length); });
}

}   // namespace
