#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs a build with its checked and sanitizer variants into a fresh place, and builds and runs programs with them
as a user would: by find_package and by pkg-config, with gcc's sanitizers and with clang's, and under `weft run`.

    test/install/variants.py --build build/release
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent / "variants"
SANITIZERS = {"tsan": "thread", "asan": "address"}
OPTIONS = None
PREFIX = WORK = LIBRARIES = None


def call(*command, status=0, env=None):
    """Runs a command that must end with this status, and returns its output."""
    command = [str(word) for word in command]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        env={**os.environ, **(env or {})},
    )
    if status is not None and done.returncode != status:
        raise AssertionError(f"status {done.returncode}: {' '.join(command)}\n{done.stdout}")
    return done.stdout


def run(program, *arguments, status=0, env=None):
    return call(program, *arguments, status=status, env={"LD_LIBRARY_PATH": str(LIBRARIES), **(env or {})})


def install():
    global PREFIX, LIBRARIES
    place = WORK / "installed"
    call("cmake", "--install", OPTIONS.build, "--prefix", place)
    for component in ["checked", "tsan", "asan"]:
        call("cmake", "--install", OPTIONS.build, "--prefix", place, "--component", component)
    PREFIX = place.rename(WORK / "prefix")  # an installed tree may be moved
    LIBRARIES = next(PREFIX.rglob("libweft_checked.so.0.7")).parent


def pkg_config(name, *options):
    return call(
        "pkg-config", *options, "--cflags", "--libs", name, env={"PKG_CONFIG_PATH": str(LIBRARIES / "pkgconfig")}
    ).split()


def build(source, name, *flags, compiler=None):
    """Builds a program of one file with the flags that pkg-config prints for `name`."""
    source = HERE / source
    compiler = compiler or (OPTIONS.cxx if source.suffix == ".cpp" else OPTIONS.cc)
    program = WORK / f"{source.stem}-{name}-{os.path.basename(compiler)}"
    if not program.exists():
        standard = "-std=c++20" if source.suffix == ".cpp" else "-std=c11"
        call(compiler, standard, "-g", "-O1", source, *flags, *pkg_config(name), "-o", program)
    return program


def each(*names):
    """With gcc's sanitizers, which the variants are built for, and with clang's, whose run-time libraries have the same
    interface."""
    compilers = [OPTIONS.cc, *(["clang"] if shutil.which("clang") else [])]
    return [(name, compiler) for name in names for compiler in compilers]


class Names(unittest.TestCase):
    def test_each_library_has_a_target_and_a_pkg_config_file(self):
        source = WORK / "names"
        source.mkdir()
        names = ["weft", "weft_static", "checked", "tsan", "asan", "sim", "argobots"]
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(names LANGUAGES C CXX)\n"
            f"find_package(weft REQUIRED COMPONENTS {' '.join(names)})\n"
            + "".join(f"if(NOT TARGET weft::{name})\n  message(FATAL_ERROR {name})\nendif()\n" for name in names)
        )
        call("cmake", "-G", "Ninja", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}")
        for name in [
            "weft",
            "weft_static",
            "weft_checked",
            "weft_tsan",
            "weft_asan",
            "weft_sim",
            "weft_argobots",
            "argobots",
        ]:
            self.assertTrue(pkg_config(name), name)

    def test_the_libraries_stand_side_by_side(self):
        for name in ["weft", "weft_checked", "weft_tsan", "weft_asan"]:
            self.assertIn(f"lib{name}.so.0.7", call("readelf", "-dW", LIBRARIES / f"lib{name}.so"))

    def test_a_sanitizers_run_time_library_is_left_to_the_program(self):
        for name in SANITIZERS:
            needed = call("readelf", "-dW", LIBRARIES / f"libweft_{name}.so")
            self.assertNotRegex(needed, r"NEEDED.*lib(t|a)san")


