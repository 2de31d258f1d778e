"""strata top: runtimes and the backends of proxies, shown repeatedly."""

import json
import os
import signal
import termios

import pytest

from checks import DONE, MISUSED, NOT_FOUND, check, refusal
from strata_daemon import eventually
from terminal import Terminal

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


def backend(place, total, **more):
    return {"backend": f"tcp://{place}", "text": place, "route": "", "state": "ready", "weight": 1,
            "backup": False, "now": 3, "total": total, "failed": 1,
            "latency": {"count": 5, "p99_ms": 12.5}} | more


@pytest.fixture
def gateway(daemon):
    daemon.add("server", "web", "running")
    made = daemon.add("proxy", "gw", "running")
    made.more_stats = {"http": {"latency": {"count": 9, "p99_ms": 250.0}}, "errors": 7}
    made.backends = [backend("10.0.0.1:80", 10),
                     backend("10.0.0.2:80", 20, state="down", latency={},
                             route="path=/v1/* -> 10.0.0.2:80")]
    return made


def test_one_table_without_a_terminal(strata, gateway):
    lines = check(strata("top")).splitlines()
    assert lines[0].split() == ["NAME", "TYPE", "STATE", "CONNECTIONS", "IN", "OUT", "BYTES/S",
                                "ERRORS", "P99"]
    assert lines[1].split() == ["gw", "proxy", "running", "2", "10.5/s", "21.0/s", "-", "7",
                                "250ms"]
    assert lines[2].split() == ["tcp://10.0.0.1:80", "backend", "ready", "3", "-", "-", "-", "1",
                                "13ms"]
    assert lines[3].startswith("  tcp://10.0.0.2:80 (path=/v1/* -> 10.0.0.2:80)")
    assert lines[3].endswith(" -") and " down " in lines[3]
    assert lines[4].split()[0] == "web" and len(lines) == 5


def test_n_tables_have_rates(strata, gateway):
    tables = check(strata("top", "-n", "3", "--interval", "0.1", "gw")).split("\n\n")
    assert len(tables) == 3
    rates = [[line.split()[6] for line in table.splitlines() if line.startswith("gw ")]
             for table in tables]
    assert rates == [["-"], ["0B"], ["0B"]]
    assert tables[1].splitlines()[2].split()[4] == "0.0/s"
    assert "web" not in tables[0]


def test_json_is_an_array_of_samples(strata, gateway):
    samples = json.loads(check(strata("top", "-n", "2", "--interval", "0.05", "--format", "json")))
    assert [sample["time"][-1] for sample in samples] == ["Z", "Z"]
    proxy, server = samples[1]["runtimes"]
    assert (proxy["name"], proxy["p99_ms"], proxy["bytes_per_s"]) == ("gw", 250.0, 0.0)
    assert samples[0]["runtimes"][0]["bytes_per_s"] is None
    assert [(each["backend"], each["state"], each["errors"], each["p99_ms"], each["in_per_s"])
            for each in proxy["backends"]] == [("tcp://10.0.0.1:80", "ready", 1, 12.5, 0.0),
                                            ("tcp://10.0.0.2:80", "down", 1, None, 0.0)]
    assert (server["backends"], server["p99_ms"], server["in_per_s"]) == ([], None, 10.5)


def test_json_without_an_end_is_a_document_a_line(strata, gateway):
    process = strata.start("top", "--format", "json", "--interval", "0.05")
    lines = [json.loads(process.stdout.readline()) for _ in range(3)]
    assert [len(each["runtimes"]) for each in lines] == [2, 2, 2]
    process.send_signal(signal.SIGTERM)
    process.wait(20)


def test_it_is_sorted(strata, daemon, gateway):
    daemon.add("server", "a-quiet", "running").more_stats = {"errors": 3}
    for by, first in [("name", ["a-quiet", "gw", "web"]), ("errors", ["gw", "a-quiet", "web"]),
                      ("p99", ["gw", "a-quiet", "web"])]:
        [sample] = json.loads(check(strata("top", "-n1", "--sort", by, "--format", "json")))
        assert [each["name"] for each in sample["runtimes"]] in (first, sorted(first)), by
        if by != "name":
            assert sample["runtimes"][0]["name"] == "gw"


def test_what_is_wrong(strata, daemon):
    assert "connections" in refusal(strata("top", "--sort", "size"), MISUSED)
    assert "--interval" in refusal(strata("top", "--interval", "0"), MISUSED)
    refusal(strata("top", "-n", "0"), MISUSED)
    assert "'nobody'" in refusal(strata("top", "nobody"), NOT_FOUND)
    assert check(strata("top")).splitlines()[0].startswith("NAME")


