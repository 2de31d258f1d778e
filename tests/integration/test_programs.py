"""Programs that the daemon runs: their start, output, restarts and end."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from programs import SERVER, gone, instances_of, lines_of
from strata_daemon import BINARY, PATIENCE, Refused, eventually
from talker import Talker, free_port, port_of


def test_a_program_runs_and_ends(daemon, program):
    shown = program("import time, os, sys\n"
                    "print('hello', os.environ['MODE'], os.getcwd(), flush=True)\n"
                    "print('trouble', file=sys.stderr, flush=True)\ntime.sleep(1000)",
                    env=["MODE=fast"], folder="/tmp")
    assert shown["state"] == "running" and shown["endpoints"] == []
    eventually(lambda: "hello fast /tmp" in lines_of(daemon, "p"), "its output is in the log")
    eventually(lambda: "trouble" in lines_of(daemon, "p"), "its errors too")
    assert "hello fast" not in daemon.log()
    [one] = instances_of(daemon, "p")
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
    victim = instances_of(daemon, "api")[1]
    os.kill(victim["pid"], signal.SIGKILL)
    eventually(lambda: instances_of(daemon, "api")[1]["restarts"]
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
    # By write(2): the signal may come while the program prints that it is ready.
    program("import os, signal, time\n"
            "signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b'got it\\n'))\n"
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
    [one] = instances_of(daemon, "p")
    daemon.stop()
    assert gone(one["pid"])


def test_it_runs_as_a_user_with_limits(daemon, program, tmp_path):
    tmp_path.chmod(0o755)
    for folder in list(tmp_path.parents)[:3]:
        folder.chmod(0o755)
    program("import os, resource, time\n"
            "print(os.getuid(), os.getgid(), os.environ['USER'], os.environ['HOME'],\n"
            "      resource.getrlimit(resource.RLIMIT_NOFILE),\n"
            "      resource.getrlimit(resource.RLIMIT_CORE), flush=True)\ntime.sleep(1000)",
            user="nobody", limit=["nofile=100:200", "core=0"])
    eventually(lambda: "65534 65534 nobody /nonexistent (100, 200) (0, 0)"
               in lines_of(daemon, "p"), "it has the user and the limits")


def test_a_daemons_own_service_manager_is_not_a_programs(make_daemon, tmp_path):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "manager"))
    daemon = make_daemon(variables={"NOTIFY_SOCKET": str(tmp_path / "manager"),
                                    "WATCHDOG_USEC": "10000000"})
    daemon.create("program", "p", command="sh -c 'env; echo end; sleep 1000'", ready="line:end",
                  env=["MODE=one", "MODE=two"])
    lines = lines_of(daemon, "p")
    assert "MODE=two" in lines and "MODE=one" not in lines
    assert not [each for each in lines if each.startswith(("NOTIFY_", "WATCHDOG_"))]


def test_a_signal_reaches_several_programs(daemon, program):
    text = ("import signal, time\n"
            "for each in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):\n"
            "    signal.signal(each, lambda number, frame: print(f'got {number}', flush=True))\n"
            "print('ready', flush=True)\nwhile True: time.sleep(1000)")
    for name, labels in (("a1", ["tier=web"]), ("a2", ["tier=db"]), ("b", ["tier=web"])):
        program(text, name=name, label=labels, ready="line:ready")

    def reached(number):
        return [name for name in ("a1", "a2", "b") if f"got {number}" in lines_of(daemon, name)]

    for words, number, expected in (
            (["-l", "tier=web", "HUP"], signal.SIGHUP, ["a1", "b"]),
            (["a*", "USR1"], signal.SIGUSR1, ["a1", "a2"]),
            (["a2", "b", "USR2"], signal.SIGUSR2, ["a2", "b"])):
        daemon.cli("signal", *words)
        eventually(lambda number=number, expected=expected:
                   reached(int(number)) == expected, f"{words} reaches {expected}")
    refused = daemon.run("signal", "HUP")
    assert refused.returncode != 0 and "an argument is missing" in refused.stderr


def test_one_that_dies_at_once_is_restarted_with_pauses(daemon, program):
    program("import os, time\nif os.environ['STRATA_INSTANCE'] == '2': raise SystemExit(1)\n"
            "time.sleep(1000)", instances=2, restart_limit=3)

    def is_given_up():
        second = instances_of(daemon, "p")[1]
        return second["state"] == "ended" and second["restarts"] == 3

    eventually(is_given_up, "it is given up")
    assert daemon.show("p")["state"] == "running"


@pytest.mark.parametrize("options", [{"instances": 3}, {"keep_socket": True, "port": 0}])
@pytest.mark.parametrize("code, restart", [(1, "on-failure"), (1, "always"), (0, "always")])
def test_a_program_that_restarts_its_instances_is_not_restarted_besides(daemon, program, options,
                                                                        code, restart):
    program(f"raise SystemExit({code})", restart=restart, restart_limit=1, **options)
    eventually(lambda: daemon.show("p")["state"] == "failed", "it is given up")
    assert daemon.show("p")["next_start_in_s"] is None
    starts = [each for each in lines_of(daemon, "p") if re.search(r"process \d+ started$", each)]
    assert len(starts) == 2 * options.get("instances", 1)
    assert daemon.act("p", "start")["state"] == "running"


def test_one_that_leaves_its_session_does_not_hold_up_its_end(daemon, program):
    program("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n"
            "print('left', flush=True)\ntime.sleep(1000)", ready="line:left", grace=1000)
    daemon.act("p", "stop")
    assert daemon.show("p")["state"] == "stopped"


def test_a_line_without_an_end_takes_no_memory(daemon, program):
    program("import sys\npiece = 'x' * (1 << 20)\nfor _ in range(100): sys.stdout.write(piece)\n"
            "print('\\nthe end', flush=True)\nimport time; time.sleep(1000)",
            ready="line:the end", ready_timeout=PATIENCE)
    assert daemon.resident_mib() < 400


def test_a_script_changes_no_program(daemon, program, tmp_path):
    program("import time; time.sleep(1000)")
    script = tmp_path / "s.lua"
    script.write_text("function on_message(text, id)\n"
                      "  local key, value = text:match('(%w+) (.*)')\n"
                      "  local change = {[key] = value ~= '' and value or true}\n"
                      "  local good, why = strata.edit('p', change)\n"
                      "  self.send(id, good and 'done' or why)\nend\n")
    [place] = daemon.create("server", "s", listen=["tcp://127.0.0.1:0"],
                            lua=str(script))["endpoints"]
    with Talker(place) as talker:
        for change in ("command true", "folder /tmp", "user root", "shell "):
            talker.say(change.encode())
            assert b"may not run programs" in talker.hear(), change


def test_a_program_is_added_from_its_folder(daemon, tmp_path):
    script = tmp_path / "my server"
    script.write_text("#!/bin/sh\npwd\necho \"$2\" \"$#\"\nexec sleep 1000\n")
    script.chmod(0o755)
    added = subprocess.run([BINARY, "add", "-s", "--name", "mine", "--",
                            "./my server", "{port}", "it's a \\ \"b\"", ""],
                           cwd=tmp_path, env=daemon.environment, capture_output=True, text=True,
                           check=False)
    assert added.returncode == 0, added.stderr
    eventually(lambda: str(tmp_path) in lines_of(daemon, "mine"), "its folder is the caller's")
    assert "it's a \\ \"b\" 3" in lines_of(daemon, "mine")
