// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two streams that share work. Fork and join of 128 units of 100 ns and of 1 us, on one stream and
// on two. The time from a push until a stream that is idle, spinning or asleep, runs the unit. And
// the time that a stream that runs out of work needs to find some, where the other stream has
// pushed 100 units and then computes without a call for 10 ms. Rescue is off: its OS threads, which
// run units of streams that are stuck, would hide how long the streams take.
//   stealing [--rounds=N] [--samples=N] [--pool=shared|deque] [--bind=0|1]
// --samples: of each time, in all rounds. --pool: of the two streams; by default they have deques.
// --bind=0: the streams' OS threads are not bound to two CPUs, and the kernel may wake one on the
// CPU of the other, which does not call it.
#include <algorithm>
#include <atomic>

#include <weft/weft.hpp>

#include "algorithms.hpp"
#include "harts/arrival.hpp"
#include "weft_harness.hpp"

namespace {

constexpr std::size_t forks = 128, pushed = 100;
constexpr std::uint64_t never_ns = 100'000'000;    // then the pusher runs the unit itself
constexpr std::uint64_t idle_gap_ns = 1'000'000;   // far beyond WEFT_SPIN_NS
constexpr std::uint64_t computing_ns = 10'000'000, until_out_of_work_ns = 500'000;

constexpr struct {
    const char* name;
    int rounds;   // of bench::compute
} lengths[] = {{"100ns", 78}, {"1us", 630}};

bool bind = true;

// Read before any thread is bound: a bound one sees its own CPU only.
const std::vector<int> cpus = bench::usable_cpus();
int cpu_of(std::size_t stream, std::size_t streams) { return cpus[cpus.size() - streams + stream]; }

// Without a call of Weft or of the kernel.
template <class Over>
void compute_until(Over over) {
    while (!over()) benchmark::DoNotOptimize(bench::compute(1, 16));
}

void compute_for(std::uint64_t span_ns) {
    const std::uint64_t begin = bench::now_ns();
    compute_until([&] { return bench::now_ns() - begin >= span_ns; });
}

// A runtime whose streams are each bound to one of the last CPUs. The primary unit calls f(), since
// it alone stays on its stream.
template <class F>
void with_streams(const weft::settings& settings, F f) {
    const weft::runtime runtime(settings);
    for (std::size_t i = 0; bind && i < settings.streams; ++i) {
        const std::string cpu = std::to_string(cpu_of(i, settings.streams));
        bench::must(weft_stream_bind_cpus(weft_stream_at(i), cpu.c_str()));
    }
    f();
    for (std::size_t i = 0; i < settings.streams; ++i) bench::must(weft_stream_unbind(weft_stream_at(i)));
}

// ---- fork and join ------------------------------------------------------------------------------

void work(void* rounds) { benchmark::DoNotOptimize(bench::compute(1, *static_cast<const int*>(rounds))); }

void by_one_call(int& rounds) {
    weft_unit* units[forks];
    void* arguments[forks];
    std::fill(std::begin(arguments), std::end(arguments), &rounds);
    bench::must(weft_unit_spawn_many(nullptr, forks, work, arguments, nullptr, units));
    bench::must(weft_unit_join_free_many(units, forks));
}

void by_single_calls(int& rounds) {
    weft_unit* units[forks];
    for (auto& unit : units) bench::must(weft_ult_spawn(nullptr, work, &rounds, nullptr, &unit));
    for (auto* unit : units) bench::must(weft_unit_join_free(unit));
}

void sample_forks(const std::string& name, void (*fork_and_join)(int&), int rounds) {
    constexpr int warm_up = 20, samples = 40;
    for (int i = 0; i < warm_up; ++i) fork_and_join(rounds);
    std::vector<std::uint64_t> times(samples + 1);
    for (auto& time : times) {
        time = bench::now_ns();
        fork_and_join(rounds);
    }
    for (int i = 0; i < samples; ++i) bench::print_sample(name, static_cast<double>(times[i + 1] - times[i]));
}

void sample_all_forks(const std::string& subject) {
    for (const auto& [name, rounds] : lengths) {
        sample_forks(std::string("stealing/forks.") + name + ":" + subject, by_one_call, rounds);
        sample_forks(std::string("stealing/forks.") + name + ":" + subject + ".single_calls", by_single_calls, rounds);
    }
}

// ---- the time until a unit runs on another stream -----------------------------------------------

// Waits without a call until the arrival, or for so long that it will not come.
void await_arrival() {
    const std::uint64_t begin = bench::now_ns();
    compute_until([&] { return bench::came_at.load() != 0 || bench::now_ns() - begin > never_ns; });
    bench::note_arrival();
}

void sample_push(const std::string& name) {
    weft_unit* unit = nullptr;
    bench::sample_arrival(
        name,
        [&] {
            bench::must(weft_ult_spawn(
                nullptr, [](void*) { bench::note_arrival(); }, nullptr, nullptr, &unit));
        },
        await_arrival);
    bench::must(weft_unit_join_free(unit));
}

bool others_sleep() {
    weft_hart_use use = {};
    use.size = sizeof use;
    bench::must(weft_hart_use_get(&use));
    return use.granted == 1;
}

void sample_pushes_to_a_sleeper(int samples) {
    if (bind) bench::pin(cpu_of(1, 2));
    bench::FutexSleeper futex;            // bound like stream 1
    if (bind) bench::pin(cpu_of(0, 2));   // as the caller's stream is
    for (int i = 0; i < samples; ++i) {
        do {
            compute_for(idle_gap_ns);
        } while (!others_sleep());
        sample_push("stealing/asleep:weft");
        compute_for(idle_gap_ns);
        bench::sample_arrival(
            "stealing/asleep:futex", [&] { futex.wake(); }, await_arrival);
    }
}

void sample_pushes_to_a_spinner(int samples) {
    for (int i = 0; i < samples; ++i) {
        compute_for(until_out_of_work_ns);
        sample_push("stealing/spinning:weft");
    }
}

// Keeps a stream busy until `ends_at`.
struct Busy {
    std::atomic<bool> runs{false};
    std::atomic<std::uint64_t> ends_at{~std::uint64_t{0}};
    static void run(void* raw) {
        auto& self = *static_cast<Busy*>(raw);
        self.runs.store(true);
        compute_until([&] { return bench::now_ns() >= self.ends_at.load(); });
    }
};

void push_by_one_call(weft_unit** units) {
    bench::must(weft_unit_spawn_many(
        nullptr, pushed, [](void*) { bench::note_arrival(); }, nullptr, nullptr, units));
}

void push_by_single_calls(weft_unit** units) {
    for (std::size_t i = 0; i < pushed; ++i) {
        bench::must(weft_ult_spawn(
            nullptr, [](void*) { bench::note_arrival(); }, nullptr, nullptr, &units[i]));
    }
}

// The caller computes until the other stream has begun the busy unit, pushes while it runs, and
// computes again.
void sample_running_out(const std::string& name, void (*push)(weft_unit**)) {
    Busy busy;
    weft_unit* busy_unit = nullptr;
    weft_unit* units[pushed];
    bench::must(weft_ult_spawn(nullptr, Busy::run, &busy, nullptr, &busy_unit));
    compute_until([&] { return busy.runs.load(); });
    bench::came_at.store(0);
    push(units);
    const std::uint64_t out_at = bench::now_ns() + until_out_of_work_ns;
    busy.ends_at.store(out_at);
    compute_for(computing_ns);
    bench::must(weft_unit_join_free_many(units, pushed));
    bench::print_sample(name, static_cast<double>(bench::came_at.load()) - static_cast<double>(out_at));
    bench::must(weft_unit_join_free(busy_unit));
}

}   // namespace

