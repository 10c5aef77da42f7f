/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a firstprivate clause keeps apart, for a target region that the host runs: variables of
   every size and alignment, whichever thread meets the region. */
#include <complex.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

struct pair {
    int first, second;
};
struct large {
    int before;
    char text[4000];
    double behind;
};
struct aligned {
    _Alignas(256) int first;
    int rest[70];
};

#define KEEPS(type, before, behind)                                 \
    do {                                                            \
        type item = before;                                         \
        int seen = 0;                                               \
        _Pragma("omp target firstprivate(item) map(from : seen)") { \
            seen = item == before;                                  \
            item = behind;                                          \
            seen += item == behind;                                 \
        }                                                           \
        EQUAL(seen, 2);                                             \
        CHECK(item == before);                                      \
    } while (0)

/* Scalars that fit in a pointer's bits, and scalars that do not. */
static void scalars(void) {
    KEEPS(char, 'a', 'b');
    KEEPS(_Bool, 1, 0);
    KEEPS(short, -3, 7);
    KEEPS(int, -1, 50);
    KEEPS(unsigned long long, ~0ULL, 1ULL);
    KEEPS(float, 1.5f, 2.5f);
    KEEPS(double, 1.25, -8.0);
    KEEPS(long double, 1.25L, 2.0L);
    KEEPS(double _Complex, 1.0 + 2.0 * I, 3.0);
    KEEPS(__int128, (__int128)1 << 100, (__int128)2);
}

/* Two members of a struct lie side by side, and neither comes back. */
static void structs(void) {
    struct pair pair = {1, 2};
    int sum = 0;
#pragma omp target firstprivate(pair) map(from : sum)
    {
        pair.first += 49;
        sum = pair.first + pair.second;
    }
    EQUAL(sum, 52);
    EQUAL(pair.first, 1);
    struct large large = {.before = 1, .text = "text", .behind = 3.0};
    int same = 0;
#pragma omp target firstprivate(large) map(from : same)
    {
        same = large.before == 1 && strcmp(large.text, "text") == 0 && large.text[3999] == 0 && large.behind == 3.0;
        memset(&large, 0x55, sizeof large);
    }
    CHECK(same && large.before == 1 && large.text[0] == 't' && large.text[3999] == 0 && large.behind == 3.0);
}

/* A copy has its type's alignment, beside others of odd sizes. */
static void alignments(void) {
    char odd[3] = "ab";
    struct aligned aligned = {.first = 4, .rest = {[69] = 5}};
    _Alignas(64) char line[64] = "line";
    int right = 0;
#pragma omp target firstprivate(odd, aligned, line) map(from : right)
    {
        right = (uintptr_t)&aligned % 256 == 0 && (uintptr_t)line % 64 == 0;
        right = right && aligned.first == 4 && aligned.rest[69] == 5 && odd[1] == 'b' && line[3] == 'e';
        odd[0] = line[0] = '?';
        aligned.rest[69] = aligned.first = 0;
    }
    CHECK(right);
    EQUAL(odd[0], 'a');
    EQUAL(line[0], 'l');
    EQUAL(aligned.first + aligned.rest[69], 9);
}

/* Arrays of one dimension and of two, and of a length known only at run time. */
static void arrays(int count) {
    int cells[40], table[3][4], variable[count], wide[count][2];
    for (int i = 0; i < 40; ++i) cells[i] = i;
    memset(table, 0, sizeof table);
    for (int i = 0; i < count; ++i) variable[i] = wide[i][1] = i;
    int seen = 0;
#pragma omp target firstprivate(cells, table, variable, wide) map(from : seen)
    {
        seen = cells[39] + variable[count - 1] + wide[count - 1][1] + table[2][3];
        for (int i = 0; i < 40; ++i) cells[i] = -1;
        table[2][3] = 7;
        for (int i = 0; i < count; ++i) variable[i] = wide[i][0] = wide[i][1] = -1;
    }
    EQUAL(seen, 39 + 2 * (count - 1));
    EQUAL(cells[0] + cells[39], 39);
    EQUAL(table[2][3], 0);
    EQUAL(variable[0] + variable[count - 1], count - 1);
    EQUAL(wide[count - 1][1], count - 1);
}

/* Variables that defaultmap makes firstprivate, and a pointer, whose target belongs to the
 * program. */
