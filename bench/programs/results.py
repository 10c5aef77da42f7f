# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measurements, kept as JSON row by row, and the verdict of a row."""
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
from dataclasses import dataclass

from program import ROOT, SYSTEM_PYTHON, Absent, Program, found
from measured import median, median_interval

BOUND = 1.03  # no row's interval may lie above this
PAIRS = 21  # needed for a verdict, except for rows that are clearly faster
PACKAGES = (
    "libc6",
    "gcc-12",
    "libgomp1",
    "libopenblas0-pthread",
    "libopenblas0-openmp",
    "python3-numpy",
    "r-base-core",
    "graphicsmagick",
    "imagemagick",
    "elk-lapw",
    "libtbb12",
    "xz-utils",
    "coreutils",
)
WHEELS = ("numpy", "scipy", "scikit-learn", "joblib", "lightgbm")


@dataclass
class Row:
    """A program at one number of threads, and the results of its pairs: ratios of `weft run` to the
    plain run of the pair."""

    program: Program
    setting: str
    pairs: list
    problem: str | None

    def middle(self, way: str, what: str) -> float:
        return median([pair[way][what] for pair in self.pairs])

    def switches(self, way: str) -> float:
        return median([pair[way]["voluntary"] + pair[way]["involuntary"] for pair in self.pairs])

    def ratios(self, what: str) -> list:
        # A plain run that is shorter than a tick of the kernel's clock shows no CPU time.
        return [pair["weft"][what] / max(pair["plain"][what], 1e-3) for pair in self.pairs]

    def ratio(self, what: str) -> float:
        return median(self.ratios(what))

    def interval(self, what: str) -> tuple | None:
        return median_interval(self.ratios(what))

    def stopped(self) -> bool:
        """Whether plain runs were ended at the limit: the ratios are then upper bounds."""
        return any(pair["stopped"] for pair in self.pairs)

    def clearly_faster(self) -> bool:
        return all((interval := self.interval(what)) is not None and interval[1] < 1 for what in ("elapsed", "cpu"))

    def decided_early(self, seconds: float) -> bool:
        """Whether the pairs so far have taken this long, and more pairs would not change the
        verdict."""
        spent = sum(pair[way]["elapsed"] for pair in self.pairs for way in ("plain", "weft"))
        return spent > seconds and self.clearly_faster()

    def above(self, bound: float) -> list:
        """Which of elapsed time and CPU time have their whole interval above the bound."""
        return [what for what in ("elapsed", "cpu") if (interval := self.interval(what)) and interval[0] > bound]

    def verdict(self) -> str:
        """wrong, few (pairs), target (an individual one, missed), slower, faster, or same: no
        difference was shown."""
        if self.problem:
            return "wrong"
        if len(self.pairs) < PAIRS and not self.clearly_faster():
            return "few"
        target = self.program.targets.get(self.setting)
        if target is not None:
            if self.above(target):
                return "target"
        elif self.above(BOUND):
            return "slower"
        return "faster" if self.interval("elapsed")[1] < 1 / BOUND else "same"


def machine() -> dict:
    processor = platform.processor() or platform.machine()
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = re.findall(r"^model name\s*: (.*)$", cpuinfo.read_text(), re.M)
        processor = names[0] if names else processor
    name = platform.freedesktop_os_release().get("PRETTY_NAME", "") if pathlib.Path("/etc/os-release").exists() else ""
    return {"processor": processor, "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(), "system": name}


def said_by(command: list) -> str:
    """The output of a command; empty if it is not installed."""
    try:
        done = subprocess.run([found(command[0], ""), *command[1:]], capture_output=True, text=True)
    except Absent:
        return ""
    return done.stdout + done.stderr


def versions(built: pathlib.Path) -> dict:
    """The versions of the measured software: Debian's packages, wheels, and the rest as each
    reports it."""
    said = said_by(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *PACKAGES])
    listed = dict(re.findall(r"^([a-z]\S*) (\d\S*)$", said, re.M))
    python = built / "venv" / "bin" / "python"
    if python.exists():
        ask = f"import importlib.metadata as m\nfor name in {WHEELS!r}: print(name, m.version(name))"
        wheels = re.findall(r"^(\S+) (\d\S*)$", said_by([str(python), "-c", ask]), re.M)
        listed |= {f"{name} (wheel)": version for name, version in wheels}
    for name, command, pattern in (
        ("Python", [SYSTEM_PYTHON, "--version"], r"Python (\S+)"),
        ("Java", ["java", "-version"], r'version "([^"]+)"'),
        ("Go", ["go", "version"], r"go version go(\S+)"),
    ):
        if match := re.search(pattern, said_by(command)):
            listed[name] = match.group(1)
    return listed


def identity(build: pathlib.Path) -> str:
    """A hash of the command and the libraries that it loads, as built."""
    sums = hashlib.sha256()
    for pattern in ("cmd/weft", "cmd/libweft_report.so", "libweft.so", "bridge/*/lib*.so"):
        for path in sorted(build.glob(pattern)):
            sums.update(path.read_bytes())
    return sums.hexdigest()[:12]


def commit() -> str:
    return said_by(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]).split("\n")[0] or "unknown"


class Results:
    """The JSON file. A row is kept until it is measured again; rows of another machine are
    refused."""

    def __init__(self, path: pathlib.Path, build: pathlib.Path, built: pathlib.Path):
        self.path, self.build = path, identity(build)
        here = machine()
        self.kept = {"machine": here, "rows": {}}
        if path.exists():
            self.kept = json.loads(path.read_text())
            if self.kept["machine"] != here:
                raise SystemExit(f"bench: {path} is of another machine ({self.kept['machine']}): move it away")
        self.kept["versions"] = versions(built)

    def row(self, program: Program, setting: str) -> Row:
        kept = self.kept["rows"].get(f"{program.name}/{setting}", {})
        return Row(program, setting, kept.get("pairs", []), kept.get("problem"))

    def of_this_build(self, row: Row) -> bool:
        return self.kept["rows"].get(f"{row.program.name}/{row.setting}", {}).get("build") == self.build

    def keep(self, row: Row) -> None:
        today = datetime.date.today().isoformat()
        self.kept["rows"][f"{row.program.name}/{row.setting}"] = {
            "build": self.build,
            "commit": commit(),
            "measured": today,
            "problem": row.problem,
            "pairs": row.pairs,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Renamed, so that an interrupt leaves either the old file or the new one.
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(self.kept, indent=1))
        beside.rename(self.path)

    def rows(self, programs: dict) -> list:
        """The rows in the order of the programs, then of their settings; rows without a pair only
        if they were wrong."""
        every = [self.row(program, setting) for program in programs.values() for setting in program.settings]
        return [row for row in every if row.pairs or row.problem]

    def commits(self) -> list:
        return sorted({row["commit"] for row in self.kept["rows"].values()})

    def builds(self) -> int:
        return len({row["build"] for row in self.kept["rows"].values()})
