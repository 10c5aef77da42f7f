#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/gdb/weft.py shows where the units of parked.cpp stand: in a live process, in a core file of it, loaded by hand
and by gdb itself. It changes nothing: the registers stay, gdb is told to refuse writes, and the program goes on and
ends well. Of spawns.cpp it shows at which lines of the program units were spawned, and what objects are.

    test/debugger/gdb_test.py --gdb gdb --script tools/gdb/weft.py --autoload build/release/install/weft-gdb.py \\
                              --library build/release/libweft.so.0.4.0 --program build/release/debugger_parked \\
                              --spawns build/release/debugger_spawns_{0,2} --spawns-source test/debugger/spawns.cpp
"""
import argparse
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

# Runs in gdb: executes the commands one after another and writes the output of each, in JSON.
IN_GDB = r'''
import gdb, json
said = {}
def say(key, command):
    try:
        said[key] = gdb.execute(command, to_string=True) or ""
    except gdb.error as error:
        said[key] = f"error: {error}"
def units(prefix):
    say(prefix + "units", "weft units")
    for line in said[prefix + "units"].splitlines():
        found = re.match(r"(\d+) +\w+ +(\w+) +'(.*?)'", line)
        if found:
            say(prefix + "bt " + (found[3] or found[2] + "#" + found[1]), "weft bt " + found[1])
    say(prefix + "streams", "weft streams")
import re
for key, command in COMMANDS:
    if command == "UNITS":
        units(key)
    else:
        say(key, command)
with open(RESULT, "w") as file:
    json.dump(said, file)
'''

problems = []


def expect(what, condition, text=""):
    if not condition:
        problems.append(f"{what}\n{text}")


def gdb(options, place, name, commands, arguments, before=(), libraries=None):
    """Runs gdb, and returns the output of each command by its key."""
    result = place / f"{name}.json"
    script = place / f"{name}.py"
    script.write_text(f"COMMANDS = {commands!r}\nRESULT = {str(result)!r}\n" + IN_GDB)
    env = {**os.environ, **({"LD_LIBRARY_PATH": str(libraries)} if libraries else {})}
    words = [
        options.gdb,
        "-nx",
        "-batch",
        "-iex",
        "set debuginfod enabled off",
        "-iex",
        "set width 0",
        "-iex",
        "set confirm off",
        "-iex",
        "set pagination off",
        *(word for line in before for word in ("-iex", line)),
        *arguments,
        "-x",
        str(script),
    ]
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    done = subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=env,
        timeout=100,
        cwd=place,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)),
    )
    if "ptrace: Operation not permitted" in done.stdout:
        print("SKIPPED: ptrace is not permitted here")
        sys.exit(0)
    if not result.exists():
        sys.exit(f"{name}: gdb said\n{done.stdout}")
    return collections.defaultdict(str, json.loads(result.read_text()), all=done.stdout)


def frames(text):
    """The functions of a backtrace, innermost first, and a check that it counts from 0 and ends as it should."""
    numbers = [int(number) for number in re.findall(r"^#(\d+) ", text, re.M)]
    expect("frames are counted from 0", numbers == list(range(len(numbers))), text)
    for complaint in ("Backtrace stopped", "corrupt stack", "Cannot access memory", "inner to this frame"):
        expect("a clean end", complaint not in text, text)
    return re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(.+?) \(", text, re.M)


def stands(said, name, functions, end="weft_context_entry"):
    """The unit's frames have these functions, in this order, and `end` last."""
    text = said.get(f"bt {name}", "")
    got = frames(text)
    at = 0
    for function in functions:
        found = [i for i in range(at, len(got)) if got[i] == function or got[i].endswith("::" + function)]
        expect(f"'{name}' stands in {function}", found, text)
        at = found[0] + 1 if found else at
    expect(f"the frames of '{name}' end at {end}", got and got[-1] == end, text)


def line_of(said, name):
    return next((line for line in said["units"].splitlines() if f"'{name}'" in line), "")


