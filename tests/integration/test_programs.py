"""Programs that the daemon runs: their start, output, restarts and end."""

import json
import os
import signal
import sys
import urllib.request

import pytest

from strata_daemon import PATIENCE, Refused, eventually
from talker import free_port, port_of

SERVER = """
import http.server, os, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ["STRATA_INSTANCE"].encode())
    def log_message(self, *_): pass
port = int(sys.argv[1])
print("listening on", port, flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", port), Answer).serve_forever()
"""


@pytest.fixture
def program(daemon, tmp_path):
    """Creates and starts a program that runs that Python text."""
    def program(text, *words, name="p", **options):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        command = " ".join([sys.executable, str(path), *words])
        daemon.create("program", name, command=command, **options)
        return daemon.show(name)

    return program


def lines_of(daemon, name):
    return [json.loads(line)["text"]
            for line in daemon.cli("logs", name, "--format", "json").splitlines()]


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_program_runs_and_ends(daemon, program):
    shown = program("import time, os, sys\n"
                    "print('hello', os.environ['MODE'], os.getcwd(), flush=True)\n"
                    "print('trouble', file=sys.stderr, flush=True)\ntime.sleep(1000)",
                    env=["MODE=fast"], folder="/tmp")
    assert shown["state"] == "running" and shown["endpoints"] == []
    eventually(lambda: "hello fast /tmp" in lines_of(daemon, "p"), "its output is in the log")
    eventually(lambda: "trouble" in lines_of(daemon, "p"), "its errors too")
    assert "hello fast" not in daemon.log()
    [one] = json.loads(daemon.cli("instances", "p", "--format", "json"))
    assert one["state"] == "running" and one["port"] == 0
    daemon.act("p", "stop")
    assert gone(one["pid"])
    assert daemon.show("p")["state"] == "stopped"


def test_instances_serve_behind_a_proxy(daemon, program):
    shown = program(SERVER, "{port}", name="api", instances=3, port=0, ready="http:/health")
    assert len(set(map(port_of, shown["endpoints"]))) == 3
    [front] = daemon.create("proxy", "front", listen=["http://127.0.0.1:0"],
                            backend=["api"])["endpoints"]
    url = f"http://127.0.0.1:{port_of(front)}/"

    def answer():
        with urllib.request.urlopen(url, timeout=PATIENCE) as got:
            return got.read().decode()

    eventually(lambda: {answer() for _ in range(12)} == {"1", "2", "3"}, "all three answer")
    listed = json.loads(daemon.cli("backends", "front", "--format", "json"))
    assert {each["backend"] for each in listed} == {f"runtime://api#{n}" for n in (1, 2, 3)}
    victim = json.loads(daemon.cli("instances", "api", "--format", "json"))[1]
    os.kill(victim["pid"], signal.SIGKILL)
    eventually(lambda: json.loads(daemon.cli("instances", "api", "--format", "json"))[1]["restarts"]
               == 1, "it is restarted")
    assert daemon.show("api")["state"] == "running"


@pytest.mark.parametrize("text, ready, why", [
    ("import time; time.sleep(1000)", "port", "was not ready (port) within 0.5 s"),
    ("raise SystemExit(7)", "line:hello", "it has ended with exit code 7"),
    ("import os; os.kill(os.getpid(), 9)", "port", "it has ended with signal 9")])
def test_one_that_is_not_ready_does_not_start(daemon, program, text, ready, why):
    with pytest.raises(Refused, match=why.replace("(", r"\(").replace(")", r"\)")):
        program(text, port=free_port(), ready=ready, ready_timeout=0.5)
    assert daemon.names() == []


def test_a_line_says_that_it_is_ready(daemon, program):
    program("import time; print('now listening', flush=True); time.sleep(1000)",
            ready="line:listen")
    assert "now listening" in lines_of(daemon, "p")


def test_one_that_ends_has_failed_or_is_done(daemon, program):
    program("raise SystemExit(3)", name="bad", restart="no")
    eventually(lambda: daemon.show("bad")["state"] == "failed", "it has failed")
    assert "exit code 3" in daemon.show("bad")["reason"]
    program("pass", name="good", restart="on-failure")
    eventually(lambda: daemon.show("good")["state"] == "failed", "it is done")
    program("raise SystemExit(3)", name="again", restart="on-failure", restart_limit=2)
    eventually(lambda: lines_of(daemon, "again").count("started") == 3,
               "it was restarted twice")


def test_what_it_has_started_ends_with_it(daemon, program):
    program("import subprocess, time\nchild = subprocess.Popen(['sleep', '1000'])\n"
            "print('pid', child.pid, flush=True)\ntime.sleep(1000)", ready="line:pid")
    [line] = [each for each in lines_of(daemon, "p") if each.startswith("pid ")]
    daemon.act("p", "stop")
    eventually(lambda: gone(int(line.split()[1])), "it is gone")


def test_one_that_ignores_its_signal_is_killed(daemon, program):
    program("import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "print('deaf', flush=True)\ntime.sleep(1000)", ready="line:deaf", grace=0.5)
    daemon.act("p", "stop")
    assert any("has not ended by SIGTERM in time" in line for line in lines_of(daemon, "p"))


def test_much_output_and_long_lines(daemon, program):
    program("import sys, time\nfor n in range(50000): print('line', n)\n"
            "sys.stdout.write('x' * 100_000 + '\\nthe end\\n'); sys.stdout.flush()\n"
            "time.sleep(1000)",
            ready="line:the end", ready_timeout=30)
    lines = lines_of(daemon, "p")
    assert "the end" in lines[-5:]
    assert [len(each) for each in lines if each.startswith("x")] == 12 * [8192] + [1696]
    daemon.act("p", "stop")


def test_a_signal(daemon, program):
    program("import signal, time\n"
            "signal.signal(signal.SIGUSR1, lambda *_: print('got it', flush=True))\n"
            "print('ready', flush=True)\nwhile True: time.sleep(0.05)", ready="line:ready")
    assert daemon.run("signal", "p", "USR1").returncode == 0
    eventually(lambda: "got it" in lines_of(daemon, "p"), "it has got the signal")
    assert daemon.run("signal", "p", "NONE").returncode != 0


@pytest.mark.parametrize("options, why", [
    ({}, "it has no command"), ({"command": "'a"}, "has no end"),
    ({"command": "a {port}"}, "give --port"), ({"command": "a {height}"}, "none of"),
    ({"command": "a", "env": ["x"]}, "NAME=VALUE"),
    ({"command": "a", "ready": "port"}, "give --port"),
    ({"command": "/no/such/program"}, "/no/such/program"),
    ({"command": "a", "port": 65535, "instances": 2}, "above 65535"),
    ({"command": "true", "folder": "/no/such/folder"}, "enter the folder '/no/such/folder'")])
def test_what_cannot_be_is_refused(daemon, options, why):
    with pytest.raises(Refused, match=why):
        daemon.create("program", "p", **options)
    assert daemon.names() == []


def test_it_ends_with_the_daemon(make_daemon, tmp_path):
    daemon = make_daemon()
    daemon.create("program", "p", command="sleep 1000")
    [one] = json.loads(daemon.cli("instances", "p", "--format", "json"))
    daemon.stop()
    assert gone(one["pid"])
