#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formats the sources: C and C++ by clang-format 14 and .clang-format, Python by black, both as Debian 12 has them.

    tools/format.py            writes what it has changed
    tools/format.py --check    changes nothing; names what is not formatted and fails

Comments are wrapped where a line is too long, and otherwise stay as they are. What lies in a folder whose own
.clang-format says DisableFormat is left alone.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["include", "src", "bridge", "cmd", "example", "test", "bench", "tools"]
C_FAMILY = {".c", ".h", ".cpp", ".hpp"}
BLACK = ["black", "--quiet", "--line-length", "120", "--skip-string-normalization"]


def sources(root):
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.is_file()]
    c_family = [str(path) for path in paths if path.suffix in C_FAMILY]
    return c_family, [str(path) for path in paths if path.suffix == ".py"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=ROOT)
    options = parser.parse_args()
    missing = [tool for tool in ("clang-format", "black") if shutil.which(tool) is None]
    if missing:
        print(f"not found: {', '.join(missing)}; tools/setup format installs what formats the sources")
        return 1
    c_family, python = sources(options.root)
    if not c_family and not python:
        print(f"{options.root}: no sources")
        return 1
    failed = False
    for paths, write, check in (
        (c_family, ["clang-format", "-i"], ["clang-format", "--dry-run", "--Werror"]),
        (python, BLACK, [*BLACK, "--check", "--verbose"]),
    ):
        if not paths:
            continue
        done = subprocess.run((check if options.check else write) + paths, capture_output=True, text=True)
        if done.returncode == 0:
            continue
        failed = True
        said = [line for line in done.stderr.splitlines() if "error" in line or "would reformat" in line]
        print("\n".join(said[:40] or [done.stderr]))
    if options.check:
        print(f"{len(c_family) + len(python)} files, {'not all' if failed else 'all'} formatted (make format)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
