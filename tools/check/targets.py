"""targets: CMake's layers use what layer_table.py lets them, no more and no less."""

import re

from check.layer_table import ALLOWED
from check.source import Breach

LAYER = re.compile(r"^strata_layer\((\w+)(?: USES ([^)]*))?\)", re.MULTILINE)


def breaches(root):
    path = root / "CMakeLists.txt"
    if not path.is_file():
        return []
    text = path.read_text()
    lines, uses = {}, {}
    for match in LAYER.finditer(text):
        lines[match[1]] = text.count("\n", 0, match.start()) + 1
        uses[match[1]] = set((match[2] or "").split())
    allowed = {name: set() for name in lines}
    for place, below in ALLOWED.items():
        if place.split("/")[0] in allowed:
            allowed[place.split("/")[0]] |= {one.split("/")[0] for one in below}

    found = []
    for name in {top for place in ALLOWED if _has_sources(root, top := place.split("/")[0])}:
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


def _has_sources(root, name):
    return any(next((root / top / name).rglob("*.cpp"), None) for top in ("lib", "src"))


def _closure(name, table):
    seen, todo = set(), [name]
    while todo:
        for below in table.get(todo.pop(), ()):
            if below != name and below not in seen:
                seen.add(below)
                todo.append(below)
    return seen
