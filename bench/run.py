#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the benchmarks of a build folder and prints their results, compared with their baselines of
the same run.

    bench/run.py BUILD_DIR [--quick] [--only PART ...] [--callgrind]

Writes BUILD_DIR/bench/results/: a JSON file per program, results.json with all samples, table.md.
--quick       fewer and shorter repetitions: a quick look, not a measurement
--only        some of the parts (their names are printed as they run)
--callgrind   instruction counts only
"""

import argparse
import json
import pathlib
import platform
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass

import callgrind
from measured import quantile

BIG = "spawn_join/262144"
PATIENCE_S = 600  # for one process


@dataclass
class Part:
    """One process: its samples are compared with each other."""

    name: str
    program: str
    arguments: tuple = ()
    quick: tuple = ()  # instead of `arguments` under --quick
    google: bool = True  # Google Benchmark's flags and JSON; else a sample per line on stdout
    rounds: tuple = (1, 1)  # processes, and under --quick


def pools(name: str, program: str, kinds: tuple, *arguments: str) -> list:
    return [Part(f"{name}.{kind}", program, (f"--pool={kind}", *arguments)) for kind in kinds]


def spawn_join_parts() -> list:
    """The pool and the kind are settings of the process; the largest counts need a separate
    process."""
    parts = []
    for pool in ("private", "shared", "deque"):
        for kind in ("full", "lsa"):
            flags = (f"--pool={pool}", f"--kind={kind}")
            parts.append(Part(f"spawn_join.{pool}.{kind}", "spawn_join", (*flags, f"--benchmark_filter=-{BIG}")))
            if pool == "private":
                parts.append(
                    Part(
                        f"spawn_join_big.{pool}.{kind}",
                        "spawn_join",
                        (*flags, f"--benchmark_filter={BIG}", "--benchmark_repetitions=9"),
                    )
                )
    return parts


PARTS = [
    Part("floor", "floor"),
    Part("switch", "switch"),
    *spawn_join_parts(),
    *pools("yield", "yield", ("private", "shared", "deque")),
    Part("sync", "sync"),
    Part("sync.with_threads", "sync", ("--threads=1",)),
    *(
        Part(f"sync_two.{pool}", "sync_two", (f"--pool={pool}",), (f"--pool={pool}", "--rounds=5"), google=False)
        for pool in ("private", "deque")
    ),
    Part("timers", "timers"),
    Part("rounds", "rounds"),
    Part("rounds.blocking", "rounds", ("--blocking=1",)),
    *(
        Part(f"invoke.{streams}", "invoke", (f"--streams={streams}", "--benchmark_repetitions=21"))
        for streams in (1, 2)
    ),
    Part("busy", "busy", ("--benchmark_repetitions=21",)),
    Part("default_path", "default_path", (), ("--rounds=3",), google=False),
    Part("stealing", "stealing", (), ("--rounds=3", "--samples=60"), google=False),
    *(
        Part(f"{program}.{streams}", program, (f"--streams={streams}", "--benchmark_repetitions=21"))
        for program in ("algorithms", "peer_tbb_algorithms")
        for streams in (1, 2)
    ),
    Part("wake", "wake", (), ("--samples=201",), google=False),
    Part("harts.handover", "harts_handover", (), ("--samples=51",), google=False),
    Part("harts.switches", "harts_switches"),
    Part("harts.idle", "harts_idle", (), ("--samples=31",), google=False),
    Part("harts.libraries", "harts_libraries", (), ("--rounds=1", "--calls=20"), google=False),
    Part("harts.arena", "harts_arena", (), ("--rounds=5",), google=False),
    Part("harts.computing", "harts_computing", (), ("--rounds=2", "--ms=300"), google=False),
    Part("harts.barriers", "harts_barriers", (), ("--rounds=1", "--steps=100"), google=False),
    Part("init", "init", (), ("--samples=21",), google=False),
    Part("suspended.full", "suspended", ("--kind=full",), ("--kind=full", "--count=100000"), False, (5, 1)),
    Part("suspended.lsa", "suspended", ("--kind=lsa",), ("--kind=lsa", "--count=100000"), False, (5, 1)),
    Part("suspended.pthread", "peer_pthread", ("--suspended=1000000",), ("--suspended=10000",), False, (3, 1)),
    Part("peer_pthread", "peer_pthread"),
    Part("peer_boost_fiber", "peer_boost_fiber"),
    *(
        Part(
            f"{peer}.{streams}",
            peer,
            (f"--streams={streams}", "--benchmark_repetitions=5") if streams == 2 else ("--benchmark_repetitions=21",),
        )
        for peer in ("peer_tbb", "peer_libgomp", "peer_libomp")
        for streams in (1, 2)
    ),
    *(
        Part(
            f"peer_rayon.{streams}",
            "peer_rayon",
            (f"--streams={streams}",),
            (f"--streams={streams}", "--samples=5"),
            google=False,
        )
        for streams in (1, 2)
    ),
    *pools("peer_argobots", "peer_argobots", ("private", "shared")),
    Part(
        "promotion", "promotion/fork_join", (), ("--samples=7", "--cycles=2"), google=False
    ),  # promotion/plot.py runs all of it
]


# ---- running -------------------------------------------------------------------------------------


def google_samples(path: pathlib.Path) -> dict:
    """name -> samples. Processor time, which a busy machine disturbs less, unless the benchmark
    asked for real time."""
    samples = defaultdict(list)
    for run in json.loads(path.read_text())["benchmarks"]:
        if run.get("run_type") != "iteration":
            continue
        if run.get("error_occurred"):
            raise SystemExit(f"bench: {run['name']}: {run['error_message']}")
        scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[run["time_unit"]]
        real = run["run_name"].endswith("/real_time")
        name = run["run_name"].removesuffix("/real_time")
        samples[name].append(run["real_time" if real else "cpu_time"] * scale)
    return samples


def line_samples(text: str) -> dict:
    samples = defaultdict(list)
    for line in text.splitlines():
        sample = json.loads(line)
        samples[sample["name"]].append(sample["value"])
    return samples


def run_part(part: Part, programs: pathlib.Path, results: pathlib.Path, quick: bool) -> dict | None:
    program = programs / part.program
    if not program.exists():
        print(f"{part.name}: skipped", flush=True)
        return None
    print(f"{part.name}: running", flush=True)
    arguments = part.quick if quick and part.quick else part.arguments
    samples = defaultdict(list)
    out = results / f"{part.name}.json"
    for _ in range(part.rounds[quick]):
        command = [str(program), *arguments]
        if part.google:
            command += [f"--benchmark_out={out}", "--benchmark_out_format=json"]
            command += ["--benchmark_repetitions=5", "--benchmark_min_time=0.005"] if quick else []
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            print(f"{part.name}: failed: not done after {PATIENCE_S} s", flush=True)
            return None
        if done.returncode != 0:
            print(f"{part.name}: failed ({done.returncode}): {done.stderr.strip()[-600:]}", flush=True)
            return None
        for name, values in (google_samples(out) if part.google else line_samples(done.stdout)).items():
            samples[name] += values
    if not part.google:
        out.write_text(json.dumps(samples, indent=1))
    return samples


# ---- reading -------------------------------------------------------------------------------------


def show(value: float) -> str:
    if value >= 1e6 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


@dataclass
class Row:
    title: str
    part: str
    subject: str  # a sample's name
    baseline: str = ""  # the name of another sample of the part
    ratio: float = 0  # target: at most this many times the baseline; 0: none set
    limit: float = 0  # target: at most this much, whatever the baseline
    share: float = 0.5  # the quantile
    less_baseline: bool = False  # the value is the subject's excess over the baseline


def spawn_join_rows() -> list:
    rows = []
    for pool in ("private", "shared", "deque"):
        for kind in ("full", "lsa", "tasklet"):
            floor = "floor.rtc" if kind == "tasklet" else "floor"
            process = f"{pool}.{'full' if kind == 'tasklet' else kind}"
            aimed = (
                pool == "private" and kind == "lsa"
            )  # the targets are for ULTs in a private pool, and for one tasklet
            one = 2.3 if aimed else 2 if pool == "private" and kind == "tasklet" else 0
            for way in ("", ".options", ".from_main", ".child_first"):
                rows.append(
                    Row(
                        f"spawn+join+free one by one, {pool}, {kind}{way.replace('.', ', ')}",
                        f"spawn_join.{process}",
                        f"spawn_join/one:weft.{pool}.{kind}{way}",
                        f"spawn_join/one:{floor}",
                        one if not way else 0,
                    )
                )
            for count in (64, 256, 4096, 262144):
                part = f"spawn_join_big.{process}" if count == 262144 else f"spawn_join.{process}"
                for way in ("", ".single_calls"):
                    rows.append(
                        Row(
                            f"bulk of {count:,}, {pool}, {kind}{way.replace('.', ', ')}",
                            part,
                            f"spawn_join/{count}:weft.{pool}.{kind}{way}",
                            f"spawn_join/{count}:{floor}",
                            (2 if count == 262144 else 2.3 if count <= 256 else 0) if aimed and not way else 0,
                        )
                    )
    return rows


def yield_rows() -> list:
    rows = []
    for pool in ("private", "shared", "deque"):
        for count in (1, 2, 64, 16384):
            for kind in ("full", "full.two_places", "lsa"):
                target = {2: 2.2, 16384: 4.5}.get(count, 0) if pool == "private" and "." not in kind else 0
                rows.append(
                    Row(
                        f"yield among {count:,}, {pool}, {kind}",
                        f"yield.{pool}",
                        f"yield/{count}:weft.{pool}.{kind}",
                        "switch/64:raw" if count == 64 else "switch:raw",
                        target,
                    )
                )
        rows.append(
            Row(
                f"yield_to, {pool}",
                f"yield.{pool}",
                f"yield_to:weft.{pool}.full",
                "switch:raw",
                1.6 if pool == "private" else 0,
            )
        )
    return rows


LOCKERS = (2, 16, 64, 256, 1024)


def sync_rows() -> list:
    """On one stream in multiples of the raw switch, once with a single OS thread in the process and
    once with another that sleeps."""
    rows = []
    for way in ("", ".with_threads"):
        part, subject = f"sync{way}", f"weft{way}"
        said = ", with threads" if way else ""

        def row(title: str, primitive: str, baseline: str = "switch:raw", target: float = 0) -> None:
            rows.append(Row(f"{title}{said}", part, f"{primitive}:{subject}", baseline, target))

        row("mutex, uncontended", "mutex", f"mutex:pthread{way}", 1.1)
        rows.append(
            Row(f"std::mutex in a ULT, uncontended{said}", part, f"mutex:std.mutex{way}", f"mutex:pthread{way}")
        )
        for count in LOCKERS:
            row(f"mutex held over a yield, {count:,} ULTs, per lock", f"mutex_held/{count}")
        row("the same, 1,024 beside 16", "mutex_held/1024", f"mutex_held/16:{subject}", 1.3)
        row("condition, hand-off", "condition", target=6)
        row("condition, hand-off, mutex let go in between", "condition.unlocked")
        row("condition, hand-off, mutex held throughout", "condition.held")
        row("event, ping-pong", "event", target=6)
        row("event, set + wait + reset", "event_ready")
        row("semaphore, ping-pong", "semaphore")
        row("barrier of 64, per wait", "barrier/64", target=8)
        row("channel, unbuffered ping-pong", "channel/0")
        row("channel, buffered 128, per element", "channel/128")
        row("future, create + set + wait + free", "future")
    return rows


def algorithm_rows() -> list:
    """On one stream and on two, in multiples of the plain loop; and the peers, in multiples of
    theirs."""
    rows = []
    for streams in (1, 2):
        for program, subjects in (("algorithms", ("weft",)), ("peer_tbb_algorithms", ("tbb", "std.par"))):
            for subject in subjects:
                rows += [
                    Row(
                        f"{title}, {subject}, streams: {streams}",
                        f"{program}.{streams}",
                        f"{primitive}:{subject}",
                        f"{primitive}:plain",
                    )
                    for primitive, title in (
                        ("loop/100x10ns", "loop of 100 times 10 ns"),
                        ("loop/10Mx1ns", "loop of 10 million times 1 ns"),
                        ("reduce/10M", "sum of 10 million"),
                        ("scan/10M", "scan of 10 million"),
                        ("sort/1M", "sort of a million"),
                    )
                ]
    return rows


def sync_two_rows() -> list:
    """On two streams in multiples of a line's way from CPU to CPU."""
    rows = []
    for pool in ("private", "deque"):
        part = f"sync_two.{pool}"
        for title, primitive in (
            ("condition, hand-off", "condition"),
            ("condition, hand-off, mutex let go in between", "condition.unlocked"),
            ("condition, hand-off, mutex held throughout", "condition.held"),
            ("event, ping-pong", "event"),
            ("semaphore, ping-pong", "semaphore"),
            ("channel, unbuffered ping-pong", "channel/0"),
            ("barrier of 64, per wait", "barrier/64"),
        ):
            aimed = pool == "private" and primitive in ("condition", "event")  # only there each hand-off crosses
            rows.append(
                Row(
                    f"two streams, {pool}: {title}",
                    part,
                    f"two/{primitive}:weft.{pool}",
                    "two/line:raw",
                    1.5 if aimed else 0,
                )
            )
        for primitive, title in (("mutex", "mutex"), ("mutex_held", "mutex held over a yield")):
            for count in LOCKERS:
                rows.append(
                    Row(
                        f"two streams, {pool}: {title}, {count:,} ULTs, per lock",
                        part,
                        f"two/{primitive}/{count}:weft.{pool}",
                        "two/line:raw",
                    )
                )
            rows.append(
                Row(
                    f"two streams, {pool}: {title}, 1,024 beside 16",
                    part,
                    f"two/{primitive}/1024:weft.{pool}",
                    f"two/{primitive}/16:weft.{pool}",
                    1.3 if primitive == "mutex_held" else 0,
                )
            )
    return rows


