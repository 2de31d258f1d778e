"""The daemon as a service of a real systemd, with what packaging/strata.service.in says of its
life: start, reload, crash, watchdog, stop; and sockets that systemd listens on."""

import os
import pathlib
import re
import signal

import pytest

from cluster import Caller
from programs import SERVER, gone, instances_of
from strata_daemon import Daemon, eventually
from talker import free_port
from user_systemd import UserSystemd

pytestmark = pytest.mark.once

UNIT = pathlib.Path(__file__).parents[2] / "packaging/strata.service.in"
# Of the rest, a user's systemd has nothing to give: users, namespaces and capabilities.
OF_ITS_LIFE = re.compile(
    r"^(?:Type|ExecReload|NotifyAccess|Restart|KillMode|WatchdogSec)=.*$", re.M)
# Takes a second to end: who stops it has to wait.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), sys.exit()))
print("up", flush=True)
while True: time.sleep(0.1)
"""


class Service:
    """strata.service, and the daemon in it."""

    def __init__(self, systemd, folder):
        self.systemd = systemd
        self.daemon = Daemon(folder)  # not started here: only asked
        start = " ".join(map(str, self.daemon.command()))
        variables = " ".join(f'"{key}={value}"' for key, value in
                             self.daemon.environment.items())
        self.text = "\n".join(["[Service]", f"ExecStart={start}", f"Environment={variables}",
                               f"StandardError=append:{self.daemon.log_path}",
                               *OF_ITS_LIFE.findall(UNIT.read_text())])

    def add(self, *more):
        self.systemd.add("strata.service", "\n".join([self.text, *more, ""]))

    def do(self, verb):
        self.systemd.do(verb, "strata.service")

    @property
    def pid(self):
        return int(self.systemd.value("strata.service", "MainPID"))

    @property
    def state(self):
        return self.systemd.value("strata.service", "ActiveState")

    def answers(self):
        """Whether systemd's main process is the daemon that answers."""
        try:
            return self.daemon.ask("GET", "/v1/version")["pid"] == self.pid
        except OSError:
            return False

    def await_another(self, before):
        eventually(lambda: self.state == "active" and self.pid not in (0, before)
                   and self.answers(), "another daemon serves")


@pytest.fixture
def service(root, tmp_path):
    with UserSystemd(tmp_path) as systemd:
        service = Service(systemd, tmp_path / "daemon")
        yield service
        service.systemd.ask("stop", "strata.service")


def test_it_is_ready_reloads_without_a_gap_and_stops(service):
    service.add()
    service.do("start")
    assert service.state == "active" and service.answers()
    daemon = service.daemon
    api = {"command": program_of(daemon, SERVER) + " {port}", "instances": 2, "port": 0,
           "ready": "http:/health"}
    daemon.create("program", "api", **api)
    daemon.create("program", "slow", command=program_of(daemon, SLOW), ready="line:up")
    [front] = daemon.create("proxy", "front", listen=[f"http://127.0.0.1:{free_port()}"],
                            backend=["api"])["endpoints"]
    programs = processes_of(daemon)
    with Caller(front) as caller:
        for _ in range(3):
            before, count = service.pid, caller.answered
            service.do("reload")
            service.await_another(before)
            eventually(lambda: caller.answered > count + 20, "requests are answered")
    assert caller.failures == []
    assert processes_of(daemon) == programs
    assert service.systemd.value("strata.service", "NRestarts") == "0"
    service.do("stop")
    assert service.state == "inactive"
    eventually(lambda: all(map(gone, programs)), "the programs have ended")


def program_of(daemon, text):
    path = daemon.folder / f"{len(list(daemon.folder.glob('*.py')))}.py"
    path.write_text(text)
    return f"/usr/bin/python3 {path}"


def processes_of(daemon):
    return {each["pid"] for name in ("api", "slow") for each in instances_of(daemon, name)}


def test_a_crash_is_followed_by_a_daemon_that_adopts_the_programs(service):
    service.add()
    service.do("start")
    service.daemon.create("program", "api", command=program_of(service.daemon, SLOW))
    [program] = instances_of(service.daemon, "api")
    before = service.pid
    os.kill(before, signal.SIGKILL)
    service.await_another(before)
    assert instances_of(service.daemon, "api")[0]["pid"] == program["pid"]
    assert service.systemd.value("strata.service", "NRestarts") == "1"


def test_a_daemon_that_hangs_is_restarted(service):
    service.add("WatchdogSec=2")
    service.do("start")
    before = service.pid
    os.kill(before, signal.SIGSTOP)
    service.await_another(before)
    assert service.systemd.value("strata.service", "NRestarts") == "1"


def test_systemd_listens_for_it(service):
    port = free_port()
    service.systemd.add("strata.socket", f"[Socket]\nListenStream=127.0.0.1:{port}\n")
    service.add()
    service.systemd.do("start", "strata.socket")
    service.do("start")
    site = service.daemon.folder / "site"
    site.mkdir()
    (site / "index.html").write_text("hello")
    service.daemon.create("server", "web", listen=[f"http://127.0.0.1:{port}"], http=str(site))
    service.do("stop")  # whoever comes meanwhile waits
    with Caller(f"http://127.0.0.1:{port}/") as caller:
        service.do("start")
        eventually(lambda: caller.answered > 20, "requests are answered")
    assert caller.failures == []
