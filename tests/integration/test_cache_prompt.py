"""`strata start -i` of a cache: on a terminal (here a pty) and through pipes. It
shows what redis-cli shows."""

import re
import signal
import subprocess
import time

import pytest

from resp_wire import Wire
from strata_daemon import BINARY, PATIENCE, eventually
from terminal import Terminal

pytestmark = pytest.mark.once

# Colors and cursor movements.
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r|\x07")

# Each command sets up its own data; both programs must show the reply in the same way.
SHOWN = [
    ["SET", "s", "v"], ["GET", "s"], ["GET", "none"], ["INCR", "n"], ["STRLEN", "s"], ["NOSUCH"],
    ["SET", "bytes", 'a"\\\n\t\x01'], ["GET", "bytes"], ["RPUSH", "l", *map(str, range(12))],
    ["LRANGE", "l", "0", "-1"], ["LRANGE", "none", "0", "-1"], ["HSET", "h", "f", "v", "g", "w"],
    ["HGETALL", "h"], ["HGETALL", "none"], ["SADD", "t", "one"], ["SMEMBERS", "t"],
    ["SMEMBERS", "none"], ["ZADD", "z", "1.5", "a", "2", "b"], ["ZSCORE", "z", "a"],
    ["ZRANGE", "z", "0", "-1", "WITHSCORES"], ["MGET", "s", "none"], ["LMPOP", "1", "l", "LEFT"],
    ["COMMAND", "INFO", "GET", "nosuch"], ["CONFIG", "GET", "maxmemory*"], ["INFO", "keyspace"],
    ["EVAL_NOT"], ["SCAN", "0", "COUNT", "1000", "TYPE", "zset"],
]


@pytest.fixture
def port(daemon):
    made = daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True)
    return int(made["endpoints"][0].rsplit(":", 1)[1])


class Prompt(Terminal):
    """`strata start -i` of a cache, without cursor movements."""

    def __init__(self, daemon, name="db", columns=0, **variables):
        super().__init__(daemon, "start", "-i", name, columns=columns, TERM="xterm",
                         HOME=str(daemon.folder),
                         STRATA_STATE_DIR=str(daemon.folder / "cli"), **variables)

    def text(self):
        return ESCAPES.sub(b"", self.screen)

    def says(self, line, reply, then=b"db> "):
        """Types a line at the prompt, and waits for the reply and the next prompt."""
        self.shows(b"> ")
        self.screen = b""
        self.type(line + b"\n")
        self.shows(reply + b"\n" + then)


def piped(daemon, text, *flags, name="db"):
    return subprocess.run([BINARY, "start", "-i", name, *flags], env=daemon.environment,
                          input=text, capture_output=True, timeout=PATIENCE)


def quote(word):
    text = "".join(each if " " < each <= "~" and each not in '"\\' else f"\\x{ord(each):02x}"
                   for each in word)
    return f'"{text}"'


def test_it_shows_what_redis_cli_shows(daemon, port):
    with Prompt(daemon) as prompt:
        prompt.shows(b"db> ")
        for words in SHOWN:
            told = subprocess.run(["redis-cli", "-3", "--no-raw", "-p", str(port), *words],
                                  capture_output=True, timeout=PATIENCE, check=False).stdout
            if words[0] in ("INCR", "RPUSH", "HSET", "SADD", "ZADD", "LMPOP"):
                continue  # a second run would give another reply
            line = " ".join(map(quote, words)).encode()
            # The line fits into the terminal's width, so it is not wrapped and redrawn.
            assert len(line) < 70
            prompt.says(line, told.rstrip(b"\n").replace(b"\r", b""))


def test_piped_it_says_what_redis_cli_says(daemon, port):
    for words in SHOWN:
        told = subprocess.run(["redis-cli", "-3", "-p", str(port), *words], capture_output=True,
                              timeout=PATIENCE, check=False).stdout
        if words[0] in ("INCR", "RPUSH", "HSET", "SADD", "ZADD", "LMPOP"):
            continue
        done = piped(daemon, " ".join(map(quote, words)).encode())
        assert done.stdout.rstrip(b"\n") == told.rstrip(b"\n"), words
        assert (done.returncode, done.stderr) == (0, b"")


