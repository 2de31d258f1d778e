"""What a script may ask of its own runtime: port, state, protocol, and who opened a WebSocket."""

import asyncio

import pytest
import websockets
import websockets.exceptions

from strata_daemon import PATIENCE, eventually
from talker import TextTalker as Talker
from talker import free_port, port_of


def test_a_script_sees_its_port_state_and_protocol(daemon, scripted):
    url = scripted("""
        function on_start() strata.log('starts at ' .. self.port) end
        function on_message(_, id)
          self.send(id, self.port .. ' ' .. self.state .. ' ' .. self.protocol)
          self.send(id, tostring(self.height))
        end""", protocol="auto", listen=[f"tcp://127.0.0.1:{free_port()}"])
    with Talker(url) as ann:
        ann.say("hello")
        assert ann.hear() == f"{port_of(url)} running auto"
        assert ann.hear() == "nil"
    eventually(lambda: daemon.logged("web", f"starts at {port_of(url)}"), "it is logged")


def test_a_script_knows_whose_websocket_it_is(daemon, scripted):
    url = scripted("""
        local first
        function on_websocket(request, id)
          first = id
          return request.headers.cookie ~= 'wrong=1'
        end
        function on_message(_, id)
          local from = self.ws_headers(id)
          if not from then return self.send(id, 'no websocket') end
          self.send(id, (first == id and 'known ' or 'unknown ') .. tostring(from.cookie) .. ' '
                        .. tostring(from.origin) .. ' ' .. tostring(from.authorization))
        end""", protocol="auto", ws_origin=["http://here"])
    where = f"ws://127.0.0.1:{port_of(url)}/"

    async def talk():
        with pytest.raises(websockets.exceptions.InvalidStatusCode):
            await websockets.connect(where, extra_headers={"Cookie": "wrong=1"})
        async with websockets.connect(where, extra_headers={"Cookie": "user=ann"},
                                      origin="http://here") as ann:
            await ann.send("who am I?")
            heard = await asyncio.wait_for(ann.recv(), PATIENCE)
            assert heard == "known user=ann http://here nil"

    asyncio.run(talk())
    with Talker(url) as bob:
        bob.say("who am I?")
        assert bob.hear() == "no websocket"
