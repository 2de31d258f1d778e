"""Failing backends of a proxy are avoided, tried again, and used as before."""

import socket
import threading

import pytest

from http_backend import OK, Backend, client, gateway, get
from strata_daemon import PATIENCE, eventually
from talker import RESET_ON_CLOSE, free_port, port_of

BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"


class Moody:
    """Answers according to its mood: bytes, or None, which closes the connection."""

    def __init__(self, mood=OK):
        self.mood = mood

    def __call__(self, wire, _):
        if self.mood is None:
            return False
        wire.over.sendall(self.mood)
        return True


def circuit_of(daemon, backend):
    return next(each["circuit"] for each in daemon.ask("GET", "/v1/runtimes/gw/backends")
                if each["text"] == backend.where)


def events_of(daemon, *kinds):
    return [each["event"] for each in daemon.lines("/v1/events")
            if each["runtime"] == "gw" and each["event"] in kinds]


CIRCUIT = ("open", "half-open", "closed")


@pytest.mark.parametrize("mood", [None, BUSY, BUSY.replace(b"503", b"502"),
                                  BUSY.replace(b"503", b"504")])
def test_a_backend_that_fails_again_and_again_is_left_alone(daemon, make_backend, mood):
    ill, well = make_backend(Moody(mood)), make_backend()
    port = gateway(daemon, ill, well, balance="first", circuit_failures=3, rest=1000)
    for _ in range(3):
        get(port)
    assert circuit_of(daemon, ill) == "open" and circuit_of(daemon, well) == "closed"
    for _ in range(5):
        assert get(port) == (200, b"ok")
    assert len(ill.requests) == 3
    assert events_of(daemon, *CIRCUIT) == ["open"]
    assert daemon.logged("gw", f"backend '{ill.where}' has failed too often, its circuit is open "
                               "for 1000 s", "warning")
    head, row, *_ = daemon.cli("backends", "gw").splitlines()
    assert "CIRCUIT" in head.split() and "open" in row.split() and "resting" in row.split()


def test_successes_between_failures_keep_it_closed(daemon, make_backend):
    mood = Moody()
    ill = make_backend(mood)
    port = gateway(daemon, ill, circuit_failures=3, circuit_share=0)
    for turn in range(12):
        mood.mood = OK if turn % 3 == 0 else BUSY
        get(port)
    assert circuit_of(daemon, ill) == "closed"
    # A client's mistake does not count as a failure of the backend.
    mood.mood = BUSY.replace(b"503", b"500")
    for _ in range(9):
        assert get(port)[0] == 500
    assert circuit_of(daemon, ill) == "closed"


def test_half_of_twenty_tries_open_it(daemon, make_backend):
    mood = Moody()
    ill = make_backend(mood)
    port = gateway(daemon, ill, circuit_failures=0, rest=1000)
    for _ in range(10):
        get(port)
    mood.mood = BUSY
    for _ in range(60):
        if circuit_of(daemon, ill) == "open":
            break
        get(port)
    assert circuit_of(daemon, ill) == "open"
    assert len(ill.requests) >= 20


def test_one_at_a_time_tries_it_again(daemon, make_backend):
    """Beside a healthy backend, only the trial request goes to the failing one."""
    lets, begun = threading.Event(), threading.Semaphore(0)
    mood = Moody(BUSY)

    def answer(wire, asked):
        if mood.mood == "wait":
            begun.release()
            lets.wait(PATIENCE)
            wire.over.sendall(OK)
            return True
        return mood(wire, asked)
    ill, well = make_backend(answer), make_backend()
    port = gateway(daemon, ill, well, balance="first", circuit_failures=1, rest=0.2)
    assert get(port)[0] == 503
    assert circuit_of(daemon, ill) in ("open", "half-open")
    mood.mood = "wait"
    eventually(lambda: circuit_of(daemon, ill) == "half-open", "it has rested")
    trial = threading.Thread(target=get, args=(port,))
    trial.start()
    assert begun.acquire(timeout=PATIENCE)
    for _ in range(5):
        assert get(port) == (200, b"ok")
    assert (len(ill.requests), len(well.requests)) == (2, 5)
    lets.set()
    trial.join()
    assert circuit_of(daemon, ill) == "closed"
    mood.mood = OK
    get(port)
    assert len(ill.requests) == 3
    assert events_of(daemon, *CIRCUIT) == ["open", "half-open", "closed"]