def timer_rows() -> list:
    rows = [Row("reading the clock", "timers", "clock:weft", "switch:raw")]
    for pending in (0, 1000, 100000):
        rows.append(
            Row(f"timer, add + cancel, {pending:,} pending", "timers", f"timer.add_cancel/{pending}:weft", "switch:raw")
        )
    for count in (1, 64, 4096):
        rows.append(
            Row(f"timer, add + fire, {count:,} at a time", "timers", f"timer.add_fire/{count}:weft", "switch:raw")
        )
    for way in ("one_deadline", "new_deadlines"):
        rows.append(
            Row(
                f"event, ping-pong with {way.replace('_', ' ')}",
                "timers",
                f"timer.event:weft.{way}",
                "timer.event:weft.no_deadline",
            )
        )
    for pending in (1000, 100000):
        rows.append(
            Row(
                f"yield among 2, {pending:,} timers pending",
                "timers",
                f"timer.yield/{pending}:weft",
                "timer.yield/0:weft",
                1.1 if pending == 100000 else 0,
            )
        )
    return rows


def round_rows() -> list:
    rows = []
    for count in (1, 8):
        rows.append(
            Row(
                f"yield among 2 beside {count} poller{'s' if count > 1 else ''}",
                "rounds",
                f"rounds.pollers/{count}:weft",
                "rounds.pollers/0:weft",
            )
        )
    rows += [
        Row("post to the own stream, until it has been called", "rounds", "rounds.post:weft", "switch:raw"),
        Row("call on the stream's stack", "rounds", "rounds.on_stream_stack:weft", "switch:raw"),
        Row(
            "blocking section around nothing",
            "rounds.blocking",
            "rounds.blocking:weft",
            "rounds.blocking:pthread.hand_over",
        ),
    ]
    for pool in ("private", "shared"):
        rows.append(Row(f"migration between two pools, {pool}", "rounds", f"rounds.migrate:weft.{pool}", "switch:raw"))
    for depth in (1, 2):
        rows.append(
            Row(
                f"yield among 2 below {depth} scheduler{'s' if depth > 1 else ''}",
                "rounds",
                f"rounds.below/{depth}:weft",
                "rounds.below/0:weft",
            )
        )
    for count in (16, 16384):
        for user, ours in (("user", "private"), ("user.locked", "shared")):
            rows.append(
                Row(
                    f"yield among {count:,}, a user's pool{' with a lock' if 'locked' in user else ''} beside {ours}",
                    "rounds",
                    f"rounds.pool/{count}:weft.{user}",
                    f"rounds.pool/{count}:weft.{ours}",
                )
            )
    return rows


