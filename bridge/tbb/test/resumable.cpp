// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that are suspended, and go on when a thread or another task resumes them: their locals are
// there, the code after the suspension runs once, and their waits end.
#include <oneapi/tbb.h>

#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using Point = tbb::task::suspend_point;

// Resumes what it is given, in a thread of its own.
class Resumer {
public:
    ~Resumer() {
        points_.push(nullptr);
        thread_.join();
    }
    void resume(Point point) { points_.push(point); }

private:
    tbb::concurrent_bounded_queue<Point> points_;
    std::thread thread_{[this] {
        for (;;) {
            Point point = nullptr;
            points_.pop(point);
            if (point == nullptr) return;
            tbb::task::resume(point);
        }
    }};
};

void by_a_thread() {
    Resumer resumer;
    std::atomic<int> before{0}, after{0}, wrong{0};
    tbb::parallel_for(
        0, 50,
        [&](int i) {
            std::vector<int> locals(20, i);
            ++before;
            tbb::task::suspend([&](Point point) { resumer.resume(point); });
            for (const int local : locals) wrong += local != i;
            ++after;
        },
        tbb::simple_partitioner());
    EQUAL(before, 50);
    EQUAL(after, 50);
    EQUAL(wrong, 0);
}

// At once, before the task has left its stack.
void within_suspend() {
    std::atomic<int> after{0};
    tbb::parallel_for(0, 50, [&](int) {
        tbb::task::suspend([](Point point) { tbb::task::resume(point); });
        ++after;
    });
    EQUAL(after, 50);
}

void by_tasks() {
    tbb::concurrent_queue<Point> points;
    std::atomic<int> after{0};
    tbb::task_group group;
    for (int i = 0; i < 30; ++i) {
        group.run([&] {
            tbb::task::suspend([&](Point point) { points.push(point); });
            ++after;
        });
    }
    std::thread others([&] {
        for (int resumed = 0; resumed < 30;) {
            Point point = nullptr;
            if (!points.try_pop(point)) {
                std::this_thread::yield();
                continue;
            }
            tbb::parallel_invoke([point] { tbb::task::resume(point); }, [] {});
            ++resumed;
        }
    });
    group.wait();
    others.join();
    EQUAL(after, 30);
}

// Suspended within levels of loops, so that waits are suspended as well.
void deep() {
    Resumer resumer;
    std::atomic<int> sum{0};
    tbb::parallel_for(0, 6, [&](int) {
        tbb::parallel_for(0, 6, [&](int i) {
            tbb::parallel_for(0, 4, [&](int j) {
                if (j % 2 == 0) tbb::task::suspend([&](Point point) { resumer.resume(point); });
                sum += i;
            });
        });
    });
    EQUAL(sum, 6 * 15 * 4);
}

// A task of a thread that has nothing else to do, in an arena of this thread alone.
void alone() {
    Resumer resumer;
    const std::thread::id me = std::this_thread::get_id();
    tbb::task_arena arena(1);
    int after = 0;
    for (int i = 0; i < 20; ++i) {
        arena.execute([&] {
            tbb::task::suspend([&](Point point) { resumer.resume(point); });
            ++after;
        });
        CHECK(std::this_thread::get_id() == me);
    }
    EQUAL(after, 20);
}

void exceptions() {
    Resumer resumer;
    int caught = 0;
    for (int round = 0; round < 10; ++round) {
        try {
            tbb::parallel_for(0, 10, [&](int i) {
                try {
                    if (i % 2 == 0) throw i;
                } catch (int value) {
                    CHECK(value == i);
                }
                tbb::task::suspend([&](Point point) { resumer.resume(point); });
                if (i == 7) throw std::runtime_error("resumed");
            });
        } catch (const std::runtime_error&) {
            ++caught;
        }
    }
    EQUAL(caught, 10);
}

// Several threads with tasks that are suspended at once.
void threads() {
    Resumer resumer;
    std::atomic<int> after{0};
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i) {
        all.emplace_back([&] {
            tbb::parallel_for(
                0, 20,
                [&](int) {
                    tbb::task::suspend([&](Point point) { resumer.resume(point); });
                    ++after;
                },
                tbb::simple_partitioner());
        });
    }
    for (std::thread& thread : all) thread.join();
    EQUAL(after, 80);
}

void all() {
    by_a_thread();
    within_suspend();
    by_tasks();
    deep();
    alone();
    exceptions();
    threads();
}

}   // namespace

int main() {
    all();
    for (const int threads : {1, 4}) with_threads(threads, all);
    return verdict();
}
