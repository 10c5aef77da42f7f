# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All programs of the bench, in the order of the tables."""
from . import applications, blas, languages, learning, pictures, threads

GROUPS = {
    "blas": blas.PROGRAMS,
    "learning": learning.PROGRAMS,
    "pictures": pictures.PROGRAMS,
    "applications": applications.PROGRAMS,
    "threads": threads.PROGRAMS,
    "languages": languages.PROGRAMS,
}
PROGRAMS = {program.name: program for programs in GROUPS.values() for program in programs}
