"""The state on disk: it survives kills, damage and full disks, and no other user can read it."""

import contextlib
import http.client
import json
import os
import random
import stat
import subprocess
import threading
import time

import pytest

from strata_daemon import Refused, eventually
from talker import Talker, free_port

pytestmark = pytest.mark.once


def file_of(daemon, name):
    return daemon.state_dir / "runtimes" / f"{name}.json"


def states(daemon):
    return {each["name"]: each["state"] for each in daemon.ask("GET", "/v1/runtimes")}


class Diary:
    """Makes random operations one by one, and knows which were acknowledged."""

    def __init__(self, daemon, chance):
        self.daemon = daemon
        self.chance = chance
        self.known = {}  # name -> [group, running]
        self.doubtful = None  # the name in an unanswered operation
        self.acknowledged = 0

    def work(self):
        """Runs until the daemon no longer answers."""
        with contextlib.suppress(OSError, http.client.HTTPException, AttributeError):
            while True:
                self.step()
                self.acknowledged += 1
                self.doubtful = None

    def step(self):
        running = [name for name, (_, runs) in self.known.items() if runs]
        idle = [name for name, (_, runs) in self.known.items() if not runs]
        action = self.chance.choice(["create", "edit", "edit", "start", "stop", "remove"])
        if action == "create" or not (running and idle):
            name = f"s{self.chance.randrange(10**9)}"
            start = self.chance.random() < 0.5
            self.doubtful = name
            self.daemon.create("server", name, start=start, port=0)
            self.known[name] = ["", start]
        elif action == "edit":
            name = self.doubtful = self.chance.choice(running + idle)
            group = f"g{self.chance.randrange(10**9)}"
            self.daemon.edit(name, group=group)
            self.known[name][0] = group
        elif action == "remove":
            name = self.doubtful = self.chance.choice(running + idle)
            self.daemon.remove(name)
            del self.known[name]
        else:
            name = self.doubtful = self.chance.choice(idle if action == "start" else running)
            self.daemon.act(name, action)
            self.known[name][1] = action == "start"

    def compare(self):
        """Checks that acknowledged changes are there; others may be, and are known from then on."""
        found = {each["name"]: [each["group"], each["state"] == "running"]
                 for each in self.daemon.ask("GET", "/v1/runtimes")}
        doubtful = found.pop(self.doubtful, None)
        self.known.pop(self.doubtful, None)
        assert found == self.known
        if doubtful:
            self.known[self.doubtful] = doubtful
        self.doubtful = None


def test_all_that_was_acknowledged_is_there_after_each_kill(daemon):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    diary = Diary(daemon, random.Random(seed))
    while diary.acknowledged < 200:
        working = threading.Thread(target=diary.work)
        working.start()
        time.sleep(diary.chance.random() * 0.05)
        daemon.kill9()
        working.join()
        daemon.start()
        diary.compare()
    assert list((daemon.state_dir / "damaged").iterdir()) == []


def test_what_ran_runs_again_and_what_did_not_does_not(daemon):
    daemon.server("running")
    daemon.server("stopped")
    daemon.act("stopped", "stop")
    daemon.create("server", "created", start=False, port=0)
    daemon.server("twice")
    daemon.act("twice", "stop")
    daemon.act("twice", "start")
    before = {name: daemon.show(name) for name in daemon.names()}
    daemon.restart()
    assert states(daemon) == {"running": "running", "stopped": "created", "created": "created",
                              "twice": "running"}
    for name, shown in before.items():
        after = daemon.show(name)
        assert (after["options"], after["created_at"]) == (shown["options"], shown["created_at"])


def test_what_cannot_start_again_is_tried_again_by_the_next_daemon(daemon):
    port = free_port()
    daemon.server("s", listen=[f"tcp://127.0.0.1:{port}"])
    daemon.stop()
    with Occupied(port):
        daemon.start()
        assert daemon.show("s")["state"] == "failed" and str(port) in daemon.show("s")["reason"]
        daemon.stop()
    daemon.start()
    assert daemon.show("s")["state"] == "running"


class Occupied:
    """Another process that holds a port."""

    def __init__(self, port):
        self.process = subprocess.Popen(["nc", "-l", "127.0.0.1", str(port)],
                                        stdin=subprocess.DEVNULL)
        eventually(lambda: self.listens(port), "nc listens")

    @staticmethod
    def listens(port):
        with open("/proc/net/tcp") as table:
            return f"0100007F:{port:04X} 00000000:0000 0A" in table.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


