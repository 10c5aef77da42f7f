# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls a library from several Python threads at once, and prints the seconds of each pass as JSON.

    calls.py KERNEL SIZE CALLERS PASSES

Kernels: eigh, eigvalsh, lu, solve, matmul (NumPy); alternating (NumPy's products and OpenMP loops of
scikit-learn by turns, in one thread); kmeans, neighbours, boosting (scikit-learn, by joblib's
threads). Each caller makes as many calls as take some 20 ms alone; SIZE is the order of its matrix,
or 0.
"""
import json
import sys
import threading
import time

import numpy as np

CALLS = {"eigh": 4, "eigvalsh": 8, "lu": 10, "solve": 10, "matmul": 10}


def linear(kernel: str, size: int):
    random = np.random.default_rng(1)
    a = random.standard_normal((size, size))
    symmetric, b = a + a.T, random.standard_normal((size, size))
    call = {
        "eigh": lambda: np.linalg.eigh(symmetric),
        "eigvalsh": lambda: np.linalg.eigvalsh(symmetric),
        "lu": lambda: np.linalg.slogdet(a),
        "solve": lambda: np.linalg.solve(a, b),
        "matmul": lambda: a @ b,
    }[kernel]

    def work():
        for _ in range(CALLS[kernel]):
            call()

    return work


def alternating():
    from sklearn.metrics import pairwise_distances_argmin

    random = np.random.default_rng(1)
    a, b = random.standard_normal((400, 400)), random.standard_normal((400, 400))
    points, centres = random.standard_normal((4000, 8)), random.standard_normal((40, 8))

    def work():
        for _ in range(20):
            a @ b
            pairwise_distances_argmin(points, centres)

    return work


def fits(kernel: str, callers: int):
    from joblib import Parallel, delayed
    from sklearn.cluster import KMeans
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.neighbors import NearestNeighbors

    random = np.random.default_rng(1)
    points = random.standard_normal((4000, 16))
    labels = (points[:, 0] > 0).astype(int)
    fit = {
        "kmeans": lambda: KMeans(8, n_init=1, max_iter=20, random_state=1).fit(points),
        "neighbours": lambda: NearestNeighbors(n_neighbors=5, algorithm="brute").fit(points).kneighbors(points[:2000]),
        "boosting": lambda: HistGradientBoostingClassifier(max_iter=10, random_state=1).fit(points, labels),
    }[kernel]

    def work():
        Parallel(n_jobs=callers, backend="threading")(delayed(fit)() for _ in range(2 * callers))

    return work


def main() -> None:
    kernel, size, callers, passes = sys.argv[1], *map(int, sys.argv[2:5])
    if kernel in CALLS:
        work = linear(kernel, size)
    elif kernel == "alternating":
        work = alternating()
    else:
        work, callers = fits(kernel, callers), 1
    work()
    for _ in range(passes):
        threads = [threading.Thread(target=work) for _ in range(callers if callers > 1 else 0)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not threads:
            work()
        print(json.dumps({"value": time.perf_counter() - begun}), flush=True)


if __name__ == "__main__":
    main()
