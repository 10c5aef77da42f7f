#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unmodified programs and libraries of Debian: their output on Weft is their output on libgomp, with 2 threads and with
8.

    bridge/openmp/programs/programs.py NAME --build build/release [--program PATH] [--admit]

NAME: blas, fft, sparse, fortran, numpy, graphicsmagick, imagemagick, elk. Ends with 77 where something it needs is
not installed. OPENBLAS_CORETYPE is passed on, so that OpenBLAS' code for another processor can be tried: SKYLAKEX has
AVX-512.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LIMIT_S = 240
HERE = pathlib.Path(__file__).resolve().parent


class Wrong(Exception):
    """A test has failed."""


class Absent(Exception):
    """Something is not installed."""


def library_folder(name):
    """The folder of one BLAS among Debian's alternatives."""
    for folder in sorted(pathlib.Path("/usr/lib").glob(f"*/{name}")):
        return folder
    raise Absent(f"libblas3 and libopenblas0-openmp (no /usr/lib/*/{name})")


def on_weft(build, admit):
    """The words before a program that runs it on Weft, and the additions to its environment: `weft run`, or, in a build
    without it, the libraries that it preloads."""
    command = build / "cmd" / "weft"
    if command.exists():
        return [str(command), "run", *(["--guests=admit"] if admit else []), "--"], {}
    preloaded = [
        build / "bridge/openmp/libgomp.so.1",
        build / "bridge/pthread/libweft_pthread.so",
        build / "bridge/openblas/libweft_openblas.so",
    ]
    return [], {"LD_PRELOAD": ":".join(str(path) for path in preloaded if path.exists())} | (
        {"WEFT_GUESTS": "admit"} if admit else {}
    )


class Runner:
    """Runs a program in a folder of its own, on Weft or on libgomp."""

    def __init__(self, build, folder, admit):
        self.prefix, self.preload = on_weft(build, admit)
        self.folder = folder
        self.build = build

    def run(self, weft, threads, command, libraries=None):
        environment = {
            key: value
            for key, value in os.environ.items()
            if key == "OPENBLAS_CORETYPE"
            or not key.startswith(("OMP_", "GOMP_", "OPENBLAS_", "WEFT_"))
            and key not in ("LD_PRELOAD", "LD_LIBRARY_PATH")
        }
        environment |= {"OMP_NUM_THREADS": str(threads), "LC_ALL": "C"}
        if libraries:
            environment["LD_LIBRARY_PATH"] = str(libraries)
        if weft:
            environment |= self.preload
            command = self.prefix + command
        else:
            # So that, with more threads than CPUs, threads do not spin for each other until the
            # kernel's next switch. The output is the same.
            environment["OMP_WAIT_POLICY"] = "passive"
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            raise Wrong(f"{' '.join(command)} with {threads} threads has not ended in {LIMIT_S} s")
        if done.returncode != 0:
            raise Wrong(
                f"{' '.join(command)} with {threads} threads ended with {done.returncode}: "
                f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        return done.stdout

    def loads_weft(self, command, libraries=None):
        """Checks that the program is on Weft: the loader takes our library for libgomp.so.1."""
        environment = (
            dict(os.environ)
            | self.preload
            | {"LD_DEBUG": "libs", "OMP_NUM_THREADS": "2"}
            | ({"LD_LIBRARY_PATH": str(libraries)} if libraries else {})
        )
        done = subprocess.run(
            self.prefix + command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
        )
        begun = re.findall(r"calling init: (\S*libgomp[^\s]*)", done.stderr)
        wrong = [path for path in begun if not pathlib.Path(path).resolve().is_relative_to(self.build.resolve())]
        if not begun or wrong:
            raise Wrong(f"{' '.join(command)} is not on Weft; it has loaded {wrong or 'no libgomp'}")


def same(runner, what, command, libraries=None, say=lambda output: output, equal=lambda a, b: a == b, on_weft=None):
    """Runs a command on libgomp and on Weft (there the command on_weft, if given), with few threads and with many, and
    compares the outputs."""
    runner.loads_weft(command, libraries)
    for threads in 2, 8:
        expected = say(runner.run(False, threads, command, libraries))
        found = say(runner.run(True, threads, on_weft or command, libraries))
        if not equal(expected, found):
            raise Wrong(f"{what} with {threads} threads says on libgomp\n{expected}\nand on Weft\n{found}")
        print(f"{what}, {threads} threads: the same", flush=True)


def blas(runner, program):
    tested, reference = library_folder("openblas-openmp"), library_folder("blas")
    command = [program, f"{tested}/libopenblas.so.0", f"{reference}/libblas.so.3"]
    # Where OpenBLAS uses AVX-512, the order of its additions depends on where the vectors lie, even
    # with one thread and without Weft; they lie elsewhere under `weft run`.
    alone, shifted = (runner.run(False, 1, [*command, "--digest", f"--shift={shift}"]) for shift in (0, 16))
    if alone == shifted:
        same(runner, "OpenBLAS, levels 1 to 3", [*command, "--digest"])
    else:
        print("OpenBLAS' last bits depend on where the vectors lie: compared but for rounding")
        same(runner, "OpenBLAS, levels 1 to 3", [*command, "--write=numbers"], on_weft=[*command, "--expect=numbers"])


def fft(runner, program):
    same(runner, "FFTW", [program, "4"])


def sparse(runner, program):
    same(runner, "SuiteSparse", [program], library_folder("openblas-openmp"))


def fortran(runner, program):
    same(runner, "a Fortran program", [program])


def numpy(runner, _):
    if subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True).returncode != 0:
        raise Absent("python3-numpy")
    same(
        runner,
        "NumPy in 4 threads",
        ["/usr/bin/python3", str(HERE / "eigen.py"), "4", "3"],
        library_folder("openblas-openmp"),
    )


