/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* single, sections, critical, atomics, locks. */
#include "check.h"

static void singles(void) {
    EACH_SIZE(size) {
        int count = 0, bad = 0;
#pragma omp parallel num_threads(size) reduction(+ : bad)
        for (int round = 0; round < 100; ++round) {
#pragma omp single
            count++;
            bad += count != round + 1;
#pragma omp barrier
            int value = -1;
#pragma omp single copyprivate(value)
            value = round * 3;
            bad += value != round * 3;
        }
        EQUAL(count, 100);
        EQUAL(bad, 0);
    }
}

static void sections(void) {
    EACH_SIZE(size) {
        int ran[5] = {0}, last = 0;
#pragma omp parallel num_threads(size)
#pragma omp sections lastprivate(last)
        {
#pragma omp section
            ran[0]++;
#pragma omp section
            ran[1]++;
#pragma omp section
            {
                ran[2]++;
                last = 9;
            }
        }
#pragma omp parallel sections num_threads(size)
        {
#pragma omp section
            ran[3]++;
#pragma omp section
            ran[4]++;
        }
        for (int i = 0; i < 5; ++i) EQUAL(ran[i], 1);
        EQUAL(last, 9);
    }
}

static void criticals(void) {
    EACH_SIZE(size) {
        long a = 0, b = 0;
        long double wide = 0;
        struct {
            char bytes[24];
        } block = {{0}};
        (void)block;
#pragma omp parallel num_threads(size)
        for (int i = 0; i < 500; ++i) {
#pragma omp critical
            a++;
#pragma omp critical(named)
            {
                b++;
#pragma omp critical(within)
                b++;
            }
#pragma omp atomic
            wide += 1;
        }
        EQUAL(a, 500 * size);
        EQUAL(b, 1000 * size);
        EQUAL((long)wide, 500 * size);
    }
    /* Outside of all regions as well. */
    int alone = 0;
#pragma omp critical
    alone++;
    EQUAL(alone, 1);
}

static void locks(void) {
    EACH_SIZE(size) {
        omp_lock_t lock;
        omp_nest_lock_t nest;
        omp_init_lock(&lock);
        omp_init_nest_lock(&nest);
        int count = 0, tried = 0, nested = 0;
#pragma omp parallel num_threads(size)
        for (int i = 0; i < 300; ++i) {
            omp_set_lock(&lock);
            count++;
            omp_unset_lock(&lock);
            if (omp_test_lock(&lock)) {
                tried++;
                omp_unset_lock(&lock);
            }
            omp_set_nest_lock(&nest);
            omp_set_nest_lock(&nest);
            CHECK(omp_test_nest_lock(&nest) == 3);
            nested++;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
        }
        (void)tried;
        omp_destroy_lock(&lock);
        omp_destroy_nest_lock(&nest);
        EQUAL(count, 300 * size);
        EQUAL(nested, 300 * size);
    }
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    CHECK(!omp_test_lock(&lock));
    omp_unset_lock(&lock);
    CHECK(omp_test_lock(&lock));
    omp_unset_lock(&lock);
}

/* A thread that waits for another one's flag, with and without anything that a runtime could
 * see. */
static void flags(void) {
    int flag = 0, seen = 0;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
#pragma omp atomic write
        flag = 1;
    } else {
        int now = 0;
        while (!now) {
#pragma omp flush
#pragma omp atomic read
            now = flag;
        }
        seen = now;
    }
    EQUAL(seen, 1);
}

int main(void) {
    singles();
    sections();
    criticals();
    locks();
    flags();
    return verdict();
}
