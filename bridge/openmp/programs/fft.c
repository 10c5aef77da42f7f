/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* FFTW with OpenMP: plans of one to three dimensions, complex and real, made for `threads`,
 * compared with the same plans for one thread, and transformed back again. Prints a digest of what
 * the threads have computed: plans are estimated, not measured, so that each run has the same ones.
 */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static uint64_t digest = 0xcbf29ce484222325ULL;

static double distance(const double *a, const double *b, size_t n, double scale) {
    double most = 0;
    for (size_t i = 0; i < n; ++i) {
        const double d = fabs(a[i] * scale - b[i]);
        if (!(d <= most)) most = d;
    }
    return most;
}
static void take(const double *a, size_t n) {
    const unsigned char *bytes = (const unsigned char *)a;
    for (size_t i = 0; i < n * sizeof(double); ++i) digest = (digest ^ bytes[i]) * 0x100000001b3ULL;
}
static void check(const char *what, const int *n, int rank, double off, double allowed) {
    if (off <= allowed) return;
    ++failures;
    printf("%s of %d dimensions (%d ...): off by %g\n", what, rank, n[0], off);
}

static void transform(int rank, const int *n, int threads) {
    size_t size = 1;
    for (int i = 0; i < rank; ++i) size *= (size_t)n[i];
    double *in = fftw_malloc(size * 16), *one = fftw_malloc(size * 16), *many = fftw_malloc(size * 16),
           *back = fftw_malloc(size * 16);
    uint64_t state = size;
    for (size_t i = 0; i < 2 * size; ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        in[i] = (double)(state >> 11) / (double)(1ULL << 52) - 1;
    }
    const double allowed = 1e-14 * sqrt((double)size) * log2((double)size + 2);
    fftw_complex *cin = (fftw_complex *)in, *cone = (fftw_complex *)one, *cmany = (fftw_complex *)many,
                 *cback = (fftw_complex *)back;
    fftw_plan_with_nthreads(1);
    fftw_plan alone = fftw_plan_dft(rank, n, cin, cone, FFTW_FORWARD, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
    fftw_plan_with_nthreads(threads);
    fftw_plan together = fftw_plan_dft(rank, n, cin, cmany, FFTW_FORWARD, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
    fftw_plan inverse = fftw_plan_dft(rank, n, cmany, cback, FFTW_BACKWARD, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
    for (int round = 0; round < 3; ++round) {
        fftw_execute(alone);
        fftw_execute(together);
        fftw_execute(inverse);
        check("one thread and many", n, rank, distance(one, many, 2 * size, 1), allowed);
        check("there and back", n, rank, distance(back, in, 2 * size, 1.0 / (double)size), allowed);
        take(many, 2 * size);
    }
    fftw_destroy_plan(alone), fftw_destroy_plan(together), fftw_destroy_plan(inverse);

    /* Real transforms: half of the result is kept. */
    const size_t half = size / (size_t)n[rank - 1] * ((size_t)n[rank - 1] / 2 + 1);
    memset(many, 0, size * 16);
    fftw_plan_with_nthreads(threads);
    double *again = fftw_malloc(size * 8);
    fftw_complex *spectrum = fftw_malloc(half * 16);
    together = fftw_plan_dft_r2c(rank, n, in, spectrum, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
    inverse = fftw_plan_dft_c2r(rank, n, spectrum, again, FFTW_ESTIMATE);
    fftw_execute(together);
    take((double *)spectrum, 2 * half);
    fftw_execute(inverse); /* destroys the spectrum */
    check("real there and back", n, rank, distance(again, in, size, 1.0 / (double)size), allowed);
    fftw_destroy_plan(together), fftw_destroy_plan(inverse);
    fftw_free(again), fftw_free(spectrum);
    fftw_free(in), fftw_free(one), fftw_free(many), fftw_free(back);
}

int main(int argc, char **argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 4;
    if (!fftw_init_threads()) return 2;
    static const int sizes[][3] = {{8}, {1000}, {65536}, {100003}, {64, 64}, {300, 512}, {16, 16, 16}, {60, 64, 50}};
    static const int ranks[] = {1, 1, 1, 1, 2, 2, 3, 3};
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); ++i) transform(ranks[i], sizes[i], threads);
    printf("%016llx\n%d differ\n", (unsigned long long)digest, failures);
    return failures != 0;
}
