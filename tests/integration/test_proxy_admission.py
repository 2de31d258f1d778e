"""Which clients a proxy admits, and how often: --allow, --deny, --rate-per-client."""

import contextlib
import socket

import pytest

from http_backend import ask, client, gateway, get
from strata_daemon import PATIENCE, Refused, eventually
from talker import port_of

TCP = ["tcp://127.0.0.1:0"]


def raw_gateway(daemon, **options):
    [url] = daemon.server("chat")
    options = {"listen": TCP, "backend": [url]} | options
    [front] = daemon.create("proxy", "gw", **options)["endpoints"]
    return port_of(front)


def come(port, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE,
                                    source_address=(source, 0))


def is_closed(one):
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


def is_served(daemon, port, source):
    """Reports whether a raw client reaches the server behind the proxy."""
    before = daemon.stats("chat")["connections"]["total"]
    refused = daemon.stats("gw")["connections"]["refused"]
    with come(port, source) as one:
        def is_decided():
            return (daemon.stats("chat")["connections"]["total"] > before
                    or daemon.stats("gw")["connections"]["refused"] > refused)

        eventually(is_decided, "it is served or refused")
        is_refused = daemon.stats("gw")["connections"]["refused"] > refused
        if is_refused:
            assert is_closed(one)
        return not is_refused


def request(fields=b"", target=b"/"):
    return b"GET " + target + b" HTTP/1.1\r\nHost: h\r\n" + fields + b"\r\n"


def status_for(port, source="127.0.0.1", fields=b""):
    """Returns the status; 0 if the connection is closed without an answer."""
    with come(port, source) as one:
        with contextlib.suppress(ConnectionError):
            one.sendall(request(fields))
            answer = one.recv(65536)
            return int(answer.split()[1]) if answer else 0
        return 0


