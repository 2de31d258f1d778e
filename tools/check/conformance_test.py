#!/usr/bin/env python3
"""docs/conformance.md and docs/security.md name what holds each rule, and docs/low-half.md what
holds each finding: tests that exist."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
UNIT_TEST = re.compile(r"^TEST(?:_P|_F)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
# In prose, which also names files.
TEST_NAME = re.compile(r"`(\w+\.py::\w+|\w+\.(?!(?:cpp|hpp|h|c|ml|rs|py|md|sh|txt)`)\w+)`")
WITHOUT_TEST = ("not ours: ", "not held: ")


def unit_tests():
    paths = [path for folder in ("src", "lib") for path in (ROOT / folder).rglob("*_test.cpp")]
    return {f"{suite}.{name}" for path in paths
            for suite, name in UNIT_TEST.findall(path.read_text())}


def integration_tests():
    return {f"{path.name}::{name}" for path in (ROOT / "tests").rglob("test_*.py")
            for name in re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE)}


def rows(text):
    """Yields section, rule and what holds it, without the heads of tables."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("section", "about", "---"):
            yield cells


def faults(text, tests):
    for cells in rows(text):
        if len(cells) != 3:
            yield f"{cells}: a row has a section, a rule and what holds it"
            continue
        held_by = cells[2]
        named = re.findall(r"`([^`]+)`", held_by)
        yield from (f"{cells[0]}: there is no test {name}" for name in named if name not in tests)
        if not named and not held_by.startswith(WITHOUT_TEST):
            yield f"{cells[0]}: '{cells[1]}' is held by no test"


def findings(text):
    """Returns what each row of docs/low-half.md states about a finding; the page's last
    table counts them."""
    return [cells for cells in rows(text) if len(cells) == 4 and
            cells[2] in ("held by", "text", "open", "against")]


class ConformanceTest(unittest.TestCase):
    def test_each_rule_is_held_by_tests_that_exist(self):
        page = (ROOT / "docs" / "conformance.md").read_text()
        self.assertGreater(len(list(rows(page))), 100)
        self.assertEqual(list(faults(page, unit_tests() | integration_tests())), [])

    def test_each_promise_is_held_by_tests_that_exist(self):
        page = (ROOT / "docs" / "security.md").read_text()
        self.assertGreater(len(list(rows(page))), 30)
        self.assertEqual(list(faults(page, unit_tests() | integration_tests())), [])

    def test_each_finding_is_held_by_tests_that_exist(self):
        page = (ROOT / "docs" / "low-half.md").read_text()
        tests = unit_tests() | integration_tests()
        for finding in findings(page):
            named = TEST_NAME.findall(finding[3])
            self.assertEqual([name for name in named if name not in tests], [])
            self.assertTrue(named or finding[2] != "held by", finding)
        count = [sum(each[2] == kind for each in findings(page))
                 for kind in ("held by", "text", "open", "against")]
        said = [int(each) for each in re.findall(r"\d+", page.splitlines()[-1])]
        self.assertEqual([sum(count), *count], said)

    def test_what_is_wrong_is_found(self):
        tests = {"suite.name"}
        self.assertEqual(list(faults("| section | rule | x |\n|---|---|---|\n", tests)), [])
        for row, count in [("| 1 | rule | `suite.name` |", 0),
                           ("| 1 | rule | not ours: proxies |", 0),
                           ("| 1 | rule | `suite.gone`, `suite.name` |", 1),
                           ("| 1 | rule | |", 1), ("| 1 | rule | some test |", 1),
                           ("| 1 | rule |", 1)]:
            self.assertEqual(len(list(faults(row, tests))), count, row)


if __name__ == "__main__":
    unittest.main()
