/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A library with a weak reference to omp_in_parallel gets the answer that it would get without us.
 *
 *   weak TEAM LIBRARY EXPECTED     each is loaded for itself alone; EXPECTED is the answer in a
 *                                  region, where 0 and no answer are alike
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *function(const char *path, const char *name) {
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *const found = library == NULL ? NULL : dlsym(library, name);
    if (found == NULL) fprintf(stderr, "%s\n", dlerror());
    return found;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    int (*const most_in_region)(int, int (*)(void)) = (int (*)(int, int (*)(void)))function(argv[1], "most_in_region");
    int (*const ask)(void) = (int (*)(void))function(argv[2], "weak_answer");
    if (most_in_region == NULL || ask == NULL) return 2;
    const int outside = ask(), inside = most_in_region(3, ask);
    if (outside <= 0 && (inside > 0) == (atoi(argv[3]) > 0)) return 0;
    fprintf(stderr, "outside: %d, in a region: %d, and not %s\n", outside, inside, argv[3]);
    return 1;
}
