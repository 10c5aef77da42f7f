/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs that end although there are more members than harts, and nothing that a runtime sees
 * says which member waits for which: members that spin, yield to the kernel, or block in the
 * kernel. Each takes as long as rescue needs to find it; none may hang.
 *
 *     liveness NAME */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static volatile int flag;

/* Each spins for the one with the next number. */
static void spin(void) {
    for (int round = 0; round < 3; ++round) {
        flag = 8;
#pragma omp parallel num_threads(8)
        {
            const int me = omp_get_thread_num();
            while (flag != me + 1) {}
            flag = me;
        }
        EQUAL(flag, 0);
    }
}

static void spin_and_yield(void) {
    for (int round = 0; round < 5; ++round) {
        flag = 0;
#pragma omp parallel num_threads(8)
        {
            const int me = omp_get_thread_num();
            while (flag != 7 - me) sched_yield();
            flag = 8 - me;
        }
        EQUAL(flag, 8);
    }
}

/* By atomics, in both directions, again and again. */
static void rendezvous(void) {
    int arrived = 0, wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    for (int round = 1; round <= 10; ++round) {
#pragma omp atomic
        arrived++;
        int seen;
        do {
#pragma omp atomic read
            seen = arrived;
        } while (seen < 4 * round);
        wrong += seen > 4 * (round + 1);
    }
    EQUAL(wrong, 0);
    EQUAL(arrived, 40);
}

static void barriers(void) {
    long sum = 0;
#pragma omp parallel num_threads(64) reduction(+ : sum)
    for (int round = 0; round < 100; ++round) {
        sum += round;
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 64; ++i) sum++;
    }
    EQUAL(sum, 64 * 4950 + 6400);
}

static void open_pipes(int ends[8][2]) {
    for (int i = 0; i < 8; ++i) CHECK(pipe(ends[i]) == 0);
}
static void close_pipes(int ends[8][2]) {
    for (int i = 0; i < 8; ++i) close(ends[i][0]), close(ends[i][1]);
}

/* A byte goes round and round: each member reads what the one before it has written. No member
 * waits for anything else meanwhile. */
static void pipes(void) {
    int ends[8][2];
    open_pipes(ends);
    int sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
    {
        const int me = omp_get_thread_num();
        for (int round = 0; round < 3; ++round) {
            char byte = (char)round;
            if (me == 0) CHECK(write(ends[1][1], &byte, 1) == 1);
            CHECK(read(ends[me][0], &byte, 1) == 1);
            sum += byte;
            if (me != 0) CHECK(write(ends[(me + 1) % 8][1], &byte, 1) == 1);
        }
    }
    EQUAL(sum, 24);
    close_pipes(ends);
}

/* Each member, thread 0 too, reads what the one before it writes after a barrier. Other members may
 * block in the kernel by then, on thread 0's OS thread. */
static void ring(void) {
    int ends[8][2];
    open_pipes(ends);
    int sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
    {
        const int me = omp_get_thread_num();
        for (int round = 0; round < 30; ++round) {
            char byte = (char)round;
#pragma omp barrier
            CHECK(write(ends[(me + 1) % 8][1], &byte, 1) == 1);
            CHECK(read(ends[me][0], &byte, 1) == 1);
            sum += byte;
        }
    }
    EQUAL(sum, 8 * 435);
    close_pipes(ends);
}

/* The byte goes down to thread 0, which waits at the barrier meanwhile; thread 1 arrives there
 * last, goes on, and blocks in the kernel at once, perhaps on the OS thread of thread 0, which is
 * to write next. */
static void relay(void) {
    int ends[8][2];
    open_pipes(ends);
    int sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
    {
        const int me = omp_get_thread_num(), next = me == 0 ? 7 : me - 1;
        for (int round = 0; round < 30; ++round) {
            char byte = (char)round;
            if (me != 0) CHECK(read(ends[me][0], &byte, 1) == 1);
            sum += byte;
            if (next != 0) CHECK(write(ends[next][1], &byte, 1) == 1);
#pragma omp barrier
        }
    }
    EQUAL(sum, 8 * 435);
    close_pipes(ends);
}

/* pthread mutexes and conditions between members. */
static void conditions(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    int turn = 0;
#pragma omp parallel num_threads(8)
    for (int round = 0; round < 3; ++round) {
        const int mine = 8 * round + omp_get_thread_num();
        pthread_mutex_lock(&mutex);
        while (turn != mine) pthread_cond_wait(&changed, &mutex);
        turn++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
    EQUAL(turn, 24);
}

static void* region(void* data) {
    long sum = 0;
    for (int round = 0; round < 10; ++round) {
#pragma omp parallel for num_threads(4) reduction(+ : sum) schedule(dynamic)
        for (int i = 0; i < 100; ++i) sum += i;
    }
    *(long*)data = sum;
    return NULL;
}

static void foreign(void) {
    pthread_t threads[8];
    long sums[8];
    for (int i = 0; i < 8; ++i) CHECK(pthread_create(&threads[i], NULL, region, &sums[i]) == 0);
    for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; ++i) EQUAL(sums[i], 49500);
}

/* Members of regions start threads with regions, and wait for them. */
static void threads_in_regions(void) {
    long sums[8] = {0};
#pragma omp parallel num_threads(8)
    {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, region, &sums[omp_get_thread_num()]) == 0);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 8; ++i) EQUAL(sums[i], 49500);
}

/* Tasks that wait for each other's flags: as many at once as there are threads. */
static void tasks(void) {
    int here = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < 4; ++i) {
#pragma omp task shared(here)
        {
#pragma omp atomic
            here++;
            int seen;
            do {
#pragma omp atomic read
                seen = here;
            } while (seen < 4);
        }
    }
    EQUAL(here, 4);
}

static void forks(void) {
    long sum;
    region(&sum);
    for (int i = 0; i < 3; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            long own = 0;
            region(&own);
            spin();
            _exit(own == 49500 && wrong_count == 0 ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        EQUAL(status, 0);
    }
}

static const struct {
    const char* name;
    void (*run)(void);
} all[] = {{"spin", spin},
           {"yield", spin_and_yield},
           {"rendezvous", rendezvous},
           {"barriers", barriers},
           {"pipes", pipes},
           {"ring", ring},
           {"relay", relay},
           {"conditions", conditions},
           {"foreign", foreign},
           {"threads", threads_in_regions},
           {"tasks", tasks},
           {"forks", forks}};

int main(int count, char** arguments) {
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; ++i) {
        if (count < 2 || strcmp(arguments[1], all[i].name) == 0) {
            all[i].run();
            printf("%s\n", all[i].name);
        }
    }
    return verdict();
}
