// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two parallel libraries, one of which calls the other: a loop of N rounds, each of which runs M
// tasks repeatedly. As the libraries of example/domains, which share the harts, and as thread
// pools: one of N threads for the loop, and one of M threads for each caller of the tasks, all made
// beforehand.
//   libraries [--rounds=N] [--calls=N: of the inner library by each round of the outer]
#include <condition_variable>
#include <mutex>
#include <thread>

#include "example/domains/by_priority.hpp"
#include "example/domains/in_order.hpp"
#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

constexpr int work_turns = 40'000;   // some 10 us

[[gnu::noinline]] void work() {
    double value = 1.0;
    for (int i = 0; i < work_turns; ++i) asm volatile("" : "+x"(value));
}

// A thread pool whose caller is one of its threads.
class ThreadPool {
public:
    explicit ThreadPool(int size) {
        for (int i = 1; i < size; ++i) threads_.emplace_back([this, i] { serve(i); });
    }
    ~ThreadPool() {
        begin(nullptr);
        for (std::thread& thread : threads_) thread.join();
    }
    ThreadPool(const ThreadPool&) = delete;

    // Calls body(i) once on each thread, and returns when all have returned.
    void on_all(const std::function<void(int)>& body) {
        begin(&body);
        body(0);
        std::unique_lock lock(lock_);
        ended_.wait(lock, [this] { return running_ == 0; });
    }

private:
    void begin(const std::function<void(int)>* body) {
        {
            const std::lock_guard lock(lock_);
            body_ = body;
            running_ = threads_.size();
            ++calls_;
        }
        began_.notify_all();
    }

    void serve(int number) {
        for (unsigned seen = 0;;) {
            std::unique_lock lock(lock_);
            began_.wait(lock, [&] { return calls_ != seen; });
            seen = calls_;
            const std::function<void(int)>* const body = body_;
            lock.unlock();
            if (body == nullptr) return;
            (*body)(number);
            lock.lock();
            if (--running_ == 0) ended_.notify_one();
        }
    }

    std::mutex lock_;
    std::condition_variable began_, ended_;
    const std::function<void(int)>* body_ = nullptr;   // of the latest call; null: the pool ends
    std::size_t running_ = 0;
    unsigned calls_ = 0;
    std::vector<std::thread> threads_;
};

template <class F>
double per_task(int outer, int inner, int calls, F f) {
    const std::uint64_t from = bench::now_ns();
    f();
    return static_cast<double>(bench::now_ns() - from) / (outer * inner * calls);
}

double by_thread_pools(int outer, int inner, int calls) {
    ThreadPool rounds(outer);
    std::vector<std::unique_ptr<ThreadPool>> tasks;
    for (int i = 0; i < outer; ++i) tasks.push_back(std::make_unique<ThreadPool>(inner));
    return per_task(outer, inner, calls, [&] {
        rounds.on_all([&](int round) {
            for (int i = 0; i < calls; ++i) tasks[static_cast<std::size_t>(round)]->on_all([](int) { work(); });
        });
    });
}

double by_domains(int outer, int inner, int calls) {
    return per_task(outer, inner, calls, [&] {
        in_order::for_each(static_cast<std::size_t>(outer), [&](std::size_t) {
            for (int i = 0; i < calls; ++i)
                by_priority::run_all(std::vector<by_priority::task>(static_cast<std::size_t>(inner), {0, work}));
        });
    });
}

}   // namespace

int main(int argc, char** argv) {
    const int rounds = std::stoi(bench::take_flag(argc, argv, "rounds", "9"));
    const int calls = std::stoi(bench::take_flag(argc, argv, "calls", "100"));
    bench::refuse_others(argc, argv);
    const bench::Runtime runtime(WEFT_POOL_SHARED, WEFT_KIND_LSA, 0);
    for (int round = 0; round < rounds; ++round) {
        for (const int size : {1, 2, 4, 8, 16}) {
            const std::string name = "harts/libraries/" + std::to_string(size) + "x" + std::to_string(size);
            bench::print_sample(name + ":threads", by_thread_pools(size, size, calls));
            bench::print_sample(name + ":weft", by_domains(size, size, calls));
        }
        bench::print_sample("harts/libraries:work", per_task(1, 1, calls, [&] {
                                for (int i = 0; i < calls; ++i) work();
                            }));
    }
    return 0;
}
