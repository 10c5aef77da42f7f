#!/usr/bin/env python3
"""The public headers keep the conventions that weft.h states.

    tools/contracts.py [--root ROOT]

C++ maps C: where a C++ header fills a structure of the C interface that says how something is to be (weft_settings, weft_*_options), it sets
each of its fields; and there is such a place for each of these structures, or a call that takes the structure itself.
"""
import argparse
import pathlib
import re
import sys

ASKED = r"weft_(?:\w+_options|settings|\w+_hint)"     # structures that a caller fills


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def structures(header):
    """Name and fields, but `size`, of each structure that a caller fills."""
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\}\s*(\w+);", without_comments(header), re.S):
        if not re.fullmatch(ASKED, name):
            continue
        fields = []
        for member in filter(None, (part.strip() for part in body.split(";"))):
            fields.append(re.search(r"\(\*(\w+)\)", member)[1] if "(*" in member else re.search(r"(\w+)\s*(?:\[\w*\])?$", member)[1])
        yield name, [field for field in fields if field != "size"]


def gaps(name, fields, headers):
    """What the C++ headers do not say of a structure of C."""
    places = 0
    for path, text in headers.items():
        if re.search(rf"const {name}\s*[*&]\s*\w+ = nullptr", text):
            places += 1         # the caller fills it
        for variable, values in re.findall(rf"\b{name} (\w+)\{{([^}}]*)\}}", text):
            said = set(re.findall(rf"\b{variable}\.(\w+)(?: =|,)", text))
            if values.count(",") == len(fields):
                said = set(fields)      # by an initialiser for each
            read = set(re.findall(rf"[=(<>]\s*(?:static_cast<\w+>\()?{variable}\.(\w+)", text))
            places += 1
            missing = [field for field in fields if field not in said | read]
            if missing:
                yield f"{path.name}: `{variable}`, a {name}, is not told of {', '.join(missing)}"
    if places == 0:
        yield f"no C++ header fills {name}"


def mapping(root):
    folder = root / "include" / "weft"
    headers = {path: without_comments(path.read_text()) for path in sorted(folder.rglob("*.hpp"))}
    count = 0
    for path in sorted(folder.rglob("*.h")):
        for name, fields in structures(path.read_text()):
            count += len(fields)
            yield from gaps(name, fields, headers)
    if count == 0:
        yield "no structure of the C interface was found"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    said = list(mapping(parser.parse_args().root))
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
