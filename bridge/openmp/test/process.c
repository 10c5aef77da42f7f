/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How processes end and go on: exits, signals, aborts, libraries that are loaded and unloaded,
 * stacks, threads that end, limits. process.py says how each case must end.
 *
 *     process NAME [LIBRARY] */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static const char* library;

static int count(int size) {
    int threads = 0;
#pragma omp parallel num_threads(size) reduction(+ : threads)
    threads++;
    return threads;
}

static void bye(void) { write(1, "bye\n", 4); }

/* exit and _exit, by thread 0 and by another, while the others wait at a barrier or compute. */
static void leave(int who, void (*how)(int)) {
    atexit(bye);
#pragma omp parallel num_threads(4)
    {
        if (omp_get_thread_num() == who) how(5 + who);
#pragma omp barrier
    }
}
static void exit_0(void) { leave(0, exit); }
static void exit_3(void) { leave(3, exit); }
static void now_0(void) { leave(0, _exit); }
static void now_3(void) { leave(3, _exit); }
static void exit_nested(void) {
    omp_set_max_active_levels(3);
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
    if (omp_get_ancestor_thread_num(1) == 2 && omp_get_thread_num() == 2) exit(9);
}
static void exit_in_task(void) {
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task
        if (i == 50) exit(11);
    }
}
static void aborts(void) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == 2) abort();
}

/* The program's own error: with libgomp's message, and its status. */
static void error(void) {
#pragma omp parallel num_threads(2)
#pragma omp masked filter(1)
    {
#pragma omp error at(execution) severity(fatal) message("of the program's")
    }
}

/* main ends while other threads are in regions. */
static void* regions_without_end(void* argument) {
    for (;;) count(3);
    return argument;
}
static void main_ends(void) {
    for (int i = 0; i < 3; ++i) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, regions_without_end, NULL) == 0);
    }
    EQUAL(count(4), 4);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled;
static void handler(int number) { handled += number != 0; }

/* A handler runs in the middle of regions; calls that the kernel restarts, or does not, behave as
 * ever. */
static void signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    long sum = 0;
    for (int round = 0; round < 2000 || handled < 20; ++round) {
#pragma omp parallel for num_threads(4) reduction(+ : sum) schedule(dynamic)
        for (int i = 0; i < 10; ++i) sum += i;
        if (round < 2000) sum -= 45;
        else sum = 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    EQUAL(sum, 0);
}

/* A thread of a region blocks in a read while another one sends it signals, and finally writes.
 * Returns the result of the read; `handled` counts the signals. */
static int read_beside_signals(int reader, int flags, int sent) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, NULL);
    handled = 0;
    int ends[2], result = 0, over = 0;
    pthread_t who = pthread_self();
    CHECK(pipe(ends) == 0);
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == reader) who = pthread_self();
#pragma omp barrier
        if (omp_get_thread_num() == reader) {
            char byte;
            result = read(ends[0], &byte, 1) == 1 ? 0 : errno;
            __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
        } else {
            for (int i = 0; i < sent && !__atomic_load_n(&over, __ATOMIC_SEQ_CST); ++i) {
                CHECK(pthread_kill(who, SIGUSR1) == 0);
                usleep(1000);
            }
            CHECK(write(ends[1], "x", 1) == 1);
        }
    }
    close(ends[0]);
    close(ends[1]);
    return result;
}
/* Without SA_RESTART a read is interrupted; with it the read goes on until there is data. */
static void interrupted(int reader) {
    EQUAL(read_beside_signals(reader, 0, 3000), EINTR);
    CHECK(handled > 0);
    EQUAL(read_beside_signals(reader, SA_RESTART, 30), 0);
    CHECK(handled > 0);
}
static void interrupted_0(void) { interrupted(0); }
static void interrupted_1(void) { interrupted(1); }
/* The default action ends the process, wherever the signal finds it. */
static void killed(void) {
#pragma omp parallel num_threads(4)
    {
        if (omp_get_thread_num() == 1) kill(getpid(), SIGINT);
#pragma omp barrier
        for (;;) {
#pragma omp barrier
        }
    }
}
static void own_mask(void) {
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    EQUAL(count(4), 4);
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    CHECK(sigismember(&before, SIGUSR2));
    CHECK(!sigismember(&before, SIGINT));
}

