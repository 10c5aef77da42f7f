#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where units are shown, OpenMP threads are shown with their place in their teams: in the report of a deadlock, in a
dump at a signal, and by gdb, for the process and for a core file of it. The program is shown.c.

    bridge/openmp/test/shown.py --program build/release/bridge/openmp/openmp_shown [--gdb gdb --script
    tools/gdb/weft.py]
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

PATIENCE_S = 60
TEAM = r"team 0x[0-9a-f]+"
# The teams as thread 1 sees them: threads of level 2 are shown with their team's place.
INNER = r"OpenMP thread {} of 2, level 2, (" + TEAM + r") in thread 1 of 3, level 1, (" + TEAM + ")"
OUTER = r"OpenMP thread {} of 3, level 1, (" + TEAM + ")"


class Looked:
    """The program, which stands still, and its standard error."""

    def __init__(self, options, **environment):
        self.text, self.more = "", threading.Condition()
        self.process = subprocess.Popen(
            [options.program], stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            with self.more:
                self.text += line
                self.more.notify_all()

    def wait_for(self, what):
        with self.more:
            if not self.more.wait_for(lambda: what in self.text, PATIENCE_S):
                sys.exit(f"no '{what}' in\n{self.text}")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()


def check(where, text):
    """Each thread is shown once, and the threads of a team with one address."""
    inner = [re.findall(INNER.format(number), text) for number in (0, 1)]
    outer = [re.findall(r"(?<! in )" + OUTER.format(number), text) for number in (0, 2)]
    if any(len(found) != 1 for found in inner + outer):
        sys.exit(f"{where}: not each thread once: {inner} {outer}\n{text}")
    if inner[0] != inner[1] or outer[0] != outer[1] or inner[0][0][1] != outer[0][0] or inner[0][0][0] == outer[0][0]:
        sys.exit(f"{where}: the teams differ, or do not: {inner} {outer}\n{text}")


def look(options, *commands):
    words = [
        options.gdb,
        "-nx",
        "-batch",
        "-iex",
        "set debuginfod enabled off",
        "-iex",
        "set width 0",
        "-iex",
        "set pagination off",
    ]
    for command in (f"source {options.script}", *commands):
        words += ["-ex", command]
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S).stdout


def check_gdb(options, process, place):
    core = pathlib.Path(place) / "core"
    live = look(options, f"attach {process.pid}", "weft units", f"generate-core-file {core}", "detach")
    if "ptrace: Operation not permitted" in live:
        print("SKIPPED in part: ptrace is not permitted here")
        return
    check("gdb", live)
    unit = re.search(r"^(\d+) .*OpenMP thread 2 of 3", live, re.M)
    dead = look(options, f"file {options.program}", f"core-file {core}", "weft units", f"weft bt {unit[1]}")
    backtrace = dead[dead.index(f"unit {unit[1]} 'openmp' is OpenMP thread 2 of 3, level 1, team 0x") :]
    check("gdb, of a core file", dead[: dead.index(backtrace)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--gdb")
    parser.add_argument("--script")
    options = parser.parse_args()
    looked = Looked(options, WEFT_DUMP="USR1", WEFT_GUARD="mprotect")
    try:
        looked.wait_for("weft: end of the report")
        check("the report of a deadlock", looked.text)
        before = len(looked.text)
        looked.process.send_signal(signal.SIGUSR1)
        looked.wait_for("weft: end of the dump")
        check("a dump", looked.text[before:])
        if options.gdb:
            with tempfile.TemporaryDirectory(prefix="weft-shown-") as place:
                check_gdb(options, looked.process, place)
    finally:
        looked.end()


if __name__ == "__main__":
    main()
