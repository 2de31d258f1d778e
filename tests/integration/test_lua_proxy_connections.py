"""Scripts of proxies that forward connections unchanged: connects, disconnects,
and the data in between."""

import contextlib
import socket
import threading

import pytest

from strata_daemon import PATIENCE, eventually
from talker import Talker

MIB = 1 << 20


@pytest.fixture
def scripted(daemon, tmp_path):
    """Returns a function that starts a proxy with a script in front of a port, and
    returns where it listens."""

    def start(text, backend, **options):
        path = tmp_path / "px.lua"
        path.write_text(text)
        made = daemon.create("proxy", "px", listen=["tcp://127.0.0.1:0"], lua=str(path),
                             backend=[f"127.0.0.1:{backend}"], **options)
        return made["endpoints"][0]

    return start


@contextlib.contextmanager
def backend_that(answers):
    """Runs a backend that calls `answers(connection)` for each connection; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connection = listener.accept()[0]
                    connection.settimeout(PATIENCE)
                    threading.Thread(target=serve, args=(connection,), daemon=True).start()

        def serve(connection):
            with connection, contextlib.suppress(OSError):
                answers(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def echo():
    """Yields the port of a backend that echoes."""
    def answers(connection):
        while more := connection.recv(65536):
            connection.sendall(more)

    with backend_that(answers) as port:
        yield port


@pytest.mark.parametrize("threads", [1, 2])
def test_clients_are_known_one_by_one(daemon, scripted, echo, threads):
    url = scripted("""
        function on_connect(id)
          local peer = self.peer(id)
          strata.log('come from ' .. peer.address .. ' to ' .. tostring(peer.backend))
        end
        function on_proxy_request(id, data)
          if data == 'who' then
            return strata.json.encode({me = id, all = self.clients(), peer = self.peer(id)})
          end
          return data
        end
        function on_disconnect(id)
          strata.log('gone ' .. tostring(self.peer(id)) .. ' ' .. tostring(self.close_client(id)))
        end""", echo, threads=threads)
    with Talker(url) as ann:
        port = ann.socket.getsockname()[1]
        ann.send(b"who")
        said = ann.socket.recv(1000)
        assert b'"backend":"127.0.0.1:%d"' % echo in said
        assert b'"address":"127.0.0.1:%d"' % port in said
    eventually(lambda: daemon.logged("px", f"come from 127.0.0.1:{port} to nil"), "ann has come")
    eventually(lambda: daemon.logged("px", "gone nil false"), "ann has gone")


def test_what_is_said_is_changed_and_dropped(daemon, scripted, echo):
    url = scripted("""
        function on_proxy_request(id, data)
          if data == 'drop' then return nil end
          if data == 'false' then return false end
          if data == 'number' then return 42 end
          if data == 'wait' then strata.sleep(0.05) return 'waited' end
          return '<' .. data .. '>'
        end
        function on_proxy_response(id, data) return data:upper() end""", echo)
    with Talker(url) as ann:
        for said, heard in (("a", b"<A>"), ("number", b"42"), ("wait", b"WAITED")):
            for dropped in (b"drop", b"false"):
                before = daemon.stats("px")["script"]["calls"]
                ann.send(dropped)
                eventually(lambda: daemon.stats("px")["script"]["calls"] > before, "it is dropped")
            ann.send(said.encode())
            got = b""
            while len(got) < len(heard):
                got += ann.socket.recv(100)
            assert got == heard


@pytest.mark.parametrize("mistake", [
    "error('no')", "return {}", "return true", "return function() end", "coroutine.yield()",
    "while true do end"])
@pytest.mark.parametrize("side", ["request", "response"])
def test_a_mistake_ends_that_connection_alone(daemon, scripted, echo, mistake, side):
    url = scripted(f"""
        function on_proxy_{side}(id, data)
          if data:find('bad') then {mistake} end
          return data
        end""", echo, lua_time=0.02)
    with Talker(url) as ann, Talker(url) as bob:
        bob.send(b"good\n")
        assert bob.hear() == b"good"
        ann.send(b"bad\n")
        assert ann.is_ended()
        bob.send(b"still\n")
        assert bob.hear() == b"still"
    eventually(lambda: daemon.logged("px", "px.lua:", level="error")
               or daemon.logged("px", f"on_proxy_{side}: ", level="error"), "the log says why")
    [backend] = daemon.ask("GET", "/v1/runtimes/px/backends")
    assert backend["failed"] == 0, "the backend is not to blame"


def test_a_client_is_closed_within_its_own_function(daemon, scripted, echo):
    url = scripted("""
        function on_proxy_request(id, data)
          if data == 'bye' then
            strata.log('closed ' .. tostring(self.close_client(id)))
            strata.sleep(0.01)
            return 'never heard'
          end
          return data
        end
        function on_proxy_response(id, data)
          if data == 'backend' then self.close_client(id) end
          return data
        end
        function on_disconnect(id) strata.log('gone') end""", echo)
    for word in (b"bye", b"backend"):
        with Talker(url) as ann:
            ann.send(word)
            assert ann.is_ended()
    eventually(lambda: daemon.logged("px", "closed true"), "it was there")
    daemon.wait_connections("px", 0)


def test_those_that_are_closed_as_they_come_reach_no_backend(daemon, scripted):
    reached = []
    with backend_that(reached.append) as port:
        url = scripted("""
            function on_connect(id) strata.sleep(0.02) self.close_client(id) end
            function on_route(request) strata.log('asked for a route') end""", port)
        with Talker(url) as ann:
            ann.send(b"hello")
            assert ann.is_ended()
        assert reached == [] and not daemon.logged("px", "asked for a route")


def test_a_function_that_waits_holds_up_its_connection_alone(daemon, scripted, echo):
    url = scripted("""
        waiting = {}
        function on_proxy_request(id, data)
          if data:sub(1, 4) == 'hold' then
            while not go_on do strata.sleep(0.01) end
          elseif data == 'go on' then
            go_on = true
          end
          return data
        end""", echo)
    with Talker(url) as ann, Talker(url) as bob:
        ann.send(b"hold\n")
        eventually(lambda: daemon.stats("px")["script"]["waiting"] == 1, "ann's piece waits")
        ann.socket.setblocking(False)
        sent = 0
        with contextlib.suppress(BlockingIOError):  # only the kernel's buffers accept it
            while sent < 256 * MIB:
                sent += ann.socket.send(b"x" * MIB)
        assert sent < 256 * MIB
        bob.send(b"go on")
        assert bob.read(5) == b"go on"
        ann.socket.settimeout(PATIENCE)
        assert ann.read(5) == b"hold\n"
        assert ann.read(sent) == b"x" * sent


def test_pieces_may_grow_large(scripted):
    def answers(connection):
        total = 0
        while more := connection.recv(65536):
            total += len(more)
        connection.sendall(b"%d\n" % total)

    with backend_that(answers) as port:
        url = scripted(f"""
            local large = ('x'):rep({MIB})
            function on_proxy_request(id, data) return (data:gsub('.', large)) end""", port,
            lua_time=10)  # the limit is not what is tested here
        with Talker(url) as ann:
            ann.send(b"123")
            ann.finish()
            assert ann.hear() == b"%d" % (3 * MIB)


def test_one_direction_ends_without_the_other(scripted):
    def answers(connection):
        said = b""
        while more := connection.recv(100):
            said += more
        for _ in range(3):
            connection.sendall(said)

    with backend_that(answers) as port:
        url = scripted("""
            function on_proxy_request(id, data) strata.sleep(0.02) return data .. '!' end
            function on_proxy_response(id, data) strata.sleep(0.02) return data end""", port)
        with Talker(url) as ann:
            ann.send(b"ann")
            ann.finish()
            heard = b""
            while more := ann.socket.recv(100):
                heard += more
            assert heard == b"ann!" * 3


def test_many_bytes_pass_a_script_in_both_directions(daemon, scripted, echo):
    url = scripted("""
        function on_proxy_request(id, data) return data end
        function on_proxy_response(id, data) return data end""", echo)
    large = bytes(range(256)) * (16 * MIB // 256)
    with Talker(url) as ann:
        threading.Thread(target=ann.send, args=(large,), daemon=True).start()
        assert ann.read(len(large)) == large
    assert daemon.resident_mib() < 400


def test_the_script_is_stopped_and_loaded_again_while_a_piece_waits(daemon, scripted, tmp_path,
                                                                    echo):
    url = scripted("function on_proxy_request(id, data) strata.sleep(2) return 'old' end", echo)
    with Talker(url) as ann:
        ann.send(b"a")
        eventually(lambda: daemon.stats("px")["script"]["waiting"] == 1, "a piece waits")
        (tmp_path / "px.lua").write_text("function on_proxy_request(id, d) return 'new ' .. d end")
        daemon.cli("reload-lua", "px")
        assert ann.read(3) == b"old"
        ann.send(b"b")
        assert ann.read(5) == b"new b"
        (tmp_path / "px.lua").write_text("x = 1")
        daemon.cli("reload-lua", "px")
        ann.send(b"as it is")
        assert ann.read(8) == b"as it is"
        (tmp_path / "px.lua").write_text("function on_proxy_request() strata.sleep(60) end")
        daemon.cli("reload-lua", "px")
        ann.send(b"c")
        eventually(lambda: daemon.stats("px")["script"]["waiting"] == 1, "another piece waits")
        daemon.act("px", "stop")
        assert ann.is_ended()
