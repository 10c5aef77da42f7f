#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the rules of the house that show in single lines of text.

    tools/tidy.py [ROOT]

Everywhere: no word that marks something as unfinished; no line above 120 columns, and no line of
prose or of a comment alone above 100, unless it cannot be broken (a table or a listing of a
document, a string in CMake). No sentence of a comment or a document begins with "Who" instead of a
noun, no thread is "he", and no comment begins "The same" or says "as above": it says what it means.
Each source names its licence. In src/: no preprocessor conditionals (a file is chosen, or `if
constexpr` is used), no function-like macros but the assertion, no thread_local (os/local.hpp says
why), no stand-alone fences (thread sanitizers do not see them) but a compiler's own, and every memory order weaker than
seq_cst is named in a comment on its line or just above, or a comment there says what it pairs with.
A file whose orders all have one reason says so once: "// relaxed throughout: counts that nobody
draws conclusions from".
"""
import pathlib
import re
import sys

UNFINISHED = re.compile(r"\b(?:TO" "DO|FIX" "ME|XX" "X|TB" "D)\\b")
FOLDERS = ["src", "include", "bridge", "cmd", "example", "test", "bench", "tools", "cmake", "doc", ".ci"]
TOP = [
    "CMakeLists.txt",
    "CMakePresets.json",
    "Makefile",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGES.md",
]
TEXT = {".c", ".h", ".cpp", ".hpp", ".S", ".in", ".py", ".sh", ".cmake", ".md", ".txt", ".map", ".json", ""}
CODE = {".c", ".h", ".cpp", ".hpp", ".S", ".in"}

# Conditionals that no chosen file can replace: {path: {directive line: why}}.
CONDITIONALS = {}
# Files with cold thread-locals that the library never reads across a switch.
THREAD_LOCALS = {"src/os/linux/error_text.cpp", "src/os/linux/thread.cpp"}
# The macros that need their argument as text, or the place where they are used.
MACROS = {"WEFT_ASSERT"}

COLUMNS = 120
PROSE_COLUMNS = 100
NARROW = {".c", ".h", ".cpp", ".hpp", ".S", ".py", ".cmake", ".md"}
VAGUE = re.compile(r"^\W*(?:the same\b|as (?:above|below)\b)|\bas above\b", re.I)
# A sentence without a noun for its subject; a question is none.
HEADLESS = re.compile(r"(?:^\W*|[.;:!] +)(Who(?:ever)? [a-z][^?]*)$")
PERSON = re.compile(r"(?<![\"'`])\b(?:he|his|him)\b(?![\"'`])")
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
LICENSED = {".c", ".h", ".cpp", ".hpp", ".S", ".py", ".sh", ".cmake"}

WEAK = re.compile(r"\bmemory_order(?:_|::)(relaxed|acquire|release|acq_rel|consume)\b")
LINES_ABOVE = 10


def code_of(line, in_comment):
    """The line without its comments and with empty strings, and whether a /* comment continues after it."""
    kept, i = [], 0
    while i < len(line):
        if in_comment:
            end = line.find("*/", i)
            if end < 0:
                return "".join(kept), True
            in_comment, i = False, end + 2
        elif line.startswith("//", i):
            break
        elif line.startswith("/*", i):
            in_comment, i = True, i + 2
        elif line[i] in "\"'":
            found = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'').match(line, i)
            kept.append('""')
            i = found.end() if found else i + 1  # an apostrophe alone: a digit separator
        else:
            kept.append(line[i])
            i += 1
    return "".join(kept), in_comment


def comment_of(line):
    """The comment in a line: the text after //, or the whole line within a /* comment."""
    stripped = line.strip()
    if stripped.startswith(("/*", "*")):
        return stripped
    return line.partition("//")[2]


def check_directives(name, number, code):
    found = re.match(r"\s*#\s*(\w+)\s*(.*)", code)
    if not found:
        return []
    word, rest = found.groups()
    if word in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
        if " ".join(code.split()) not in CONDITIONALS.get(name, {}):
            return [f"{name}:{number}: #{word}: choose a file, or use if constexpr"]
    if word == "define":
        macro = re.match(r"(\w+)\(", rest)
        if macro and macro.group(1) not in MACROS:
            return [f"{name}:{number}: function-like macro {macro.group(1)}"]
    return []


