"""The CLI against a fake daemon: its requests, its output, its exit codes."""

import json
import pathlib
import re
import signal
import time

import pytest

from checks import DONE, FAILED, MISUSED, NOT_FOUND, check, refusal

# --- create and edit -----------------------------------------------------------------------------


def test_create_sends_typed_options(strata, daemon):
    out = check(strata("create", "server", "web", "-p", "9000", "--max-message", "64K", "--drain",
                       "--idle-timeout", "500ms", "-l", "unix:///a", "--listen=unix:///b", "-s"))
    assert out == "web: running at tcp://*:9000, open to other machines\n"
    [(path, body)] = daemon.asked("POST")
    assert path == "/v1/runtimes"
    assert json.loads(body) == {
        "type": "server", "name": "web", "start": True, "dry_run": False,
        "options": {"port": 9000, "max_message": 65536, "drain": True, "idle_timeout": 0.5,
                    "listen": ["unix:///a", "unix:///b"]}}


def test_create_without_start(strata, daemon):
    assert check(strata("create", "client", "c", "-t", "h:1", "--reconnect")) == "c: created\n"
    assert json.loads(daemon.asked("POST")[0][1]) == {
        "type": "client", "name": "c", "start": False, "dry_run": False,
        "options": {"target": "h:1", "reconnect": 0}}


@pytest.mark.parametrize("given,sent", [
    ([], {"check": "tcp", "drain": True}),
    (["--check", "http"], {"check": "http", "drain": True})])
def test_sidecar_stands_for_the_flags_that_are_not_given(strata, daemon, given, sent):
    check(strata("create", "proxy", "p", "-b", "h:1", "--sidecar", *given))
    assert json.loads(daemon.asked("POST")[0][1])["options"] == {"backend": ["h:1"], **sent}


def test_create_shows_json_or_the_name(strata, daemon):
    out = check(strata("create", "server", "a", "--format", "json"))
    assert json.loads(out)["state"] == "created"
    assert check(strata("-q", "create", "server", "b")) == "b\n"


def test_create_refuses_before_asking(strata, daemon):
    bad = [("serevr", "x"), ("server",), ("server", "x", "--prot", "1"), ("server", "x", "y"),
           ("server", "x", "-p", "70000"), ("server", "x", "--max-message", "1Q"),
           ("server", "x", "--mode", "up"), ("server", "x", "-p"), ("--port", "1", "server", "x"),
           ("server", "x", "-p", "1", "-p", "2"), ("server", "x", "--threads", "0"), ()]
    for arguments in bad:
        refusal(strata("create", *arguments), MISUSED)
    assert daemon.requests == []
    assert "did you mean 'server'?" in strata("create", "serevr", "x").stderr
    assert "did you mean '--port'?" in strata("create", "server", "x", "--prot", "1").stderr


def test_create_tells_the_daemons_own_words(strata, daemon):
    daemon.add("server", "web")
    assert refusal(strata("create", "server", "web"), FAILED) == (
        "strata: cannot create 'web': it exists\n")
    out = refusal(strata("create", "server", "low", "-p", "1", "-s"), FAILED)
    assert out == "strata: cannot bind tcp://*:1: Permission denied; take a port from 1024\n"


def test_a_url_for_target_is_told_where_it_belongs(strata, daemon):
    daemon.add("client", "c")
    for arguments in (("create", "client", "new"), ("edit", "c")):
        said = refusal(strata(*arguments, "-t", "tcp://host:1"), MISUSED)
        assert "write -c tcp://host:1" in said
    assert not daemon.asked("POST") and not daemon.asked("PATCH")
    check(strata("create", "client", "new", "-t", "[::1]:1"))


def test_edit_says_what_needs_a_restart(strata, daemon):
    daemon.add("server", "web", "running", port=1)
    out = check(strata("edit", "web", "--port", "2", "--mode", "in", "--drain=false",
                       "--reset", "max-message", "--reset=--group"))
    assert out == ("in force now: drain, group, max_message, mode\n"
                   "saved, in force from the next start ('strata restart web'): port\n")
    [(path, body)] = daemon.asked("PATCH")
    assert path == "/v1/runtimes/web"
    assert json.loads(body) == {"options": {"port": 2, "mode": "in", "drain": False,
                                            "max_message": None, "group": None}}


def test_edit_takes_the_flags_of_the_runtimes_type(strata, daemon):
    daemon.add("client", "c")
    refusal(strata("edit", "c", "--port", "2"), MISUSED)
    check(strata("edit", "c", "-t", "h:2"))
    assert "--reconnect [N]" in check(strata("edit", "c", "--help"))
    assert "needs a restart" in check(strata("edit", "c", "--help"))


