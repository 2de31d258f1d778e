"""From samples to the result document: medians with spread, ratios, goals, remarks."""

import statistics
from dataclasses import dataclass

BASELINES = ("epoll-each", "epoll-batch", "redis")
WIDE = 1.5  # maximum over minimum from which on the machine was not the same
FAULTS = ("lost", "duplicated", "corrupted", "disconnected", "echoed_bytes")


@dataclass(frozen=True)
class Goal:
    """contender's cost <= limit (x baseline's cost, where there is a baseline)."""

    contender: str
    scenarios: tuple[str, ...]  # beginnings of scenario names
    limit: float
    baseline: str | None = None


GOALS = (
    Goal("strata-io_uring", ("relay", "fanout"), 0.7, "epoll-each"),
    Goal("strata-io_uring", ("fanout",), 0.3, "redis"),
    Goal("strata-io_uring", ("idle",), 1024),
)


def spread(samples):
    return {
        "median": statistics.median(samples),
        "min": min(samples),
        "max": max(samples),
        "samples": samples,
    }


def faults_of(report):
    """What a run's receivers did not get as they should have, as words; empty when all is well."""
    found = [f"{report[key]} {key.replace('_', ' ')}" for key in FAULTS if report.get(key)]
    if report.get("served", 0) != report.get("connections", 0):
        found.append(f"only {report['served']} of {report['connections']} connections served")
    return found


def remark_spreads(summaries):
    """Which costs vary so much that their medians say little."""
    for scenario in summaries:
        wide = [
            row["name"]
            for row in scenario["contenders"]
            if (cost := row["figures"][scenario["cost"]])["max"] > WIDE * cost["min"] > 0
        ]
        if wide:
            yield (
                f"{scenario['name']}: the cost of {', '.join(wide)} varies by more than {WIDE} "
                "times between rounds; measure again on a quiet machine"
            )


def summarise_scenario(scenario, reports):
    """reports: contender's name -> its reports, one a round."""
    rows = []
    for name, runs in reports.items():
        if not runs:
            continue
        figures = {
            metric.key: spread([run[metric.key] for run in runs]) for metric in scenario.metrics
        }
        rows.append({"name": name, "figures": figures})
    costs = {row["name"]: row["figures"][scenario.cost]["median"] for row in rows}
    for row in rows:
        row["cost_ratio_to"] = {
            baseline: costs[row["name"]] / costs[baseline]
            for baseline in BASELINES
            if costs.get(baseline, 0) > 0
        }
    return {
        "name": scenario.name,
        "about": scenario.about,
        "cost": scenario.cost,
        "contenders": rows,
    }


def judge_goals(scenarios):
    """Every goal in every scenario that it is for; reached is None where a side is missing."""
    verdicts = []
    for goal in GOALS:
        for scenario in scenarios:
            if not scenario["name"].startswith(goal.scenarios):
                continue
            verdicts.append(_judge(goal, scenario))
    return verdicts


def _judge(goal, scenario):
    row = next((row for row in scenario["contenders"] if row["name"] == goal.contender), None)
    value = None
    if row and goal.baseline:
        value = row["cost_ratio_to"].get(goal.baseline)
    elif row:
        value = row["figures"][scenario["cost"]]["median"]
    return {
        "scenario": scenario["name"],
        "contender": goal.contender,
        "cost": scenario["cost"],
        "baseline": goal.baseline,
        "limit": goal.limit,
        "value": value,
        "reached": None if value is None else value <= goal.limit,
    }
