/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The device routines, where the host is the only device: what each returns, wherever it is called,
 * and what it copies. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

/* Each caller, in any region, is on the host, which is the initial device. */
static int on_the_host(void) {
    const int numbers = omp_get_num_devices() == 0 && omp_get_initial_device() == 0 && omp_get_device_num() == 0;
    return numbers && omp_is_initial_device();
}
static void questions(void) {
    CHECK(on_the_host());
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
        {
            wrong += !on_the_host();
            int here = 0;
#pragma omp target map(tofrom : here)
            {
                here += !on_the_host();
#pragma omp parallel num_threads(2) reduction(+ : here)
                here += !on_the_host();
            }
            wrong += here;
#pragma omp task shared(wrong)
            {
#pragma omp critical
                wrong += !on_the_host();
            }
#pragma omp taskwait   /* `wrong` is this thread's, which adds it to the others' before the barrier */
        }
        EQUAL(wrong, 0);
    }
    int wrong = 0;
#pragma omp teams num_teams(2) reduction(+ : wrong)
    wrong += !on_the_host();
    EQUAL(wrong, 0);
}

/* default-device-var belongs to the task: what a task sets, its children inherit, and other tasks
 * do not see. */
static void default_device(void) {
    omp_set_default_device(2);
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
        {
            wrong += omp_get_default_device() != 2;
            omp_set_default_device(3 + omp_get_thread_num());
            const int mine = omp_get_default_device();
            wrong += mine != 3 + omp_get_thread_num();
#pragma omp task firstprivate(mine) shared(wrong)
            {
                const int other = omp_get_default_device() != mine;
                omp_set_default_device(1);
#pragma omp atomic
                wrong += other;
            }
#pragma omp taskwait
            wrong += omp_get_default_device() != mine;
        }
        EQUAL(wrong, 0);
        EQUAL(omp_get_default_device(), 2);
    }
    omp_set_default_device(0);
}

/* Memory for a device is host memory. All threads may use it at once, and any thread may free
 * it. */
static void memory(void) {
    const int host = omp_get_initial_device();
    EACH_SIZE(size) {
        char* blocks[8] = {NULL};
#pragma omp parallel num_threads(size) shared(blocks)
        {
            const int me = omp_get_thread_num();
            char* const block = omp_target_alloc(1000 + (size_t)me, host);
            memset(block, me, 1000 + (size_t)me);
            blocks[me] = block;
#pragma omp barrier
            const int next = (me + 1) % omp_get_num_threads();
            CHECK(blocks[next][999] == next);
#pragma omp barrier
            omp_target_free(blocks[next], host);
        }
    }
    int* const block = omp_target_alloc(sizeof *block, host);
    CHECK((uintptr_t)block % sizeof(double) == 0);
    CHECK(omp_target_is_present(block, host));
    CHECK(omp_target_is_present(&host, host));
#pragma omp target is_device_ptr(block)
    *block = 5;
    EQUAL(*block, 5);
    omp_target_free(block, host);
    CHECK(omp_target_alloc(100, 7) == NULL);
    CHECK(!omp_target_is_present(&host, 7));
}

/* Any number of bytes from one offset to another, zero included. */
static void copies(void) {
    const int host = omp_get_initial_device();
    char from[64], to[64];
    for (int i = 0; i < 64; ++i) from[i] = (char)i;
    for (size_t bytes = 0; bytes <= 32; bytes += 8) {
        for (size_t offset = 0; offset <= 32; offset += 11) {
            memset(to, -1, sizeof to);
            EQUAL(omp_target_memcpy(to, from, bytes, offset, 32 - offset / 2, host, host), 0);
            int wrong = 0;
            for (size_t i = 0; i < 64; ++i) {
                const int copied = i >= offset && i < offset + bytes;
                wrong += to[i] != (copied ? (char)(32 - offset / 2 + i - offset) : -1);
            }
            EQUAL(wrong, 0);
        }
    }
    EQUAL(omp_target_memcpy(to, from, 1, 0, 0, 7, host), EINVAL);
    EQUAL(omp_target_memcpy(to, from, 1, 0, 0, host, 7), EINVAL);
}

static int boxed_from[4][5][6], boxed_to[5][4][7];

