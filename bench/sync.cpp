// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Synchronization on one stream with a private pool: one iteration is one hand-off from one unit to
// another, one wait at a barrier, one element of a channel, one lock and unlock. The baseline of
// all operations that switch is the raw switch.
//   sync [--threads=N]
// With N other OS threads, which sleep: in a process with only one OS thread the library takes a
// shorter path.
#include <pthread.h>
#include <unistd.h>

#include <mutex>

#include "crowd.hpp"
#include "games.hpp"
#include "raw_benchmarks.hpp"
#include "weft_harness.hpp"

namespace {

template <class Game>
void hand_off(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] { bench::hand_off<Game>(state, bench::spawner(pool)); });
}

void barrier(benchmark::State& state, weft_pool* pool, std::size_t count) {
    bench::on_ult(pool, [&] {
        weft_barrier barrier;
        bench::must(weft_barrier_init(&barrier, static_cast<uint32_t>(count), nullptr, nullptr));
        bench::wait_for_all(
            state, count, [&barrier] { bench::must(weft_barrier_wait(&barrier)); }, bench::spawner(pool));
    });
}

void mutex_held(benchmark::State& state, weft_pool* pool, std::size_t count) {
    bench::on_ult(pool, [&] {
        alignas(64) weft_mutex mutex = WEFT_MUTEX_INIT;
        bench::lock_among(state, count, bench::locked_over_a_yield(mutex), bench::spawner(pool));
    });
}

void mutex_uncontended(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        weft_mutex mutex = WEFT_MUTEX_INIT;
        while (state.KeepRunning()) {
            bench::must(weft_mutex_lock(&mutex));
            bench::must(weft_mutex_unlock(&mutex));
        }
    });
}

void pthread_mutex_uncontended(benchmark::State& state) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    while (state.KeepRunning()) {
        if (pthread_mutex_lock(&mutex) != 0) std::abort();
        if (pthread_mutex_unlock(&mutex) != 0) std::abort();
    }
}

// A unit may use std::mutex as well, as long as it does not switch while it holds the mutex.
void std_mutex_uncontended(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        std::mutex mutex;
        while (state.KeepRunning()) {
            mutex.lock();
            mutex.unlock();
        }
    });
}

// ---- operations that need not wait --------------------------------------------------------------

void event_ready(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        weft_event event = WEFT_EVENT_INIT;
        while (state.KeepRunning()) {
            bench::must(weft_event_set(&event, nullptr));
            bench::must(weft_event_wait(&event, nullptr));
            bench::must(weft_event_reset(&event));
        }
    });
}

void future_whole(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        while (state.KeepRunning()) {
            weft_future* future;
            bench::must(weft_future_create(1, nullptr, nullptr, &future));
            bench::must(weft_future_set(future, nullptr));
            bench::must(weft_future_wait(future, nullptr));
            bench::must(weft_future_free(future));
        }
    });
}

void channel_buffered(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        weft_channel_options options = {};
        options.size = sizeof options;
        options.capacity = 128;
        weft_channel* channel;
        bench::must(weft_channel_create(&options, &channel));
        {
            const bench::Ult sender(pool, [channel] {
                for (void* element = nullptr; weft_channel_send(channel, &element) == WEFT_OK;) {}
            });
            void* element;
            while (state.KeepRunning()) bench::must(weft_channel_receive(channel, &element));
            bench::must(weft_channel_close(channel));
        }
        bench::must(weft_channel_free(channel));
    });
}

void start_sleepers(int count) {
    for (int i = 0; i < count; ++i) bench::start_thread_that_sleeps();
}

}   // namespace

int main(int argc, char** argv) {
    const int threads = std::stoi(bench::take_flag(argc, argv, "threads", "0"));
    bench::pin(bench::usable_cpus().back());
    start_sleepers(threads);
    const bench::Runtime runtime(WEFT_POOL_PRIVATE, WEFT_KIND_FULL);
    weft_pool* pool = runtime.pool();
    const std::string way = threads > 0 ? ".with_threads" : "";
    const std::string subject = "weft" + way;
    bench::add_raw_switch("switch");
    bench::add("mutex", subject, mutex_uncontended, pool);
    bench::add("mutex", "pthread" + way, pthread_mutex_uncontended);
    bench::add("mutex", "std.mutex" + way, std_mutex_uncontended, pool);
    for (std::size_t count : {2, 16, 64, 256, 1024}) {
        bench::add("mutex_held/" + std::to_string(count), subject, mutex_held, pool, count);
    }
    bench::add("condition", subject, hand_off<bench::ConditionGame>, pool);
    bench::add("condition.unlocked", subject, hand_off<bench::UnlockedConditionGame>, pool);
    bench::add("condition.held", subject, hand_off<bench::HeldConditionGame>, pool);
    bench::add("event", subject, hand_off<bench::EventGame>, pool);
    bench::add("event_ready", subject, event_ready, pool);
    bench::add("semaphore", subject, hand_off<bench::SemaphoreGame>, pool);
    bench::add("barrier/64", subject, barrier, pool, std::size_t{64});
    bench::add("channel/0", subject, hand_off<bench::ChannelGame>, pool);
    bench::add("channel/128", subject, channel_buffered, pool);
    bench::add("future", subject, future_whole, pool);
    return bench::run_registered(argc, argv);
}
