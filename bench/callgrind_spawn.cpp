// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program that run.py --callgrind runs under valgrind, twice with different counts: the
// difference gives the instructions of one operation.
//   callgrind_spawn OPERATION COUNT
// The operation is done COUNT times, or a few times more where several are done at a time; the
// program prints how often. The OS thread that counts is the first, on which stream 0 runs.
#include <algorithm>
#include <string_view>
#include <vector>

#include "fib.hpp"
#include "floor.hpp"
#include "games.hpp"
#include "weft_harness.hpp"

namespace {

weft_pool* pool = nullptr;

// Without options the unit is of the default kind.
void spawn_join_free_with(const weft_unit_options* options, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        weft_unit* unit = nullptr;
        bench::must(weft_ult_spawn(pool, bench::nothing, nullptr, options, &unit));
        bench::must(weft_unit_join_free(unit));
    }
}

void spawn_join_free(std::size_t count) { spawn_join_free_with(nullptr, count); }

void spawn_join_free_with_options(std::size_t count) {
    const weft_unit_options options = bench::options_of(WEFT_KIND_FULL);
    spawn_join_free_with(&options, count);
}

void tasklets(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        weft_unit* unit = nullptr;
        bench::must(weft_tasklet_spawn(pool, bench::nothing, nullptr, nullptr, &unit));
        bench::must(weft_unit_join_free(unit));
    }
}

void child_first(std::size_t count) {
    weft_unit_options options{};
    options.size = sizeof options;
    options.child_first = true;
    spawn_join_free_with(&options, count);
}

template <std::size_t many>
void in_bulk_with(const weft_unit_options* options, std::size_t count) {
    std::vector<weft_unit*> units(many);
    for (std::size_t i = 0; i < count; i += many) {
        bench::must(weft_unit_spawn_many(pool, many, bench::nothing, nullptr, options, units.data()));
        bench::must(weft_unit_join_free_many(units.data(), many));
    }
}

template <std::size_t many>
void in_bulk_of(std::size_t count) {
    in_bulk_with<many>(nullptr, count);
}

template <std::size_t many>
void tasklets_in_bulk_of(std::size_t count) {
    const weft_unit_options options = bench::options_of(WEFT_KIND_TASKLET);
    in_bulk_with<many>(&options, count);
}

// Bulks by single calls: all units are spawned before the first is joined, and joined in the order
// in which they were spawned.
template <std::size_t many>
void in_turn_of(std::size_t count) {
    std::vector<weft_unit*> units(many);
    for (std::size_t i = 0; i < count; i += many) {
        for (auto& unit : units) bench::must(weft_ult_spawn(pool, bench::nothing, nullptr, nullptr, &unit));
        for (auto* unit : units) bench::must(weft_unit_join_free(unit));
    }
}

// Two ULTs that yield; each does half of the yields. noipa keeps the compiler from making a copy of
// the loop for the caller's half.
[[gnu::noipa]] void yield_half(void* times) {
    for (auto left = *static_cast<std::size_t*>(times) / 2; left > 0; --left) bench::must(weft_unit_yield());
}

[[gnu::noipa]] void yield_half_elsewhere(void* times) {
    for (auto left = *static_cast<std::size_t*>(times) / 2; left > 0; --left) bench::must(weft_unit_yield());
    asm volatile("");
}

void yield_beside(void (*other_does)(void*), std::size_t count) {
    weft_unit* other = nullptr;
    bench::must(weft_ult_spawn(pool, other_does, &count, nullptr, &other));
    yield_half(&count);
    bench::must(weft_unit_join_free(other));
}

void yield(std::size_t count) { yield_beside(yield_half, count); }
void yield_from_two_places(std::size_t count) { yield_beside(yield_half_elsewhere, count); }

template <class Game>
void hand_off(std::size_t count) {
    bench::Countdown state(count);
    bench::hand_off<Game>(state, bench::spawner(pool));
}

// Each unit holds the mutex over a yield, so that the other arrives and waits.
void mutex_held(std::size_t count) {
    bench::Countdown state(count);
    alignas(64) weft_mutex mutex = WEFT_MUTEX_INIT;
    bench::lock_among(state, 2, bench::locked_over_a_yield(mutex), bench::spawner(pool));
}

