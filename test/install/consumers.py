#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs a build into a fresh place and builds and runs ten consumers of it outside the tree: in C11 and in
C++20, by find_package and by pkg-config, with the shared and with the static library; and a program in abt.h with both.
Three of the installed examples are built and run, too.

    test/install/consumers.py --build build/release --version 0.4.0
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def call(*command, env=None):
    """Runs a command and returns its output; the test ends if the command fails."""
    command = [str(word) for word in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    if done.returncode != 0:
        sys.exit(f"status {done.returncode}: {' '.join(command)}\n{done.stdout}")
    return done.stdout


def check(name, program, prefix, shared):
    """Runs a consumer; the shared one has loaded the installed library, the static one has not."""
    written = call(program, env={"LD_LIBRARY_PATH": str(next(prefix.rglob("libweft.so")).parent)} if shared else {})
    if written != "answer 42\n":
        sys.exit(f"{name}: wrote {written!r}")
    needed = call("objdump", "-p", program)
    if ("libweft.so.0.7" in needed) != shared:
        sys.exit(f"{name}: is {'not ' if shared else ''}linked with libweft.so")
    print(f"{name}: ok", flush=True)


def by_cmake(language, prefix, work, options):
    """Tests find_package(weft), found in the prefix, whatever else is installed."""
    build = work / f"build-{language}"
    compiler = f"-DCMAKE_C_COMPILER={options.cc}" if language == "c" else f"-DCMAKE_CXX_COMPILER={options.cxx}"
    call("cmake", "-G", "Ninja", "-S", work / language, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", compiler)
    call("cmake", "--build", build)
    for kind in ["shared", "static"]:
        check(f"{language}, find_package, {kind}", build / kind, prefix, kind == "shared")
    if language == "cpp":
        call(build / "simulated")  # with weft::sim, which prints nothing


def by_pkg_config(language, prefix, work, options):
    """Tests pkg-config weft; statically it links the whole program, which is what pkg-config --static is for."""
    folder = next(prefix.rglob("weft.pc")).parent
    env = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    compiler = [options.cc, "-std=c11"] if language == "c" else [options.cxx, "-std=c++20"]
    source = work / language / ("consumer.c" if language == "c" else "consumer.cpp")
    for kind, extra in [("shared", []), ("static", ["--static"])]:
        flags = call("pkg-config", *extra, "--cflags", "--libs", "weft", env=env).split()
        program = work / f"{language}-pkg-config-{kind}"
        call(
            *compiler,
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            source,
            *(["-static"] if extra else []),
            *flags,
            "-o",
            program,
        )
        check(f"{language}, pkg-config, {kind}", program, prefix, kind == "shared")
    version = call("pkg-config", "--modversion", "weft", env=env).strip()
    if version != options.version:
        sys.exit(f"pkg-config says version {version}, the project {options.version}")


def by_an_older_program(prefix, work, options):
    """The loader refuses a program that was linked with another version: because that library is missing, and, where a
    link has been put in its place, because that library's symbols are missing."""
    folder = work / "older"
    folder.mkdir()
    (folder / "older.map").write_text("WEFT_0.1 {\nglobal:\n    weft_*;\n};\n")
    (folder / "library.c").write_text("int weft_version(void) { return 600; }\n")
    (folder / "program.c").write_text("int weft_version(void);\nint main(void) { return weft_version() != 600; }\n")
    library, program = folder / "libweft.so.0", folder / "program"
    call(
        options.cc,
        "-shared",
        "-fPIC",
        "-Wl,-soname,libweft.so.0",
        f"-Wl,--version-script={folder / 'older.map'}",
        folder / "library.c",
        "-o",
        library,
    )
    call(options.cc, folder / "program.c", library, "-o", program)
    call(program, env={"LD_LIBRARY_PATH": str(folder)})
    library.unlink()
    installed = next(prefix.rglob("libweft.so"))
    for linked, wanted in [
        (False, "libweft.so.0: cannot open shared object file"),
        (True, "version `WEFT_0.1' not found"),
    ]:
        if linked:
            library.symlink_to(installed)
        done = subprocess.run(
            [program],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"LD_LIBRARY_PATH": f"{folder}:{installed.parent}", "LC_ALL": "C"},
        )
        if done.returncode == 0 or wanted not in done.stdout:
            sys.exit(f"an older program ended with {done.returncode}: {done.stdout}")
    print("an older program: refused", flush=True)


def by_another_layout(prefix, work, options):
    """The loader refuses a program whose inlined code assumes another layout than the library's: the program was linked
    with a library of that layout, and finds this one."""
    folder = work / "layout"
    folder.mkdir()
    node = next(prefix.rglob("libweft.so")).resolve().name.removeprefix("libweft.so.").rsplit(".", 1)[0]
    (folder / "other.map").write_text(f"WEFT_{node} {{\nglobal:\n    weft_*;\n}};\n")
    (folder / "other.c").write_text("const char weft_embed_layout_2 = 1;\n__thread void *weft_local_word;\n")
    (folder / "program.cpp").write_text(
        "#define weft_embed_layout_1 weft_embed_layout_2\n"
        "#include <weft/embed/here.hpp>\n"
        "int main() { return weft::here::running() != nullptr; }\n"
    )
    other, program = folder / f"libweft.so.{node}", folder / "program"
    call(
        options.cc,
        "-shared",
        "-fPIC",
        f"-Wl,-soname,{other.name}",
        f"-Wl,--version-script={folder / 'other.map'}",
        folder / "other.c",
        "-o",
        other,
    )
    env = {**os.environ, "PKG_CONFIG_PATH": str(next(prefix.rglob("weft.pc")).parent)}
    include = call("pkg-config", "--cflags", "weft", env=env).split()
    call(options.cxx, "-std=c++20", *include, folder / "program.cpp", other, "-o", program)
    call(program, env={"LD_LIBRARY_PATH": str(folder)})
    libraries = str(next(prefix.rglob("libweft.so")).parent)
    done = subprocess.run([program], capture_output=True, text=True, env={"LD_LIBRARY_PATH": libraries, "LC_ALL": "C"})
    if done.returncode == 0 or "undefined symbol: weft_embed_layout_2" not in done.stderr:
        sys.exit(f"a program of another layout ended with {done.returncode}: {done.stderr}")
    print("a program of another layout: refused", flush=True)


LIST = "#include <list>\n#include <string>\n#include <weft/algorithm.hpp>\nstd::list<int> list;\n"
# Flags, the source, and the text that the first compiler error contains; `only`: there is no other
# error.
SPAWN = "#include <string>\n#include <weft/spawn.hpp>\nstd::string text;\n"
WRONG = [
    (["-std=c++17"], "#include <weft/weft.hpp>\n", "compile with -std=c++20", False),
    (["-fno-exceptions"], "#include <weft/weft.hpp>\n", "compile without -fno-exceptions", False),
    ([], LIST + "void f() { weft::parallel_for(list, [](int) {}); }\n", "weft::parallel_for(first, last, f", True),
    (
        [],
        LIST + "void f() { weft::parallel_for(0, 9, [](std::string) {}); }\n",
        "weft::parallel_for(first, last, f",
        True,
    ),
    ([], LIST + "void f() { weft::parallel_reduce(list, 0); }\n", "weft::parallel_reduce(first, last, init", True),
    ([], LIST + "void f() { weft::parallel_scan(list, 0); }\n", "weft::parallel_scan(first, last, output", True),
    (
        [],
        LIST + "void f() { weft::parallel_exclusive_scan(list, 0, 0); }\n",
        "weft::parallel_exclusive_scan(first, last, output",
        True,
    ),
    ([], SPAWN + "void f() { weft::spawn([](std::stop_token) {}); }\n", "weft::spawn(f, arguments...)", True),
    ([], SPAWN + "void f() { weft::spawn([](int) {}, text); }\n", "weft::spawn(f, arguments...)", True),
    ([], LIST + "void f() { weft::parallel_sort(list); }\n", "weft::parallel_sort(first, last, compare", True),
]


def by_wrong_programs(prefix, work, options):
    """The compiler says in one sentence how to mend a wrong call or a wrong flag."""
    env = {**os.environ, "PKG_CONFIG_PATH": str(next(prefix.rglob("weft.pc")).parent)}
    include = call("pkg-config", "--cflags", "weft", env=env).split()
    for number, (flags, text, sentence, only) in enumerate(WRONG):
        source = work / f"wrong{number}.cpp"
        source.write_text(text)
        done = subprocess.run(
            [options.cxx, "-std=c++20", *flags, *include, "-fsyntax-only", source],
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C"},
        )
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        if not errors or sentence not in errors[0] or (only and len(errors) != 1):
            sys.exit(f"{text}compiled with {flags}: {done.stderr[:2000]}")
    print("wrong programs: refused in a sentence", flush=True)


def by_argobots(prefix, work, options):
    """Tests a program that uses abt.h, by pkg-config argobots, with the version that programs require."""
    env = {**os.environ, "PKG_CONFIG_PATH": str(next(prefix.rglob("argobots.pc")).parent)}
    call("pkg-config", "--atleast-version=1.2", "argobots", env=env)
    for kind, extra in [("shared", []), ("static", ["--static"])]:
        flags = call("pkg-config", *extra, "--cflags", "--libs", "argobots", env=env).split()
        program = work / f"abt-{kind}"
        call(
            options.cc,
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            HERE / "abt" / "consumer.c",
            *(["-static"] if extra else []),
            *flags,
            "-o",
            program,
        )
        written = call(
            program, env={"LD_LIBRARY_PATH": str(next(prefix.rglob("libabt.so.1")).parent)} if kind == "shared" else {}
        )
        if written != "answer 42\n":
            sys.exit(f"abt, {kind}: wrote {written!r}")
        if ("libabt.so.1" in call("objdump", "-p", program)) != (kind == "shared"):
            sys.exit(f"abt, {kind}: is linked with the other library")
        print(f"abt, pkg-config, {kind}: ok", flush=True)


# The examples that are built here, and what they print; the CMake file configures all of them.
EXAMPLES = {
    "echo_server": "50 connections, 10000 bytes came back\n",
    "domains_in_c": "12 rows of 10000 elements: the total is 450000\n",
    "simulated_test": "values arrive once: passed\norder is kept: passed\nclose wakes all: passed\n",
}


def by_examples(prefix, work, options):
    """Tests the installed folder of examples, copied elsewhere, as a project of its own."""
    shutil.copytree(next(prefix.glob("share/doc/*/examples")), work / "examples")
    build = work / "build-examples"
    call(
        "cmake",
        "-G",
        "Ninja",
        "-S",
        work / "examples",
        "-B",
        build,
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={options.cc}",
        f"-DCMAKE_CXX_COMPILER={options.cxx}",
        "-DCMAKE_BUILD_TYPE=Debug",  # compiles in half of the time
    )
    # Without the simulator there is no weft::sim, and no example that needs it.
    names = [name for name in EXAMPLES if name != "simulated_test" or list(prefix.rglob("libweft_sim.a"))]
    call("cmake", "--build", build, "--target", *names)
    for name in names:
        written = call(build / name)
        if written != EXAMPLES[name]:
            sys.exit(f"{name}: wrote {written!r}")
        print(f"the installed example {name}: ok", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weft-install-") as place:
        work = pathlib.Path(place)
        call("cmake", "--install", options.build, "--prefix", work / "first")
        # The installed tree is moved: nothing in it may remember where it was installed.
        prefix = (work / "first").rename(work / "prefix")
        for wanted in [
            "share/doc/*/LICENSE",
            "share/weft/gdb/weft.py",
            f"**/libweft.so.{options.version}-gdb.py",
        ]:  # test/debugger shows that they work
            if not list(prefix.glob(wanted)):
                sys.exit(f"{wanted} is not installed")
        for language in ["c", "cpp"]:
            shutil.copytree(HERE / language, work / language)
            by_cmake(language, prefix, work, options)
            by_pkg_config(language, prefix, work, options)
        by_an_older_program(prefix, work, options)
        by_another_layout(prefix, work, options)
        by_wrong_programs(prefix, work, options)
        by_examples(prefix, work, options)
        if list(prefix.rglob("argobots.pc")):
            by_argobots(prefix, work, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
