"""Keys that a cache with on_miss fetches while the script of a client takes long."""

import time

import pytest

from resp_wire import Wire
from strata_daemon import PATIENCE
from test_cache_busy_scripts import BUSY, ENDLESS, await_busy, busy_cache, patient, say, spin

pytestmark = pytest.mark.once


def test_a_script_does_not_see_what_is_fetched_meanwhile(daemon, tmp_path):
    script = tmp_path / "fetch.lua"
    script.write_text("""
        function on_miss(key)
          strata.sleep(0.5)
          if key == 'k' then return 'fetched' elseif key == 'broken' then error('broken') end
        end
        """)
    port = busy_cache(daemon, lua=str(script))
    waiting = {key: Wire(port) for key in ("k", "broken", "nothing")}
    for key, wire in waiting.items():
        wire.send("GET", key)
    running = patient(port)
    running.send("EVAL", "local n = 0 while n < 6e8 do n = n + 1 end "
                 "return redis.call('EXISTS', 'k')", 0)
    await_busy(Wire(port), "EXISTS", "k")
    time.sleep(0.7)
    assert all(wire.is_silent(0.05) for wire in waiting.values())
    assert running.receive() == b":0\r\n"
    assert waiting["k"].receive() == b"$7\r\nfetched\r\n"
    assert waiting["nothing"].receive() == b"$-1\r\n"
    assert waiting["broken"].receive() == b"-ERR the key was not fetched: on_miss failed\r\n"
    running.send("EVAL", ENDLESS, 0)
    await_busy(Wire(port))
    assert say(Wire(port), "SCRIPT", "KILL") == b"+OK\r\n"
    assert b"killed" in running.receive()


def test_what_is_fetched_meanwhile_is_not_late(daemon, tmp_path):
    script = tmp_path / "fetch.lua"
    script.write_text("miss_ms = 1500 function on_miss() strata.sleep(0.2) return 'fetched' end")
    port = busy_cache(daemon, lua=str(script))
    say(Wire(port), "CONFIG", "SET", "hz", 500)  # how often it looks for waits that are over
    waiting = [Wire(port) for _ in range(8)]
    for number, wire in enumerate(waiting):
        wire.send("GET", number)
        wire.send("EVAL", "local n = 0 while n < 1e8 do n = n + 1 end return 'next'", 0)
    running = spin(port)
    time.sleep(2)
    assert say(Wire(port), "SCRIPT", "KILL") == b"+OK\r\n"
    assert b"killed" in running.receive()
    for wire in waiting:
        wire.socket.settimeout(PATIENCE)
        assert wire.receive() == b"$7\r\nfetched\r\n"
    replies = [wire.receive() for wire in waiting]
    assert b"$4\r\nnext\r\n" in replies
    assert all(reply == b"$4\r\nnext\r\n" or reply.startswith(BUSY) for reply in replies)
