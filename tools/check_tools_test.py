#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A check that cannot fail checks nothing: each tool runs on a small correct tree, and must pass, and on the same tree
with one thing broken, and must name it.

    tools/check_tools_test.py           (one tool: tools/check_tools_test.py Layers)
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent


def run(*command, env=None, cwd=None):
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, cwd=cwd
    )
    return done.returncode, done.stdout


class Tree(unittest.TestCase):
    """A small tree in a fresh folder."""

    files = {}

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="weft-tools-")
        self.addCleanup(place.cleanup)
        self.root = pathlib.Path(place.name)
        for name, text in self.files.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def command(self):
        raise NotImplementedError

    def passes(self):
        status, output = run(*self.command())
        self.assertEqual(status, 0, output)

    def fails(self, saying):
        status, output = run(*self.command())
        self.assertEqual(status, 1, f"passed:\n{output}")
        self.assertIn(saying, output)


class Contracts(Tree):
    files = {
        "include/weft/a.h": "typedef struct weft_a_options {\n    size_t size; /**< its size */\n    int two;\n"
        "    void (*call)(void *with, int how); /**< called */\n    char text[4];\n} weft_a_options;\n"
        "typedef struct weft_a_info {\n    int seen;\n} weft_a_info;\n",
        "include/weft/a.hpp": "inline void make() {\n    weft_a_options options{};\n    options.size = sizeof "
        "options;\n    options.two = 1;\n"
        "    options.call = nullptr;\n    options.text = 0;  // options.none = 1\n}\n",
        "include/weft/b.h": "typedef struct weft_b_hint {\n    size_t size;\n    bool on;\n} weft_b_hint;\n",
        "include/weft/b.hpp": "void put(const weft_b_hint* hint = nullptr);\n",
        "include/weft/settings.h": "typedef struct weft_settings {\n    size_t size;\n    int a;\n    int b;\n} "
        "weft_settings;\n",
        "include/weft/settings.hpp": "void f() { const weft_settings asked{sizeof asked, 1, 2}; }\n",
        "include/weft/c.h": "/** Pushes. */\nWEFT_API weft_status weft_pool_push(weft_pool *pool, weft_unit *unit) "
        "WEFT_NOTHROW;\n",
    }

    def command(self):
        return [TOOLS / "contracts.py", "--root", self.root]

    def test_headers_that_map_each_field_pass(self):
        self.passes()

    def test_a_field_that_cxx_does_not_set_fails(self):
        self.write("include/weft/a.hpp", self.files["include/weft/a.hpp"].replace("    options.call = nullptr;\n", ""))
        self.fails("a.hpp: `options`, a weft_a_options, is not told of call")

    def test_a_field_that_only_a_comment_sets_fails(self):
        self.write(
            "include/weft/a.hpp",
            self.files["include/weft/a.hpp"].replace("    options.two = 1;", "    // options.two = 1;"),
        )
        self.fails("is not told of two")

    def test_an_initialiser_that_is_too_short_fails(self):
        self.write("include/weft/settings.hpp", "void f() { const weft_settings asked{sizeof asked, 1}; }\n")
        self.fails("settings.hpp: `asked`, a weft_settings, is not told of a, b")

    def test_a_structure_that_no_cxx_header_fills_fails(self):
        self.write("include/weft/b.hpp", "")
        self.fails("no C++ header fills weft_b_hint")

    def test_headers_without_structures_fail(self):
        for name in self.files:
            self.write(name, "")
        self.fails("no structure of the C interface was found")

    def call(self, declaration, comment="What it does."):
        self.write("include/weft/c.h", f"/** {comment} */\nWEFT_API {declaration} WEFT_NOTHROW;\n")

    def test_calls_that_keep_the_conventions_pass(self):
        for declaration in [
            "weft_status weft_unit_kind_get(const weft_unit *unit, weft_kind *kind)",
            "weft_unit *weft_unit_self(void)",
            "weft_status weft_pool_push(weft_pool *pool, weft_unit *unit)",
            "weft_status weft_pool_create(int kind, weft_pool **pool)",
        ]:
            self.call(declaration)
            self.passes()

    def test_calls_that_do_not_fail(self):
        for declaration, comment, saying in [
            (
                "weft_status weft_unit_put(weft_pool *pool, weft_unit *unit)",
                "Puts.",
                "its subject, unit, is not its first argument",
            ),
            ("weft_status weft_unit_make(weft_unit **unit, int how)", "Makes.", "how comes behind an output, unit"),
            (
                "size_t weft_unit_id(const weft_unit *unit)",
                "Its id.",
                "told by a getter: weft_unit_id_get(unit, &value)",
            ),
            (
                "weft_status weft_unit_kind(const weft_unit *unit, weft_kind *kind)",
                "Its kind.",
                "a getter's name ends in _get",
            ),
            ("weft_status weft_unit_pause(weft_unit *unit, uint64_t timeout_ns)", "Pauses.", "takes a timeout"),
            (
                "weft_status weft_unit_wait_until(weft_unit *unit, uint64_t deadline_ns, int how)",
                "Does.",
                "its deadline is not the last input",
            ),
            (
                "weft_status weft_unit_wait(weft_unit *unit, uint64_t deadline_ns)",
                "Does.",
                "its name does not end in _until",
            ),
            (
                "weft_status weft_unit_wait_until(weft_unit *unit, uint64_t deadline_ns)",
                "Does.",
                "has no twin without a deadline",
            ),
            (
                "weft_status weft_unit_end(weft_unit *unit)",
                "Waits until it has ended.",
                "has no twin with a deadline, weft_unit_end_until",
            ),
            ("weft_status weft_unit_free(weft_unit *unit)", "Frees it. May switch.".lower(), "a _free does not wait"),
        ]:
            self.call(declaration, comment)
            self.fails(saying)