class Layout(unittest.TestCase):
    def test_a_program_that_was_compiled_once_works_with_each_library(self):
        object_file = WORK / "here.o"
        call(
            OPTIONS.cxx,
            "-std=c++20",
            "-O2",
            "-c",
            HERE / "here.cpp",
            *pkg_config("weft", "--cflags"),
            "-o",
            object_file,
        )
        for name in ["weft", "weft_static", "weft_checked", "weft_tsan", "weft_asan"]:
            program = WORK / f"here-{name}"
            call(OPTIONS.cxx, object_file, *pkg_config(name), "-o", program)
            self.assertEqual(run(program), "as written\n", name)

    def test_a_program_that_was_linked_with_the_release_runs_on_the_checked_library(self):
        program = build("here.cpp", "weft")
        self.assertEqual(run(program, env={"LD_PRELOAD": str(LIBRARIES / "libweft_checked.so.0.7")}), "as written\n")


class Sanitizers(unittest.TestCase):
    def test_a_program_without_errors_is_told_of_none(self):
        for name, compiler in each(*SANITIZERS):
            with self.subTest(name=name, compiler=compiler):
                program = build("good.c", f"weft_{name}", compiler=compiler)
                self.assertEqual(run(program), "640 64\n")

    def test_a_race_between_units_is_found(self):
        for name, compiler in each("tsan"):
            with self.subTest(name=name, compiler=compiler):
                program = build("race.c", f"weft_{name}", compiler=compiler)
                written = run(program, status=66)
                self.assertIn("WARNING: ThreadSanitizer: data race", written)
                self.assertIn("racing_unit", written)

    def test_an_overflow_on_a_units_stack_is_found(self):
        for name, compiler in each("asan"):
            with self.subTest(name=name, compiler=compiler):
                program = build("overflow.c", f"weft_{name}", compiler=compiler)
                written = run(program, status=1)
                self.assertIn("AddressSanitizer: stack-buffer-overflow", written)
                self.assertIn("overflowing_unit", written)

    def test_they_are_found_by_cmake_as_well(self):
        for name in SANITIZERS:
            place = WORK / f"cmake-{name}"
            shutil.copytree(HERE, place)
            call(
                "cmake",
                "-G",
                "Ninja",
                "-S",
                place,
                "-B",
                place / "build",
                f"-DCMAKE_PREFIX_PATH={PREFIX}",
                f"-DVARIANT={name}",
                f"-DCMAKE_C_COMPILER={OPTIONS.cc}",
                "-DPROGRAMS=good;race;overflow",
            )
            call("cmake", "--build", place / "build")
            self.assertEqual(run(place / "build" / "good"), "640 64\n")
            wrong, status = ("race", 66) if name == "tsan" else ("overflow", 1)
            self.assertIn("Sanitizer", run(place / "build" / wrong, status=status))


class Checked(unittest.TestCase):
    def test_a_program_without_errors_runs_as_with_the_release(self):
        self.assertEqual(run(build("good.c", "weft_checked")), "640 64\n")

    def test_a_unit_that_is_freed_twice_is_told_with_the_call(self):
        written = run(build("stale.c", "weft_checked"), status=-6)
        self.assertIn("weft: weft_unit_join_free: stale handle 0x", written)
        self.assertNotIn("ended", written)


