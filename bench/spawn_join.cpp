// Spawn, join and free of an empty unit on one stream: one at a time, and in bulk. The subject's name says
// which pool (--pool=private|shared|deque), which kind, and by which calls.
#include "raw_benchmarks.hpp"
#include "weft_harness.hpp"

namespace {

struct Subject {
    weft_pool* pool;
    weft_kind kind;
    bool child_first = false;
};

weft_unit* spawn(const Subject& subject, const weft_unit_options& options) {
    weft_unit* unit = nullptr;
    bench::must(subject.kind == WEFT_KIND_TASKLET
                    ? weft_tasklet_spawn(subject.pool, bench::nothing, nullptr, &options, &unit)
                    : weft_ult_spawn(subject.pool, bench::nothing, nullptr, &options, &unit));
    return unit;
}

void loop_one_by_one(benchmark::State& state, const Subject& subject) {
    weft_unit_options options = bench::options_of(subject.kind);
    options.child_first = subject.child_first;
    while (state.KeepRunning()) bench::must(weft_unit_free(spawn(subject, options)));
}

void one_by_one(benchmark::State& state, Subject subject) {
    bench::on_ult(subject.pool, [&] { loop_one_by_one(state, subject); });
}

void one_by_one_from_main(benchmark::State& state, Subject subject) { loop_one_by_one(state, subject); }

void bulk_by_one_call(benchmark::State& state, Subject subject, std::size_t count) {
    bench::on_ult(subject.pool, [&] {
        const weft_unit_options options = bench::options_of(subject.kind);
        std::vector<weft_unit*> units(count);
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            bench::must(weft_unit_spawn_many(subject.pool, count, bench::nothing, nullptr, &options, units.data()));
            bench::must(weft_unit_free_many(units.data(), count));
        }
    });
}

void bulk_by_single_calls(benchmark::State& state, Subject subject, std::size_t count) {
    bench::on_ult(subject.pool, [&] {
        const weft_unit_options options = bench::options_of(subject.kind);
        std::vector<weft_unit*> units(count);
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            for (auto& unit : units) unit = spawn(subject, options);
            for (auto* unit : units) bench::must(weft_unit_free(unit));
        }
    });
}

void add_all(weft_pool* pool, const std::string& pool_name, const std::string& kind_name, weft_kind kind) {
    const std::string subject = "weft." + pool_name + "." + kind_name;
    bench::add("spawn_join/one", subject, one_by_one, Subject{pool, kind});
    bench::add("spawn_join/one", subject + ".from_main", one_by_one_from_main, Subject{pool, kind});
    if (kind != WEFT_KIND_TASKLET) {
        bench::add("spawn_join/one", subject + ".child_first", one_by_one, Subject{pool, kind, true});
    }
    for (std::size_t count : bench::bulk_sizes) {
        const std::string primitive = "spawn_join/" + std::to_string(count);
        bench::add(primitive, subject, bulk_by_one_call, Subject{pool, kind}, count);
        bench::add(primitive, subject + ".single_calls", bulk_by_single_calls, Subject{pool, kind}, count);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string pool = bench::take_flag(argc, argv, "pool", "private");
    bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(bench::pool_kind(pool));
    add_all(runtime.pool(), pool, "full", WEFT_KIND_FULL);
    add_all(runtime.pool(), pool, "lsa", WEFT_KIND_LSA);
    add_all(runtime.pool(), pool, "tasklet", WEFT_KIND_TASKLET);
    bench::add_floors_one_by_one("spawn_join/one");
    for (std::size_t count : bench::bulk_sizes) bench::add_floors_bulk("spawn_join/" + std::to_string(count), count);
    return bench::run_registered(argc, argv);
}
