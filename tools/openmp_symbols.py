#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The OpenMP bridge exports what libgomp of gcc 12 does, under the same versions, and what the nodes of its own in
openmp.map name: no more and no less.

    tools/openmp_symbols.py --library build/release/bridge/openmp/libgomp.so.1 --compiler gcc

The names and versions stand in bridge/openmp/openmp.map; those of the compiler's own libgomp are compared where that is
of gcc 12, and otherwise only those of the map.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library):
    """NAME@VERSION of each defined symbol, and the versions themselves; @@ marks the default, which a program that
    names no version gets."""
    return {
        words[-1]
        for words in (line.split() for line in run("nm", "-D", "--with-symbol-versions", str(library)).splitlines())
        if len(words) == 3 and words[1] not in "Uw" and not words[-1].startswith("_")
    }


# The nodes that libgomp does not have. The names of the first one are comments, and no defaults.
OWN = {"WEFT_UNVERSIONED": "@", "VERSION": "@@"}


def mapped(path):
    """NAME@@VERSION of all names in the map, and separately those of the nodes that libgomp does not have."""
    names, own, version = set(), set(), None
    for line in path.read_text().splitlines():
        if found := re.match(r"(\w[\w.]*) \{", line):
            version = found.group(1)
            (own if version in OWN else names).add(version)
        elif version in OWN and (found := re.match(r"[ #]   (\w+);", line)):
            own.add(f"{found.group(1)}{OWN[version]}{version}")
        elif found := re.match(r"    (\w+);", line):
            names.add(f"{found.group(1)}@@{version}")
    return names, own


def report(what, names):
    for name in sorted(names):
        print(f"{what}: {name}")
    return bool(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()

    ours = exported(options.library)
    names, own = mapped(ROOT / "bridge/openmp/openmp.map")
    wrong = report("in openmp.map, but not in the library", (names | own) - ours - {n.split("@")[0] for n in ours})
    wrong |= report(
        "the library has it in a node of its own, and openmp.map not",
        {n for n in ours if n.split("@")[-1] in OWN} - own,
    )
    theirs = run(options.compiler, "-print-file-name=libgomp.so").strip()
    if "/" in theirs and run(options.compiler, "-dumpversion").strip().split(".")[0] == "12":
        libgomp = exported(pathlib.Path(theirs).resolve())
        wrong |= report("libgomp has it, and the library not", libgomp - ours)
        wrong |= report("the library has it, and libgomp not", ours - own - libgomp)
    print(f"{len(ours)} names and versions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
