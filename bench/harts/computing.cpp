// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of rescue to a well-behaved program: units compute on every hart without a switch, while
// others wait behind them, so that the watchdog sees streams that make no progress. Measured with
// rescue on and off alternately, and without waiting units. The program reports the time of one
// unit: the total time divided by the number of units per hart.
//   computing [--rounds=N] [--ms=N: of each unit]
#include <algorithm>
#include <string>
#include <vector>

#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

[[gnu::noinline]] std::uint64_t compute(std::uint64_t steps) {
    std::uint64_t x = steps | 1;
    for (std::uint64_t i = 0; i < steps; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

// The number of steps in a millisecond if no other unit computes.
std::uint64_t steps_in_a_ms() {
    constexpr std::uint64_t steps = 2'000'000;
    std::uint64_t least = UINT64_MAX;
    for (int i = 0; i < 20; ++i) {
        const std::uint64_t from = bench::now_ns();
        volatile std::uint64_t sink = compute(steps);
        static_cast<void>(sink);
        least = std::min(least, bench::now_ns() - from);
    }
    return steps * 1'000'000 / least;
}

struct Work {
    std::uint64_t steps, result;
};

// The streams steal from each other, so a unit that waits behind a computing one could run
// elsewhere.
double all_compute(weft_rescue rescue, std::size_t each_hart, std::uint64_t steps) {
    const std::size_t count = weft_hart_limit() * each_hart;
    weft_settings settings = {};
    settings.size = sizeof settings;
    settings.streams = WEFT_ALL_HARTS;
    settings.pool = WEFT_POOL_DEQUE;
    settings.rescue = rescue;
    bench::must(weft_init(&settings));
    std::vector<Work> work(count, Work{steps, 0});
    std::vector<weft_unit*> units(count);
    const std::uint64_t from = bench::now_ns();
    for (std::size_t i = 0; i < count; ++i) {
        bench::must(weft_ult_spawn(
            nullptr,
            [](void* raw) {
                auto& mine = *static_cast<Work*>(raw);
                mine.result = compute(mine.steps);
            },
            &work[i], nullptr, &units[i]));
    }
    bench::must(weft_unit_join_free_many(units.data(), count));
    const std::uint64_t took = bench::now_ns() - from;
    std::uint64_t emergencies = 0;
    bench::must(weft_counter_read("/rescue/count/emergencies", &emergencies));
    if (rescue == WEFT_RESCUE_ON)
        bench::print_sample("harts/emergencies:weft", static_cast<double>(emergencies), "times");
    bench::must(weft_finalize());
    return static_cast<double>(took) / static_cast<double>(each_hart);
}

}   // namespace

int main(int argc, char** argv) {
    const int rounds = std::stoi(bench::take_flag(argc, argv, "rounds", "3"));
    const auto ms = std::stoull(bench::take_flag(argc, argv, "ms", "2500"));
    bench::refuse_others(argc, argv);
    const std::uint64_t steps = steps_in_a_ms() * ms;
    for (int round = 0; round < rounds; ++round) {
        bench::print_sample("harts/computing:weft.rescue", all_compute(WEFT_RESCUE_ON, 4, steps));
        bench::print_sample("harts/computing:weft.off", all_compute(WEFT_RESCUE_OFF, 4, steps));
        bench::print_sample("harts/computing:weft.nobody_waits", all_compute(WEFT_RESCUE_ON, 1, steps));
    }
    return 0;
}
