/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Locks of OpenMP 2.5 (OMP_1.0), with which programs of that age are linked: the nested ones belong
 * to a thread, and are smaller. C and Fortran. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#include "check.h"

static void* old(const char* name) {
    void* const found = dlvsym(RTLD_DEFAULT, name, "OMP_1.0");
    if (found == NULL) {
        fprintf(stderr, "%s@OMP_1.0 is not there\n", name);
        exit(1);
    }
    return found;
}

#define OLD(result, name, argument) result (*const name)(argument*) = (result(*)(argument*))old("omp_" #name)

static void plain(void) {
    OLD(void, init_lock, uint32_t);
    OLD(void, set_lock, uint32_t);
    OLD(void, unset_lock, uint32_t);
    OLD(int, test_lock, uint32_t);
    OLD(void, destroy_lock, uint32_t);
    OLD(void, init_lock_, uint32_t);
    OLD(void, set_lock_, uint32_t);
    OLD(void, unset_lock_, uint32_t);
    OLD(int, test_lock_, uint32_t);
    OLD(void, destroy_lock_, uint32_t);
    EACH_SIZE(size) {
        uint32_t lock, fortran;
        init_lock(&lock);
        init_lock_(&fortran);
        int value = 0, other = 0;
#pragma omp parallel num_threads(size)
        for (int i = 0; i < 200; ++i) {
            set_lock(&lock);
            value++;
            unset_lock(&lock);
            if (i % 2 == 0) set_lock_(&fortran);
            else
                while (!test_lock_(&fortran)) {
                    set_lock(&lock);
                    unset_lock(&lock);
                }
            other++;
            unset_lock_(&fortran);
        }
        EQUAL(value, 200 * size);
        EQUAL(other, 200 * size);
        CHECK(test_lock(&lock));
        CHECK(!test_lock(&lock));
        unset_lock(&lock);
        destroy_lock(&lock);
        destroy_lock_(&fortran);
    }
}

struct nest {
    int owner, count;
};

static void nested(void) {
    OLD(void, init_nest_lock, struct nest);
    OLD(void, set_nest_lock, struct nest);
    OLD(void, unset_nest_lock, struct nest);
    OLD(int, test_nest_lock, struct nest);
    OLD(void, destroy_nest_lock, struct nest);
    OLD(void, init_nest_lock_, void*);
    OLD(void, set_nest_lock_, void*);
    OLD(void, unset_nest_lock_, void*);
    OLD(int, test_nest_lock_, void*);
    OLD(void, destroy_nest_lock_, void*);
    EACH_SIZE(size) {
        struct nest lock;
        void* fortran = NULL;
        init_nest_lock(&lock);
        init_nest_lock_(&fortran);
        int value = 0, depth = 0, other = 0, elsewhere = -1;
#pragma omp parallel num_threads(size) reduction(+ : depth)
        for (int i = 0; i < 200; ++i) {
            set_nest_lock(&lock);
            set_nest_lock(&lock);
            depth += test_nest_lock(&lock) == 3;
            value++;
            unset_nest_lock(&lock);
            unset_nest_lock(&lock);
            unset_nest_lock(&lock);
            set_nest_lock_(&fortran);
            depth += test_nest_lock_(&fortran) == 2;
            other++;
            unset_nest_lock_(&fortran);
            unset_nest_lock_(&fortran);
        }
        EQUAL(value, 200 * size);
        EQUAL(other, 200 * size);
        EQUAL(depth, 400 * size);
        /* Owned by another thread. */
        set_nest_lock(&lock);
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1) elsewhere = test_nest_lock(&lock);
        EQUAL(elsewhere, 0);
        unset_nest_lock(&lock);
        destroy_nest_lock(&lock);
        destroy_nest_lock_(&fortran);
    }
}

int main(void) {
    plain();
    nested();
    return verdict();
}