def test_edit_refusals(strata, daemon):
    daemon.add("server", "web")
    assert "nothing to change" in refusal(strata("edit", "web"), MISUSED)
    assert "no option 'prot'" in refusal(strata("edit", "web", "--reset", "prot"), MISUSED)
    refusal(strata("edit", "web", "--mode", "in", "--reset", "mode"), MISUSED)
    refusal(strata("edit", "nobody", "--mode", "in"), NOT_FOUND)
    assert daemon.asked("PATCH") == []
    daemon.add("teapot", "t")
    assert "'teapot'" in refusal(strata("edit", "t", "--mode", "in"), FAILED)


# --- several names -------------------------------------------------------------------------------


def test_lifecycle(strata, daemon):
    daemon.add("server", "web", port=9000)
    said = "web: running at tcp://*:9000, open to other machines\n"
    assert check(strata("start", "web")) == said
    assert check(strata("reload", "web")) == said
    assert check(strata("restart", "web", "-q")) == "web\n"
    [stopped] = json.loads(check(strata("stop", "web", "--format=json")))
    assert stopped["state"] == "stopped"
    assert check(strata("remove", "web")) == "web: removed\n"
    assert daemon.runtimes == {}


def test_globs_and_several_names(strata, daemon):
    for name in ("api-1", "api-2", "web", "odd name"):
        daemon.add("server", name)
    assert check(strata("start", "api-*", "web", "api-1")) == (
        "api-1: running\napi-2: running\nweb: running\n")
    stopped = json.loads(check(strata("stop", "api-?", "--format", "json")))
    assert [one["name"] for one in stopped] == ["api-1", "api-2"]
    assert check(strata("start", "odd name")) == "odd name: running\n"
    assert check(strata("remove", "*", "-q")) == "api-1\napi-2\nodd name\nweb\n"


def test_failures_do_not_keep_others_from_being_done(strata, daemon):
    daemon.add("server", "a", "running")
    daemon.add("server", "b")
    daemon.add("server", "c")
    result = strata("start", "a", "nobody", "b", "x*", "c")
    assert result.returncode == NOT_FOUND  # the glob was resolved first
    assert result.stdout == "b: running\nc: running\n"
    assert result.stderr.splitlines() == [
        "strata: no runtime matches 'x*'; 'strata ls' shows all runtimes",
        "strata: cannot start 'a': it is running; stop it first",
        "strata: there is no runtime 'nobody'; see 'strata ls'"]
    assert strata("start", "a", "nobody").returncode == FAILED
    assert strata("start", "nobody", "a").returncode == NOT_FOUND


def test_a_glob_without_match_is_not_found(strata, daemon):
    for verb in ("start", "stop", "restart", "reload", "remove", "stats", "show"):
        assert "no runtime matches 'x*'" in refusal(strata(verb, "x*"), NOT_FOUND)
    refusal(strata("stop", ""), MISUSED)
    refusal(strata("stop"), MISUSED)


def test_json_of_what_takes_several_is_a_list_for_one_too(strata, daemon):
    daemon.add("server", "web", port=9000)
    for verb in ("show", "stats", "owner", "start", "restart", "reload", "stop", "remove"):
        answer = json.loads(check(strata(verb, "web", "--format", "json")))
        assert [each["name"] for each in answer] == ["web"], verb
        missing = strata(verb, "nobody", "--format", "json")
        assert (missing.returncode, json.loads(missing.stdout)) == (NOT_FOUND, []), verb


# --- sending and receiving -----------------------------------------------------------------------


def test_send(strata, daemon):
    web = daemon.add("server", "web", "running")
    assert check(strata("send", "web", "hello  world")) == "delivered to 2 connections\n"
    check(strata("send", "web", '{"a": [1]}'))
    check(strata("send", "web", "[1,2]"))
    check(strata("send", "web", "--", "-q"))
    check(strata("send", "web", ""))
    check(strata("send", "web", "--", "-", given="not this"))
    check(strata("send", "--", "web", "-", given="nor this"))
    assert web.sent == [b"hello  world", b'{"a": [1]}', b"[1,2]", b"-q", b"", b"-", b"-"]
    assert json.loads(check(strata("send", "web", "x", "--format", "json"))) == {
        "delivered": 2, "queued": 0}


def test_send_lines_of_input(strata, daemon):
    web = daemon.add("server", "web", "running")
    assert check(strata("send", "web", given="a\n\nb\r\nlast")) == (
        "4 messages: delivered to 8 connections\n")
    assert web.sent == [b"a", b"", b"b\r", b"last"]
    check(strata("send", "web", "-", "-q", given="c\n"))
    assert web.sent[-1] == b"c"
    assert check(strata("send", "web", given="d")) == "1 message: delivered to 2 connections\n"
    assert check(strata("send", "web", "-", given="")) == (
        "0 messages: delivered to 0 connections\n")


