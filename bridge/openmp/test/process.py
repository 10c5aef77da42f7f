#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How processes with regions end: each case of process.c, on the libgomp that LD_LIBRARY_PATH names or on that of the
compiler.

    process.py --program PROGRAM --plugin LIBRARY [--no-python] [--only NAME...] [--without NAME...]
"""
import argparse
import os
import signal
import subprocess
import sys

# What each case ends with, and what it has printed.
CASES = {
    "exit_0": (5, "bye\n"),
    "exit_3": (8, "bye\n"),
    "now_0": (5, ""),
    "now_3": (8, ""),
    "exit_nested": (9, ""),
    "exit_in_task": (11, ""),
    "aborts": (-signal.SIGABRT, ""),
    "error": (1, ""),
    "main_ends": (0, ""),
    "signals": (0, ""),
    "killed": (-signal.SIGINT, ""),
    "own_mask": (0, ""),
    "plugins": (0, ""),
    "stacks": (0, ""),
    "small_stacks": (0, ""),
    "thread_ends": (0, ""),
    "keys": (0, ""),
    "at_exit": (0, "bye\n"),
    "at_exit_in_region": (7, "bye\n"),
    "no_threads": (1, ""),
    "no_more_threads": (1, "4\nbye\n"),
    "just_2": (0, ""),
    "just_4": (0, ""),
    "just_8": (0, ""),
    "too_few_2": (1, ""),
    "too_few_4": (1, ""),
    "too_few_8": (1, ""),
    "grows_to_8": (0, ""),
    "few_more": (0, ""),
    "no_memory": (1, ""),
    "interrupted_0": (0, ""),
    "interrupted_1": (0, ""),
}
SETTINGS = {
    "stacks": {"OMP_STACKSIZE": "64M"},
    "small_stacks": {"OMP_STACKSIZE": "1b", "WEFT_OMP_TASK_KIND": "full"},
    "few_more": {"WEFT_RESCUE": "off"},
}  # which may start more on a machine that is busy
# These cases need a user of their own, since the kernel counts a user's threads.
OF_ANOTHER_USER = {
    "no_threads",
    "no_more_threads",
    "just_2",
    "just_4",
    "just_8",
    "too_few_2",
    "too_few_4",
    "too_few_8",
    "grows_to_8",
}
# libgomp's messages, by which scripts know what has happened.
NO_THREAD = "libgomp: Thread creation failed: Resource temporarily unavailable"
SAID = {
    "no_threads": NO_THREAD,
    "no_more_threads": NO_THREAD,
    "too_few_2": NO_THREAD,
    "too_few_4": NO_THREAD,
    "too_few_8": NO_THREAD,
    "no_memory": "libgomp: Out of memory allocating ",
    "error": "libgomp: fatal error: error directive encountered: of the program's",
}
# As threadpoolctl does it.
THREADPOOL = """
import ctypes
library = ctypes.CDLL("libgomp.so.1")
before = library.omp_get_max_threads()
library.omp_set_num_threads(3)
assert library.omp_get_max_threads() == 3, library.omp_get_max_threads()
library.omp_set_num_threads(before)
assert library.omp_get_max_threads() == before >= 1
plugin = ctypes.CDLL(PLUGIN)
plugin.plugin_sum.restype = ctypes.c_long
import threading
results = []
threads = [threading.Thread(target=lambda: results.append(plugin.plugin_sum(4))) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert results == [4950] * 4, results
"""


def run(command, settings):
    return subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument(
        "--no-python", action="store_true", help="without ctypes: a sanitizer's run-time library would come too late"
    )
    options = parser.parse_args()

    failed = 0
    for name, (status, printed) in CASES.items():
        if (options.only and name not in options.only) or name in options.without:
            continue
        try:
            result = run([options.program, name, options.plugin], SETTINGS.get(name, {}))
        except subprocess.TimeoutExpired:
            print(f"{name}: does not end")
            failed += 1
            continue
        wrong = result.returncode != status or result.stdout != printed
        wrong |= SAID.get(name, "") not in result.stderr
        if name in OF_ANOTHER_USER and result.returncode == 77:
            print(f"{name}: left out: it cannot be another user here, and root has no limit")
            wrong = False
        if wrong:
            print(
                f"{name}: ends with {result.returncode} for {status}, has printed {result.stdout!r}\n"
                f"{result.stderr[-2000:]}"
            )
        failed += wrong
    if not options.no_python and not options.only:
        result = run(
            [
                "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable,
                "-c",
                THREADPOOL.replace("PLUGIN", repr(options.plugin)),
            ],
            {},
        )
        if result.returncode != 0:
            print(f"python: {result.stderr[-2000:]}")
            failed += 1
    print(f"{failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
