"""Programs that outlive a daemon, and are adopted by the next one."""

import http.client
import json
import socket
import threading
import time
import urllib.request

import pytest

from programs import (LISTEN, NOTIFY, SERVER, edit_record, gone, instance_of, instances_of,
                      keeper_files, keeper_of, lines_of, pids_of)
from strata_daemon import PATIENCE, eventually
from talker import port_of

SLEEPER = "import time\ntime.sleep(1000)"
# Counts until it is told to end, by a file of that name.
COUNTER = """
import os, sys, time
n = 0
while not os.path.exists(sys.argv[1]):
    print('line', n, flush=True)
    n += 1
    time.sleep(0.02)
raise SystemExit(int(open(sys.argv[1]).read()))
"""


def wait_adopted(daemon, name, pid):
    assert pids_of(daemon, name) == [pid]
    assert f"process {pid} adopted" in lines_of(daemon, name)


def numbers_in(daemon, name):
    return [int(line.split()[1]) for line in lines_of(daemon, name) if line.startswith("line ")]


def test_instances_serve_on_through_a_crash(daemon, program):
    program(SERVER, "{port}", name="api", instances=3, port=0, ready="http:/health")
    [front] = daemon.create("proxy", "front", listen=["http://127.0.0.1:0"],
                            backend=["api"])["endpoints"]
    port = port_of(front)
    daemon.edit("front", listen=[f"http://127.0.0.1:{port}"])
    before = instances_of(daemon, "api")
    endpoints = daemon.show("api")["endpoints"]
    answers, over = [], threading.Event()

    def ask():
        while not over.is_set():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE) as got:
                    answers.append(got.read())
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)  # no daemon listens

    load = [threading.Thread(target=ask) for _ in range(4)]
    for each in load:
        each.start()
    eventually(lambda: len(answers) > 50, "they serve")
    daemon.kill9()
    assert not any(gone(each["pid"]) for each in before)
    with urllib.request.urlopen(f"http://127.0.0.1:{before[0]['port']}/", timeout=PATIENCE) as got:
        assert got.read() == b"1"
    time.sleep(1.5)
    daemon.start()
    after = instances_of(daemon, "api")
    count = len(answers)
    eventually(lambda: len(answers) > count + 50, "they serve again")
    over.set()
    for each in load:
        each.join()
    assert [each["pid"] for each in after] == [each["pid"] for each in before]
    assert [each["port"] for each in after] == [each["port"] for each in before]
    assert all(each["state"] == "running" and each["restarts"] == 0 for each in after)
    assert all(new["uptime_s"] > old["uptime_s"] + 1 for new, old in zip(after, before))
    assert daemon.show("api")["endpoints"] == endpoints
    assert set(answers[count:]) == {b"1", b"2", b"3"}
    pid = after[0]["pid"]
    daemon.act("api", "stop")
    assert all(gone(each["pid"]) for each in after) and keeper_files(daemon) == []
    assert gone(pid)


def test_output_and_exit_code_are_kept(daemon, program, tmp_path):
    sign = tmp_path / "sign"
    program(COUNTER, str(sign), restart="no")
    [pid] = pids_of(daemon, "p")
    eventually(lambda: numbers_in(daemon, "p"), "it counts")
    daemon.kill9()
    time.sleep(0.3)
    whole = tmp_path / "whole"  # the program must not read it while it is empty
    whole.write_text("7")
    whole.rename(sign)
    eventually(lambda: gone(pid), "it has ended")
    daemon.start()
    eventually(lambda: daemon.show("p")["state"] == "failed", "its end is known")
    assert "exit code 7" in daemon.show("p")["reason"]
    numbers = numbers_in(daemon, "p")
    assert len(numbers) > 5 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert keeper_files(daemon) == []


