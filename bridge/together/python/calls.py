#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small programs that use Python's numerical libraries as their users do; each prints what it has computed.

    calls.py NAME

Ends with 77 where the environment lacks the library. compare.py runs them without Weft and with it.
"""
import ctypes
import hashlib
import os
import pathlib
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

SKIPPED = 77


def numpy_and_generator():
    import numpy

    return numpy, numpy.random.default_rng(1)


def digest(*arrays):
    """The arrays to the last bit."""
    import numpy

    return hashlib.sha256(b"".join(numpy.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def show(name, values):
    """Numbers that are compared but for rounding."""
    import numpy

    print(name, " ".join(f"{value:.15g}" for value in numpy.ravel(values)))


def in_threads(function, count=4, rounds=2):
    """What the function returns in each of several threads at once."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda _: function(), range(count * rounds)))


def numpy():
    np, random = numpy_and_generator()
    a, b = random.standard_normal((2, 200, 200))
    symmetric = a + a.T
    operations = {
        "dot": lambda: (a.ravel() @ b.ravel(),),
        "matrix times vector": lambda: (a @ b[0],),
        "matmul": lambda: (a @ b,),
        "matmul of floats": lambda: (a.astype(np.float32) @ b.astype(np.float32),),
        "solve": lambda: (np.linalg.solve(a, b),),
        "qr": lambda: np.linalg.qr(a),
        "svd": lambda: np.linalg.svd(a),
        "eigh": lambda: np.linalg.eigh(symmetric),
        "eig": lambda: np.linalg.eig(a),
    }
    for name, operation in operations.items():
        print(name, digest(*operation()))
    for name in "matmul", "solve":
        print(name, "in threads", *(digest(*result) for result in in_threads(operations[name])))
    show("rounded", np.linalg.eigvalsh(symmetric)[:10])


def scipy():
    np, random = numpy_and_generator()
    import scipy.linalg
    import scipy.sparse
    import scipy.sparse.linalg

    a, b = random.standard_normal((2, 200, 200))
    print("lu", digest(*scipy.linalg.lu_factor(a)))
    print("cholesky", digest(scipy.linalg.cholesky(a @ a.T + 200 * np.eye(200))))
    print("expm", digest(scipy.linalg.expm(a / 200)))
    print("eigh", digest(*scipy.linalg.eigh(a + a.T, b @ b.T + 200 * np.eye(200))))
    matrix = scipy.sparse.random(300, 300, 0.02, random_state=1, format="csc") + scipy.sparse.eye(300, format="csc") * 4
    print("splu", digest(scipy.sparse.linalg.splu(matrix).solve(np.ones(300))))
    # NumPy's OpenBLAS and SciPy's, in turn and at once
    print("both", *(digest(*result) for result in in_threads(lambda: (scipy.linalg.lu_factor(a)[0], a @ b))))


def sklearn():
    np, random = numpy_and_generator()
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import NearestNeighbors

    points = np.concatenate([random.standard_normal((400, 8)) + 6 * shift for shift in range(4)])
    labels = np.repeat(range(4), 400)

    def clusters():
        return np.sort(KMeans(4, n_init=1, random_state=1).fit(points).cluster_centers_, axis=0)

    show("KMeans", clusters())
    for found in in_threads(clusters):
        show("KMeans in a thread", found)
    show("PCA", PCA(3).fit(points).explained_variance_)
    show("LinearRegression", LinearRegression().fit(points, points @ np.arange(8.0)).coef_)
    show("boosting", HistGradientBoostingClassifier(max_iter=5).fit(points, labels).predict_proba(points[::200]))
    show("neighbours", NearestNeighbors(n_neighbors=3).fit(points).kneighbors(points[::100])[0])


def eigenvalues(seed):
    """At the top of the file, for processes that import it."""
    import numpy as np

    a = np.random.default_rng(seed).standard_normal((150, 150))
    return np.linalg.eigvalsh(a @ a.T)[-5:]