constexpr int fib_of = 20;
constexpr std::size_t forks_of_fib(int n) { return n < 2 ? 0 : 1 + forks_of_fib(n - 1) + forks_of_fib(n - 2); }

template <long fib(int)>
void fibs(std::size_t count) {
    for (std::size_t i = 0; i < count; i += forks_of_fib(fib_of)) {
        int n = fib_of;
        asm volatile("" : "+r"(n));   // each result is new to the compiler
        if (fib(n) != 6765) std::abort();
    }
}

void floor_one_by_one(std::size_t count) {
    bench::Floor floor;
    floor.reserve(1);
    for (std::size_t i = 0; i < count; ++i) {
        floor.join_and_free<bench::Where::on_a_stack>(floor.spawn(bench::nothing, nullptr));
    }
}

// What the process has besides the stream that does the operations.
enum class Beside : std::uint8_t {
    nothing,
    thread,    // an OS thread that sleeps: the library takes the paths of a process with several threads
    sleeper,   // a second stream that draws from the same units, and is asleep when counting begins
};

struct Operation {
    std::string_view name;
    weft_kind kind;   // of a ULT without options
    void (*run)(std::size_t count);
    weft_pool_kind pool = WEFT_POOL_PRIVATE;
    std::size_t at_a_time = 1;
    Beside beside = Beside::nothing;
    bool from_main = false;   // the primary unit does the operations, not another ULT
};

constexpr weft_kind full = WEFT_KIND_FULL, lsa = WEFT_KIND_LSA, automatic = WEFT_KIND_AUTO;
constexpr weft_pool_kind in_private = WEFT_POOL_PRIVATE, in_shared = WEFT_POOL_SHARED, in_deque = WEFT_POOL_DEQUE;
constexpr std::size_t forks = forks_of_fib(fib_of);

