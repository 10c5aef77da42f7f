# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The three libraries that programs of bench/openmp run on: their environments, and tables that
compare them."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
from collections import defaultdict

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "bench"))
from measured import PATIENCE_S, median, quantile, table, write_results  # noqa: E402

NAMES = ("libgomp", "Weft", "libomp")


def environments(build: pathlib.Path) -> dict:
    """library -> environment. libomp serves programs compiled by gcc, since it also has libgomp's
    entry points."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_", "LD_"))}
    return {
        "libgomp": plain,
        "Weft": plain | {"LD_LIBRARY_PATH": f"{build}/bridge/openmp:{build}"},
        "libomp": plain | {"LD_PRELOAD": "libomp.so.5"},
    }


# What the path of the library that a program reports must contain.
EXPECTED = {"libgomp": "libgomp.so.1", "Weft": "bridge/openmp/libgomp.so.1", "libomp": "libomp.so.5"}


def check(library: str, path: str) -> None:
    if EXPECTED[library] not in path or (library == "libgomp" and "bridge/openmp" in path):
        raise SystemExit(f"bench: {library} was to be measured, and {path} was met")


def compiled(source: pathlib.Path, into: pathlib.Path, compiler: str = "gcc") -> pathlib.Path:
    into.mkdir(parents=True, exist_ok=True)
    program = into / source.stem
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([compiler, "-O2", "-fopenmp", str(source), "-o", str(program), "-lm"], check=True)
    return program


def output_of(command: list, environment: dict) -> str:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env=environment, timeout=PATIENCE_S
    )
    if done.returncode != 0:
        raise SystemExit(
            f"bench: {' '.join(str(word) for word in command)} failed ({done.returncode}): {done.stderr.strip()[-600:]}"
        )
    return done.stdout


def compared(head: str, samples: dict, digits: int = 0) -> tuple:
    """samples: measurement -> library -> values, ordered by round. Returns a table, and the ratios
    to the better of the other two libraries."""
    rows, ratios = [], {}
    for what, by_library in samples.items():
        middle = {library: median(by_library[library]) for library in NAMES}
        better = min(middle["libgomp"], middle["libomp"])
        ratios[what] = middle["Weft"] / better
        cells = [
            f"{middle[library]:.{digits}f} ({quantile(by_library[library], 0.25):.{digits}f} to "
            f"{quantile(by_library[library], 0.75):.{digits}f})"
            for library in NAMES
        ]
        rows.append([what, *cells, f"{ratios[what]:.2f}"])
    return table([head, *NAMES, "Weft / better"], rows), ratios


def measured(
    source: pathlib.Path, build: pathlib.Path, threads: int, rounds: int, samples_each: int, names: list
) -> dict:
    """Runs the program on each library in turn, `rounds` processes of each: measurement -> library
    -> each process's median."""
    program = compiled(source, build / "bench" / "openmp")
    run_in = environments(build)
    samples = defaultdict(lambda: defaultdict(list))
    for number in range(rounds):
        # The library that runs first changes from round to round.
        for library in NAMES[number % 3 :] + NAMES[: number % 3]:
            by_name = defaultdict(list)
            for line in output_of([program, threads, samples_each, *names], run_in[library]).splitlines():
                sample = json.loads(line)
                by_name[sample["name"]].append(sample["value"])
            check(library, by_name.pop("library")[0])
            for name, values in by_name.items():
                samples[name][library].append(median(values))
    return samples


def compare(description: str, source: pathlib.Path, what: str, rounds: int, samples_each: int, threads: list) -> None:
    """The command line of a script that compares the libraries on one program."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    options.add_argument("--rounds", type=int, default=rounds, help="processes of each library")
    options.add_argument("--threads", type=int, nargs="+", default=threads)
    options.add_argument("--results", type=pathlib.Path, help="a folder for the table and the samples")
    options.add_argument("names", nargs="*", metavar="NAME", help="what is measured; all if none is said")
    said = options.parse_args()
    pages, behind, kept = [], [], {}
    for count in said.threads:
        samples = measured(source, said.build.resolve(), count, said.rounds, samples_each, said.names)
        page, ratios = compared(f"{what}, {count} thread{'s' if count > 1 else ''}", samples, 1)
        pages.append(page)
        behind += [f"{name} ({count}: {ratio:.2f})" for name, ratio in ratios.items() if ratio > 1]
        kept[str(count)] = samples
    pages.append("Not ahead of both (threads: ratio): " + (", ".join(behind) if behind else "none") + ".")
    page = "\n\n".join(pages)
    if said.results is None:
        print(page)
    else:
        said.results.mkdir(parents=True, exist_ok=True)
        write_results(said.results, page, False, {source.stem: kept})
