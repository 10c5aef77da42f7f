// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream's work between two units: pollers, posted calls, calls on its own stack, units that
// change their pool, schedulers below schedulers, user-defined pools. One stream; one iteration is
// one yield, one call or one move.
//   rounds [--blocking=1]
// With this flag only the calls that other OS threads run, in real time. They start threads, so
// they get a separate process.
#include <semaphore.h>

#include <atomic>
#include <thread>

#include "crowd.hpp"
#include "games.hpp"
#include "raw_benchmarks.hpp"
#include "weft_harness.hpp"

namespace {

// ---- pollers, posts, calls ----------------------------------------------------------------------

void yield_beside_pollers(benchmark::State& state, weft_pool* pool, std::size_t count) {
    std::vector<weft_poller*> pollers(count);
    auto nothing_happened = [](void*) { return false; };
    for (auto& poller : pollers) bench::must(weft_poller_register(nothing_happened, nullptr, nullptr, &poller));
    bench::on_ult(pool, [&] { bench::yield_among(state, pool, 2); });
    for (auto* poller : pollers) bench::must(weft_poller_unregister(poller));
}

// Posts from a unit to its own stream and waits until the call has been made.
void post(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        std::atomic<bool> called{false};
        auto note = [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); };
        while (state.KeepRunning()) {
            called.store(false, std::memory_order_relaxed);   // relaxed: read by this OS thread only
            bench::must(weft_stream_post(weft_stream_self(), note, &called));
            // relaxed: this OS thread has written it
            while (!called.load(std::memory_order_relaxed)) bench::must(weft_unit_yield());
        }
    });
}

void on_stream_stack(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        while (state.KeepRunning()) bench::must(weft_on_stream_stack(bench::nothing, nullptr));
    });
}

void blocking(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        while (state.KeepRunning()) bench::must(weft_blocking(bench::nothing, nullptr));
    });
}

// The lower bound: a sleeping OS thread is woken, makes the call, and wakes the caller.
void hand_to_a_thread(benchmark::State& state) {
    sem_t asked, done;
    sem_init(&asked, 0, 0);
    sem_init(&done, 0, 0);
    std::atomic<bool> stop{false};
    auto wait = [](sem_t& semaphore) {
        while (sem_wait(&semaphore) != 0) {}
    };
    std::jthread helper([&] {
        for (wait(asked); !stop.load(); wait(asked)) {
            bench::nothing(nullptr);
            sem_post(&done);
        }
    });
    while (state.KeepRunning()) {
        sem_post(&asked);
        wait(done);
    }
    stop.store(true);
    sem_post(&asked);
}

// ---- other schedulers ---------------------------------------------------------------------------

weft_pool* create_pool(weft_pool_kind kind) {
    weft_pool* pool = nullptr;
    bench::must(weft_pool_create(kind, &pool));
    return pool;
}

weft_sched* create_sched(const std::vector<weft_pool*>& pools) {
    weft_sched* sched = nullptr;
    bench::must(weft_sched_create(WEFT_SCHED_BASIC, pools.data(), pools.size(), &sched));
    return sched;
}

// The stream stops drawing from a pool only at its next turn.
void free_pool(weft_pool* pool) {
    while (weft_pool_free(pool) == WEFT_BUSY) bench::must(weft_unit_yield());
}

// While it exists, the stream draws from `pools` before its own pool.
class DrawsFrom {
public:
    DrawsFrom(std::vector<weft_pool*> pools, weft_pool* own) : own_(own) {
        pools.push_back(own);
        bench::must(weft_stream_sched_set(weft_stream_self(), create_sched(pools)));
    }
    ~DrawsFrom() { bench::must(weft_stream_sched_set(weft_stream_self(), create_sched({own_}))); }
    DrawsFrom(const DrawsFrom&) = delete;
    DrawsFrom& operator=(const DrawsFrom&) = delete;

private:
    weft_pool* own_;
};

void migrate(benchmark::State& state, weft_pool* own, weft_pool_kind kind) {
    weft_pool* pools[2] = {create_pool(kind), create_pool(kind)};
    {
        const DrawsFrom both({pools[0], pools[1]}, own);
        bench::on_ult(pools[0], [&] {
            weft_unit* self = weft_unit_self();
            while (state.KeepRunningBatch(2)) {
                for (auto* pool : {pools[1], pools[0]}) {
                    bench::must(weft_unit_migrate_to_pool(self, pool));
                    bench::must(weft_unit_migrate_wait(self));
                }
            }
        });
    }
    for (auto* pool : pools) free_pool(pool);
}

// `depth` schedulers, each in the pool of the one above it, and two units in the lowest pool.
void yield_below(benchmark::State& state, weft_pool* own, std::size_t depth) {
    std::vector<weft_pool*> pools = {own};
    std::vector<weft_unit*> scheds(depth);
    for (auto& sched : scheds) {
        pools.push_back(create_pool(WEFT_POOL_PRIVATE));
        bench::must(weft_sched_push(create_sched({pools.back()}), pools[pools.size() - 2], nullptr, &sched));
    }
    bench::on_ult(pools.back(), [&] { bench::yield_among(state, pools.back(), 2); });
    bench::must(weft_unit_join_free_many(scheds.data(), scheds.size()));
    for (std::size_t i = depth; i > 0; --i) free_pool(pools[i]);
}

