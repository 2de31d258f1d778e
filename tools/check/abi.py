"""abi: the symbol map of the C ABI names exactly the functions that the C headers declare."""

import re

from check.source import Breach, files, read

MAP = "lib/abi/strata.map"
COMMENT = re.compile(r"/\*.*?\*/|#[^\n]*", re.DOTALL)
# From the end of a declaration or a body up to the name and its parenthesis.
FUNCTION = re.compile(r"(?:^|(?<=[;{}]))([^;{}()]*?)\b(strata_\w+)\s*\(", re.DOTALL)


def breaches(root):
    if not (root / MAP).is_file():
        return
    named = mapped(read(root, MAP))
    declared = {}
    for path in files(root, (".h",), ("include",)):
        for line, name in functions(read(root, path)):
            declared[name] = (path, line)
    for name, (path, line) in declared.items():
        if name not in named:
            message = f"{MAP} does not export {name}; name it in its newest version"
            yield Breach(str(path), line, message)
    for name, line in named.items():
        if name not in declared:
            yield Breach(MAP, line, f"no header declares {name}; a released symbol has to stay")


def mapped(text):
    """Returns the names and their lines. A pattern could export unintended names."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        for name in re.findall(r"\bstrata_[\w*]+(?=;)", line.partition("#")[0]):
            found[name] = number
    return found


def functions(text):
    """Yields (line, name) of each function that a header declares and does not define."""
    bare = COMMENT.sub(lambda match: "\n" * match.group(0).count("\n"), text)
    for match in FUNCTION.finditer(bare):
        if "static" not in match[1].split() and "typedef" not in match[1].split():
            yield bare.count("\n", 0, match.start(2)) + 1, match[2]
