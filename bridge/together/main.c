/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs its arguments in order: +x begins the part x, x makes it work, -x ends it. Where parts are
 * shared libraries, the first word about a part opens it, and =x closes it. */
#include <dlfcn.h>
#include <string.h>

#include "part.h"

#ifndef OPENED
extern const struct part argobots, openmp, program, calls;
#endif

enum { parts = 4 };
static struct {
    const char *name;
    const struct part *is;
    void *opened;
} table[parts] = {{.name = "abt"}, {.name = "omp"}, {.name = "weft"}, {.name = "calls"}};

#ifdef OPENED
static void find(int i) {
    if (table[i].is != NULL) return;
    char path[4096];
    snprintf(path, sizeof path, "%s/libtogether_%s.so", OPENED, table[i].name);
    table[i].opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (table[i].opened == NULL) fprintf(stderr, "%s\n", dlerror());
    MUST(table[i].opened != NULL);
    table[i].is = dlsym(table[i].opened, "part");
    MUST(table[i].is != NULL);
}
static void forget(int i) {
    MUST(dlclose(table[i].opened) == 0);
    table[i].is = NULL;
}
#else
static void find(int i) {
    const struct part *const linked[parts] = {&argobots, &openmp, &program, &calls};
    table[i].is = linked[i];
}
static void forget(int i) { (void)i; }
#endif

static void step(char what, const char *name) {
    for (int i = 0; i < parts; ++i) {
        if (strcmp(table[i].name, name) != 0) continue;
        if (what == '=') return forget(i);
        find(i);
        if (what == '+') return table[i].is->begin();
        if (what == '-') return table[i].is->end();
        return table[i].is->work();
    }
    MUST(!"a part of that name");
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; ++i) {
        const char *const word = arguments[i];
        const int marked = strchr("+-=", word[0]) != NULL;
        step(marked ? word[0] : '*', word + marked);
    }
    return 0;
}
