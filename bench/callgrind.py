# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The instructions that one operation executes: callgrind_spawn or callgrind_sync runs twice under
callgrind with different counts, and the difference of the two dumps, instruction by instruction, is
divided by the difference of the counts. So start-up cancels out, and atomic read-modify-writes are
counted by execution, not by occurrence in the code.
"""

import os
import pathlib
import re
import subprocess
from collections import defaultdict

COUNTS = (8192, 24576)  # multiples of what most bulk operations do at a time; the program rounds up

# x86-64: a lock prefix, or xchg with memory, which implies a lock. AArch64: LSE atomics and
# exclusives.
READ_MODIFY_WRITE = re.compile(
    r"^(lock\b|xchg\w*\b.*\(|(cas|swp|ldadd|ldset|ldclr|ldeor|stadd|stset|stclr)(a|l|al)?[bhp]?\b|"
    r"ldax?x?r[bhp]?\b|ldxr[bhp]?\b)"
)
FULL_FENCE = re.compile(r"^(mfence|dmb\s+ish$)")
SYSTEM_CALL = re.compile(r"^(syscall|svc\b)")


def dump(program: pathlib.Path, operation: str, count: int, out: pathlib.Path, environment: dict) -> tuple:
    """Runs the program. How often it did the operation, and the dump of its first OS thread, on
    which stream 0 runs: each thread has a dump of its own."""
    command = [
        "valgrind",
        "--tool=callgrind",
        f"--callgrind-out-file={out}",
        "--dump-instr=yes",
        "--separate-threads=yes",
        "--compress-pos=no",
        "--compress-strings=no",
        str(program),
        operation,
        str(count),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)}\n{done.stderr[-2000:]}")
    return int(done.stdout), read(out.with_name(out.name + "-01"))


def read(path: pathlib.Path) -> dict:
    """(object, address) -> [executions, function]; excludes the cost of callees."""
    costs: dict = defaultdict(lambda: [0, ""])
    owner = function = ""
    skip = False
    for line in path.read_text().splitlines():
        if line.startswith("ob="):
            owner = line[3:]
        elif line.startswith("fn="):
            function = line[3:]
        elif line.startswith("calls="):
            skip = True  # the next line is the callee's inclusive cost
        elif line.startswith("0x"):
            if skip:
                skip = False
                continue
            address, _, cost = line.split()[:3]
            entry = costs[owner, int(address, 16)]
            entry[0] += int(cost)
            entry[1] = function
    return costs


def disassembly(program: str) -> dict:
    """address -> instruction of one object file; empty if it is not a file."""
    if not pathlib.Path(program).is_file():
        return {}
    text = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", program], capture_output=True, text=True).stdout
    found = re.findall(r"^\s*([0-9a-f]+):\t(.*)$", text, re.M)
    return {int(address, 16): instruction.strip() for address, instruction in found}


def short(function: str) -> str:
    return function.replace("(anonymous namespace)::", "").split("(")[0]


def measure(program: pathlib.Path, operation: str, folder: pathlib.Path, environment: dict | None = None) -> dict:
    """Executions per operation: instructions, instructions in the calling program (its loop, the
    stubs that lead to the shared library, the body), read-modify-writes, fences, system calls, and
    counts by function; also writes a listing."""
    program = program.resolve()  # as the dumps name it
    folder.mkdir(parents=True, exist_ok=True)
    (done_in_few, few), (done_in_many, many) = (
        dump(program, operation, count, folder / f"{operation}.{count}.out", environment or {}) for count in COUNTS
    )
    per_operation = {}
    for place, (cost, function) in many.items():
        difference = (cost - few[place][0] if place in few else cost) / (done_in_many - done_in_few)
        if abs(difference) > 1e-4:
            per_operation[place] = (difference, function)

    code = {name: disassembly(name) for name in {place[0] for place in per_operation}}
    # After a switch callgrind names the object that was left; the address is of the object that the
    # instruction lies in, the program or a library of Weft's.
    likely = [str(program), *(name for name in code if re.search("libweft|libgomp", name))]
    result = {
        "instructions": 0.0,
        "caller": 0.0,
        "read_modify_writes": 0.0,
        "fences": 0.0,
        "system_calls": 0.0,
        "functions": defaultdict(float),
    }
    listing = []
    last = None
    for place in sorted(per_operation):
        cost, function = per_operation[place]
        owner = next((name for name in (place[0], *likely) if place[1] in code.get(name, {})), place[0])
        instruction = code[owner].get(place[1], "?")
        result["instructions"] += cost
        if owner == str(program):
            result["caller"] += cost
        result["functions"][f"{short(function)} [{pathlib.Path(place[0]).name}]"] += cost
        if READ_MODIFY_WRITE.match(instruction):
            result["read_modify_writes"] += cost
        if FULL_FENCE.match(instruction):
            result["fences"] += cost
        # a reading of the clock is a system call under valgrind only
        if SYSTEM_CALL.match(instruction) and not function.startswith("clock_gettime"):
            result["system_calls"] += cost
        if function != last:
            listing.append(f"\n{function}  [{place[0]}]")
            last = function
        listing.append(f"{cost:10.3f}  {place[1]:8x}  {instruction}")
    result["functions"] = dict(sorted(result["functions"].items(), key=lambda item: -item[1]))
    (folder / f"{operation}.txt").write_text("\n".join(listing) + "\n")
    return result


def report(name: str, result: dict) -> str:
    lines = [
        f"{name}: {result['instructions']:.1f} instructions, {result['caller']:.1f} of them the caller's, "
        f"{result['read_modify_writes']:.2f} atomic "
        f"read-modify-writes, {result['fences']:.2f} full fences, {result['system_calls']:.2f} system calls"
    ]
    lines += [
        f"    {cost:8.2f}  {function}" for function, cost in list(result["functions"].items())[:24] if cost >= 0.01
    ]
    return "\n".join(lines)
