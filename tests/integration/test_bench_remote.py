"""strata bench remote: real ssh to a real sshd, real sudo; ssh_host.py has the drawing."""

import glob
import json
import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ssh_host import PASSWORD, PORT, SshHost, make_key
from strata_daemon import BINARY
from veth import Veth

pytestmark = pytest.mark.once

SHORT = {"--paths": "udp,packet_ring", "--payloads": "50", "--seconds": "0.05",
         "--runs": "2", "--tagged": "none", "--measures": "one-way,round-trip"}


@pytest.fixture(scope="module")
def veth():
    if os.geteuid() != 0:
        pytest.skip("NEEDS ROOT: it makes network namespaces")
    made = Veth()
    yield made
    made.close()


@pytest.fixture
def make_host(veth):
    made = []

    def make(**how):
        made.append(SshHost(veth, **how))
        return made[-1]

    yield make
    for each in made:
        left = each.leftovers()
        each.close()
        assert left == []


def command(host, *flags, user="root", key=None, iface="vethB"):
    """Returns the command with the usual flags, except those that `flags` replace.
    `key`: "" omits the flag."""
    key = host.key if key is None else key
    usual = {"--host": f"{user}@192.0.2.2:{PORT}", **({"--ssh-key": str(key)} if key else {}),
             "--known-hosts": str(host.known_hosts), "--iface": "vethA", "--remote-iface": iface,
             **SHORT, "--format": "json"}
    return ["ip", "netns", "exec", host.veth.a, BINARY, "bench", "remote",
            *(word for pair in usual.items() if pair[0] not in flags for word in pair), *flags]


def bench(host, *flags, environment=None, pass_fds=(), **how):
    return subprocess.run(command(host, *flags, **how), capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, pass_fds=pass_fds, start_new_session=True,
                          env={**os.environ, **(environment or {})})


def check_measured(done, paths=("udp", "packet_ring")):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["link"]["kind"] == "interface"
    assert {row["path"] for row in told["one_way"]} == set(paths)
    for row in told["one_way"] + told["round_trip"]:
        assert "failure" not in row, row
        assert len(row["figure_of_each_run"]) == 2 and row["sent"] > 0 and row["delivered"] > 0
        assert row["duplicates"] == row["strays"] == 0
    return told


def check_refused(done, *parts):
    assert done.returncode != 0
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr


def test_it_copies_itself_measures_and_leaves_nothing(make_host):
    host = make_host()
    told = check_measured(bench(host, "--paths", "udp,packet_ring,plain_packet"),
                          ("udp", "packet_ring", "plain_packet"))
    # Nothing of it remains when it returns, not even for a moment.
    assert host.leftovers(patience=0) == []
    assert told["link"]["near"]["interface"] == "vethA"
    assert told["link"]["far"]["interface"] == "vethB"
    assert told["link"]["far"]["address"] == "192.0.2.2"
    assert {row["wait"] for row in told["round_trip"]} == {"busy", "blocking"}


def test_the_report_is_written_here(make_host, tmp_path):
    check_measured(bench(make_host(), "-o", str(tmp_path / "made")))
    assert "results.json" in os.listdir(tmp_path / "made")


def test_an_unknown_host_key_is_refused_until_it_is_accepted(make_host):
    host = make_host()
    host.known_hosts.unlink()
    print_of = subprocess.run(["ssh-keygen", "-lf", f"{host.host_key}.pub"], check=True,
                              capture_output=True, text=True).stdout.split()[1]
    check_refused(bench(host), "is unknown", print_of, "--accept-new-host-key")
    assert not host.known_hosts.exists()
    check_measured(bench(host, "--accept-new-host-key"))
    check_measured(bench(host))


@pytest.mark.parametrize("flags", [(), ("--accept-new-host-key",)])
def test_a_changed_host_key_is_refused_whatever_is_said(make_host, flags, tmp_path):
    host = make_host()
    host.know(make_key(tmp_path / "another"))
    before = host.known_hosts.read_text()
    check_refused(bench(host, *flags), "host key has changed", str(host.known_hosts),
                  "ssh-keygen -R")
    assert host.known_hosts.read_text() == before


def test_keys_that_do_not_open_are_named(make_host, tmp_path):
    host = make_host()
    another = make_key(tmp_path / "another")
    check_refused(bench(host, key=another), "cannot log in to root@192.0.2.2",
                  f"with the key {another}: the key was refused",
                  f"add {another}.pub to ~/.ssh/authorized_keys")
    check_refused(bench(host, key=tmp_path / "none"), f"cannot read the key {tmp_path}/none",
                  "No such file")
    check_refused(bench(host, key=f"{host.key}.pub"), "not an SSH private key", ".pub")


