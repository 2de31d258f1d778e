"""A later daemon takes the sockets and the state over from the one that runs."""

import itertools
import json
import os
import signal
import socket
import subprocess
import time

import pytest
import redis

from cluster import Caller, Cluster, names, registry_of, state
from programs import SERVER, instances_of
from steady_clients import (Counter, Steady, ask_datagram, ask_page, ask_page_by_http2, ask_stream,
                            ask_websocket, trusting)
from strata_daemon import BINARY, LOOP, PATIENCE, Daemon, eventually
from talker import Talker, free_port, port_of

ECHO = "function on_message(message, id) self.send(id, 'echo: ' .. message) end"
TIMES = int(os.environ.get("STRATA_TAKEOVERS", "5"))


@pytest.fixture
def echo(daemon, tmp_path):
    """Makes a server that echoes, and returns where it listens."""
    script = tmp_path / "echo.lua"
    script.write_text(ECHO)

    def make(name, url, **options):
        return daemon.server(name, listen=[url], lua=str(script), **options)[0]
    return make


def at_free_port(scheme):
    kind = socket.SOCK_DGRAM if scheme == "udp" else socket.SOCK_STREAM
    return f"{scheme}://127.0.0.1:{free_port(kind)}"


def test_clients_notice_nothing_but_the_end_of_their_connections(daemon, echo, site, authority,
                                                                 tmp_path):
    certificate, key = authority.issue("localhost")
    secure = {"cert": [certificate], "key": [key]}
    (site / "page.txt").write_text("a page")
    web = daemon.server("site", listen=[at_free_port("http")], http=str(site))[0]
    cache = daemon.create("cache", "cache", listen=[at_free_port("tcp")],
                          persistent=str(tmp_path / "cache.aof"))["endpoints"][0]
    front = daemon.create("proxy", "front", listen=[at_free_port("tcp")],
                          backend=["site"])["endpoints"][0]
    memory = daemon.create("cache", "memory", listen=[at_free_port("tcp")])["endpoints"][0]
    counts = {"cache": Counter(cache), "memory": Counter(memory)}
    clients = Steady()
    clients.add("tcp", ask_stream, echo("tcp", at_free_port("tcp")))
    clients.add("tls", ask_stream, echo("tls", at_free_port("tls"), **secure),
                trusting(authority.ca))
    clients.add("udp", ask_datagram, echo("udp", at_free_port("udp")))
    clients.add("websocket", ask_websocket, echo("ws", at_free_port("ws")))
    clients.add("http", ask_page, web)
    clients.add("http2", ask_page_by_http2, web)
    clients.add("proxy", ask_page, front)
    clients.add("cache", counts["cache"], cache)
    clients.add("memory", counts["memory"], memory)
    with clients:
        for _ in range(TIMES):
            before = dict(clients.answered)
            daemon.take_over()
            eventually(lambda: all(clients.answered[each] > before.get(each, 0) + 1
                                   for each in clients.names()),
                       f"all are served: {clients.answered}, {dict(clients.failed)}")
    print(f"{TIMES} takeovers on {LOOP}: answered {dict(clients.answered)}")
    assert dict(clients.failed) == {}
    for each in counts.values():
        held = int(redis.Redis(port=each.port).get("count"))
        assert held >= each.acknowledged > 0


def test_it_just_starts_if_no_daemon_runs(make_daemon):
    daemon = make_daemon("--takeover")
    assert daemon.names() == []


def test_the_state_and_the_control_socket_go_over(daemon, tmp_path):
    path = tmp_path / "chat.sock"
    daemon.server("chat", listen=[f"unix://{path}"])
    daemon.create("server", "idle", start=False, listen=[at_free_port("tcp")])
    daemon.take_over()
    assert daemon.show("chat")["state"] == "running"
    assert daemon.show("idle")["state"] == "created"
    with Talker(f"unix://{path}") as ann, Talker(f"unix://{path}") as bob:
        daemon.wait_connections("chat", 2)
        ann.say(b"hello")
        assert bob.hear() == b"hello"
    daemon.remove("chat")
    assert not path.exists()


def test_requests_of_the_control_api_are_answered_throughout(daemon):
    daemon.server("chat")
    asked = [daemon.begin("ls") for _ in range(4)]
    daemon.take_over()
    asked += [daemon.begin("ls") for _ in range(4)]
    for each in asked:
        _, errors = each.communicate(timeout=PATIENCE)
        assert (each.returncode, errors) == (0, "")