def promotion_rows() -> list:
    rows = []
    for share in (0, 10, 50, 100):
        for kind in ("full", "lsa", "roc", "ss", "sc", "rtc") if share == 0 else ("full", "lsa", "roc", "ss", "sc"):
            rows.append(
                Row(
                    f"fork and join of 128, {share} % suspend, {kind}",
                    "promotion",
                    f"promotion/{share}:weft.{kind}",
                    "promotion/0:floor.rtc" if kind == "rtc" else "promotion/0:floor",
                )
            )
    return rows


def hart_rows() -> list:
    rows = [
        Row(
            "a hart handed from one library that runs to another",
            "harts.handover",
            "harts/running:weft.handover",
            limit=5e3,
        ),
        Row("a hart granted, from asleep", "harts.handover", "harts/asleep:weft.grant", "harts/asleep:futex", 1.5),
    ]
    for way, limit in (("hosted", 9), ("hosted_native", 0), ("bound", 0)):
        rows.append(
            Row(
                f"switch, {way.replace('_', ' to ')}",
                "harts.switches",
                f"harts/switch:weft.{way}",
                "harts/switch:weft.native",
                limit,
            )
        )
    for domain in ("streams", "library", "team", "arena", "guest", "hosted"):
        rows.append(
            Row(
                f"processors' time in a second, all wait: {domain}",
                "harts.idle",
                f"harts/idle:weft.{domain}",
                "harts/idle:futex",
            )
        )
        rows.append(Row(f"idle wake-up, {domain}", "harts.idle", f"harts/awake:weft.{domain}", "harts/awake:futex"))
    for size in (1, 2, 4, 8, 16):
        rows.append(
            Row(
                f"two libraries, {size} x {size}: a task of 10 us, beside thread pools",
                "harts.libraries",
                f"harts/libraries/{size}x{size}:weft",
                f"harts/libraries/{size}x{size}:threads",
            )
        )
    for what, peer in (("call", "domain"), ("fib27", "streams"), ("loop", "streams"), ("short_loop", "streams")):
        rows.append(
            Row(
                f"arena: {what.replace('_', ' ')}, beside {peer}",
                "harts.arena",
                f"arena/{what}:weft.arena",
                f"arena/{what}:{peer}",
            )
        )
    rows.append(
        Row(
            "four units compute for each hart, rescue on beside off",
            "harts.computing",
            "harts/computing:weft.rescue",
            "harts/computing:weft.off",
            1.05,
        )
    )
    for peer in ("futex", "swapcontext"):
        rows.append(Row(f"switch, {peer}", "harts.switches", f"harts/switch:{peer}", "harts/switch:weft.native"))
    for groups in (1, 2, 4, 7, 10):
        for peer in ("pthread", "pthread.pinned", "spin", "spin.pinned"):
            rows.append(
                Row(
                    f"a barrier of 16, {groups} at once, SPMD beside {peer}",
                    "harts.barriers",
                    f"harts/barrier/{groups}:weft.spmd",
                    f"harts/barrier/{groups}:{peer}",
                    0.05 if groups == 10 and peer == "pthread" else 0,
                )
            )
    return rows


