#!/usr/bin/env python3
"""`weft run --report` and `weft info`: what they say of programs whose parallel parts are known.

    cmd/report_test.py --build build/release [--cc gcc] [-k WORDS]
"""
import os
import re
import subprocess
import unittest

import run_test
from run_test import REGION, Case, clean

TASKS = """
#include <stdio.h>
int main(void) {
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
#pragma omp parallel num_threads(4)
#pragma omp single
        for (int j = 0; j < 10; ++j) {
#pragma omp task
#pragma omp atomic
            ++sum;
        }
    }
    printf("%d\\n", sum);
    return 0;
}
"""
LIBRARY = """
#include <omp.h>
int team(void) {
    int count = 0;
#pragma omp parallel num_threads(3)
#pragma omp atomic
    ++count;
    return count;
}
"""
# Stands for the copy of libgomp that a wheel of Python brings along: it makes teams of one.
COPY = "void GOMP_parallel(void (*body)(void*), void* data, unsigned size, unsigned flags) { body(data); }\n"
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
    void* library = dlopen(argv[1], argc > 2 ? RTLD_NOW | RTLD_DEEPBIND : RTLD_NOW);
    if (!library) return puts(dlerror()), 1;
    printf("%d\\n", ((int (*)(void))dlsym(library, "team"))());
    return 0;
}
"""


def numbers(report):
    return {name: int(value) for name, value in re.findall(r"^  ([a-zA-Z ]+): (\d+)$", report, re.M)}


class Report(Case):
    def test_a_program_of_openmp_is_taken_over_and_counted(self):
        program = self.compile(TASKS, "-fopenmp")
        done = self.call("run", "--report", "--", program)
        self.assertEqual((done.returncode, done.stdout), (0, "30\n"))
        self.assertIn(f"weft run report: {program.resolve()} (process ", done.stderr)
        self.assertIn(f"taken over: {program.resolve()}: OpenMP of the GNU ABI, by {self.openmp}", done.stderr)
        seen = numbers(done.stderr)
        self.assertEqual((seen["regions"], seen["tasks"], seen["contexts"]), (3, 30, 3))
        self.assertGreaterEqual(seen["peak OS threads"], 4)
        self.assertGreater(seen["switches"], 0)
        self.assertGreater(seen["harts lent"], 0)
        for name in ["harts at most", "harts rescued", "voluntary kernel switches", "involuntary kernel switches"]:
            self.assertIn(name, seen)

    def test_the_limit_of_harts_is_told(self):
        done = self.call("run", "--report", "--harts", "1", "--", self.compile(REGION, "-fopenmp"))
        self.assertEqual((done.stdout, numbers(done.stderr)["harts at most"]), ("10\n", 1))

    def test_without_the_option_nothing_is_said(self):
        done = self.call("run", "--", self.compile(REGION, "-fopenmp"))
        self.assertEqual((done.stdout, done.stderr), ("10\n", ""))

    def test_native_openmp_is_left_alone(self):
        program = self.compile(REGION, "-fopenmp")
        done = self.call("run", "--report", "--openmp=native", "--", program)
        self.assertEqual(done.stdout, "10\n")
        self.assertRegex(done.stderr, r"left alone: .*program: its OpenMP is .*/libgomp\.so\.1.*: --openmp=native")

    def test_static_libgomp_is_left_alone_by_its_symbols_and_by_its_words(self):
        for flags in [[], ["-s"]]:
            program = self.compile(REGION, "-fopenmp", "-Wl,-Bstatic", "-lgomp", "-Wl,-Bdynamic", *flags)
            needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True).stdout
            if "libgomp.so" in needed:
                self.skipTest("the compiler links no static libgomp")
            done = self.call("run", "--report", "--", program)
            self.assertEqual(done.stdout, "10\n")
            self.assertIn(f"left alone: {program.resolve()}: libgomp was linked into it statically", done.stderr)

    def wheel(self):
        """A library that needs a copy of libgomp under a name of its own, and a program that opens it."""
        copy = self.compile(COPY, "-shared", "-fPIC", "-Wl,-soname,libgomp-1234abcd.so.1", name="libgomp-1234abcd.so.1")
        part = self.compile(LIBRARY, "-fopenmp", "-fPIC", "-c", name="team.o")
        library = self.place / "libteam.so"
        subprocess.run([run_test.OPTIONS.cc, "-shared", part, copy, "-o", library, f"-Wl,-rpath,{self.place}"], check=True)
        return self.compile(LOADER, "-ldl", name="loader"), library

    def test_a_copy_of_libgomp_under_another_name_is_taken_over(self):
        loader, library = self.wheel()
        self.assertEqual(self.call("run", "--openmp=native", "--", loader, library).stdout, "1\n")
        done = self.call("run", "--report", "--", loader, library)
        self.assertEqual(done.stdout, "3\n", done.stderr)
        self.assertIn(f"taken over: {library}: OpenMP of the GNU ABI", done.stderr)
        self.assertRegex(done.stderr, r"taken over: .*/libgomp-1234abcd\.so\.1: a copy of libgomp whose callers go to")

    def test_what_is_opened_with_deepbind_is_left_alone(self):
        loader, library = self.wheel()
        done = self.call("run", "--report", "--", loader, library, "deep")
        self.assertEqual(done.stdout, "1\n", done.stderr)
        self.assertRegex(done.stderr, r"left alone: .*libteam\.so: its OpenMP is .*/libgomp-1234abcd\.so\.1, by RTLD_DEEPBIND")
        self.assertNotIn("taken over", done.stderr)

    def test_a_script_is_told_of_only_where_there_is_something(self):
        program = self.compile(REGION, "-fopenmp")
        script = self.script("script", f"#!/bin/bash\ncat /dev/null\n{program}\n{program}\ntrue\n")
        where = self.place / "report"
        done = self.call("run", f"--report={where}", "--", script)
        self.assertEqual((done.stdout, done.stderr), ("10\n10\n", ""))
        self.assertEqual(where.read_text().count(f"weft run report: {program.resolve()}"), 2)
        self.assertEqual(where.read_text().count("weft run report: "), 3)   # bash is what was started

    def test_a_program_that_closes_standard_error_reports_all_the_same(self):
        self.assertIn("weft run report: ", self.call("run", "--report", "--", "ls", "/").stderr)

    def test_a_relative_file_stays_where_it_was_meant_and_is_begun_anew(self):
        (self.place / "r").write_text("old\n")
        self.call("run", "--report=r", "--", "sh", "-c", f"cd /; exec {self.compile(REGION, '-fopenmp')}", cwd=self.place)
        self.assertTrue((self.place / "r").read_text().startswith("weft run report: "))

    def test_a_file_that_cannot_be_written_is_refused(self):
        done = self.call("run", "--report=/no/such/folder/r", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("the report cannot be written to '/no/such/folder/r'", done.stderr)

    def test_a_static_program_is_told_of_before_it_runs(self):
        program = self.compile("int main(void) { return 3; }", "-static")
        done = self.call("run", "--report", "--", program)
        self.assertEqual(done.returncode, 3)
        self.assertIn("left alone: the program: it is linked statically: no loader runs; programs that it starts are seen to", done.stderr)

    def test_a_program_of_another_processor_is_told_of_and_nothing_is_preloaded(self):
        program = self.compile("int main(void) { return 0; }")
        image = bytearray(program.read_bytes())
        image[18:20] = (8).to_bytes(2, "little")   # MIPS
        program.write_bytes(image)
        done = self.call("run", "--report", "--", program)
        self.assertEqual(done.returncode, 126)     # nothing here can run it
        self.assertIn("left alone: the program: it is for another architecture", done.stderr)

    def test_a_program_of_another_c_library_is_not_broken(self):
        program = self.compile("int main(void) { return 0; }", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
        self.assertIn("its loader is /lib/ld-musl-x86_64.so.1, of another C library", self.call("run", "--report", "--", program).stderr)

    @unittest.skipUnless(os.getuid() == 0, "needs another user")
    def test_a_set_user_id_program_is_told_of(self):
        program = self.compile("int main(void) { return 0; }")
        os.chown(program, 1, -1)
        program.chmod(0o4755)
        done = self.call("run", "--report", "--", program)
        self.assertEqual(done.returncode, 0)
        self.assertIn("left alone: the program: it is set-user-id: the loader ignores what is preloaded", done.stderr)

    def test_the_child_of_a_fork_reports_nothing(self):
        program = self.compile("#include <unistd.h>\n#include <sys/wait.h>\n#include <stdlib.h>\n"
                               "int main(void) { if (fork() == 0) exit(0); wait(0); return 0; }")
        self.assertEqual(self.call("run", "--report", "--", program).stderr.count("weft run report"), 1)

    def test_run_within_run_reports_once(self):
        done = self.call("run", "--report", "--", self.weft, "run", "--", self.compile(REGION, "-fopenmp"))
        self.assertEqual(done.stdout, "10\n")
        self.assertEqual(done.stderr.count("weft run report"), 1)


class Info(Case):
    def test_it_shows_settings_with_their_values_and_sources(self):
        done = self.call("info", env={"WEFT_SPIN_NS": "777", "OMP_NUM_THREADS": "5", "WEFT_HARTS": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"WEFT_SPIN_NS +777 +environment")
        self.assertRegex(done.stdout, r"WEFT_STACK_BYTES +65536 +default")
        self.assertRegex(done.stdout, r"WEFT_GUESTS +leave +default")
        self.assertIn("OMP_NUM_THREADS=5", done.stdout)
        self.assertIn("used are at most 1", done.stdout)
        self.assertRegex(done.stdout, r"hart 0: CPU \d+, core 0, package 0|hwloc")

    def test_a_wrong_value_is_named_with_the_legal_ones(self):
        done = self.call("info", env={"WEFT_HARTS": "lots"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("WEFT_HARTS is 'lots'; legal are: all, or a number from 0 to 1024", done.stderr)


if __name__ == "__main__":
    run_test.main()
