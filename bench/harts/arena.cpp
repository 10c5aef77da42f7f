// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of an arena: a call that shares nothing, compared with registering and unregistering a
// domain, and with a spawn and its join; and forks in an arena of two harts, compared with two
// streams: fib by a fork for each call, a loop, and many short loops, each in its own call; for
// most of these no hart arrives in time.
//   arena [--rounds=N] [--count=N: calls alone, for callgrind]
#include <weft/weft.hpp>

#include <vector>

#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

[[gnu::noinline]] long fib(int n) {
    if (n < 2) return n;
    const auto [a, b] = weft::invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

[[gnu::noinline]] double work(std::size_t i) {
    double value = static_cast<double>(i);
    for (int k = 0; k < 8; ++k) value = value * 0.999 + 1.0;
    return value;
}

void loop(std::vector<double>& to) {
    weft::parallel_for(std::size_t{0}, to.size(), [&](std::size_t i) { to[i] = work(i); });
}

template <class F>
void sample(const char* name, std::size_t times, F f) {
    const std::uint64_t begin = bench::now_ns();
    for (std::size_t i = 0; i < times; ++i) f();
    bench::print_sample(name, static_cast<double>(bench::now_ns() - begin) / static_cast<double>(times));
}

weft_domain_ops nothing_to_do() {
    weft_domain_ops ops = {};
    ops.size = sizeof ops;
    ops.enter = [](void* self) {
        if (weft_unit*& ready = *static_cast<weft_unit**>(self))
            bench::must(weft_context_resume(std::exchange(ready, nullptr)));
    };
    ops.unblock = [](void* self, weft_unit* context) { *static_cast<weft_unit**>(self) = context; };
    return ops;
}

void domain_alone() {
    static const weft_domain_ops ops = nothing_to_do();
    weft_unit* ready = nullptr;
    weft_domain* domain = nullptr;
    bench::must(weft_domain_register(&ops, &ready, &domain));
    bench::must(weft_domain_unregister(domain));
}

void play(const weft::arena& arena, std::size_t rounds) {
    std::vector<double> many(1'000'000), few(2'000);
    for (std::size_t round = 0; round < rounds; ++round) {
        sample("arena/call:domain", 300, domain_alone);
        sample("arena/call:weft.arena", 300, [&] { arena.execute([] {}); });
        sample("arena/fib27:streams", 1, [] { fib(27); });
        sample("arena/fib27:weft.arena", 1, [&] { arena.execute([] { fib(27); }); });
        sample("arena/loop:streams", 1, [&] { loop(many); });
        sample("arena/loop:weft.arena", 1, [&] { arena.execute([&] { loop(many); }); });
        sample("arena/short_loop:streams", 100, [&] { loop(few); });
        sample("arena/short_loop:weft.arena", 100, [&] { arena.execute([&] { loop(few); }); });
    }
}

}   // namespace

int main(int argc, char** argv) {
    const std::size_t rounds = std::stoul(bench::take_flag(argc, argv, "rounds", "61"));
    const std::size_t count = std::stoul(bench::take_flag(argc, argv, "count", "0"));
    bench::refuse_others(argc, argv);
    const bench::Runtime runtime(WEFT_POOL_DEQUE, WEFT_KIND_AUTO, count == 0 ? 2 : 1);
    const weft::arena arena(2);
    bench::on_ult(runtime.pool(), [&] {
        for (std::size_t i = 0; i < count; ++i) arena.execute([] {});
        if (count == 0) play(arena, rounds);
    });
    return 0;
}
