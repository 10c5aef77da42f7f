#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`weft run` under the limits that batch systems and containers set: programs that run without it run with it.

    cmd/limits_test.py --build build/release [--cc gcc] [-k WORDS]

Each limit is tried as root, where the test is root, and as a user without rights. What the machine does not allow is
skipped, counted and named. Limits, the filter of system calls and the user without rights must have been tried.
"""
import argparse
import contextlib
import ctypes
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from run_test import clean

OPTIONS = None
REQUIRED = {"addresses", "threads", "stack", "locked", "filter"}
USER = 61187  # has no other processes, so RLIMIT_NPROC counts only the test's
TRIED, SKIPPED = set(), []

PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <threads.h>
static int size;
static size_t depth;
static long region(void) {
    long sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
    {
        volatile char deep[depth];
        deep[0] = 1;
        deep[depth - 1] = 1;
        char* memory = malloc(1000);
        memset(memory, 1, 1000);
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 1000; ++i) sum += i * memory[i] * deep[depth - 1];
        free(memory);
        if (omp_get_num_threads() != size) abort();
    }
    return sum;
}
static void* body(void* result) {
    *(long*)result = region();
    return NULL;
}
static int body_of_c11(void* result) {
    *(long*)result = region();
    return 0;
}
/* Every other one by C11's call, which the C library makes of its own. */
static int start(int i, pthread_t* thread, long* result) {
    if (i % 2 == 1) return pthread_create(thread, NULL, body, result);
    return thrd_create(thread, body_of_c11, result) == thrd_success ? 0 : EAGAIN;
}
/* members, callers, turns, share of the stack in percent */
int main(int count, char** arguments) {
    size = atoi(arguments[1]);
    const int callers = atoi(arguments[2]), turns = atoi(arguments[3]), percent = atoi(arguments[4]);
    struct rlimit stack;
    getrlimit(RLIMIT_STACK, &stack);
    const size_t each = stack.rlim_cur == RLIM_INFINITY ? 2 << 20 : stack.rlim_cur;
    depth = percent == 0 ? 64 : each / 100 * percent;
    if (count != 5 || callers > 16) return 2;
    for (int turn = 0; turn < turns; ++turn) {
        pthread_t threads[16];
        long sums[16];
        for (int i = 1; i < callers; ++i) {
            const int error = start(i, &threads[i], &sums[i]);
            if (error != 0) return puts(strerror(error)), 3;
        }
        sums[0] = region();
        for (int i = 1; i < callers; ++i) pthread_join(threads[i], NULL);
        for (int i = 0; i < callers; ++i) printf("%ld ", sums[i]);
    }
    puts("");
    return 0;
}
"""

NESTED = r"""
#include <omp.h>
#include <stdio.h>
#include <time.h>
static void compute(int ms) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}
int main(void) {
    int members = 0;
    omp_set_max_active_levels(2);
    for (int turn = 0; turn < 3; ++turn) {
#pragma omp parallel num_threads(4) reduction(+ : members)
        {
            compute(5 * omp_get_thread_num());
#pragma omp parallel num_threads(2 + turn) reduction(+ : members)
            {
                compute(5);
                members += 1;
            }
        }
    }
    printf("%d\n", members);
    return 0;
}
"""

# ---- the limits: each is a function that a child calls before the program starts -----------------

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 1, 32, 4096, 16384, 1 << 18


