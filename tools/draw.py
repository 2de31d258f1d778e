#!/usr/bin/env python3
"""Writes the drawings of docs/ that no example writes. `make check` compares them."""

from pathlib import Path

from check.drawings import DRAWINGS

root = Path(__file__).resolve().parent.parent
for name, draw in DRAWINGS.items():
    (root / name).write_text(draw(), encoding="utf-8")