def test_programs_and_data_in_memory_go_over(daemon, program):
    cache = daemon.create("cache", "cache", listen=[at_free_port("tcp")])["endpoints"][0]
    program("import time\nprint('begun', flush=True)\ntime.sleep(1000)\n", name="sleeper")
    [before] = daemon.ask("GET", "/v1/runtimes/sleeper/instances")
    with redis.Redis(port=port_of(cache)) as client:
        client.mset({f"key{number}": "x" * 100 for number in range(1000)})
        client.set("passing", "x", ex=1000)
    for _ in range(2):
        daemon.take_over()
        [after] = daemon.ask("GET", "/v1/runtimes/sleeper/instances")
        assert after["pid"] == before["pid"] and after["uptime_s"] >= before["uptime_s"]
        with redis.Redis(port=port_of(cache)) as client:
            assert client.dbsize() == 1001
            assert 900 < client.ttl("passing") <= 1000
    eventually(lambda: not (daemon.state_dir / "handover").exists(), "the data is removed")
    daemon.act("sleeper", "stop")
    eventually(lambda: not os.path.exists(f"/proc/{before['pid']}"), "it has ended")


def pids(instances):
    return {each["pid"] for each in instances}


def test_instances_of_a_program_serve_through_takeovers(daemon, program):
    program(SERVER, "{port}", name="api", instances=3, port=0, ready="http:/health")
    [front] = daemon.create("proxy", "front", listen=[at_free_port("http")],
                            backend=["api"])["endpoints"]
    before = instances_of(daemon, "api")
    with Caller(front) as one, Caller(front) as another:
        for _ in range(3):
            daemon.take_over()
            assert pids(instances_of(daemon, "api")) == pids(before)
            count = one.answered
            eventually(lambda: one.answered > count + 20, "they serve")
    assert one.failures == another.failures == []
    assert daemon.run("roll", "api").returncode == 0
    assert not pids(instances_of(daemon, "api")) & pids(before)


@pytest.mark.parametrize("backend", ["cache", "@keys"])
def test_a_proxy_waits_for_its_cache_in_a_takeover(daemon, backend):
    daemon.create("cache", "cache", listen=[at_free_port("tcp")], group="keys")
    [front] = daemon.create("proxy", "front", listen=[at_free_port("tcp")],
                            backend=[backend])["endpoints"]
    clients = Steady()
    clients.add("key", Counter(front), front)
    with clients:
        for _ in range(3):
            daemon.take_over()
            before = clients.answered["key"]
            eventually(lambda: clients.answered["key"] > before + 20, "requests are answered")
    assert dict(clients.failed) == {}


class LaterDaemon:
    """Speaks for a later daemon to the one that runs."""

    def __init__(self, daemon, **more):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(daemon.folder / "control-takeover.sock"))
        version = daemon.ask("GET", "/v1/version")["version"]
        self.say({"protocol": 2, "version": version, "state_dir": str(daemon.state_dir)} | more)

    def say(self, content):
        self.socket.send(content if isinstance(content, bytes) else json.dumps(content).encode())

    def hear(self):
        """Returns a message and the descriptors that came with it."""
        text, descriptors, _, _ = socket.recv_fds(self.socket, 65536, 300)
        return json.loads(text) if text else None, descriptors

    def hear_all(self):
        """Returns the sockets of the daemon, once it has handed over."""
        sockets = []
        while True:
            content, descriptors = self.hear()
            if "lock" in content:
                for each in descriptors:
                    os.close(each)
                return sockets
            sockets += [socket.socket(fileno=each) for each in descriptors]

    def refusal(self):
        content, descriptors = self.hear()
        assert descriptors == []
        return content["refused"]

    def close(self):
        self.socket.close()


def test_a_takeover_that_does_not_fit_is_refused(daemon):
    older = LaterDaemon(daemon, version="0.0.1").refusal()
    assert "version 0.0.1 is older" in older
    assert "state folder is '/elsewhere'" in LaterDaemon(daemon, state_dir="/elsewhere").refusal()
    assert "in another way" in LaterDaemon(daemon, protocol=1).refusal()
    assert "in another way" in LaterDaemon(daemon, protocol="2").refusal()
    elsewhere = Daemon(daemon.folder, state_dir=daemon.folder / "other")
    refused = elsewhere.launch("--takeover")
    assert refused.wait(PATIENCE) == 1
    assert "state folder is" in daemon.log()
    assert daemon.names() == []


@pytest.mark.parametrize("words", [b"x", b"[]", b"{}", b"\xff" * 1000, b"[" * 60000])
def test_a_stranger_at_its_door_is_turned_away(daemon, words):
    daemon.server("chat")
    stranger = LaterDaemon.__new__(LaterDaemon)
    stranger.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    stranger.socket.settimeout(PATIENCE)
    stranger.socket.connect(str(daemon.folder / "control-takeover.sock"))
    stranger.say(words)
    stranger.hear()
    stranger.close()
    daemon.take_over()


