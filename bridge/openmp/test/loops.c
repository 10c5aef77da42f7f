/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops: every iteration runs once, whatever the schedule, the type and the direction; and in order
 * where the program asks for that. */
#include <limits.h>
#include <string.h>

#include "check.h"

enum { count = 1000 };

#define LOOP_WITH(clause)                                                                                        \
    do {                                                                                                         \
        memset(done, 0, sizeof done);                                                                            \
        _Pragma("omp parallel num_threads(size)") { _Pragma(clause) for (int i = 0; i < count; ++i) done[i]++; } \
        for (int i = 0; i < count; ++i) EQUAL(done[i], 1);                                                       \
    } while (0)

static int done[count];

static void schedules(void) {
    EACH_SIZE(size) {
        LOOP_WITH("omp for");
        LOOP_WITH("omp for schedule(static)");
        LOOP_WITH("omp for schedule(static, 1)");
        LOOP_WITH("omp for schedule(static, 7)");
        LOOP_WITH("omp for schedule(dynamic)");
        LOOP_WITH("omp for schedule(dynamic, 13)");
        LOOP_WITH("omp for schedule(dynamic, 5000)");
        LOOP_WITH("omp for schedule(monotonic: dynamic, 3)");
        LOOP_WITH("omp for schedule(nonmonotonic: guided, 2)");
        LOOP_WITH("omp for schedule(guided)");
        LOOP_WITH("omp for schedule(guided, 9)");
        LOOP_WITH("omp for schedule(auto)");
        LOOP_WITH("omp for schedule(runtime)");
        LOOP_WITH("omp for schedule(monotonic: runtime)");
        LOOP_WITH("omp for schedule(nonmonotonic: runtime)");
        LOOP_WITH("omp for ordered schedule(static)");
        LOOP_WITH("omp for ordered schedule(dynamic, 3)");
        LOOP_WITH("omp for ordered schedule(guided)");
        LOOP_WITH("omp for ordered schedule(runtime)");
        LOOP_WITH("omp for simd schedule(dynamic, 8)");
        LOOP_WITH("omp loop");
    }
}

static void schedules_by_call(void) {
    const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
    for (int k = 0; k < 4; ++k) {
        for (int chunk = 0; chunk < 12; chunk += 11) {
            omp_set_schedule(kinds[k], chunk);
            const int size = 3;
            LOOP_WITH("omp for schedule(runtime)");
        }
    }
    omp_sched_t kind;
    int chunk;
    omp_set_schedule(omp_sched_guided, 5);
    omp_get_schedule(&kind, &chunk);
    CHECK(kind == omp_sched_guided);
    EQUAL(chunk, 5);
}

#define COMBINED(clause)                                           \
    do {                                                           \
        memset(done, 0, sizeof done);                              \
        _Pragma(clause) for (int i = 0; i < count; ++i) done[i]++; \
        for (int i = 0; i < count; ++i) EQUAL(done[i], 1);         \
    } while (0)

static void combined(void) {
    EACH_SIZE(size) {
        COMBINED("omp parallel for num_threads(size)");
        COMBINED("omp parallel for num_threads(size) schedule(dynamic, 4)");
        COMBINED("omp parallel for num_threads(size) schedule(guided, 4)");
        COMBINED("omp parallel for num_threads(size) schedule(monotonic: dynamic, 4)");
        COMBINED("omp parallel for num_threads(size) schedule(monotonic: guided, 4)");
        COMBINED("omp parallel for num_threads(size) schedule(runtime)");
        COMBINED("omp parallel for num_threads(size) schedule(monotonic: runtime)");
        COMBINED("omp parallel for num_threads(size) schedule(nonmonotonic: runtime)");
    }
}

static void extents(void) {
    for (int way = 0; way < 3; ++way) {
        omp_set_schedule(way == 0 ? omp_sched_static : way == 1 ? omp_sched_dynamic : omp_sched_guided, 2);
        long sum = 0;
#pragma omp parallel for num_threads(4) schedule(runtime) reduction(+ : sum)
        for (int i = 100; i > -100; i -= 3) sum += i;
        long expected = 0;
        for (int i = 100; i > -100; i -= 3) expected += i;
        EQUAL(sum, expected);

        int none = 0;
#pragma omp parallel for num_threads(4) schedule(runtime) reduction(+ : none)
        for (int i = 5; i < 5; ++i) none++;
#pragma omp parallel for num_threads(4) schedule(runtime) reduction(+ : none)
        for (long i = LONG_MAX; i < LONG_MIN; ++i) none++;
        EQUAL(none, 0);

        unsigned long long far = 0, first = ULLONG_MAX - 10;
#pragma omp parallel for num_threads(4) schedule(runtime) reduction(+ : far)
        for (unsigned long long i = first; i < ULLONG_MAX; ++i) far += i - first;
        EQUAL(far, 45);

        unsigned long long down = 0;
#pragma omp parallel for num_threads(4) schedule(runtime) reduction(+ : down)
        for (unsigned long long i = ULLONG_MAX; i > ULLONG_MAX - 100; i -= 7) down++;
        EQUAL(down, 15);
    }
}

