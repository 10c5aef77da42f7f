// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Timers: starting and cancelling one, firing a batch, waiting with a deadline that does not
// expire, and the cost of pending timers to units that do not use them. One stream with a private
// pool.
#include <memory>

#include "crowd.hpp"
#include "games.hpp"
#include "raw_benchmarks.hpp"
#include "weft_harness.hpp"

namespace {

constexpr uint64_t hour_ns = 3'600'000'000'000;

// Timers that will not fire while this object exists.
class Pending {
public:
    explicit Pending(std::size_t count) : timers_(std::make_unique<weft_timer[]>(count)), count_(count) {
        const uint64_t first = weft_now_ns() + hour_ns;
        // at distances that are no round numbers, and not started in the order of their times
        for (std::size_t i = 0; i < count; ++i) {
            const uint64_t deadline = first + (i * 7919 % count) * 9'973;
            bench::must(weft_timer_start(&timers_[i], bench::nothing, nullptr, deadline));
        }
    }
    ~Pending() {
        for (std::size_t i = 0; i < count_; ++i) bench::must(weft_timer_cancel(&timers_[i]));
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;

private:
    std::unique_ptr<weft_timer[]> timers_;
    std::size_t count_;
};

void add_and_cancel(benchmark::State& state, weft_pool* pool, std::size_t pending) {
    bench::on_ult(pool, [&] {
        const Pending others(pending);
        const uint64_t deadline = weft_now_ns() + hour_ns;
        weft_timer timer = {};
        while (state.KeepRunning()) {
            bench::must(weft_timer_start(&timer, bench::nothing, nullptr, deadline));
            bench::must(weft_timer_cancel(&timer));
        }
    });
}

// All timers are due when they are started; the unit yields until the stream has called them.
void add_and_fire(benchmark::State& state, weft_pool* pool, std::size_t count) {
    bench::on_ult(pool, [&] {
        const auto timers = std::make_unique<weft_timer[]>(count);
        std::size_t fired = 0;
        auto count_one = [](void* counter) { ++*static_cast<std::size_t*>(counter); };
        while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
            fired = 0;
            for (std::size_t i = 0; i < count; ++i) bench::must(weft_timer_start(&timers[i], count_one, &fired, 1 + i));
            while (*static_cast<volatile std::size_t*>(&fired) < count) bench::must(weft_unit_yield());
        }
    });
}

template <class Game>
void hand_off(benchmark::State& state, weft_pool* pool) {
    bench::on_ult(pool, [&] { bench::hand_off<Game>(state, [pool](auto body) { return bench::Ult(pool, body); }); });
}

void yield_between_two(benchmark::State& state, weft_pool* pool, std::size_t pending) {
    bench::on_ult(pool, [&] {
        const Pending others(pending);
        bench::yield_among(state, pool, 2);
    });
}

void read_the_clock(benchmark::State& state) {
    while (state.KeepRunning()) benchmark::DoNotOptimize(weft_now_ns());
}

}   // namespace

int main(int argc, char** argv) {
    bench::pin(bench::usable_cpus().back());
    const bench::Runtime runtime(WEFT_POOL_PRIVATE, WEFT_KIND_FULL);
    weft_pool* pool = runtime.pool();
    bench::add_raw_switch("switch");
    bench::add("clock", "weft", read_the_clock);
    for (std::size_t pending : {0, 1000, 100'000}) {
        const std::string number = std::to_string(pending);
        bench::add("timer.add_cancel/" + number, "weft", add_and_cancel, pool, pending);
        bench::add("timer.yield/" + number, "weft", yield_between_two, pool, pending);
    }
    for (std::size_t count : {1, 64, 4096}) {
        bench::add("timer.add_fire/" + std::to_string(count), "weft", add_and_fire, pool, count);
    }
    bench::add("timer.event", "weft.no_deadline", hand_off<bench::EventGame>, pool);
    bench::add("timer.event", "weft.one_deadline", hand_off<bench::EventGameWith<bench::Deadline::fixed>>, pool);
    bench::add("timer.event", "weft.new_deadlines", hand_off<bench::EventGameWith<bench::Deadline::fresh>>, pool);
    return bench::run_registered(argc, argv);
}
