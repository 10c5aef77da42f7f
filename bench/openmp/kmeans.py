#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""OpenMP k-means by the kind of explicit tasks, Figure 16 of the dynamic promotion paper: kmeans.c,
points per second and the share of tasks that find a lock held.

    bench/openmp/kmeans.py [--build build/release] [--rounds 5] [--points 40000] [--threads 64] [--workers N] [--locks 1
    4 ...] [--figures DIR]

Each round runs all variants in turn, for each number of locks: tasks on members (Weft's default),
tasks of each kind (WEFT_OMP_TASK_KIND), and libgomp. The numbers of locks go from 1 to K x workers,
with K = 24 clusters. Writes BUILD/bench/openmp/results/: kmeans.json with every sample, kmeans.md,
and the figure as SVG and PNG if matplotlib is installed.
"""

import argparse
import json
import os
import pathlib
import platform
import sys
from collections import defaultdict

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from libraries import compiled, environments, output_of  # noqa: E402
from measured import COLOURS, NAMES, Figures, median, quantile, table  # noqa: E402

CLUSTERS = 24
KINDS = ("full", "lsa", "roc", "ss", "sc", "auto", "hosted")
WAYS = ("members", *KINDS, "libgomp")
LABELS = {**NAMES, "hosted": "hosted", "members": "on members", "libgomp": "libgomp"}
STYLES = {**COLOURS, "hosted": "#8c564b", "members": "#000000", "libgomp": "#7f7f7f"}


def environment_of(way: str, by_library: dict) -> dict:
    if way == "libgomp":
        return by_library["libgomp"]
    return by_library["Weft"] | ({"WEFT_OMP_TASK_KIND": way} if way in KINDS else {})


def draw(figures: Figures, samples: dict, locks: list) -> None:
    figure, (rate, share) = figures.pyplot.subplots(1, 2, figsize=(9, 3.6))
    for way in WAYS:
        style = {
            "color": STYLES[way],
            "label": LABELS[way],
            "marker": "o",
            "markersize": 3,
            "linestyle": "--" if way in ("members", "libgomp") else "-",
        }
        rate.plot(locks, [median([point["rate"] for point in samples[way][count]]) / 1e6 for count in locks], **style)
        share.plot(locks, [100 * median([point["share"] for point in samples[way][count]]) for count in locks], **style)
    for axes, what in ((rate, "million points per second"), (share, "tasks that meet a lock that is held, %")):
        axes.set(xlabel="locks", ylabel=what, xscale="log", ylim=(0, None), xticks=locks)
        axes.set_xticklabels(str(count) for count in locks)
        axes.minorticks_off()
    share.legend(fontsize=7)
    figures.save(figure, "kmeans")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--points", type=int, default=40000)
    options.add_argument("--threads", type=int, default=64, help="of the outer region")
    options.add_argument(
        "--workers",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="as many copies of each cluster's sums at most",
    )
    options.add_argument("--locks", type=int, nargs="+")
    options.add_argument("--figures", type=pathlib.Path, help="copies the SVG there as well")
    said = options.parse_args()
    build = said.build.resolve()
    locks = said.locks or [1, 4, 12, CLUSTERS] + ([CLUSTERS * said.workers] if said.workers > 1 else [])
    program = compiled(HERE / "kmeans.c", build / "bench" / "openmp")
    by_library = environments(build)
    samples = defaultdict(lambda: defaultdict(list))
    for number in range(said.rounds):
        turn = number % len(WAYS)
        for count in locks:
            for way in WAYS[turn:] + WAYS[:turn]:
                words = output_of(
                    [program, count, said.points, said.threads, 2], environment_of(way, by_library)
                ).split()
                samples[way][count].append({"rate": float(words[3]), "share": float(words[5])})

    results = build / "bench" / "openmp" / "results"
    results.mkdir(parents=True, exist_ok=True)
    rates, shares = [], []
    for way in WAYS:
        of = {count: [point["rate"] / 1000 for point in samples[way][count]] for count in locks}
        rates.append(
            [
                LABELS[way],
                *(
                    f"{median(of[count]):.0f} ({quantile(of[count], 0.25):.0f} to {quantile(of[count], 0.75):.0f})"
                    for count in locks
                ),
            ]
        )
        shares.append(
            [
                LABELS[way],
                *(f"{100 * median([point['share'] for point in samples[way][count]]):.2f}" for count in locks),
            ]
        )
    head = [f"{count} lock{'s' if count > 1 else ''}" for count in locks]
    page = "\n\n".join(
        [
            f"{said.threads} outer threads, K = {CLUSTERS}, {said.points} points, {said.workers} workers; medians of "
            f"{said.rounds} rounds.",
            table(["thousand points/s", *head], rates),
            table(["suspension, %", *head], shares),
        ]
    )
    print(page)
    (results / "kmeans.md").write_text(page + "\n")
    (results / "kmeans.json").write_text(
        json.dumps({"machine": platform.uname()._asdict(), "samples": samples}, indent=1)
    )
    figures = Figures(results)
    if figures.pyplot is not None:
        draw(figures, samples, locks)
        figures.copy_to(said.figures)


if __name__ == "__main__":
    main()
