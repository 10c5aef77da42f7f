/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A target region, and each directive of its data, is a task: what it depends on, what depends on
 * it, and when its copies are taken. */
#include "check.h"

struct row {
    int cells[30];
};

/* Tasks that precede a target region by depend have ended when it begins; those that follow begin
 * later. */
static void in_order(void) {
    EACH_SIZE(size) {
        int value = 0, seen = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
#pragma omp task depend(out : value) shared(value)
            value = 1;
#pragma omp target depend(inout : value) map(tofrom : value)
            value = value * 10 + 2;
#pragma omp task depend(in : value) shared(value, seen)
            seen = value;
#pragma omp target nowait depend(inout : value) map(tofrom : value)
            value = value * 10 + 3;
#pragma omp target update depend(inout : value) to(value) nowait
#pragma omp target nowait depend(inout : value) map(tofrom : value)
            value = value * 10 + 4;
#pragma omp target enter data nowait depend(inout : value) map(to : value)
#pragma omp target exit data nowait depend(inout : value) map(from : value)
#pragma omp task depend(inout : value) shared(value)
            value = value * 10 + 5;
        }
        EQUAL(value, 12345);
        EQUAL(seen, 12);
    }
}

/* Without nowait a region has ended when the program goes on, whichever thread had to run what it
 * depends on. */
static void included(void) {
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
        for (int round = 0; round < 20; ++round) {
            int value = 0, last = 0;
#pragma omp task depend(out : value) shared(value)
            value = round + 1;
#pragma omp target depend(in : value) map(to : value) map(from : last)
            last = value;
            wrong += last != round + 1;
        }
        EQUAL(wrong, 0);
    }
}

/* A region with nowait does not block its encountering task, which may be the one to release it. */
static void not_held_up(void) {
    EACH_SIZE(size) {
        int value = 0, at = 0, data __attribute__((unused)) = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp task depend(out : data) detach(event)
            at = 1;
#pragma omp target nowait depend(in : data) map(tofrom : value)
            value++;
#pragma omp target update to(data) nowait depend(inout : data)
#pragma omp target enter data map(to : data) nowait depend(inout : data)
#pragma omp target exit data map(from : data) nowait depend(inout : data)
#pragma omp target nowait depend(in : data) map(tofrom : value)
            value++;
            EQUAL(value, 0);
            omp_fulfill_event(event);
        }
        EQUAL(value, 2);
        EQUAL(at, 1);
    }
}

/* taskwait and taskgroup wait for regions with nowait. */
static void waited_for(void) {
    EACH_SIZE(size) {
        int value = 0, wrong = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int round = 1; round <= 10; ++round) {
#pragma omp target nowait map(tofrom : value)
#pragma omp atomic
            value++;
#pragma omp taskwait
            wrong += value != 3 * round - 2;
#pragma omp taskgroup
            {
#pragma omp task shared(value)
                {
#pragma omp target nowait map(tofrom : value)
#pragma omp atomic
                    value++;
                }
            }
            wrong += value != 3 * round - 1;
#pragma omp target nowait map(tofrom : value) depend(out : value)
#pragma omp atomic
            value++;
#pragma omp taskwait depend(in : value)
            wrong += value != 3 * round;
        }
        EQUAL(value, 30);
        EQUAL(wrong, 0);
    }
}

/* The barrier at a region's end waits for them, whichever thread has met them. */
static void ended_by_barrier(void) {
    EACH_SIZE(size) {
        int value = 0, wrong = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
        {
            const int threads = omp_get_num_threads();
            for (int i = 0; i < 5; ++i) {
#pragma omp target nowait map(tofrom : value)
#pragma omp atomic
                value++;
            }
#pragma omp barrier
            wrong += value != 5 * threads;
        }
        EQUAL(wrong, 0);
    }
}

/* firstprivate copies are those of the encounter: neither what an earlier task does meanwhile, nor
   what the program does later, changes them. */
static void copies_of_the_encounter(void) {
    EACH_SIZE(size) {
        struct row row = {{1}}, seen = {{0}};
        int order = 0, small = 1, small_seen = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp task depend(out : order) detach(event)
            order = 1;
#pragma omp target nowait depend(in : order) firstprivate(row, small) map(tofrom : seen, small_seen)
            {
                seen = row;
                small_seen = small;
                row.cells[0] = 100;
            }
            row.cells[0] = small = 2;
            omp_fulfill_event(event);
        }
        EQUAL(seen.cells[0], 1);
        EQUAL(small_seen, 1);
        EQUAL(row.cells[0], 2);
    }
}

/* In a final task nothing is deferred, and what a construct with nowait depends on has ended when
 * the construct is passed. */