/* What lies at a place after a box of 2 by 3 by 4, or of its last dimensions alone, has been copied
 * there; -1: nothing. */
static int boxed(int dimensions, int i, int k, int j) {
    if (j < 2 || j >= 6) return -1;
    if (dimensions == 1) return i == 0 && k == 0 ? boxed_from[0][0][j - 1] : -1;
    if (k >= 3) return -1;
    if (dimensions == 2) return i == 0 ? boxed_from[0][k + 1][j - 1] : -1;
    return i >= 1 && i < 3 ? boxed_from[i + 1][k + 1][j - 1] : -1;
}

/* Boxes of one to three dimensions out of larger ones, each at its own offsets. */
static void boxes(void) {
    const int host = omp_get_initial_device();
    const size_t volume[3] = {2, 3, 4}, to_at[3] = {1, 0, 2}, from_at[3] = {2, 1, 1};
    const size_t to_size[3] = {5, 4, 7}, from_size[3] = {4, 5, 6};
    for (int i = 0; i < 120; ++i) (&boxed_from[0][0][0])[i] = i;
    for (int dimensions = 1; dimensions <= 3; ++dimensions) {
        const int skip = 3 - dimensions;
        memset(boxed_to, -1, sizeof boxed_to);
        EQUAL(omp_target_memcpy_rect(boxed_to, boxed_from, sizeof(int), dimensions, volume + skip, to_at + skip,
                                     from_at + skip, to_size + skip, from_size + skip, host, host),
              0);
        int wrong = 0;
        for (int i = 0; i < 5; ++i)
            for (int k = 0; k < 4; ++k)
                for (int j = 0; j < 7; ++j) wrong += boxed_to[i][k][j] != boxed(dimensions, i, k, j);
        EQUAL(wrong, 0);
    }
}

/* At least three dimensions are supported, and an empty box is copied, but none from or to a device
 * that does not exist. */
static void box_limits(void) {
    const int host = omp_get_initial_device();
    const size_t none[1] = {0}, one[1] = {1};
    int to = 1, from = 2;
    CHECK(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, host, host) >= 3);
    EQUAL(omp_target_memcpy_rect(&to, &from, sizeof to, 1, none, none, none, one, one, host, host), 0);
    EQUAL(omp_target_memcpy_rect(&to, &from, sizeof to, 1, one, none, none, one, one, 7, host), EINVAL);
    EQUAL(omp_target_memcpy_rect(&to, &from, sizeof to, 1, one, none, none, one, one, host, 7), EINVAL);
    EQUAL(to, 1);
    EQUAL(omp_target_memcpy_rect(&to, &from, sizeof to, 1, one, none, none, one, one, host, host), 0);
    EQUAL(to, 2);
}

/* No host pointer can be associated with another one; all memory stays present. */
static void associations(void) {
    int here = 1, there = 2;
    EQUAL(omp_target_associate_ptr(&here, &there, sizeof here, 0, omp_get_initial_device()), EINVAL);
    EQUAL(omp_target_disassociate_ptr(&here, omp_get_initial_device()), EINVAL);
    EQUAL(omp_target_associate_ptr(&here, &there, sizeof here, 0, 7), EINVAL);
    CHECK(omp_target_is_present(&here, omp_get_initial_device()));
}

/* A region for a device that a clause names and that does not exist runs on the host. */
static void missing(void) {
    int value = 1, level = -1;
#pragma omp target device(7) map(tofrom : value, level)
    {
        value = 2;
        level = omp_get_level();
    }
#pragma omp target data device(7) map(value)
    value++;
#pragma omp target update device(7) to(value)
#pragma omp target enter data device(7) map(to : value)
#pragma omp target exit data device(7) map(from : value)
    EQUAL(value, 3);
    EQUAL(level, 0);
    omp_set_default_device(7);
#pragma omp target map(tofrom : value)
    value++;
    EQUAL(value, 4);
    omp_set_default_device(0);
    omp_set_default_device(-4);
    CHECK(omp_get_default_device() == 0);
}

int main(void) {
    questions();
    default_device();
    memory();
    copies();
    boxes();
    box_limits();
    associations();
    missing();
    return verdict();
}
