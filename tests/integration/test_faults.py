"""Each system call of a daemon fails once, at its start and in every operation: the caller gets an
error, the daemon continues, and the acknowledged changes are there afterwards.

The test tries a sample of the points, different each time; STRATA_FAULTS=all tries every point,
STRATA_FAULTS=N tries N points, and STRATA_SEED=… repeats a sample."""

import os
import random

import pytest

from faults import points

WORKERS = 2 * (os.cpu_count() or 1)


@pytest.mark.serial
def test_no_failing_call_crashes_hangs_or_loses_what_was_acknowledged(tmp_path):
    seed = int(os.environ.get("STRATA_SEED", random.randrange(2**32)))
    wanted = os.environ.get("STRATA_FAULTS", "60")
    print(f"seed {seed}")

    def choose(faults):
        assert len(faults) >= 500
        return faults if wanted == "all" else points.sample(faults, int(wanted), seed)

    outcomes = points.run(tmp_path, WORKERS, choose)
    bad = [f"{each.fault}: {each.detail}" for each in outcomes if each.verdict in points.BAD]
    assert not bad, "\n".join(bad)
    # Without any of these verdicts, no fault would have been injected.
    assert {"answered with an error", "refused at start"} <= {each.verdict for each in outcomes}