def test_one_that_asks_nothing_keeps_others_waiting_for_seconds_only(daemon):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
        silent.connect(str(daemon.folder / "control-takeover.sock"))
        daemon.take_over()


def test_only_the_same_user_may_take_over(daemon, root):
    path = daemon.folder / "control-takeover.sock"
    assert path.stat().st_mode & 0o777 == 0o600
    daemon.folder.chmod(0o755)
    path.chmod(0o666)
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c",
         "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
         f"s.connect('{path}'); print(s.recv(1000))"], capture_output=True, text=True,
        timeout=PATIENCE)
    if "Permission denied" not in done.stderr:  # of a folder above
        assert "start the new daemon as the same user" in done.stdout, done


def test_a_later_daemon_that_dies_in_the_middle_changes_nothing(daemon, echo, tmp_path):
    served = echo("tcp", at_free_port("tcp"))
    cache = daemon.create("cache", "cache", listen=[at_free_port("tcp")],
                          persistent=str(tmp_path / "cache.aof"))["endpoints"][0]
    with redis.Redis(port=port_of(cache)) as client:
        client.set("kept", "yes")
    for _ in range(3):
        later = LaterDaemon(daemon)
        sockets = later.hear_all()
        ports = {each.getsockname()[1] for each in sockets if each.family == socket.AF_INET}
        assert {port_of(served), port_of(cache)} <= ports
        ask_stream(served)  # meanwhile the earlier one serves what it can
        for each in sockets:
            each.close()
        later.close()
        eventually(lambda: daemon.show("cache")["state"] == "running", "the cache is back")
        ask_stream(served)
        with redis.Redis(port=port_of(cache)) as client:
            assert client.get("kept") == b"yes"
    daemon.edit("cache", max_connections=7)  # its record can be written again
    daemon.take_over()
    assert daemon.show("cache")["options"]["max_connections"] == 7


def test_changes_wait_for_the_daemon_that_follows(daemon):
    """A script's change in the middle would be lost: it is refused."""
    daemon.server("chat")
    later = LaterDaemon(daemon)
    sockets = later.hear_all()
    change = daemon.begin("edit", "chat", "--max-connections", "5")
    time.sleep(0.3)
    assert change.poll() is None  # it waits at the control socket, which nobody serves now
    for each in sockets:
        each.close()
    later.close()
    _, errors = change.communicate(timeout=PATIENCE)
    assert (change.returncode, errors) == (0, "")
    assert daemon.show("chat")["options"]["max_connections"] == 5


def test_two_at_once_follow_each_other(daemon):
    daemon.server("chat")
    first, second = daemon.launch("--takeover"), daemon.launch("--takeover")
    assert daemon.process.wait(PATIENCE) == 0

    def survivors():
        return [each for each in (first, second) if each.poll() is None]

    eventually(lambda: len(survivors()) == 1 or daemon.log().count(" ready\n") == 3,
               "one is left, or one has followed the other")
    eventually(lambda: len(survivors()) == 1, "one is left")
    [daemon.process] = survivors()
    eventually(lambda: daemon.socket.exists() and daemon.show("chat")["state"] == "running",
               "it serves")


def notices(receiver):
    """Returns what a service manager has been told."""
    told = []
    while True:
        try:
            told.append(receiver.recv(4096).decode())
        except BlockingIOError:
            return told


def test_sigusr2_starts_the_program_on_the_disk_again(make_daemon, tmp_path):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "notify"))
    manager.setblocking(False)
    daemon = make_daemon(variables={"NOTIFY_SOCKET": str(tmp_path / "notify")})
    daemon.server("chat")
    before = daemon.pid
    notices(manager)
    daemon.signal(signal.SIGUSR2)
    assert daemon.process.wait(PATIENCE) == 0
    version = eventually(lambda: daemon.ask("GET", "/v1/version"), "the later one answers")
    assert version["pid"] != before
    told = notices(manager)
    assert any(f"MAINPID={version['pid']}" in each for each in told), told
    assert not any("STOPPING" in each for each in told), told
    assert daemon.show("chat")["state"] == "running"
    os.kill(version["pid"], signal.SIGTERM)
    daemon.process = None
    eventually(lambda: not daemon.socket.exists(), "the later one has ended")


def test_a_successor_that_cannot_start_changes_nothing(daemon):
    daemon.server("chat")
    daemon.state_dir.joinpath("runtimes").chmod(0o777)  # which the next one refuses
    daemon.signal(signal.SIGUSR2)
    eventually(lambda: "this daemon goes on" in daemon.log(), "it has failed")
    daemon.state_dir.joinpath("runtimes").chmod(0o700)
    eventually(lambda: daemon.show("chat")["state"] == "running", "all is as before")
    daemon.signal(signal.SIGUSR2)
    assert daemon.process.wait(PATIENCE) == 0
    pid = eventually(lambda: daemon.ask("GET", "/v1/version"), "the later one answers")["pid"]
    os.kill(pid, signal.SIGTERM)
    daemon.process = None
    eventually(lambda: not daemon.socket.exists(), "the later one has ended")