/* ---- libraries ---- */

static void plugins(void) {
    for (int round = 0; round < 5; ++round) {
        void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (handle == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        long (*const sum)(int) = (long (*)(int))dlsym(handle, "plugin_sum");
        EQUAL(sum(4), 4950);
        EQUAL(count(3), 3);
        EQUAL(sum(2), 4950);
        dlclose(handle);
        EQUAL(count(5), 5);
    }
}

/* ---- stacks: OMP_STACKSIZE=64M is how deep members may go ---- */

static long deep(int depth, volatile char* before) {
    volatile char here[1024];
    memset((void*)here, depth, sizeof here);
    return depth == 0 ? 0 : deep(depth - 1, here) + (here[10] == (char)depth) + (before == NULL);
}
static void stacks(void) {
    struct rlimit main_stack = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_STACK, &main_stack);
    int right = 0;
#pragma omp parallel num_threads(3) reduction(+ : right)
    right += omp_get_thread_num() == 0 || deep(45000, "") == 45000; /* more than 45 MiB */
    EQUAL(right, 3);
}

/* OMP_STACKSIZE=1b is less than a stack may have: the library complains, and members and tasks get
 * a stack that they can run on. */
static void small_stacks(void) {
    EQUAL(count(3), 3);
    int right = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(right)
#pragma omp atomic
        ++right;
    }
    EQUAL(right, 20);
}

/* ---- threads that have had regions, and end ---- */

static void* two_regions(void* argument) {
    *(int*)argument = count(3) + count(2);
    if (argument != NULL) pthread_exit(argument);
    return NULL;
}
static void thread_ends(void) {
    for (int i = 0; i < 30; ++i) {
        pthread_t thread;
        int result = 0;
        void* back = NULL;
        CHECK(pthread_create(&thread, NULL, two_regions, &result) == 0);
        CHECK(pthread_join(thread, &back) == 0);
        CHECK(back == &result);
        EQUAL(result, 5);
    }
    EQUAL(count(4), 4);
}
static pthread_key_t key;
static void last_region(void* value) { EQUAL(count(3), (long)value); }
static void* with_key(void* has_regions) {
    pthread_setspecific(key, (void*)3L);
    if (has_regions != NULL) EQUAL(count(4), 4);
    return NULL;
}
/* The destructor of a key has a region, as its thread's first or after others. */
static void keys(void) {
    pthread_key_create(&key, last_region);
    for (int has_regions = 0; has_regions < 2; ++has_regions) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, with_key, has_regions ? &key : NULL) == 0);
        pthread_join(thread, NULL);
    }
    EQUAL(count(3), 3);
}

/* exit's handlers and the destructors of libraries can have regions, too. */
static void region_at_exit(void) {
    EQUAL(count(3), 3);
    bye();
}
static void at_exit(void) {
    atexit(region_at_exit);
    EQUAL(count(4), 4);
    exit(verdict());
}
static void at_exit_in_region(void) {
    omp_set_max_active_levels(2);
    atexit(region_at_exit);
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() == 2) exit(7);
}

/* ---- no more threads: process.py says what is printed, and how the process ends ---- */

static void no_threads(void) {
    const struct rlimit few = {1, 1};
    if (getuid() == 0 && setuid(65534) != 0) exit(77); /* root is not limited */
    setrlimit(RLIMIT_NPROC, &few);
    EQUAL(count(4), 4);
}
/* The existing threads go on; more cannot be had, and exit's handlers run. */
static void no_more_threads(void) {
    if (getuid() == 0 && setuid(65534) != 0) exit(77);
    atexit(bye);
    EQUAL(count(4), 4);
    const struct rlimit few = {1, 1};
    setrlimit(RLIMIT_NPROC, &few);
    for (int i = 0; i < 3; ++i) EQUAL(count(4), 4);
    EQUAL(count(2), 2);
    write(1, "4\n", 2);
    EQUAL(count(9), 9);
}

