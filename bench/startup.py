#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much longer `weft run -- PROGRAM` takes than PROGRAM.

    bench/startup.py build/release [--rounds 500]            `true`, and C programs with 0, 1 and 100 OpenMP regions
    bench/startup.py build/release [--rounds 500] -- PROGRAM

Each round starts each program three times in succession, in rotating order: by itself, with the
environment that `weft run` sets but without the command, and by `weft run`. The script prints the
median and quartiles of each, and of how much longer a round's run takes than the round's program by
itself. The last lines say how much longer a first region of 2 and of 8 threads, and 99 more
regions, take under `weft run` than on libgomp: the time that they add to the process under `weft
run`, minus the time that they add on libgomp. On a machine with other load, the minimum is the most
reliable value. Set OMP_WAIT_POLICY=passive to compare first regions: otherwise libgomp's threads
spin while they wait, which takes up to 7 ms, by chance.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

REGIONS = r"""
#include <stdlib.h>
int main(int argc, char** argv) {
    int regions = atoi(argv[1]), threads = atoi(argv[2]);
    for (int region = 0; region < regions; ++region) {
#pragma omp parallel num_threads(threads)
        __asm__ volatile("");
    }
    return argc != 3;
}
"""
WAYS = ("by itself", "with what is preloaded", "weft run")


def milliseconds(arguments, environment):
    begin = time.perf_counter_ns()
    process = os.posix_spawn(arguments[0], arguments, environment)
    _, status = os.waitpid(process, 0)
    took = (time.perf_counter_ns() - begin) / 1e6
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)} failed")
    return took


def summarize(name, samples):
    first, middle, third = statistics.quantiles(samples, n=4)
    print(f"  {name:36} median {middle:7.3f} ms ({first:.3f} to {third:.3f}), least {min(samples):.3f}")


def differences(longer, shorter):
    return [more - less for more, less in zip(longer, shorter)]


def regions_programs(folder):
    """The names and command lines of programs with OpenMP regions; one executable, so that nothing
    else differs."""
    program = f"{folder}/regions"
    subprocess.run(["cc", "-O2", "-fopenmp", "-x", "c", "-o", program, "-"], input=REGIONS, text=True, check=True)
    cases = [(0, 2), (1, 2), (100, 2), (1, 8), (100, 8)]
    return {
        f"regions {regions}, threads {threads}": [program, str(regions), str(threads)] for regions, threads in cases
    }


def added(samples, more, fewer):
    """How much longer the program `more` takes than `fewer` under `weft run`, beyond the difference
    without it."""
    by_weft = differences(samples[more, "weft run"], samples[fewer, "weft run"])
    return differences(by_weft, differences(samples[more, "by itself"], samples[fewer, "by itself"]))


def measure(weft, programs, rounds):
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "WEFT_", "GLIBC_"))}
    seen = subprocess.run(
        [weft, "run", "--", "env", "-0"], env=plain, capture_output=True, text=True, check=True
    ).stdout
    given = dict(pair.split("=", 1) for pair in seen.split("\0") if pair)
    samples = {(name, way): [] for name in programs for way in WAYS}
    for turn in range(rounds):
        ways = WAYS[turn % 3 :] + WAYS[: turn % 3]
        for name, program in programs.items():
            for way in ways:
                arguments = [str(weft), "run", "--", *program] if way == "weft run" else program
                took = milliseconds(arguments, given if way == "with what is preloaded" else plain)
                samples[name, way].append(took)
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("program", nargs="*")
    options = parser.parse_intermixed_args()  # options may stand between the build and the program
    weft = options.build.resolve() / "cmd" / "weft"
    if not weft.exists():
        weft = options.build.resolve() / "bin" / "weft"  # an installation
    with tempfile.TemporaryDirectory() as folder:
        chosen = options.program or ["true"]
        programs = {" ".join(chosen): [shutil.which(chosen[0]), *chosen[1:]]}
        if not options.program:
            programs |= regions_programs(folder)
        samples = measure(weft, programs, options.rounds)
    for name in programs:
        print(name)
        alone = samples[name, "by itself"]
        for way in WAYS:
            summarize(way, samples[name, way])
        for way in WAYS[1:]:
            summarize(f"{way}, longer by", differences(samples[name, way], alone))
            print(f"  {'':36} least beside least {min(samples[name, way]) - min(alone):.3f} ms")
    if not options.program:
        print("regions, longer under `weft run` than by themselves")
        for threads in (2, 8):
            one = f"regions 1, threads {threads}"
            summarize(f"the first, threads {threads}", added(samples, one, "regions 0, threads 2"))
            summarize(f"99 more, threads {threads}", added(samples, f"regions 100, threads {threads}", one))


if __name__ == "__main__":
    main()
