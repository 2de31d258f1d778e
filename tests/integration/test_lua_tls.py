"""Scripts that connect over TLS: strata.connect to tls:// and wss://, strata.redis to rediss://."""

import pytest

from lua_console import LuaConsole
from resp_wire import RedisServer
from strata_daemon import eventually
from talker import free_port
from tls_servers import tls_server


@pytest.fixture
def console(daemon, tmp_path):
    return LuaConsole(daemon, tmp_path)


def by_name(url):
    return url.replace("127.0.0.1", "localhost")


def test_a_connection_by_tls_checks_who_is_there(daemon, authority, console):
    url = tls_server(daemon, authority, mode="echo", protocol="raw",
                     certificates=[authority.issue("localhost")])
    options = f"{{ca = '{authority.ca}', framing = 'line'}}"
    console.run(f"c = assert(strata.connect('{by_name(url)}', {options})) c:send('over tls')")
    assert console.run("return c:receive(5)") == ("over tls", None)
    # 100 KB take many records.
    console.run("c:send(('x'):rep(100000))")
    assert console.run("return #c:receive(5)") == (100000, None)
    # A wrong name, and an untrusted authority.
    for where, how in ((url, options), (by_name(url), "{framing = 'line'}")):
        got = console.run(f"return strata.connect('{where}', {how})")
        assert got[0] is None and "certificate" in got[1], got
    console.run(f"d = assert(strata.connect('{url}', {{insecure = true, framing = 'line'}})) "
                "d:send('unchecked')")
    assert console.run("return d:receive(5)") == ("unchecked", None)
    assert "/nowhere/ca.pem" in console.run(
        f"return strata.connect('{url}', {{ca = '/nowhere/ca.pem'}})")[1]


def test_a_websocket_by_tls(daemon, authority, console):
    url = by_name(tls_server(daemon, authority, mode="echo",
                             certificates=[authority.issue("localhost")]))
    url = url.replace("tls://", "wss://")
    console.run(f"w = assert(strata.connect('{url}/', {{ca = '{authority.ca}'}})) w:send('hi')")
    assert console.run("return w:receive(5)") == ("hi", None)
    got = console.run(f"return strata.connect('{url}/')")
    assert got[0] is None and "certificate" in got[1], got


def check_redis(console, url, authority):
    console.run(f"db = strata.redis('{url}', {{ca = '{authority.ca}'}})")
    assert console.run("return db:set('k', 'by tls'), db:get('k')") == ("OK", "by tls")
    console.run(f"bad = strata.redis('{url}')")
    got = console.run("return bad:get('k')")
    assert got[0] is None and "certificate" in got[1], got
    # Published messages also arrive over TLS.
    console.run(f"heard = {{}} strata.subscribe('{url}', 'news', function(channel, message) "
                f"heard[#heard + 1] = message end, {{ca = '{authority.ca}'}})")
    eventually(lambda: console.run("return db:publish('news', 'x')")[0] > 0, "it is subscribed")
    eventually(lambda: console.run("return heard[1]")[0] == "x", "it hears")


def test_a_cache_by_tls(daemon, authority, console):
    cert, key = authority.issue("localhost")
    [url] = daemon.create("cache", "store", resp=True, listen=["tls://127.0.0.1:0"], cert=[cert],
                          key=[key])["endpoints"]
    check_redis(console, by_name(url).replace("tls://", "rediss://"), authority)


def test_a_real_redis_server_by_tls(authority, console, tmp_path):
    cert, key = authority.issue("localhost")
    port = free_port()
    server = RedisServer(tmp_path / "redis", "--tls-port", str(port), "--tls-cert-file", cert,
                         "--tls-key-file", key, "--tls-ca-cert-file", authority.ca,
                         "--tls-auth-clients", "no")
    try:
        check_redis(console, f"rediss://localhost:{port}", authority)
    finally:
        server.close()
