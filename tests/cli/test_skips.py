"""How tests/conftest.py and tests/CMakeLists.txt treat skipped tests: in CI, a suite that ran
nothing does not pass."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent


@pytest.fixture
def suite(tmp_path):
    """Returns a function that runs a suite of such tests with tests/conftest.py, and returns its
    exit code and output."""
    (tmp_path / "suite").mkdir()
    for name in ("conftest.py", "allowed_skips.txt", "harness"):
        (tmp_path / name).symlink_to(TESTS / name)

    def run(text, in_ci):
        (tmp_path / "suite/test_some.py").write_text("import pytest\n" + text)
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p",
                               "no:cacheprovider", "suite"], cwd=tmp_path, capture_output=True,
                              text=True, timeout=60, check=False,
                              env={**os.environ, "STRATA_CI": "1" if in_ci else ""})
        return done.returncode, done.stdout

    return run


SKIPPED = "def test_one(): pytest.skip('NO GUEST')\n"
PASSED = "def test_other(): pass\n"
MODULE = "pytest.skip('NO GUEST', allow_module_level=True)\n"


@pytest.mark.parametrize("text", [SKIPPED, SKIPPED + PASSED, MODULE + PASSED])
def test_in_ci_a_skip_is_a_failure(suite, text):
    code, printed = suite(text, in_ci=True)
    assert code == 1 or code == 2, printed
    assert "In CI a skip is a failure" in printed


@pytest.mark.parametrize("text, is_skipped", [(SKIPPED, True), (SKIPPED + PASSED, False),
                                              (PASSED, False)])
def test_elsewhere_a_suite_of_which_nothing_ran_is_skipped_and_not_passed(suite, text, is_skipped):
    code, printed = suite(text, in_ci=False)
    assert code == 0, printed
    [words] = re.findall(r'SKIP_REGULAR_EXPRESSION "(.*)"\)',
                         (TESTS / "CMakeLists.txt").read_text())
    assert bool(re.search(words.replace("\\n", "\n"), printed)) == is_skipped, printed
