// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Synchronization on two streams that are bound to two CPUs, in real time: one iteration is one
// hand-off from a unit of one stream to a unit of the other, one wait at a barrier, one lock and
// unlock. The baseline is the lower bound for two CPUs: two OS threads that pass a cache line back
// and forth, by one flag each way.
//   sync_two [--pool=private|deque] [--rounds=N]
// In private pools each unit stays where it was spawned, so that each hand-off crosses streams;
// from deques units are stolen.
#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "crowd.hpp"
#include "games.hpp"
#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

struct LineGame {
    struct Side {
        alignas(128) std::atomic<int> turns{0};   // two lines, since neighbouring lines are fetched together
        alignas(128) int taken = 0;
    };
    Side sides[2];

    LineGame() { sides[0].turns.store(1); }
    void turn(int me) {
        const int wanted = ++sides[me].taken;
        while (sides[me].turns.load(std::memory_order_acquire) != wanted) {}   // acquire: pairs with the store below
        // release: a hand-off must publish the caller's writes; pairs with the acquire load of the
        // other side
        sides[1 - me].turns.store(me == 0 ? wanted : wanted + 1, std::memory_order_release);
    }
};

void bare_line(bench::Bursts& bursts, int other_cpu) {
    bench::hand_off<LineGame>(bursts, [other_cpu](auto body) {
        return std::jthread([other_cpu, body] {
            bench::pin(other_cpu);
            body();
        });
    });
}

// The pool of the measuring unit, and the pools in which the others are spawned in turn.
struct Pools {
    weft_pool* pool[2];
};

// Begins with the other stream's pool.
auto spawner(Pools pools) {
    return [pools, next = std::size_t{1}](auto body) mutable { return bench::Ult(pools.pool[next++ % 2], body); };
}

template <class Game>
void hand_off(bench::Bursts& bursts, Pools pools) {
    bench::on_ult(pools.pool[0], [&] { bench::hand_off<Game>(bursts, spawner(pools)); });
}

void barrier(bench::Bursts& bursts, Pools pools, std::size_t count) {
    bench::on_ult(pools.pool[0], [&] {
        weft_barrier barrier;
        bench::must(weft_barrier_init(&barrier, static_cast<uint32_t>(count), nullptr, nullptr));
        bench::wait_for_all(
            bursts, count, [&barrier] { bench::must(weft_barrier_wait(&barrier)); }, spawner(pools));
    });
}

// `held`: holds the mutex over a yield, so that all others arrive and wait.
template <bool held>
void mutex(bench::Bursts& bursts, Pools pools, std::size_t count) {
    bench::on_ult(pools.pool[0], [&] {
        weft_mutex mutex = WEFT_MUTEX_INIT;
        auto locked = [&mutex](auto inside) {
            bench::must(weft_mutex_lock(&mutex));
            const bool goes_on = inside();
            if constexpr (held) bench::must(weft_unit_yield());
            bench::must(weft_mutex_unlock(&mutex));
            if constexpr (!held) bench::must(weft_unit_yield());
            return goes_on;
        };
        bench::lock_among(bursts, count, locked, spawner(pools));
    });
}

struct Subject {
    std::string name;
    std::int64_t units;
    std::function<void(bench::Bursts&)> run;
};

std::vector<Subject> subjects(const std::string& pool_name, Pools pools, int other_cpu) {
    const std::string weft = ":weft." + pool_name;
    std::vector<Subject> all = {
        {"two/line:raw", 2, [=](auto& bursts) { bare_line(bursts, other_cpu); }},
        {"two/condition" + weft, 2, [=](auto& bursts) { hand_off<bench::ConditionGame>(bursts, pools); }},
        {"two/condition.unlocked" + weft, 2,
         [=](auto& bursts) { hand_off<bench::UnlockedConditionGame>(bursts, pools); }},
        {"two/condition.held" + weft, 2, [=](auto& bursts) { hand_off<bench::HeldConditionGame>(bursts, pools); }},
        {"two/event" + weft, 2, [=](auto& bursts) { hand_off<bench::EventGame>(bursts, pools); }},
        {"two/semaphore" + weft, 2, [=](auto& bursts) { hand_off<bench::SemaphoreGame>(bursts, pools); }},
        {"two/channel/0" + weft, 2, [=](auto& bursts) { hand_off<bench::ChannelGame>(bursts, pools); }},
        {"two/barrier/64" + weft, 64, [=](auto& bursts) { barrier(bursts, pools, 64); }},
    };
    for (std::int64_t count : {2, 16, 64, 256, 1024}) {
        const auto units = static_cast<std::size_t>(count);
        all.push_back({"two/mutex/" + std::to_string(count) + weft, count,
                       [=](auto& bursts) { mutex<false>(bursts, pools, units); }});
        all.push_back({"two/mutex_held/" + std::to_string(count) + weft, count,
                       [=](auto& bursts) { mutex<true>(bursts, pools, units); }});
    }
    return all;
}

// Measures in rounds, so that a disturbance affects all subjects alike.
void measure(const std::vector<Subject>& all, int rounds) {
    constexpr std::int64_t least = 256;   // operations in a burst
    constexpr std::size_t samples = 32;   // bursts in a round
    for (int round = 0; round < rounds; ++round) {
        for (const Subject& subject : all) {
            bench::Bursts bursts(subject.name, std::max(least, 4 * subject.units), samples);
            subject.run(bursts);
            bursts.print();
        }
    }
}

}   // namespace

int main(int argc, char** argv) {
    const std::string pool_name = bench::take_flag(argc, argv, "pool", "private");
    const int rounds = std::stoi(bench::take_flag(argc, argv, "rounds", "41"));
    const std::vector<int> cpus = bench::usable_cpus();
    if (cpus.size() < 2) {
        std::fprintf(stderr, "bench: sync_two needs two CPUs\n");
        return 1;
    }
    const int cpu[2] = {cpus[cpus.size() - 2], cpus.back()};
    const bench::Runtime runtime(bench::pool_kind(pool_name), WEFT_KIND_FULL, 2);
    Pools pools{};
    for (std::size_t i = 0; i < 2; ++i) {
        bench::must(weft_stream_bind_cpus(weft_stream_at(i), std::to_string(cpu[i]).c_str()));
        bench::must(weft_stream_pool_get(weft_stream_at(i), &pools.pool[i]));
    }
    measure(subjects(pool_name, pools, cpu[1]), rounds);
    return 0;
}