static void by_default(void) {
    struct pair pair = {1, 2};
    int cells[3] = {1, 2, 3}, scalar = 4, *pointer = cells, other[3] = {9, 9, 9};
#pragma omp target defaultmap(firstprivate : aggregate) defaultmap(firstprivate : scalar) \
    defaultmap(firstprivate : pointer) map(tofrom : other)
    {
        pair.first = cells[0] = scalar = 50;
        pointer[1] = 60;
        pointer = other;
        pointer[0] = 70;
    }
    EQUAL(pair.first, 1);
    EQUAL(cells[0], 1);
    EQUAL(scalar, 4);
    EQUAL(cells[1], 60); /* through the pointer */
    EQUAL(other[0], 70);
    CHECK(pointer == cells);
    /* A scalar that no clause names is firstprivate, an aggregate is mapped. */
#pragma omp target
    pair.first = scalar = 50;
    EQUAL(pair.first, 50);
    EQUAL(scalar, 4);
}

/* Each thread's own copy, where each thread of a team meets the region, and again in teams
 * within. */
static void by_each_thread(void) {
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
        for (int round = 0; round < 50; ++round) {
            int cells[5] = {0, round, omp_get_thread_num()};
            int sum = 0;
#pragma omp target firstprivate(cells) map(tofrom : sum)
            {
#pragma omp parallel num_threads(2) reduction(+ : sum) firstprivate(cells)
                {
                    sum += cells[1] + cells[2];
                    cells[1] = -1;
                }
                cells[0] = cells[1] = -1;
            }
            wrong += cells[0] != 0 || cells[1] != round || (sum != round + cells[2] && sum != 2 * (round + cells[2]));
        }
        EQUAL(wrong, 0);
    }
}

/* In explicit tasks, deferred and not: the copy is taken from the task's value. */
static void in_tasks(void) {
    EACH_SIZE(size) {
        int total = 0;
        struct pair pair = {0, 1};
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int i = 0; i < 20; ++i) {
#pragma omp task firstprivate(pair) shared(total) if (i % 3 != 0)
            {
                int from = 0;
                pair.first = i;
#pragma omp target firstprivate(pair) map(from : from)
                {
                    from = pair.first + pair.second;
                    pair.second = 100;
                }
#pragma omp atomic
                total += from + pair.second;
            }
        }
        EQUAL(total, 190 + 40);
        EQUAL(pair.second, 1);
    }
}

/* Where the region has to wait for an earlier task, the copy is the encounter's, whatever that task
   does. Only the encountering thread can run the task: it does so while it waits for it. */
static void of_the_encounter(void) {
    struct pair pair = {1, 2}, late = {0, 0};
    int order __attribute__((unused)) = 0, alone = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
#pragma omp parallel num_threads(2)
    {
#pragma omp masked
        {
            alone = omp_get_num_threads() == 1;
#pragma omp task depend(out : order) shared(pair)
            pair.first = 3;
#pragma omp target depend(in : order) firstprivate(pair) map(tofrom : late)
            late = pair;
            omp_unset_lock(&lock);
        }
        if (omp_get_thread_num() != 0) {
            omp_set_lock(&lock);
            omp_unset_lock(&lock);
        }
    }
    EQUAL(late.first, alone ? 3 : 1);
    EQUAL(pair.first, 3);
    omp_destroy_lock(&lock);
}

/* Combined constructs apply the clause to the target region, and again to what is within. */
static void combined(void) {
    struct pair pair = {3, 4};
    int sum = 0;
#pragma omp target parallel num_threads(3) firstprivate(pair) map(tofrom : sum) reduction(+ : sum)
    {
        sum += pair.first++ + pair.second;
        sum += pair.first * 100;
    }
    EQUAL(sum % 407, 0);
    CHECK(sum >= 407 && sum <= 3 * 407);
    sum = 0;
#pragma omp target teams num_teams(2) firstprivate(pair) map(tofrom : sum) reduction(+ : sum)
    {
        sum += pair.first;
        pair.first = 1000;
    }
    EQUAL(sum, 6);
    sum = 0;
#pragma omp target teams distribute parallel for num_teams(2) firstprivate(pair) map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < 50; ++i) sum += pair.first;
    EQUAL(sum, 150);
    sum = 0;
#pragma omp target simd firstprivate(pair) map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < 50; ++i) sum += pair.second;
    EQUAL(sum, 200);
    EQUAL(pair.first, 3);
}

/* Where `if` is false, and where a device is named, there is a copy, too. */
static void if_false(int holds) {
    struct pair pair = {1, 2};
#pragma omp target if (holds) firstprivate(pair)
    pair.first = 50;
#pragma omp target device(omp_get_initial_device()) firstprivate(pair)
    pair.second = 50;
    EQUAL(pair.first, 1);
    EQUAL(pair.second, 2);
}

int main(void) {
    scalars();
    structs();
    alignments();
    arrays(7);
    arrays(1);
    by_default();
    by_each_thread();
    in_tasks();
    of_the_encounter();
    combined();
    if_false(0);
    if_false(1);
    return verdict();
}
