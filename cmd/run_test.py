#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`weft run`: the name of each test states what a user sees.

    cmd/run_test.py --build build/release [--cc gcc] [-k WORDS]
"""
import argparse
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None
REGION = """
#include <stdio.h>
#include <omp.h>
int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    printf("%d\\n", sum);
    return sum == 10 ? 0 : 1;
}
"""

# Each task handles an exception while other tasks, on the same OS threads, handle theirs.
LATE_LIBRARY = """
#include <exception>
extern "C" int caught(int* left) {
    int count = 0, still = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int mine = 0; mine < 800; ++mine) {
#pragma omp task firstprivate(mine) shared(count, still)
        {
            int same = 0;
            try {
                throw mine;
            } catch (int) {
                for (int turn = 0; turn < 3; ++turn) {
#pragma omp taskyield
                }
                try {
                    std::rethrow_exception(std::current_exception());
                } catch (int again) {
                    same = again == mine;
                }
            }
            const int held = std::uncaught_exceptions() != 0 || std::current_exception() != nullptr;
#pragma omp atomic
            count += same;
#pragma omp atomic
            still += held;
        }
    }
    *left = still;
    return count;
}
"""
LATE_PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int sum = 0, left = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
    sum += 1;
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || sum != 8) return puts(dlerror());
    int (*caught)(int*) = (int (*)(int*))dlsym(library, "caught");
    int count = caught(&left);
    printf("%d %d\\n", count, left);
    return 0;
}
"""
# Stand for oneTBB, for the library before it, and for a library that has workers for TBB.
ONETBB = 'int execute(void) __asm__("_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE");\n'
ONETBB += "int execute(void) { return 0; }\n"
OLD_TBB = "int TBB_runtime_interface_version(void) { return 11103; }\n"
IRML = """
int __RML_open_factory(void* factory, unsigned* server, unsigned client) { return 2; }   /* not found */
void __RML_close_factory(void* factory) {}
int __TBB_make_rml_server(void* factory, void** server, void* client) { return 2; }
void __TBB_call_with_my_server_info(void (*call)(void*, const char*), void* argument) {}
"""

# Stands for an OpenBLAS with threads of its own: begin() starts one, as OpenBLAS does when it is
# loaded.
OWN_BLAS = """
#include <pthread.h>
static volatile int number = 4;
int NAME(openblas_get_num_threads)(void) { return number; }
void NAME(goto_set_num_threads)(int count) { number = count; }
int number_now(void) { return number; }
static void* work(void* unused) { return unused; }
void begin(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
"""
# How many jobs of a call others have run: none, or both.
NO_JOBS = "int call(void) { return 0; }\n"
JOBS = """
#include <stddef.h>
typedef void (*Job)(int, void*, int);
typedef void (*Callback)(int, Job, int, size_t, void*, int);
Callback openblas_threads_callback_;
void NAME(openblas_set_threads_callback_function)(Callback callback) { openblas_threads_callback_ = callback; }
const char* NAME(openblas_get_config)(void) { return "OpenBLAS MAX_THREADS=4"; }
int NAME(exec_blas)(long count, void* jobs) { return 0; }
static void job(int worker, void* done, int extra) { *(int*)done = 1; }
int call(void) {
    int done[2] = {0, 0};
    if (openblas_threads_callback_) openblas_threads_callback_(1, job, 2, sizeof *done, done, 0);
    return done[0] + done[1];
}
"""


def own_blas(jobs, before="", behind=""):
    """The text of one whose functions have these names, as wheels give them."""
    name = "##".join(part for part in (before, "name", behind) if part)
    return f"#define NAME(name) {name}\n" + OWN_BLAS + jobs


