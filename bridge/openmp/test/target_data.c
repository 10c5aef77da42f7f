/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The data of target regions that the host runs: after every kind of mapping the region works in
 * the program's own memory, and the directives that only move data change nothing. */
#include <stdint.h>
#include <string.h>

#include "check.h"

struct item {
    int number, *pointer, cells[4];
    struct {
        double real;
    } within;
};

/* ---- map ---- */

/* Each map type, with and without modifiers. The region only reads what comes in, and only writes
 * what goes out. */
static void map_types(void) {
    int both = 1, in = 2, out = 3, room __attribute__((unused)) = 4, by_default = 5;
    int always_both = 6, always_in = 7, always_out = 8, closely = 9;
#pragma omp target map(tofrom : both) map(to : in) map(from : out) map(alloc : room) map(by_default) \
    map(always, tofrom : always_both) map(always, to : always_in) map(always from : always_out) \
    map(close, tofrom : closely)
    {
        both += in;
        out = 30;
        room = 40;
        by_default += 50;
        always_both += always_in;
        always_out = 80;
        closely++;
    }
    EQUAL(both, 3);
    EQUAL(out, 30);
    EQUAL(by_default, 55);
    EQUAL(always_both, 13);
    EQUAL(always_out, 80);
    EQUAL(closely, 10);
    EQUAL(in, 2);
}

/* Sections of arrays, of pointers, of members, and of two dimensions; addresses within the region
 * are those of the program. */
static void sections(int low, int count) {
    int cells[20] = {0}, *pointer = cells + 10, table[4][5] = {{0}}, variable[count];
    struct item item = {.number = 1, .pointer = cells, .cells = {1, 2, 3, 4}, .within = {0.5}};
    const int *seen = NULL, *const where = cells + 4;
    memset(variable, 0, sizeof variable);
#pragma omp target map(tofrom : cells[low : count], pointer[-2 : 3], table[1 : 2][0 : 5], variable[0 : count]) \
    map(from : seen)
    {
        for (int i = low; i < low + count; ++i) cells[i] += i;
        pointer[-1] = 100;
        table[2][4] = 7;
        variable[count - 1] = 5;
        seen = &cells[4];
    }
    CHECK(cells[low] == low && cells[low + count - 1] == low + count - 1);
    EQUAL(cells[9], 100);
    EQUAL(table[2][4], 7);
    EQUAL(variable[count - 1], 5);
    CHECK(seen == where);
#pragma omp target map(tofrom : item.number, item.cells[1 : 2], item.within) map(tofrom : item.pointer[0 : 2])
    {
        item.number++;
        item.cells[2] = 30;
        item.pointer[1] = 11;
        item.within.real *= 2;
    }
    EQUAL(item.number, 2);
    EQUAL(item.cells[2], 30);
    EQUAL(cells[1], 11);
    EQUAL(item.within.real, 1);
}

/* A pointer that no clause names keeps its target; a section of length zero is empty. */
static void pointers(void) {
    int cells[5] = {1, 2, 3, 4, 5}, *pointer = cells, *null = NULL, was_null = 0;
    struct item item = {.pointer = cells + 1};
#pragma omp target map(tofrom : was_null)
    {
        pointer[2] = 30;
        was_null = null == NULL;
    }
    EQUAL(cells[2], 30);
    CHECK(was_null);
#pragma omp target map(pointer[0 : 0]) map(tofrom : item)
    {
        pointer[3] = 40;
        item.pointer[0] = 20;
        item.pointer++;
    }
    EQUAL(cells[3], 40);
    EQUAL(cells[1], 20);
    CHECK(item.pointer == cells + 2);
    int** table[2] = {&pointer, &null};
#pragma omp target map(to : table)
    {
        (*table[0])[4] = 50;
        *table[1] = *table[0];
    }
    EQUAL(cells[4], 50);
    CHECK(null == cells);
}

/* ---- target data, enter data, exit data, update ---- */

/* The thread that meets target data runs its region, in its team; clauses are evaluated before
 * it. */
static void data_regions(void) {
    EACH_SIZE(size) {
        int wrong = 0, total = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong, total)
        {
            const int number = omp_get_thread_num(), threads = omp_get_num_threads();
            int value = number, cells[3] = {1, 2, 3};
#pragma omp target data map(tofrom : value) map(to : cells) if (number % 2 == 0)
            {
                wrong += omp_get_thread_num() != number || omp_get_num_threads() != threads || omp_get_level() != 1;
                value++;
#pragma omp target data map(alloc : cells[1 : 1])
                {
#pragma omp target map(tofrom : value) map(from : cells[1 : 1])
                    {
                        value += 10;
                        cells[1] = value;
                    }
                }
#pragma omp target update from(value, cells[0 : 3])
                wrong += value != number + 11 || cells[1] != value;
            }
            total += value - number;
        }
        EQUAL(wrong, 0);
        EQUAL(total % 11, 0);
    }
}

/* Data that was entered stays the program's through updates of either kind, and after it has been
 * removed in any way. */
static void unstructured(void) {
    int* const heap = malloc(100 * sizeof *heap);
    for (int i = 0; i < 100; ++i) heap[i] = i;
    int value = 1;
#pragma omp target enter data map(to : heap[0 : 100]) map(alloc : value)
#pragma omp target enter data map(to : heap[50 : 10]) if (value == 0)
#pragma omp target
    for (int i = 0; i < 100; ++i) heap[i] *= 2;
#pragma omp target update to(heap[10 : 5]) from(heap[20 : 5], value)
    EQUAL(heap[99], 198);
    heap[0] = 7;
#pragma omp target update to(heap[0 : 1]) if (heap[0] == 7)
#pragma omp target map(tofrom : value)
    value = heap[0];
    EQUAL(value, 7);
#pragma omp target exit data map(from : heap[0 : 100]) map(delete : value)
#pragma omp target exit data map(release : heap[0 : 100])
    EQUAL(heap[50], 100);
    free(heap);
}

