#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Help texts, manual pages and shell completion of `weft`: each test is a sentence about what a user finds there.

    cmd/help_test.py --build build/release [--cc gcc] [-k WORDS]
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import info_test

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAN = ROOT / "doc" / "man"
COMPLETION = ROOT / "cmd" / "completion"


def options_of(text):
    """The long options of a help text."""
    return set(re.findall(r"(?<![\w-])(--[a-z-]{2,})", text))


def options_of_page(name):
    """The long options that a manual page lists as items."""
    items = re.findall(r"^\.It (.*)$", (MAN / name).read_text(), re.M)
    return {"-" + word for item in items for word in re.findall(r"(?:Fl|,) (-[a-z-]+)", item)}


class Case(info_test.Case):
    def text(self, *arguments):
        done = self.call(self.weft, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout


class Help(Case):
    def test_is_had_by_three_ways_of_asking(self):
        self.assertEqual(self.text("help"), self.text("--help"))
        for command in ("run", "info"):
            self.assertEqual(self.text("help", command), self.text(command, "--help"))
            self.assertEqual(self.text("help", command), self.text(command, "-h"))

    def test_fits_a_terminal(self):
        for arguments in (["help"], ["help", "run"], ["help", "info"]):
            for line in self.text(*arguments).splitlines():
                self.assertLessEqual(len(line), 110, line)

    def test_an_argument_that_is_unknown_is_refused_by_name(self):
        for arguments, named in (
            (["fly"], "fly"),
            (["--fly"], "--fly"),
            (["help", "fly"], "fly"),
            (["help", "run", "fly"], "fly"),
            (["--help", "fly"], "fly"),
            (["--version", "fly"], "fly"),
            (["info", "--fly"], "--fly"),
            (["info", "fly"], "fly"),
            (["info", "--json", "fly"], "fly"),
            (["run", "--fly", "true"], "--fly"),
        ):
            with self.subTest(arguments=arguments):
                done = self.call(self.weft, *arguments)
                self.assertEqual((done.returncode, done.stdout), (125, ""))
                self.assertIn(f"'{named}'", done.stderr)

    def test_without_a_command_it_is_an_error(self):
        done = self.call(self.weft)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (125, "", self.text("help")))


class Json(Case):
    def test_has_what_the_text_has(self):
        said = json.loads(self.text("info", "--json"))
        text = self.text("info")
        self.assertIn(f"Weft {said['version']}\n", text)
        values = self.settings()[0]
        self.assertEqual({one["name"]: one["value"] for one in said["settings"]}, values)
        self.assertIn(f"weft_init(NULL) starts {said['streams']}: ", text)
        self.assertIn(f"may use {said['harts_used']} of {said['hardware_threads']} hardware threads", text)
        self.assertEqual(len(said["topology"]), len(re.findall(r"^  hart \d+: CPU", text, re.M)))

    def test_has_each_key_in_the_manual_page(self):
        page = (MAN / "weft-info.1").read_text()
        said = json.loads(self.text("info", "--json"))
        keys = set(said) | set(said["settings"][0])
        for place in said["topology"][:1]:
            keys |= set(place)
        for key in keys:
            self.assertRegex(page, rf"\bVa {key}\b", key)

    def test_quotes_whatever_a_variable_holds(self):
        done = self.call(self.weft, "info", "--json", env={"WEFT_TRACE": '/tmp/a"b\\c\x01d'})
        values = {one["name"]: (one["value"], one["from"]) for one in json.loads(done.stdout)["settings"]}
        self.assertEqual(values["WEFT_TRACE"], ('/tmp/a"b\\c\x01d', "environment"))

    def test_has_the_values_that_are_not_legal_and_fails(self):
        done = self.call(self.weft, "info", "--json", env={"WEFT_STREAMS": "none", "WEFT_STEAMS": "3"})
        said = json.loads(done.stdout)
        self.assertEqual((done.returncode, said["streams"]), (1, 0))
        self.assertIn(info_test.told("WEFT_STEAMS", "WEFT_STREAMS"), said["misspelt"])
        self.assertIn("WEFT_STEAMS=3", said["other_variables"])


