"""Backends that the proxy follows: each address of a name, and each runtime of a group.

    netns: lo 127.0.0.0/8 --- the daemon with a proxy and servers, and a name server at 127.0.0.1:53
"""

import json
import socket

import pytest

from name_server import namespace
from strata_daemon import PATIENCE, Refused, eventually
from talker import Talker


class Zone:
    def __init__(self, path):
        self.path = path
        self.become({})

    def become(self, names):
        """Sets `names`: each with its addresses. Records live for 600 s if the name begins with
        `lasting`, else for 1 s."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({
            name: {"addresses": addresses, "ttl": 600 if name.startswith("lasting") else 1}
            for name, addresses in names.items()}))
        new.rename(self.path)


@pytest.fixture
def zone(tmp_path):
    return Zone(tmp_path / "zone.json")


@pytest.fixture
def named(root, make_daemon, zone):
    """A daemon that uses the name server of `zone`."""
    with namespace(zone=zone.path) as name:
        daemon = make_daemon(namespace=name)
        yield daemon
        if daemon.process is not None:
            daemon.stop()


def backends_of(daemon):
    return {each["backend"]: each for each in daemon.ask("GET", "/v1/runtimes/gw/backends")}


def eventually_has(daemon, *wanted):
    eventually(lambda: sorted(backends_of(daemon)) == sorted(wanted), f"its backends are {wanted}")


def front_of(daemon, tmp_path, *backends, **options):
    path = tmp_path / "front"
    daemon.create("proxy", "gw", listen=[f"unix://{path}"], backend=list(backends), **options)
    return path


def ask(path):
    """Returns the echo of a word that an echo server behind the proxy receives."""
    with socket.socket(socket.AF_UNIX) as over:
        over.settimeout(PATIENCE)
        over.connect(str(path))
        over.sendall(b"hello\n")
        return over.recv(100)


def test_each_address_of_a_name_is_a_backend_as_long_as_its_record_lives(named, zone, tmp_path):
    for last in (2, 3, 4):
        named.server(f"s{last}", listen=[f"tcp://127.0.0.{last}:9000"], mode="echo")
    zone.become({"svc.example": ["127.0.0.2", "127.0.0.3"]})
    front = front_of(named, tmp_path, "svc.example:9000 weight=3")
    for _ in range(4):
        assert ask(front) == b"hello\n"
    assert {where: (each["total"], each["weight"], each["text"])
            for where, each in backends_of(named).items()} == {
        "tcp://127.0.0.2:9000": (2, 3, "svc.example:9000 weight=3"),
        "tcp://127.0.0.3:9000": (2, 3, "svc.example:9000 weight=3")}
    zone.become({"svc.example": ["127.0.0.4", "127.0.0.3"]})
    eventually_has(named, "tcp://127.0.0.3:9000", "tcp://127.0.0.4:9000")
    assert backends_of(named)["tcp://127.0.0.3:9000"]["total"] == 2
    assert named.cli("backends", "gw", "-q") == "svc.example:9000 weight=3\n"
    named.cli("backends", "gw", "drain", "svc.example:9000")
    assert {each["state"] for each in backends_of(named).values()} == {"drained"}


def test_a_name_that_is_found_no_more_keeps_its_backends(named, zone, tmp_path):
    named.server("s", listen=["tcp://127.0.0.2:9000"], mode="echo")
    zone.become({"svc.example": ["127.0.0.2"]})
    front = front_of(named, tmp_path, "svc.example:9000")
    assert ask(front) == b"hello\n"
    zone.become({})
    text = "cannot follow changes of backend 'svc.example:9000'"
    eventually(lambda: text in named.cli("logs", "gw"), "people are told")
    assert ask(front) == b"hello\n"
    assert list(backends_of(named)) == ["tcp://127.0.0.2:9000"]
    zone.become({"svc.example": ["127.0.0.2", "127.0.0.3"]})
    eventually_has(named, "tcp://127.0.0.2:9000", "tcp://127.0.0.3:9000")


def test_records_are_asked_for_again_when_they_have_lived_and_not_before(named, zone, tmp_path):
    zone.become({"lasting.example": ["127.0.0.2"], "brief.example": ["127.0.0.3"]})
    front_of(named, tmp_path, "lasting.example:9000", "brief.example:9000")
    eventually_has(named, "tcp://127.0.0.2:9000", "tcp://127.0.0.3:9000")
    zone.become({"lasting.example": ["127.0.0.4"], "brief.example": ["127.0.0.5"]})
    eventually_has(named, "tcp://127.0.0.2:9000", "tcp://127.0.0.5:9000")
    zone.become({"lasting.example": ["127.0.0.4"], "brief.example": ["127.0.0.6"]})
    eventually_has(named, "tcp://127.0.0.2:9000", "tcp://127.0.0.6:9000")


def test_each_address_shows_a_certificate_of_the_name(named, zone, authority, tmp_path):
    certificate, key = authority.issue("svc.example")
    named.server("s", listen=["tls://127.0.0.2:9000"], mode="echo", cert=[certificate], key=[key])
    zone.become({"svc.example": ["127.0.0.2"]})
    front = front_of(named, tmp_path, "tls://svc.example:9000", ca=str(authority.ca))
    assert ask(front) == b"hello\n"


def test_the_runtimes_of_a_group_are_followed(daemon, tmp_path):
    daemon.server("a", mode="echo", group="api")
    daemon.server("b", mode="echo", group="api")
    daemon.server("elsewhere", mode="echo", group="web")
    front = front_of(daemon, tmp_path, "@api weight=2", group="api")
    for _ in range(4):
        assert ask(front) == b"hello\n"
    counts = {where: (each["total"], each["weight"])
              for where, each in backends_of(daemon).items()}
    assert counts == {
        "runtime://a": (2, 2), "runtime://b": (2, 2)}  # without the proxy itself
    daemon.act("a", "stop")
    assert [ask(front) for _ in range(4)] == [b"hello\n"] * 4
    eventually_has(daemon, "runtime://b")
    daemon.act("a", "start")
    daemon.edit("elsewhere", group="api")
    eventually_has(daemon, "runtime://a", "runtime://b", "runtime://elsewhere")
    for name in ("a", "b", "elsewhere"):
        daemon.act(name, "stop")
        daemon.remove(name)
    eventually_has(daemon, "@api")  # which has no members now
    assert backends_of(daemon)["@api"]["state"] == "unknown"
    assert "unknown" in daemon.cli("backends", "gw")
    daemon.server("late", mode="echo", group="api")
    eventually_has(daemon, "runtime://late")
    assert ask(front) == b"hello\n"


def test_groups_are_followed_in_routes_and_after_an_edit(daemon):
    for name in ("a", "b"):
        daemon.server(name, listen=["http://127.0.0.1:0"], group=name + "s")
    [url] = daemon.create("proxy", "gw", listen=["http://127.0.0.1:0"], backend=["127.0.0.1:1"],
                          route=["path=/a -> @as"])["endpoints"]
    eventually_has(daemon, "tcp://127.0.0.1:1", "runtime://a")
    daemon.edit("gw", route=["path=/b -> @bs"])
    eventually_has(daemon, "tcp://127.0.0.1:1", "runtime://b")
    with Talker(url.replace("http", "tcp")) as over:
        over.socket.sendall(b"GET /b HTTP/1.1\r\nHost: x\r\n\r\n")
        assert over.socket.recv(12) == b"HTTP/1.1 404"  # from the server, which has no such page


@pytest.mark.parametrize("text, why", [("@", "name"), ("@a:80", "name of a group is missing"),
                                       ("@tcp://x:1", "name of a group is missing")])
def test_what_is_no_group_is_refused(daemon, text, why):
    with pytest.raises(Refused) as refused:
        daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"], backend=[text])
    assert why in refused.value.message
