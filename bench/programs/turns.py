# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program alternately without and with `weft run`. The cost of a run includes all processes
that it started."""
import ctypes
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

from program import Place, Program, agree

LIMIT_S = 60  # for one run
LEFT_BEHIND_S = 5  # for processes that outlive the started one
PR_SET_CHILD_SUBREAPER = 36
WAYS = ("plain", "weft")


class Wrong(Exception):
    """`weft run` changed a program's behaviour: its output, its status, or whether it ends."""


@dataclass
class Run:
    cost: dict  # elapsed and cpu in seconds, voluntary and involuntary context switches
    ended: bool
    status: int
    output: dict  # name -> bytes: standard output, standard error, files


def adopt_orphans() -> None:
    """Makes processes whose parent has ended children of this process, so that their costs are
    counted, too."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def reap_rest(group: int) -> list:
    """The usage of the processes left behind; they are killed if they do not end by themselves."""
    used, until, killed = [], time.monotonic() + LEFT_BEHIND_S, False
    while True:
        try:
            process, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return used
        if process != 0:
            used.append(usage)
        elif time.monotonic() > until and not killed:
            kill_group(group)
            killed = True
        elif time.monotonic() > until + LEFT_BEHIND_S:
            raise Wrong("processes that it has started in a session of their own do not end")
        else:
            time.sleep(0.001)


def kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass  # all have ended meanwhile


def timed(command: list, environment: dict, folder: pathlib.Path, written: tuple) -> Run:
    for name in written:
        (folder / name).unlink(missing_ok=True)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
        late = threading.Event()
        timer = threading.Timer(LIMIT_S, lambda: (late.set(), kill_group(process.pid)))
        timer.start()
        # Not Popen.wait: with a limit it polls from time to time, and adds up to 50 ms.
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.monotonic() - begun
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        used = [usage, *reap_rest(process.pid)]
        texts = {}
        for name, file in (("standard output", out), ("standard error", err)):
            file.seek(0)
            texts[name] = file.read()
    for name in written:
        path = folder / name
        texts[name] = path.read_bytes() if path.exists() else b"(not there)"
    cost = {
        "elapsed": elapsed,
        "cpu": sum(one.ru_utime + one.ru_stime for one in used),
        "voluntary": sum(one.ru_nvcsw for one in used),
        "involuntary": sum(one.ru_nivcsw for one in used),
    }
    return Run(cost, not late.is_set(), process.returncode, texts)


def compare(program: Program, plain: Run, weft: Run) -> None:
    """Raises Wrong if the two outputs differ. A plain run that was stopped at the limit is not
    compared."""
    if not weft.ended:
        raise Wrong(f"under weft run it has not ended after {LIMIT_S} s")
    if not plain.ended:
        return
    if plain.status != weft.status:
        error = weft.output["standard error"].decode(errors="replace").strip()[-600:]
        raise Wrong(f"ends with {plain.status}, under weft run with {weft.status}: {error}")
    for name, expected in plain.output.items():
        if not agree(expected, weft.output[name], program.tolerance):
            texts = [text[-600:].decode(errors="replace").strip() for text in (expected, weft.output[name])]
            raise Wrong(f"{name} differs; without:\n{texts[0]}\nunder weft run:\n{texts[1]}")


def pair(program: Program, place: Place, command: list, weft: list, number: int) -> dict:
    """Runs both once, in an order that alternates from pair to pair."""
    environment = place.environment(program)
    prefixes = {"plain": [], "weft": weft}
    runs = {
        way: timed([*prefixes[way], *command], environment, place.folder, program.written)
        for way in (WAYS if number % 2 == 0 else WAYS[::-1])
    }
    compare(program, runs["plain"], runs["weft"])
    if runs["plain"].ended and runs["plain"].status != 0:
        error = runs["plain"].output["standard error"].decode(errors="replace").strip()[-600:]
        raise SystemExit(f"bench: {' '.join(command)} ends with {runs['plain'].status} by itself: {error}")
    costs = {way: run.cost for way, run in runs.items()}
    return {**costs, "first": WAYS[number % 2], "stopped": not runs["plain"].ended}
