// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of being observed: a spawn with its join, a yield and a suspension, in a program without
// an observer, with an observer of other events only (the cost of the careful code paths), with an
// observer of all events (an empty call each), and with a trace. Rounds of all four alternate; the
// table has medians, and quartiles of the ratios.
//   observed [--rounds=N]
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "harness.hpp"
#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

constexpr std::size_t operations = 2000;

void nothing(void*) {}

void spawn_join(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        weft_unit* unit = nullptr;
        bench::must(weft_ult_spawn(nullptr, nothing, nullptr, nullptr, &unit));
        bench::must(weft_unit_join_free(unit));
    }
}

// The primary unit and another one take turns.
void yield(std::size_t count) {
    weft_unit* other = nullptr;
    auto half = [](void* times) {
        for (auto left = *static_cast<std::size_t*>(times) / 2; left > 0; --left) bench::must(weft_unit_yield());
    };
    bench::must(weft_ult_spawn(nullptr, half, &count, nullptr, &other));
    half(&count);
    bench::must(weft_unit_join_free(other));
}

// One unit suspends; the other resumes it and yields to it.
void suspend(std::size_t count) {
    weft_unit* sleeper = nullptr;
    bench::must(weft_ult_spawn(
        nullptr,
        [](void* times) {
            for (auto left = *static_cast<std::size_t*>(times); left > 0; --left)
                bench::must(weft_unit_suspend(nullptr, nullptr));
        },
        &count, nullptr, &sleeper));
    bench::must(weft_unit_yield());
    for (std::size_t i = 0; i < count; ++i) {
        bench::must(weft_unit_resume(sleeper));
        bench::must(weft_unit_yield());
    }
    bench::must(weft_unit_join_free(sleeper));
}

struct Operation {
    const char* name;
    void (*run)(std::size_t count);
    double told, traced;   // events for each operation, including those of the joiner and of the other unit
};
constexpr Operation all[] = {
    {"spawn + join + free", spawn_join, 7, 5}, {"yield", yield, 2, 2}, {"suspend + resume + yield", suspend, 4, 4}};

enum Mode { plain, careful, observed, traced, modes };
constexpr const char* mode_names[] = {"nobody", "an observer of other events", "an observer of all", "a trace"};

double measure(const Operation& operation, Mode mode) {
    weft_settings settings{};
    settings.size = sizeof settings;
    settings.streams = 1;
    if (mode == traced) {
        settings.trace = "/dev/null";
        settings.trace_events = 2048;   // the ring wraps before it is measured: no first touches of its pages
    }
    bench::must(weft_init(&settings));
    weft_observer_options how{};
    how.size = sizeof how;
    how.call = [](const weft_observation*, void*) {};
    how.events =
        mode == observed ? static_cast<unsigned>(WEFT_OBSERVED_ALL) : static_cast<unsigned>(WEFT_OBSERVED_MIGRATE);
    weft_observer* observer = nullptr;
    if (mode == careful || mode == observed) bench::must(weft_observer_register(&how, &observer));
    operation.run(operations);
    const std::uint64_t before = bench::now_ns();
    operation.run(operations);
    const double ns = static_cast<double>(bench::now_ns() - before) / operations;
    if (observer != nullptr) bench::must(weft_observer_unregister(observer));
    bench::must(weft_finalize());
    return ns;
}

// The value below which this share of the values lies.
double part(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}   // namespace

int main(int argc, char** argv) {
    const int rounds = std::stoi(bench::take_flag(argc, argv, "rounds", "101"));
    for (const Operation& operation : all) {
        std::vector<double> ns[modes], ratios[modes], each[modes];
        for (int round = 0; round < rounds; ++round) {
            double now[modes];
            for (int mode = plain; mode < modes; ++mode)
                ns[mode].push_back(now[mode] = measure(operation, static_cast<Mode>(mode)));
            for (int mode = careful; mode < modes; ++mode) {
                ratios[mode].push_back(now[mode] / now[plain]);
                each[mode].push_back((now[mode] - now[careful]) / (mode == traced ? operation.traced : operation.told));
            }
        }
        std::printf("%s\n    %-30s %6.1f ns\n", operation.name, mode_names[plain], part(ns[plain], 0.5));
        for (int mode = careful; mode < modes; ++mode) {
            std::printf("    %-30s %6.1f ns, times %.2f (%.2f to %.2f)", mode_names[mode], part(ns[mode], 0.5),
                        part(ratios[mode], 0.5), part(ratios[mode], 0.25), part(ratios[mode], 0.75));
            if (mode != careful) std::printf("; beyond the careful ways %.1f ns an event", part(each[mode], 0.5));
            std::printf("\n");
        }
    }
    return 0;
}
