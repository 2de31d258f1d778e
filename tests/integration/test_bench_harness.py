"""The statistics of the benchmarks in Python decide as those of strata bench do."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from harness import interval  # noqa: E402

pytestmark = [pytest.mark.once]


def test_an_interval_reaches_from_one_sample_to_another():
    five = interval.estimate([3, 1, 100, 2, 4])
    assert five == {"median": 3, "low": 1, "high": 100, "runs": 5}
    assert interval.estimate([8, 7, 6, 5, 4, 3, 2, 1000])["high"] == 8


def test_its_confidence_follows_from_the_number_of_runs():
    assert interval.confidence(1) == 0
    assert interval.confidence(5) == 1 - 2 / 32
    assert interval.confidence(8) == 1 - 2 * 9 / 256
    assert interval.confidence(4) < 0.9 <= min(map(interval.confidence, range(5, 200)))


def test_ratios_are_of_each_run_by_itself():
    base = [100, 10, 50, 200, 1]
    assert interval.ratio([2 * each for each in base], base)["high"] == 2


@pytest.mark.parametrize("goal, at_least, outcome", [
    (1.5, True, "reached"), (1.6, True, "undecided"), (2.6, True, "missed"),
    (2.5, False, "reached"), (2.4, False, "undecided"), (1.4, False, "missed")])
def test_a_goal_within_the_interval_is_undecided(goal, at_least, outcome):
    figure = {"median": 2, "low": 1.5, "high": 2.5, "runs": 5}
    assert interval.decide(figure, goal, at_least) == outcome
    assert interval.decide({**figure, "runs": 4}, goal, at_least) == "undecided"
