"""Commands that are run beside a program, by `strata exec`."""

import base64
import fcntl
import hashlib
import json
import os
import signal
import socket
import struct
import subprocess
import termios
import time

import pytest

from programs import NOTIFY, SERVER, gone, lines_of
from remote import Remote
from strata_daemon import BINARY, PATIENCE, eventually
from terminal import Terminal

IDLE = "import time\ntime.sleep(1000)\n"


def run(daemon, *words, given=b""):
    """Returns how `strata exec` has ended; all in bytes."""
    return subprocess.run([BINARY, "exec", *words], env=daemon.environment, input=given,
                          capture_output=True, timeout=PATIENCE)


def test_a_command_runs_like_the_program(daemon, program, tmp_path):
    program(IDLE, env=["MODE=fast"], folder=str(tmp_path), limit=["nofile=123"])
    done = run(daemon, "p", "sh", "-c", "echo $STRATA_NAME $MODE; pwd; ulimit -n; echo no >&2; cat")
    assert (done.returncode, done.stderr) == (0, b"no\n")
    assert done.stdout.decode().split("\n") == ["p fast", str(tmp_path), "123", ""]
    logged = lines_of(daemon, "p")
    assert any("started by 'exec': sh -c" in each for each in logged), logged
    assert "exec 'p', requested by uid" in daemon.log()


