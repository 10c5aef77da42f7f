#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of bench/promotion and prints their results, as tables and as plots.

    bench/promotion/plot.py BUILD_DIR [--quick] [--only PART ...] [--aarch64 BUILD_DIR] [--figures DIR]

Parts: fork_join, instructions, kmeans, fmm, bfs. Writes BUILD_DIR/bench/promotion/results/:
results.json with every sample, tables.md, and each figure as SVG and PNG if matplotlib is
installed.
--quick     fewer samples and smaller input: a quick look, not a measurement
--aarch64   also counts instructions of a build for AArch64, under qemu
--figures   copies the SVGs there as well
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measured import (
    COLOURS,
    KINDS,
    MAY_SUSPEND,
    NAMES,
    Figures,
    median,
    output_of,
    quantile,
    samples_of,
    show,
    table,
    write_results,
)  # noqa: E402

SHARES = (0, 1, 5, 10, 25, 50, 75, 100)
PARTS = ("fork_join", "instructions", "kmeans", "fmm", "bfs")

# Multiples of a cycle of fork_join, 12,800 units, in which each share of suspensions is exact.
CALLGRIND_COUNTS = (12800, 38400)
# qemu writes a line for each instruction, so there are few units; the share is exact if none or all
# of them suspend.
QEMU_COUNTS = (256, 1280)


# ---- counting ------------------------------------------------------------------------------------


def callgrind_totals(program: pathlib.Path, kind: str, share: int, count: int, out: pathlib.Path) -> dict:
    output_of(
        [
            "valgrind",
            "--tool=callgrind",
            "--cache-sim=yes",
            f"--callgrind-out-file={out}",
            program,
            f"--kind={kind}",
            f"--share={share}",
            f"--count={count}",
        ]
    )
    lines = {
        line.split(":")[0]: line.split(":")[1].split()
        for line in out.read_text().splitlines()
        if line.startswith(("events:", "totals:"))
    }
    return {event: int(total) for event, total in zip(lines["events"], lines["totals"])}


def count_by_callgrind(program: pathlib.Path, shares: tuple, out: pathlib.Path) -> dict:
    """(kind, share) -> the instructions per unit, including the program's loop, and the misses of a
    simulated first-level cache."""
    counts = {}
    for kind in KINDS:
        for share in shares if kind != "rtc" else (0,):
            few, many = (callgrind_totals(program, kind, share, count, out) for count in CALLGRIND_COUNTS)
            each = {event: (many[event] - few[event]) / (CALLGRIND_COUNTS[1] - CALLGRIND_COUNTS[0]) for event in many}
            counts[f"{kind}/{share}"] = {"instructions": each["Ir"], "l1_misses": each["D1mr"] + each["D1mw"]}
            print(f"callgrind: {kind}, {share} %: {each['Ir']:.1f} instructions", flush=True)
    return counts


def qemu_total(program: pathlib.Path, kind: str, share: int, count: int) -> int:
    """The number of instructions that the whole program executes: translated singly, each is a line
    of qemu's log."""
    log_read, log_write = os.pipe()
    cpu = str(max(os.sched_getaffinity(0)))
    # On one CPU: tools/emulate says why.
    command = [
        "taskset",
        "-c",
        cpu,
        "qemu-aarch64",
        "-cpu",
        "max,pauth-impdef=on",
        "-L",
        "/usr/aarch64-linux-gnu",
        "-singlestep",
        "-d",
        "nochain,exec",
        "-D",
        f"/dev/fd/{log_write}",
        str(program),
        f"--kind={kind}",
        f"--share={share}",
        f"--count={count}",
    ]
    emulator = subprocess.Popen(command, pass_fds=(log_write,))
    os.close(log_write)
    total = 0
    with os.fdopen(log_read, "rb") as log:
        for line in log:
            total += line.startswith(b"Trace")
    if emulator.wait() != 0:
        raise SystemExit("bench: qemu failed")
    return total


def count_by_qemu(program: pathlib.Path) -> dict:
    counts = {}
    for kind in KINDS:
        for share in (0, 100) if kind != "rtc" else (0,):
            few, many = (qemu_total(program, kind, share, count) for count in QEMU_COUNTS)
            counts[f"{kind}/{share}"] = {"instructions": (many - few) / (QEMU_COUNTS[1] - QEMU_COUNTS[0])}
            print(f"qemu: {kind}, {share} %: {counts[f'{kind}/{share}']['instructions']:.1f} instructions", flush=True)
    return counts


