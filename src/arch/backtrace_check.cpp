// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program for a debugger to stop in: two nested contexts, each a few frames deep. The test sets a
// breakpoint in `deepest` and requests the backtrace, which must end at the inner context's entry.
#include <cstdio>

#include "arch/arch.hpp"

using namespace weft::arch;

namespace {

struct Context {
    void* saved = nullptr;
    alignas(4096) char stack[64 * 1024];
} outer, inner;
void* home;

}   // namespace

extern "C" {
[[gnu::noinline]] int deepest(int value) {
    asm volatile("" : "+r"(value));
    return value + 1;
}

[[gnu::noinline]] int middle(int value) { return deepest(value) + 1; }

void inner_main(void (*)(void*), void*) {
    int value = middle(1);
    swap(&inner.saved, outer.saved, {});
    value = middle(value);   // stopped here a second time, after the context has been away
    std::printf("%d\n", value);
    swap(&inner.saved, outer.saved, {});
}

void outer_main(void (*)(void*), void*) {
    inner.saved = prepare(inner.stack + sizeof(inner.stack), inner_main);
    swap(&outer.saved, inner.saved, {});
    swap(&outer.saved, inner.saved, {});
    swap(&outer.saved, home, {});
}
}

int main() {
    outer.saved = prepare(outer.stack + sizeof(outer.stack), outer_main);
    swap(&home, outer.saved, {});
    return 0;
}
