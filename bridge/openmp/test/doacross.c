/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops whose iterations wait for others (ordered with depend). libgomp 12 spins there, and takes
 * minutes with more threads than CPUs: only Weft is tested. */
#include <string.h>

#include "check.h"

static void doacross(void) {
    EACH_SIZE(size) {
        static int grid[40][30];
        memset(grid, 0, sizeof grid);
#pragma omp parallel for num_threads(size) ordered(2) schedule(dynamic)
        for (int i = 0; i < 40; ++i)
            for (int j = 0; j < 30; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
                const int above = i > 0 ? grid[i - 1][j] : 0, left = j > 0 ? grid[i][j - 1] : 0;
                grid[i][j] = (above > left ? above : left) + 1;
#pragma omp ordered depend(source)
            }
        int right = 0;
        for (int i = 0; i < 40; ++i)
            for (int j = 0; j < 30; ++j) right += grid[i][j] == i + j + 1;
        EQUAL(right, 1200);

        long chain[100];
#pragma omp parallel for num_threads(size) ordered(1) schedule(static, 1)
        for (long i = 0; i < 100; ++i) {
#pragma omp ordered depend(sink : i - 2)
            chain[i] = i < 2 ? 1 : chain[i - 2] + 1;
#pragma omp ordered depend(source)
        }
        EQUAL(chain[99], 50);

        unsigned long long links[60];
#pragma omp parallel for num_threads(size) ordered(1) schedule(guided)
        for (unsigned long long i = 0; i < 60; ++i) {
#pragma omp ordered depend(sink : i - 1)
            links[i] = i == 0 ? 1 : links[i - 1] * 3;
#pragma omp ordered depend(source)
        }
        unsigned long long expected = 1;
        for (int i = 1; i < 60; ++i) expected *= 3;
        CHECK(links[59] == expected);
    }
}

int main(void) {
    doacross();
    return verdict();
}