# ---- reading -------------------------------------------------------------------------------------


def shares_of(kind: str) -> tuple:
    return SHARES if kind != "rtc" else (0,)


def series(samples: dict, kind: str, suffix: str = "") -> dict:
    """share -> samples"""
    found = {share: samples.get(f"promotion/{share}:weft.{kind}{suffix}") for share in shares_of(kind)}
    return {share: values for share, values in found.items() if values}


def between(points: dict, share: float) -> float:
    """The value on the straight line between the two nearest measured shares."""
    low = max(known for known in points if known <= share)
    high = min(known for known in points if known >= share)
    return points[low] if low == high else points[low] + (points[high] - points[low]) * (share - low) / (high - low)


def cheapest(samples: dict, suffix: str) -> list:
    """[(from this share on, kind)], interpolated between shares by `between`."""
    lines = {
        kind: {share: median(values) for share, values in series(samples, kind, suffix).items()} for kind in MAY_SUSPEND
    }
    found = []
    for tenth in range(0, 1001):
        share = tenth / 10
        best = min(lines, key=lambda kind: between(lines[kind], share))
        if not found or found[-1][1] != best:
            found.append((share, best))
    return found


def dearer_than_full(samples: dict, suffix: str, kind: str) -> str:
    """The share from which `kind` costs more than Full."""
    one, full = (
        {share: median(values) for share, values in series(samples, of, suffix).items()} for of in (kind, "full")
    )
    crossed = [tenth / 10 for tenth in range(0, 1001) if between(one, tenth / 10) > between(full, tenth / 10)]
    return f"from {crossed[0]:g} % on" if crossed else "nowhere"


def fork_join_text(samples: dict) -> str:
    floor, floor_rtc = median(samples["promotion/0:floor"]), median(samples["promotion/0:floor.rtc"])
    text = [f"The floor: {floor:.1f} ns on a stack, {floor_rtc:.1f} ns without one."]
    for suffix, title in (("", "forked and joined one by one"), (".many", "forked and joined by one call each")):
        rows = []
        for kind in KINDS:
            cells = []
            for share in SHARES:
                values = series(samples, kind, suffix).get(share)
                base = floor_rtc if kind == "rtc" else floor
                cells.append(
                    f"{median(values):.1f} ({quantile(values, 0.1):.1f}-{quantile(values, 0.9):.1f}) "
                    f"{median(values) / base:.2f} x"
                    if values
                    else ""
                )
            rows.append([kind, *cells])
        best = {
            share: min(MAY_SUSPEND, key=lambda kind: median(series(samples, kind, suffix)[share])) for share in SHARES
        }
        rows.append(["best but auto", *(best[share] for share in SHARES)])
        text.append(
            f"ns per unit, {title}: median (p10-p90), multiple of the floor (RtC: of the one without a stack); by "
            f"share of units that suspend:\n"
        )
        text.append(table(["kind", *(f"{share} %" for share in SHARES)], rows))
        steps = cheapest(samples, suffix)
        text.append(
            "Cheapest of those that may suspend: "
            + ", ".join(f"from {share:g} % on {kind}" for share, kind in steps)
            + "."
        )
        text.append(
            "Dearer than Full: "
            + ", ".join(f"{kind} {dearer_than_full(samples, suffix, kind)}" for kind in (*MAY_SUSPEND[1:], "auto"))
            + "."
        )
        of = {
            kind: {share: median(values) for share, values in series(samples, kind, suffix).items()} for kind in KINDS
        }
        text.append(
            f"SC beside RtC where nobody suspends: {of['sc'][0] / of['rtc'][0]:.2f}. SS beside SC: "
            + ", ".join(f"{of['ss'][share] / of['sc'][share]:.2f} at {share} %" for share in SHARES)
            + "."
        )
        text.append(
            "Auto beside the best: "
            + ", ".join(f"{of['auto'][share] / of[best[share]][share]:.2f} at {share} %" for share in SHARES)
            + "."
        )
    counters = [name for name in ("cycles", "l1_misses") if f"promotion/0:weft.full.{name}" in samples]
    for name in counters:
        rows = [
            [
                kind,
                *(
                    f"{median(samples[f'promotion/{share}:weft.{kind}.{name}']):.2f}"
                    if share in shares_of(kind)
                    else ""
                    for share in SHARES
                ),
            ]
            for kind in KINDS
        ]
        text += [
            f"{name} per unit, as the processor counts them, one by one:\n",
            table(["kind", *(f"{share} %" for share in SHARES)], rows),
        ]
    if not counters:
        text.append("This machine lets nobody read the processor's counters: no cycles, no misses of its caches.")
    return "\n\n".join(text)


