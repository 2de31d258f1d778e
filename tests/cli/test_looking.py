"""What the CLI shows of a fake daemon's runtimes, logs and events."""

import json

from checks import DONE, MISUSED, NOT_FOUND, check, refusal



def test_ls_and_ps(strata, daemon):
    daemon.add("server", "web", "running", port=9000, group="front")
    daemon.add("client", "c", owner="web")
    assert check(strata("ls")) == (
        "NAME  TYPE    STATE    ENDPOINTS     CONNECTIONS  UPTIME  GROUP  OWNER\n"
        "c     client  created  -                       0      0s  -      web\n"
        "web   server  running  tcp://*:9000            2   1m05s  front  -\n")
    assert check(strata("ps")).count("\n") == 2
    assert check(strata("ps", "-q")) == "web\n"
    assert check(strata("ls", "--columns", "state,name")) == (
        "STATE    NAME\ncreated  c\nrunning  web\n")
    assert "'uptime'?" in refusal(strata("ls", "--columns", "uptme"), MISUSED)


def test_ls_of_names_and_groups(strata, daemon):
    daemon.add("server", "web", "running", group="front")
    daemon.add("server", "api-1", group="backend")
    daemon.add("client", "api-2", "running", group="backend", owner="web")
    assert check(strata("ls", "web", "api-*", "-q")) == "api-1\napi-2\nweb\n"  # the list's order
    assert check(strata("ps", "@backend", "-q")) == "api-2\n"
    done = strata("ls", "web", "nobody", "@none", "-q")
    assert (done.returncode, done.stdout) == (NOT_FOUND, "web\n")
    assert "'nobody'" in done.stderr and "group 'none'" in done.stderr
    refusal(strata("ls", "@"), MISUSED)


def test_ls_filters(strata, daemon):
    daemon.add("server", "web", "running", group="front")
    daemon.add("client", "api-2", "running", group="backend", owner="web")
    daemon.add("cache", "db")
    for filters, names in ((["state=running"], "api-2\nweb\n"), (["type=c*"], "api-2\ndb\n"),
                           (["group=front", "group=backend", "type=server"], "web\n"),
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
    assert [json.loads(line) for line in lines] == [
        {**each, "runtime": "web"} for each in daemon.logs]
    assert check(strata("events")).splitlines() == [
        "2026-03-04T12:00:00.000Z  created    server web",
        "2026-03-04T12:00:00.000Z  failed     server web: port in use"]
    assert daemon.requests[0][1] == "/v1/runtimes/web/logs?tail=1000"
    refusal(strata("logs", "nobody"), NOT_FOUND)
    refusal(strata("logs", "web", "--tail", "1001"), MISUSED)


def test_since_leaves_out_what_is_older(strata, daemon):
    daemon.add("server", "web")
    daemon.logs = [{"time": f"2026-03-04T12:00:0{second}.500Z", "level": "info",
                    "text": str(second)} for second in range(6)]
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
