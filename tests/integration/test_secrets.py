"""Secrets reach the command line without being arguments: through files, variables and its
input."""

import json
import os
import signal
import socket
import stat
import subprocess
import threading

import pytest

from resp_wire import Wire, encode
from strata_daemon import BINARY, PATIENCE, Daemon, Refused, eventually
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
    """Creates a cache whose password is where `value` says; returns the CLI's result."""
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


def test_ctrl_c_where_a_secret_is_asked_for_ends_it_as_anywhere(daemon):
    with Terminal(daemon, "create", "cache", "db", "-l", "tcp://127.0.0.1:0", "--password",
                  "-") as terminal:
        terminal.shows(b"--password: ")
        terminal.type(b"\x03")
        assert terminal.exit_code() == -signal.SIGINT
    assert daemon.names() == []


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
    assert "--password and --follow-password both read" in done.stderr
    assert daemon.names() == []


def test_a_secret_out_of_a_file_is_in_no_argument_and_no_output(daemon, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    creating = daemon.begin("create", "cache", "db", "-l", "tcp://127.0.0.1:0", "--password",
                            f"@{path}", "-s")
    with open(path, "w", encoding="utf-8") as pipe:  # the CLI has begun to read
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
        forms = ("@FILE", "env:VARIABLE", "credential:NAME", "pass:TEXT")
        assert all(form in said for form in forms)
    assert "@FILE" not in daemon.cli("create", "client", "--help")


# --- credentials: secrets that the service manager gives the daemon ----------------------------

@pytest.fixture
def credentials(tmp_path):
    """Returns the folder that systemd would make for `LoadCredential=db:FILE`."""
    folder = tmp_path / "credentials"
    folder.mkdir(mode=0o700)
    keep(folder, "db", SECRET)
    return folder


def keep(folder, name, text):
    (folder / name).unlink(missing_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / name).chmod(0o400)


@pytest.fixture
def unit(tmp_path, credentials):
    """Makes a daemon as a unit with credentials starts it."""
    one = Daemon(tmp_path / "unit", variables={"CREDENTIALS_DIRECTORY": str(credentials)})
    yield one.start()
    one.close()


def files_below(folder):
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


def test_a_secret_in_a_credential_is_in_no_state_file(unit):
    assert create(unit, "db", "credential:db").returncode == 0
    assert password_is(unit, "db", SECRET)
    kept = json.loads((unit.state_dir / "runtimes" / "db.json").read_text())
    assert kept["options"]["password"] == "credential:db"
    assert SECRET.encode() not in files_below(unit.state_dir)
    unit.restart()
    assert password_is(unit, "db", SECRET)
    assert SECRET.encode() not in files_below(unit.state_dir)


def test_a_reference_is_shown_and_the_secret_is_not(unit):
    assert create(unit, "db", "credential:db").returncode == 0
    assert unit.show("db")["options"]["password"] == "credential:db"
    seen = [unit.cli("show", "db"), unit.cli("show", "db", "--format", "json"),
            unit.cli("logs", "db"), unit.cli("events"), unit.log()]
    assert "credential:db" in seen[0] and not any(SECRET in each for each in seen)


def test_a_credential_is_read_when_a_runtime_starts(unit, credentials):
    assert create(unit, "db", "credential:db").returncode == 0
    keep(credentials, "db", "another\n")
    unit.edit("db", rate_limit=1000)  # an edit keeps options that it does not name
    assert password_is(unit, "db", SECRET)
    unit.act("db", "restart")
    assert password_is(unit, "db", "another")


def test_an_edit_takes_a_credential_and_leaves_one(unit, credentials):
    keep(credentials, "new", "the new one\n")
    assert create(unit, "db", "credential:db").returncode == 0
    unit.cli("edit", "db", "--password", "credential:new")
    assert password_is(unit, "db", "the new one")
    assert unit.show("db")["options"]["password"] == "credential:new"
    with pytest.raises(Refused, match="credential 'gone'.*no file in"):
        unit.edit("db", password="credential:gone")
    assert password_is(unit, "db", "the new one")
    unit.edit("db", password="text")
    assert password_is(unit, "db", "text")
    assert unit.show("db")["options"]["password"] == "********"


def test_each_secret_option_can_be_a_credential(unit, credentials):
    [leader] = unit.create("cache", "leader", listen=["tcp://127.0.0.1:0"],
                           password=SECRET)["endpoints"]
    [follower] = unit.create("cache", "follower", listen=["tcp://127.0.0.1:0"], follow=leader,
                             password="credential:db",
                             follow_password="credential:db")["endpoints"]

    def follows():
        wire = Wire(int(follower.rpartition(":")[2]))
        wire.ask("AUTH", SECRET)
        return b"master_link_status:up" in wire.ask("INFO", "replication")

    eventually(follows, "it follows")
    [url] = unit.server("s", mode="master", master_pw="credential:db")
    with Talker(url) as ann:
        ann.say(f"master {SECRET}".encode())
        assert ann.hear() == b"master: ok"
    keep(credentials, "short", "abc\n")
    with pytest.raises(Refused, match="short enough to be guessed"):
        unit.server("field", listen=["udp://127.0.0.1:0"], udp_join="credential:short")


def test_a_client_may_set_a_password_in_a_credentials_place(unit):
    assert create(unit, "db", "credential:db").returncode == 0
    [url] = unit.show("db")["endpoints"]
    wire = Wire(int(url.rpartition(":")[2]))
    wire.ask("AUTH", SECRET)
    assert SECRET.encode() in wire.ask("CONFIG", "GET", "requirepass")
    assert b"credential" in wire.ask("CONFIG", "SET", "requirepass", "credential:db")
    assert b"OK" in wire.ask("CONFIG", "SET", "requirepass", "set by a client")
    assert password_is(unit, "db", "set by a client")
    eventually(lambda: unit.show("db")["options"]["password"] == "********", "it is kept")


def test_the_command_line_reads_its_own_credentials(unit, credentials):
    assert create(unit, "db", "credential:db").returncode == 0
    assert "PONG" in unit.cli("tell", "--password", "credential:db", "db", "PING")


def spoil(folder, how):
    path = folder / "db"
    path.chmod(0o600)
    if how == "no folder":
        path.unlink()
        folder.rmdir()
    elif how == "no file":
        path.unlink()
    elif how == "a link":
        path.rename(folder / "other")
        path.symlink_to(folder / "other")
    elif how == "a pipe":
        path.unlink()
        os.mkfifo(path)
    elif how == "a folder":
        path.unlink()
        path.mkdir()
    elif how == "of others":
        path.chmod(0o666)
    elif how == "a folder of others":
        folder.chmod(0o777)
    else:
        path.write_bytes({"empty": b"", "an empty line": b"\nsecret\n", "a zero": b"a\0b\n",
                          "no text": b"gr\xfc\xdfe\n", "long": b"x" * 5000}[how])


SPOILT = {"no folder": "No such file", "no file": "has this name", "a link": "is a link",
          "a pipe": "not a regular file", "a folder": "not a regular file",
          "of others": "others may write", "a folder of others": "others may write",
          "empty": "is empty", "an empty line": "is empty", "a zero": "value 0",
          "no text": "not UTF-8", "long": "longer than 4096"}


@pytest.mark.parametrize("how", SPOILT)
def test_a_credential_that_can_be_no_secret_starts_nothing(unit, credentials, how):
    unit.create("cache", "db", start=False, listen=["tcp://127.0.0.1:0"], password="credential:db")
    spoil(credentials, how)
    with pytest.raises(Refused) as refused:
        unit.act("db", "start")
    assert "--password" in refused.value.message and SPOILT[how] in refused.value.message
    assert unit.show("db")["state"] == "failed"


def test_a_restart_that_lacks_its_credential_takes_nothing_down(unit, credentials):
    assert create(unit, "db", "credential:db").returncode == 0
    spoil(credentials, "no file")
    with pytest.raises(Refused, match="runs on unchanged"):
        unit.act("db", "restart")
    assert password_is(unit, "db", SECRET)


def test_without_credentials_the_unit_is_named(daemon):
    done = create(daemon, "db", "credential:db")
    assert done.returncode == FAILED and "LoadCredential=db:" in done.stderr, done
    assert "CREDENTIALS_DIRECTORY is not set" in done.stderr and daemon.names() == []


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../db", "a b", "x" * 256])
def test_a_credentials_name_is_that_of_a_file(daemon, name):
    done = create(daemon, "db", "credential:" + name)
    assert done.returncode == MISUSED and "credential:NAME" in done.stderr, done
    assert daemon.names() == []


def test_a_secret_that_looks_like_a_reference_is_refused(daemon, tmp_path):
    (tmp_path / "file").write_text("credential:db\n")
    for value in ("pass:credential:db", f"@{tmp_path / 'file'}", "env:OF_DB"):
        done = create(daemon, "db", value, OF_DB="credential:db")
        assert done.returncode == FAILED and "begins with 'credential:'" in done.stderr, done
    assert daemon.names() == []
