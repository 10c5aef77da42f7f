// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a hart takes to arrive: from one running library to another, where a library gives it
// back at its next switch; and from the base to a library, by an OS thread that sleeps, compared
// with a bare futex wake. Samples alternate.
//   handover [--samples=N]
#include <algorithm>
#include <atomic>

#include "arrival.hpp"
#include "library.hpp"

namespace {

constexpr std::uint64_t idle_gap_ns = 1'000'000;

// The caller's library has one hart, and another comes from the base, where the OS thread that
// takes it to the library sleeps.
void out_of_the_base(int samples) {
    bench::FutexSleeper futex;
    // the caller's own hart does not enter the library: the caller does not switch meanwhile
    bench::Library library(bench::note_arrival);
    for (int i = 0; i < samples; ++i) {
        bench::sleep_ns(idle_gap_ns);
        bench::sample_arrival(
            "harts/asleep:futex", [&] { futex.wake(); }, sched_yield);
        bench::sleep_ns(idle_gap_ns);
        bench::sample_arrival(
            "harts/asleep:weft.grant", [&] { library.request(1); }, sched_yield);
        library.request(-1);
    }
}

// One library has both harts, and its contexts yield to each other; the other library waits until
// one of these contexts wakes it.
void between_two(int samples) {
    std::atomic<weft_unit*> waiting{nullptr};
    std::atomic<bool> over{false};
    weft_unit* other = nullptr;
    struct Shared {
        std::atomic<weft_unit*>& waiting;
        std::atomic<bool>& over;
    } shared{waiting, over};
    // The waiting library, on a ULT of the other stream.
    weft_pool* pool = nullptr;
    bench::must(weft_stream_pool_get(weft_stream_at(1), &pool));
    bench::must(weft_ult_spawn(
        pool,
        [](void* raw) {
            auto& with = *static_cast<Shared*>(raw);
            bench::Library waits(bench::note_arrival);
            while (!with.over.load()) {
                bench::must(weft_unit_suspend(
                    [](weft_unit* unit, void* where) { static_cast<std::atomic<weft_unit*>*>(where)->store(unit); },
                    &with.waiting));
            }
        },
        &shared, nullptr, &other));
    {
        bench::Library runs;
        std::atomic<int> ended{0};
        for (int i = 0; i < 3; ++i) {
            runs.add([&] {
                while (!over.load()) bench::must(weft_unit_yield());
                ++ended;
            });
        }
        runs.request(1);
        const auto turn = [] { bench::must(weft_unit_yield()); };
        for (int i = 0; i < samples; ++i) {
            weft_unit* unit;
            while ((unit = waiting.exchange(nullptr)) == nullptr) turn();
            for (int turns = 0; turns < 200; ++turns) turn();   // until both harts are back
            bench::sample_arrival(
                "harts/running:weft.handover", [&] { bench::must(weft_unit_resume(unit)); }, turn);
        }
        over.store(true);
        weft_unit* unit;
        while ((unit = waiting.exchange(nullptr)) == nullptr) turn();
        bench::must(weft_unit_resume(unit));
        while (ended.load() != 3) turn();
        runs.request(-1);
    }
    bench::must(weft_unit_join_free(other));
}

}   // namespace

int main(int argc, char** argv) {
    const int samples = std::stoi(bench::take_flag(argc, argv, "samples", "301"));
    bench::refuse_others(argc, argv);
    if (weft_hart_limit() < 2) {
        std::fprintf(stderr, "handover: skipped, there is one hart\n");
        return 0;
    }
    bench::Runtime runtime(WEFT_POOL_SHARED, WEFT_KIND_LSA, 2);
    bench::on_ult(runtime.pool(), [&] {
        out_of_the_base(samples);
        between_two(samples);
    });
    return 0;
}
