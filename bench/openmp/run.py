#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs OpenMP programs compiled by gcc on Weft's libgomp.so.1, on the compiler's and on LLVM's
libomp.so.5: the same binaries, in turn.

    bench/openmp/run.py BUILD_DIR [PART ...] [--rounds N] [--minutes M] [--quick] [--under COMMAND] [--figures DIR]

Parts: kernels, nested, oversubscribed, neighbours, dgemm (all of them if none is named). Writes
BUILD_DIR/bench/openmp/results/: for each part a file of JSON with every sample, and its tables; and
each figure as SVG and PNG if matplotlib is installed.
--rounds    how often each program is run on each runtime; each round runs all once, in rotating order
--minutes   no round of a part begins after so many
--quick     one round and fewer passes: a quick look, not a measurement
--under     a command before each program: taskset -c 0,1
--figures   copies the SVGs there as well
"""

import argparse
import contextlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measured import Figures, median, quantile, table, write_results  # noqa: E402

PATIENCE_S = 120  # for one process
NAMES = {
    "weft": "Weft",
    "libgomp": "libgomp",
    "libgomp_passive": "libgomp, passive",
    "libomp": "libomp",
    "libomp_hot": "libomp, hot teams",
}
COLOURS = {
    "weft": "#1f77b4",
    "libgomp": "#ff7f0e",
    "libgomp_passive": "#ffbb78",
    "libomp": "#2ca02c",
    "libomp_hot": "#98df8a",
}


@dataclass
class Case:
    """One program with its arguments; the runtimes run it in turn."""

    name: str
    program: str
    arguments: tuple = ()
    threads: int = 2
    passes: int = 5  # each is a sample
    environment: dict = field(default_factory=dict)
    neighbours: int = 0  # other processes that compute all the time


def installed(name: str) -> str | None:
    """The path at which the loader finds a library."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    for line in known.splitlines():
        if line.split() and line.split()[0] == name:
            return line.split(" => ")[-1].strip()
    return None


def runtimes(build: pathlib.Path, wanted: tuple) -> dict:
    """name -> environment, of the installed runtimes."""
    libomp = installed("libomp.so.5")
    every = {
        "weft": {"LD_LIBRARY_PATH": f"{build / 'bridge' / 'openmp'}:{build}"},
        "libgomp": {},
        "libgomp_passive": {"OMP_WAIT_POLICY": "passive"},
        # It has the entry points that gcc calls; preloaded, its symbols precede libgomp's.
        "libomp": {"LD_PRELOAD": libomp},
        "libomp_hot": {"LD_PRELOAD": libomp, "KMP_HOT_TEAMS_MAX_LEVEL": "2", "KMP_HOT_TEAMS_MODE": "1"},
    }
    found = {}
    for name in wanted:
        if name.startswith("libomp") and libomp is None:
            print(f"{name}: skipped, no libomp.so.5 (Debian's libomp-dev)")
        elif name == "weft" and not (build / "bridge" / "openmp" / "libgomp.so.1").exists():
            raise SystemExit(f"bench: {build / 'bridge' / 'openmp'} has no libgomp.so.1")
        else:
            found[name] = every[name]
    return found


def check(program: pathlib.Path, runtime: str, environment: dict, build: pathlib.Path) -> None:
    """Checks that the program loads this library."""
    met = subprocess.run(
        [program], env={**environment, "LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True
    ).stdout
    if runtime.startswith("libomp") != ("libomp.so.5" in met) or (runtime == "weft") != (
        str(build / "bridge" / "openmp") in met
    ):
        raise SystemExit(f"bench: {runtime} was to be measured, and another library would be:\n{met}")


# ---- running -------------------------------------------------------------------------------------


@contextlib.contextmanager
def neighbours(count: int):
    """Keeps `count` processes computing meanwhile."""
    there = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        if count:
            time.sleep(0.2)  # until each process has begun
        yield
    finally:
        for one in there:
            one.kill()
            one.wait()


class Runner:
    def __init__(self, build: pathlib.Path, quick: bool, under: list):
        self.programs = build / "bench" / "openmp"
        self.quick = quick
        self.under = under

    def run(self, case: Case, runtime: str, environment: dict) -> dict:
        """name -> samples in seconds; empty if the program did not finish in time."""
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_", "LD_"))
        }
        passes = min(case.passes, 2) if self.quick else case.passes
        command = [*self.under, str(self.programs / case.program), f"--passes={passes}", *case.arguments]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                env={**inherited, "OMP_NUM_THREADS": str(case.threads), **case.environment, **environment},
            )
        except subprocess.TimeoutExpired:
            print(f"{case.name} on {runtime}: not done after {PATIENCE_S} s", flush=True)
            return {}
        if done.returncode != 0:
            raise SystemExit(
                f"bench: {case.name} on {runtime} failed ({done.returncode}): {done.stderr.strip()[-600:]}"
            )
        samples = defaultdict(list)
        for line in done.stdout.splitlines():
            sample = json.loads(line)
            samples[sample["name"]].append(sample["value"] / 1e9)
        return samples

    def measure(self, cases: list, environments: dict, rounds: int, until: float) -> dict:
        """case -> runtime -> a list of samples in seconds for each round; empty if the program did
        not finish in time, and then it is not run again."""
        samples = {case.name: {runtime: [] for runtime in (*environments, "sequential")} for case in cases}
        order = list(environments)
        for turn in range(rounds):
            if turn != 0 and time.monotonic() > until:
                break
            for case in cases:
                with neighbours(case.neighbours):
                    for runtime in order:
                        of = samples[case.name][runtime]
                        if of and not of[-1]:
                            of.append([])
                            continue
                        run = self.run(case, runtime, environments[runtime])
                        for name, values in run.items():
                            samples[case.name]["sequential" if name.endswith("/sequential") else runtime].append(values)
                        if not run:
                            of.append([])
                order = order[1:] + order[:1]
            print(f"round {turn + 1} of {rounds}", flush=True)
        return samples


