/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where libgomp 12 differs from the specification (bind-var), or where the specification leaves a
   choice (pausing, and affinity formats that threads set at once). */
#include <string.h>
#include <unistd.h>

#include "check.h"

/* ---- bind-var ---- */

enum { depth = 4 };

static const struct {
    const char* variable;
    int levels[depth]; /* the value of bind-var at each level */
} cases[] = {
    {"close", {omp_proc_bind_close, omp_proc_bind_close, omp_proc_bind_close, omp_proc_bind_close}},
    {"true", {omp_proc_bind_true, omp_proc_bind_true, omp_proc_bind_true, omp_proc_bind_true}},
    {"spread,close", {omp_proc_bind_spread, omp_proc_bind_close, omp_proc_bind_close, omp_proc_bind_close}},
    {"primary,spread,close", {omp_proc_bind_primary, omp_proc_bind_spread, omp_proc_bind_close, omp_proc_bind_close}},
    {"false", {omp_proc_bind_false, omp_proc_bind_false, omp_proc_bind_false, omp_proc_bind_false}},
};
enum { case_count = sizeof cases / sizeof *cases };

static void is_of_level(int at) { EQUAL(omp_get_proc_bind(), cases[at].levels[omp_get_level()]); }

/* A clause holds for its region's threads, and does not change the variable, there or within; tasks
 * see that of their region. */
static void within(int at) {
    is_of_level(at);
    if (omp_get_level() + 1 == depth) return;
#pragma omp parallel num_threads(2) proc_bind(spread)
    {
        is_of_level(at);
#pragma omp task
        is_of_level(at);
    }
#pragma omp parallel num_threads(2) proc_bind(close)
#pragma omp masked
    within(at);
#pragma omp parallel num_threads(2)
#pragma omp masked
    within(at);
#pragma omp parallel num_threads(1) proc_bind(primary)
    is_of_level(at);
    is_of_level(at);
}

/* Where nothing is to be bound, clauses are ignored. */
static void unbound(void) {
    EQUAL(omp_get_num_places(), 0);
#pragma omp parallel num_threads(2) proc_bind(spread)
    EQUAL(omp_get_place_num(), -1);
}

/* ---- pausing ---- */

static int kept = 1;
#pragma omp threadprivate(kept)

/* Nothing is released: threads keep their variables. An unknown kind, or a device other than the
   host, is refused, as is everything within a region. */
static void pausing(void) {
#pragma omp parallel num_threads(3)
    kept = 10 + omp_get_thread_num();
    for (int kind = -1; kind <= 4; ++kind) {
        const int legal = kind == omp_pause_soft || kind == omp_pause_hard;
        EQUAL(omp_pause_resource((omp_pause_resource_t)kind, omp_get_initial_device()) == 0, legal);
        EQUAL(omp_pause_resource_all((omp_pause_resource_t)kind) == 0, legal);
    }
    CHECK(omp_pause_resource(omp_pause_soft, omp_get_num_devices() + 1) != 0);
#pragma omp parallel num_threads(3)
    {
        EQUAL(kept, 10 + omp_get_thread_num());
        CHECK(omp_pause_resource_all(omp_pause_soft) != 0);
        CHECK(omp_pause_resource(omp_pause_hard, omp_get_initial_device()) != 0);
    }
    omp_set_num_threads(5);
    CHECK(omp_pause_resource_all(omp_pause_hard) == 0);
    EQUAL(omp_get_max_threads(), 5);
}

/* ---- affinity formats ---- */

enum { text_bytes = 512 };

static int is_of_one(const char* text) {
    for (const char* at = text; *at != '\0'; ++at) {
        if (*at != *text) return 0;
    }
    return 1;
}

/* Threads that set and read the format at once see what one of them has set. */
static void set_at_once(int threads) {
    int mixed = 0;
#pragma omp parallel num_threads(threads) reduction(+ : mixed)
    {
        const int number = omp_get_thread_num();
        char format[text_bytes], seen[text_bytes];
        for (int i = 0; i < 5000; ++i) {
            const int length = 1 + (i * 37 + number * 11) % 300;
            memset(format, 'a' + number, (size_t)length);
            format[length] = '\0';
            omp_set_affinity_format(format);
            omp_capture_affinity(seen, sizeof seen, "");
            mixed += !is_of_one(seen);
            omp_get_affinity_format(seen, sizeof seen);
            mixed += !is_of_one(seen);
        }
    }
    EQUAL(mixed, 0);
}

int main(int count, char** arguments) {
    const int at = count > 1 ? atoi(arguments[1]) : -1;
    if (at >= 0) {
        if (strcmp(cases[at].variable, "false") == 0) unbound();
        within(at);
    } else {
        pausing();
        set_at_once(4);
    }
    if (verdict() != 0 || at + 1 == case_count) return verdict();
    char next[16];
    snprintf(next, sizeof next, "%d", at + 1);
    setenv("OMP_PROC_BIND", cases[at + 1].variable, 1);
    setenv("OMP_PLACES", "threads", 1);
    setenv("OMP_MAX_ACTIVE_LEVELS", "4", 1);
    execl("/proc/self/exe", arguments[0], next, NULL);
    perror("execl");
    return 1;
}
