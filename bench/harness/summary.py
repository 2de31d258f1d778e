"""From samples to the result document: medians with their intervals, ratios, goals, remarks."""

from harness.goal import Goal, judge, ratio, summarise_runs

OWN = "strata-io_uring"
BASELINES = ("epoll-each", "epoll-batch", "redis")
WIDE = 1.5  # maximum over minimum above which the machine was not quiet
FAULTS = ("lost", "duplicated", "corrupted", "disconnected", "echoed_bytes")


# Each goal is for the scenarios whose names begin with these words.
GOALS = (
    (("relay", "fanout"), Goal("cpu_us_per_message", 0.7, "epoll-each", contender=OWN)),
    (("fanout",), Goal("cpu_us_per_message", 0.3, "redis", contender=OWN)),
    (("idle",), Goal("rss_bytes_per_connection", 1024, contender=OWN)),
)


def faults_of(report):
    """Returns in words what a run's receivers did not get as expected; empty if all is well."""
    found = [f"{report[key]} {key.replace('_', ' ')}" for key in FAULTS if report.get(key)]
    if report.get("served", 0) != report.get("connections", 0):
        found.append(f"only {report['served']} of {report['connections']} connections served")
    return found


def remark_spreads(summaries):
    """Yields remarks on costs that vary so much that their medians mean little."""
    for scenario in summaries:
        wide = [
            row["name"]
            for row in scenario["contenders"]
            if _varies(row["figures"][scenario["cost"]])
        ]
        if wide:
            yield (
                f"{scenario['name']}: the cost of {', '.join(wide)} varies by more than {WIDE} "
                "times between rounds; measure again on a quiet machine"
            )


def _varies(figure):
    samples = [each for each in figure["of_each_run"] if each is not None]
    return max(samples) > WIDE * min(samples) > 0


def summarise_scenario(scenario, reports):
    """`reports`: contender's name -> its reports, one per round, None for a failed round."""
    keys = [metric.key for metric in scenario.metrics]
    rows = []
    for name, runs in reports.items():
        if any(runs):
            figures = summarise_runs([run and {key: run[key] for key in keys} for run in runs])
            rows.append({"name": name, "figures": figures})
    costs = {row["name"]: row["figures"][scenario.cost] for row in rows}
    for row in rows:
        ratios = {base: ratio(costs[row["name"]], costs[base])
                  for base in BASELINES if base in costs}
        row["cost_ratio_to"] = {base: value for base, value in ratios.items() if value}
    return {
        "name": scenario.name,
        "about": scenario.about,
        "cost": scenario.cost,
        "contenders": rows,
    }


def judge_goals(scenarios):
    """Returns every goal in every scenario that it applies to and that has both its sides."""
    judged = []
    for scenario in scenarios:
        goals = [goal for beginnings, goal in GOALS if scenario["name"].startswith(beginnings)]
        figures = {row["name"]: row["figures"] for row in scenario["contenders"]}
        judged += [{"scenario": scenario["name"], **each} for each in judge(goals, figures)]
    return judged
