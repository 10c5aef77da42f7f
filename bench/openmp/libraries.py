"""The three libraries that programs of bench/openmp run on: what one sets in the environment, and tables that compare them."""

import os
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "bench"))
from measured import PATIENCE_S, median, quantile, table  # noqa: E402

NAMES = ("libgomp", "Weft", "libomp")


def environments(build: pathlib.Path) -> dict:
    """library -> environment. libomp serves what gcc has compiled, by names of libgomp's that it has as well."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_", "LD_"))}
    # A copy: LD_LIBRARY_PATH shows the folder of the library, and nothing of the system's.
    return {"libgomp": plain, "Weft": plain | {"LD_LIBRARY_PATH": f"{build}/bridge/openmp:{build}"}, "libomp": plain | {"LD_PRELOAD": "libomp.so.5"}}


# What the path of the library that a program says it has met must hold.
EXPECTED = {"libgomp": "libgomp.so.1", "Weft": "bridge/openmp/libgomp.so.1", "libomp": "libomp.so.5"}


def check(library: str, path: str) -> None:
    if EXPECTED[library] not in path or (library == "libgomp" and "bridge/openmp" in path):
        raise SystemExit(f"bench: {library} was to be measured, and {path} was met")


def compiled(source: pathlib.Path, into: pathlib.Path, compiler: str = "gcc") -> pathlib.Path:
    into.mkdir(parents=True, exist_ok=True)
    program = into / source.stem
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([compiler, "-O2", "-fopenmp", str(source), "-o", str(program), "-lm"], check=True)
    return program


def output_of(command: list, environment: dict) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment, timeout=PATIENCE_S)
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(str(word) for word in command)} failed ({done.returncode}): {done.stderr.strip()[-600:]}")
    return done.stdout


def compared(head: str, samples: dict, digits: int = 0) -> tuple:
    """samples: what was measured -> library -> values, each the same round's as the others'. Returns a table, and the ratios to the better of the others."""
    rows, ratios = [], {}
    for what, by_library in samples.items():
        middle = {library: median(by_library[library]) for library in NAMES}
        better = min(middle["libgomp"], middle["libomp"])
        ratios[what] = middle["Weft"] / better
        cells = [f"{middle[library]:.{digits}f} ({quantile(by_library[library], 0.25):.{digits}f} to {quantile(by_library[library], 0.75):.{digits}f})" for library in NAMES]
        rows.append([what, *cells, f"{ratios[what]:.2f}"])
    return table([head, *NAMES, "Weft / better"], rows), ratios