def clean():
    """The environment without the variables that would change the outcome."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WEFT_", "OMP_", "GOMP_", "LD_")) and name != "GLIBC_TUNABLES"
    }


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = pathlib.Path(OPTIONS.build).resolve()
        cls.weft = cls.build / "cmd" / "weft"
        cls.openmp = str(cls.build / "bridge" / "openmp" / "libgomp.so.1")
        cls.pthread = str(next((cls.build / "bridge" / "pthread").glob("libweft_pthread.so.?.?")))
        cls.openblas = str(next((cls.build / "bridge" / "openblas").glob("libweft_openblas.so.?.?"), ""))
        cls.tbb = str(next((cls.build / "bridge" / "tbb").glob("libweft_tbb.so.?.?")))

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="weft-run-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def call(self, *arguments, env=None, weft=None, **more):
        return subprocess.run(
            [str(weft or self.weft), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=60,
            env={**clean(), **(env or {})},
            **more,
        )

    def environment(self, *options, env=None, weft=None):
        """The variables that a program sees."""
        done = self.call("run", *options, "--", "env", "-0", env=env, weft=weft)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(pair.split("=", 1) for pair in done.stdout.split("\0") if pair)

    def compile(self, text, *flags, name="program", compiler=None):
        source, program = self.place / f"{name}.c", self.place / name
        source.write_text(text)
        subprocess.run([compiler or OPTIONS.cc, "-O1", source, "-o", program, *flags], check=True)
        return program

    def library(self, soname, text):
        """A library of that SONAME, which the loader finds for programs that are linked with it."""
        return self.compile(text, "-shared", "-fPIC", f"-Wl,-soname,{soname}", name=soname)

    def linked(self, *libraries, text="int main(void) { return 0; }"):
        """A program that needs these libraries."""
        return self.compile(text, "-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{self.place}")

    def script(self, name, text):
        path = self.place / name
        path.write_text(text)
        path.chmod(0o755)
        return path


class Program(Case):
    def test_its_output_arguments_and_status_are_its_own(self):
        done = self.call(
            "run", "--", "sh", "-c", 'printf "%s|" "$@"; echo oops >&2; exit 7', "sh", "a b", "", "--report"
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "a b||--report|", "oops\n"))

    def test_the_two_dashes_may_be_left_out(self):
        self.assertEqual(self.call("run", "echo", "--harts").stdout, "--harts\n")

    def test_it_is_the_process_that_was_started(self):
        process = subprocess.Popen(
            [self.weft, "run", "--", "sh", "-c", "echo $$"], stdout=subprocess.PIPE, text=True, env=clean()
        )
        self.assertEqual(int(process.communicate(timeout=60)[0]), process.pid)

    def test_a_signal_ends_it_as_it_would(self):
        self.assertEqual(self.call("run", "--", "sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)

    def test_signals_that_are_ignored_stay_so(self):
        done = self.call(
            "run",
            "--",
            "sh",
            "-c",
            "kill -HUP $$; echo alive",
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        )
        self.assertEqual(done.stdout, "alive\n")

    def test_its_standard_input_is_untouched(self):
        self.assertEqual(self.call("run", "--", "cat", input="a line\nno end").stdout, "a line\nno end")

    def test_no_descriptor_is_left_open(self):
        plain = subprocess.run(["ls", "/proc/self/fd"], capture_output=True, text=True, env=clean()).stdout
        self.assertEqual(self.call("run", "--", "ls", "/proc/self/fd").stdout, plain)

    def test_it_is_found_in_the_path_and_by_relative_names(self):
        self.script("here", "#!/bin/sh\necho here\n")
        self.assertEqual(self.call("run", "--", "./here", cwd=self.place).stdout, "here\n")
        self.assertEqual(self.call("run", "--", "here", env={"PATH": f"/nowhere:{self.place}"}).stdout, "here\n")
        self.assertEqual(
            self.call("run", "--", "here", env={"PATH": ""}, cwd=self.place).stdout, "here\n"
        )  # an empty part is the current folder

    def test_a_name_with_spaces_is_one_name(self):
        self.assertEqual(
            self.call("run", "--", self.script("a name: two", "#!/bin/sh\necho spaces\n")).stdout, "spaces\n"
        )

    def test_a_script_without_an_interpreter_is_the_shells(self):
        self.assertEqual(self.call("run", "--", self.script("bare", "echo bare\n")).stdout, "bare\n")

    def test_one_that_is_not_there_ends_with_127(self):
        done = self.call("run", "--", "no-such-program")
        self.assertEqual(
            (done.returncode, done.stderr), (127, "weft run: no-such-program: No such file or directory\n")
        )
        self.assertEqual(self.call("run", "--", "./no/such/program").returncode, 127)
        self.assertEqual(self.call("run", "--", "").returncode, 127)

    def test_one_that_cannot_be_executed_ends_with_126(self):
        plain = self.place / "plain"
        plain.write_text("text")
        self.assertEqual(self.call("run", "--", plain).returncode, 126)
        self.assertEqual(self.call("run", "--", self.place).returncode, 126)
        done = self.call("run", "--", self.script("lost", "#!/no/such/interpreter\n"))
        self.assertEqual(done.returncode, 126)
        self.assertIn("interpreter", done.stderr)

    def test_a_folder_that_nobody_may_write_to_is_enough(self):
        program = self.compile(REGION, "-fopenmp")
        self.place.chmod(0o555)
        self.addCleanup(self.place.chmod, 0o755)
        done = self.call("run", "--", program, cwd="/proc")
        self.assertEqual((done.returncode, done.stdout), (0, "10\n"), done.stderr)
        self.assertEqual(sorted(path.name for path in self.place.iterdir()), ["program", "program.c"])


class Options(Case):
    def test_a_wrong_value_is_refused_with_the_legal_ones(self):
        for arguments, said in [
            (["--harts", "many"], "--harts is 'many'; legal are: a number from 0 to 1024"),
            (["--harts=-1"], "--harts is '-1'"),
            (["--harts", "9999"], "--harts is '9999'"),
            (["--harts", "2x"], "--harts is '2x'"),
            (["--openmp=llvm"], "--openmp is 'llvm'; legal are: weft, native"),
            (["--tbb=on"], "--tbb is 'on'; legal are: weft, native"),
            (["--tbb", "--", "true"], "--tbb is '--'; legal are: weft, native"),
            (["--blas=off"], "--blas is 'off'; legal are: weft, native"),
            (["--blas", "--", "true"], "--blas is '--'; legal are: weft, native"),
            (["--guests", "all"], "--guests is 'all'; legal are: admit, leave"),
            (["--report="], "--report= names no file"),
            (["--sparta"], "there is no option '--sparta'"),
        ]:
            done = self.call("run", *arguments, "--", "true")
            self.assertEqual(done.returncode, 125, arguments)
            self.assertIn(said, done.stderr)

    def test_no_program_is_refused(self):
        for arguments in [["run"], ["run", "--"], ["run", "--harts", "1"]]:
            done = self.call(*arguments)
            self.assertEqual(done.returncode, 125)
            self.assertIn("no program is named", done.stderr)

    def test_they_reach_the_libraries_as_variables(self):
        trace = f"{self.place}/out.json"
        seen = self.environment("--harts", "3", "--no-rescue", "--guests=admit", "--trace", trace)
        said = [seen.get(f"WEFT_{name}") for name in ["HARTS", "RESCUE", "GUESTS", "TRACE"]]
        self.assertEqual(said, ["3", "off", "admit", trace])

    def test_what_is_not_given_is_left_to_the_environment(self):
        seen = self.environment(env={"WEFT_GUESTS": "admit"})
        self.assertEqual(seen["WEFT_GUESTS"], "admit")
        self.assertFalse({"WEFT_HARTS", "WEFT_RESCUE", "WEFT_TRACE", "WEFT_REPORT", "LD_LIBRARY_PATH"} & set(seen))

    def test_a_relative_file_of_a_trace_stays_where_it_was_meant(self):
        done = self.call("run", "--trace", "out.json", "--", "sh", "-c", "cd /; echo $WEFT_TRACE", cwd=self.place)
        self.assertEqual(done.stdout, f"{self.place.resolve()}/out.json\n")

    def test_help_and_version_are_written_to_standard_output(self):
        self.assertIn("weft run [OPTIONS]", self.call("--help").stdout)
        self.assertIn("--no-rescue", self.call("run", "--help").stdout)
        self.assertRegex(self.call("--version").stdout, r"^weft \d+\.\d+\.\d+\n$")
        done = self.call("walk")
        self.assertEqual((done.returncode, done.stdout), (125, ""))


class Refused(Case):
    """What is reported before the program starts."""

    def refused(self, *options, env=None, **more):
        done = self.call("run", *options, "--", "echo", "started", env=env, **more)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("weft run: "), line)
        return done.stderr

    def test_each_variable_with_a_value_that_is_not_legal_is_named_with_those_that_are(self):
        told = self.refused(env={"WEFT_HARTS": "many"})
        self.assertEqual(told, "weft run: WEFT_HARTS is 'many'; legal are: all, or a number from 0 to 1024\n")
        wrong = {
            "WEFT_STREAMS": "0",
            "WEFT_GUARD": "wall",
            "WEFT_RESCUE": "maybe",
            "WEFT_COUNTERS": "somewhere",
            "WEFT_GUESTS": "all",
            "WEFT_OMP_TASK_KIND": "rtc",
            "WEFT_OMP_MAX_THREADS": "few",
            "WEFT_BLAS_THREADS": "one",
        }
        told = self.refused(env=wrong).splitlines()
        self.assertEqual(len(told), len(wrong), told)
        for name, value in wrong.items():
            begin = f"weft run: {name} is '{value}'; legal are: "
            self.assertEqual(sum(line.startswith(begin) for line in told), 1, told)

    def test_all_that_weft_info_lists_is_checked(self):
        shown = self.call("info").stdout.split("Settings")[1].split("Other variables")[0]
        names = {line.split()[0] for line in shown.splitlines() if line.startswith("  WEFT_")}
        names -= {"WEFT_REPORT", "WEFT_TRACE"}  # files
        self.assertGreater(len(names), 20)
        for name in names:
            self.assertIn(f"weft run: {name} is '~'", self.refused(env={name: "~"}))

    def test_values_that_are_legal_are_the_programs(self):
        right = {
            "WEFT_HARTS": "2",
            "WEFT_GUESTS": "admit",
            "WEFT_OMP_TASK_KIND": " Full",
            "WEFT_BLAS_THREADS": "full ",
            "WEFT_RESCUE": "off",
            "WEFT_OF_ANOTHER_PROJECT": "~",
        }
        seen = self.environment(env=right)
        self.assertEqual({name: seen.get(name) for name in right}, right)

    def test_an_option_wins_over_a_variable_that_is_wrong(self):
        self.assertEqual(self.environment("--harts", "1", env={"WEFT_HARTS": "many"})["WEFT_HARTS"], "1")

    def test_signals_that_are_ignored_stay_so_behind_the_check(self):
        done = self.call(
            "run",
            "--",
            "grep",
            "SigIgn",
            "/proc/self/status",
            env={"WEFT_HARTS": "1"},
            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        )
        self.assertEqual(int(done.stdout.split()[1], 16) >> (signal.SIGCHLD - 1) & 1, 1, done.stdout)

    def test_a_trace_that_cannot_be_written(self):
        told = self.refused("--trace", "/no/such/t.json")
        self.assertEqual(
            told,
            "weft run: the trace cannot be written to '/no/such/t.json': No such file or directory; "
            "name another file (--trace)\n",
        )
        told = self.refused(env={"WEFT_TRACE": str(self.place)})
        self.assertIn(f"'{self.place}': Is a directory; name another file (WEFT_TRACE)", told)
        self.assertIn("(WEFT_TRACE)", self.refused(env={"WEFT_TRACE": ""}))
        self.assertEqual(self.call("run", "--trace", self.place / "new.json", "--", "true").returncode, 0)
        self.assertEqual(list(self.place.iterdir()), [])  # only checked: nothing ran that could be traced

    def test_a_trace_that_is_there_is_not_touched_by_the_check(self):
        kept = self.place / "kept.json"
        kept.write_text("of an earlier run")
        self.assertEqual(self.call("run", "--trace", kept, "--", "true").returncode, 0)
        self.assertEqual(kept.read_text(), "of an earlier run")

    def test_a_report_or_counters_that_cannot_be_written(self):
        self.assertIn("the report cannot be written to '/no/such/r'", self.refused("--report=/no/such/r"))
        told = self.refused(env={"WEFT_REPORT": "/no/such/r"})
        self.assertIn("the report cannot be written to '/no/such/r': No such file or directory", told)
        self.assertIn("name another file (WEFT_REPORT)", told)
        told = self.refused(env={"WEFT_COUNTERS": "/no/such/c"})
        self.assertIn("the counters cannot be written to '/no/such/c'", told)

    def test_a_run_that_is_refused_keeps_the_report_of_an_earlier_one(self):
        kept = self.place / "kept"
        kept.write_text("of an earlier run")
        self.assertIn("WEFT_HARTS is 'many'", self.refused(f"--report={kept}", env={"WEFT_HARTS": "many"}))
        self.assertEqual(kept.read_text(), "of an earlier run")

    def test_a_folder_that_may_not_be_written(self):
        nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        self.place.chmod(0o555)
        try:
            self.call("--version", **nobody)
        except PermissionError:
            self.skipTest("another user cannot run what was built here")
        self.assertIn("Permission denied", self.refused("--trace", self.place / "t.json", **nobody))

    def test_a_check_that_the_system_refuses_stops_nothing(self):
        def no_memory():
            resource.setrlimit(resource.RLIMIT_AS, (6 << 20, 6 << 20))  # enough for the command, not for the check

        done = self.call("run", "--", self.weft, "--version", env={"WEFT_HARTS": "1"}, preexec_fn=no_memory)
        self.assertEqual(done.returncode, 0)
        # Nothing is reported about the settings; that the address space is too small for Weft is
        # reported once.
        self.assertRegex(done.stderr, r"\Aweft run: the address space is limited to 6144 KiB [^\n]*\n\Z")
        self.assertTrue(done.stdout.startswith("weft "))

    def test_a_check_that_is_not_installed_is_named(self):
        root = Installed.copy(self, "part")
        done = self.call("run", "--", "true", weft=root / "cmd" / "weft", env={"WEFT_HARTS": "1"})
        self.assertEqual(done.returncode, 125)
        self.assertIn("weft-info' cannot be run: No such file or directory", done.stderr)


SANITIZED = """
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn, raced;
static int often;
static void *plays(void *mine) {
    for (int i = 0; i < 50; ++i) {
        pthread_mutex_lock(&mutex);
        while (turn != (int)(long)mine) pthread_cond_wait(&condition, &mutex);
        turn = !turn;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
        if (often) ++raced;
    }
    return NULL;
}
int main(int argc, char **argv) {
    const char wrong = argc > 1 ? argv[1][0] : 0;
    often = wrong == 'r';
    pthread_t threads[2];
    for (long i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, plays, (void *)i);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    int sum = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(4) reduction(+ : sum)
#endif
    {
        char *mine = malloc(8);
        mine[0] = 1;
        sum += mine[0];
        free(mine);
    }
    volatile char *volatile memory = malloc(10);
    memory[0] = 0;
    if (wrong == 'l') memory = NULL;
    if (wrong == 's') memory[0] = 1 << (31 + argc) & 7;
    if (wrong != 'l') free((void *)memory);
    printf("%d\\n", sum + (wrong == 'f' ? memory[0] : 0));
    return 0;
}
"""
CLANG = shutil.which("clang")


class SanitizedCase(Case):
    """Programs built with a sanitizer print and find the same as without `weft run`."""

    @staticmethod
    def file_of(compiler, name):
        asked = [compiler, f"-print-file-name={name}"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()

    def build_with(self, compiler, *flags):
        return self.compile(SANITIZED, "-g", "-pthread", *flags, compiler=compiler, name="sanitized")

    @staticmethod
    def summary(text):
        return [line for line in text.splitlines() if line.startswith("SUMMARY")]

    def alike(self, program, wrong, finds, env=None, before=()):
        """Runs the same with and without `weft run`; if there is an error both report it, by the same name."""
        command = [*before, program, *([wrong] if wrong else [])]
        plain = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=60, env={**clean(), **(env or {})}
        )
        done = self.call("run", "--", *command, env=env)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
        self.assertNotIn("does not come first", done.stderr)
        self.assertIn(finds, done.stderr)
        self.assertEqual(self.summary(done.stderr), self.summary(plain.stderr))
        self.assertEqual(done.stderr == "", plain.stderr == "", done.stderr)

    def address(self, compiler, *flags):
        for openmp in [[], ["-fopenmp"]]:
            program = self.build_with(compiler, "-fsanitize=address", *flags, *openmp)
            self.alike(program, "", "")
            self.alike(program, "f", "heap-use-after-free")
            self.alike(program, "l", "10 byte(s) leaked")


class Sanitizers(SanitizedCase):
    def test_address_of_gcc(self):
        self.address(OPTIONS.cc)

    def test_address_where_something_else_starts_the_program(self):
        program = self.build_with(OPTIONS.cc, "-fsanitize=address", "-fopenmp")
        python = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
        (self.place / "CTestTestfile.cmake").write_text(f'add_test(one "{program}")\n')
        for before in [
            ["sh", "-c", '"$@"', "sh"],
            [sys.executable, "-c", python],
            ["env", "-u", "ASAN_OPTIONS"],
            ["env", "ASAN_OPTIONS=abort_on_error=0"],
        ]:
            self.alike(program, "", "", before=before)
            self.alike(program, "f", "heap-use-after-free", before=before)
        done = self.call("run", "--", "ctest", cwd=self.place)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_thread_without_openmp(self):
        for compiler in filter(None, [OPTIONS.cc, CLANG]):
            program = self.build_with(compiler, "-fsanitize=thread")
            self.alike(program, "", "")
            self.alike(program, "r", "data race")


class SanitizersInFull(SanitizedCase):
    """Tests that take longer: other compilers, and options that are set in several places."""

    def setUp(self):
        if not OPTIONS.full:
            self.skipTest("of the full tests (--full)")
        super().setUp()

    @unittest.skipIf(CLANG is None, "there is no clang")
    def test_address_of_clang_static_and_shared(self):
        self.address(CLANG)
        runtime = self.file_of(CLANG, f"libclang_rt.asan-{os.uname().machine}.so")
        self.address(CLANG, "-shared-libasan", f"-Wl,-rpath,{os.path.dirname(runtime)}")

    def test_address_with_options_of_the_users_and_of_the_programs(self):
        program = self.build_with(OPTIONS.cc, "-fsanitize=address", "-fopenmp")
        self.alike(program, "f", "heap-use-after-free", env={"ASAN_OPTIONS": "exitcode=7:color=never"})
        seen = self.environment(env={"ASAN_OPTIONS": "exitcode=7"})
        self.assertEqual(seen["ASAN_OPTIONS"], "exitcode=7:verify_asan_link_order=0")
        said = self.environment(env={"ASAN_OPTIONS": "verify_asan_link_order=1"})
        self.assertEqual(said["ASAN_OPTIONS"], "verify_asan_link_order=1")
        twice = self.call("run", "--", self.weft, "run", "--", "sh", "-c", "echo $ASAN_OPTIONS").stdout
        self.assertEqual(twice, "verify_asan_link_order=0\n")
        own = 'const char *__asan_default_options(void) { return "exitcode=9"; }\n'
        program = self.compile(SANITIZED + own, "-pthread", "-fsanitize=address", "-fopenmp", name="own")
        self.alike(program, "f", "heap-use-after-free")
        library = self.place / "options.c"
        library.write_text(own)
        subprocess.run([OPTIONS.cc, "-shared", "-fPIC", "-o", self.place / "liboptions.so", library], check=True)
        link = ["-Wl,--no-as-needed", f"-L{self.place}", "-loptions", f"-Wl,-rpath,{self.place}"]
        program = self.build_with(OPTIONS.cc, "-fsanitize=address", *link)
        self.alike(program, "f", "heap-use-after-free", before=["env", "-u", "ASAN_OPTIONS"])

    def test_a_preloaded_runtime_of_the_users(self):
        env = {"LD_PRELOAD": self.file_of(OPTIONS.cc, "libasan.so"), "ASAN_OPTIONS": "detect_leaks=0"}
        done = self.call("run", "--", "sh", "-c", "echo here", env=env)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "here\n", ""))

    def test_leak_and_undefined(self):
        for compiler in filter(None, [OPTIONS.cc, CLANG]):
            program = self.build_with(compiler, "-fsanitize=leak", "-fopenmp")
            self.alike(program, "", "")
            self.alike(program, "l", "10 byte(s) leaked")
            program = self.build_with(compiler, "-fsanitize=undefined", "-fopenmp")
            self.alike(program, "", "")
            self.alike(program, "s", "runtime error: shift exponent")


CRASH = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *page;
static void ends(int signal) { _exit(3); }
static void gives_up(int number) { signal(number, SIG_DFL); }
static void repairs(int signal) { mprotect(page, 8192, PROT_READ | PROT_WRITE); }
static void nothing(void *self) {}
static void *registers_a_domain(void *none) {   /* and ends, which Weft cannot go on from */
    struct { size_t size; void (*calls[7])(void *); } ops = {sizeof ops, {nothing, nothing}};
    void *domain;
    ((int (*)(void *, void *, void **))dlsym(RTLD_DEFAULT, "weft_domain_register"))(&ops, NULL, &domain);
    return NULL;
}
static int is(const char *text, const char *word) { return strstr(text, word) != NULL; }

int main(int argc, char **argv) {
    const char *how = argv[1];
    if (is(how, "ends before")) signal(SIGSEGV, ends);
    if (is(how, "left to the kernel")) signal(SIGSEGV, gives_up);
    if (is(how, "repairs")) signal(SIGSEGV, repairs);
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    sum += 1;
    if (is(how, "ends after")) signal(SIGSEGV, ends);
    page = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*in_weft)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "weft_event_set");
    if (is(how, "own code")) *(volatile char *)page = 1;
    else if (is(how, "sent")) raise(SIGSEGV);
    else if (is(how, "gives itself up")) {
        pthread_t thread;
        pthread_create(&thread, NULL, registers_a_domain, NULL);
        pthread_join(thread, NULL);
    }
    else if (in_weft != NULL) in_weft(page);
    printf("went on %d\\n", sum);
    return 0;
}
"""


