"""A WebSocket client that waits for the completion of each of its actions."""

import asyncio

import websockets

from strata_daemon import PATIENCE


class WebTalker:
    """A client of a WebSocket."""

    def __init__(self, url):
        self.loop = asyncio.new_event_loop()
        self.wire = self.wait(self.opened(url.replace("tcp://", "ws://")))

    @staticmethod
    async def opened(url):
        return await websockets.connect(url, compression=None)

    def wait(self, work):
        return self.loop.run_until_complete(asyncio.wait_for(work, PATIENCE))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wait(self.wire.close())
        self.loop.close()

    def say(self, text):
        self.wait(self.wire.send(text))

    def hear(self):
        return self.wait(self.wire.recv())