class Upgrade(Tree):
    """Tests tools/upgrade.py on sources for 0.6."""

    def becomes(self, before, after, notes=()):
        path = self.write("program.c", before)
        status, output = run(TOOLS / "upgrade.py", path)
        self.assertEqual(path.read_text(), after, output)
        self.assertEqual(status, 1 if notes else 0, output)
        for note in notes:
            self.assertIn(note, output)

    def test_names_change_and_longer_ones_that_begin_so_do_not(self):
        self.becomes(
            "weft_unit_free(u); my_weft_unit_free(u); weft_unit_freed(u);",
            "weft_unit_join_free(u); my_weft_unit_free(u); weft_unit_freed(u);",
        )

    def test_arguments_go_to_their_new_places_whatever_they_are(self):
        self.becomes(
            'weft_unit_revive(pool(1, 2), body, (void *[]){a, "(,"}, u);',
            'weft_unit_revive(u, pool(1, 2), body, (void *[]){a, "(,"});',
        )
        self.becomes(
            "weft_timer_start(&t, /* a, b */ f(','), fn, [&] { g(1, 2); });",
            "weft_timer_start(&t, fn, [&] { g(1, 2); }, /* a, b */ f(','));",
        )

    def test_a_call_inside_a_call_is_rewritten_too(self):
        self.becomes(
            "weft_future_wait(g(weft_unit_revive(p, b, a, u)), &v, d);",
            "weft_future_wait_until(g(weft_unit_revive(u, p, b, a)), d, &v);",
        )

    def test_a_deadline_that_is_none_goes(self):
        self.becomes(
            "weft_channel_send(c, &e, WEFT_FOREVER); weft_channel_send(c, &e, 0);",
            "weft_channel_send(c, &e); weft_channel_send_until(c, &e, 0);",
        )
        self.becomes(
            "weft_mutex_lock_until(m, WEFT_URGENCY_LOW, WEFT_FOREVER); weft_mutex_lock_until(m, WEFT_URGENCY_NORMAL, "
            "d);",
            "weft_mutex_lock_urgent(m, WEFT_URGENCY_LOW); weft_mutex_lock_until(m, d);",
        )

    def test_calls_that_are_one_get_a_flag(self):
        self.becomes("weft_unit_resume_exit_to(u);", "weft_unit_hand_off(u, WEFT_TO_SUSPENDED, WEFT_BY_EXIT);")
        self.becomes(
            "Leave leave = weft_unit_exit_to;",
            "Leave leave = weft_unit_exit_to;",
            ["program.c:1: weft_unit_exit_to is weft_unit_hand_off(unit, WEFT_TO_READY, WEFT_BY_EXIT)"],
        )

    def test_headers_have_their_new_places(self):
        self.becomes("#include <weft/here.h>\n", "#include <weft/embed/here.h>\n")

    def test_what_a_person_must_look_at_is_named(self):
        self.becomes(
            "\nif (s == WEFT_CANCELLED) print(weft_unit_id(u));",
            "\nif (s == WEFT_CANCELLED) print(weft_unit_id(u));",
            ["program.c:2: WEFT_CANCELLED a join returns", "program.c:2: weft_unit_id has become weft_unit_id_get"],
        )

    def test_a_look_writes_nothing(self):
        path = self.write("program.c", "weft_unit_free(u);")
        status, output = run(TOOLS / "upgrade.py", "--check", path)
        self.assertEqual((status, path.read_text()), (0, "weft_unit_free(u);"), output)
        self.assertIn("would be rewritten", output)


