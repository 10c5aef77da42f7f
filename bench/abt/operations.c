/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cost of an operation to programs in abt.h. One source, linked with each available libabt;
 * compare.py runs the programs alternately.
 *
 *     operations [NAME...]
 *
 * Prints a line for each operation: its name, a tab, nanoseconds per operation: the minimum of
 * several samples, since a disturbance only adds. */
#define _GNU_SOURCE
#include <abt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(int error, const char *what) {
    if (error == ABT_SUCCESS) return;
    fprintf(stderr, "%s: error %d\n", what, error);
    exit(1);
}
#define CHECK(call) check(call, #call)

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static ABT_pool pool; /* the main pool of the primary stream: private or shared */

static void nothing(void *argument) { (void)argument; }

/* ---- the operations: each does `count` of them ----------------------------------------------- */

static void create_free(int count, int unused) {
    (void)unused;
    for (int i = 0; i < count; ++i) {
        ABT_thread thread;
        CHECK(ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &thread));
        CHECK(ABT_thread_free(&thread));
    }
}

static void create_free_many(int count, int group) {
    static ABT_thread threads[1024];
    for (int done = 0; done < count; done += group) {
        for (int i = 0; i < group; ++i)
            CHECK(ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
        CHECK(ABT_thread_free_many(group, threads));
    }
}

static void task_create_free(int count, int unused) {
    (void)unused;
    for (int i = 0; i < count; ++i) {
        ABT_task task;
        CHECK(ABT_task_create(pool, nothing, NULL, &task));
        CHECK(ABT_task_free(&task));
    }
}

static void yields(void *count) {
    for (int i = 0; i < *(int *)count; ++i) CHECK(ABT_thread_yield());
}

static void yield(int count, int units) {
    static ABT_thread threads[1024];
    int each = count / units;
    for (int i = 0; i < units; ++i) CHECK(ABT_thread_create(pool, yields, &each, ABT_THREAD_ATTR_NULL, &threads[i]));
    CHECK(ABT_thread_free_many(units, threads));
}

static struct {
    ABT_thread threads[2];
    int left;
} pair;

static void to_and_fro(void *me) {
    while (pair.left-- > 0) CHECK(ABT_thread_yield_to(pair.threads[1 - (int)(size_t)me]));
}

static void yield_to(int count, int unused) {
    (void)unused;
    pair.left = count;
    for (size_t i = 0; i < 2; ++i)
        CHECK(ABT_thread_create(pool, to_and_fro, (void *)i, ABT_THREAD_ATTR_NULL, &pair.threads[i]));
    CHECK(ABT_thread_join_many(2, pair.threads)); /* the ULT that ends last still names the other */
    CHECK(ABT_thread_free_many(2, pair.threads));
}

static ABT_mutex mutex;

static void locks(void *count) {
    for (int i = 0; i < *(int *)count; ++i) {
        CHECK(ABT_mutex_lock(mutex));
        CHECK(ABT_thread_yield()); /* all others arrive and wait */
        CHECK(ABT_mutex_unlock(mutex));
    }
}

static void mutex_contended(int count, int units) {
    static ABT_thread threads[1024];
    int each = count / units < 1 ? 1 : count / units;
    for (int i = 0; i < units; ++i) CHECK(ABT_thread_create(pool, locks, &each, ABT_THREAD_ATTR_NULL, &threads[i]));
    CHECK(ABT_thread_free_many(units, threads));
}

static void mutex_free(int count, int unused) {
    (void)unused;
    for (int i = 0; i < count; ++i) {
        CHECK(ABT_mutex_lock(mutex));
        CHECK(ABT_mutex_unlock(mutex));
    }
}

static ABT_eventual eventual;

static void eventual_set_wait(int count, int unused) {
    (void)unused;
    for (int i = 0; i < count; ++i) {
        CHECK(ABT_eventual_set(eventual, NULL, 0));
        CHECK(ABT_eventual_wait(eventual, NULL));
        CHECK(ABT_eventual_reset(eventual));
    }
}

static ABT_key key;

static void key_get(int count, int unused) {
    (void)unused;
    for (int i = 0; i < count; ++i) {
        void *value;
        CHECK(ABT_key_get(key, &value));
    }
}

static void self_get_thread(int count, int unused) {
    (void)unused;
    for (int i = 0; i < count; ++i) {
        ABT_thread self;
        CHECK(ABT_self_get_thread(&self));
    }
}

static void xstream_create_free(int count, int unused) {
    (void)unused;
    for (int i = 0; i < count; ++i) {
        ABT_xstream xstream;
        CHECK(ABT_xstream_create(ABT_SCHED_NULL, &xstream));
        CHECK(ABT_xstream_free(&xstream));
    }
}

static void init_finalize(int count, int unused) {
    (void)unused;
    for (int i = 0; i < count; ++i) {
        CHECK(ABT_init(0, NULL));
        CHECK(ABT_finalize());
    }
}

/* A user-defined pool with always `live` units in it: each operation creates one, and pops, runs
 * and frees the oldest. */
static struct {
    ABT_unit ring[1 << 15];
    size_t head, tail;
} queue;
struct unit {
    ABT_thread thread;
};

static ABT_unit queue_create_unit(ABT_pool of, ABT_thread thread) {
    (void)of;
    struct unit *unit = malloc(sizeof *unit);
    unit->thread = thread;
    return (ABT_unit)unit;
}
static void queue_free_unit(ABT_pool of, ABT_unit unit) {
    (void)of;
    free(unit);
}
static ABT_bool queue_is_empty(ABT_pool of) {
    (void)of;
    return queue.head == queue.tail;
}
static ABT_thread queue_pop(ABT_pool of, ABT_pool_context context) {
    (void)of, (void)context;
    if (queue.head == queue.tail) return ABT_THREAD_NULL;
    return ((struct unit *)queue.ring[queue.head++ % (1 << 15)])->thread;
}
static void queue_push(ABT_pool of, ABT_unit unit, ABT_pool_context context) {
    (void)of, (void)context;
    queue.ring[queue.tail++ % (1 << 15)] = unit;
}

static void user_pool(int count, int live) {
    static ABT_thread threads[1 << 15];
    static ABT_pool own = ABT_POOL_NULL;
    static int made;
    if (own == ABT_POOL_NULL) {
        ABT_pool_user_def def;
        CHECK(
            ABT_pool_user_def_create(queue_create_unit, queue_free_unit, queue_is_empty, queue_pop, queue_push, &def));
        CHECK(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &own));
        CHECK(ABT_pool_user_def_free(&def));
        made = 0;
    }
    for (; made < live; ++made) CHECK(ABT_thread_create(own, nothing, NULL, ABT_THREAD_ATTR_NULL, &threads[made]));
    for (int i = 0; i < count; ++i) {
        ABT_thread thread;
        CHECK(ABT_thread_create(own, nothing, NULL, ABT_THREAD_ATTR_NULL, &thread));
        CHECK(ABT_pool_pop_thread(own, &thread));
        CHECK(ABT_self_schedule(thread, ABT_POOL_NULL));
        CHECK(ABT_thread_free(&thread));
    }
    if (count != 0) return;
    ABT_thread thread; /* the end */
    for (;;) {
        CHECK(ABT_pool_pop_thread(own, &thread));
        if (thread == ABT_THREAD_NULL) break;
        CHECK(ABT_self_schedule(thread, ABT_POOL_NULL));
        CHECK(ABT_thread_free(&thread));
    }
    CHECK(ABT_pool_free(&own));
}

