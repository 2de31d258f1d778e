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
def example(daemon):
    def start(name, **options):
        made = daemon.create("server", name, listen=["tcp://127.0.0.1:0"],
                             lua=str(EXAMPLES / f"{name}.lua"), **options)
        return made["endpoints"][0]

    return start


def curl(url, path, *more):
    """Status and body."""
    command = ["curl", "-s", "-w", "\n%{http_code}", f"http://127.0.0.1:{port_of(url)}{path}", *more]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
    body, status = done.stdout.decode().rsplit("\n", 1)
    return int(status), body


def test_each_example_has_its_test():
    tests = pathlib.Path(__file__).read_text()
    for path in EXAMPLES.glob("*.lua"):
        assert f'"{path.stem}"' in tests, path


def test_no_mistake_is_found_in_them(daemon):
    assert daemon.cli("lua", "check", *map(str, EXAMPLES.glob("*.lua"))) == ""


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


def test_house(daemon, tmp_path):
    name = "house"
    text = (EXAMPLES / f"{name}.lua").read_text()
    for port in ("6390", "9100 + at"):
        assert port in text
        text = text.replace(port, "0")  # any free one
    shutil.copy(EXAMPLES / "rooms.lua", tmp_path)
    (tmp_path / "house.lua").write_text(text)
    for said in ("created", "unchanged"):
        shown = daemon.cli("run", tmp_path / "house.lua")
        assert shown == f"sessions: {said}\nhall: {said}\nattic: {said}\n"
    assert daemon.cli("ls", "@house", "-q").split() == ["attic", "hall", "sessions"]
