"""What an administrator needs: why a client was refused, who changed what, probes, the log."""

import json
import os
import socket
import subprocess
import urllib.error
import urllib.request

import pytest

from strata_daemon import Refused, eventually
from talker import Talker, free_port, port_of


def web(port, request, *fields):
    """Returns the answer's first line; empty if the connection is closed without an answer."""
    lines = [request, "Host: 127.0.0.1", "Connection: close", *fields]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as one:
        try:
            one.sendall("\r\n".join([*lines, "", ""]).encode())
            return one.makefile("rb").readline().decode()
        except ConnectionError:
            return ""


UPGRADE = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")


def refuse_by_limit(daemon, tmp_path):
    [url] = daemon.server("s", max_connections=1)
    with Talker(url), Talker(url) as second:
        assert second.is_ended()
    return "--max-connections"


def refuse_by_origin(daemon, tmp_path):
    [url] = daemon.server("s", listen=["http://127.0.0.1:0"], http_messages=True)
    assert " 403 " in web(port_of(url), "GET / HTTP/1.1", *UPGRADE, "Origin: https://evil.example")
    return "https://evil.example"


def refuse_by_script(daemon, tmp_path):
    (tmp_path / "s.lua").write_text("function on_websocket() return false end")
    [url] = daemon.server("s", listen=["http://127.0.0.1:0"], http_messages=True,
                          lua=str(tmp_path / "s.lua"))
    assert " 403 " in web(port_of(url), "GET / HTTP/1.1", *UPGRADE)
    return "on_websocket"


def refuse_by_on_auth(daemon, tmp_path, start=b"hello\n"):
    (tmp_path / "s.lua").write_text("function on_auth(id) return false end")
    [url] = daemon.server("s", http_messages=True, lua=str(tmp_path / "s.lua"))
    with Talker(url) as one:
        one.send(start)
        assert one.is_ended()
    return "on_auth"


def refuse_a_stream_by_on_auth(daemon, tmp_path):
    return refuse_by_on_auth(daemon, tmp_path, b"GET / HTTP/1.1\r\nHost: h\r\n"
                             b"Accept: text/event-stream\r\n\r\n")


def refuse_by_master_password(daemon, tmp_path):
    [url] = daemon.server("s", mode="master", master_pw="right")
    with Talker(url) as one:
        one.send(b"master wrong\n")
        assert one.hear() == b"master: denied"
    return "master password"


def refuse_by_address(daemon, tmp_path):
    made = daemon.create("proxy", "s", listen=["http://127.0.0.1:0"], backend=["127.0.0.1:1"],
                         deny=["127.0.0.0/8"])
    line = web(port_of(made["endpoints"][0]), "GET / HTTP/1.1")
    assert line in ("", "HTTP/1.1 403 Forbidden\r\n")
    return "--allow or --deny"


def refuse_raw_by_address(daemon, tmp_path):
    made = daemon.create("proxy", "s", listen=["tcp://127.0.0.1:0"], backend=["127.0.0.1:1"],
                         deny=["127.0.0.0/8"])
    with Talker(made["endpoints"][0]) as one:
        assert one.is_ended()
    return "--allow or --deny"


def refuse_by_rate(daemon, tmp_path):
    made = daemon.create("proxy", "s", listen=["http://127.0.0.1:0"], backend=["127.0.0.1:1"],
                         rate_per_client=1)
    port = port_of(made["endpoints"][0])
    answers = [web(port, "GET / HTTP/1.1") for _ in range(20)]
    assert any(" 429 " in each for each in answers), answers
    return "--rate-per-client"


def refuse_by_password(daemon, tmp_path):
    made = daemon.create("cache", "s", listen=["tcp://127.0.0.1:0"], password="right")
    with socket.create_connection(("127.0.0.1", port_of(made["endpoints"][0])), 10) as one:
        one.sendall(b"AUTH wrong\r\n")
        assert b"WRONGPASS" in one.recv(100)
    return "password is wrong"


@pytest.mark.parametrize("reason, refuse", [
    ("limit", refuse_by_limit), ("origin", refuse_by_origin), ("script", refuse_by_script),
    ("address", refuse_by_address), ("address", refuse_raw_by_address), ("rate", refuse_by_rate),
    ("password", refuse_by_password), ("script", refuse_by_on_auth),
    ("script", refuse_a_stream_by_on_auth), ("password", refuse_by_master_password)])
def test_a_refused_client_is_in_the_log_and_counted(daemon, tmp_path, reason, refuse):
    words = refuse(daemon, tmp_path)
    eventually(lambda: daemon.stats("s")["refused"][reason] >= 1, "it is counted")
    [line] = [each for each in daemon.log().splitlines() if "was refused: " in each][:1]
    assert " warning s: client 127.0.0.1:" in line and words in line


def test_refusals_of_one_kind_do_not_fill_the_log(daemon):
    [url] = daemon.server("s", max_connections=1)
    with Talker(url):
        for _ in range(200):
            with Talker(url) as more:
                assert more.is_ended()
    assert daemon.stats("s")["refused"]["limit"] == 200
    assert daemon.log().count("was refused") < 50


