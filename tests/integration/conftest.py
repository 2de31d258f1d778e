"""Fixtures that all integration tests share. README.md says how to run them."""

import contextlib
import os
import sys

import pytest

import scripted_server
from cache_config import new_cache
from certificates import Authority
from fixtures import (broker, failing_disk, make_daemon, place, proxies, root,  # noqa: F401
                      sentinels, site, small_disk, veth)
from http_backend import Backend
from resp_wire import RedisServer
from strata_daemon import BINARY
from talker import port_of
from veth import DaemonInside


def pytest_sessionstart():
    if not os.access(BINARY, os.X_OK):
        pytest.exit("STRATA_BIN does not name the strata binary", returncode=2)


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "tls")


@pytest.fixture
def daemon(make_daemon):  # noqa: F811
    return make_daemon()


@pytest.fixture
def redis(tmp_path):
    """A real redis-server."""
    server = RedisServer(tmp_path / "redis")
    yield server
    server.close()


@pytest.fixture
def ports(daemon, redis):
    """The ports of a cache and of a real redis-server."""
    return new_cache(daemon, redis_version="7.0"), redis.port


@pytest.fixture
def scripted(daemon, tmp_path):
    """Returns a function that starts a server with a script and returns where it listens."""
    def start(text, name="web", **options):
        options = {"listen": ["tcp://127.0.0.1:0"], "protocol": "raw"} | options
        return scripted_server.start(daemon, tmp_path, text, name, **options)
    return start


@pytest.fixture
def scripted_web(daemon, tmp_path):
    """Returns a function that does the same for HTTP and returns the port."""
    def start(text, **options):
        options = {"listen": ["http://127.0.0.1:0"]} | options
        return port_of(scripted_server.start(daemon, tmp_path, text, **options))
    return start


@pytest.fixture
def daemons(veth, tmp_path):  # noqa: F811
    """Yields a daemon in each of veth's namespaces."""
    made = [DaemonInside(veth.a, tmp_path / "a"), DaemonInside(veth.b, tmp_path / "b")]
    for each in made:
        each.start()
    yield made
    for each in made:
        each.close()


@pytest.fixture
def make_backend():
    """Yields a function that makes HTTP backends of a proxy, with the arguments of
    `http_backend.Backend`."""
    with contextlib.ExitStack() as stack:
        def make(*arguments, **how):
            return stack.enter_context(contextlib.closing(Backend(*arguments, **how)))
        yield make


@pytest.fixture
def program(daemon, tmp_path):
    """Returns a function that creates and starts a program of that Python text."""
    def start(text, *words, name="p", **options):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        command = " ".join([sys.executable, str(path), *words])
        daemon.create("program", name, command=command, **options)
        return daemon.show(name)

    return start
