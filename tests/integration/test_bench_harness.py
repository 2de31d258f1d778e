"""The common parts of the Python benchmarks: their statistics decide as those of strata bench do,
and their namespaces are removed at the end."""

import subprocess
import sys
from types import SimpleNamespace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from harness import comparison, interval, links  # noqa: E402
from harness.goal import Goal, goal_line, judge, summarise_runs  # noqa: E402

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


BASE = [100, 10, 50, 200, 1]  # runs on a machine that others also use


def contenders(own, base):
    return {"strata": summarise_runs([{"cpu_us": each} for each in own]),
            "redis": summarise_runs([each and {"cpu_us": each} for each in base])}


def test_a_goal_is_judged_within_each_run():
    figures = contenders([0.7 * each for each in BASE], BASE)
    assert figures["strata"]["cpu_us"] == {
        "median": 35, "low": 0.7, "high": 140, "runs": 5,
        "of_each_run": [0.7 * each for each in BASE]}
    (found,) = judge([Goal("cpu_us", 0.75, "redis")], figures)
    assert found["outcome"] == "reached"
    assert found["value"]["runs"] == 5
    assert found["value"]["low"] == pytest.approx(0.7) == found["value"]["high"]
    assert goal_line(found, "CPU") == (
        "CPU of strata to redis: 0.70 (0.70 to 0.70), goal at most 0.75: reached")
    assert judge([Goal("cpu_us", 0.65, "redis")], figures)[0]["outcome"] == "missed"
    assert judge([Goal("cpu_us", 0.65, "redis", at_least=True)], figures)[0]["outcome"] == "reached"


def test_a_goal_without_a_base_is_about_the_figure_itself():
    (found,) = judge([Goal("cpu_us", 1200)], contenders([1000, 1100, 1190, 1000, 1000], BASE))
    assert goal_line(found, "memory") == (
        "memory of strata: 1,000 (1,000 to 1,190), goal at most 1200: reached")
    assert "of_each_run" not in found["value"]


def test_a_goal_is_left_out_where_a_side_takes_no_part():
    figures = contenders(BASE, BASE)
    goals = [Goal("cpu_us", 1, "valkey"), Goal("rate", 1, "redis"),
             Goal("cpu_us", 1, "redis", contender="lua")]
    assert judge(goals, figures) == []


def test_a_ratio_without_a_limit_is_only_shown():
    (found,) = judge([Goal("cpu_us", None, "redis")], contenders(BASE, BASE))
    assert found["outcome"] is None
    assert goal_line(found, "CPU") == "CPU of strata to redis: 1.00 (1.00 to 1.00)"


def test_a_run_that_failed_leaves_its_round_out():
    base = [100, None, 50, 200, 1]
    (found,) = judge([Goal("cpu_us", 2, "redis")], contenders([2 * each for each in BASE], base))
    assert found["value"] == {"median": 2, "low": 2, "high": 2, "runs": 4}
    assert found["outcome"] == "undecided"


def test_the_document_and_the_text_say_what_was_decided():
    scenario = SimpleNamespace(name="set", about="SET", unit="us/op",
                               goals=[Goal("cpu_us", 0.75, "redis")])
    found = {("set", "strata"): [{"cpu_us": 0.7 * each, "rate": 1000} for each in BASE],
             ("set", "redis"): [{"cpu_us": each, "rate": 500} for each in BASE]}
    rows = comparison.summarise(found, [scenario], lambda _: ["strata", "redis"])
    machine = {"cpu_model": "a CPU", "cores": 2, "kernel": "6.18", "revision": "abc"}
    text = comparison.render("bench", {"machine": machine, "repetitions": 5, "scenarios": rows}, "")
    assert "50.000 (1.000 to 200.000) us/op   500 (500 to 500) /s" in text
    assert "CPU of strata to redis: 0.70 (0.70 to 0.70), goal at most 0.75: reached" in text
    assert "confidence of 93.8 %" in text


def test_only_names_the_scenarios_that_there_are(capsys):
    scenarios = [SimpleNamespace(name=name) for name in ("idle tcp", "idle http", "bulk")]
    parser = comparison.argument_parser("about", scenarios)
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    assert "there are idle tcp, idle http, bulk" in " ".join(capsys.readouterr().out.split())
    wanted = parser.parse_args(["--only", "idle"])
    assert comparison.chosen(wanted, scenarios) == scenarios[:2]


def test_namespaces_and_their_links_go_with_their_benchmark(root):
    with pytest.raises(ZeroDivisionError), links.namespaces("t", "a", "b") as (a, b):
        one, other = links.Interface(a, "vethA", "02:00:00:00:00:77"), links.Interface(b, "vethB")
        links.join(one, other)
        shown = links.run("ip", "-n", a, "link", "show", "vethA", stdout=subprocess.PIPE)
        assert "02:00:00:00:00:77" in shown and "LOWER_UP" in shown
        assert "vethA" not in links.run(*links.inside(a, "cat", "/proc/net/if_inet6"),
                                        stdout=subprocess.PIPE)
        raise ZeroDivisionError
    assert not {a, b} & set(links.run("ip", "netns", stdout=subprocess.PIPE).split())