def check_first_stop(said):
    for name, state, words in [
        ("suspended", "suspended", "is suspended until it is resumed"),
        ("on_mutex", "waiting", "waits for mutex 0x[0-9a-f]+ <the_mutex>"),
        ("on_event", "waiting", r"waits for event 0x[0-9a-f]+ <the_event> until \d+\.\d+ s"),
        ("on_child", "waiting", r"waits for the end of unit \d+"),
        ("busy", "running", "on stream 1"),
        ("unstarted", "ready", "in pool 0x[0-9a-f]+, not started"),
        ("hosted", "waiting", "waits for event 0x[0-9a-f]+ <the_event>"),
    ]:
        line, kind = line_of(said, name), "hosted" if name == "hosted" else "lsa"
        expect(
            f"{name} is {state}: {words}", re.search(rf"^\d+ +{state} +{kind} +'{name}'  {words}", line), said["units"]
        )
        expect(f"{name} was spawned by spawn()", re.search(r"  spawned at spawn \(parked\.cpp:\d+\)$", line), line)
    expect(
        "the primary unit runs", re.search(r"^\d+ +running +full +''  on stream 0$", said["units"], re.M), said["units"]
    )
    expect("all are counted", "\n9 units" in said["units"], said["units"])

    stands(said, "suspended", ["waits_until_resumed"] * 3)
    stands(said, "on_mutex", ["waits_for_the_mutex"])
    stands(said, "on_event", ["waits_for_the_event"])
    stands(said, "on_child", ["waits_for_its_child"])
    stands(said, "hosted", ["waits_as_a_thread"])
    expect(
        "its parked thread is told",
        re.search(r"hosted by thread \d+ \(LWP \d+\)", said["bt hosted"]),
        said["bt hosted"],
    )
    stands(said, "busy", ["works"])
    expect(
        "its thread is named", re.search(r"runs on stream 1, thread \d+ \(LWP \d+\)", said["bt busy"]), said["bt busy"]
    )
    expect(
        "one that has not started says what it will do",
        "it will call has_not_started (parked.cpp:" in said["bt unstarted"]
        and "with a null argument" in said["bt unstarted"],
        said["bt unstarted"],
    )
    child = next((key for key in said if key.startswith("bt lsa#")), "bt ?")
    stands(said, child[3:], ["waits_for_the_event"], "weft_context_call")
    primary = next((key for key in said if key.startswith("bt full#")), "bt ?")
    stands(said, primary[3:], ["everything_stands"], "main")

    lines = said["streams"].splitlines()
    expect("four streams", len(lines) == 4, said["streams"])
    for line, does in zip(lines, ["runs unit \\d+", "runs unit \\d+ 'busy'", "(?:asleep|idle)", "paused"]):
        expect(
            f"a stream: {does}",
            re.match(rf"\d +'weft/\d'  {does}  LWP \d+ \(thread \d+\)  ran \d+  pools: 0x[0-9a-f]+ private \d+$", line),
            said["streams"],
        )
    expect("the pool of stream 0 has one unit", lines and lines[0].endswith("private 1"), said["streams"])


def check_refusals(said):
    for key, words in [
        ("no argument", "usage: weft bt UNIT"),
        ("three arguments", "usage: weft bt UNIT"),
        ("not a unit", "there is no unit 12345"),
        ("nonsense", "'nonsense' is no unit: give its name, its id"),
        ("not of a unit", "there is no unit (long)&came_back, whose value is 0x"),
        ("option", "'long' is unknown here"),
        ("state", "'tired' is no state"),
        ("streams more", "it takes nothing"),
    ]:
        expect(f"refused: {key}", said[key].startswith("error: weft: ") and words in said[key], said[key])


LOOK = [("", "UNITS")]
REFUSED = [
    ("no argument", "weft bt"),
    ("three arguments", "weft bt 1 full 3"),
    ("not a unit", "weft bt 12345"),
    ("nonsense", "weft bt nonsense"),
    ("not of a unit", "weft bt (long)&came_back"),
    ("option", "weft bt sleeper long"),
    ("state", "weft units tired"),
    ("streams more", "weft streams 1"),
]