def test_words_are_quoted_as_for_redis_cli(daemon, port):
    done = piped(daemon, b'SET "a\\x00b" "it\'s"\nGET "a\\x00b"\nSET k \'a "b\\\' \\n\'\nGET k\n'
                         b'ECHO "unbalanced\nECHO last')
    assert done.stdout == b"OK\nit's\nOK\na \"b' \\n\nlast\n"
    assert b"quotes" in done.stderr and done.returncode == 0
    assert Wire(port).ask("GET", b"a\0b") == b"$4\r\nit's\r\n"


def test_the_prompt_tells_the_state(daemon, port):
    with Prompt(daemon) as prompt:
        prompt.says(b"select 3", b"OK", b"db[3]> ")
        prompt.says(b"multi", b"OK", b"db[3](TX)> ")
        prompt.says(b"incr n", b"QUEUED", b"db[3](TX)> ")
        prompt.says(b"exec", b"1) (integer) 1", b"db[3]> ")
        prompt.says(b"reset", b"RESET", b"db> ")
        # RESP3 again after RESET.
        prompt.says(b"hello", b'7# "modules" => (empty array)')
        prompt.says(b"get", b"(error) ERR wrong number of arguments for 'get' command")
        prompt.type(b"quit\n")
        assert prompt.exit_code() == 0


def test_messages_come_while_somebody_types(daemon, port):
    with Prompt(daemon) as prompt:
        prompt.says(b"subscribe news", b'1) "subscribe"\n2) "news"\n3) (integer) 1',
                    b"db(subscribed mode)> ")
        prompt.screen = b""
        prompt.type(b"get k")
        prompt.shows(b"get k")
        prompt.screen = b""
        assert Wire(port).ask("PUBLISH", "news", "a\x1b[2Jb") == b":1\r\n"
        prompt.shows(b'1) "message"\n2) "news"\n3) "a\\x1b[2Jb"\ndb(subscribed mode)> get k')
        prompt.says(b"", b"(nil)", b"db(subscribed mode)> ")
        prompt.says(b"unsubscribe", b'1) "unsubscribe"\n2) "news"\n3) (integer) 0')


def test_monitor_shows_commands_until_ctrl_c(daemon, port):
    with Prompt(daemon) as prompt:
        prompt.shows(b"db> ")
        prompt.type(b"monitor\n")
        prompt.shows(b"OK\n")
        Wire(port).ask("SET", "k", "v")
        prompt.shows(b'"SET" "k" "v"\n')
        prompt.type(b"\x03")
        assert prompt.exit_code() == 0
    assert daemon.show("db")["state"] == "running"


def test_piped_messages_come_until_it_is_ended(daemon, port):
    with subprocess.Popen([BINARY, "start", "-i", "db"], env=daemon.environment,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            process.stdin.write(b"PSUBSCRIBE n*\nPING\n")
            process.stdin.close()
            begin = b"psubscribe\nn*\n1\nPONG\n"
            assert process.stdout.read(len(begin)) == begin
            assert Wire(port).ask("PUBLISH", "news", "today") == b":1\r\n"
            message = b"pmessage\nn*\nnews\ntoday\n"
            assert process.stdout.read(len(message)) == message
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def test_lines_can_be_edited_and_called_back(daemon, port):
    with Prompt(daemon) as prompt:
        prompt.says(b"ecoh\x1b[D\x1b[D\x7f\x1b[C\x1b[Cx\x7f\x7f\x7f\x7f\x7fecho first", b'"first"')
        prompt.says(b"auth secret", b"(error) ERR AUTH <password> called without any password "
                    b"configured for the default user. Are you sure your configuration is correct?")
        prompt.says(b"\x1b[A", b'"first"')
        prompt.says("echo grüße".encode(), b'"gr\\xc3\\xbc\\xc3\\x9fe"')
        prompt.type(b"\x04")
        assert prompt.exit_code() == 0
    kept = (daemon.folder / "cli" / "cache_history")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert b"first" in kept.read_bytes() and b"secret" not in kept.read_bytes()
    with Prompt(daemon) as prompt:
        prompt.says(b"\x1b[A\x1b[A", b'"first"')


def test_a_password_is_given_with_auth(daemon):
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], password="secret")
    with Prompt(daemon) as prompt:
        prompt.says(b"get k", b"(error) NOAUTH Authentication required.")
        prompt.says(b"auth secret", b"OK")
        prompt.says(b"hgetall k", b"(empty hash)")  # RESP3 from here on


