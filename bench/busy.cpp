// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Half a million tasks that compute for a fraction of a microsecond, on one stream, compared with a
// loop that makes the same calls: the loop's time divided by the tasks' time is the share of the
// processor that the tasks get (HPX's HTTS measures this way). One iteration is all tasks.
#include <weft/weft.hpp>

#include "algorithms.hpp"
#include "weft_harness.hpp"

namespace {

constexpr std::size_t count = 512'000, row = 128;

void work(void* rounds) { benchmark::DoNotOptimize(bench::compute(1, *static_cast<const int*>(rounds))); }

// Spawns the tasks in bulks of `together` units.
void spawned(const weft_unit_options* options, std::size_t together, int rounds) {
    std::vector<void*> arguments(together, &rounds);
    std::vector<weft_unit*> units(together);
    for (std::size_t done = 0; done < count; done += together) {
        bench::must(weft_unit_spawn_many(nullptr, together, work, arguments.data(), options, units.data()));
        bench::must(weft_unit_join_free_many(units.data(), together));
    }
}

template <class Tasks>
void measure(benchmark::State& state, weft_pool* pool, Tasks tasks) {
    bench::on_ult(pool, [&] {
        while (state.KeepRunning()) tasks();
    });
}

}   // namespace

int main(int argc, char** argv) {
    bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(WEFT_POOL_PRIVATE, WEFT_KIND_LSA);
    weft_pool* const pool = runtime.pool();
    static const weft_unit_options tasklets = bench::options_of(WEFT_KIND_TASKLET);
    for (const auto& [name, rounds] : bench::grains) {
        const std::string primitive = std::string("busy/") + name;
        const auto add = [&, rounds = rounds](const char* subject, auto tasks) {
            bench::add(primitive, subject,
                       [=](benchmark::State& state) { measure(state, pool, [=] { tasks(rounds); }); });
        };
        add("plain", [](int each) {
            for (std::size_t i = 0; i < count; ++i) work(&each);
        });
        add("weft.ult", [](int each) { spawned(nullptr, row, each); });
        add("weft.ult.at_once", [](int each) { spawned(nullptr, count, each); });
        add("weft.tasklet", [](int each) { spawned(&tasklets, row, each); });
        add("weft.parallel_for",
            [](int each) { weft::parallel_for(std::size_t{0}, count, [&](std::size_t) { work(&each); }); });
    }
    return bench::run_registered(argc, argv);
}
