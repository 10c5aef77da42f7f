#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`weft info`, and misspelt names of variables: the name of each test states what a user sees.

    cmd/info_test.py --build build/release [--cc gcc] [-k WORDS]
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from run_test import clean

OPTIONS = None
# A program on Weft that forks, and then replaces itself; each part prints where it is.
TREE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.h>
static void runs(const char* where) {
    if (weft_init(NULL) != WEFT_OK || weft_finalize() != WEFT_OK) exit(1);
    printf("%s\\n", where);
    fflush(stdout);
}
int main(int count, char** arguments) {
    if (count > 1) {
        runs("replaced");
        return getenv("OF_THE_PROGRAM") == NULL || strcmp(getenv("OF_THE_PROGRAM"), "kept") != 0;
    }
    setenv("OF_THE_PROGRAM", "kept", 1);
    runs("first");
    runs("again");
    int status = 1;
    if (fork() == 0) {
        runs("forked");
        exit(0);
    }
    if (wait(&status) < 0 || status != 0) return 1;
    execl(arguments[0], arguments[0], "replaced", (char*)NULL);
    return 1;
}
"""
TREE_SAYS = "first\nagain\nforked\nreplaced\n"


def told(name, meant):
    return f"{name} is not a variable of Weft, and has no effect; is {meant} meant?"


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = pathlib.Path(OPTIONS.build).resolve()
        cls.weft = cls.build / "cmd" / "weft"

    def call(self, *arguments, env=None, **more):
        return subprocess.run(
            [str(argument) for argument in arguments],
            capture_output=True,
            text=True,
            timeout=60,
            env={**clean(), **(env or {})},
            **more,
        )

    def info(self, *options, env=None, **more):
        done = self.call(self.weft, "info", *options, env=env, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def settings(self, **more):
        """The value printed for each variable, and the output without the words that name the source of a value."""
        text = self.info(**more)
        shown = text.split("\nSettings")[1].split("\n\n")[0]
        rows = [line.split(None, 3) for line in shown.splitlines()[1:]]
        self.assertGreater(len(rows), 20)
        return {name: value for name, value, _, _ in rows}, re.sub(r" (environment|default    ) ", " ", text)


class Values(Case):
    def round_trip(self, **before):
        values, text = self.settings(env=before)
        for name, value in values.items():
            with self.subTest(name=name, value=value):
                again = self.settings(env={**before, name: value})[1]
                self.assertEqual(
                    again.replace(f"WEFT_STREAMS is {value}", f"the default is {value}"),
                    text.replace(f"WEFT_STREAMS is {value}", f"the default is {value}"),
                )
        self.assertEqual(self.call(self.weft, "info", "--check", env=values).stdout, "")
        self.assertEqual(self.settings(env=values)[0], values)

    def test_what_is_printed_can_be_set_and_says_what_held_before(self):
        self.round_trip()

    def test_so_can_what_others_than_the_defaults_are_printed_as(self):
        self.round_trip(WEFT_STREAMS="3", WEFT_RESCUE="all", WEFT_HARTS="1", WEFT_DUMP="USR1")

    def test_a_pool_and_a_scheduler_of_auto_are_those_that_fit(self):
        self.assertEqual(self.settings()[0]["WEFT_POOL"], "auto")
        self.assertEqual(self.settings()[0]["WEFT_SCHEDULER"], "auto")

    def test_off_is_no_file(self):
        with tempfile.TemporaryDirectory(prefix="weft-info-") as place:
            off = {"WEFT_TRACE": "off", "WEFT_COUNTERS": "off", "WEFT_REPORT": "off"}
            done = self.call(self.weft, "run", "--", self.build / "cmd" / "weft-info", env=off, cwd=place)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(os.listdir(place), [])


class Starts(Case):
    """The paragraph on streams."""

    def streams(self, **more):
        return self.info(**more).split("\nStreams\n")[1].split("\n\n")[0].splitlines()

    def test_as_many_streams_as_the_library_starts_and_why(self):
        default = self.settings()[0]["WEFT_STREAMS"]
        first = self.streams()[0]
        self.assertIn(f"the default is {default}", first)
        if default != "all":
            self.assertIn(f"weft_init(NULL) starts {default}: ", first)
        self.assertIn("weft_init(NULL) starts 3: WEFT_STREAMS is 3", self.streams(env={"WEFT_STREAMS": "3"})[0])

    def test_more_streams_than_harts(self):
        lines = self.streams(env={"WEFT_STREAMS": "64", "WEFT_HARTS": "1"})
        self.assertIn("starts 64: WEFT_STREAMS is 64", lines[0])
        self.assertIn("may use 1 of ", lines[1])
        self.assertIn("more streams than harts", lines[2])
        self.assertIn("the others sleep", lines[2])

    def test_a_machine_of_one_cpu(self):
        one = {"preexec_fn": lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})}
        lines = self.streams(env={"WEFT_STREAMS": "all"}, **one)
        self.assertEqual(
            lines,
            [
                "  weft_init(NULL) starts 1: WEFT_STREAMS is all, that is as many as there are harts",
                "  the process may use 1 of 1 hardware threads: its CPU set has no more",
            ],
        )

    def test_fewer_harts_by_a_variable(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one CPU")
        lines = self.streams(env={"WEFT_STREAMS": "all", "WEFT_HARTS": "1"})
        self.assertIn("starts 1: ", lines[0])
        self.assertIn("WEFT_HARTS says so", lines[1])

    def test_half_a_cpu_by_the_quota_of_a_cgroup(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one CPU")
        first = pathlib.Path("/sys/fs/cgroup/cpu")
        root = first if first.is_dir() else pathlib.Path("/sys/fs/cgroup")
        own = root / f"weft-info-{os.getpid()}"
        if not first.is_dir() and not (root / "cgroup.subtree_control").is_file():
            self.skipTest("there are no cgroups")
        try:
            own.mkdir()
            self.addCleanup(own.rmdir)
            for name, value in (
                {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}.items()
                if first.is_dir()
                else {"cpu.max": "50000 100000"}.items()
            ):
                (own / name).write_text(value)
        except OSError as error:
            self.skipTest(f"no quota can be set: {error}")
        enter = {"preexec_fn": lambda: (own / "cgroup.procs").write_text(str(os.getpid()))}
        lines = self.streams(env={"WEFT_STREAMS": "all"}, **enter)
        self.assertIn("starts 1: WEFT_STREAMS is all", lines[0])
        self.assertIn("the CPU quota of a cgroup allows no more", lines[1])


class Misspelt(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = tempfile.TemporaryDirectory(prefix="weft-info-")
        cls.addClassCleanup(place.cleanup)
        cls.tree = pathlib.Path(place.name) / "tree"
        source = cls.tree.with_suffix(".c")
        source.write_text(TREE)
        include = pathlib.Path(__file__).resolve().parent.parent / "include"
        subprocess.run(
            [
                OPTIONS.cc,
                "-O1",
                f"-I{include}",
                source,
                "-o",
                cls.tree,
                f"-L{cls.build}",
                f"-Wl,-rpath,{cls.build}",
                "-lweft",
            ],
            check=True,
        )

    def test_a_program_on_weft_says_so_once_for_itself_and_its_children(self):
        done = self.call(self.tree, env={"WEFT_STEAMS": "4"})
        self.assertEqual((done.returncode, done.stdout), (0, TREE_SAYS))
        self.assertEqual(done.stderr, f"weft: {told('WEFT_STEAMS', 'WEFT_STREAMS')}\n")

    def test_weft_run_says_so_once_for_all_that_it_starts(self):
        done = self.call(
            self.weft,
            "run",
            "--",
            self.weft,
            "run",
            "--",
            "sh",
            "-c",
            f"{self.tree} && {self.weft} run -- {self.tree}",
            env={"WEFT_STEAMS": "4"},
        )
        self.assertEqual((done.returncode, done.stdout), (0, 2 * TREE_SAYS))
        self.assertEqual(done.stderr, f"weft run: {told('WEFT_STEAMS', 'WEFT_STREAMS')}\n")

    def test_a_child_says_only_what_is_new(self):
        done = self.call(self.weft, "run", "--", "sh", "-c", f"WEFT_HART=2 {self.tree}", env={"WEFT_STEAMS": "4"})
        self.assertEqual((done.returncode, done.stdout), (0, TREE_SAYS))
        self.assertEqual(
            done.stderr.splitlines(),
            [f"weft run: {told('WEFT_STEAMS', 'WEFT_STREAMS')}", f"weft: {told('WEFT_HART', 'WEFT_HARTS')}"],
        )

    def test_the_program_runs_and_finds_the_variable(self):
        done = self.call(self.weft, "run", "--", "printenv", "WEFT_STEAMS", env={"WEFT_STEAMS": "4"})
        self.assertEqual((done.returncode, done.stdout), (0, "4\n"))

    def test_beside_a_value_that_is_not_legal_it_is_told_too(self):
        done = self.call(self.weft, "run", "--", "true", env={"WEFT_STEAMS": "4", "WEFT_HARTS": "many"})
        self.assertEqual(done.returncode, 125)
        self.assertEqual(
            done.stderr.splitlines(),
            [
                "weft run: WEFT_HARTS is 'many'; legal are: all, or a number from 0 to 1024",
                f"weft run: {told('WEFT_STEAMS', 'WEFT_STREAMS')}",
            ],
        )

    def test_names_within_two_letters_are_doubted_and_others_are_somebody_elses(self):
        near = {
            "WEFT_STRAEMS": "WEFT_STREAMS",
            "WEFT_NEIGHBORS": "WEFT_NEIGHBOURS",
            "WEFT_NEIGHBRS": "WEFT_NEIGHBOURS",
            "WEFT_RESUCE": "WEFT_RESCUE",
            "WEFT_STACK_BYTE": "WEFT_STACK_BYTES",
            "WEFT_OMP_MAX_THREAD": "WEFT_OMP_MAX_THREADS",
            "WEFT_BLAS_THREAD": "WEFT_BLAS_THREADS",
            "WEFT_REPORTS": "WEFT_REPORT",
            "WEFT_CHEKED": "WEFT_CHECKED",
            "WEFT_CHILDREN_PRELOADS": "WEFT_CHILDREN_PRELOAD",
        }
        far = [
            "WEFT_NEIGHRS",
            "WEFT_OF_ANOTHER_PROJECT",
            "WEFT_",
            "WEFT_HOME",
            "WEFT_SCHEDULER_STACK",
            "weft_streams",
            "A_WEFT_STEAMS",
            "WEFT_" + 100 * "X",
        ]
        text = self.info("--check", env=dict.fromkeys([*near, *far], "1"))
        self.assertEqual(sorted(text.splitlines()), sorted(told(name, meant) for name, meant in near.items()))

    def test_names_that_weft_has_for_itself_and_its_tests_are_not_doubted(self):
        own = [
            "WEFT_REPORT_OF",
            "WEFT_REPORT_FORMAT",
            "WEFT_REPORT_SPOOL",
            "WEFT_TOLD_OF",
            "WEFT_SEED",
            "WEFT_TEST_SEED",
            "WEFT_CHECKED",
            "WEFT_CHILDREN_PRELOAD",
        ]
        self.assertEqual(self.info("--check", env=dict.fromkeys(own, "1")), "")

    def test_an_illegal_word_of_the_commands_own_is_told(self):
        told = self.call(self.weft, "info", "--check", env={"WEFT_CHECKED": "maybe"})
        self.assertEqual(told.returncode, 1)
        self.assertEqual(told.stdout, "WEFT_CHECKED is 'maybe'; legal are: 1, on, 0, off\n")

    def test_weft_info_says_it_beside_what_is_set(self):
        self.assertIn(
            f"  {told('WEFT_STEAMS', 'WEFT_STREAMS')}\n",
            self.info(env={"WEFT_STEAMS": "4"}).split("Other variables")[1],
        )


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cc", default="gcc")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
