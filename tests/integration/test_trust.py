"""Other users of the machine can do nothing to the daemon, its state and its CLI."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from others import (ATTACKER, MEMBER, SHARED, USER, FalseDaemon, UserDaemon, command_of,
                    copied_binary, run_as, shell_as)
from strata_daemon import BINARY, Daemon, eventually


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def binary(place):
    return copied_binary(place)


@pytest.fixture
def users_daemon(place, binary):
    """Makes daemons that USER owns, and ends each of them."""
    made = []

    def make(*flags, **how):
        made.append(UserDaemon(place, *flags, binary=binary, **how))
        return made[-1].start()

    yield make
    for each in made:
        each.close()


def refusal(daemon):
    """Returns the error of a daemon that does not start."""
    process = daemon.launch()
    eventually(lambda: process.poll() is not None or " ready\n" in daemon.log(), "it decides")
    came_up = process.poll() is None
    if came_up:
        process.kill()
    code = process.wait()
    assert not came_up and code == 1, daemon.log()
    return daemon.log()


# --- the state folder

RECORD = {"version": 1, "name": "pwn", "type": "server", "running": True,
          "created_at": "2026-01-01T00:00:00.000Z", "options": {"listen": ["tcp://127.0.0.1:0"]}}


@pytest.fixture
def victim(tmp_path):
    """Files of root's that no other user may read."""
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "a").write_text("one")
    (tmp_path / "shadow").write_text("secret")

    def is_whole():
        return (folder / "a").read_text() == "one" and (
            (tmp_path / "shadow").read_text() == "secret")

    return tmp_path, is_whole


def test_a_state_folder_that_somebody_else_made_is_refused_and_harms_nothing(place, victim):
    tmp_path, is_whole = victim
    shell_as(ATTACKER, f"""mkdir state state/runtimes; cd state
        ln -s {tmp_path}/shadow lock; ln -s {tmp_path}/precious tmp
        echo '{json.dumps(RECORD)}' > runtimes/pwn.json""", place)
    said = refusal(Daemon(tmp_path / "d", state_dir=place / "state"))
    assert is_whole()
    assert f"'{place}/state'" in said and f"user {ATTACKER}" in said and "--state-dir" in said


