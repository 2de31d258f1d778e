#!/usr/bin/env python3
"""Draws the first request with an attribute that docs/netlink-tutorial.md shows, four bytes a row:
draw_message.py > docs/netlink-message.svg"""

import re
from pathlib import Path
from xml.sax.saxutils import escape

PAGE = Path(__file__).resolve().parents[2] / "docs/netlink-tutorial.md"
LINE = re.compile(r"^  ((?:(?:[0-9a-f]{2}|<[a-z]+>) )+) *(.*)$")
# Of the bytes that client.c's lines have, in their order; a line of several members is split.
MEMBERS = [("nlmsg_len", 4), ("nlmsg_type", 2), ("nlmsg_flags", 2), ("nlmsg_seq", 4),
           ("nlmsg_pid", 4), ("cmd", 1), ("version", 1), ("reserved", 2)]
ATTRIBUTE = [("nla_len", 2), ("nla_type", 2)]
PARTS = {"nlmsghdr": "#dbe9f6", "genlmsghdr": "#dff0d8", "attribute": "#fdeccf"}
BYTE, ROW, LEFT, TOP, RIGHT = 112, 54, 150, 34, 20


def message(page):
    """[(bytes, meaning)] of the lines of the first request that has an attribute."""
    for block in page.split("sent:\n")[1:]:
        lines = []
        for line in block.splitlines():
            found = LINE.match(line)
            if not found:
                break
            lines.append((found[1].split(), found[2]))
        if any(meaning.startswith("attribute") for _, meaning in lines):
            return lines
    raise SystemExit(f"{PAGE}: shows no request with an attribute")


def fields(lines):
    """[(part, name, bytes)]"""
    head = [byte for line, meaning in lines[:6] for byte in line]
    made = []
    for name, size in MEMBERS:
        made.append(("genlmsghdr" if len(made) >= 5 else "nlmsghdr", name, head[:size]))
        head = head[size:]
    for line, meaning in lines[6:]:
        if meaning.startswith("attribute"):
            made += [("attribute", name, line[at:at + size])
                     for (name, size), at in zip(ATTRIBUTE, (0, 2))]
        else:
            made.append(("attribute", meaning.strip(), line))
    return made


def boxes(every):
    """[(part, name, bytes, offset)]: none goes over the end of a row of four bytes."""
    offset = 0
    for part, name, line in every:
        while line:
            room = 4 - offset % 4
            yield part, name, line[:room], offset
            offset += len(line[:room])
            line = line[room:]


def text(x, y, said, size=14, anchor="middle", family="monospace"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" font-family="{family}" '
            f'text-anchor="{anchor}">{escape(said)}</text>')


def draw(every):
    placed = list(boxes(every))
    rows = placed[-1][3] // 4 + 1
    width, height = LEFT + 4 * BYTE + RIGHT, TOP + rows * ROW + 12
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             f'width="{width}" height="{height}">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    lines += [text(LEFT + (i + 0.5) * BYTE, TOP - 12, f"byte {i}", 12, family="sans-serif")
              for i in range(4)]
    for part, name, line, offset in placed:
        x, y = LEFT + offset % 4 * BYTE, TOP + offset // 4 * ROW
        lines.append(f'<rect x="{x}" y="{y}" width="{len(line) * BYTE}" height="{ROW}" '
                     f'fill="{PARTS[part]}" stroke="#444"/>')
        lines += [text(x + (i + 0.5) * BYTE, y + 22, byte, 16) for i, byte in enumerate(line)]
        lines.append(text(x + len(line) * BYTE / 2, y + 43, name, 12, family="sans-serif"))
    for part in PARTS:
        own = [offset for each, _, _, offset in placed if each == part]
        y = TOP + own[0] // 4 * ROW + 22
        lines.append(text(LEFT - 12, y, part, 14, "end"))
        lines.append(text(LEFT - 12, y + 18, f"from byte {own[0]}", 12, "end", "sans-serif"))
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    print(draw(fields(message(PAGE.read_text()))), end="")
