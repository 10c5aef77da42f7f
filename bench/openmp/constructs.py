#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of each OpenMP construct on libgomp, on Weft and on libomp: runs constructs.c on each in
turn, round by round.

    bench/openmp/constructs.py [--build build/release] [--rounds 15] [--threads 1 2] [--results FOLDER] [NAME ...]
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from libraries import compare  # noqa: E402

if __name__ == "__main__":
    compare(__doc__, HERE / "constructs.c", "ns", 15, 5, [1, 2])
