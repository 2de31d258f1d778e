"""Secrets come to the command line without being arguments: in files, variables, on its input."""

import json
import os
import socket
import stat
import subprocess
import threading

import pytest

from resp_wire import Wire, encode
from strata_daemon import BINARY, PATIENCE, eventually
from talker import Talker
from terminal import Terminal

pytestmark = pytest.mark.once

FAILED, MISUSED = 1, 2
SECRET = "s3cret of nobody"


def is_password(url, password):
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), PATIENCE) as one:
        one.sendall(encode(["AUTH", password]))
        return one.recv(1000) == b"+OK\r\n"


def create(daemon, name, value, *more, given="", **variables):
    """A cache whose password is where `value` says; the CLI's result."""
    return subprocess.run(
        [BINARY, "create", "cache", name, "-l", "tcp://127.0.0.1:0", "--resp", "-s", "--password",
         value, *more], env=daemon.environment | variables, input=given, text=True,
        capture_output=True, timeout=PATIENCE)


def password_is(daemon, name, password):
    [url] = daemon.show(name)["endpoints"]
    return is_password(url, password) and not is_password(url, password + "x")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "secret"
    path.write_text(SECRET + "\nand what is not it\n")
    return path


def test_a_secret_is_the_first_line_of_a_file(daemon, file, tmp_path):
    assert create(daemon, "db", f"@{file}").returncode == 0
    assert password_is(daemon, "db", SECRET)
    for name, text in [("whole", SECRET), ("windows", SECRET + "\r\n")]:
        (tmp_path / name).write_bytes(text.encode())
        assert create(daemon, name, f"@{tmp_path / name}").returncode == 0
        assert password_is(daemon, name, SECRET)