def check_live(options, place):
    core = place / "core.gdb"
    said = gdb(
        options,
        place,
        "live",
        [
            ("before", "weft units"),
            ("break", "break everything_stands"),
            ("run", "run"),
            ("up", "up"),
            ("keep registers", "set may-write-registers off"),
            ("keep memory", "set may-write-memory off"),
            ("registers before", "thread apply all info registers"),
            ("frame before", "frame"),
            ("thread before", "thread"),
            *LOOK,
            ("by expression", "weft bt sleeper"),
            ("by name", "weft bt on_mutex"),
            ("full", "weft bt sleeper full"),
            ("suspended ones", "weft units suspended"),
            *REFUSED,
            ("own numbers", "thread apply all -s print own_number"),
            ("registers after", "thread apply all info registers"),
            ("frame after", "frame"),
            ("thread after", "thread"),
            ("core", f"generate-core-file {core}"),
            ("write registers", "set may-write-registers on"),
            ("write memory", "set may-write-memory on"),
            ("continue", "continue"),
            ("second ", "UNITS"),
            ("end", "continue"),
            ("exit code", "print $_exitcode"),
        ],
        [options.program],
        before=[f"source {options.script}", "set environment WEFT_GUARD mprotect"],
    )
    expect("without a program it says so", "no program is being debugged" in said["before"], said["before"])
    check_first_stop(said)
    check_refusals(said)
    expect("an expression names a unit", said["by expression"] == said["bt suspended"], said["by expression"])
    expect("a unit is found by its name", said["by name"] == said["bt on_mutex"], said["by name"])
    expect(
        "full shows locals",
        re.search(r"^ +\w+ = ", said["full"], re.M) and frames(said["full"]) == frames(said["bt suspended"]),
        said["full"],
    )
    expect(
        "one state alone",
        "'suspended'" in said["suspended ones"]
        and "\n1 unit suspended" in said["suspended ones"]
        and "busy" not in said["suspended ones"],
        said["suspended ones"],
    )
    host = re.search(r"hosted by thread (\d+)", said["bt hosted"])
    own = dict(re.findall(r"^Thread (\d+) .*\n\$\d+ = (\d+)$", said["own numbers"], re.M))
    expect(
        "a hosted unit's thread-local variables are its thread's",
        host and [thread for thread in own if own[thread] == "42"] == [host[1]],
        said["own numbers"],
    )
    for what in ("registers", "frame", "thread"):
        expect(
            f"{what}: as before",
            len(said[f"{what} before"]) > 20 and said[f"{what} before"] == said[f"{what} after"],
            said[f"{what} before"] + said[f"{what} after"],
        )

    second = collections.defaultdict(
        str, {key.removeprefix("second "): text for key, text in said.items() if key.startswith("second ")}
    )
    primary = next((key for key in second if key.startswith("bt full#")), "bt ?")
    stands(second, primary[3:], ["weft_unit_join_free"] if "weft_unit_join_free" in second[primary] else [], "main")
    expect(
        "the primary unit waits",
        re.search(r"^\d+ +waiting +full +''  waits for the end of unit \d+$", second["units"], re.M),
        second["units"],
    )
    tasklet = next((second[key] for key in second if key.startswith("bt tasklet#")), "")
    expect(
        "a tasklet's frames, and not its stream's",
        "everything_stands" in frames(tasklet)[:1]
        and "frames of the stream" in tasklet
        and "scheduler_main" not in tasklet,
        tasklet,
    )
    expect("one that has ended", "has ended" in second["bt unstarted"], second["bt unstarted"])
    expect(
        "the program ends well",
        said["exit code"].strip().endswith("= 0") and "11 came back" in said["all"],
        said["exit code"] + said["all"],
    )

    # The core file gives the same picture, except for gdb's names of the threads.
    expect("a core file", core.exists(), said["core"])
    dead = gdb(
        options, place, "dead", [*LOOK, *REFUSED], [options.program, str(core)], before=[f"source {options.script}"]
    )
    check_first_stop(dead)
    check_refusals(dead)
    expect("the core file shows what the process showed", dead["units"] == said["units"], dead["units"])


