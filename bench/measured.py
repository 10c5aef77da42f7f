# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the scripts that measure: medians. Shared by the scripts that draw figures: programs
whose lines of JSON are samples, tables, figures."""

import json
import math
import pathlib
import platform
import shutil
import subprocess
from collections import defaultdict

PATIENCE_S = 900  # for one process

KINDS = ("full", "lsa", "roc", "ss", "sc", "rtc", "auto")
MAY_SUSPEND = tuple(kind for kind in KINDS if kind not in ("rtc", "auto"))  # auto picks among these
COLOURS = dict(zip(KINDS, ("#1f77b4", "#17becf", "#2ca02c", "#ff7f0e", "#d62728", "#7f7f7f", "#9467bd")))
NAMES = dict(zip(KINDS, ("Full", "LSA", "RoC", "SS", "SC", "RtC", "auto")))


def quantile(values: list, share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median(values: list) -> float:
    return quantile(values, 0.5)


def median_interval(values: list, certainty: float = 0.95) -> tuple | None:
    """An interval that contains the median of the values' distribution with at least that
    certainty, for any distribution: from the k-th smallest value to the k-th largest, for the
    largest k that the binomial distribution allows (of 21 values the 6th and the 16th). None if
    there are too few values (less than 6 for 95 %)."""
    count, chosen, below = len(values), 0, 0.0
    for k in range(1, count // 2 + 1):
        below += math.comb(count, k - 1) / 2**count  # P(fewer than k values lie below the median)
        if 1 - 2 * below < certainty:
            break
        chosen = k
    if chosen == 0:
        return None
    ordered = sorted(values)
    return ordered[chosen - 1], ordered[count - chosen]


def table(head: list, rows: list) -> str:
    widths = [max(len(line[i]) for line in [head, *rows]) for i in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def show(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.2f} M"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def output_of(command: list) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode != 0:
        raise SystemExit(
            f"bench: {' '.join(str(word) for word in command)} failed ({done.returncode}): {done.stderr.strip()[-600:]}"
        )
    return done.stdout


def samples_of(command: list) -> dict:
    """name -> samples, of a program that prints one sample per line."""
    print("$ " + " ".join(str(word) for word in command), flush=True)
    samples = defaultdict(list)
    for line in output_of(command).splitlines():
        sample = json.loads(line)
        samples[sample["name"]].append(sample["value"])
    return dict(samples)


class Figures:
    """SVG and PNG files. Without matplotlib `pyplot` is None, and no files are written."""

    def __init__(self, results: pathlib.Path):
        self.results = results
        self.made = []
        try:
            import matplotlib

            matplotlib.use("Agg")
            # Text stays text, and equal samples give equal files.
            matplotlib.rcParams.update(
                {"svg.hashsalt": "weft", "svg.fonttype": "none", "font.size": 9, "figure.constrained_layout.use": True}
            )
            import matplotlib.pyplot

            self.pyplot = matplotlib.pyplot
        except ImportError:
            print("matplotlib is not there (Debian's python3-matplotlib): tables only")
            self.pyplot = None

    def save(self, figure, name: str) -> None:
        figure.savefig(self.results / f"{name}.svg", metadata={"Date": None})
        figure.savefig(self.results / f"{name}.png", dpi=150)
        self.made.append(self.results / f"{name}.svg")
        self.pyplot.close(figure)

    def copy_to(self, folder: pathlib.Path | None) -> None:
        """Copies the saved SVG files to the folder, if one is given."""
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        for path in self.made:
            shutil.copy(path, folder)


def write_results(results: pathlib.Path, page: str, quick: bool, samples: dict) -> None:
    """Writes and prints the tables, and writes the samples that they were made of."""
    print("\n" + page)
    (results / "tables.md").write_text(page + "\n")
    (results / "results.json").write_text(
        json.dumps({"machine": platform.uname()._asdict(), "quick": quick, **samples}, indent=1)
    )
