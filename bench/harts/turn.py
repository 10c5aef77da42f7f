#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads of a program that pass a turn around, with `weft run --guests=admit` and without.

    bench/harts/turn.py BUILD [--pairs N] [--threads 4,16,64]

Runs build/.../bench/harts_turn alternately, and prints the medians and the median of the pairs'
ratios."""
import argparse
import pathlib
import statistics
import subprocess

HANDOVERS = {"one": 8000, "each": 40000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--threads", default="4,16,64")
    options = parser.parse_args()
    program = options.build / "bench" / "harts_turn"
    admitted = [options.build / "cmd" / "weft", "run", "--guests=admit", "--"]

    def measure(prefix: list, arguments: list) -> float:
        return float(subprocess.run([*prefix, program, *arguments], check=True, capture_output=True, text=True).stdout)

    for threads in map(int, options.threads.split(",")):
        for conditions, handovers in HANDOVERS.items():
            arguments = [
                str(threads),
                str(handovers * min(16, threads) // threads if conditions == "one" else handovers),
                conditions,
            ]
            pairs = [(measure([], arguments), measure(admitted, arguments)) for _ in range(options.pairs)]
            ratio = statistics.median(weft / plain for plain, weft in pairs)
            plain, weft = (statistics.median(side) for side in zip(*pairs))
            print(
                f"{threads:3} threads, {conditions:4} condition: {plain:7.1f} us alone, {weft:7.1f} us admitted: "
                f"{ratio:.2f}"
            )


if __name__ == "__main__":
    main()
