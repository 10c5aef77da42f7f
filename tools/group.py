#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one group of tests, within its budget.

    tools/group.py --build build/asan --group asan --size quick

A group is what a build folder's CTest entries carry as a label (release, models, debug, asan, tsan, aarch64, lean,
fuzz); so are the size (quick, full, soak) and the budget ("budget=120s"), which all tests of one group and size share.
The budget is printed before; at twice that a single test, and at three times that the group is stopped, with every
process it started, and has failed. A group without a test has failed too: nobody would see that a filter matches
nothing.
"""
import argparse
import collections
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

# In multiples of the budget. A test that hangs is stopped earlier than its group, so that the other
# tests get their turn.
STOPPED_AT = 3
TEST_STOPPED_AT = 2
PR_SET_CHILD_SUBREAPER = 36

Result = collections.namedtuple("Result", "group size passed failed seconds budget note")


class Wrong(Exception):
    """The group cannot be run, and the reason."""


def filters(group, size):
    return ["-L", f"^{re.escape(group)}$", "-L", f"^{re.escape(size)}$"]


def listed(build, group, size):
    """The tests of the group: {name: labels}."""
    shown = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1", *filters(group, size)], capture_output=True, text=True
    )
    if shown.returncode != 0:
        raise Wrong(f"ctest cannot list the tests of {build}: {shown.stderr.strip()}")
    tests = {}
    for test in json.loads(shown.stdout)["tests"]:
        labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
        tests[test["name"]] = labels[0] if labels else []
    # CTest also lists the set-ups of fixtures, whatever their labels.
    return {name: labels for name, labels in tests.items() if group in labels and size in labels}


def budget_of(tests):
    """The budget in seconds, from the label that all the tests share."""
    budgets = {label for labels in tests.values() for label in labels if label.startswith("budget=")}
    bare = [name for name, labels in tests.items() if not any(l.startswith("budget=") for l in labels)]
    if bare:
        raise Wrong(f"tests without a budget label: {', '.join(sorted(bare))}")
    if len(budgets) != 1:
        raise Wrong(f"the tests of one group and size disagree on its budget: {', '.join(sorted(budgets))}")
    found = re.fullmatch(r"budget=(\d+)s", budgets.pop())
    if not found:
        raise Wrong("a budget label reads budget=<seconds>s")
    return int(found.group(1))


def children():
    """The processes whose parent is this one, orphans of the tests included (this process is their subreaper)."""
    me, found = os.getpid(), []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue  # it has ended meanwhile
        if parent == me:
            found.append(int(entry))
    return found


def reap():
    """Reaps children that have ended: a test's children that it did not wait for become this process's."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def kill_all():
    """Kills the processes that this one started, and their descendants: each kill hands it the next generation."""
    while True:
        found = children()
        if not found:
            return
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in found:
            try:
                os.waitpid(process, 0)
            except ChildProcessError:
                pass  # reaped by its Popen


LINE = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) \.+\s*(.*?)\s+[\d.]+ sec\s*$")
SUMMARY = re.compile(r"^\d+% tests passed, (\d+) tests failed out of (\d+)\s*$")
START = re.compile(r"^\s*Start\s+\d+: (\S+)\s*$")


def run(build, group, size, jobs):
    """Runs the group and returns its Result."""
    try:
        tests = listed(build, group, size)
        if not tests:
            raise Wrong(f"there is no test in it ({build})")
        budget = budget_of(tests)
    except Wrong as wrong:
        print(f"group {group}, {size}: {wrong}", flush=True)
        return Result(group, size, 0, 1, 0, 0, str(wrong))

    print(f"group {group}, {size}: budget {budget} s, {len(tests)} tests", flush=True)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = time.monotonic()
    process = subprocess.Popen(
        [
            "ctest",
            "-j",
            str(jobs),
            "--output-on-failure",
            "--no-tests=error",
            "--no-label-summary",
            "--timeout",
            str(TEST_STOPPED_AT * budget),
            *filters(group, size),
        ],
        cwd=build,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    stopped = threading.Event()

    def stop():
        stopped.set()
        kill_all()

    timer = threading.Timer(STOPPED_AT * budget, stop)
    timer.start()
    running, done, summary = set(), {}, None
    try:
        for line in process.stdout:
            if not (START.match(line) or re.match(r"^\s*\d+/\d+ Test\s+#\d+: .* Passed ", line)):
                print(line, end="", flush=True)
            if found := START.match(line):
                running.add(found.group(1))
            elif found := LINE.match(line):
                running.discard(found.group(1))
                done[found.group(1)] = found.group(2).endswith("Passed")
            elif found := SUMMARY.match(line):
                summary = int(found.group(1)), int(found.group(2))
        status = process.wait()
    except BaseException:
        timer.cancel()
        kill_all()
        raise
    timer.cancel()
    seconds = time.monotonic() - started
    reap()
    if not stopped.is_set() and children():
        print(f"group {group}, {size}: tests left processes behind; they are killed", flush=True)
        kill_all()

    note = ""
    if stopped.is_set():
        note = f"stopped at {STOPPED_AT} times its budget"
        passed = sum(done.values())
        failed = len(tests) - passed
        print(f"group {group}, {size}: {note}; still running: {', '.join(sorted(running)) or 'nothing'}", flush=True)
    elif summary is None:
        note = f"ctest ended with status {status} and no summary"
        passed, failed = sum(done.values()), max(1, len(tests) - sum(done.values()))
        print(f"group {group}, {size}: {note}", flush=True)
    else:
        failed, total = summary
        passed = total - failed
        if status != 0 and failed == 0:
            failed, note = 1, f"ctest ended with status {status}"
        elif seconds > budget:
            note = "over its budget"
    print(f"group {group}, {size}: took {seconds:.0f} s of {budget} s", flush=True)
    return Result(group, size, passed, failed, seconds, budget, note)


def end_on_sigterm():
    """Makes SIGTERM an exception, as SIGINT is, so that no process that this one started outlives it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def main():
    end_on_sigterm()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--group", required=True)
    parser.add_argument("--size", required=True, choices=["quick", "full", "soak"])
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    result = run(options.build, options.group, options.size, options.jobs)
    print(f"{result.passed} passed, {result.failed} failed")
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
