"""Runtimes that fail are restarted, a restart that would fail stops nothing, and a wait can be
shortened."""

import contextlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from deaf import deaf_address
from strata_daemon import Refused, eventually
from talker import Talker


@pytest.fixture
def deaf():
    with deaf_address() as address:
        yield address


def failures(daemon):
    return sum(each["event"] == "failed" for each in daemon.lines("/v1/events"))


def state(daemon, name):
    return daemon.show(name)["state"]


def test_a_create_that_does_not_start_leaves_nothing(daemon):
    [url] = daemon.server("web")
    port = int(url.rpartition(":")[2])
    with pytest.raises(Refused, match="because it does not start.*in use") as refused:
        daemon.create("server", "other", port=port)
    assert refused.value.status in (409, 500)
    assert daemon.names() == ["web"]
    assert [each.name for each in (daemon.state_dir / "runtimes").iterdir()] == ["web.json"]
    daemon.create("server", "other", port=0)  # the corrected command


def test_a_rehearsal_says_what_would_be_and_makes_nothing(daemon):
    [url] = daemon.server("web")
    port = int(url.rpartition(":")[2])
    said = daemon.cli("create", "server", "fine", "-p", "0", "--dry-run")
    assert said == "fine: could be created\n"
    said = daemon.cli("create", "proxy", "gw", "-p", "0", "--backend", "wbe", "--dry-run")
    assert said == ("gw: could be created; warning: runtime not found: it connects to 'wbe', but "
                    "no runtime has this name (did you mean 'web'?)\n")
    taken = daemon.run("create", "server", "other", "-p", str(port), "--dry-run")
    assert (taken.returncode, "in use" in taken.stderr) == (1, True)
    assert daemon.run("create", "server", "web", "-p", "0", "--dry-run").returncode == 1
    assert daemon.names() == ["web"]


def test_start_and_stop_may_be_said_twice(daemon):
    daemon.server("web")
    assert daemon.act("web", "start")["state"] == "running"
    for _ in range(2):
        assert daemon.act("web", "stop")["state"] == "stopped"


@contextlib.contextmanager
def booted_without_port(daemon, **options):
    """Stops the daemon and starts it while another program holds the port of the server `web`."""
    [url] = daemon.server("web")
    port = int(url.rpartition(":")[2])
    daemon.edit("web", port=port, **options)
    daemon.stop()
    with socket.create_server(("0.0.0.0", port)):
        daemon.start()
        yield


def test_an_address_that_is_not_there_at_boot_is_tried_again(daemon):
    with booted_without_port(daemon):
        eventually(lambda: state(daemon, "web") == "failed", "it cannot start")
        eventually(lambda: daemon.show("web")["next_start_in_s"] is not None, "it is tried again")
    eventually(lambda: state(daemon, "web") == "running", "it has come back")
    assert daemon.show("web")["next_start_in_s"] is None


def test_a_port_that_stays_taken_is_told_once_and_delays_no_other(daemon):
    daemon.server("other")
    daemon.create("client", "ear", connect="runtime://other")
    with booted_without_port(daemon):
        eventually(lambda: state(daemon, "ear") == "running", "the others have been started")
        assert daemon.show("web")["reason"] != ""
        time.sleep(4)  # a dozen attempts
        assert failures(daemon) == 1
        assert len([each for each in daemon.lines("/v1/runtimes/web/logs")
                    if each["level"] == "error"]) == 1


@pytest.mark.parametrize("policy", [{"restart": "no"},
                                    {"restart": "on-failure", "restart_limit": 1}])
def test_one_that_is_not_to_come_back_stays_failed(daemon, policy):
    with booted_without_port(daemon, **policy):
        eventually(lambda: state(daemon, "web") == "failed", "it cannot start")
        time.sleep(4)  # it is tried for 2 s; then several times the first pause
        assert daemon.show("web")["next_start_in_s"] is None
    assert state(daemon, "web") == "failed"
    assert daemon.act("web", "start")["state"] == "running"


def test_a_stop_ends_the_tries(daemon):
    with booted_without_port(daemon):
        eventually(lambda: daemon.show("web")["next_start_in_s"] is not None, "it waits")
        stopped = daemon.act("web", "stop")
        assert (stopped["state"], stopped["next_start_in_s"]) == ("stopped", None)
    daemon.stop()
    daemon.start()
    assert state(daemon, "web") == "created"


