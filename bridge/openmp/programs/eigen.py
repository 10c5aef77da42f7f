# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python threads, each of which has NumPy compute the eigenvalues of a symmetric matrix some times: so there are as
many threads as these times those of the BLAS. Prints each thread's eigenvalues to ten digits.

    eigen.py THREADS TIMES [SIZE]
"""
import sys
import threading

import numpy

threads, times, size = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 150
found = [""] * threads


def work(number):
    a = numpy.random.default_rng(number).standard_normal((size, size))
    a += a.T
    for _ in range(times):
        values, vectors = numpy.linalg.eigh(a)
    off = numpy.abs(a @ vectors - vectors * values).max()
    found[number] = f"{values[0]:.10f} {values[-1]:.10f} {'right' if off < 1e-9 * size else 'WRONG'}"


workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print("\n".join(found))
