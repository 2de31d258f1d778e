"""A proxy with several loops: they share what they know of their backends."""

import contextlib

from held_answers import Gate, Visitors, queue_of, wait_waiting
from http_backend import Backend, gateway, get
from strata_daemon import eventually

BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
# Enough new connections to reach all loops: the kernel distributes them.
MANY = 24


def backends_of(daemon):
    return daemon.ask("GET", "/v1/runtimes/gw/backends")


def events_of(daemon):
    return [each["event"] for each in daemon.lines("/v1/events")
            if each["runtime"] == "gw" and each["event"] not in ("created", "started")]


def ask_often(daemon, port):
    return [get(port) for _ in range(MANY)]


def test_one_loop_checks_for_all(daemon, make_backend):
    well, ill = make_backend(), make_backend(BUSY)
    port = gateway(daemon, well, ill, threads=3, check="http", check_interval=1000, check_fall=1)
    eventually(lambda: backends_of(daemon)[1]["state"] == "down", "it is down")
    eventually(lambda: len(well.requests) == 1, "both were asked")
    assert ask_often(daemon, port) == [(200, b"ok")] * MANY
    assert [each.start for each in ill.requests] == ["GET / HTTP/1.1"]
    assert len(well.requests) == 1 + MANY
    assert events_of(daemon) == ["down"]


def test_the_failures_that_loops_see_open_one_circuit(daemon, make_backend):
    ill, well = make_backend(BUSY), make_backend()
    port = gateway(daemon, ill, well, threads=3, balance="first", circuit_failures=6, rest=1000)
    answers = ask_often(daemon, port)
    assert answers == [(503, b"")] * 6 + [(200, b"ok")] * (MANY - 6)
    assert [each["circuit"] for each in backends_of(daemon)] == ["open", "closed"]
    assert len(ill.requests) == 6
    assert events_of(daemon) == ["open"]


def test_a_backend_that_cannot_be_reached_rests_for_all(daemon, make_backend):
    with contextlib.closing(Backend(b"")) as gone:
        pass
    well = make_backend()
    port = gateway(daemon, gone, well, threads=3, balance="first", circuit_failures=0, rest=1000)
    assert ask_often(daemon, port) == [(200, b"ok")] * MANY
    assert backends_of(daemon)[0]["failed"] == 1


def test_a_limit_is_of_all_loops_together(daemon, make_backend):
    gate = Gate()
    where = make_backend(gate).where
    port = gateway(daemon, backend=[where + " max=3"], threads=2, queue_timeout=1000)
    visitors = Visitors(port)
    for number in range(40):
        visitors.ask(f"/{number}")
    wait_waiting(daemon, 37)
    eventually(lambda: gate.now == 3, "all places are taken")
    assert [each["now"] for each in backends_of(daemon)] == [3]
    gate.let(40)
    assert set(visitors.join().values()) == {(200, b"ok")}
    assert gate.most == 3
    assert queue_of(daemon) == {"waiting": 0, "turned_away": 0}


def test_a_place_that_one_loop_leaves_another_takes(daemon, make_backend):
    """One place for two loops: clients that wait on either loop get it in the end."""
    gate = Gate()
    port = gateway(daemon, backend=[make_backend(gate).where + " max=1"], threads=2,
                   queue_timeout=1000)
    visitors = Visitors(port)
    for number in range(MANY):
        visitors.ask(f"/{number}")
    wait_waiting(daemon, MANY - 1)
    for _ in range(MANY):
        gate.let()
    assert set(visitors.join().values()) == {(200, b"ok")}
    assert gate.most == 1


def test_a_queue_is_of_all_loops_together(daemon, make_backend):
    gate = Gate()
    port = gateway(daemon, backend=[make_backend(gate).where + " max=1"], threads=2, queue=5,
                   queue_timeout=1000)
    visitors = Visitors(port)
    for number in range(MANY):
        visitors.ask(f"/{number}")
    eventually(lambda: queue_of(daemon) == {"waiting": 5, "turned_away": MANY - 6},
               "five wait, and the rest is turned away")
    gate.let(6)
    answers = [status for status, _ in visitors.join().values()]
    assert sorted(answers) == [200] * 6 + [503] * (MANY - 6)


def test_all_loops_learn_what_a_group_is(daemon, make_backend):
    port = gateway(daemon, backend=["@web"], threads=3)
    assert {status for status, _ in ask_often(daemon, port)} == {503}
    states = [(each["backend"], each["state"]) for each in backends_of(daemon)]
    assert states == [("@web", "unknown")]
    daemon.server("one", listen=["http://127.0.0.1:0"], group="web")
    eventually(lambda: [each["state"] for each in backends_of(daemon)] == ["ready"], "it is found")
    assert {status for status, _ in ask_often(daemon, port)} == {404}
