# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra: both of Debian's OpenBLAS, and those in the wheels of NumPy and SciPy."""
from program import ROOT, SOURCES, Place, Program, system_python

EIGEN = str(ROOT / "bridge" / "openmp" / "programs" / "eigen.py")
CALLERS = 4
CALLED_FROM_THREADS = 1e-10  # how products are divided depends on the concurrent callers


def debian(place: Place) -> list:
    return [system_python("numpy", "python3-numpy"), str(SOURCES / "linear.py"), place.size(12, 2)]


def debian_callers(times: int):
    def command(place: Place) -> list:
        python = system_python("numpy", "python3-numpy")
        return [python, EIGEN, str(CALLERS), place.size(times, 1), place.size(120, 80)]

    return command


def wheel(place: Place) -> list:
    return [place.wheels("numpy"), str(SOURCES / "linear.py"), place.size(12, 2)]


def wheel_callers(place: Place) -> list:
    return [place.wheels("numpy"), EIGEN, str(CALLERS), place.size(6, 1), place.size(120, 80)]


def scipy(place: Place) -> list:
    return [place.wheels("scipy"), str(SOURCES / "scientific.py"), place.size(6, 1), place.threads()]


PROGRAMS = [
    Program(
        "numpy-pthread",
        "Debian's NumPy over its default OpenBLAS (libopenblas0-pthread): eigenvalues, products and systems on the "
        "main thread",
        "This OpenBLAS has threads of its own, never more than CPUs, and a single caller competes with nothing.",
        debian,
        library="openblas-pthread",
    ),
    Program(
        "numpy-pthread-callers",
        f"The same library, called by {CALLERS} Python threads at once (`eigh`)",
        "Callers spin for the library's threads, and those for each other, so that the time of a run varies by a "
        "factor "
        "of eight. Under `weft run` callers wait until the one before them is done.",
        debian_callers(1),
        library="openblas-pthread",
        tolerance=CALLED_FROM_THREADS,
    ),
    Program(
        "numpy-openmp",
        "Debian's NumPy over OpenBLAS with OpenMP (libopenblas0-openmp), on the main thread",
        "One caller and as many threads as CPUs gain nothing. With more threads than CPUs, libgomp's threads spin "
        "for each other at the end of each region, while Weft's switch to one that has work.",
        debian,
        library="openblas-openmp",
        targets={"8": 1.2},
    ),
    Program(
        "numpy-openmp-callers",
        f"OpenBLAS with OpenMP, called by {CALLERS} Python threads at once (`eigh`)",
        "Each caller brings a team of its own, so the threads multiply, and all of them spin. Under `weft run` the "
        "teams share the CPUs, and callers wait for the library's execution slot.",
        debian_callers(6),
        library="openblas-openmp",
        tolerance=CALLED_FROM_THREADS,
    ),
    Program(
        "numpy-wheel",
        "PyPI's NumPy on the main thread; its OpenBLAS has threads of its own",
        "This OpenBLAS has threads of its own, and a single caller competes with nothing.",
        wheel,
    ),
    Program(
        "numpy-wheel-callers",
        f"PyPI's NumPy, called by {CALLERS} Python threads at once (`eigh`)",
        "Callers compete with each other's threads, which spin. Under `weft run` OpenBLAS uses no more threads for a "
        "call than each caller's share of the CPUs.",
        wheel_callers,
        tolerance=CALLED_FROM_THREADS,
    ),
    Program(
        "scipy-wheel",
        "PyPI's SciPy: a factorization, a sparse system, a transform in several threads, an ODE",
        "Weft leaves the threads of the transform alone. The wheel's OpenBLAS uses fewer threads while those compute.",
        scipy,
    ),
]
