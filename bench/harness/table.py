"""The result document as text tables."""

from harness import interval
from harness.goal import goal_line
from harness.scenario import HOLD_SCENARIOS, SCENARIOS
from harness.summary import BASELINES

METRICS = {scenario.name: scenario.metrics for scenario in SCENARIOS + HOLD_SCENARIOS}
TITLES = {metric.key: metric.title for metrics in METRICS.values() for metric in metrics}


def render(document):
    machine = document["machine"]
    settings = document["settings"]
    cpus = settings["pinned"]
    pinned = f"pinned to CPUs {cpus[0]}:{cpus[1]}" if cpus else "not pinned"
    lines = [
        f"strata bench: {machine['cpu_model']}, {machine['cores']} cores, "
        f"Linux {machine['kernel']}, governor {machine['governor'] or 'none'}, "
        f"revision {machine['revision']}",
        f"{settings['seconds']} s each, interleaved, {pinned}; counted at the receivers; "
        "CPU is the server's alone",
        interval.meaning(settings["repetitions"]),
    ]
    for scenario in document["scenarios"]:
        lines += ["", f"{scenario['name']}: {scenario['about']}", *_scenario_table(scenario)]
    goals = [
        f"  {goal['scenario']}: {goal_line(goal, TITLES[goal['figure']])}"
        for goal in document["goals"]
    ]
    lines += ["", "goals", *(goals or ["  none for what was measured"])]
    if document["remarks"]:
        lines += ["", "remarks", *(f"  {remark}" for remark in document["remarks"])]
    return "\n".join(lines)


def _scenario_table(scenario):
    metrics = [metric for metric in METRICS[scenario["name"]] if metric.in_table]
    cost = next(metric for metric in metrics if metric.key == scenario["cost"])
    compared = {name for row in scenario["contenders"] for name in row["cost_ratio_to"]}
    present = [name for name in BASELINES if name in compared]
    head = ["contender", *(metric.title for metric in metrics)]
    head += [f"x {name}" for name in present]
    rows = [head]
    for row in scenario["contenders"]:
        cells = [row["name"]]
        cells += [_figure(row["figures"][metric.key], metric.digits) for metric in metrics]
        cells += [_ratio(row["cost_ratio_to"].get(name)) for name in present]
        rows.append(cells)
    lines = _columns(rows)
    if present:
        lines.append(f"  x baseline: ratio of {cost.title}, less is better")
    return lines


def _figure(figure, digits):
    median, least, most = (f"{figure[key]:,.{digits}f}" for key in ("median", "low", "high"))
    return median if least == most else f"{median} ({least}..{most})"


def _ratio(value):
    return _figure(value, 2) if value else "-"


def _columns(rows):
    """Aligns rows: the first column is text, the others are figures."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  " + "  ".join(cells))
    return lines
