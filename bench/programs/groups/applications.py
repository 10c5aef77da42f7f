# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Applications and tools of Debian."""
import base64
import hashlib

from program import Place, Program, found


def elk(place: Place) -> list:
    from demo import elk_input

    program = found("elk-lapw", "elk-lapw")
    elk_input(place.folder / "elk.in", 1 if place.small else 3)
    return [program]


def jacobi(place: Place) -> list:
    program = place.compiled("jacobi.c", ["gcc", "-O2", "-fopenmp", "-o"], "gcc", links=("-lm",))
    return [program, place.size(4000, 200)]


def text(place: Place, pieces: int) -> str:
    """Lines that compress badly, are not sorted, and are equal each time."""
    block = b"".join(hashlib.sha256(str(number).encode()).digest() for number in range(2000))
    with open(place.folder / "text", "wb") as file:
        for piece in range(pieces):
            file.write(base64.encodebytes(bytes([piece % 251]) + block + block[piece % 97 :: 7]))
    return "text"


def xz(place: Place) -> list:
    name = text(place, 2 if place.small else 70)
    program = found("xz", "xz-utils")
    return [program, f"--threads={place.threads()}", "--block-size=256KiB", "-1", "--keep", "--stdout", name]


def sort(place: Place) -> list:
    name = text(place, 2 if place.small else 350)
    return [found("sort", "coreutils"), f"--parallel={place.threads()}", "--buffer-size=64M", name]


PROGRAMS = [
    Program(
        "elk",
        "Elk (electronic structure, Fortran): OpenMP regions nested to 4 levels",
        "libgomp makes the inner teams anew for each region, and their threads compete for the CPUs. Weft keeps the "
        "teams, and their threads take turns.",
        elk,
        library="blas",
        tolerance=1e-6,
        written=("TOTENERGY.OUT",),
    ),
    Program(
        "jacobi",
        "A C program by gcc: a relaxation in loops of 30 us, then a tree of tasks",
        "With as many threads as CPUs nothing competes. With more, libgomp's threads spin for each other.",
        jacobi,
    ),
    Program(
        "xz",
        "`xz --threads`: compression in POSIX threads",
        "Threads that compute, and sleep in the kernel when they have nothing to do, are no obstacle to each other. "
        "Weft leaves a program's own threads alone.",
        xz,
    ),
    Program("sort", "`sort --parallel`", "The threads are the program's own, and Weft leaves them alone.", sort),
]
