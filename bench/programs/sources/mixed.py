# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scikit-learn's OpenMP and NumPy's threads alternately, as in a program that fits and then
multiplies.

    mixed.py TIMES
"""
import sys

import numpy
from sklearn.metrics import pairwise_distances_argmin

random = numpy.random.default_rng(5)
points, centres = random.standard_normal((6000, 40)), random.standard_normal((50, 40))
square = random.standard_normal((400, 400))
nearest = 0
for _ in range(int(sys.argv[1])):
    nearest += int(pairwise_distances_argmin(points, centres).sum())
    square = square @ square
    square /= abs(square).max()
print(nearest, repr(float(square.sum())))
