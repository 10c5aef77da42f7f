/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads that OpenMP did not make: each has regions of its own, and leaves nothing behind that
 * burdens others. Forks, exits. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static long sum_of(int size) {
    long sum = 0;
#pragma omp parallel for num_threads(size) reduction(+ : sum) schedule(dynamic, 5)
    for (int i = 0; i < 1000; ++i) sum += i;
    return sum;
}

static void* foreign(void* argument) {
    for (int round = 0; round < 20; ++round) EQUAL(sum_of(2 + round % 3), 499500);
    int threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : threads)
    threads++;
    EQUAL(threads, 4);
    return argument;
}

static void from_eight_at_once(void) {
    pthread_t threads[8];
    for (int i = 0; i < 8; ++i) CHECK(pthread_create(&threads[i], NULL, foreign, NULL) == 0);
    for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
}

/* Many threads that begin and end. */
static void one_after_the_other(void) {
    for (int i = 0; i < 40; ++i) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, foreign, NULL) == 0);
        pthread_join(thread, NULL);
    }
}

static void* start_one(void* argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, foreign, NULL) == 0);
    pthread_join(thread, NULL);
    return argument;
}

/* Threads that members start have regions as well. */
static void within_a_region(void) {
#pragma omp parallel num_threads(3)
    start_one(NULL);
}

static void exit_in_a_child(void) {
    const pid_t child = fork();
    if (child == 0) _exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int main(void) {
    EQUAL(sum_of(4), 499500);
    from_eight_at_once();
    one_after_the_other();
    within_a_region();
    exit_in_a_child();
    return verdict();
}
