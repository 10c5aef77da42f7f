/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by the two probes of init.cpp: the clock, the process's memory, a sample as a line of
 * JSON. */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline double probe_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct probe_memory {
    double resident;  /* bytes, pages of files included */
    double anonymous; /* bytes that belong to no file */
};

static inline double probe_field(const char *text, const char *field) {
    const char *line = strstr(text, field);
    return line ? strtod(line + strlen(field), NULL) * 1024 : 0;
}

/* Read without stdio: its buffers would count. */
static inline struct probe_memory probe_memory(void) {
    static char text[4096];
    struct probe_memory memory = {0, 0};
    int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (bytes > 0) {
        text[bytes] = 0;
        memory.resident = probe_field(text, "\nRss:");
        memory.anonymous = probe_field(text, "\nAnonymous:");
    }
    if (file >= 0) close(file);
    return memory;
}

static inline void probe_print(const char *name, double value, const char *unit) {
    printf("{\"name\": \"%s\", \"value\": %.1f, \"unit\": \"%s\"}\n", name, value, unit);
}

#endif