# ---- tables --------------------------------------------------------------------------------------


def all_of(rounds: list) -> list:
    return [value for values in rounds for value in values]


def ms(rounds: list) -> str:
    """Median and quartiles."""
    values = all_of(rounds)
    if not values:
        return f"over {PATIENCE_S:,} s"
    return f"{1e3 * median(values):.1f} ({1e3 * quantile(values, 0.25):.1f} to {1e3 * quantile(values, 0.75):.1f})"


def spread(values: list) -> str:
    return f"{median(values):.2f} ({quantile(values, 0.25):.2f} to {quantile(values, 0.75):.2f})"


def ratio(one: list, *others: list) -> str:
    """The ratio of the medians within a round to the best of the others in that round, since the
    machine's speed changes every few seconds. Then the ratio of the minimal samples of all
    rounds."""
    of_rounds = []
    for turn, values in enumerate(one):
        beside = [median(rounds[turn]) for rounds in others if rounds[turn]]
        if values and beside:
            of_rounds.append(median(values) / min(beside))
    if not of_rounds:
        return ""
    return (
        f"{spread(of_rounds)}; {min(all_of(one)) / min(min(all_of(rounds)) for rounds in others if all_of(rounds)):.2f}"
    )


def beside_others(samples: dict, environments: dict, title: str) -> str:
    """Weft's times, compared with the better of libgomp and libomp."""
    others = [name for name in environments if name != "weft"]
    rows = []
    for case, of in samples.items():
        rows.append(
            [
                case,
                *(ms(of[name]) for name in environments),
                *(ratio(of["weft"], of[name]) for name in others),
                ratio(of["weft"], *(of[name] for name in others)),
            ]
        )
    return table(
        [
            title,
            *(NAMES[name] for name in environments),
            *(f"Weft beside {NAMES[name]}" for name in others),
            "beside the better in each round",
        ],
        rows,
    )


# ---- the parts -----------------------------------------------------------------------------------

KERNELS = {"cg": ("cg", 5), "ft": ("ft", 5), "is": ("is", 10)}
CROWDS = (2, 8, 64)


def draw_passes(
    plots: Figures, samples: dict, environments: dict, name: str, title: str, width: float, scale: str = "linear"
) -> None:
    """Bars of the times of a pass, one group for each case."""
    figure, axes = plots.pyplot.subplots(figsize=(width, 3.4))
    bars(axes, samples, environments, lambda of, values: [1e3 * value for value in values])
    axes.set_yscale(scale)
    axes.set_ylabel("ms a pass (median, quartiles)")
    axes.set_title(title)
    plots.save(figure, name)


class Kernels:
    """Alone it costs nothing: cg, ft and is at 1 and at 2 threads."""

    wanted = ("weft", "libgomp", "libomp")
    rounds = 15

    def cases(self) -> list:
        return [
            Case(f"{name}, {threads}", program, (), threads, passes)
            for name, (program, passes) in KERNELS.items()
            for threads in (1, 2)
        ]

    def text(self, samples: dict, environments: dict) -> str:
        return beside_others(samples, environments, "ms a pass: kernel, threads")

    def draw(self, plots: Figures, samples: dict, environments: dict) -> None:
        draw_passes(plots, samples, environments, "kernels", "One program alone (kernel, threads)", 7)


