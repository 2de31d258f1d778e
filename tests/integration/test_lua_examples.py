"""The scripts of examples/lua, each with a real client."""

import asyncio
import base64
import hashlib
import hmac
import json
import pathlib
import shutil
import subprocess
import time

import pytest
import websockets
import websockets.exceptions

from strata_daemon import PATIENCE, eventually
from talker import TextTalker as Talker
from talker import port_of

pytestmark = pytest.mark.once

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "lua"


@pytest.fixture
def example(daemon, tmp_path):
    def start(name, settings="", kind="server", **options):
        script = EXAMPLES / f"{name}.lua"
        if settings:
            script = tmp_path / f"{name}.lua"
            script.write_text(f"{settings}\n{(EXAMPLES / script.name).read_text()}")
        options = {"listen": ["tcp://127.0.0.1:0"], "lua": str(script)} | options
        return daemon.create(kind, name, **options)["endpoints"][0]

    return start


def curl(url, path, *more):
    """Returns status and body."""
    where = f"http://127.0.0.1:{port_of(url)}{path}"
    command = ["curl", "-s", "-w", "\n%{http_code}", where, *more]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
    body, status = done.stdout.decode().rsplit("\n", 1)
    return int(status), body


def test_each_example_has_its_test():
    here = pathlib.Path(__file__).parent
    tests = "".join(path.read_text() for path in here.glob("test_lua_*.py"))
    for path in EXAMPLES.glob("*.lua"):
        assert f'"{path.stem}"' in tests, path


def test_no_mistake_is_found_in_them(daemon):
    assert daemon.cli("lua", "check", *map(str, EXAMPLES.glob("*.lua"))) == ""


