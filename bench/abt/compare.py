#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of an operation in abt.h, with Weft and with another Argobots.

    bench/abt/compare.py FOLDER [--rounds N] [NAME...]

FOLDER has abt_weft and, if another Argobots was found, abt_argobots: bench/abt/operations.c, linked
with either library. They run alternately, on one CPU, and each ratio is of two consecutive runs;
the script prints the median and the quartiles of the ratios. NAME: the beginning of an operation's
name.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys


def run(program, names, cpu):
    """{operation: nanoseconds} of one run."""
    text = subprocess.run(
        [program, *names], check=True, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {cpu})
    ).stdout
    return {name: float(ns) for name, ns in (line.split("\t") for line in text.splitlines())}


def spread(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    cpu = max(os.sched_getaffinity(0))
    weft, argobots = given.folder / "abt_weft", given.folder / "abt_argobots"
    ours, theirs = [], []
    for _ in range(given.rounds):
        ours.append(run(weft, given.names, cpu))
        if argobots.exists():
            theirs.append(run(argobots, given.names, cpu))
    if not theirs:
        print("no other Argobots was found (pkg-config argobots); these are Weft's figures alone")
    print(
        f"{'ns an operation, median of ' + str(given.rounds):40} {'Weft':>10} {'Argobots':>10}  times faster "
        f"(quartiles)"
    )
    for name in ours[0]:
        mine = statistics.median(one[name] for one in ours)
        line = f"{name:40} {mine:10.1f}"
        if theirs:
            low, middle, high = spread([other[name] / one[name] for one, other in zip(ours, theirs)])
            line += f" {statistics.median(one[name] for one in theirs):10.1f}  {middle:.2f} ({low:.2f} to {high:.2f})"
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