def test_a_secret_file_is_the_callers_and_may_be_a_pipe(daemon, file):
    done = subprocess.run(
        ["bash", "-c", f'cd "{file.parent}" && "{BINARY}" create cache near -l tcp://127.0.0.1:0 '
                       f'-s --password @{file.name} && "{BINARY}" create cache pipe '
                       f'-l tcp://127.0.0.1:0 -s --password @<(cat secret)'],
        env=daemon.environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done
    assert password_is(daemon, "near", SECRET) and password_is(daemon, "pipe", SECRET)


def test_a_secret_is_the_first_line_of_the_input(daemon):
    assert create(daemon, "db", "-", given=SECRET + "\nmore\n").returncode == 0
    assert password_is(daemon, "db", SECRET)


def test_a_terminal_does_not_show_the_secret_that_is_typed(daemon):
    with Terminal(daemon, "create", "cache", "db", "-l", "tcp://127.0.0.1:0", "-s", "--password",
                  "-") as terminal:
        terminal.shows(b"--password: ")
        terminal.type(SECRET.encode() + b"\n")
        assert terminal.exit_code() == 0
        assert SECRET.encode() not in terminal.screen
    assert password_is(daemon, "db", SECRET)


def test_a_secret_is_in_a_variable(daemon):
    assert create(daemon, "db", "env:OF_DB", OF_DB=SECRET).returncode == 0
    assert password_is(daemon, "db", SECRET)


@pytest.mark.parametrize("text", ["plain", "@home", "-", "env:HOME", "pass:word", "-x", ""])
def test_any_text_can_be_the_secret(daemon, text):
    assert create(daemon, "db", "pass:" + text).returncode == 0
    assert password_is(daemon, "db", text) or text == ""
    if text in ("plain", "-x", ""):
        assert create(daemon, "as-it-is", text).returncode == 0
        assert password_is(daemon, "as-it-is", text) or text == ""


def test_each_option_that_is_secret_can_be_in_a_file(daemon, file):
    [leader] = daemon.create("cache", "leader", listen=["tcp://127.0.0.1:0"],
                             password=SECRET)["endpoints"]
    daemon.cli("create", "cache", "follower", "-l", "tcp://127.0.0.1:0", "--follow", leader,
               "--follow-password", f"@{file}", "--password", f"@{file}", "-s")
    [port] = [int(url.rpartition(":")[2]) for url in daemon.show("follower")["endpoints"]]

    def follows():
        wire = Wire(port)
        wire.ask("AUTH", SECRET)
        return b"master_link_status:up" in wire.ask("INFO", "replication")

    eventually(follows, "it follows")
    daemon.cli("create", "server", "field", "-l", "udp://127.0.0.1:0", "--udp-join", f"@{file}",
               "-s")
    [url] = daemon.show("field")["endpoints"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.settimeout(PATIENCE)
        peer.connect(("127.0.0.1", int(url.rpartition(":")[2])))
        peer.send(SECRET.encode())
        assert peer.recv(100).strip() == b"joined"


def test_an_edit_takes_its_secret_from_a_file(daemon, file):
    [url] = daemon.server("s", mode="master", master_pw="before")
    daemon.cli("edit", "s", "--master-pw", f"@{file}")
    with Talker(url) as ann:
        ann.say(f"master {SECRET}".encode())
        assert ann.hear() == b"master: ok"


WRONG = {
    "no file": ("@nowhere", ["'nowhere'", "No such file", "pass:@nowhere"]),
    "no name": ("@", ["''", "No such file"]),
    "a folder": ("@.", ["'.'", "Is a directory"]),
    "empty": ("@empty", ["'empty'", "is empty", "first line"]),
    "an empty line": ("@blank", ["'blank'", "is empty"]),
    "long": ("@long", ["'long'", "longer than 65536 bytes"]),
    "longer than a secret": ("@page", ["at most 4096 bytes"]),
    "without end": ("@/dev/zero", ["'/dev/zero'", "longer than"]),
    "a zero": ("@zero", ["'zero'", "value 0"]),
    "no text": ("@latin", ["not UTF-8"]),
    "no variable": ("env:NOT_THERE", ["'NOT_THERE'", "not set", "pass:env:NOT_THERE"]),
    "no variable's name": ("env:", ["''", "not set"]),
    "an empty variable": ("env:EMPTY", ["'EMPTY'", "is empty"]),
    "no input": ("-", ["standard input", "is empty"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_can_be_no_secret_is_told_and_nothing_is_created(daemon, tmp_path, case, monkeypatch):
    value, told = WRONG[case]
    for name, content in {"empty": b"", "blank": b"\nsecret\n", "long": b"x" * 70000, "page":
                          b"x" * 5000, "zero": b"a\0b\n", "latin": b"gr\xfc\xdfe\n"}.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    done = create(daemon, "db", value, EMPTY="")
    assert done.returncode == FAILED and done.stderr.startswith("strata: --password: "), done
    assert all(each in done.stderr for each in told), done.stderr
    assert daemon.names() == []


def test_a_file_that_cannot_be_read_is_told(daemon, file, root):
    file.chmod(0)
    done = subprocess.run(["setpriv", "--bounding-set=-all", "--inh-caps=-all", BINARY, "create",
                           "cache", "db", "--password", f"@{file}"], env=daemon.environment,
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == FAILED and "Permission denied" in done.stderr
    assert daemon.names() == []


def test_two_secrets_cannot_be_one_line(daemon):
    done = create(daemon, "db", "-", "--follow-password", "-", given="one\ntwo\n")
    assert done.returncode == MISUSED
    assert "--password and --follow-password both want" in done.stderr
    assert daemon.names() == []


def test_a_secret_out_of_a_file_is_in_no_argument_and_no_output(daemon, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    creating = daemon.begin("create", "cache", "db", "-l", "tcp://127.0.0.1:0", "--password",
                            f"@{path}", "-s")
    with open(path, "w", encoding="utf-8") as pipe:  # it has begun to read
        seen = [open(f"/proc/{pid}/{what}", "rb").read() for pid in (creating.pid, daemon.pid)
                for what in ("cmdline", "environ")]
        pipe.write(SECRET + "\n")
    assert creating.wait(PATIENCE) == 0, creating.stderr.read()
    creating.stderr.close()
    assert password_is(daemon, "db", SECRET)
    seen.append(open(f"/proc/{daemon.pid}/cmdline", "rb").read())
    for verb in (["show", "db"], ["show", "db", "--format", "json"], ["logs", "db"], ["events"],
                 ["ls", "--format", "json"], ["stats", "db"]):
        seen.append(daemon.cli(*verb).encode())
    seen.append(daemon.log().encode())
    assert len(seen) > 10 and not any(SECRET.encode() in each for each in seen)


def test_the_state_folder_alone_has_secrets_and_not_where_they_were(daemon, file):
    assert create(daemon, "db", f"@{file}").returncode == 0
    kept = daemon.state_dir / "runtimes" / "db.json"
    text = kept.read_text()
    assert json.loads(text)["options"]["password"] == SECRET and str(file) not in text
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(daemon.state_dir.stat().st_mode) == 0o700


def test_a_secret_that_comes_slowly_is_waited_for(daemon, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write():
        with open(path, "wb", buffering=0) as pipe:
            for letter in SECRET.encode():
                pipe.write(bytes([letter]))

    writing = threading.Thread(target=write)
    writing.start()
    assert create(daemon, "db", f"@{path}").returncode == 0
    writing.join()
    assert password_is(daemon, "db", SECRET)


def test_help_says_how_a_secret_is_given(daemon):
    for verb in (["create", "cache"], ["create", "server"]):
        said = daemon.cli(*verb, "--help")
        assert all(form in said for form in ("@FILE", "env:VARIABLE", "pass:TEXT"))
    assert "@FILE" not in daemon.cli("create", "client", "--help")
