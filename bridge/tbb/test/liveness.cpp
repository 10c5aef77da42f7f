// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that need four threads at once, which TBB has been told, although nothing says which of
// them waits for which: bodies that spin, yield to the kernel, block, or read what others write.
// None may hang, however few CPUs there are.
//
//     liveness [NAME]
#include <oneapi/tbb.h>

#include <barrier>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <semaphore>
#include <thread>

#include "check.hpp"

namespace {

constexpr int many = 4;

template <class Body>
void at_once(int rounds, Body body) {
    for (int round = 0; round < rounds; ++round) tbb::parallel_for(0, many, body, tbb::simple_partitioner());
}

void spin() {
    for (int round = 0; round < 2; ++round) {
        std::atomic<int> here{0};
        at_once(1, [&](int) {
            ++here;
            while (here < many) {}
        });
        EQUAL(here, many);
    }
}

void yield() {
    for (int round = 0; round < 10; ++round) {
        std::atomic<int> here{0};
        at_once(1, [&](int) {
            ++here;
            while (here < many) std::this_thread::yield();
        });
        EQUAL(here, many);
    }
}

// By TBB's own tasks of a group.
void group() {
    for (int round = 0; round < 10; ++round) {
        std::atomic<int> here{0};
        tbb::task_group group;
        for (int i = 0; i < many; ++i) {
            group.run([&] {
                ++here;
                while (here < many) std::this_thread::yield();
            });
        }
        group.wait();
        EQUAL(here, many);
    }
}

void barriers() {
    std::barrier barrier(many);
    std::atomic<int> sum{0};
    at_once(5, [&](int i) {
        for (int step = 0; step < 10; ++step) {
            sum += i;
            barrier.arrive_and_wait();
            CHECK(sum >= (step + 1) * 6);
            barrier.arrive_and_wait();
        }
    });
    EQUAL(sum, 5 * 10 * 6);
}

void conditions() {
    std::mutex mutex;
    std::condition_variable changed;
    int turn = 0;
    at_once(5, [&](int i) {
        for (int step = 0; step < 5; ++step) {
            std::unique_lock held(mutex);
            changed.wait(held, [&] { return turn % many == i; });
            ++turn;
            changed.notify_all();
        }
    });
    EQUAL(turn, 5 * 5 * many);
}

void semaphores() {
    std::counting_semaphore<many> turns[many] = {std::counting_semaphore<many>(1), std::counting_semaphore<many>(0),
                                                 std::counting_semaphore<many>(0), std::counting_semaphore<many>(0)};
    std::atomic<int> sum{0};
    at_once(5, [&](int i) {
        for (int step = 0; step < 5; ++step) {
            turns[i].acquire();
            ++sum;
            turns[(i + 1) % many].release();
        }
    });
    EQUAL(sum, 5 * 5 * many);
}

// A byte goes round: each body reads in the kernel what the one before it has written.
void pipes() {
    int ends[many][2];
    for (auto& pair : ends) CHECK(pipe(pair) == 0);
    std::atomic<int> sum{0};
    at_once(3, [&](int i) {
        for (int step = 0; step < 5; ++step) {
            char byte = static_cast<char>(step);
            if (i == 0) CHECK(write(ends[1][1], &byte, 1) == 1);
            CHECK(read(ends[i][0], &byte, 1) == 1);
            sum += byte;
            if (i != 0) CHECK(write(ends[(i + 1) % many][1], &byte, 1) == 1);
        }
    });
    EQUAL(sum, 3 * many * 10);
    for (auto& pair : ends) close(pair[0]), close(pair[1]);
}

// Two bodies put in what two others wait for.
void queues() {
    tbb::concurrent_bounded_queue<int> queue;
    queue.set_capacity(2);
    std::atomic<int> sum{0};
    at_once(3, [&](int i) {
        for (int step = 0; step < 30; ++step) {
            int value = step;
            if (i % 2 == 0) {
                queue.push(value);
            } else {
                queue.pop(value);
                sum += value;
            }
        }
    });
    EQUAL(sum, 3 * 2 * 435);
}

// Only workers can come, and this thread waits outside.
void enqueued() {
    for (int round = 0; round < 5; ++round) {
        tbb::task_arena arena(many - 1, 0);
        std::atomic<int> here{0};
        std::binary_semaphore all_here(0);
        for (int i = 0; i < many - 1; ++i) {
            arena.enqueue([&] {
                if (++here == many - 1) all_here.release();
                while (here < many - 1) std::this_thread::yield();
                ++here;
            });
        }
        all_here.acquire();
        while (here < 2 * (many - 1)) std::this_thread::yield();
    }
}

// Bodies within bodies: each outer body waits for the other at the innermost level.
void nested() {
    for (int round = 0; round < 5; ++round) {
        std::atomic<int> here{0};
        tbb::parallel_for(
            0, 2,
            [&](int) {
                tbb::this_task_arena::isolate([&] {
                    tbb::parallel_for(
                        0, 2,
                        [&](int) {
                            ++here;
                            while (here < many) std::this_thread::yield();
                        },
                        tbb::simple_partitioner());
                });
            },
            tbb::simple_partitioner());
        EQUAL(here, many);
    }
}

constexpr struct {
    const char* name;
    void (*run)();
} cases[] = {{"spin", spin},         {"yield", yield},           {"group", group},
             {"barriers", barriers}, {"conditions", conditions}, {"semaphores", semaphores},
             {"pipes", pipes},       {"queues", queues},         {"enqueued", enqueued},
             {"nested", nested}};

}   // namespace

int main(int count, char** arguments) {
    for (const auto& one : cases) {
        if (count < 2 || std::strcmp(arguments[1], one.name) == 0) with_threads(many, one.run);
    }
    return verdict();
}
