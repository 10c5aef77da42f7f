#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every environment variable whose name begins with WEFT_ is in the one list: src/process/settings.cpp and
src/process/variables.cpp.

    tools/variables.py [ROOT]

A name with this beginning in src/, cmd/, bridge/ and the documents is a variable, unless a public header declares it,
a build option or a macro has that name, or OTHERS below lists it. A name that a call of getenv or setenv contains is a
variable in any case, in tests, too.
"""
import pathlib
import re
import sys

NAME = re.compile(r"\bWEFT_[A-Z][A-Z0-9_]*\b")
CALL = re.compile(r'\b(?:getenv|setenv|unsetenv|text_of)\(\s*"(WEFT_\w+)"')
MACRO = re.compile(r"#\s*(?:define|ifndef|ifdef|undef)\s+(WEFT_\w+)")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"[^"\n]*"')
LISTS = ["src/process/settings.cpp", "src/process/variables.cpp"]
CODE = {".c", ".h", ".cpp", ".hpp", ".S"}
BUILD = {".cmake", ".in"}
OTHERS = {
    "WEFT_UNVERSIONED": "a version of symbols",
    "WEFT_TBB_NAME_OF_": "with a function's name behind it, a macro",
    "WEFT_STEAMS": "the example of one that is misspelt",
    "WEFT_OF_ANOTHER_PROJECT": "of none of Weft's, in tests",
}


def files(root, *folders):
    for folder in folders:
        place = root / folder
        yield from [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())


def read(path):
    return path.read_text(errors="replace")


def declared(root):
    """Names that are no variables: those of the public headers, of macros, and of the build."""
    names = set(OTHERS)
    for path in files(root, "include"):
        names.update(NAME.findall(STRING.sub("", COMMENT.sub("", read(path)))))
    for path in files(root, "src", "cmd", "bridge", "test", "bench", "example"):
        if path.suffix in CODE:
            names.update(MACRO.findall(read(path)))
        if path.name == "CMakeLists.txt" or path.suffix in BUILD:
            names.update(NAME.findall(read(path)))
    for path in files(root, "CMakeLists.txt", "CMakePresets.json", "cmake"):
        names.update(NAME.findall(read(path)))
    return names


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    listed = {name for path in LISTS for name in re.findall(r'"(WEFT_[A-Z0-9_]+)"', read(root / path))}
    others = declared(root)
    wrong = set()

    def look(path, found, but):
        wrong.update(
            f"{path.relative_to(root)}: {name} is in neither {' nor '.join(LISTS)}"
            for name in found
            if name not in listed and name not in but
        )

    for path in files(
        root, "src", "cmd", "bridge", "doc", "README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGES.md"
    ):
        # upgrade.md has names of earlier versions.
        if path.suffix in CODE | {".md"} and not re.search(r"_test$", path.stem) and path.name != "upgrade.md":
            look(path, NAME.findall(read(path)), others)
    for path in files(root, "src", "cmd", "bridge", "test", "bench", "example"):
        if path.suffix in CODE:
            look(path, CALL.findall(read(path)), OTHERS)
    for line in sorted(wrong):
        print(line)
    print(f"{len(listed)} variables, {len(wrong)} wrong")
    return 1 if wrong or not listed else 0


if __name__ == "__main__":
    sys.exit(main())
