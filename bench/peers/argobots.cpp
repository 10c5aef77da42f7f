// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The primitives of Weft's benchmarks with Argobots, through its public interface; built if
// pkg-config finds it. One execution stream whose main pool is a FIFO of access "private" or
// "shared" (--pool=private|shared).
#include <abt.h>

#include <functional>
#include <memory>

#include "crowd.hpp"
#include "harness.hpp"

namespace {

void must(int status) {
    if (status == ABT_SUCCESS) [[likely]]
        return;
    std::fprintf(stderr, "bench: Argobots: error %d\n", status);
    std::exit(1);
}

class Runtime {
public:
    explicit Runtime(ABT_pool_access access) {
        must(ABT_init(0, nullptr));
        ABT_xstream stream = ABT_XSTREAM_NULL;
        must(ABT_xstream_self(&stream));
        must(ABT_pool_create_basic(ABT_POOL_FIFO, access, ABT_TRUE, &pool_));
        must(ABT_xstream_set_main_sched_basic(stream, ABT_SCHED_BASIC, 1, &pool_));
    }
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    ~Runtime() { must(ABT_finalize()); }
    [[nodiscard]] ABT_pool pool() const { return pool_; }

private:
    ABT_pool pool_ = ABT_POOL_NULL;
};

ABT_thread spawn_ult(ABT_pool pool, void (*body)(void*), void* argument) {
    ABT_thread thread = ABT_THREAD_NULL;
    must(ABT_thread_create(pool, body, argument, ABT_THREAD_ATTR_NULL, &thread));
    return thread;
}

// Runs f() on a ULT whose stack suffices for Google Benchmark's own calls, like on_ult of
// weft_harness.hpp.
template <class F>
void on_ult(ABT_pool pool, F f) {
    ABT_thread_attr attributes = ABT_THREAD_ATTR_NULL;
    must(ABT_thread_attr_create(&attributes));
    must(ABT_thread_attr_set_stacksize(attributes, 262144));
    ABT_thread thread = ABT_THREAD_NULL;
    must(ABT_thread_create(
        pool, [](void* argument) { (*static_cast<F*>(argument))(); }, &f, attributes, &thread));
    must(ABT_thread_free(&thread));
    must(ABT_thread_attr_free(&attributes));
}

void ults(benchmark::State& state, ABT_pool pool, std::size_t count) {
    on_ult(pool, [&] {
        std::vector<ABT_thread> threads(count);
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            for (auto& thread : threads) thread = spawn_ult(pool, bench::nothing, nullptr);
            for (auto& thread : threads) must(ABT_thread_free(&thread));
        }
    });
}

void tasklets(benchmark::State& state, ABT_pool pool, std::size_t count) {
    on_ult(pool, [&] {
        std::vector<ABT_task> tasks(count);
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            for (auto& task : tasks) must(ABT_task_create(pool, bench::nothing, nullptr, &task));
            for (auto& task : tasks) must(ABT_task_free(&task));
        }
    });
}

constexpr auto yield = [] { must(ABT_thread_yield()); };

void yield_among(benchmark::State& state, ABT_pool pool, std::size_t count) {
    on_ult(pool, [&] {
        bench::Crowd crowd{state, static_cast<benchmark::IterationCount>(count)};
        auto yield_with_the_others = [](void* raw) { static_cast<bench::Crowd*>(raw)->yield_together(false, yield); };
        std::vector<ABT_thread> others(count - 1);
        for (auto& other : others) other = spawn_ult(pool, yield_with_the_others, &crowd);
        yield();
        crowd.yield_together(true, yield);
        crowd.stop = true;
        for (auto& other : others) must(ABT_thread_free(&other));
    });
}

struct Pair {
    bench::Crowd crowd;
    ABT_thread measuring = ABT_THREAD_NULL;
    void yield_to(ABT_thread other, bool measures) {
        crowd.yield_together(measures, [other] { must(ABT_thread_yield_to(other)); });
    }
};