def prose_of(path, lines):
    """(number, text, whether the line has nothing else) of each line of prose: of a document, or of a comment."""
    if path.suffix == ".md":
        listing = False
        for number, line in enumerate(lines, 1):
            listing ^= line.lstrip().startswith("```")
            if not listing and not line.startswith("    ") and not line.lstrip().startswith(("|", "#", "![", "`" * 3)):
                yield number, line, True
    elif path.suffix in CODE:
        in_comment = False
        for number, line in enumerate(lines, 1):
            block = in_comment
            code, in_comment = code_of(line, in_comment)
            if "//" in line or block or "/*" in line:
                yield number, comment_of(line), not code.strip()
    else:
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("# "):
                yield number, line.lstrip()[2:], True


def check_columns(path, name, lines):
    """Checks the columns; a document's tables, headings and listings may be longer, and so may a string in CMake."""
    wrong = []
    cmake = path.suffix == ".cmake" or path.name == "CMakeLists.txt"
    prose = {number for number, text, alone in prose_of(path, lines) if alone and " " in text.strip(" /*#")}
    for number, line in enumerate(lines, 1):
        most = PROSE_COLUMNS if number in prose else COLUMNS
        if path.suffix == ".md" and number not in prose:
            continue
        if len(line) > most and not (cmake and max(map(len, re.findall(r'"[^"]*"?|\S+', line))) > 80):
            wrong.append(f"{name}:{number}: {len(line)} columns; there may be {most}")
    return wrong


def check_words(path, name, lines):
    """Finds comments that refer to another comment, and sentences of comments and documents without a noun."""
    wrong, before = [], -1
    for number, said, alone in prose_of(path, lines):
        found = VAGUE.search(said) if path.suffix in CODE else None
        continued = alone and number == before + 1
        if found and (not continued or re.search("as above", found.group(0), re.I)):
            wrong.append(f"{name}:{number}: '{found.group(0).strip(' */')}': say what it means")
        if HEADLESS.search(said) and not (continued and re.match(r"\W*Who", said)):
            wrong.append(f"{name}:{number}: 'Who': name the subject")
        if found := PERSON.search(said):
            wrong.append(f"{name}:{number}: '{found.group(0)}': a thread is 'it'")
        before = number if alone and said.strip(" */") else -1
    return wrong


def check_order(name, lines, number, code, throughout):
    wrong = []
    near = " ".join(comment_of(line) for line in lines[max(0, number - 1 - LINES_ABOVE) : number]).lower()
    for order in WEAK.findall(code):
        if not re.search(rf"\b{order}\b|\bpairs?\b|\bpartner", near) and order not in throughout:
            wrong.append(
                f"{name}:{number}: memory_order_{order}: no comment names its partner or says why it may be weak"
            )
    return wrong


def check_src(path, name):
    wrong, in_comment = [], False
    lines = path.read_text().splitlines()
    test = re.search(r"_(test|bench|check)$", path.stem)
    throughout = {order for line in lines for order in re.findall(r"\b(\w+) throughout:", comment_of(line))}
    for number, line in enumerate(lines, 1):
        code, in_comment = code_of(line, in_comment)
        wrong += check_directives(name, number, code)
        if test:
            continue
        if re.search(r"\bthread_local\b|\b__thread\b", code) and name not in THREAD_LOCALS:
            wrong.append(f"{name}:{number}: thread_local: a unit may wake on another OS thread; see os/local.hpp")
        if re.search(r"\batomic_thread_fence\b", code):
            wrong.append(f"{name}:{number}: a stand-alone fence: thread sanitizers do not see it")
        if re.search(r"\bstd::atomic(?:_ref|_flag)?\b", code) and name != "src/base/atomic.hpp":
            wrong.append(f"{name}:{number}: std::atomic: base/atomic.hpp is the seam")
        wrong += check_order(name, lines, number, code, throughout)
    return wrong


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    files = [root / name for name in TOP if (root / name).exists()]
    for folder in FOLDERS:
        files += [
            path
            for path in sorted((root / folder).rglob("*"))
            if path.is_file() and path.suffix in TEXT and "__pycache__" not in path.parts
        ]
    wrong = []
    for path in files:
        name = str(path.relative_to(root))
        lines = path.read_text().splitlines()
        if path.suffix in NARROW or path.name == "CMakeLists.txt":
            wrong += check_columns(path, name, lines)
            wrong += check_words(path, name, lines)
        for number, line in enumerate(lines, 1):
            if found := UNFINISHED.search(line):
                wrong.append(f"{name}:{number}: {found.group(0)}: finish it, or file it")
        if path.suffix in LICENSED and LICENCE not in "\n".join(lines[:3]):
            wrong.append(f"{name}:1: the first lines do not say '{LICENCE}'")
        if name.startswith("src/") and path.suffix in CODE:
            wrong += check_src(path, name)
    for line in wrong:
        print(line)
    print(f"{len(files)} files, {len(wrong)} wrong")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
