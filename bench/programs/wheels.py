#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a virtual environment with the wheels of requirements.txt, for the rows of the bench that
need them.

    bench/programs/wheels.py build/programs/venv

Does nothing if the environment exists. If it cannot be made (no ensurepip, no package index, an
older Python), the script says why and exits with 0: the bench skips those rows.
"""
import hashlib
import pathlib
import shutil
import subprocess
import sys

WANTED = pathlib.Path(__file__).resolve().parent / "requirements.txt"
PATIENCE_S = 600


def last_line(done: subprocess.CompletedProcess) -> str:
    return ((done.stderr + done.stdout).strip().splitlines() or [f"status {done.returncode}"])[-1]


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    venv = pathlib.Path(sys.argv[1]).resolve()
    # The stamp is written last, so that an interrupted environment is made anew.
    stamp, wanted = venv / "wheels", hashlib.sha256(WANTED.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return 0
    shutil.rmtree(venv, ignore_errors=True)
    print(f"Installing the wheels of {WANTED.name} into {venv}", flush=True)
    commands = [
        [sys.executable, "-m", "venv", str(venv)],
        [str(venv / "bin" / "pip"), "install", "--quiet", "--only-binary", ":all:", "-r", str(WANTED)],
    ]
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            print(f"no wheels: {' '.join(command[:3])} has not ended in {PATIENCE_S} s; their rows are skipped")
            return 0
        if done.returncode != 0:
            print(f"no wheels: {' '.join(command[:3])} failed ({last_line(done)}); their rows are skipped")
            shutil.rmtree(venv, ignore_errors=True)
            return 0
    stamp.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
