#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""treesum prints what find and sha256sum print, on small trees made for the tests.

    treesum_test.py PROGRAM [unittest's arguments]
"""
import hashlib
import os
import pathlib
import pty
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

TREESUM = ""
ODD = [
    b"plain",
    b"with space",
    b" begins with a blank",
    b"*star",
    b"-dash",
    b"new\nline",
    b"back\\slash",
    b"carriage\rreturn",
    b"all\\three\n\r",
    b"tab\tted",
    b"quo'te",
    b'dou"ble',
    b"not utf-8 \xff\xfe",
    "ünï".encode(),
    b"dollar$(x)",
    b"\\n",
    b"#hash",
]
ENVIRONMENT = dict(os.environ, LC_ALL="C")
SECONDS = 120


def run(*words, **options):
    """A command's status, output and messages, as bytes."""
    done = subprocess.run(
        words,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        timeout=SECONDS,
        **options,
    )
    return done.returncode, done.stdout, done.stderr


def lines(output):
    """The sorted lines of an output; since names are escaped, no line contains a newline."""
    return sorted(output.split(b"\n"))


class Treesum(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="treesum-"))
        self.place.chmod(0o755)
        self.tree = self.place / "tree"
        self.tree.mkdir()
        self.addCleanup(shutil.rmtree, self.place)

    def treesum(self, *words, **options):
        options.setdefault("cwd", self.place)
        return run(TREESUM, *words, **options)

    def write(self, name, content=b"content"):
        path = os.path.join(os.fsencode(self.tree), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def expected(self, *roots, **options):
        """The output of the usual tools."""
        options.setdefault("cwd", self.place)
        _, found, _ = run("find", *roots, "-type", "f", "-print0", **options)
        return run("xargs", "-0", "-r", "sha256sum", input=found, **options)

    def assert_same_as_tools(self, *roots, words=()):
        status, output, messages = self.treesum(*words, *roots)
        self.assertEqual(lines(output), lines(self.expected(*roots)[1]))
        self.assertEqual((status, messages), (0, b""))

    def odd_tree(self):
        for number, name in enumerate(ODD):
            self.write(name, b"%d" % number)
            self.write(b"dir " + name + b"/in/" + name, b"deep %d" % number)
        self.write(b"empty", b"")
        (self.tree / "empty directory").mkdir()

    # ---- sums ------------------------------------------------------------------------------------

    def test_files_that_lie_in_memory_only_in_part_are_read_whole(self):
        for name, size in ((b"large", 3 << 20), (b"small", 5000)):
            path = self.write(name, os.urandom(size))
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            if size > 1 << 20:
                os.pread(descriptor, 4096, 1 << 20)
            os.close(descriptor)
        self.assert_same_as_tools("tree")

    def test_odd_names_are_escaped_as_sha256sum_does(self):
        self.odd_tree()
        for streams in ("1", "2", "5", "all"):
            self.assert_same_as_tools("tree", words=("--streams", streams))

    def test_paths_are_spelled_as_find_does(self):
        self.odd_tree()
        for roots in (
            ("tree/",),
            ("tree//",),
            ("./tree",),
            (str(self.tree),),
            ("tree/../tree",),
            ("tree", "tree/plain"),
            ("tree", "tree"),
            (b"tree/dir new\nline",),
        ):
            self.assert_same_as_tools(*roots)
        self.assertEqual(lines(self.treesum(".", cwd=self.tree)[1]), lines(self.expected(".", cwd=self.tree)[1]))

    def test_a_name_that_begins_with_a_dash_needs_two_dashes(self):
        self.write(b"-d/file")
        status, output, _ = self.treesum("--", "-d", cwd=self.tree)
        self.assertEqual((status, output.split(b"  ")[1:]), (0, [b"-d/file\n"]))

    def test_a_large_file_is_read_whole(self):
        self.write(b"large", os.urandom(1 << 20) * 9 + b"tail")
        self.write(b"exactly a chunk", b"x" * (128 * 1024))
        self.assert_same_as_tools("tree")

    def test_many_files_need_few_descriptors(self):
        for number in range(1500):
            self.write(b"%d/%d/file" % (number % 50, number), b"z" * (number % 7 * 40_000))
        few = 64
        status, output, messages = self.treesum(
            "--streams", "2", "tree", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))
        )
        self.assertEqual((status, messages), (0, b""))
        self.assertEqual(lines(output), lines(self.expected("tree")[1]))

    def test_a_deep_tree_is_walked(self):
        self.write(b"/".join([b"d"] * 900) + b"/file")
        self.assert_same_as_tools("tree")

    def test_only_regular_files_count_and_links_are_not_followed(self):
        self.write(b"file")
        (self.tree / "link").symlink_to("file")
        (self.tree / "dangling").symlink_to("nowhere")
        (self.tree / "loop").symlink_to(".")
        os.mkfifo(self.tree / "fifo")
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.tree / "socket"))
        self.assert_same_as_tools("tree")
        (self.place / "door").symlink_to("tree")
        self.assertEqual(self.treesum("door")[:2], (0, b""))
        self.assert_same_as_tools("door/")
        self.assertEqual(self.treesum("tree/fifo")[:2], (0, b""))

    def test_a_path_that_is_not_there_is_said(self):
        self.write(b"file")
        status, output, messages = self.treesum("tree", "nowhere", "no where")
        self.assertEqual(
            (status, messages),
            (1, b"treesum: nowhere: No such file or directory\n" b"treesum: 'no where': No such file or directory\n"),
        )
        self.assertEqual(output, self.expected("tree")[1])

    def test_what_may_not_be_read_is_said_and_the_rest_is_summed(self):
        self.write(b"readable")
        os.chmod(self.write(b"secret"), 0)
        self.write(b"closed/file")
        (self.tree / "closed").chmod(0)
        words = [TREESUM, "tree"]
        if os.geteuid() == 0:  # root may read everything
            words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words]
        status, output, messages = run(*words, cwd=self.place)
        (self.tree / "closed").chmod(0o755)
        self.assertEqual(status, 1)
        self.assertEqual(
            lines(messages),
            lines(b"treesum: tree/secret: Permission denied\n" b"treesum: tree/closed: Permission denied\n"),
        )
        self.assertEqual(output, self.expected("tree/readable")[1])

    def test_trees_of_the_kernel_are_not_entered(self):
        if os.stat("/proc").st_dev == os.stat("/").st_dev:
            self.skipTest("there is no /proc of its own")
        # Named, it is entered: one directory of it, where no file blocks.
        status, output, _ = self.treesum("/proc/self/attr")
        self.assertIn(status, (0, 1))
        self.assertNotIn(b"not entered", output)

    def test_output_that_cannot_be_written_is_said(self):
        self.write(b"file")
        with open("/dev/full", "wb") as full:
            status, _, messages = self.treesum("tree", stdout=full)
        self.assertEqual((status, messages), (1, b"treesum: write error: No space left on device\n"))

    def test_progress_is_shown_on_a_terminal_only(self):
        self.odd_tree()
        ours, theirs = pty.openpty()
        done = subprocess.run([TREESUM, "tree"], cwd=self.place, stdout=subprocess.PIPE, stderr=theirs, timeout=SECONDS)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # a terminal reports so that its other end is closed
            pass
        os.close(ours)
        self.assertEqual(lines(done.stdout), lines(self.expected("tree")[1]))
        self.assertRegex(shown, rb"\[[#.]{30}\] \d+ of \d+ files")
        self.assertTrue(shown.endswith(b"\r\033[K"), shown)

    # ---- verification ----------------------------------------------------------------------------

    def assert_verified_as_tools(self, names, list_bytes):
        (self.place / "list").write_bytes(list_bytes)
        status, output, messages = self.treesum("--verify", "list")
        by_tool = run("sha256sum", "-c", "list", cwd=self.place)
        self.assertEqual(lines(output), lines(by_tool[1]), names)
        self.assertEqual(lines(messages), lines(by_tool[2].replace(b"sha256sum: ", b"treesum: ")), names)
        self.assertEqual(status, by_tool[0], names)
        return status

    def test_good_files_are_ok(self):
        self.odd_tree()
        self.assertEqual(self.assert_verified_as_tools("good", self.expected("tree")[1]), 0)
        own = self.treesum("tree")[1]
        self.assertEqual(self.assert_verified_as_tools("own", own), 0)
        status, output, _ = self.treesum("--verify=-", input=own)
        self.assertEqual((status, output.count(b": OK\n")), (0, own.count(b"\n")))

    def test_bad_files_are_told(self):
        self.odd_tree()
        sums = self.expected("tree")[1]
        self.write(b"new\nline", b"changed")
        self.write(b"plain", b"changed")
        os.remove(self.tree / "dir plain/in/plain")
        os.remove(self.tree / "tab\tted")
        (self.tree / "tab\tted").mkdir()
        self.assertEqual(self.assert_verified_as_tools("bad", sums + b"garbage\n\n# a comment\n"), 1)

    def test_every_form_of_line_is_read(self):
        self.write(b"file", b"")
        self.write(b"(a) b", b"")
        digest = hashlib.sha256().hexdigest().encode()
        for form in (
            b"%s  tree/file\n",
            b"%s *tree/file\n",
            b"%s  tree/file\r\n",
            b"%s  tree/file",
            b"%s tree/file\n",
            b"SHA256 (tree/file) = %s\n",
            b"SHA256 (tree/(a) b) = %s\n",
            b"  %s  tree/file\n",
            b"%s  tree/fi\\le\n",
            b"\\%s  tree/f\\xile\n",
            b"\\%s  tree/fi\\\\le\n",
            b"SHA1 (tree/file) = %s\n",
            b"%s\n",
            b"%sf  tree/file\n",
            b"SHA256 (tree/file = %s\n",
            b"%s  \n",
        ):
            self.assert_verified_as_tools(form, form % digest)
        self.assert_verified_as_tools("upper", digest.upper() + b"  tree/file\n")
        self.assert_verified_as_tools("mixed", digest + b"  tree/file\n" + digest + b" tree/file\n")
        self.assert_verified_as_tools("mixed back", digest + b" tree/file\n" + digest + b"  tree/file\n")
        self.assert_verified_as_tools("empty list", b"")

    def test_names_in_messages_are_quoted_as_by_the_tool(self):
        digest = hashlib.sha256().hexdigest().encode()
        names = [b"gone/" + name for name in ODD if all(byte < 0x80 for byte in name)]
        names += [b"both ' and \"", b"it's $5", b"bell\a\x01", b"end\n", b"\nbegin", b"~home"]
        names += [b"a%cb" % byte for byte in b"!#%&()*+,-./:;<=>?@[]^_`{|}~\"$"] + [
            b"a'%cb" % byte for byte in b"!#%:=?{ "
        ]
        names = [name for name in names if b"'" not in name or b"\n" not in name]  # there the tool is not consistent
        names += [b"{", b"}", b"#a", b"~a", b"=a"]
        escaped = [name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r") for name in names]
        text = b"".join(
            (b"\\" if line != name else b"") + digest + b"  " + line + b"\n" for name, line in zip(names, escaped)
        )
        self.assertEqual(self.assert_verified_as_tools("quoted", text), 1)

    def test_a_list_that_is_not_there_is_said(self):
        status, _, messages = self.treesum("--verify", "nowhere")
        self.assertEqual((status, messages), (1, b"treesum: nowhere: No such file or directory\n"))

    # ---- the command line ------------------------------------------------------------------------

    def test_wrong_options_name_the_value_and_the_remedy(self):
        for words, value, remedy in (
            ((), b"no DIR", b"give one"),
            (("--streams", "0", "."), b"'0'", b"'all'"),
            (("--streams=many", "."), b"'many'", b"'all'"),
            (("--streams", "2x", "."), b"'2x'", b"1 to"),
            (("--streams", "-1", "."), b"'-1'", b"1 to"),
            (("--streams",), b"--streams", b"--help"),
            (("--strems", "2"), b"'--strems'", b"--help"),
            (("-x",), b"'-x'", b"--help"),
            (("--verify",), b"--verify", b"--help"),
            (("--verify", "list", "."), b"'.'", b"leave DIR out"),
            (("--streams=99999", "."), b"'99999'", b"1024"),
        ):
            status, output, messages = self.treesum(*words)
            self.assertEqual((status, output), (2, b""), words)
            self.assertEqual(messages.count(b"\n"), 1, words)
            self.assertTrue(messages.startswith(b"treesum: "), words)
            self.assertIn(value, messages)
            self.assertIn(remedy, messages)

    def test_help_is_printed(self):
        status, output, messages = self.treesum("--help")
        self.assertEqual((status, messages), (0, b""))
        for word in (b"--streams", b"--verify", b"Exit status"):
            self.assertIn(word, output)


if __name__ == "__main__":
    TREESUM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
