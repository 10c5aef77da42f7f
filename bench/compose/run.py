#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs that use TBB, and TBB with OpenMP inside, without Weft and under `weft run`: the
same binaries, in turn.

    bench/compose/run.py BUILD_DIR [PART ...] [--rounds N] [--passes N] [--figures DIR]

Parts: alone, mixed (both if none is named). Writes BUILD_DIR/bench/compose/results/: for each part
a file of JSON with every sample, its tables, and figures if matplotlib is installed.

alone: TBB's own programs at 1 and at 2 threads, beside the original.
mixed: OpenMP in TBB, at N x M threads. The best of the settings that a user could find by hand
(TBB 2 x OpenMP 1, 1 x 2, 1 x 1) is what Weft's times are compared with, in each round.

--rounds    how often each program is run in each way; each round runs all once, in rotating order
--passes    samples of one run
--figures   copies the SVGs there as well
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
from collections import defaultdict

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measured import Figures, median, quantile, table, write_results  # noqa: E402

PATIENCE_S = 120  # for one process
ALONE = ("tree_sum", "preorder", "fibonacci", "parallel_for", "reduce", "sort", "flow_graph")
MIXED = ("barriers", "loops", "dgemm")
SHAPES = ((2, 2), (8, 8), (16, 16))
TUNED = ((2, 1), (1, 2), (1, 1))
COLOURS = {"tuned": "#7f7f7f", "libgomp": "#ff7f0e", "passive": "#ffbb78", "weft": "#1f77b4", "clause": "#17becf"}
NAMES = {
    "tuned": "best by hand",
    "libgomp": "libgomp",
    "passive": "libgomp, passive",
    "weft": "Weft",
    "clause": "Weft, full teams",
}