def test_send_stops_at_the_first_line_that_fails(strata, daemon):
    web = daemon.add("server", "web", "running")
    result = strata("send", "web", given="a\nrefuse me\nb\n")
    assert result.returncode == FAILED
    assert result.stderr == "strata: line 2: cannot send that\n"
    assert web.sent == [b"a"]
    daemon.add("server", "idle")
    refusal(strata("send", "idle", "x"), FAILED)
    refusal(strata("send", "nobody", "x"), NOT_FOUND)


def test_many_lines_take_one_connection(strata, daemon):
    web = daemon.add("server", "web", "running")
    lines = [f"{number} " + "x" * 1000 for number in range(2000)]
    check(strata("send", "web", "-q", given="\n".join(lines) + "\n"))
    assert web.sent == [line.encode() for line in lines]


def test_interactive(strata, daemon):
    web = daemon.add("server", "web")
    process = strata.start("start", "-i", "web")
    process.stdin.write("one\n")
    process.stdin.flush()
    assert process.stdout.readline() == "[7] echo one\n"
    process.stdin.write("refuse me\ntwo\n")
    process.stdin.flush()
    assert process.stdout.readline() == "[7] echo two\n"
    web.sender = ""
    web.take("from elsewhere\x1b[2J\u202e\u009b".encode())
    assert process.stdout.readline() == "echo from elsewhere\\x1b[2J\\u{202e}\\xc2\\x9b\n"
    process.stdin.write("end")
    out, err = process.communicate(timeout=10)
    assert process.returncode == DONE
    assert err == "strata: cannot send that\n"
    assert web.sent[-1] == b"end"
    assert web.state == "running"


