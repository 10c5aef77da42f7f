// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fib(n) by a fork for each call, compared with plain calls and with a ULT for each call (fib.hpp).
// One iteration is one call of fib, including all inner calls. The pool is a deque, which runs the
// newest unit first, as its joiner needs. The streams share the CPUs of the process; with two
// streams, no other program may use these CPUs.
#include "fib.hpp"
#include "harness.hpp"
#include "weft_harness.hpp"

namespace {

constexpr int deep = 35, shallow = 20;

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
        bench::add(primitive, "call", from_a_ult<bench::fib_called>, pool, n)->UseRealTime();
        bench::add(primitive, "weft.invoke" + on, from_a_ult<bench::fib_forked>, pool, n)->UseRealTime();
        bench::add(primitive, "weft.invoke.c" + on, from_a_ult<bench::fib_forked_in_c>, pool, n)->UseRealTime();
        bench::add(primitive, "weft.jobs" + on, from_a_ult<bench::fib_forked_by_jobs>, pool, n)->UseRealTime();
        bench::add(primitive, "weft.ult" + on, from_a_ult<bench::fib_spawned>, pool, n)->UseRealTime();
    }
    return bench::run_registered(argc, argv);
}
