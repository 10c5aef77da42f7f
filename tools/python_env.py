#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a virtual environment with the wheels that a file of requirements names.

    tools/python_env.py REQUIREMENTS FOLDER

Does nothing if the environment exists. If it cannot be made (no ensurepip, no package index, a Python for which there
are no such wheels), the script says why and exits with 0: what needs the environment is skipped.
"""
import hashlib
import pathlib
import shutil
import subprocess
import sys

PATIENCE_S = 600


def last_line(done: subprocess.CompletedProcess) -> str:
    return ((done.stderr + done.stdout).strip().splitlines() or [f"status {done.returncode}"])[-1]


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    requirements, venv = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    # The stamp is written last, so that an interrupted environment is made anew.
    stamp, wanted = venv / "wheels", hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return 0
    shutil.rmtree(venv, ignore_errors=True)
    print(f"Installing the wheels of {requirements.name} into {venv}", flush=True)
    commands = [
        [sys.executable, "-m", "venv", str(venv)],
        [str(venv / "bin" / "pip"), "install", "--quiet", "--only-binary", ":all:", "-r", str(requirements)],
    ]
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
            failure = f"failed ({last_line(done)})" if done.returncode != 0 else ""
        except subprocess.TimeoutExpired:
            failure = f"has not ended in {PATIENCE_S} s"
        if failure:
            print(f"no wheels: {' '.join(command[:3])} {failure}; what needs them is skipped")
            shutil.rmtree(venv, ignore_errors=True)
            return 0
    stamp.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
