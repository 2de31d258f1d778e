"""Programs that are replaced without a gap."""

import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.request

from programs import LISTEN, SERVER, instances_of
from strata_daemon import PATIENCE, eventually
from talker import port_of


def test_a_socket_is_handed_over_and_refuses_nobody(daemon, program):
    shown = program(LISTEN, port=0, keep_socket=True, ready="line:serving")
    port = port_of(shown["endpoints"][0])

    def answer():
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as caller:
            return caller.recv(100)

    first = answer()
    assert int(first) == instances_of(daemon, "p")[0]["pid"]
    answers, errors, over = set(), [], threading.Event()

    def call():
        while not over.is_set():
            try:
                answers.add(answer())
            except OSError as error:
                errors.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    rolled = daemon.run("roll", "p")
    eventually(lambda: len(answers) > 1, "the next process answers")
    over.set()
    caller.join()
    assert rolled.returncode == 0 and errors == []


def test_a_socket_outlives_a_process_that_fails(daemon, program):
    shown = program(LISTEN, port=0, keep_socket=True, ready="line:serving")
    port = port_of(shown["endpoints"][0])
    [before] = instances_of(daemon, "p")
    os.kill(before["pid"], signal.SIGKILL)
    eventually(lambda: instances_of(daemon, "p")[0]["pid"] != before["pid"], "it has ended")
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as caller:
        answer = int(caller.recv(100))
    [after] = instances_of(daemon, "p")
    assert answer == after["pid"] != before["pid"] and after["restarts"] == 1


def test_a_roll_under_load_fails_no_request(daemon, program):
    program(SERVER, "{port}", name="api", instances=3, port=0, ready="http:/health", drain=0.5)
    [front] = daemon.create("proxy", "front", listen=["http://127.0.0.1:0"],
                            backend=["api"])["endpoints"]
    url = f"http://127.0.0.1:{port_of(front)}/"
    before = {each["pid"] for each in instances_of(daemon, "api")}
    answers, errors, over = [], [], threading.Event()

    def ask():
        while not over.is_set():
            try:
                with urllib.request.urlopen(urllib.request.Request(url, b"x", method="GET"),
                                            timeout=PATIENCE) as got:
                    answers.append(got.read())
            except OSError as error:
                errors.append(repr(error))

    load = [threading.Thread(target=ask) for _ in range(4)]
    for each in load:
        each.start()
    rolled = daemon.run("roll", "api")
    over.set()
    for each in load:
        each.join()
    assert rolled.returncode == 0, rolled.stderr
    after = {each["pid"] for each in instances_of(daemon, "api")}
    assert len(after) == 3 and not after & before
    assert errors == [] and len(answers) > 50


def test_a_roll_ends_at_an_instance_that_is_not_ready(daemon, program, tmp_path):
    program(SERVER, "{port}", name="api", instances=3, port=0, ready="http:/health", drain=0,
            restart="no")
    before = instances_of(daemon, "api")
    (tmp_path / "api.py").write_text("raise SystemExit(5)")
    rolled = daemon.run("roll", "api")
    assert rolled.returncode != 0
    assert "replace instance 1" in rolled.stderr and "exit code 5" in rolled.stderr
    assert "behind it run as before" in rolled.stderr
    after = instances_of(daemon, "api")
    assert after[0]["state"] == "ended"
    assert [each["pid"] for each in after[1:]] == [each["pid"] for each in before[1:]]


def test_one_that_is_gone_gets_no_requests(daemon, program):
    program(SERVER, "{port}", name="api", instances=3, port=0, ready="http:/health", restart="no")
    daemon.create("proxy", "front", listen=["http://127.0.0.1:0"], backend=["api"])

    def backends():
        return {each["backend"]
                for each in json.loads(daemon.cli("backends", "front", "--format", "json"))}

    eventually(lambda: len(backends()) == 3, "all three are backends")
    os.kill(instances_of(daemon, "api")[1]["pid"], signal.SIGKILL)
    eventually(lambda: backends() == {"runtime://api#1", "runtime://api#3"},
               "the one that has ended is none")


def test_a_slow_start_holds_up_no_other(daemon, tmp_path):
    script = tmp_path / "slow.py"
    script.write_text("import time; time.sleep(6); print('ready', flush=True); time.sleep(1000)")
    started = threading.Thread(target=lambda: daemon.create(
        "program", "slow", command=f"{sys.executable} {script}", ready="line:ready", port=0,
        ready_timeout=PATIENCE))
    started.start()
    eventually(lambda: daemon.names() == ["slow"], "it starts")
    daemon.create("server", "quick", listen=["tcp://127.0.0.1:0"])
    assert started.is_alive(), "the server did not wait for the program"
    started.join()