@pytest.mark.parametrize("instances", [1, 2])
def test_one_that_has_ended_meanwhile_is_restarted(daemon, program, tmp_path, instances):
    sign = tmp_path / "sign1"
    program(COUNTER, str(tmp_path / "sign{instance}"), restart="on-failure", instances=instances)
    before = pids_of(daemon, "p")
    daemon.kill9()
    sign.write_text("7")
    eventually(lambda: gone(before[0]), "it has ended")
    sign.unlink()
    daemon.start()

    def runs_again():
        first = instance_of(daemon, "p")
        return first.get("state") == "running" and first["pid"] != before[0]

    eventually(runs_again, "it runs again")
    assert "the process has ended with exit code 7" in daemon.log()
    assert pids_of(daemon, "p")[1:] == before[1:]


def test_one_that_leaves_a_process_behind_ends(daemon, program, tmp_path):
    sign = tmp_path / "sign"
    program("import os, sys, time\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            "    if os.fork() == 0:\n"
            "        print('stray', os.getpid(), flush=True)\n"
            "        time.sleep(1000)\n"
            "    os._exit(0)\n"
            "while not os.path.exists(sys.argv[1]): time.sleep(0.02)\n"
            "raise SystemExit(3)", str(sign), ready="line:stray", restart="no")
    [pid] = pids_of(daemon, "p")
    keeper = keeper_of(pid)
    [stray] = [int(line.split()[1]) for line in lines_of(daemon, "p") if line.startswith("stray")]
    daemon.kill9()
    sign.touch()
    eventually(lambda: gone(stray), "what has left its group has ended too")
    assert not gone(keeper)
    daemon.start()
    eventually(lambda: daemon.show("p")["state"] == "failed", "its end is known")
    assert "exit code 3" in daemon.show("p")["reason"]
    eventually(lambda: gone(keeper), "the keeper has ended")