def test_a_state_folder_that_is_a_link_is_refused(place, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    shell_as(ATTACKER, f"ln -s {tmp_path}/elsewhere state", place)
    for name in ["state", "state/"]:
        assert "link" in refusal(Daemon(tmp_path / "d", state_dir=f"{place}/{name}"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("wrong", [0o770, 0o707, 0o1777])
def test_a_state_folder_that_others_can_write_is_refused(tmp_path, wrong):
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(wrong)
    said = refusal(Daemon(tmp_path / "d", state_dir=folder))
    assert f"{wrong:04o}" in said and "chmod 700" in said


@pytest.mark.parametrize("name", ["lock", "tmp", "runtimes", "damaged"])
def test_links_in_the_state_folder_are_not_followed(victim, name):
    tmp_path, is_whole = victim
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    (folder / name).symlink_to(tmp_path / ("shadow" if name == "lock" else "precious"))
    assert f"{folder}/{name}'" in refusal(Daemon(tmp_path / "d", state_dir=folder))
    assert is_whole() and list((tmp_path / "precious").iterdir()) == [tmp_path / "precious/a"]


def test_a_state_file_of_somebody_elses_is_set_aside(root, daemon):
    daemon.server("good")
    daemon.stop()
    planted = daemon.state_dir / "runtimes" / "pwn.json"
    planted.write_text(json.dumps(RECORD))
    os.chown(planted, ATTACKER, ATTACKER)
    daemon.start()
    assert daemon.names() == ["good"]
    assert not planted.exists() and f"user {ATTACKER}" in daemon.log()


def test_a_user_without_a_home_folder_is_told_what_to_set(place, binary):
    nowhere = Path(f"/tmp/strata-{USER}")
    assert not nowhere.exists()
    done = run_as(USER, "timeout", "5", binary, "daemon", environment={})
    assert done.returncode == 1
    assert "--state-dir" in done.stderr and "STRATA_STATE_DIR" in done.stderr
    done = run_as(USER, "timeout", "5", binary, "daemon", "--state-dir", place / "s",
                  environment={})
    assert done.returncode == 1
    assert "--socket" in done.stderr and "STRATA_SOCKET" in done.stderr
    done = run_as(USER, binary, "ls", environment={})
    assert done.returncode != 0 and "STRATA_SOCKET" in done.stderr
    assert not nowhere.exists()


def test_a_user_without_variables_has_all_below_the_home_folder(place, binary):
    home = place / "home"
    home.mkdir(mode=0o700)
    os.chown(home, USER, USER)
    environment = {"HOME": str(home)}
    with open(place / "log", "wb") as log:
        process = subprocess.Popen(command_of(USER, binary, "daemon"), env=environment, stderr=log)
    socket = home / ".local/state/strata/run/strata.sock"
    try:
        eventually(lambda: b" ready\n" in (place / "log").read_bytes(), "it is ready")
        assert run_as(USER, binary, "ls", "-q", environment=environment).returncode == 0
        assert mode(socket) == 0o600
        assert mode(socket.parent) == 0o700 and mode(socket.parent.parent) == 0o700
    finally:
        process.terminate()
        process.wait()


# --- who may connect to the control socket

def curl(uid, daemon, **who):
    """Returns the HTTP status; 000 if there is no answer."""
    return run_as(uid, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket",
                  daemon.socket, "http://s/v1/runtimes", **who).stdout


def test_those_who_share_the_users_group_are_strangers(users_daemon):
    daemon = users_daemon(gid=SHARED)
    assert mode(daemon.socket) == 0o600
    assert curl(USER, daemon) == "200"
    assert curl(ATTACKER, daemon, gid=SHARED) == "000"
    # The mode keeps other users out; if it is changed, the daemon refuses them.
    daemon.socket.chmod(0o666)
    assert curl(ATTACKER, daemon, gid=SHARED) == "000"
    assert curl(ATTACKER, daemon, groups=[SHARED]) == "000"
    assert curl(USER, daemon) == "200"


def test_a_group_that_was_named_may_control_the_daemon_and_no_other(place, binary, make_daemon):
    folder = place / "run"
    daemon = Daemon(place / "d", "--socket-group", str(SHARED))
    daemon.socket = folder / "control.sock"
    daemon.start()
    try:
        assert mode(folder) == 0o755 and os.stat(folder).st_gid == SHARED
        assert mode(daemon.socket) == 0o660 and os.stat(daemon.socket).st_gid == SHARED
        assert curl(MEMBER, daemon, groups=[SHARED]) == "200"
        assert curl(MEMBER, daemon, gid=SHARED) == "200"
        assert curl(ATTACKER, daemon) == "000"
        daemon.server("s")
        member = run_as(MEMBER, binary, "stop", "s", environment=daemon.environment,
                        groups=[SHARED])
        assert member.returncode == 0, member
        stranger = run_as(ATTACKER, binary, "ls", environment=daemon.environment)
        assert stranger.returncode == 4 and "--socket-group" in stranger.stderr
    finally:
        daemon.close()


def test_a_group_that_there_is_not_is_refused(tmp_path):
    assert "no-such-group" in refusal(Daemon(tmp_path, "--socket-group", "no-such-group"))


def test_the_sockets_folder_is_made_for_its_user_alone(tmp_path):
    daemon = Daemon(tmp_path / "d")
    daemon.socket = tmp_path / "run" / "control.sock"
    daemon.start()
    try:
        assert mode(tmp_path / "run") == 0o700
    finally:
        daemon.close()


@pytest.mark.parametrize("how", ["chmod 777 run", f"chown {ATTACKER} run"])
def test_a_sockets_folder_in_which_others_may_replace_it_is_refused(place, how):
    folder = place / "run"
    folder.mkdir()
    subprocess.run(["sh", "-c", how], cwd=place, check=True)
    daemon = Daemon(place / "d")
    daemon.socket = folder / "control.sock"
    assert f"'{folder}'" in refusal(daemon)
    done = run_as(0, BINARY, "doctor", environment=daemon.environment)
    assert done.returncode == 1 and "socket folder" in done.stdout


# --- whom the CLI talks to

@pytest.mark.parametrize("uid", [0, USER])
def test_the_cli_tells_no_secret_to_somebody_else(place, binary, uid):
    with FalseDaemon(place / "strata.sock") as false:
        done = run_as(uid, binary, "create", "server", "m", "-p", "0", "--mode", "master",
                      "--master-pw", "hunter2", environment={"STRATA_SOCKET":
                                                              str(place / "strata.sock")})
        assert "hunter2" not in false.heard()
        assert done.returncode == 4
        assert f"user {ATTACKER}" in done.stderr and "--socket" in done.stderr


def test_the_cli_wants_a_folder_in_which_nobody_else_can_put_a_socket(daemon):
    daemon.folder.chmod(0o777)
    done = daemon.run("ls")
    assert done.returncode == 4 and f"'{daemon.folder}'" in done.stderr
    daemon.folder.chmod(0o1777)
    assert daemon.run("ls").returncode == 0


# --- sockets' files

def test_only_the_own_socket_is_removed(daemon, tmp_path):
    path = tmp_path / "s.sock"
    daemon.server("s", listen=[f"unix://{path}"])
    path.rename(tmp_path / "moved")
    path.write_text("another's")
    daemon.act("s", "stop")
    assert path.read_text() == "another's"
    path.unlink()
    daemon.act("s", "start")
    daemon.act("s", "stop")
    assert not path.exists()


def test_only_the_own_control_socket_is_removed(make_daemon, tmp_path):
    first = make_daemon()
    first.socket.rename(tmp_path / "moved")
    second = Daemon(tmp_path / "second")
    second.socket = first.socket
    second.start()
    os.kill(first.pid, 15)
    assert first.process.wait(30) == 0
    first.process = None
    assert second.names() == []
    second.close()
