// What units wait for, on two streams that are bound to two CPUs, in real time: one iteration is one hand-off from a unit of the one
// stream to a unit of the other, one wait at a barrier, one lock and unlock. The baseline is the least that two CPUs can do: two OS
// threads that hand a cache line to and fro, by one flag each way.
//   sync_two [--pool=private|deque]
// In private pools each unit stays where it was spawned, so that each hand-off crosses; from deques units are stolen.
#include <atomic>
#include <thread>

#include "crowd.hpp"
#include "games.hpp"
#include "weft_harness.hpp"

namespace {

struct LineGame {
    struct Side {
        alignas(128) std::atomic<int> turns{0};   // two lines: neighbours are fetched together
        alignas(128) int taken = 0;
    };
    Side sides[2];

    LineGame() { sides[0].turns.store(1); }
    void turn(int me) {
        const int wanted = ++sides[me].taken;
        while (sides[me].turns.load(std::memory_order_acquire) != wanted) {}   // acquire: pairs with the store below
        sides[1 - me].turns.store(me == 0 ? wanted : wanted + 1, std::memory_order_release);   // release: what a hand-off must be
    }
};

void bare_line(benchmark::State& state, int other_cpu) {
    bench::hand_off<LineGame>(state, [other_cpu](auto body) {
        return std::jthread([other_cpu, body] {
            bench::pin(other_cpu);
            body();
        });
    });
}

// Where the one that measures is spawned, and where the others are, in turn.
struct Pools {
    weft_pool* pool[2];
};

// Begins with the other stream's.
auto spawner(Pools pools) {
    return [pools, next = std::size_t{1}](auto body) mutable { return bench::Ult(pools.pool[next++ % 2], body); };
}

template <class Game>
void hand_off(benchmark::State& state, Pools pools) {
    bench::on_ult(pools.pool[0], [&] { bench::hand_off<Game>(state, spawner(pools)); });
}

void barrier(benchmark::State& state, Pools pools, std::size_t count) {
    bench::on_ult(pools.pool[0], [&] {
        weft_barrier barrier;
        bench::must(weft_barrier_init(&barrier, static_cast<uint32_t>(count), nullptr, nullptr));
        bench::wait_for_all(state, count, [&barrier] { bench::must(weft_barrier_wait(&barrier)); }, spawner(pools));
    });
}

// `held`: over a yield, so that all the others come and wait.
template <bool held>
void mutex(benchmark::State& state, Pools pools, std::size_t count) {
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
        bench::lock_among(state, count, locked, spawner(pools));
    });
}

}  // namespace

int main(int argc, char** argv) {
    const std::string pool_name = bench::take_flag(argc, argv, "pool", "private");
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
        bench::must(weft_stream_pool(weft_stream_at(i), &pools.pool[i]));
    }
    const std::string subject = "weft." + pool_name;
    bench::add("two/line", "raw", bare_line, cpu[1])->UseRealTime();
    bench::add("two/condition", subject, hand_off<bench::ConditionGame>, pools)->UseRealTime();
    bench::add("two/condition.unlocked", subject, hand_off<bench::UnlockedConditionGame>, pools)->UseRealTime();
    bench::add("two/condition.held", subject, hand_off<bench::HeldConditionGame>, pools)->UseRealTime();
    bench::add("two/event", subject, hand_off<bench::EventGame>, pools)->UseRealTime();
    bench::add("two/semaphore", subject, hand_off<bench::SemaphoreGame>, pools)->UseRealTime();
    bench::add("two/channel/0", subject, hand_off<bench::ChannelGame>, pools)->UseRealTime();
    bench::add("two/barrier/64", subject, barrier, pools, std::size_t{64})->UseRealTime();
    for (std::size_t count : {2, 16, 64, 256, 1024}) {
        bench::add("two/mutex/" + std::to_string(count), subject, mutex<false>, pools, count)->UseRealTime();
        bench::add("two/mutex_held/" + std::to_string(count), subject, mutex<true>, pools, count)->UseRealTime();
    }
    return bench::run_registered(argc, argv);
}
