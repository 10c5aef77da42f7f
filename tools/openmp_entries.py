#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each entry point of the OpenMP bridge is called by a program of its suite: imported by one as a compiler has made it,
or by hand (entries.c) where no compiler calls it any more. The old locks have names that others have as well
(old_locks.c).

    tools/openmp_entries.py --programs build/release/bridge/openmp

Names stand in bridge/openmp/openmp.map. Those of OpenACC, offloading and plugins are left out, for the reasons below.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BRIDGE = ROOT / "bridge/openmp"

# Names that no program of the suite can call, with the reason.
LEFT_OUT = {
    r"acc_\w+|GOACC_\w+": "OpenACC: on the host each does next to nothing",
    r"GOMP_PLUGIN_\w+": "what libgomp's own plugins for devices call: there is none",
    r"GOMP_offload_\w+": "constructors of programs with code for devices call it",
    r"ompt_start_tool": "another OpenMP runtime calls it when it begins",
}


def imported(program):
    shown = subprocess.run(
        ["nm", "-D", "--undefined-only", str(program)], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1].split("@")[0] for line in shown.splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument(
        "--without-fortran",
        action="store_true",
        help="there is no gfortran: the names with an underscore behind them are passed over",
    )
    options = parser.parse_args()

    names = set(re.findall(r"^    (\w+);", (BRIDGE / "openmp.map").read_text(), re.M))
    names = {name for name in names if not any(re.fullmatch(pattern, name) for pattern in LEFT_OUT)}
    if options.without_fortran:
        names = {name for name in names if not name.endswith("_")}
    programs = [path for path in options.programs.glob("openmp_*") if path.is_file() and not path.suffix]
    programs += [
        path for path in options.programs.glob("libopenmp_*.so") if "_second" not in path.name
    ]  # references in a second library carry no version: they mean other functions
    if not programs:
        print(f"no program in {options.programs}: build the suite")
        return 1
    called = set().union(*(imported(program) for program in programs))
    missing = sorted(names - called)
    for name in missing:
        print(f"no program of the suite calls {name}")
    print(f"{len(names)} names, {len(programs)} programs")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
