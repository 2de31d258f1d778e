"""XREADGROUP … CLAIM of Redis 8.4: a consumer reads pending entries of others that are idle. The
expected replies are those that Redis documents."""

import pytest

from resp_wire import Wire
from strata_daemon import eventually
from test_cache import new_cache

pytestmark = pytest.mark.once

HOUR_MS = 3_600_000


@pytest.fixture
def port(daemon):
    return new_cache(daemon)


@pytest.fixture
def wire(port):
    return Wire(port)


def fill(wire, *ids, read=None):
    wire.ask("DEL", "s")
    for each in ids:
        wire.ask("XADD", "s", each, "f", f"v{each[0]}")
    wire.ask("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    if read != 0:
        wire.ask("XREADGROUP", "GROUP", "g", "c1", "COUNT", read or len(ids), "STREAMS", "s", ">")


def read(wire, *options, consumer="c2", start=">"):
    return wire.ask("XREADGROUP", "GROUP", "g", consumer, *options, "STREAMS", "s", start)


def rows(reply):
    """Returns [id, idle, deliveries] of each entry in a reply with one stream; both are None for
    an entry without them."""
    lines = reply.split(b"\r\n")
    found = []
    for at, line in enumerate(lines):
        if line not in (b"*4", b"*2") or not lines[at + 2].endswith(b"-0"):
            continue
        numbers = [None, None]
        if line == b"*4":
            numbers = [int(each[1:]) for each in lines[at + 8:at + 10]]
        found.append([lines[at + 2].decode(), *numbers])
    return found


def ids(reply):
    return [row[0] for row in rows(reply)]


def owners(wire):
    lines = wire.ask("XPENDING", "s", "g", "-", "+", "100").split(b"\r\n")
    return {lines[at].decode(): (lines[at + 2].decode(), int(lines[at + 4][1:]))
            for at, line in enumerate(lines) if line.endswith(b"-0")}


def make_idle(wire, idle_ms, *which):
    """Has the entries been delivered that long ago."""
    wire.ask("XCLAIM", "s", "g", "c1", "0", *which, "IDLE", idle_ms, "JUSTID")


def test_the_bytes_of_a_reply(wire):
    fill(wire, "1-0", read=1)
    wire.ask("XADD", "s", "2-0", "f", "v2")
    make_idle(wire, HOUR_MS, "1-0")
    lines = read(wire, "CLAIM", HOUR_MS).split(b"\r\n")
    idle = int(lines.pop(13)[1:])
    assert HOUR_MS <= idle < 2 * HOUR_MS
    assert lines == (b"*1|*2|$1|s|*2|*4|$3|1-0|*2|$1|f|$2|v1|:1|*4|$3|2-0|*2|$1|f|$2|v2|:0|:0|"
                     .split(b"|"))
    three = Wire(wire.socket.getpeername()[1], 3)
    assert read(three, "CLAIM", 0).startswith(b"%1\r\n$1\r\ns\r\n*2\r\n*4\r\n$3\r\n1-0\r\n")
    assert owners(wire) == {"1-0": ("c2", 3), "2-0": ("c2", 2)}


def test_only_idle_entries_are_claimed_the_longest_idle_first(wire):
    fill(wire, "1-0", "2-0", "3-0", "4-0", "5-0", "6-0")
    for number, idle in enumerate((5, 50, 3, 40, 2, 1), 1):
        make_idle(wire, idle * HOUR_MS, f"{number}-0")
    assert ids(read(wire, "CLAIM", 3 * HOUR_MS)) == ["2-0", "4-0", "1-0", "3-0"]
    assert read(wire, "CLAIM", 3 * HOUR_MS) == b"*-1\r\n"
    assert ids(read(wire, "COUNT", 1, "CLAIM", HOUR_MS)) == ["5-0"]
    assert ids(read(wire, "CLAIM", HOUR_MS, "COUNT", 9)) == ["6-0"]
    assert read(wire, "CLAIM", 2**63 - 1) == b"*-1\r\n"
    assert all(owner == ("c2", 2) for owner in owners(wire).values())


def test_claimed_and_new_entries_share_the_count(wire):
    fill(wire, "1-0", "2-0", "3-0", "4-0", "5-0", read=2)
    found = rows(read(wire, "COUNT", 3, "CLAIM", 0))
    assert [(row[0], row[2]) for row in found] == [("1-0", 1), ("2-0", 1), ("3-0", 0)]
    assert [(row[0], row[2]) for row in rows(read(wire, "CLAIM", 0))] == [
        ("1-0", 2), ("2-0", 2), ("3-0", 1), ("4-0", 0), ("5-0", 0)]
    # The last CLAIM counts, wherever it stands.
    assert ids(wire.ask("XREADGROUP", "CLAIM", HOUR_MS, "GROUP", "g", "c", "CLAIM", 0, "COUNT", 1,
                        "STREAMS", "s", ">")) == ["1-0"]


def test_without_pending_entries_it_reads_new_ones(wire):
    fill(wire, "1-0", "2-0", read=0)
    assert rows(read(wire, "CLAIM", HOUR_MS)) == [["1-0", 0, 0], ["2-0", 0, 0]]
    assert read(wire, "CLAIM", HOUR_MS) == b"*-1\r\n"


def test_no_acknowledgement_is_only_for_new_entries(wire):
    fill(wire, "1-0", "2-0", read=1)
    assert ids(read(wire, "NOACK", "CLAIM", 0)) == ["1-0", "2-0"]
    assert owners(wire) == {"1-0": ("c2", 2)}
    assert ids(read(wire, "CLAIM", 0, "NOACK")) == ["1-0"]


def test_it_is_ignored_for_the_history(wire):
    fill(wire, "1-0", "2-0")
    assert rows(read(wire, "CLAIM", 0, consumer="c1", start="0")) == [
        ["1-0", None, None], ["2-0", None, None]]
    assert read(wire, "CLAIM", 0, start="0") == b"*1\r\n*2\r\n$1\r\ns\r\n*0\r\n"


def test_what_cannot_be_claimed(wire):
    fill(wire, "1-0", "2-0", "3-0", "4-0")
    wire.ask("XACK", "s", "g", "2-0")
    wire.ask("XDEL", "s", "3-0")
    assert ids(read(wire, "CLAIM", 0)) == ["1-0", "4-0"]
    wire.ask("XTRIM", "s", "MAXLEN", "0")
    assert read(wire, "CLAIM", 0) == b"*-1\r\n"
    fill(wire, "1-0")
    wire.ask("XGROUP", "DELCONSUMER", "s", "g", "c1")
    assert read(wire, "CLAIM", 0) == b"*-1\r\n"


def test_a_group_that_was_set_back(wire):
    fill(wire, "1-0", "2-0")
    wire.ask("XGROUP", "SETID", "s", "g", "0")
    found = [(row[0], row[2]) for row in rows(read(wire, "CLAIM", 0))]
    assert found == [("1-0", 1), ("2-0", 1), ("1-0", 0), ("2-0", 0)]
    assert owners(wire) == {"1-0": ("c2", 1), "2-0": ("c2", 1)}


def test_several_streams(wire):
    for key in ("a", "b", "c"):
        wire.ask("XADD", key, "1-0", "f", "v")
        wire.ask("XGROUP", "CREATE", key, "g", "0")
        wire.ask("XREADGROUP", "GROUP", "g", "c1", "STREAMS", key, ">")
        wire.ask("XADD", key, "2-0", "f", "v")
    wire.ask("XACK", "b", "g", "1-0")
    reply = wire.ask("XREADGROUP", "GROUP", "g", "c2", "CLAIM", "0", "STREAMS", "a", "b", "c",
                     ">", ">", ">")
    assert reply.startswith(b"*3\r\n") and ids(reply) == ["1-0", "2-0", "2-0", "1-0", "2-0"]
    # One that is named twice: the second reading gets what the first has left.
    wire.ask("XADD", "a", "3-0", "f", "v")
    make = ("XCLAIM", "a", "g", "c1", "0", "1-0", "2-0", "IDLE", HOUR_MS, "JUSTID")
    wire.ask(*make)
    reply = wire.ask("XREADGROUP", "GROUP", "g", "c2", "CLAIM", HOUR_MS, "STREAMS", "a", "a",
                     ">", ">")
    assert ids(reply) == ["1-0", "2-0", "3-0"]
    wire.ask(*make)
    reply = wire.ask("XREADGROUP", "GROUP", "g", "c2", "COUNT", "1", "CLAIM", HOUR_MS, "STREAMS",
                     "a", "a", ">", ">")
    assert ids(reply)[0] == "1-0" and wire.ask("PING") == b"+PONG\r\n"


def test_wrong_words(wire):
    fill(wire, "1-0")
    not_integer = b"-ERR min-idle-time is not an integer or out of range\r\n"
    for word in ("x", "5.5", "10e", "+10", "-0", "10/2", "", "9223372036854775808", "STREAMS"):
        assert read(wire, "CLAIM", word) == not_integer, word
    assert read(wire, "CLAIM", "-10") == b"-ERR min-idle-time must be a positive integer\r\n"
    for call, start in [
            ("XREADGROUP GROUP g c CLAIM STREAMS s >", not_integer),
            ("XREADGROUP GROUP g c CLAIM 1 CLAIM COUNT 1 STREAMS s >", not_integer),
            ("XREADGROUP GROUP g CLAIM 50 c STREAMS s >", b"-ERR syntax error\r\n"),
            ("XREADGROUP GROUP g c STREAMS s CLAIM 50 >", b"-NOGROUP No such key"),
            ("XREADGROUP GROUP g c STREAMS s CLAIM >", b"-ERR Unbalanced"),
            ("XREADGROUP GROUP g c STREAMS s > CLAIM 50", b"-"),
            ("XREADGROUP GROUP x c CLAIM 0 STREAMS s >", b"-NOGROUP No such key"),
            ("XREADGROUP GROUP g c CLAIM 0 STREAMS none >", b"-NOGROUP No such key"),
            ("XREAD CLAIM 0 STREAMS s 0",
             b"-ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead.")]:
        assert wire.ask(*call.split()).startswith(start), call
    wire.ask("SET", "k", "v")
    assert wire.ask("XREADGROUP", "GROUP", "g", "c", "CLAIM", "0", "STREAMS", "k", ">").startswith(
        b"-WRONGTYPE")
    assert owners(wire) == {"1-0": ("c1", 1)}


def test_an_earlier_version_does_not_know_it(daemon):
    wire = Wire(new_cache(daemon, "--redis-version", "8.2"))
    fill(wire, "1-0")
    assert read(wire, "CLAIM", "0") == b"-ERR syntax error\r\n"


# --- waiting

def await_waiting(wire, count=1):
    eventually(lambda: b"blocked_clients:%d" % count in wire.ask("INFO", "clients"), "clients wait")


def test_a_waiting_client_gets_what_becomes_idle(port, wire):
    fill(wire, "1-0")
    waiting = Wire(port)
    waiting.send("XREADGROUP", "GROUP", "g", "c2", "BLOCK", 0, "CLAIM", 700, "STREAMS", "s", ">")
    await_waiting(wire)
    found = rows(waiting.receive())
    assert [(row[0], row[2]) for row in found] == [("1-0", 1)] and found[0][1] >= 700
    assert owners(wire) == {"1-0": ("c2", 2)}
    await_waiting(wire, 0)


def test_a_waiting_client_gets_what_others_read_meanwhile(port, wire):
    """Nothing is pending when it begins to wait; and with 0 it does not take every turn."""
    for idle in (300, 0):
        fill(wire)
        waiting = Wire(port)
        waiting.send("XREADGROUP", "GROUP", "g", "c2", "BLOCK", 0, "CLAIM", idle, "STREAMS", "s",
                     ">")
        await_waiting(wire)
        # In one transaction, so that the entry is not new when the client is served.
        wire.ask_all([["MULTI"], ["XADD", "s", "1-0", "f", "v"],
                      ["XREADGROUP", "GROUP", "g", "c1", "STREAMS", "s", ">"], ["EXEC"]])
        assert ids(waiting.receive()) == ["1-0"]
        assert owners(wire) == {"1-0": ("c2", 2)}
        waiting.close()


def test_a_waiting_client_gets_new_entries_first(port, wire):
    fill(wire, "1-0")
    waiting = Wire(port)
    waiting.send("XREADGROUP", "GROUP", "g", "c2", "BLOCK", 0, "CLAIM", HOUR_MS, "STREAMS", "s",
                 ">")
    await_waiting(wire)
    wire.ask("XADD", "s", "2-0", "f", "v2")
    assert rows(waiting.receive()) == [["2-0", 0, 0]]


def test_a_wait_ends_by_its_time(port, wire):
    fill(wire, "1-0")
    assert read(wire, "BLOCK", 50, "CLAIM", HOUR_MS) == b"*-1\r\n"
    assert read(wire, "BLOCK", 250, "CLAIM", 2**63 - 1) == b"*-1\r\n"
    waiting = Wire(port)
    waiting.send("XREADGROUP", "GROUP", "g", "c2", "BLOCK", 0, "CLAIM", 100, "STREAMS", "s", ">")
    waiting.close()
    eventually(lambda: b"blocked_clients:0" in wire.ask("INFO", "clients"), "it is forgotten")
    assert wire.ask("PING") == b"+PONG\r\n"


def test_a_pause_of_writes_holds_what_a_waiting_client_would_claim(port, wire):
    fill(wire, "1-0")
    waiting = Wire(port)
    waiting.send("XREADGROUP", "GROUP", "g", "c2", "BLOCK", 0, "CLAIM", 200, "STREAMS", "s", ">")
    await_waiting(wire)
    wire.ask("CLIENT", "PAUSE", "100000", "WRITE")
    assert waiting.is_silent(0.6) and owners(wire) == {"1-0": ("c1", 1)}
    wire.ask("CLIENT", "UNPAUSE")
    assert ids(waiting.receive()) == ["1-0"]


def test_two_waiting_clients_share_what_becomes_idle(port, wire):
    fill(wire, "1-0", "2-0")
    both = [Wire(port), Wire(port)]
    for number, each in enumerate(both):
        each.send("XREADGROUP", "GROUP", "g", f"w{number}", "BLOCK", 0, "COUNT", 1, "CLAIM", 400,
                  "STREAMS", "s", ">")
    await_waiting(wire, 2)
    assert sorted(ids(each.receive())[0] for each in both) == ["1-0", "2-0"]
    wire.ask("XGROUP", "DESTROY", "s", "g")
    wire.ask("DEL", "s")
    wire.ask("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    both[0].send("XREADGROUP", "GROUP", "g", "w", "BLOCK", 0, "CLAIM", 100, "STREAMS", "s", ">")
    await_waiting(wire)
    wire.ask("DEL", "s")
    assert both[0].receive().startswith(b"-")


def test_a_transaction_and_a_script_do_not_wait(wire):
    fill(wire, "1-0")
    call = ["XREADGROUP", "GROUP", "g", "c2", "BLOCK", "0", "CLAIM", HOUR_MS, "STREAMS", "s", ">"]
    assert wire.ask_all([["MULTI"], call, ["EXEC"]]).endswith(b"*1\r\n*-1\r\n")
    script = "return redis.call('XREADGROUP','GROUP','g','c2','CLAIM',0,'STREAMS','s','>')"
    assert ids(wire.ask("EVAL", script, "0")) == ["1-0"]


def test_many_pending_entries(wire):
    wire.ask("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    for first in range(1, 20001, 2000):
        wire.ask_all([["XADD", "s", f"{number}-0", "f", "v"]
                      for number in range(first, first + 2000)])
    wire.ask("XREADGROUP", "GROUP", "g", "c1", "STREAMS", "s", ">")
    seen = []
    while True:
        found = ids(read(wire, "COUNT", 3000, "CLAIM", 0)) if len(seen) < 20000 else []
        if not found:
            break
        wire.ask("XACK", "s", "g", *found)
        seen += found
    assert seen == [f"{number}-0" for number in range(1, 20001)]
