#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites C and C++ sources that call Weft 0.6 so that they call 0.7.

    tools/upgrade.py FILE...            rewrites the files
    tools/upgrade.py --check FILE...    says what it would do, and writes nothing

Run it once: some names have got another meaning, as weft_unit_free. It renames, puts arguments into their new order,
and splits calls whose deadline was a mandatory argument. What it cannot decide it leaves alone and names, with the
file, the line and the remedy; the exit status is 1 then. doc/upgrade.md has the table.
"""
import argparse
import pathlib
import re
import sys

# Calls and types of which only the name has changed.
RENAMED = {
    "weft_unit_free": "weft_unit_join_free",
    "weft_unit_free_many": "weft_unit_join_free_many",
    "weft_stream_free": "weft_stream_join_free",
    "weft_unit_kind": "weft_unit_kind_get",
    "weft_unit_priority": "weft_unit_priority_get",
    "weft_unit_pool": "weft_unit_pool_get",
    "weft_unit_stack": "weft_unit_stack_get",
    "weft_unit_argument": "weft_unit_argument_get",
    "weft_unit_detached": "weft_unit_detached_get",
    "weft_unit_migratable": "weft_unit_migratable_get",
    "weft_stream_ended": "weft_stream_ended_get",
    "weft_stream_rank": "weft_stream_rank_get",
    "weft_stream_sched": "weft_stream_sched_get",
    "weft_stream_depth": "weft_stream_depth_get",
    "weft_stream_pool": "weft_stream_pool_get",
    "weft_stream_binding": "weft_stream_binding_get",
    "weft_pool_length": "weft_pool_length_get",
    "weft_sched_stateless": "weft_sched_stateless_get",
    "weft_channel_length": "weft_channel_length_get",
    "weft_semaphore_count": "weft_semaphore_count_get",
    "weft_numa_count": "weft_numa_count_get",
    "weft_observer_add": "weft_observer_register",
    "weft_observer_remove": "weft_observer_unregister",
    "weft_poller_add": "weft_poller_register",
    "weft_poller_remove": "weft_poller_unregister",
    "weft_counter_add": "weft_counter_register",
    "weft_describer_add": "weft_describer_register",
    "weft_context_init": "weft_context_create",
    "weft_sched_should_stop": "weft_sched_check_stop",
    "weft_sched_automatic_set": "weft_sched_owned_set",
    "weft_spmd_tid": "weft_spmd_member",
    "weft_carrier_guest": "weft_guest_here",
    "weft_carrier_awaited": "weft_guest_awaited",
}

# Headers that have moved.
MOVED = {
    "weft/here.h": "weft/embed/here.h",
    "weft/here.hpp": "weft/embed/here.hpp",
    "weft/hosted.h": "weft/embed/hosted.h",
}

# C++ names, replaced in this order.
IN_CXX = [
    *(
        (f"{kind}::automatic", f"{kind}::unspecified")
        for kind in ["unit_kind", "pool_kind", "pool_access", "scheduler_kind"]
    ),
    ("unit_kind::adaptive", "unit_kind::automatic"),
    ("set_automatic", "set_owned"),
]

# Calls whose arguments have another order: the new name, and the former places of the new
# arguments.
REORDERED = {
    "weft_unit_revive": ("weft_unit_revive", (3, 0, 1, 2)),
    "weft_unit_revive_with": ("weft_unit_revive_with", (4, 0, 1, 2, 3)),
    "weft_ult_spawn_at": ("weft_ult_spawn_at", (0, 1, 2, 3, 5, 4)),
    "weft_tasklet_spawn_at": ("weft_tasklet_spawn_at", (0, 1, 2, 3, 5, 4)),
    "weft_sched_push": ("weft_sched_push", (1, 0, 2, 3)),
    "weft_timer_start": ("weft_timer_start", (0, 2, 3, 1)),
    "weft_event_wait_until": ("weft_event_wait_until", (0, 2, 1)),
}

# Calls that have become one call with a flag: its name, and the text that follows the arguments.
MERGED = {
    f"weft_unit_{old}": ("weft_unit_hand_off", [f"WEFT_TO_{target}", f"WEFT_BY_{leaving}"])
    for old, target, leaving in [
        ("suspend_to", "READY", "SUSPEND"),
        ("exit_to", "READY", "EXIT"),
        ("resume_yield_to", "SUSPENDED", "YIELD"),
        ("resume_suspend_to", "SUSPENDED", "SUSPEND"),
        ("resume_exit_to", "SUSPENDED", "EXIT"),
        ("yield_to_popped", "POPPED", "YIELD"),
        ("suspend_to_popped", "POPPED", "SUSPEND"),
        ("exit_to_popped", "POPPED", "EXIT"),
    ]
}

# Calls that always had a deadline: its place, the call without a deadline, and the call with it as
# the last input. Each of the two is a name and the former places of its arguments.
SPLIT = {
    "weft_event_wait_any": (3, ("weft_event_wait_any", (0, 1, 2)), ("weft_event_wait_any_until", (0, 1, 3, 2))),
    "weft_event_wait_all": (2, ("weft_event_wait_all", (0, 1)), ("weft_event_wait_all_until", (0, 1, 2))),
    "weft_barrier_wait_phase": (2, ("weft_barrier_wait_phase", (0, 1)), ("weft_barrier_wait_phase_until", (0, 1, 2))),
    "weft_future_wait": (2, ("weft_future_wait", (0, 1)), ("weft_future_wait_until", (0, 2, 1))),
    "weft_channel_send": (2, ("weft_channel_send", (0, 1)), ("weft_channel_send_until", (0, 1, 2))),
    "weft_channel_receive": (2, ("weft_channel_receive", (0, 1)), ("weft_channel_receive_until", (0, 2, 1))),
    "weft_channel_select": (3, ("weft_channel_select", (0, 1, 2)), ("weft_channel_select_until", (0, 1, 3, 2))),
    "weft_cond_wait_unless": (
        2,
        ("weft_cond_wait_unless", (0, 1, 3, 4)),
        ("weft_cond_wait_unless_until", (0, 1, 3, 4, 2)),
    ),
}

# Code that a person must check: a pattern, and the remedy.
REPORTED = {
    r"\bWEFT_EXCEPTION\b": (
        "a join returns WEFT_NOT_RETURNED; ask weft_unit_outcome_get, which gives WEFT_OUTCOME_EXCEPTION"
    ),
    r"\bWEFT_CANCELLED\b": (
        "a join returns WEFT_NOT_RETURNED; ask weft_unit_outcome_get, which gives WEFT_OUTCOME_CANCELLED"
    ),
    **{
        rf"\bweft_{name}\b": f"has become weft_{name}_get(x, &out), which returns a status"
        for name in [
            "unit_id",
            "unit_name",
            "unit_exception",
            "unit_spawn_site",
            "pool_data",
            "stream_data",
            "stream_name",
            "domain_pool",
            "domain_data",
            "domain_parent",
            "arena_harts",
            "future_event",
        ]
    },
    r"\bweft_unit_data\b": (
        "has become weft_unit_data_get(unit, &data), which returns a status; of the calling unit: weft_unit_self_data()"
    ),
    r"\b(resume_to|resume_and_suspend_to)\b": (
        "is yield_to(unit, weft::hand_off_to::suspended), suspend_to(unit, weft::hand_off_to::suspended)"
    ),
    r"\bweft_sched_pools\b": "is weft_sched_pool_count_get(sched, &count) and weft_sched_pool_get(sched, index, &pool)",
    r"\bweft_pool_pop_wait\(": (
        "has no timeout: weft_pool_pop_wait(pool, &unit), or weft_pool_pop_wait_until(pool, weft_now_ns() + timeout, "
        "&unit)"
    ),
}

OPENING, CLOSING = "([{", ")]}"
FOREVER = ["WEFT_FOREVER", "UINT64_MAX"]
NULLS = ["NULL", "nullptr", "0"]


def skip_literal(text, at):
    """The place behind the string, character or comment that begins at `at`, or `at` if none begins there."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    if text[at] in "\"'" and not (text[at] == "'" and at > 0 and text[at - 1].isalnum()):  # 1'000 is a number
        quote, end = text[at], at + 1
        while end < len(text) and text[end] not in (quote, "\n"):
            end += 2 if text[end] == "\\" else 1
        return end + 1
    return at