class Layers(Tree):
    files = {
        "doc/layers.txt": "# comment\nbase\nos base\nunit base os\nabi all of the above\n",
        "src/base/a.hpp": "#pragma once\n",
        "src/base/config.hpp.in": "#pragma once\n",
        "src/os/b.hpp": '#include <vector>\n#include "base/a.hpp"\n#include "base/config.hpp"\n',
        "src/os/linux/b.cpp": '#include "os/b.hpp"\n',
        "src/abi/c.cpp": '#include <weft/weft.h>\n#include "unit/u.hpp"\n#include "os/b.hpp"\n',
        "src/unit/u.hpp": "",
        "src/unit/u_test.cpp": '#include "unit/u.hpp"\n#include "test/helper.hpp"\n#include <gtest/gtest.h>\n',
        "include/weft/weft.h": "",
        "example/e.cpp": '#include <weft/weft.h>\n#include "own.hpp"\n',
        "example/own.hpp": "",
    }

    def command(self):
        return [TOOLS / "layers.py", self.root]

    def test_a_tree_that_goes_with_its_layers_passes(self):
        self.passes()

    def test_an_include_of_a_layer_above_fails(self):
        self.write("src/os/b.hpp", '#include "unit/u.hpp"\n')
        self.fails("src/os/b.hpp:1: os/ may not include unit/")

    def test_an_include_of_a_layer_above_in_brackets_fails(self):
        self.write("src/os/b.hpp", "  #  include <unit/u.hpp>\n")
        self.fails("os/ may not include unit/")

    def test_tests_are_no_exception(self):
        self.write("src/os/b_test.cpp", '#include "unit/u.hpp"\n')
        self.fails("os/ may not include unit/")

    def test_a_layer_that_may_include_one_below_it_in_the_list_fails(self):
        self.write("doc/layers.txt", "base os\nos base\nunit base os\nabi all of the above\n")
        self.fails("layers.txt:1: base may include os, which is not listed above it")

    def test_a_folder_that_is_no_layer_fails(self):
        self.write("src/new/x.cpp", "")
        self.fails("src/new/x.cpp: is in no layer")

    def test_a_file_outside_of_the_layers_fails(self):
        self.write("src/x.cpp", "")
        self.fails("src/x.cpp: is in no layer")

    def test_an_include_by_a_neighbours_name_fails(self):
        self.write("src/unit/u.hpp", '#include "v.hpp"\n')
        self.fails('"v.hpp" does not begin with a layer')

    def test_an_include_of_what_does_not_exist_fails(self):
        self.write("src/unit/u.hpp", '#include "base/gone.hpp"\n')
        self.fails("there is no src/base/gone.hpp")

    def test_an_include_past_the_contract_into_a_chosen_folder_fails(self):
        self.write("src/os/linux/p.hpp", "")
        self.write("src/unit/u.hpp", '#include "os/linux/p.hpp"\n')
        self.fails("os/linux/ is chosen by the build")

    def test_an_include_by_macro_fails(self):
        self.write("src/unit/u.hpp", "#include SOMETHING\n")
        self.fails("includes the macro SOMETHING")

    def test_an_example_that_includes_the_inside_fails(self):
        self.write("example/e.cpp", "#include <unit/u.hpp>\n")
        self.fails("example/e.cpp:1: unit/u.hpp is Weft's inside")

    def test_a_public_header_that_includes_the_inside_fails(self):
        self.write("include/weft/weft.h", '#include "unit/u.hpp"\n')
        self.fails("of Weft it may include <weft/...> only")

    def test_a_circle_of_more_modules_than_allowed_fails(self):
        self.write("doc/layers.txt", "base\nos base\nunit base os\nabi all of the above\nlimit circle 2\n")
        self.write("src/unit/a.hpp", '#include "unit/b.hpp"\n')
        self.write("src/unit/b.hpp", "")
        self.write("src/unit/b.cpp", '#include "unit/a.hpp"\n#include "unit/u.hpp"\n')
        self.passes()
        self.write("src/unit/u.hpp", '#include "unit/a.hpp"\n')
        self.fails("a circle of 3: unit/a unit/b unit/u; at most 2")

    def test_a_test_closes_no_circle(self):
        self.write("doc/layers.txt", "base\nos base\nunit base os\nabi all of the above\nlimit circle 1\n")
        self.write("src/unit/a.hpp", "")
        self.write("src/unit/u.hpp", '#include "unit/a.hpp"\n')
        self.write("src/unit/a_test.cpp", '#include "unit/u.hpp"\n')
        self.passes()

    def test_a_folder_that_is_too_large_fails(self):
        self.write(
            "doc/layers.txt", "base\nos base\nunit base os\nabi all of the above\nlimit folder 50\nlimit unit 4\n"
        )
        self.write("src/base/a.hpp", "#pragma once\n" * 20)
        self.fails("src/base: 75.0 % of the lines of src/; a folder may have 50 %")
        self.write("src/os/b.hpp", "#pragma once\n" * 20)
        self.passes()
        self.write("src/unit/u.hpp", "#pragma once\n" * 5)
        self.fails("src/unit: 5 lines; it may have 4")

    def test_a_limit_of_what_does_not_exist_fails(self):
        self.write("doc/layers.txt", "base\nos base\nunit base os\nabi all of the above\nlimit folders 50\n")
        self.fails("there is no folders to be limited")