class Crashes(Case):
    """A fault in Weft's code is reported as Weft's, and then ends the process as it would have otherwise."""

    def crash(self, how, *command):
        program = self.compile(CRASH, "-fopenmp", "-ldl", name="crash")
        return self.call("run", "--", *command, program, how)

    IN_WEFT = r"^weft: SIGSEGV in Weft's own code: /.*/libweft\.so\.0\.7\+0x[0-9a-f]+, address 0x[0-9a-f]+$"

    def explained(self, text, what=IN_WEFT):
        lines = text.splitlines()
        self.assertEqual(len(lines), 3, text)
        self.assertRegex(lines[0], what)
        version = self.call("--version").stdout.split()[1]
        library = os.confstr("CS_GNU_LIBC_VERSION")
        self.assertIn(f"fault of Weft {version} ({library}, Linux {os.uname().release}): ", lines[1])
        self.assertIn("leave out `weft run`; `weft run --openmp=native`", lines[2])

    def test_one_in_weft_is_explained(self):
        done = self.crash("in Weft")
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGSEGV, ""))
        self.explained(done.stderr)

    def test_an_error_that_weft_gives_itself_up_for_is_explained(self):
        done = self.crash("gives itself up")
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGABRT, ""))
        self.explained(done.stderr, "^weft: an OS thread ends that has registered a domain, and not unregistered it$")

    def test_one_in_the_program_is_not(self):
        for how in ["own code", "sent"]:
            done = self.crash(how)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (-signal.SIGSEGV, "", ""))

    def test_a_handler_of_the_programs_has_the_last_word(self):
        for how in ["ends before", "ends after"]:
            done = self.crash(how)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "", ""))
        done = self.crash("repairs")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "went on 4\n", ""))

    def test_one_that_a_handler_gives_up_is_explained(self):
        done = self.crash("left to the kernel")
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.explained(done.stderr)

    def test_a_program_that_weft_run_has_not_started_is_told_nothing(self):
        program = self.compile(CRASH, "-fopenmp", "-ldl", name="crash")
        done = subprocess.run([program, "own code"], capture_output=True, text=True, env=clean())
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGSEGV, ""))

    def test_in_python_it_is_explained_unless_faulthandler_ends_the_process(self):
        library, source = self.place / "crash.so", self.place / "crash.c"
        source.write_text(CRASH)
        subprocess.run([OPTIONS.cc, "-O1", "-fopenmp", "-shared", "-fPIC", "-o", library, source], check=True)
        call = f"import ctypes; ctypes.CDLL('{library}').main(2, (ctypes.c_char_p * 3)(b'', b'in Weft', None))"
        done = self.call("run", "--", sys.executable, "-c", call)
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.explained(done.stderr)
        done = self.call("run", "--", sys.executable, "-X", "faulthandler", "-c", call)
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertTrue(done.stderr.startswith("Fatal Python error: Segmentation fault"), done.stderr)
        self.assertNotIn("weft: ", done.stderr)


