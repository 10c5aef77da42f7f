#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The environment variables: what a program sees of each value, good or bad, and whether there is a message about it,
is the same on Weft as on the compiler's libgomp.

    variables.py --program PROGRAM --weft FOLDER[:FOLDER] [--some]
"""
import argparse
import difflib
import os
import re
import subprocess
import sys

NUMBERS = [
    "",
    " ",
    "0",
    "1",
    "2",
    "3",
    " 3 ",
    "\t3",
    "+3",
    "-1",
    "-0",
    "03",
    "0x3",
    "3x",
    "3 4",
    "3,",
    ",3",
    "3,2",
    "3 , 2",
    "3,2,1",
    "3,0",
    "3,x",
    "3,2,",
    "1.5",
    "1e3",
    "255",
    "256",
    "257",
    "+-3",
    "++3",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
]
LARGE = ["2147483647", "2147483648", "4294967295", "4294967296", "4294967297", "9223372036854775807"]
TRUTHS = ["", " ", "true", "TRUE", "True", " true ", "false", "FALSE", "1", "0", "yes", "on", "tru", "t"]
VALUES = {
    "OMP_NUM_THREADS": NUMBERS,
    "OMP_THREAD_LIMIT": NUMBERS + LARGE,
    "OMP_MAX_ACTIVE_LEVELS": NUMBERS + LARGE,
    "OMP_MAX_TASK_PRIORITY": NUMBERS + LARGE,
    "OMP_DEFAULT_DEVICE": NUMBERS + LARGE,
    "OMP_NUM_TEAMS": NUMBERS,
    "OMP_TEAMS_THREAD_LIMIT": NUMBERS + LARGE,
    "OMP_DYNAMIC": [value for value in TRUTHS if value.strip().lower() != "true"],
    "OMP_NESTED": TRUTHS,
    "OMP_CANCELLATION": TRUTHS,
    "OMP_DISPLAY_AFFINITY": TRUTHS,
    "OMP_DISPLAY_ENV": [*TRUTHS, "verbose", " VERBOSE ", "verbos"],
    "OMP_WAIT_POLICY": ["", "active", "ACTIVE", " passive ", "PASSIVE", "passivex", "none", "active passive"],
    "OMP_TARGET_OFFLOAD": ["", "mandatory", "DISABLED", " default ", "x"],
    "OMP_ALLOCATOR": [
        "",
        "omp_default_mem_alloc",
        "OMP_LARGE_CAP_MEM_ALLOC",
        " omp_const_mem_alloc ",
        "omp_thread_mem_alloc",
        "omp_null_allocator",
        "1",
        "8",
        "omp_low_lat_mem_space",
        "omp_pteam_mem_alloc x",
    ],
    "OMP_SCHEDULE": [
        "",
        "static",
        "STATIC",
        "dynamic",
        "guided",
        "auto",
        "runtime",
        "static,4",
        "static, 4",
        " static , 4 ",
        "dynamic,0",
        "dynamic,1",
        "dynamic,2",
        "dynamic,+2",
        "static,0",
        "static,1",
        "guided,7",
        "auto,3",
        "dynamic,x",
        "dynamic,",
        "dynamic 4",
        "monotonic:dynamic",
        "nonmonotonic:dynamic",
        "monotonic:static",
        "nonmonotonic:static",
        "nonmonotonic:static,2",
        "monotonic : dynamic , 3",
        "monotonic:",
        "monotonic",
        "simd:static",
        "dynamicx",
        "nonmonotonic:auto",
        "monotonic:guided,5",
        "MONOTONIC:DYNAMIC",
        "monotonic:monotonic:dynamic",
        "dynamic,0x10",
        "dynamic,2147483647",
        "dynamic,2147483648",
        "dynamic,18446744073709551616",
    ],
    "OMP_STACKSIZE": [
        "",
        "100",
        "100k",
        "100 k",
        "100K",
        " 2m ",
        "2M",
        "1g",
        "1G",
        "4096b",
        "4096 B ",
        "1b",
        "0",
        "-1",
        "16383b",
        "16384b",
        "20000b",
        "x",
        "k",
        "1t",
        "1kb",
        "1 2",
        "1k x",
        "+10",
        "0x10",
        "1.5m",
        "18446744073709551615",
        "18014398509481984",
    ],
    "GOMP_STACKSIZE": ["", "100", "100k", "1b", "x"],
    "GOMP_SPINCOUNT": [value for value in NUMBERS if not value.startswith("-")]
    + LARGE
    + [
        "infinite",
        "INFINITY",
        " infinite ",
        "infinity x",
        "10k",
        "10 k",
        "10K",
        "10m",
        "10g",
        "10G ",
        "10T",
        "10kb",
        "k",
        "10b",
        "infinit",
    ],
    "OMP_PROC_BIND": [
        "",
        " ",
        "true",
        "false",
        "TRUE",
        "master",
        "primary",
        "close",
        "spread",
        "Close",
        "close,spread",
        "spread , close,master",
        "close,",
        "close,false",
        "true,false",
        "false,close",
        "true,true",
        "x",
        "close,x",
        "close spread",
        " close ",
        "master,primary",
    ],
    "OMP_PLACES": [
        "",
        "threads",
        "cores",
        "sockets",
        "THREADS",
        " cores ",
        "threads(1)",
        "threads (1) ",
        "threads( 1 )",
        "threads(+1)",
        "threads(2)",
        "threads(0)",
        "threads(x)",
        "threads(1",
        "threads(3)",
        "threadsx",
        "threads(1)x",
        "{0}",
        "{1}",
        "{0},{1}",
        "{0,1}",
        "{0:2}",
        "{0:2:1}",
        "{0}:2",
        "{0}:2:1",
        "{1}:2:-1",
        "{0}:2:-1",
        "{0,1},!{1}",
        "{0},{1},!{1}",
        "{0:2,!1}",
        "{0,!0}",
        "{0,!5}",
        "!{0}",
        "{0",
        "0}",
        "{}",
        "0",
        "0,1",
        "!0",
        "{0} , {1}",
        "{0} : 2 : 1",
        "{0},",
        "{ 0 , 1 }",
        "{0}{1}",
        "{0}:0",
        "{0:0}",
        "{-1}",
        "{+0}",
        "{0},{0}",
        "{0,1,0}",
        "{1,0}",
        "x",
        "{0-1}",
        "{0:1:3}",
        "{0,1}:2:1",
        "{0:2}:2:0",
        "{1:2:-1}",
        "threads,cores",
        "{62}",
        "{0},{62}",
        "{0,62}",
        "{0:2:62}",
        "{0}:2:62",
        "{0},{1},!{0}:2",
    ],
    "GOMP_CPU_AFFINITY": [
        "",
        " ",
        "0",
        "1",
        "0 1",
        "0,1",
        "0,  1",
        "0 ,1",
        "1 0",
        "0-1",
        "0-1:1",
        "0-1:2",
        "x",
        "0 x",
        "1-0",
        "0:1",
        "0-1:0",
        "0-1:-1",
        "0 - 1",
        "0- 1",
        " 0  1 ",
        "0,",
        "0,,1",
        "-1",
        "0 0",
        "0-1-2",
        "{0}",
        "0;1",
        "0-1,1",
        "0-",
    ],
    "OMP_AFFINITY_FORMAT": ["", "x", " %n ", "%0.3n", "%"],
}
TOGETHER = [
    {},
    {"OMP_NUM_THREADS": "2,3"},
    {"OMP_NUM_THREADS": "2,3", "OMP_NESTED": "false"},
    {"OMP_NUM_THREADS": "2,3", "OMP_MAX_ACTIVE_LEVELS": "1"},
    {"OMP_NUM_THREADS": "2,3,4", "OMP_MAX_ACTIVE_LEVELS": "2"},
    {"OMP_NESTED": "true", "OMP_MAX_ACTIVE_LEVELS": "1"},
    {"OMP_NESTED": "true", "OMP_MAX_ACTIVE_LEVELS": "0"},
    {"OMP_NESTED": "false", "OMP_MAX_ACTIVE_LEVELS": "3"},
    {"OMP_NESTED": "x", "OMP_NUM_THREADS": "2,2"},
    {"OMP_NUM_THREADS": "x,2", "OMP_PROC_BIND": "close,spread"},
    {"OMP_PROC_BIND": "close,spread", "OMP_NESTED": "false"},
    {"OMP_PROC_BIND": "false", "OMP_PLACES": "cores"},
    {"OMP_PROC_BIND": "true", "OMP_PLACES": "{0}"},
    {"OMP_PROC_BIND": "x", "OMP_PLACES": "cores"},
    {"OMP_PROC_BIND": "close", "OMP_PLACES": "x"},
    {"OMP_PLACES": "{1}", "GOMP_CPU_AFFINITY": "0"},
    {"OMP_PLACES": "x", "GOMP_CPU_AFFINITY": "0"},
    {"OMP_PLACES": "x", "GOMP_CPU_AFFINITY": "x"},
    {"OMP_PROC_BIND": "false", "GOMP_CPU_AFFINITY": "0 1"},
    {"OMP_PROC_BIND": "true", "GOMP_CPU_AFFINITY": "1 0"},
    {"OMP_PROC_BIND": "spread", "GOMP_CPU_AFFINITY": "1 0"},
    {"OMP_PROC_BIND": "master", "GOMP_CPU_AFFINITY": "1 0"},
    {"OMP_PROC_BIND": "true", "GOMP_CPU_AFFINITY": "x"},
    {"OMP_PLACES": "", "OMP_PROC_BIND": ""},
    {"OMP_PROC_BIND": "spread,close", "OMP_NUM_THREADS": "2,3,4"},
    {"GOMP_STACKSIZE": "1m", "OMP_STACKSIZE": "2m"},
    {"GOMP_STACKSIZE": "1m", "OMP_STACKSIZE": "x"},
    {"GOMP_STACKSIZE": "x", "OMP_STACKSIZE": "2m"},
    {"GOMP_STACKSIZE": "1m", "OMP_STACKSIZE": ""},
    {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "5"},
    {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "5"},
    {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "x"},
    {"OMP_NUM_THREADS": "8", "OMP_THREAD_LIMIT": "3"},
    {"OMP_NUM_THREADS": "8", "OMP_THREAD_LIMIT": "1"},
    *({"OMP_NUM_THREADS": "2,3,4", "OMP_THREAD_LIMIT": limit} for limit in "2345678"),
    {"OMP_NUM_TEAMS": "3", "OMP_TEAMS_THREAD_LIMIT": "2"},
]
# Left out, since doc/openmp.md says that they differ: numbers of threads above an int's range, the
# rest of a value whose beginning libgomp accepts ("truex", "static,x"), negative GOMP_SPINCOUNTs,
# teams under OMP_DYNAMIC, a limit for several teams at once, CPUs in GOMP_CPU_AFFINITY that the
# process does not have, and CPUs in OMP_PLACES beyond a kernel CPU mask. These messages are in
# libgomp's words; the others have our own words after the variable's name.
SAME_WORDS = tuple(
    "libgomp: " + words
    for words in ("Stack size ", "None of the places ", "Number of places ", "Logical CPU ", "Trying to remove ")
)
USUAL = {
    "300000": "as usual",
    "20000": "as usual",
    "30000000000": "for long",
    "2000000": "for long",
}  # GOMP_SPINCOUNT, where it is not set


def seen(program, variables, libraries):
    """What the program prints, without what differs in each run, and whether libgomp has complained."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "WEFT_", "LD_"))
    } | variables
    if libraries:
        environment["LD_LIBRARY_PATH"] = libraries
    done = subprocess.run(
        [program], env=environment, capture_output=True, text=True, errors="backslashreplace", timeout=60
    )
    lines, said = [f"ends with {done.returncode}", *done.stdout.splitlines()], set()
    before = None
    for line in done.stderr.splitlines():
        if line.startswith("libgomp:"):
            name = re.search(r"variable (\w+)", line)
            said.add(f"complains of {name[1]}" if name and len(variables) > 1 else "complains")
            if line.startswith(SAME_WORDS):
                said.add(line)
            if before != "":
                said.add(f"no empty line before {line}")
        elif line:
            line = re.sub(r"thread \S+ ", "thread T ", line)  # a kernel number, or an address
            lines.append(re.sub(r"(?<=GOMP_SPINCOUNT = ')\d+", lambda count: USUAL.get(count[0], count[0]), line))
        before = line
    # The threads of a region come in any order.
    return sorted(lines, key=lambda line: line.startswith("level")) + sorted(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--weft", required=True, help="where the loader finds libgomp.so.1 and libweft.so")
    parser.add_argument("--some", action="store_true", help="every seventh of the cases")
    options = parser.parse_args()
    # Two CPUs, on any machine: the places above consist of them.
    if {0, 1} <= os.sched_getaffinity(0):
        os.sched_setaffinity(0, {0, 1})
        places = True
    else:
        places = False
    cases = [{name: value} for name, values in VALUES.items() for value in values] + TOGETHER
    cases = [case for case in cases if places or not {"OMP_PLACES", "GOMP_CPU_AFFINITY"} & set(case)]
    failed = 0
    for case in cases[::7] if options.some else cases:
        expected, found = seen(options.program, case, None), seen(options.program, case, options.weft)
        if expected != found:
            failed += 1
            print(" ".join(f"{name}={value!r}" for name, value in case.items()), "on libgomp (-) and on Weft (+):")
            print(
                "\n".join(
                    line
                    for line in difflib.unified_diff(expected, found, lineterm="", n=0)
                    if not re.match(r"---|\+\+\+|@@", line)
                )
            )
    print(f"{failed} of {len(cases)} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