def test_a_key_with_a_passphrase(make_host, tmp_path):
    host = make_host()
    key = make_key(tmp_path / "locked", "-N", "open sesame")
    (host.folder / "authorized_keys").write_text(Path(f"{key}.pub").read_text())
    check_measured(bench(host, key=key, environment={"STRATA_KEY_PASSPHRASE": "open sesame"}))
    for environment in ({}, {"STRATA_KEY_PASSPHRASE": "wrong"}):
        check_refused(bench(host, key=key, environment=environment), "passphrase",
                      "STRATA_KEY_PASSPHRASE")


def test_keys_of_the_agent(make_host, tmp_path):
    host = make_host()
    agent = {"SSH_AUTH_SOCK": str(tmp_path / "agent")}
    running = subprocess.Popen(["ssh-agent", "-D", "-a", agent["SSH_AUTH_SOCK"]],
                               stdout=subprocess.DEVNULL)
    try:
        while not os.path.exists(agent["SSH_AUTH_SOCK"]):
            time.sleep(0.01)
        check_refused(bench(host, key="", environment=agent), "cannot log in", "--ssh-key FILE")
        subprocess.run(["ssh-add", "-q", str(host.key)], check=True, timeout=30,
                       env={**os.environ, **agent}, stderr=subprocess.DEVNULL)
        check_measured(bench(host, key="", environment=agent))
    finally:
        running.terminate()
        running.wait(timeout=30)


def test_a_host_that_cannot_be_reached_is_named(make_host):
    host = make_host()
    check_refused(bench(host, "--host", "root@192.0.2.2:2223"), "cannot connect to root@192.0.2.2",
                  "refused")
    check_refused(bench(host, "--host", "nowhere.invalid"), "cannot connect to nowhere.invalid")


def test_without_libssh_the_package_is_named(make_host):
    host = make_host()
    [path] = glob.glob("/usr/lib/*/libssh.so.4")
    hide = f'mount --bind /dev/null {path} && exec "$@"'
    done = subprocess.run(["unshare", "--mount", "sh", "-c", hide, "sh", *command(host)],
                          capture_output=True, text=True, timeout=120, check=False)
    check_refused(done, "cannot load libssh", "apt-get install libssh-4")


def test_what_is_wrong_there_is_said_before_anything_is_copied(make_host):
    host = make_host()
    check_refused(bench(host, iface="eth9"), "no interface has this name", "eth9", "choose from",
                  "vethB")
    check_refused(bench(host, "--remote-dir", str(host.folder / "none")), "cannot create a folder",
                  "--remote-dir")


def test_another_kind_of_machine_is_refused(make_host, tmp_path):
    tmp_path.chmod(0o755)
    uname = tmp_path / "uname"
    uname.write_text("#!/bin/sh\necho Linux riscv64\n")
    uname.chmod(0o755)
    host = make_host(path=f"{tmp_path}:/usr/bin:/bin")
    check_refused(bench(host), "Linux riscv64", f"Linux {os.uname().machine}", "bench paths --peer")


def test_a_user_without_a_shell_is_refused(make_host):
    check_refused(bench(make_host(shell="/usr/sbin/nologin"), user="tester"), "not available")


def test_where_programs_may_not_run_says_so(make_host):
    host = make_host()
    closed = host.folder / "closed"
    closed.mkdir()
    # The mount is in sshd's own view of the file system.
    subprocess.run(["nsenter", "-m", "-t", str(host.sshd.pid), "mount", "-t", "tmpfs", "-o",
                    "noexec", "closed", str(closed)], check=True, timeout=30)
    check_refused(bench(host, "--remote-dir", str(closed)), "Permission denied", "--remote-dir")


def test_a_machine_without_our_libraries_gets_them(make_host):
    linked = subprocess.run(["ldd", BINARY], check=True, capture_output=True, text=True).stdout
    fmt = next(line.split()[2] for line in linked.splitlines() if "libfmt" in line)
    host = make_host(covered=[(os.path.realpath(fmt), "/dev/null")])
    alone = subprocess.run(["nsenter", "-m", "-t", str(host.sshd.pid), BINARY, "--help"],
                           capture_output=True, text=True, timeout=30)
    assert alone.returncode == 127 and "libfmt" in alone.stderr
    check_measured(bench(host))


