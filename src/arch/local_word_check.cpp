// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A separate program, built with -O3 and link-time optimisation: code on a context reads the
// thread-local word again and again while two OS threads take turns in running it. It must never
// read the word of the thread that it was on before.
//
// A thread_local read in the same loop shows why the word is no thread_local: an optimiser may keep
// its address across the switch. The value that it reads is printed, and does not affect the
// result.
#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <thread>

#include "arch/arch.hpp"

using namespace weft::arch;

namespace {

constexpr int rounds = 20'000;

thread_local int naive = -1;

void* context;
void* home[2];
int words[2];
int on = 0;   // which thread runs the context
long wrong = 0, wrong_naive = 0, wrong_before_leaving = 0;
alignas(4096) char stack[64 * 1024];

// Leaves the context; comes back on the other OS thread.
[[gnu::noinline]] void leave() { swap(&context, home[on], {}); }

void body(void (*)(void*), void*) {
    for (;;) {
        if (local_word() != &words[on]) ++wrong_before_leaving;
        leave();
        if (local_word() != &words[on]) ++wrong;
        if (naive != on) ++wrong_naive;
        // The address as a previously computed value: twice within one round.
        void* const before = local_word();
        leave();
        void* const after = local_word();
        if (before == after) ++wrong;
    }
}

[[gnu::noinline]] void enter(int mine) { swap(&home[mine], context, {}); }

void carrier(int mine, std::binary_semaphore* turn) {
    set_local_word(&words[mine]);
    naive = mine;
    for (int round = 0; round < rounds; ++round) {
        turn[mine].acquire();
        on = mine;
        enter(mine);
        turn[1 - mine].release();
    }
}

}   // namespace

int main() {
    std::binary_semaphore turn[2] = {std::binary_semaphore(1), std::binary_semaphore(0)};
    context = prepare(stack + sizeof(stack), body);
    std::thread first(carrier, 0, turn), second(carrier, 1, turn);
    first.join();
    second.join();
    std::printf("stale words: %ld; stale thread_locals, for comparison: %ld of %d\n", wrong + wrong_before_leaving,
                wrong_naive, rounds);
    return wrong + wrong_before_leaving == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
