# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page doc/when-it-helps.md, made from the kept rows."""
import textwrap

from program import SETTINGS
from measured import table
from results import BOUND, PAIRS, Results, Row

VERDICTS = ("faster", "same", "slower", "target", "few", "wrong")

TOP = """# When `weft run` helps

*This page is written by `make bench-programs PAGE=doc/when-it-helps.md`; do not edit it.*

You have a program, and wonder whether to put `weft run --` before it. The output stays what it was:
`make test-full` compares it for each program below. The time depends on one question: **do parallel
libraries in it compete for the CPUs?**

- **It helps** where there are more threads that want to compute than CPUs: `OMP_NUM_THREADS` is larger
  than the number of CPUs (as it often is in a container or a batch job that has only some of the
  machine's), several threads each call a library that is parallel itself, or OpenMP regions are nested.
  Threads then wait for others that have no CPU, many of them by spinning. Under `weft run` the threads
  of OpenMP and the workers of oneTBB take turns on the CPUs, and one that waits gives its CPU to one
  that has work. OpenBLAS with threads of its own, as in the wheels of NumPy and SciPy, uses fewer threads
  for a call while several threads compute.
- **It gains nothing** where nothing competes: one library, with no more threads than CPUs. It also
  gains nothing where Weft does not reach: threads that a program makes itself, a JVM and Go.
- **It costs** about a millisecond for the command itself, and 0.2 ms at the start of each further process.
  A script that starts thousands of short commands feels that; a program that runs for a second does not.

`weft run --report -- PROGRAM` says what was taken over in your program, and what was left alone
([run.md](run.md)).
"""

METHOD = """## How this is measured

Each program runs without and with `weft run`, one directly after the other, {pairs} times by default;
which of the two comes first alternates. Before the first pair, one more is run and not counted. Such a
pair sees the same machine, even if other machines' load changes from minute to minute, so each pair
gives one ratio: the time with `weft run` divided by the time without.

A row shows the **median** of its ratios and, in parentheses, a **95 % interval** for it. The interval
makes no assumption about how times are distributed: it is read off the sorted ratios. Each ratio lies
below the true median with a probability of one half, so the binomial distribution says how far from
the ends one may go; of 21 sorted ratios it is from the 6th to the 16th. A row whose plain runs take
long ends after 6 pairs if both of its intervals lie below 1; the interval of 6 ratios is from the
least to the greatest.

- *Faster*: the interval of the elapsed time lies below {inverse:.2f}.
- *Slower*: the interval of the elapsed time, or that of the CPU time, lies above {bound}. There should be
  none.
- *No difference*: everything else.

Elapsed time is from the start of the process to its end, loading included. CPU time (user and system)
and context switches (voluntary and involuntary) are those of the process and of all processes that it
has started. `OMP_NUM_THREADS` is as the row says; *unset* means that the variable is not there. Other
settings of OpenMP and BLAS are not set either: this is what you get without tuning. Programs that do
not use OpenMP are given the same number of threads by their own options; *unset* is as many as CPUs.
Outputs (standard output, standard error, files, status) are compared at each pair: byte for byte, or
to ten digits where additions come in an order that changes from run to run even without Weft.
"""

REPRODUCE = """## On your machine

```
make bench-programs                                       # all of it: an hour or more
make bench-programs PROGRAMS="kmeans elk" THREADS="unset 8"
make bench-programs PAIRS=21 PAGE=doc/when-it-helps.md    # writes this page
```

Rows that were measured are kept in `build/bench/bench/programs/results.json`, so that a run can be
ended and continued; `AGAIN=yes` measures anew. Programs that are not installed are skipped with a word
(`make setup` names the packages; the wheels of PyPI go into a virtual environment under `build/`).
`bench/programs/README.md` says how to add a program.
"""


def ratio_text(row: Row, what: str) -> str:
    interval = row.interval(what)
    spread = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
    return f"{'< ' if row.stopped() else ''}{row.ratio(what):.2f}{spread}"


def full_table(rows: list) -> str:
    head = [
        "program",
        "threads",
        "without, s",
        "with, s",
        "elapsed: ratio",
        "CPU: ratio",
        "switches without",
        "with",
        "pairs",
    ]
    lines = []
    for row in rows:
        times = [f"{row.middle(way, 'elapsed'):.2f}" for way in ("plain", "weft")]
        switches = [f"{row.switches(way):,.0f}" for way in ("plain", "weft")]
        times[0] = ("> " if row.stopped() else "") + times[0]
        lines.append(
            [
                f"`{row.program.name}`",
                row.setting,
                *times,
                ratio_text(row, "elapsed"),
                ratio_text(row, "cpu"),
                *switches,
                str(len(row.pairs)),
            ]
        )
    return table(head, lines)


