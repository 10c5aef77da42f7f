/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* atomic in every form, on every size: sizes that the processor handles, and sizes that take the
 * runtime's lock. And flush. */
#include "check.h"

enum { rounds = 200 };

#define COUNTED(type)                                                                                               \
    do {                                                                                                            \
        type value = 0, taken = 0, seen = 0;                                                                        \
        int rises = 0;                                                                                              \
        _Pragma("omp parallel num_threads(size) private(taken, seen) reduction(+ : rises)") for (int i = 0;         \
                                                                                                 i < rounds; ++i) { \
            _Pragma("omp atomic") value += 1;                                                                       \
            _Pragma("omp atomic update") value = value + 1;                                                         \
            _Pragma("omp atomic capture") taken = value++;                                                          \
            _Pragma("omp atomic capture") {                                                                         \
                value -= 1;                                                                                         \
                seen = value;                                                                                       \
            }                                                                                                       \
            _Pragma("omp atomic read seq_cst") seen = value;                                                        \
            rises += !(taken < 0) && !(seen < 0);                                                                   \
        }                                                                                                           \
        CHECK(value == (type)(2 * rounds * size));                                                                  \
        EQUAL(rises, rounds* size);                                                                                 \
        _Pragma("omp atomic write release") value = 3;                                                              \
        CHECK(value == (type)3);                                                                                    \
    } while (0)

static void counts(void) {
    EACH_SIZE(size) {
        COUNTED(short);
        COUNTED(int);
        COUNTED(unsigned long);
        COUNTED(long long);
        COUNTED(__int128);
        COUNTED(float);
        COUNTED(double);
        COUNTED(long double);
    }
}

static void operators(void) {
    EACH_SIZE(size) {
        int product = 1, bits = 0, every = -1, odd = 0, shifted = 1, difference = 0, divided = 1 << 20;
        long double wide = 1;
#pragma omp parallel for num_threads(size)
        for (int i = 0; i < 8; ++i) {
#pragma omp atomic
            product *= 2;
#pragma omp atomic relaxed
            bits |= 1 << i;
#pragma omp atomic acq_rel hint(omp_sync_hint_contended)
            every &= ~(1 << i);
#pragma omp atomic
            odd ^= 3 << i;
#pragma omp atomic
            shifted <<= 1;
#pragma omp atomic
            difference -= i;
#pragma omp atomic
            divided /= 2;
#pragma omp atomic
            divided = 2 * divided;
#pragma omp atomic hint(omp_sync_hint_uncontended)
            wide *= 2;
        }
        EQUAL(product, 256);
        EQUAL(bits, 255);
        EQUAL(every, ~255);
        EQUAL(odd, 0x101);
        EQUAL(shifted, 256);
        EQUAL(difference, -28);
        EQUAL(divided, 1 << 20);
        EQUAL((long)wide, 256);
    }
}

static void compares(void) {
    EACH_SIZE(size) {
        int most = 0, least = 1000, once = 0, winners = 0, swapped = 0;
        unsigned long long far = 0;
#pragma omp parallel for num_threads(size) reduction(+ : winners) schedule(dynamic)
        for (int i = 1; i <= 100; ++i) {
#pragma omp atomic compare
            most = most < i ? i : most;
#pragma omp atomic compare seq_cst
            if (least > i) {
                least = i;
            }
            int before, won;
#pragma omp atomic compare capture
            {
                before = once;
                if (once == 0) {
                    once = i;
                }
            }
            winners += before == 0;
#pragma omp atomic compare capture acq_rel fail(acquire)
            {
                won = swapped == i - 1;
                if (won) {
                    swapped = i;
                }
            }
            (void)won;
#pragma omp atomic compare weak relaxed fail(relaxed)
            if (far == 0) {
                far = 7;
            }
        }
        EQUAL(most, 100);
        EQUAL(least, 1);
        EQUAL(winners, 1);
        CHECK(once >= 1 && once <= 100);
        CHECK(swapped >= 1 && swapped <= 100);
        EQUAL(far, 7);
    }
}

/* A thread that has acquired sees what another one has written before its release. */
static void orders(void) {
    int wrong = 0;
    for (int round = 0; round < 50; ++round) {
        int data = 0, flag = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        if (omp_get_thread_num() == 0) {
            data = round + 1;
#pragma omp atomic write release
            flag = 1;
        } else {
            int seen = 0;
            while (!seen) {
#pragma omp atomic read acquire
                seen = flag;
            }
            wrong += data != round + 1;
        }
#ifndef __SANITIZE_THREAD__ /* it does not know what a flush orders */
        int other = 0, ready = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        if (omp_get_thread_num() == 1) {
            other = round + 1;
#pragma omp flush release
#pragma omp atomic write relaxed
            ready = 1;
#pragma omp flush(other, ready)
        } else {
            int seen = 0;
            while (!seen) {
#pragma omp atomic read relaxed
                seen = ready;
            }
#pragma omp flush acquire
#pragma omp flush seq_cst
            wrong += other != round + 1;
        }
#endif
    }
    EQUAL(wrong, 0);
}

/* critical: named, with a hint, nested, and beside sections of other names. */
static void criticals(void) {
    EACH_SIZE(size) {
        long a = 0, b = 0, c = 0;
#pragma omp parallel num_threads(size)
        for (int i = 0; i < rounds; ++i) {
#pragma omp critical(hinted) hint(omp_sync_hint_speculative)
            a++;
#pragma omp critical(outer)
            {
                b++;
#pragma omp critical(inner)
                {
                    c++;
#pragma omp critical
                    c++;
                }
            }
        }
        EQUAL(a, rounds * size);
        EQUAL(b, rounds * size);
        EQUAL(c, 2 * rounds * size);
    }
}

static void owners(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    int value = 0;
#pragma omp parallel num_threads(8)
    for (int i = 0; i < rounds; ++i) {
        omp_set_lock(&lock);
        omp_set_nest_lock(&nest);
        value++;
        omp_unset_nest_lock(&nest);
        omp_unset_lock(&lock);
    }
    EQUAL(value, 8 * rounds);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    /* A nested lock belongs to a task: another task of the same thread does not own it. */
    omp_init_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    int got = -1;
#pragma omp task if (0) shared(got)
    got = omp_test_nest_lock(&nest);
    EQUAL(got, 0);
    omp_unset_nest_lock(&nest);
    omp_destroy_nest_lock(&nest);
    /* A plain lock has no owner: another thread may unset it. */
    omp_init_lock(&lock);
    omp_set_lock(&lock);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) omp_unset_lock(&lock);
    CHECK(omp_test_lock(&lock));
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
}

int main(void) {
    counts();
    operators();
    compares();
    orders();
    criticals();
    owners();
    return verdict();
}