int main(int argc, char** argv) {
    const int rounds = std::stoi(bench::take_flag(argc, argv, "rounds", "11"));
    const int samples = std::stoi(bench::take_flag(argc, argv, "samples", "330"));
    const std::string pool = bench::take_flag(argc, argv, "pool", "deque");
    bind = bench::take_flag(argc, argv, "bind", "1") != "0";
    bench::refuse_others(argc, argv);
    if (cpus.size() < 2) {
        std::fprintf(stderr, "bench: stealing needs two CPUs\n");
        return 1;
    }
    const weft::settings one = {.streams = 1, .rescue = weft::rescue_kind::off};
    weft::settings one_with_a_deque = one, two = one;
    one_with_a_deque.pool = weft::pool_kind::deque;
    two.streams = 2;
    two.pool = static_cast<weft::pool_kind>(bench::pool_kind(pool));
    weft::settings two_that_spin = two;
    two_that_spin.spin_ns = 1'000'000'000;
    for (int round = 0; round < rounds; ++round) {
        const int each = (samples + rounds - 1) / rounds;
        with_streams(one, [] { sample_all_forks("weft.1"); });
        with_streams(one_with_a_deque, [] { sample_all_forks("weft.1.deque"); });
        with_streams(two, [&] {
            sample_all_forks("weft.2");
            sample_pushes_to_a_sleeper(each);
            for (int i = 0; i < each; ++i) {
                sample_running_out("stealing/out_of_work:weft", push_by_one_call);
                sample_running_out("stealing/out_of_work:weft.single_calls", push_by_single_calls);
            }
        });
        with_streams(two_that_spin, [&] { sample_pushes_to_a_spinner(each); });
    }
    return 0;
}
