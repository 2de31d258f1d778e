"""The CLI against a fake daemon: what it asks, what it shows, how it exits."""

import json
import signal
import time

from checks import DONE, FAILED, MISUSED, NOT_FOUND, check, refusal

# --- create and edit -----------------------------------------------------------------------------


def test_create_sends_typed_options(strata, daemon):
    out = check(strata("create", "server", "web", "-p", "9000", "--max-message", "64K", "--drain",
                       "--idle-timeout", "500ms", "-l", "unix:///a", "--listen=unix:///b", "-s"))
    assert out == "web: running at tcp://0.0.0.0:9000\n"
    [(path, body)] = daemon.asked("POST")
    assert path == "/v1/runtimes"
    assert json.loads(body) == {
        "type": "server", "name": "web", "start": True,
        "options": {"port": 9000, "max_message": 65536, "drain": True, "idle_timeout": 0.5,
                    "listen": ["unix:///a", "unix:///b"]}}


def test_create_without_start(strata, daemon):
    assert check(strata("create", "client", "c", "-t", "h:1", "--reconnect")) == "c: created\n"
    assert json.loads(daemon.asked("POST")[0][1]) == {
        "type": "client", "name": "c", "start": False,
        "options": {"target": "h:1", "reconnect": 0}}


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
    assert out == "strata: cannot bind tcp://0.0.0.0:1: Permission denied; take a port from 1024\n"


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
    assert check(strata("start", "web")) == "web: running at tcp://0.0.0.0:9000\n"
    assert check(strata("reload", "web")) == "web: running at tcp://0.0.0.0:9000\n"
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
    assert result.returncode == NOT_FOUND  # the glob was looked at first
    assert result.stdout == "b: running\nc: running\n"
    assert result.stderr.splitlines() == [
        "strata: no runtime matches 'x*'; 'strata ls' shows all there are",
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


# --- looking -------------------------------------------------------------------------------------


def test_ls_and_ps(strata, daemon):
    daemon.add("server", "web", "running", port=9000, group="front")
    daemon.add("client", "c", owner="web")
    assert check(strata("ls")) == (
        "NAME  TYPE    STATE    ENDPOINTS           CONNECTIONS  UPTIME  GROUP  OWNER\n"
        "c     client  created  -                             0      0s  -      web\n"
        "web   server  running  tcp://0.0.0.0:9000            2   1m05s  front  -\n")
    assert check(strata("ps")).count("\n") == 2
    assert check(strata("ps", "-q")) == "web\n"
    assert check(strata("ls", "--columns", "state,name")) == (
        "STATE    NAME\ncreated  c\nrunning  web\n")
    assert "'uptime'?" in refusal(strata("ls", "--columns", "uptme"), MISUSED)


def test_ls_of_names_and_groups(strata, daemon):
    daemon.add("server", "web", "running", group="front")
    daemon.add("server", "api-1", group="back")
    daemon.add("client", "api-2", "running", group="back", owner="web")
    assert check(strata("ls", "web", "api-*", "-q")) == "api-1\napi-2\nweb\n"  # the list's order
    assert check(strata("ps", "@back", "-q")) == "api-2\n"
    done = strata("ls", "web", "nobody", "@none", "-q")
    assert (done.returncode, done.stdout) == (NOT_FOUND, "web\n")
    assert "'nobody'" in done.stderr and "group 'none'" in done.stderr
    refusal(strata("ls", "@"), MISUSED)


def test_ls_filters(strata, daemon):
    daemon.add("server", "web", "running", group="front")
    daemon.add("client", "api-2", "running", group="back", owner="web")
    daemon.add("cache", "db")
    for filters, names in ((["state=running"], "api-2\nweb\n"), (["type=c*"], "api-2\ndb\n"),
                           (["group=front", "group=back", "type=server"], "web\n"),
                           (["owner=web"], "api-2\n"), (["name=nobody"], "")):
        flags = [f"--filter={each}" for each in filters]
        assert check(strata("ls", "-q", *flags)) == names
    for wrong in ("", "running", "port=1", "stat=x"):
        assert "state, type, group" in refusal(strata("ls", "--filter", wrong), MISUSED)


HARMFUL = "\u202etxt\u2066\u200f\u061c\x1b]0;x\x07\u009b2J\x7f"


def test_what_others_wrote_moves_no_cursor_and_turns_no_text(strata, daemon):
    daemon.add("server", "web", "running", group=HARMFUL)
    daemon.logs = [{"time": HARMFUL, "level": HARMFUL, "text": HARMFUL}]
    daemon.events = [{"time": HARMFUL, "event": HARMFUL, "runtime": HARMFUL, "type": HARMFUL,
                      "detail": HARMFUL}]
    letters = set("\u202e\u2066\u200f\u061c\x1b\x07\u009b\x7f")
    for arguments in (["ls"], ["show", "web"], ["logs", "web"], ["events"]):
        for how in ([], ["-q"], ["--format", "json"]):
            assert not letters & set(check(strata(*arguments, *how))), (arguments, how)
    assert "\\u{202e}txt" in check(strata("ls"))
    [listed] = json.loads(check(strata("ls", "--format", "json")))
    assert listed["group"] == HARMFUL
    assert json.loads(check(strata("logs", "web", "--format", "json")))["text"] == HARMFUL


def test_tables_may_have_no_header(strata, daemon):
    daemon.add("server", "web", "running")
    for arguments in (["ls"], ["stats", "web"], ["stats", "*"], ["show", "web"], ["owner", "web"]):
        whole = check(strata(*arguments)).splitlines()
        bare = check(strata(*arguments, "--no-header")).splitlines()
        assert [line.split() for line in bare] == [line.split() for line in whole[1:]]
    assert "STATUS" not in strata("doctor", "--no-header").stdout
    assert "MTU" not in check(strata("l2", "ifaces", "--no-header"))


def test_a_group_stands_for_its_runtimes(strata, daemon):
    for name in ("a", "b"):
        daemon.add("server", name, group="blue")
    daemon.add("server", "c")
    assert check(strata("start", "@blue")) == "a: running\nb: running\n"
    assert check(strata("stats", "@blue", "-q")) == check(strata("show", "@b*", "-q")) == "a\nb\n"
    assert check(strata("stop", "@blue", "a")) == "a: stopped\nb: stopped\n"
    assert check(strata("remove", "@blue", "-q")) == "a\nb\n"
    assert list(daemon.runtimes) == ["c"]
    assert "group 'blue'" in refusal(strata("remove", "@blue"), NOT_FOUND)
    refusal(strata("start", "-i", "@blue"), MISUSED)


def test_a_pipe_gets_cells_whole(strata, daemon):
    daemon.add("server", "web", group="g" * 4000)
    assert "g" * 4000 in check(strata("ls"))
    assert strata("ls", "nobody*").stdout.count("\n") == 1  # the header


def test_verbs_have_the_names_that_others_give_them(strata, daemon):
    daemon.add("server", "web", "running", port=9000)
    for alias, verb in (("list", ["ls"]), ("status", ["ls"]), ("inspect", ["show", "web"])):
        assert check(strata(alias, *verb[1:])) == check(strata(*verb))
        assert check(strata(alias, "--help")) == check(strata("help", verb[0]))
    assert check(strata("rm", "web")) == "web: removed\n" and daemon.runtimes == {}


def test_ls_json_is_what_the_api_sends(strata, daemon):
    assert json.loads(check(strata("ls", "--format", "json"))) == []
    assert check(strata("ls", "-q")) == ""
    runtime = daemon.add("server", "web", "running", port=9000)
    assert json.loads(check(strata("ls", "--format", "json"))) == [runtime.summary()]
    assert json.loads(check(strata("ls", "--format=json", "--columns", "name,uptime"))) == [
        {"name": "web", "uptime_s": 65.25}]
    assert json.loads(check(strata("ls", "--format=json", "-q"))) == ["web"]


def test_stats(strata, daemon):
    web = daemon.add("server", "web", "running")
    daemon.add("server", "api")
    assert json.loads(check(strata("stats", "web", "--format", "json"))) == [web.stats()]
    assert len(json.loads(check(strata("stats", "web", "api", "--format", "json")))) == 2
    assert len(json.loads(check(strata("stats", "w*", "--format", "json")))) == 1
    one = check(strata("stats", "web"))
    for line in ("bytes.in             2KiB", "rates.in_1s          10.5/s",
                 "loop.lag_us          1ms", "dropped.rate_limit   4"):
        assert line in one
    many = check(strata("stats", "*")).splitlines()
    assert many[0].split()[:4] == ["NAME", "STATE", "UPTIME", "CONNECTIONS"]
    assert many[0].split()[-2:] == ["DROPPED", "ERRORS"] and many[1].split()[-2:] == ["5", "0"]
    assert check(strata("stats", "web", "--columns", "peak,lag_max")) == (
        "PEAK  LAG_MAX\n   3      1ms\n")
    assert json.loads(check(strata("stats", "web", "--columns=peak", "--format=json"))) == [{
        "connections": web.stats()["connections"]}]


def test_show_and_owner(strata, daemon):
    web = daemon.add("server", "web", max_message=1 << 20, idle_timeout=90)
    daemon.add("client", "c", owner="web")
    shown = check(strata("show", "web"))
    assert "options.max_message   1MiB\n" in shown
    assert "options.idle_timeout  1m30s\n" in shown
    [detail] = json.loads(check(strata("show", "web", "--format", "json")))
    assert detail == web.detail(daemon.runtimes.values())
    assert len(json.loads(check(strata("show", "*", "--format", "json")))) == 2
    assert check(strata("show", "*", "-q")) == "c\nweb\n"
    assert check(strata("owner", "web")) == (
        "FIELD           VALUE\nname            web\nchildren        c\non_parent_stop  stop\n"
        "owner           -\n")
    [kin] = json.loads(check(strata("owner", "c", "--format", "json")))
    assert kin["owner"] == "web"
    assert check(strata("owner", "c", "web", "-q")) == "c\nweb\n"
    refusal(strata("owner", "nobody"), NOT_FOUND)


def test_logs_and_events(strata, daemon):
    daemon.add("server", "web")
    assert check(strata("logs", "web")).splitlines()[1] == (
        "2026-03-04T12:00:00.000Z  warning  line 1")
    assert check(strata("logs", "web", "--tail", "1", "-q")) == "line 2\n"
    lines = check(strata("logs", "web", "--format", "json")).splitlines()
    assert [json.loads(line) for line in lines] == daemon.logs
    assert check(strata("events")).splitlines() == [
        "2026-03-04T12:00:00.000Z  created  server web",
        "2026-03-04T12:00:00.000Z  failed   server web: port in use"]
    assert daemon.requests[0][1] == "/v1/runtimes/web/logs?tail=1000"
    refusal(strata("logs", "nobody"), NOT_FOUND)
    refusal(strata("logs", "web", "--tail", "1001"), MISUSED)


def test_since_leaves_out_what_is_older(strata, daemon):
    daemon.add("server", "web")
    daemon.logs = [{"time": f"2026-03-04T12:00:0{number}.500Z", "level": "info", "text": str(number)}
                   for number in range(6)]
    daemon.logs.insert(4, {"time": "sometime", "level": "info", "text": "odd"})
    daemon.events = [{"time": each["time"], "event": "created", "runtime": each["text"],
                      "type": "server", "detail": ""} for each in daemon.logs]

    def shown(*flags):
        both = [check(strata(*verb, "-q", *flags)).split() for verb in (("logs", "web"),
                                                                       ("events",))]
        assert both[0] == both[1]
        return both[0]

    assert shown("--since", "2026-03-04T12:00:03Z") == ["3", "odd", "4", "5"]
    assert shown("--since", "2026-03-04T13:00:03.500+01:00") == ["3", "odd", "4", "5"]
    assert shown("--since", "2026-03-04T12:00:03.501Z") == ["odd", "4", "5"]
    assert shown("--since", "2026-03-04T12:00:03Z", "--tail", "2") == ["4", "5"]
    assert shown("--since", "2026-03-04T12:00:05Z", "-n", "4") == ["odd", "5"]
    assert shown("--since", "200000h")[0] == "0"  # more than 20 years
    for wrong in ("yesterday", "", "12:00", "2026-03-04", "-5m", "2026-02-30T00:00:00Z", "1e300"):
        assert "10m" in refusal(strata("logs", "web", "--since", wrong), MISUSED)


def test_following_shows_lines_as_they_come(strata, daemon):
    daemon.add("server", "web")
    process = strata.start("logs", "web", "-f", "-n", "1", "-q")
    assert process.stdout.readline() == "line 2\n"
    assert process.poll() is None
    assert process.communicate(timeout=10) == ("later\n", "")
    assert process.returncode == DONE
    assert daemon.requests[-1][1] == "/v1/runtimes/web/logs?tail=1&follow=true"


# --- talking -------------------------------------------------------------------------------------


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
