// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Yield among 2, 64 and 16,384 ULTs, and yield_to between two; one iteration is one yield of one
// ULT. In ".two_places" the measuring ULT yields at another place in the code than the others
// (crowd.hpp).
#include "crowd.hpp"
#include "raw_benchmarks.hpp"
#include "weft_harness.hpp"

namespace {

constexpr auto yield = [] { bench::must(weft_unit_yield()); };

void yield_with_the_others(void* crowd) { static_cast<bench::Crowd*>(crowd)->yield_together(false, yield); }

void yield_elsewhere(void* argument) {
    auto& crowd = *static_cast<bench::Crowd*>(argument);
    while (crowd.goes_on(false)) yield();
}

void yield_among(benchmark::State& state, weft_pool* pool, weft_kind kind, std::size_t count,
                 void (*others_do)(void*)) {
    bench::on_ult(pool, [&] {
        bench::Crowd crowd{state, static_cast<benchmark::IterationCount>(count)};
        const weft_unit_options options = bench::options_of(kind);
        std::vector<void*> arguments(count - 1, &crowd);
        std::vector<weft_unit*> others(count - 1);
        bench::must(weft_unit_spawn_many(pool, count - 1, others_do, arguments.data(), &options, others.data()));
        yield();   // each ULT has its stack now
        crowd.yield_together(true, yield);
        crowd.stop = true;
        bench::must(weft_unit_join_free_many(others.data(), others.size()));
    });
}

void yield_alone(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] {
        while (state.KeepRunning()) yield();
    });
}

struct Pair {
    bench::Crowd crowd;
    weft_unit* measuring;
    void yield_to(weft_unit* other, bool measures) {
        crowd.yield_together(measures, [other] { bench::must(weft_unit_yield_to(other)); });
    }
};

void yield_between_two(benchmark::State& state, weft_pool* pool, weft_kind kind) {
    bench::on_ult(pool, [&] {
        Pair pair{{state, 2}, weft_unit_self()};
        const weft_unit_options options = bench::options_of(kind);
        weft_unit* other = nullptr;
        auto yield_back = [](void* raw) {
            static_cast<Pair*>(raw)->yield_to(static_cast<Pair*>(raw)->measuring, false);
        };
        bench::must(weft_ult_spawn(pool, yield_back, &pair, &options, &other));
        pair.yield_to(other, true);
        pair.crowd.stop = true;
        bench::must(weft_unit_join_free(other));
    });
}

}   // namespace

int main(int argc, char** argv) {
    const std::string pool_name = bench::take_flag(argc, argv, "pool", "private");
    bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(bench::pool_kind(pool_name), WEFT_KIND_FULL);
    weft_pool* pool = runtime.pool();
    bench::add_raw_switch("switch");
    const std::string subject = "weft." + pool_name;
    bench::add("yield/1", subject + ".full", yield_alone, pool);
    for (std::size_t count : {2, 64, 16384}) {
        const std::string primitive = "yield/" + std::to_string(count);
        bench::add(primitive, subject + ".full", yield_among, pool, WEFT_KIND_FULL, count, yield_with_the_others);
        bench::add(primitive, subject + ".full.two_places", yield_among, pool, WEFT_KIND_FULL, count, yield_elsewhere);
        bench::add(primitive, subject + ".lsa", yield_among, pool, WEFT_KIND_LSA, count, yield_with_the_others);
    }
    if (pool_name != "deque") bench::add("yield_to", subject + ".full", yield_between_two, pool, WEFT_KIND_FULL);
    return bench::run_registered(argc, argv);
}
