// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hosted units with the library preloaded before the C library, as the test in CMakeLists.txt does.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.h>

#include "test_support.hpp"

extern char** environ;

namespace {

using weft_pthread_test::Hosted;
using weft_pthread_test::until;
class PthreadBridge : public weft_pthread_test::Bridge {};

class Runtime : public weft_pthread_test::Runtime {
public:
    explicit Runtime(std::size_t streams = 1) : weft_pthread_test::Runtime(streams, WEFT_RESCUE_ON) {}
};

// Runs the body in a child process, which is ended if it hangs.
void in_child(const std::function<void()>& body) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(30);
        body();
        _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// ---- threads ------------------------------------------------------------------------------------

std::atomic<int> handled{0};
pthread_t handled_by{};

TEST_F(PthreadBridge, PthreadKillFindsTheUnit) {
    struct sigaction action {};
    action.sa_handler = [](int) {
        handled_by = pthread_self();
        ++handled;
    };
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    Runtime runtime(2);
    std::atomic<bool> there{false};
    pthread_t its{};
    {
        const Hosted unit(
            [&] {
                its = pthread_self();
                there = true;
                while (handled == 0) {}
                EXPECT_TRUE(pthread_equal(handled_by, its));
                weft_unit_suspend(nullptr, nullptr);
                EXPECT_EQ(handled, 2);
                EXPECT_TRUE(pthread_equal(handled_by, its));
                EXPECT_EQ(pthread_kill(its, SIGUSR1), 0);
                EXPECT_EQ(handled, 3);
            },
            1);
        until([&] { return there.load(); });
        EXPECT_EQ(pthread_kill(its, 0), 0);
        EXPECT_EQ(pthread_kill(its, SIGUSR1), 0);
        weft_unit_state state{};
        until([&] { return weft_unit_state_get(unit.handle(), &state) == WEFT_OK && state == WEFT_UNIT_SUSPENDED; });
        EXPECT_EQ(pthread_kill(its, SIGUSR1), 0);
        EXPECT_EQ(handled, 1);
        EXPECT_EQ(weft_unit_resume(unit.handle()), WEFT_OK);
    }
    EXPECT_EQ(handled, 3);
    EXPECT_EQ(pthread_join(its, nullptr), EINVAL);
    EXPECT_EQ(pthread_detach(its), 0);
    EXPECT_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
    EXPECT_EQ(handled, 4);
    signal(SIGUSR1, SIG_DFL);
}

TEST_F(PthreadBridge, OtherThreadsAreAsEver) {
    Runtime runtime;
    const Hosted unit([] {
        void* result = nullptr;
        pthread_t started;
        ASSERT_EQ(pthread_create(
                      &started, nullptr, [](void* raw) { return raw; }, &result),
                  0);
        EXPECT_EQ(pthread_join(started, &result), 0);
        EXPECT_EQ(result, &result);
        std::thread([] { EXPECT_FALSE(weft_hosted()); }).join();
    });
}

// ---- ids ----------------------------------------------------------------------------------------

constexpr uid_t nobody = 54321;

TEST_F(PthreadBridge, SetuidIsOfAllThreads) {
    if (geteuid() != 0) GTEST_SKIP() << "needs a user who may become another";
    in_child([] {
        Runtime runtime(2);
        std::atomic<bool> over{false}, there{false};
        const Hosted busy(
            [&] {
                there = true;
                while (!over) {}
            },
            1);
        until([&] { return there.load(); });
        {
            const Hosted unit([] {
                const pthread_t mine = pthread_self();
                EXPECT_EQ(setgroups(0, nullptr), 0);
                EXPECT_EQ(setgid(nobody), 0);
                EXPECT_EQ(setuid(nobody), 0);
                EXPECT_EQ(setuid(0), -1);
                EXPECT_EQ(errno, EPERM);
                EXPECT_TRUE(pthread_equal(mine, pthread_self()));
            });
        }
        int threads = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
            std::ifstream file(entry.path() / "status");
            for (std::string word; file >> word;) {
                if (word != "Uid:" && word != "Gid:") continue;
                uid_t id = 0;
                file >> id;
                EXPECT_EQ(id, nobody) << entry.path() << word;
                ++threads;
            }
        }
        EXPECT_GE(threads, 8);
        over = true;
    });
}

// ---- affinity -----------------------------------------------------------------------------------

