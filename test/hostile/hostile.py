#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs hostile_workload where little is to be had: what comes of it is a status or takes longer, never a hang, a crash,
or a leak.

    test/hostile/hostile.py quick|full --program build/debug/hostile_workload [--sanitized]

The conditions are limits of the kernel's (address space, processes, descriptors), one CPU, half a CPU by a cgroup,
signals that hold up the OS threads for 50 ms each, eight times as many streams as CPUs, and pairs of these. A run that
takes longer than its time is a hang: its OS threads are shown and it is killed. What this machine does not let us do is
skipped with a word. Each condition that takes something away must have been noticed by one of its runs, or it has shown
nothing.
"""
import argparse
import collections
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

MiB = 1 << 20
CPUS = len(os.sched_getaffinity(0))
# No other process has this user: the limit counts all processes of a user.
UNPRIVILEGED = 61000 + os.getpid() % 4000
LINE = re.compile(r"(\d+) rounds began; refused for want of memory (\d+), by the system (\d+);")

Run = collections.namedtuple("Run", "ok began refused said seconds")


class Skip(Exception):
    """The machine does not allow a condition, and the reason."""


# ---- one run -------------------------------------------------------------------------------------


def threads_of(process):
    """Returns what each OS thread of a hanging process is doing, as far as that is visible."""
    shown = []
    gdb = shutil.which("gdb")
    if gdb:
        try:
            said = subprocess.run(
                [
                    gdb,
                    "-nx",
                    "-batch",
                    "-iex",
                    "set debuginfod enabled off",
                    "-p",
                    str(process),
                    "-ex",
                    "thread apply all bt 12",
                ],
                capture_output=True,
                text=True,
                timeout=30,
            )
            return said.stdout
        except subprocess.TimeoutExpired:
            pass
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        words = []
        for name in ["comm", "wchan", "syscall"]:
            try:
                words.append((task / name).read_text().strip())
            except OSError:
                words.append("?")
        shown.append(f"{task.name}: " + " ".join(words))
    return "\n".join(shown)


def run(program, arguments, prepare=None, seconds=30, leaks=True):
    """Runs the workload; `prepare` is called in the new process before it begins. `leaks`: the sanitizer may search
    for leaks."""
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        try:
            process = subprocess.Popen(
                [program, *map(str, arguments)],
                stdout=out,
                stderr=subprocess.STDOUT,
                preexec_fn=prepare,
                env={**os.environ, "ASAN_OPTIONS": f"detect_leaks={int(leaks)}"},
                close_fds=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return Run(True, 0, 1, f"could not be started: {error}", 0)  # the limit is below what the start needs
        hung = ""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            hung = f"hangs: not over after {seconds} s\n{threads_of(process.pid)}\n"
            process.kill()
            process.wait()
        out.seek(0)
        said = out.read()
    if process.returncode == 127 and "loading shared libraries" in said:
        return Run(True, 0, 1, said, 0)  # below what the start needs as well
    found = LINE.search(said)
    took = time.monotonic() - begun
    if hung or process.returncode != 0:
        return Run(False, 0, 0, f"{hung}status {process.returncode}\n{said}", took)
    if found is None:
        return Run(False, 0, 0, f"no last line\n{said}", took)
    began, memory, system = map(int, found.groups())
    return Run(True, began, memory + system, said.strip(), took)


# ---- the conditions ----
# Each returns a list of (name, what the new process does first, arguments, whether something must
# be refused).


def limit(which, value):
    return lambda: resource.setrlimit(which, (value, value))


def one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def start_size(program):
    return int(subprocess.run([program, "size"], capture_output=True, text=True, check=True).stdout)


def address_space(program, steps, streams=2):
    """Limits from just above what the program has when it starts, each step 2 MiB more."""
    base = start_size(program) + MiB
    return [
        (
            f"{(base + step * 2 * MiB) // MiB} MiB of address space",
            limit(resource.RLIMIT_AS, base + step * 2 * MiB),
            [8, streams],
        )
        for step in steps
    ]


def as_nobody(value):
    def prepare():
        resource.setrlimit(resource.RLIMIT_NPROC, (value, value))
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(UNPRIVILEGED)
            os.setuid(UNPRIVILEGED)

    return prepare


def processes(program, values):
    if os.getuid() != 0:
        raise Skip("RLIMIT_NPROC counts all processes of a user, and only root can become one that has none")
    return [(f"{value} OS threads", as_nobody(value), [8, 3]) for value in values]


def descriptors(values):
    return [(f"{value} descriptors", limit(resource.RLIMIT_NOFILE, value), [8, 2]) for value in values]


class HalfACpu:
    """A cgroup of either version with half a CPU, for the duration of a with statement."""

    def __enter__(self):
        problems = []
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            before, _, after = line.partition(" - ")
            kind, _, options = after.split()[:3]
            if kind not in ("cgroup", "cgroup2") or (kind == "cgroup" and "cpu" not in options.split(",")):
                continue
            self.path = pathlib.Path(before.split()[4]) / f"weft-hostile-{os.getpid()}"
            try:
                self.path.mkdir()
            except OSError as error:
                problems.append(str(error))
                continue
            try:
                if kind == "cgroup2":
                    (self.path / "cpu.max").write_text("50000 100000")
                    self.tasks = self.path / "cgroup.procs"
                else:
                    (self.path / "cpu.cfs_period_us").write_text("100000")
                    (self.path / "cpu.cfs_quota_us").write_text("50000")
                    self.tasks = self.path / "tasks"
                return self
            except OSError as error:
                problems.append(str(error))
                self.path.rmdir()
        raise Skip("no cgroup with a CPU quota can be made" + "".join(f"; {problem}" for problem in problems))

    def __exit__(self, *_):
        for _ in range(100):
            try:
                return self.path.rmdir()
            except OSError:
                time.sleep(0.02)  # the last process is ending

    def enter(self):
        self.tasks.write_text(str(os.getpid()))


def both(*steps):
    def prepare():
        for step in steps:
            step()

    return prepare


def conditions(program, full, sanitized):
    """Returns a list of (name, a function that returns the runs, whether something must be refused in one of them)."""
    rounds = 60 if full else 20
    many = 8 * CPUS
    size = start_size(program) if not sanitized else 0
    cpu = HalfACpu()

    def half(runs):
        with cpu:
            yield from (
                (name, both(cpu.enter, prepare), arguments) if prepare else (name, cpu.enter, arguments)
                for name, prepare, arguments in runs
            )

    steps = range(0, 40) if full else [0, 8, 16, 40]
    found = [
        ("nothing is missing", lambda: [("", None, [rounds, 2])], False),
        ("one CPU", lambda: [("", one_cpu, [rounds, 3])], False),
        ("8 streams for each CPU", lambda: [("", None, [rounds, many])], False),
        ("half a CPU", lambda: half([("", None, [8, 2])]), False),
        ("OS threads are held up", lambda: [("", None, [60, 3, "storm"])], False),
        ("few OS threads", lambda: processes(program, range(1, 10) if full else [1, 3, 5]), True),
    ]
    if not sanitized:
        # The sanitizers have terabytes of shadow memory, and read memory through pipes that they
        # create.
        found.append(("little address space", lambda: address_space(program, steps), True))
        found.append(("few descriptors", lambda: descriptors(range(4, 12) if full else [4, 5, 7]), True))
    if not full:
        return found

    def squeezed(prepare, streams, *more):
        """The runs in a little address space, where the build can have such a limit."""
        spaces = [size + 12 * MiB, size + 40 * MiB] if not sanitized else [None]
        return [
            (
                "" if space is None else f"{space // MiB} MiB",
                both(*([limit(resource.RLIMIT_AS, space)] if space else []), *([prepare] if prepare else [])),
                [8, streams, *more],
            )
            for space in spaces
        ]

    found += [
        ("one CPU, 8 times as many streams", lambda: [("", one_cpu, [8, 8])], False),
        ("one CPU, OS threads are held up", lambda: [("", one_cpu, [60, 3, "storm"])], False),
        ("half a CPU, 8 streams for each CPU", lambda: half([("", None, [8, many])]), False),
        ("half a CPU, OS threads are held up", lambda: half([("", None, [60, 2, "storm"])]), False),
        (
            "few OS threads, one CPU",
            lambda: [
                (name, both(one_cpu, prepare), arguments) for name, prepare, arguments in processes(program, [2, 4])
            ],
            True,
        ),
        ("8 streams for each CPU, OS threads are held up", lambda: [("", None, [20, many, "storm"])], False),
    ]
    if not sanitized:
        found += [
            ("one CPU, few descriptors", lambda: [("", both(one_cpu, limit(resource.RLIMIT_NOFILE, 4)), [8, 2])], True),
            ("little address space, one CPU", lambda: squeezed(one_cpu, 2), True),
            ("little address space, few descriptors", lambda: squeezed(limit(resource.RLIMIT_NOFILE, 6), 2), True),
            ("little address space, 8 streams for each CPU", lambda: squeezed(None, many), True),
            (
                "little address space, few OS threads",
                lambda: [
                    (name, both(limit(resource.RLIMIT_AS, size + 40 * MiB), prepare), arguments)
                    for name, prepare, arguments in processes(program, [3])
                ],
                True,
            ),
        ]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", choices=["quick", "full"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--sanitized", action="store_true", help="no limits of the address space and of descriptors")
    parser.add_argument("--only", default="", help="conditions whose name contains this")
    options = parser.parse_args()

    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        # Where another user can run it, too.
        os.chmod(folder, 0o755)
        program = shutil.copy(options.program, folder)
        seconds = 60 if options.sanitized else 30
        for name, runs, must_refuse in conditions(program, options.size == "full", options.sanitized):
            if options.only not in name:
                continue
            begun, count, refused, complete, wrong = time.monotonic(), 0, 0, 0, []
            try:
                for which, prepare, arguments in runs():
                    # The leak sanitizer searches in a process of its own.
                    one = run(program, arguments, prepare, seconds, leaks="few OS threads" not in name)
                    count += 1
                    refused += one.refused
                    complete += one.ok and one.began > 0
                    if not one.ok:
                        wrong.append(f"{which or name}: {one.said}")
            except Skip as why:
                print(f"{name}: skipped: {why}", flush=True)
                continue
            if must_refuse and not refused and not wrong:
                wrong.append("nothing was refused: the limit was not felt")
            if not complete and not wrong:
                wrong.append("no run began")
            print(
                f"{name}: {count} runs, {complete} of them began, {refused} refusals, {time.monotonic() - begun:.1f} s"
                + (", FAILED" if wrong else ""),
                flush=True,
            )
            for what in wrong:
                print(what, flush=True)
            failed += bool(wrong)
    print(f"{failed} conditions failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
