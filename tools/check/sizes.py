"""sizes: folders of at most 45 sources, files of at most 500 lines, functions of at most 70, lines
of at most 100 columns."""

import ast
import re
from collections import Counter

from check.functions import functions
from check.source import CODE_SUFFIXES, CPP_SUFFIXES, Breach, files, read

FOLDER_SOURCES = 45
# Generated files need no splitting.
GENERATED = ("packaging/lua/strata.lua",)
FILE_LINES = 500
FUNCTION_LINES = 70
COLUMNS = 100
LIST = "tools/check/long_files.txt"
URL = re.compile(r"\S*://\S*")


def breaches(root):
    listed, found = _long_files(root)
    seen = {}
    for path in files(root, CODE_SUFFIXES):
        if str(path) in GENERATED:
            continue
        code = read(root, path)
        lines = code.splitlines()
        seen[str(path)] = len(lines)
        if len(lines) > FILE_LINES and str(path) not in listed:
            found.append(
                Breach(
                    str(path),
                    FILE_LINES + 1,
                    f"{len(lines)} lines, over {FILE_LINES}; split it by noun, "
                    f"or give its reason in {LIST}",
                )
            )
        found += _wide_lines(path, lines)
        found += _long_functions(path, code)
    found += _stale_entries(listed, seen)
    found += _full_folders(root)
    return found


def _full_folders(root):
    held = Counter(path.parent for path in files(root, CPP_SUFFIXES, ("include", "lib", "src")))
    for folder, count in held.items():
        if count > FOLDER_SOURCES:
            message = f"{count} sources, over {FOLDER_SOURCES}; split the folder by noun"
            yield Breach(str(folder), 1, message)


def _long_files(root):
    """Returns the list as {path: (line in the list, limit)}, and what is wrong with its form."""
    listed, found = {}, []
    if not (root / LIST).is_file():
        return listed, found
    for number, line in enumerate(read(root, LIST).splitlines(), 1):
        words = line.split(maxsplit=2)
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 3 or not words[1].isdigit():
            found.append(Breach(LIST, number, "expected `path lines-limit reason`"))
        else:
            listed[words[0]] = (number, int(words[1]))
    return listed, found


def _stale_entries(listed, seen):
    for path, (number, limit) in listed.items():
        lines = seen.get(path, 0)
        if lines > limit:
            yield Breach(path, limit + 1, f"{lines} lines, over the {limit} of {LIST}; split it")
        elif lines <= FILE_LINES:
            yield Breach(
                LIST, number, f"{path} has {lines} lines and needs no entry; remove the line"
            )


def _wide_lines(path, lines):
    for number, line in enumerate(lines, 1):
        width = len(URL.sub("", line).expandtabs(8))
        if width > COLUMNS:
            yield Breach(str(path), number, f"{width} columns, over {COLUMNS}; break the line")


def _long_functions(path, code):
    if path.suffix in CPP_SUFFIXES:
        measured = [(one.name, one.line, one.lines) for one in functions(code)]
    elif path.suffix == ".py":
        measured = [
            (node.name, node.lineno, node.end_lineno - node.lineno + 1)
            for node in ast.walk(ast.parse(code))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
    else:
        measured = []
    for name, line, lines in measured:
        if lines > FUNCTION_LINES:
            message = f"function {name} has {lines} lines, over {FUNCTION_LINES}; split it"
            yield Breach(str(path), line, message)