def test_the_same_program_is_not_copied(make_host, tmp_path):
    (tmp_path / "strata").symlink_to(BINARY)
    host = make_host(path=f"{tmp_path}:/usr/bin:/bin")
    # The host has no place for a copy.
    check_measured(bench(host, "--remote-dir", str(host.folder / "none")))
    (tmp_path / "strata").unlink()
    (tmp_path / "strata").write_text("#!/bin/sh\necho an older strata\n")
    (tmp_path / "strata").chmod(0o755)
    check_measured(bench(host))


def test_sudo_that_wants_no_password(make_host):
    check_measured(bench(make_host(sudo="free"), user="tester"))


def test_sudo_that_wants_a_password_gets_it(make_host):
    host = make_host(sudo="password")
    check_measured(bench(host, user="tester", environment={"STRATA_SUDO_PASSWORD": PASSWORD}))
    reading, writing = os.pipe()
    os.write(writing, PASSWORD.encode() + b"\n")
    os.close(writing)
    check_measured(bench(host, "--sudo-password-fd", str(reading), user="tester",
                         pass_fds=[reading]))
    os.close(reading)


def test_sudo_that_cannot_be_had_is_explained(make_host):
    host = make_host(sudo="password")
    check_refused(bench(host, user="tester"), "cannot become root on tester@192.0.2.2",
                  "a password is required", "no terminal", "STRATA_SUDO_PASSWORD")
    check_refused(bench(host, user="tester", environment={"STRATA_SUDO_PASSWORD": "wrong"}),
                  "cannot become root on tester@192.0.2.2", "sudo failed", "try again")


def test_a_user_who_may_not_use_sudo(make_host):
    check_refused(bench(make_host(sudo="no"), user="tester",
                        environment={"STRATA_SUDO_PASSWORD": PASSWORD}),
                  "cannot become root on tester@192.0.2.2", "not in the sudoers file", "root@")


def test_a_machine_without_sudo(make_host):
    host = make_host(covered=[("/usr/bin/sudo", "/dev/null")])
    check_refused(bench(host, user="tester"), "sudo is not installed", "log in as root")


class Terminal:
    """strata bench remote on a terminal."""

    def __init__(self, host, user):
        self.process, self.fd = pty.fork()
        if self.process == 0:
            line = command(host, user=user)
            os.execvp(line[0], line)
        self.seen = ""

    def read_until(self, text):
        while text not in self.seen:
            assert select.select([self.fd], [], [], 30)[0], f"it says no more than: {self.seen}"
            self.seen += os.read(self.fd, 4096).decode()

    def end(self):
        try:
            while True:
                self.read_until("what never comes")
        except OSError:
            pass  # the error of a terminal that no process has open any more
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def test_sudo_password_from_the_terminal(make_host):
    host = make_host(sudo="password")
    terminal = Terminal(host, "tester")
    terminal.read_until("sudo password on 192.0.2.2: ")
    os.write(terminal.fd, b"wr\x7f\x7f" + PASSWORD.encode() + b"\r")
    assert terminal.end() == 0, terminal.seen
    assert PASSWORD not in terminal.seen
    assert '"packets_per_s"' in terminal.seen


def test_ctrl_c_at_the_password_ends_it(make_host):
    host = make_host(sudo="password")
    terminal = Terminal(host, "tester")
    terminal.read_until("sudo password on 192.0.2.2: ")
    os.write(terminal.fd, b"\x03")
    assert terminal.end() == -signal.SIGINT
    assert host.leftovers() == []


@pytest.mark.parametrize("user", ["root", "tester"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_there_however_it_ends(make_host, how, user):
    host = make_host()
    running = subprocess.Popen(command(host, "--seconds", "30", user=user),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(1000):
        if sum("bench node" in each for each in host.processes()) >= 2 and os.listdir(host.there):
            break  # the node, and its child that measures
        time.sleep(0.02)
    else:
        raise AssertionError(f"no node: {host.processes()}")
    running.send_signal(how)
    assert running.wait(timeout=30) == -how
    assert host.leftovers() == []


def test_what_is_asked_wrongly_is_refused_before_anybody_is_reached(make_host):
    host = make_host()
    for flags, part in [(["--host", ""], "name the machine and the interface at either end"),
                        (["--host", "a:b"], "[USER@]HOST[:PORT]"),
                        (["--host", "@a"], "[USER@]HOST[:PORT]"),
                        (["--host", "a:70000"], "[USER@]HOST[:PORT]"),
                        (["--iface", "eth9"], "eth9"),
                        (["--paths", "nonsense"], "choose from tcp"),
                        (["--rate", "100"], "--rate")]:
        check_refused(bench(host, *flags), part)