def arguments(text, opening):
    """The arguments, as written, of the call whose parenthesis opens at `opening`, and the place behind the call; None
    if the parenthesis never closes."""
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


def is_one_of(argument, words):
    return argument.strip() in words


def put(name, given, places):
    return f"{name}({', '.join(given[place].strip() for place in places)})"


class Upgrade:
    def __init__(self, path):
        self.path, self.notes = path, []

    def note(self, text, at, what):
        self.notes.append(f"{self.path}:{text.count(chr(10), 0, at) + 1}: {what}")

    def call(self, name, given):
        """The replacement of a call, or None if the call stays."""
        if name in REORDERED:
            new, places = REORDERED[name]
            return put(new, given, places) if len(given) == len(places) else None
        if name in MERGED:
            new, more = MERGED[name]
            return put(new, [*given, *more], range(1 + len(more))) if len(given) == 1 else None
        if name == "weft_mutex_lock_until":
            return self.lock(given)
        if name == "weft_sched_pools":
            return self.pools(given)
        deadline, without, within = SPLIT[name]
        if len(given) != max(within[1]) + 1:
            return None
        new, places = without if is_one_of(given[deadline], FOREVER) else within
        return put(new, given, places)

    @staticmethod
    def lock(given):
        if len(given) != 3:
            return None
        if is_one_of(given[1], ["WEFT_URGENCY_NORMAL"]):
            return put("weft_mutex_lock_until", given, (0, 2))
        if is_one_of(given[2], FOREVER):
            return put("weft_mutex_lock_urgent", given, (0, 1))
        return put("weft_mutex_lock_urgent_until", given, (0, 1, 2))

    @staticmethod
    def pools(given):
        if len(given) == 4 and is_one_of(given[3], NULLS):
            return put("weft_sched_pool_count_get", given, (0, 1))
        if len(given) == 4 and is_one_of(given[1], NULLS):
            return put("weft_sched_pool_get", given, (0, 2, 3))
        return None

    def calls(self, text):
        names = sorted(
            [*REORDERED, *MERGED, *SPLIT, "weft_mutex_lock_until", "weft_sched_pools"], key=len, reverse=True
        )
        pattern = re.compile(r"\b(" + "|".join(names) + r")(\s*)(?=\()")
        at = 0
        while match := pattern.search(text, at):
            at = match.end()
            read = arguments(text, match.end())
            made = None if read is None else self.call(match[1], read[0])
            if made is not None:
                text = text[: match.start()] + made + text[read[1] :]
                at = match.start() + made.index("(") + 1  # calls among its arguments come next
        return text

    def rewrite(self, text):
        text = self.calls(text)
        text = re.sub(
            r"\b(" + "|".join(sorted(RENAMED, key=len, reverse=True)) + r")\b", lambda match: RENAMED[match[1]], text
        )
        for old, new in IN_CXX:
            text = re.sub(rf"\b{re.escape(old)}\b", new, text)
        for old, new in MOVED.items():
            text = re.sub(rf'(?<=["<]){re.escape(old)}(?=[">])', new, text)
        for pattern, remedy in {
            **REPORTED,
            **{rf"\b{name}\b": f"is {new}(unit, {', '.join(more)})" for name, (new, more) in MERGED.items()},
        }.items():
            for match in re.finditer(pattern, text):
                self.note(text, match.start(), f"{match[0]} {remedy}")
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