def other_rows() -> list:
    rows = [
        Row("switch, inlined", "switch", "switch:weft.inlined", "switch:raw"),
        Row("switch that ends in ret", "switch", "switch:raw.ret", "switch:raw"),
    ]
    for way in ("resume.default", "spawn.default", "resume.shared", "spawn.shared"):
        rows.append(Row(f"idle wake-up, {way}", "wake", f"wake:weft.{way}", "wake:futex", 1.3))
        rows.append(Row(f"idle wake-up, {way}, p99", "wake", f"wake:weft.{way}", "wake:futex", share=0.99))
    rows += [
        Row("init of one stream", "init", "init/first stream:weft", limit=150e3),
        Row(
            "each further stream", "init", "init/further stream:weft", "init/further stream:pthread_create", limit=100e3
        ),
        Row("finalize", "init", "init/finalize:weft"),
        Row(
            "resident after init, beyond libc (bytes)",
            "init",
            "init/resident:weft",
            "init/resident:libc",
            limit=1048576,
            less_baseline=True,
        ),
        Row(
            "resident after init, beyond libc and libstdc++ (bytes)",
            "init",
            "init/resident:weft",
            "init/resident:libstdc++",
            limit=1048576,
            less_baseline=True,
        ),
        Row(
            "of what is beyond libc, in no file (bytes)",
            "init",
            "init/anonymous:weft",
            "init/anonymous:libc",
            less_baseline=True,
        ),
        Row("resident by weft_init alone (bytes)", "init", "init/resident by weft_init:weft"),
        Row("resident per further stream (bytes)", "init", "init/resident per further stream:weft"),
    ]
    for kind in ("full", "lsa"):
        for what in ("spawn", "run and suspend", "resume", "run, join and free", "resident", "page tables"):
            unit = " (bytes)" if what in ("resident", "page tables") else ""
            rows.append(
                Row(
                    f"suspended at once, {kind}: {what}, per ULT{unit}",
                    f"suspended.{kind}",
                    f"suspended/{what}:weft.{kind}",
                )
            )
    return rows