HARMFUL = "\u202ex\x1b]0;x\x07\u009b2J\x7f\n"


def test_what_others_wrote_moves_no_cursor(strata, daemon, gateway):
    gateway.more_stats["type"] = "proxy"
    gateway.backends[0] |= {"backend": HARMFUL, "route": HARMFUL, "state": HARMFUL}
    daemon.add("server", "bad", "running").more_stats = {"state": HARMFUL, "type": HARMFUL,
                                                         "rates": {"in_1s": HARMFUL}}
    letters = set("\u202e\x1b\x07\u009b\x7f")
    assert not letters & set(check(strata("top")))
    assert len(check(strata("top")).splitlines()) == 6
    assert not letters & set(check(strata("top", "-n1", "--format", "json")))


def test_answers_that_make_no_sense_end_nothing(strata, daemon, gateway):
    for stats in [{"bytes": 5}, {"bytes": {"in": "x", "out": None}}, {"http": []},
                  {"http": {"latency": {"count": "many"}}}, {"errors": {"a": 1}}]:
        gateway.more_stats = stats
        check(strata("top", "-n2", "--interval", "0.02"))
    for backends in [{}, [5, None, "x", []], [{"total": "x"}], "no"]:
        gateway.backends = backends
        check(strata("top", "-n2", "--interval", "0.02"))


def settings(terminal):
    return termios.tcgetattr(terminal.fd)


def test_at_a_terminal_until_q(strata, gateway):
    with Terminal(strata, "top", "--interval", "0.05", columns=120) as terminal:
        terminal.shows(b"q quits")
        terminal.shows(b"tcp://10.0.0.1:80")
        assert not settings(terminal)[3] & termios.ECHO
        terminal.screen = b""
        gateway.backends[0]["state"] = "drained"
        terminal.shows(b"drained")
        terminal.type(b"xq")
        assert terminal.exit_code() == DONE
        assert LEAVE in terminal.screen and b"\x1b[?25h" in terminal.screen


@pytest.mark.parametrize("how, code", [(b"\x03", DONE), (signal.SIGINT, DONE),
                                       (signal.SIGTERM, -signal.SIGTERM),
                                       (signal.SIGHUP, -signal.SIGHUP)])
def test_it_leaves_the_terminal_as_it_was(strata, gateway, how, code):
    with Terminal(strata, "top", "--interval", "30", columns=120) as terminal:
        terminal.shows(b"tcp://10.0.0.1:80")
        assert terminal.screen.startswith(ENTER)
        if isinstance(how, bytes):
            terminal.type(how)
        else:
            os.kill(terminal.pid, how)
        assert terminal.exit_code() == code
        assert terminal.screen.endswith(LEAVE)


def test_the_settings_of_the_terminal_come_back(strata, gateway):
    """A shell continues on the terminal, so that the test can still read its settings."""
    script = 'stty -g; "$STRATA" top --interval 30; echo; stty -g; sleep 30'
    variables = strata.environment | {"STRATA": strata.binary}
    with Terminal.of(["/bin/sh", "-c", script], variables, ".", 120) as terminal:
        terminal.shows(b"q quits")
        terminal.type(b"q")
        terminal.shows(LEAVE)

        def said():
            terminal.read()
            lines = [line for line in terminal.screen.replace(LEAVE, b"\n").splitlines()
                     if line.count(b":") > 20]
            return len(lines) == 2 and lines

        before, after = eventually(said, "the settings before and after")
        assert before == after


def test_only_as_many_lines_as_there_is_room_for(strata, daemon):
    for number in range(60):
        daemon.add("server", f"server-{number:02}", "running")
    with Terminal(strata, "top", "--interval", "30", columns=60) as terminal:
        terminal.shows(b"server-20")
        terminal.type(b"q")
        assert terminal.exit_code() == DONE
        page = terminal.screen.split(b"\x1b[H")[1]
        assert page.count(b"\n") == 23 and b"server-30" not in page


def test_a_daemon_that_goes_away_is_told_on_the_terminal_that_was(strata, daemon, gateway):
    with Terminal(strata, "top", "--interval", "0.05", columns=120) as terminal:
        terminal.shows(b"q quits")
        daemon.close()
        assert terminal.exit_code() == 4
        assert b"strata: " in terminal.screen.split(LEAVE)[1]
