#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of calls.py prints without Weft and with `weft run` the same, and with it nothing more on standard error.

    bridge/together/python/compare.py NAME --build build/release --environment build/python/today

Results of NumPy and SciPy are equal to the last bit where each OpenBLAS has the threads that it has without Weft
(WEFT_BLAS_THREADS=full), and otherwise but for rounding. Ends with 77 where there is no environment (`make python-env`
makes them), or where the program ends with it, since its library is missing.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
LIMIT_S = 120
PROGRAMS = pathlib.Path(__file__).resolve().parent / "calls.py"
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")
DIGEST = re.compile(r"\b[0-9a-f]{16}\b")
# Lines of standard error that differ from run to run.
CHANGING = re.compile(r"0x[0-9a-f]+|\bpid \d+")


def environment(words):
    """Two threads for each library. OpenBLAS' code for AVX-512 adds in an order that depends on where vectors lie."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("OMP_", "GOMP_", "OPENBLAS_", "MKL_", "NUMBA_", "PYTHON", "WEFT_"))
        and key != "LD_PRELOAD"
    }
    kept |= {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"}
    return kept | {"OPENBLAS_CORETYPE": "Haswell", "PYTHONWARNINGS": "ignore"} | words


def run(prefix, options, words):
    command = [*prefix, str(options.environment / "bin" / "python"), str(PROGRAMS), options.name]
    try:
        done = subprocess.run(
            command,
            env=environment(words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired as late:
        return f"no end in {LIMIT_S} s", (late.stdout or b"").decode(), (late.stderr or b"").decode()
    return done.returncode, done.stdout, done.stderr


def agree(one, other, exactly):
    """Whether two outputs are equal, or their numbers but for rounding. Digests are of the last bits."""
    if exactly or one == other:
        return one == other
    one, other = (DIGEST.sub("#", text) for text in (one, other))
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other))
    return all(abs(float(a) - float(b)) <= 1e-10 * max(1, abs(float(a))) for a, b in pairs)


def more(expected, found):
    """The lines of standard error that are only in the second one."""
    known = {CHANGING.sub("#", line) for line in expected.splitlines()}
    return [line for line in found.splitlines() if CHANGING.sub("#", line) not in known]


def differences(options, word, expected):
    weft = [str(options.build / "cmd" / "weft"), "run", "--"]
    status, output, errors = run(weft, options, {"WEFT_BLAS_THREADS": word})
    if status != expected[0]:
        yield f"ends with {status}, and without Weft with {expected[0]}: {errors[-2000:]}"
    exactly = word == "full" and options.name in ("numpy", "scipy")
    if not agree(expected[1], output, exactly):
        yield f"prints\n{output}\nand without Weft\n{expected[1]}"
    if added := more(expected[2], errors):
        yield "says on standard error\n" + "\n".join(added)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--environment", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if not (options.environment / "wheels").exists():
        print(f"SKIPPED: there is no environment {options.environment}: make python-env")
        return SKIPPED
    expected = run([], options, {})
    if expected[0] == SKIPPED:
        print(expected[1], end="")
        return SKIPPED
    if expected[0] == 1:
        print(f"FAILED: without Weft {options.name} ends with an error: {expected[2][-2000:]}")
        return 1
    wrong = 0
    for word in "full", "follow":
        for difference in differences(options, word, expected):
            wrong += 1
            print(f"FAILED: {options.name} with WEFT_BLAS_THREADS={word} {difference}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
