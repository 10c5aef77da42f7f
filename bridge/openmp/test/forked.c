/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The child of a process that has had a region can have regions of its own. libgomp 12 hangs
 * there. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int count(int size) {
    int threads = 0;
#pragma omp parallel num_threads(size) reduction(+ : threads)
    threads++;
    return threads;
}

int main(void) {
    EQUAL(count(4), 4);
    for (int round = 0; round < 3; ++round) {
        const pid_t child = fork();
        if (child == 0) _exit(count(4) == 4 && count(8) == 8 ? 0 : 1);
        int status = -1;
        waitpid(child, &status, 0);
        EQUAL(status, 0);
        EQUAL(count(4), 4);
    }
    return verdict();
}
