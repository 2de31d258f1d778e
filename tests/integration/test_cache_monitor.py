"""What MONITOR, SLOWLOG and CLIENT LIST show of other clients' commands, as a
real redis-server does."""

import os
import re

from cache_or_redis import port  # noqa: F401
from resp_wire import Wire, split_replies


COMMANDS = """AUTH default secret|HELLO 2 AUTH default secret SETNAME n|CONFIG SET masterauth secret
CONFIG SET slowlog-max-len 100 requirepass secret|CONFIG GET maxmemory|CLIENT ID|CLIENT LIST
DEBUG SLEEP 0|SLOWLOG LEN|LATENCY LATEST|CLUSTER INFO|MULTI|GET a|EXEC|KEYS *|nosuch|GET
CONFIG SET masterauth now|AUTH secret"""


def play(port):
    wire = Wire(port)
    for command in COMMANDS.replace("\n", "|").split("|"):
        wire.send(*command.split())
        wire.receive()


def test_monitors_see_neither_passwords_nor_what_administrators_say(port):
    monitor = Wire(port)
    monitor.send("MONITOR")
    assert monitor.receive() == b"+OK\r\n"
    play(port)
    seen = b""
    while not seen.endswith(b'"AUTH" "(redacted)"\r\n') or b"KEYS" not in seen:
        seen += monitor.receive()
    assert [line.split(b"] ")[1] for line in seen.splitlines()] == [
        b'"AUTH" "(redacted)" "(redacted)"',
        b'"HELLO" "2" "AUTH" "(redacted)" "(redacted)" "SETNAME" "n"', b'"CLIENT" "ID"',
        b'"CLUSTER" "INFO"', b'"MULTI"', b'"GET" "a"', b'"EXEC"', b'"KEYS" "*"',
        b'"AUTH" "(redacted)"']


def test_the_slow_log_has_no_passwords(port):
    wire = Wire(port)
    wire.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
    play(port)
    wire = Wire(port)
    wire.send("AUTH", "secret")
    wire.receive()
    lines = split_replies(wire.ask("SLOWLOG", "GET", "100").partition(b"\r\n")[2])
    words = [re.findall(rb"\$\d+\r\n([^\r]*)\r\n", split_replies(line.partition(b"\r\n")[2])[3])
             for line in lines]
    assert not any(b"secret" in each for each in words)
    for shown in (b"AUTH (redacted) (redacted)", b"CONFIG SET masterauth (redacted)",
                  b"HELLO 2 AUTH (redacted) (redacted) SETNAME n",
                  b"CONFIG SET slowlog-max-len 100 requirepass (redacted)", b"GET a"):
        assert shown.split() in words, shown
    assert [b"EXEC"] not in words


def test_a_client_is_shown_with_its_descriptor(port):
    wire = Wire(port)
    process = int(re.search(rb"process_id:(\d+)\r", wire.ask("INFO", "server"))[1])
    number = int(re.search(rb" fd=(\d+) ", wire.ask("CLIENT", "LIST"))[1])
    assert os.readlink(f"/proc/{process}/fd/{number}").startswith("socket:")
