#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that no entity of the public headers is undocumented: Doxygen (doc/Doxyfile) reports nothing.

    tools/documented.py [ROOT]
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

OPENS = re.compile(r"(?:[^\n]*SPDX[^\n]*\n)?(?:/\* |// )")


def silent_enumerators(folder):
    """Doxygen 1.9.4 does not report an enumerator without a comment, but its XML shows it."""
    found = set()
    for path in folder.glob("*.xml"):
        for enum in xml.etree.ElementTree.parse(path).iter("memberdef"):
            if enum.get("kind") != "enum" or enum.get("prot") != "public":
                continue
            where = enum.find("location")
            for value in enum.iter("enumvalue"):
                texts = [value.find("briefdescription"), value.find("detaileddescription")]
                if not any("".join(text.itertext()).strip() for text in texts if text is not None):
                    found.add(
                        f"{where.get('file')}:{where.get('line')}: enumerator {value.findtext('name')} "
                        "is not documented.\n"
                    )
    return "".join(sorted(found))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    doc = pathlib.Path(__file__).resolve().parent.parent / "doc"
    headers = sorted((root / "include").rglob("*.h*"))
    bare = [path for path in headers if not OPENS.match(path.read_text())]
    for path in bare:
        print(f"{path}:1: opens with no comment that says what it is")
    with tempfile.TemporaryDirectory(prefix="weft-doc-") as place:
        log = pathlib.Path(place) / "warnings"
        settings = (
            f"@INCLUDE = {doc}/Doxyfile\nINPUT = include/weft\nUSE_MDFILE_AS_MAINPAGE =\nEXCLUDE =\nIMAGE_PATH =\n"
            f"INPUT_FILTER = \"sed -f {doc}/headers.sed\"\n"
            f"OUTPUT_DIRECTORY = {place}\nGENERATE_HTML = NO\nGENERATE_XML = YES\n"
            f"XML_PROGRAMLISTING = NO\nWARN_LOGFILE = {log}\nWARN_FORMAT = \"$file:$line: $text\"\n"
        )
        done = subprocess.run(
            ["doxygen", "-"], input=settings, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        warnings = log.read_text() if log.exists() else ""
        # The headers specialise templates of std, which Doxygen has not seen.
        warnings = "".join(
            line for line in warnings.splitlines(True) if "Internal inconsistency: scope for class std::" not in line
        )
        warnings += silent_enumerators(pathlib.Path(place) / "xml")
        files = len(list((pathlib.Path(place) / "xml").glob("*_8h*.xml")))
    print(done.stdout + warnings, end="")
    print(f"{files} headers, {len(warnings.splitlines())} lines of warnings")
    if done.returncode != 0 or warnings or bare or not files:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