def test_one_that_ignores_its_signal_is_killed_after_adoption(daemon, program):
    program("import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "print('deaf', flush=True)\ntime.sleep(1000)", ready="line:deaf", grace=0.5)
    [pid] = pids_of(daemon, "p")
    daemon.kill9()
    daemon.start()
    wait_adopted(daemon, "p", pid)
    daemon.act("p", "stop")
    assert gone(pid) and daemon.show("p")["state"] == "stopped"
    assert any("has not ended by SIGTERM in time" in line for line in lines_of(daemon, "p"))


def test_much_output_waits_for_the_next_daemon(daemon, program, tmp_path):
    sign = tmp_path / "sign"
    program("import os, sys, time\n"
            "while not os.path.exists(sys.argv[1]): time.sleep(0.02)\n"
            "for n in range(10 * 1024): sys.stdout.write('x' * 1015 + f' {n:07d}\\n')\n"
            "sys.stdout.write('y' * 100_000)\nsys.stdout.flush()\n"
            "print('\\nthe end', flush=True)\ntime.sleep(1000)", str(sign))
    [pid] = pids_of(daemon, "p")
    daemon.kill9()
    sign.touch()
    time.sleep(1)
    assert not gone(pid)
    daemon.start()
    eventually(lambda: "the end" in lines_of(daemon, "p"), "all of it has come")
    assert pids_of(daemon, "p") == [pid]
    lines = lines_of(daemon, "p")
    assert [len(each) for each in lines if each.startswith("y")] == 12 * [8192] + [1696]
    numbers = [int(each[-7:]) for each in lines if each.startswith("xxx")]
    assert numbers == list(range(numbers[0], 10 * 1024))


def test_notifications_arrive_after_adoption(daemon, program, tmp_path):
    sign = tmp_path / "sign"
    program(NOTIFY + "import sys\ntell('READY=1\\nSTATUS=first')\n"
            "while not os.path.exists(sys.argv[1]): time.sleep(0.02)\n"
            "tell('STATUS=second')\n"
            "while True: tell('WATCHDOG=1'); time.sleep(0.1)", str(sign), ready="notify",
            alive="notify", alive_interval=1, alive_limit=3)
    [pid] = pids_of(daemon, "p")
    # Without a sign of life it would be killed.
    daemon.kill9()
    sign.touch()
    time.sleep(0.5)
    daemon.start()
    eventually(lambda: instances_of(daemon, "p")[0]["status"] == "second", "its status has come")
    wait_adopted(daemon, "p", pid)
    time.sleep(4)
    assert pids_of(daemon, "p") == [pid] and daemon.show("p")["state"] == "running"


def test_one_that_was_not_ready_is_awaited(daemon, tmp_path):
    sign = tmp_path / "sign"
    script = f"echo up; while ! [ -e {sign} ]; do sleep 0.05; done; echo ready; exec sleep 1000"
    daemon.create("program", "p", start=False, command=f"sh -c '{script}'", ready="line:ready",
                  ready_timeout=PATIENCE)
    starting = threading.Thread(target=lambda: daemon.run("start", "p"))
    starting.start()
    eventually(lambda: "up" in lines_of(daemon, "p"), "it starts")
    daemon.kill9()
    starting.join()
    daemon.process = daemon.launch()
    time.sleep(1)
    sign.touch()
    eventually(lambda: daemon.socket.exists() and daemon.show("p")["state"] == "running",
               "it is ready")
    assert any(line.endswith("adopted") for line in lines_of(daemon, "p"))


def test_a_socket_refuses_nobody_through_a_crash(daemon, program):
    shown = program(LISTEN, port=0, keep_socket=True, ready="line:serving")
    port = port_of(shown["endpoints"][0])
    [pid] = pids_of(daemon, "p")
    answers, errors, over = [], [], threading.Event()

    def call():
        while not over.is_set():
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as caller:
                    answers.append(int(caller.recv(100) or 0))
            except OSError as error:
                errors.append(repr(error))

    caller = threading.Thread(target=call)
    caller.start()
    eventually(lambda: len(answers) > 10, "it answers")
    daemon.kill9()
    time.sleep(0.5)
    daemon.start()
    wait_adopted(daemon, "p", pid)
    assert port_of(daemon.show("p")["endpoints"][0]) == port
    assert set(answers) == {pid}
    # The next process gets the same socket from the daemon that has adopted it. The end of the
    # present one may cost the connection that it serves (0).
    rolled = daemon.run("roll", "p")
    eventually(lambda: answers[-1] not in (0, pid), "the next process answers")
    over.set()
    caller.join()
    assert rolled.returncode == 0, rolled.stderr
    assert errors == [] and set(answers) - {0} == {pid, pids_of(daemon, "p")[0]}


def test_another_command_replaces_the_process(daemon, program):
    program(SLEEPER, instances=2)
    before = pids_of(daemon, "p")
    daemon.kill9()
    edit_record(daemon, "p", command="sleep 2000")
    daemon.start()
    after = pids_of(daemon, "p")
    assert all(map(gone, before)) and not set(before) & set(after)
    for each in after:
        with open(f"/proc/{each}/cmdline") as words:
            assert words.read() == "sleep\0" "2000\0"
    assert daemon.show("p")["state"] == "running"


@pytest.mark.parametrize("grace", [10, 0.3])
def test_what_is_not_to_run_any_more_ends(daemon, program, tmp_path, grace):
    ignores = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if grace < 1 else ""
    for name, instances in [("removed", 1), ("fewer", 3), ("stopped", 1), ("stays", 1)]:
        program(ignores + SLEEPER + "\n", name=name, instances=instances, grace=grace)
    removed, fewer, stopped, stays = (pids_of(daemon, name)
                                      for name in ("removed", "fewer", "stopped", "stays"))
    daemon.kill9()
    records = daemon.state_dir / "runtimes"
    (records / "removed.json").unlink()
    path = records / "stopped.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"running": False}))
    edit_record(daemon, "fewer", instances=2)
    daemon.start()
    eventually(lambda: all(map(gone, removed + fewer[2:] + stopped)), "they have ended")
    assert pids_of(daemon, "fewer") == fewer[:2] and pids_of(daemon, "stays") == stays
    eventually(lambda: keeper_files(daemon) == ["fewer.1", "fewer.2", "stays.1"],
               "their keepers have ended")
    assert "'removed.1' of an earlier daemon is not to run any more" in daemon.log()
