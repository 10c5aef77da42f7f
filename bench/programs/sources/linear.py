# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra by NumPy on the main thread: eigenvalues, products and systems, of small and
medium size.

    linear.py TIMES
"""
import sys

import numpy

times = int(sys.argv[1])
random = numpy.random.default_rng(1)
for size in 60, 150, 300:
    square = random.standard_normal((size, size))
    for _ in range(2 * times if size < 300 else times):
        values = numpy.linalg.eigvalsh(square + square.T)
        product = square @ square
        solution = numpy.linalg.solve(square, square[0])
    print(size, repr(float(values.sum())), repr(float(product.sum())), repr(float(solution.sum())))
