// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spawn, join and free of an empty unit on one stream: one at a time, and in bulk. The subject's
// name gives the pool (--pool=private|shared|deque), the kind (--kind=full|lsa, and tasklets), and
// any variation.
#include "raw_benchmarks.hpp"
#include "weft_harness.hpp"

namespace {

struct Subject {
    weft_pool* pool;
    bool tasklet;
    const weft_unit_options* options = nullptr;   // null: the default kind
};

template <bool tasklet>
[[gnu::always_inline]] inline weft_unit* spawn(weft_pool* pool, const weft_unit_options* options) {
    weft_unit* unit = nullptr;
    bench::must(tasklet ? weft_tasklet_spawn(pool, bench::nothing, nullptr, options, &unit)
                        : weft_ult_spawn(pool, bench::nothing, nullptr, options, &unit));
    return unit;
}

// Like the floor's loop (raw_benchmarks.hpp): Google Benchmark is asked only once every `batch`
// operations whether to continue.
template <bool tasklet>
void one_by_one_of(benchmark::State& state, weft_pool* pool, const weft_unit_options* options) {
    while (state.KeepRunningBatch(bench::batch)) {
        for (int i = 0; i < bench::batch; ++i) bench::must(weft_unit_join_free(spawn<tasklet>(pool, options)));
    }
}

void one_by_one_from_main(benchmark::State& state, Subject subject) {
    (subject.tasklet ? one_by_one_of<true> : one_by_one_of<false>)(state, subject.pool, subject.options);
}

void one_by_one(benchmark::State& state, Subject subject) {
    bench::on_ult(subject.pool, [&] { one_by_one_from_main(state, subject); });
}

void bulk_by_one_call(benchmark::State& state, Subject subject, std::size_t count) {
    bench::on_ult(subject.pool, [&] {
        const weft_unit_options tasklets = bench::options_of(WEFT_KIND_TASKLET);
        const weft_unit_options* options = subject.tasklet ? &tasklets : nullptr;
        std::vector<weft_unit*> units(count);
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            bench::must(weft_unit_spawn_many(subject.pool, count, bench::nothing, nullptr, options, units.data()));
            bench::must(weft_unit_join_free_many(units.data(), count));
        }
    });
}

void bulk_by_single_calls(benchmark::State& state, Subject subject, std::size_t count) {
    bench::on_ult(subject.pool, [&] {
        std::vector<weft_unit*> units(count);
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            if (subject.tasklet) {
                for (auto& unit : units) unit = spawn<true>(subject.pool, subject.options);
            } else {
                for (auto& unit : units) unit = spawn<false>(subject.pool, subject.options);
            }
            for (auto* unit : units) bench::must(weft_unit_join_free(unit));
        }
    });
}

void add_kind(const std::string& name, Subject subject) {
    bench::add("spawn_join/one", name, one_by_one, subject);
    bench::add("spawn_join/one", name + ".from_main", one_by_one_from_main, subject);
    for (std::size_t count : bench::bulk_sizes) {
        const std::string primitive = "spawn_join/" + std::to_string(count);
        bench::add(primitive, name, bulk_by_one_call, subject, count);
        bench::add(primitive, name + ".single_calls", bulk_by_single_calls, subject, count);
    }
}

}   // namespace

int main(int argc, char** argv) {
    const std::string pool_name = bench::take_flag(argc, argv, "pool", "private");
    const std::string kind_name = bench::take_flag(argc, argv, "kind", "full");
    bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(bench::pool_kind(pool_name), bench::ult_kind(kind_name));
    weft_pool* pool = runtime.pool();
    const weft_unit_options plain = bench::options_of(bench::ult_kind(kind_name));
    weft_unit_options child_first = plain;
    child_first.child_first = true;

    const std::string ult = "weft." + pool_name + "." + kind_name;
    add_kind(ult, {pool, false});
    bench::add("spawn_join/one", ult + ".options", one_by_one, Subject{pool, false, &plain});
    bench::add("spawn_join/one", ult + ".child_first", one_by_one, Subject{pool, false, &child_first});
    add_kind("weft." + pool_name + ".tasklet", {pool, true});
    bench::add_floors_one_by_one("spawn_join/one");
    for (std::size_t count : bench::bulk_sizes) bench::add_floors_bulk("spawn_join/" + std::to_string(count), count);
    return bench::run_registered(argc, argv);
}
