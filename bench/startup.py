#!/usr/bin/env python3
"""What `weft run -- PROGRAM` takes longer than PROGRAM.

    bench/startup.py build/release [--rounds 2000] [-- true]

In each round the program is started by itself, with what `weft run` gives it but without the command, and by `weft run`, one after the other; the order turns. Told are the median
and quartiles of each, and of what a round's run takes longer than the same round's program by itself. On a machine on which other programs run, believe the least.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import time


def milliseconds(arguments, environment):
    begin = time.perf_counter_ns()
    process = os.posix_spawn(arguments[0], arguments, environment)
    _, status = os.waitpid(process, 0)
    took = (time.perf_counter_ns() - begin) / 1e6
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)} failed")
    return took


def told(name, samples):
    first, middle, third = statistics.quantiles(samples, n=4)
    print(f"{name:36} median {middle:6.3f} ms ({first:.3f} to {third:.3f}), least {min(samples):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("program", nargs="*", default=["true"])
    options = parser.parse_args()
    weft = options.build.resolve() / "cmd" / "weft"
    if not weft.exists():
        weft = options.build.resolve() / "bin" / "weft"   # an installation
    program = [shutil.which(options.program[0]), *options.program[1:]]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "WEFT_", "GLIBC_"))}
    seen = subprocess.run([weft, "run", "--", "env", "-0"], env=plain, capture_output=True, text=True, check=True).stdout
    given = dict(pair.split("=", 1) for pair in seen.split("\0") if pair)
    ways = {"by itself": (program, plain), "with what is preloaded": (program, given), "weft run": ([str(weft), "run", "--", *program], plain)}
    samples = {way: [] for way in ways}
    for turn in range(options.rounds):
        names = list(ways)
        for way in names[turn % 3:] + names[:turn % 3]:
            samples[way].append(milliseconds(*ways[way]))
    for way in ways:
        told(way, samples[way])
    alone = samples["by itself"]
    for way in list(ways)[1:]:
        told(f"{way}, longer by", [took - own for took, own in zip(samples[way], alone)])
        print(f"{'':36} least beside least {min(samples[way]) - min(alone):.3f} ms")


if __name__ == "__main__":
    main()
