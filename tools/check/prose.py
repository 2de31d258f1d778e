"""prose: phrases that make a sentence hard to read, in comments, messages, help and docs."""

import re

from check.source import Breach, files, read

SUFFIXES = (".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".md", ".rs", ".ml", ".mli", ".cmake")
PHRASES = (
    (re.compile(r"\b(?:for|of|to|by|from|than) who\b|(?:^|[.;:] |/ )Who (?!is at\b)[a-z]+ (?!at )"),
     "'who' stands without a noun; write 'a client that', 'a program that'"),
    (re.compile(r"\bso (?:many|long|often|much)\b(?! (?:that|as)\b)"),
     "say which number, time or amount: 'N messages', 'this number of'"),
    (re.compile(r"\banew\b"), "write 'again', 'new' or 're…'"),
    (re.compile(r"\bit is said\b"), "say who says it, or leave it out"),
)
# Quotations, generated text, and text about such phrases.
NOT_PROSE = ("docs/measurements/", "fuzz/corpus/", "kernel/ynl/", "tools/check/")


def breaches(root):
    for path in files(root, SUFFIXES):
        if str(path).startswith(NOT_PROSE):
            continue
        for number, line in enumerate(read(root, path).splitlines(), 1):
            for phrase, remedy in PHRASES:
                found = phrase.search(line)
                if found:
                    yield Breach(str(path), number, f"'{found[0].strip()}': {remedy}")