class Nested:
    """Nested regions, on as many harts as there are."""

    wanted = ("weft", "libgomp", "libomp", "libomp_hot")
    rounds = 9
    shapes = (("2x2", 0), ("8x8", 0), ("16x16", 0), ("4x4x4", 0), ("2x2", 1), ("8x8", 1))

    def cases(self) -> list:
        return [
            Case(f"{levels}{', tasks' if tasks else ''}", "nested", (f"--levels={levels}", f"--tasks={tasks}"), 2, 3)
            for levels, tasks in self.shapes
        ]

    def text(self, samples: dict, environments: dict) -> str:
        rows = []
        for case, of in samples.items():
            # Each process also runs the sequential version, so all of them contribute samples.
            alone = all_of(of["sequential"])
            rows.append(
                [
                    case,
                    f"{1e3 * median(alone) / 2:.1f}",
                    *(ms(of[name]) for name in environments),
                    f"{median(all_of(of['weft'])) * 2 / median(alone):.2f}; "
                    f"{min(all_of(of['weft'])) * 2 / min(alone):.2f}",
                ]
            )
        return table(
            [
                "ms a pass: threads of each level",
                "half of the sequential run",
                *(NAMES[name] for name in environments),
                "Weft beside that: medians; least",
            ],
            rows,
        )

    def draw(self, plots: Figures, samples: dict, environments: dict) -> None:
        figure, axes = plots.pyplot.subplots(figsize=(8, 3.4))
        bars(axes, samples, environments, lambda of, values: [1e3 * value for value in values])
        axes.axhline(
            1e3 * median([value / 2 for of in samples.values() for value in all_of(of["sequential"])]),
            color="black",
            linewidth=0.8,
            linestyle=":",
            label="half of the sequential run",
        )
        axes.set_yscale("log")
        axes.set_ylabel("ms a pass (median, quartiles)")
        axes.set_title("64 items of an outer loop, each of 20 inner regions (threads of each level)")
        axes.legend(fontsize=7)
        plots.save(figure, "nested")