def invoke_rows() -> list:
    rows = []
    for streams, target, in_c in ((1, 1.7, 2.2), (2, 1.75, 0)):
        for how, ratio in (("weft.invoke", target), ("weft.invoke.c", in_c), ("weft.jobs", in_c)):
            rows.append(
                Row(
                    f"fib(35) by {how}, {streams} stream{'s' if streams > 1 else ''}",
                    f"invoke.{streams}",
                    f"fib/35:{how}.{streams}",
                    "fib/35:call",
                    ratio,
                )
            )
        rows.append(
            Row(
                f"fib(35) by a ULT a call, {streams} stream{'s' if streams > 1 else ''}",
                f"invoke.{streams}",
                f"fib/35:weft.ult.{streams}",
                "fib/35:call",
                15.8 if streams == 1 else 8.2,
            )
        )
    return rows


def busy_rows() -> list:
    """The targets are efficiencies of .96, .985 and .99."""
    return [
        Row(
            f"half a million tasks of {grain}, {how}",
            "busy",
            f"busy/{grain}:weft.{how}",
            f"busy/{grain}:plain",
            target if how != "parallel_for" else 0,
        )
        for grain, target in (("0.2us", 1 / 0.96), ("0.5us", 1 / 0.985), ("1us", 1 / 0.99))
        for how in ("ult", "ult.at_once", "tasklet", "parallel_for")
    ]