def by_program(rows: list) -> dict:
    found = {}
    for row in rows:
        found.setdefault(row.program.name, []).append(row)
    return found


def paragraph(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def reasons(programs) -> str:
    return "\n".join(
        paragraph(f"- `{of[0].program.name}`: {of[0].program.what}. {of[0].program.why}", "  ") for of in programs
    )


def faster(rows: list) -> str:
    if not rows:
        return "## What gets faster\n\nNothing among what was measured.\n"
    best_first = sorted(by_program(rows).values(), key=lambda of: min(row.ratio("elapsed") for row in of))
    ordered = [row for of in best_first for row in of]
    return f"## What gets faster\n\n{full_table(ordered)}\n\n{reasons(best_first)}\n"


def gains_nothing(rows: list) -> str:
    if not rows:
        return ""
    lines = []
    for of in by_program(rows).values():
        ratios = {row.setting: f"{row.ratio('elapsed'):.2f}" for row in of}
        lines.append([f"`{of[0].program.name}`", *(ratios.get(setting, "") for setting in SETTINGS)])
    head = paragraph(
        "The ratio of elapsed times at each number of threads for which no difference was shown. The table of "
        "all rows below has the intervals, CPU times and switches."
    )
    return (
        f"## What gains nothing\n\n{head}\n\n{table(['program', *SETTINGS], lines)}\n\n"
        f"{reasons(by_program(rows).values())}\n"
    )


def behind(rows: list, title: str, sentence: str) -> str:
    if not rows:
        return ""
    return f"## {title}\n\n{paragraph(sentence)}\n\n{full_table(rows)}\n"


def broken(rows: list) -> str:
    if not rows:
        return ""
    lines = [
        f"- `{row.program.name}`, `OMP_NUM_THREADS` {row.setting}:\n\n{textwrap.indent(row.problem, ' ' * 6)}"
        for row in rows
    ]
    return "## What is wrong\n\n`weft run` changed what these do. Each is a defect.\n\n" + "\n\n".join(lines) + "\n"


def measured_on(results: Results, rows: list, absent: list) -> str:
    machine = results.kept["machine"]
    said = ", ".join(f"{name} {version}" for name, version in results.kept["versions"].items())
    missing = f" Without a row so far: {', '.join(f'`{name}`' for name in absent)}." if absent else ""
    counted = (
        f"{len(rows)} rows, of {len(by_program(rows))} programs, on {machine['cpus']} CPUs "
        f"({machine['processor']}, Linux {machine['kernel']}, {machine['system']}), with Weft at "
        f"{', '.join(results.commits())}.{missing}"
    )
    return f"## What was measured\n\n{paragraph(counted)}\n\n{paragraph(f'Versions: {said}.')}\n"


def written_page(results: Results, programs: dict) -> str:
    rows = results.rows(programs)
    if not rows:
        raise SystemExit("bench: no row is kept, so there is nothing to write a page of")
    of = {verdict: [row for row in rows if row.verdict() == verdict] for verdict in VERDICTS}
    absent = [name for name in programs if name not in by_program(rows)]
    parts = [
        TOP,
        faster(of["faster"]),
        gains_nothing(of["same"]),
        behind(of["slower"], "What gets slower", f"The whole interval lies above {BOUND}. Each is a defect."),
        behind(
            of["target"],
            "What has a target of its own",
            "These are known to be behind, and have not reached the "
            "ratio that they are to reach: "
            + ", ".join(
                f"`{row.program.name}` with {row.setting} threads, {row.program.targets[row.setting]}"
                for row in of["target"]
            )
            + ".",
        ),
        broken(of["wrong"]),
        behind(of["few"], "What has no verdict yet", f"A verdict needs {PAIRS} pairs."),
        measured_on(results, rows, absent),
        METHOD.format(pairs=PAIRS, bound=BOUND, inverse=1 / BOUND),
        REPRODUCE,
        f"## All rows\n\n{full_table([row for row in rows if row.pairs])}\n",
    ]
    return "\n".join(part for part in parts if part)