def test_what_has_done_its_work_comes_back_only_always(daemon):
    [url] = daemon.server("web")
    target = url.removeprefix("tcp://")
    daemon.edit("web", port=int(target.rpartition(":")[2]))
    daemon.create("client", "once", target=target)
    daemon.create("client", "ever", target=target, restart="always")
    daemon.act("web", "restart")
    eventually(lambda: state(daemon, "once") == "failed", "its connection has ended")
    eventually(lambda: daemon.stats("ever")["connections"]["total"] >= 2
               and state(daemon, "ever") == "running", "it has come back")
    assert daemon.show("once")["next_start_in_s"] is None


def test_a_restart_that_would_fail_takes_nothing_down(daemon):
    daemon.server("web")
    with socket.create_server(("0.0.0.0", 0)) as taken:
        daemon.edit("web", port=taken.getsockname()[1])
        with pytest.raises(Refused, match="runs on unchanged.*in use"):
            daemon.act("web", "restart")
        assert state(daemon, "web") == "running"


def test_one_that_connects_can_be_removed_at_once(daemon, deaf):
    creating = daemon.begin("create", "client", "c", "-t", deaf.text, "-s", "--connect-timeout",
                            "1h")
    eventually(lambda: daemon.names() == ["c"], "it is being created")
    daemon.remove("c")
    said = creating.communicate(timeout=30)[1]
    assert (creating.returncode != 0, daemon.names()) == (True, []), said


@pytest.mark.parametrize("end", ["stop", "remove"])
def test_a_creation_that_another_request_ends_is_a_conflict(daemon, deaf, end):
    with ThreadPoolExecutor() as pool:
        creating = pool.submit(daemon.create, "client", "c", target=deaf.text, connect_timeout=3600)
        eventually(deaf.waiting, "it connects")
        # A failed creation leaves nothing behind, so the client may be gone before the stop.
        with contextlib.suppress(Refused):
            daemon.act("c", "stop") if end == "stop" else daemon.remove("c")
        with pytest.raises(Refused, match="was stopped while it was starting") as refused:
            creating.result(30)
    assert (refused.value.status, refused.value.code) == (409, "conflict")
    assert daemon.names() == []


def test_one_that_connects_does_not_hold_up_the_end(daemon, deaf):
    daemon.create("client", "c", start=False, target=deaf.text, connect_timeout=3600)
    starting = daemon.begin("start", "c")
    eventually(deaf.waiting, "it connects")
    daemon.stop()
    assert "was stopped" in starting.communicate(timeout=30)[1]


def test_an_edit_does_not_wait_for_one_that_connects_and_may_mend_it(daemon, deaf):
    [url] = daemon.server("web")
    daemon.create("client", "c", start=False, target=deaf.text, connect_timeout=3600)
    starting = daemon.begin("start", "c")
    eventually(deaf.waiting, "it connects")
    assert daemon.edit("c", max_message=1000)["applied"] == ["max_message"]
    assert starting.poll() is None  # it connects again, to the same address
    daemon.cli("edit", "c", "--target", url.removeprefix("tcp://"))
    assert "" == starting.communicate(timeout=30)[1] and starting.returncode == 0
    assert state(daemon, "c") == "running" and daemon.show("c")["options"]["max_message"] == 1000
    daemon.wait_connections("web", 1)


def test_one_that_connects_is_stopped_for_good_behind_an_edit(daemon, deaf):
    daemon.create("client", "c", start=False, target=deaf.text, connect_timeout=3600)
    starting = daemon.begin("start", "c")
    eventually(deaf.waiting, "it connects")
    daemon.edit("c", max_message=1000)
    daemon.act("c", "stop")
    assert "was stopped" in starting.communicate(timeout=30)[1]
    assert state(daemon, "c") == "stopped"


@pytest.mark.parametrize("hurry", [["--now"], ["--timeout", "0.3"]])
def test_a_stop_that_drains_for_long_is_hurried_by_another(daemon, hurry):
    [url] = daemon.server("web", drain=True, drain_timeout=3600, max_buffer=64 << 20)
    with Talker(url) as ann:
        daemon.wait_connections("web", 1)
        for _ in range(20):
            daemon.send("web", b"x" * 1_000_000)  # more than the kernel buffers
        slow = daemon.begin("stop", "web")
        time.sleep(0.3)
        assert slow.poll() is None
        daemon.cli("stop", "web", *hurry)
        assert slow.wait(timeout=30) == 0
        assert state(daemon, "web") == "stopped"
        assert ann
