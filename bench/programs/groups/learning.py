# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scikit-learn and LightGBM, from PyPI: their wheels contain a libgomp, which Weft's replaces."""
from program import SOURCES, Place, Program

SUMS_BY_THREAD = 1e-10  # k-means adds up each thread's sums, in the order in which the threads finish


def fitted(kind: str, full: int, small: int, module: str = "sklearn"):
    def command(place: Place) -> list:
        return [place.wheels(module), str(SOURCES / "learning.py"), kind, place.size(full, small)]

    return command


def with_workers(kind: str, workers: str, full: int, small: int):
    def command(place: Place) -> list:
        return [*fitted(kind, full, small)(place), workers]

    return command


def alternating(place: Place) -> list:
    return [place.wheels("sklearn"), str(SOURCES / "mixed.py"), place.size(10, 2)]


PROGRAMS = [
    Program(
        "kmeans",
        "scikit-learn: k-means on one thread (OpenMP within, over NumPy's BLAS)",
        "One region after the other with as many threads as CPUs competes with nothing. With more threads than CPUs, "
        "libgomp's threads spin for each other.",
        fitted("kmeans", 12000, 1500),
        tolerance=SUMS_BY_THREAD,
    ),
    Program(
        "boosting",
        "scikit-learn: histogram gradient boosting (OpenMP)",
        "Thousands of short regions, each with a barrier at its end. With more threads than CPUs, libgomp's threads "
        "wait there for others that have no CPU; Weft's give theirs away.",
        fitted("boosting", 6000, 1000),
    ),
    Program(
        "kmeans-threads",
        "scikit-learn: 8 k-means in 4 threads of joblib's",
        "Each of joblib's threads brings a team of OpenMP threads. Under `weft run` the teams share the CPUs.",
        with_workers("threads", "4", 3000, 800),
        tolerance=SUMS_BY_THREAD,
    ),
    Program(
        "kmeans-processes",
        "scikit-learn: 8 k-means in 2 processes of joblib's (loky)",
        "joblib tells each process how many threads it may have. Weft shares CPUs within a process, not between "
        "processes.",
        with_workers("processes", "2", 3000, 800),
        settings=("unset", "8"),
        tolerance=SUMS_BY_THREAD,
    ),
    Program(
        "alternating",
        "scikit-learn's OpenMP and NumPy's products by turns, on one thread",
        "The idle threads of each library spin for a while after a call and take CPU time from the other library. "
        "Under `weft run` those of OpenMP do not; those of the wheel's OpenBLAS still do.",
        alternating,
        tolerance=SUMS_BY_THREAD,
    ),
    Program(
        "lightgbm",
        "LightGBM: 40 trees (OpenMP)",
        "Thousands of short regions, as in gradient boosting.",
        fitted("lightgbm", 5000, 1000, "lightgbm"),
    ),
]