static uint64_t init_only_ns;

/* ---- the table ------------------------------------------------------------------------------- */

enum where { anywhere, private_pool, shared_pool, outside };

static const struct {
    const char *name;
    enum where where;
    void (*run)(int count, int parameter);
    int parameter;
    int count;
} operations[] = {
    {"create_free/private", private_pool, create_free, 0, 20000},
    {"create_free/shared", shared_pool, create_free, 0, 20000},
    {"create_free_many/private/256", private_pool, create_free_many, 256, 25600},
    {"create_free_many/shared/256", shared_pool, create_free_many, 256, 25600},
    {"task_create_free/private", private_pool, task_create_free, 0, 20000},
    {"task_create_free/shared", shared_pool, task_create_free, 0, 20000},
    {"yield/private/2", private_pool, yield, 2, 40000},
    {"yield/private/256", private_pool, yield, 256, 40960},
    {"yield/shared/2", shared_pool, yield, 2, 40000},
    {"yield/shared/256", shared_pool, yield, 256, 40960},
    {"yield_to/shared", shared_pool, yield_to, 0, 20000},
    {"user_pool/16", shared_pool, user_pool, 16, 5000},
    {"user_pool/16000", shared_pool, user_pool, 16000, 5000},
    {"mutex/free", shared_pool, mutex_free, 0, 100000},
    {"mutex/2", shared_pool, mutex_contended, 2, 10000},
    {"mutex/8", shared_pool, mutex_contended, 8, 10000},
    {"mutex/32", shared_pool, mutex_contended, 32, 6400},
    {"mutex/128", shared_pool, mutex_contended, 128, 2560},
    {"mutex/1000", shared_pool, mutex_contended, 1000, 2000},
    {"eventual/set_wait_reset", shared_pool, eventual_set_wait, 0, 50000},
    {"key_get", shared_pool, key_get, 0, 100000},
    {"self_get_thread", shared_pool, self_get_thread, 0, 100000},
    {"xstream_create_free", shared_pool, xstream_create_free, 0, 20},
    {"init_finalize", outside, init_finalize, 0, 10},
};