class Headers(Tree):
    files = {
        "include/weft/a.h": "#ifndef A_H\n#define A_H\n#include <stddef.h>\nsize_t weft_a(void);\n#endif\n",
        "include/weft/b.hpp": "#pragma once\n#include <string>\ninline std::string b() { return {}; }\n",
        "src/base/c.hpp": "#pragma once\ninline int c() { return NEEDED; }\n",
        "src/base/c.cpp": "",
        "src/arch/other/d.hpp": "#error another processor\n",
    }

    def setUp(self):
        super().setUp()
        source = self.root / "src/base/c.cpp"
        command = f"c++ -std=c++20 -Wall -I{self.root}/src -DNEEDED=1 -o weft_objects.dir/c.o -c {source}"
        self.write(
            "build/compile_commands.json", json.dumps([{"directory": "/", "command": command, "file": str(source)}])
        )

    def command(self):
        return [TOOLS / "headers.py", "--build", self.root / "build", "--root", self.root]

    def test_headers_that_compile_alone_pass(self):
        self.passes()

    def test_a_public_header_that_lacks_an_include_fails(self):
        self.write("include/weft/a.h", "size_t weft_a(void);\n")
        self.fails("weft/a.h as C11: does not compile alone")

    def test_a_public_header_that_is_cpp_only_fails_as_c(self):
        self.write("include/weft/a.h", "inline int& weft_a(int& x) { return x; }\n")
        self.fails("weft/a.h as C11: does not compile alone")

    def test_a_public_header_that_is_c_only_fails_as_cpp(self):
        self.write("include/weft/a.h", "int weft_a(int class);\n")
        self.fails("weft/a.h as C++20: does not compile alone")

    def test_a_warning_in_a_public_header_fails(self):
        self.write("include/weft/b.hpp", "inline int b(int unused) { return 1; }\n")
        self.fails("weft/b.hpp as C++20: does not compile alone")

    def test_a_header_of_ours_that_lacks_an_include_fails(self):
        self.write("src/base/c.hpp", "inline std::string c() { return {}; }\n")
        self.fails("src/base/c.hpp: does not compile alone")


class Variables(Tree):
    files = {
        "src/process/settings.cpp": 'setting("WEFT_ONE", "one");\n',
        "src/process/variables.cpp": 'for_users = {"WEFT_TWO"};\n',
        "src/base/a.cpp": '#include <stdlib.h>\n#ifndef WEFT_MACRO\n#endif\nchar* a = getenv("WEFT_ONE"); '
        '// WEFT_DECLARED, WEFT_OPTION, WEFT_MACRO\n',
        "include/weft/a.h": "enum { WEFT_DECLARED };\n",
        "cmake/a.cmake": "option(WEFT_OPTION)\n",
        "doc/a.md": "`WEFT_TWO` says two\n",
        "cmd/a_test.py": "WEFT_MISSPELT\n",
        "test/a_test.cpp": "// WEFT_MISSPELT\n",
    }

    def command(self):
        return [TOOLS / "variables.py", self.root]

    def test_names_that_are_listed_declared_or_of_the_build_pass(self):
        self.passes()

    def test_a_variable_that_is_read_and_not_listed_fails(self):
        self.write("bridge/a/a.hpp", 'Variable a{"WEFT_THREE"};\n')
        self.fails("bridge/a/a.hpp: WEFT_THREE is in neither src/process/settings.cpp nor src/process/variables.cpp")

    def test_a_variable_of_a_document_that_is_not_listed_fails(self):
        self.write("doc/a.md", "`WEFT_THREE` says three\n")
        self.fails("doc/a.md: WEFT_THREE is in neither")

    def test_a_variable_that_has_the_name_of_an_option_fails(self):
        self.write("src/base/a.cpp", 'char* a = getenv("WEFT_OPTION");\n')
        self.fails("src/base/a.cpp: WEFT_OPTION is in neither")

    def test_a_variable_that_a_test_reads_fails(self):
        self.write("test/a_test.cpp", 'char* a = getenv("WEFT_THREE");\n')
        self.fails("test/a_test.cpp: WEFT_THREE is in neither")

    def test_a_name_that_only_a_comment_of_a_header_has_fails(self):
        self.write("include/weft/a.h", "/* WEFT_DECLARED */\n")
        self.fails("src/base/a.cpp: WEFT_DECLARED is in neither")