class Runner:
    def __init__(self, build: pathlib.Path, passes: int):
        self.programs = build / "bench" / "compose"
        self.weft = [str(build / "cmd" / "weft"), "run", "--"]
        self.passes = passes

    def run(self, program: str, arguments: list, weft: bool, environment: dict) -> tuple:
        """Median seconds of a pass, and voluntary kernel switches of the process."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OMP_", "GOMP_", "KMP_", "LD_", "WEFT_", "TBB_", "TCM_"))
        }
        command = [*(self.weft if weft else []), str(self.programs / program), f"--passes={self.passes}", *arguments]
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**inherited, **environment},
        )
        try:
            output, _ = child.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return (float("inf"), 0)
        if child.returncode != 0:
            raise SystemExit(f"bench: {' '.join(command)} failed ({child.returncode})")
        return (median([json.loads(line)["value"] / 1e9 for line in output.splitlines()]), 0)


class Switches:
    """Voluntary kernel switches of the children that were waited for meanwhile."""

    def __enter__(self):
        import resource

        self.usage = lambda: resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
        self.before = self.usage()
        return self

    def __exit__(self, *_):
        self.count = self.usage() - self.before


def spread(values: list) -> str:
    if not values:
        return ""
    if median(values) == float("inf"):
        return f"over {PATIENCE_S} s"
    return f"{median(values):.2f} ({quantile(values, 0.25):.2f} to {quantile(values, 0.75):.2f})"


def ms(values: list) -> str:
    if median(values) == float("inf"):
        return f"over {PATIENCE_S} s"
    return f"{1e3 * median(values):.1f} ({1e3 * quantile(values, 0.25):.1f} to {1e3 * quantile(values, 0.75):.1f})"


# ---- TBB alone -----------------------------------------------------------------------------------


def measure_alone(runner: Runner, rounds: int) -> dict:
    samples = {f"{kernel}, {threads}": {"plain": [], "weft": []} for kernel in ALONE for threads in (1, 2)}
    for turn in range(rounds):
        for name, of in samples.items():
            kernel, threads = name.split(", ")
            order = ("plain", "weft") if turn % 2 == 0 else ("weft", "plain")
            for way in order:
                time, _ = runner.run("alone", [f"--kernel={kernel}", f"--threads={threads}"], way == "weft", {})
                of[way].append(time)
        print(f"alone: round {turn + 1} of {rounds}", flush=True)
    return samples


def table_of_alone(samples: dict) -> str:
    rows = []
    for name, of in samples.items():
        beside = [weft / plain for weft, plain in zip(of["weft"], of["plain"])]
        rows.append(
            [name, ms(of["plain"]), ms(of["weft"]), spread(beside), f"{min(of['weft']) / min(of['plain']):.2f}"]
        )
    return table(
        ["ms a pass: program, threads", "TBB", "under Weft", "beside, in each round", "least beside least"], rows
    )


def draw_alone(plots: Figures, samples: dict) -> None:
    figure, axes = plots.pyplot.subplots(figsize=(8, 3.4))
    for place, (name, of) in enumerate(samples.items()):
        beside = [weft / plain for weft, plain in zip(of["weft"], of["plain"])]
        middle = median(beside)
        axes.bar(place, middle, color=COLOURS["weft"])
        axes.errorbar(
            place,
            middle,
            yerr=[[middle - quantile(beside, 0.25)], [quantile(beside, 0.75) - middle]],
            color="black",
            linewidth=0.8,
        )
    axes.axhline(1, color="black", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(samples)), list(samples), rotation=45, ha="right")
    axes.set_ylabel("time beside TBB without Weft")
    axes.set_title("TBB alone (program, threads)")
    plots.save(figure, "alone")


# ---- OpenMP in TBB -------------------------------------------------------------------------------


def ways_of(outer: int, inner: int) -> dict:
    """way -> (under Weft, arguments, environment)"""
    shape = [f"--outer={outer}", f"--inner={inner}"]
    threads = {"OMP_NUM_THREADS": str(inner)}
    return {
        "libgomp": (False, shape, threads),
        "passive": (False, shape, {**threads, "OMP_WAIT_POLICY": "passive"}),
        "weft": (True, shape, threads),
        "clause": (True, [*shape, "--clause=1"], {**threads, "WEFT_OMP_MAX_THREADS": "full"}),
    }


def measure_mixed(runner: Runner, rounds: int, kernels: tuple) -> dict:
    samples: dict = {}
    hung = set()
    for turn in range(rounds):
        for kernel in kernels:
            tuned = []
            for outer, inner in TUNED:
                _, arguments, environment = ways_of(outer, inner)["libgomp"]
                tuned.append(runner.run("mixed", [f"--kernel={kernel}", *arguments], False, environment)[0])
            for outer, inner in SHAPES:
                of = samples.setdefault(f"{kernel}, {outer}x{inner}", defaultdict(list))
                of["tuned"].append(min(tuned))
                ways = list(ways_of(outer, inner).items())
                for way, (weft, arguments, environment) in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
                    if (kernel, outer, way) in hung:
                        of[way].append(float("inf"))
                        continue
                    with Switches() as switches:
                        time, _ = runner.run("mixed", [f"--kernel={kernel}", *arguments], weft, environment)
                    of[way].append(time)
                    of[f"{way} switches"].append(switches.count)
                    if time == float("inf"):
                        hung.add((kernel, outer, way))
        print(f"mixed: round {turn + 1} of {rounds}", flush=True)
    return samples


def table_of_mixed(samples: dict) -> str:
    rows = []
    for name, of in samples.items():
        beside = {
            way: [one / best for one, best in zip(of[way], of["tuned"])]
            for way in ("libgomp", "passive", "weft", "clause")
        }
        rows.append(
            [
                name,
                ms(of["tuned"]),
                *(spread(beside[way]) for way in ("libgomp", "passive", "weft", "clause")),
                *(f"{median(of[f'{way} switches']):,.0f}" for way in ("libgomp", "weft", "clause")),
            ]
        )
    head = ["kernel, TBB's threads x OpenMP's", "best by hand, ms"]
    head += [f"{NAMES[way]}, beside" for way in ("libgomp", "passive", "weft", "clause")]
    head += [f"switches: {NAMES[way]}" for way in ("libgomp", "weft", "clause")]
    return table(head, rows)


def draw_mixed(plots: Figures, samples: dict) -> None:
    figure, axes = plots.pyplot.subplots(figsize=(9, 3.6))
    ways = ("tuned", "libgomp", "passive", "weft", "clause")
    width = 0.8 / len(ways)
    for index, way in enumerate(ways):
        times = [median(of[way]) for of in samples.values()]
        places = [place + (index - len(ways) / 2 + 0.5) * width for place in range(len(samples))]
        shown = [1e3 * time if time != float("inf") else 0 for time in times]
        axes.bar(places, shown, width, color=COLOURS[way], label=NAMES[way])
    axes.set_yscale("log")
    axes.set_xticks(range(len(samples)), list(samples), rotation=30, ha="right")
    axes.set_ylabel("ms a pass (median)")
    axes.set_title("64 TBB tasks with OpenMP regions (TBB's threads x OpenMP's)")
    axes.legend(fontsize=7)
    plots.save(figure, "mixed")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", choices=[[], "alone", "mixed"], default=[])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--figures", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    programs = build / "bench" / "compose"
    if not (programs / "alone").exists():
        raise SystemExit("bench: the programs are not built: they need oneTBB (Debian's libtbb-dev) and gcc")
    results = programs / "results"
    results.mkdir(parents=True, exist_ok=True)
    runner = Runner(build, options.passes)
    plots = Figures(results)
    samples, pages = {}, []
    if not options.parts or "alone" in options.parts:
        samples["alone"] = measure_alone(runner, options.rounds)
        pages.append(table_of_alone(samples["alone"]))
        if plots.pyplot:
            draw_alone(plots, samples["alone"])
    if not options.parts or "mixed" in options.parts:
        linked = subprocess.run(["ldd", programs / "mixed"], capture_output=True, text=True).stdout
        kernels = MIXED if "openblas" in linked else MIXED[:2]
        if kernels != MIXED:
            print("dgemm: skipped, no OpenBLAS built with OpenMP (Debian's libopenblas0-openmp)")
        samples["mixed"] = measure_mixed(runner, options.rounds, kernels)
        pages.append(table_of_mixed(samples["mixed"]))
        if plots.pyplot:
            draw_mixed(plots, samples["mixed"])
    write_results(results, "\n\n".join(pages), False, samples)
    plots.copy_to(options.figures)


if __name__ == "__main__":
    main()