def default_path_rows() -> list:
    """Many streams as they come, and one stream with a deque, in multiples of one pinned stream with
    a private pool; and how many processors they use."""
    rows = []
    for caller in ("", ".from_main"):
        said = ", from main" if caller else ""
        for operation, title in (
            ("one", "spawn+join+free one by one"),
            ("bulk256", "bulk of 256"),
            ("yield", "yield among 2"),
        ):
            primitive, baseline = f"default_path/{operation}", f"default_path/{operation}:weft.pinned{caller}"
            rows += [
                Row(
                    f"as it comes: {title}{said}",
                    "default_path",
                    f"{primitive}:weft.default{caller}",
                    baseline,
                    ratio=1.2,
                ),
                Row(
                    f"one stream with a deque: {title}{said}",
                    "default_path",
                    f"{primitive}:weft.pinned.deque{caller}",
                    baseline,
                ),
                Row(
                    f"as it comes: {title}{said}, processor time",
                    "default_path",
                    f"{primitive}.processor_time:weft.default{caller}",
                    f"{primitive}.processor_time:weft.pinned{caller}",
                ),
                Row(
                    f"as it comes: {title}{said}, processors in use",
                    "default_path",
                    f"{primitive}.processors:weft.default{caller}",
                    limit=1.3,
                ),
            ]
    return rows