def test_a_trial_that_fails_doubles_the_rest(daemon, make_backend):
    ill, well = make_backend(BUSY), make_backend()
    port = gateway(daemon, ill, well, balance="first", circuit_failures=1, rest=0.05)

    def opened():
        get(port)
        return sum("its circuit is open for" in line["text"] for line in daemon.logs("gw")) >= 4
    eventually(opened, "it has been tried three times")
    texts = [line["text"] for line in daemon.logs("gw") if "circuit is open" in line["text"]]
    assert [each.split(" open for ")[1] for each in texts[:4]] == ["0.05 s", "0.1 s", "0.2 s",
                                                                  "0.4 s"]
    assert "failed too often" in texts[0] and "failed again" in texts[1]
    assert set(events_of(daemon, *CIRCUIT)) == {"open", "half-open"}


def test_a_trial_whose_client_leaves_is_followed_by_another(daemon, make_backend):
    mood = Moody(BUSY)
    ill, well = make_backend(mood), make_backend()
    port = gateway(daemon, ill, well, balance="first", circuit_failures=1, rest=0.05,
                   answer_timeout=1000)
    get(port)
    mood.mood = OK
    eventually(lambda: circuit_of(daemon, ill) == "half-open", "it has rested")
    with client(port) as wire:
        wire.over.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        wire.over.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf")
        eventually(lambda: daemon.ask("GET", "/v1/runtimes/gw/backends")[0]["now"] == 1,
                   "it is under way")
        assert get(port) == (200, b"ok") and len(well.requests) == 1
    eventually(lambda: daemon.ask("GET", "/v1/runtimes/gw/backends")[0]["now"] == 0, "it is over")
    assert get(port) == (200, b"ok")
    assert circuit_of(daemon, ill) == "closed"


def test_the_only_backend_is_tried_all_the_same_and_closes(daemon, make_backend):
    mood = Moody(BUSY)
    ill = make_backend(mood)
    port = gateway(daemon, ill, circuit_failures=2, rest=1000)
    for _ in range(4):
        assert get(port)[0] == 503
    assert circuit_of(daemon, ill) == "open" and len(ill.requests) == 4
    mood.mood = OK
    assert get(port) == (200, b"ok")
    assert circuit_of(daemon, ill) == "closed"


def test_a_backend_that_is_not_there_opens_it_too(daemon, make_backend):
    well = make_backend()
    nowhere = f"127.0.0.1:{free_port()}"
    port = gateway(daemon, backend=[nowhere, well.where], balance="first", circuit_failures=2,
                   rest=0.02)

    def opened():
        assert get(port) == (200, b"ok")
        return daemon.logged("gw", f"backend '{nowhere}' has failed too often")
    eventually(opened, "its circuit opens")
    assert daemon.logged("gw", f"backend '{nowhere}' is not used for 0.02 s")


def test_circuits_may_be_off_and_be_switched_off(daemon, make_backend):
    ill, well = make_backend(BUSY), make_backend()
    port = gateway(daemon, ill, well, balance="first", circuit_failures=0, circuit_share=0)
    for _ in range(30):
        assert get(port)[0] == 503
    daemon.edit("gw", circuit_failures=1, rest=1000)
    assert get(port)[0] == 503 and get(port) == (200, b"ok")
    daemon.edit("gw", circuit_failures=0)
    assert circuit_of(daemon, ill) == "closed"
    assert get(port)[0] == 503


def raw_proxy(daemon, *backends, **options):
    [url] = daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"],
                          backend=[f"127.0.0.1:{each.getsockname()[1]}" for each in backends],
                          balance="first", **options)["endpoints"]
    return "127.0.0.1", port_of(url)


