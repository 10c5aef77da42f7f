// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How processes end that use TBB: each case is a process of its own, with its status and what it
// has printed.
//
//     ends [CASE]
#include <oneapi/tbb.h>
#include <spawn.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "check.hpp"

namespace {

int sum_of(int count) {
    std::atomic<int> sum{0};
    tbb::parallel_for(
        0, count, [&](int i) { sum += i; }, tbb::simple_partitioner());
    return sum;
}

void print(const char* text) { CHECK(write(1, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text))); }

struct UsedAtEnd {
    bool wanted = false;
    ~UsedAtEnd() {
        if (wanted) print(sum_of(100) == 4950 ? "static\n" : "wrong\n");
    }
} used_at_end;

int main_ends() {
    sum_of(1000);
    return 3;
}

int never_used() { return 4; }

int main_thread_ends() {
    sum_of(100);
    std::thread([] {
        sum_of(100);
        print("thread\n");
        std::exit(5);
    }).detach();
    pthread_exit(nullptr);
}

int at_static_destruction() {
    used_at_end.wanted = true;
    sum_of(100);
    return 6;
}

int first_at_static_destruction() {
    used_at_end.wanted = true;
    return 7;
}

int at_exit() {
    std::atexit([] { print(sum_of(100) == 4950 ? "atexit\n" : "wrong\n"); });
    sum_of(100);
    return 8;
}

int at_exit_finalized() {
    std::atexit([] {
        tbb::task_scheduler_handle handle{tbb::attach()};
        const bool right = sum_of(100) == 4950;
        print(right && tbb::finalize(handle, std::nothrow) ? "finalized\n" : "wrong\n");
    });
    sum_of(100);
    return 9;
}

// In the thread of main alone: libtbb crashes where a worker calls exit, since it takes down then
// what that worker needs.
int exit_in_task() {
    const std::thread::id me = std::this_thread::get_id();
    tbb::parallel_for(0, 1000, [me](int) {
        if (std::this_thread::get_id() == me) std::exit(10);
        std::this_thread::yield();
    });
    return 1;
}

int exit_deep_in_tasks() {
    const std::thread::id me = std::this_thread::get_id();
    tbb::parallel_for(0, 10, [me](int) {
        tbb::parallel_for(0, 10, [me](int) {
            tbb::this_task_arena::isolate([me] {
                tbb::parallel_for(0, 10, [me](int) {
                    if (std::this_thread::get_id() == me) std::exit(11);
                    std::this_thread::yield();
                });
            });
        });
    });
    return 1;
}

// No other thread comes into that arena.
int now_in_worker() {
    tbb::task_arena arena(2, 0);
    arena.enqueue([] { _exit(12); });
    for (;;) pause();
}

int now_in_task() {
    tbb::parallel_for(0, 1000, [](int i) {
        if (i == 500) _exit(13);
    });
    return 1;
}

int quick_in_task() {
    tbb::parallel_for(0, 1000, [](int i) {
        if (i == 500) std::quick_exit(14);
    });
    return 1;
}

int leaves_main() {
    tbb::parallel_for(0, 100, [](int i) {
        if (i == 50) throw std::runtime_error("leaves main");
    });
    return 1;
}

int leaves_noexcept() {
    tbb::parallel_for(0, 100, [](int i) noexcept {
        if (i == 50) std::terminate();
    });
    return 1;
}

int aborts() {
    tbb::parallel_for(0, 100, [](int i) {
        if (i == 50) std::abort();
    });
    return 1;
}

// Tasks are left, and workers may be in them.
int left_tasks() {
    static tbb::task_arena arena(4);
    for (int i = 0; i < 100; ++i) {
        arena.enqueue([] {
            for (int j = 0; j < 100; ++j) std::this_thread::yield();
        });
    }
    return 15;
}

// Other threads are in loops when main ends.
int busy_threads() {
    for (int i = 0; i < 3; ++i) {
        std::thread([] {
            for (;;) sum_of(100);
        }).detach();
    }
    sum_of(1000);
    _exit(16);
}

int finalized() {
    tbb::task_scheduler_handle handle{tbb::attach()};
    sum_of(1000);
    CHECK(tbb::finalize(handle, std::nothrow));
    return wrong_count == 0 ? 17 : 1;
}

struct Case {
    const char* name;
    int (*run)();
    int status;   // negative: by that signal
    const char* printed;
};
constexpr Case cases[] = {
    {"main_ends", main_ends, 3, ""},
    {"never_used", never_used, 4, ""},
    {"main_thread_ends", main_thread_ends, 5, "thread\n"},
    {"at_static_destruction", at_static_destruction, 6, "static\n"},
    {"first_at_static_destruction", first_at_static_destruction, 7, "static\n"},
    {"at_exit", at_exit, 8, "atexit\n"},
    {"at_exit_finalized", at_exit_finalized, 9, "finalized\n"},
    {"exit_in_task", exit_in_task, 10, ""},
    {"exit_deep_in_tasks", exit_deep_in_tasks, 11, ""},
    {"now_in_worker", now_in_worker, 12, ""},
    {"now_in_task", now_in_task, 13, ""},
    {"quick_in_task", quick_in_task, 14, ""},
    {"leaves_main", leaves_main, -SIGABRT, ""},
    {"leaves_noexcept", leaves_noexcept, -SIGABRT, ""},
    {"aborts", aborts, -SIGABRT, ""},
    {"left_tasks", left_tasks, 15, ""},
    {"busy_threads", busy_threads, 16, ""},
    {"finalized", finalized, 17, ""},
};

// Runs the case in a process, and compares.
void try_case(const Case& one, char* program) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    if (one.status == -SIGABRT) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
    char name[64];
    std::snprintf(name, sizeof name, "%s", one.name);
    char* const arguments[] = {program, name, nullptr};
    pid_t child = -1;
    CHECK(posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string printed;
    char text[64];
    for (ssize_t got; (got = read(ends[0], text, sizeof text)) > 0;)
        printed.append(text, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    const int ended = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    if (ended == one.status && printed == one.printed) return;
    std::fprintf(stderr, "%s: ends with %d for %d, has printed '%s'\n", one.name, ended, one.status, printed.c_str());
    ++wrong_count;
}

}   // namespace

int main(int count, char** arguments) {
    for (const Case& one : cases) {
        if (count < 2) try_case(one, arguments[0]);
        else if (std::strcmp(arguments[1], one.name) == 0) return one.run();
    }
    return verdict();
}
