#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs Python programs that call OpenBLAS from several threads, without Weft and under `weft run`,
in turn (calls.py).

    bench/compose/blas.py BUILD_DIR [PART ...] [--pythons DIR] [--rounds N] [--passes N] [--figures DIR]

Parts: threads, alternating, joblib, start (all if none is named). Writes
BUILD_DIR/bench/compose/results-blas/: every sample as JSON, the tables, and figures if matplotlib is
installed.

threads:     1, 2 and 8 threads call eigh, LU, solve, matmul, eigvalsh.
alternating: products by turns with OpenMP loops, in one thread.
joblib:      k-means, nearest neighbours and gradient boosting in 4 and 8 threads of joblib's.
start:       how long the command itself takes, and the CPU time of an idle process.

--pythons   where `make python-env` has made the environments (build/python)
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

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 30  # for one process
OURS = ("OMP_", "GOMP_", "OPENBLAS_", "GOTO_", "MKL_", "LD_", "WEFT_", "TBB_")
# way -> (options of `weft run`, or None: without it; environment)
WAYS = {
    "original": (None, {}),
    "one": (None, {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}),
    "weft": ([], {}),
    "admit": (["--guests=admit"], {}),
}
NAMES = {"original": "original", "one": "BLAS=1", "weft": "Weft", "admit": "Weft, guests admitted"}
COLOURS = {"original": "#ff7f0e", "one": "#7f7f7f", "weft": "#1f77b4", "admit": "#17becf"}
SEVERAL = (("eigh", 200), ("eigh", 500), ("lu", 400), ("solve", 300), ("matmul", 256), ("matmul", 700))
ALONE = (*SEVERAL, ("eigvalsh", 150), ("eigvalsh", 300))
THREADS = [(*call, callers) for callers, calls in ((8, SEVERAL), (2, SEVERAL), (1, ALONE)) for call in calls]


class Runner:
    def __init__(self, build: pathlib.Path, passes: int):
        self.command = [str(build / "cmd" / "weft"), "run"]
        self.passes = passes
        self.hung: set = set()

    def run(self, python: str, arguments: list, way: str, environment: dict) -> float:
        """Median seconds of a pass; infinite: it has not ended in time."""
        options, said = WAYS[way]
        key = (python, *arguments, way, *environment.items())
        if key in self.hung:
            return float("inf")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        calls = [python, str(ROOT / "bench" / "compose" / "calls.py"), *map(str, arguments), str(self.passes)]
        command = calls if options is None else [*self.command, *options, "--", *calls]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env={**inherited, **environment, **said}, timeout=PATIENCE_S
            )
        except subprocess.TimeoutExpired:
            self.hung.add(key)
            return float("inf")
        if done.returncode != 0:
            raise SystemExit(f"bench: {' '.join(command)} failed ({done.returncode}): {done.stderr[-300:]}")
        return median([json.loads(line)["value"] for line in done.stdout.splitlines()])


def pythons_in(folder: pathlib.Path) -> dict:
    """name -> interpreter: today's wheels, those of NumPy 1.26, Debian's NumPy on OpenBLAS with pthreads."""
    found = {name: str(folder / name / "bin" / "python") for name in ("today", "numpy1")}
    found = {name: path for name, path in found.items() if pathlib.Path(path).exists()}
    debian = subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True)
    if debian.returncode == 0:
        found["Debian"] = "/usr/bin/python3"
    return found


def libraries_of(name: str) -> dict:
    if name != "Debian":
        return {}
    triplet = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True).stdout.strip()
    return {"LD_LIBRARY_PATH": f"/usr/lib/{triplet}/openblas-pthread"}


def measure(runner: Runner, rounds: int, rows: dict, ways: tuple, part: str) -> dict:
    samples: dict = {}
    for turn in range(rounds):
        for name, (python, arguments, environment) in rows.items():
            of = samples.setdefault(name, defaultdict(list))
            for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
                of[way].append(runner.run(python, arguments, way, environment))
        print(f"{part}: round {turn + 1} of {rounds}", flush=True)
    return samples


def spread(values: list) -> str:
    if median(values) == float("inf"):
        return f"over {PATIENCE_S} s"
    return f"{median(values):.2f} ({quantile(values, 0.25):.2f} to {quantile(values, 0.75):.2f})"


def ratios(over: list, under: list) -> list:
    return [one / best if best != float("inf") else 0 for one, best in zip(over, under)]


