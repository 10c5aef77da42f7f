#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs whole programs alternately without and with `weft run`: elapsed time, CPU time and context
switches.

    bench/programs/run.py BUILD [--programs NAME ...] [--threads unset 1 2 8 64] [--pairs 21] [--again]
                          [--minutes M] [--seconds S] [--page FILE]
    bench/programs/run.py BUILD --check [GROUP ...]     only compares outputs, with small inputs: a test

A pair is one run without and one with `weft run`, in alternating order. The ratio of a pair is that
of `weft run` to the plain run; a row shows the median of its pairs' ratios and a 95 % interval for
it (README.md).

--programs  only rows of these programs; a word with * matches names (numpy-*)
--threads   values of OMP_NUM_THREADS; unset: the variable is not set
--pairs     of each row, 21 by default. Rows that BUILD/bench/programs/results.json has with so many pairs are kept, and
            others are continued where they are of this build of Weft
--again     measures them anew
--minutes   no row begins after so many
--seconds   a row that has taken longer ends after 6 pairs if `weft run` is clearly faster; 40 by default
--page      writes doc/when-it-helps.md, from all rows that are kept
--list      lists the programs, and says which are not installed
"""
import argparse
import fnmatch
import pathlib
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from program import ROOT, SETTINGS, Absent, Place  # noqa: E402
from groups import GROUPS, PROGRAMS  # noqa: E402
from measured import table  # noqa: E402
from page import ratio_text, written_page  # noqa: E402
from results import PAIRS, Results, Row  # noqa: E402
from turns import Wrong, adopt_orphans, pair  # noqa: E402

SKIPPED = 77
CHECKED = ("2", "8")  # settings of the test


class Bench:
    def __init__(self, build: pathlib.Path, small: bool):
        self.weft = [str(build / "cmd" / "weft"), "run", "--"]
        self.built = ROOT / "build" / "programs"
        self.small = small
        self.absent = {}

    def prepared(self, program, setting: str, folder: str) -> tuple:
        """The place and the command; None if the program is not installed, which is recorded."""
        place = Place(self.built, pathlib.Path(folder), setting, self.small)
        try:
            place.environment(program)
            return place, program.command(place)
        except Absent as absent:
            self.absent[program.name] = str(absent)
            return None

    def measure(self, row: Row, pairs: int, seconds: float) -> bool:
        """Adds pairs until there are `pairs`. False if the program is not installed."""
        with tempfile.TemporaryDirectory() as folder:
            prepared = self.prepared(row.program, row.setting, folder)
            if prepared is None:
                return False
            place, command = prepared
            try:
                pair(row.program, place, command, self.weft, 0)  # fills the caches; not counted
                while len(row.pairs) < pairs:
                    row.pairs.append(pair(row.program, place, command, self.weft, len(row.pairs)))
                    if row.decided_early(seconds):
                        break
            except Wrong as wrong:
                row.problem = str(wrong)
        return True

    def check(self, program) -> list:
        """The errors in the program's outputs; nothing is timed."""
        wrong = []
        for setting in [setting for setting in CHECKED if setting in program.settings] or program.settings[:1]:
            with tempfile.TemporaryDirectory() as folder:
                prepared = self.prepared(program, setting, folder)
                if prepared is None:
                    return wrong
                try:
                    pair(program, *prepared, self.weft, 0)
                    print(f"{program.name}, OMP_NUM_THREADS {setting}: the same", flush=True)
                except Wrong as found:
                    wrong.append(f"{program.name}, OMP_NUM_THREADS {setting}: {found}")
        return wrong


def tell_absent(bench: Bench) -> None:
    for name, what in bench.absent.items():
        print(f"skipped: {name}: not installed: {what}")


def check(bench: Bench, groups: list) -> int:
    programs = [program for group in groups or GROUPS for program in GROUPS[group]]
    wrong = [sentence for program in programs for sentence in bench.check(program)]
    tell_absent(bench)
    for sentence in wrong:
        print(f"FAILED: {sentence}")
    if len(bench.absent) == len(programs):
        return SKIPPED
    return 1 if wrong else 0


