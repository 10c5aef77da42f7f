#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program with several libraries on Weft as parts, once for each order of what they do; see main.c.

    orders.py PROGRAM "+abt abt -abt,+omp omp"
"""
import os
import subprocess
import sys

LIMIT_S = 60


def run(program, order):
    """What went wrong, or None."""
    environment = dict(os.environ, WEFT_DEADLOCK="abort")
    preload = environment.pop("WEFT_TOGETHER_PRELOAD", None)
    if preload:
        environment["LD_PRELOAD"] = preload
    try:
        done = subprocess.run(
            [program, *order.split()], env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT_S} s"
    if done.returncode == 0 and not done.stderr:
        return None
    return f"status {done.returncode}\n{done.stdout}{done.stderr}"


def main():
    program, orders = sys.argv[1], sys.argv[2].split(",")
    wrong = 0
    for order in orders:
        if fault := run(program, order):
            wrong += 1
            print(f"{order}: {fault}")
    print(f"{len(orders)} orders, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
