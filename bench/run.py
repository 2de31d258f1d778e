#!/usr/bin/env python3
"""Measures strata's broadcast server against its baselines. See bench/README.md."""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from harness.contender import contenders, running
from harness.interval import LEAST_RUNS
from harness.machine import describe_machine
from harness.plot import write_plots
from harness.process import Failure, on_cpus, raise_descriptor_limit
from harness.progress import Progress
from harness.scenario import HOLD_SCENARIOS, SCENARIOS, Load
from harness.summary import faults_of, judge_goals, remark_spreads, summarise_scenario
from harness.table import render


def parse_pin(text):
    """Parses the two sets of CPUs in SERVER:LOAD."""
    server, load = ({int(cpu)} for cpu in text.split(":"))
    if not server | load <= os.sched_getaffinity(0):
        raise ValueError("no such CPU")
    return server, load


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, default=Path("build/release"))
    parser.add_argument("--strata", type=Path, help="the strata binary, if not in the build dir")
    parser.add_argument("--before", type=Path, help="another strata binary, to take turns with")
    parser.add_argument("--repetitions", type=int, default=LEAST_RUNS)
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--output", type=Path, help="write the JSON document here too")
    parser.add_argument("--plots", type=Path, help="draw SVG bar charts into this folder")
    parser.add_argument(
        "--only", action="append", help="scenarios whose name starts so; may be repeated"
    )
    parser.add_argument("--contender", action="append", help="only this one; may be repeated")
    parser.add_argument("--hold", action="store_true", help="10,000 receivers for a minute, twice")
    parser.add_argument(
        "--pin",
        type=parse_pin,
        metavar="SERVER:LOAD",
        help="the CPU of the server and that of the load generator, such as 0:1; not pinned else",
    )
    parser.add_argument("--quick", action="store_true", help="one short round: a smoke test")
    wanted = parser.parse_args()
    if wanted.quick:
        wanted.repetitions, wanted.seconds = 1, 0.3
    elif wanted.repetitions < LEAST_RUNS:
        parser.error(f"--repetitions must be at least {LEAST_RUNS}; or use --quick")
    return wanted


def choose(wanted):
    scenarios = list(SCENARIOS + (HOLD_SCENARIOS if wanted.hold else ()))
    if wanted.only:
        scenarios = [one for one in scenarios if one.name.startswith(tuple(wanted.only))]
    chosen = contenders(wanted.build_dir, wanted.strata, wanted.before)
    if wanted.contender:
        chosen = [one for one in chosen if one.name in wanted.contender]
    if not scenarios or not chosen:
        sys.exit("bench: no scenario or contender of that name")
    return scenarios, chosen


def plan_rounds(scenarios, chosen, repetitions):
    """Yields every (round, scenario, contender) in running order, with rotated contenders."""
    for turn in range(repetitions):
        for place, scenario in enumerate(scenarios):
            if scenario.once and turn > 0:
                continue
            able = [one for one in chosen if scenario.with_redis or one.protocol == "lines"]
            shift = (turn + place) % max(1, len(able))
            for contender in able[shift:] + able[:shift]:
                yield turn, scenario, contender


def measure(wanted, scenarios, chosen, load):
    """Returns the reports by scenario and contender, and remarks on what went wrong."""
    remarks = [f"{one.name}: its program is not there" for one in chosen if not one.program]
    chosen = [one for one in chosen if one.program]
    reports = {one.name: {other.name: [] for other in chosen} for one in scenarios}
    plan = list(plan_rounds(scenarios, chosen, wanted.repetitions))
    progress = Progress(len(plan))
    server_cpus, load_cpus = wanted.pin or (None, None)
    with tempfile.TemporaryDirectory(prefix="strata-bench-") as folder:
        for number, (turn, scenario, contender) in enumerate(plan):
            progress.step(f"{scenario.name} {contender.name}")
            where = f"{contender.name}, {scenario.name}, round {turn + 1}"
            try:
                with (
                    running(contender, Path(folder) / str(number), server_cpus) as server,
                    on_cpus(load_cpus),
                ):
                    report = scenario.measure(load, contender, server, wanted.seconds)
            except Failure as failure:
                remarks.append(f"{where}: failed: {failure}")
                reports[scenario.name][contender.name].append(None)
                continue
            reports[scenario.name][contender.name].append(report)
            if faults := faults_of(report):
                remarks.append(f"{where}: {', '.join(faults)}")
    progress.close()
    return reports, remarks


def main():
    wanted = parse_arguments()
    program = wanted.build_dir / "bench/bench_load"
    if not program.is_file():
        sys.exit(f"bench: {program} is missing: build it first, or name its --build-dir")
    scenarios, chosen = choose(wanted)
    raise_descriptor_limit()
    machine = describe_machine()
    reports, remarks = measure(wanted, scenarios, chosen, Load(program))
    if wanted.quick:
        remarks.insert(0, "a quick run shows that everything works; its figures prove nothing")
    if machine["load_average"] > 0.5:
        remarks.append(f"the machine was busy at the start: load {machine['load_average']:.2f}")
    summaries = [summarise_scenario(one, reports[one.name]) for one in scenarios]
    remarks += remark_spreads(summaries)
    document = {
        "schema": "strata-bench/2",
        "machine": machine,
        "settings": {
            "repetitions": wanted.repetitions,
            "seconds": wanted.seconds,
            "quick": wanted.quick,
            "pinned": [min(cpus) for cpus in wanted.pin] if wanted.pin else None,
        },
        "scenarios": summaries,
        "goals": judge_goals(summaries),
        "remarks": remarks,
    }
    text = json.dumps(document, indent=2)
    if wanted.output:
        wanted.output.write_text(text + "\n")
    if wanted.plots:
        write_plots(document, wanted.plots)
    print(text if wanted.format == "json" else render(document))
    # A contender without a single figure is a failed run, not a short table.
    expected = {(one.name, other.name) for _, one, other in plan_rounds(scenarios, chosen, 1)}
    measured = {(s["name"], row["name"]) for s in summaries for row in s["contenders"]}
    return 0 if expected <= measured else 1


if __name__ == "__main__":
    sys.exit(main())
