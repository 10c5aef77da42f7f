// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Children of forks use TBB: before the parent has used it, after that, and from within a task.
// TBB does not prepare itself for forks: where one of its locks is taken just then, it stays so in
// the child. Here no lock is.
#include <oneapi/tbb.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "check.hpp"

namespace {

void use() {
    for (int round = 0; round < 10; ++round) EQUAL(reduced_sum(1000), 499500);
    tbb::task_group group;
    std::atomic<int> count{0};
    for (int i = 0; i < 20; ++i) group.run([&] { ++count; });
    group.wait();
    EQUAL(count, 20);
}

void use_arenas() {
    use();
    for (const int threads : {1, 2, 4}) with_threads(threads, use);
}

// How many other threads of the process do not sleep in the kernel.
int awake() {
    int count = -1;   // this thread
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string stat;
        std::getline(std::ifstream(thread.path() / "stat"), stat);
        const std::size_t name_ends = stat.rfind(") ");
        count += name_ends != std::string::npos && stat[name_ends + 2] != 'S';
    }
    return count;
}

// Until the workers sleep, which hold no locks then; seen several times, since one may just be
// woken.
void settle() {
    for (int looks = 0, asleep = 0; looks < 500 && asleep < 5; ++looks) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        asleep = awake() == 0 ? asleep + 1 : 0;
    }
}

void finish() {
    tbb::task_scheduler_handle handle{tbb::attach()};
    CHECK(tbb::finalize(handle, std::nothrow));
}

void before_use() { EQUAL(status_of_child(use_arenas), 0); }

void after_use() {
    use_arenas();
    for (int round = 0; round < 5; ++round) {
        settle();
        EQUAL(status_of_child(use), 0);
        EQUAL(status_of_child(use_arenas), 0);
        use();
    }
    for (int round = 0; round < 5; ++round) {
        finish();
        EQUAL(status_of_child(use_arenas), 0);
        use();
    }
}

// The child forks as well.
void grandchildren() {
    settle();
    EQUAL(status_of_child([] {
              use();
              settle();
              EQUAL(status_of_child(use), 0);
              use();
          }),
          0);
    use();
}

// By exit, with TBB and without.
void child_that_exits() {
    settle();
    EQUAL(status_of_child([] { std::exit(7); }), 7 << 8);
    EQUAL(status_of_child([] {
              use();
              std::exit(8);
          }),
          8 << 8);
    use();
}

// All threads of the arena are in bodies meanwhile, so that none of TBB's locks is taken when the
// process is copied: the child has this thread alone.
void in_a_task() {
    for (int round = 0; round < 5; ++round) {
        settle();
        std::atomic<int> here{0};
        std::atomic<bool> forked{false};
        with_threads(2, [&] {
            tbb::parallel_for(
                0, 2,
                [&](int) {
                    if (here++ == 0) {
                        while (here < 2) std::this_thread::yield();
                        EQUAL(status_of_child([] {
                                  tbb::task_arena arena(2);
                                  arena.execute(use);
                              }),
                              0);
                        forked = true;
                    }
                    while (!forked) std::this_thread::yield();
                },
                tbb::simple_partitioner());
        });
        EQUAL(here, 2);
        use();
    }
}

// As a program does that starts another one from a task.
void executed_in_a_task() {
    std::atomic<int> right{0};
    tbb::parallel_for(0, 4, [&](int) {
        right += status_of_child([] {
                     execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
                     _exit(1);
                 }) == 5 << 8;
    });
    EQUAL(right, 4);
}

}   // namespace

int main() {
    before_use();
    after_use();
    grandchildren();
    child_that_exits();
    in_a_task();
    executed_in_a_task();
    return verdict();
}
