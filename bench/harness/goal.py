"""What a contender's figure is to be, and whether it is: by its interval, as bench-paths has it."""

from dataclasses import dataclass

from harness import interval


@dataclass(frozen=True)
class Goal:
    figure: str
    limit: float | None  # None: the figure is only to be shown
    base: str | None = None  # the contender of whose figure the limit is a multiple
    at_least: bool = False  # else at most
    contender: str = "strata"


def summarise_runs(runs):
    """Of each figure its estimate, and what it was in each run."""
    return {key: summarise_figure([each[key] for each in runs]) for key in runs[0]}


def summarise_figure(samples):
    return {**interval.estimate(samples), "of_each_run": samples}


def judge(goals, contenders):
    """Of each goal whose sides have figures; where it has a base, by the ratio within each run."""
    judged = []
    for goal in goals:
        sides = [contenders.get(name, {}).get(goal.figure)
                 for name in (goal.contender, goal.base) if name]
        if None not in sides:
            judged.append(_judge_one(goal, [side["of_each_run"] for side in sides]))
    return judged


def _judge_one(goal, sides):
    value = interval.ratio(*sides) if goal.base else interval.estimate(*sides)
    outcome = None if goal.limit is None else interval.decide(value, goal.limit, goal.at_least)
    return {"figure": goal.figure, "contender": goal.contender, "base": goal.base, "value": value,
            "at_least": goal.at_least, "goal": goal.limit, "outcome": outcome}


def goal_line(judged, title):
    """CPU of strata to redis: 0.22 (0.20 to 0.24), goal at most 0.25: reached"""
    base, limit = judged["base"], judged["goal"]
    line = (f"{title} of {judged['contender']}{f' to {base}' if base else ''}: "
            f"{interval.text(judged['value'], 2 if base else 0)}")
    if limit is None:
        return line
    bound = "at least" if judged["at_least"] else "at most"
    return f"{line}, goal {bound} {limit:.2f}".rstrip("0").rstrip(".") + f": {judged['outcome']}"
