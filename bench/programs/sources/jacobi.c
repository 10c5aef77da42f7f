/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* OpenMP compiled by gcc: loops with a reduction, a schedule that hands out chunks, and tasks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { wide = 256 };
static double grid[wide][wide], next[wide][wide];

static double sweep(void) {
    double change = 0;
#pragma omp parallel for reduction(max : change)
    for (int i = 1; i < wide - 1; ++i) {
        for (int j = 1; j < wide - 1; ++j) {
            next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
            change = fmax(change, fabs(next[i][j] - grid[i][j]));
        }
    }
#pragma omp parallel for schedule(dynamic, 16)
    for (int i = 1; i < wide - 1; ++i) {
        for (int j = 1; j < wide - 1; ++j) grid[i][j] = next[i][j];
    }
    return change;
}

static long nodes(int depth, unsigned seed) {
    if (depth == 0) return 1;
    long left = 0;
    long right = 0;
#pragma omp task shared(left) if (depth > 6)
    left = nodes(depth - 1, seed * 1103515245u + 12345u);
    if (seed % 5 != 0) right = nodes(depth - 1, seed * 22695477u + 1u);
#pragma omp taskwait
    return left + right + 1;
}

int main(int count, char** arguments) {
    const int sweeps = count > 1 ? atoi(arguments[1]) : 1000;
    for (int i = 0; i < wide; ++i) grid[i][0] = grid[0][i] = i;
    double change = 0;
    for (int number = 0; number < sweeps; ++number) change = sweep();
    long found = 0;
#pragma omp parallel
#pragma omp single
    found = nodes(20, 7u);
    printf("%.17g %.17g %ld\n", change, grid[wide / 2][wide / 2], found);
    return 0;
}