def check_autoload(options, place):
    """As installed: gdb loads the file beside the library, which finds the script by a relative path."""
    library = pathlib.Path(options.library).resolve()
    folder = place / "prefix" / options.libdir
    (place / "prefix/share/weft/gdb").mkdir(parents=True)
    folder.mkdir(parents=True)
    shutil.copy(options.script, place / "prefix/share/weft/gdb/weft.py")
    shutil.copy(library, folder / library.name)
    (folder / "libweft.so.0.7").symlink_to(library.name)
    shutil.copy(options.autoload, folder / f"{library.name}-gdb.py")
    to_there = [("break", "break everything_stands"), ("run", "run")]
    core = place / "core.guards"
    said = gdb(
        options,
        place,
        "autoload",
        [*to_there, *LOOK, ("core", f"generate-core-file {core}"), ("die", "signal SIGABRT")],
        [options.program],
        before=[f"add-auto-load-safe-path {place / 'prefix'}"],
        libraries=folder,
    )
    check_first_stop(said)
    # With some guards, gdb's core file has no stacks, and perhaps no units; then the script says
    # so.
    dead = gdb(
        options,
        place,
        "guards",
        LOOK,
        [options.program, str(core)],
        before=[f"source {options.script}"],
        libraries=folder,
    )
    if "zeros where the units were" not in dead["units"]:
        expect("units from a core file with guards", dead["units"] == said["units"], dead["units"])
        expect(
            "its stacks, or a word",
            re.search("its stack cannot be read here|waits_for_the_mutex", dead["bt on_mutex"]),
            dead["bt on_mutex"],
        )

    # The kernel's own core file, of the process that aborted, has everything; only a plain
    # core_pattern reveals where it lies.
    written = [path for path in place.glob("core*") if path.name not in ("core.gdb", "core.guards")]
    for path in written:
        check_first_stop(
            gdb(
                options,
                place,
                "aborted",
                LOOK,
                [options.program, str(path)],
                before=[f"source {options.script}"],
                libraries=folder,
            )
        )
    print(f"core files of the kernel's own: {len(written)}")

    subprocess.run([options.strip, "--strip-debug", folder / library.name], check=True)
    bare = gdb(
        options,
        place,
        "bare",
        [*to_there, ("units", "weft units")],
        [options.program],
        before=[f"source {options.script}"],
        libraries=folder,
    )
    expect(
        "without debug information it says so",
        bare["units"].startswith("error: weft: libweft has no debug information"),
        bare["units"],
    )
    none = gdb(
        options,
        place,
        "none",
        [("start", "starti"), ("units", "weft units")],
        ["/bin/true"],
        before=[f"source {options.script}"],
    )
    expect("without Weft it says so", none["units"].startswith("error: weft: this program has no Weft"), none["units"])


# What is printed of the objects of main in spawns.cpp, where the debugger stops it.
UNIT, MAIN = r"unit \d+", r"unit \d+ \(running\)"
OBJECTS = {
    "in_a_lambda": rf"weft::thread of {UNIT} 'in a lambda' \(ready\)",
    "some.named_": rf"weft::thread of {UNIT} 'named' \(ready\)",
    "nothing": "weft::thread of no unit",
    "reference": rf"weft::thread of {UNIT} 'named' \(ready\)",
    "tasklet": rf"weft::tasklet of {UNIT} 'tasklet' \(ready\)",
    "handle": rf"weft::join_handle<int> of {UNIT} 'handle' \(ready\)",
    "plain_handle": rf"weft::join_handle<void> of {UNIT} 'plain handle' \(waiting\)",
    "group": "weft::thread_group of 2 units",
    "ref": rf"weft::unit_ref of {UNIT} 'handle' \(ready\)",
    "id": r"weft::unit_id \d+",
    "aside": r"weft::pool_ref 0x[0-9a-f]+ private \d+",
    "fifo": r"weft::pool 0x[0-9a-f]+ shared 0",
    "other": "weft::stream_ref of stream 1 'weft/1'",
    "scheduler": "weft::scheduler 0x[0-9a-f]+ with 1 pool",
    "free_mutex": "weft::mutex held by nobody",
    "held_mutex": f"weft::mutex held by {MAIN}, 1 waits",
    "held_mutex.mutex_": f"weft_mutex held by {MAIN}, 1 waits",
    "recursive": f"weft::recursive_mutex held by {MAIN}",
    "shared": "weft::shared_mutex held by 1 reader",
    "written": f"weft::shared_mutex held by {MAIN} for writing",
    "condition": "weft::condition_variable, 1 waits",
    "unset": "weft::event, not set, 2 wait",
    "semaphore": r"weft::counting_semaphore<\w+> at 3",
    "latch": "weft::latch at 2, 1 waits",
    "barrier": "weft::barrier, 2 still to arrive, phase 0, 1 waits",
    "channel": "weft::channel<int> with 1 of 4",
}


