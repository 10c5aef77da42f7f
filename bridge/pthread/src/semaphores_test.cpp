// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <cerrno>

#include "test_support.hpp"

using namespace weft_pthread_test;

namespace {

using Semaphores = Bridge;

struct Semaphore {
    sem_t semaphore{};
    explicit Semaphore(unsigned count) { EXPECT_EQ(sem_init(&semaphore, 0, count), 0); }
    ~Semaphore() { EXPECT_EQ(sem_destroy(&semaphore), 0); }
    sem_t* operator&() { return &semaphore; }
};

TEST_F(Semaphores, AUnitWaitsAndOthersPost) {
    in_child([] {
        Runtime runtime;
        Semaphore there(0), back(0);
        constexpr int rounds = 1000;
        const Hosted first([&] {
            for (int i = 0; i < rounds; ++i) {
                EXPECT_EQ(sem_post(&there), 0);
                EXPECT_EQ(sem_wait(&back), 0);
            }
        });
        const Hosted second([&] {
            for (int i = 0; i < rounds; ++i) {
                EXPECT_EQ(sem_wait(&there), 0);
                EXPECT_EQ(sem_post(&back), 0);
            }
        });
    });
}

TEST_F(Semaphores, BetweenAUnitAndAThread) {
    in_child([] {
        Runtime runtime;
        Semaphore there(0), back(0);
        constexpr int rounds = 1000;
        std::thread thread([&] {
            for (int i = 0; i < rounds; ++i) {
                EXPECT_EQ(sem_wait(&there), 0);
                EXPECT_EQ(sem_post(&back), 0);
            }
        });
        {
            const Hosted unit([&] {
                for (int i = 0; i < rounds; ++i) {
                    EXPECT_EQ(sem_post(&there), 0);
                    EXPECT_EQ(sem_wait(&back), 0);
                }
            });
        }
        thread.join();
    });
}

TEST_F(Semaphores, AWaitEndsWithItsTime) {
    in_child([] {
        Runtime runtime;
        Semaphore of(0);
        const Hosted unit([&] {
            timespec time{}, now{};
            clock_gettime(CLOCK_REALTIME, &time);
            time.tv_nsec += 10'000'000;
            if (time.tv_nsec >= 1'000'000'000) time = {time.tv_sec + 1, time.tv_nsec - 1'000'000'000};
            EXPECT_EQ(sem_timedwait(&of, &time), -1);
            EXPECT_EQ(errno, ETIMEDOUT);
            clock_gettime(CLOCK_REALTIME, &now);
            EXPECT_TRUE(now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec));
            const timespec past{}, wrong{0, -1};
            EXPECT_EQ(sem_clockwait(&of, CLOCK_MONOTONIC, &past), -1);
            EXPECT_EQ(errno, ETIMEDOUT);
            EXPECT_EQ(sem_clockwait(&of, CLOCK_PROCESS_CPUTIME_ID, &past), -1);
            EXPECT_EQ(errno, EINVAL);
            EXPECT_EQ(sem_timedwait(&of, &wrong), -1);
            EXPECT_EQ(errno, EINVAL);
            sem_post(&of);
            errno = 77;
            EXPECT_EQ(sem_timedwait(&of, &past), 0);
            EXPECT_EQ(errno, 77);
        });
    });
}

void do_nothing(int) {}

TEST_F(Semaphores, ASignalEndsTheWaitUnlessItIsToBeRestarted) {
    in_child([] {
        Runtime runtime;
        Semaphore of(0);
        struct sigaction action {};
        action.sa_handler = do_nothing;
        sigaction(SIGUSR1, &action, nullptr);
        action.sa_flags = SA_RESTART;
        sigaction(SIGUSR2, &action, nullptr);
        pthread_t its{};
        const Hosted unit([&] {
            its = pthread_self();
            EXPECT_EQ(sem_wait(&of), -1);
            EXPECT_EQ(errno, EINTR);
            EXPECT_EQ(sem_wait(&of), 0);
        });
        until_suspended(unit);
        EXPECT_EQ(pthread_kill(its, SIGUSR1), 0);
        for (int i = 0; i < 5; ++i) weft_unit_yield();
        until_suspended(unit);
        EXPECT_EQ(pthread_kill(its, SIGUSR2), 0);
        for (int i = 0; i < 5; ++i) weft_unit_yield();
        until_suspended(unit);
        EXPECT_EQ(sem_post(&of), 0);
    });
}

TEST_F(Semaphores, OneThatWaitsIsCancelled) {
    in_child([] {
        Runtime runtime;
        Semaphore of(0);
        pthread_t its{};
        const Hosted unit([&] {
            its = pthread_self();
            sem_wait(&of);
            ADD_FAILURE() << "it has not been cancelled";
        });
        until_suspended(unit);
        EXPECT_EQ(pthread_cancel(its), 0);
    });
}

sem_t* posted_by_handler = nullptr;

TEST_F(Semaphores, AHandlerMayPost) {
    in_child([] {
        Runtime runtime;
        Semaphore of(0);
        posted_by_handler = &of;
        signal(SIGUSR1, [](int) { sem_post(posted_by_handler); });
        const Hosted unit([&] {
            for (int i = 0; i < 3; ++i) EXPECT_EQ(sem_wait(&of), 0);
        });
        for (int i = 0; i < 3; ++i) {
            until_suspended(unit);
            raise(SIGUSR1);
            for (int j = 0; j < 5; ++j) weft_unit_yield();
        }
    });
}

TEST_F(Semaphores, SharedBetweenProcesses) {
    in_child([] {
        auto* const of = static_cast<sem_t*>(
            mmap(nullptr, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        sem_init(of, 1, 0);
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t other = fork();
        if (other == 0) {
            char byte;
            if (read(ends[0], &byte, 1) != 1) _exit(1);
            sem_post(of);
            _exit(0);
        }
        {
            Runtime runtime;
            const Hosted unit([&] { EXPECT_EQ(sem_wait(of), 0); });
            until_suspended(unit);
            EXPECT_EQ(write(ends[1], "x", 1), 1);
        }
        int status = 0;
        EXPECT_EQ(waitpid(other, &status, 0), other);
        EXPECT_EQ(status, 0);
    });
}

}   // namespace
