"""A fixture for tests that send the same requests to a cache and to a real redis-server."""

import pytest

from resp_wire import RedisServer


@pytest.fixture(params=["cache", "redis"])
def port(request, daemon, tmp_path):
    """Yields the port of a cache, then of a redis-server; both must give the same replies."""
    if request.param == "redis":
        server = RedisServer(tmp_path / "redis")
        yield server.port
        server.close()
        return
    daemon.cli("create", "cache", "db", "-l", "tcp://127.0.0.1:0", "--resp", "-s")
    yield int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
