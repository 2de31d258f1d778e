"""Goals for a contender's figures, decided by the figure's interval, as bench-paths does."""

from dataclasses import dataclass

from harness import interval


@dataclass(frozen=True)
class Goal:
    figure: str
    limit: float | None  # None: the figure is only shown
    base: str | None = None  # the contender whose figure the limit multiplies
    at_least: bool = False  # else at most
    contender: str = "strata"


def summarise_runs(runs):
    """Returns each figure's estimate, and its value in each run; None for a run that failed."""
    taken = [each for each in runs if each is not None]
    return {key: {**interval.estimate([each[key] for each in taken]),
                  "of_each_run": [each and each[key] for each in runs]} for key in taken[0]}


def ratio(own, base):
    """Returns the ratio within each run that both have, from their summaries; None if
    there is none."""
    pairs = [(one, other) for one, other
             in zip(own["of_each_run"], base["of_each_run"], strict=True)
             if one is not None and other]
    return interval.ratio(*zip(*pairs)) if pairs else None


def judge(goals, contenders):
    """Returns the goals whose sides have figures; a goal with a base is judged by the ratio
    within each run."""
    judged = [_judge_one(goal, contenders) for goal in goals]
    return [each for each in judged if each["value"] is not None]


def _judge_one(goal, contenders):
    own, base = (contenders.get(name, {}).get(goal.figure) for name in (goal.contender, goal.base))
    value = None
    if own and goal.base:
        value = ratio(own, base) if base else None
    elif own:
        value = {key: own[key] for key in ("median", "low", "high", "runs")}
    outcome = None
    if value and goal.limit is not None:
        outcome = interval.decide(value, goal.limit, goal.at_least)
    return {"figure": goal.figure, "contender": goal.contender, "base": goal.base, "value": value,
            "at_least": goal.at_least, "goal": goal.limit, "outcome": outcome}


def goal_line(judged, title):
    """Returns a line such as: CPU of strata to redis: 0.22 (0.20 to 0.24), goal at
    most 0.25: reached"""
    base, limit = judged["base"], judged["goal"]
    line = (f"{title} of {judged['contender']}{f' to {base}' if base else ''}: "
            f"{interval.text(judged['value'], 2 if base else 0)}")
    if limit is None:
        return line
    bound = "at least" if judged["at_least"] else "at most"
    return f"{line}, goal {bound} {limit:.2f}".rstrip("0").rstrip(".") + f": {judged['outcome']}"
