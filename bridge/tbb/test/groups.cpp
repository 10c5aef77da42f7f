// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Task groups: what wait() says and throws, groups within groups, tasks that are kept for later,
// and groups whose waits run no other tasks.
#define TBB_PREVIEW_ISOLATED_TASK_GROUP 1
#include <oneapi/tbb.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

void waits() {
    tbb::task_group group;
    std::atomic<int> sum{0};
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 50; ++i) group.run([&sum, i] { sum += i; });
        CHECK(group.wait() == tbb::task_group_status::complete);
        EQUAL(sum, (round + 1) * 1225);
    }
    CHECK(group.wait() == tbb::task_group_status::complete);   // it is empty
}

int fibonacci(int n) {
    if (n < 2) return n;
    int a = 0, b = 0;
    tbb::task_group group;
    group.run([&] { a = fibonacci(n - 1); });
    CHECK(group.run_and_wait([&] { b = fibonacci(n - 2); }) == tbb::task_group_status::complete);
    return a + b;
}

// Tasks that add tasks to the group whose end is waited for.
void grow(tbb::task_group& group, std::atomic<int>& count, int depth) {
    ++count;
    if (depth == 0) return;
    for (int i = 0; i < 3; ++i) group.run([&group, &count, depth] { grow(group, count, depth - 1); });
}

void grows() {
    tbb::task_group group;
    std::atomic<int> count{0};
    grow(group, count, 5);
    group.wait();
    EQUAL(count, 364);
}

void deferred() {
    tbb::task_group group;
    std::atomic<int> sum{0};
    std::vector<tbb::task_handle> handles;
    for (int i = 0; i < 20; ++i) handles.push_back(group.defer([&sum, i] { sum += i; }));
    CHECK(static_cast<bool>(handles[0]));
    for (tbb::task_handle& handle : handles) group.run(std::move(handle));
    CHECK(handles[0] == nullptr);
    CHECK(group.run_and_wait(group.defer([&sum] { sum += 1000; })) == tbb::task_group_status::complete);
    EQUAL(sum, 1190);
    {
        const tbb::task_handle never = group.defer([&sum] { sum += 5; });
    }
    group.wait();
    EQUAL(sum, 1190);
    tbb::task_arena arena(2);
    arena.enqueue(group.defer([&sum] { sum += 10; }));
    arena.execute([&] { group.wait(); });
    EQUAL(sum, 1200);
}

void cancelled() {
    tbb::task_group group;
    std::atomic<int> told{0}, after{0};
    for (int i = 0; i < 100; ++i) {
        group.run([&] {
            if (told.fetch_add(1) == 0) group.cancel();
            else if (tbb::is_current_task_group_canceling()) ++after;
        });
    }
    CHECK(group.wait() == tbb::task_group_status::canceled);
    CHECK(told >= 1 && after <= told);
    // the group is as new
    int done = 0;
    CHECK(group.run_and_wait([&] { ++done; }) == tbb::task_group_status::complete);
    EQUAL(done, 1);
}

// A task of a group that is cancelled already is not run.
void cancelled_before() {
    tbb::task_group group;
    std::atomic<int> run{0};
    CHECK(group.run_and_wait([&] {
        group.cancel();
        for (int i = 0; i < 10; ++i) group.run([&] { ++run; });
    }) == tbb::task_group_status::canceled);
    EQUAL(run, 0);
}

void exceptions() {
    for (int round = 0; round < 30; ++round) {
        tbb::task_group group;
        std::atomic<int> begun{0};
        std::string text;
        for (int i = 0; i < 20; ++i) {
            group.run([&begun, round] {
                if (begun++ == round % 3) throw std::runtime_error(std::to_string(round));
            });
        }
        try {
            group.wait();
        } catch (const std::runtime_error& error) {
            text = error.what();
        }
        CHECK(text == std::to_string(round));
        CHECK(group.wait() == tbb::task_group_status::complete);
    }
}

// An inner group's exception is caught where it is waited for, and the outer group goes on.
void nested_exceptions() {
    std::atomic<int> caught{0}, completed{0};
    tbb::task_group outer;
    for (int i = 0; i < 20; ++i) {
        outer.run([&, i] {
            tbb::task_group inner;
            inner.run([i] {
                if (i % 2 == 0) throw i;
            });
            try {
                inner.wait();
                ++completed;
            } catch (int value) {
                caught += value == i;
            }
        });
    }
    CHECK(outer.wait() == tbb::task_group_status::complete);
    EQUAL(caught, 10);
    EQUAL(completed, 10);
}

// A wait for an isolated group runs nothing of another group, so a lock may be held meanwhile that
// the other tasks want.
void isolated() {
    tbb::task_group outer;
    std::atomic<int> foreign{0}, sum{0};
    for (int i = 0; i < 20; ++i) {
        outer.run([&] {
            static thread_local bool waiting = false;
            foreign += waiting;
            waiting = true;
            tbb::isolated_task_group inner;
            for (int j = 0; j < 10; ++j) inner.run([&] { ++sum; });
            inner.wait();
            waiting = false;
        });
    }
    outer.wait();
    EQUAL(foreign, 0);
    EQUAL(sum, 200);
}

// Tasks come from threads that are no one's.
void from_threads() {
    tbb::task_group group;
    std::atomic<int> sum{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 50; ++j) group.run([&] { ++sum; });
            group.wait();
        });
    }
    for (std::thread& thread : threads) thread.join();
    group.wait();
    EQUAL(sum, 200);
}

void all() {
    waits();
    EQUAL(fibonacci(15), 610);
    grows();
    deferred();
    cancelled();
    cancelled_before();
    exceptions();
    nested_exceptions();
    isolated();
    from_threads();
}

}   // namespace

int main() {
    all();
    for (const int threads : {1, 2, 8}) with_threads(threads, all);
    return verdict();
}
