/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What libgomp 12 cannot do: dependences of the type inoutset, which gcc 13 and later use (here an
 * object made by hand); detached tasks outside of all regions, whose event another thread fulfils
 * later; regions after omp_pause_resource_all; graphs that are no longer than is of use. */
#include "check.h"

static void inoutset(void) {
    EACH_SIZE(size) {
        int x = 0, adders = 0, wrong = 0;
        struct {
            void* address;
            unsigned long type;
        } made = {&x, 5};
        omp_depend_t* const set = (omp_depend_t*)&made;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int round = 1; round <= 30; ++round) {
#pragma omp task depend(out : x) shared(x, adders, wrong) firstprivate(round)
            {
                wrong += adders != 3 * (round - 1);
                x = round;
            }
            for (int i = 0; i < 3; ++i) {
#pragma omp task depend(depobj : *set) shared(x, adders, wrong) firstprivate(round)
                {
#pragma omp atomic
                    wrong += x != round;
#pragma omp atomic
                    adders++;
                }
            }
#pragma omp task depend(in : x) shared(adders, wrong) firstprivate(round)
#pragma omp atomic
            wrong += adders != 3 * round;
        }
        EQUAL(wrong, 0);
        EQUAL(adders, 90);
    }
}

static void detached_outside_of_regions(void) {
    int alone = 0;
    omp_event_handle_t event;
#pragma omp task detach(event) shared(alone)
    alone = 1;
    omp_fulfill_event(event);
#pragma omp taskwait
    EQUAL(alone, 1);
}

static void regions_after_a_pause(void) {
    EQUAL(omp_pause_resource(omp_pause_soft, omp_get_initial_device()), 0);
    for (int i = 0; i < 10; ++i) {
        EQUAL(omp_pause_resource_all(i % 2 == 0 ? omp_pause_soft : omp_pause_hard), 0);
        int threads = 0;
#pragma omp parallel num_threads(2 + i % 3) reduction(+ : threads)
        threads++;
        EQUAL(threads, 2 + i % 3);
    }
}

/* A thread that makes dependent tasks faster than they are run runs some of them itself: so many at
 * a time, however long the graph. libgomp 12 makes all of them first. */
static void long_graphs(void) {
    enum { chains = 16, length = 400, enough = 1000 };
    int cell[chains] = {0}, done = 0, most = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < chains * length; ++i) {
        int ended;
#pragma omp atomic read
        ended = done;
        if (i - ended > most) most = i - ended;
#pragma omp task depend(inout : cell[i % chains]) shared(cell, done) firstprivate(i)
        {
            for (volatile int spun = 0; spun < 1000;) spun = spun + 1;
            cell[i % chains]++;
#pragma omp atomic
            done++;
        }
    }
    for (int i = 0; i < chains; ++i) EQUAL(cell[i], length);
    CHECK(most < enough);
}

/* But the thread waits for none of them: it may be the one that is to fulfil the event for which
 * all of them wait. */
static void events_behind_long_graphs(void) {
    int x = 0, seen = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) shared(x)
        x = 1;
        for (int i = 0; i < 2000; ++i) {
#pragma omp task depend(in : x) shared(x, seen)
#pragma omp atomic
            seen += x;
        }
        omp_fulfill_event(event);
    }
    EQUAL(seen, 2000);
}

int main(void) {
    regions_after_a_pause();
    inoutset();
    detached_outside_of_regions();
    long_graphs();
    events_behind_long_graphs();
    return verdict();
}
