"""docs: links between pages lead somewhere; a link that shows a name of the code leads to a file
that contains this name; docs/building.md names each package that we need."""

import re
from urllib.parse import unquote

from check.source import CPP_SUFFIXES, Breach, files, read

DEPENDENCIES = "tools/deps.txt"
BUILDING = "docs/building.md"
FENCE = re.compile(r"^ *(```|~~~)")
NAMED = re.compile(r"\[`([\w:]+)`\]\(([^)\s#]+)\)")  # [`class::function`](source)
LINK = re.compile(
    r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)"  # [text](target "title"), images too
    r"|^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)"  # [name]: target
    r"|\b(?:src|href)=\"([^\"]+)\""
)


def breaches(root):
    found = []
    for path in files(root, (".md",)):
        for line, target in _links(read(root, path)):
            if re.match(r"[a-z][a-z0-9+.-]*:|#|//", target):
                continue
            name = unquote(target.split("#")[0].split("?")[0])
            start = root if name.startswith("/") else (root / path).parent
            if not (start / name.lstrip("/")).exists():
                found.append(
                    Breach(str(path), line, f"the link to {target} leads nowhere; mend or drop it")
                )
        found += _lost_names(root, path)
    found += _unnamed_dependencies(root)
    return found


def _links(text):
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                yield number, match[1] or match[2] or match[3]


def _lost_names(root, path):
    for number, line in enumerate(read(root, path).splitlines(), 1):
        for name, target in NAMED.findall(line):
            source = (root / path).parent / target
            if source.suffix not in CPP_SUFFIXES or not source.is_file():
                continue
            word = name.split("::")[-1]
            if not re.search(rf"\b{word}\b", source.read_text(encoding="utf-8")):
                yield Breach(str(path), number, f"{target} has no {word}; name what is there now")


def _unnamed_dependencies(root):
    if not (root / DEPENDENCIES).is_file():
        return
    page = read(root, BUILDING) if (root / BUILDING).is_file() else ""
    for number, line in enumerate(read(root, DEPENDENCIES).splitlines(), 1):
        package = line.split("#")[0].strip()
        if package and not re.search(rf"(?<![\w.+-]){re.escape(package)}(?![\w+-])", page):
            message = f"{BUILDING} does not name the package {package}; say there what it is for"
            yield Breach(DEPENDENCIES, number, message)
