"""Proxies that would forward clients to one another forever, through groups that they follow."""

import socket
import threading

import pytest

from strata_daemon import PATIENCE, Refused, eventually
from talker import port_of


def backends_of(daemon, name):
    return sorted(each["backend"] for each in daemon.ask("GET", f"/v1/runtimes/{name}/backends"))


def eventually_has(daemon, name, *wanted):
    eventually(lambda: backends_of(daemon, name) == sorted(wanted),
               f"the backends of {name} are {wanted}")


def proxy(daemon, name, *backends, **options):
    [url] = daemon.create("proxy", name, listen=["tcp://127.0.0.1:0"], backend=list(backends),
                          **options)["endpoints"]
    return port_of(url)


def ask(port):
    """Returns the reply to a word: the same word from an echo server, nothing
    if there is no backend."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as over:
            over.sendall(b"hello\n")
            return over.recv(100)
    except ConnectionError:
        return b""


def total(daemon, *names):
    return sum(daemon.stats(name)["connections"]["total"] for name in names)


def told_of(daemon, name):
    return [each for each in daemon.cli("events").splitlines()
            if f" circle     proxy {name}: " in each]


def test_two_that_follow_their_own_group_leave_each_other_out(daemon):
    daemon.server("s", mode="echo", group="g")
    ports = [proxy(daemon, name, "@g", group="g") for name in ("a", "b")]
    for name in ("a", "b"):
        eventually_has(daemon, name, "runtime://s")
    before = total(daemon, "a", "b")
    for port in ports * 3:
        assert ask(port) == b"hello\n"
    assert total(daemon, "a", "b") == before + 6
    eventually(lambda: daemon.logged("a", "'@g' leaves out 'b'"), "it is told")
    assert len(told_of(daemon, "a")) == len(told_of(daemon, "b")) == 1


def test_a_circle_opens_and_closes_as_backends_and_groups_change(daemon):
    [url] = daemon.server("s", listen=["tcp://127.0.0.1:0"], mode="echo")
    way = f"127.0.0.1:{port_of(url)}"
    a = proxy(daemon, "a", "@ga", group="gb")
    b = proxy(daemon, "b", "@gb", group="ga")
    eventually(lambda: told_of(daemon, "a") and told_of(daemon, "b"), "both know")
    assert (ask(a), ask(b)) == (b"", b"")
    assert total(daemon, "a", "b") == 2
    daemon.edit("b", backend=[way])
    eventually_has(daemon, "a", "runtime://b")
    assert ask(a) == b"hello\n"
    daemon.edit("b", backend=["@gb", way])
    eventually_has(daemon, "a", "@ga")
    # Only the members that lead back are left out.
    daemon.edit("s", group="ga")
    eventually_has(daemon, "a", "runtime://s")
    assert (ask(a), ask(b)) == (b"hello\n", b"hello\n")
    daemon.edit("a", group="")
    eventually_has(daemon, "a", "runtime://b", "runtime://s")
    daemon.edit("a", group="gb")
    eventually_has(daemon, "a", "runtime://s")
    eventually_has(daemon, "b", f"tcp://{way}", "@gb")


def test_a_circle_through_names_and_routes_is_seen(daemon):
    daemon.server("s", mode="echo", group="gc")
    a = proxy(daemon, "a", "@ga", group="gc")
    proxy(daemon, "c", "127.0.0.1:1", route=["host=x -> @gc"])
    proxy(daemon, "b", "c")
    daemon.edit("b", group="ga")
    eventually(lambda: told_of(daemon, "a"), "a leaves b out")
    assert (backends_of(daemon, "a"), ask(a)) == (["@ga"], b"")
    eventually(lambda: "runtime://a" not in backends_of(daemon, "c") and
               "runtime://s" in backends_of(daemon, "c"), "c leaves a out")


def test_a_name_that_leads_back_from_a_group_is_refused(daemon):
    proxy(daemon, "a", "@ga")
    with pytest.raises(Refused, match="'a'.*as one of a group"):
        proxy(daemon, "b", "a", group="ga")
    assert "b" not in daemon.names()
    proxy(daemon, "b", "127.0.0.1:1", group="ga")
    with pytest.raises(Refused, match="as one of a group"):
        daemon.edit("b", backend=["a"])
    assert daemon.show("b")["options"]["backend"] == ["127.0.0.1:1"]
    # The reverse: a proxy that follows a group is left out of it, and all else can be edited.
    proxy(daemon, "d", "a")
    daemon.edit("d", group="ga")
    daemon.edit("d", max_connections=7)
    eventually_has(daemon, "a", "runtime://b")


@pytest.mark.parametrize("threads", [1, 2])
def test_no_client_goes_round_while_groups_change(daemon, threads):
    """Each proxy leads to the other in turn: the old connections of one do not meet the
    new ones of the other."""
    daemon.server("s", mode="echo", group="x")
    ports = {name: proxy(daemon, name, "@to_" + name, threads=threads) for name in ("a", "b")}
    over = threading.Event()
    asked = []

    def visit(port):
        while not over.is_set():
            asked.append(ask(port))
    visitors = [threading.Thread(target=visit, args=[port]) for port in ports.values()]
    for each in visitors:
        each.start()
    try:
        for here, there in [("a", "b"), ("b", "a")] * 3:
            daemon.edit(here, group="")
            daemon.edit(there, group="to_" + here)
            daemon.edit("s", group="to_" + there)
            eventually_has(daemon, here, "runtime://" + there)
            eventually_has(daemon, there, "runtime://s")
            asked.clear()
            eventually(lambda: b"hello\n" in asked, "clients are served")
    finally:
        over.set()
        for each in visitors:
            each.join()
    peaks = [daemon.stats(name)["connections"]["peak"] for name in ("a", "b")]
    # Two clients, and connections about to end; a circle would have thousands.
    assert max(peaks) < 20, peaks