class Preview(Case):
    """What is reported without a run."""

    def preview(self, *arguments, **more):
        done = self.call("run", "--preview", *arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def leaving_a_mark(self, *flags, name="program"):
        """A program with a region, which leaves a file when it is loaded, and prints when it runs."""
        mark = self.place / "mark"
        begun = f'__attribute__((constructor)) static void begun(void) {{ fclose(fopen("{mark}", "w")); }}\n'
        return self.compile(REGION + begun, "-fopenmp", *flags, name=name)

    def test_openmp_would_be_taken_over_and_nothing_runs(self):
        program = self.leaving_a_mark()
        shown = self.preview("--", program)
        self.assertEqual(
            shown,
            [
                f"weft run preview: {program}",
                f"  would be taken over: {program}: OpenMP of the GNU ABI, by {self.openmp}",
            ],
        )
        self.assertFalse((self.place / "mark").exists())
        self.assertEqual(self.call("run", "--", program).returncode, 0)
        self.assertTrue((self.place / "mark").exists())

    def test_native_openmp_would_be_left_alone(self):
        program = self.leaving_a_mark()
        shown = self.preview("--openmp=native", "--", program)
        self.assertIn(f"  would be left alone: {program}: OpenMP of the GNU ABI: --openmp=native", shown)
        self.assertRegex("\n".join(shown), r"left alone: /.*/libgomp\.so\.1[^:]*: a copy of libgomp: --openmp=native")

    def test_a_static_libgomp_would_be_left_alone(self):
        for strip in [[], ["-s"]]:
            program = self.leaving_a_mark("-Wl,-Bstatic", "-lgomp", "-Wl,-Bdynamic", *strip)
            shown = self.preview("--", program)
            if f"OpenMP of the GNU ABI, by {self.openmp}" in shown[1]:
                self.skipTest("the compiler links no static libgomp")
            what = "libgomp was linked into it statically: threads of its own"
            self.assertIn(f"  would be left alone: {program}: {what}", shown)

    def test_libraries_are_found_as_the_loader_finds_them(self):
        folder = self.place / "lib"
        folder.mkdir()
        source = folder / "team.c"
        source.write_text(REGION.replace("main", "team"))
        subprocess.run([OPTIONS.cc, "-fopenmp", "-shared", "-fPIC", "-o", folder / "libteam.so", source], check=True)
        text = "int team(void); int main(void) { return team(); }"
        flags = [f"-L{folder}", "-lteam", "-Wl,--disable-new-dtags"]
        by_origin = self.compile(text, *flags, "-Wl,-rpath,$ORIGIN/lib", name="origin")
        (self.place / "elsewhere").mkdir()
        link = self.place / "elsewhere" / "link"
        link.symlink_to(by_origin)
        for program in [by_origin, link]:
            shown = self.preview("--", program)
            self.assertIn(f"libteam.so: OpenMP of the GNU ABI, by {self.openmp}", shown[1])
        by_path = self.compile(text, *flags, name="path")
        shown = self.preview("--", by_path, env={"LD_LIBRARY_PATH": str(folder)})
        self.assertIn(f"  would be taken over: {folder}/libteam.so: OpenMP of the GNU ABI, by {self.openmp}", shown)
        shown = self.preview("--", by_path)
        self.assertTrue(shown[-1].startswith("  the loader /"), shown)
        self.assertIn("libteam.so: cannot open shared object file", shown[-1])
        self.assertIn("libteam.so: OpenMP", self.preview("--", "true", env={"LD_PRELOAD": f"{folder}/libteam.so"})[1])

    def test_what_loads_nothing_of_ours_is_out_of_reach(self):
        program = self.compile("int main(void) { return 3; }", "-static", name="still")
        what = "the program: it is linked statically: no loader runs; programs that it starts are reached"
        self.assertEqual(self.preview("--", program)[1:], ["  out of reach: " + what])
        if os.geteuid() == 0:
            program = self.leaving_a_mark(name="privileged")
            os.chown(program, 65534, 65534)
            program.chmod(0o4755)
            self.assertIn("out of reach: the program: it is set-user-id", self.preview("--", program)[1])

    def test_a_script_is_its_interpreter(self):
        script = self.script("script", "#!/bin/sh\necho ran\n")
        shown = self.preview("--", script)
        self.assertEqual(shown[1], "  a script: its interpreter is /bin/sh")
        self.assertEqual(shown[-1], "  only a run tells: which programs the script starts; each is reached, too")
        program = self.leaving_a_mark()
        by_env = self.script("by_env", f"#!/usr/bin/env {program.name}\n")
        shown = self.preview("--", by_env, env={"PATH": f"{self.place}:{os.environ['PATH']}"})
        self.assertEqual(shown[1], "  a script: its interpreter is /usr/bin/env")
        self.assertIn(f"  would be taken over: {program}: OpenMP of the GNU ABI, by {self.openmp}", shown)
        self.assertFalse((self.place / "mark").exists())

    def test_what_is_opened_later_and_threads_only_a_run_tells(self):
        text = (
            "#include <dlfcn.h>\n#include <pthread.h>\nvoid *body(void *p) { return p; }\n"
            "int main(int n, char **v) { pthread_t t; pthread_create(&t, 0, body, 0); return dlopen(v[1], 1) != 0; }"
        )
        program = self.compile(text, "-pthread", "-ldl")
        shown = self.preview("--guests=admit", "--", program)
        self.assertEqual(
            shown[1],
            f"  would be left alone: threads, if any are started by {program}: "
            "each would be admitted as a guest (--guests=admit)",
        )
        self.assertRegex(shown[2], f"^  only a run tells: which libraries are opened later, .* by {program};")

    @unittest.skipIf(CLANG is None, "there is no clang")
    def test_openmp_of_llvm_would_be_left_alone(self):
        try:
            program = self.compile(REGION, "-fopenmp", compiler=CLANG)
        except subprocess.CalledProcessError:
            self.skipTest("clang has no OpenMP here")
        shown = "\n".join(self.preview("--", program))
        self.assertRegex(shown, f"would be left alone: {program}: OpenMP of LLVM's ABI, which runs on /.*/libi?omp")
        self.assertRegex(shown, r"would be left alone: /.*/libi?omp[^:]*: LLVM's OpenMP runtime: threads of its own")

    def test_tbb_would_be_given_workers(self):
        tbb = self.library("libtbb.so.12", ONETBB)
        program = self.linked(tbb)
        self.assertIn(f"  would be taken over: {tbb}: TBB, by {self.tbb}", self.preview("--", program))
        left = f"  would be left alone: {tbb}: TBB: "
        self.assertIn(left + "--tbb=native", self.preview("--tbb", "native", "--", program))
        managed = "TCM_ENABLE=1: Intel's thread composability manager decides how many workers there are"
        self.assertIn(left + managed, self.preview("--", program, env={"TCM_ENABLE": "1"}))
        irml = self.library("libirml.so.1", IRML)
        self.assertIn(left + f"its workers are those of {irml}", self.preview("--", program))  # beside libtbb
        elsewhere = self.place / "elsewhere"
        elsewhere.mkdir()
        irml = irml.rename(elsewhere / irml.name)
        shown = self.preview("--", program, env={"LD_PRELOAD": str(irml)})
        self.assertIn(left + f"its workers are those of {irml}", shown)

    def test_tbb_before_onetbb_would_be_left_alone(self):
        tbb = self.library("libtbb.so.2", OLD_TBB)
        what = "TBB: a version before oneTBB, which has another interface"
        self.assertIn(f"  would be left alone: {tbb}: {what}", self.preview("--", self.linked(tbb)))

    def blas_preview(self, blas, *options, env=None):
        """The verdicts on an OpenBLAS with threads of its own."""
        if not self.openblas:
            self.skipTest("this build has no libweft_openblas")
        shown = self.preview(*options, "--", self.linked(blas), env=env)
        begin = "  would be "
        return [
            line.removeprefix(begin).replace(f": {blas}", "")
            for line in shown
            if line.startswith(begin) and str(blas) in line
        ]

    def test_jobs_of_an_openblas_would_run_on_weft_beside_openmp(self):
        follows, left = (
            "limited: OpenBLAS: fewer threads while others compute",
            "left alone: OpenBLAS: threads of its own",
        )
        full = {"WEFT_BLAS_THREADS": "full"}
        for before, behind in [("scipy_", "64_"), ("scipy_", "")]:
            blas = self.library("libblas.so.3", own_blas(JOBS, before, behind))
            self.assertEqual(self.blas_preview(blas), [follows + ", and its jobs run on Weft beside OpenMP"])
            self.assertEqual(
                self.blas_preview(blas, env=full), ["limited: OpenBLAS: its jobs run on Weft beside OpenMP"]
            )
            self.assertEqual(self.blas_preview(blas, "--openmp=native"), [follows])
            self.assertEqual(self.blas_preview(blas, "--blas=native"), [left + ": --blas=native"])

    def test_an_openblas_would_have_fewer_threads_while_others_compute(self):
        follows, left = (
            "limited: OpenBLAS: fewer threads while others compute",
            "left alone: OpenBLAS: threads of its own",
        )
        blas = self.library("libblas.so.3", own_blas(NO_JOBS))
        self.assertEqual(self.blas_preview(blas), [follows])
        self.assertEqual(
            self.blas_preview(blas, env={"WEFT_BLAS_THREADS": "full"}), [left + ": WEFT_BLAS_THREADS=full"]
        )
        self.assertEqual(self.blas_preview(blas, "--blas", "native"), [left + ": --blas=native"])
        guarded = "guarded: OpenBLAS: one call at a time computes in parallel, and callers that wait for it do not spin"
        blas = self.library(
            "libblas.so.3", own_blas(NO_JOBS) + "int exec_blas(long count, void* queue) { return 0; }\n"
        )
        self.assertEqual(self.blas_preview(blas), [guarded, follows])
        self.assertEqual(self.blas_preview(blas, "--blas=native"), [left + ": --blas=native"])
        blas = self.library("libopenblas.so.0", "#include <pthread.h>\nvoid* start = pthread_create;\n")
        self.assertEqual(self.blas_preview(blas), [left])  # it has no number of threads

    def test_nothing_is_said_to_be_nothing(self):
        self.assertEqual(self.preview("true")[1:], ["  nothing that the loader would load has OpenMP or threads"])

    def test_scripts_that_name_each_other_come_to_an_end(self):
        self.script("one", "#!/usr/bin/env one\n")
        self.preview("--", "one", env={"PATH": f"{self.place}:{os.environ['PATH']}"})

    def test_a_loader_that_is_not_the_systems_is_not_run(self):
        mark = self.place / "mark"
        loader = self.script("ld-linux-x86-64.so.2", f"#!/bin/sh\ntouch {mark}\n")
        loader = loader.rename(self.place / os.path.basename(self.loader()))
        program = self.leaving_a_mark(f"-Wl,--dynamic-linker={loader}")
        loader.chmod(0o777)
        shown = self.preview("--", program)
        self.assertIn(f"'{loader}' is not the system's, and was not asked", shown[-1])
        self.assertFalse(mark.exists())

    @staticmethod
    def loader():
        return "/lib/ld-linux-aarch64.so.1" if os.uname().machine == "aarch64" else "/lib64/ld-linux-x86-64.so.2"

    def test_a_program_that_could_not_be_run_has_the_status_of_a_run(self):
        self.assertEqual(self.call("run", "--preview", "--", "no-such-program").returncode, 127)
        self.assertEqual(self.call("run", "--preview", "--", "/etc/passwd").returncode, 126)
        self.assertEqual(self.call("run", "--preview").returncode, 125)


class Loader(Case):
    def preloaded(self, *options, env=None, weft=None):
        return self.environment(*options, env=env, weft=weft).get("LD_PRELOAD", "").split(":")

    def test_ours_come_first_and_then_what_the_user_had(self):
        self.assertEqual(self.preloaded()[:2], [self.openmp, self.pthread])
        self.assertEqual(self.preloaded(env={"LD_PRELOAD": "libm.so.6 libdl.so.2"})[-2:], ["libm.so.6", "libdl.so.2"])

    def test_native_openmp_is_not_taken_over(self):
        self.assertNotIn(self.openmp, self.preloaded("--openmp=native"))
        self.assertNotIn(self.openmp, self.preloaded("--openmp", "native", env={"LD_PRELOAD": self.openmp}))

    def test_native_tbb_is_not_taken_over(self):
        preloaded = self.preloaded()
        self.assertRegex(preloaded[preloaded.index(self.tbb) - 1], r"/libweft_openblas\.so|/libweft_pthread\.so")
        self.assertRegex(preloaded[preloaded.index(self.tbb) + 1], r"/libweft\.so")
        for options in (["--tbb=native"], ["--tbb", "native"], ["--tbb=weft", "--tbb=native"]):
            left = self.preloaded(*options, env={"LD_PRELOAD": self.tbb})
            self.assertEqual(left, [library for library in preloaded if library != self.tbb])
        self.assertEqual(self.preloaded("--tbb=weft"), preloaded)

    def test_native_openblas_is_not_taken_over(self):
        if not self.openblas:
            self.skipTest("this build has no libweft_openblas")
        preloaded = self.preloaded()
        for options in (["--blas=native"], ["--blas", "native"], ["--blas=weft", "--blas=native"]):
            left = self.preloaded(*options, env={"LD_PRELOAD": self.openblas})
            self.assertEqual(left, [library for library in preloaded if library != self.openblas])
        self.assertEqual(self.preloaded("--blas=weft"), preloaded)

    def test_the_numbers_of_threads_follow_the_load_unless_the_user_says_otherwise(self):
        openmp, blas = "WEFT_OMP_MAX_THREADS", "WEFT_BLAS_THREADS"
        for options, said in [
            ([], {openmp: "follow", blas: "follow"}),
            (["--openmp=native"], {blas: "follow"}),
            (["--blas=native"], {}),  # without the guard OpenBLAS' number may not change within calls
        ]:
            seen = self.environment(*options)
            self.assertEqual({name: seen[name] for name in (openmp, blas) if name in seen}, said)
        full = {openmp: "full", blas: "full"}
        self.assertLessEqual(full.items(), self.environment(env=full).items())
        follow = {openmp: "follow", blas: "follow"}
        self.assertLessEqual(follow.items(), self.environment("--blas=native", env=follow).items())

    def test_in_a_run_within_a_run_the_inner_options_hold(self):
        inner_ones = [["--tbb=native"], ["--blas=native"]]
        for outer, inner in [*((one, []) for one in inner_ones), *(([], one) for one in inner_ones)]:
            done = self.call("run", *outer, "--", self.weft, "run", *inner, "--", "env", "-0")
            seen = dict(pair.split("=", 1) for pair in done.stdout.split("\0") if pair)
            self.assertEqual(seen, self.environment(*inner))

    def test_run_within_run_is_one(self):
        once = self.environment()
        twice = self.call("run", "--", self.weft, "run", "--", self.weft, "run", "--", "env", "-0").stdout
        self.assertEqual(dict(pair.split("=", 1) for pair in twice.split("\0") if pair), once)

    def test_a_link_to_ours_is_ours(self):
        link = self.place / "libother.so"
        link.symlink_to(self.openmp)
        self.assertEqual(self.preloaded(env={"LD_PRELOAD": str(link)}), self.preloaded())

    def test_tunables_of_the_user_are_kept(self):
        self.assertEqual(self.environment()["GLIBC_TUNABLES"], "glibc.pthread.rseq=0")
        had = "glibc.malloc.check=0"
        self.assertEqual(self.environment(env={"GLIBC_TUNABLES": had})["GLIBC_TUNABLES"], had + ":glibc.pthread.rseq=0")
        had = "glibc.pthread.rseq=1"
        self.assertEqual(self.environment(env={"GLIBC_TUNABLES": had})["GLIBC_TUNABLES"], had)

    def test_openmp_runs_on_weft(self):
        program = self.compile(REGION, "-fopenmp")
        shown = self.call("run", "--", program, env={"LD_DEBUG": "files"}).stderr
        self.assertIn(f"calling init: {self.openmp}", shown)
        self.assertNotIn("x86_64-linux-gnu/libgomp.so.1", shown)

    def test_children_of_shells_and_of_python_are_reached(self):
        program = self.compile(REGION, "-fopenmp")
        started = self.script("script", f"#!/bin/sh\n{program} && env -0 | tr '\\0' '\\n' | grep ^LD_PRELOAD=\n")
        python = f"import subprocess; subprocess.run(['{started}'], check=True)"
        for command in [[started], ["sh", "-c", f"{started}"], [sys.executable, "-c", python]]:
            done = self.call("run", "--", *command)
            self.assertTrue(done.stdout.startswith(f"10\nLD_PRELOAD={self.openmp}:"), (done.stdout, done.stderr))

    def test_each_process_of_a_launcher_is_reached(self):
        # Acts as mpirun: it starts several programs, with variables of its own, and waits.
        program = self.compile(REGION, "-fopenmp")
        launcher = self.script(
            "launcher", '#!/bin/sh\nn=$1; shift\ni=0\nwhile [ $i -lt $n ]; do RANK=$i "$@" & i=$((i+1)); done\nwait\n'
        )
        self.assertEqual(self.call("run", "--", launcher, "3", program).stdout, "10\n" * 3)
        self.assertEqual(
            subprocess.run(
                [launcher, "3", self.weft, "run", "--", program], capture_output=True, text=True, env=clean()
            ).stdout,
            "10\n" * 3,
        )

    def test_a_program_in_c_is_not_given_the_cxx_library(self):
        mapped = self.call("run", "--", "cat", "/proc/self/maps").stdout
        self.assertNotIn("libstdc++", mapped)
        self.assertNotIn("libgcc_s", mapped)

    def test_exceptions_are_those_of_a_library_that_comes_after_the_first_region(self):
        library = self.place / "late.cpp"
        library.write_text(LATE_LIBRARY)
        subprocess.run(
            [OPTIONS.cc, "-O1", "-fopenmp", "-shared", "-fPIC", "-o", self.place / "late.so", library, "-lstdc++"],
            check=True,
        )
        program = self.compile(LATE_PROGRAM, "-fopenmp", "-ldl")
        done = self.call(
            "run", "--harts", "2", "--", program, self.place / "late.so", env={"WEFT_OMP_TASK_KIND": "full"}
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "800 0\n", ""))