// ---- pools --------------------------------------------------------------------------------------

// A user-defined pool: a FIFO linked through the slot that each unit has for this purpose. With a
// lock any stream could use it.
template <bool locks>
class Fifo {
public:
    weft_pool* create() {
        weft_pool_ops ops = {};
        ops.size = sizeof ops;
        ops.push = [](void* self, weft_unit* unit) { static_cast<Fifo*>(self)->push(unit); };
        ops.pop = [](void* self) { return static_cast<Fifo*>(self)->pop(); };
        // relaxed: a hint
        ops.length = [](const void* self) {
            return static_cast<const Fifo*>(self)->length_.load(std::memory_order_relaxed);
        };
        weft_pool* pool = nullptr;
        bench::must(weft_pool_create_user(&ops, this, &pool));
        return pool;
    }

private:
    void push(weft_unit* unit) {
        lock();
        void** link = weft_unit_link(unit);
        *link = nullptr;
        *tail_ = unit;
        tail_ = link;
        count(1);
        unlock();
    }
    weft_unit* pop() {
        if (length_.load(std::memory_order_relaxed) == 0) return nullptr;   // relaxed: as good as an earlier check
        lock();
        auto* unit = static_cast<weft_unit*>(head_);
        if (unit != nullptr) {
            head_ = *weft_unit_link(unit);
            if (head_ == nullptr) tail_ = &head_;
            count(static_cast<std::size_t>(-1));
        }
        unlock();
        return unit;
    }
    // relaxed: under the lock, or on the only stream
    void count(std::size_t more) {
        length_.store(length_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    void lock() {
        if constexpr (locks) {
            while (locked_.test_and_set(std::memory_order_acquire)) {}   // acquire: pairs with unlock
        }
    }
    void unlock() {
        if constexpr (locks) locked_.clear(std::memory_order_release);   // release: pairs with lock
    }

    void* head_ = nullptr;
    void** tail_ = &head_;
    std::atomic<std::size_t> length_{0};
    std::atomic_flag locked_ = ATOMIC_FLAG_INIT;
};

void yield_in(benchmark::State& state, weft_pool* own, weft_pool* pool, std::size_t count) {
    {
        const DrawsFrom first({pool}, own);
        bench::on_ult(pool, [&] { bench::yield_among(state, pool, count); });
    }
    free_pool(pool);
}

void yield_in_ours(benchmark::State& state, weft_pool* own, weft_pool_kind kind, std::size_t count) {
    yield_in(state, own, create_pool(kind), count);
}

template <bool locks>
void yield_in_a_users(benchmark::State& state, weft_pool* own, std::size_t count) {
    Fifo<locks> fifo;
    yield_in(state, own, fifo.create(), count);
}

void add_all(weft_pool* pool) {
    for (std::size_t count : {0, 1, 8}) {
        bench::add("rounds.pollers/" + std::to_string(count), "weft", yield_beside_pollers, pool, count);
    }
    bench::add("rounds.post", "weft", post, pool);
    bench::add("rounds.on_stream_stack", "weft", on_stream_stack, pool);
    bench::add("rounds.migrate", "weft.private", migrate, pool, WEFT_POOL_PRIVATE);
    bench::add("rounds.migrate", "weft.shared", migrate, pool, WEFT_POOL_SHARED);
    for (std::size_t depth : {0, 1, 2}) {
        bench::add("rounds.below/" + std::to_string(depth), "weft", yield_below, pool, depth);
    }
    for (std::size_t count : {16, 16384}) {
        const std::string primitive = "rounds.pool/" + std::to_string(count);
        bench::add(primitive, "weft.private", yield_in_ours, pool, WEFT_POOL_PRIVATE, count);
        bench::add(primitive, "weft.shared", yield_in_ours, pool, WEFT_POOL_SHARED, count);
        bench::add(primitive, "weft.user", yield_in_a_users<false>, pool, count);
        bench::add(primitive, "weft.user.locked", yield_in_a_users<true>, pool, count);
    }
}

}   // namespace

int main(int argc, char** argv) {
    const bool threads = bench::take_flag(argc, argv, "blocking", "0") != "0";
    bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(WEFT_POOL_PRIVATE, WEFT_KIND_FULL);
    if (threads) {
        bench::add("rounds.blocking", "weft", blocking, runtime.pool())->UseRealTime();
        bench::add("rounds.blocking", "pthread.hand_over", hand_to_a_thread)->UseRealTime();
    } else {
        bench::add_raw_switch("switch");
        add_all(runtime.pool());
    }
    return bench::run_registered(argc, argv);
}