def stealing_rows() -> list:
    rows = []
    for length, said in (("100ns", "100 ns"), ("1us", "1 us")):
        for way in ("", ".single_calls"):
            for subject, streams in (("weft.2", "two streams"), ("weft.1.deque", "one stream with a deque")):
                rows.append(
                    Row(
                        f"fork and join of 128 units of {said}{', single calls' if way else ''}, {streams}",
                        "stealing",
                        f"stealing/forks.{length}:{subject}{way}",
                        f"stealing/forks.{length}:weft.1{way}",
                    )
                )
    for share, said in ((0.5, ""), (0.99, ", p99")):
        for title, subject, baseline in (
            ("a push, until a stream that was asleep runs the unit", "asleep:weft", "stealing/asleep:futex"),
            ("a push, until a stream that spins runs the unit", "spinning:weft", ""),
            ("out of work, until the first of 100 units begins", "out_of_work:weft", ""),
            ("out of work, until the first of 100 units begins, single calls", "out_of_work:weft.single_calls", ""),
        ):
            rows.append(Row(f"{title}{said}", "stealing", f"stealing/{subject}", baseline, share=share))
    return rows


ROWS = [
    *spawn_join_rows(),
    *yield_rows(),
    *invoke_rows(),
    *busy_rows(),
    *default_path_rows(),
    *stealing_rows(),
    *algorithm_rows(),
    *sync_rows(),
    *sync_two_rows(),
    *timer_rows(),
    *round_rows(),
    *promotion_rows(),
    *hart_rows(),
    *other_rows(),
]


def peers_of(primitive: str, samples: dict) -> str:
    """The other libraries' medians for the primitive."""
    found = []
    for part in samples.values():
        for name, values in part.items():
            other, subject = name.split(":")
            if other == primitive and not subject.startswith(("weft", "floor", "raw", "futex", "lib")):
                found.append(f"{subject} {show(quantile(values, 0.5))}")
    return ", ".join(dict.fromkeys(found))


def line_of(row: Row, samples: dict) -> list | None:
    part = samples.get(row.part)
    if part is None or row.subject not in part:
        return None
    values = part[row.subject]
    base = quantile(part[row.baseline], row.share) if row.baseline in part else None
    if row.less_baseline and base is not None:
        values = [value - base for value in values]
    value = quantile(values, row.share)
    spread = f"{show(quantile(values, 0.1))}-{show(quantile(values, 0.9))}"
    ratio = value / base if base and not row.less_baseline else None
    target, met = "", ""
    if row.ratio:
        target, met = f"<= {row.ratio} x", "yes" if ratio <= row.ratio else "NO"
    elif row.limit:
        target, met = f"<= {show(row.limit)}", "yes" if value <= row.limit else "NO"
    return [
        row.title,
        f"{show(value)} ({spread})",
        show(base) if base is not None else "",
        f"{ratio:.2f}" if ratio else "",
        target,
        met,
        peers_of(row.subject.split(":")[0], samples),
    ]


HEAD = ["primitive", "Weft, median ns (p10-p90)", "baseline", "ratio", "target", "met", "peers, median ns"]


# For spawn, run, join and free one by one: the maximum of instructions, and of read-modify-writes.
CALLGRIND_TARGETS = {"spawn_join.lsa": (110, 0), "spawn_join.lsa.shared": (150, 3)}

# What callgrind_spawn can do, but for kinds that take the path of another.
CALLGRIND_OPERATIONS = (
    "floor",
    *(f"spawn_join.{way}" for way in ("full", "full.options", "lsa", "lsa.shared", "lsa.deque")),
    *(f"spawn_join.auto.{way}" for way in ("shared", "deque", "deque.from_main", "deque.sleeper")),
    *(f"spawn_join.tasklet{pool}" for pool in ("", ".deque")),
    *(f"child_first.auto{pool}" for pool in ("", ".shared", ".deque")),
    *(f"bulk256.{way}" for way in ("full", "lsa", "lsa.shared", "tasklet", "tasklet.deque")),
    *(f"bulk{count}.auto.deque" for count in (64, 256, 4096)),
    *(f"bulk256.auto.deque.{way}" for way in ("from_main", "sleeper")),
    *(f"in_turn256.auto{pool}" for pool in ("", ".shared")),
    *(f"in_turn{count}.auto.deque" for count in (64, 256, 4096)),
    *(f"yield.full{places}{pool}" for places in ("", ".two_places") for pool in ("", ".shared", ".deque")),
    *(f"{what}{way}" for what in ("event", "mutex_held") for way in ("", ".with_threads", ".with_threads.deque")),
    *(f"fib.{way}" for way in ("call", "ult.deque", "invoke.deque", "invoke.c.deque")),
)
# What callgrind_sync can do: among other threads, and alone.
CALLGRIND_SYNC_OPERATIONS = tuple(
    operation + way
    for way in ("", ".alone")
    for operation in ("mutex", "condition", "condition.held", "event", "semaphore", "barrier.64", "mutex_held.16")
)

