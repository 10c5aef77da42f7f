// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fib(n) by a fork for each call, compared with plain calls and with a ULT for each call (one
// branch is spawned, the other called). One iteration is one call of fib, including all inner
// calls. The pool is a deque, which runs the newest unit first, as its joiner needs. The streams
// share the CPUs of the process; with two streams, no other program may use these CPUs.
#include <weft/parallel.hpp>

#include "harness.hpp"
#include "weft_harness.hpp"

namespace {

constexpr int deep = 35, shallow = 20;

// noinline, like the others: calls are compared.
[[gnu::noinline]] long called(int n) { return n < 2 ? n : called(n - 1) + called(n - 2); }

[[gnu::noinline]] long forked(int n) {
    if (n < 2) return n;
    const auto [a, b] = weft::invoke([n] { return forked(n - 1); }, [n] { return forked(n - 2); });
    return a + b;
}

struct InC {
    int n;
    long result;
    static void run(void* raw) {
        auto& self = *static_cast<InC*>(raw);
        if (self.n < 2) {
            self.result = self.n;
            return;
        }
        InC a{self.n - 1, 0}, b{self.n - 2, 0};
        bench::must(weft_invoke(run, &a, run, &b));
        self.result = a.result + b.result;
    }
};

long forked_in_c(int n) {
    InC all{n, 0};
    InC::run(&all);
    return all.result;
}

struct Spawned {
    int n;
    long result;
    static void run(void* raw) {
        auto& self = *static_cast<Spawned*>(raw);
        if (self.n < 2) {
            self.result = self.n;
            return;
        }
        Spawned a{self.n - 1, 0}, b{self.n - 2, 0};
        weft_unit* unit = nullptr;
        bench::must(weft_ult_spawn(nullptr, run, &b, nullptr, &unit));
        run(&a);
        bench::must(weft_unit_join_free(unit));
        self.result = a.result + b.result;
    }
};

long spawned(int n) {
    Spawned all{n, 0};
    Spawned::run(&all);
    return all.result;
}

template <long fib(int)>
void from_a_ult(benchmark::State& state, weft_pool* pool, int n) {
    bench::on_ult(pool, [&] {
        while (state.KeepRunning()) benchmark::DoNotOptimize(fib(n));
    });
}

}   // namespace

int main(int argc, char** argv) {
    const std::size_t streams = std::stoul(bench::take_flag(argc, argv, "streams", "1"));
    if (streams == 1) bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(WEFT_POOL_DEQUE, WEFT_KIND_AUTO, streams);
    weft_pool* const pool = runtime.pool();
    const std::string on = "." + std::to_string(streams);
    for (const int n : {deep, shallow}) {
        const std::string primitive = "fib/" + std::to_string(n);
        bench::add(primitive, "call", from_a_ult<called>, pool, n)->UseRealTime();
        bench::add(primitive, "weft.invoke" + on, from_a_ult<forked>, pool, n)->UseRealTime();
        bench::add(primitive, "weft.invoke.c" + on, from_a_ult<forked_in_c>, pool, n)->UseRealTime();
        bench::add(primitive, "weft.ult" + on, from_a_ult<spawned>, pool, n)->UseRealTime();
    }
    return bench::run_registered(argc, argv);
}
