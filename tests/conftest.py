"""Setup for all suites: makes tests/harness and the package tests/faults importable. With
STRATA_CI=1 a skip is a failure, unless allowed_skips.txt names the test."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "harness"))
sys.path.append(str(Path(__file__).resolve().parent))

# A shell's background job ignores SIGINT, and so would every command that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

ALLOWED = Path(__file__).resolve().parent / "allowed_skips.txt"


def allowed_skips():
    lines = [line.split() for line in ALLOWED.read_text().splitlines()]
    return {words[0] for words in lines if words and not words[0].startswith("#")}


def fail_skip(report):
    skipped = report.outcome == "skipped" and not hasattr(report, "wasxfail")
    if not skipped or os.environ.get("STRATA_CI") != "1":
        return
    if re.split(r"[\[@]", report.nodeid)[0] not in allowed_skips():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = (f"{report.nodeid}: {reason}\nIn CI a skip is a failure: see to what the "
                           f"test needs, or name it with its reason in {ALLOWED.name}.")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    fail_skip(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    outcome = yield
    fail_skip(outcome.get_result())
