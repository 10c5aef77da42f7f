/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* OMP_TARGET_OFFLOAD: what each directive and device routine does, for a device that exists and for
   one that does not. Each case is a process of its own: this program, called with the case's name
   and a device. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int cell = 1, other = 2;

/* ---- the cases: what is done for a device ---- */

static void plain(int device) {
    (void)device; /* default-device-var names the device */
#pragma omp target map(tofrom : cell)
    cell = 5;
    EQUAL(cell, 5);
}
static void region(int device) {
#pragma omp target device(device) map(tofrom : cell)
    cell = 5;
    EQUAL(cell, 5);
}
static void region_nowait(int device) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp target device(device) nowait map(tofrom : cell)
        cell = 5;
    }
    EQUAL(cell, 5);
}
static void region_if_false(int device) {
#pragma omp target device(device) if (cell == 0) map(tofrom : cell)
    cell = 5;
    EQUAL(cell, 5);
}
static void region_if_true(int device) {
#pragma omp target device(device) if (cell == 1) map(tofrom : cell)
    cell = 5;
    EQUAL(cell, 5);
}
static void combined(int device) {
#pragma omp target teams distribute parallel for device(device) num_teams(2) reduction(+ : cell) map(tofrom : cell)
    for (int i = 0; i < 10; ++i) cell += i;
    EQUAL(cell, 46);
}
static void data(int device) {
#pragma omp target data device(device) map(cell)
    cell = 5;
    EQUAL(cell, 5);
}
static void data_if_false(int device) {
#pragma omp target data device(device) if (cell == 0) map(cell)
    cell = 5;
    EQUAL(cell, 5);
}
static void update(int device) {
#pragma omp target update device(device) to(cell)
    EQUAL(cell, 1);
}
static void update_depend(int device) {
#pragma omp target update device(device) to(cell) depend(out : cell)
    EQUAL(cell, 1);
}
static void enter(int device) {
#pragma omp target enter data device(device) map(to : cell)
    EQUAL(cell, 1);
}
static void leave(int device) {
#pragma omp target exit data device(device) map(from : cell)
    EQUAL(cell, 1);
}
static void allocate(int device) {
    void* const memory = omp_target_alloc(100, device);
    EQUAL(memory != NULL, device == 0);
    omp_target_free(memory, device);
}
static void free_nothing(int device) { omp_target_free(NULL, device); }
static void free_something(int device) {
    void* const memory = omp_target_alloc(100, omp_get_initial_device());
    omp_target_free(memory, device);
    if (device != 0) omp_target_free(memory, omp_get_initial_device());
}
static void present(int device) { EQUAL(omp_target_is_present(&cell, device) != 0, device == 0); }
static void null_present(int device) { CHECK(omp_target_is_present(NULL, device)); }
static void copy_to(int device) {
    EQUAL(omp_target_memcpy(&cell, &other, sizeof cell, 0, 0, device, 0), device == 0 ? 0 : EINVAL);
    EQUAL(cell, device == 0 ? 2 : 1);
}
static void copy_from(int device) {
    EQUAL(omp_target_memcpy(&cell, &other, sizeof cell, 0, 0, 0, device), device == 0 ? 0 : EINVAL);
    EQUAL(cell, device == 0 ? 2 : 1);
}
static void copy_box(int device) {
    const size_t one[1] = {1}, none[1] = {0};
    const int expected = device == 0 ? 0 : EINVAL;
    EQUAL(omp_target_memcpy_rect(&cell, &other, sizeof cell, 1, one, none, none, one, one, device, 0), expected);
    EQUAL(cell, device == 0 ? 2 : 1);
}
static void associate(int device) { EQUAL(omp_target_associate_ptr(&cell, &other, sizeof cell, 0, device), EINVAL); }
static void dissociate(int device) { EQUAL(omp_target_disassociate_ptr(&cell, device), EINVAL); }
static void pause_one(int device) { EQUAL(omp_pause_resource(omp_pause_soft, device), device == 0 ? 0 : -1); }
static void questions(int device) {
    EQUAL(omp_get_num_devices(), 0);
    EQUAL(omp_get_initial_device(), 0);
    EQUAL(omp_get_device_num(), 0);
    CHECK(omp_is_initial_device());
    omp_set_default_device(device);
    EQUAL(omp_get_default_device(), device);
}

/* ---- which of them end where the device is missing ---- */

