// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The context switch alone, one way: Weft's inlined switch, compared with the hand-written ones and
// the C library's. It uses the library's internals, since the switch is not part of the C
// interface.
#include <ucontext.h>

#include "arch/arch.hpp"
#include "raw_benchmarks.hpp"

namespace {

struct Pair {
    void* main = nullptr;
    void* other = nullptr;
};

// By Weft's rules a switch passes a call for the target to make; the measured switches pass none.
[[gnu::noinline]] void other_side(void (*)(void*), void* argument) {
    auto* pair = static_cast<Pair*>(argument);
    for (;;) weft::arch::swap(&pair->other, pair->main, {nullptr, nullptr});
}

[[gnu::noinline]] void weft_switch(benchmark::State& state) {
    alignas(64) static char stack[16384];
    Pair pair;
    pair.other = weft::arch::prepare(stack + sizeof stack, other_side);
    weft::arch::swap(&pair.main, pair.other, {nullptr, &pair});
    while (state.KeepRunningBatch(64)) {
        for (int i = 0; i < 32; ++i) weft::arch::swap(&pair.main, pair.other, {nullptr, nullptr});
    }
}

ucontext_t main_context, other_context;

void ucontext_switch(benchmark::State& state) {
    alignas(64) static char stack[65536];
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = sizeof stack;
    makecontext(
        &other_context,
        +[] {
            for (;;) swapcontext(&other_context, &main_context);
        },
        0);
    while (state.KeepRunningBatch(2)) swapcontext(&main_context, &other_context);
}

}   // namespace

int main(int argc, char** argv) {
    bench::pin(bench::usable_cpus().back());
    bench::add_raw_switch("switch");
    bench::add("switch", "raw.ret", [](benchmark::State& state) { bench::PingPong<bench_switch_ret>().run(state); });
    bench::add("switch", "weft.inlined", weft_switch);
    bench::add("switch", "ucontext", ucontext_switch);
    return bench::run_registered(argc, argv);
}