void yield_between_two(benchmark::State& state, ABT_pool pool) {
    on_ult(pool, [&] {
        Pair pair{{state, 2}};
        must(ABT_thread_self(&pair.measuring));
        auto yield_back = [](void* raw) {
            static_cast<Pair*>(raw)->yield_to(static_cast<Pair*>(raw)->measuring, false);
        };
        ABT_thread other = spawn_ult(pool, yield_back, &pair);
        pair.yield_to(other, true);
        pair.crowd.stop = true;
        must(ABT_thread_free(&other));
    });
}

// ---- synchronization of ULTs --------------------------------------------------------------------

// A ULT that runs f(), and is joined and freed when this object goes out of scope.
class Ult {
public:
    template <class F>
    Ult(ABT_pool pool, F f) : body_(std::make_unique<std::function<void()>>(std::move(f))) {
        thread_ = spawn_ult(
            pool, [](void* body) { (*static_cast<std::function<void()>*>(body))(); }, body_.get());
    }
    Ult(Ult&& other) noexcept : body_(std::move(other.body_)), thread_(std::exchange(other.thread_, ABT_THREAD_NULL)) {}
    Ult(const Ult&) = delete;
    Ult& operator=(const Ult&) = delete;
    ~Ult() {
        if (thread_ != ABT_THREAD_NULL) must(ABT_thread_free(&thread_));
    }

private:
    std::unique_ptr<std::function<void()>> body_;
    ABT_thread thread_ = ABT_THREAD_NULL;
};

auto spawner(ABT_pool pool) {
    return [pool](auto body) { return Ult(pool, body); };
}

struct Mutex {
    ABT_mutex handle = ABT_MUTEX_NULL;
    Mutex() { must(ABT_mutex_create(&handle)); }
    ~Mutex() { must(ABT_mutex_free(&handle)); }
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;
    void lock() { must(ABT_mutex_lock(handle)); }
    void unlock() { must(ABT_mutex_unlock(handle)); }
};

struct Condition {
    ABT_cond handle = ABT_COND_NULL;
    Condition() { must(ABT_cond_create(&handle)); }
    ~Condition() { must(ABT_cond_free(&handle)); }
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;
    void wait(Mutex& mutex) { must(ABT_cond_wait(handle, mutex.handle)); }
    void signal() { must(ABT_cond_signal(handle)); }
    void broadcast() { must(ABT_cond_broadcast(handle)); }
};

struct ConditionGame {
    Mutex mutex;
    Condition changed;
    int turns = 0;
    bool over = false;

    void meet(int me) {
        if (me == 0) return;
        mutex.lock();
        while (turns != me) changed.wait(mutex);
        mutex.unlock();
    }
    void turn(int me) {
        mutex.lock();
        turns = 1 - me;
        changed.signal();
        while (turns != me && !over) changed.wait(mutex);
        mutex.unlock();
    }
    void release() {
        mutex.lock();
        over = true;
        changed.broadcast();
        mutex.unlock();
    }
};

struct UnlockedConditionGame {
    Mutex mutex;
    Condition changed;
    int turns = 0;

    void turn(int me) {
        mutex.lock();
        while (turns != me) changed.wait(mutex);
        turns = 1 - me;
        changed.signal();
        mutex.unlock();
    }
};

// Holds the mutex throughout.
struct HeldConditionGame {
    Mutex mutex;
    Condition changed;
    int turns = 0;

    void begin() { mutex.lock(); }
    void end() { mutex.unlock(); }
    void turn(int me) {
        while (turns != me) changed.wait(mutex);
        turns = 1 - me;
        changed.signal();
    }
};

// An event is an eventual without a value.
struct EventGame {
    ABT_eventual mine[2] = {ABT_EVENTUAL_NULL, ABT_EVENTUAL_NULL};

    EventGame() {
        for (ABT_eventual& event : mine) must(ABT_eventual_create(0, &event));
        must(ABT_eventual_set(mine[0], nullptr, 0));
    }
    ~EventGame() {
        for (ABT_eventual& event : mine) must(ABT_eventual_free(&event));
    }
    EventGame(const EventGame&) = delete;
    EventGame& operator=(const EventGame&) = delete;
    void turn(int me) {
        must(ABT_eventual_wait(mine[me], nullptr));
        must(ABT_eventual_reset(mine[me]));
        must(ABT_eventual_set(mine[1 - me], nullptr, 0));
    }
};