def instructions_text(counts: dict, title: str, shares: tuple) -> str:
    text = []
    for event, what in (
        ("instructions", "instructions per unit, the calling loop included"),
        ("l1_misses", "misses of a simulated first cache per unit (callgrind's guess of the machine's)"),
    ):
        if event not in counts["full/0"]:
            continue
        rows = [
            [
                kind,
                *(f"{counts[f'{kind}/{share}'][event]:.2f}" if f"{kind}/{share}" in counts else "" for share in shares),
            ]
            for kind in KINDS
        ]
        text += [f"{title}: {what}:\n", table(["kind", *(f"{share} %" for share in shares)], rows)]
    return "\n\n".join(text)


def cases(samples: dict) -> list:
    return list(dict.fromkeys(name.split(":")[0] for name in samples))


def application_text(samples: dict, unit: str) -> str:
    rows = []
    for case in cases(samples):
        full = median(samples[f"{case}:weft.full"])
        rows.append([case, "sequential", show(median(samples[f"{case}:sequential"])), "", "", "", ""])
        for kind in KINDS:
            values = samples[f"{case}:weft.{kind}"]
            shares = [
                f"{median(samples[f'{case}:weft.{kind}.{what}']):.2f}"
                for what in ("contended", "suspended", "promoted")
            ]
            rows.append(
                [
                    case,
                    kind,
                    f"{show(median(values))} ({show(min(values))} to {show(max(values))})",
                    f"{median(values) / full:.2f}",
                    *shares,
                ]
            )
    return table(
        [
            "case",
            "kind",
            f"{unit}: median (lowest to highest)",
            "beside full",
            "of 100 units: met somebody",
            "suspensions",
            "promoted",
        ],
        rows,
    )


# ---- plotting ------------------------------------------------------------------------------------


class Plots(Figures):
    def lines(self, axes, points_of, spread_of=None) -> None:
        for kind in KINDS:
            points = points_of(kind)
            if not points:
                continue
            axes.plot(
                list(points),
                list(points.values()),
                marker="s" if kind == "rtc" else "o",
                markersize=4,
                linewidth=1.2,
                linestyle="none" if kind == "rtc" else "-",
                color=COLOURS[kind],
                label=NAMES[kind],
            )
            if spread_of is not None and kind != "rtc":
                low, high = spread_of(kind)
                axes.fill_between(list(points), low, high, color=COLOURS[kind], alpha=0.15, linewidth=0)
        axes.set_xlabel("units that suspend, %")
        axes.set_ylim(bottom=0)

    def fork_join(self, samples: dict) -> None:
        figure, both = self.pyplot.subplots(1, 2, figsize=(9, 3.6), sharey=True)
        for axes, suffix, title in zip(both, ("", ".many"), ("one by one", "by one call each")):
            self.lines(
                axes,
                lambda kind: {share: median(values) for share, values in series(samples, kind, suffix).items()},
                lambda kind: [
                    [quantile(values, place) for values in series(samples, kind, suffix).values()]
                    for place in (0.1, 0.9)
                ],
            )
            axes.axhline(
                median(samples["promotion/0:floor"]),
                color="black",
                linewidth=0.8,
                linestyle=":",
                label="the floor, nobody suspends",
            )
            axes.set_title(f"128 units forked and joined {title}")
        both[0].set_ylabel("ns per unit (median, p10 to p90)")
        both[0].legend(fontsize=7)
        self.save(figure, "fork_join")

    def instructions(self, counted: dict) -> None:
        panels = [
            (counted["here"], "instructions", "instructions per unit, callgrind"),
            (counted["here"], "l1_misses", "misses of a simulated L1 per unit"),
        ]
        if "aarch64" in counted:
            panels.append((counted["aarch64"], "instructions", "instructions per unit, AArch64 under qemu"))
        figure, all_axes = self.pyplot.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.6))
        for axes, (counts, event, title) in zip(all_axes, panels):
            self.lines(
                axes,
                lambda kind: {
                    share: counts[f"{kind}/{share}"][event] for share in SHARES if f"{kind}/{share}" in counts
                },
            )
            axes.set_title(title)
        all_axes[0].legend(fontsize=7)
        self.save(figure, "instructions")

    def application(self, name: str, samples: dict, unit: str, title: str, case_name) -> None:
        figure, (above, below) = self.pyplot.subplots(
            2, 1, figsize=(max(4.5, 2.2 * len(cases(samples))), 4.6), sharex=True, height_ratios=(2, 1)
        )
        width = 0.8 / len(KINDS)
        for k, kind in enumerate(KINDS):
            places = [c + (k - (len(KINDS) - 1) / 2) * width for c in range(len(cases(samples)))]
            throughputs = [samples[f"{case}:weft.{kind}"] for case in cases(samples)]
            middle = [median(values) for values in throughputs]
            spread = [
                [m - min(values) for m, values in zip(middle, throughputs)],
                [max(values) - m for m, values in zip(middle, throughputs)],
            ]
            above.bar(
                places, middle, width, yerr=spread, error_kw={"linewidth": 0.7}, color=COLOURS[kind], label=NAMES[kind]
            )
            below.bar(
                places,
                [median(samples[f"{case}:weft.{kind}.suspended"]) for case in cases(samples)],
                width,
                color=COLOURS[kind],
            )
        above.set_ylabel(f"{unit} (median, all)")
        above.set_title(title)
        above.legend(ncols=3, fontsize=7)
        below.set_ylabel("suspensions of\n100 units")
        below.set_xticks(range(len(cases(samples))), [case_name(case) for case in cases(samples)])
        self.save(figure, name)


