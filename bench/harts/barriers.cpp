// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lithe's study of barriers (section 7.4): groups of 16 tasks that meet at a barrier repeatedly, 1
// to 10 groups at once: as pthreads with pthread_barrier_t, as pthreads that spin, bound to CPUs or
// not, and as weft_spmd. The program reports the time per barrier of one group, which grows with
// the number of groups if the processors are shared well.
//   barriers [--rounds=N] [--steps=N] [--spins=N: barriers of the spinning threads, which are slow]
#include <pthread.h>

#include <atomic>
#include <memory>
#include <thread>

#include "library.hpp"

namespace {

constexpr int tasks = 16;

// The last to arrive releases all; the others poll until then.
class SpinBarrier {
public:
    explicit SpinBarrier(int count) : count_(count), left_(count) {}
    void wait() {
        const unsigned phase = phase_.load();
        if (left_.fetch_sub(1) == 1) {
            left_.store(count_);
            phase_.store(phase + 1);
            return;
        }
        while (phase_.load() == phase) {}
    }

private:
    const int count_;
    std::atomic<int> left_;
    std::atomic<unsigned> phase_{0};
};

class PthreadBarrier {
public:
    explicit PthreadBarrier(int count) { pthread_barrier_init(&barrier_, nullptr, static_cast<unsigned>(count)); }
    ~PthreadBarrier() { pthread_barrier_destroy(&barrier_); }
    PthreadBarrier(const PthreadBarrier&) = delete;
    void wait() { pthread_barrier_wait(&barrier_); }

private:
    pthread_barrier_t barrier_;
};

// Runs all groups at once, each task an OS thread. Returns the total time divided by the number of
// steps.
template <class Barrier>
double by_threads(int groups, int steps, bool pinned) {
    const std::vector<int> cpus = bench::usable_cpus();
    std::vector<std::unique_ptr<Barrier>> barriers;
    for (int i = 0; i < groups; ++i) barriers.push_back(std::make_unique<Barrier>(tasks));
    PthreadBarrier begin(groups * tasks + 1);
    std::vector<std::thread> threads;
    for (int i = 0; i < groups * tasks; ++i) {
        threads.emplace_back([&, i] {
            if (pinned) bench::pin(cpus[static_cast<std::size_t>(i) % cpus.size()]);
            begin.wait();
            for (int step = 0; step < steps; ++step) barriers[static_cast<std::size_t>(i / tasks)]->wait();
        });
    }
    begin.wait();
    const std::uint64_t from = bench::now_ns();
    for (std::thread& thread : threads) thread.join();
    return static_cast<double>(bench::now_ns() - from) / steps;
}

struct Group {
    weft_barrier barrier;
    int steps;
};

void meet(void* raw) {
    auto& group = *static_cast<Group*>(raw);
    for (int step = 0; step < group.steps; ++step) weft_barrier_wait(&group.barrier);
}

// A separate OS thread calls weft_spmd for each group.
double by_spmd(int groups, int steps) {
    std::vector<Group> all(static_cast<std::size_t>(groups));
    std::vector<std::thread> callers;
    const std::uint64_t from = bench::now_ns();
    for (Group& group : all) {
        group.steps = steps;
        callers.emplace_back([&group] {
            bench::must(weft_guest_enter());
            bench::must(weft_barrier_init(&group.barrier, tasks, nullptr, nullptr));
            bench::must(weft_spmd(tasks, meet, &group));
            bench::must(weft_guest_leave());
        });
    }
    for (std::thread& caller : callers) caller.join();
    return static_cast<double>(bench::now_ns() - from) / steps;
}

}   // namespace

int main(int argc, char** argv) {
    const int rounds = std::stoi(bench::take_flag(argc, argv, "rounds", "3"));
    const int steps = std::stoi(bench::take_flag(argc, argv, "steps", "1000"));
    const int spins = std::stoi(bench::take_flag(argc, argv, "spins", "5"));
    bench::refuse_others(argc, argv);
    for (int round = 0; round < rounds; ++round) {
        for (int groups : {1, 2, 4, 7, 10}) {
            const std::string primitive = "harts/barrier/" + std::to_string(groups) + ":";
            bench::print_sample(primitive + "pthread", by_threads<PthreadBarrier>(groups, steps, false));
            bench::print_sample(primitive + "pthread.pinned", by_threads<PthreadBarrier>(groups, steps, true));
            bench::print_sample(primitive + "spin", by_threads<SpinBarrier>(groups, spins, false));
            bench::print_sample(primitive + "spin.pinned", by_threads<SpinBarrier>(groups, spins, true));
            bench::print_sample(primitive + "weft.spmd", by_spmd(groups, steps));
        }
    }
    return 0;
}
