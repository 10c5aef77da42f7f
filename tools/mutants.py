#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows that the simulator finds bugs: applies each patch of test/simulation/mutants to a copy of the tree, one at a
time, builds the scenarios there and looks for a seed that fails.

    tools/mutants.py                     every mutant, 20 searches each; prints the table of doc/simulation.md
    tools/mutants.py --searches 1 --most 10000   whether each is found at all: what `make test-soak` does
    tools/mutants.py --check             whether all patches fit the tree, and are listed in doc/simulation.md
    tools/mutants.py --only 'sleep_*'    those of these names; --all-scenarios looks for the scenarios that find them

A patch begins with a sentence that says what is wrong with it, and "Scenario: PATTERN", the scenarios that are to find
it ("Harts: N": on a virtual machine with so many). A search begins with a seed of its own; what is counted is how many
seeds it needs until one scenario fails.
"""
import argparse
import fnmatch
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "test" / "simulation" / "mutants"


def run(command, cwd, **more):
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def copy_tree(to):
    """Copies the working tree, without files that git ignores; unchanged files keep their time, so that a build is
    incremental."""
    listed = run(["git", "ls-files", "-co", "--exclude-standard", "-z"], ROOT).stdout.split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for name in wanted:
        source, target = ROOT / name, to / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        os.utime(target)
    for path in [p for p in to.rglob("*") if p.is_file()]:
        name = path.relative_to(to)
        if name.parts[0] != "build" and str(name) not in wanted:
            path.unlink()


def build(tree, jobs):
    if not (tree / "build" / "release" / "build.ninja").exists():
        done = run(["cmake", "--preset", "release", "-DWEFT_EXAMPLES=OFF"], tree)
        if done.returncode != 0:
            return done.stdout
    done = run(["cmake", "--build", "build/release", "--parallel", str(jobs), "--target", "simulation"], tree)
    return done.stdout if done.returncode != 0 else None


def simulate(tree, arguments, timeout):
    """Whether a scenario failed, and what the scenarios printed."""
    marks = [f"--{which}={tree}/test/simulation/{which}.txt" for which in ("outside", "punctual")]
    done = run(["build/release/simulation", "--no-shrink", "--quiet", *marks, *arguments], tree, timeout=timeout)
    return done.returncode != 0, done.stdout


class Mutant:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        head = path.read_text().partition("--- a/")[0]
        found = re.search(r"^Scenario: (.+)$", head, re.M)
        self.scenario = found.group(1).strip() if found else "*"
        harts = re.search(r"^Harts: (\d+)$", head, re.M)
        self.more = [f"--harts={harts.group(1)}"] if harts else []
        self.where = f"{self.scenario} {' '.join(self.more)}".strip()
        self.why = " ".join(head.partition("Scenario:")[0].split())

    def seeds(self, tree, first, most, timeout):
        """How many seeds from `first` on until a scenario fails, or None if none fails."""
        failed, text = simulate(
            tree,
            [f"--filter={self.scenario}", f"--first-seed={first}", f"--seeds={most}", "--go-on", *self.more],
            timeout,
        )
        found = [int(seed) for seed in re.findall(r"^FAILED .*, seed (\d+)", text, re.M)]
        if failed and not found:
            sys.exit(f"{self.name}: {text}")
        return min(found) - first + 1 if found else None


class Base:
    """The tree as built without a mutant: its sources with their times, and its build folder, so that files that one
    mutant has rebuilt need not be built again for the next."""

    def __init__(self, tree):
        self.tree, self.kept = tree, tree / "build" / "base"
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(tree / "build" / "release", self.kept, symlinks=True)

    def sources(self, mutant):
        return {self.tree / name for name in re.findall(r"^--- a/(\S+)", mutant.path.read_text(), re.M)}

    def restore(self, before):
        for path, (content, times) in before.items():
            path.write_bytes(content)
            os.utime(path, ns=times)
        shutil.rmtree(self.tree / "build" / "release")
        shutil.copytree(self.kept, self.tree / "build" / "release", symlinks=True)

    def state(self, mutant):
        return {
            path: (path.read_bytes(), (path.stat().st_atime_ns, path.stat().st_mtime_ns))
            for path in self.sources(mutant)
        }


def examine(mutant, tree, base, options):
    """A line of the table, or None if the mutant was not found."""
    before = base.state(mutant)
    applied = run(["patch", "-p1", "--no-backup-if-mismatch", "-i", str(mutant.path)], tree)
    if applied.returncode != 0:
        sys.exit(f"{mutant.name}: does not apply to this tree; renew it\n{applied.stdout}")
    try:
        wrong = build(tree, options.jobs)
        if wrong:
            sys.exit(f"{mutant.name}: could not be built\n{wrong}")
        if options.all_scenarios:
            print(simulate(tree, [f"--seeds={options.most}", "--go-on"], options.timeout)[1], flush=True)
            return mutant.name
        needed = [
            mutant.seeds(tree, 1 + 100_000 * search, options.most, options.timeout)
            for search in range(options.searches)
        ]
    finally:
        base.restore(before)
    counts = sorted(options.most + 1 if n is None else n for n in needed)
    if counts[0] > options.most:
        print(f"{mutant.name}: NOT FOUND by {options.most} seeds of {mutant.where}", flush=True)
        return None
    median, least, most = statistics.median(counts), counts[0], counts[-1]
    print(
        f"{mutant.name}: found; median {median:g} seeds (from {least} to {'more than ' if most > options.most else ''}"
        f"{min(most, options.most)}) of {mutant.where}",
        flush=True,
    )
    return (
        f"| `{mutant.name}` | {mutant.why} | `{mutant.where}` | {median:g} | {least} to {min(most, options.most)}"
        f"{'+' if most > options.most else ''} |"
    )


def check(mutants):
    """The errors, as sentences."""
    wrong = []
    listed = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "doc" / "simulation.md").read_text(), re.M))
    for mutant in mutants:
        applied = run(["patch", "--dry-run", "-p1", "-i", str(mutant.path)], ROOT)
        if applied.returncode != 0:
            wrong.append(f"{mutant.name} does not fit the tree any more; renew it\n{applied.stdout}")
        if mutant.scenario == "*":
            wrong.append(f"{mutant.name} has no line 'Scenario: PATTERN'")
    for name in sorted(listed ^ {mutant.name for mutant in mutants}):
        wrong.append(
            f"{name} is "
            f"{'listed in doc/simulation.md, and no patch' if name in listed else 'not listed in doc/simulation.md'}"
        )
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="patterns of names, with commas between them")
    parser.add_argument("--searches", type=int, default=20)
    parser.add_argument("--most", type=int, default=400, help="seeds of one search")
    parser.add_argument(
        "--all-scenarios", action="store_true", help="all scenarios instead of the mutant's own; prints what fails"
    )
    parser.add_argument("--check", action="store_true", help="build nothing")
    parser.add_argument("--timeout", type=int, default=1200, help="seconds for one search")
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT / "build" / "mutants", help="where the copy is")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    mutants = [
        Mutant(path)
        for path in sorted(MUTANTS.glob("*.patch"))
        if any(fnmatch.fnmatch(path.stem, pattern) for pattern in options.only.split(","))
    ]
    if not mutants:
        sys.exit(f"there is no mutant '{options.only}' in {MUTANTS}")
    if options.check:
        wrong = check(mutants)
        print("\n".join([*wrong, f"{len(mutants)} mutants"]))
        return 1 if wrong else 0
    started = time.monotonic()
    copy_tree(options.tree)
    wrong = build(options.tree, options.jobs)
    if wrong:
        sys.exit(wrong)
    base = Base(options.tree)
    lines = [examine(mutant, options.tree, base, options) for mutant in mutants]
    print("\n".join(line for line in lines if line))
    print(
        f"{sum(line is not None for line in lines)} of {len(lines)} mutants found, {time.monotonic() - started:.0f} s"
    )
    return 0 if all(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
