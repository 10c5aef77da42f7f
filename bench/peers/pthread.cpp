// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The primitives of Weft's benchmarks with the system's own means: POSIX threads, one CPU. Also "as
// many suspended at once as the machine allows":
//   peer_pthread --suspended=N
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <thread>

#include "crowd.hpp"
#include "harness.hpp"
#include "samples.hpp"

namespace {

constexpr std::size_t stack_bytes = 65536;   // like Weft's default

class Attributes {
public:
    Attributes() {
        pthread_attr_init(&attributes_);
        pthread_attr_setstacksize(&attributes_, stack_bytes);
    }
    ~Attributes() { pthread_attr_destroy(&attributes_); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    const pthread_attr_t* get() const { return &attributes_; }

private:
    pthread_attr_t attributes_;
};

void* leave(void* nothing) { return nothing; }

void create_and_join(benchmark::State& state, std::size_t count) {
    const Attributes attributes;
    std::vector<pthread_t> threads(count);
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
        for (auto& thread : threads) {
            if (pthread_create(&thread, attributes.get(), leave, nullptr) != 0) {
                state.SkipWithError("pthread_create");
                return;
            }
        }
        for (auto thread : threads) pthread_join(thread, nullptr);
    }
}

struct Crowd {
    std::atomic<bool> stop{false};
};

void* yield_until_told(void* argument) {
    while (!static_cast<Crowd*>(argument)->stop.load(std::memory_order_relaxed)) sched_yield();   // relaxed: a hint
    return nullptr;
}

void yield_among(benchmark::State& state, std::size_t count) {
    const Attributes attributes;
    Crowd crowd;
    std::vector<pthread_t> others(count - 1);
    for (auto& thread : others) pthread_create(&thread, attributes.get(), yield_until_told, &crowd);
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) sched_yield();   // one round
    crowd.stop = true;
    for (auto thread : others) pthread_join(thread, nullptr);
}

sem_t go;
std::atomic<std::size_t> waiting{0};

void* wait_once(void*) {
    waiting.fetch_add(1);
    while (sem_wait(&go) != 0) {}
    return nullptr;
}

// Up to `wanted` threads that wait on a semaphore: processor time and resident bytes of each. A
// thread's kernel memory (its kernel stack, 16 KiB, and its task structure) is not in the resident
// bytes.
int suspend_many(std::size_t wanted) {
    sem_init(&go, 0, 0);
    const Attributes attributes;
    std::vector<pthread_t> threads(wanted);
    const double resident = bench::resident_bytes();
    std::uint64_t since = bench::processor_ns();
    std::size_t count = 0;
    while (count < wanted && pthread_create(&threads[count], attributes.get(), wait_once, nullptr) == 0) ++count;
    while (waiting.load() < count) sched_yield();
    const auto per_thread = [&](double value) { return value / static_cast<double>(count); };
    bench::print_sample("suspended/spawn:pthread", per_thread(static_cast<double>(bench::processor_ns() - since)));
    bench::print_sample("suspended/resident:pthread", per_thread(bench::resident_bytes() - resident), "bytes");
    bench::print_sample("suspended/count:pthread", static_cast<double>(count), "threads");
    since = bench::processor_ns();
    for (std::size_t i = 0; i < count; ++i) sem_post(&go);
    for (std::size_t i = 0; i < count; ++i) pthread_join(threads[i], nullptr);
    bench::print_sample("suspended/run, join and free:pthread",
                        per_thread(static_cast<double>(bench::processor_ns() - since)));
    return 0;
}

// ---- synchronization of threads -----------------------------------------------------------------

constexpr auto spawner = [](auto body) { return std::jthread(body); };

struct ConditionGame {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    int turns = 0;
    bool over = false;

