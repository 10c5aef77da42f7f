# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SciPy on the main thread: a factorization, a sparse system, a transform in several SciPy threads,
an integral.

    scientific.py TIMES WORKERS
"""
import sys

import numpy
from scipy import fft, linalg, sparse
from scipy.integrate import solve_ivp
from scipy.sparse.linalg import spsolve

times, workers = int(sys.argv[1]), int(sys.argv[2])
random = numpy.random.default_rng(2)
square = random.standard_normal((250, 250))
grid = sparse.diags([-1, -1, 4, -1, -1], [-60, -1, 0, 1, 60], (3600, 3600), format="csc")
signal = random.standard_normal((64, 4096))
for _ in range(times):
    singular = linalg.svd(square, compute_uv=False)
    factors = linalg.lu_factor(square)
    solution = spsolve(grid, numpy.ones(3600))
    spectrum = fft.rfft(signal, workers=workers)
path = solve_ivp(lambda _, y: [y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]], (0, 20), [1.0, 0.0], rtol=1e-8)
solved = linalg.lu_solve(factors, square[0])
for result in singular.sum(), solved.sum(), solution.sum(), abs(spectrum).sum(), path.y[0, -1]:
    print(repr(float(result)))
