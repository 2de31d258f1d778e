"""Two runtimes that want one port: the second is refused, and the error names the first."""

import socket
import threading

import pytest

from strata_daemon import Refused
from talker import Talker, free_port


@pytest.fixture(params=["tcp", "udp", "unix", "tcp6"])
def url(request, tmp_path):
    kind = socket.SOCK_DGRAM if request.param == "udp" else socket.SOCK_STREAM
    return {"tcp": f"tcp://127.0.0.1:{free_port()}", "udp": f"udp://127.0.0.1:{free_port(kind)}",
            "unix": f"unix://{tmp_path}/path", "tcp6": f"tcp://[::1]:{free_port()}"
            }[request.param]


@pytest.mark.parametrize("threads", [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_the_second_runtime_fails_and_names_the_first(daemon, url, threads):
    daemon.server("first", listen=[url], threads=threads[0])
    with pytest.raises(Refused, match="runtime 'first' listens on") as refused:
        daemon.server("second", listen=[url], threads=threads[1])
    assert "stop that runtime" in refused.value.remedy
    daemon.create("server", "second", start=False, listen=[url], threads=threads[1])
    with pytest.raises(Refused, match="runtime 'first' listens on"):
        daemon.act("second", "start")
    assert daemon.show("second")["state"] == "failed"
    assert "'first'" in daemon.show("second")["reason"]
    daemon.act("first", "stop")
    assert daemon.act("second", "start")["state"] == "running"


def test_the_cli_user_reads_it(daemon):
    port = free_port()
    daemon.cli("create", "server", "first", "-p", port, "-s")
    done = daemon.run("create", "server", "second", "-p", port, "-s")
    assert (done.returncode, done.stdout) == (1, "")
    assert "first" in done.stderr and str(port) in done.stderr


@pytest.mark.parametrize("one, other", [
    ("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "0.0.0.0"), ("localhost", "127.0.0.1"),
    ("127.0.0.1", "localhost")])
def test_addresses_that_overlap_are_one(daemon, one, other):
    port = free_port()
    daemon.server("first", listen=[f"tcp://{one}:{port}"])
    with pytest.raises(Refused, match="runtime 'first'"):
        daemon.server("second", listen=[f"tcp://{other}:{port}"])


def test_tcp_and_udp_and_both_ip_versions_share_a_number(daemon):
    port = free_port()
    for number, url in enumerate(["tcp://127.0.0.1", "udp://127.0.0.1", "tcp://[::1]",
                                  "udp://[::1]", "tcp://127.0.0.2"]):
        daemon.server(f"s{number}", listen=[f"{url}:{port}"])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", ["tcp", "udp"])
def test_a_foreign_process_on_the_port_is_said_to_be_one(daemon, kind, threads):
    with socket.socket(socket.AF_INET, {"tcp": socket.SOCK_STREAM,
                                        "udp": socket.SOCK_DGRAM}[kind]) as foreign:
        foreign.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        foreign.bind(("127.0.0.1", 0))
        if kind == "tcp":
            foreign.listen()
        port = foreign.getsockname()[1]
        with pytest.raises(Refused) as refused:
            daemon.server("late", listen=[f"{kind}://127.0.0.1:{port}"], threads=threads)
    assert f"127.0.0.1:{port}" in refused.value.message
    assert "another program" in refused.value.remedy


def test_a_foreign_process_on_a_unix_path_is_said_to_be_one(daemon, tmp_path):
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(f"{tmp_path}/path")
        foreign.listen()
        with pytest.raises(Refused, match="another process serves it"):
            daemon.server("late", listen=[f"unix://{tmp_path}/path"])


def test_one_server_cannot_have_one_port_twice(daemon):
    port = free_port()
    twice = [f"tcp://0.0.0.0:{port}", f"tcp://127.0.0.1:{port}"]
    with pytest.raises(Refused) as refused:
        daemon.server("twice", listen=twice)
    assert f"its endpoints {twice[0]} and {twice[1]} are the same address" in refused.value.message
    daemon.server("twice", listen=[f"tcp://127.0.0.1:{port}"])


@pytest.mark.parametrize("threads", [1, 2])
def test_of_many_that_start_at_once_on_one_port_one_gets_it(daemon, threads):
    port = free_port()
    for round in range(5):
        names = [f"s{round}-{number}" for number in range(4)]
        for name in names:
            daemon.create("server", name, start=False, threads=threads,
                          listen=[f"tcp://127.0.0.1:{port}"])

        def start(name):
            try:
                daemon.act(name, "start")
            except Refused:
                pass

        starts = [threading.Thread(target=start, args=(name,)) for name in names]
        for each in starts:
            each.start()
        for each in starts:
            each.join()
        states = sorted(daemon.show(name)["state"] for name in names)
        assert states == ["failed", "failed", "failed", "running"]
        for name in names:
            daemon.remove(name)


def test_a_failed_start_leaves_nothing_open(daemon):
    taken, free = free_port(), free_port()
    daemon.server("first", listen=[f"tcp://127.0.0.1:{taken}"])
    with pytest.raises(Refused):
        daemon.server("second", listen=[f"tcp://127.0.0.1:{free}", f"tcp://127.0.0.1:{taken}"])
    with pytest.raises(ConnectionRefusedError):
        Talker(f"tcp://127.0.0.1:{free}")
    daemon.server("third", listen=[f"tcp://127.0.0.1:{free}"])
