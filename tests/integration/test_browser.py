"""A page in Chromium, `nc`, `curl` and `strata send` in one conversation."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from browser import Browser
from strata_daemon import PATIENCE, eventually
from talker import port_of

PAGES = Path(__file__).resolve().parents[2] / "examples" / "chat"

pytestmark = pytest.mark.serial


def say(page, text):
    return page.evaluate(
        f"document.getElementById('text').value = {text!r};"
        "document.getElementById('form').requestSubmit(), true")


def lines_of(page):
    return page.evaluate("[...document.querySelectorAll('#log p')].map(p => p.textContent)")


async def say_until_heard(netcat, page):
    """Sends lines until the page shows one, and returns how many it shows. A page that a busy
    browser is still setting up may lose its first connection, and reconnects a second later."""
    for _ in range(PATIENCE):
        netcat.stdin.write("hello from nc <b>\n")
        netcat.stdin.flush()
        for _ in range(20):
            await asyncio.sleep(0.1)
            lines = await lines_of(page)
            if lines:
                assert set(lines) == {"hello from nc <b>"}
                await asyncio.sleep(0.5)
                return len(await lines_of(page))
    raise AssertionError(f"nc is not heard; the page shows {await page.shown()}")


def test_a_page_nc_curl_and_the_cli_are_in_one_conversation(daemon, tmp_path):
    [url] = daemon.server("chat", http=str(PAGES), http_messages=True)
    port = port_of(url)
    netcat = subprocess.Popen(["nc", "127.0.0.1", str(port)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)

    async def converse():
        async with Browser(tmp_path, f"http://127.0.0.1:{port}/") as page:
            await page.until("document.getElementById('state')?.textContent == 'connected'",
                             "the page is connected")
            netcat.stdin.write("hello from nc <b>\n")
            netcat.stdin.flush()
            await page.until("document.querySelectorAll('#log p').length == 1", "nc is heard")
            assert await lines_of(page) == ["hello from nc <b>"]
            await say(page, "hello from the page")
            assert await asyncio.to_thread(netcat.stdout.readline) == "hello from the page\n"
            await asyncio.to_thread(daemon.cli, "send", "chat", "hello from the CLI")
            post = ["curl", "-sf", "-d", "hello from curl", f"http://127.0.0.1:{port}/"]
            await asyncio.to_thread(subprocess.check_call, post)
            await page.until("document.querySelectorAll('#log p').length == 4", "all are heard")
            assert await lines_of(page) == ["hello from nc <b>", "hello from the page",
                                            "hello from the CLI", "hello from curl"]
            shot = Path(os.environ.get("STRATA_SCREENSHOTS", tmp_path)) / "chat.png"
            await page.screenshot(shot)
            assert shot.read_bytes().startswith(b"\x89PNG")

    try:
        asyncio.run(asyncio.wait_for(converse(), 3 * PATIENCE))
        assert netcat.stdout.readline() == "hello from the CLI\n"
        assert netcat.stdout.readline() == "hello from curl\n"
    finally:
        netcat.kill()
        netcat.wait()
    eventually(lambda: daemon.stats("chat")["connections"]["now"] == 0, "all have gone")