class UnderWeftRun(unittest.TestCase):
    """Tests which build of the library `weft run` preloads, also for programs that are linked with none."""

    def weft(self, *command, status=0, env=None, options=()):
        return call(PREFIX / "bin" / "weft", "run", *options, "--", *command, status=status, env=env)

    def openmp(self, name, compiler=None, *flags):
        program = WORK / f"{name}-openmp-{len(flags)}{''.join(flags).replace('=', '-')}"
        if not program.exists():
            call(compiler or OPTIONS.cc, "-g", "-O1", "-fopenmp", *flags, HERE / f"{name}.c", "-o", program)
        return program

    def test_programs_get_the_release(self):
        maps = self.weft("cat", "/proc/self/maps")
        self.assertIn("/libweft.so.0.7", maps)
        self.assertNotRegex(maps, "libweft_(checked|tsan|asan)")

    def test_a_variable_asks_for_the_checked_library_and_reaches_children(self):
        for value in ["1", "on"]:
            maps = self.weft("sh", "-c", "cat /proc/self/maps; :", env={"WEFT_CHECKED": value})
            self.assertIn("libweft_checked.so.0.7", maps)
        maps = self.weft("cat", "/proc/self/maps", env={"WEFT_CHECKED": "0"})
        self.assertNotIn("libweft_checked", maps)
        written = self.weft("true", env={"WEFT_CHECKED": "yes"}, status=125)
        self.assertEqual(written, "weft run: WEFT_CHECKED is 'yes'; legal are: 1, on, 0, off\n")

    def test_a_checked_run_that_is_not_installed_is_refused_with_the_remedy(self):
        library = LIBRARIES / "libweft_checked.so.0.7"
        aside = library.rename(LIBRARIES / "aside")
        try:
            written = self.weft("true", env={"WEFT_CHECKED": "1"}, status=125)
        finally:
            aside.rename(library)
        self.assertIn("libweft_checked.so.0.7' is not there", written)
        self.assertIn("-DWEFT_VARIANTS=checked", written)

    def test_the_checked_library_tells_a_program_that_was_linked_with_the_release(self):
        program = build("stale.c", "weft")
        written = self.weft(program, env={"WEFT_CHECKED": "1", "LD_LIBRARY_PATH": str(LIBRARIES)}, status=-6)
        self.assertIn("stale handle", written)
        self.assertNotIn("please report", written)  # the program is wrong, and not Weft

    def test_openmp_runs_on_the_checked_library(self):
        self.assertEqual(self.weft(self.openmp("teams"), env={"WEFT_CHECKED": "1"}), "7494520 377 99 6125 20 950 100\n")

    def test_the_thread_sanitizer_finds_races_of_openmp_and_no_others(self):
        written = self.weft(self.openmp("teams", None, "-fsanitize=thread"))
        self.assertEqual(written, "7494520 377 99 6125 20 950 100\n")
        written = self.weft(self.openmp("teams", None, "-fsanitize=thread", "-DRACE"), status=66)
        self.assertIn("WARNING: ThreadSanitizer: data race", written)
        self.assertIn("teams.c", written)

    def test_the_address_sanitizer_finds_what_it_finds_without(self):
        program = self.openmp("teams", None, "-fsanitize=address")
        self.assertEqual(self.weft(program), "7494520 377 99 6125 20 950 100\n")
        written = self.weft(self.openmp("teams", None, "-fsanitize=address", "-DOVERFLOW"), status=1)
        self.assertIn("AddressSanitizer: heap-buffer-overflow", written)
        written = self.weft(self.openmp("teams", None, "-fsanitize=address", "-DLEAK"), status=1)
        self.assertIn("LeakSanitizer: detected memory leaks", written)

    def test_a_sanitizers_program_starts_others_that_have_none(self):
        for name, sanitizer in SANITIZERS.items():
            program = WORK / f"starts-{name}"
            call(OPTIONS.cc, f"-fsanitize={sanitizer}", HERE / "starts.c", "-o", program)
            maps = self.weft(program, "cat", "/proc/self/maps")
            self.assertIn("/libweft.so.0.7", maps)
            self.assertNotIn(f"libweft_{name}", maps)
            self.assertIn(f"libweft_{name}", self.weft(program))

    def test_a_program_linked_with_a_sanitizers_library_gets_that_also_behind_a_shell(self):
        env = {"LD_LIBRARY_PATH": str(LIBRARIES)}
        for name in SANITIZERS:
            program = build("good.c", f"weft_{name}")
            self.assertEqual(self.weft(program, env=env), "640 64\n")
            self.assertEqual(self.weft("sh", "-c", f"{program}; :", env=env), "640 64\n")
        written = self.weft("sh", "-c", f"{build('race.c', 'weft_tsan')}; :", env=env)
        self.assertIn("WARNING: ThreadSanitizer: data race", written)

    def test_the_preview_says_which(self):
        self.assertIn(
            "libweft_tsan.so.0.7, since the program has the thread sanitizer",
            self.weft(self.openmp("teams", None, "-fsanitize=thread"), options=["--preview"]),
        )
        self.assertIn(
            "libweft_checked.so.0.7, since WEFT_CHECKED asks for it",
            self.weft("true", options=["--preview"], env={"WEFT_CHECKED": "1"}),
        )


def main():
    global OPTIONS, WORK
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    OPTIONS, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="weft-variants-") as place:
        WORK = pathlib.Path(place)
        install()
        return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