def picture(path):
    """1200 x 800 points with edges, slopes and noise."""
    wide, high = 1200, 800
    path.write_bytes(
        b"P6 %d %d 255\n" % (wide, high)
        + bytes((x * y // 7 + c * x + 3 * y) & 255 for y in range(high) for x in range(wide) for c in range(3))
    )


def pictures(runner, command):
    """Compares each operation's output, byte by byte."""
    picture(runner.folder / "in.ppm")
    for operation in "-resize 50%", "-blur 0x2", "-rotate 17", "-equalize", "-median 2":

        def bytes_of(_):
            return (runner.folder / "out.ppm").read_bytes()

        same(
            runner,
            f"{' '.join(command)} {operation}",
            [*command, "in.ppm", *operation.split(), "out.ppm"],
            say=bytes_of,
        )


def graphicsmagick(runner, _):
    if not shutil.which("gm"):
        raise Absent("graphicsmagick")
    pictures(runner, ["gm", "convert"])


def imagemagick(runner, _):
    if not shutil.which("convert-im6.q16"):
        raise Absent("imagemagick")
    pictures(runner, ["convert-im6.q16"])


def elk(runner, _):
    """Density functional theory by plane waves: regions within regions, to four levels, over k-points, bands and atoms.
    How many threads each region has depends on how many are left at that moment, on libgomp too, so the energies agree
    but for the order of additions."""
    if not shutil.which("elk-lapw"):
        raise Absent("elk-lapw")
    example = pathlib.Path("/usr/share/doc/elk-lapw/examples/basic/Al/elk.in")
    if not example.exists():
        raise Absent("the examples of elk-lapw (documentation is left out of this system)")
    text = example.read_text().replace("'../../../species/'", "'/usr/share/elk-lapw/species/'")
    (runner.folder / "elk.in").write_text(text + "\nmaxlvl\n  4\n\nmaxscl\n  8\n")

    def energies(_):
        return [float(word) for word in (runner.folder / "TOTENERGY.OUT").read_text().split()]

    def close(a, b):
        return len(a) == len(b) > 5 and all(abs(x - y) < 1e-6 for x, y in zip(a, b))

    same(runner, "Elk, aluminium", ["elk-lapw"], library_folder("blas"), energies, close)


TESTS = {test.__name__: test for test in (blas, fft, sparse, fortran, numpy, graphicsmagick, imagemagick, elk)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=TESTS)
    parser.add_argument(
        "--build", required=True, type=lambda path: pathlib.Path(path).resolve(), help="the build folder"
    )
    parser.add_argument("--program", default="", help="what was compiled for it; nothing where that was not possible")
    parser.add_argument("--missing", default="", help="the package for want of which it was not")
    parser.add_argument("--admit", action="store_true", help="the program's own threads take turns on the harts, too")
    options = parser.parse_args()
    try:
        if options.missing:
            raise Absent(options.missing)
        with tempfile.TemporaryDirectory() as folder:
            TESTS[options.name](Runner(options.build, pathlib.Path(folder), options.admit), options.program)
    except Absent as absent:
        print(f"SKIPPED: not installed: {absent}")
        return SKIPPED
    except Wrong as wrong:
        print(f"FAILED: {wrong}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
