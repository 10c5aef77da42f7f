#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that consist of tasks on libgomp, on Weft and on libomp: runs tasks.c on each in turn,
round by round.

    bench/openmp/tasks.py [--build build/release] [--rounds 7] [--threads 2] [--results FOLDER] [NAME ...]
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from libraries import compare  # noqa: E402

if __name__ == "__main__":
    compare(__doc__, HERE / "tasks.c", "ms", 7, 3, [2])
