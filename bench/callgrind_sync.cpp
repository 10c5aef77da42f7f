// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program that run.py --callgrind runs under valgrind for synchronization on one stream, twice
// with different counts: the difference gives the instructions of one operation, which is what one
// iteration of sync.cpp is.
//   callgrind_sync OPERATION[.alone] COUNT
// In a process with only one OS thread the library takes a shorter path. So another one sleeps, as
// in sync --threads=1; with ".alone" there is no other, not even the library's sentry, which is a
// thread of the C library under valgrind.
#include <pthread.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "crowd.hpp"
#include "games.hpp"
#include "weft_harness.hpp"

namespace {

weft_pool* pool = nullptr;

template <class Game>
void hand_off(std::size_t count) {
    bench::Countdown left(count);
    bench::hand_off<Game>(left, bench::spawner(pool));
}

void barrier_of_64(std::size_t count) {
    bench::Countdown left(count);
    weft_barrier barrier;
    bench::must(weft_barrier_init(&barrier, 64, nullptr, nullptr));
    bench::wait_for_all(
        left, 64, [&barrier] { bench::must(weft_barrier_wait(&barrier)); }, bench::spawner(pool));
}

// Each unit holds the mutex over a yield, so that all others arrive and wait.
template <std::size_t units>
void mutex_held(std::size_t count) {
    bench::Countdown left(count);
    alignas(64) weft_mutex mutex = WEFT_MUTEX_INIT;
    bench::lock_among(left, units, bench::locked_over_a_yield(mutex), bench::spawner(pool));
}

void mutex(std::size_t count) {
    weft_mutex mutex = WEFT_MUTEX_INIT;
    for (std::size_t i = 0; i < count; ++i) {
        bench::must(weft_mutex_lock(&mutex));
        bench::must(weft_mutex_unlock(&mutex));
    }
}

void mutex_of_pthread(std::size_t count) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (std::size_t i = 0; i < count; ++i) {
        if (pthread_mutex_lock(&mutex) != 0) std::abort();
        if (pthread_mutex_unlock(&mutex) != 0) std::abort();
    }
}

void event_ready(std::size_t count) {
    weft_event event = WEFT_EVENT_INIT;
    for (std::size_t i = 0; i < count; ++i) {
        bench::must(weft_event_set(&event, nullptr));
        bench::must(weft_event_wait(&event, nullptr));
        bench::must(weft_event_reset(&event));
    }
}

struct Operation {
    std::string_view name;
    void (*run)(std::size_t count);
};

constexpr Operation operations[] = {
    {"mutex", mutex},
    {"mutex.pthread", mutex_of_pthread},
    {"mutex_held.16", mutex_held<16>},
    {"mutex_held.1024", mutex_held<1024>},
    {"condition", hand_off<bench::ConditionGame>},
    {"condition.unlocked", hand_off<bench::UnlockedConditionGame>},
    {"condition.held", hand_off<bench::HeldConditionGame>},
    {"event", hand_off<bench::EventGame>},
    {"event_ready", event_ready},
    {"semaphore", hand_off<bench::SemaphoreGame>},
    {"barrier.64", barrier_of_64},
};

}   // namespace

int main(int argc, char** argv) {
    constexpr std::string_view alone = ".alone";
    std::string_view name = argc == 3 ? argv[1] : "";
    if (name.ends_with(alone)) {
        name.remove_suffix(alone.size());
        if (setenv("WEFT_RESCUE", "ignore", 1) != 0) std::abort();
    } else {
        bench::start_thread_that_sleeps();
    }
    for (const auto& operation : operations) {
        if (operation.name != name) continue;
        const std::size_t count = std::stoul(argv[2]);
        const bench::Runtime runtime(WEFT_POOL_PRIVATE, WEFT_KIND_FULL);
        pool = runtime.pool();
        bench::on_ult(pool, [&] { operation.run(count); });
        std::printf("%zu\n", count);   // how often: what callgrind.py divides by
        return 0;
    }
    std::fprintf(stderr, "usage: callgrind_sync OPERATION[.alone] COUNT; operations:");
    for (const auto& operation : operations) std::fprintf(stderr, " %s", operation.name.data());
    std::fprintf(stderr, "\n");
    return 1;
}
