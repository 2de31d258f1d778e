"""Runs the faults by hand; see points.py."""

import argparse
import os
import random
import sys
import tempfile

from . import points


def main():
    parser = argparse.ArgumentParser(prog="faults")
    parser.add_argument("--sample", type=int, help="try N points, not all")
    parser.add_argument("--only", default="", help="try points whose name has TEXT in it")
    parser.add_argument("--without", help="but not those that have TEXT in it")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1))
    wanted = parser.parse_args()

    def choose(faults):
        named = [each for each in faults if wanted.only in str(each)
                 and not (wanted.without and wanted.without in str(each))]
        if wanted.sample is None:
            return named
        print(f"seed {wanted.seed}")
        return points.sample(named, wanted.sample, wanted.seed)

    with tempfile.TemporaryDirectory(prefix="strata-faults.") as folder:
        outcomes = points.run(folder, wanted.workers, choose)
    return 1 if any(each.verdict in points.BAD for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
