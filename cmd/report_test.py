#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`weft run --report` and `weft info`: their output for programs whose parallel parts are known.

    cmd/report_test.py --build build/release [--cc gcc] [-k WORDS]
"""
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

import run_test
from run_test import IRML, JOBS, NO_JOBS, OLD_TBB, ONETBB, REGION, Case, clean, own_blas

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
# Stands for the copy of libgomp in a Python wheel: it makes teams of one.
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

# Stands for OpenBLAS with threads of its own, as in NumPy's wheel: it queries OpenMP once, and
# never begins a region.
THREADED_BLAS = """
#include <pthread.h>
extern int omp_in_parallel(void) __attribute__((weak));
static void* work(void* unused) { return unused; }
int team(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
    return omp_in_parallel ? omp_in_parallel() : 7;
}
"""
# Its exec_blas is called through the loader's table, as in Debian's OpenBLAS.
GUARDED_BLAS = THREADED_BLAS.replace(
    "int team(void) {",
    """
__attribute__((noinline)) int exec_blas(long count, void* queue) { return count != 1 || queue != 0; }
int team(void) {
    if (exec_blas(1, 0) != 0) return 8;""",
)
# Stands for LLVM's runtime, which also has entry points for programs compiled by gcc.
LLVM_RUNTIME = """
#include <pthread.h>
static void* work(void* unused) { return unused; }
void GOMP_parallel(void (*body)(void*), void* data, unsigned size, unsigned flags) { body(data); }
void __kmpc_fork_call(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
"""
# Opens and closes each library that it is given, and calls its team() as often as the preceding
# number says.
CALLS = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        void* library = dlopen(argv[i + 1], RTLD_NOW);
        if (!library) return puts(dlerror()), 1;
        for (int times = atoi(argv[i]); times > 0; --times) ((int (*)(void))dlsym(library, "team"))();
        dlclose(library);
    }
    return 0;
}
"""
# A child that continues in one of several ways after a region of its own.
CHILD = """
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void region(void) {
    volatile int count = 0;
#pragma omp parallel num_threads(2)
#pragma omp atomic
    ++count;
}
int main(int argc, char** argv) {
    const char* how = argv[1];
    int ends[2];
    char byte;
    if (pipe(ends) != 0) return 1;
    if (strstr(how, "both")) region();
    if (fork() == 0) {
        close(ends[1]);
        if (strstr(how, "later")) read(ends[0], &byte, 1);   /* until the parent is no more */
        region();
        if (strstr(how, "_exit")) _exit(0);
        if (strstr(how, "killed")) raise(SIGKILL);
        exit(0);
    }
    if (strstr(how, "first dies")) raise(SIGKILL);
    if (!strstr(how, "later")) wait(0);
    return 0;
}
"""
# The allocator aborts the program if it is used where it must not be.
NO_ALLOCATOR = """
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
extern void* __libc_malloc(size_t);
extern void __libc_free(void*);
static _Thread_local volatile sig_atomic_t locked;   /* other threads may allocate */
void* malloc(size_t size) { if (locked) abort(); return __libc_malloc(size); }
void free(void* at) { if (locked) abort(); __libc_free(at); }
static void handle(int number) { locked = 1; _exit(3); }
int main(void) {
    volatile int count = 0;
#pragma omp parallel num_threads(2)
#pragma omp atomic
    ++count;
    signal(SIGSEGV, handle);
    raise(SIGSEGV);
    return 0;
}
"""
# At least two threads are in the first loop at once. The child of the fork has a loop of its own,
# for which it may have no worker: one that was in TBB's arena at the fork has left no place there.
TBB = """
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <sys/wait.h>
#include <unistd.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
static void loop(int least) {
    std::atomic<int> here{0};
    oneapi::tbb::parallel_for(0, 4, [&](int) {
        ++here;
        while (here < least) std::this_thread::yield();
    }, oneapi::tbb::simple_partitioner());
    std::printf("%d\\n", here.load());
    std::fflush(stdout);
}
int main(int argc, char**) {
    oneapi::tbb::global_control all(oneapi::tbb::global_control::max_allowed_parallelism, 4);
    loop(2);
    if (argc > 1 && fork() == 0) {
        loop(1);
        std::exit(0);
    }
    if (argc > 1) wait(nullptr);
    return 0;
}
"""
# Is linked with what stands for an OpenBLAS with threads of its own (run_test.OWN_BLAS). It prints
# how many jobs of a call others have run, and with "computes" also what OpenBLAS' number is while
# two threads compute and afterwards. Where the number stays what it is, two seconds are enough to
# see that.
BLAS = """
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
void begin(void);
int call(void), number_now(void);
static volatile int done, at_end;
static void* compute(void* unused) { while (!done) {} return unused; }
static int wait_until(int is_one, int seconds) {
    for (time_t end = time(0) + seconds; (number_now() == 1) != is_one && time(0) < end;) {}
    return number_now();
}
__attribute__((destructor)) static void end(void) {
    if (!at_end) return;
    done = 1;
    for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;) {}
    if (number_now() != 1) _exit(1);
}
/* How many jobs of the last call have run on Weft. */
static int call_beside_openmp(int seconds) {
    int on_weft = 0;
    for (time_t end = time(0) + seconds; on_weft == 0 && time(0) < end;) {
#pragma omp parallel num_threads(2)
        done += 0;
        on_weft = call();
    }
    return on_weft;
}
int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    const int forks = strcmp(how, "forks") == 0, uses_openmp = forks || strcmp(how, "openmp") == 0;
    pthread_t thread;
    begin();
    if (forks && call_beside_openmp(20) == 2 && fork() != 0) wait(0);
    printf("%d\\n", uses_openmp ? call_beside_openmp(argc > 2 ? 1 : 20) : call());
    fflush(stdout);
    if (strcmp(how, "ends") == 0) {
        at_end = 1;
        return pthread_create(&thread, 0, compute, 0) || wait_until(1, 20) != 1;
    }
    if (strcmp(how, "is alone") == 0) return wait_until(1, 20) != 1;
    if (strcmp(how, "computes") != 0) return 0;
    pthread_create(&thread, 0, compute, 0);
    int fewest = wait_until(1, argc > 2 ? 2 : 20);
    done = 1;
    pthread_join(thread, 0);
    printf("%d %d\\n", fewest, wait_until(0, 20) > 1);
    return 0;
}
"""
STD_THREADS = """
#include <thread>
int main() {
    for (int i = 0; i < 3; ++i) std::thread([] {}).join();
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
        self.assertIn(f"taken over: {program.resolve()}: OpenMP of the GNU ABI: 3 regions on Weft\n", done.stderr)
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
        subprocess.run(
            [run_test.OPTIONS.cc, "-shared", part, copy, "-o", library, f"-Wl,-rpath,{self.place}"], check=True
        )
        return self.compile(LOADER, "-ldl", name="loader"), library

    def test_a_copy_of_libgomp_under_another_name_is_taken_over(self):
        loader, library = self.wheel()
        self.assertEqual(self.call("run", "--openmp=native", "--", loader, library).stdout, "1\n")
        done = self.call("run", "--report", "--", loader, library)
        self.assertEqual(done.stdout, "3\n", done.stderr)
        self.assertIn(f"taken over: {library}: OpenMP of the GNU ABI", done.stderr)
        self.assertRegex(
            done.stderr, r"taken over: .*/libgomp-1234abcd\.so\.1: a copy of libgomp, whose callers run on Weft"
        )

    def test_what_is_opened_with_deepbind_is_left_alone(self):
        loader, library = self.wheel()
        done = self.call("run", "--report", "--", loader, library, "deep")
        self.assertEqual(done.stdout, "1\n", done.stderr)
        self.assertRegex(
            done.stderr, r"left alone: .*libteam\.so: its OpenMP is .*/libgomp-1234abcd\.so\.1, by RTLD_DEEPBIND"
        )
        self.assertNotIn("taken over", done.stderr)

    def test_a_script_is_told_of_only_where_there_is_something(self):
        program = self.compile(REGION, "-fopenmp")
        script = self.script("script", f"#!/bin/bash\ncat /dev/null\n{program}\n{program}\ntrue\n")
        where = self.place / "report"
        done = self.call("run", f"--report={where}", "--", script)
        self.assertEqual((done.stdout, done.stderr), ("10\n10\n", ""))
        self.assertEqual(where.read_text().count("weft run report: "), 2)  # the started program is bash
        self.assertIn(f"weft run report: {program.resolve()} (2 processes, the first of them ", where.read_text())
        self.assertIn(f"taken over: {program.resolve()}: OpenMP of the GNU ABI: 2 regions on Weft", where.read_text())

    def test_a_program_that_closes_standard_error_reports_all_the_same(self):
        self.assertIn("weft run report: ", self.call("run", "--report", "--", "ls", "/").stderr)

    def test_a_relative_file_stays_where_it_was_meant_and_is_begun_anew(self):
        (self.place / "r").write_text("old\n")
        self.call(
            "run", "--report=r", "--", "sh", "-c", f"cd /; exec {self.compile(REGION, '-fopenmp')}", cwd=self.place
        )
        self.assertTrue((self.place / "r").read_text().startswith("weft run report: "))

    def test_a_file_that_cannot_be_written_is_refused(self):
        done = self.call("run", "--report=/no/such/folder/r", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("the report cannot be written to '/no/such/folder/r'", done.stderr)

    def test_a_static_program_is_told_of_before_it_runs(self):
        program = self.compile("int main(void) { return 3; }", "-static")
        done = self.call("run", "--report", "--", program)
        self.assertEqual(done.returncode, 3)
        self.assertIn(
            "left alone: the program: it is linked statically: no loader runs; programs that it starts are reached",
            done.stderr,
        )

    def test_a_program_of_another_processor_is_told_of_and_nothing_is_preloaded(self):
        program = self.compile("int main(void) { return 0; }")
        image = bytearray(program.read_bytes())
        image[18:20] = (8).to_bytes(2, "little")  # MIPS
        program.write_bytes(image)
        done = self.call("run", "--report", "--", program)
        self.assertEqual(done.returncode, 126)  # nothing on this machine can run it
        self.assertIn("left alone: the program: it is for another architecture", done.stderr)

    def test_a_program_of_another_c_library_is_not_broken(self):
        program = self.compile("int main(void) { return 0; }", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
        self.assertIn(
            "its loader is /lib/ld-musl-x86_64.so.1, of another C library",
            self.call("run", "--report", "--", program).stderr,
        )

    @unittest.skipUnless(os.getuid() == 0, "needs another user")
    def test_a_set_user_id_program_is_told_of(self):
        program = self.compile("int main(void) { return 0; }")
        os.chown(program, 1, -1)
        program.chmod(0o4755)
        done = self.call("run", "--report", "--", program)
        self.assertEqual(done.returncode, 0)
        self.assertIn("left alone: the program: it is set-user-id: the loader ignores what is preloaded", done.stderr)

    def test_the_child_of_a_fork_reports_nothing(self):
        program = self.compile(
            "#include <unistd.h>\n#include <sys/wait.h>\n#include <stdlib.h>\n"
            "int main(void) { if (fork() == 0) exit(0); wait(0); return 0; }"
        )
        self.assertEqual(self.call("run", "--report", "--", program).stderr.count("weft run report"), 1)

    def shared(self, name, text=LIBRARY, *flags):
        return self.compile(text, "-shared", "-fPIC", *(flags or ["-fopenmp"]), name=name)

    def compile_cpp(self, text, *flags):
        source, program = self.place / "program.cpp", self.place / "program"
        source.write_text(text)
        done = subprocess.run(
            [run_test.OPTIONS.cc, source, "-o", program, "-lstdc++", "-pthread", *flags], capture_output=True
        )
        if done.returncode != 0:
            self.skipTest("no C++ compiler")
        return program

    def test_a_library_that_only_asks_openmp_is_not_taken_over(self):
        library = self.shared("libopenblas.so", THREADED_BLAS, "-pthread")
        done = self.call("run", "--report", "--", self.compile(LOADER, "-ldl", name="loader"), library)
        self.assertEqual(done.stdout, "0\n")
        self.assertIn(f"left alone: {library}: OpenBLAS: 2 threads of its own\n", done.stderr)
        self.assertNotRegex(done.stderr, "taken over|limited")

    def test_an_openblas_with_threads_of_its_own_is_limited_and_its_threads_are_left_alone(self):
        library = self.shared(
            "libopenblas.so", GUARDED_BLAS, "-pthread", "-fPIC", "-fno-inline", "-fsemantic-interposition"
        )
        done = self.call("run", "--report", "--", self.compile(LOADER, "-ldl", name="loader"), library)
        self.assertEqual(done.stdout, "0\n")
        self.assertIn(f"limited: {library}: OpenBLAS: one call at a time computes in parallel", done.stderr)
        self.assertIn(f"left alone: {library}: OpenBLAS: 2 threads of its own\n", done.stderr)

    def test_regions_are_told_by_library_also_of_those_that_were_unloaded(self):
        """Each library is loaded at the address of the one before it."""
        libraries = [self.shared(f"lib{number}.so") for number in range(3)]
        done = self.call(
            "run",
            "--report",
            "--",
            self.compile(CALLS, "-ldl"),
            *[
                str(word)
                for turn in range(2)
                for number, library in enumerate(libraries)
                for word in (number + 1, library)
            ],
        )
        for number, library in enumerate(libraries):
            self.assertIn(
                f"taken over: {library}: OpenMP of the GNU ABI: {2 * number + 2} regions on Weft\n", done.stderr
            )
        self.assertEqual(numbers(done.stderr)["regions"], 12)

    def test_regions_of_units_are_told_and_variables_that_follow_the_os_thread(self):
        text = """
#include <weft/weft.h>
#ifdef WITH
int kept;
#pragma omp threadprivate(kept)
#endif
static void body(void* unused) {
#pragma omp parallel num_threads(2)
#ifdef WITH
    ++kept;
#else
    __asm__("");
#endif
}
int main(void) {
    weft_init(NULL);
    weft_unit* unit;
    for (int i = 0; i < 3; ++i) weft_ult_spawn(NULL, body, NULL, NULL, &unit), weft_unit_join(unit);
#pragma omp parallel num_threads(2)
    __asm__("");
    return weft_finalize() == WEFT_OK ? 0 : 1;
}
"""
        weft = [
            f"-I{pathlib.Path(__file__).resolve().parent.parent / 'include'}",
            f"-L{self.build}",
            f"-Wl,-rpath,{self.build}",
            "-lweft",
        ]
        told = "thread_local and threadprivate variables of"
        for flags, told_of in ([], False), (["-DWITH"], True):
            program = self.compile(text, "-fopenmp", *flags, *weft)
            done = self.call("run", "--report", "--", program)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(numbers(done.stderr)["regions of units"], 3)
            self.assertEqual(done.stderr.count(told), told_of, done.stderr)
        done = self.call("run", "--report", "--", self.compile(TASKS, "-fopenmp"))
        self.assertNotIn("regions of units", done.stderr)

    def test_a_library_that_began_no_region_is_said_to_have_begun_none(self):
        library = self.shared("libteam.so")
        program = self.compile(
            "int team(void); int main(int count, char** none) { return count > 1 ? team() : 0; }",
            library,
            f"-Wl,-rpath,{self.place}",
        )
        done = self.call("run", "--report", "--", program)
        self.assertIn(f"taken over: {library}: OpenMP of the GNU ABI: began no region\n", done.stderr)

    def test_a_library_that_was_opened_by_a_relative_name_is_told_of(self):
        library = self.shared("libteam.so")
        for more in [[], ["deep"]]:
            done = self.call(
                "run",
                "--report",
                "--",
                self.compile(LOADER, "-ldl", name="loader"),
                "./libteam.so",
                *more,
                cwd=self.place,
            )
            self.assertIn(f"taken over: {library}: OpenMP of the GNU ABI: 1 region on Weft\n", done.stderr)

    def test_llvms_runtime_is_told_from_libgomp(self):
        runtime = self.shared("libomp.so.5", LLVM_RUNTIME, "-pthread", "-Wl,-soname,libomp.so.5")
        program = self.compile(
            "void __kmpc_fork_call(void); int main(void) { __kmpc_fork_call(); return 0; }",
            runtime,
            f"-Wl,-rpath,{self.place}",
        )
        done = self.call("run", "--report", "--", program)
        self.assertIn(f"left alone: {program}: OpenMP of LLVM's ABI, which runs on {runtime}\n", done.stderr)
        self.assertIn(f"left alone: {runtime}: LLVM's OpenMP runtime: 1 thread of its own\n", done.stderr)
        self.assertNotIn("libgomp", done.stderr)

    def test_the_threads_of_the_native_libgomp_are_counted(self):
        done = self.call("run", "--report", "--openmp=native", "--", self.compile(REGION, "-fopenmp"))
        self.assertRegex(done.stderr, r"left alone: /.*/libgomp\.so\.1.*: libgomp: 3 threads of its own\n")

    def test_pools_of_threads_that_are_known_have_their_names(self):
        loader = self.compile(LOADER, "-ldl", name="loader")
        (self.place / "numba").mkdir()
        for file, pool in [
            ("numba/workqueue.cpython-311-x86_64-linux-gnu.so", "numba's workqueue: "),
            ("libopencv_core.so.406", "OpenCV: "),
            ("cv2.abi3.so", "OpenCV: "),
            ("libworkqueue.so", ""),
        ]:
            library = self.shared(file, THREADED_BLAS, "-pthread")
            done = self.call("run", "--report", "--", loader, library)
            self.assertIn(f"left alone: {library}: {pool}2 threads of its own\n", done.stderr)

    def test_std_threads_belong_to_the_program_that_starts_them(self):
        program = self.compile_cpp(STD_THREADS)
        for options, verdict, more in [
            ([], "left alone", ""),
            (["--guests=admit"], "limited", r", each admitted as a guest \(--guests=admit\)"),
        ]:
            done = self.call("run", "--report", *options, "--", program)
            self.assertRegex(done.stderr, f"{verdict}: {program}: 3 threads of its own{more}\n")

    def test_libraries_of_one_folder_have_one_line(self):
        libraries = [self.shared(f"lib{number}.so") for number in range(4)]
        done = self.call(
            "run",
            "--report",
            "--",
            self.compile(CALLS, "-ldl"),
            *[word for library in libraries for word in ("2", library)],
        )
        self.assertIn(f"taken over: {self.place}: 4 libraries: OpenMP of the GNU ABI: 8 regions on Weft\n", done.stderr)
        self.assertEqual(done.stderr.count("taken over"), 1)

    def test_a_child_is_counted_however_it_ends(self):
        program = self.compile(CHILD, "-fopenmp")
        for how in ["exit", "_exit", "both exit", "both _exit"]:
            report = self.call("run", "--report", "--", program, how).stderr
            self.assertEqual(report.count("weft run report"), 1, report)
            self.assertIn(f"weft run report: {program} (2 processes, ", report)
            self.assertIn(f"taken over: {program}: OpenMP of the GNU ABI: {2 if 'both' in how else 1} region", report)

    def test_a_child_that_is_killed_is_mentioned(self):
        program = self.compile(CHILD, "-fopenmp")
        report = self.call("run", "--report", "--", program, "killed").stderr
        self.assertIn(f"weft run report: {program}: no report from 1 more process that used OpenMP or threads", report)

    def test_a_process_that_outlives_the_first_one_reports_by_itself(self):
        program, where = self.compile(CHILD, "-fopenmp"), self.place / "r"
        self.call("run", f"--report={where}", "--", program, "later both", env={"TMPDIR": str(self.place)})
        self.assertEqual(re.findall(r"^weft run report: .*\((\w+) ", where.read_text(), re.M), ["process", "process"])
        self.assertEqual(where.read_text().count("OpenMP of the GNU ABI: 1 region on Weft"), 2)
        self.assertEqual(list(self.place.glob("weft-report-*")), [])

    def test_where_the_first_process_is_killed_another_one_reports(self):
        program, where = self.compile(CHILD, "-fopenmp"), self.place / "r"
        done = self.call("run", f"--report={where}", "--", program, "later first dies", env={"TMPDIR": str(self.place)})
        self.assertEqual(done.returncode, -9)
        self.assertIn("OpenMP of the GNU ABI: 1 region on Weft", where.read_text())
        self.assertEqual(list(self.place.glob("weft-report-*")), [])

    def test_a_shell_that_becomes_a_program_tells_of_what_it_has_started_before(self):
        program, last = self.compile(REGION, "-fopenmp"), self.compile(TASKS, "-fopenmp", name="last")
        report = self.call("run", "--report", "--", "sh", "-c", f"{program}; exec {last}").stderr
        self.assertEqual(re.findall(r"^weft run report: (\S+) \(process", report, re.M), [str(last), str(program)])

    def test_without_a_place_for_the_spool_each_process_reports(self):
        program = self.compile(REGION, "-fopenmp")
        report = self.call(
            "run", "--report", "--", "sh", "-c", f"{program}; {program}; true", env={"TMPDIR": "/no/such/folder"}
        ).stderr
        self.assertEqual(report.count(f"weft run report: {program} (process "), 2)

    def test_a_program_that_cannot_be_started_or_runs_without_weft_leaves_no_spool(self):
        env = {"TMPDIR": str(self.place)}
        done = self.call("run", "--report", "--", self.script("script", "#!/no/such/interpreter\n"), env=env)
        self.assertEqual(done.returncode, 126)
        few = 60000 * 1024  # an address space that is too small for Weft
        done = self.call(
            "run",
            "--report",
            "--",
            "true",
            env=env,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (few, few)),
        )
        self.assertEqual(done.returncode, 0)
        self.assertIn("runs without Weft", done.stderr)
        self.assertEqual(list(self.place.glob("weft-report-*")), [])

    def test_a_process_that_ends_within_its_allocator_is_not_held_up(self):
        program = self.compile(NO_ALLOCATOR, "-fopenmp")
        done = self.call("run", "--report", "--", program)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("OpenMP of the GNU ABI: 1 region on Weft", done.stderr)

    def test_json_has_the_keys_that_are_documented(self):
        blas, team = self.shared("libopenblas.so", THREADED_BLAS, "-pthread"), self.shared('lib"team".so')
        where = self.place / "r.json"
        self.call(
            "run",
            f"--report=json:{where}",
            "--",
            "sh",
            "-c",
            f"{self.compile(CALLS, '-ldl')} 2 '{team}'; {self.compile(LOADER, '-ldl', name='loader')} {blas}; true",
        )
        report = json.loads(where.read_text())
        self.assertEqual(sorted(report), ["programs", "silent", "weft", "weft_report"])
        self.assertEqual((report["weft_report"], report["silent"]), (1, []))
        shell, calls, loader = report["programs"]
        for program in report["programs"]:
            self.assertEqual(
                sorted(program), ["counters", "left_alone", "libraries", "process", "processes", "program"]
            )
        self.assertEqual((shell["libraries"], shell["left_alone"], shell["processes"]), ([], None, 1))
        self.assertEqual(
            calls["libraries"],
            [
                {
                    "library": str(team),
                    "verdict": "taken_over",
                    "kind": "openmp",
                    "regions": 2,
                    "threads": 0,
                    "workers": 0,
                    "runs_on": None,
                    "why": None,
                }
            ],
        )
        self.assertEqual(
            loader["libraries"],
            [
                {
                    "library": str(blas),
                    "verdict": "left_alone",
                    "kind": "openblas",
                    "regions": 0,
                    "threads": 2,
                    "workers": 0,
                    "runs_on": None,
                    "why": None,
                }
            ],
        )
        self.assertEqual(calls["counters"]["regions"], 2)
        for key in [
            "tasks",
            "contexts",
            "switches",
            "harts_at_most",
            "harts_lent",
            "harts_rescued",
            "voluntary_kernel_switches",
            "involuntary_kernel_switches",
            "peak_os_threads",
        ]:
            self.assertIsInstance(calls["counters"][key], int)

    def test_json_tells_of_a_program_that_is_out_of_reach(self):
        done = self.call("run", "--report=json", "--", self.compile("int main(void) { return 3; }", "-static"))
        (program,) = json.loads(done.stderr)["programs"]
        self.assertIn("it is linked statically", program["left_alone"])
        self.assertIsNone(program["counters"])

    def test_run_within_run_reports_once(self):
        done = self.call("run", "--report", "--", self.weft, "run", "--", self.compile(REGION, "-fopenmp"))
        self.assertEqual(done.stdout, "10\n")
        self.assertEqual(done.stderr.count("weft run report"), 1)


class Tbb(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = tempfile.TemporaryDirectory(prefix="weft-report-tbb-")
        cls.addClassCleanup(place.cleanup)
        cls.program = pathlib.Path(place.name).resolve() / "program"
        source = cls.program.with_suffix(".cpp")
        source.write_text(TBB)
        words = [run_test.OPTIONS.cc, "-std=c++17", source, "-o", cls.program, "-ltbb", "-lstdc++", "-pthread"]
        cls.has_tbb = subprocess.run(words, capture_output=True).returncode == 0

    def report(self, *arguments, env=None):
        if not self.has_tbb:
            self.skipTest("there is no libtbb-dev, or no C++ compiler")
        return self.call("run", "--report", *arguments, env=env).stderr

    def test_its_workers_are_wefts_and_counted(self):
        report = self.report("--", self.program)
        self.assertRegex(report, r"taken over: /\S*/libtbb\.so\.12\S*: TBB: [1-3] workers? on Weft\n")
        seen = numbers(report)
        self.assertIn(seen["TBB workers"], range(1, 4))
        self.assertEqual(seen["TBB entries"], 1)

    def test_those_of_the_child_of_a_fork_are_counted_with_it(self):
        report = self.report("--", self.program, "fork")
        self.assertIn(f"weft run report: {self.program} (2 processes, ", report)
        self.assertEqual(numbers(report)["TBB entries"], 2)
        self.assertRegex(report, r"TBB: [1-6] workers? on Weft\n")

    def test_native_ones_are_threads_of_its_own(self):
        report = self.report("--tbb=native", "--", self.program)
        self.assertRegex(report, r"left alone: /\S*/libtbb\.so\.12\S*: TBB: [1-3] threads? of its own: --tbb=native\n")
        self.assertNotIn("TBB workers", report)
        report = self.report("--tbb=native", "--guests=admit", "--", self.program)
        self.assertRegex(
            report, r"limited: .*TBB: [1-3] threads? of its own, each admitted as a guest \(--guests=admit\)"
        )

    def test_the_thread_composability_manager_is_left_to_decide(self):
        report = self.report("--", self.program, env={"TCM_ENABLE": "1"})
        self.assertRegex(report, r"left alone: .*: TBB: [1-3] threads? of its own: TCM_ENABLE=1: Intel's thread compos")

    def test_another_library_with_workers_for_tbb_keeps_them(self):
        irml = self.library("libirml.so.1", IRML)
        report = self.report("--", self.program, env={"LD_PRELOAD": str(irml)})
        self.assertRegex(report, rf"left alone: .*/libtbb\.so\S*: TBB: its workers are those of {irml}\n")
        self.assertNotIn("TBB workers", report)

    def test_a_version_before_onetbb_is_left_alone(self):
        tbb = self.library("libtbb.so.2", OLD_TBB)
        report = self.call("run", "--report", "--", self.linked(tbb)).stderr
        what = "TBB: started no threads: a version before oneTBB, which has another interface"
        self.assertIn(f"left alone: {tbb}: {what}\n", report)

    def test_json_says_which_and_why(self):
        used, old = self.library("libtbb.so.12", ONETBB), self.library("libtbb.so.2", OLD_TBB)
        report = json.loads(self.call("run", "--report=json", "--", self.linked(used, old)).stderr)
        (program,) = report["programs"]
        common = {"kind": "tbb", "regions": 0, "threads": 0, "workers": 0, "runs_on": None}
        why = "a version before oneTBB, which has another interface"
        self.assertEqual(
            program["libraries"],
            [
                {"library": str(used), "verdict": "taken_over", "why": None, **common},
                {"library": str(old), "verdict": "left_alone", "why": why, **common},
            ],
        )
        self.assertEqual((program["counters"]["tbb_workers"], program["counters"]["tbb_entries"]), (0, 0))


class Blas(Case):
    """OpenBLAS with threads of its own."""

    def setUp(self):
        super().setUp()
        if not self.openblas:
            self.skipTest("this build has no libweft_openblas")

    def blas(self, jobs, *names, more=""):
        """What stands for it; sets the program that is linked with it."""
        library = self.library("libblas.so.3", own_blas(jobs, *names) + more)
        self.program = self.linked(library, "-pthread", "-fopenmp", text=BLAS)
        return library

    def report(self, *options, how=(), prints="0\n", env=None):
        done = self.call("run", "--report", *options, "--", self.program, *how, env=env)
        self.assertEqual((done.returncode, done.stdout), (0, prints), done.stderr)
        return done.stderr

    def test_its_jobs_run_on_weft_beside_openmp_where_it_lets_others_run_them(self):
        for names in [("scipy_", "64_"), ("scipy_", "")]:
            blas = self.blas(JOBS, *names)
            report = self.report(how=["openmp"], prints="2\n")
            self.assertIn(f"  taken over: {blas}: OpenBLAS: its jobs run on Weft beside OpenMP\n", report)
            self.assertEqual(report.count(str(blas)), 1)
            self.assertGreaterEqual(numbers(report)["OpenBLAS calls on Weft"], 1)
            report = self.report()
            self.assertIn(f"  limited: {blas}: OpenBLAS: fewer threads while others compute; 1 thread of its", report)

    def test_calls_of_the_child_of_a_fork_are_counted_with_it(self):
        blas = self.blas(JOBS)
        report = self.report(how=["forks"], prints="2\n2\n")
        self.assertIn(f"weft run report: {self.program} (2 processes, ", report)
        self.assertIn(f"  taken over: {blas}: OpenBLAS: its jobs run on Weft beside OpenMP\n", report)
        self.assertGreaterEqual(numbers(report)["OpenBLAS calls on Weft"], 3)

    def test_without_that_it_has_fewer_threads_while_others_compute(self):
        what = "OpenBLAS: fewer threads while others compute; 1 thread of its own\n"
        blas = self.blas(NO_JOBS)
        self.assertIn(f"  limited: {blas}: {what}", self.report())
        self.assertIn(f"  limited: {blas}: {what}", self.report("--guests=admit"))
        self.assertNotIn("OpenBLAS calls", self.report())
        blas = self.blas(JOBS)
        self.assertIn(f"  limited: {blas}: {what}", self.report("--openmp=native"))

    def test_one_that_is_called_through_the_loaders_table_is_guarded_too(self):
        more = (
            "int exec_blas(long count, void* queue) { return count != 1; }\n"
            "__attribute__((constructor)) static void multiply(void) { exec_blas(1, 0); }\n"
        )
        blas = self.blas(NO_JOBS, more=more)
        report = self.report()
        self.assertIn(f"  limited: {blas}: OpenBLAS: one call at a time computes in parallel, and callers", report)
        self.assertIn(f"  limited: {blas}: OpenBLAS: fewer threads while others compute; 1 thread of its own\n", report)
        self.assertEqual(report.count(str(blas)), 2)

    def test_its_number_is_lowered_and_raised_and_that_is_counted(self):
        self.blas(NO_JOBS)
        report = self.report(how=["computes"], prints="0\n1 1\n")
        self.assertIn(numbers(report)["OpenBLAS threads lowered"], range(1, 10))
        self.assertNotIn("OpenBLAS threads lowered", self.report())

    def test_its_number_is_at_most_that_of_the_harts(self):
        self.blas(NO_JOBS)
        self.assertNotIn("OpenBLAS threads lowered", self.report("--harts=1", how=["is alone"]))

    def test_with_full_its_number_is_never_changed(self):
        blas, full = self.blas(NO_JOBS), {"WEFT_BLAS_THREADS": "full"}
        for options in [], ["--guests=admit"]:  # its threads are no guests
            report = self.report(*options, how=["computes", "in vain"], prints="0\n4 1\n", env=full)
            self.assertIn(f"  left alone: {blas}: OpenBLAS: 1 thread of its own: WEFT_BLAS_THREADS=full\n", report)
            self.assertNotIn("OpenBLAS threads lowered", report)

    def test_with_full_it_runs_its_jobs_itself_where_it_has_more_threads_than_harts(self):
        blas, full = self.blas(JOBS), {"WEFT_BLAS_THREADS": "full"}
        report = self.report("--harts=1", how=["openmp", "in vain"], env=full)
        self.assertIn(f"  left alone: {blas}: OpenBLAS: 1 thread of its own: WEFT_BLAS_THREADS=full\n", report)

    def test_native_ones_are_left_alone(self):
        for jobs in NO_JOBS, JOBS:
            blas = self.blas(jobs)
            report = self.report("--blas=native")
            self.assertIn(f"  left alone: {blas}: OpenBLAS: 1 thread of its own: --blas=native\n", report)
        report = self.report("--blas=native", "--guests=admit")
        admitted = "1 thread of its own, each admitted as a guest (--guests=admit): --blas=native"
        self.assertIn(f"  limited: {blas}: OpenBLAS: {admitted}\n", report)

    def test_nothing_is_changed_while_the_process_ends(self):
        self.blas(NO_JOBS)
        for _ in range(3):
            self.report(how=["ends"])

    def test_json_says_which_and_why(self):
        counts = "openblas_calls_on_weft", "openblas_threads_lowered"
        for jobs, options, how, verdict, why in [
            (JOBS, [], ["openmp"], "taken_over", None),
            (NO_JOBS, [], [], "limited", "fewer threads while others compute"),
            (NO_JOBS, ["--blas=native"], [], "left_alone", "--blas=native"),
        ]:
            blas = self.blas(jobs)
            prints = "2\n" if how else "0\n"
            (program,) = json.loads(self.report("--report=json", *options, how=how, prints=prints))["programs"]
            common = {"kind": "openblas", "regions": 0, "threads": 1, "workers": 0, "runs_on": None}
            (seen,) = [library for library in program["libraries"] if library["library"] == str(blas)]
            self.assertEqual(seen, {"library": str(blas), "verdict": verdict, "why": why, **common})
            calls, lowered = [program["counters"][name] for name in counts]
            self.assertEqual((calls > 0, lowered), (verdict == "taken_over", 0))


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