class LimitedAddresses(Case):
    """`ulimit -v`, as batch systems set it."""

    def limited(self, KiB, *arguments, **more):
        return self.call(
            *arguments, **more, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (KiB * 1024, KiB * 1024))
        )

    def test_a_region_runs_where_malloc_finds_no_room_for_an_arena(self):
        program = self.compile(REGION, "-fopenmp")
        for KiB in [100000, 130000, 160000, 200000, 300000]:
            done = self.limited(KiB, "run", "--report", "--", program)
            self.assertEqual((done.returncode, done.stdout), (0, "10\n"), f"{KiB} KiB: {done.stderr}")
            self.assertIn("taken over", done.stderr)

    def test_too_few_for_weft_are_told_before_the_program_runs_without_it(self):
        program = self.compile(REGION, "-fopenmp")
        done = self.limited(60000, "run", "--", program)
        self.assertEqual((done.returncode, done.stdout), (0, "10\n"))
        self.assertRegex(
            done.stderr,
            r"^weft run: the address space is limited to 60000 KiB \(ulimit -v\), .* at least \d+: "
            "the program runs without Weft; raise the limit.*\n$",
        )

    def test_malloc_has_fewer_arenas_unless_the_user_has_said_how_many(self):
        def tunables(**env):
            done = self.limited(1 << 20, "run", "--", "env", env=env)
            return "\n".join(line for line in done.stdout.splitlines() if line.startswith("GLIBC_TUNABLES="))

        self.assertIn("glibc.malloc.arena_max=1", tunables())
        self.assertNotIn("arena_max", tunables(MALLOC_ARENA_MAX="3"))
        self.assertIn("arena_max=5", tunables(GLIBC_TUNABLES="glibc.malloc.arena_max=5"))
        self.assertNotIn("arena_max", self.call("run", "--", "env").stdout)


