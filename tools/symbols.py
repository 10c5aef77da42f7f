#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shared library exports what the public headers declare, no more and no less.

    tools/symbols.py --library build/release/libweft.so [--root ROOT]
    tools/symbols.py --library build/release/bridge/argobots/libabt.so --list bridge/argobots/exports.txt

With a list, the library exports what that names, one a line and in order, no more and no less: for an interface that
others have fixed. Declared is otherwise what carries WEFT_API in include/weft/, and the thread-local word that a header
reads by assembly; src/abi/weft.map must name each of it, by name or by a pattern that matches nothing else.
"""
import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def declared(folder):
    """The names that the headers mark with WEFT_API, and the declarations that could not be read."""
    names, wrong = set(), []
    for path in sorted(folder.rglob("*.h*")):
        text = re.sub(r"^\s*#.*(?:\\\n.*)*", "", without_comments(path.read_text()), flags=re.M)
        # A word that is hidden from compilers: the one instruction that names it declares it.
        names.update(re.findall(r"\b(weft_\w+)@gottpoff", text))
        # A class of the C++ headers has WEFT_API too, so that one program has one exception type;
        # it exports nothing here.
        text = re.sub(r"\b(?:class|struct)\s+WEFT_API\b", "", text)
        for declaration in re.findall(r"\bWEFT_API\b([^;{]*)", text):
            # A function, by its label if it has one, or a constant that programs look up
            # through the loader.
            found = (
                re.search(r'\b__asm__\("(weft_\w+)"\)', declaration)
                or re.search(r"\b(weft_\w+)\s*\(", declaration)
                or re.search(r"\bconst char (weft_\w+)\s*$", declaration)
            )
            if found:
                names.add(found.group(1))
            else:
                wrong.append(f"{path.name}: WEFT_API before what is no function: {' '.join(declaration.split())}")
    return names, wrong


def exported(library):
    """The dynamic symbols that the library defines, without the version nodes themselves."""
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = set()
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":
            names.add(name.partition("@")[0])
    return names


def global_patterns(path):
    """The patterns that the version script makes visible."""
    text = without_comments(path.read_text())
    patterns = []
    for body in re.findall(r"\{(.*?)\}", text, re.S):
        visible = True
        for word in re.findall(r"[^\s;]+", body):
            if word in ("global:", "local:"):
                visible = word == "global:"
            elif visible:
                patterns.append(word)
    return patterns


def check_list(path, found):
    """The errors of a library that must export the symbols that a file lists."""
    listed = path.read_text().split()
    wrong = [f"{path.name}: {name} stands after {before}" for before, name in zip(listed, listed[1:]) if name <= before]
    wrong += [f"{name}: exported, but not in {path.name}" for name in sorted(found - set(listed))]
    wrong += [f"{name}: in {path.name}, but not exported" for name in sorted(set(listed) - found)]
    return listed, wrong


def check_headers(root, found):
    """The errors of a library that must export what the public headers declare."""
    names, wrong = declared(root / "include" / "weft")
    patterns = global_patterns(root / "src" / "abi" / "weft.map")
    wrong += [f"{name}: exported, but no public header declares it" for name in sorted(found - names)]
    wrong += [f"{name}: declared in a public header, but not exported" for name in sorted(names - found)]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            wrong.append(f"weft.map: {pattern} matches nothing that is declared")
    for name in sorted(names):
        if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            wrong.append(f"weft.map: does not name {name}")
    return names, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--root", default=pathlib.Path(__file__).parent.parent)
    parser.add_argument("--list", type=pathlib.Path)
    options = parser.parse_args()
    found = exported(options.library)
    if options.list:
        names, wrong = check_list(options.list, found)
    else:
        names, wrong = check_headers(pathlib.Path(options.root), found)
    for line in wrong:
        print(line)
    print(f"{len(names)} {'listed' if options.list else 'declared'}, {len(found)} exported, {len(wrong)} wrong")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