def table_of(samples: dict, ways: tuple, head: str) -> str:
    rows = []
    for name, of in samples.items():
        best = [min(pair) for pair in zip(of["original"], of["one"])]
        rows.append(
            [
                name,
                *(f"{1e3 * median(of[way]):.1f}" if median(of[way]) != float("inf") else "" for way in ways),
                spread(ratios(of["weft"], of["original"])),
                spread(ratios(of["weft"], of["one"])),
                spread(ratios(of["weft"], best)),
            ]
        )
    beside = ["Weft beside the original", "beside BLAS=1", "beside the better in each round"]
    return table([head, *(f"{NAMES[way]}, ms" for way in ways), *beside], rows)


def draw(plots: Figures, samples: dict, ways: tuple, part: str) -> None:
    figure, axes = plots.pyplot.subplots(figsize=(max(6, 0.35 * len(samples)), 3.8))
    width = 0.8 / len(ways)
    for index, way in enumerate(ways):
        times = [median(of[way]) for of in samples.values()]
        places = [place + (index - len(ways) / 2 + 0.5) * width for place in range(len(samples))]
        shown = [1e3 * time if time != float("inf") else 0 for time in times]
        axes.bar(places, shown, width, color=COLOURS[way], label=NAMES[way])
    axes.set_yscale("log")
    axes.set_xticks(range(len(samples)), list(samples), rotation=60, ha="right", fontsize=6)
    axes.set_ylabel("ms a pass (median)")
    axes.legend(fontsize=7)
    plots.save(figure, f"blas-{part}")


def rows_of(part: str, pythons: dict) -> dict:
    rows = {}
    for name, python in pythons.items():
        if part == "threads":
            for threads in (None, 8):
                said = {} if threads is None else {"OPENBLAS_NUM_THREADS": str(threads)}
                for kernel, size, callers in THREADS:
                    row = f"{name}, {'unset' if threads is None else threads}: {callers} x {kernel} {size}"
                    rows[row] = (python, [kernel, size, callers], {**libraries_of(name), **said})
        elif name != "Debian" and part == "alternating":
            rows[f"{name}: matmul 400 and an OpenMP loop"] = (python, ["alternating", 0, 1], {})
        elif name != "Debian" and part == "joblib":
            for callers in (4, 8):
                for kernel in ("kmeans", "neighbours", "boosting"):
                    rows[f"{name}: {callers} x {kernel}"] = (python, [kernel, 0, callers], {})
    return rows


IDLE = """
import time, numpy, scipy.linalg, sklearn.cluster
begun = time.process_time()
time.sleep(10)
print(time.process_time() - begun)
"""


def measure_start(runner: Runner, rounds: int, pythons: dict) -> tuple:
    import time

    samples = defaultdict(list)
    for _ in range(20 * rounds):
        for way, command in (("true", ["true"]), ("weft run -- true", [*runner.command, "--", "true"])):
            begun = time.perf_counter()
            subprocess.run(command, check=True)
            samples[way].append(time.perf_counter() - begun)
    rows = [[way, f"{1e3 * median(of):.2f} ms"] for way, of in samples.items()]
    for name, python in pythons.items():
        if name == "Debian":
            continue
        done = subprocess.run([*runner.command, "--", python, "-c", IDLE], capture_output=True, text=True, check=True)
        rows.append([f"{name}: CPU time of 10 idle s", f"{1e3 * float(done.stdout):.1f} ms"])
    return dict(samples), table(["what", "median"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", choices=[[], "threads", "alternating", "joblib", "start"], default=[])
    parser.add_argument("--pythons", type=pathlib.Path, default=ROOT / "build" / "python")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--figures", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    results = build / "bench" / "compose" / "results-blas"
    results.mkdir(parents=True, exist_ok=True)
    pythons = pythons_in(options.pythons.resolve())
    print(f"Python environments: {', '.join(pythons) or 'none (make python-env)'}")
    runner = Runner(build, options.passes)
    plots = Figures(results)
    samples, pages = {}, []
    for part in ("threads", "alternating", "joblib"):
        if options.parts and part not in options.parts:
            continue
        ways = ("original", "one", "weft", "admit") if part == "threads" else ("original", "one", "weft")
        samples[part] = measure(runner, options.rounds, rows_of(part, pythons), ways, part)
        pages.append(table_of(samples[part], ways, part))
        if plots.pyplot and samples[part]:
            draw(plots, samples[part], ways, part)
    if not options.parts or "start" in options.parts:
        samples["start"], page = measure_start(runner, options.rounds, pythons)
        pages.append(page)
    write_results(results, "\n\n".join(pages), False, samples)
    plots.copy_to(options.figures)


if __name__ == "__main__":
    main()