def test_interactive_with_a_running_one_and_control_c(strata, daemon):
    web = daemon.add("server", "web", "running")
    process = strata.start("start", "-i", "web", "--format", "json")
    process.stdin.write("one\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["text"] == "echo one"
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == DONE
    assert web.state == "running"
    assert [path for path, _ in daemon.asked("POST")] == ["/v1/runtimes/web/send"]


def test_interactive_ends_when_the_runtime_stops(strata, daemon):
    web = daemon.add("server", "web", "running")
    process = strata.start("start", "-i", "web")
    deadline = time.monotonic() + 10
    while not any("/messages" in path for path, _ in daemon.asked("GET")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    web.state = "stopped"
    assert process.wait(10) == FAILED
    assert "no more messages" in process.stderr.read()
    refusal(strata("start", "-i", "a", "b"), MISUSED)
    refusal(strata("start", "-i", "*"), MISUSED)
    refusal(strata("start", "-i", "nobody"), NOT_FOUND)


# --- the command line itself ---------------------------------------------------------------------


def test_help(strata):
    everything = check(strata("--help"))
    assert check(strata("help")) == everything
    verbs = [line.split()[0] for line in everything.splitlines()
             if line.startswith("  ") and line[2].isalpha()]
    assert {"create", "start", "ls", "doctor", "daemon"} <= set(verbs)
    for verb in verbs:
        one = check(strata(verb, "--help"))
        assert one.startswith(f"usage: strata {verb}")
        assert one == check(strata("help", verb)) == check(strata(verb, "-h"))
        assert "--format" in one or f"'strata {verb} VERB --help' shows the flags" in one
    assert max(len(line) for line in everything.splitlines()) <= 100
    assert "exit codes:\n  0 " in everything and "  4 " in everything
    assert check(strata("help", "create", "server")) == check(strata("create", "server", "-h"))
    assert "'server'?" in refusal(strata("help", "create", "serevr"), MISUSED)
    refusal(strata("help", "ls", "server"), MISUSED)
    refusal(strata("help", "create", "server", "x"), MISUSED)
    assert check(strata("ls", "-qh")) == check(strata("-qh", "ls")) == check(strata("ls", "-h"))
    assert "--max-message SIZE" in check(strata("create", "server", "--help"))
    assert "(default 1MiB)" in check(strata("create", "server", "--help"))
    assert "--reconnect [N]" in check(strata("create", "client", "-h"))


@pytest.mark.parametrize("line, fitting", [
    (["stop", "w"], ["web", "web-2"]),
    (["stop", "web", "@"], ["@front"]),
    (["tell", "w"], ["web", "web-2"]),
    (["create", "server", "w"], []),
    (["create", "s"], ["server"]),
    (["create", "proxy", "x", "--check", "t"], ["tcp", "tls"]),
    (["create", "proxy", "x", "--check=t"], ["--check=tcp", "--check=tls"]),
    (["create", "proxy", "x", "--check", "=", "t"], ["tcp", "tls"]),
    (["create", "proxy", "x", "--balance", "l"], ["least"]),
    (["create", "proxy", "x", "--sid"], ["--sidecar"]),
    (["ls", "--format", "j"], ["json"]),
    (["ls", "--format", "json", "w"], ["web", "web-2"]),
    (["edit", "web", "--max-m"], ["--max-memory-connections", "--max-message"]),
    (["edit", "gw", "--backe"], ["--backend"]),
    (["backends", "gw", "r"], ["ready", "remove"]),
    (["backends", "gw", "drain", ""], ["10.0.0.1:80", "10.0.0.2:80"]),
    (["l2", "recv", "l"], ["lo"]),
    (["nl", "show", "nlc"], ["nlctrl"]),
    (["help", "cr"], ["create"])])
def test_completion_knows_names_values_and_flags(strata, daemon, line, fitting):
    daemon.add("server", "web", group="front")
    daemon.add("server", "web-2")
    daemon.add("proxy", "gw").backends = [{"text": "10.0.0.1:80"}, {"text": "10.0.0.2:80"}]
    assert check(strata("complete", "--", *line)).split() == fitting


def test_the_manual_has_all_variables_of_the_environment(strata):
    page = (pathlib.Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    table = page[page.index("## Environment"):]
    variables = set(re.findall(r"`(STRATA_[A-Z_]+)`", table))
    assert len(variables) > 10
    manual = check(strata("help", "--man")).split(".SH ENVIRONMENT", 1)[1]
    assert variables == set(re.findall(r"STRATA_[A-Z_]+", manual))


def test_misuse(strata):
    for arguments in ((), ("craete",), ("--nope",), ("ls", "--format", "xml"), ("help", "nope"),
                      ("ls", "--socket"), ("-q",), ("show",), ("start", "-x", "a"), ("",)):
        refusal(strata(*arguments), MISUSED)
    assert "did you mean 'create'?" in strata("craete").stderr


def test_global_flags_stand_anywhere(strata, daemon, path):
    daemon.add("server", "web", "running")
    strata.environment["STRATA_SOCKET"] = "/nowhere"
    for arguments in (("--socket", str(path), "-q", "ls"), ("ls", "-q", f"--socket={path}"),
                      ("-q", "ls", "--socket", str(path))):
        assert check(strata(*arguments)) == "web\n"
    check(strata("edit", "web", "--mode", "in", "--socket", str(path)))
    check(strata("--socket", str(path), "edit", "web", "--mode", "in"))


def test_version(strata, daemon):
    out = check(strata("version")).splitlines()
    assert out[0].startswith("strata ")
    assert out[1].startswith("daemon 9.9.9 (io_uring loop, pid 42)")
    assert check(strata("--version")).splitlines()[0] == out[0]
    assert json.loads(check(strata("version", "--format", "json")))["daemon"]["version"] == "9.9.9"


def test_doctor(strata, daemon):
    checks = json.loads(strata("doctor", "--format", "json").stdout)
    names = [one["name"] for one in checks]
    for name in ("kernel", "io_uring", "open files", "CAP_NET_RAW", "AF_XDP", "veth", "8021q",
                 "state folder", "daemon"):
        assert name in names
    assert {one["status"] for one in checks} <= {"ok", "warn", "fail"}
    assert all(one["remedy"] for one in checks if one["status"] == "warn")
    assert checks[-1]["found"].startswith("version 9.9.9")
    result = strata("doctor", "--state-dir", "/dev/null/x")
    assert result.returncode == FAILED
    assert "fail    state folder" in result.stdout


# --- the short form of tell ----------------------------------------------------------------------


def test_a_word_that_is_no_verb_costs_one_question(strata, daemon):
    assert "did you mean 'ls'?" in refusal(strata("lss", "x"), MISUSED)
    assert daemon.requests == [("GET", "/v1/runtimes/lss", b"")]
    daemon.requests.clear()
    for line in ([""], ["l2", "nothing"], ["stop"], ["status", "--columns", "?"]):
        assert strata(*line).returncode == MISUSED
    assert not any("/v1/runtimes/" in path for _, path, _ in daemon.requests)


def test_a_name_with_words_sends_them(strata, daemon):
    daemon.add("server", "web", "running")
    assert check(strata("web", "a", "b  c", "--", "-d")) == "delivered to 2 connections\n"
    assert check(strata("-q", "tell", "web", "--", "-")) == ""
    assert [body for _, body in daemon.asked("POST")] == [b"a b  c -d", b"-"]
    check(strata("web", "-", given="line\n"))
    assert daemon.asked("POST")[-1] == ("/v1/runtimes/web/send", b"line")
