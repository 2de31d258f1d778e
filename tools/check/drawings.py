"""drawings: the pictures in docs/ that tools/draw.py writes are up to date.

Each has a white background, so that pages show it in the same way in light and dark mode."""

from xml.sax.saxutils import escape

from check.source import Breach, read

BLUE, GREEN, ORANGE, NONE = "#dbe9f6", "#dff0d8", "#fdeccf", "#f4f4f4"


def breaches(root):
    for name, draw in DRAWINGS.items():
        if (root / name).is_file() and read(root, name) != draw():
            yield Breach(name, 1, "this is not what tools/draw.py draws; run it")


def text(x, y, words, size=12, anchor="middle", family="sans-serif"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" font-family="{family}" '
            f'text-anchor="{anchor}">{escape(words)}</text>')


def box(x, y, width, height, fill, dashed=False):
    dash = ' stroke-dasharray="4 4"' if dashed else ""
    return (f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" '
            f'stroke="#444"{dash}/>')


def line(x1, y1, x2, y2):
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#444"/>'


def drawing(width, height, shapes):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}">')
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([head, ground, *shapes, "</svg>", ""])


# --- an Ethernet frame with a VLAN tag, four bytes a row

BYTE, ROW, LEFT, TOP, RIGHT = 100, 54, 136, 34, 236
# A part, its color, and its pieces: a name and bytes, None for unknown bytes.
FRAME = (
    ("destination", BLUE, (("MAC address of the receiver", "02 00 00 00 00 02"),)),
    ("source", BLUE, (("MAC address of the sender", "02 00 00 00 00 01"),)),
    ("802.1Q tag", ORANGE, (("TPID: 0x8100", "81 00"), ("TCI: 0xe00a", "e0 0a"))),
    ("EtherType", BLUE, (("0x88b5: experiments", "88 b5"),)),
    ("payload", GREEN, (("\"hello\", zeros", "68 65 6c 6c 6f 00"),
                        ("42 to 1500 bytes (46 to 1500 without a tag)", "00 00 .. 00"))),
    ("FCS", NONE, (("checksum, CRC-32", "?? ?? ?? ??"),)),
)
# What a receiver sees of each group of rows.
SEEN = (
    (0, 3, ("recv(): the first 12 bytes",)),
    (3, 4, ("beside the frame:", "tp_vlan_tpid, tp_vlan_tci", "(auxdata, or the ring's header)")),
    (4, 7, ("recv(): bytes 12 and up,", "the EtherType first",)),
    (7, 8, ("not shown: the card adds it", "and takes it off", "(with ethtool's rx-fcs it stays)")),
)
TCI = (("PCP", "111", "3 bits: 7"), ("DEI", "0", "1 bit"),
       ("VID", "000000001010", "12 bits: VLAN 10"))


def vlan_frame():
    shapes = [text(LEFT + (i + 0.5) * BYTE, TOP - 12, f"byte {i}") for i in range(4)]
    shapes.append(text(LEFT + 4 * BYTE + 24, TOP - 12, "what AF_PACKET shows", 12, "start"))
    offset = 0
    for part, colour, pieces in FRAME:
        shapes += _part_name(part, offset)
        for name, values in pieces:
            for at, piece in _rows_of(values.split(), offset):
                shapes += _bytes(at, piece, name, colour)
            offset += len(values.split())
    for first, end, lines in SEEN:
        shapes += _seen(first, end, lines)
    bottom = TOP + 8 * ROW
    shapes += _tag_bits(bottom + 34)
    return drawing(LEFT + 4 * BYTE + RIGHT, bottom + 110, shapes)


def _rows_of(values, offset):
    while values:
        room = 4 - offset % 4
        yield offset, values[:room]
        offset += room
        values = values[room:]


def _part_name(part, offset):
    y = TOP + offset // 4 * ROW + 22
    second = 18 if offset % 4 else 0  # another part begins this row
    return [text(LEFT - 12, y + second, part, 13, "end")]