static const struct {
    const char* name;
    void (*run)(int device);
    int needs_device;
} cases[] = {{"region", region, 1},
             {"region_nowait", region_nowait, 1},
             {"region_if_false", region_if_false, 0},
             {"region_if_true", region_if_true, 1},
             {"combined", combined, 1},
             {"data", data, 1},
             {"data_if_false", data_if_false, 0},
             {"update", update, 1},
             {"update_depend", update_depend, 1},
             {"enter", enter, 1},
             {"leave", leave, 1},
             {"allocate", allocate, 1},
             {"free_nothing", free_nothing, 0},
             {"free_something", free_something, 1},
             {"present", present, 1},
             {"null_present", null_present, 0},
             {"copy_to", copy_to, 1},
             {"copy_from", copy_from, 1},
             {"copy_box", copy_box, 1},
             {"associate", associate, 1},
             {"dissociate", dissociate, 1},
             {"pause_one", pause_one, 0},
             {"questions", questions, 0},
             {"plain", plain, 0}};
enum { count = sizeof cases / sizeof *cases };

static const char* self;

/* Runs a case in a process of its own; `said` gets its standard error. Returns its status. */
static int outcome(const char* name, int device, char* said, size_t bytes) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", device);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execl(self, self, name, number, (char*)NULL);
        _exit(99);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (length + 1 < bytes && (got = read(ends[0], said + length, bytes - 1 - length)) > 0) length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(const char* name, int device, int ends) {
    static const char words[] = "\nlibgomp: OMP_TARGET_OFFLOAD is set to MANDATORY, but device not found\n";
    char said[4096];
    const int status = outcome(name, device, said, sizeof said);
    if (status == ends && (strcmp(said, ends ? words : "") == 0)) return;
    fprintf(stderr, "%s for device %d ended with %d, saying '%s'\n", name, device, status, said);
    CHECK(0);
}

/* A case ends because of a missing device exactly where that is mandatory; with device 0, the host,
 * it goes on. */
static void each_case(const char* offload, int is_mandatory) {
    if (offload == NULL) unsetenv("OMP_TARGET_OFFLOAD");
    else setenv("OMP_TARGET_OFFLOAD", offload, 1);
    for (int i = 0; i < count; ++i) {
        expect(cases[i].name, 0, 0);
        expect(cases[i].name, 1, is_mandatory && cases[i].needs_device);
    }
}

/* default-device-var names the device where no clause does. */
static void by_default(void) {
    setenv("OMP_TARGET_OFFLOAD", "mandatory", 1);
    for (int device = 0; device <= 2; ++device) {
        const char number[2] = {(char)('0' + device), '\0'};
        setenv("OMP_DEFAULT_DEVICE", number, 1);
        expect("plain", 0, device != 0);
        expect("region", 0, 0);
        expect("region", 1, 1);
        expect("region_if_false", 1, 0);
        expect("allocate", 0, 0);
        expect("set_to_host", 0, 0);
        expect("set_to_missing", 0, 1);
        expect("set_to_missing_for_data", 0, 1);
        expect("set_to_missing_if_false", 0, 0);
        expect("set_in_region", 0, device != 0);
    }
    unsetenv("OMP_DEFAULT_DEVICE");
}

/* The cases of `by_default` that set it themselves. */
static int setting(const char* name) {
    if (strcmp(name, "set_to_host") == 0) omp_set_default_device(omp_get_initial_device());
    else if (strncmp(name, "set_to_missing", 14) == 0) omp_set_default_device(3);
    else if (strcmp(name, "set_in_region") != 0) return 0;
    if (strcmp(name, "set_in_region") == 0) {
        /* What a region sets ends with the region. */
#pragma omp target
        omp_set_default_device(7);
        plain(0);
    } else if (strcmp(name, "set_to_missing_for_data") == 0) {
#pragma omp target data map(cell)
        cell = 5;
    } else if (strcmp(name, "set_to_missing_if_false") == 0) {
#pragma omp target if (cell == 0) map(tofrom : cell)
        cell = 5;
    } else {
        plain(0);
    }
    return 1;
}

int main(int argc, char** argv) {
    self = argv[0];
    if (argc == 3) {
        if (setting(argv[1])) return verdict();
        for (int i = 0; i < count; ++i) {
            if (strcmp(cases[i].name, argv[1]) != 0) continue;
            cases[i].run(atoi(argv[2]));
            return verdict();
        }
        return 98;
    }
    each_case(NULL, 0);
    each_case("default", 0);
    each_case("disabled", 0);
    each_case("mandatory", 1);
    each_case("Mandatory", 1);
    by_default();
    return verdict();
}
