#!/usr/bin/env python3
"""What each construct of OpenMP costs on libgomp, on Weft and on libomp: constructs.c, on each of them in turn, round by round.

    bench/openmp/constructs.py [--build build/release] [--rounds 15] [--threads 1 2] [--results FOLDER] [NAME ...]
"""

import argparse
import json
import pathlib
import sys
from collections import defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from libraries import NAMES, check, compared, compiled, environments, output_of  # noqa: E402
from measured import median, write_results  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    options.add_argument("--rounds", type=int, default=15, help="processes of each library")
    options.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options.add_argument("--results", type=pathlib.Path)
    options.add_argument("names", nargs="*", metavar="NAME", help="constructs; all if none is said")
    said = options.parse_args()
    build = said.build.resolve()
    program = compiled(HERE / "constructs.c", build / "bench" / "openmp")
    run_in = environments(build)
    pages, ratios, kept = [], {}, {}
    for threads in said.threads:
        samples = defaultdict(lambda: defaultdict(list))
        for number in range(said.rounds):
            # Who comes first changes from round to round.
            for library in NAMES[number % 3:] + NAMES[:number % 3]:
                by_name = defaultdict(list)
                for line in output_of([program, threads, 5, *said.names], run_in[library]).splitlines():
                    sample = json.loads(line)
                    by_name[sample["name"]].append(sample["value"])
                check(library, by_name.pop("library")[0])
                for name, values in by_name.items():
                    samples[name][library].append(median(values))
        page, ratios[threads] = compared(f"ns, {threads} thread{'s' if threads > 1 else ''}", samples, 1)
        pages.append(page)
        kept[str(threads)] = samples
    behind = [f"{name} ({threads}: {ratio:.2f})" for threads in said.threads for name, ratio in ratios[threads].items() if ratio > 1]
    pages.append("Not ahead of both: " + (", ".join(behind) if behind else "none") + ".")
    page = "\n\n".join(pages)
    if said.results is None:
        print(page)
    else:
        said.results.mkdir(parents=True, exist_ok=True)
        write_results(said.results, page, False, {"constructs": kept})


if __name__ == "__main__":
    main()