class Oversubscribed:
    """More threads than processors: cg, ft and is at 2, 8 and 64."""

    wanted = ("weft", "libgomp", "libgomp_passive", "libomp")
    rounds = 7

    def cases(self) -> list:
        return [
            Case(f"{name}, {threads}", program, (), threads, passes if threads == 2 else max(passes // 2, 2))
            for name, (program, passes) in KERNELS.items()
            for threads in CROWDS
        ]

    def text(self, samples: dict, environments: dict) -> str:
        rows = []
        for case, of in samples.items():
            kernel, threads = case.split(", ")
            base = samples[f"{kernel}, {CROWDS[0]}"]
            rows.append(
                [
                    case,
                    *(ms(of[name]) for name in environments),
                    *(ratio(of[name], base[name]) if threads != "2" else "" for name in environments),
                ]
            )
        return table(
            [
                "ms a pass: kernel, threads",
                *(NAMES[name] for name in environments),
                *(f"{NAMES[name]} beside its 2" for name in environments),
            ],
            rows,
        )

    def draw(self, plots: Figures, samples: dict, environments: dict) -> None:
        figure, all_axes = plots.pyplot.subplots(1, len(KERNELS), figsize=(9, 3.4))
        for axes, kernel in zip(all_axes, KERNELS):
            for name in environments:
                points = {
                    crowd: all_of(samples[f"{kernel}, {crowd}"][name])
                    for crowd in CROWDS
                    if all_of(samples[f"{kernel}, {crowd}"][name])
                }
                axes.errorbar(
                    [str(crowd) for crowd in points],
                    [1e3 * median(values) for values in points.values()],
                    yerr=[
                        [1e3 * (median(values) - quantile(values, 0.25)) for values in points.values()],
                        [1e3 * (quantile(values, 0.75) - median(values)) for values in points.values()],
                    ],
                    marker="o",
                    markersize=4,
                    linewidth=1.2,
                    color=COLOURS[name],
                    label=NAMES[name],
                )
            axes.set_yscale("log")
            axes.set_xlabel("threads on 2 processors")
            axes.set_title(kernel)
        all_axes[0].set_ylabel("ms a pass (median, quartiles)")
        all_axes[0].legend(fontsize=7)
        plots.save(figure, "oversubscribed")


class Neighbours:
    """Kernels and nested regions on 2 processors, beside one and two processes that always
    compute."""

    wanted = ("weft", "libgomp", "libgomp_passive")
    rounds = 9

    def cases(self) -> list:
        programs = [(name, program, (), 2 * passes) for name, (program, passes) in KERNELS.items()]
        programs.append(("nested 2x2", "nested", ("--levels=2x2",), 3))
        return [
            Case(f"{name}, {count}", program, arguments, 2, passes, neighbours=count)
            for count in (1, 2)
            for name, program, arguments, passes in programs
        ]

    def text(self, samples: dict, environments: dict) -> str:
        return beside_others(samples, environments, "ms a pass: program, neighbours")

    def draw(self, plots: Figures, samples: dict, environments: dict) -> None:
        draw_passes(
            plots, samples, environments, "neighbours", "Beside processes that compute (program, how many)", 8, "log"
        )


class Dgemm:
    """OpenBLAS' products: 8 pthreads with 8 threads each, and 8 pthreads with a thread each."""

    wanted = ("weft", "libgomp", "libgomp_passive", "libomp")
    rounds = 5

    def cases(self) -> list:
        return [
            Case(
                f"{callers}x{threads}, {size}",
                "dgemm",
                (f"--callers={callers}", f"--size={size}", f"--products={32 // callers * 256 // size}"),
                threads,
                3,
            )
            for size in (256, 512)
            for callers, threads in ((8, 1), (1, 2), (1, 8), (8, 8))
        ]

    def text(self, samples: dict, environments: dict) -> str:
        rows = []
        for case, of in samples.items():
            base = samples[f"8x1, {case.split(', ')[1]}"]
            rows.append([case, *(ms(of[name]) for name in environments), ratio(of["weft"], base["libgomp"])])
        return table(
            [
                "ms a pass: callers x threads, size",
                *(NAMES[name] for name in environments),
                "Weft beside libgomp's 8x1",
            ],
            rows,
        )

    def draw(self, plots: Figures, samples: dict, environments: dict) -> None:
        figure, axes = plots.pyplot.subplots(figsize=(8, 3.4))
        bars(axes, samples, environments, lambda of, values: [1e3 * value for value in values])
        axes.set_yscale("log")
        axes.set_ylabel("ms a pass (median, quartiles)")
        axes.set_title("OpenBLAS dgemm (callers x threads of each, size)")
        axes.legend(fontsize=7)
        plots.save(figure, "dgemm")


def bars(axes, samples: dict, environments: dict, scaled) -> None:
    width = 0.8 / len(environments)
    for k, name in enumerate(environments):
        shown = [(c, scaled(of, all_of(of[name]))) for c, of in enumerate(samples.values()) if all_of(of[name])]
        middle = [median(values) for _, values in shown]
        error = [
            [m - quantile(values, 0.25) for m, (_, values) in zip(middle, shown)],
            [quantile(values, 0.75) - m for m, (_, values) in zip(middle, shown)],
        ]
        axes.bar(
            [c + (k - (len(environments) - 1) / 2) * width for c, _ in shown],
            middle,
            width,
            yerr=error,
            error_kw={"linewidth": 0.7},
            color=COLOURS[name],
            label=NAMES[name],
        )
    axes.set_xticks(range(len(samples)), list(samples), fontsize=7)
    axes.legend(fontsize=7)


PARTS = {
    "kernels": Kernels(),
    "nested": Nested(),
    "oversubscribed": Oversubscribed(),
    "neighbours": Neighbours(),
    "dgemm": Dgemm(),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--under", type=shlex.split, default=[])
    parser.add_argument("--figures", type=pathlib.Path)
    options = parser.parse_args()
    for name in options.parts:
        if name not in PARTS:
            parser.error(f"{name} is no part; parts: {', '.join(PARTS)}")
    build = options.build.resolve()
    if not (build / "bench" / "openmp" / "cg").exists():
        parser.error(f"{build} has no programs: configure with -DWEFT_BENCH=ON and build the target bench_openmp")
    runner = Runner(build, options.quick, options.under)
    for name in options.parts or PARTS:
        part = PARTS[name]
        cases = part.cases()
        missing = {case.program for case in cases if not (runner.programs / case.program).exists()}
        if missing:
            print(
                f"{name}: skipped, {', '.join(sorted(missing))} was not built (OpenBLAS: Debian's "
                f"libopenblas0-openmp and libopenblas-openmp-dev)"
            )
            continue
        print(f"{name}: {part.__doc__}", flush=True)
        environments = runtimes(build, part.wanted)
        for runtime, environment in environments.items():
            check(runner.programs / "cg", runtime, environment, build)
        if name == "dgemm":
            # The libraries that `weft run` also preloads: OpenBLAS' threads poll for each other and
            # call sched_yield, and its callers poll for its single slot.
            besides = [
                build / "bridge" / "pthread" / "libweft_pthread.so",
                build / "bridge" / "openblas" / "libweft_openblas.so",
            ]
            environments["weft"] = {**environments["weft"], "LD_PRELOAD": ":".join(str(library) for library in besides)}
        samples = runner.measure(
            cases,
            environments,
            1 if options.quick else options.rounds or part.rounds,
            time.monotonic() + 60 * options.minutes,
        )
        results = runner.programs / "results" / name
        results.mkdir(parents=True, exist_ok=True)
        plots = Figures(results)
        write_results(
            results, f"## {part.__doc__}\n\n{part.text(samples, environments)}", options.quick, {"samples": samples}
        )
        if plots.pyplot:
            part.draw(plots, samples, environments)
        plots.copy_to(options.figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