def told(row: Row) -> list:
    if not row.pairs:
        return [row.program.name, row.setting, *[""] * 5, "wrong"]
    times = [f"{row.middle(way, 'elapsed'):.3f}" for way in ("plain", "weft")]
    switches = f"{row.switches('plain'):,.0f} -> {row.switches('weft'):,.0f}"
    return [
        row.program.name,
        row.setting,
        *times,
        ratio_text(row, "elapsed"),
        ratio_text(row, "cpu"),
        switches,
        f"{row.verdict()} ({len(row.pairs)})",
    ]


HEAD = ["program", "threads", "plain, s", "weft run, s", "elapsed, ratio", "CPU, ratio", "switches", "verdict (pairs)"]


def measured(bench: Bench, results: Results, options: argparse.Namespace) -> list:
    """The requested rows, as far as there was time."""
    rows, late, until = [], 0, time.monotonic() + 60 * options.minutes
    for setting in options.threads:
        for name in options.programs:
            program = PROGRAMS[name]
            if setting not in program.settings or name in bench.absent:
                continue
            row = results.row(program, setting)
            usable = results.of_this_build(row) or len(row.pairs) >= options.pairs
            if options.again or row.problem or not usable:
                row = Row(program, setting, [], None)
            if len(row.pairs) < options.pairs and not row.decided_early(options.seconds):
                if time.monotonic() > until:
                    late += 1
                    continue
                if not bench.measure(row, options.pairs, options.seconds):
                    continue
                results.keep(row)
                print("  ".join(told(row)), flush=True)
            rows.append(row)
    if late:
        print(f"{late} rows: not begun, the {options.minutes:g} minutes are over")
    return rows


def summary(rows: list, bench: Bench, results: Results) -> int:
    print("\n" + table(HEAD, [told(row) for row in rows]) + "\n")
    tell_absent(bench)
    if results.builds() > 1:
        print("kept rows are of different builds of Weft; --again measures them anew")
    sentences = {
        "slower": "above 1.03 with the whole interval:",
        "target": "behind the target of its own:",
        "wrong": "WRONG:",
        "few": f"without a verdict, as {PAIRS} pairs are needed:",
    }
    for verdict, sentence in sentences.items():
        for row in [row for row in rows if row.verdict() == verdict]:
            print(f"{sentence} {row.program.name}, OMP_NUM_THREADS {row.setting} {row.problem or ''}".rstrip())
    return 1 if any(row.problem for row in rows) else 0


def names(words: list, parser: argparse.ArgumentParser) -> list:
    chosen = []
    for word in words:
        fitting = fnmatch.filter(PROGRAMS, word)
        if not fitting:
            parser.error(f"no program is named {word}; there are: {', '.join(PROGRAMS)}")
        chosen += [name for name in fitting if name not in chosen]
    return chosen


def listing(bench: Bench) -> int:
    for name, program in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            ready = bench.prepared(program, program.settings[0], folder) is not None
        print(f"{name:24} {'' if ready else 'NOT INSTALLED: ' + bench.absent[name] + '; '}{program.what}")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--programs", nargs="+", default=["*"])
    parser.add_argument("--threads", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--minutes", type=float, default=24 * 60)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", nargs="*", metavar="GROUP", choices=GROUPS)
    options = parser.parse_args()
    options.programs = names(options.programs, parser)
    if options.pairs < 1:
        parser.error(f"--pairs {options.pairs}: at least 1")
    if not (options.build / "cmd" / "weft").exists():
        parser.error(f"{options.build} has no cmd/weft: build the target weft_command")
    return options


def main() -> int:
    options = arguments()
    adopt_orphans()
    bench = Bench(options.build, small=options.check is not None)
    if options.list:
        return listing(bench)
    if options.check is not None:
        return check(bench, options.check)
    results = Results(options.build / "bench" / "programs" / "results.json", options.build, bench.built)
    rows = measured(bench, results, options)
    status = summary(rows, bench, results)
    if options.page:
        options.page.write_text(written_page(results, PROGRAMS))
        print(f"The page: {options.page}")
    return status


if __name__ == "__main__":
    sys.exit(main())
