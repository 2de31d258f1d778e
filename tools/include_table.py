#!/usr/bin/env python3
"""Writes the table of docs/layers.md: which layer includes which. `make check` compares it."""

from pathlib import Path

from check import includes

root = Path(__file__).resolve().parent.parent
page = root / includes.PAGE
page.write_text(includes.renewed(root, page.read_text(encoding="utf-8")), encoding="utf-8")