static void collapsed(void) {
    static int cells[13][7][5];
    memset(cells, 0, sizeof cells);
#pragma omp parallel for num_threads(4) collapse(3) schedule(dynamic, 4)
    for (int a = 0; a < 13; ++a)
        for (int b = 0; b < 7; ++b)
            for (int c = 0; c < 5; ++c) cells[a][b][c]++;
    int right = 0;
    for (int a = 0; a < 13; ++a)
        for (int b = 0; b < 7; ++b)
            for (int c = 0; c < 5; ++c) right += cells[a][b][c] == 1;
    EQUAL(right, 13 * 7 * 5);
}

#define ORDERED(clause)                                     \
    do {                                                    \
        int next = 0, bad = 0;                              \
        _Pragma("omp parallel num_threads(size)") {         \
            _Pragma(clause) for (int i = 0; i < 200; ++i) { \
                if (i % 3 == 1) continue;                   \
                _Pragma("omp ordered") {                    \
                    if (next % 3 == 1) next++;              \
                    bad += next++ != i;                     \
                }                                           \
            }                                               \
        }                                                   \
        EQUAL(bad, 0);                                      \
    } while (0)

static void ordered(void) {
    EACH_SIZE(size) {
        ORDERED("omp for ordered");
        ORDERED("omp for ordered schedule(static, 3)");
        ORDERED("omp for ordered schedule(dynamic)");
        ORDERED("omp for ordered schedule(dynamic, 6)");
        ORDERED("omp for ordered schedule(guided)");
        ORDERED("omp for ordered schedule(runtime)");
    }
    unsigned long long sum = 0;
#pragma omp parallel for num_threads(4) ordered schedule(dynamic, 2)
    for (unsigned long long i = 0; i < 100; ++i) {
#pragma omp ordered
        sum = sum * 3 + i;
    }
    unsigned long long expected = 0;
    for (unsigned long long i = 0; i < 100; ++i) expected = expected * 3 + i;
    CHECK(sum == expected);
}

/* Many loops without a barrier after them: threads may be in different loops, any distance
 * apart. */
static void nowait(void) {
    EACH_SIZE(size) {
        int total = 0;
#pragma omp parallel num_threads(size) reduction(+ : total)
        for (int round = 0; round < 300; ++round) {
#pragma omp for schedule(dynamic) nowait
            for (int i = 0; i < 5; ++i) total++;
#pragma omp single nowait
            total++;
        }
        EQUAL(total, 1800);
    }
}

static void last_values(void) {
    int last = -1;
#pragma omp parallel for num_threads(4) lastprivate(last) schedule(dynamic, 3)
    for (int i = 0; i < 50; ++i) last = i * 2;
    EQUAL(last, 98);
    int conditional = -1;
#pragma omp parallel for num_threads(4) lastprivate(conditional : conditional) schedule(dynamic)
    for (int i = 0; i < 50; ++i)
        if (i % 10 == 3) conditional = i;
    EQUAL(conditional, 43);
}

static void inscan(void) {
    int values[64], sums[64], running = 0;
    for (int i = 0; i < 64; ++i) values[i] = i;
#pragma omp parallel for num_threads(4) reduction(inscan, + : running)
    for (int i = 0; i < 64; ++i) {
        running += values[i];
#pragma omp scan inclusive(running)
        sums[i] = running;
    }
    int expected = 0, right = 0;
    for (int i = 0; i < 64; ++i) right += sums[i] == (expected += i);
    EQUAL(right, 64);
    EQUAL(running, expected);
}

int main(void) {
    schedules();
    schedules_by_call();
    combined();
    extents();
    collapsed();
    ordered();
    nowait();
    last_values();
    inscan();
    return verdict();
}
