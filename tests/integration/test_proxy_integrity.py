"""Data passes through a proxy unchanged: a small dose of what tests/harness/integrity.py and
http_integrity.py do by hand with a thousand connections."""

import os
import random

import pytest

import http_integrity
import integrity

CONNECTIONS = 120
MOST = 1 << 18  # bytes


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", [integrity, http_integrity], ids=["tcp", "http"])
def test_every_byte_is_what_was_said(daemon, kind, threads):
    seed = int(os.environ.get("STRATA_SEED", random.randrange(1 << 32)))
    report = kind.proxied(daemon, CONNECTIONS, seed, MOST, threads=threads)
    assert report["wrong"] == [], f"STRATA_SEED={seed}"
    assert report["connections"] == CONNECTIONS and report["bytes_heard"] > MOST
