"""A fixture for tests that ask a cache and a real redis-server the same."""

import pytest

from resp_wire import RedisServer


@pytest.fixture(params=["cache", "redis"])
def port(request, daemon, tmp_path):
    """Both are asked the same, and have to reply the same."""
    if request.param == "redis":
        server = RedisServer(tmp_path / "redis")
        yield server.port
        server.close()
        return
    daemon.cli("create", "cache", "db", "-l", "tcp://127.0.0.1:0", "--resp", "-s")
    yield int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
