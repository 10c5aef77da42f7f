#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""src/arch/arch.hpp is the whole contract of a port: the library compiles and links with a port that has what it asks
for and nothing else.

    test/port/port_test.py --build build/release

First that the made-up port (test/port/made_up/) has nothing else: each of its declarations is left out in turn, and
must be missed by arch.hpp. Then the library's sources are compiled as in compile_commands.json, but with that port and
without optimisation, and linked. What is made is never run.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PORT = HERE / "made_up"
MACROS = {"WEFT_ARCH_CONTEXT": "context", "WEFT_ARCH_CPU": "cpu", "WEFT_ARCH_LOOK": "look"}
# Lines of the port's headers that declare nothing.
FRAME = re.compile(r'\s*(//.*|#.*|namespace .*\{|extern "C" \{|\}.*)?$')
CONTRACT = '#include "arch/arch.hpp"\n'


def run(command, text=None):
    """Returns whether the command succeeds, and its output."""
    done = subprocess.run(
        [str(word) for word in command], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.returncode == 0, done.stdout


def library(build):
    """Returns the command that compiles a source of the library, with the made-up port instead of the processor's and
    without input and output, and the sources that belong to no port."""
    entries = json.loads((build / "compile_commands.json").read_text())
    found = {
        pathlib.Path(entry["file"]): entry["command"]
        for entry in entries
        if "/weft_objects.dir/" in entry["command"] and entry["file"].endswith(".cpp")
    }
    sources = [path for path in found if ROOT / "src" / "arch" not in path.parents]
    if not sources:
        sys.exit(f"{build}/compile_commands.json has no source of the library")
    words = shlex.split(found[sources[0]])
    command, macros = [], set()
    while words:
        word = words.pop(0)
        macro = re.match(r"-D(\w+)=", word)
        if word in ("-o", "-c"):
            words.pop(0)
        elif macro and macro.group(1) in MACROS:
            macros.add(macro.group(1))
        elif not re.match(r"-O|-g", word):
            command.append(word)
    if macros != set(MACROS):
        sys.exit(
            f"a port is chosen by {', '.join(sorted(MACROS))}; the library is compiled with {', '.join(sorted(macros))}"
        )
    return [*command, *(f'-D{macro}="port/made_up/{header}.hpp"' for macro, header in MACROS.items())], sources


def declarations():
    """Yields (header, line number, line) for each line of the port that declares something."""
    for path in sorted(PORT.glob("*.hpp")):
        for number, line in enumerate(path.read_text().splitlines()):
            if not FRAME.match(line):
                yield path.name, number, line


def is_missed(command, work, header, number):
    """Whether arch.hpp no longer compiles when the port lacks that line."""
    folder = work / f"without-{header}-{number}"
    shutil.copytree(PORT, folder / "port" / "made_up")
    path = folder / "port" / "made_up" / header
    lines = path.read_text().splitlines()
    del lines[number]
    path.write_text("\n".join(lines) + "\n")
    return not run([*command, f"-I{folder}", "-fsyntax-only", "-x", "c++", "-"], CONTRACT)[0]


def check_contract(command, work, pool):
    here = [*command, f"-I{HERE.parent}"]
    compiles, said = run([*here, "-fsyntax-only", "-x", "c++", "-"], CONTRACT)
    if not compiles:
        return [f"test/port/made_up/ is no port to src/arch/arch.hpp\n{said}"]
    # Declared by the contract itself, or nowhere.
    compiles, said = run([*here, "-Werror=missing-declarations", "-fsyntax-only", PORT / "frames.cpp"])
    wrong = [] if compiles else [f"test/port/made_up/frames.cpp has what src/arch/frames.hpp does not ask for\n{said}"]
    lines = list(declarations())
    wrong += [
        f"test/port/made_up/{header}:{number + 1}: one declaration a line, so that it can be left out: {line.strip()}"
        for header, number, line in lines
        if not re.match(r"\S.*[;}]$", line)
    ]
    missed = pool.map(lambda line: is_missed(command, work, *line[:2]), lines)
    wrong += [
        f"test/port/made_up/{header}:{number + 1}: src/arch/arch.hpp does not ask for it, so no port needs to have "
        f"it: {line.strip()}"
        for (header, number, line), asked in zip(lines, missed)
        if not asked
    ]
    print(f"{len(lines)} declarations of a port, {len(wrong)} wrong", flush=True)
    return wrong if lines else ["test/port/made_up/ declares nothing"]


def check_library(command, sources, work, pool):
    # gcc and clang find it by its name with .gch appended.
    shutil.copy(HERE / "common.hpp", work)
    command = [*command, f"-I{HERE.parent}", "-w"]
    compiles, said = run([*command, "-x", "c++-header", HERE / "common.hpp", "-o", work / "common.hpp.gch"])
    if not compiles:
        return [f"test/port/common.hpp does not compile\n{said}"]

    def compile_one(numbered):
        number, source = numbered
        made = work / f"{number}.o"
        return source, made, *run([*command, "-include", work / "common.hpp", "-c", source, "-o", made])

    done = list(pool.map(compile_one, enumerate([*sources, *sorted(PORT.glob("*.cpp"))])))
    wrong = [
        f"{source.relative_to(ROOT)}: does not compile with a port that has what src/arch/arch.hpp asks for and "
        f"nothing else\n{said}"
        for source, _, compiles, said in done
        if not compiles
    ]
    print(f"{len(done)} sources with the made-up port, {len(wrong)} wrong", flush=True)
    if wrong:
        return wrong
    compiler = itertools.takewhile(lambda word: not word.startswith("-"), command)  # including a compiler launcher
    links, said = run(
        [
            *compiler,
            "-shared",
            "-Wl,-z,defs",
            "-Wl,--require-defined=weft_local_word",
            *(made for _, made, *_ in done),
            "-pthread",
            "-ldl",
            "-o",
            work / "libweft.so",
        ]
    )
    return [] if links else [f"the library does not link with the made-up port\n{said}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    options = parser.parse_args()
    command, sources = library(options.build)
    with tempfile.TemporaryDirectory(prefix="weft-port-") as place, concurrent.futures.ThreadPoolExecutor(
        len(os.sched_getaffinity(0))
    ) as pool:
        work = pathlib.Path(place)
        wrong = check_contract(command, work, pool) or check_library(command, sources, work, pool)
    for what in wrong:
        print(what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