int cpus_of(pid_t thread) {
    cpu_set_t cpus;
    return sched_getaffinity(thread, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : -1;
}

TEST_F(PthreadBridge, AStreamThatIsBoundStaysSoAndWhatItsUnitsStartIsNot) {
    const int all = cpus_of(0);
    if (all < 2) GTEST_SKIP() << "needs two CPUs";
    Runtime runtime(2);
    cpu_set_t cpus;
    ASSERT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    int first = 0;
    while (!CPU_ISSET(first, &cpus)) ++first;
    ASSERT_EQ(weft_stream_bind_cpus(weft_stream_at(1), std::to_string(first).c_str()), WEFT_OK) << weft_error_text();
    auto carrier_cpus = [] {
        int count = 0;
        weft_hosted_as_carrier(
            [](void* raw) {
                cpu_set_t of_carrier;
                pthread_getaffinity_np(pthread_self(), sizeof of_carrier, &of_carrier);
                *static_cast<int*>(raw) = CPU_COUNT(&of_carrier);
            },
            &count);
        return count;
    };
    const Hosted unit(
        [&] {
            EXPECT_EQ(cpus_of(0), all);
            EXPECT_EQ(carrier_cpus(), 1);
            std::thread([&] { EXPECT_EQ(cpus_of(0), all); }).join();
            const pid_t child = fork();
            if (child == 0) _exit(cpus_of(0));
            int status = 0;
            EXPECT_EQ(waitpid(child, &status, 0), child);
            EXPECT_EQ(WEXITSTATUS(status), all);
            EXPECT_EQ(WEXITSTATUS(system("exit $(nproc)")), all);
            char shell[] = "/bin/sh", command[] = "-c", what[] = "exit $(nproc)";
            char* arguments[] = {shell, command, what, nullptr};
            pid_t spawned = 0;
            EXPECT_EQ(posix_spawn(&spawned, shell, nullptr, nullptr, arguments, environ), 0);
            EXPECT_EQ(waitpid(spawned, &status, 0), spawned);
            EXPECT_EQ(WEXITSTATUS(status), all);
            // The unit's own affinity, which binds no carrier.
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(first, &one);
            EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
            EXPECT_EQ(cpus_of(0), 1);
            cpu_set_t same;
            EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof same, &same), 0);
            EXPECT_TRUE(CPU_EQUAL(&one, &same));
            EXPECT_EQ(sched_setaffinity(0, sizeof cpus, &cpus), 0);
            EXPECT_EQ(carrier_cpus(), 1);
        },
        1);
}

// ---- mutexes ------------------------------------------------------------------------------------

struct PriorityMutex {
    pthread_mutex_t mutex{};
    PriorityMutex() {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        EXPECT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
        pthread_mutexattr_destroy(&attributes);
    }
};

TEST_F(PthreadBridge, AMutexWithPriorityInheritanceIsForHostedUnitsAmongThemselves) {
    in_child([] {
        Runtime runtime(2);
        PriorityMutex priority;
        long count = 0;
        constexpr int steps = 2000;
        auto body = [&] {
            for (int i = 0; i < steps; ++i) {
                ASSERT_EQ(pthread_mutex_lock(&priority.mutex), 0);
                const long before = count;
                if (i % 10 == 0) weft_unit_yield();
                count = before + 1;
                ASSERT_EQ(pthread_mutex_unlock(&priority.mutex), 0);
            }
        };
        { const Hosted first(body, 0), second(body, 1), third(body, 1); }
        EXPECT_EQ(count, 3 * steps);
    });
}

TEST_F(PthreadBridge, WhereAnOsThreadWaitsForOneThatIsReported) {
    const int text = memfd_create("stderr", 0);
    in_child([&] {
        Runtime runtime;
        PriorityMutex priority;
        std::thread waiter;
        {
            const Hosted unit([&] {
                ASSERT_EQ(pthread_mutex_lock(&priority.mutex), 0);
                std::atomic<bool> there{false};
                waiter = std::thread([&] {
                    there = true;
                    pthread_mutex_lock(&priority.mutex);
                });
                while (!there) {}
                // Waits until the thread sleeps in the kernel, which sets a bit in the mutex.
                while ((__atomic_load_n(&priority.mutex.__data.__lock, __ATOMIC_RELAXED) &
                        static_cast<int>(0x80000000)) == 0) {}
                dup2(text, STDERR_FILENO);
                EXPECT_EQ(pthread_mutex_unlock(&priority.mutex), EPERM);
            });
        }
        waiter.detach();   // it waits forever
        _exit(HasFailure() ? 1 : 0);
    });
    char said[200] = {};
    ASSERT_GT(pread(text, said, sizeof said - 1, 0), 0);
    EXPECT_NE(std::string(said).find("priority inheritance"), std::string::npos) << said;
    close(text);
}

}   // namespace
