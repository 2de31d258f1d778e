"""The control API against clients that misuse it, by mistake or on purpose."""

import contextlib
import json
import pathlib
import random
import socket
import subprocess

import pytest

from strata_daemon import PATIENCE, Refused, eventually

PATHS = ["/v1/version", "/v1/runtimes", "/v1/runtimes/s", "/v1/runtimes/s/stats", "/metrics",
         "/v1/openapi.yaml", "/v1/events", "/v1/runtimes/s/logs"]


@pytest.fixture
def wire(daemon):
    """Makes raw connections to the control socket."""
    with contextlib.ExitStack() as stack:
        def make():
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.settimeout(PATIENCE)
            connection.connect(str(daemon.socket))
            return connection

        yield make


def read_all(connection):
    """Returns all data until the daemon closes the connection."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while more := connection.recv(65536):
            data += more
    return data


def read_until(connection, end):
    data = b""
    while not data.endswith(end):
        more = connection.recv(65536)
        assert more, data
        data += more
    return data


def test_random_bytes_are_refused_and_harm_nobody(daemon, wire):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(200):
        connection = wire()
        with contextlib.suppress(ConnectionError):
            connection.sendall(chance.randbytes(chance.randrange(1, 5000)))
            connection.shutdown(socket.SHUT_WR)
        answer = read_all(connection)
        assert answer == b"" or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5"))
        connection.close()
    assert daemon.names() == []


def test_requests_with_one_byte_changed_are_answered_or_refused(daemon, wire):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    body = json.dumps({"type": "server", "name": "s", "options": {"port": 0}}).encode()
    good = b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    for _ in range(300):
        changed = bytearray(good)
        changed[chance.randrange(len(good))] = chance.randrange(256)
        connection = wire()
        connection.sendall(changed)
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection)[:9] in (b"", b"HTTP/1.1 ")
        connection.close()
    daemon.names()


def test_a_request_may_come_byte_by_byte(daemon, wire):
    connection = wire()
    for byte in b"GET /v1/runtimes HTTP/1.1\r\nHost: strata\r\nConnection: close\r\n\r\n":
        connection.sendall(bytes([byte]))
    answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"[]")


def test_half_a_request_holds_up_nobody(daemon, wire):
    halves = [wire() for _ in range(50)]
    for number, each in enumerate(halves):
        request = b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
        each.sendall(request[:number + 1])
    daemon.server("s")
    for each in halves:
        each.close()
    assert daemon.names() == ["s"]


@pytest.mark.parametrize("request_bytes, status", [
    (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", 431),
    (b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 50_000 + b"\r\n", 431),
    (b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\nContent-Length: 2147483648\r\n\r\n", 413),
    (b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    (b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
    (b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
     400),
    (b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
     b"Transfer-Encoding: chunked\r\n\r\n", 400),
    (b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    (b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n",
     413),
    (b"GET /v1/runtimes/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET /v1/runtimes/a%00b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"\r\n\r\n\r\nhello\r\n\r\n", 400),
    (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 505),
], ids=["header", "target", "fields", "2GiB", "overflow", "negative", "two-lengths", "smuggling",
        "chunk", "big-chunk", "percent", "percent-nul", "nul", "two-blanks", "words", "version"])
def test_a_request_beyond_the_rules_is_refused_and_the_connection_closed(
        daemon, wire, request_bytes, status):
    before = daemon.resident_mib()
    connection = wire()
    with contextlib.suppress(ConnectionError):
        connection.sendall(request_bytes)
    answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer[:200]
    error = json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]
    assert error["message"]
    codes = {400: "malformed", 505: "not_supported"}
    assert error["code"] == codes.get(status, "limit_exceeded")
    assert daemon.resident_mib() < before + 32
    assert daemon.names() == []


def test_a_body_that_is_too_large_is_refused_before_it_is_read(daemon, wire):
    connection = wire()
    connection.sendall(b"POST /v1/runtimes/s/send HTTP/1.1\r\nHost: x\r\n"
                       b"Content-Length: 20000000\r\n\r\n")
    assert b" 413 " in read_all(connection)


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"null", b"1", b'"x"', b"{}", b'{"type":"server"}', b'{"name":"s"}',
    b'{"type":5,"name":"s"}', b'{"type":"server","name":5}', b'{"type":"server","name":null}',
    b'{"type":"server","name":"s","options":[]}', b'{"type":"server","name":"s","options":5}',
    b'{"type":"server","name":"s","start":"yes","options":{"port":0}}',
    b'{"type":"teapot","name":"s"}', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000,
    b'{"type":"server","name":"s","options":{"port":0}}garbage',
    b'{"type":"server\xff","name":"s"}', b'{"type":"server","name":"\xff"}'])
def test_a_body_that_makes_no_sense_creates_nothing(daemon, body):
    status, answer = daemon.exchange("POST", "/v1/runtimes", body)
    assert status == 400
    assert json.loads(answer)["error"]["code"] in ("malformed", "invalid_argument")
    assert daemon.names() == []


KINDS = {"local": [1, "yes", []], "restart": ["never", 1, []], "restart_limit": [-1, "3", 0.5],
         "port": ["x", -1, 65536, 1.5, [], {}, True], "listen": ["x", 5, [5], {}, [None]],
         "proxy_protocol": ["10.0.0.0/8", 5, [5], {}],
         "framing": ["words", 5, []], "mode": ["up", 5, {}],
         "master_pw": [5, [], "x" * 5000], "master_forward": ["yes", 1, []],
         "max_connections": ["1", -1, 1.5, [], 2**64, True],
         "max_memory_connections": ["1G", -1, 1.5],
         "max_peers": ["1", -1, 2**20 + 1], "rate_limit": [-1, "1"],
         "global_rate_limit": [-1, 0.5], "idle_timeout": ["1s", -1, [], 1e300],
         "peer_timeout": [-0.5, True], "udp_join": [5, [], "x" * 5000], "cache": [5, [], {}],
         "udp_allowance": [-1, 2**33, "1K"], "receive_buffer": [-1, 2**30, "1K"],
         "send_buffer": [1.5, 2**30, []], "max_message": [0, -1, 2**31, "1K"],
         "max_buffer": [0, 2**33], "slow_client": ["wait", 1], "drain": [0, "true"],
         "cert": ["x", [5]], "key": [5, [None]], "client_ca": [5, []], "tls_min": ["1.1", 1.2],
         "handshake_timeout": [-1, "1s"],
         "drain_timeout": [-1, 1e12], "threads": [0, 65, "2"], "write": [5, ["x"]],
         "upstream": ["x", 5, [5], {}, [None]], "lua_allow": ["net", [5], {}],
         "protocol": ["gopher", 1], "detect_timeout": [-1, "x"], "http_messages": [1, "yes"],
         "ws_ping": [-1, "1"], "ws_deflate": ["maybe", True], "ws_protocol": ["a", [1]],
         "ws_origin": ["x", {}],
         "http": [5, ["x"]], "http_listing": [1, "yes"], "http_fallback": [5, []],
         "http_inject": ["on", 0], "http_cache": [1, "yes"], "http_cache_size": [-1, "1M"],
         "http_header": ["A: b", [5]], "cors": ["*", {}], "http_log": [5, {}],
         "http_log_format": ["apache", 1],
         "http_max_head": [255, 2**21, "16K"], "http_max_body": [-1, 2**33, "1M"],
         "http_head_timeout": [-1, "10s"], "http_body_timeout": [-1, 1e300],
         "http_idle_timeout": [-0.5, True], "http2_max_streams": [0, 10_001, "100"],
         "lua": [5, ["x"]], "lua_memory": [-1, 1024, "1M"], "lua_time": [-1, "1s"],
         "lua_jit": ["yes", 1], "lua_unsafe": [1, "on"], "lua_watch": ["yes", 0],
         "group": [5, {}], "label": ["a", 5, {}],
         "owner": [5, []], "on_parent_stop": ["explode", 1]}


@pytest.mark.parametrize("body, message, remedy", [
    ({"type": "server", "name": "s", "options": {"idle_timeout": "500ms"}},
     "cannot set 'idle_timeout' to \"500ms\": it takes a number of seconds, such as 1.5", ""),
    ({"type": "server", "name": "s", "options": {"port": "9100"}},
     "cannot set 'port' to \"9100\": it takes a port from 0 to 65535, as a number", ""),
    ({"type": "server"}, "cannot read the request: the string 'name' is missing",
     "see GET /v1/openapi.yaml"),
    ({"type": "server", "name": "s", "options": {}},
     "cannot create a server: no address to listen on is given", "give -p PORT or --listen URL")])
def test_an_error_speaks_of_json_and_has_its_remedy_apart(daemon, body, message, remedy):
    status, content = daemon.exchange("POST", "/v1/runtimes", body)
    error = json.loads(content)["error"]
    assert status == 400
    assert error == {"code": "invalid_argument", "message": message, "remedy": remedy}


def test_a_wrong_type_is_refused_for_every_option(daemon):
    daemon.create("server", "whole", start=False, port=0)
    assert set(KINDS) == set(daemon.show("whole")["options"])
    for option, values in KINDS.items():
        for value in values:
            with pytest.raises(Refused) as refused:
                daemon.create("server", "s", start=False, **{"port": 0, option: value})
            assert refused.value.code == "invalid_argument", (option, value)
            assert f"'{option}'" in refused.value.message, (option, value, refused.value.message)
    assert daemon.names() == ["whole"]


def test_an_unknown_option_is_named(daemon):
    with pytest.raises(Refused, match="'colour'"):
        daemon.server("s", colour="blue")
    with pytest.raises(Refused, match="'\ufffd|'\\\\|'\u00e9"):
        daemon.create("server", "s", **{"\u00e9": 1})


@pytest.mark.parametrize("name", [
    "", "/", "..//x", "../../etc/passwd", "a/b", "a b", "a\0b", "a\n", "x" * 65, "é", "%2e%2e",
    "a'b", "*", "~", ".", "..", "-x", "--", ".hidden", ".json"])
def test_a_name_that_is_no_name_is_refused(daemon, name):
    with pytest.raises(Refused) as refused:
        daemon.server(name)
    assert refused.value.code == "invalid_argument"
    assert [path.name for path in (daemon.state_dir / "runtimes").iterdir()] == []


@pytest.mark.parametrize("name", ["a.", "a-", "_", "a.json", "tmp", "x" * 64])
def test_a_name_of_allowed_letters_works_however_odd(daemon, name):
    daemon.server(name)
    assert daemon.show(name)["state"] == "running"
    daemon.restart()
    assert daemon.show(name)["state"] == "running"
    daemon.remove(name)
    assert list((daemon.state_dir / "runtimes").iterdir()) == []


@pytest.mark.parametrize("path", [
    "/v1/runtimes/../../etc/passwd", "/v1/runtimes/%2e%2e%2f%2e%2e%2fetc", "/../v1/runtimes",
    "/v1/runtimes/nobody", "/v1/runtimes/nobody/stats", "/v1/runtimes/nobody/logs",
    "/", "//", "/v1", "/v1/runtimes/", "/v2/runtimes", "/v1/runtimes/a/b/c"])
def test_a_path_that_leads_nowhere_is_not_found(daemon, path):
    with pytest.raises(Refused) as refused:
        daemon.ask("GET", path)
    assert (refused.value.status, refused.value.code) == (404, "not_found")


def test_a_method_that_a_path_does_not_have_is_named(daemon):
    daemon.server("s")
    for method, path in [("DELETE", "/v1/runtimes"), ("POST", "/v1/version"),
                         ("PUT", "/v1/runtimes/s"), ("GET", "/v1/runtimes/s/start"),
                         ("POST", "/v1/events"), ("POST", "/v1/runtimes/s/logs"),
                         ("BREW", "/metrics")]:
        with pytest.raises(Refused, match=method) as refused:
            daemon.ask(method, path)
        assert refused.value.status == 405
    assert daemon.show("s")["state"] == "running"


def test_pipelined_requests_are_answered_in_order(daemon, wire):
    connection = wire()
    names = [f"s{number}" for number in range(50)]
    requests = b""
    for name in names:
        body = json.dumps({"type": "server", "name": name, "options": {"port": 0}}).encode()
        requests += b"POST /v1/runtimes HTTP/1.1\r\nHost: x\r\n"
        requests += b"Content-Length: %d\r\n\r\n" % len(body) + body
        requests += b"GET /v1/runtimes/%s HTTP/1.1\r\nHost: x\r\n\r\n" % name.encode()
    requests += b"GET /v1/runtimes/end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    connection.sendall(requests)
    answers = read_all(connection)
    statuses = [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [201, 200] * 50 + [404]
    positions = [answers.index(b'"name":"%s"' % name.encode()) for name in names]
    assert positions == sorted(positions)


@pytest.mark.parametrize("path", PATHS)
def test_head_is_answered_like_get_but_without_a_body(daemon, wire, path):
    daemon.server("s")
    connection = wire()
    connection.sendall(b"HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode()
                       + b"GET /v1/runtimes/end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    head, behind = read_all(connection).split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 200 ")
    assert behind.startswith(b"HTTP/1.1 404 "), behind


def test_curl_asks_for_the_head(daemon):
    done = subprocess.run(["curl", "-sSI", "--unix-socket", daemon.socket, "http://x/v1/runtimes"],
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0 and done.stdout.startswith(b"HTTP/1.1 200 "), done


@pytest.mark.parametrize("request_bytes, stays", [
    (b"GET /v1/runtimes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", False),
    (b"GET /v1/runtimes HTTP/1.0\r\n\r\n", False),
    (b"GET /v1/runtimes HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
    (b"GET /v1/runtimes HTTP/1.1\r\nHost: x\r\n\r\n", True),
    (b"GET /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", False)])
def test_a_connection_stays_open_as_the_client_wants(daemon, wire, request_bytes, stays):
    connection = wire()
    connection.sendall(request_bytes)
    if stays:
        read_until(connection, b"[]")
        connection.sendall(b"GET /v1/runtimes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert read_all(connection).startswith(b"HTTP/1.1 200 ")


def test_who_waits_for_continue_gets_it(daemon, wire):
    daemon.server("s")
    connection = wire()
    connection.sendall(b"POST /v1/runtimes/s/send HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                       b"Expect: 100-continue\r\n\r\n")
    read_until(connection, b"HTTP/1.1 100 Continue\r\n\r\n")
    connection.sendall(b"hi")
    assert b"200 OK" in read_until(connection, b"}")


def test_a_chunked_body_is_read(daemon, wire):
    daemon.server("s")
    connection = wire()
    connection.sendall(b"POST /v1/runtimes/s/send HTTP/1.1\r\nHost: x\r\n"
                       b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
    assert b"200 OK" in read_until(connection, b"}")


def test_200_idle_connections_hold_up_nobody(daemon, wire):
    idle = [wire() for _ in range(200)]
    [url] = daemon.server("s")
    assert daemon.cli("ls", "-q") == "s\n"
    for each in idle:
        each.sendall(b"GET /v1/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert all(read_all(each).startswith(b"HTTP/1.1 200 ") for each in idle)


def test_one_who_never_reads_its_answers_costs_no_memory(daemon, wire):
    daemon.server("s")
    before = daemon.resident_mib()
    connection = wire()
    connection.settimeout(1)
    with contextlib.suppress(TimeoutError, ConnectionError):
        for _ in range(2000):
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
    assert daemon.resident_mib() < before + 100
    assert daemon.names() == ["s"]


def test_many_at_once_are_all_answered(daemon):
    daemon.server("s")
    connections = [daemon.connect() for _ in range(100)]
    for _ in range(5):
        for each in connections:
            each.request("GET", "/v1/runtimes/s")
        for each in connections:
            reply = each.getresponse()
            assert reply.status == 200 and json.loads(reply.read())["name"] == "s"
    for each in connections:
        each.close()
    eventually(lambda: daemon.names() == ["s"], "it goes on")


def test_the_api_describes_itself_as_the_documents_do(daemon):
    status, content = daemon.exchange("GET", "/v1/openapi.yaml")
    kept = pathlib.Path(__file__).parents[2] / "docs" / "openapi.yaml"
    assert status == 200 and content == kept.read_bytes()
