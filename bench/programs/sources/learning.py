# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models fitted to synthetic data: scikit-learn's and LightGBM's.

    learning.py kmeans|boosting|threads|processes|lightgbm SIZE [WORKERS]
"""
import sys

import numpy


def points(size, seed=0):
    random = numpy.random.default_rng(seed)
    features = random.standard_normal((size, 12)) + 4 * random.integers(0, 6, size)[:, None]
    return features, features[:, 0] * features[:, 1] + random.standard_normal(size)


def kmeans(size, seed=0):
    from sklearn.cluster import KMeans

    fitted = KMeans(n_clusters=6, n_init=2, max_iter=40, tol=0, random_state=seed).fit(points(size, seed)[0])
    return repr(float(fitted.inertia_))


def boosting(size):
    from sklearn.ensemble import HistGradientBoostingRegressor

    features, values = points(size)
    fitted = HistGradientBoostingRegressor(max_iter=30, early_stopping=False, random_state=0).fit(features, values)
    return repr(float(fitted.predict(features[:500]).sum()))


def joblib_runs(backend, size, workers):
    from joblib import Parallel, delayed

    found = Parallel(n_jobs=workers, backend=backend)(delayed(kmeans)(size, seed) for seed in range(8))
    return "\n".join(found)


def lightgbm(size):
    import lightgbm as library

    features, values = points(size)
    settings = {
        "objective": "regression",
        "num_leaves": 31,
        "verbosity": -1,
        "seed": 1,
        "deterministic": True,
        "force_row_wise": True,
    }
    fitted = library.train(settings, library.Dataset(features, values), num_boost_round=40)
    return repr(float(fitted.predict(features[:500]).sum()))


kind, size = sys.argv[1], int(sys.argv[2])
if kind == "kmeans":
    print(kmeans(size))
elif kind == "boosting":
    print(boosting(size))
elif kind == "lightgbm":
    print(lightgbm(size))
else:
    print(joblib_runs("threading" if kind == "threads" else "loky", size, int(sys.argv[3])))