template <class Game>
void hand_off(benchmark::State& state, ABT_pool pool) {
    on_ult(pool, [&] { bench::hand_off<Game>(state, spawner(pool)); });
}

void barrier(benchmark::State& state, ABT_pool pool, std::size_t count) {
    on_ult(pool, [&] {
        ABT_barrier all = ABT_BARRIER_NULL;
        must(ABT_barrier_create(static_cast<uint32_t>(count), &all));
        bench::wait_for_all(
            state, count, [all] { must(ABT_barrier_wait(all)); }, spawner(pool));
        must(ABT_barrier_free(&all));
    });
}

void mutex_held(benchmark::State& state, ABT_pool pool, std::size_t count) {
    on_ult(pool, [&] {
        Mutex mutex;
        auto locked = [&mutex](auto inside) {
            mutex.lock();
            const bool goes_on = inside();
            yield();
            mutex.unlock();
            return goes_on;
        };
        bench::lock_among(state, count, locked, spawner(pool));
    });
}

void mutex_uncontended(benchmark::State& state, ABT_pool pool) {
    on_ult(pool, [&] {
        Mutex mutex;
        while (state.KeepRunning()) {
            mutex.lock();
            mutex.unlock();
        }
    });
}

void event_ready(benchmark::State& state, ABT_pool pool) {
    on_ult(pool, [&] {
        ABT_eventual event = ABT_EVENTUAL_NULL;
        must(ABT_eventual_create(0, &event));
        while (state.KeepRunning()) {
            must(ABT_eventual_set(event, nullptr, 0));
            must(ABT_eventual_wait(event, nullptr));
            must(ABT_eventual_reset(event));
        }
        must(ABT_eventual_free(&event));
    });
}

void future_whole(benchmark::State& state, ABT_pool pool) {
    on_ult(pool, [&] {
        while (state.KeepRunning()) {
            ABT_future future = ABT_FUTURE_NULL;
            must(ABT_future_create(1, nullptr, &future));
            must(ABT_future_set(future, nullptr));
            must(ABT_future_wait(future));
            must(ABT_future_free(&future));
        }
    });
}

}   // namespace

int main(int argc, char** argv) {
    const std::string pool_name = bench::take_flag(argc, argv, "pool", "private");
    bench::pin(bench::usable_cpus().back());
    const Runtime runtime(pool_name == "shared" ? ABT_POOL_ACCESS_MPMC : ABT_POOL_ACCESS_PRIV);
    const ABT_pool pool = runtime.pool();
    const std::string subject = "argobots." + pool_name;
    bench::add("spawn_join/one", subject + ".ult", ults, pool, std::size_t{1});
    bench::add("spawn_join/one", subject + ".tasklet", tasklets, pool, std::size_t{1});
    for (std::size_t count : {64, 256, 4096, 262144}) {
        bench::add("spawn_join/" + std::to_string(count), subject + ".ult", ults, pool, count);
        bench::add("spawn_join/" + std::to_string(count), subject + ".tasklet", tasklets, pool, count);
    }
    for (std::size_t count : {2, 64, 16384})
        bench::add("yield/" + std::to_string(count), subject, yield_among, pool, count);
    bench::add("yield_to", subject, yield_between_two, pool);
    bench::add("mutex", subject, mutex_uncontended, pool);
    for (std::size_t count : {2, 16, 64, 256, 1024}) {
        bench::add("mutex_held/" + std::to_string(count), subject, mutex_held, pool, count);
    }
    bench::add("condition", subject, hand_off<ConditionGame>, pool);
    bench::add("condition.unlocked", subject, hand_off<UnlockedConditionGame>, pool);
    bench::add("condition.held", subject, hand_off<HeldConditionGame>, pool);
    bench::add("event", subject, hand_off<EventGame>, pool);
    bench::add("event_ready", subject, event_ready, pool);
    bench::add("barrier/64", subject, barrier, pool, std::size_t{64});
    bench::add("future", subject, future_whole, pool);
    return bench::run_registered(argc, argv);
}
