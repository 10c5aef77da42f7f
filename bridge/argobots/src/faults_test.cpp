// Each allocation, and each call of pthreads, that a call makes is refused in turn: the call says so, has changed nothing, succeeds when it is repeated,
// and nothing is lost. Not with sanitizers, whose malloc it would take the place of.
#include "test_support.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstdlib>

namespace faults {

// Of the calling thread. -1: nothing is refused.
thread_local int until_refused = -1;
thread_local bool refused = false;
thread_local long live = 0;   // blocks

bool refuse() {
    if (until_refused < 0) return false;
    if (until_refused-- != 0) return false;
    refused = true;
    return true;
}

void* counted(void* block) {
    live += block != nullptr ? 1 : 0;
    return block;
}

}  // namespace faults

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);

void* malloc(std::size_t bytes) { return faults::refuse() ? nullptr : faults::counted(__libc_malloc(bytes)); }
void* calloc(std::size_t count, std::size_t bytes) { return faults::refuse() ? nullptr : faults::counted(__libc_calloc(count, bytes)); }
void* realloc(void* block, std::size_t bytes) {
    if (faults::refuse()) return nullptr;
    void* const moved = __libc_realloc(block, bytes);
    return block == nullptr ? faults::counted(moved) : moved;
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return faults::refuse() ? nullptr : faults::counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    if (faults::refuse()) return ENOMEM;
    *block = faults::counted(__libc_memalign(alignment, bytes));
    return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) {
    faults::live -= block != nullptr ? 1 : 0;
    __libc_free(block);
}

int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) noexcept {
    if (faults::refuse()) return EAGAIN;
    static const auto real = reinterpret_cast<int (*)(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned)>(dlsym(RTLD_NEXT, "pthread_barrier_init"));
    return real(barrier, attributes, count);
}

}  // extern "C"