/* ---- as few OS threads as possible: the kernel counts a user's, so this process has a user of
 * its own ---- */

static void limit_threads(rlim_t threads) {
    const struct rlimit limit = {threads, threads};
    if (getuid() != 0 || (setuid(100000 + (uid_t)getpid()) != 0 && setuid(65534) != 0)) exit(77);
    CHECK(setrlimit(RLIMIT_NPROC, &limit) == 0);
}
/* A team meets, waits for locks and for tasks, with `threads` OS threads of the process in all. */
static void limited(int size, int threads) {
    limit_threads((rlim_t)threads);
    for (int i = 0; i < 5; ++i) {
        int done = 0;
        EQUAL(count(size), size);
#pragma omp parallel num_threads(size)
        for (int k = 0; k < 10; ++k) {
#pragma omp barrier
#pragma omp critical
            done++;
#pragma omp single
            {
                for (int task = 0; task < 20; ++task) {
#pragma omp task
#pragma omp atomic
                    done++;
                }
#pragma omp taskwait
            }
        }
        EQUAL(done, 10 * (size + 20));
    }
}
static void just_2(void) { limited(2, 2); }
static void just_4(void) { limited(4, 4); }
static void just_8(void) { limited(8, 8); }
static void too_few_2(void) { limited(2, 1); }
static void too_few_4(void) { limited(4, 3); }
static void too_few_8(void) { limited(8, 7); }
/* No more OS threads than the team needs: one for each member, one for each hart, the runtime's
 * lookout, and its sentry, which starts and ends beside the program. */
static void few_more(void) {
    for (int i = 0; i < 500; ++i) {
#pragma omp parallel num_threads(8)
        {
#pragma omp barrier
#pragma omp critical
            (void)i;
        }
    }
    DIR* const tasks = opendir("/proc/self/task");
    if (tasks == NULL) return;
    int threads = 0;
    for (const struct dirent* one; (one = readdir(tasks)) != NULL;) threads += one->d_name[0] != '.';
    closedir(tasks);
    CHECK(threads <= 8 + omp_get_num_procs() + 2);
}
/* The existing threads go on where there are too few for a larger team. */
static void grows_to_8(void) {
    limit_threads(8);
    EQUAL(count(2), 2);
    EQUAL(count(8), 8);
    for (int i = 0; i < 5; ++i) EQUAL(count(4), 4);
}

/* ---- no more memory ---- */

static void no_memory(void) {
    const struct rlimit few = {256 << 20, 256 << 20};
    setrlimit(RLIMIT_AS, &few);
    EQUAL(count(2000000), 2000000);
}

static const struct {
    const char* name;
    void (*run)(void);
} all[] = {{"exit_0", exit_0},
           {"exit_3", exit_3},
           {"now_0", now_0},
           {"now_3", now_3},
           {"exit_nested", exit_nested},
           {"exit_in_task", exit_in_task},
           {"aborts", aborts},
           {"error", error},
           {"main_ends", main_ends},
           {"signals", signals},
           {"killed", killed},
           {"own_mask", own_mask},
           {"plugins", plugins},
           {"stacks", stacks},
           {"small_stacks", small_stacks},
           {"thread_ends", thread_ends},
           {"keys", keys},
           {"at_exit", at_exit},
           {"at_exit_in_region", at_exit_in_region},
           {"no_threads", no_threads},
           {"no_memory", no_memory},
           {"no_more_threads", no_more_threads},
           {"just_2", just_2},
           {"just_4", just_4},
           {"just_8", just_8},
           {"too_few_2", too_few_2},
           {"too_few_4", too_few_4},
           {"too_few_8", too_few_8},
           {"grows_to_8", grows_to_8},
           {"few_more", few_more},
           {"interrupted_0", interrupted_0},
           {"interrupted_1", interrupted_1}};

int main(int argument_count, char** arguments) {
    library = argument_count > 2 ? arguments[2] : NULL;
    for (unsigned i = 0; argument_count > 1 && i < sizeof all / sizeof all[0]; ++i) {
        if (strcmp(arguments[1], all[i].name) != 0) continue;
        all[i].run();
        return verdict();
    }
    return 2;
}