class Installed(Case):
    """Commands in other places than where they were built."""

    def copy(self, name):
        """Everything that the command needs of a build tree, below a folder of this name."""
        root = self.place / name
        for folder in ["cmd", "bridge/openmp", "bridge/pthread", "bridge/openblas", "bridge/tbb"]:
            (root / folder).mkdir(parents=True)
        shutil.copy(self.weft, root / "cmd" / "weft")
        shutil.copy(self.openmp, root / "bridge" / "openmp")
        bridges = [(f"bridge/{name}", "*.so.?.?") for name in ("pthread", "openblas", "tbb")]
        for folder, named in [*bridges, ("cmd", "*.so.0")]:
            for library in (self.build / folder).glob(named):
                shutil.copy(library, root / folder)
        return root

    def test_an_installation_is_found_from_where_it_lies(self):
        prefix = self.place / "prefix"
        subprocess.run(["cmake", "--install", self.build, "--prefix", prefix], check=True, capture_output=True)
        weft = self.place / "link"
        weft.symlink_to(prefix / "bin" / "weft")
        preloaded = self.environment(weft=weft)["LD_PRELOAD"].split(":")
        self.assertTrue(
            preloaded[0].startswith(str(prefix.resolve())) and preloaded[0].endswith("/weft/openmp/libgomp.so.1"),
            preloaded,
        )
        program = self.compile(REGION, "-fopenmp")
        moved = self.place / "moved"
        prefix.rename(moved)
        done = self.call("run", "--", program, weft=moved / "bin" / "weft")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "10\n", ""))

    def test_a_place_with_spaces_works_by_the_search_path(self):
        weft = self.copy("two words") / "cmd" / "weft"
        seen = self.environment(weft=weft, env={"LD_LIBRARY_PATH": "/old"})
        self.assertTrue(seen["LD_PRELOAD"].startswith("libgomp.so.1:libweft_pthread.so.0.7"), seen["LD_PRELOAD"])
        self.assertTrue(seen["LD_LIBRARY_PATH"].endswith(":/old"))
        twice = self.call(
            "run", "--", weft, "run", "--", "env", "-0", weft=weft, env={"LD_LIBRARY_PATH": "/old"}
        ).stdout
        self.assertEqual(dict(pair.split("=", 1) for pair in twice.split("\0") if pair), seen)
        program = self.compile(REGION, "-fopenmp")
        done = self.call("run", "--", program, weft=weft, env={"LD_DEBUG": "files"})
        self.assertEqual(done.stdout, "10\n", done.stderr)
        self.assertIn("two words/bridge/openmp/libgomp.so.1", done.stderr)

    def test_a_place_with_a_colon_is_refused_with_the_reason(self):
        done = self.call("run", "--", "true", weft=self.copy("a:b") / "cmd" / "weft")
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot be named in LD_PRELOAD", done.stderr)

    def test_a_library_that_is_missing_is_named(self):
        root = self.copy("part")
        (root / "bridge" / "openmp" / "libgomp.so.1").unlink()
        done = self.call("run", "--", "true", weft=root / "cmd" / "weft")
        self.assertEqual(done.returncode, 125)
        self.assertIn("libgomp.so.1' is not there", done.stderr)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--full", action="store_true", help="the longer tests, too")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
