#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the bench of whole programs itself: no other test would show a difference that it misses.
Weft is not run.

    bench/programs/bench_test.py [-k WORDS]
"""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import turns  # noqa: E402
from groups import PROGRAMS  # noqa: E402
from measured import median_interval  # noqa: E402
from page import written_page  # noqa: E402
from program import Place, Program, agree  # noqa: E402
from results import PAIRS, Results, Row  # noqa: E402
from run import Bench  # noqa: E402


def program(script, **more):
    return Program("tried", "a program", "it is one", lambda _: ["/bin/sh", "-c", script], **more)


def cost(elapsed, cpu):
    return {"elapsed": elapsed, "cpu": cpu, "voluntary": 10, "involuntary": 1}


def row(ratios, setting="8", cpu=1.0, **more):
    pairs = [{"plain": cost(1, 1), "weft": cost(ratio, cpu), "first": "plain", "stopped": False} for ratio in ratios]
    return Row(program("true", **more), setting, pairs, None)


class BenchOfPrograms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        turns.adopt_orphans()

    def pair(self, tried, weft=()):
        place = Place(self.folder, self.folder, "8", True)
        return turns.pair(tried, place, tried.command(place), list(weft), 0)

    # ---- statistics ------------------------------------------------------------------------------

    def test_the_interval_of_21_ratios_is_from_the_6th_to_the_16th(self):
        self.assertEqual(median_interval(list(range(21, 0, -1))), (6, 16))

    def test_six_ratios_are_the_fewest_that_have_an_interval(self):
        self.assertIsNone(median_interval([1, 2, 3, 4, 5]))
        self.assertEqual(median_interval([6, 2, 3, 4, 5, 1]), (1, 6))

    def test_a_row_is_slower_only_with_its_whole_interval(self):
        self.assertEqual(row([1.02] * 6 + [1.2] * 15).verdict(), "same")
        self.assertEqual(row([1.02] * 5 + [1.2] * 16).verdict(), "slower")

    def test_a_row_that_is_faster_by_more_CPU_time_is_slower(self):
        self.assertEqual(row([0.5] * PAIRS, cpu=1.1).verdict(), "slower")
        self.assertEqual(row([0.5] * PAIRS).verdict(), "faster")

    def test_a_row_with_few_pairs_has_no_verdict_unless_it_is_clearly_faster(self):
        self.assertEqual(row([1.0] * (PAIRS - 1)).verdict(), "few")
        self.assertEqual(row([1.5] * 6).verdict(), "few")
        self.assertEqual(row([0.5] * 6, cpu=0.5).verdict(), "faster")
        self.assertEqual(row([0.5] * 5, cpu=0.5).verdict(), "few")

    def test_a_target_of_its_own_holds_at_its_setting_alone(self):
        self.assertEqual(row([1.3] * PAIRS, targets={"8": 1.2}).verdict(), "target")
        self.assertEqual(row([1.15] * PAIRS, targets={"8": 1.2}).verdict(), "same")
        self.assertEqual(row([1.15] * PAIRS, "64", targets={"8": 1.2}).verdict(), "slower")

    # ---- outputs ---------------------------------------------------------------------------------

    def test_the_last_digits_of_numbers_may_differ_only_where_that_is_allowed(self):
        self.assertTrue(agree(b"sum 0.123456789012 ok\n", b"sum 0.123456789013 ok\n", 1e-10))
        self.assertFalse(agree(b"sum 0.123456789012 ok\n", b"sum 0.123456789013 ok\n", 0))
        self.assertFalse(agree(b"sum 0.1234567 ok\n", b"sum 0.1234568 ok\n", 1e-10))
        self.assertFalse(agree(b"sum 0.5 ok\n", b"sum 0.5 no\n", 1e-10))
        self.assertFalse(agree(b"0.5 1\n", b"0.5\n", 1e-10))

    def test_another_output_is_wrong(self):
        for script, where in (
            ("echo $WAY", "standard output"),
            ("echo $WAY >&2", "standard error"),
            ("echo $WAY > made", "made"),
        ):
            with self.assertRaisesRegex(turns.Wrong, f"{where} differs"):
                self.pair(program(script, written=("made",)), ["/usr/bin/env", "WAY=weft"])

    def test_a_file_of_the_run_before_is_no_output(self):
        with self.assertRaisesRegex(turns.Wrong, "made differs"):
            self.pair(program("[ $WAY ] || echo text > made", written=("made",)), ["/usr/bin/env", "WAY=weft"])

    def test_another_status_is_wrong(self):
        with self.assertRaisesRegex(turns.Wrong, "ends with 0, under weft run with 3"):
            self.pair(program("exit $((WAY))"), ["/usr/bin/env", "WAY=3"])

    def test_a_run_that_does_not_end_is_ended_with_what_it_has_started(self):
        limit, turns.LIMIT_S = turns.LIMIT_S, 0.3
        self.addCleanup(setattr, turns, "LIMIT_S", limit)
        with self.assertRaisesRegex(turns.Wrong, "has not ended"):
            self.pair(program("[ -z $WAY ] || { sleep 600 & sleep 600; }"), ["/usr/bin/env", "WAY=weft"])

    # ---- costs -----------------------------------------------------------------------------------

    def test_processes_that_outlive_their_parent_are_counted(self):
        burn = "import time\nwhile time.process_time() < 0.2: pass"
        made = self.pair(program(f"'{sys.executable}' -S -c '{burn}' & exit 0"))
        for way in turns.WAYS:
            self.assertGreaterEqual(made[way]["cpu"], 0.19)

    def test_the_settings_of_the_caller_do_not_reach_the_program(self):
        place = Place(self.folder, self.folder, "unset", True)
        turns.os.environ["OMP_NUM_THREADS"] = "5"
        self.addCleanup(turns.os.environ.pop, "OMP_NUM_THREADS")
        self.assertNotIn("OMP_NUM_THREADS", place.environment(program("true")))
        place.setting = "8"
        self.assertEqual(place.environment(program("true"))["OMP_NUM_THREADS"], "8")

    # ---- kept results ----------------------------------------------------------------------------

    def results(self):
        return Results(self.folder / "results.json", self.folder, self.folder)

    def test_a_row_that_is_kept_is_found_again_and_one_of_another_build_is_known(self):
        kept = row([0.5, 0.6])
        self.results().keep(kept)
        found = self.results().row(kept.program, "8")
        self.assertEqual(found.pairs, kept.pairs)
        self.assertTrue(self.results().of_this_build(found))
        (self.folder / "cmd").mkdir()
        (self.folder / "cmd" / "weft").write_text("another")
        self.assertFalse(self.results().of_this_build(found))

    def test_results_of_another_machine_are_refused(self):
        kept = self.results()
        kept.kept["machine"] = {"processor": "another"}
        kept.keep(row([1.0]))
        with self.assertRaisesRegex(SystemExit, "another machine"):
            self.results()

    def test_measuring_goes_on_from_the_pairs_that_are_there(self):
        bench, going = Bench(self.folder, True), row([1.0, 1.0])
        bench.weft = ["/usr/bin/env"]
        self.assertTrue(bench.measure(going, 3, 60))
        self.assertEqual(len(going.pairs), 3)
        self.assertEqual(going.pairs[2]["first"], "plain")

    # ---- the page --------------------------------------------------------------------------------

    def test_the_page_lists_each_row_under_its_verdict(self):
        results, names = self.results(), list(PROGRAMS)
        for name, ratio in zip(names, (0.5, 1.0, 1.2)):
            made = row([ratio] * PAIRS, "unset", cpu=ratio)
            results.keep(Row(PROGRAMS[name], "unset", made.pairs, None))
        page = written_page(results, PROGRAMS)
        sections = {part.split("\n")[0]: part for part in page.split("\n## ")}
        for title, name in zip(("What gets faster", "What gains nothing", "What gets slower"), names):
            self.assertIn(f"`{name}`", sections[title])
        self.assertNotIn("What is wrong", sections)

    def test_each_program_says_what_it_does_and_why(self):
        for name, known in PROGRAMS.items():
            self.assertEqual(name, known.name)
            self.assertTrue(known.what and known.why and known.settings)
            self.assertTrue(set(known.targets) <= set(known.settings))


if __name__ == "__main__":
    unittest.main()
