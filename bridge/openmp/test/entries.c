/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entry points that code of older compilers calls, or that gcc 12 calls in few cases: each is
 * called as the compiler would call it. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

typedef unsigned long long ull;

#define LOOP(name)                                                                                                     \
    extern bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long* first, long* last);        \
    extern bool GOMP_loop_##name##_next(long* first, long* last);                                                      \
    extern bool GOMP_loop_ull_##name##_start(bool up, ull start, ull end, ull step, ull chunk, ull* first, ull* last); \
    extern bool GOMP_loop_ull_##name##_next(ull* first, ull* last);
#define LOOP_BY_ICV(name)                                                                                   \
    extern bool GOMP_loop_##name##_start(long start, long end, long step, long* first, long* last);         \
    extern bool GOMP_loop_##name##_next(long* first, long* last);                                           \
    extern bool GOMP_loop_ull_##name##_start(bool up, ull start, ull end, ull step, ull* first, ull* last); \
    extern bool GOMP_loop_ull_##name##_next(ull* first, ull* last);
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)
LOOP(ordered_static)
LOOP(ordered_dynamic)
LOOP(ordered_guided)
LOOP_BY_ICV(runtime)
LOOP_BY_ICV(nonmonotonic_runtime)
LOOP_BY_ICV(maybe_nonmonotonic_runtime)
LOOP_BY_ICV(ordered_runtime)
extern bool GOMP_loop_start(long start, long end, long step, long schedule, long chunk, long* first, long* last,
                            uintptr_t* reductions, void** memory);
extern bool GOMP_loop_ordered_start(long start, long end, long step, long schedule, long chunk, long* first, long* last,
                                    uintptr_t* reductions, void** memory);
extern bool GOMP_loop_ull_start(bool up, ull start, ull end, ull step, long schedule, ull chunk, ull* first, ull* last,
                                uintptr_t* reductions, void** memory);
extern bool GOMP_loop_ull_ordered_start(bool up, ull start, ull end, ull step, long schedule, ull chunk, ull* first,
                                        ull* last, uintptr_t* reductions, void** memory);
extern void GOMP_loop_end(void);
extern void GOMP_loop_end_nowait(void);
extern bool GOMP_loop_end_cancel(void);
extern void GOMP_ordered_start(void);
extern void GOMP_ordered_end(void);
#define DOACROSS(name)                                                                                                \
    extern bool GOMP_loop_doacross_##name##_start(unsigned loops, long* counts, long chunk, long* first, long* last); \
    extern bool GOMP_loop_ull_doacross_##name##_start(unsigned loops, ull* counts, ull chunk, ull* first, ull* last);
DOACROSS(static)
DOACROSS(dynamic)
DOACROSS(guided)
extern bool GOMP_loop_doacross_runtime_start(unsigned loops, long* counts, long* first, long* last);
extern bool GOMP_loop_ull_doacross_runtime_start(unsigned loops, ull* counts, ull* first, ull* last);
extern bool GOMP_loop_doacross_start(unsigned loops, long* counts, long schedule, long chunk, long* first, long* last,
                                     uintptr_t* reductions, void** memory);
extern bool GOMP_loop_ull_doacross_start(unsigned loops, ull* counts, long schedule, ull chunk, ull* first, ull* last,
                                         uintptr_t* reductions, void** memory);
extern void GOMP_doacross_post(long* at);
extern void GOMP_doacross_wait(long first, ...);
extern void GOMP_doacross_ull_post(ull* at);
extern void GOMP_doacross_ull_wait(ull first, ...);
extern void GOMP_parallel_start(void (*body)(void*), void* data, unsigned threads);
extern void GOMP_parallel_end(void);
extern void GOMP_parallel_loop_static_start(void (*body)(void*), void* data, unsigned threads, long start, long end,
                                            long step, long chunk);
extern void GOMP_parallel_loop_dynamic_start(void (*body)(void*), void* data, unsigned threads, long start, long end,
                                             long step, long chunk);
