"""unused: a name that a .cpp imports with `using`, or gives a namespace, is used in that file.

clang-tidy's own checks of this work only on a file that is read alone; tidy.py reads
several together.
"""

import re

from check.source import Breach, bare_code, files, read

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
FETCHED = re.compile(r"^[ \t]*(?:using (?:\w+::)+|namespace )(\w+)(?:;| = [\w:]+;)", re.MULTILINE)


def breaches(root):
    found = []
    for path in files(root, (".cpp",), ("lib", "src", "bench", "fuzz", "tests", "examples")):
        code = INCLUDE.sub("", bare_code(read(root, path)))
        for match in FETCHED.finditer(code):
            rest = code[: match.start()] + code[match.end() :]
            if not re.search(rf"\b{match[1]}\b", rest):
                line = code.count("\n", 0, match.start(1)) + 1
                found.append(Breach(str(path), line, f"'{match[1]}' is not used here; remove it"))
    return found