static void in_final_tasks(void) {
    EACH_SIZE(size) {
        int value = 0, wrong = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int i = 1; i <= 5; ++i) {
#pragma omp task final(1) shared(value, wrong)
            {
                struct row row = {{i}};
#pragma omp target nowait depend(inout : value) firstprivate(row) map(tofrom : value)
                value += row.cells[0];
                row.cells[0] = -1;
#pragma omp target update nowait depend(inout : value) to(value)
                wrong += value != i * (i + 1) / 2;
            }
#pragma omp taskwait
        }
        EQUAL(value, 15);
        EQUAL(wrong, 0);
    }
}

/* Every kind of dependence, objects and iterators among them, orders regions as it orders other
 * tasks. */
static void every_kind(void) {
    EACH_SIZE(size) {
        int cells[4] = {0}, sum = 0, wrong = 0;
        omp_depend_t object;
#pragma omp depobj(object) depend(inout : cells[0])
#pragma omp parallel num_threads(size)
#pragma omp single
        {
            for (int i = 0; i < 4; ++i) {
#pragma omp target nowait depend(out : cells[i]) map(tofrom : cells[i : 1])
                cells[i] = i + 1;
            }
            /* All four have ended. */
#pragma omp target nowait depend(iterator(int k = 0 : 4), in : cells[k]) map(tofrom : wrong) map(to : cells)
            wrong += cells[0] + cells[1] + cells[2] + cells[3] != 10;
#pragma omp target nowait depend(mutexinoutset : cells[0]) map(tofrom : cells)
            cells[0]++;
#pragma omp task depend(mutexinoutset : cells[0]) shared(cells)
            cells[0]++;
#pragma omp target nowait depend(depobj : object) map(tofrom : cells, sum)
            sum = cells[0];
#pragma omp target depend(depobj : object) map(tofrom : cells)
            cells[0] *= 10;
            wrong += cells[0] != 30 || sum != 3;
        }
        EQUAL(wrong, 0);
#pragma omp depobj(object) destroy
    }
}

/* Arrays whose length is known only at run time, and many regions at once, each with its own. */
static void many_deferred(int count) {
    EACH_SIZE(size) {
        long sum = 0, expected = 0;
        for (int i = 0; i < 100; ++i) expected += (long)i * count;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int i = 0; i < 100; ++i) {
            int cells[count];
            for (int k = 0; k < count; ++k) cells[k] = i;
#pragma omp target nowait firstprivate(cells) map(tofrom : sum)
            {
                long part = 0;
                for (int k = 0; k < count; ++k) part += cells[k];
#pragma omp atomic
                sum += part;
                cells[0] = -1;
            }
            for (int k = 0; k < count; ++k) cells[k] = -1;
        }
        EQUAL(sum, expected);
    }
}

/* Each region begins outside of all parallel regions, even as a task that another thread runs. */
static void outside_of_all(void) {
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int i = 0; i < 30; ++i) {
#pragma omp target nowait map(tofrom : wrong)
            {
                const int team = omp_get_num_threads() != 1 || omp_get_thread_num() != 0 || omp_get_level() != 0;
                const int here = team || omp_in_parallel() || omp_in_final();
#pragma omp atomic
                wrong += here;
            }
        }
        EQUAL(wrong, 0);
    }
}

/* Outside of parallel regions no other thread can run it: it still ends, at taskwait at the
 * latest. */
static void of_the_initial_thread(void) {
    int value = 0, ahead __attribute__((unused)) = 0;
#pragma omp target nowait map(tofrom : value) depend(out : ahead)
    value += 1;
#pragma omp target nowait map(tofrom : value) depend(inout : ahead)
    value += 2;
#pragma omp taskwait
    EQUAL(value, 3);
}

/* Regions that have begun can no longer be cancelled; others are discarded with their taskgroup, or
 * run. */
static void in_cancelled_groups(void) {
    EACH_SIZE(size) {
        int ran = 0, before = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
#pragma omp taskgroup
            {
#pragma omp target map(tofrom : before)
                before++;
#pragma omp task
                {
#pragma omp cancel taskgroup
                }
#pragma omp taskwait
#pragma omp target nowait map(tofrom : ran)
                ran++;
            }
        }
        EQUAL(before, 1);
        if (omp_get_cancellation()) CHECK(ran <= 1);
        else EQUAL(ran, 1);
    }
}

int main(void) {
    in_order();
    included();
    not_held_up();
    waited_for();
    ended_by_barrier();
    copies_of_the_encounter();
    in_final_tasks();
    every_kind();
    many_deferred(40);
    many_deferred(1);
    outside_of_all();
    in_cancelled_groups();
    /* Last: on libgomp 12 regions hang or crash that come after a target construct with nowait
     * outside of all regions. */
    of_the_initial_thread();
    return verdict();
}
