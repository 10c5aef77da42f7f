// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The processor time per second that each built-in domain uses while all its units wait, and how
// long the domain takes to resume, compared with a bare futex wake. An OS thread outside Weft wakes
// it.
//   idle [--samples=N]
#include <sched.h>

#include <functional>
#include <thread>

#include <weft/weft.hpp>

#include "arrival.hpp"
#include "library.hpp"

namespace {

// The deadlock checks are 100, 300, 700 and 1,500 ms after the last unit has run, ever fewer; and
// the number of harts is checked once, a second after the last request for harts.
constexpr std::uint64_t settle_ns = 1'600'000'000, quiet_ns = 500'000'000, gap_ns = 1'000'000;

// The place where the measured domain waits.
class Gate {
public:
    Gate() { bench::must(weft_semaphore_init(&semaphore_, 0)); }
    // Called within the domain; returns when the measurement is over.
    void pass() {
        waits_.store(true);
        do {
            bench::must(weft_semaphore_acquire(&semaphore_));
            bench::note_arrival();
        } while (!over_.load());
    }
    bool has_one() const { return waits_.load(); }
    void open() { bench::must(weft_semaphore_release(&semaphore_, 1)); }
    void end() {
        over_.store(true);
        open();
    }

private:
    weft_semaphore semaphore_;
    std::atomic<bool> waits_{false}, over_{false};
};

void as_unit(Gate& gate, weft_kind kind) {
    const weft_unit_options options = bench::options_of(kind);
    weft_unit* unit = nullptr;
    bench::must(weft_ult_spawn(
        nullptr, [](void* at) { static_cast<Gate*>(at)->pass(); }, &gate, &options, &unit));
    bench::must(weft_unit_join_free(unit));
}

void in_a_library(Gate& gate) {
    bench::Library library;
    library.add([&] { gate.pass(); });
    library.request(1);
}

void in_a_team(Gate& gate) {
    weft::spmd(4, [&] {
        if (weft_spmd_member() == 3) gate.pass();
    });
}

void in_an_arena(Gate& gate) {
    weft::arena().execute([&] { weft::invoke([&] { gate.pass(); }, [] {}); });
}

void as_a_guest(Gate& gate) {
    std::thread([&] {
        bench::must(weft_guest_enter());
        gate.pass();
        bench::must(weft_guest_leave());
    }).join();
}

void sample_quiet(const std::string& name) {
    const std::uint64_t before = bench::processor_ns();
    bench::sleep_ns(quiet_ns);
    bench::print_sample("harts/idle:" + name, static_cast<double>(bench::processor_ns() - before) * 1e9 / quiet_ns);
}

void measure(const std::string& name, int samples, void (*scene)(Gate&)) {
    Gate gate;
    std::thread stage([&] {
        const bench::Runtime runtime(WEFT_POOL_SHARED, WEFT_KIND_LSA, 0);
        bench::on_ult(runtime.pool(), [&] { scene(gate); });
    });
    while (!gate.has_one()) bench::sleep_ns(gap_ns);
    bench::sleep_ns(settle_ns);
    sample_quiet("weft." + name);
    for (int i = 0; i < samples; ++i) {
        bench::sleep_ns(gap_ns);
        bench::sample_arrival(
            "harts/awake:weft." + name, [&] { gate.open(); }, sched_yield);
    }
    gate.end();
    stage.join();
}

void measure_futex(int samples) {
    bench::FutexSleeper futex;
    sample_quiet("futex");
    for (int i = 0; i < samples; ++i) {
        bench::sleep_ns(gap_ns);
        bench::sample_arrival(
            "harts/awake:futex", [&] { futex.wake(); }, sched_yield);
    }
}

}   // namespace

int main(int argc, char** argv) {
    const int samples = std::stoi(bench::take_flag(argc, argv, "samples", "101"));
    bench::refuse_others(argc, argv);
    for (int round = 0; round < 3; ++round) {
        const int each = samples / 3 + 1;
        measure_futex(each);
        measure("streams", each, [](Gate& gate) { as_unit(gate, WEFT_KIND_FULL); });
        measure("hosted", each, [](Gate& gate) { as_unit(gate, WEFT_KIND_HOSTED); });
        measure("library", each, in_a_library);
        measure("team", each, in_a_team);
        measure("arena", each, in_an_arena);
        measure("guest", each, as_a_guest);
    }
    return 0;
}