extern void GOMP_parallel_loop_guided_start(void (*body)(void*), void* data, unsigned threads, long start, long end,
                                            long step, long chunk);
extern void GOMP_parallel_loop_runtime_start(void (*body)(void*), void* data, unsigned threads, long start, long end,
                                             long step);
extern void GOMP_parallel_loop_static(void (*body)(void*), void* data, unsigned threads, long start, long end,
                                      long step, long chunk, unsigned flags);
extern void GOMP_parallel_loop_dynamic(void (*body)(void*), void* data, unsigned threads, long start, long end,
                                       long step, long chunk, unsigned flags);
extern void GOMP_parallel_loop_guided(void (*body)(void*), void* data, unsigned threads, long start, long end,
                                      long step, long chunk, unsigned flags);
extern void GOMP_parallel_loop_runtime(void (*body)(void*), void* data, unsigned threads, long start, long end,
                                       long step, unsigned flags);
extern void GOMP_parallel_sections_start(void (*body)(void*), void* data, unsigned threads, unsigned count);
extern void GOMP_parallel_sections(void (*body)(void*), void* data, unsigned threads, unsigned count, unsigned flags);
extern unsigned GOMP_sections_start(unsigned count);
extern unsigned GOMP_sections2_start(unsigned count, uintptr_t* reductions, void** memory);
extern unsigned GOMP_sections_next(void);
extern void GOMP_sections_end(void);
extern bool GOMP_sections_end_cancel(void);
extern void GOMP_critical_start(void);
extern void GOMP_critical_end(void);
extern void GOMP_target(int device, void (*body)(void*), const void* unused, size_t count, void** addresses,
                        size_t* sizes, unsigned char* kinds);
extern void GOMP_target_data(int device, const void* unused, size_t count, void** addresses, size_t* sizes,
                             unsigned char* kinds);
extern void GOMP_target_end_data(void);
extern void GOMP_target_update(int device, const void* unused, size_t count, void** addresses, size_t* sizes,
                               unsigned char* kinds);
extern void GOMP_teams(unsigned count, unsigned thread_limit);

enum { count = 500 };
static const long monotonic = 0x80000000L;

static int done[count], bad;

static void mark(long i) { __atomic_add_fetch(&done[i], 1, __ATOMIC_RELAXED); }
static void all_done_once(const char* what, int times) {
    int right = 0;
    for (int i = 0; i < count; ++i) right += done[i] == times;
    if (right != count) fprintf(stderr, "%s: ", what);
    EQUAL(right, count);
    memset(done, 0, sizeof done);
}

/* ---- loops in a region: start, next and end of each name; then unsigned ones, downwards ---- */

