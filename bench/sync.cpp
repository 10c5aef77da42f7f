// What units wait for, on one stream with a private pool: one iteration is one hand-off from one unit to another, one wait at a
// barrier, one element of a channel, one lock and unlock. The baseline of all that switches is the raw switch.
#include <pthread.h>

#include <mutex>

#include "crowd.hpp"
#include "raw_benchmarks.hpp"
#include "weft_harness.hpp"

namespace {

weft_unit* spawn(weft_pool* pool, void (*body)(void*), void* argument) {
    const weft_unit_options options = bench::options_of(WEFT_KIND_FULL);
    weft_unit* unit = nullptr;
    bench::must(weft_ult_spawn(pool, body, argument, &options, &unit));
    return unit;
}

// ---- two units that hand a turn to each other ------------------------------------------------------

// The two play with the same code, so that the processor guesses their returns (crowd.hpp).
template <class Game>
struct Match {
    bench::Crowd crowd;
    Game game{};

    void play(bool first) {
        if constexpr (requires { game.begin(); }) game.begin();
        crowd.yield_together(first, [this, me = first ? 0 : 1] { game.turn(me); });
        if (first) {
            crowd.stop = true;
            game.release(0);
        }
        if constexpr (requires { game.end(); }) game.end();
    }
};

template <class Game>
void hand_off(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        Match<Game> match{{state, 2}};
        weft_unit* other = spawn(pool, [](void* raw) { static_cast<Match<Game>*>(raw)->play(false); }, &match);
        match.play(true);
        bench::must(weft_unit_free(other));
    });
}

struct ConditionGame {
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_cond changed = WEFT_COND_INIT;
    int turns = 0;
    bool over = false;

    void turn(int me) {
        bench::must(weft_mutex_lock(&mutex));
        turns = 1 - me;
        bench::must(weft_cond_signal(&changed));
        while (turns != me && !over) bench::must(weft_cond_wait(&changed, &mutex));
        bench::must(weft_mutex_unlock(&mutex));
    }
    void release(int) {
        bench::must(weft_mutex_lock(&mutex));
        over = true;
        bench::must(weft_cond_broadcast(&changed));
        bench::must(weft_mutex_unlock(&mutex));
    }
};

// The mutex is held all the time, as by the two ends of a queue that work in lockstep.
struct HeldConditionGame {
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_cond changed = WEFT_COND_INIT;
    int turns = 0;
    bool over = false;

    void begin() { bench::must(weft_mutex_lock(&mutex)); }
    void end() { bench::must(weft_mutex_unlock(&mutex)); }
    void turn(int me) {
        turns = 1 - me;
        bench::must(weft_cond_signal(&changed));
        while (turns != me && !over) bench::must(weft_cond_wait(&changed, &mutex));
    }
    void release(int) {
        over = true;
        bench::must(weft_cond_broadcast(&changed));
    }
};

struct EventGame {
    weft_event mine[2] = {WEFT_EVENT_INIT, WEFT_EVENT_INIT};

    EventGame() { bench::must(weft_event_set(&mine[0], nullptr)); }   // whose turn it is first
    void turn(int me) {
        bench::must(weft_event_wait(&mine[me], nullptr));
        bench::must(weft_event_reset(&mine[me]));
        bench::must(weft_event_set(&mine[1 - me], nullptr));
    }
    void release(int) {}   // it is the other's turn
};

struct SemaphoreGame {
    weft_semaphore mine[2] = {};

    SemaphoreGame() { bench::must(weft_semaphore_release(&mine[0], 1)); }
    void turn(int me) {
        bench::must(weft_semaphore_acquire(&mine[me]));
        bench::must(weft_semaphore_release(&mine[1 - me], 1));
    }
    void release(int) {}
};

struct ChannelGame {
    weft_channel* to[2];

    ChannelGame() {
        weft_channel_options options = {};
        options.size = sizeof options;
        for (weft_channel*& channel : to) bench::must(weft_channel_create(&options, &channel));
    }
    ~ChannelGame() {
        for (weft_channel* channel : to) bench::must(weft_channel_free(channel));
    }
    // Ping-pong: one of them sends first.
    void turn(int me) {
        void* ball = nullptr;
        if (me == 0) static_cast<void>(weft_channel_send(to[1], &ball, WEFT_FOREVER));
        static_cast<void>(weft_channel_receive(to[me], &ball, WEFT_FOREVER));
        if (me == 1) static_cast<void>(weft_channel_send(to[0], &ball, WEFT_FOREVER));
    }
    void release(int) {
        for (weft_channel* channel : to) bench::must(weft_channel_close(channel));
    }
};

