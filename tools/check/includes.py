"""includes: the table of docs/layers.md shows which layers the code of each layer includes."""

from check.layers import TOPS, includes, layer_of, resolve
from check.layer_table import ALLOWED
from check.source import CPP_SUFFIXES, Breach, files, read

PAGE = "docs/layers.md"
BEGIN = "<!-- begin of the table that tools/include_table.py writes -->\n"
END = "<!-- end of the table -->"


def breaches(root):
    if not (root / PAGE).is_file():
        return []
    text = read(root, PAGE)
    if BEGIN not in text or END not in text:
        return [Breach(PAGE, 1, f"has no place for the table of includes: {BEGIN.strip()}")]
    if text == renewed(root, text):
        return []
    line = text[: text.index(BEGIN)].count("\n") + 1
    return [Breach(PAGE, line, "the table is not what the code does; run tools/include_table.py")]


def renewed(root, text):
    """Returns the page with the current table."""
    before, rest = text.split(BEGIN, 1)
    return before + BEGIN + table(root) + END + rest.split(END, 1)[1]


def table(root):
    """Returns one row per layer, in the order of the rules: what its files include, without
    tests."""
    seen = {layer: set() for layer in ALLOWED}
    present = set()
    for path in files(root, CPP_SUFFIXES, TOPS):
        layer = layer_of(path)
        if layer not in seen or path.stem.endswith("_test") or "testing" in path.parts:
            continue
        present.add(layer)
        for _, mark, name in includes(read(root, path)):
            target = resolve(root, path, mark, name)
            if target and layer_of(target) != layer:
                seen[layer].add(layer_of(target))
    order = list(ALLOWED)
    rows = ["| Folder | includes |", "|---|---|"]
    for layer in order:
        if layer in present:
            names = sorted(seen[layer], key=order.index)
            rows.append(f"| `{layer}` | {', '.join(names) or '—'} |")
    return "\n".join(rows) + "\n"