def joblib():
    import joblib as library

    for backend in "threading", "loky":
        results = library.Parallel(3, backend=backend)(library.delayed(eigenvalues)(seed) for seed in range(9))
        show(backend, results)


def threadpoolctl():
    np, random = numpy_and_generator()
    import scipy.linalg
    import threadpoolctl as library

    a = random.standard_normal((200, 200))

    def say(when):
        pools = library.threadpool_info()  # with Weft there is an OpenMP, too
        print(when, sorted((pool["prefix"], pool["num_threads"]) for pool in pools if pool["user_api"] == "blas"))

    a @ a, scipy.linalg.lu_factor(a)
    say("before")
    for limit in 1, 2:
        with library.threadpool_limits(limit):
            say(f"with {limit}")
            print(digest(a @ a))
            say("after a call")
    say("after it")
    with library.threadpool_limits(1, user_api="blas"):
        show("product", (a @ a)[0, :3])
        say("with one for BLAS")
    say("in the end")


def numba_with(layer):
    np, random = numpy_and_generator()
    os.environ["NUMBA_THREADING_LAYER"] = layer
    import numba

    @numba.njit(parallel=True)
    def sums(a):
        result = np.zeros(a.shape[0])
        for i in numba.prange(a.shape[0]):
            for j in range(a.shape[1]):
                result[i] += a[i, j] * a[i, j]
        return result

    a = random.standard_normal((300, 300))
    print("sums", digest(sums(a)))
    print("layer", numba.threading_layer(), numba.get_num_threads())
    if layer != "workqueue":  # this one allows one thread at a time
        print("in threads", *(digest(sums(a), a @ a) for _ in in_threads(lambda: sums(a))))
    print("then", digest(sums(a @ a)))


def numba_omp():
    numba_with("omp")


def numba_tbb():
    numba_with("tbb")


def numba_workqueue():
    numba_with("workqueue")


def table():
    np, random = numpy_and_generator()
    points = random.standard_normal((1000, 10))
    return points, (points[:, 0] * points[:, 1] > 0).astype(int)


def lightgbm():
    import lightgbm as library

    points, labels = table()
    settings = {"objective": "binary", "verbosity": -1, "deterministic": True, "force_row_wise": True, "seed": 1}

    def predictions():
        return library.train(settings, library.Dataset(points, labels), 10).predict(points[::100])

    show("predictions", predictions())
    # its number of threads follows the load, in the midst of its calls
    for found in in_threads(predictions, 8, 4):
        show("in a thread", found)


def xgboost():
    import xgboost as library

    points, labels = table()

    def predictions():
        data = library.DMatrix(points, labels)
        return library.train({"objective": "binary:logistic", "seed": 1}, data, 10).predict(data)[::100]

    show("predictions", predictions())
    for found in in_threads(predictions, 8, 4):
        show("in a thread", found)


def faiss():
    np, random = numpy_and_generator()
    import faiss as library

    points = random.standard_normal((2000, 32)).astype(np.float32)
    flat = library.IndexFlatL2(32)
    flat.add(points)
    print("flat", digest(flat.search(points[:50], 5)[1]))
    kmeans = library.Kmeans(32, 8, niter=5, seed=1)
    kmeans.train(points)
    print("kmeans", round(float(kmeans.obj[-1]), 1))
    print("in threads", *(digest(found[1]) for found in in_threads(lambda: flat.search(points[:50], 5))))