def test_raw_clients_are_let_in_by_their_network(daemon):
    port = raw_gateway(daemon, allow=["127.0.0.0/29"], deny=["127.0.0.3"])
    served = {source: is_served(daemon, port, source)
              for source in ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.9"]}
    assert served == {"127.0.0.1": True, "127.0.0.2": True, "127.0.0.3": False,
                      "127.0.0.9": False}
    seen = daemon.stats("gw")
    assert (seen["clients"]["denied"], seen["connections"]["refused"]) == (2, 2)


def test_an_edit_holds_at_once(daemon, make_backend):
    port = gateway(daemon, make_backend())
    with client(port) as wire:
        assert b" 200 " in ask(wire, request())[0]
        assert daemon.edit("gw", deny=["127.0.0.0/8"])["applied"] == ["deny"]
        eventually(lambda: status_for(port) == 0, "nobody is let in")
        # An existing connection stays, and its requests are refused.
        assert b" 403 " in ask(wire, request())[0]
        daemon.edit("gw", deny=None, allow=["127.0.0.2"])
        eventually(lambda: status_for(port, "127.0.0.2") == 200, "one is let in")
        assert b" 403 " in ask(wire, request())[0]
        assert status_for(port) == 0
        daemon.edit("gw", allow=None)
        eventually(lambda: status_for(port) == 200, "all are let in")
        assert b" 200 " in ask(wire, request())[0]
    assert daemon.stats("gw")["clients"]["denied"] >= 4


def test_behind_a_trusted_proxy_the_client_counts(daemon, make_backend):
    backend = make_backend()
    port = gateway(daemon, backend, trust=["127.0.0.2"], deny=["192.0.2.0/24"])
    said = b"X-Forwarded-For: 192.0.2.1\r\n"
    assert status_for(port, "127.0.0.2", said) == 403
    assert status_for(port, "127.0.0.2", b"X-Forwarded-For: 192.0.2.1, 198.51.100.1\r\n") == 200
    assert status_for(port, "127.0.0.2", b"X-Forwarded-For: nonsense, 192.0.2.1\r\n") == 403
    # The field of an untrusted client has no effect, good or bad.
    assert status_for(port, "127.0.0.1", said) == 200
    assert len(backend.requests) == 2


def test_the_access_log_names_the_client_that_is_believed(daemon, make_backend, tmp_path):
    log = tmp_path / "log"
    port = gateway(daemon, make_backend(), trust=["127.0.0.2"], access_log=str(log),
                   access_format="%{client} %{status}", deny=["2001:db8::/32"])
    for said in [b"192.0.2.7", b"[2001:db8::1]:80", b"\x1b[2J"]:
        status_for(port, "127.0.0.2", b"X-Forwarded-For: " + said + b"\r\n")
    eventually(lambda: log.read_text().count("\n") == 3, "three lines")
    assert log.read_text().splitlines() == ["192.0.2.7 200", "2001:db8::1 403", "127.0.0.2 400"]


def test_too_many_requests_are_told_when_to_come_again(daemon, make_backend):
    backend = make_backend()
    port = gateway(daemon, backend, rate_per_client=1)
    with client(port) as wire:
        heads = [ask(wire, request())[0] for _ in range(5)]
        assert b" 200 " in heads[0]
        limited = [head for head in heads if b" 429 " in head]
        assert limited and all(b"\r\nretry-after: 1" in head.lower() for head in limited)
        assert len(backend.requests) == 5 - len(limited)
        assert daemon.stats("gw")["clients"]["limited"] == len(limited)
        # Another client has its own rate.
        assert status_for(port, "127.0.0.9") == 200

        def is_served_again():
            return b" 200 " in ask(wire, request())[0]

        eventually(is_served_again, "it is served again")
        daemon.edit("gw", rate_per_client=0)
        eventually(lambda: all(b" 200 " in ask(wire, request())[0] for _ in range(5)), "no limit")


def test_clients_behind_a_trusted_proxy_have_rates_of_their_own(daemon, make_backend):
    port = gateway(daemon, make_backend(), trust=["127.0.0.0/8"], rate_per_client=1)
    statuses = [status_for(port, fields=b"X-Forwarded-For: 2001:db8:0:%d::%d\r\n" % (each, each))
                for each in range(20)]
    assert statuses == [200] * 20
    same = [status_for(port, fields=b"X-Forwarded-For: 2001:db8::%d\r\n" % each)
            for each in range(20)]
    assert 429 in same


def test_raw_connections_have_a_rate(daemon):
    port = raw_gateway(daemon, rate_per_client=2)
    with contextlib.ExitStack() as stack:
        def limited():
            stack.enter_context(come(port))
            return daemon.stats("gw")["clients"]["limited"] > 0

        eventually(limited, "one is closed")
        seen = daemon.stats("gw")
        assert seen["connections"]["refused"] == seen["clients"]["limited"]
    assert is_served(daemon, port, "127.0.0.9")


def test_many_clients_take_little_memory(daemon, make_backend):
    port = gateway(daemon, make_backend(), trust=["127.0.0.0/8"], rate_per_client=1,
                   route=["path=/* -> answer=204"])
    before = daemon.resident_mib()
    with client(port) as wire:
        for round_ in range(40):
            batch = b"".join(request(b"X-Forwarded-For: 10.%d.%d.%d\r\n" % (
                round_, each >> 8, each & 255)) for each in range(2000))
            wire.over.sendall(batch)
            for _ in range(2000):
                assert b" 204 " in wire.until(b"\r\n\r\n")
    assert daemon.resident_mib() < before + 64


def test_those_of_a_unix_socket_have_no_address(daemon, make_backend, tmp_path):
    door = tmp_path / "door"
    backend = make_backend()
    daemon.create("proxy", "gw", listen=[f"unix://{door}"], backend=[backend.where],
                  allow=["192.0.2.1"], rate_per_client=1, protocol="http")
    for _ in range(5):
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(PATIENCE)
            one.connect(str(door))
            one.sendall(request())
            assert b" 200 " in one.recv(65536)


def test_what_is_no_network_is_refused(daemon, make_backend):
    backend = make_backend()
    for options in [{"allow": ["nowhere"]}, {"deny": ["10.0.0.0/33"]}, {"deny": [""]},
                    {"allow": ["10.0.0.0/-1"]}]:
        with pytest.raises(Refused, match="use network"):
            gateway(daemon, backend, **options)
    port = gateway(daemon, backend)
    with pytest.raises(Refused, match="use network"):
        daemon.edit("gw", deny=["::/129"])
    assert get(port) == (200, b"ok")
