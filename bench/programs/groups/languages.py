# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""R, a JVM, Go, Python threads, and a script that starts one command after another."""
import shutil

from program import SOURCES, SYSTEM_PYTHON, Absent, Place, Program, found


def r_matrix(place: Place) -> list:
    return [found("Rscript", "r-base-core"), str(SOURCES / "matrix.R"), place.size(6, 1)]


def r_forks(place: Place) -> list:
    return [found("Rscript", "r-base-core"), str(SOURCES / "forks.R"), place.size(300, 20), place.threads()]


def jvm(place: Place) -> list:
    java = found("java", "openjdk-17-jdk-headless")
    classes = place.compiled("Streams.java", ["javac", "-d"], "openjdk-17-jdk-headless", "java")
    pool = f"-Djava.util.concurrent.ForkJoinPool.common.parallelism={place.threads()}"
    return [java, pool, "-cp", classes, "Streams", place.threads(), place.size(400000, 20000)]


def go(place: Place) -> list:
    return [place.compiled("pipeline.go", ["go", "build", "-o"], "golang-go"), place.threads(), place.size(40000, 200)]


def python_threads(place: Place) -> list:
    if shutil.which(SYSTEM_PYTHON) is None:
        raise Absent("python3")
    return [SYSTEM_PYTHON, str(SOURCES / "interpreter.py"), "4", place.size(60000, 1000)]


def commands(place: Place) -> list:
    return [found("sh", "dash"), str(SOURCES / "commands.sh"), place.size(50, 5)]


PROGRAMS = [
    Program(
        "r-matrix",
        "R: products, systems and singular values over the BLAS that the system's alternatives choose",
        "Debian's R takes that BLAS whatever LD_LIBRARY_PATH says. OpenBLAS with OpenMP gains where it has more "
        "threads "
        "than CPUs; the build with threads of its own gains nothing.",
        r_matrix,
    ),
    Program(
        "r-forks",
        "R: `parallel::mclapply`, a process for each piece of work",
        "The processes use no OpenMP, so Weft has nothing to take over.",
        r_forks,
    ),
    Program(
        "jvm",
        "A JVM: a parallel stream, an executor, garbage collection",
        "A JVM's threads are its own; Weft leaves them alone.",
        jvm,
    ),
    Program(
        "go",
        "Go: a pipeline of goroutines",
        "Go programs are linked statically, so `weft run` reaches nothing in them.",
        go,
    ),
    Program(
        "python-threads",
        "Python: 4 threads that compute in pure Python, one at a time",
        "Python's threads are left alone, and Python's lock lets one of them run at a time.",
        python_threads,
        settings=("unset",),
    ),
    # The cost of starting a process has its own target, in ms (bench/startup.py); these commands
    # take almost no other time.
    Program(
        "commands",
        "A shell script that starts 450 short commands",
        "Weft has nothing to take over, and each process loads Weft's libraries at its start. A command takes 0.2 "
        "ms, so "
        "that 0.1 ms more is much; where commands do something it is not seen.",
        commands,
        settings=("unset",),
        targets={"unset": 1.4},
    ),
]