class Symbols(Tree):
    files = {
        "include/weft/a.h": "#define WEFT_API __attribute__((visibility(\"default\")))\n"
        "/* WEFT_API int weft_comment(void); */\n"
        "WEFT_API int weft_one(void);\nWEFT_API const char *\nweft_two(int (*f)(void));\n",
        "src/abi/weft.map": "WEFT_0 { /* first */\nglobal:\n    weft_*;\nlocal:\n    *;\n};\n",
        "lib.c": "int weft_one(void) { return 1; }\nconst char *weft_two(int (*f)(void)) { return f ? \"\" : 0; }\n"
        "int other(void) { return 1; }\n",
    }

    def command(self):
        status, output = run(
            "cc",
            "-shared",
            "-fPIC",
            f"-Wl,--version-script={self.root}/src/abi/weft.map",
            self.root / "lib.c",
            "-o",
            self.root / "lib.so",
        )
        self.assertEqual(status, 0, output)
        return [TOOLS / "symbols.py", "--library", self.root / "lib.so", "--root", self.root]

    def test_a_library_that_exports_what_is_declared_passes(self):
        self.passes()

    def test_a_declared_function_that_is_not_exported_fails(self):
        self.write("lib.c", "int weft_one(void) { return 1; }\n")
        self.fails("weft_two: declared in a public header, but not exported")

    def test_an_exported_symbol_that_is_not_declared_fails(self):
        self.write("lib.c", self.files["lib.c"] + "int weft_inner;\n")
        self.fails("weft_inner: exported, but no public header declares it")

    def test_a_map_that_lets_everything_out_fails(self):
        self.write("src/abi/weft.map", "WEFT_0 { global: *; };\n")
        self.fails("other: exported, but no public header declares it")

    def test_a_map_that_names_what_does_not_exist_fails(self):
        self.write("src/abi/weft.map", "WEFT_0 { global: weft_*; weft_gone; local: *; };\n")
        self.fails("weft.map: weft_gone matches nothing")


class ListedSymbols(Tree):
    files = {"exports.txt": "abt_one\nabt_two\n", "lib.c": "int abt_one(void) { return 1; }\nint abt_two;\n"}

    def command(self):
        status, output = run("cc", "-shared", "-fPIC", self.root / "lib.c", "-o", self.root / "lib.so")
        self.assertEqual(status, 0, output)
        return [TOOLS / "symbols.py", "--library", self.root / "lib.so", "--list", self.root / "exports.txt"]

    def test_a_library_that_exports_what_is_listed_passes(self):
        self.passes()

    def test_a_listed_symbol_that_is_not_exported_fails(self):
        self.write("lib.c", "int abt_one(void) { return 1; }\n")
        self.fails("abt_two: in exports.txt, but not exported")

    def test_an_exported_symbol_that_is_not_listed_fails(self):
        self.write("lib.c", self.files["lib.c"] + "int jump;\n")
        self.fails("jump: exported, but not in exports.txt")

    def test_a_list_that_is_not_in_order_fails(self):
        self.write("exports.txt", "abt_two\nabt_one\n")
        self.fails("exports.txt: abt_one stands after abt_two")


class Documented(Tree):
    files = {
        "include/weft/a.h": "/* One thing.\n * Two. */\n/** What a call came to. */\ntypedef enum weft_s { WEFT_A = "
        "0, /**< fine */ } weft_s;\n"
        "/** A place. */\ntypedef struct weft_p { int x; /**< across */ } weft_p;\n"
        "/** Does it. */\nWEFT_API int weft_a(int x) WEFT_NOTHROW;\n"
        "/** A number. */\n#define WEFT_N 1\n"
    }

    def command(self):
        return [TOOLS / "documented.py", self.root]

    def more(self, text):
        self.write("include/weft/b.hpp", "// The second\n// header.\n#pragma once\n" + text)

    def test_documented_headers_pass(self):
        self.more(
            "/** All of it. */\nnamespace weft {\n/** A thing. */\nclass thing {\npublic:\n/** Makes one. */\n"
            "thing();\n"
            "private:\nint hidden_;\n};\nnamespace detail { int inner(); }\n}\n"
        )
        self.passes()

    def test_a_header_that_does_not_say_what_it_is_fails(self):
        self.write("include/weft/b.hpp", "#pragma once\n")
        self.fails("opens with no comment")

    def test_an_undocumented_function_fails(self):
        self.more("int weft_b(void);\n")
        self.fails("weft_b")

    def test_an_undocumented_enumerator_fails(self):
        self.more("/** Kinds. */\nenum weft_k { WEFT_K1 };\n")
        self.fails("WEFT_K1")

    def test_an_undocumented_struct_fails(self):
        self.more("struct weft_q { int y; /**< y */ };\n")
        self.fails("weft_q")

    def test_an_undocumented_field_fails(self):
        self.more("/** Q. */\nstruct weft_q { int y; };\n")
        self.fails("Member y")

    def test_an_undocumented_type_fails(self):
        self.more("typedef int weft_t;\n")
        self.fails("weft_t")

    def test_an_undocumented_macro_fails(self):
        self.more("#define WEFT_M 2\n")
        self.fails("WEFT_M")

    def test_an_undocumented_member_function_fails(self):
        self.more("/** All of it. */\nnamespace weft {\n/** A thing. */\nclass thing {\npublic:\nthing(int);\n};\n}\n")
        self.fails("thing(int)")

    def test_an_undocumented_function_of_a_namespace_fails(self):
        self.more("/** All of it. */\nnamespace weft {\nint bare();\n}\n")
        self.fails("bare()")


