#!/usr/bin/env python3
"""Checks the project's rules. `check.py [--root DIR] [rule ...]`; exits 1 on a breach."""

import argparse
import sys
from pathlib import Path

from check import (abi, docs, drawings, function_words, headers, includes, layers, names, prose,
                   sizes, targets, unused, vocabulary)

RULES = {
    "layers": layers.breaches,
    "targets": targets.breaches,
    "includes": includes.breaches,
    "sizes": sizes.breaches,
    "headers": headers.breaches,
    "names": names.breaches,
    "docs": docs.breaches,
    "drawings": drawings.breaches,
    "prose": prose.breaches,
    "vocabulary": vocabulary.breaches,
    "abi": abi.breaches,
    "unused": unused.breaches,
    "words": function_words.breaches,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("rules", nargs="*", metavar="rule", help=", ".join(RULES))
    wanted = parser.parse_args()
    for name in wanted.rules:
        if name not in RULES:
            parser.error(f"no rule '{name}': there are {', '.join(RULES)}")

    failed = False
    for name in wanted.rules or RULES:
        found = sorted(RULES[name](wanted.root.resolve()))
        for breach in found:
            print(f"{breach.path}:{breach.line}: {name}: {breach.message}")
        if not found:
            print(f"check: {name}: passed")
        failed = failed or bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