static int wanted(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
        if (strncmp(name, argv[i], strlen(argv[i])) == 0) return 1;
    }
    return argc == 1;
}

static double measure(void (*run)(int, int), int count, int parameter) {
    enum { samples = 15 };
    double best = 1e18;
    run(count, parameter);
    for (int i = 0; i < samples; ++i) {
        const uint64_t begin = now_ns();
        run(count, parameter);
        const double ns = (double)(now_ns() - begin) / count;
        if (ns < best) best = ns;
    }
    return best;
}

static void begin(enum where where) {
    const uint64_t before = now_ns();
    CHECK(ABT_init(0, NULL));
    if (init_only_ns == 0) init_only_ns = now_ns() - before;
    ABT_xstream self;
    CHECK(ABT_xstream_self(&self));
    if (where == private_pool) {
        CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
        CHECK(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_BASIC, 1, &pool));
    }
    CHECK(ABT_xstream_get_main_pools(self, 1, &pool));
    CHECK(ABT_mutex_create(&mutex));
    CHECK(ABT_eventual_create(0, &eventual));
    CHECK(ABT_key_create(NULL, &key));
    CHECK(ABT_key_set(key, &key));
}

static void end(void) {
    CHECK(ABT_key_free(&key));
    CHECK(ABT_eventual_free(&eventual));
    CHECK(ABT_mutex_free(&mutex));
    CHECK(ABT_finalize());
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
        if (!wanted(operations[i].name, argc, argv)) continue;
        if (operations[i].where != outside) begin(operations[i].where);
        const double ns = measure(operations[i].run, operations[i].count, operations[i].parameter);
        if (operations[i].run == user_pool) user_pool(0, 0);
        if (operations[i].where != outside) end();
        printf("%s\t%.2f\n", operations[i].name, ns);
        fflush(stdout);
    }
    if (init_only_ns != 0) printf("init/first\t%.0f\n", (double)init_only_ns);
    return 0;
}