# ---- all together --------------------------------------------------------------------------------

APPLICATIONS = {
    "kmeans": ("k-means", "points/s", (), ("--points=20000", "--rounds=3"), lambda case: f"{case.split('/')[1]} locks"),
    "fmm": ("fast multipole method", "particles/s", (), ("--particles=20000", "--rounds=3"), lambda _: ""),
    "bfs": (
        "breadth-first search",
        "TEPS",
        (),
        ("--scale=12", "--rounds=3"),
        lambda case: f"buffers of {case.split('/')[1]}",
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART")
    parser.add_argument("--aarch64", type=pathlib.Path)
    parser.add_argument("--figures", type=pathlib.Path)
    options = parser.parse_args()
    programs = options.build.resolve() / "bench" / "promotion"
    if not (programs / "fork_join").exists():
        parser.error(f"{programs} has no programs: configure with -DWEFT_BENCH=ON and build")
    results = programs / "results"
    results.mkdir(exist_ok=True)
    plots = Plots(results)
    measured, text = {}, []

    if "fork_join" in options.only:
        measured["fork_join"] = samples_of(
            [programs / "fork_join", *(["--samples=7", "--cycles=2"] if options.quick else [])]
        )
        text += ["## Fork and join", fork_join_text(measured["fork_join"])]
        if plots.pyplot:
            plots.fork_join(measured["fork_join"])
    if "instructions" in options.only:
        if shutil.which("valgrind") is None:
            print("valgrind is not there: no instructions are counted")
        else:
            shares = (0, 25, 100) if options.quick else SHARES
            measured["instructions"] = {
                "here": count_by_callgrind(programs / "fork_join", shares, results / "callgrind.out")
            }
            text += ["## Instructions", instructions_text(measured["instructions"]["here"], "callgrind", shares)]
            if options.aarch64 and not (options.aarch64 / "bench" / "promotion" / "fork_join").exists():
                print("no build for AArch64, or no emulator: its instructions are not counted")
            elif options.aarch64:
                measured["instructions"]["aarch64"] = count_by_qemu(
                    options.aarch64.resolve() / "bench" / "promotion" / "fork_join"
                )
                text.append(instructions_text(measured["instructions"]["aarch64"], "AArch64 under qemu", (0, 100)))
            if plots.pyplot:
                plots.instructions(measured["instructions"])
    for name, (title, unit, whole, quick, case_name) in APPLICATIONS.items():
        if name not in options.only:
            continue
        measured[name] = samples_of([programs / name, "--json=1", *(quick if options.quick else whole)])
        text += [f"## {title[0].upper()}{title[1:]}", application_text(measured[name], unit)]
        if plots.pyplot:
            plots.application(name, measured[name], unit, title, case_name)

    write_results(results, "\n\n".join(text), options.quick, {"measured": measured})
    plots.copy_to(options.figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
