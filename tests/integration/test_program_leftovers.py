"""What a program leaves behind when it ends: children, ports, zombies; and how its restart policy,
its signal and its shell act."""

import os
import signal
import socket

import pytest

from programs import children_of, gone, instance_of, keeper_of, lines_of, pids_of
from strata_daemon import PATIENCE, Refused, eventually
from talker import free_port

# Leaves a child in a session of its own that holds the port, and ends.
LEAVER = """
import os, socket, sys, time
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen()
os.set_inheritable(listener.fileno(), True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[2], "a") as out: out.write(f"{os.getpid()}\\n")
        time.sleep(1000)
    os._exit(0)
os.wait()
print("serving", os.getpid(), flush=True)
time.sleep(1000)
"""


def numbers(path):
    return [int(each) for each in path.read_text().split()] if path.exists() else []


def test_a_child_that_holds_the_port_ends_with_the_program(daemon, program, tmp_path):
    path = tmp_path / "pids"
    program(LEAVER, "{port}", str(path), port=free_port(), ready="port", restart="always")
    for count in range(1, 4):
        [pid] = pids_of(daemon, "p")
        eventually(lambda count=count: len(numbers(path)) == count, "its child runs")
        os.kill(pid, signal.SIGKILL)
        eventually(lambda pid=pid: instance_of(daemon, "p").get("pid", 0) not in (0, pid)
                   and daemon.show("p")["state"] == "running", "it runs again")
        assert gone(numbers(path)[count - 1])


def test_a_port_of_another_process_does_not_pass_for_the_programs(daemon):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        daemon.create("program", "p", start=False, command="sleep 1000", port=port, ready="port",
                      ready_timeout=0.5)
        with pytest.raises(Refused, match=f"another process listens at port {port}"):
            daemon.act("p", "start")
        assert daemon.logged("p", f"listens at port {port}: waiting until it is free", "warning")
    with pytest.raises(Refused, match=r"was not ready \(port\)"):  # nobody listens now
        daemon.act("p", "start")


def test_it_starts_as_soon_as_the_port_is_free(daemon, program, tmp_path):
    other = socket.create_server(("127.0.0.1", 0))
    port = other.getsockname()[1]
    daemon.create("program", "p", start=False, port=port, ready="port", ready_timeout=PATIENCE,
                  command=f"/usr/bin/python3 -m http.server --bind 127.0.0.1 {port}")
    start = daemon.begin("start", "p")
    eventually(lambda: daemon.logged("p", "waiting until it is free"), "it waits")
    other.close()
    assert start.wait(PATIENCE) == 0
    assert daemon.show("p")["state"] == "running"
    start.stderr.close()


def test_one_that_daemonises_has_ended(daemon, program, tmp_path):
    path = tmp_path / "pids"
    program("import os, sys, time\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            "    if os.fork() == 0:\n"
            "        open(sys.argv[1], 'w').write(str(os.getpid()))\n"
            "        time.sleep(1000)\n"
            "    os._exit(0)\n"
            "os.wait()\n"
            "while not os.path.exists(sys.argv[1]): time.sleep(0.01)", str(path), restart="no")
    eventually(lambda: daemon.show("p")["state"] == "failed", "its work is done")
    assert gone(numbers(path)[0])


def test_zombies_of_orphans_are_reaped_while_it_runs(daemon, program, tmp_path):
    program("import os, time\n"
            "for _ in range(50):\n"
            "    if os.fork() == 0:\n"
            "        if os.fork() == 0:\n"
            "            os.setsid()\n"
            "            time.sleep(0.2)\n"
            "        os._exit(0)\n"
            "    os.wait()\n"
            "print('left', flush=True)\ntime.sleep(1000)", ready="line:left")
    [pid] = pids_of(daemon, "p")
    keeper = keeper_of(pid)
    eventually(lambda: children_of(keeper) == [pid], "all orphans are gone")


def test_always_also_follows_a_good_end(daemon, program):
    program("import time; time.sleep(0.1)", restart="always")
    eventually(lambda: lines_of(daemon, "p").count("the process has ended with exit code 0") >= 3,
               "it has run three times")
    daemon.act("p", "stop")
    assert daemon.show("p")["state"] == "stopped"


@pytest.mark.parametrize("name", ["INT", "QUIT", "HUP", "USR1", "USR2", "TERM"])
def test_the_stop_signal_is_the_one_that_is_named(daemon, program, name):
    # The signal may come while 'ready' is still being printed: print() must not be entered again.
    program("import os, signal, time\n"
            "def end(number, frame):\n"
            "    os.write(1, f'got {signal.Signals(number).name}\\n'.encode())\n"
            "    os._exit(0)\n"
            "for each in ('INT', 'QUIT', 'HUP', 'USR1', 'USR2', 'TERM'):\n"
            "    signal.signal(getattr(signal, 'SIG' + each), end)\n"
            "print('ready', flush=True)\ntime.sleep(1000)",
            stop_signal=name, ready="line:ready", grace=PATIENCE)
    daemon.act("p", "stop")
    eventually(lambda: f"got SIG{name}" in lines_of(daemon, "p"), "it got the signal")


def test_a_shell_runs_the_command_if_asked(daemon):
    daemon.create("program", "p", shell=True, restart="no",
                  command="for each in a b; do echo $each-$STRATA_NAME; done | tr a-z A-Z")
    eventually(lambda: "B-P" in lines_of(daemon, "p"), "the pipe has run")
    assert "A-P" in lines_of(daemon, "p")
    daemon.create("program", "plain", restart="no", command="echo $HOME | cat")
    eventually(lambda: "$HOME | cat" in lines_of(daemon, "plain"), "it has run without one")