class Pages(Case):
    def test_have_the_options_of_the_help_texts_and_no_others(self):
        for command in ("run", "info"):
            self.assertEqual(options_of_page(f"weft-{command}.1"), options_of(self.text("help", command)), command)

    def test_of_the_variables_have_all_with_their_defaults_and_legal_words(self):
        items = dict(
            re.findall(r"^\.It Ev (WEFT_\w+)\n(.*?)(?=^\.(?:It|El)\b)", (MAN / "weft.7").read_text(), re.M | re.S)
        )
        settings = {one["name"]: one for one in json.loads(self.text("info", "--json"))["settings"]}
        self.assertEqual(set(items), set(settings))
        for name, setting in settings.items():
            page = set(re.findall(r"[\w-]+", items[name]))
            words = re.sub(
                r"a file's name that begins with / or \.|a file's name|a file|a number from", "", setting["legal"]
            )
            words = re.sub(r" but none of a fault| \(not .*\)", "", words)
            for word in {setting["default"], *re.findall(r"[\w-]+", words)} - {"or", "to", "and"}:
                self.assertIn(word, page, name)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_are_well_formed(self):
        for page in sorted(MAN.iterdir()):
            done = self.call("mandoc", "-Tlint", "-Wwarning", page)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Completion(Case):
    """What bash offers for the last word, without the package bash-completion."""

    def offered(self, *words):
        script = f'. "{COMPLETION}/weft.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft 2>/dev/null; '
        done = self.call("bash", "-c", script + 'printf "%s\\n" "${COMPREPLY[@]}"', "bash", "weft", *words)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_of_bash_offers_the_commands_and_their_options(self):
        self.assertEqual(set(self.offered("")), {"run", "info", "help", "--help", "--version"})
        self.assertEqual(set(self.offered("help", "")), {"run", "info"})
        for command in ("run", "info"):
            offered = {option.split("=")[0] for option in self.offered(command, "--")}
            self.assertEqual(offered, options_of(self.text("help", command)))

    def test_of_bash_offers_the_values_of_an_option(self):
        self.assertEqual(self.offered("run", "--openmp", "=", ""), ["weft", "native"])
        self.assertEqual(self.offered("run", "--openmp", "n"), ["native"])
        self.assertEqual(self.offered("run", "--tbb", "=", "n"), ["native"])
        self.assertEqual(self.offered("run", "--blas", "=", ""), ["weft", "native"])
        self.assertEqual(self.offered("run", "--guests", "=", "ad"), ["admit"])

    def test_of_bash_offers_programs_behind_the_options(self):
        for before in ([], ["--"], ["--harts", "2"], ["--harts", "=", "2"], ["--report", "--"], ["--no-rescue"]):
            self.assertIn("env", self.offered("run", *before, "en"), before)
        self.assertEqual(
            self.offered("run", "--harts", "2", "--preview", "env", str(ROOT / "READ")), [f"{ROOT}/README.md"]
        )

    def test_of_zsh_and_fish_has_each_option(self):
        for name in ("_weft", "weft.fish"):
            text = (COMPLETION / name).read_text()
            for option in options_of(self.text("help", "run")) | options_of(self.text("help", "info")):
                self.assertRegex(text, rf"(?:--|-l ){option[2:]}\b", name)

    def test_is_read_by_each_shell_that_is_installed(self):
        for shell, check, name in (("bash", "-n", "weft.bash"), ("zsh", "-n", "_weft"), ("fish", "-n", "weft.fish")):
            if shutil.which(shell):
                done = subprocess.run([shell, check, COMPLETION / name], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)


if __name__ == "__main__":
    info_test.main()