def luacheck(*files):
    return subprocess.run(["luacheck", "--no-color", *map(str, files)], cwd=EXAMPLES.parents[1],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_luacheck_finds_no_mistake_in_them():
    done = luacheck(*EXAMPLES.glob("*.lua"))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("mistake", [
    "self.sned(1, 'x')", "strata.lgo('x')", "strata.json.encoed({})", "function on_mesage() end",
    "local unused = 1", "cache.gett('k')", "x = 1"])
def test_luacheck_would_find_one(tmp_path, mistake):
    (tmp_path / "bad.lua").write_text(f"{mistake}\n")
    done = luacheck("--config", EXAMPLES.parents[1] / ".luacheckrc", tmp_path / "bad.lua")
    assert done.returncode != 0, done.stdout


def test_echo(daemon, example):
    with Talker(example("echo", protocol="raw")) as ann:
        ann.say("hi")
        assert [ann.hear(), ann.hear()] == ["welcome", "echo: hi"]


@pytest.mark.parametrize("threads", [1, 2])
def test_rooms(daemon, example, threads):
    url = example("rooms", protocol="raw", threads=threads)
    with Talker(url) as ann, Talker(url) as bob:
        ann.say("hello")
        assert ann.hear().startswith("say /name")
        ann.say("/name ann", "/join red")
        assert [ann.hear(), ann.hear()] == ["hello ann", "ann joined red"]
        bob.say("/name ann", "/name bob", "/join red")
        assert [bob.hear(), bob.hear()] == ["that name is taken", "hello bob"]
        assert bob.hear() == "bob joined red" == ann.hear()
        bob.say("hi all")
        assert ann.hear() == "bob: hi all"
        bob.close()
        assert ann.hear() == "bob left"
        ann.say("/who")
        assert ann.hear().startswith("you are client ")


def test_api(daemon, example):
    url = example("api")

    async def converse():
        async with websockets.connect(f"ws://127.0.0.1:{port_of(url)}/") as page:
            made = await asyncio.to_thread(curl, url, "/notes", "-d", '{"text": "milk"}')
            assert made[0] == 201
            number = json.loads(made[1])["id"]
            assert json.loads(await page.recv()) == {"event": "made", "id": number}
            return number

    number = asyncio.run(asyncio.wait_for(converse(), PATIENCE))
    assert curl(url, "/notes") == (200, json.dumps([{"id": number, "text": "milk"}],
                                                   separators=(",", ":")))
    assert curl(url, f"/notes/{number}", "-X", "DELETE")[0] == 204
    assert curl(url, f"/notes/{number}")[0] == 404
    assert curl(url, "/notes") == (200, "[]")
    assert curl(url, "/notes", "-d", "{")[0] == 400
    assert curl(url, "/notes", "-d", "[]")[0] == 400


def token(claims, key="change me", alg="HS256"):
    def text(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    signed = text(json.dumps({"alg": alg}).encode()) + "." + text(json.dumps(claims).encode())
    return signed + "." + text(hmac.digest(key.encode(), signed.encode(), hashlib.sha256))


def test_jwt(daemon, example):
    url = example("jwt")

    def ask(shown):
        return curl(url, "/", "-H", f"Authorization: Bearer {shown}")

    good = token({"sub": "ann", "exp": time.time() + 60})
    assert ask(good) == (200, '{"hello":"ann"}')
    for bad in (good[:-2] + "xx", token({"sub": "x"}, key="other"), token({"sub": "x"}, alg="none"),
                token({"sub": "x", "exp": 1}), "a.b.c", "..", ""):
        assert ask(bad)[0] == 401, bad

    async def converse():
        where = f"ws://127.0.0.1:{port_of(url)}/?token="
        async with websockets.connect(where + good):
            pass
        with pytest.raises(websockets.exceptions.InvalidStatusCode, match="403"):
            await websockets.connect(where + "x")

    asyncio.run(asyncio.wait_for(converse(), PATIENCE))


def test_exporter(daemon, example):
    url = example("exporter")
    with Talker(url) as ann:
        ann.say("One two", "two")
        eventually(lambda: 'words_total{word="two"} 2' in curl(url, "/metrics")[1], "all counted")
        shown = curl(url, "/metrics")[1]
        assert 'words_total{word="one"} 1\n' in shown and "clients 1\n" in shown
    assert curl(url, "/health") == (200, '{"status":"well"}')
    assert curl(url, "/other")[0] == 404


def test_token(daemon, example):
    url = example("token", protocol="raw")
    with Talker(url) as ann, Talker(url) as bob, Talker(url) as eve:
        ann.say("token secret")
        assert ann.hear() == "hello ann"
        bob.say("token hidden", "hi")
        assert bob.hear() == "hello bob" and ann.hear() == "bob: hi"
        eve.say("token guessed")
        assert eve.hear() == "that is no token" and eve.hear() is None


@pytest.mark.parametrize("threads", [1, 2])
def test_limiter(daemon, example, threads):
    url = example("limiter", "MOST, WINDOW = 5, 3600", protocol="http", threads=threads)
    answers = [curl(url, "/", "-H", "X-Api-Key: ann")[0] for _ in range(8)]
    assert answers in ([200] * 5 + [429] * 3, [200] * 8)  # the hour may have ended in between
    assert answers[0] == 200 and curl(url, "/", "-H", "X-Api-Key: bob")[0] == 200
    refused = curl(url, "/", "-i", "-H", "X-Api-Key: ann")
    assert "Retry-After: " in refused[1] or answers == [200] * 8


def test_guard(daemon, example):
    daemon.create("server", "store", listen=["tcp://127.0.0.1:0"], mode="echo", protocol="raw")
    url = example("guard", kind="proxy", backend=["runtime://store"])
    with Talker(url) as ann:
        ann.say("GET a")
        assert ann.hear() == "GET a"
        ann.send(b"flush")
        ann.send(b"all\nget b\n  CONFIG get x\nflushall")
        assert ann.hear() == "get b"
        ann.say("2", "card 4012888888881881, 40128888888818810 and 4012888888881881")
        assert [ann.hear(), ann.hear()] == [
            "flushall2", "card ****1881, 40128888888818810 and ****1881"]
        ann.send(b"x" * 70_000)
        assert ann.is_ended()
    for line in ("says flushall: dropped", "has no end: it is closed"):
        eventually(lambda: daemon.logged("guard", line), f"{line} is logged")


def test_webhook(daemon, example, make_backend):
    taken = []

    def answer(wire, asked):
        taken.append(asked.body)
        status = b"503 Later" if len(taken) < 3 else b"200 OK"
        wire.over.sendall(b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n" % status)

    url = example("webhook", f"TARGET = 'http://{make_backend(answer).where}/'", protocol="http")
    body = '{"ref": "main"}'
    signed = hmac.new(b"change me", body.encode(), hashlib.sha256).hexdigest()
    assert curl(url, "/", "-d", body, "-H", f"X-Hub-Signature-256: sha256={signed}")[0] == 202
    for bad in (signed[:-1] + "0" if signed[-1] != "0" else signed[:-1] + "1", ""):
        assert curl(url, "/", "-d", body, "-H", f"X-Hub-Signature-256: sha256={bad}")[0] == 401
    assert curl(url, "/")[0] == 405
    eventually(lambda: len(taken) == 3, "it is delivered again until it is taken")
    assert set(taken) == {body.encode()}


def versions(make_backend):
    def made(name, status=b"200 OK"):
        return make_backend(b"HTTP/1.1 %s\r\nServer: %s\r\nContent-Length: %d\r\n\r\n%s"
                         % (status, name, len(name), name))
    return made


def test_ab(daemon, example, make_backend):
    made = versions(make_backend)
    backends = [made(b"old").where, made(b"new").where]
    url = example("ab", kind="proxy", listen=["http://127.0.0.1:0"], backend=backends)
    seen = set()
    for number in range(40):
        first = curl(url, "/", "-i", "-A", f"agent {number}")[1]
        cookie = first.lower().split("set-cookie: ")[1].split(";")[0]
        seen.add((cookie, first[-3:]))
        for _ in range(2):
            again = curl(url, "/", "-i", "-H", f"Cookie: {cookie}")[1]
            assert again.endswith(first[-3:]) and "set-cookie" not in again.lower()
    assert seen == {("variant=a", "old"), ("variant=b", "new")}


def test_canary(daemon, example, make_backend):
    made = versions(make_backend)
    backends = [made(b"old").where, made(b"new", b"500 Broken").where]
    url = example("canary", kind="proxy", listen=["http://127.0.0.1:0"], backend=backends)
    for _ in range(20):
        assert curl(url, "/", "-H", "X-Canary: yes") == (500, "new")
    assert curl(url, "/", "-H", "X-Canary: yes") == (200, "old")
    assert json.loads(curl(url, "/canary")[1]) == {"well": False, "answers": 20, "errors": 20}


def test_health(daemon, example):
    url = example("health", protocol="http")
    daemon.create("server", "other", listen=["tcp://127.0.0.1:0"])
    assert curl(url, "/health") == (200, json.dumps(
        {"runtimes": {"health": "running", "other": "running"}, "status": "well"},
        separators=(",", ":")))
    status, shown = curl(url, "/")
    assert status == 200 and "<tr><td>other<td>running" in shown
    daemon.cli("stop", "other")
    assert json.loads(curl(url, "/health")[1])["runtimes"]["other"] == "stopped"


def test_cron(daemon, example):
    # Its clock goes slower than its timers, as a clock that is being set does.
    url = example("cron", """local start, count = strata.now(), 0
        local now = strata.now
        function strata.now() return 6 * 3600 + 30 * 60 - 0.5 + (now() - start) * 0.9 end
        JOBS = {
            {name = "often", every = 0.05, run = function() self.broadcast("tick " .. count) end},
            {name = "fails", every = 0.05, run = function() error("on purpose") end},
            {name = "soon", at = "06:30", run = function() count = count + 1 end}}""",
                  protocol="raw")
    with Talker(url) as ann:
        # Twenty ticks take a second at least, and the job is due after half of one.
        assert [ann.hear() for _ in range(30)][20:] == ["tick 1"] * 10
    eventually(lambda: daemon.logged("cron", "on purpose"), "a failure is logged")


def test_shipper(daemon, example, make_backend):
    shipped, is_away = [], [True]

    def answer(wire, asked):
        if is_away[0]:
            return False
        shipped.extend(each["line"] for each in json.loads(asked.body)["lines"])
        wire.over.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    url = example("shipper", f"COLLECTOR = 'http://{make_backend(answer).where}/'", protocol="raw")
    lines = [f"line {number}" for number in range(1200)]
    with Talker(url) as ann:
        ann.say(*lines[:600])
        eventually(lambda: daemon.logged("shipper", "the collector is away"), "it is away")
        is_away[0] = False
        ann.say(*lines[600:])
        eventually(lambda: len(shipped) == 1200, "all is shipped")
        assert shipped == lines
        ann.say("the last")
        eventually(lambda: daemon.stats("shipper")["messages"]["in"] == 1201, "it has come")
    daemon.cli("stop", "shipper")
    assert shipped[-1] == "the last"


def test_lobby(daemon, example):
    url = example("lobby", "MOST = 2", protocol="raw")
    with Talker(url) as ann, Talker(url) as bob, Talker(url) as eve:
        for each in (ann, bob, eve):
            assert each.hear() == "welcome: /rooms, /join ROOM"
        ann.say("/rooms", "/join red")
        assert [ann.hear(), ann.hear()] == ["there is no room yet", "you are in red"]
        bob.say("/join red")
        assert bob.hear() == "you are in red"
        daemon.wait_connections("room-red", 2)
        ann.say("hello", "/rooms")  # these go to the room, as everything does there
        assert [bob.hear(), bob.hear()] == ["hello", "/rooms"]
        eve.say("/join red", "/rooms")
        assert [eve.hear(), eve.hear()] == ["red is full", "red (2)"]
        daemon.cli("stop", "room-red")
        eve.say("/join red")
        assert eve.hear().startswith("no way there: ")

        def is_backend():
            ann.say("?")
            return ann.hear() == "say /rooms or /join ROOM"

        eventually(is_backend, "the lobby hears it again")


def test_house(daemon, tmp_path):
    name = "house"
    text = (EXAMPLES / f"{name}.lua").read_text()
    for port in ("6390", "9100 + at"):
        assert port in text
        text = text.replace(port, "0")  # any free port
    shutil.copy(EXAMPLES / "rooms.lua", tmp_path)
    (tmp_path / "house.lua").write_text(text)
    for said in ("created", "unchanged"):
        shown = daemon.cli("run", tmp_path / "house.lua")
        assert shown == f"sessions: {said}\nhall: {said}\nattic: {said}\n"
    assert daemon.cli("ls", "@house", "-q").split() == ["attic", "hall", "sessions"]


def test_session(daemon, example):
    daemon.create("cache", "sessions", listen=["tcp://127.0.0.1:0"])
    url = example("session", protocol="http")
    assert curl(url, "/me")[0] == 401
    said = curl(url, "/login", "-i", "-d", '{"user": "ann"}')[1]
    cookie = ["-H", "Cookie: " + said.split("Set-Cookie: ")[1].split(";")[0]]
    assert curl(url, "/me", *cookie) == (200, '{"user":"ann","visits":1}')
    daemon.cli("restart", "session")
    url = daemon.show("session")["endpoints"][0]
    assert curl(url, "/me", *cookie) == (200, '{"user":"ann","visits":2}')
    assert curl(url, "/me", "-H", "Cookie: session=abc")[0] == 401
    assert curl(url, "/logout", "-X", "POST", *cookie)[0] == 204
    assert curl(url, "/me", *cookie)[0] == 401
    daemon.cli("stop", "sessions")
    status, body = curl(url, "/login", "-d", '{"user": "ann"}')
    assert status == 503 and "sessions" in body


CONTROLLER = """
    local registers = {}
    function on_message(frame, id)
      frame = frame .. ('\\0'):rep(7 - #frame)
      local what, high, low = frame:byte(1, 3)
      local register = high * 256 + low
      if register == 13 then return end
      if what == 2 then registers[register] = frame:sub(4, 7) end
      self.send(id, string.char(what + 128, high, low) .. (registers[register] or '\\0\\0\\0\\0'))
    end"""


def test_plc(daemons, veth, tmp_path):
    """
    a: TCP clients -- plc.lua -- vethA ======= vethB -- a controller in Lua :b
    """
    here, there = daemons
    (tmp_path / "controller.lua").write_text(CONTROLLER)
    there.create("server", "controller", listen=["l2://vethB/0x88b5"],
                 lua=str(tmp_path / "controller.lua"))
    script = tmp_path / "plc.lua"
    script.write_text(f"DEVICE = 'l2://vethA/0x88b5?dst={veth.mac(veth.b, 'vethB')}'\n"
                      + (EXAMPLES / "plc.lua").read_text())
    url = here.create("server", "plc", listen=[f"unix://{tmp_path}/plc.sock"], lua=str(script),
                      protocol="raw")["endpoints"][0]
    with Talker(url) as ann, Talker(url) as bob:
        def is_there():
            ann.say("read 7")
            return ann.hear() == "7 = 0"

        eventually(is_there, "the controller answers")
        ann.say("write 7 4294967295")
        assert ann.hear() == "7 = 4294967295"
        bob.say("read 7")
        assert bob.hear() == "7 = 4294967295"
        bob.say("write 65535 258")
        assert bob.hear() == "65535 = 258"
        bob.say("read 65536", "read x", "erase 1", "read 13")
        assert {bob.hear() for _ in range(3)} == {"say `read REGISTER` or `write REGISTER VALUE`"}
        assert bob.hear() == "13 does not answer"