DAMAGE = {
    "cut": lambda text: text[:len(text) // 2],
    "empty": lambda text: "",
    "garbage": lambda text: "\x00\xffnot json",
    "wrong-name": lambda text: text.replace('"name": "wrong-name"', '"name": "other"'),
    "list": lambda text: "[]",
    "wrong-types": lambda text: text.replace('"running":  true', '"running": "yes"'),
    "no-options": lambda text: text.replace('"options"', '"opinions"'),
    "deep": lambda text: "[" * 100_000,
}


def test_damaged_files_are_set_aside_and_named_and_the_others_start(daemon):
    for name in ["good", *DAMAGE]:
        daemon.server(name)
    daemon.stop()
    for name, damage in DAMAGE.items():
        before = file_of(daemon, name).read_text()
        file_of(daemon, name).write_text(damage(before))
        assert file_of(daemon, name).read_text() != before
    daemon.start()
    assert states(daemon) == {"good": "running"}
    aside = [path.name for path in (daemon.state_dir / "damaged").iterdir()]
    for name in DAMAGE:
        assert f"runtimes/{name}.json'" in daemon.log()
        assert sum(each.startswith(f"{name}.json.") for each in aside) == 1
        assert not file_of(daemon, name).exists()
    assert len(aside) == len(DAMAGE)
    daemon.server("cut")  # the name is free again


def test_files_that_this_build_does_not_understand_stay(daemon):
    names = ["typed", "optioned", "newer"]
    for name in names:
        daemon.server(name)
    daemon.stop()
    typed, optioned, newer = (file_of(daemon, name) for name in names)
    typed.write_text(typed.read_text().replace('"server"', '"teapot"'))
    optioned.write_text(optioned.read_text().replace('"drain"', '"boil"'))
    newer.write_text('{"version": 99, "name": "newer", "what": "nobody here knows"}')
    before = [file.read_text() for file in (typed, optioned, newer)]
    daemon.start()
    assert states(daemon) == dict.fromkeys(sorted(names), "failed")
    assert "teapot" in daemon.log() and "boil" in daemon.log()
    assert "version 99, but this strata supports version 1" in daemon.log()
    for name in names:
        with pytest.raises(Refused, match="could not be restored") as refused:
            daemon.server(name)
        assert f"strata rm {name}" in refused.value.remedy
    assert [file.read_text() for file in (typed, optioned, newer)] == before


def test_strange_things_in_the_state_folder_harm_nothing(daemon):
    daemon.server("good")
    daemon.stop()
    runtimes = daemon.state_dir / "runtimes"
    (runtimes / "folder.json").mkdir()
    (runtimes / "dangling.json").symlink_to("/nowhere")
    (runtimes / "note.txt").write_text("hello")
    (runtimes / ".json").write_text("{}")
    (daemon.state_dir / "tmp" / "left.json").write_text("half")
    daemon.start()
    assert states(daemon) == {"good": "running"}
    assert (runtimes / "note.txt").exists()
    assert not (daemon.state_dir / "tmp" / "left.json").exists()


def test_a_second_daemon_on_the_same_state_is_refused_with_the_first_ones_pid(daemon, tmp_path):
    daemon.server("s")
    done = daemon.run("daemon", "--state-dir", daemon.state_dir, "--socket", tmp_path / "other")
    assert done.returncode == 1
    assert str(daemon.pid) in done.stderr and str(daemon.state_dir) in done.stderr
    assert daemon.show("s")["state"] == "running"


def test_a_second_daemon_on_the_same_socket_is_refused(daemon, tmp_path):
    done = daemon.run("daemon", "--state-dir", tmp_path / "other", "--socket", daemon.socket)
    assert done.returncode == 1 and str(daemon.socket) in done.stderr
    assert daemon.names() == []


def test_a_stale_control_socket_is_recognised(daemon):
    daemon.kill9()
    assert daemon.socket.exists()
    done = daemon.run("ls")
    assert done.returncode == 4 and "stale" in done.stderr
    daemon.start()
    assert daemon.names() == []


def test_a_file_where_the_control_socket_should_be_is_not_touched(daemon):
    daemon.stop()
    daemon.socket.write_text("precious")
    done = daemon.run("daemon", "--state-dir", daemon.state_dir, "--socket", daemon.socket)
    assert done.returncode == 1 and "not a socket" in done.stderr
    assert daemon.socket.read_text() == "precious"
    daemon.socket.unlink()


def test_only_the_owner_reads_the_state(daemon):
    daemon.server("s", mode="master", master_pw="secret")
    daemon.edit("s", group="blue")

    def mode(path):
        return stat.S_IMODE(os.stat(path).st_mode)

    assert mode(daemon.state_dir) == 0o700
    assert mode(file_of(daemon, "s")) == 0o600
    assert mode(daemon.state_dir / "lock") == 0o600
    assert mode(daemon.socket) == 0o600


def test_secrets_are_shown_to_nobody_and_kept(daemon):
    [url] = daemon.server("s", mode="master", master_pw="s3cret")
    daemon.edit("s", listen=[url], master_pw="s3cret2")
    shown = [daemon.cli("show", "s"), daemon.cli("show", "s", "--format", "json"),
             daemon.cli("ls", "--format", "json"), daemon.cli("events"), daemon.cli("logs", "s"),
             daemon.exchange("GET", "/metrics")[1].decode(), daemon.log()]
    assert not any("s3cret" in text for text in shown)
    assert daemon.show("s")["options"]["master_pw"] == "********"
    with pytest.raises(Refused) as refused:
        daemon.edit("s", master_pw=["s3cret3"])
    assert "s3cret3" not in str(refused.value)
    assert json.loads(file_of(daemon, "s").read_text())["options"]["master_pw"] == "s3cret2"
    daemon.restart()
    daemon.act("s", "restart")
    with Talker(url) as ann:
        ann.say(b"master s3cret2")
        assert ann.hear() == b"master: ok"


@pytest.fixture
def tight(root, make_daemon, tmp_path):
    """A daemon whose state folder is a file system of 64 KiB."""
    folder = tmp_path / "tight"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", folder], check=True)
    daemon = make_daemon(state_dir=folder)
    yield daemon
    daemon.stop()
    subprocess.run(["umount", "-l", folder], check=True)


def fill(daemon):
    """Creates runtimes until there is no room; returns those that were acknowledged."""
    made = []
    with pytest.raises(Refused) as refused:
        for number in range(100):
            daemon.create("server", f"s{number:02}", start=False, port=0)
            made.append(f"s{number:02}")
    assert (refused.value.status, refused.value.code) == (507, "no_space")
    assert "free some space" in refused.value.message
    return made


def test_a_full_disk_makes_create_fail_and_leaves_nothing_half(tight):
    made = fill(tight)
    assert len(made) > 2 and tight.names() == made
    done = tight.run("create", "server", "more", "-p", "0")
    assert done.returncode == 1 and "space" in done.stderr
    assert sorted(path.stem for path in (tight.state_dir / "runtimes").iterdir()) == made
    assert list((tight.state_dir / "tmp").iterdir()) == []
    for name in made:
        assert json.loads(file_of(tight, name).read_text())["name"] == name
    tight.remove(made[0])
    tight.create("server", "fits", start=False, port=0)
    tight.restart()
    assert states(tight) == dict.fromkeys([*made[1:], "fits"], "created")


def test_a_full_disk_lets_start_stop_and_restart(tight):
    """The running state is a value that is overwritten; a restart has nothing to write."""
    made = fill(tight)
    for name in made[:2]:
        assert tight.act(name, "start")["state"] == "running"
    assert tight.act(made[0], "restart")["state"] == "running"
    assert tight.act(made[1], "stop")["state"] == "stopped"
    tight.kill9()
    tight.start()
    assert states(tight) == {**dict.fromkeys(made, "created"), made[0]: "running"}


def test_a_full_disk_makes_start_fail_and_nothing_runs_that_is_not_saved(tight):
    """Further differences from the saved state have to be written."""
    daemon = tight
    daemon.create("server", "late", start=False, port=0)
    file = file_of(daemon, "late")
    file.write_text(file.read_text().replace('"rate_limit": 0', '"rate_limit": 1'))
    fill(daemon)
    with pytest.raises(Refused) as refused:
        daemon.act("late", "start")
    assert refused.value.code == "no_space"
    assert daemon.show("late")["state"] == "failed"
    assert "space" in daemon.show("late")["reason"]
    daemon.remove("s00")
    assert daemon.act("late", "start")["state"] == "running"


def test_a_full_disk_makes_edit_fail_and_the_old_value_stays(tight):
    made = fill(tight)
    with pytest.raises(Refused) as refused:
        tight.edit(made[0], group="x" * 4000, rate_limit=5)
    assert refused.value.code == "no_space"
    options = tight.show(made[0])["options"]
    assert (options["group"], options["rate_limit"]) == ("", 0)
    tight.restart()
    assert tight.show(made[0])["options"] == options
