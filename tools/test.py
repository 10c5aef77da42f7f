#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the presets and runs the groups of tests, one after the other.

    tools/test.py quick        what every change must pass: `make test`
    tools/test.py full         quick and full ones: `make test-full`
    tools/test.py soak         the long ones: `make test-soak`; --group NAME for one of them

A group that fails does not keep the later ones from running. The last line is "N passed, M failed", the sum of
what CTest counted; a group that cannot be built or run counts as one failure.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # writes nothing into the tree
import group as groups

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Group, and the preset whose build folder its tests are in.
GROUPS = {
    "release": "release",
    "models": "release",
    "simulation": "release",
    "debug": "debug",
    "asan": "asan",
    "tsan": "tsan",
    "aarch64": "aarch64",
    "lean": "lean",
    "fuzz": "fuzz",
}
# Groups without quick tests: `make test` leaves them out, and does not build them.
NEVER_QUICK = {"lean", "fuzz"}
SIZES = {"quick": ["quick"], "full": ["quick", "full"], "soak": ["soak"]}


def quiet(command):
    """Runs a command whose output matters only when it fails."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout, flush=True)
    return done.returncode == 0


def targets(build, tests):
    """The targets to build for these tests: files of the build folder that their command lines name, and targets that
    labels "needs=<target>" name besides."""
    shown = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], cwd=ROOT, capture_output=True, text=True)
    known = set(re.findall(r"^([^:\n]+): ", shown.stdout, re.M))
    needed, here = set(), f"{ROOT}/{build}/"
    # CTest itself lists the command of a test only once its program exists.
    for file in (ROOT / build).rglob("CTestTestfile.cmake"):
        for name, arguments in re.findall(r"^add_test\((?:\[=\[)?(.+?)(?:\]=\])? (.*)\)$", file.read_text(), re.M):
            if name in tests:
                words = re.findall(r'"((?:[^"\\]|\\.)*)"', arguments)
                needed |= {os.path.normpath(word[len(here) :]) for word in words if word.startswith(here)} & known
    for labels in tests.values():
        needed |= {label[len("needs=") :] for label in labels if label.startswith("needs=")}
    return sorted(needed)


def build(preset, names, sizes, jobs):
    """Configures and builds a preset: the programs that the tests of these sizes run, and all of release, because that
    is what is installed. Returns False if that fails."""
    folder = f"build/{preset}"
    started = time.monotonic()
    # Detects the machine's packages again: some may have been installed since the folder was first
    # configured.
    configure = ["cmake", "--preset", preset, "-DWEFT_TESTS=ON", "-UWEFT_HAVE_*"]
    if not quiet(configure):
        return False
    command = ["cmake", "--build", folder, "--parallel", str(jobs)]
    wanted = targets(
        folder,
        {name: labels for g in names for size in sizes for name, labels in groups.listed(folder, g, size).items()},
    )
    if preset == "release":
        wanted.append("all")
    if not wanted:
        return True
    command += ["--target", *wanted]
    if not sys.stdout.isatty():
        command += ["--", "--quiet"]
    print(f"build {preset}", flush=True)
    if subprocess.run(command, cwd=ROOT).returncode != 0:
        return False
    print(f"build {preset}: took {time.monotonic() - started:.0f} s", flush=True)
    return True


def table(results):
    rows = [("group", "size", "passed", "failed", "time", "budget", "")]
    rows += [
        (r.group, r.size, str(r.passed), str(r.failed), f"{r.seconds:.0f} s", f"{r.budget} s", r.note) for r in results
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        left = [row[i].ljust(widths[i]) for i in range(2)]
        right = [row[i].rjust(widths[i]) for i in range(2, 6)]
        print("  ".join([*left, *right, row[6]]).rstrip())


def run_preset(preset, names, sizes, jobs, optional):
    """Builds a preset and runs its groups; returns their results. Sizes in `optional` may have no test."""
    try:
        built = build(preset, names, sizes, jobs)
    except groups.Wrong as wrong:
        print(wrong, flush=True)
        built = False
    if not built:
        print(f"build {preset}: FAILED", flush=True)
        return [groups.Result(name, sizes[0], 0, 1, 0, 0, "could not be built") for name in names]
    folder = str(ROOT / "build" / preset)
    return [
        groups.run(folder, name, size, jobs)
        for name in names
        for size in sizes
        if not (size == "quick" and name in NEVER_QUICK) and (size not in optional or groups.listed(folder, name, size))
    ]


def main():
    groups.end_on_sigterm()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=SIZES)
    parser.add_argument("--group", choices=GROUPS, help="only this group")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()

    chosen = [options.group] if options.group else list(GROUPS)
    if not options.group and options.what == "quick":
        chosen = [name for name in chosen if name not in NEVER_QUICK]
    # Some groups have no longer tests; that is an error only for a group that was asked for by
    # name.
    optional = {"full", "soak"} if not options.group else {"full"}
    started = time.monotonic()
    results = []
    for preset in dict.fromkeys(GROUPS[name] for name in chosen):
        names = [name for name in chosen if GROUPS[name] == preset]
        results += run_preset(preset, names, SIZES[options.what], options.jobs, optional)

    print()
    table(results)
    print(f"all of it, builds included: {time.monotonic() - started:.0f} s")
    passed, failed = sum(r.passed for r in results), sum(r.failed for r in results)
    if passed + failed == 0:
        print("no test was run")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted")
