// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The switch, on every processor: messages, what survives it, stacks, many contexts, many OS
// threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "arch/testing.hpp"
#include "base/random.hpp"

namespace weft::arch {
namespace {

using testing::Coroutine;
using testing::ReturnPoint;

constexpr int many = config::checked ? 200'000 : 3'000'000;

void some_call(void*) {}
void other_call(void*) {}

// ---- messages -----------------------------------------------------------------------------------

struct Raw {
    ReturnPoint home = testing::this_thread();
    ReturnPoint context;
    Message at_start;
    Message second;
    bool aligned = false;
    alignas(4096) char stack[64 * 1024];
} * raw;

void raw_main(void (*call)(void*), void* argument) {
    testing::arrived(raw->context);
    raw->at_start = {call, argument};
    raw->second = testing::go(raw->context, raw->home, {other_call, &raw->home});
    testing::go(raw->context, raw->home, {});
    std::abort();   // it is not resumed a third time
}

TEST(Switch, TheFirstMessageReachesTheMainFunctionAndTheNextOnesReturnFromSwap) {
    auto owner = std::make_unique<Raw>();
    raw = owner.get();
    raw->context.lowest = raw->stack;
    raw->context.bytes = sizeof(raw->stack);
    raw->context.fiber = sanitizer::fiber_create();
    raw->context.saved = prepare(raw->stack + sizeof(raw->stack), raw_main);

    const Message back = testing::go(raw->home, raw->context, {some_call, &raw->stack});
    EXPECT_EQ(raw->at_start.call, some_call);
    EXPECT_EQ(raw->at_start.argument, &raw->stack);
    EXPECT_EQ(back.call, other_call);
    EXPECT_EQ(back.argument, &raw->home);

    testing::go(raw->home, raw->context, {other_call, nullptr});
    EXPECT_EQ(raw->second.call, other_call);
    EXPECT_EQ(raw->second.argument, nullptr);
    sanitizer::fiber_destroy(raw->context.fiber);
}

TEST(Switch, ASuspendedContextsStackPointerLiesInItsStackAndNearItsTop) {
    ReturnPoint home = testing::this_thread();
    Coroutine coroutine([](Coroutine& self, Message) { self.leave(); });
    const auto top = reinterpret_cast<std::uintptr_t>(coroutine.place().lowest) + coroutine.place().bytes;
    const auto fresh = reinterpret_cast<std::uintptr_t>(stack_pointer(coroutine.place().saved));
    EXPECT_EQ(fresh, top - sizeof(Frame));
    coroutine.resume(home);
    const auto suspended = reinterpret_cast<std::uintptr_t>(stack_pointer(coroutine.place().saved));
    EXPECT_LT(suspended, fresh);
    EXPECT_GT(suspended, top - 8192);
    coroutine.resume(home);
    EXPECT_TRUE(coroutine.done());
}

// ---- the stack ----------------------------------------------------------------------------------

typedef double Pair __attribute__((vector_size(16)));

// Stores a 16-byte vector to the stack with the instruction for aligned addresses.
[[gnu::noinline]] bool stack_is_aligned() {
    alignas(16) volatile Pair pair = {1.0, 2.0};
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const Pair read = pair;
    return frame % 16 == 0 && reinterpret_cast<std::uintptr_t>(&pair) % 16 == 0 && read[0] + read[1] == 3.0;
}

void alignment_main(void (*)(void*), void*) {
    // The main function's own frame: nothing has realigned it yet.
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    testing::arrived(raw->context);
    raw->aligned = frame % 16 == 0 && stack_is_aligned();
    testing::go(raw->context, raw->home, {});
    std::abort();
}

TEST(Switch, AFreshContextStartsOnAnAlignedStack) {
    auto owner = std::make_unique<Raw>();
    raw = owner.get();
    for (std::size_t below = 0; below < 256; below += stack_alignment) {
        raw->context = {};
        raw->context.lowest = raw->stack;
        raw->context.bytes = sizeof(raw->stack) - below;
        raw->context.fiber = sanitizer::fiber_create();
        raw->context.saved = prepare(raw->stack + raw->context.bytes, alignment_main);
        raw->aligned = false;
        testing::go(raw->home, raw->context, {});
        EXPECT_TRUE(raw->aligned) << below;
        sanitizer::fiber_destroy(raw->context.fiber);
    }
}

// A leaf function could keep its locals below the stack pointer (x86-64: the red zone). All code
// that includes the switch is compiled so that none does, and this test would notice it.
[[gnu::noinline]] bool leaf_locals_survive(ReturnPoint& from, ReturnPoint& to, std::uint64_t seed) {
    volatile std::uint64_t locals[12];
    for (std::uint64_t i = 0; i < 12; ++i) locals[i] = seed + i;
    testing::leaving(from, to);
    swap(&from.saved, to.saved, {});
    testing::arrived(from);
    bool kept = true;
    for (std::uint64_t i = 0; i < 12; ++i) kept &= locals[i] == seed + i;
    return kept;
}

TEST(Switch, WhatALeafFunctionKeepsBelowTheStackPointerSurvives) {
    ReturnPoint home = testing::this_thread();
    Coroutine coroutine([](Coroutine& self, Message) {
        while (self.leave().call == nullptr) {}
    });
    coroutine.resume(home);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        EXPECT_TRUE(leaf_locals_survive(home, coroutine.place(), seed << 32)) << seed;
    }
    coroutine.resume(home, {some_call, nullptr});
    EXPECT_TRUE(coroutine.done());
}

// ---- what is live -------------------------------------------------------------------------------

// More live integers and floating-point numbers than there are registers, across an inlined switch.
template <class Number>
[[gnu::noinline]] bool live_values_survive(ReturnPoint& from, ReturnPoint& to, const volatile Number* in) {
    Number a = in[0], b = in[1], c = in[2], d = in[3], e = in[4], f = in[5], g = in[6], h = in[7];
    Number i = in[8], j = in[9], k = in[10], l = in[11], m = in[12], n = in[13], o = in[14], p = in[15];
    Number q = in[16], r = in[17], s = in[18], t = in[19], u = in[20], v = in[21], w = in[22], x = in[23];
    testing::leaving(from, to);
    swap(&from.saved, to.saved, {});
    testing::arrived(from);
    const Number out[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x};
    for (int index = 0; index < 24; ++index) {
        if (out[index] != in[index]) return false;
    }
    return true;
}

// Computes in as many registers as it can get, and leaves, over and over.
template <class Number>
void churn(Coroutine& self) {
    Number a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    while (self.leave().call == nullptr) {
        a += b;
        b += c;
        c += d;
        d += e;
        e += f;
        f += g;
        g += h;
        h += a;
        asm volatile("" : "+m"(a), "+m"(b), "+m"(c), "+m"(d), "+m"(e), "+m"(f), "+m"(g), "+m"(h));
    }
}

template <class Number>
void check_live_values() {
    ReturnPoint home = testing::this_thread();
    Coroutine coroutine([](Coroutine& self, Message) { churn<Number>(self); });
    coroutine.resume(home);
    Random random(7);
    for (int round = 0; round < 1000; ++round) {
        Number values[24];
        for (auto& value : values) value = static_cast<Number>(random.next() >> 12);
        ASSERT_TRUE(live_values_survive<Number>(home, coroutine.place(), values)) << round;
    }
    coroutine.resume(home, {some_call, nullptr});
}

TEST(Switch, LiveIntegersSurvive) { check_live_values<std::uint64_t>(); }
TEST(Switch, LiveFloatingPointNumbersSurvive) { check_live_values<double>(); }

// A static variable whose address is never taken, and a function that holds only a switch: an
// optimiser that does not know that other code runs in between could keep the variable in a
// register over the call.
int turns;

[[gnu::noinline]] void leave_and_come_back(ReturnPoint& from, ReturnPoint& to) {
    testing::leaving(from, to);
    swap(&from.saved, to.saved, {});
    testing::arrived(from);
}

// Reads the variable before and after a switch in the same function.
[[gnu::noinline]] int turns_made_meanwhile(ReturnPoint& from, ReturnPoint& to) {
    const int before = turns;
    testing::leaving(from, to);
    swap(&from.saved, to.saved, {});
    testing::arrived(from);
    return turns - before;
}

TEST(Switch, AStaticVariableIsReadAnewAfterIt) {
    ReturnPoint home = testing::this_thread();
    Coroutine coroutine([&](Coroutine& self, Message) {
        for (;;) {
            ++turns;
            leave_and_come_back(self.place(), home);
        }
    });
    coroutine.resume(home);
    int wrong = 0;
    for (int round = 0; round < 100; ++round) {
        const int before = turns;
        leave_and_come_back(home, coroutine.place());
        const int after = turns;
        wrong += after != before + 1;
        wrong += turns_made_meanwhile(home, coroutine.place()) != 1;
    }
    EXPECT_EQ(wrong, 0);
}

// ---- many ---------------------------------------------------------------------------------------

TEST(Switch, MillionsOfSwitchesAmongSeveralContextsLoseNothing) {
    constexpr std::uint32_t contexts = 9;
    ReturnPoint home = testing::this_thread();
    std::vector<std::unique_ptr<Coroutine>> ring;
    int left = many;
    Random random(42);
    std::uint64_t ran[contexts] = {};
    for (std::uint32_t mine = 0; mine < contexts; ++mine) {
        ring.push_back(std::make_unique<Coroutine>([&, mine](Coroutine& self, Message) {
            // The message says which context is to run: it must be this one.
            std::uint64_t wrong = testing::go(self.place(), home, {}).argument != &ran[mine];
            while (left-- > 0) {
                ++ran[mine];
                const std::uint32_t next = (mine + 1 + random.below(contexts - 1)) % contexts;
                wrong += testing::go(self.place(), ring[next]->place(), {nullptr, &ran[next]}).argument != &ran[mine];
            }
            EXPECT_EQ(wrong, 0u);
            testing::go(self.place(), home, {});
        }));
        ring.back()->resume(home);
    }
    testing::go(home, ring[0]->place(), {nullptr, &ran[0]});
    std::uint64_t sum = 0;
    for (const std::uint64_t count : ran) {
        EXPECT_GT(count, 0u);
        sum += count;
    }
    EXPECT_EQ(sum, static_cast<std::uint64_t>(many));
}

// ---- OS threads ---------------------------------------------------------------------------------

TEST(Switch, AContextRunsOnWhateverOsThreadResumesItAndReadsThatOnesWord) {
    constexpr int rounds = 2000;
    std::vector<void*> seen;
    Coroutine coroutine([&](Coroutine& self, Message) {
        for (int round = 0; round < 2 * rounds; ++round) {
            seen.push_back(local_word());
            self.leave();
        }
    });
    std::binary_semaphore turn[2] = {std::binary_semaphore(1), std::binary_semaphore(0)};
    int words[2];
    auto carrier = [&](int mine) {
        ReturnPoint home = testing::this_thread();
        void* const before = local_word();
        set_local_word(&words[mine]);
        for (int round = 0; round < rounds; ++round) {
            turn[mine].acquire();
            coroutine.resume(home);
            turn[1 - mine].release();
        }
        set_local_word(before);
    };
    std::thread first(carrier, 0), second(carrier, 1);
    first.join();
    second.join();
    ASSERT_EQ(seen.size(), 2u * rounds);
    for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], &words[i % 2]) << i;
    ReturnPoint home = testing::this_thread();
    coroutine.resume(home);
    EXPECT_TRUE(coroutine.done());
}

TEST(LocalWord, StartsNullAndBelongsToOneOsThread) {
    int mine = 0, theirs = 0;
    void* at_start = &mine;
    void* read = nullptr;
    set_local_word(&mine);
    std::thread([&] {
        at_start = local_word();
        set_local_word(&theirs);
        read = local_word();
    }).join();
    EXPECT_EQ(at_start, nullptr);
    EXPECT_EQ(read, &theirs);
    EXPECT_EQ(local_word(), &mine);
    set_local_word(nullptr);
}

TEST(Cycles, NeverRunBackwardsOnOneThread) {
    std::uint64_t last = cycles();
    const std::uint64_t first = last;
    for (int i = 0; i < 100'000; ++i) {
        pause();
        const std::uint64_t now = cycles();
        ASSERT_GE(now, last);
        last = now;
    }
    EXPECT_GT(last, first);
}

}   // namespace
}   // namespace weft::arch
