// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SuiteSparse: one Poisson equation on a grid, solved by CHOLMOD (supernodal, over BLAS), by SPQR
// and by UMFPACK; and a least-squares problem with more rows than columns, by SPQR. The residuals
// are small, and the solutions agree.
#include <cholmod.h>
#include <umfpack.h>
#include <SuiteSparseQR.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int failures = 0;
void check(const char *what, double off, double allowed) {
    std::printf("%s: %s\n", what, off <= allowed ? "solved" : "NOT solved");
    if (!(off <= allowed)) std::printf("  off by %g\n", off), ++failures;
}
// the five-point stencil; symmetric: only its upper triangle is stored
cholmod_sparse *grid(int side, int symmetric, cholmod_common *common) {
    const int n = side * side;
    cholmod_triplet *t = cholmod_l_allocate_triplet(n, n, 5 * std::size_t(n), symmetric, CHOLMOD_REAL, common);
    auto add = [&](SuiteSparse_long i, SuiteSparse_long j, double x) {
        if (symmetric && i > j) return;
        static_cast<SuiteSparse_long *>(t->i)[t->nnz] = i;
        static_cast<SuiteSparse_long *>(t->j)[t->nnz] = j;
        static_cast<double *>(t->x)[t->nnz++] = x;
    };
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
            const int at = y * side + x;
            add(at, at, 4.1);
            if (x > 0) add(at, at - 1, -1);
            if (x + 1 < side) add(at, at + 1, -1);
            if (y > 0) add(at, at - side, -1);
            if (y + 1 < side) add(at, at + side, -1);
        }
    cholmod_sparse *a = cholmod_l_triplet_to_sparse(t, t->nnz, common);
    cholmod_l_free_triplet(&t, common);
    return a;
}
// normal: the residual of the normal equations
double residual(cholmod_sparse *a, cholmod_dense *x, cholmod_dense *b, bool normal, cholmod_common *common) {
    double one[2] = {1, 0}, less[2] = {-1, 0}, zero[2] = {0, 0};
    cholmod_dense *r = cholmod_l_copy_dense(b, common);
    cholmod_l_sdmult(a, 0, one, less, x, r, common);
    if (normal) {
        cholmod_dense *s = cholmod_l_zeros(a->ncol, 1, CHOLMOD_REAL, common);
        cholmod_l_sdmult(a, 1, one, zero, r, s, common);
        cholmod_l_free_dense(&r, common);
        r = s;
    }
    const double norm = cholmod_l_norm_dense(r, 0, common);
    cholmod_l_free_dense(&r, common);
    return norm;
}

}   // namespace

int main(int argc, char **argv) {
    const int side = argc > 1 ? std::atoi(argv[1]) : 120, n = side * side;
    cholmod_common common;
    cholmod_l_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    cholmod_dense *b = cholmod_l_ones(n, 1, CHOLMOD_REAL, &common);
    for (int i = 0; i < n; ++i) static_cast<double *>(b->x)[i] += i % 7;

    cholmod_sparse *upper = grid(side, 1, &common), *whole = grid(side, 0, &common);
    cholmod_factor *factor = cholmod_l_analyze(upper, &common);
    cholmod_l_factorize(upper, factor, &common);
    cholmod_dense *x = cholmod_l_solve(CHOLMOD_A, factor, b, &common);
    check("CHOLMOD", residual(upper, x, b, false, &common), 1e-10);

    cholmod_dense *by_qr = SuiteSparseQR<double>(whole, b, &common);
    check("SPQR", residual(whole, by_qr, b, false, &common), 1e-9);

    std::vector<double> by_lu(n);
    void *symbolic = nullptr, *numeric = nullptr;
    auto *p = static_cast<SuiteSparse_long *>(whole->p), *i = static_cast<SuiteSparse_long *>(whole->i);
    auto *v = static_cast<double *>(whole->x);
    if (umfpack_dl_symbolic(n, n, p, i, v, &symbolic, nullptr, nullptr) != UMFPACK_OK ||
        umfpack_dl_numeric(p, i, v, symbolic, &numeric, nullptr, nullptr) != UMFPACK_OK ||
        umfpack_dl_solve(UMFPACK_A, p, i, v, by_lu.data(), static_cast<double *>(b->x), numeric, nullptr, nullptr) !=
            UMFPACK_OK)
        std::printf("UMFPACK has refused\n"), ++failures;
    double apart = 0;
    for (int k = 0; k < n; ++k) {
        apart = std::fmax(apart, std::fabs(by_lu[k] - static_cast<double *>(x->x)[k]));
        apart = std::fmax(apart, std::fabs(static_cast<double *>(by_qr->x)[k] - static_cast<double *>(x->x)[k]));
    }
    check("CHOLMOD, SPQR and UMFPACK agree", apart, 1e-9);

    // More rows than columns: the grid's equations, and that neighbours differ little.
    cholmod_sparse *doubled = cholmod_l_vertcat(whole, whole, 1, &common);
    cholmod_dense *right = cholmod_l_ones(2 * std::size_t(n), 1, CHOLMOD_REAL, &common);
    for (int k = 0; k < 2 * n; ++k) static_cast<double *>(right->x)[k] += (k * 31) % 13;
    cholmod_dense *least = SuiteSparseQR<double>(doubled, right, &common);
    check("least squares by SPQR", residual(doubled, least, right, true, &common), 1e-8);
    return failures != 0;
}
