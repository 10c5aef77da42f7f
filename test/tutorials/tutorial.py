#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what a tutorial says, in an empty folder, with an installed Weft.

    test/tutorials/tutorial.py doc/tutorials/first-hour-in-c.md --build build/release
    test/tutorials/tutorial.py doc/tutorials/first-hour-in-c.md --prefix $HOME/weft

A block of code whose first line is a comment that names a file (`// hello.cpp`, `/* hello.c */`, `# CMakeLists.txt`)
is written to that file. A block of `sh` is run, with `set -e`. A block without a language, or of `text`, that follows
a block of `sh` is what the commands print: `...` in a line stands for anything, and a line `...` for any lines; numbers
that a run may change are written as `...` too.

A comment before a block changes that:

    <!-- untested: why -->          the block is for reading alone
    <!-- status: 1 -->              the commands end with that status
    <!-- needs: gdb, python3:numpy, pkg-config:weft_checked -->
                                    the rest of the page is tested only where these programs, modules of Python and
                                    packages of pkg-config are installed

Every block of c, cpp, cmake, python and sh is written or run, or says why not.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CODE = {"c", "cpp", "cmake", "python", "sh"}
NAMED = re.compile(r"^(?://|#|/\*) ([\w./-]+\.\w+)(?: \*/)?$")
TIMEOUT_S = 120


def blocks_of(text):
    """(line number, language, remark before it, text) of each fenced block."""
    found, remark, start = [], "", None
    for number, line in enumerate(text.splitlines(), 1):
        if start is not None:
            if line.strip() == "```":
                found.append((start, language, remark, "".join(lines)))
                remark, start = "", None
            else:
                lines.append(line + "\n")
        elif line.startswith("```"):
            start, language, lines = number, line[3:].strip(), []
        elif said := re.fullmatch(r"<!-- (.*) -->", line.strip()):
            remark = said.group(1)
        elif line.strip():
            remark = ""
    if start is not None:
        sys.exit(f"line {start}: the block does not end")
    return found


def pattern_of(expected):
    """A regular expression for what commands print."""
    parts = []
    for line in expected.splitlines():
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"\s*?\n")
    return "".join(parts)


def environment(prefix):
    """That of a user who has installed Weft there, as README says."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "OMP_", "LD_"))}
    library = next(prefix.rglob("libweft.so")).parent
    env["PATH"] = f"{prefix}/bin:{env['PATH']}"
    env["LD_LIBRARY_PATH"] = str(library)
    env["PKG_CONFIG_PATH"] = str(library / "pkgconfig")
    env["CMAKE_PREFIX_PATH"] = str(prefix)
    env["PREFIX"] = str(prefix)
    return env


def lacks(needs, env):
    """The first of "gdb, python3:numpy" that is not there."""
    for need in re.split(r",\s*", needs):
        program, _, part = need.partition(":")
        if shutil.which(program) is None:
            return need
        has = {"python3": ["-c", f"import {part}"], "pkg-config": ["--exists", part]}
        if part and subprocess.run([program, *has[program]], env=env, capture_output=True).returncode != 0:
            return need
    return None


class Page:
    def __init__(self, path, env, folder):
        self.path, self.env, self.folder = path, env, folder
        self.printed = None  # by the last block of sh, until it has been compared

    def fail(self, line, why):
        sys.exit(f"{self.path}:{line}: {why}")

    def run(self, line, text, status):
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", text],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
        )
        if done.returncode != status:
            self.fail(line, f"status {done.returncode}\n{text}\n{done.stdout}")
        self.printed = done.stdout

    def compare(self, line, text):
        if not re.fullmatch(pattern_of(text), self.printed):
            self.fail(line, f"the page says\n{text}\nbut the commands print\n{self.printed}")
        self.printed = None

    def do(self):
        done = 0
        for line, language, remark, text in blocks_of(self.path.read_text()):
            word, _, value = remark.partition(": ")
            if word == "needs" and (lacking := lacks(value, self.env)):
                print(f"{self.path}:{line}: left out from here on: {lacking} is not installed")
                break
            if word == "untested":
                self.printed = None
                continue
            if language == "sh":
                self.run(line, text, int(value) if word == "status" else 0)
            elif language in ("", "text") and self.printed is not None:
                self.compare(line, text)
            elif named := NAMED.match(text.partition("\n")[0]):
                file = self.folder / named.group(1)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            elif language in CODE:
                self.fail(line, f"a block of {language} that names no file and is not said to be untested")
            else:
                continue
            done += 1
        if done == 0:
            self.fail(1, "there is nothing to do")
        print(f"{self.path}: {done} blocks done")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, help="a build, which is installed for this run")
    parser.add_argument("--prefix", type=pathlib.Path, help="where Weft is installed")
    options = parser.parse_args()
    if (options.build is None) == (options.prefix is None):
        parser.error("one of --build and --prefix")
    with tempfile.TemporaryDirectory(prefix="weft-tutorial-") as work:
        prefix = options.prefix
        if prefix is None:
            prefix = pathlib.Path(work) / "installed"
            subprocess.run(
                ["cmake", "--install", options.build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL
            )
        folder = pathlib.Path(work) / "here"
        folder.mkdir()
        Page(options.page, environment(prefix.resolve()), folder).do()


if __name__ == "__main__":
    main()