CALLGRIND_HEAD = [
    "operation",
    "instructions in the library",
    "in the caller",
    "read-modify-writes",
    "fences",
    "system calls",
    "targets",
    "met",
]


def callgrind_lines(counts: dict) -> list:
    lines = []
    for operation, result in counts.items():
        library = result["instructions"] - result["caller"]
        targets = CALLGRIND_TARGETS.get(operation)
        said = met = ""
        if targets is not None:
            said = f"<= {targets[0]}; {targets[1]}"
            within = library < targets[0] + 0.05 and result["read_modify_writes"] < targets[1] + 0.05
            met = "yes" if within else "NO"
        exact = [f"{result[name]:.2f}" for name in ("read_modify_writes", "fences")]
        calls = f"{result['system_calls']:.3f}"
        lines.append([operation, f"{library:.1f}", f"{result['caller']:.1f}", *exact, calls, said, met])
    return lines


def table(head: list, lines: list) -> str:
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    rows = [head, ["-" * width for width in widths], *lines]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows)


def run_callgrind(programs: pathlib.Path, results: pathlib.Path) -> dict:
    program, team = programs / "callgrind_spawn", programs / "openmp" / "callgrind_team"
    libgomp = programs.parent / "bridge" / "openmp" / "libgomp.so.1"
    if not program.exists() or shutil.which("valgrind") is None:
        print("callgrind: skipped")
        return {}
    plan = [(operation, program, operation, {}) for operation in CALLGRIND_OPERATIONS]
    if (programs / "callgrind_sync").exists():
        plan += [(f"sync.{name}", programs / "callgrind_sync", name, {}) for name in CALLGRIND_SYNC_OPERATIONS]
    else:
        print("callgrind, synchronization: skipped")
    if team.exists() and libgomp.exists():
        plan.append(("team.barrier", team, "barrier", {"LD_LIBRARY_PATH": f"{libgomp.parent}:{programs.parent}"}))
    else:
        print("callgrind, OpenMP: skipped")
    counts = {}
    for name, which, operation, environment in plan:
        counts[name] = callgrind.measure(which, operation, results / "callgrind", environment)
        print(callgrind.report(name, counts[name]), flush=True)
    (results / "callgrind.json").write_text(json.dumps(counts, indent=1))
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART")
    parser.add_argument("--callgrind", action="store_true")
    options = parser.parse_args()
    programs = options.build.resolve() / "bench"
    if not programs.is_dir():
        parser.error(f"{programs} is not there: configure with -DWEFT_BENCH=ON and build")
    results = programs / "results"
    results.mkdir(exist_ok=True)

    samples = {}
    for part in PARTS:
        chosen = not options.only or any(part.name.startswith(wanted) for wanted in options.only)
        if options.callgrind or not chosen:
            continue
        measured = run_part(part, programs, results, options.quick)
        if measured is not None:
            samples[part.name] = measured
    counts = (
        run_callgrind(programs, results) if options.callgrind or not options.only or "callgrind" in options.only else {}
    )

    lines = [line for row in ROWS if (line := line_of(row, samples)) is not None]
    tables = [(HEAD, lines), (CALLGRIND_HEAD, callgrind_lines(counts))]
    text = "\n\n".join(table(head, lines) for head, lines in tables if lines)
    (results / "results.json").write_text(
        json.dumps(
            {"machine": platform.uname()._asdict(), "quick": options.quick, "samples": samples, "callgrind": counts},
            indent=1,
        )
    )
    (results / "table.md").write_text(text + "\n")
    print("\n" + text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