def test_a_stopped_cache_is_started_and_a_unix_socket_will_do(daemon, tmp_path):
    daemon.create("cache", "db", start=False, listen=[f"unix://{tmp_path}/db.sock"])
    assert piped(daemon, b"SET k v\nGET k\n").stdout == b"OK\nv\n"
    assert daemon.show("db")["state"] == "running"


def test_it_ends_when_the_cache_is_stopped(daemon, port):
    with Prompt(daemon) as prompt:
        prompt.shows(b"db> ")
        daemon.act("db", "stop")
        assert prompt.exit_code() == 1
        prompt.shows(b"the cache has ended the connection")


def test_one_client_too_many(daemon, port):
    daemon.edit("db", max_connections=1)
    first = Wire(port)
    first.ask("PING")
    done = piped(daemon, b"PING\n")
    assert done.returncode == 1 and b"max number of clients reached" in done.stderr


def test_replies_that_are_switched_off_are_not_waited_for(daemon, port):
    done = piped(daemon, b"CLIENT REPLY OFF\nSET k 1\nCLIENT REPLY ON\nGET k\n"
                         b"CLIENT REPLY SKIP\nGET k\nGET k\n")
    assert done.stdout == b"OK\n1\n1\n"


def test_ctrl_c_leaves_a_command_that_waits_and_the_terminal_as_it_was(daemon, port):
    with Prompt(daemon) as prompt:
        prompt.shows(b"db> ")
        prompt.type(b"blpop queue 0\n")
        eventually(lambda: b"blocked_clients:1" in Wire(port).ask("INFO", "clients"), "it waits")
        time.sleep(0.05)
        prompt.type(b"\x03")
        assert prompt.exit_code() == 0


def test_tab_completes_a_command(daemon, port):
    with Prompt(daemon, columns=200) as prompt:
        prompt.shows(b"db> ")
        prompt.type(b"getr\t")
        prompt.shows(b"db> getrange ")
        prompt.type(b"k 0 1\n")
        prompt.shows(b'""\n')
        prompt.type(b"GETR\t")
        prompt.shows(b"db> GETRANGE ")
        prompt.type(b"\x15zrangeb\t")  # completed as far as the names agree
        prompt.shows(b"db> zrangeby")
        prompt.type(b"\t")
        prompt.shows(b"zrangebylex  zrangebyscore\n")
        prompt.type(b"\x15no-such\t\x15ping\n")
        prompt.shows(b"PONG\n")


def test_help_tells_what_a_command_does(daemon, port):
    with Prompt(daemon) as prompt:
        prompt.shows(b"db> ")
        prompt.type(b"help\n")
        prompt.shows(b"Tab completes a command")
        prompt.type(b"help Get\n")
        prompt.shows(b"GET: returns the string of a key\n  group string, since Redis 1.0.0\n")
        prompt.type(b"help nonsense\n")
        prompt.shows(b"there is no help for 'nonsense'")


def test_in_a_transaction_tab_asks_nothing(daemon, port):
    with Prompt(daemon) as prompt:
        prompt.says(b"multi", b"OK", b"db(TX)> ")
        prompt.type(b"getr\t\x15")
        prompt.says(b"exec", b"(empty array)")
