"""A comparison of servers that take turns: its arguments, its rounds, its summary and its text."""

import argparse
import json
from pathlib import Path

from harness import interval
from harness.goal import Goal, goal_line, judge, summarise_runs
from harness.progress import Progress

# A figure's name in a goal, its unit in a table if the scenario has none, and its digits.
FIGURES = {"cpu_us": ("CPU", None, 3), "kernel_us": ("kernel", "in the kernel", 3),
           "rate": ("rate", "/s", 0), "p50_ms": ("p50", "ms p50", 3),
           "p99_ms": ("p99", "ms p99", 3), "bytes": ("memory", None, 0),
           "script_bytes": ("memory of the script", "B of script", 0)}


def argument_parser(about, scenarios):
    names = ", ".join(each.name for each in scenarios)
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--build-dir", type=Path, default=Path("build/release"))
    parser.add_argument("--repetitions", type=int, default=interval.LEAST_RUNS,
                        help=f"below {interval.LEAST_RUNS} nothing is decided")
    parser.add_argument("--only", action="append",
                        help=f"scenarios whose name starts so; there are {names}")
    parser.add_argument("--before", type=Path, help="another strata binary, to take turns with")
    parser.add_argument("--contender", action="append", help="only this one; may be repeated")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--output", type=Path, help="write the JSON document here too")
    return parser


def chosen(wanted, scenarios):
    return [each for each in scenarios
            if not wanted.only or any(each.name.startswith(name) for name in wanted.only)]


def participants(wanted, names, own=("strata",)):
    """Returns the participants: the names, and each of strata's own once more as the binary of
    --before. With --contender, returns only those that it names."""
    older = [f"before-{name}" for name in names if name in own] if wanted.before else []
    return [each for each in (*names, *older) if not wanted.contender or each in wanted.contender]


def to_before(names=("strata",)):
    """Returns goals that compare strata's CPU and memory with those of the binary of --before."""
    return [Goal(figure, None, f"before-{name}", contender=name)
            for name in names for figure in ("cpu_us", "bytes", "script_bytes")]


def take_turns(repetitions, scenarios, contenders_of, start, measure):
    """Returns the figures by the names of scenario and contender, as a list of one dictionary
    per repetition.

    `start(name, scenario, folder name)` starts a separate server for each measurement."""
    found = {(each.name, name): [] for each in scenarios for name in contenders_of(each)}
    progress = Progress(repetitions * len(found))
    for repetition in range(repetitions):
        for scenario in scenarios:
            for name in rotated(contenders_of(scenario), repetition):
                progress.step(f"{scenario.name}, {name}")
                place = f"{repetition}-{scenario.name.replace(' ', '-')}-{name}"
                server = start(name, scenario, place)
                try:
                    found[scenario.name, name].append(measure(server, scenario))
                finally:
                    server.stop()
    progress.close()
    return found


def rotated(names, turn):
    """Returns the names rotated, so that no contender is always measured first."""
    shift = turn % max(1, len(names))
    return [*names[shift:], *names[:shift]]


def summarise(found, scenarios, contenders_of):
    rows = []
    for scenario in scenarios:
        contenders = {name: summarise_runs(found[scenario.name, name])
                      for name in contenders_of(scenario)}
        rows.append({"name": scenario.name, "about": scenario.about, "unit": scenario.unit,
                     "contenders": contenders, "goals": judge(scenario.goals, contenders)})
    return rows


def render(name, document, remark):
    machine = document["machine"]
    lines = [f"strata {name}: {machine['cpu_model']}, {machine['cores']} cores, "
             f"Linux {machine['kernel']}, revision {machine['revision']}",
             f"interleaved; {remark}", interval.meaning(document["repetitions"])]
    for row in document["scenarios"]:
        lines += ["", f"{row['name']}: {row['about']}"]
        lines += [f"  {contender:12} {_figures(row['unit'], figures)}"
                  for contender, figures in row["contenders"].items()]
        lines += [f"  {goal_line(goal, FIGURES[goal['figure']][0])}" for goal in row["goals"]]
    return "\n".join(lines)


def _figures(unit_of_row, figures):
    cells = []
    for key, figure in figures.items():
        _, unit, digits = FIGURES[key]
        cells.append(f"{interval.text(figure, digits)} {unit or unit_of_row}")
    return "   ".join(cells)


def publish(document, wanted, name, remark):
    if wanted.output:
        wanted.output.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document) if wanted.format == "json" else render(name, document, remark))
