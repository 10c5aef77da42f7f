// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One switch from one context to another, by kind of context: a native unit's, a hosted unit's (on
// a parked pthread's stack and thread control block), a bound one (a guest, on its own OS thread),
// two OS threads that pass a futex back and forth, swapcontext. One iteration is one switch, one
// way, on one CPU.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <thread>

#include "crowd.hpp"
#include "weft_harness.hpp"

namespace {

constexpr auto yield = [] { bench::must(weft_unit_yield()); };

void between_units(benchmark::State& state, weft_pool* pool, weft_kind one, weft_kind other) {
    struct Both {
        bench::Crowd crowd;
        weft_unit_options options;
        weft_pool* pool;
    } both{{state, 2}, bench::options_of(other), pool};
    const weft_unit_options options = bench::options_of(one);
    weft_unit* measuring = nullptr;
    const auto measure = [](void* raw) {
        auto& with = *static_cast<Both*>(raw);
        weft_unit* unit = nullptr;
        bench::must(weft_ult_spawn(
            with.pool, [](void* crowd) { static_cast<bench::Crowd*>(crowd)->yield_together(false, yield); },
            &with.crowd, &with.options, &unit));
        yield();   // the unit has its stack now
        with.crowd.yield_together(true, yield);
        with.crowd.stop = true;
        bench::must(weft_unit_join_free(unit));
    };
    bench::must(weft_ult_spawn(pool, measure, &both, &options, &measuring));
    bench::must(weft_unit_join_free(measuring));
}

// Two OS threads of which one runs while the other waits for its turn.
class Turns {
public:
    void take(unsigned who) {
        while (turn_.load() != who) syscall(SYS_futex, &turn_, FUTEX_WAIT_PRIVATE, 1 - who, nullptr, nullptr, 0);
    }
    void pass(unsigned who) {
        turn_.store(1 - who);
        syscall(SYS_futex, &turn_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

private:
    std::atomic<unsigned> turn_{0};
};

void between_threads(benchmark::State& state) {
    Turns turns;
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (true) {
            turns.take(1);
            if (stop.load()) return;
            turns.pass(1);
        }
    });
    while (state.KeepRunningBatch(2)) {
        turns.pass(0);
        turns.take(0);
    }
    stop.store(true);
    turns.pass(0);
    other.join();
}

// Two guests, each bound to its own OS thread, on one hart.
void between_guests(benchmark::State& state) {
    struct Both {
        weft_semaphore turns[2];
        std::atomic<bool> stop{false};
    } both;
    for (weft_semaphore& turn : both.turns) bench::must(weft_semaphore_init(&turn, 0));
    std::thread other([&] {
        bench::must(weft_guest_enter());
        while (true) {
            bench::must(weft_semaphore_acquire(&both.turns[1]));
            if (both.stop.load()) break;
            bench::must(weft_semaphore_release(&both.turns[0], 1));
        }
        bench::must(weft_guest_leave());
    });
    std::thread measuring([&] {
        bench::must(weft_guest_enter());
        while (state.KeepRunningBatch(2)) {
            bench::must(weft_semaphore_release(&both.turns[1], 1));
            bench::must(weft_semaphore_acquire(&both.turns[0]));
        }
        both.stop.store(true);
        bench::must(weft_semaphore_release(&both.turns[1], 1));
        bench::must(weft_guest_leave());
    });
    measuring.join();
    other.join();
}

struct Contexts {
    ucontext_t one, other;
} contexts;

void back() {
    for (;;) swapcontext(&contexts.other, &contexts.one);
}

void by_swapcontext(benchmark::State& state) {
    static char stack[65536];
    getcontext(&contexts.other);
    contexts.other.uc_stack.ss_sp = stack;
    contexts.other.uc_stack.ss_size = sizeof stack;
    makecontext(&contexts.other, back, 0);
    while (state.KeepRunningBatch(2)) swapcontext(&contexts.one, &contexts.other);
}

}   // namespace

int main(int argc, char** argv) {
    bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(WEFT_POOL_PRIVATE, WEFT_KIND_FULL);
    bench::add("harts/switch", "weft.native", between_units, runtime.pool(), WEFT_KIND_FULL, WEFT_KIND_FULL);
    bench::add("harts/switch", "weft.hosted", between_units, runtime.pool(), WEFT_KIND_HOSTED, WEFT_KIND_HOSTED);
    bench::add("harts/switch", "weft.hosted_native", between_units, runtime.pool(), WEFT_KIND_HOSTED, WEFT_KIND_FULL);
    bench::add("harts/switch", "weft.bound", between_guests);
    bench::add("harts/switch", "futex", between_threads);
    bench::add("harts/switch", "swapcontext", by_swapcontext);
    return bench::run_registered(argc, argv);
}
