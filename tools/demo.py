#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of Debian as they are, and one of ours, before and after `weft run`: wall time, switches of the kernel's,
and a picture.

    tools/demo.py build/release [--figure build/demo.svg] [--rounds 3]

The two take turns, and the least time of each counts. Elsewhere than on Debian, or where a program is not installed,
its line says so.
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT_S = 40
THREADS = 8


def folder_of(name):
    return next(iter(sorted(pathlib.Path("/usr/lib").glob(f"*/{name}"))), None)


def picture(path, wide=2400, high=1600):
    row = bytes((x * 3 + c * 40) & 255 for x in range(wide) for c in range(3))
    path.write_bytes(b"P6 %d %d 255\n" % (wide, high) + b"".join(row[3 * y :] + row[: 3 * y] for y in range(high)))


def compose(folder):
    """Compiles the program that mixes TBB and OpenMP; None: there is no compiler, or no oneTBB."""
    program = folder / "mixed"
    words = ["g++", "-O2", "-std=c++20", "-fopenmp", f"-I{ROOT / 'bench'}", ROOT / "bench/compose/mixed.cpp", "-ltbb"]
    done = shutil.which("g++") and subprocess.run([*words, "-o", program], capture_output=True)
    return str(program) if done and done.returncode == 0 else None


def elk_input(path, steps=8):
    """Elk's own example, reduced to a few steps."""
    example = pathlib.Path("/usr/share/doc/elk-lapw/examples/basic/Al/elk.in")
    text = example.read_text() if example.exists() else ALUMINIUM
    path.write_text(
        text.replace("'../../../species/'", "'/usr/share/elk-lapw/species/'") + f"\nmaxlvl\n  4\n\nmaxscl\n  {steps}\n"
    )


# The crystal of that example, for systems that omit documentation.
ALUMINIUM = """tasks
  0
avec
  1.0 1.0 0.0
  1.0 0.0 1.0
  0.0 1.0 1.0
scale
  3.8267
sppath
  '../../../species/'
atoms
  1
  'Al.in'
  1
  0.0 0.0 0.0  0.0 0.0 0.0
ngridk
  4 4 4
"""


class Case:
    """A program and its needs; `seen` returns the result on which both runs must agree."""

    def __init__(self, what, command, needs, package, libraries=None, seen=None):
        self.what, self.command, self.needs, self.package, self.libraries, self.seen = (
            what,
            command,
            needs,
            package,
            libraries,
            seen,
        )

    def ready(self):
        return all(found() for found in self.needs)


def cases(folder):
    openblas, eigen = folder_of("openblas-openmp"), str(ROOT / "bridge/openmp/programs/eigen.py")
    mixed = compose(folder)
    picture(folder / "in.ppm")
    (folder / "out.ppm").touch()

    def has_numpy():
        return subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True).returncode == 0

    def energy(_):
        return f"{float((folder / 'TOTENERGY.OUT').read_text().split()[-1]):.5f}"

    if shutil.which("elk-lapw"):
        elk_input(folder / "elk.in")
    return [
        Case(
            "Python: 8 threads, each NumPy eigh over OpenBLAS",
            ["/usr/bin/python3", eigen, str(THREADS), "3", "200"],
            [has_numpy, lambda: openblas],
            "python3-numpy libopenblas0-openmp",
            openblas,
        ),
        Case(
            "Elk (Fortran): regions nested to 4 levels",
            ["elk-lapw"],
            [lambda: shutil.which("elk-lapw")],
            "elk-lapw",
            folder_of("blas"),
            energy,
        ),
        Case(
            "TBB: 64 tasks on 8 threads, each with OpenMP loops",
            [mixed, "--kernel=loops", f"--outer={THREADS}", f"--inner={THREADS}"],
            [lambda: mixed],
            "libtbb-dev g++",
            seen=lambda done: len(done.stdout.splitlines()),
        ),
        Case(
            "gm convert: blur, one region after the other",
            ["gm", "convert", "in.ppm", "-blur", "0x3", "out.ppm"],
            [lambda: shutil.which("gm")],
            "graphicsmagick",
            seen=lambda _: (folder / "out.ppm").read_bytes(),
        ),
    ]