/* Addresses for devices are those of the program. */
static void addresses(void) {
    int cells[6] = {1, 2, 3, 4, 5, 6}, value = 1, *pointer = cells, *of_value = NULL, *of_cells = NULL;
#pragma omp target data map(tofrom : cells, value) use_device_addr(value, cells)
    {
        of_value = &value;
        of_cells = cells;
    }
    CHECK(of_value == &value && of_cells == cells);
#pragma omp target data map(tofrom : pointer[0 : 6]) use_device_ptr(pointer)
    {
        of_cells = pointer;
#pragma omp target is_device_ptr(pointer)
        pointer[5] = 60;
    }
    CHECK(of_cells == cells);
    EQUAL(cells[5], 60);
#pragma omp target data use_device_ptr(pointer)
    CHECK(pointer == cells);
    int* const block = omp_target_alloc(10 * sizeof *block, omp_get_default_device());
    for (int i = 0; i < 10; ++i) block[i] = i;
    int sum = 0;
#pragma omp target teams distribute parallel for num_teams(2) is_device_ptr(block) map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < 10; ++i) sum += block[i];
    EQUAL(sum, 45);
#pragma omp target has_device_addr(value, cells)
    {
        value = 5;
        cells[0] = 10;
    }
    EQUAL(value + cells[0], 15);
    omp_target_free(block, omp_get_default_device());
}

/* ---- what is not mapped by a clause ---- */

/* defaultmap sets the mapping of each category. */
static void defaults(void) {
    int scalar = 1, cells[2] = {1, 2}, *pointer = cells;
    struct item item = {.number = 1};
#pragma omp target defaultmap(tofrom : scalar)
    scalar = 10;
    EQUAL(scalar, 10);
#pragma omp target defaultmap(to : scalar) defaultmap(tofrom : aggregate)
    cells[0] = item.number = scalar;
    EQUAL(cells[0] + item.number, 20);
#pragma omp target defaultmap(from : aggregate) defaultmap(firstprivate : scalar)
    {
        cells[1] = 5;
        cells[0] = scalar++;
    }
    EQUAL(cells[1] + cells[0], 15);
    EQUAL(scalar, 10);
#pragma omp target defaultmap(none : scalar) defaultmap(default : pointer) defaultmap(tofrom : aggregate) \
    map(tofrom : scalar)
    scalar = pointer[1] = 6;
    EQUAL(scalar + cells[1], 12);
#pragma omp target defaultmap(tofrom)
    {
        scalar++;
        cells[0]++;
        item.number++;
    }
    EQUAL(scalar + cells[0] + item.number, 7 + 11 + 11);
#pragma omp target private(scalar) firstprivate(pointer)
    {
        scalar = 99;
        *pointer = scalar;
    }
    EQUAL(scalar, 7);
    EQUAL(cells[0], 99);
}

/* Variables and functions that are declared for targets: there is one of each, in every kind of
 * region. */
#pragma omp declare target
static int declared = 1, table_of_target[3] = {1, 2, 3};
static int doubled(int value) { return value * 2 + (declared - declared); }
#pragma omp end declare target
static int listed = 4, linked[2] = {5, 6};
static int squared(int value) { return value * value; }
#pragma omp declare target to(listed, squared) link(linked)
static int of_host(void) { return 12; }
#pragma omp declare target to(of_host) device_type(any)

static void declared_for_targets(void) {
    int result = 0;
#pragma omp target map(from : result)
    {
        declared += doubled(listed);
        listed = squared(table_of_target[2]);
        result = of_host();
    }
    EQUAL(declared, 9);
    EQUAL(listed, 9);
    EQUAL(result, 12);
#pragma omp target map(tofrom : linked)
    linked[1] = linked[0] + declared;
    EQUAL(linked[1], 14);
    EACH_SIZE(size) {
        declared = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp target
            {
#pragma omp atomic
                declared++;
            }
        }
        CHECK(declared >= 1 && declared <= size);
#pragma omp target update from(declared)
    }
}

/* ---- reductions of tasks in which target regions take part ---- */

static void reductions(void) {
    EACH_SIZE(size) {
        long sum = 0, parts[3] = {0, 0, 0};
        int greatest = -1;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum, parts) task_reduction(max : greatest)
        for (int i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : sum)
            sum += i;
#pragma omp target in_reduction(+ : sum, parts) in_reduction(max : greatest)
            {
                sum += i;
                parts[i % 3]++;
                if (i > greatest) greatest = i;
            }
#pragma omp task in_reduction(+ : parts)
            {
#pragma omp target in_reduction(+ : parts) map(tofrom : i)
                parts[0] += 10;
            }
        }
        EQUAL(sum, 380);
        EQUAL(greatest, 19);
        EQUAL(parts[0], 207);
        EQUAL(parts[1] + parts[2], 13);
    }
}

int main(void) {
    map_types();
    sections(3, 5);
    sections(4, 1);
    pointers();
    data_regions();
    unstructured();
    addresses();
    defaults();
    declared_for_targets();
    reductions();
    return verdict();
}
