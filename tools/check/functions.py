"""Finds the functions of C++ text and their lines.

It is not a parser: it follows braces outside of functions, and determines by the words before a
brace whether it opens a scope (namespace, class), a function, or an initialiser. The contents of a
function, including lambdas and local classes, belong to it.
"""

import re
from dataclasses import dataclass

from check.source import bare_code

OPENING = {"(": ")", "{": "}"}
DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w*)(?:[^\n]*\\\n)*[^\n]*")
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|extern \"\"$")
OPERATOR = re.compile(r"\boperator ?[^\w\s(]+")
NO_ANGLE = re.compile(r"->|<=|>=|<<")
ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)")
# A member initialiser, `: name_{...}`: not the function's body, though it follows the head.
MEMBER = re.compile(r"\)[^:=]*:.*[\w>]$")


@dataclass(frozen=True)
class Function:
    name: str
    line: int  # line of its first word
    lines: int  # number of lines until its closing brace


def functions(code):
    text = _without_directives(bare_code(code))
    found = []
    _scan(text, 0, found)
    return found


def _without_directives(text):
    """Blanks preprocessor lines, and all branches of an #if except the first, so that braces
    match."""
    lines = []
    skipping = []  # for each open #if: whether a later branch is being read
    position = 0
    while position < len(text):
        match = DIRECTIVE.match(text, position)
        end = match.end() if match else text.find("\n", position)
        end = len(text) if end < 0 else end
        chunk = text[position:end]
        if match:
            word = match[1]
            if word.startswith("if"):
                skipping.append(False)
            elif word in ("else", "elif") and skipping:
                skipping[-1] = True
            elif word == "endif" and skipping:
                skipping.pop()
        lines.append("\n" * chunk.count("\n") if match or any(skipping) else chunk)
        lines.append("\n")
        position = end + 1
    return "".join(lines)


def _scan(text, position, found):
    """Reads one scope from after its brace; returns the position after its end."""
    head = ""
    start = None  # position of the head's first word
    while position < len(text):
        char = text[position]
        if char == "}":
            return position + 1
        if char == "(":
            position = _behind_match(text, position)
            head += "()"
            continue
        if char == "{":
            kind = _kind(head)
            if kind == "scope":
                position = _scan(text, position + 1, found)
            else:
                end = _behind_match(text, position)
                if kind == "function":
                    found.append(_function(text, head, start, end))
                position = end
            if kind in ("initialiser", "member"):
                head += "()"
                continue
            head, start = "", None
            continue
        if char == ";" or (char == ":" and head.strip() in ("public", "private", "protected")):
            head, start = "", None
        else:
            if start is None and not char.isspace():
                start = position
            head += char
        position += 1
    return position


def _behind_match(text, position):
    """Returns the position after the bracket that closes the one at `position`."""
    expected = []
    while position < len(text):
        char = text[position]
        if char in OPENING:
            expected.append(OPENING[char])
        elif expected and char == expected[-1]:
            expected.pop()
            if not expected:
                return position + 1
        position += 1
    return position


def _kind(head):
    words = " ".join(head.split())
    words = re.sub(r"\[\[.*?\]\]|alignas ?\(\)|__attribute__ ?\(\)", "", words)
    words = OPERATOR.sub("operator@", words.replace("::", "."))
    words = NO_ANGLE.sub("@", words)
    while (shorter := re.sub(r"<[^<>]*>", "", words)) != words:
        words = shorter
    words = re.sub(r"^(template ?(requires [^()]* )?)+", "", words.strip())
    if SCOPE.search(words) and "(" not in words:
        return "scope"
    assignment = ASSIGNMENT.search(words)
    if assignment:  # a named lambda is a function, a table is not
        return "function" if re.search(r"= ?\[[^\]]*\]", words) else "initialiser"
    if "(" not in words:
        return "initialiser"
    return "member" if MEMBER.search(words) else "function"


def _function(text, head, start, end):
    line = text.count("\n", 0, start) + 1
    name = re.search(r"([\w:~]+|operator[^(]*)\s*\(", head)
    return Function(name[1] if name else "lambda", line, text.count("\n", start, end) + 1)
