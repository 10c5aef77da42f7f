#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The public headers keep the conventions that weft.h states.

    tools/contracts.py [--root ROOT]

The C interface: the subject of a call comes first, its outputs come last; a getter is named _get, and what has a
subject is told by such a one; what waits has a twin with a deadline, which is its last input; _free never waits.

C++ maps C: where a C++ header fills a structure of the C interface that says how something is to be (weft_settings,
weft_*_options), it sets each of its fields; and there is such a place for each of these structures, or a call that
takes the structure itself.
"""
import argparse
import pathlib
import re
import sys

ASKED = r"weft_(?:\w+_options|settings|\w+_hint)"  # structures that a caller fills


# Calls that are no getters although they have a subject and return a value, with the reason.
BY_VALUE = {
    "weft_unit_link": "the slot itself, to be read and written",
    "weft_domain_wanted": "a word to watch",
    "weft_domain_lacked": "a word to watch",
    "weft_local_get": "the calling unit's value, as pthread_getspecific",
    "weft_sched_check_stop": "an act: it sees to what is asked of the stream",
    "weft_job_take_back": "an act",
    "weft_job_join": "an act",
    "weft_job_address": "its argument",
    "weft_unit_joined": "a predicate of a status",
}
# Calls that wait and have no counterpart with a deadline, with the reason.
NO_DEADLINE = {
    "weft_stream_join_free": "a stop cannot be taken back; weft_stream_ended_get asks",
    "weft_sched_wait": "a scheduler's stream sleeps until it is wanted",
    "weft_guest_enter": "a guest waits for its turn",
    "weft_finalize": "the end of the runtime",
    "weft_mutex_spin_lock": "it spins for a few instructions",
    "weft_domain_unregister": "harts come back by themselves",
    "weft_sleep_for": "its time is what it is given",
    "weft_blocking": "it waits for the function that it is given",
    "weft_job_take_back": "the branch runs, and ends",
    "weft_job_join": "the branch runs, and ends",
}
OUTPUT = re.compile(
    r"(?:(?!const )\w+ \*\*+|"
    r"(?:size_t|bool|int|uint\d+_t|ptrdiff_t|weft_\w+_(?:kind|state|outcome|access)|weft_kind) \*)\w+$"
)
SIZES = {"capacity", "bytes", "count"}


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def structures(header):
    """The name and the fields, except `size`, of each structure that a caller fills."""
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\}\s*(\w+);", without_comments(header), re.S):
        if not re.fullmatch(ASKED, name):
            continue
        fields = []
        for member in filter(None, (part.strip() for part in body.split(";"))):
            fields.append(
                re.search(r"\(\*(\w+)\)", member)[1]
                if "(*" in member
                else re.search(r"(\w+)\s*(?:\[\w*\])?$", member)[1]
            )
        yield name, [field for field in fields if field != "size"]


def gaps(name, fields, headers):
    """The fields of a C structure that the C++ headers do not fill or read."""
    places = 0
    for path, text in headers.items():
        if re.search(rf"const {name}\s*[*&]\s*\w+ = nullptr", text):
            places += 1  # the caller fills it
        for variable, values in re.findall(rf"\b{name} (\w+)\{{([^}}]*)\}}", text):
            said = set(re.findall(rf"\b{variable}\.(\w+)(?: =|,)", text))
            if values.count(",") == len(fields):
                said = set(fields)  # there is an initialiser for each
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


def calls(header):
    """Comment, return type, name and parameters of each call that a C header declares."""
    pattern = re.compile(
        r"/\*\*((?:(?!\*/).)*)\*/\s*(?:WEFT_API|WEFT_INLINE|static inline) ([^;{(]*?)(weft_\w+)"
        r"\(((?:[^()]|\([^()]*\))*)\)",
        re.S,
    )
    for comment, result, name, inside in pattern.findall(header):
        inside = re.sub(r"\s+", " ", inside)
        parameters, depth = [""], 0
        for letter in inside:
            depth += (letter == "(") - (letter == ")")
            if letter == "," and depth == 0:
                parameters.append("")
            else:
                parameters[-1] += letter
        parameters = [parameter.strip() for parameter in parameters if parameter.strip() not in ("", "void")]
        yield re.sub(r"\s*\n \*\s*", " ", comment), result.strip(), name, parameters


def is_output(parameter):
    return "(*" not in parameter and OUTPUT.search(parameter) is not None


def wrong_with(call, names):
    comment, result, name, parameters = call
    words = [re.search(r"\(\*(\w+)\)|(\w+)(?:\[\])?$", parameter) for parameter in parameters]
    words = [word[1] or word[2] for word in words]
    subject = name.split("_")[1]
    own = [
        place
        for place, parameter in enumerate(parameters)
        if re.match(rf"(const )?weft_{subject} \*(const \*)?\w+$", parameter)
    ]
    if own and own[0] != 0:
        yield f"{name}: its subject, {words[own[0]]}, is not its first argument"
    outputs = [is_output(parameter) for parameter in parameters]
    for place in range(1, len(parameters)):
        if outputs[place - 1] and not outputs[place] and words[place] not in SIZES:
            yield f"{name}: {words[place]} comes behind an output, {words[place - 1]}"
    has_subject = bool(parameters) and re.match(r"(const )?weft_\w+ \*\w+$", parameters[0]) is not None
    if has_subject and result not in ("weft_status", "void") and name not in BY_VALUE:
        yield f"{name}: what has a subject is told by a getter: {name}_get({words[0]}, &value)"
    if (
        name.endswith("_get")
        and result == "weft_status"
        and not re.search(r"\*\w+$", parameters[-1])
        and words[-1] not in SIZES
    ):
        yield f"{name}: a getter's last argument receives the value"
    if (
        has_subject
        and not re.search("_(get|create|register|with)$", name)
        and len(parameters) == 2
        and parameters[0].startswith("const ")
        and outputs[1]
        and result == "weft_status"
    ):
        yield f"{name}: a getter's name ends in _get"
    if any("timeout" in word for word in words):
        yield f"{name}: takes a timeout; it is to take a deadline"
    if "deadline_ns" in words:
        behind = outputs[words.index("deadline_ns") + 1 :]
        if not all(behind) and not re.search(r"void \*(element|\*+values?)$", parameters[-1]):
            yield f"{name}: its deadline is not the last input"
        if not name.endswith("_until") and name != "weft_timer_start":
            yield f"{name}: has a deadline, and its name does not end in _until"
        if name.endswith("_until") and name[: -len("_until")] not in names and name != "weft_sleep_until":
            yield f"{name}: has no twin without a deadline"
    elif (
        re.match(r"\s*(Waits|Joins)\b|.*\b(and|;) waits (until|for)\b", comment.split(".")[0])
        and f"{name}_until" not in names
        and name not in NO_DEADLINE
    ):
        yield f"{name}: waits, and has no twin with a deadline, {name}_until"
    if (
        name.endswith("_free")
        and not name.endswith("_join_free")
        and re.search(r"\bmay switch\b|(?<!body )\bwaits (until|for)\b", comment)
    ):
        yield f"{name}: a _free does not wait"


def conventions(root):
    every = [call for path in sorted((root / "include" / "weft").rglob("*.h")) for call in calls(path.read_text())]
    names = {call[2] for call in every}
    if not names:
        yield "no call of the C interface was found"
    for call in every:
        yield from wrong_with(call, names)
    for name in sorted(({*BY_VALUE} | {*NO_DEADLINE}) - names) if len(names) > 100 else []:
        yield f"{name}: is excepted, and there is no such call"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    said = [*conventions(root), *mapping(root)]
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
