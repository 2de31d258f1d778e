"""Control groups of programs (cgroup2). Limits are tested in the guest, where no cgroups of version
1 hold the controllers."""

import os
import signal
import subprocess

import pytest

from programs import edit_record, gone, instances_of, pids_of
from strata_daemon import Daemon, Refused, eventually

# Leaves its process group, as daemons do.
ESCAPE = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1], "w") as out: out.write(f"{os.getpid()}\\n")
        time.sleep(1000)
    os._exit(0)
os.wait()
"""


@pytest.fixture
def folder(tmp_path, root):
    """A folder of cgroup2's, for one daemon."""
    place = tmp_path / "cgroup"
    place.mkdir()
    subprocess.run(["mount", "-t", "cgroup2", "none", place], check=True)
    made = place / f"strata-test-{os.getpid()}"
    try:
        yield made
        if made.exists():
            os.rmdir(made)
    finally:
        subprocess.run(["umount", place], check=True)


@pytest.fixture
def daemon(folder, make_daemon):
    return make_daemon("--cgroup", str(folder))


def members_of(group):
    return {int(each) for each in (group / "cgroup.procs").read_text().split()}


def escaped(path):
    return int(eventually(lambda: path.exists() and path.read_text().strip(), "it has started"))


def test_what_has_left_the_process_group_ends_too(daemon, program, tmp_path, folder):
    path = tmp_path / "pid"
    program(ESCAPE + "time.sleep(1000)\n", str(path), instances=2)
    pid = escaped(path)
    # The other instance may be the one that has written the file.
    eventually(lambda: pids_of(daemon, "p")[0] in members_of(folder / "p.1"), "it is in its group")
    assert (folder / "p.2").exists() and daemon.pid not in members_of(folder / "p.1")
    daemon.act("p", "stop")
    assert gone(pid) and sorted(folder.glob("p.*")) == []
    path.unlink()
    daemon.act("p", "start")
    pid = escaped(path)
    daemon.remove("p")
    assert gone(pid) and sorted(folder.glob("p.*")) == []


def test_also_if_the_program_ends_by_itself(daemon, program, tmp_path, folder):
    path = tmp_path / "pid"
    program(ESCAPE + "time.sleep(0.3)\n", str(path))
    pid = escaped(path)
    eventually(lambda: daemon.show("p")["state"] != "running", "it has ended")
    assert gone(pid) and sorted(folder.glob("p.*")) == []


def test_the_next_daemon_knows_the_groups(daemon, program, tmp_path, folder):
    path = tmp_path / "pid"
    program(ESCAPE + "time.sleep(1000)\n", str(path))
    program("import time; time.sleep(1000)", name="other")
    pid = escaped(path)
    [other] = pids_of(daemon, "other")
    daemon.kill9()
    os.kill(other, signal.SIGKILL)
    (folder / "other.9").mkdir()
    daemon.start()
    assert not gone(pid) and not (folder / "other.9").exists()
    daemon.take_over()
    assert not gone(pid)
    daemon.act("p", "stop")
    assert gone(pid) and not (folder / "p.1").exists()


def test_what_other_options_have_started_ends_with_its_group(daemon, program, tmp_path, folder):
    path = tmp_path / "pid"
    program(ESCAPE + "time.sleep(1000)\n", str(path))
    pid = escaped(path)
    daemon.kill9()
    edit_record(daemon, "p", env=["OTHER=1"])
    daemon.start()
    eventually(lambda: daemon.show("p")["state"] == "running", "it runs")
    eventually(lambda: gone(pid), "what has escaped has ended, and init has reaped it")
    eventually(lambda: pids_of(daemon, "p")[0] in members_of(folder / "p.1"), "it is in its group")


def test_a_start_that_fails_leaves_no_group(daemon, folder):
    daemon.create("program", "p", start=False, command="sleep 1000", folder="/no/such")
    with pytest.raises(Refused, match="/no/such"):
        daemon.act("p", "start")
    assert sorted(folder.glob("p.*")) == []


def test_a_group_with_limits_needs_a_folder(make_daemon):
    daemon = make_daemon()
    daemon.create("program", "p", start=False, command="sleep 1000", memory=50_000_000)
    with pytest.raises(Refused, match="no folder for such groups.*--cgroup"):
        daemon.act("p", "start")
    daemon.edit("p", memory=0)
    daemon.act("p", "start")
    assert instances_of(daemon, "p")[0]["state"] == "running"


@pytest.mark.parametrize("options, why", [
    ({"cpus": "many"}, "--cpus many is not a number"), ({"cpus": "0"}, "--cpus 0 is not"),
    ({"cpus": "nan"}, "--cpus nan is not"), ({"cpus": "1.5x"}, "--cpus 1.5x is not"),
    ({"cpus": "1e9"}, "--cpus 1e9 is not")])
def test_limits_that_cannot_be_are_refused(daemon, options, why):
    with pytest.raises(Refused, match=why):
        daemon.create("program", "p", start=False, command="sleep 1000", **options)


def test_an_attached_process_is_not_limited(daemon):
    with pytest.raises(Refused, match="strata does not limit an attached process"):
        daemon.create("program", "p", start=False, attached=True, pid=str(os.getpid()), tasks=5)


def test_the_folder_must_be_of_cgroup2(tmp_path):
    daemon = Daemon(tmp_path / "daemon", "--cgroup", str(tmp_path / "plain"))
    process = daemon.launch()
    assert process.wait(10) == 1
    assert "it is not a folder of cgroup2's" in daemon.log()
    daemon = Daemon(tmp_path / "other", "--cgroup", str(tmp_path / "no/such"))
    assert daemon.launch().wait(10) == 1
    assert "make the control group" in daemon.log()