constexpr Operation operations[] = {
    {"spawn_join.full", full, spawn_join_free},
    {"spawn_join.full.options", full, spawn_join_free_with_options},
    {"spawn_join.lsa", lsa, spawn_join_free},
    {"spawn_join.roc", WEFT_KIND_ROC, spawn_join_free},
    {"spawn_join.ss", WEFT_KIND_SS, spawn_join_free},
    {"spawn_join.sc", WEFT_KIND_SC, spawn_join_free},
    {"spawn_join.auto", automatic, spawn_join_free},
    {"spawn_join.lsa.shared", lsa, spawn_join_free, in_shared},
    {"spawn_join.auto.shared", automatic, spawn_join_free, in_shared},
    {"spawn_join.lsa.deque", lsa, spawn_join_free, in_deque},
    {"spawn_join.auto.deque", automatic, spawn_join_free, in_deque},
    {"spawn_join.auto.deque.from_main", automatic, spawn_join_free, in_deque, 1, Beside::nothing, true},
    {"spawn_join.auto.deque.sleeper", automatic, spawn_join_free, in_deque, 1, Beside::sleeper, true},
    {"spawn_join.tasklet", full, tasklets},
    {"spawn_join.tasklet.deque", automatic, tasklets, in_deque},
    {"child_first.lsa", lsa, child_first},
    {"child_first.roc", WEFT_KIND_ROC, child_first},
    {"child_first.auto", automatic, child_first},
    {"child_first.auto.shared", automatic, child_first, in_shared},
    {"child_first.auto.deque", automatic, child_first, in_deque},
    {"bulk256.full", full, in_bulk_of<256>, in_private, 256},
    {"bulk256.lsa", lsa, in_bulk_of<256>, in_private, 256},
    {"bulk256.roc", WEFT_KIND_ROC, in_bulk_of<256>, in_private, 256},
    {"bulk256.ss", WEFT_KIND_SS, in_bulk_of<256>, in_private, 256},
    {"bulk256.sc", WEFT_KIND_SC, in_bulk_of<256>, in_private, 256},
    {"bulk256.auto", automatic, in_bulk_of<256>, in_private, 256},
    {"bulk256.tasklet", full, tasklets_in_bulk_of<256>, in_private, 256},
    {"bulk256.lsa.shared", lsa, in_bulk_of<256>, in_shared, 256},
    {"bulk64.auto.deque", automatic, in_bulk_of<64>, in_deque, 64},
    {"bulk256.auto.deque", automatic, in_bulk_of<256>, in_deque, 256},
    {"bulk4096.auto.deque", automatic, in_bulk_of<4096>, in_deque, 4096},
    {"bulk256.auto.deque.from_main", automatic, in_bulk_of<256>, in_deque, 256, Beside::nothing, true},
    {"bulk256.auto.deque.sleeper", automatic, in_bulk_of<256>, in_deque, 256, Beside::sleeper, true},
    {"bulk256.tasklet.deque", automatic, tasklets_in_bulk_of<256>, in_deque, 256},
    {"in_turn256.auto", automatic, in_turn_of<256>, in_private, 256},
    {"in_turn256.auto.shared", automatic, in_turn_of<256>, in_shared, 256},
    {"in_turn64.auto.deque", automatic, in_turn_of<64>, in_deque, 64},
    {"in_turn256.auto.deque", automatic, in_turn_of<256>, in_deque, 256},
    {"in_turn4096.auto.deque", automatic, in_turn_of<4096>, in_deque, 4096},
    {"yield.full", full, yield, in_private, 2},
    {"yield.full.shared", full, yield, in_shared, 2},
    {"yield.full.deque", full, yield, in_deque, 2},
    {"yield.full.two_places", full, yield_from_two_places, in_private, 2},
    {"yield.full.two_places.shared", full, yield_from_two_places, in_shared, 2},
    {"yield.full.two_places.deque", full, yield_from_two_places, in_deque, 2},
    {"event", full, hand_off<bench::EventGame>, in_private, 2},
    {"event.with_threads", full, hand_off<bench::EventGame>, in_private, 2, Beside::thread},
    {"event.with_threads.deque", full, hand_off<bench::EventGame>, in_deque, 2, Beside::thread},
    {"mutex_held", full, mutex_held, in_private, 64},
    {"mutex_held.with_threads", full, mutex_held, in_private, 64, Beside::thread},
    {"mutex_held.with_threads.deque", full, mutex_held, in_deque, 64, Beside::thread},
    {"fib.call", automatic, fibs<bench::fib_called>, in_deque, forks},
    {"fib.ult.deque", automatic, fibs<bench::fib_spawned>, in_deque, forks},
    {"fib.invoke.deque", automatic, fibs<bench::fib_forked>, in_deque, forks},
    {"fib.invoke.c.deque", automatic, fibs<bench::fib_forked_in_c>, in_deque, forks},
    {"floor", full, floor_one_by_one},
};

// Under valgrind the library's own bare thread, which looks after units that are stuck, is an
// ordinary thread, and the process would never count as one with a single thread.
void start_no_bare_thread() { setenv("WEFT_RESCUE", "ignore", 1); }

void run(const Operation& operation, std::size_t count) {
    if (operation.beside == Beside::nothing) start_no_bare_thread();
    if (operation.beside == Beside::thread) bench::start_thread_that_sleeps();
    const bench::Runtime runtime(operation.pool, operation.kind, operation.beside == Beside::sleeper ? 2 : 1);
    pool = runtime.pool();
    if (operation.beside == Beside::sleeper) bench::await_sleep_of_others();
    if (operation.from_main) operation.run(count);
    else bench::on_ult(pool, [&] { operation.run(count); });
}

}   // namespace

int main(int argc, char** argv) {
    const std::string name = argc == 3 ? argv[1] : "";
    const auto* const found =
        std::find_if(std::begin(operations), std::end(operations), [&](const auto& each) { return each.name == name; });
    if (found == std::end(operations)) {
        std::fprintf(stderr, "usage: callgrind_spawn OPERATION COUNT; operations:");
        for (const auto& operation : operations) std::fprintf(stderr, " %s", operation.name.data());
        std::fprintf(stderr, "\n");
        return 1;
    }
    const std::size_t together = found->at_a_time;
    const std::size_t count = (std::stoul(argv[2]) + together - 1) / together * together;
    run(*found, count);
    std::printf("%zu\n", count);
    return 0;
}
