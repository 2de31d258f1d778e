#!/usr/bin/env python3
"""Converts a header for Doxygen: plain comments become documentation. A comment at the head of a
file documents the file, one before a declaration the declaration, and one after a member on its
line the member. `doxygen_filter.py FILE` prints the result; lines keep their numbers except
`#pragma once`, whose line is used for @file."""

import re
import sys
from pathlib import Path

NOT_DOCUMENTATION = re.compile(r"^ *(/\*|//) (---|NOLINT|namespace)")
BEFORE = re.compile(r"^ */\* ")
BEHIND = re.compile(r"^(#define|[^#/]).*[;,{\w]\s*/\* ")


def of_c(lines):
    """Turns comments into `/** … */`, and `/**< … */` after a member."""
    inside = False
    for line, following in zip(lines, [*lines[1:], ""]):
        begins = "/*" in line and not inside
        about_lint = NOT_DOCUMENTATION.search(line) or "NOLINT" in following
        if begins and not about_lint:
            if BEFORE.match(line):
                line = line.replace("/* ", "/** ", 1)
            elif BEHIND.match(line):
                line = line.replace("/* ", "/**< ", 1)
        inside = (inside or begins) and "*/" not in line
        yield line


def of_cpp(lines, noun):
    """Turns the head of the file into `///` comments, and repeats it for the type that the file is
    named after; the other comments have that form already."""
    head, said, before = True, [], ""
    for line in lines:
        head = head and line.startswith("//")
        if head:
            said.append(line[3:])
        named = re.match(rf"(?:class|struct) {noun}\b[^;]*$", line)
        if named and not before.startswith(("///", "template")):
            line = f"/** {' '.join(said)} */ {line}"
        before = line
        yield f"/{line}" if head else line


def with_file(lines):
    """Makes the first comment document the file."""
    first, *rest = [line for line in lines if line != "#pragma once"]
    mark, _, text = first.partition(" ")
    return [f"{mark} @file", f"{mark if mark == '///' else ' *'} {text}", *rest]


def main():
    path = Path(sys.argv[1])
    lines = path.read_text().splitlines()
    read = of_c(lines) if path.suffix == ".h" else of_cpp(lines, path.stem)
    print("\n".join(with_file(read)))


if __name__ == "__main__":
    main()
