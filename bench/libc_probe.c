/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Started by init.cpp in a fresh process: the baseline of init_probe.c, a program with nothing but
 * libc, and the cost of a bare OS thread. It is built a second time with the C++ library, of which
 * the loader makes more than a megabyte resident before any call. */
#include <pthread.h>

#include "probe.h"

static void *leave(void *nothing) { return nothing; }

int main(int argc, char **argv) {
    const char *libraries = argc > 1 ? argv[1] : "libc";
    char name[64];
    struct probe_memory memory = probe_memory();
    for (int i = 0; i < 4; ++i) {
        pthread_t thread;
        double start = probe_now_ns();
        if (pthread_create(&thread, NULL, leave, NULL) != 0) return 1;
        probe_print("init/further stream:pthread_create", probe_now_ns() - start, "ns");
        pthread_join(thread, NULL);
    }
    snprintf(name, sizeof name, "init/resident:%s", libraries);
    probe_print(name, memory.resident, "bytes");
    snprintf(name, sizeof name, "init/anonymous:%s", libraries);
    probe_print(name, memory.anonymous, "bytes");
    return 0;
}
