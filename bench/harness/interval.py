"""A figure's median with an interval, and the decision from it, as in
src/measure/counting/statistics.hpp."""

import statistics
from math import comb

LEAST_CONFIDENCE = 0.9
LEAST_RUNS = 5  # from here on an interval has that confidence


def confidence(runs, outside=None):
    """Returns the probability that the interval between two samples, with `outside` samples left
    out at each end, contains the median of all possible runs."""
    if runs == 0:
        return 0
    outside = _outside(runs) if outside is None else outside
    return max(0, 1 - 2 * sum(comb(runs, i) for i in range(outside + 1)) / 2**runs)


def _outside(runs):
    found = 0
    while 2 * (found + 1) < runs and confidence(runs, found + 1) >= LEAST_CONFIDENCE:
        found += 1
    return found


def estimate(samples):
    """Returns the narrowest such interval of LEAST_CONFIDENCE; from the least to the greatest
    sample if there is none."""
    ordered, outside = sorted(samples), _outside(len(samples))
    return {"median": statistics.median(ordered), "low": ordered[outside],
            "high": ordered[-1 - outside], "runs": len(ordered)}


def ratio(samples, base):
    """Returns the ratio, taken within each run, so that a slowdown of a whole run does not
    count."""
    return estimate([one / other for one, other in zip(samples, base, strict=True)])


def decide(figure, goal, at_least=True):
    """Returns reached, missed, or undecided: the goal lies within the interval, or there
    are too few runs."""
    if figure["runs"] < LEAST_RUNS:
        return "undecided"
    low, high = figure["low"], figure["high"]
    if low >= goal if at_least else high <= goal:
        return "reached"
    return "missed" if (high < goal if at_least else low > goal) else "undecided"


def text(figure, digits=2):
    """Returns a text such as: 1.04 (0.97 to 1.12)"""
    return (f"{figure['median']:,.{digits}f} ({figure['low']:,.{digits}f} to "
            f"{figure['high']:,.{digits}f})")


def meaning(runs):
    decides = "" if runs >= LEAST_RUNS else ", which decides nothing"
    return (f"medians of {runs} runs; in parentheses the interval that holds the median of all "
            f"such runs with a confidence of {100 * confidence(runs):.1f} %{decides}")