namespace {

class Faults : public abt_test::Argobots {};

enum class OnError { none, as_before };   // what becomes of the handle

// `make` is refused one thing after the other, until it needs no more.
template <class Handle, class Make, class Free>
void each_is_refused(Handle none, OnError on_error, Make&& make, Free&& free_handle) {
    Handle handle = none;
    ASSERT_EQ(make(&handle), ABT_SUCCESS);   // what is made once, is made now
    ASSERT_EQ(free_handle(&handle), ABT_SUCCESS);
    const auto before = reinterpret_cast<Handle>(std::uintptr_t{0x1000});
    for (int i = 0;; ++i) {
        ASSERT_LT(i, 100);
        const long live = faults::live;
        handle = before;
        faults::refused = false;
        faults::until_refused = i;
        const int result = make(&handle);
        faults::until_refused = -1;
        if (!faults::refused) {
            EXPECT_EQ(result, ABT_SUCCESS);
            EXPECT_EQ(free_handle(&handle), ABT_SUCCESS);
            EXPECT_EQ(faults::live, live);
            EXPECT_GT(i, 0);   // something was refused
            return;
        }
        EXPECT_TRUE(result == ABT_ERR_MEM || result == ABT_ERR_SYS) << result;
        EXPECT_EQ(handle, on_error == OnError::none ? none : before);
        EXPECT_EQ(faults::live, live);
        EXPECT_EQ(make(&handle), ABT_SUCCESS);
        EXPECT_EQ(free_handle(&handle), ABT_SUCCESS);
        EXPECT_EQ(faults::live, live);
    }
}

TEST_F(Faults, Mutexes) {
    each_is_refused(ABT_MUTEX_NULL, OnError::none, ABT_mutex_create, ABT_mutex_free);
    each_is_refused(ABT_MUTEX_ATTR_NULL, OnError::none, ABT_mutex_attr_create, ABT_mutex_attr_free);
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    ABT_mutex_attr_create(&attr);
    each_is_refused(ABT_MUTEX_NULL, OnError::none, [&](ABT_mutex* mutex) { return ABT_mutex_create_with_attr(attr, mutex); }, ABT_mutex_free);
    ABT_mutex_attr_free(&attr);
    ABT_mutex mutex = ABT_MUTEX_NULL;
    ABT_mutex_create(&mutex);
    each_is_refused(ABT_MUTEX_ATTR_NULL, OnError::none, [&](ABT_mutex_attr* of) { return ABT_mutex_get_attr(mutex, of); }, ABT_mutex_attr_free);
    ABT_mutex_free(&mutex);
}

TEST_F(Faults, ConditionsAndLocks) {
    each_is_refused(ABT_COND_NULL, OnError::none, ABT_cond_create, ABT_cond_free);
    each_is_refused(ABT_RWLOCK_NULL, OnError::none, ABT_rwlock_create, ABT_rwlock_free);
}

TEST_F(Faults, EventualsAndFutures) {
    for (const int bytes : {0, 100}) {
        each_is_refused(ABT_EVENTUAL_NULL, OnError::as_before, [&](ABT_eventual* eventual) { return ABT_eventual_create(bytes, eventual); },
                        ABT_eventual_free);
    }
    for (const uint32_t compartments : {0u, 3u}) {
        each_is_refused(ABT_FUTURE_NULL, OnError::as_before, [&](ABT_future* future) { return ABT_future_create(compartments, nullptr, future); },
                        ABT_future_free);
    }
}

TEST_F(Faults, Barriers) {
    each_is_refused(ABT_BARRIER_NULL, OnError::none, [](ABT_barrier* barrier) { return ABT_barrier_create(3, barrier); }, ABT_barrier_free);
    each_is_refused(ABT_XSTREAM_BARRIER_NULL, OnError::none, [](ABT_xstream_barrier* barrier) { return ABT_xstream_barrier_create(3, barrier); },
                    ABT_xstream_barrier_free);
}

TEST_F(Faults, Timers) {
    each_is_refused(ABT_TIMER_NULL, OnError::none, ABT_timer_create, ABT_timer_free);
    ABT_timer timer = ABT_TIMER_NULL;
    ABT_timer_create(&timer);
    each_is_refused(ABT_TIMER_NULL, OnError::none, [&](ABT_timer* copy) { return ABT_timer_dup(timer, copy); }, ABT_timer_free);
    ABT_timer_free(&timer);
}

TEST_F(Faults, Configurations) {
    each_is_refused(ABT_POOL_CONFIG_NULL, OnError::as_before, ABT_pool_config_create, ABT_pool_config_free);
    const ABT_sched_config_var first{0, ABT_SCHED_CONFIG_INT}, second{1, ABT_SCHED_CONFIG_DOUBLE};
    each_is_refused(ABT_SCHED_CONFIG_NULL, OnError::as_before,
                    [&](ABT_sched_config* config) { return ABT_sched_config_create(config, first, 1, second, 2.0, ABT_sched_config_var_end); },
                    ABT_sched_config_free);
}

// A value that finds no room leaves the others as they were.
TEST_F(Faults, ValuesOfConfigurations) {
    ABT_pool_config config = ABT_POOL_CONFIG_NULL;
    ASSERT_EQ(ABT_pool_config_create(&config), ABT_SUCCESS);
    int failures = 0;
    for (int key = 0; key < 40; ++key) {
        faults::until_refused = 0;
        int result = ABT_pool_config_set(config, key, ABT_POOL_CONFIG_INT, &key);
        faults::until_refused = -1;
        if (result != ABT_SUCCESS) {
            ++failures;
            EXPECT_EQ(result, ABT_ERR_MEM);
            int value = -1;
            EXPECT_EQ(ABT_pool_config_get(config, key, nullptr, &value), ABT_ERR_INV_ARG);
            result = ABT_pool_config_set(config, key, ABT_POOL_CONFIG_INT, &key);
        }
        EXPECT_EQ(result, ABT_SUCCESS);
        for (int each = 0; each <= key; ++each) {
            int value = -1;
            EXPECT_EQ(ABT_pool_config_get(config, each, nullptr, &value), ABT_SUCCESS);
            EXPECT_EQ(value, each);
        }
    }
    EXPECT_GT(failures, 0);
    ABT_pool_config_free(&config);
}

}  // namespace
