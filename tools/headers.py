#!/usr/bin/env python3
"""Every header compiles alone.

    tools/headers.py --build build/release [--root ROOT]

A public .h as C11 and as C++20, a public .hpp as C++20, each with all warnings as errors and no macro of ours; a
header of src/ with the flags that the library's own sources have in compile_commands.json.
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


def library_command(build, root):
    """The compiler and flags of a C++ source of the library, without its input and outputs."""
    with open(pathlib.Path(build) / "compile_commands.json") as file:
        entries = json.load(file)
    for entry in entries:
        source = pathlib.Path(entry["file"])
        if source.suffix != ".cpp" or "_test" in source.stem or root / "src" not in source.parents:
            continue
        if "weft_objects" not in entry.get("output", entry["command"]):
            continue
        words, kept = shlex.split(entry["command"]), []
        skip = 0
        for word in words:
            if skip:
                skip -= 1
            elif word in ("-o", "-c", "-MF", "-MT"):
                skip = 1
            elif word != "-MD":
                kept.append(word)
        return kept
    sys.exit(f"{build}/compile_commands.json has no source of the library")


def jobs(root, build, cc, cxx):
    """(what is said of it, the command, the text to compile) of each compilation."""
    include = f"-I{root / 'include'}"
    public = sorted((root / "include").rglob("*.h*"))
    for path in public:
        name = path.relative_to(root / "include")
        text = f"#include <{name}>\n"
        if path.suffix == ".h":
            yield f"{name} as C11", [cc, "-std=c11", *PUBLIC, include, "-x", "c", "-"], text
        yield f"{name} as C++20", [cxx, "-std=c++20", *PUBLIC, include, "-x", "c++", "-"], text
    command = library_command(build, root)
    arch = re.search(r"arch/(\w+)/context\.hpp", " ".join(command))
    for path in sorted((root / "src").rglob("*.hpp")):
        name = path.relative_to(root / "src")
        if name.parts[0] == "arch" and len(name.parts) > 2 and (not arch or name.parts[1] != arch.group(1)):
            continue        # of another processor: its own preset compiles it
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