// ---- many ------------------------------------------------------------------------------------------

// The measuring one says before it arrives which phase is the last: all leave after that.
struct BarrierCrowd {
    benchmark::State& state;
    benchmark::IterationCount count;
    weft_barrier barrier;
    std::size_t last = ~std::size_t{0};

    [[gnu::noipa]] void play(bool measures) {
        for (std::size_t phase = 0;; ++phase) {
            if (measures && !state.KeepRunningBatch(count)) last = phase;
            bench::must(weft_barrier_wait(&barrier));
            if (phase == last) return;
        }
    }
};

void barrier(benchmark::State& state, weft_pool* pool, std::size_t count) {
    bench::on_ult(pool, [&] {
        BarrierCrowd all{state, static_cast<benchmark::IterationCount>(count), {}};
        bench::must(weft_barrier_init(&all.barrier, static_cast<uint32_t>(count), nullptr, nullptr));
        std::vector<weft_unit*> others(count - 1);
        for (auto& unit : others) unit = spawn(pool, [](void* raw) { static_cast<BarrierCrowd*>(raw)->play(false); }, &all);
        all.play(true);
        bench::must(weft_unit_free_many(others.data(), others.size()));
    });
}

struct MutexCrowd {
    bench::Crowd crowd;
    weft_mutex mutex = WEFT_MUTEX_INIT;

    // Each holds the mutex over a yield, so that all the others come and wait.
    void play(bool first) {
        crowd.yield_together(first, [this] {
            bench::must(weft_mutex_lock(&mutex));
            bench::must(weft_unit_yield());
            bench::must(weft_mutex_unlock(&mutex));
        });
    }
};

// Per lock. The measuring one counts for all: they come in turn.
void mutex_contended(benchmark::State& state, weft_pool* pool, std::size_t count) {
    bench::on_ult(pool, [&] {
        MutexCrowd all{{state, static_cast<benchmark::IterationCount>(count)}};
        std::vector<weft_unit*> others(count - 1);
        for (auto& unit : others) unit = spawn(pool, [](void* raw) { static_cast<MutexCrowd*>(raw)->play(false); }, &all);
        all.play(true);
        all.crowd.stop = true;
        bench::must(weft_unit_free_many(others.data(), others.size()));
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

// ---- things that need not wait -----------------------------------------------------------------------

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
            bench::must(weft_future_wait(future, nullptr, WEFT_FOREVER));
            bench::must(weft_future_free(future));
        }
    });
}

struct Stream {
    weft_channel* channel;
    bool stop = false;
};

void channel_buffered(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        weft_channel_options options = {};
        options.size = sizeof options;
        options.capacity = 128;
        weft_channel* channel;
        bench::must(weft_channel_create(&options, &channel));
        weft_unit* sender = spawn(pool, [](void* raw) {
            auto* to = static_cast<weft_channel*>(raw);
            for (void* element = nullptr; weft_channel_send(to, &element, WEFT_FOREVER) == WEFT_OK;) {}
        }, channel);
        void* element;
        while (state.KeepRunning()) bench::must(weft_channel_receive(channel, &element, WEFT_FOREVER));
        bench::must(weft_channel_close(channel));
        bench::must(weft_unit_free(sender));
        bench::must(weft_channel_free(channel));
    });
}

}  // namespace

int main(int argc, char** argv) {
    bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(WEFT_POOL_PRIVATE, WEFT_KIND_FULL);
    weft_pool* pool = runtime.pool();
    bench::add_raw_switch("switch");
    bench::add("mutex", "weft", mutex_uncontended, pool);
    bench::add("mutex", "pthread", pthread_mutex_uncontended);
    for (std::size_t count : {2, 16, 64, 256, 1024}) {
        bench::add("mutex_held/" + std::to_string(count), "weft", mutex_contended, pool, count);
    }
    bench::add("condition", "weft", hand_off<ConditionGame>, pool);
    bench::add("condition.held", "weft", hand_off<HeldConditionGame>, pool);
    bench::add("event", "weft", hand_off<EventGame>, pool);
    bench::add("event_ready", "weft", event_ready, pool);
    bench::add("semaphore", "weft", hand_off<SemaphoreGame>, pool);
    bench::add("barrier/64", "weft", barrier, pool, std::size_t{64});
    bench::add("channel/0", "weft", hand_off<ChannelGame>, pool);
    bench::add("channel/128", "weft", channel_buffered, pool);
    bench::add("future", "weft", future_whole, pool);
    return bench::run_registered(argc, argv);
}