def _bytes(offset, values, name, colour):
    x, y = LEFT + offset % 4 * BYTE, TOP + offset // 4 * ROW
    shapes = [box(x, y, len(values) * BYTE, ROW, colour)]
    shapes += [text(x + (i + 0.5) * BYTE, y + 22, value, 16, family="monospace")
               for i, value in enumerate(values)]
    return [*shapes, text(x + len(values) * BYTE / 2, y + 43, name)]


def _seen(first, end, lines):
    x, top, bottom = LEFT + 4 * BYTE + 10, TOP + first * ROW + 4, TOP + end * ROW - 4
    y = (top + bottom) / 2 + 4 - 8 * (len(lines) - 1)
    return [line(x, top, x, bottom),
            *(text(x + 14, y + 16 * i, each, 12, "start") for i, each in enumerate(lines))]


def _tag_bits(y):
    shapes = [text(LEFT - 12, y + 22, "the TCI's bits", 13, "end")]
    bit, x = 4 * BYTE / 16, LEFT
    for name, bits, meaning in TCI:
        width = bit * len(bits)
        shapes.append(box(x, y, width, 38, ORANGE))
        shapes += [text(x + (i + 0.5) * bit, y + 25, each, 16, family="monospace")
                   for i, each in enumerate(bits)]
        shapes += [text(x + width / 2, y - 8, name), text(x + width / 2, y + 56, meaning)]
        x += width
    return shapes


# --- the layers that raw Ethernet leaves out

COLUMN, GAP, STEP, HEIGHT = 250, 20, 56, 44
# A color and one or two lines; None: this way leaves the layer out.
LAYERS = (
    ("UDP or TCP socket", (
        (ORANGE, "application"),
        (BLUE, "socket API", "copies each message"),
        (BLUE, "TCP or UDP", "ports, checksum; TCP: order, repeats"),
        (BLUE, "IP", "header, fragments"),
        (BLUE, "routing, netfilter", "interface and next hop; firewall"),
        (BLUE, "neighbour table", "MAC address of the next hop (ARP)"),
        (BLUE, "qdisc, sending only", "queues, shaping, priorities"),
        (GREEN, "driver"),
        (GREEN, "network card"))),
    ("AF_PACKET", (
        (ORANGE, "application", "writes the Ethernet header itself"),
        (BLUE, "packet socket", "BPF filter; a copy, or a shared ring"),
        None, None, None, None,
        (BLUE, "qdisc, sending only", "PACKET_QDISC_BYPASS leaves it out"),
        (GREEN, "driver"),
        (GREEN, "network card"))),
    ("AF_XDP", (
        (ORANGE, "application", "writes the Ethernet header itself"),
        (BLUE, "rings and UMEM", "memory shared with the kernel"),
        None, None, None, None, None,
        (GREEN, "driver", "XDP program; copy, or zero-copy"),
        (GREEN, "network card"))),
)


def layers():
    shapes = []
    for index, (name, ways) in enumerate(LAYERS):
        x = GAP + index * (COLUMN + GAP)
        shapes.append(text(x + COLUMN / 2, 24, name, 15))
        for row, layer in enumerate(ways):
            shapes += _layer(x, 40 + row * STEP, layer, row + 1 == len(ways))
    width = GAP + len(LAYERS) * (COLUMN + GAP)
    return drawing(width, 40 + 9 * STEP, shapes)


def _layer(x, y, layer, is_last):
    middle = x + COLUMN / 2
    if layer is None:
        return [box(x, y, COLUMN, HEIGHT, NONE, dashed=True),
                text(middle, y + HEIGHT / 2 + 4, "left out"),
                line(middle, y + HEIGHT, middle, y + STEP)]
    colour, name, *more = layer
    shapes = [box(x, y, COLUMN, HEIGHT, colour),
              text(middle, y + (19 if more else 27), name, 13)]
    shapes += [text(middle, y + 35, each, 11) for each in more]
    return shapes if is_last else [*shapes, line(middle, y + HEIGHT, middle, y + STEP)]


DRAWINGS = {
    "docs/ethernet-frame.svg": vlan_frame,
    "docs/raw-ethernet-layers.svg": layers,
}
