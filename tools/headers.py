#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every header compiles alone.

    tools/headers.py --build build/release [--root ROOT]

A public .h as C11 and as C++20, a public .hpp as C++20, each with all warnings as errors and no macro of ours; a header
of src/ with the flags that the library's own sources have in compile_commands.json, unless the source of its name
includes it first: then the build has done so.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

PUBLIC = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only"]


def flags_of(command):
    """A compiler command without its input and its outputs."""
    kept, skip = [], False
    for word in shlex.split(command):
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT"):
            skip = True
        elif word != "-MD":
            kept.append(word)
    return kept


def library(build, root):
    """The command that compiles a C++ source of the library, and the set of all these sources."""
    with open(pathlib.Path(build) / "compile_commands.json") as file:
        entries = json.load(file)
    found = {
        pathlib.Path(entry["file"]): entry["command"]
        for entry in entries
        if "weft_objects" in entry["command"] and entry["file"].endswith(".cpp")
    }
    if not found:
        sys.exit(f"{build}/compile_commands.json has no source of the library")
    return flags_of(next(iter(found.values()))), set(found)


def first_include(path):
    found = re.search(r'^\s*#\s*include\s+["<]([^">]+)[">]', path.read_text(), re.M)
    return found.group(1) if found else None


def jobs(root, build, cc, cxx):
    """(its description, the command, the text to compile) of each compilation."""
    include = f"-I{root / 'include'}"
    public = sorted((root / "include").rglob("*.h*"))
    for path in public:
        name = path.relative_to(root / "include")
        text = f"#include <{name}>\n"
        if path.suffix == ".h":
            yield f"{name} as C11", [cc, "-std=c11", *PUBLIC, include, "-x", "c", "-"], text
        yield f"{name} as C++20", [cxx, "-std=c++20", *PUBLIC, include, "-x", "c++", "-"], text
    command, built = library(build, root)
    arch = re.search(r"arch/(\w+)/context\.hpp", " ".join(command))
    for path in sorted((root / "src").rglob("*.hpp")):
        name = path.relative_to(root / "src")
        if name.parts[0] == "arch" and len(name.parts) > 2 and (not arch or name.parts[1] != arch.group(1)):
            continue  # for another processor: its own preset compiles it
        if path.with_suffix(".cpp") in built and first_include(path.with_suffix(".cpp")) == str(name):
            continue  # the build has compiled it as a first include
        yield f"src/{name}", [*command, "-Werror", "-fsyntax-only", "-x", "c++", "-"], f'#include "{name}"\n'


def compile_one(job):
    name, command, text = job
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return name, done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--root", default=pathlib.Path(__file__).parent.parent)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    options = parser.parse_args()
    root = pathlib.Path(options.root).resolve()
    wrong = total = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, status, output in pool.map(compile_one, jobs(root, options.build, options.cc, options.cxx)):
            total += 1
            if status != 0:
                wrong += 1
                print(f"{name}: does not compile alone\n{output}")
    print(f"{total} compilations, {wrong} wrong")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
