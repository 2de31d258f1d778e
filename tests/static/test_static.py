"""A statically linked `strata` in a root folder that contains nothing else: `make test-static` and
`make test-arm64`. QEMU runs a program for another machine, and is in the folder too.

STRATA_BIN is the program, STRATA_EMULATOR the emulator that runs it (empty: this machine).
"""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest

BINARY = os.environ["STRATA_BIN"]
EMULATOR = os.environ.get("STRATA_EMULATOR", "")
PATIENCE = 30


class Cell:
    """A folder that contains only the program, and is its root directory."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copy(BINARY, folder / "strata")
        self.prefix = ["/usr/sbin/chroot", str(folder)]
        if EMULATOR:
            shutil.copy(shutil.which(EMULATOR), folder / "emulator")
            self.prefix.append("/emulator")
        self.daemon = None

    def run(self, *words, **how):
        return subprocess.run([*self.prefix, "/strata", *words], capture_output=True, text=True,
                              timeout=PATIENCE, env={"STRATA_SOCKET": "/control.sock"},
                              **{"check": True} | how)

    def say(self, *words):
        return self.run(*words).stdout

    def start(self):
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            self.daemon = subprocess.Popen(
                [*self.prefix, "/strata", "daemon", "--socket", "/control.sock", "--state-dir",
                 "/state"], stdout=log, stderr=log, env={})
        until = time.monotonic() + PATIENCE
        while not (self.folder / "control.sock").exists():
            assert self.daemon.poll() is None and time.monotonic() < until, self.log()
            time.sleep(0.05)

    def log(self):
        return (self.folder / "log").read_text()

    def port(self, *words):
        """Creates a runtime and returns its port."""
        self.run("create", *words, "-s")
        [shown] = json.loads(self.say("show", words[1], "--format", "json"))
        return int(shown["endpoints"][0].rsplit(":", 1)[1])


@pytest.fixture
def cell(tmp_path):
    made = Cell(tmp_path)
    made.start()
    yield made
    made.daemon.send_signal(signal.SIGTERM)
    try:
        assert made.daemon.wait(PATIENCE) == 0, made.log()
    finally:
        made.daemon.kill()


def dial(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def test_it_needs_no_library_and_no_loader():
    said = subprocess.run(["readelf", "-Wld", BINARY], capture_output=True, text=True, check=True)
    assert "NEEDED" not in said.stdout and "INTERP" not in said.stdout


def test_a_server_and_its_script(cell):
    (cell.folder / "upper.lua").write_text("""
        function on_client_message(id, message) self.send(id, message:upper()) end""")
    port = cell.port("server", "upper", "--listen", "tcp://127.0.0.1:0", "--lua", "/upper.lua")
    with dial(port) as wire:
        wire.sendall(b"hello\n")
        assert wire.recv(100) == b"HELLO\n"
    assert "upper" in cell.say("list")


def test_a_cache(cell):
    port = cell.port("cache", "db", "--listen", "tcp://127.0.0.1:0")
    with dial(port) as wire:
        wire.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"
                     b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n")
        said = b""
        while len(said) < 12:
            said += wire.recv(100)
        assert said == b"+OK\r\n$1\r\nv\r\n"


def test_tls(cell):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2",
                    "-keyout", cell.folder / "key", "-out", cell.folder / "cert"],
                   check=True, capture_output=True)
    port = cell.port("server", "safe", "--listen", "tls://127.0.0.1:0", "--cert", "/cert", "--key",
                     "/key", "--mode", "echo")
    context = ssl.create_default_context(cafile=cell.folder / "cert")
    with context.wrap_socket(dial(port), server_hostname="localhost") as wire:
        wire.sendall(b"hello\n")
        assert wire.recv(100) == b"hello\n"


def test_names_are_looked_up_without_the_machines_libraries(cell):
    (cell.folder / "etc").mkdir()
    (cell.folder / "etc/hosts").write_text("127.0.0.1 there.example\n")
    port = cell.port("server", "here", "--listen", "tcp://127.0.0.1:0", "--mode", "echo")
    done = cell.run("pipe", "-", f"tcp://there.example:{port}", input="hello\n")
    assert done.stdout == "hello\n"
    done = cell.run("pipe", "-", f"tcp://nowhere.example:{port}", input="hello\n", check=False)
    assert done.returncode != 0 and "nowhere.example" in done.stderr


@pytest.mark.skipif(bool(EMULATOR), reason="QEMU's emulation of programs has no AF_PACKET of netns")
def test_raw_ethernet_and_af_xdp(cell):
    found = json.loads(cell.say("l2", "link", "list", "--format", "json"))
    assert any(each["name"] == "lo" for each in found)
    sent = json.loads(cell.say("xdp", "gen", "lo", "-c", "10", "--format", "json"))
    assert sent["packets"] == 10


def test_what_it_cannot_is_said(cell):
    """The static program loads no libraries: neither libssh nor binary Lua modules."""
    done = cell.run("bench", "remote", "--host", "somebody@127.0.0.1",
                    "--iface", "lo", "--remote-iface", "lo", check=False)
    assert done.returncode != 0 and "statically linked" in done.stderr
    (cell.folder / "native.lua").write_text("""
        local load, why = package.loadlib('/native.so', 'luaopen_native')
        function on_start() print(why) end""")
    (cell.folder / "native.so").write_bytes(b"no library")
    cell.port("server", "native", "--listen", "tcp://127.0.0.1:0", "--lua", "/native.lua",
              "--lua-unsafe")
    assert "native.so" in cell.say("logs", "native")


# Unit tests that need sockets and counters of the kernel that QEMU's user-mode emulation lacks:
# AF_PACKET, AF_XDP, netlink, io_uring, perf.
NOT_EMULATED = """
    backends/* *uring* *simulation* *raw_socket* *ring_test* *xdp* *umem* *veth* strata_* nl_*
    typed_* generic_test* *shaper* *broker* *sent_frames* *qdisc* *route* *link_* *held_frame*
    *card_stamps* *hybrid_test* *ipc_channel_test* *ipc_port_test* ethtool_test*
    paths_thread_events*"""


def test_unit_tests():
    """Runs codecs, parsers, tables, the cache's structures, scripts: over 700 tests."""
    tests = Path(BINARY).parent / "tests" / "strata_unit_tests"
    left_out = "-" + ":".join(NOT_EMULATED.split()) if EMULATOR else "-*simulation*"
    done = subprocess.run([*EMULATOR.split(), tests, "--gtest_brief=1",
                           f"--gtest_filter={left_out}"], cwd=tests.parent, capture_output=True,
                          text=True, timeout=3600, check=False, env={**os.environ, "STRATA_CI": ""})
    assert done.returncode == 0, done.stdout[-5000:]
    print(done.stdout.splitlines()[-1])