def run(case, folder, prefix):
    """(seconds, kernel context switches, the result); if the run was stopped at the limit, seconds is the limit."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("OMP_", "GOMP_")) and key not in ("LD_PRELOAD", "LD_LIBRARY_PATH")
    }
    environment |= {"OMP_NUM_THREADS": str(THREADS), "LC_ALL": "C"}
    if case.libraries:
        environment["LD_LIBRARY_PATH"] = str(case.libraries)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    try:
        done = subprocess.run(
            prefix + case.command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return LIMIT_S, None, None
    took, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(prefix + case.command)} ended with {done.returncode}: {done.stderr[-500:]}")
    return (
        took,
        after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw,
        case.seen(done) if case.seen else done.stdout,
    )


def table(rows):
    lines = [("program, OMP_NUM_THREADS=8", "libgomp", "switches", "weft run", "switches", "times as fast")]
    for what, plain, weft in rows:
        at_least = "> " if plain[1] is None else ""
        lines.append(
            (
                what,
                f"{at_least}{plain[0]:.2f} s",
                "-" if plain[1] is None else f"{plain[1]:,}",
                f"{weft[0]:.2f} s",
                f"{weft[1]:,}",
                f"{at_least}{plain[0] / weft[0]:.1f}",
            )
        )
    widths = [max(len(line[i]) for line in lines) for i in range(6)]
    for line in lines:
        print("  ".join([line[0].ljust(widths[0]), *(line[i].rjust(widths[i]) for i in range(1, 6))]))


def draw(rows, path, cpus):
    """Two bars per program, as fractions of the time that libgomp took."""
    wide, left, bar, high = 760, 20, 18, 90 + 84 * len(rows)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="14">',
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
        f'<text x="{left}" y="28" font-size="17" fill="#222222">The same programs, without and with weft '
        f'run ({cpus} CPUs, {THREADS} OpenMP threads)</text>',
    ]
    y = 62
    for what, plain, weft in rows:
        most = max(plain[0], weft[0])
        out.append(f'<text x="{left}" y="{y}" fill="#222222">{what}</text>')
        for name, colour, (seconds, switches, _), line in (
            ("libgomp", "#9a9a9a", plain, 0),
            ("weft run", "#2b6cb0", weft, 1),
        ):
            length, top = max(2, 430 * seconds / most), y + 8 + line * (bar + 4)
            said = (
                f"{name}  {seconds:.2f} s, {switches:,} switches"
                if switches is not None
                else f"{name}  stopped after {seconds} s"
            )
            out.append(f'<rect x="{left}" y="{top}" width="{length:.1f}" height="{bar}" fill="{colour}"/>')
            out.append(f'<text x="{left + length + 8:.1f}" y="{top + 14}" font-size="13" fill="#444444">{said}</text>')
        y += 84
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*out, "</svg>"]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--figure", type=pathlib.Path, help="where the picture goes (demo.svg beside the build)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    command = options.build / "cmd" / "weft"
    figure = options.figure or options.build.parent / "demo.svg"
    if not command.exists():
        sys.exit(f"{command} is not there: build it first")
    prefix, rows = [str(command), "run", "--"], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in cases(folder):
            if not case.ready():
                print(f"left out, as it is not installed: {case.what} ({case.package})")
                continue
            print(
                f"$ weft run -- "
                f"{' '.join(pathlib.Path(word).name if word.startswith('/') else word for word in case.command)}",
                flush=True,
            )
            plain, weft = [], []
            for _ in range(options.rounds):
                if not plain or plain[-1][1] is not None:  # a program that was stopped once is not run again
                    plain.append(run(case, folder, []))
                weft.append(run(case, folder, prefix))
                if weft[-1][1] is None:
                    sys.exit(f"on Weft it was not over after {LIMIT_S} s")
            said = {found for _, _, found in plain + weft if found is not None}
            if len(said) != 1:
                sys.exit("the two do not say the same")
            rows.append((case.what, min(plain, key=lambda one: one[0]), min(weft, key=lambda one: one[0])))
    if not rows:
        sys.exit("none of the programs is installed")
    cpus = len(os.sched_getaffinity(0))
    print(
        f"\nThe outputs are equal. The least of {options.rounds} turns each, on {cpus} CPUs; switches are the "
        f"kernel's.\n"
    )
    table(rows)
    draw(rows, figure, cpus)
    print(f"\nThe picture: {os.path.relpath(figure)}")


if __name__ == "__main__":
    main()
