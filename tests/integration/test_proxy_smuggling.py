"""Backends receive only requests that the proxy has read as one request: a short run
of harness/smuggling.py."""

import random

import pytest

import smuggling


@pytest.mark.parametrize("backend", ["h11", "node"])
def test_no_backend_reads_a_request_that_the_proxy_has_not_read(backend):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    [found] = smuggling.tried(["strata"], [backend], 300, seed)
    assert found["smuggled"] == 0, found
    # Some requests were well-formed, and most were not.
    assert 10 < found["read"] < 300, found