    void meet(int me) {
        if (me == 0) return;
        pthread_mutex_lock(&mutex);
        while (turns != me) pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    void turn(int me) {
        pthread_mutex_lock(&mutex);
        turns = 1 - me;
        pthread_cond_signal(&changed);
        while (turns != me && !over) pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    void release() {
        pthread_mutex_lock(&mutex);
        over = true;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
};

// Holds the mutex throughout.
struct HeldConditionGame {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    int turns = 0;

    void begin() { pthread_mutex_lock(&mutex); }
    void end() { pthread_mutex_unlock(&mutex); }
    void turn(int me) {
        while (turns != me) pthread_cond_wait(&changed, &mutex);
        turns = 1 - me;
        pthread_cond_signal(&changed);
    }
};

struct SemaphoreGame {
    sem_t mine[2];

    SemaphoreGame() {
        sem_init(&mine[0], 0, 1);
        sem_init(&mine[1], 0, 0);
    }
    void turn(int me) {
        while (sem_wait(&mine[me]) != 0) {}
        sem_post(&mine[1 - me]);
    }
};

template <class Game>
void hand_off(benchmark::State& state) {
    bench::hand_off<Game>(state, spawner);
}

// Like hand_off(), on two CPUs: `cpu` is the other thread's.
template <class Game>
void hand_off_across(benchmark::State& state, int cpu) {
    bench::hand_off<Game>(state, [cpu](auto body) {
        return std::jthread([cpu, body] {
            bench::pin(cpu);
            body();
        });
    });
}

void barrier(benchmark::State& state, std::size_t count) {
    pthread_barrier_t all;
    pthread_barrier_init(&all, nullptr, static_cast<unsigned>(count));
    bench::wait_for_all(
        state, count, [&all] { pthread_barrier_wait(&all); }, spawner);
    pthread_barrier_destroy(&all);
}

void mutex_held(benchmark::State& state, std::size_t count) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    auto locked = [&mutex](auto inside) {
        pthread_mutex_lock(&mutex);
        const bool goes_on = inside();
        sched_yield();
        pthread_mutex_unlock(&mutex);
        return goes_on;
    };
    bench::lock_among(state, count, locked, spawner);
}

void mutex_uncontended(benchmark::State& state) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    while (state.KeepRunning()) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

}   // namespace

int main(int argc, char** argv) {
    const std::size_t suspended = std::stoul(bench::take_flag(argc, argv, "suspended", "0"));
    const std::vector<int> cpus = bench::usable_cpus();
    bench::pin(cpus.back());
    if (suspended > 0) return suspend_many(suspended);
    bench::add("spawn_join/one", "pthread", create_and_join, std::size_t{1})->UseRealTime();
    for (std::size_t count : {64, 256, 4096}) {
        bench::add("spawn_join/" + std::to_string(count), "pthread", create_and_join, count)->UseRealTime();
    }
    for (std::size_t count : {2, 64}) {
        bench::add("yield/" + std::to_string(count), "pthread", yield_among, count)->UseRealTime();
    }
    bench::add("mutex", "pthread", mutex_uncontended);
    for (std::size_t count : {2, 16, 64}) {
        bench::add("mutex_held/" + std::to_string(count), "pthread", mutex_held, count)->UseRealTime();
    }
    bench::add("condition", "pthread", hand_off<ConditionGame>)->UseRealTime();
    bench::add("condition.held", "pthread", hand_off<HeldConditionGame>)->UseRealTime();
    bench::add("semaphore", "pthread", hand_off<SemaphoreGame>)->UseRealTime();
    bench::add("barrier/64", "pthread", barrier, std::size_t{64})->UseRealTime();
    if (cpus.size() > 1) {
        bench::add("two/condition", "pthread", hand_off_across<ConditionGame>, cpus.front())->UseRealTime();
        bench::add("two/condition.held", "pthread", hand_off_across<HeldConditionGame>, cpus.front())->UseRealTime();
        bench::add("two/semaphore", "pthread", hand_off_across<SemaphoreGame>, cpus.front())->UseRealTime();
    }
    return bench::run_registered(argc, argv);
}
