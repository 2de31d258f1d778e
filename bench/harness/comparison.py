"""A comparison of servers that take turns: its arguments, its rounds, its summary and its text."""

import argparse
import json
import statistics
from pathlib import Path

from harness.progress import Progress


def argument_parser(about, single):
    """`single` is what is measured beside the scenarios."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--build-dir", type=Path, default=Path("build/release"))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", action="append",
                        help=f"scenarios whose name starts so; '{single}'")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--output", type=Path, help="write the JSON document here too")
    return parser


def is_chosen(wanted, name):
    return not wanted.only or any(name.startswith(each) for each in wanted.only)


def take_turns(repetitions, scenarios, contenders_of, start, measure):
    """The figures of each scenario's and contender's name, a list of one dictionary a repetition.

    `start(name, scenario, folder name)` gives a server of its own to each measurement."""
    found = {(each.name, name): [] for each in scenarios for name in contenders_of(each)}
    progress = Progress(repetitions * len(found))
    for repetition in range(repetitions):
        for scenario in scenarios:
            for name in contenders_of(scenario):
                progress.step(f"{scenario.name}, {name}")
                place = f"{repetition}-{scenario.name.replace(' ', '-')}-{name}"
                server = start(name, scenario, place)
                try:
                    found[scenario.name, name].append(measure(server, scenario))
                finally:
                    server.stop()
    progress.close()
    return found


def medians(runs):
    return {key: statistics.median(each[key] for each in runs) for key in runs[0]}


def summarise_cpu(found, scenarios, contenders_of, own):
    """Rows of `cpu_us` and `rate`; where a scenario's peer takes part, with the ratio of `own` to
    it."""
    rows = []
    for scenario in scenarios:
        row = {"name": scenario.name, "about": scenario.about, "unit": scenario.unit,
               "peer": scenario.peer, "goal": scenario.goal, "contenders": {}}
        for name in contenders_of(scenario):
            runs = found[scenario.name, name]
            row["contenders"][name] = {**medians(runs),
                                       "cpu_us_all": [each["cpu_us"] for each in runs]}
        if scenario.peer in row["contenders"]:
            row["ratio"] = (row["contenders"][own]["cpu_us"] /
                            row["contenders"][scenario.peer]["cpu_us"])
        rows.append(row)
    return rows


def cpu_line(row, figures):
    spread = " ".join(f"{each:.3f}" for each in figures["cpu_us_all"])
    return f"{figures['cpu_us']:10.3f} {row['unit']} {figures['rate']:12,.0f}/s   ({spread})"


def heading(name, document, remark):
    machine = document["machine"]
    return [f"strata {name}: {machine['cpu_model']}, {machine['cores']} cores, "
            f"Linux {machine['kernel']}, revision {machine['revision']}",
            f"{document['repetitions']} repetitions, interleaved; medians; {remark}", ""]


def tables(document, figures_line, verdict_lines):
    """Of each scenario: a line of each contender's figures, and the verdict's lines."""
    lines = []
    for row in document["scenarios"]:
        lines.append(f"{row['name']}: {row['about']}")
        lines += [f"  {name:8} {figures_line(row, figures)}"
                  for name, figures in row["contenders"].items()]
        lines += [f"  {line}" for line in verdict_lines(row)]
    return lines


def verdict(is_reached):
    return "reached" if is_reached else "MISSED"


def publish(document, wanted, render):
    if wanted.output:
        wanted.output.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document) if wanted.format == "json" else render(document))