def checked(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def mount(source, target, kind, flags):
    checked(LIBC.mount(source, target, kind, ctypes.c_ulong(flags), None), f"mount on {target.decode()}")


def mounts_of_its_own():
    checked(LIBC.unshare(CLONE_NEWNS), "unshare")
    mount(None, b"/", None, MS_REC | MS_PRIVATE)


def without(folder):
    def prepare():
        mounts_of_its_own()
        mount(b"none", folder.encode(), b"tmpfs", 0)

    return prepare


def read_only():
    mounts_of_its_own()
    # Remounts every writable mount, the deepest first: a bind mount of its own becomes read-only
    # immediately for this namespace.
    with open("/proc/self/mounts") as table:
        places = [line.split()[1] for line in table]
    for place in sorted(set(places) - {"/proc", "/sys", "/dev"}, key=len, reverse=True):
        if place.startswith(("/proc/", "/sys/", "/dev/")):
            continue
        mount(None, place.encode(), None, MS_REMOUNT | MS_BIND | MS_RDONLY)


def limit(which, value):
    return lambda: resource.setrlimit(which, (value, value))


# The system calls that a container's default filter refuses, with the numbers of x86-64 and
# AArch64. The filter refuses more calls, which the programs below never make.
REFUSED = {
    "x86_64": {
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "unshare": 272,
        "setns": 308,
        "mount": 165,
        "umount2": 166,
        "perf_event_open": 298,
        "bpf": 321,
        "userfaultfd": 323,
        "keyctl": 250,
        "add_key": 248,
        "request_key": 249,
        "get_mempolicy": 239,
        "set_mempolicy": 238,
        "mbind": 237,
        "move_pages": 279,
        "migrate_pages": 256,
        "kcmp": 312,
        "ptrace": 101,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "pivot_root": 155,
        "chroot": 161,
        "reboot": 169,
        "swapon": 167,
        "open_by_handle_at": 304,
        "clock_settime": 227,
        "settimeofday": 164,
        "quotactl": 179,
        "acct": 163,
        "syslog": 103,
    },
    "aarch64": {
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "unshare": 97,
        "setns": 268,
        "mount": 40,
        "umount2": 39,
        "perf_event_open": 241,
        "bpf": 280,
        "userfaultfd": 282,
        "keyctl": 219,
        "add_key": 217,
        "request_key": 218,
        "get_mempolicy": 236,
        "set_mempolicy": 237,
        "mbind": 235,
        "move_pages": 239,
        "migrate_pages": 238,
        "kcmp": 272,
        "ptrace": 117,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "pivot_root": 41,
        "chroot": 51,
        "reboot": 142,
        "swapon": 224,
        "open_by_handle_at": 265,
        "clock_settime": 112,
        "settimeofday": 170,
        "quotactl": 60,
        "acct": 89,
        "syslog": 116,
    },
}
# System calls that old libraries of such filters do not know. They fail with EPERM, in newer
# libraries with ENOSYS.
UNKNOWN = {
    "clone3": 435,
    "membarrier": {"x86_64": 324, "aarch64": 283},
    "rseq": {"x86_64": 334, "aarch64": 293},
    "futex_waitv": 449,
}
EPERM, ENOSYS = 1, 38


def filtered(unknown):
    """A filter of system calls, in BPF: refused calls fail with EPERM, clone3 with ENOSYS; old filters also refuse
    unknown calls."""
    machine = os.uname().machine
    answers = {number: EPERM for number in REFUSED[machine].values()}
    for name, number in UNKNOWN.items():
        number = number[machine] if isinstance(number, dict) else number
        if name == "clone3":
            answers[number] = ENOSYS
        elif unknown:
            answers[number] = EPERM
    load, equal, give = 0x20, 0x15, 0x06
    program = [struct.pack("HBBI", load, 0, 0, 0)]
    for number, error in sorted(answers.items()):
        program += [struct.pack("HBBI", equal, 0, 1, number), struct.pack("HBBI", give, 0, 0, 0x00050000 | error)]
    program.append(struct.pack("HBBI", give, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(program))

    def prepare():
        head = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
        checked(LIBC.prctl(38, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
        checked(LIBC.prctl(22, 2, ctypes.create_string_buffer(head)), "PR_SET_SECCOMP")

    return prepare


@contextlib.contextmanager
def group(controller, settings):
    """A cgroup with these settings: a function by which a child enters it. Version 1 or 2, as the machine has."""
    first = pathlib.Path("/sys/fs/cgroup") / controller
    root = first if first.is_dir() else pathlib.Path("/sys/fs/cgroup")
    if not first.is_dir() and controller not in (root / "cgroup.subtree_control").read_text().split():
        raise unittest.SkipTest(f"no cgroup of the controller {controller}")
    own = root / f"weft-limits-{os.getpid()}"
    try:
        own.mkdir()
    except OSError as error:
        raise unittest.SkipTest(f"no cgroup can be made: {error}")
    try:
        for name, value in settings["first" if first.is_dir() else "second"].items():
            (own / name).write_text(str(value))
        yield lambda: (own / "cgroup.procs").write_text(str(os.getpid()))
    except PermissionError as error:
        raise unittest.SkipTest(f"no limit can be set in a cgroup: {error}")
    finally:
        own.rmdir()


# ---- the tests -----------------------------------------------------------------------------------


def users():
    """The users to run as: for each name a function by which a child becomes that user."""
    if os.geteuid() != 0:
        return {"a user": lambda: None}
    return {"root": lambda: None, "a user": lambda: (os.setgroups([]), os.setgid(USER), os.setuid(USER))}


def threads_of_the_user():
    """How many threads count against the limit before the first program of a test runs."""
    if os.geteuid() == 0:
        return 0
    folders = [path for path in pathlib.Path("/proc").glob("[0-9]*") if path.stat().st_uid == os.getuid()]
    return sum(len(list((folder / "task").iterdir())) for folder in folders)


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Installed where every user may read, together with the programs.
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="weft-limits-"))
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.place.chmod(0o755)
        subprocess.run(
            ["cmake", "--install", OPTIONS.build, "--prefix", cls.place / "prefix"], check=True, capture_output=True
        )
        cls.weft = cls.place / "prefix" / "bin" / "weft"
        cls.program = cls.place / "program"
        (cls.place / "program.c").write_text(PROGRAM)
        cls.nested = cls.place / "nested"
        (cls.place / "nested.c").write_text(NESTED)
        for program in [cls.program, cls.nested]:
            subprocess.run([OPTIONS.cc, "-O1", "-fopenmp", program.with_suffix(".c"), "-o", program], check=True)

    def result(self, words):
        return "499500 " * (words[1] * words[2]) + "\n"

    def run_one(self, command, prepare, become):
        def child():
            prepare()
            become()

        return subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            timeout=60,
            env=clean(),
            cwd=self.place,
            stdin=subprocess.DEVNULL,
            preexec_fn=child,
        )

    def pair(self, command, prepare, become, options=()):
        try:
            plain = self.run_one(command, prepare, become)
        except (subprocess.SubprocessError, OSError) as error:
            if isinstance(error, subprocess.TimeoutExpired):
                raise
            raise unittest.SkipTest(f"the limit cannot be set: {error}")
        ours = self.run_one([self.weft, "run", *options, "--", *command], prepare, become)
        return plain, ours

    def no_worse(self, kind, what, prepare, command=None, only=None, said=""):
        """A program that runs without Weft runs alike with it; a refused one is refused in the same words, or runs.
        Weft prints nothing but `said`."""
        for name, become in users().items():
            if only not in (None, name):
                continue
            for words in [command] if command else [(2, 1, 3, 0), (8, 1, 3, 0), (4, 4, 2, 0)]:
                with self.subTest(limit=what, user=name, program=words):
                    plain, ours = self.pair([self.program, *words], prepare, become)
                    TRIED.add(kind)  # not if the test is skipped
                    heard = re.sub(said, "", ours.stderr) if said else ours.stderr
                    seen = (ours.returncode, ours.stdout, heard)
                    # Whether several callers find enough addresses is a matter of chance: the
                    # number of malloc's arenas depends on which threads allocate at the same time.
                    if plain.returncode == 0 and (kind != "addresses" or words[1] == 1):
                        self.assertEqual(seen, (0, plain.stdout, plain.stderr))
                    elif words[1] == 1:
                        self.assertIn(
                            seen, [(plain.returncode, plain.stdout, plain.stderr), (0, self.result(words), "")]
                        )
                    else:  # several callers: which is refused first, and how often that is said, is chance
                        self.assertIn(ours.returncode, [0, 1, 3], ours.stderr)
                        if ours.returncode == 0:
                            self.assertEqual((ours.stdout, heard), (self.result(words), ""))
                        self.assertRegex(
                            heard,
                            r"^(\s*(libgomp: |Thread creation failed: .*|Out of memory allocating \d+ bytes))*\s*$",
                        )

    def test_addresses(self):
        for KiB in [40000, 80000, 98304, 120000, 150000, 200000, 300000, 1000000]:
            self.no_worse(
                "addresses",
                f"-v {KiB}",
                limit(resource.RLIMIT_AS, KiB << 10),
                said=r"^weft run: the address space is limited to \d+ KiB .* the program runs without Weft; .*\n"
                if KiB < 98304
                else "",
            )

    def works(self, what, threads, command, result):
        become = users()["a user"]
        for turn in range(3):
            with self.subTest(limit=what, program=command[1:], turn=turn):
                ours = self.run_one([self.weft, "run", "--", *command], limit(resource.RLIMIT_NPROC, threads), become)
                self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (0, result, ""))

    def test_threads(self):
        before = threads_of_the_user()
        for members in [2, 4, 8]:
            for more in [*range(1, members + 3), members + 6, 4 * members]:
                self.no_worse(
                    "threads",
                    f"-u {more}",
                    limit(resource.RLIMIT_NPROC, before + more),
                    (members, 1, 3, 0),
                    only="a user",
                )

    def test_threads_of_several_callers(self):
        before = threads_of_the_user()
        # 4 callers with 4 members each need 16 threads. The pthreads of members stay when their
        # caller ends, as do Weft's own OS threads: they end when the program's next pthread_create
        # is refused. libgomp's threads stay for a moment, so they are sometimes still there.
        harts = len(os.sched_getaffinity(0))
        for more in [16, 17]:
            self.no_worse(
                "threads", f"-u {more}", limit(resource.RLIMIT_NPROC, before + more), (4, 4, 3, 0), only="a user"
            )
        for more in [16 + harts + 1, 16 + harts + 5, 40 + 2 * harts]:
            self.works(f"-u {more}", before + more, [self.program, 4, 4, 3, 0], self.result((4, 4, 3, 0)))

    def test_threads_of_teams_within_teams(self):
        before = threads_of_the_user()
        # A member that grows a team of its own runs on one of Weft's OS threads meanwhile, beside
        # the OS threads of all members.
        harts = len(os.sched_getaffinity(0))
        for more in [16 + harts + 1, 16 + harts + 5]:
            self.works(f"-u {more}", before + more, [self.nested], "36\n")

    def test_stack(self):
        for KiB, percent in [(256, 0), (256, 50), (1024, 70), (8192, 80), (65536, 80)]:
            self.no_worse("stack", f"-s {KiB}", limit(resource.RLIMIT_STACK, KiB << 10), (8, 1, 2, percent))
        self.no_worse("stack", "-s unlimited", limit(resource.RLIMIT_STACK, resource.RLIM_INFINITY), (8, 1, 2, 50))

    def test_locked_memory(self):
        for KiB in [0, 64]:
            self.no_worse("locked", f"-l {KiB}", limit(resource.RLIMIT_MEMLOCK, KiB << 10))

    def test_open_files(self):
        for files in [4, 8]:
            self.no_worse("files", f"-n {files}", limit(resource.RLIMIT_NOFILE, files))

    def test_filtered_system_calls(self):
        self.no_worse("filter", "seccomp", filtered(unknown=False))
        self.no_worse("filter", "seccomp, old", filtered(unknown=True))

    def test_memory_of_a_cgroup(self):
        MiB = 48 << 20
        with group("memory", {"first": {"memory.limit_in_bytes": MiB}, "second": {"memory.max": MiB}}) as enter:
            self.no_worse("cgroup memory", "48 MiB", enter)

    def test_threads_of_a_cgroup(self):
        for members, most in [(2, 2), (4, 4), (8, 8), (8, 9), (8, 12), (8, 20), (4, 3)]:
            with group("pids", {version: {"pids.max": most} for version in ["first", "second"]}) as enter:
                self.no_worse("cgroup pids", f"{most} threads", enter, (members, 1, 3, 0))

    def test_a_read_only_root(self):
        self.no_worse("read-only root", "read-only", read_only)

    def test_without_proc(self):
        self.no_worse("no /proc", "no /proc", without("/proc"))

    def test_without_sys(self):
        self.no_worse("no /sys", "no /sys", without("/sys"))

    def under_several(self, command, options=(), heard=lambda plain, ours: plain.stderr == ours.stderr):
        """Programs of all kinds, under one limit of each sort."""
        limits = {
            "-v": limit(resource.RLIMIT_AS, 1 << 30),
            "-l": limit(resource.RLIMIT_MEMLOCK, 0),
            "seccomp": filtered(unknown=True),
            "read-only": read_only,
            "no /proc": without("/proc"),
            "no /sys": without("/sys"),
        }
        for what, prepare in limits.items():
            for name, become in users().items():
                with self.subTest(limit=what, user=name):
                    plain, ours = self.pair(command, prepare, become, options)
                    self.assertEqual((ours.returncode, ours.stdout), (plain.returncode, plain.stdout), ours.stderr)
                    self.assertTrue(heard(plain, ours), ours.stderr)

    def test_a_report_is_given_under_each(self):
        self.under_several([self.program, 8, 1, 3, 0], ["--report"], lambda plain, ours: "taken over" in ours.stderr)

    @unittest.skipIf(shutil.which("gm") is None, "there is no gm")
    def test_pictures(self):
        self.under_several(
            ["sh", "-c", "gm convert -size 400x300 gradient:red-blue -blur 0x3 -rotate 17 ppm:- | cksum"]
        )

    def test_eigenvalues(self):
        python = "/usr/bin/python3"  # Debian's Python, for which NumPy is packaged
        if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode != 0:
            self.skipTest("there is no NumPy")
        self.under_several(
            [
                python,
                "-c",
                "import numpy; print(numpy.linalg.eigvalsh(numpy.ones((150, 150)) + numpy.eye(150))[-1].round(6))",
            ]
        )


class Result(unittest.TextTestResult):
    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        SKIPPED.append(f"{test}: {reason}")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cc", default="gcc")
    OPTIONS, rest = parser.parse_known_args()
    ran = unittest.main(
        module="__main__",
        argv=[sys.argv[0], *rest],
        exit=False,
        testRunner=unittest.TextTestRunner(resultclass=Result, verbosity=2),
    )
    print(f"tried: {', '.join(sorted(TRIED)) or 'nothing'}; skipped: {len(SKIPPED)}")
    for line in SKIPPED:
        print(f"  skipped: {line}")
    missing = REQUIRED - TRIED if "-k" not in rest else set()
    if missing:
        print(f"must be tried and was not: {', '.join(sorted(missing))}")
    return 0 if ran.result.wasSuccessful() and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
