#!/usr/bin/env python3
"""`weft run`: each test is a sentence about what a user sees of it.

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

# Each task handles an exception while others, on the same OS threads, handle theirs.
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


def clean():
    """The environment without what would change the outcome."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("WEFT_", "OMP_", "GOMP_", "LD_")) and name != "GLIBC_TUNABLES"}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = pathlib.Path(OPTIONS.build).resolve()
        cls.weft = cls.build / "cmd" / "weft"
        cls.openmp = str(cls.build / "bridge" / "openmp" / "libgomp.so.1")
        cls.pthread = str(cls.build / "bridge" / "pthread" / "libweft_pthread.so.0")

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="weft-run-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def call(self, *arguments, env=None, weft=None, **more):
        return subprocess.run([str(weft or self.weft), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              env={**clean(), **(env or {})}, **more)

    def environment(self, *options, env=None, weft=None):
        """The variables that a program sees."""
        done = self.call("run", *options, "--", "env", "-0", env=env, weft=weft)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(pair.split("=", 1) for pair in done.stdout.split("\0") if pair)

    def compile(self, text, *flags, name="program"):
        source, program = self.place / f"{name}.c", self.place / name
        source.write_text(text)
        subprocess.run([OPTIONS.cc, "-O1", source, "-o", program, *flags], check=True)
        return program

    def script(self, name, text):
        path = self.place / name
        path.write_text(text)
        path.chmod(0o755)
        return path


class Program(Case):
    def test_its_output_arguments_and_status_are_its_own(self):
        done = self.call("run", "--", "sh", "-c", 'printf "%s|" "$@"; echo oops >&2; exit 7', "sh", "a b", "", "--report")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "a b||--report|", "oops\n"))

    def test_the_two_dashes_may_be_left_out(self):
        self.assertEqual(self.call("run", "echo", "--harts").stdout, "--harts\n")

    def test_it_is_the_process_that_was_started(self):
        process = subprocess.Popen([self.weft, "run", "--", "sh", "-c", "echo $$"], stdout=subprocess.PIPE, text=True, env=clean())
        self.assertEqual(int(process.communicate(timeout=60)[0]), process.pid)

    def test_a_signal_ends_it_as_it_would(self):
        self.assertEqual(self.call("run", "--", "sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)

    def test_signals_that_are_ignored_stay_so(self):
        done = self.call("run", "--", "sh", "-c", "kill -HUP $$; echo alive", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
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
        self.assertEqual(self.call("run", "--", "here", env={"PATH": ""}, cwd=self.place).stdout, "here\n")   # an empty part is the current folder

    def test_a_name_with_spaces_is_one_name(self):
        self.assertEqual(self.call("run", "--", self.script("a name: two", "#!/bin/sh\necho spaces\n")).stdout, "spaces\n")

    def test_a_script_without_an_interpreter_is_the_shells(self):
        self.assertEqual(self.call("run", "--", self.script("bare", "echo bare\n")).stdout, "bare\n")

    def test_one_that_is_not_there_ends_with_127(self):
        done = self.call("run", "--", "no-such-program")
        self.assertEqual((done.returncode, done.stderr), (127, "weft run: no-such-program: No such file or directory\n"))
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
        for arguments, said in [(["--harts", "many"], "--harts is 'many'; legal are: a number from 0 to 1024"),
                                (["--harts=-1"], "--harts is '-1'"), (["--harts", "9999"], "--harts is '9999'"), (["--harts", "2x"], "--harts is '2x'"),
                                (["--openmp=llvm"], "--openmp is 'llvm'; legal are: weft, native"),
                                (["--guests", "all"], "--guests is 'all'; legal are: admit, leave"),
                                (["--report="], "--report= names no file"), (["--sparta"], "there is no option '--sparta'")]:
            done = self.call("run", *arguments, "--", "true")
            self.assertEqual(done.returncode, 125, arguments)
            self.assertIn(said, done.stderr)

    def test_no_program_is_refused(self):
        for arguments in [["run"], ["run", "--"], ["run", "--harts", "1"]]:
            done = self.call(*arguments)
            self.assertEqual(done.returncode, 125)
            self.assertIn("no program is named", done.stderr)

    def test_they_reach_the_libraries_as_variables(self):
        seen = self.environment("--harts", "3", "--no-rescue", "--guests=admit", "--trace", "/nowhere/out.json")
        self.assertEqual([seen.get(f"WEFT_{name}") for name in ["HARTS", "RESCUE", "GUESTS", "TRACE"]], ["3", "off", "admit", "/nowhere/out.json"])

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


class Loader(Case):
    def preloaded(self, *options, env=None, weft=None):
        return self.environment(*options, env=env, weft=weft).get("LD_PRELOAD", "").split(":")

    def test_ours_come_first_and_then_what_the_user_had(self):
        self.assertEqual(self.preloaded()[:2], [self.openmp, self.pthread])
        self.assertEqual(self.preloaded(env={"LD_PRELOAD": "libm.so.6 libdl.so.2"})[-2:], ["libm.so.6", "libdl.so.2"])

    def test_native_openmp_is_not_taken_over(self):
        self.assertNotIn(self.openmp, self.preloaded("--openmp=native"))
        self.assertNotIn(self.openmp, self.preloaded("--openmp", "native", env={"LD_PRELOAD": self.openmp}))

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
        # As mpirun: it starts several, with variables of its own, and waits.
        program = self.compile(REGION, "-fopenmp")
        launcher = self.script("launcher", '#!/bin/sh\nn=$1; shift\ni=0\nwhile [ $i -lt $n ]; do RANK=$i "$@" & i=$((i+1)); done\nwait\n')
        self.assertEqual(self.call("run", "--", launcher, "3", program).stdout, "10\n" * 3)
        self.assertEqual(subprocess.run([launcher, "3", self.weft, "run", "--", program], capture_output=True, text=True, env=clean()).stdout, "10\n" * 3)


    def test_a_program_in_c_is_not_given_the_cxx_library(self):
        self.assertNotIn("libstdc++", self.call("run", "--", "cat", "/proc/self/maps").stdout)

    def test_exceptions_are_those_of_a_library_that_comes_after_the_first_region(self):
        library = self.place / "late.cpp"
        library.write_text(LATE_LIBRARY)
        subprocess.run([OPTIONS.cc, "-O1", "-fopenmp", "-shared", "-fPIC", "-o", self.place / "late.so", library, "-lstdc++"], check=True)
        program = self.compile(LATE_PROGRAM, "-fopenmp", "-ldl")
        done = self.call("run", "--harts", "2", "--", program, self.place / "late.so", env={"WEFT_OMP_TASK_KIND": "full"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "800 0\n", ""))


class LimitedAddresses(Case):
    """`ulimit -v`, as batch systems set it."""

    def limited(self, KiB, *arguments, **more):
        return self.call(*arguments, **more, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (KiB * 1024, KiB * 1024)))

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
        self.assertRegex(done.stderr, r"^weft run: the address space is limited to 60000 KiB \(ulimit -v\), .* at least \d+: "
                                      "the program runs without Weft; raise the limit.*\n$")

    def test_malloc_has_fewer_arenas_unless_the_user_has_said_how_many(self):
        def tunables(**env):
            done = self.limited(1 << 20, "run", "--", "env", env=env)
            return "\n".join(line for line in done.stdout.splitlines() if line.startswith("GLIBC_TUNABLES="))
        self.assertIn("glibc.malloc.arena_max=1", tunables())
        self.assertNotIn("arena_max", tunables(MALLOC_ARENA_MAX="3"))
        self.assertIn("arena_max=5", tunables(GLIBC_TUNABLES="glibc.malloc.arena_max=5"))
        self.assertNotIn("arena_max", self.call("run", "--", "env").stdout)


class Installed(Case):
    """In other places than where they were built."""

    def copy(self, name):
        """A build tree's worth of what the command needs, below a folder of that name."""
        root = self.place / name
        for folder in ["cmd", "bridge/openmp", "bridge/pthread", "bridge/openblas"]:
            (root / folder).mkdir(parents=True)
        shutil.copy(self.weft, root / "cmd" / "weft")
        shutil.copy(self.openmp, root / "bridge" / "openmp")
        for folder in ["bridge/pthread", "bridge/openblas", "cmd"]:
            for library in (self.build / folder).glob("*.so.0"):
                shutil.copy(library, root / folder)
        return root

    def test_an_installation_is_found_from_where_it_lies(self):
        prefix = self.place / "prefix"
        subprocess.run(["cmake", "--install", self.build, "--prefix", prefix], check=True, capture_output=True)
        weft = self.place / "link"
        weft.symlink_to(prefix / "bin" / "weft")
        preloaded = self.environment(weft=weft)["LD_PRELOAD"].split(":")
        self.assertTrue(preloaded[0].startswith(str(prefix.resolve())) and preloaded[0].endswith("/weft/openmp/libgomp.so.1"), preloaded)
        program = self.compile(REGION, "-fopenmp")
        moved = self.place / "moved"
        prefix.rename(moved)
        done = self.call("run", "--", program, weft=moved / "bin" / "weft")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "10\n", ""))

    def test_a_place_with_spaces_works_by_the_search_path(self):
        weft = self.copy("two words") / "cmd" / "weft"
        seen = self.environment(weft=weft, env={"LD_LIBRARY_PATH": "/old"})
        self.assertTrue(seen["LD_PRELOAD"].startswith("libgomp.so.1:libweft_pthread.so.0"), seen["LD_PRELOAD"])
        self.assertTrue(seen["LD_LIBRARY_PATH"].endswith(":/old"))
        twice = self.call("run", "--", weft, "run", "--", "env", "-0", weft=weft, env={"LD_LIBRARY_PATH": "/old"}).stdout
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
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
