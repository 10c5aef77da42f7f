#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Standard error, and how the process ends, are on Weft as on the compiler's libgomp, byte for byte.

    messages.py --program PROGRAM --weft FOLDER[:FOLDER] [--fortran PROGRAM]
"""
import argparse
import os
import subprocess
import sys

CASES = [
    "literal",
    "empty",
    "null",
    "none",
    "long",
    "lines",
    "places",
    "settings",
    "fatal",
    "fatal_by_default",
    "fatal_long",
    "fatal_in_region",
    "abort",
    "abort_calloc",
    "abort_realloc",
    "clause",
]
# For a format that ends within a field, libgomp's message has a null character.
FORMATS = [
    "%n",
    "%05n",
    "%0n",
    "%.n",
    "%0.n",
    "%05a",
    "%5%",
    "%.5%",
    "%{team_num",
    "%{x}",
    "%x",
    "%{}",
    "%{n}",
    "%{TEAM_NUM}",
    "%{Thread_num}",
    "%{thread_num }",
    "%-5n",
    "%+n",
    "%.0n",
    "%00n",
    "%0.05n",
    "%0.0n",
    "%5.3n",
    "%..5n",
    "%.0005n",
    "%O",
    "%h",
    "%p",
    "%l",
    "%{thread_level}",
    "%{host_name}",
    "%.",
    "%0.",
    "%0",
    "before %q",
]
IN_A_FIELD = ["%", "100 %", "%5", "%.5", "%0.12"]
LONG = 3000


def run(command, libraries):
    ours = ("OMP_", "GOMP_", "WEFT_", "LD_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    if libraries:
        environment["LD_LIBRARY_PATH"] = libraries
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--weft", required=True, help="where the loader finds libgomp.so.1 and libweft.so")
    parser.add_argument("--fortran", help="messages.f90")
    options = parser.parse_args()
    commands = [[options.program, case] for case in CASES]
    commands += [[options.program, how, text] for text in FORMATS for how in ("format", "display")]
    if options.fortran:
        commands.append([options.fortran])
    failed = 0
    for command in commands:
        expected, found = run(command, None), run(command, options.weft)
        if expected != found:
            failed += 1
            print(f"{command[1:]}: libgomp {expected}\n  Weft {found}")
    for text in IN_A_FIELD:
        status, _, said = run([options.program, "format", text], options.weft)
        if status != 1 or said != b"\nlibgomp: affinity format ends within a field\n":
            failed += 1
            print(f"format {text!r} ends with {status}: {said}")
    # libgomp writes the parts of a message separately.
    status, _, said = run([options.program, "threads"], options.weft)
    if status != 0 or said != (b"\nlibgomp: error directive encountered: " + b"x" * LONG + b"\n") * 160:
        failed += 1
        print(f"threads ends with {status}, their messages are not whole: {said[:10000]}")
    print(f"{failed} of {len(commands) + len(IN_A_FIELD) + 1} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