def test_who_changed_a_runtime_is_in_the_log(daemon, tmp_path):
    (tmp_path / "s.lua").write_text("")
    daemon.server("s", lua=str(tmp_path / "s.lua"))
    daemon.edit("s", rate_limit=5)
    for verb in ("stop", "start", "restart", "reload", "reload-lua"):
        daemon.act("s", verb)
    with pytest.raises(Refused):
        daemon.create("server", "s")
    daemon.send("s", b"no change")
    daemon.remove("s")
    asked = [line.split(": ", 1)[1] for line in daemon.log().splitlines() if "requested by" in line]
    who = f"requested by uid {os.getuid()}, pid {os.getpid()}"
    verbs = ["create", "edit", "stop", "start", "restart", "reload", "reload-lua"]
    assert asked == [*(f"{verb} 's', {who}: done" for verb in verbs), f"create 's', {who}: refused",
                     f"remove 's', {who}: done"]


def fetch(url, token=None):
    request = urllib.request.Request(url)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def test_probes_and_metrics_of_the_process(make_daemon):
    port = free_port()
    daemon = make_daemon("--metrics", f"tcp://127.0.0.1:{port}")
    base = f"http://127.0.0.1:{port}"
    daemon.server("s")
    assert fetch(f"{base}/healthz") == fetch(f"{base}/readyz") == (200, "ok\n")
    assert daemon.exchange("GET", "/readyz")[0] == 200
    assert fetch(f"{base}/v1/runtimes")[0] == 404
    status, text = fetch(f"{base}/metrics")
    assert status == 200
    figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert figures['strata_up{name="s",type="server"}'] == "1"
    assert any(each.startswith("strata_build_info{version=") for each in figures)
    open_files = len(os.listdir(f"/proc/{daemon.pid}/fd"))
    assert abs(int(figures["process_open_fds"]) - open_files) < 5
    assert int(figures["process_resident_memory_bytes"]) > 1 << 20
    assert 'strata_refused_total{name="s",type="server",reason="limit"}' in figures
    daemon.act("s", "stop")
    assert fetch(f"{base}/readyz") == (200, "ok\n"), "it is not to run"


def test_a_runtime_that_could_not_be_restored_is_seen(make_daemon):
    """As after a downgrade, the state file has an option that this program does not know."""
    port = free_port()
    daemon = make_daemon("--metrics", f"tcp://127.0.0.1:{port}")
    daemon.server("six")
    daemon.server("well")
    daemon.stop()
    path = daemon.state_dir / "runtimes" / "six.json"
    saved = json.loads(path.read_text())
    saved["options"]["from_the_future"] = 1
    path.write_text(json.dumps(saved))
    daemon.start()
    eventually(lambda: daemon.show("well")["state"] == "running", "the other one runs")
    [six] = [each for each in daemon.ask("GET", "/v1/runtimes") if each["name"] == "six"]
    assert six["state"] == "failed" and six["type"] == "server"
    assert "could not be restored" in six["reason"] and "from_the_future" in six["reason"]
    assert "failed" in daemon.cli("ls")
    assert "from_the_future" in daemon.run("show", "six").stderr
    assert any(each["event"] == "unusable" and each["runtime"] == "six"
               for each in daemon.lines("/v1/events"))
    status, text = fetch(f"http://127.0.0.1:{port}/readyz")
    assert status == 503 and text.startswith("six: it could not be restored")
    assert 'strata_up{name="six",type="server"} 0' in fetch(f"http://127.0.0.1:{port}/metrics")[1]
    with pytest.raises(Refused, match="could not be restored"):
        daemon.server("six")
    daemon.cli("rm", "six")
    assert not path.exists() and daemon.names() == ["well"]
    daemon.server("six")


def test_the_log_as_json(make_daemon, tmp_path):
    log = tmp_path / "json.log"
    daemon = make_daemon("--log-format", "json", "--log-file", log)
    daemon.server("s")
    daemon.run("create", "server", "x" * 5000)
    daemon.cli("stop", "s")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert all(set(each) - {"runtime"} == {"time", "level", "text"} for each in lines)
    of_s = [each["text"] for each in lines if each.get("runtime") == "s"]
    assert "created" in of_s and any("stopped" in each for each in of_s)
    assert {each["level"] for each in lines} <= {"debug", "info", "warning", "error"}


def test_a_wrong_token_leaves_a_line(make_daemon, authority, tmp_path):
    pair = authority.issue("127.0.0.1")
    token = tmp_path / "token"
    token.write_text("x" * 40)
    token.chmod(0o600)
    port = free_port()
    daemon = make_daemon("--listen", f"https://127.0.0.1:{port}", "--cert", pair[0], "--key", pair[1],
                         "--token-file", token)
    for more in ([], ["-H", "Authorization: Bearer wrong"]):
        done = subprocess.run(["curl", "-sk", *more, f"https://127.0.0.1:{port}/v1/runtimes"],
                              capture_output=True, text=True, timeout=10)
        assert "permission_denied" in done.stdout
    log = daemon.log()
    assert "its token is missing" in log and "its token is wrong" in log
