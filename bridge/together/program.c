/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program on Weft: units with their own data, and values under keys of both kinds. */
#include <weft/weft.h>

#include "part.h"

enum { units = 20 };

static weft_key *passing, *lasting;
static int data[units], known[units], released, ended;

static void release(void *of) {
    MUST((int *)of >= data && (int *)of < data + units);
    __atomic_fetch_add(&released, 1, __ATOMIC_RELAXED);
}
static void forget(void *of) {
    MUST((int *)of >= known && (int *)of < known + units);
    __atomic_fetch_add(&released, 1, __ATOMIC_RELAXED);
}
static void destroy(void *value) {
    MUST(value != NULL);
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}

/* Called by the spawner, and by the unit itself, which may run on another stream by then. */
static void give(weft_unit *unit, size_t i) {
    const weft_status status = weft_unit_local_set(unit, lasting, &known[i]);
    MUST(status == WEFT_OK || status == WEFT_WRONG_STATE);
}

static void body(void *number) {
    const size_t i = (size_t)((int *)number - data);
    give(weft_unit_self(), i);
    MUST(weft_unit_self_data() == number && weft_local_get(lasting) == &known[i]);
    MUST(weft_local_set(passing, number) == WEFT_OK);
    weft_unit_yield();
    MUST(weft_unit_self_data() == number && weft_local_get(lasting) == &known[i] && weft_local_get(passing) == number);
}

static void begin(void) {
    weft_settings settings = {.size = sizeof settings, .streams = 1};
    MUST(weft_init(&settings) == WEFT_OK);
    weft_key_options how = {.size = sizeof how, .lasting = true, .release = forget};
    MUST(weft_key_create_with(&how, &lasting) == WEFT_OK);
    MUST(weft_key_create(destroy, &passing) == WEFT_OK);
}

static void work(void) {
    weft_unit *made[units];
    weft_unit_options how = {.size = sizeof how, .release = release};
    released = ended = 0;
    for (int i = 0; i < units; ++i) {
        how.data = &data[i];
        MUST(weft_ult_spawn(NULL, body, &data[i], &how, &made[i]) == WEFT_OK);
        give(made[i], (size_t)i);
    }
    MUST(weft_unit_join_free_many(made, units) == WEFT_OK);
    MUST(ended == units && released == 2 * units);
}

static void end(void) {
    MUST(weft_key_free(lasting) == WEFT_OK && weft_key_free(passing) == WEFT_OK);
    const weft_status status = weft_finalize();
    MUST(status == WEFT_OK || status == WEFT_BUSY); /* OpenMP threads are units that wait for their next region */
}

const struct part PART = {begin, work, end};