def test_connections_that_a_backend_breaks_off_before_it_speaks_are_failures(daemon):
    with socket.create_server(("127.0.0.1", 0)) as ill, \
            socket.create_server(("127.0.0.1", 0)) as well:
        for each in (ill, well):
            each.settimeout(PATIENCE)
        place = raw_proxy(daemon, ill, well, circuit_failures=2, rest=1000)

        def break_off(said):
            with socket.create_connection(place, PATIENCE) as one:
                at, _ = ill.accept()
                at.settimeout(PATIENCE)
                one.sendall(b"x")
                assert at.recv(1) == b"x"
                if said:
                    at.sendall(b"y")
                    assert one.recv(1) == b"y"
                at.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                at.close()
                with pytest.raises(ConnectionResetError):
                    one.recv(1)
        for said in [False, True, True, True, False]:
            break_off(said)
        seen = daemon.ask("GET", "/v1/runtimes/gw/backends")
        assert [each["circuit"] for each in seen] == ["closed", "closed"]
        break_off(False)
        assert daemon.ask("GET", "/v1/runtimes/gw/backends")[0]["circuit"] == "open"
        with socket.create_connection(place, PATIENCE), well.accept()[0]:
            pass


def test_panic_takes_all(daemon, make_backend):
    backends = [make_backend(), make_backend(), make_backend()]
    ill = backends[:2]
    port = gateway(daemon, *backends, check="http", check_interval=0.05, check_fall=1, check_rise=1,
                   check_status="200")

    def down():
        return sum(each["state"] == "down"
                   for each in daemon.ask("GET", "/v1/runtimes/gw/backends"))
    for each in ill:
        each.answers = BUSY.replace(b"503", b"500")
    eventually(lambda: down() == 2, "two are down")
    assert [get(port)[0] for _ in range(6)] == [200] * 6
    daemon.edit("gw", panic=50)
    assert sorted(get(port)[0] for _ in range(6)) == [200, 200, 500, 500, 500, 500]
    assert daemon.logged("gw", "fewer than 50 % of the backends are ready: using all backends",
                         "warning")
    ill[0].answers = OK
    eventually(lambda: down() == 1, "two are up")
    assert [get(port)[0] for _ in range(6)] == [200] * 6
    assert events_of(daemon, "panic", "calm") == ["panic", "calm"]
    assert events_of(daemon, "down", "up") == ["down", "down", "up"]
    text = daemon.cli("events")
    assert "proxy gw" in text and f"backend '{ill[0].where}' is down" in text


def test_circuits_under_load_lose_nothing(daemon, make_backend):
    """One backend fails in turns beside a healthy one: every request that may
    be repeated is answered."""
    mood = Moody()
    ill, well = make_backend(mood), make_backend()
    port = gateway(daemon, ill, well, circuit_failures=3, rest=0.02, retries=3)
    over, answers = threading.Event(), []

    def visit():
        while not over.is_set():
            answers.append(get(port))
    visitors = [threading.Thread(target=visit) for _ in range(4)]
    for each in visitors:
        each.start()
    try:
        for _ in range(6):
            mood.mood = None
            eventually(lambda: circuit_of(daemon, ill) != "closed", "it opens")
            mood.mood = OK
            eventually(lambda: circuit_of(daemon, ill) == "closed", "it closes")
    finally:
        over.set()
        for each in visitors:
            each.join()
    assert set(answers) == {(200, b"ok")} and len(answers) > 50
    told = events_of(daemon, *CIRCUIT)
    assert told.count("open") >= 6 and told.count("closed") >= 6


def test_a_backend_that_is_up_again_is_an_event(daemon, make_backend):
    ill, well = make_backend(), make_backend()
    gateway(daemon, ill, well, check="tcp", check_interval=0.05, check_fall=1, check_rise=1)
    ill.close()
    eventually(lambda: events_of(daemon, "down", "up") == ["down"], "it is down")
    again = Backend(port=int(ill.where.split(":")[1]))
    try:
        eventually(lambda: events_of(daemon, "down", "up") == ["down", "up"], "it is up")
    finally:
        again.close()
