"""Keepers of programs that are killed, attacked, or have ended."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from programs import children_of, gone, instances_of, keeper_files, keeper_of, lines_of, pids_of
from strata_daemon import Refused, eventually

SLEEPER = "import time\ntime.sleep(1000)"


@pytest.mark.parametrize("instances", [1, 2])
def test_a_keeper_that_is_killed_ends_its_program(daemon, program, instances):
    program("import subprocess, time\nchild = subprocess.Popen(['sleep', '1000'])\n"
            "print('pid', child.pid, flush=True)\ntime.sleep(1000)", ready="line:pid",
            restart="no" if instances == 1 else "on-failure", instances=instances)
    pid = pids_of(daemon, "p")[0]
    children = [int(line.split()[-1]) for line in lines_of(daemon, "p") if "pid " in line]
    [child] = [each for each in children if os.getpgid(each) == pid]
    keeper = keeper_of(pid)
    os.kill(keeper, signal.SIGKILL)
    eventually(lambda: gone(pid) and gone(child), "the process and its group are gone")
    if instances == 1:
        eventually(lambda: daemon.show("p")["state"] == "failed", "it has failed")
        assert "signal 9" in daemon.show("p")["reason"]
        assert keeper_files(daemon) == []
    else:
        eventually(lambda: instances_of(daemon, "p")[0]["restarts"] == 1
                   and instances_of(daemon, "p")[0]["state"] == "running", "it is restarted")
    assert daemon.logged("p", f"the keeper of process {pid}, process {keeper}, has ended", "error")
    eventually(lambda: gone(keeper), "it is waited for")


def test_one_whose_keeper_is_killed_ends_without_a_daemon(daemon, program):
    program(SLEEPER)
    [pid] = pids_of(daemon, "p")
    keeper = keeper_of(pid)
    daemon.kill9()
    os.kill(keeper, signal.SIGKILL)
    eventually(lambda: gone(pid), "it has ended")
    daemon.start()
    assert pids_of(daemon, "p")[0] not in (pid, 0)
    assert daemon.show("p")["state"] == "running"


def test_a_keeper_ends_its_program_by_sigterm(daemon, program):
    program(SLEEPER)
    [pid] = pids_of(daemon, "p")
    keeper = keeper_of(pid)
    daemon.kill9()
    os.kill(keeper, signal.SIGTERM)
    eventually(lambda: gone(pid) and gone(keeper), "both have ended")
    assert keeper_files(daemon) == []
    daemon.start()


def test_a_keeper_that_nobody_can_find_ends_its_program(daemon, program):
    program(SLEEPER)
    [pid] = pids_of(daemon, "p")
    keeper = keeper_of(pid)
    (daemon.state_dir / "programs" / "p.1").unlink()
    time.sleep(0.5)
    assert not gone(pid)  # its daemon is connected
    daemon.kill9()
    eventually(lambda: gone(pid) and gone(keeper), "both have ended")
    daemon.start()
    assert daemon.show("p")["state"] == "running"


def test_a_keeper_that_is_stopped_does_not_stop_the_daemon(daemon, program):
    program(SLEEPER, grace=0.5)
    [pid] = pids_of(daemon, "p")
    keeper = keeper_of(pid)
    os.kill(keeper, signal.SIGSTOP)
    daemon.act("p", "stop")
    assert gone(keeper) and daemon.show("p")["state"] == "stopped"
    eventually(lambda: gone(pid), "it has ended")


def test_another_user_gets_nothing(daemon, program, root):
    program(SLEEPER)
    [pid] = pids_of(daemon, "p")
    place = daemon.state_dir / "programs" / "p.1"
    assert os.stat(place.parent).st_mode & 0o777 == 0o700
    text = ("import os, socket, sys\n"
            "caller = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
            "os.chdir(sys.argv[1])\n"
            "os.setgroups([])\nos.setresuid(65534, 65534, 65534)\n"
            "caller.connect('p.1')\n"
            "try: caller.send(b'e')\n"
            "except OSError: pass\n"
            "got = b''\n"
            "try: got = socket.recv_fds(caller, 10000, 10)[0]\n"
            "except OSError: pass\n"
            "print(len(got))")
    command = [sys.executable, "-c", text, str(place.parent)]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert "PermissionError" in refused.stderr
    # Even if somebody opened the folder.
    place.chmod(0o777)
    place.parent.chmod(0o755)
    refused = subprocess.run(command, capture_output=True, text=True)
    place.parent.chmod(0o700)
    assert refused.stdout == "0\n", refused
    time.sleep(0.2)
    assert pids_of(daemon, "p") == [pid]


@pytest.mark.parametrize("kind", ["file", "link", "dead socket", "stream socket"])
def test_garbage_in_place_of_a_socket_is_replaced(daemon, program, tmp_path, kind):
    program(SLEEPER)
    daemon.kill9()
    place = daemon.state_dir / "programs" / "p.1"
    place.rename(place.with_name("elsewhere"))
    (place.with_name("elsewhere")).unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET if kind == "dead socket"
                             else socket.SOCK_STREAM)
    if kind == "file":
        place.write_text("garbage")
    elif kind == "link":
        place.symlink_to("/etc/passwd")
    else:
        listener.bind(str(place))
        if kind == "dead socket":
            listener.close()
        else:
            listener.listen()
    daemon.start()
    assert daemon.show("p")["state"] == "running"
    assert keeper_files(daemon) == ["p.1"]
    listener.close()


def test_a_folder_in_place_of_a_socket_is_refused(daemon, program):
    (daemon.state_dir / "programs" / "p.1" / "x").mkdir(parents=True)
    os.chmod(daemon.state_dir / "programs", 0o700)
    with pytest.raises(Refused, match="'p.1'.*remove what has that name"):
        program(SLEEPER)
    assert daemon.names() == []


def test_a_keeper_that_speaks_otherwise_is_no_danger(daemon, program):
    program(SLEEPER)
    daemon.kill9()
    place = daemon.state_dir / "programs" / "p.1"
    place.unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(place))
        listener.listen()
        daemon.process = daemon.launch()
        caller, _ = listener.accept()
        caller.send(b'{"protocol": 99, "process": "x", "note": [1, 2]}')
        eventually(lambda: daemon.socket.exists() and daemon.show("p")["state"] == "failed",
                   "it is refused")
        assert "another version of strata" in daemon.show("p")["reason"]
        assert caller.recv(10) == b"e"
        caller.close()


def test_many_that_die_at_once_leave_nothing(daemon):
    daemon.create("program", "p", start=False, command="false", restart="no")

    def run():
        daemon.act("p", "start")
        eventually(lambda: daemon.show("p")["state"] == "failed", "it has ended")

    run()
    descriptors = len(os.listdir(f"/proc/{daemon.pid}/fd"))
    for _ in range(200):
        run()
    eventually(lambda: children_of(daemon.pid) == [], "all keepers are waited for")
    eventually(lambda: len(os.listdir(f"/proc/{daemon.pid}/fd")) <= descriptors, "none is left")
    assert keeper_files(daemon) == []


def test_a_long_state_folder_has_room_for_a_socket(make_daemon, tmp_path):
    daemon = make_daemon(state_dir=tmp_path / ("x" * 100) / ("y" * 100))
    name = "n" * 64
    daemon.create("program", name, command="sleep 1000")
    before = pids_of(daemon, name)
    daemon.kill9()
    daemon.start()
    assert pids_of(daemon, name) == before


def test_a_kept_program_is_not_found_as_its_keeper(daemon):
    daemon.create("program", "p", command="sleep 54321")
    [pid] = pids_of(daemon, "p")
    with open(f"/proc/{keeper_of(pid)}/cmdline") as words:
        assert words.read().rstrip("\0") == "strata-keeper p.1"