def check_spawns(options, place):
    source = pathlib.Path(options.spawns_source).read_text().splitlines()
    lines = {
        found[1]: number for number, line in enumerate(source, 1) if (found := re.search(r"// spawns (.+)$", line))
    }
    expect("spawns.cpp has its marks", len(lines) > 10, str(lines))
    for program in options.spawns:
        optimised = program.endswith("2")
        said = gdb(
            options,
            place,
            pathlib.Path(program).name,
            [
                ("break", "break everything_stands"),
                ("run", "run"),
                ("up", "up"),
                ("keep memory", "set may-write-memory off"),
                ("units", "weft units"),
                *((f"print {name}", f"print {name}") for name in OBJECTS),
                ("raw", "print/r free_mutex"),
                ("by name", "weft bt 'in a lambda'"),
                ("by object", "weft bt in_a_lambda"),
                ("by a shared name", "weft bt group"),
                ("by the name of a variable", "weft bt ref"),
                ("write memory", "set may-write-memory on"),
                ("end", "continue"),
                ("exit code", "print $_exitcode"),
            ],
            [program],
            before=[f"source {options.script}"],
        )
        for name, number in lines.items():
            shown = line_of(said, name)
            expect(f"{program}: '{name}' was spawned there", shown.endswith(f" (spawns.cpp:{number})"), said["units"])
        expect(
            "the function is the program's",
            "spawned at main (" in line_of(said, "tasklet")
            and re.search(r"spawned at .*spawner::spawn \(", line_of(said, "named")),
            said["units"],
        )
        # At -O0 the C++ library function that constructs an element is not inlined: the body
        # reveals whose it is.
        where = r" spawned at (main \(spawns.cpp:\d+\)$|std::[\w:]+ \(\w+\.\w+:\d+\) for main(\(\)::<lambda|::\$))"
        expect("an element of a vector", re.search(where, line_of(said, "second")), said["units"])
        for name, words in OBJECTS.items():
            text = said[f"print {name}"]
            if optimised and ("<optimized out>" in text or text.startswith("error: No symbol")):
                continue
            expect(
                f"{program}: {name} is {words}", re.fullmatch(rf"\$\d+ = (\(.*\) @0x[0-9a-f]+: )?{words}\n", text), text
            )
        expect("print/r shows the members", "word = 0" in said["raw"] or optimised, said["raw"])
        expect(
            "a name comes before a variable",
            re.match(r"unit \d+ 'ref' waits for event", said["by the name of a variable"]),
            said["by the name of a variable"],
        )
        expect("a name with blanks", "'in a lambda' has not started" in said["by name"], said["by name"])
        if not optimised:
            expect("an object stands for its unit", said["by object"] == said["by name"], said["by object"])
        expect(
            "all units of a name are shown",
            said["by a shared name"].count("'group' has not") == 2,
            said["by a shared name"],
        )
        expect("the program ends well", said["exit code"].strip().endswith("= 0"), said["exit code"] + said["all"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("script", "autoload", "library", "program"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--spawns", nargs="+", required=True)
    parser.add_argument("--spawns-source", required=True)
    parser.add_argument("--gdb", default="gdb")
    parser.add_argument("--strip", default="strip")
    parser.add_argument("--libdir", default="lib")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weft-gdb-") as place:
        check_live(options, pathlib.Path(place))
        check_autoload(options, pathlib.Path(place))
        check_spawns(options, pathlib.Path(place))
    for problem in problems:
        print(f"FAILED: {problem}\n")
    print(f"{len(problems)} wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
