#!/usr/bin/env python3
"""Rewrites C and C++ sources that call Weft 0.6 so that they call 0.7.

    tools/upgrade.py FILE...            rewrites the files
    tools/upgrade.py --check FILE...    says what it would do, and writes nothing

It renames, puts arguments into their new order, and splits calls whose deadline was a mandatory argument. What it
cannot decide it leaves alone and names, with the file, the line and the remedy; the exit status is 1 then.
doc/upgrade.md has the table.
"""
import argparse
import pathlib
import re
import sys

# Names that have changed, and nothing else about them.
RENAMED = {
    "weft_unit_free": "weft_unit_join_free",
    "weft_unit_free_many": "weft_unit_join_free_many",
}

# Calls whose arguments have another order: the new name, and the places that the new arguments had.
REORDERED = {}

# Calls that had a deadline always: the place of the deadline, the call without it, and the call with it as its last input. Each call is the
# name and the places that its arguments had.
SPLIT = {}

# What a person must look at: a pattern, and the remedy.
REPORTED = {
    r"\bWEFT_EXCEPTION\b": "a join returns WEFT_NOT_RETURNED; ask weft_unit_outcome_get, which gives WEFT_OUTCOME_EXCEPTION",
    r"\bWEFT_CANCELLED\b": "a join returns WEFT_NOT_RETURNED; ask weft_unit_outcome_get, which gives WEFT_OUTCOME_CANCELLED",
}

OPENING, CLOSING = "([{", ")]}"


def skip_literal(text, at):
    """The place behind the string, character or comment that begins at `at`; `at` if none does."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    if text[at] in "\"'" and not (text[at] == "'" and at > 0 and text[at - 1].isalnum()):   # 1'000 is a number
        quote, end = text[at], at + 1
        while end < len(text) and text[end] not in (quote, "\n"):
            end += 2 if text[end] == "\\" else 1
        return end + 1
    return at


def arguments(text, opening):
    """The arguments of the call whose parenthesis opens at `opening`, as they are written, and the place behind it; None if it never closes."""
    found, depth, begin, at = [], 0, opening + 1, opening
    while at < len(text):
        behind = skip_literal(text, at)
        if behind != at:
            at = behind
            continue
        if text[at] in OPENING:
            depth += 1
        elif text[at] in CLOSING:
            depth -= 1
            if depth == 0:
                found.append(text[begin:at])
                return (found if len(found) > 1 or found[0].strip() else []), at + 1
        elif text[at] == "," and depth == 1:
            found.append(text[begin:at])
            begin = at + 1
        at += 1
    return None


def put(name, given, places):
    return f"{name}({', '.join(given[place].strip() for place in places)})"


class Upgrade:
    def __init__(self, path):
        self.path, self.notes = path, []

    def note(self, text, at, what):
        self.notes.append(f"{self.path}:{text.count(chr(10), 0, at) + 1}: {what}")

    def call(self, text, name, at, opening):
        """What stands in the place of the call, and the place behind the call; None: it stays."""
        read = arguments(text, opening)
        if read is None:
            return None
        given, behind = read
        if name in REORDERED:
            new, places = REORDERED[name]
            if len(given) != len(places):
                return None
            return put(new, given, places), behind
        deadline, without, within = SPLIT[name]
        if len(given) != max(within[1]) + 1:
            return None
        forever = given[deadline].strip() in ("WEFT_FOREVER", "UINT64_MAX")
        return put(*(without if forever else within)[:1], given, (without if forever else within)[1]), behind

    def rewrite(self, text):
        names = sorted([*REORDERED, *SPLIT], key=len, reverse=True)
        if names:
            pattern = re.compile(r"\b(" + "|".join(names) + r")(\s*)(?=\()")
            at = 0
            while match := pattern.search(text, at):
                made = self.call(text, match[1], match.start(), match.end())
                at = match.end()
                if made is not None:
                    text = text[:match.start()] + made[0] + text[made[1]:]
                    at = match.start() + len(made[0].split("(")[0]) + 1
        text = re.sub(r"\b(" + "|".join(sorted(RENAMED, key=len, reverse=True)) + r")\b", lambda match: RENAMED[match[1]], text)
        for pattern, remedy in REPORTED.items():
            for match in re.finditer(pattern, text):
                self.note(text, match.start(), f"{match[0]}: {remedy}")
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    asked = parser.parse_args()
    notes = []
    for path in asked.files:
        upgrade = Upgrade(path)
        before = path.read_text()
        after = upgrade.rewrite(before)
        notes += upgrade.notes
        if after != before:
            print(f"{path}: {'would be ' if asked.check else ''}rewritten")
            if not asked.check:
                path.write_text(after)
    print("\n".join(notes), end="\n" if notes else "")
    return 1 if notes else 0


if __name__ == "__main__":
    sys.exit(main())
