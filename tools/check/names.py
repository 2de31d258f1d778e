"""names: files and folders are nouns in snake_case, and none is a catch-all."""

import re

from check.source import CODE_SUFFIXES, Breach, files

DRAWERS = {"util", "utils", "common", "manager", "helper", "helpers", "misc"}
SNAKE_CASE = re.compile(r"(__)?[a-z0-9]+(_[a-z0-9]+)*(__)?")
# Other folders follow their ecosystem: crates, opam and Debian packages.
SNAKE_CASE_FOLDERS = {"include", "lib", "src", "bench", "tests", "fuzz", "tools", "examples"}


def breaches(root):
    found = set()
    for path in files(root):
        for part in path.parts:
            drawers = DRAWERS & set(re.split(r"[^a-z]+", part.lower()))
            if drawers:
                message = f"'{part}' is named {drawers.pop()}; name it by what it holds"
                found.add(Breach(str(path), 1, message))
        strict = path.parts[:-1] if path.parts[0] in SNAKE_CASE_FOLDERS else ()
        if path.suffix in CODE_SUFFIXES:
            strict += (path.name.split(".")[0],)
        for part in strict:
            if not SNAKE_CASE.fullmatch(part):
                found.add(Breach(str(path), 1, f"'{part}' is not snake_case; rename it"))
    return found
