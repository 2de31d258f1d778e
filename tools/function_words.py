#!/usr/bin/env python3
"""Writes tools/check/function_words.txt, whose counts `make check` only allows to fall, and prints
the folders that still have some."""

import sys
from pathlib import Path

from check import function_words

HEAD = """# Parameters that are function words, for each folder that has any. A count only falls:
# tools/function_words.py writes this file.
"""


def main():
    root = Path(__file__).resolve().parent.parent
    every, bad = function_words.counts(root)
    rows = sorted(((count, folder) for folder, count in bad.items() if count), reverse=True)
    (root / function_words.LIST).write_text(
        HEAD + "".join(f"{count} {folder}\n" for count, folder in rows))
    for count, folder in rows:
        print(f"{count:5} of {every[folder]:5}  {folder}")
    total, left = sum(every.values()), sum(bad.values())
    print(f"{left:5} of {total:5}  ({100 * left / total:.1f} %)")


if __name__ == "__main__":
    sys.exit(main())
