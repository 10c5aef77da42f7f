#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs argobots_phases and argobots_streams and prints their results, as tables and as plots.

    bench/argobots/plot.py BUILD_DIR [--lean BUILD_DIR] [--quick] [--figures DIR]

Writes BUILD_DIR/bench/argobots/: results.json with every sample, tables.md, and each figure as SVG
and PNG if matplotlib is installed.
--lean      a build of the library with its features left out (doc/decisions/0019): the last step
--quick     fewer samples and fewer units: a quick look, not a measurement
--figures   copies the SVGs there as well
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
# noqa: E402
from measured import COLOURS, KINDS, NAMES, Figures, median, quantile, samples_of, show, table, write_results

PHASES = ("create", "join", "free")
# What each step adds to the previous one; after the last step only the kinds differ.
STEPS = {
    "malloc": "by hand, stack from malloc",
    "malloc.unsaved": "beside the one before: nothing of a thread that ends is saved",
    "mmap": "by hand, stack from mmap, guard page",
    "weft": "Full, shared pool, nothing kept, guard page, no huge pages",
    "weft.cached": "memory is kept",
    "weft.huge": "descriptors on huge pages",
    "weft.huge.canary": "beside the one before: a canary, no guard page",
    "weft.full": "a private pool",
}
STEPS |= {f"weft.{kind}": f"kind {NAMES[kind]}" for kind in KINDS if kind != "full"}
STEPS |= {f"weft.{kind}.many": f"kind {NAMES[kind]}, by one call each" for kind in KINDS}
LEAN = "weft.lsa.many"  # with the features left out, and again, alternating with that build
STEPS |= {f"{LEAN}.again": f"{NAMES['lsa']} once more, in turns with the next", f"{LEAN}.lean": "features out"}
OPERATIONS = ("create_join", "yield", "yield_to")
SHOWN = (64, 1024, 16384, 262144)


def counts_of(samples: dict, step: str, phase: str = "create") -> list:
    return sorted(
        int(name.split("/")[1].split(":")[0])
        for name in samples
        if name.startswith(phase + "/") and name.endswith(":" + step)
    )


def lean_samples(programs: pathlib.Path, lean: pathlib.Path, quick: bool) -> dict:
    samples = {}
    for _ in range(1 if quick else 21):
        for folder, which in ((programs, "again"), (lean, "lean")):
            command = [folder / "argobots_phases", "--rounds=1", f"--step={LEAN}", *(["--most=14"] if quick else [])]
            for name, values in samples_of(command).items():
                samples.setdefault(f"{name}.{which}", []).extend(values)
    return samples


def multiple(value: float) -> str:
    return f"{value:,.0f} x" if value >= 10 else f"{value:.2f} x"


def phases_text(samples: dict) -> str:
    text = []
    for phase in PHASES:
        rows = []
        for step, title in STEPS.items():
            if not counts_of(samples, step):
                continue
            cells = []
            for count in SHOWN:
                values = samples.get(f"{phase}/{count}:{step}")
                base = samples.get(f"{phase}/{count}:malloc")
                cells.append(
                    f"{show(median(values))} ({show(quantile(values, 0.1))}-{show(quantile(values, 0.9))}) "
                    f"{multiple(median(values) / median(base))}"
                    if values
                    else ""
                )
            rows.append([step, title, *cells])
        text += [
            f"{phase}, ns per unit: median (p10-p90), multiple of malloc's; by the number of units:\n",
            table(["step", "what it is", *(f"{count:,}" for count in SHOWN)], rows),
        ]
    return "\n\n".join(text)


def stream_counts(samples: dict) -> list:
    return sorted({int(name.split("/")[1].split(":")[0]) for name in samples})


def streams_text(by_kind: dict) -> str:
    rows = []
    for kind, samples in by_kind.items():
        for operation in OPERATIONS if kind == "full" else OPERATIONS[:1]:
            for streams in stream_counts(samples):
                least, mean, most = (
                    median(samples[f"{operation}/{streams}:{which}"]) for which in ("least", "mean", "most")
                )
                alone = median(samples[f"{operation}/1:mean"])
                rows.append(
                    [operation, kind, str(streams), f"{least:.1f}", f"{mean:.1f}", f"{most:.1f}", f"{mean / alone:.2f}"]
                )
    return table(["operation", "kind", "streams", "least", "mean", "most", "mean beside one stream"], rows)


class Plots(Figures):
    def phases(self, samples: dict) -> None:
        figure, rows = self.pyplot.subplots(2, 3, figsize=(11, 6.4), sharex=True)
        ways = ("malloc", "mmap", "weft", "weft.cached", "weft.huge", "weft.full", "weft.lsa", "weft.lsa.many")
        for steps, row in ((ways, rows[0]), (tuple(f"weft.{kind}" for kind in KINDS), rows[1])):
            for axes, phase in zip(row, PHASES):
                for step in steps:
                    counts = counts_of(samples, step, phase)
                    colour = {"color": COLOURS[step.split(".")[1]]} if steps is not ways else {}
                    axes.plot(
                        counts,
                        [median(samples[f"{phase}/{count}:{step}"]) for count in counts],
                        marker="o",
                        markersize=3,
                        linewidth=1.1,
                        label=STEPS[step] if steps is ways else NAMES[step.split(".")[1]],
                        **colour,
                    )
                axes.set_xscale("log", base=2)
                axes.set_yscale("log")
                axes.set_title(phase)
            row[0].set_ylabel("ns per unit (median)")
            row[2].legend(fontsize=5.5)
        for axes in rows[1]:
            axes.set_xlabel("units")
        self.save(figure, "phases")

    def streams(self, by_kind: dict) -> None:
        samples = by_kind["full"]
        streams = stream_counts(samples)
        figure, axes = self.pyplot.subplots(figsize=(4.6, 3.4))
        for operation in OPERATIONS:
            least, mean, most = (
                [median(samples[f"{operation}/{count}:{which}"]) for count in streams]
                for which in ("least", "mean", "most")
            )
            axes.errorbar(
                streams,
                mean,
                [[m - l for m, l in zip(mean, least)], [h - m for h, m in zip(most, mean)]],
                marker="o",
                markersize=4,
                capsize=3,
                label=operation.replace("create_join", "create + join"),
            )
        axes.set_xticks(streams)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("streams, each on its private pool")
        axes.set_ylabel("ns (mean; least to most of the streams)")
        axes.legend(fontsize=7)
        self.save(figure, "streams")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--lean", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--figures", type=pathlib.Path)
    options = parser.parse_args()
    programs = options.build.resolve() / "bench"
    lean = options.lean.resolve() / "bench" if options.lean else None
    for folder in filter(None, (programs, lean)):
        if not (folder / "argobots_phases").exists():
            parser.error(f"{folder} has no programs: configure with -DWEFT_BENCH=ON and build")
    results = programs / "argobots"
    results.mkdir(exist_ok=True)
    plots = Plots(results)

    phases = samples_of([programs / "argobots_phases", *(["--rounds=1", "--most=14"] if options.quick else [])])
    if lean:
        phases |= lean_samples(programs, lean, options.quick)
    streams = {
        kind: samples_of([programs / "argobots_streams", f"--kind={kind}", *(["--rounds=3"] if options.quick else [])])
        for kind in KINDS
    }
    page = "\n\n".join(
        ["## Create, join, free", phases_text(phases), "## Streams", "ns per operation:\n", streams_text(streams)]
    )
    write_results(results, page, options.quick, {"phases": phases, "streams": streams})
    if plots.pyplot:
        plots.phases(phases)
        plots.streams(streams)
    plots.copy_to(options.figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
