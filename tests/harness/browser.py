"""A real browser: headless Chromium, driven by its own protocol (CDP)."""

import asyncio
import base64
import itertools
import json
import subprocess
import urllib.request

import websockets

from strata_daemon import PATIENCE


class Browser:
    """One page: `async with Browser(folder, url) as page`."""

    def __init__(self, folder, url, *flags):
        self.folder = folder
        self.url = url
        self.flags = flags
        self.numbers = itertools.count(1)

    async def __aenter__(self):
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--remote-debugging-port=0", "--window-size=800,600",
             *self.flags, f"--user-data-dir={self.folder / 'profile'}", self.url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = self.folder / "profile" / "DevToolsActivePort"
        for _ in range(PATIENCE * 10):
            if port_file.exists() and port_file.read_text().count("\n"):
                break
            assert self.process.poll() is None, "chromium has ended"
            await asyncio.sleep(0.1)
        port = port_file.read_text().split("\n")[0]
        pages = []
        while not pages:
            listed = await asyncio.to_thread(self.list_pages, port)
            pages = [each for each in listed if each["type"] == "page"]
        self.wire = await websockets.connect(pages[0]["webSocketDebuggerUrl"], max_size=None)
        await self.command("Page.bringToFront")
        return self

    @staticmethod
    def list_pages(port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=PATIENCE) as answer:
            return json.load(answer)

    async def __aexit__(self, *_):
        await self.wire.close()
        self.process.kill()
        self.process.wait()

    async def command(self, method, **parameters):
        number = next(self.numbers)
        await self.wire.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(await asyncio.wait_for(self.wire.recv(), PATIENCE))
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    async def evaluate(self, expression):
        answer = await self.command("Runtime.evaluate", expression=expression,
                                    awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, expression, what):
        for _ in range(PATIENCE * 10):
            if value := await self.evaluate(expression):
                return value
            await asyncio.sleep(0.1)
        raise AssertionError(f"not within {PATIENCE} s: {what}; it shows {await self.shown()}")

    async def shown(self):
        return await self.evaluate("document.body.innerText")

    async def screenshot(self, path):
        answer = await self.command("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(answer["data"]))
