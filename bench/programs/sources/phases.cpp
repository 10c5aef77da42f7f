// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ threads that compute in phases: after each phase they meet at a barrier made of a mutex and a
// condition variable.
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Barrier {
public:
    explicit Barrier(int members) : members_(members) {}
    void wait() {
        std::unique_lock lock(mutex_);
        const int phase = phase_;
        if (++arrived_ == members_) {
            arrived_ = 0;
            ++phase_;
            changed_.notify_all();
        } else {
            changed_.wait(lock, [&] { return phase_ != phase; });
        }
    }

private:
    const int members_;
    int arrived_ = 0;
    int phase_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
};

}   // namespace

int main(int count, char** arguments) {
    const int threads = std::atoi(count > 1 ? arguments[1] : "2");
    const int phases = count > 2 ? std::atoi(arguments[2]) : 400;
    constexpr int cells = 40'960;
    std::vector<double> old(cells, 1.0);
    std::vector<double> next(cells, 0.0);
    Barrier barrier(threads);
    const auto work = [&](int number) {
        const int begin = cells * number / threads;
        const int end = cells * (number + 1) / threads;
        for (int phase = 0; phase < phases; ++phase) {
            std::vector<double>& from = phase % 2 == 0 ? old : next;
            std::vector<double>& to = phase % 2 == 0 ? next : old;
            for (int i = begin; i < end; ++i) to[i] = std::sin(from[(i + 1) % cells] + from[i] + i);
            barrier.wait();
        }
    };
    std::vector<std::thread> workers;
    for (int number = 0; number < threads; ++number) workers.emplace_back(work, number);
    for (std::thread& worker : workers) worker.join();
    double sum = 0;
    for (const double value : phases % 2 == 0 ? old : next) sum += value;
    std::printf("%.17g\n", sum);
}