@pytest.mark.parametrize("command, code", [
    (["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137),
    (["sh", "-c", "kill -TERM $$"], 143)])
def test_the_exit_code_is_the_commands(daemon, program, command, code):
    program(IDLE)
    done = run(daemon, "p", *command)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_its_flags_are_its_own(daemon, program):
    program(IDLE)
    assert run(daemon, "p", "echo", "-n", "--help", "-i", "--", "x y").stdout == \
        b"--help -i -- x y"
    assert run(daemon, "p", "--", "printf", "%s|", "a b", "{port}", "").stdout == b"a b|{port}||"


def test_input_and_output_pass_through_whole(daemon, program):
    program(IDLE)
    given = os.urandom(3_000_000)
    done = run(daemon, "-i", "p", "cat", given=given)
    assert done.returncode == 0 and done.stdout == given
    assert run(daemon, "p", "cat", given=b"not passed on").stdout == b""
    # One that reads no input does not hold up the caller, and has an end of its own.
    done = run(daemon, "-i", "p", "head", "-c", "5", given=given)
    assert (done.returncode, done.stdout) == (0, given[:5])
    done = run(daemon, "p", "head", "-c", "9000000", "/dev/zero")
    assert len(done.stdout) == 9_000_000


def test_each_instance_has_its_values(daemon, program):
    program(SERVER, "{port}", instances=2, port=0, ready="port")
    ports = [each["port"] for each in daemon.ask("GET", "/v1/runtimes/p/instances")]
    for number in (1, 2):
        for words in (["p", "--instance", str(number), "--"], ["--instance", str(number), "p"]):
            done = run(daemon, *words, "sh", "-c", "echo $PORT $STRATA_INSTANCE")
            assert done.stdout == f"{ports[number - 1]} {number}\n".encode()
    done = run(daemon, "--instance", "3", "p", "true")
    assert done.returncode == 2 and b"it has no instance 3; give a number from 1 to 2" in \
        done.stderr


def test_it_is_not_taken_for_the_program(daemon, program):
    program(NOTIFY + "tell('READY=1')\nwhile True: tell('WATCHDOG=1'); time.sleep(0.1)\n",
            ready="notify", alive="notify")
    done = run(daemon, "p", "env")
    for name in (b"NOTIFY_SOCKET=", b"WATCHDOG_USEC=", b"LISTEN_FDS="):
        assert name not in done.stdout


def test_a_shell_at_a_terminal(daemon, program):
    program(IDLE)
    with Terminal(daemon, "exec", "-t", "p", "sh", columns=97, TERM="vt100", PS1="") as screen:
        screen.shows(b"# ")
        screen.type(b"stty size; echo $TERM; tty; test -t 2 && echo is''atty\n")
        screen.shows(b"24 97\r\nvt100\r\n/dev/pts/")
        screen.shows(b"isatty")
        screen.type(b"sleep 1000\n")
        time.sleep(0.3)
        screen.type(b"\x03")  # Ctrl-C ends the command, not the shell
        screen.type(b"echo go''es on; exit 9\n")
        screen.shows(b"goes on")
        assert screen.exit_code() == 9


def test_a_terminal_changes_its_size(daemon, program):
    program(IDLE)
    watch = "trap 'stty size' WINCH; echo wat''ches; while true; do sleep 0.05; done"
    with Terminal(daemon, "exec", "-t", "p", "sh", "-c", watch, columns=80) as screen:
        screen.shows(b"watches")
        fcntl.ioctl(screen.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
        screen.shows(b"33 101")


def test_a_terminal_needs_one(daemon, program):
    program(IDLE)
    done = run(daemon, "-t", "p", "sh")
    assert done.returncode == 2 and b"standard input is none" in done.stderr


@pytest.mark.parametrize("trap, grace", [("", 10), ("trap '' HUP;", 0.3)])
def test_it_ends_with_its_caller(daemon, program, tmp_path, trap, grace):
    program(IDLE, grace=grace)
    path = tmp_path / "pid"
    with subprocess.Popen([BINARY, "exec", "p", "sh", "-c",
                           f"{trap} echo $$ > {path}; while true; do sleep 0.1; done"],
                          env=daemon.environment) as caller:
        pid = int(eventually(lambda: path.exists() and path.read_text(), "it runs"))
        assert not gone(pid)
        caller.kill()
    eventually(lambda: gone(pid), "it has ended")


def test_what_it_leaves_running_does_not_hold_it(daemon, program, tmp_path):
    program(IDLE)
    path = tmp_path / "pid"
    done = run(daemon, "p", "sh", "-c", f"sleep 1000 & echo $! > {path}; echo done")
    assert (done.returncode, done.stdout) == (0, b"done\n")
    pid = int(path.read_text())
    assert not gone(pid)
    os.kill(pid, signal.SIGKILL)


def test_it_runs_on_when_the_program_is_replaced(daemon, program):
    program(IDLE)
    caller = subprocess.Popen([BINARY, "exec", "-i", "p", "cat"], env=daemon.environment,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    caller.stdin.write(b"before\n")
    caller.stdin.flush()
    assert caller.stdout.readline() == b"before\n"
    daemon.remove("p")
    output, _ = caller.communicate(b"after\n", timeout=PATIENCE)
    assert (caller.returncode, output) == (0, b"after\n")


def test_the_end_of_the_daemon_ends_it(daemon, program, tmp_path):
    program(IDLE)
    path = tmp_path / "pid"
    caller = subprocess.Popen([BINARY, "exec", "p", "sh", "-c",
                               f"echo $$ > {path}; sleep 1000"],
                              env=daemon.environment, stderr=subprocess.PIPE)
    pid = int(eventually(lambda: path.exists() and path.read_text(), "it runs"))
    daemon.stop()
    _, errors = caller.communicate(timeout=PATIENCE)
    assert caller.returncode == 1 and b"the daemon has ended the connection" in errors
    eventually(lambda: gone(pid), "it has ended")


@pytest.mark.parametrize("words, code, why", [
    (["p", "/no/such"], 1, "/no/such"),
    (["none", "true"], 3, "'none'"),
    (["chat", "true"], 1, "it is a server, but only a program has this operation"),
    (["idle", "true"], 1, "it is not running"),
    (["outside", "true"], 1, "strata has not started its process"),
    (["p"], 2, "COMMAND")])
def test_what_cannot_be_is_refused(daemon, program, words, code, why):
    program(IDLE)
    daemon.server("chat")
    daemon.create("program", "idle", start=False, command="true")
    daemon.cli("attach", "outside", "--pid", os.getpid())
    done = run(daemon, *words)
    assert done.returncode == code and why in done.stderr.decode(), done


def test_it_runs_as_the_programs_user(daemon, program, root):
    daemon.create("program", "p", command="sleep 1000", user="nobody")
    assert run(daemon, "p", "id", "-un").stdout == b"nobody\n"
    with Terminal(daemon, "exec", "-t", "p", "sh", "-c", "id -un; stty size < /dev/tty",
                  columns=80) as screen:
        assert screen.exit_code() == 0
        assert screen.screen == b"nobody\r\n24 80\r\n"


class Request:
    """A request for a session, as another program sends it."""

    def __init__(self, daemon, *fields, target="/v1/runtimes/p/exec?command=cat&input=true"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(daemon.socket))
        lines = [f"GET {target} HTTP/1.1", "Host: strata", *fields]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.got = b""
        while b"\r\n\r\n" not in self.got:
            piece = self.socket.recv(65536)
            if not piece:
                break
            self.got += piece

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def status(self):
        return int(self.got.split()[1])

    def send(self, payload, opcode=2):
        mask = b"\1\2\3\4"
        masked = bytes(each ^ mask[place % 4] for place, each in enumerate(payload))
        assert len(payload) < 126
        self.socket.sendall(bytes([0x80 | opcode, 0x80 | len(payload)]) + mask + masked)

    def receive(self):
        """Returns the messages until the end, all binary, of less than 126 bytes."""
        rest = self.got.partition(b"\r\n\r\n")[2]
        while piece := self.socket.recv(65536):
            rest += piece
            if rest[-4:-2] == b"\x88\x02":
                break
        messages = []
        while rest[:1] == b"\x82":
            messages.append(rest[2:2 + rest[1]])
            rest = rest[2 + rest[1]:]
        return messages


KEY = base64.b64encode(b"0123456789abcdef").decode()
OPENING = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {KEY}",
           "Sec-WebSocket-Version: 13")


def test_the_protocol_is_open_to_others(daemon, program):
    program(IDLE)
    with Request(daemon, *OPENING) as request:
        assert request.status() == 101
        accept = hashlib.sha1(f"{KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
        assert base64.b64encode(accept) in request.got
        for hostile in (b"", b"\x07unknown", b"\x04[]", b"\x04{\"rows\": -1, \"columns\": 1e99}",
                        b"\x04" + b"[" * 100, b"\x01output", b"\x03{}"):
            request.send(hostile)
        request.send(b"\x00hello")
        request.send(b"\xff\x00")
        request.send(b"\x00too late")
        *output, outcome = request.receive()
        assert b"".join(each[1:] for each in output) == b"hello"
        assert {each[:1] for each in output} == {b"\x01"}
        assert outcome[:1] == b"\x03" and json.loads(outcome[1:]) == {"exit_code": 0, "signal": 0}
    assert daemon.names() == ["p"]


def test_a_peer_that_breaks_the_protocol_ends_the_command(daemon, program, tmp_path):
    program(IDLE)
    path = tmp_path / "pid"
    command = f"command=sh&command=-c&command=echo%20$$%20%3E%20{path};sleep%201000"
    with Request(daemon, *OPENING, target=f"/v1/runtimes/p/exec?{command}") as request:
        pid = int(eventually(lambda: path.exists() and path.read_text(), "it runs"))
        request.socket.sendall(b"\xff" * 100)
        eventually(lambda: gone(pid), "it has ended")


@pytest.mark.parametrize("fields, status, why", [
    ((), 426, "this opens a WebSocket"),
    ((*OPENING, "Origin: https://evil.example"), 403, "may not open a WebSocket"),
    ((*OPENING[:3], "Sec-WebSocket-Version: 8"), 426, "")])
def test_a_request_that_opens_no_session_starts_nothing(daemon, program, tmp_path, fields, status,
                                                        why):
    program(IDLE)
    path = tmp_path / "made"
    with Request(daemon, *fields,
                 target=f"/v1/runtimes/p/exec?command=touch&command={path}") as request:
        assert request.status() == status and why.encode() in request.got
    time.sleep(0.2)
    assert not path.exists()


def test_over_tls_it_ends_with_its_token(tmp_path):
    remote = Remote(tmp_path)
    daemon = remote.daemon("--token-file", str(remote.token_file)).start()
    environment = {"PATH": "/usr/bin:/bin", "STRATA_SOCKET": remote.url,
                   "STRATA_CA": remote.authority.ca, "STRATA_TOKEN": remote.token}
    try:
        daemon.create("program", "p", command="sleep 1000")
        given = os.urandom(1_000_000)
        done = subprocess.run([BINARY, "exec", "-i", "p", "cat"], env=environment, input=given,
                              capture_output=True, timeout=PATIENCE)
        assert (done.returncode, done.stdout) == (0, given), done.stderr
        caller = subprocess.Popen(
            [BINARY, "exec", "-i", "p", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment)
        caller.stdin.write(b"hello\n")
        caller.stdin.flush()
        assert caller.stdout.readline() == b"hello\n"
        remote.token_file.write_text("another-token-0123456789abcdef\n")
        daemon.signal(signal.SIGHUP)
        _, errors = caller.communicate(timeout=PATIENCE)
        assert caller.returncode == 1 and b"the daemon has ended the connection" in errors
    finally:
        daemon.close()
