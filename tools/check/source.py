"""The source tree as the rules see it: its files, and C++ text without comments and strings."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

CPP_SUFFIXES = (".hpp", ".cpp", ".h", ".c")
CODE_SUFFIXES = (*CPP_SUFFIXES, ".py", ".sh", ".lua", ".rs", ".ml", ".mli", ".cmake")
NOT_OURS = {"build", "target", "_build", "node_modules", "__pycache__"}


@dataclass(frozen=True, order=True)
class Breach:
    path: str
    line: int
    message: str  # what is wrong, and how to fix it


def files(root, suffixes=None, under=("",)):
    """Returns the relative paths of the files below the given folders, without built
    and hidden ones."""
    found = []
    for top in under:
        for folder, inner, plain in os.walk(root / top):
            inner[:] = [
                name
                for name in inner
                if name not in NOT_OURS and not name.startswith((".", "build-"))
            ]
            found += [Path(folder, name).relative_to(root) for name in plain]
    return sorted(path for path in found if not suffixes or path.suffix in suffixes)


def read(root, path):
    return (root / path).read_text(encoding="utf-8", errors="replace")


# Numbers come first, so that the ' between their digits does not open a character.
_TOKENS = re.compile(
    r"""
    (?P<number> \b\d(?:'?[\w.])* )
  | (?P<comment> //[^\n]*(?:\\\n[^\n]*)* | /\*.*?\*/ )
  | (?P<raw> R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)" )
  | (?P<text> "(?:\\.|[^"\\\n])*" )
  | (?P<char> '(?:\\.|[^'\\\n])+' )
    """,
    re.VERBOSE | re.DOTALL,
)


def _blank(match, keep_text):
    token = match.group(0)
    lines = "\n" * token.count("\n")
    if match["number"] or (keep_text and match["text"]):
        return token
    if match["comment"]:
        return " " + lines
    return ('""' if match["raw"] or match["text"] else "''") + lines


def without_comments(code):
    """Returns C++ without comments and raw strings; other strings stay, because they name
    includes."""
    return _TOKENS.sub(lambda match: _blank(match, keep_text=True), code)


def bare_code(code):
    """Returns C++ without comments and the contents of strings; every line keeps its number."""
    return _TOKENS.sub(lambda match: _blank(match, keep_text=False), code)


def blanked_code(code):
    """Does the same with spaces instead of what is left out: every character keeps its offset."""
    return _TOKENS.sub(
        lambda found: found[0] if found["number"] else re.sub(r"[^\n]", " ", found[0]), code)