#define IN_REGION(name, ordered, start_call, ull_start_call)                    \
    do {                                                                        \
        _Pragma("omp parallel num_threads(size)") {                             \
            long first, last;                                                   \
            if (start_call) do                                                  \
                    for (long i = first; i < last; i += 2) in_loop(i, ordered); \
                while (GOMP_loop_##name##_next(&first, &last));                 \
            GOMP_loop_end();                                                    \
            ull from, to;                                                       \
            if (ull_start_call) do                                              \
                    for (ull i = from; i > to; i -= 2) in_ull_loop(i, ordered); \
                while (GOMP_loop_ull_##name##_next(&from, &to));                \
            GOMP_loop_end_nowait();                                             \
        }                                                                       \
        all_done_once(#name, 1);                                                \
        expected_next = 0;                                                      \
    } while (0)
#define LONGS 0, count, 2
#define WITH_CHUNK(name, ordered, chunk)                                            \
    IN_REGION(name, ordered, GOMP_loop_##name##_start(LONGS, chunk, &first, &last), \
              GOMP_loop_ull_##name##_start(false, count + 1, 1, -2ULL, chunk, &from, &to))
#define BY_ICV(name, ordered)                                                \
    IN_REGION(name, ordered, GOMP_loop_##name##_start(LONGS, &first, &last), \
              GOMP_loop_ull_##name##_start(false, count + 1, 1, -2ULL, &from, &to))

static long expected_next;

static void in_order(long i) {
    GOMP_ordered_start();
    if (expected_next != i) __atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
    expected_next = i + 2 < count ? i + 2 : count + 1;
    GOMP_ordered_end();
}
static void in_loop(long i, bool ordered) {
    if (ordered) in_order(i);
    mark(i);
}
/* From count + 1 down to 3: the odd ones. */
static void in_ull_loop(ull i, bool ordered) {
    if (ordered) {
        GOMP_ordered_start();
        if (expected_next != (long)i) __atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
        expected_next = (long)i - 2;
        GOMP_ordered_end();
    }
    mark((long)i - 2);
}

static void loops(void) {
    EACH_SIZE(size) {
        WITH_CHUNK(static, false, 0);
        WITH_CHUNK(static, false, 3);
        WITH_CHUNK(dynamic, false, 3);
        WITH_CHUNK(guided, false, 3);
        WITH_CHUNK(nonmonotonic_dynamic, false, 5);
        WITH_CHUNK(nonmonotonic_guided, false, 5);
        WITH_CHUNK(ordered_static, true, 0);
        WITH_CHUNK(ordered_static, true, 4);
        WITH_CHUNK(ordered_dynamic, true, 2);
        WITH_CHUNK(ordered_guided, true, 2);
        BY_ICV(runtime, false);
        BY_ICV(nonmonotonic_runtime, false);
        BY_ICV(maybe_nonmonotonic_runtime, false);
        BY_ICV(ordered_runtime, true);
        EQUAL(bad, 0);
    }
}

/* The later form: the schedule is an argument that selects the entry for the next chunk, and there
 * may be memory that the threads share. */
#define BY_ARGUMENT(name, ordered_name, word)                                                                \
    do {                                                                                                     \
        int wrong = 0;                                                                                       \
        _Pragma("omp parallel num_threads(size) reduction(+ : wrong)") {                                     \
            long first, last;                                                                                \
            void* memory = (void*)(uintptr_t)64;                                                             \
            if (GOMP_loop_start(0, count, 1, word, 3, &first, &last, NULL, &memory)) do {                    \
                    for (long i = first; i < last; ++i) mark(i);                                             \
                    __atomic_add_fetch((long*)memory, last - first, __ATOMIC_RELAXED);                       \
                } while (GOMP_loop_##name##_next(&first, &last));                                            \
            GOMP_loop_end();                                                                                 \
            wrong += *(long*)memory != count;                                                                \
            _Pragma("omp barrier") ull from, to;                                                             \
            if (GOMP_loop_ull_start(true, 0, count, 1, word, 3, &from, &to, NULL, NULL)) do                  \
                    for (ull i = from; i < to; ++i) mark((long)i);                                           \
                while (GOMP_loop_ull_##name##_next(&from, &to));                                             \
            GOMP_loop_end();                                                                                 \
            if (GOMP_loop_ordered_start(0, count, 2, word, 3, &first, &last, NULL, NULL)) do                 \
                    for (long i = first; i < last; i += 2) in_loop(i, true);                                 \
                while (GOMP_loop_ordered_##ordered_name##_next(&first, &last));                              \
            GOMP_loop_end();                                                                                 \
            if (GOMP_loop_ull_ordered_start(false, count + 1, 1, -2ULL, word, 3, &from, &to, NULL, NULL)) do \
                    for (ull i = from; i > to; i -= 2) in_ull_loop(i, true);                                 \
                while (GOMP_loop_ull_ordered_##ordered_name##_next(&from, &to));                             \
            GOMP_loop_end();                                                                                 \
        }                                                                                                    \
        expected_next = 0;                                                                                   \
        EQUAL(wrong, 0);                                                                                     \
        EQUAL(bad, 0);                                                                                       \
        all_done_once("by argument: " #name, 3);                                                             \
    } while (0)

static void loops_by_argument(void) {
    EACH_SIZE(size) {
        BY_ARGUMENT(runtime, runtime, 0);
        BY_ARGUMENT(static, static, 1);
        BY_ARGUMENT(static, static, 1 | monotonic);
        BY_ARGUMENT(dynamic, dynamic, 2 | monotonic);
        BY_ARGUMENT(nonmonotonic_dynamic, dynamic, 2);
        BY_ARGUMENT(guided, guided, 3 | monotonic);
        BY_ARGUMENT(nonmonotonic_guided, guided, 3);
    }
}

/* ---- doacross: iteration i finds what i - 1 left. Two threads: a waiter may spin forever ---- */

static long chain[count];
static ull ull_chain[count];

static void link_to(long i) {
    if (i != 0) GOMP_doacross_wait(i - 1, 0L);
    chain[i] = i == 0 ? 1 : chain[i - 1] + 2;
    GOMP_doacross_post((long[]){i, 0});
}
static void ull_link_to(ull i) {
    if (i != 0) GOMP_doacross_ull_wait(i - 1, 0ULL);
    ull_chain[i] = i == 0 ? 1 : ull_chain[i - 1] + 2;
    GOMP_doacross_ull_post((ull[]){i, 0});
}

enum { links = 40 };

#define ACROSS(name, start_call, ull_start_call)                    \
    do {                                                            \
        memset(chain, 0, sizeof chain);                             \
        memset(ull_chain, 0, sizeof ull_chain);                     \
        _Pragma("omp parallel num_threads(2)") {                    \
            long counts[2] = {links, 1}, first, last;               \
            if (start_call) do                                      \
                    for (long i = first; i < last; ++i) link_to(i); \
                while (GOMP_loop_##name##_next(&first, &last));     \
            GOMP_loop_end();                                        \
            ull ull_counts[2] = {links, 1}, from, to;               \
            if (ull_start_call) do                                  \
                    for (ull i = from; i < to; ++i) ull_link_to(i); \
                while (GOMP_loop_ull_##name##_next(&from, &to));    \
            GOMP_loop_end();                                        \
        }                                                           \
        EQUAL(chain[links - 1], 1 + 2 * (links - 1));               \
        EQUAL(ull_chain[links - 1], 1 + 2 * (links - 1));           \
    } while (0)
#define ACROSS_WITH_CHUNK(name)                                                  \
    ACROSS(name, GOMP_loop_doacross_##name##_start(2, counts, 3, &first, &last), \
           GOMP_loop_ull_doacross_##name##_start(2, ull_counts, 3, &from, &to))

static void doacross(void) {
    ACROSS_WITH_CHUNK(static);
    ACROSS_WITH_CHUNK(dynamic);
    ACROSS_WITH_CHUNK(guided);
    ACROSS(runtime, GOMP_loop_doacross_runtime_start(2, counts, &first, &last),
           GOMP_loop_ull_doacross_runtime_start(2, ull_counts, &from, &to));
    ACROSS(static, GOMP_loop_doacross_start(2, counts, 1, 2, &first, &last, NULL, NULL),
           GOMP_loop_ull_doacross_start(2, ull_counts, 1, 2, &from, &to, NULL, NULL));
    ACROSS(dynamic, GOMP_loop_doacross_start(2, counts, 2, 2, &first, &last, NULL, NULL),
           GOMP_loop_ull_doacross_start(2, ull_counts, 2, 2, &from, &to, NULL, NULL));
    ACROSS(guided, GOMP_loop_doacross_start(2, counts, 3, 2, &first, &last, NULL, NULL),
           GOMP_loop_ull_doacross_start(2, ull_counts, 3, 2, &from, &to, NULL, NULL));
}

/* ---- regions as gcc up to 4.8 made them: the program calls the body between start and end ---- */

static int members, loop_size;

static void counted(void* data) {
    __atomic_add_fetch((int*)data, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&members, omp_get_thread_num() < omp_get_num_threads(), __ATOMIC_RELAXED);
}
#define LOOP_BODY(name)                                                 \
    static void name##_body(void* data) {                               \
        (void)data;                                                     \
        if (omp_get_num_threads() != loop_size) mark(0);                \
        for (long first, last; GOMP_loop_##name##_next(&first, &last);) \
            for (long i = first; i < last; ++i) mark(i);                \
        GOMP_loop_end_nowait();                                         \
    }
LOOP_BODY(static)
LOOP_BODY(dynamic)
LOOP_BODY(guided)
LOOP_BODY(runtime)
static void sections_body(void* data) {
    (void)data;
    for (unsigned section; (section = GOMP_sections_next()) != 0;) mark(section - 1);
    GOMP_sections_end();
}

#define OLD_REGION(name)                                                            \
    do {                                                                            \
        GOMP_parallel_loop_##name##_start(name##_body, NULL, size, 0, count, 1, 3); \
        name##_body(NULL);                                                          \
        GOMP_parallel_end();                                                        \
        GOMP_parallel_loop_##name(name##_body, NULL, size, 0, count, 1, 3, 0);      \
        all_done_once(#name, 2);                                                    \
    } while (0)

static void regions(void) {
    EACH_SIZE(size) {
        loop_size = size;
        int threads = 0;
        members = 0;
        GOMP_parallel_start(counted, &threads, size);
        EQUAL(omp_get_num_threads(), size);
        counted(&threads);
        GOMP_parallel_end();
        EQUAL(threads, size);
        EQUAL(members, size);
        EQUAL(omp_get_num_threads(), 1);
        OLD_REGION(static);
        OLD_REGION(dynamic);
        OLD_REGION(guided);
        GOMP_parallel_loop_runtime_start(runtime_body, NULL, size, 0, count, 1);
        runtime_body(NULL);
        GOMP_parallel_end();
        GOMP_parallel_loop_runtime(runtime_body, NULL, size, 0, count, 1, 0);
        all_done_once("runtime", 2);
        GOMP_parallel_sections_start(sections_body, NULL, size, count);
        sections_body(NULL);
        GOMP_parallel_end();
        GOMP_parallel_sections(sections_body, NULL, size, count, 0);
        all_done_once("sections", 2);
    }
}

static void sections(void) {
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
        {
            for (unsigned section = GOMP_sections_start(count); section != 0; section = GOMP_sections_next())
                mark(section - 1);
            GOMP_sections_end();
            void* memory = (void*)(uintptr_t)8;
            for (unsigned section = GOMP_sections2_start(count, NULL, &memory); section != 0;
                 section = GOMP_sections_next()) {
                mark(section - 1);
                __atomic_add_fetch((long*)memory, 1, __ATOMIC_RELAXED);
            }
            GOMP_sections_end();
            wrong += *(long*)memory != count;
#pragma omp barrier
            for (unsigned section = GOMP_sections_start(count); section != 0; section = GOMP_sections_next())
                mark(section - 1);
            wrong += GOMP_sections_end_cancel();
            long first, last;
            if (GOMP_loop_dynamic_start(0, count, 1, 7, &first, &last)) do
                    for (long i = first; i < last; ++i) mark(i);
                while (GOMP_loop_dynamic_next(&first, &last));
            wrong += GOMP_loop_end_cancel();
            GOMP_critical_start();
            ++members;
            GOMP_critical_end();
        }
        EQUAL(wrong, 0);
        all_done_once("sections", 4);
    }
}

/* ---- target regions as gcc 4.9 made them: on the host ---- */

static void add_one(void* raw) { ++*((int**)raw)[0]; }

static void targets(void) {
    int value = 1;
    void* addresses[1] = {&value};
    size_t sizes[1] = {sizeof value};
    unsigned char kinds[1] = {3};
    GOMP_target_data(-1, NULL, 1, addresses, sizes, kinds);
    GOMP_target(-1, add_one, NULL, 1, addresses, sizes, kinds);
    GOMP_target_update(-1, NULL, 1, addresses, sizes, kinds);
    GOMP_target_end_data();
    EQUAL(value, 2);
    GOMP_teams(4, 0);
    EQUAL(omp_get_team_num(), 0);
}

int main(void) {
    regions();
    loops();
    loops_by_argument();
    sections();
    doacross();
    targets();
    return verdict();
}
