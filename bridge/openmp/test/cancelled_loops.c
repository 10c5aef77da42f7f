/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What cancelled loops and sections leave out: they are over at their end for all threads, and what
   comes afterwards, around or within is complete. */
#include "check.h"

enum { some = 40 };

static int on;

static void add(int* what, int by) {
#pragma omp atomic
    *what += by;
}

/* Loops one after the other, some cancelled: each is over at its end for all threads, and the next
 * one is complete. */
static void loops_in_a_row(int size) {
    int ran[6] = {0, 0, 0, 0, 0, 0};
#pragma omp parallel num_threads(size)
    for (int round = 0; round < 6; ++round) {
#pragma omp for schedule(dynamic, 2)
        for (int i = 0; i < some; ++i) {
#pragma omp cancellation point for
            add(&ran[round], 1);
#pragma omp cancel for if (round % 2 == 0)
        }
    }
    for (int round = 0; round < 6; ++round) {
        if (on && round % 2 == 0) CHECK(ran[round] >= 1 && ran[round] <= size);
        else EQUAL(ran[round], some);
    }
}

/* In a region that might be cancelled as well, other barriers end them. */
static void loops_of_a_cancellable_region(int size) {
    int loops[2] = {0, 0}, parts[2] = {0, 0};
#pragma omp parallel num_threads(size)
    for (int round = 0; round < 2; ++round) {
#pragma omp cancel parallel if (size > 100)
#pragma omp for schedule(static, 1)
        for (int i = 0; i < some; ++i) {
#pragma omp cancellation point for
            add(&loops[round], 1);
#pragma omp cancel for if (round == 0)
        }
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections if (round == 0)
                add(&parts[round], 1);
            }
#pragma omp section
            {
#pragma omp cancellation point sections
                add(&parts[round], 1);
            }
        }
    }
    CHECK(on ? loops[0] >= 1 && loops[0] <= size : loops[0] == some);
    CHECK(on ? parts[0] <= 1 : parts[0] == 2);
    EQUAL(loops[1], some);
    EQUAL(parts[1], 2);
}

static void loops_of_each_schedule(int size) {
    static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
    for (int kind = 0; kind < 4; ++kind) {
        for (int chunk = 0; chunk < 3; ++chunk) {
            int ran = 0, after = 0, wide = 0;
            omp_set_schedule(kinds[kind], chunk);
#pragma omp parallel num_threads(size)
            {
#pragma omp for schedule(runtime) collapse(2)
                for (int i = 0; i < some; ++i) {
                    for (int k = 0; k < 3; ++k) {
#pragma omp cancel for
                        add(&ran, 1);
                    }
                }
#pragma omp for schedule(runtime)
                for (unsigned long long i = 0; i < some; ++i) {
                    add(&wide, 1);
#pragma omp cancel for if (i == 0)
                }
#pragma omp for schedule(runtime)
                for (int i = some; i > 0; --i) add(&after, 1);
            }
            EQUAL(ran, on ? 0 : 3 * some);
            CHECK(wide <= some && (on || wide == some));
            EQUAL(after, some);
        }
    }
}

/* (gcc warns of these, since it makes the loop nowait: the region's end follows.) */
static void combined(int size) {
    int ran = 0, parts = 0;
#pragma omp parallel for num_threads(size) schedule(static, 1)
    for (int i = 0; i < some; ++i) {
        add(&ran, 1);
#pragma omp cancel for
    }
    if (on) CHECK(ran >= 1 && ran <= size);
    else EQUAL(ran, some);
#pragma omp parallel sections num_threads(size)
    {
        {
#pragma omp cancel sections
            add(&parts, 1);
        }
#pragma omp section
        {
#pragma omp cancel sections
            add(&parts, 1);
        }
#pragma omp section
        {
#pragma omp cancel sections
            add(&parts, 1);
        }
    }
    EQUAL(parts, on ? 0 : 3);
}

/* Sections that no thread has begun are not begun, and those after them are complete. */
static void sections_in_a_row(int size) {
    int parts[2] = {0, 0};
#pragma omp parallel num_threads(size)
    for (int round = 0; round < 2; ++round) {
#pragma omp sections
        {
#pragma omp section
            {
                add(&parts[round], 1);
#pragma omp cancel sections if (round == 0)
            }
#pragma omp section
            {
#pragma omp cancellation point sections
                add(&parts[round], 1);
#pragma omp cancel sections if (round == 0)
            }
        }
#pragma omp barrier
    }
    if (on) CHECK(parts[0] == 1 || (parts[0] == 2 && size > 1));
    else EQUAL(parts[0], 2);
    EQUAL(parts[1], 2);
}

/* An orphaned loop: in whatever region its caller is, or in none. */
static int orphaned(int cancels) {
    static int ran;
#pragma omp single
    ran = 0;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < some; ++i) {
        add(&ran, 1);
#pragma omp cancel for if (cancels)
    }
    int result;
#pragma omp atomic read
    result = ran;
#pragma omp barrier
    return result;
}

static void orphaned_loops(int size) {
    for (int cancels = 1; cancels >= 0; --cancels) {
        const int alone = orphaned(cancels);
        EQUAL(alone, on && cancels ? 1 : some);
#pragma omp parallel num_threads(size)
        {
            const int ran = orphaned(cancels);
            if (on && cancels) CHECK(ran >= 1 && ran <= size);
            else EQUAL(ran, some);
        }
    }
}

/* A loop within an iteration of another one: to cancel the inner loop, of another team, leaves the
   outer loop complete, and the other way round. */
static void loops_within(int size) {
    int outer = 0, inner = 0, behind = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < some; ++i) {
#pragma omp cancellation point for
            add(&outer, 1);
#pragma omp parallel num_threads(2)
            {
#pragma omp for schedule(dynamic)
                for (int k = 0; k < 10; ++k) {
                    add(&inner, 1);
#pragma omp cancel for
                }
#pragma omp for
                for (int k = 0; k < 10; ++k) add(&behind, 1);
            }
        }
    }
    EQUAL(outer, some);
    CHECK(on ? inner >= some && inner <= 2 * some : inner == 10 * some);
    EQUAL(behind, 10 * some);
    int begun = 0;
    inner = 0;
#pragma omp parallel num_threads(size)
#pragma omp for schedule(static, 1)
    for (int i = 0; i < size; ++i) {
        add(&begun, 1);
#pragma omp parallel num_threads(2)
        {
#pragma omp for
            for (int k = 0; k < 10; ++k) {
#pragma omp cancellation point for
                add(&inner, 1);
            }
        }
#pragma omp cancel for
    }
    EQUAL(begun, size);
    EQUAL(inner, 10 * size);
}

/* Tasks that a cancelled loop has made are not cancelled with it, and have ended at the loop's
 * end. */
static void tasks_of_loops(int size) {
    int ran = 0, made = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < some; ++i) {
            add(&made, 3);
            for (int k = 0; k < 3; ++k) {
#pragma omp task shared(ran)
                add(&ran, 1);
            }
#pragma omp cancel for if (i == 5)
        }
        EQUAL(ran, made);
    }
}

int main(void) {
    on = omp_get_cancellation();
    omp_set_max_active_levels(2);
    EACH_SIZE(size) {
        loops_in_a_row(size);
        loops_of_a_cancellable_region(size);
        loops_of_each_schedule(size);
        combined(size);
        sections_in_a_row(size);
        orphaned_loops(size);
        loops_within(size);
        tasks_of_loops(size);
    }
    return verdict();
}