def mkl_with(layer):
    np, random = numpy_and_generator()
    folder = pathlib.Path(sys.prefix, "lib")
    versions = sorted(folder.glob("libmkl_rt.so.*"))
    if not versions:
        print(f"SKIPPED: there is no libmkl_rt in {folder}")
        sys.exit(SKIPPED)
    # by default MKL has at most one thread for each core, whatever OMP_NUM_THREADS says
    os.environ |= {"MKL_THREADING_LAYER": layer, "MKL_DYNAMIC": "FALSE"}
    # MKL takes what is loaded, and otherwise what the loader finds: the system's TBB
    ctypes.CDLL("libgomp.so.1" if layer == "GNU" else str(folder / "libtbb.so.12"), ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(versions[-1]))
    for function in library.LAPACKE_dsyevd, library.LAPACKE_dgetrf:
        function.restype = ctypes.c_int
    rows, columns, plain, size = 101, 102, 111, 300
    a, b = random.standard_normal((2, size, size))
    symmetric = a + a.T

    def pointer(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    def product():
        result = np.empty((size, size))
        one, zero = ctypes.c_double(1), ctypes.c_double(0)
        left, right, out = (pointer(array) for array in (a, b, result))
        sizes = (size, size, size)
        library.cblas_dgemm(rows, plain, plain, *sizes, one, left, size, right, size, zero, out, size)
        return result

    def spectrum():
        matrix, values = symmetric.copy(), np.empty(size)
        job = ctypes.c_char(b"V"), ctypes.c_char(b"U")
        status = library.LAPACKE_dsyevd(columns, *job, size, pointer(matrix), size, pointer(values))
        return status, values

    def factors():
        matrix, pivots = a.copy(), np.empty(size, np.int32)
        status = library.LAPACKE_dgetrf(columns, size, size, pointer(matrix), size, pointer(pivots))
        return status, pivots, matrix

    def all_of_them():
        status, pivots, matrix = factors()
        show("product", product()[::60, 0])
        show("factors", [status, *pivots[::60], *matrix[::60, 0]])
        show("eigenvalues", np.append(*spectrum())[:10])

    all_of_them()
    for found in in_threads(product):
        show("product in a thread", [found.sum(), *found[::60, 0]])
    for status, pivots, matrix in in_threads(factors):
        show("factors in a thread", [status, *pivots[::60], *matrix[::60, 0]])
    for status, values in in_threads(spectrum):
        show("eigenvalues in a thread", [status, *values[:10]])
    for found in in_threads(lambda: (product(), spectrum(), factors()), 8, 4):
        show("in a thread", [found[0].sum(), found[1][1].sum(), found[2][2].sum()])
    all_of_them()


def mkl_gnu():
    mkl_with("GNU")


def mkl_tbb():
    mkl_with("TBB")


def processes():
    """Children of every kind. None is forked while other threads are in BLAS: OpenBLAS ends its threads before a fork,
    and a call that has work in them waits for ever, without Weft as well."""
    import multiprocessing

    show("here", eigenvalues(0))
    for start in "fork", "spawn", "forkserver":
        with multiprocessing.get_context(start).Pool(2) as pool:
            show(start, pool.map(eigenvalues, range(4)))
    show("here", in_threads(lambda: eigenvalues(0)))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        show("forked anew", pool.map(eigenvalues, range(4)))
    show("here", eigenvalues(0))


def ends():
    """The interpreter ends while threads compute."""

    def compute():
        while True:
            eigenvalues(1)

    for _ in range(3):
        threading.Thread(target=compute, daemon=True).start()
    show("here", eigenvalues(0))
    time.sleep(0.1)
    print("ends", flush=True)


def interrupted():
    """Ctrl-C in the midst of calls."""
    np, random = numpy_and_generator()
    a = random.standard_normal((400, 400))
    threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            np.linalg.eigh(a @ a.T)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    show("here", eigenvalues(0))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    while True:
        np.linalg.eigh(a @ a.T)


PROGRAMS = {
    program.__name__: program
    for program in (
        [numpy, scipy, sklearn, joblib, threadpoolctl, numba_omp, numba_tbb, numba_workqueue]
        + [lightgbm, xgboost, faiss, mkl_gnu, mkl_tbb, processes, ends, interrupted]
    )
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