@pytest.mark.parametrize("kind", ["etcd", "folder"])
def test_a_cluster_knows_the_later_daemon_by_the_same_name(make_daemon, site, tmp_path, kind):
    (site / "page.txt").write_text("a page")
    with registry_of(kind, tmp_path) as registry:
        cluster = Cluster(make_daemon, registry.url)
        first, third = (cluster.start(each) for each in "ac")
        first.server("page", listen=[at_free_port("http")], http=str(site), group="pages")
        first.create("cache", "cache", listen=[at_free_port("tcp")], group="keys")
        front = third.create("proxy", "front", listen=["http://127.0.0.1:0"],
                             backend=["@pages"])["endpoints"][0]
        keys = third.create("proxy", "keys", listen=["tcp://127.0.0.1:0"],
                            backend=["@keys"])["endpoints"][0]
        eventually(lambda: len(json.loads(third.cli("backends", "keys", "--format", "json"))) == 1,
                   "it is a backend")
        watching = subprocess.Popen([BINARY, "cluster", "watch"], env=third.environment, text=True,
                                    stdout=subprocess.PIPE)
        clients = Steady()
        clients.add("page", ask_page, front)
        clients.add("key", Counter(keys), keys)
        with clients:
            for _ in range(3):
                first.take_over()
                eventually(lambda: state(first) == "held", "the name is held again")
                before = dict(clients.answered)
                eventually(lambda: all(clients.answered[each] > before[each] + 20
                                       for each in clients.names()), "requests are answered")
        assert dict(clients.failed) == {}
        assert names(third) == ["a", "c"]
        first.stop()
        events = iter(watching.stdout.readline, "")
        seen = list(itertools.takewhile(lambda line: "leave" not in line, events))
        watching.kill()
        watching.communicate()
        assert len([line for line in seen if "join" in line]) <= 1, seen  # as it began


# Passes descriptors as systemd does: sd_listen_fds(3).
ACTIVATOR = """
import fcntl, os, sys
passed = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 100) for each in sys.argv[1].split(",")]
for place, each in enumerate(passed):
    os.dup2(each, 3 + place)
    os.close(each)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(passed))}
os.execvp(sys.argv[2], sys.argv[2:])
"""


class ActivatedDaemon(Daemon):
    """A daemon that gets listening sockets from a service manager."""

    sockets = ()

    def launch(self, *more):
        if not self.sockets:
            return super().launch(*more)
        numbers = [each.fileno() for each in self.sockets]
        with open(self.log_path, "ab") as log:
            return subprocess.Popen(
                ["/usr/bin/python3", "-c", ACTIVATOR, ",".join(map(str, numbers)),
                 *map(str, self.command(*more))],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=log, pass_fds=numbers)


@pytest.fixture
def activated(tmp_path):
    made = []

    def make(*sockets):
        made.append(ActivatedDaemon(tmp_path / "activated"))
        made[-1].sockets = sockets
        return made[-1].start()

    yield make
    for each in made:
        each.close()


def test_sockets_of_the_service_manager_are_used_and_stay(activated, tmp_path):
    path = tmp_path / "web.sock"
    with socket.create_server(("127.0.0.1", 0)) as tcp, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, \
            socket.socket(socket.AF_UNIX) as local:
        udp.bind(("127.0.0.1", 0))
        local.bind(str(path))
        local.listen()
        daemon = activated(tcp, udp, local)
        script = tmp_path / "echo.lua"
        script.write_text(ECHO)
        urls = [f"tcp://127.0.0.1:{tcp.getsockname()[1]}",
                f"udp://127.0.0.1:{udp.getsockname()[1]}", f"unix://{path}"]
        daemon.server("chat", listen=urls, lua=str(script))
        for _ in range(2):
            ask_stream(urls[0])
            ask_datagram(urls[1])
            ask_stream(urls[2])
            daemon.act("chat", "stop")
            assert path.exists()
            with socket.create_connection(tcp.getsockname()[:2]) as waiting:  # nobody is refused
                waiting.sendall(b"hello\n")
                daemon.act("chat", "start")
                waiting.settimeout(PATIENCE)
                assert waiting.recv(100) == b"echo: hello\n"
            daemon.sockets = ()  # the next one gets them from this one
            daemon.take_over()
        ask_stream(urls[2])


def test_what_is_no_listening_socket_is_passed_over(activated, tmp_path):
    with socket.socketpair()[0] as pair, open(tmp_path / "file", "w") as file:
        daemon = activated(pair, file)
        assert daemon.names() == []
