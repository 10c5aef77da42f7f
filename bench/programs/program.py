# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of the bench: how it is started, what it needs, and what the page says about it."""
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = HERE / "sources"
SETTINGS = ("unset", "1", "2", "8", "64")
SYSTEM_PYTHON = "/usr/bin/python3"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf")

sys.path += [str(ROOT / "bench"), str(ROOT / "tools")]


class Absent(Exception):
    """Raised if this machine lacks something that a program needs."""


@dataclass(frozen=True)
class Program:
    """`command` writes the program's input into the place's folder and returns the command line; it
    may raise Absent.

    The texts are for readers of doc/when-it-helps.md: `what` the program does, and `why` `weft run`
    helps or not.
    """

    name: str
    what: str
    why: str
    command: Callable[["Place"], list]
    settings: tuple = SETTINGS  # values of OMP_NUM_THREADS
    tolerance: float = 0  # of numbers in the output; 0: byte for byte
    library: str = ""  # one of Debian's BLAS alternatives, by the name of its folder
    written: tuple = ()  # files in the folder that are also output
    targets: dict = field(default_factory=dict)  # setting -> largest ratio, if it has an individual target


class Place:
    """The place where a program runs: its folder, its number of threads, the size of its input."""

    def __init__(self, built: pathlib.Path, folder: pathlib.Path, setting: str, small: bool):
        self.built = built  # programs compiled here, and the virtual environment
        self.folder = folder
        self.setting = setting
        self.small = small

    def threads(self) -> str:
        """The number of threads, for programs that take it as an argument."""
        return str(len(os.sched_getaffinity(0))) if self.setting == "unset" else self.setting

    def size(self, full: int, small: int) -> str:
        return str(small if self.small else full)

    def environment(self, program: Program) -> dict:
        foreign = ("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_", "WEFT_", "LD_", "PYTHON", "GLIBC_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        environment |= {"LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"}
        if self.setting != "unset":
            environment["OMP_NUM_THREADS"] = self.setting
        if program.library:
            environment["LD_LIBRARY_PATH"] = str(blas_folder(program.library))
        return environment

    def compiled(self, source: str, compiler: list, package: str, output: str = "", links: tuple = ()) -> str:
        """The program, compiled unless it is newer than its source; `compiler` ends with the option
        for the output."""
        path = SOURCES / source
        program = self.built / (output or path.stem)
        if not program.exists() or program.stat().st_mtime < path.stat().st_mtime:
            tool = found(compiler[0], package)
            self.built.mkdir(parents=True, exist_ok=True)
            command = [tool, *compiler[1:], str(program), str(path), *links]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise Absent(f"{package} ({compiler[0]} does not compile {source}: {done.stderr.strip()[-200:]})")
        return str(program)

    def wheels(self, module: str) -> str:
        """The Python interpreter of the virtual environment that tools/python_env.py makes."""
        python = self.built / "venv" / "bin" / "python"
        if not (self.built / "venv" / "wheels").exists() or not has_module(str(python), module):
            raise Absent(
                f"the wheel {module} (tools/python_env.py bench/programs/requirements.txt {self.built / 'venv'})"
            )
        return str(python)


def found(name: str, package: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise Absent(package)
    return path


def has_module(python: str, module: str) -> bool:
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", look], capture_output=True).returncode == 0


def system_python(module: str, package: str) -> str:
    if not pathlib.Path(SYSTEM_PYTHON).exists() or not has_module(SYSTEM_PYTHON, module):
        raise Absent(package)
    return SYSTEM_PYTHON


def blas_folder(name: str) -> pathlib.Path:
    """The folder of one of Debian's alternatives, which stay unchanged: LD_LIBRARY_PATH directs the
    loader to the folder."""
    from demo import folder_of

    folder = folder_of(name)
    if folder is None:
        raise Absent({"blas": "libblas3"}.get(name, f"lib{name.replace('openblas', 'openblas0')}"))
    return folder


def agree(one: bytes, other: bytes, tolerance: float) -> bool:
    """Whether two outputs are equal: byte for byte, or except for the last digits of their
    numbers."""
    if one == other or tolerance == 0:
        return one == other
    first, second = one.decode(errors="replace"), other.decode(errors="replace")
    if NUMBER.sub("#", first) != NUMBER.sub("#", second):
        return False
    return all(
        a == b or math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=tolerance)
        for a, b in zip(NUMBER.findall(first), NUMBER.findall(second))
    )