LICENCE = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"


class Tidy(Tree):
    files = {
        "src/base/atomic.hpp": "#pragma once\n#include <atomic>\ntemplate <class T>\nusing atomic = std::atomic<T>;\n",
        "src/base/a.cpp": "#include \"base/atomic.hpp\"\n#define WEFT_ASSERT(x) x\n#define CONSTANT 1\n"
        "// release: pairs with the acquire in b().\n"
        "void a() { x.store(1, std::memory_order_release); }\n"
        "const char* t = \"thread_local #if\";   // thread_local is not used, #if neither\n",
        "README.md": "fine\n",
    }

    def write(self, name, text, licence=LICENCE):
        return super().write(name, (licence if name.endswith((".h", ".hpp", ".cpp")) else "") + text)

    def command(self):
        return [TOOLS / "tidy.py", self.root]

    def test_a_tidy_tree_passes(self):
        self.passes()

    def test_unfinished_work_fails(self):
        self.write("README.md", "TO" + "DO: more\n")
        self.fails("README.md:1")

    def test_unfinished_work_in_a_comment_fails(self):
        self.write("include/weft/a.h", "/* FIX" + "ME */\n")
        self.fails("include/weft/a.h:2")

    def test_a_long_line_of_prose_fails(self):
        words = "word " * 21
        self.write("README.md", words + "\n")
        self.fails("README.md:1: 105 columns; there may be 100")
        self.write("README.md", f"fine\n\n| {words} |\n\n```\n{words}\n```\n")
        self.passes()
        self.write("src/base/b.cpp", f"// {words}\n")
        self.fails("src/base/b.cpp:2: 108 columns; there may be 100")
        self.write("src/base/b.cpp", f"int a_name_that_is_long_enough;{' ' * 60}// a trailing comment\n")
        self.passes()

    def test_a_sentence_without_a_subject_fails(self):
        for text in ("Who waits is woken.", "It is over. Whoever waits is woken.", "- Who waits: woken."):
            self.write("README.md", text + "\n")
            self.fails("README.md:1: 'Who': name the subject")
            self.write("README.md", "fine\n")
            self.write("src/base/b.cpp", f"int x;   // {text}\n")
            self.fails("src/base/b.cpp:2: 'Who': name the subject")
            self.write("src/base/b.cpp", f"int x;\n")
        self.write("README.md", "Who waits? A unit whose mutex is held,\nWho is a band.\n")
        self.passes()

    def test_a_thread_that_is_a_person_fails(self):
        self.write("src/base/b.cpp", f"// The thread keeps his hart.\n")
        self.fails("src/base/b.cpp:2: 'his': a thread is 'it'")

    def test_a_source_without_a_licence_fails(self):
        self.write("src/base/b.cpp", "int x;\n", licence="")
        self.fails("src/base/b.cpp:1: the first lines do not say 'SPDX")

    def test_a_conditional_fails(self):
        for word in ["#if X", "#ifdef X", "  # ifndef X"]:
            self.write("src/base/b.cpp", f"int x;\n{word}\n#endif\n")
            self.fails("src/base/b.cpp:3: #if")

    def test_a_function_like_macro_fails(self):
        self.write("src/base/b.cpp", "#define TWICE(x) ((x) + (x))\n")
        self.fails("function-like macro TWICE")

    def test_a_thread_local_fails(self):
        self.write("src/base/b.cpp", "static thread_local int x;\n")
        self.fails("src/base/b.cpp:2: thread_local")

    def test_a_fence_fails(self):
        self.write(
            "src/base/b.cpp",
            "// release: pairs with a.\nvoid b() { std::atomic_thread_fence(std::memory_order_release); }\n",
        )
        self.fails("a stand-alone fence")

    def test_std_atomic_beside_the_seam_fails(self):
        self.write("src/base/b.cpp", "std::atomic<int> x;\n")
        self.fails("base/atomic.hpp is the seam")

    def test_a_file_may_give_one_reason_for_all_its_orders(self):
        self.write(
            "src/base/b.cpp",
            "// relaxed throughout: counts.\n" + "\n" * 20 + "int b() { return x.load(std::memory_order_relaxed); }\n",
        )
        self.passes()
        self.write(
            "src/base/b.cpp",
            "// relaxed throughout: counts.\n" + "\n" * 20 + "int b() { return x.load(std::memory_order_acquire); }\n",
        )
        self.fails("memory_order_acquire: no comment")

    def test_a_weak_order_without_a_word_fails(self):
        self.write("src/base/b.cpp", "int b() { return x.load(std::memory_order_acquire); }\n")
        self.fails("memory_order_acquire: no comment")

    def test_a_weak_order_with_a_comment_on_another_one_fails(self):
        self.write(
            "src/base/b.cpp", "// release: so that it is seen.\nint b() { return x.load(std::memory_order_acquire); }\n"
        )
        self.fails("memory_order_acquire: no comment")

    def test_a_weak_order_far_below_its_comment_fails(self):
        self.write(
            "src/base/b.cpp",
            "// relaxed: a count.\n" + "\n" * 11 + "int b() { return x.load(std::memory_order_relaxed); }\n",
        )
        self.fails("memory_order_relaxed: no comment")


