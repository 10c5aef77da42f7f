/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Thread 0 goes on although other members spin until it does: they do not spin on its OS thread,
 * the only one on which it can go on. (In liveness.c members block in the kernel.)
 *
 *     thread_zero NAME THREADS */
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { rounds = 5 };

static int threads;
static int flag;

static void set(int to) { __atomic_store_n(&flag, to, __ATOMIC_SEQ_CST); }
static int get(void) { return __atomic_load_n(&flag, __ATOMIC_SEQ_CST); }
static void spin_until(int value) {
    while (get() < value) {}
}

static void after_a_barrier(void) {
    set(0);
#pragma omp parallel num_threads(threads)
    for (int round = 1; round <= rounds; ++round) {
#pragma omp barrier
        if (omp_get_thread_num() == 0) set(round);
        else spin_until(round);
    }
    EQUAL(get(), rounds);
}

/* Thread 0 waits for a lock of one member, while others wait for what it does then. */
static void after_a_lock(void) {
    set(0);
#pragma omp parallel num_threads(threads)
    for (int round = 1; round <= rounds; ++round) {
#pragma omp barrier
        switch (omp_get_thread_num()) {
        case 0:
#pragma omp critical
        {
        }
            set(round);
            break;
        case 1:
#pragma omp critical
            usleep(1000);
            break;
        default: spin_until(round);
        }
    }
    EQUAL(get(), rounds);
}

static void after_a_task(void) {
    set(0);
#pragma omp parallel num_threads(threads)
    for (int round = 1; round <= rounds; ++round) {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
#pragma omp task
            usleep(100);
#pragma omp taskwait
            set(round);
        } else if (omp_get_thread_num() != 1) {
            spin_until(round);
        }
    }
    EQUAL(get(), rounds);
}

/* The inner team's barriers are not those at which the outer team's members arrive. */
static void after_an_inner_region(void) {
    set(0);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(threads)
    for (int round = 1; round <= rounds; ++round) {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
#pragma omp parallel num_threads(3)
            {
                usleep(100);
#pragma omp barrier
            }
            set(round);
        } else {
            spin_until(round);
        }
    }
    EQUAL(get(), rounds);
}

/* Nor are those of a member that has a team of its own alone, and as many barriers as its outer
 * team. */
static void beside_a_team_of_one(void) {
    int sum = 0;
    for (int round = 0; round < 200; ++round) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            if (omp_get_thread_num() != 0) {
#pragma omp parallel num_threads(1) reduction(+ : sum)
                {
#pragma omp for schedule(dynamic)
                    for (int i = 0; i < 4; ++i) sum++;
                        /* So that the loop has a barrier of its own, which may be left earlier. */
#pragma omp cancel parallel if (sum < 0)
                    sum++;
                }
            }
#pragma omp barrier
        }
    }
    EQUAL(sum, 200 * (threads - 1) * 5);
}

/* Members of inner teams, which searched for their next region where thread 0 waited. */
static void after_a_barrier_in_inner_teams(void) {
    set(0);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(threads)
    for (int round = 1; round <= 4 * rounds; ++round) {
#pragma omp parallel num_threads(2)
        usleep(10);
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            usleep(100);
            set(round);
        } else {
#pragma omp parallel num_threads(2)
            spin_until(round);
        }
#pragma omp barrier
    }
    EQUAL(get(), 4 * rounds);
}

/* Thread 0 waits at the barrier already: only it can run the task that the others wait for. */
static void during_a_barrier(void) {
    set(0);
#pragma omp parallel num_threads(2)
    for (int round = 1; round <= rounds; ++round) {
        if (omp_get_thread_num() == 1) {
            usleep(1000);
#pragma omp task firstprivate(round)
            set(round);
            spin_until(round);
        }
#pragma omp barrier
    }
    EQUAL(get(), rounds);
}

static const struct {
    const char* name;
    void (*run)(void);
} all[] = {{"barrier", after_a_barrier},     {"lock", after_a_lock},          {"task", after_a_task},
           {"inner", after_an_inner_region}, {"alone", beside_a_team_of_one}, {"teams", after_a_barrier_in_inner_teams},
           {"help", during_a_barrier}};

int main(int count, char** arguments) {
    threads = count > 2 ? atoi(arguments[2]) : 4;
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; ++i) {
        if (count >= 2 && strcmp(arguments[1], all[i].name) != 0) continue;
        all[i].run();
        printf("%s\n", all[i].name);
    }
    return verdict();
}
