// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ threads around a bounded queue: the main thread enqueues jobs, the others dequeue and compute
// them.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

std::uint64_t mixed(std::uint64_t seed, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        seed ^= seed >> 12;
        seed ^= seed << 25;
        seed ^= seed >> 27;
        seed *= 0x2545F4914F6CDD1DULL;
    }
    return seed;
}

class Queue {
public:
    void put(std::uint64_t job) {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [this] { return jobs_.size() < 16; });
        jobs_.push_back(job);
        filled_.notify_one();
    }
    std::uint64_t take() {
        std::unique_lock lock(mutex_);
        filled_.wait(lock, [this] { return !jobs_.empty(); });
        const std::uint64_t job = jobs_.front();
        jobs_.pop_front();
        room_.notify_one();
        return job;
    }

private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::condition_variable room_;
    std::deque<std::uint64_t> jobs_;
};

}   // namespace

int main(int count, char** arguments) {
    const int threads = std::atoi(count > 1 ? arguments[1] : "2");
    const int jobs = count > 2 ? std::atoi(arguments[2]) : 20'000;
    Queue queue;
    std::vector<std::uint64_t> sums(std::size_t(threads), 0);
    std::vector<std::thread> workers;
    for (std::uint64_t& sum : sums) {
        workers.emplace_back([&queue, &sum] {
            for (std::uint64_t job = queue.take(); job != 0; job = queue.take()) sum += mixed(job, 5'000);
        });
    }
    for (int job = 1; job <= jobs; ++job) queue.put(std::uint64_t(job));
    for (int number = 0; number < threads; ++number) queue.put(0);
    std::uint64_t total = 0;
    for (int number = 0; number < threads; ++number) {
        workers[std::size_t(number)].join();
        total += sums[std::size_t(number)];
    }
    std::printf("%llu\n", static_cast<unsigned long long>(total));
}