class Group(Tree):
    """Tests tools/group.py on build folders whose tests are written by hand."""

    def tests(self, *entries):
        lines = []
        for name, command, labels in entries:
            lines.append(f"add_test({name} {command})\nset_tests_properties({name} PROPERTIES LABELS \"{labels}\")\n")
        self.write("CTestTestfile.cmake", "".join(lines))

    def command(self, group="asan", size="quick"):
        return [TOOLS / "group.py", "--build", self.root, "--group", group, "--size", size, "--jobs", "2"]

    def test_a_group_runs_its_own_tests_and_no_others(self):
        self.tests(
            ("one", "true", "asan;quick;budget=9s"),
            ("two", "true", "asan;quick;budget=9s"),
            ("other", "false", "asan2;quick;budget=9s"),
            ("longer", "false", "asan;full;budget=90s"),
        )
        status, output = run(*self.command())
        self.assertEqual(status, 0, output)
        self.assertIn("group asan, quick: budget 9 s", output)
        self.assertIn("of 9 s", output)
        self.assertEqual(output.splitlines()[-1], "2 passed, 0 failed")

    def test_a_failing_test_is_counted(self):
        self.tests(("one", "true", "asan;quick;budget=9s"), ("two", "false", "asan;quick;budget=9s"))
        self.fails("\n1 passed, 1 failed\n")

    def test_a_program_that_is_missing_fails(self):
        self.tests(("one", "/nowhere/program", "asan;quick;budget=9s"))
        self.fails("\n0 passed, 1 failed\n")

    def test_a_group_without_tests_fails(self):
        self.tests(("one", "true", "tsan;quick;budget=9s"))
        self.fails("there is no test in it")

    def test_a_test_without_a_budget_fails(self):
        self.tests(("one", "true", "asan;quick;budget=9s"), ("two", "true", "asan;quick"))
        self.fails("tests without a budget label: two")

    def test_tests_that_disagree_on_the_budget_fail(self):
        self.tests(("one", "true", "asan;quick;budget=9s"), ("two", "true", "asan;quick;budget=8s"))
        self.fails("disagree on its budget")

    def hanging(self, name):
        """A test that hangs after starting a process in a session of its own, and the file that the process touches."""
        mark = self.root / f"{name}-alive"
        script = self.write(
            f"{name}.sh", f"#!/bin/sh\nsetsid sh -c 'while :; do date +%s%N > {mark}; sleep 0.1; done' &\n" "sleep 60\n"
        )
        script.chmod(0o755)
        return (name, script, "asan;quick;budget=1s"), mark

    def ended(self, mark):
        last = mark.read_text()
        time.sleep(0.5)
        self.assertEqual(mark.read_text(), last, "what the test started lives on")

    def test_a_child_that_has_ended_and_was_not_waited_for_is_nobody_left_behind(self):
        script = self.write("leaves.sh", "#!/bin/sh\n(sleep 0.1 &)\nsleep 0.5\n")
        script.chmod(0o755)
        self.tests(("leaves", script, "asan;quick;budget=9s"))
        status, output = run(*self.command())
        self.assertEqual(status, 0, output)
        self.assertNotIn("left processes", output)

    def test_what_a_test_leaves_behind_is_told_and_killed(self):
        mark = self.root / "left-alive"
        script = self.write(
            "leaves.sh",
            f"#!/bin/sh\nsetsid sh -c 'while :; do date +%s%N > {mark}; sleep 0.1; done' > {self.root}/out 2>&1 &\n"
            "sleep 0.5\n",
        )
        script.chmod(0o755)
        self.tests(("leaves", script, "asan;quick;budget=9s"))
        _, output = run(*self.command())
        self.assertIn("tests left processes behind", output)
        self.ended(mark)

    def test_a_test_that_hangs_ends_before_its_group_with_all_it_started(self):
        entry, mark = self.hanging("hangs")
        self.tests(entry, ("one", "true", "asan;quick;budget=1s"))
        self.fails("\n1 passed, 1 failed\n")
        self.ended(mark)

    def test_a_group_is_stopped_at_three_times_its_budget_with_all_it_started(self):
        first, first_mark = self.hanging("first")
        second, second_mark = self.hanging("second")
        self.tests(first, second)
        begin = time.monotonic()
        status, output = run(*self.command()[:-1], "1")
        self.assertEqual(status, 1, output)
        self.assertRegex(output, "stopped at 3 times its budget; still running: (first|second)")
        self.assertGreaterEqual(time.monotonic() - begin, 3)
        self.ended(first_mark)
        self.ended(second_mark)

    def test_a_group_that_is_interrupted_takes_its_tests_along(self):
        mark = self.root / "alive"
        script = self.write("hang.sh", f"#!/bin/sh\nwhile :; do date +%s%N > {mark}; sleep 0.1; done\n")
        script.chmod(0o755)
        self.tests(("hangs", script, "asan;quick;budget=60s"))
        for number in [signal.SIGINT, signal.SIGTERM]:
            mark.unlink(missing_ok=True)
            group = subprocess.Popen(
                [str(word) for word in self.command()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            while not mark.exists():
                time.sleep(0.05)
            group.send_signal(number)
            self.assertNotEqual(group.wait(20), 0)
            last = mark.read_text()
            time.sleep(0.5)
            self.assertEqual(mark.read_text(), last, f"after signal {number} the test lives on")


class Treesum(Tree):
    """Tests tools/treesum with a substitute for treesum."""

    files = {"tree/a": "a\n", "tree/b c": "b\n", "build/example/tour": "#!/bin/sh\necho tour\n"}

    def command(self):
        return [TOOLS / "treesum", self.root / "build", self.root / "tree"]

    def treesum(self, script):
        self.write("build/example/treesum", f"#!/bin/sh\n{script}\n").chmod(0o755)
        (self.root / "build/example/tour").chmod(0o755)

    def test_equal_outputs_pass_whatever_their_order(self):
        self.treesum('find "$1" -type f -print0 | xargs -0 sha256sum | sort -r')
        status, output = run(*self.command())
        self.assertEqual(status, 0, output)
        self.assertIn("The outputs are equal", output)
        self.assertIn("times as fast", output)
        self.assertEqual(output.splitlines()[-1], "tour")

    def test_a_file_left_out_fails(self):
        self.treesum('find "$1" -name a -print0 | xargs -0 sha256sum')
        self.fails("The outputs differ")

    def test_a_status_that_lies_fails(self):
        self.treesum('find "$1" -type f -print0 | xargs -0 sha256sum; exit 1')
        self.fails("sha256sum ended with status 0 and treesum with 1")

    def test_a_tour_that_fails_fails(self):
        self.treesum('find "$1" -type f -print0 | xargs -0 sha256sum')
        self.write("build/example/tour", "#!/bin/sh\necho lost; exit 1\n")
        self.fails("lost")


class Setup(Tree):
    """Tests tools/setup on a machine where nothing is installed."""

    def machine(self, user, installed=""):
        folder = self.root / "bin"
        folder.mkdir()
        for name in ["sh", "dirname", "awk", "head", "env"]:
            (folder / name).symlink_to(shutil.which(name))
        scripts = {
            "id": f"echo {user}",
            "apt-get": f'echo "$@" >> {self.root}/calls',
            "dpkg-query": f'for p; do :; done; case " {installed} " in *" $p "*) echo installed;; *) exit 1;; esac',
        }
        for name, script in scripts.items():
            self.write(f"bin/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)
        return {"PATH": str(folder)}

    def test_without_root_it_prints_one_line_to_run_and_fails(self):
        status, output = run(TOOLS / "setup", "demo", env=self.machine(1000, installed="cmake"))
        self.assertEqual(status, 1)
        line = output.splitlines()[-1]
        self.assertTrue(line.startswith("sudo "), output)
        self.assertIn(" libssl-dev", line)
        self.assertNotIn(" cmake", line)
        self.assertFalse((self.root / "calls").exists())

    def test_as_root_it_installs_what_is_missing(self):
        status, output = run(TOOLS / "setup", "demo", env=self.machine(0, installed="cmake"))
        self.assertEqual(status, 0, output)
        update, install = (self.root / "calls").read_text().splitlines()
        self.assertIn("update", update)
        self.assertIn(" libssl-dev", install)
        self.assertNotIn(" cmake", install)

    def test_with_everything_there_it_does_nothing(self):
        wanted = [
            line.split()[0]
            for line in (TOOLS / "packages.txt").read_text().splitlines()
            if line and not line.startswith("#")
        ]
        status, output = run(TOOLS / "setup", "demo", "test", "bench", env=self.machine(0, installed=" ".join(wanted)))
        self.assertEqual((status, output), (0, ""))
        self.assertFalse((self.root / "calls").exists())

    def test_a_set_that_no_package_belongs_to_fails(self):
        self.assertEqual(run(TOOLS / "setup", "nothing", env=self.machine(0))[0], 2)


if __name__ == "__main__":
    del Tree.command  # only its children are run
    unittest.main()
