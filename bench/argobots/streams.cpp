// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From one stream to as many as there are harts, each on its private pool: the cost of create +
// join, yield and yield_to to each stream, as in Figures 9 to 12 of Argobots' paper (Seo et al.,
// TPDS 2018). Streams that share nothing do not slow each other down: the minimum, the mean and the
// maximum over the streams stay as with one stream.
//
//   argobots_streams [--rounds=21] [--streams=N] [--kind=full]
//
// Prints JSON, a line per sample: ns of an OS thread's processor time per operation. --streams: the
// maximum number; --kind: the kind of the created units.
#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

constexpr std::size_t fork_count = 256;
constexpr const char* operations[] = {"create_join", "yield", "yield_to"};
using Costs = std::array<double, std::size(operations)>;   // of one stream, ns

std::uint64_t thread_ns() { return bench::read_clock(CLOCK_THREAD_CPUTIME_ID); }

// Lets all streams begin at once: a stream alone behaves differently from a stream among others.
class Start {
public:
    explicit Start(std::size_t streams) : streams_(streams) {}
    void wait(std::size_t times) {
        arrived_.fetch_add(1);
        while (arrived_.load() < streams_ * times) {}
    }

private:
    const std::size_t streams_;
    std::atomic<std::size_t> arrived_ = 0;
};

void create_and_join(std::size_t forks) {
    std::array<weft_unit*, fork_count> units;
    for (std::size_t i = 0; i < forks; ++i) {
        for (auto& unit : units) bench::must(weft_ult_spawn(nullptr, bench::nothing, nullptr, nullptr, &unit));
        for (auto* unit : units) bench::must(weft_unit_join_free(unit));
    }
}

// Two units of one stream that switch to each other.
struct Pair {
    weft_unit* first;
    weft_unit* second;
    bool stop;
};

void yield_until_stopped(void* raw) {
    while (!static_cast<Pair*>(raw)->stop) bench::must(weft_unit_yield());
}

void yield_to_until_stopped(void* raw) {
    while (!static_cast<Pair*>(raw)->stop) bench::must(weft_unit_yield_to(static_cast<Pair*>(raw)->first));
}

struct Driver {
    Start* start;
    Costs costs;

    template <class F>
    void time(std::size_t operation, std::size_t times, F f) {
        f();
        start->wait(operation + 1);
        const std::uint64_t since = thread_ns();
        f();
        costs[operation] = static_cast<double>(thread_ns() - since) / static_cast<double>(times);
    }

    template <class Leave>
    void time_pair(std::size_t operation, void (*other)(void*), Leave leave) {
        constexpr std::size_t times = 20000;
        Pair pair{weft_unit_self(), nullptr, false};
        const weft_unit_options options = bench::options_of(WEFT_KIND_FULL);
        bench::must(weft_ult_spawn(nullptr, other, &pair, &options, &pair.second));
        time(operation, 2 * times, [&] {
            for (std::size_t i = 0; i < times; ++i) leave(pair);
        });
        pair.stop = true;
        bench::must(weft_unit_join_free(pair.second));
    }

    void run() {
        constexpr std::size_t forks = 100;
        time(0, forks * fork_count, [] { create_and_join(forks); });
        time_pair(1, yield_until_stopped, [](Pair&) { bench::must(weft_unit_yield()); });
        time_pair(2, yield_to_until_stopped, [](Pair& pair) { bench::must(weft_unit_yield_to(pair.second)); });
    }
};

void measure(std::size_t streams, weft_kind kind) {
    const bench::Runtime runtime(WEFT_POOL_PRIVATE, kind, streams);
    Start start(streams);
    std::vector<Driver> drivers(streams, Driver{&start, {}});
    std::vector<weft_unit*> units(streams);
    for (std::size_t rank = 0; rank < streams; ++rank) {
        weft_unit_options options = bench::options_of(WEFT_KIND_FULL);
        options.stream = weft_stream_at(rank);
        bench::must(weft_ult_spawn(
            nullptr, [](void* raw) { static_cast<Driver*>(raw)->run(); }, &drivers[rank], &options, &units[rank]));
    }
    bench::must(weft_unit_join_free_many(units.data(), units.size()));
    for (std::size_t operation = 0; operation < std::size(operations); ++operation) {
        std::vector<double> costs;
        for (const Driver& driver : drivers) costs.push_back(driver.costs[operation]);
        const std::string name = std::string(operations[operation]) + "/" + std::to_string(streams) + ":";
        bench::print_sample(name + "least", *std::min_element(costs.begin(), costs.end()));
        bench::print_sample(name + "mean",
                            std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(streams));
        bench::print_sample(name + "most", *std::max_element(costs.begin(), costs.end()));
    }
}

}   // namespace

int main(int argc, char** argv) {
    const auto rounds = std::stoul(bench::take_flag(argc, argv, "rounds", "21"));
    const auto most = std::stoul(bench::take_flag(argc, argv, "streams", std::to_string(bench::usable_cpus().size())));
    const weft_kind kind = bench::ult_kind(bench::take_flag(argc, argv, "kind", "full"));
    bench::refuse_others(argc, argv);
    if (most > bench::usable_cpus().size()) {
        std::fprintf(stderr, "bench: there are %zu CPUs: more streams than that would wait for each other\n",
                     bench::usable_cpus().size());
        return 1;
    }
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t streams = 1; streams <= most; ++streams) measure(streams, kind);
    }
    return 0;
}
