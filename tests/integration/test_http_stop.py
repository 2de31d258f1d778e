"""How HTTP connections end when their server stops: clients are notified, and exchanges in
progress are finished."""

import asyncio
import contextlib
import threading

import h2.events
import pytest
import websockets
from wsproto.events import CloseConnection

from http2_peer import Http2
from strata_daemon import PATIENCE, eventually
from talker import Talker, port_of

SIZE = 3_000_000


@contextlib.contextmanager
def stopping(daemon):
    """Stops the server while the body runs; at the end it has stopped."""
    thread = threading.Thread(target=daemon.act, args=("s", "stop"))
    thread.start()
    yield
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert daemon.show("s")["state"] == "stopped"


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "large").write_bytes(b"x" * SIZE)
    return str(folder)


def test_http2_is_told_and_ended(daemon):
    [url] = daemon.server("s")
    with Http2(url) as connection:
        stream = connection.request("GET", "/")
        connection.until(lambda: stream in connection.ended)
        with stopping(daemon):
            connection.until(lambda: connection.is_over)
        assert connection.farewell == 0


def test_a_stream_of_http2_is_finished_and_none_follows(daemon, pages):
    [url] = daemon.server("s", http=pages, drain=True, drain_timeout=PATIENCE)
    with Http2(url) as connection, Http2(url) as idle:
        take, held = connection.take, []

        def without_credit(event):
            if isinstance(event, h2.events.DataReceived):
                held.append(event)
            else:
                take(event)

        connection.take = without_credit
        stream = connection.request("GET", "/large")
        connection.until(lambda: sum(len(each.data) for each in held) == 65535)
        with stopping(daemon):
            idle.until(lambda: idle.is_over)
            assert idle.farewell == 0
            connection.until(lambda: connection.farewell == 0)
            connection.take = take
            for each in held:
                take(each)
            connection.flush()
            connection.until(lambda: connection.ended.get(stream) == "end")
            assert len(connection.bodies[stream]) == SIZE
            connection.until(lambda: connection.is_over)


def rest_of(talker):
    """Returns all that the talker receives until the server has closed."""
    heard = talker.rest
    while more := talker.socket.recv(65536):
        heard += more
    return heard


def test_http1_is_finished_and_told(daemon):
    [url] = daemon.server("s", http_messages=True, drain=True, drain_timeout=PATIENCE)
    with Talker(url) as busy, Talker(url) as idle:
        idle.send(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"404" in idle.hear()
        busy.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
                  b"Expect: 100-continue\r\n\r\n")
        assert b"100 Continue" in busy.hear()
        with stopping(daemon):
            assert b"nothing" in rest_of(idle)
            busy.send(b"body" + b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = rest_of(busy)
        assert b"HTTP/1.1 503 " in answer
        assert b"Connection: close" in answer
        assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_one_that_does_not_close_denies_nobody_a_clean_end(daemon, threads):
    [url] = daemon.server("s", http_messages=True, drain=True, drain_timeout=2, threads=threads)
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(Talker(url)) for _ in range(24)]
        for each in streams:
            each.send(b"GET / HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
            assert b"200 OK" in each.hear()
        stopping_thread = threading.Thread(target=daemon.cli, args=("stop", "s"))
        stopping_thread.start()
        # No client closes its side, so each takes the full time.
        ends = [rest_of(each) for each in streams]
        stopping_thread.join(PATIENCE)
    assert [end.endswith(b"0\r\n\r\n") for end in ends] == [True] * len(ends)


def test_members_of_all_kinds_are_told(daemon):
    [url] = daemon.server("s", http_messages=True, drain=True, drain_timeout=PATIENCE)

    async def by_http1():
        async with websockets.connect(f"ws://127.0.0.1:{port_of(url)}/") as old:
            await asyncio.to_thread(rest)
            with pytest.raises(websockets.ConnectionClosed) as closed:
                await asyncio.wait_for(old.recv(), PATIENCE)
            assert closed.value.code == 1001

    def rest():
        with Http2(url) as connection, Talker(url) as events:
            member = connection.open()
            stream = connection.request("GET", "/", [("accept", "text/event-stream")])
            connection.until(lambda: stream in connection.bodies)
            events.send(b"GET / HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
            assert b"200 OK" in events.hear()
            with stopping(daemon):
                connection.until(lambda: connection.farewell == 0)
                assert member.hear().code == 1001
                member.send(CloseConnection(code=1001), end=True)
                connection.until(lambda: stream in connection.ended)
                assert rest_of(events).endswith(b"0\r\n\r\n")
                events.close()
                connection.until(lambda: connection.is_over)

    asyncio.run(by_http1())


def test_no_drain_waits_for_nothing(daemon, pages):
    [url] = daemon.server("s", http=pages)
    with Talker(url) as slow:
        slow.send(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in slow.hear()
        with stopping(daemon):
            pass
    eventually(lambda: daemon.show("s")["state"] == "stopped", "it has stopped")


WAITING_SCRIPT = """
function on_http_request(request)
  strata.sleep(3)
  return {body = "late"}
end
function on_client_message(id, message)
  strata.sleep(3)
  self.send(id, "late")
end"""


@pytest.mark.parametrize("patience", [None, 0.2, PATIENCE])
def test_what_a_script_is_answering_is_awaited(daemon, tmp_path, patience):
    """Tries drain timeouts; with None, the server does not drain."""
    script = tmp_path / "late.lua"
    script.write_text(WAITING_SCRIPT)
    more = {"drain": True, "drain_timeout": patience} if patience else {}
    [url] = daemon.server("s", lua=str(script), **more)
    with Talker(url) as asking, Talker(url) as talking, Http2(url) as connection:
        asking.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        talking.send(b"hello\n")
        stream = connection.request("GET", "/")
        eventually(lambda: daemon.stats("s")["script"]["waiting"] == 3, "all three wait")
        with stopping(daemon):
            answer = b"".join(iter(lambda: asking.socket.recv(65536), b""))
            if patience == PATIENCE:
                assert b" 200 OK" in answer and answer.endswith(b"late")
                assert talking.hear() == b"late"
                connection.until(lambda: stream in connection.ended)
                assert connection.bodies[stream] == b"late"
            elif patience:
                assert b" 503 " in answer and b"stopping" in answer
                connection.until(lambda: stream in connection.ended)
                assert connection.heads[stream][b":status"] == b"503"
            else:
                assert answer == b""
