"""targets: CMake's layers use exactly what layer_table.py allows."""

import re

from check.layer_table import ALLOWED
from check.source import Breach

LAYER = re.compile(r"^strata_layer\(([\w/]+)((?:\s+[\w/]+)*)\)", re.MULTILINE)


def breaches(root):
    path = root / "CMakeLists.txt"
    if not path.is_file():
        return []
    text = path.read_text()
    lines, uses = {}, {}
    for match in LAYER.finditer(text):
        lines[match[1]] = text.count("\n", 0, match.start()) + 1
        uses[match[1]] = _used(match[2].split())
    allowed = {name: set() for name in lines}
    for place, below in ALLOWED.items():
        if (layer := _layer_of(place, lines)) in allowed:
            allowed[layer] |= {_layer_of(one, lines) for one in below}

    found = []
    for name in {_layer_of(place, lines) for place in ALLOWED if _has_sources(root, place)}:
        if name not in lines:
            found.append(Breach("CMakeLists.txt", 1, f"there is no strata_layer({name}); add it"))
            continue
        linked, may = _closure(name, uses), _closure(name, allowed) & set(lines)
        for more in linked - may:
            found.append(Breach("CMakeLists.txt", lines[name],
                                f"strata_layer({name}) uses {more}, which layer_table.py forbids"))
        for less in may - linked:
            found.append(Breach("CMakeLists.txt", lines[name],
                                f"strata_layer({name}) lacks {less}, which layer_table.py allows"))
    return found


def _used(words):
    """Returns the words after USES, up to the next keyword."""
    if "USES" not in words:
        return set()
    behind = words[words.index("USES") + 1:]
    return set(behind[:next((i for i, word in enumerate(behind) if word.isupper()), len(behind))])


def _layer_of(place, layers):
    """Returns the longest of CMake's layers that contains the place; otherwise its first folder."""
    parts = place.split("/")
    for count in range(len(parts), 0, -1):
        if (key := "/".join(parts[:count])) in layers:
            return key
    return parts[0]


def _has_sources(root, place):
    top = place.split("/")[0]
    return any(next((root / folder / top).rglob("*.cpp"), None) for folder in ("lib", "src"))


def _closure(name, table):
    seen, todo = set(), [name]
    while todo:
        for below in table.get(todo.pop(), ()):
            if below != name and below not in seen:
                seen.add(below)
                todo.append(below)
    return seen
