"""strata clients and strata disconnect: the connected clients, their traffic, and
how to disconnect one."""

import contextlib
import datetime
import http.client
import json
import socket
import subprocess

import pytest
import redis
import websockets
from strata_daemon import PATIENCE, Refused, eventually
from talker import Peer, Talker, port_of
from web_talker import WebTalker

SCRIPT = """
function on_message(message, id)
  self.join_group(id, 'readers')
  self.join_group(id, message)
  self.send(id, message)
end
"""


def clients_of(daemon, name="s"):
    return daemon.ask("GET", f"/v1/runtimes/{name}/clients")


def await_clients(daemon, count):
    eventually(lambda: len(clients_of(daemon)) == count, f"{count} clients are there")
    return clients_of(daemon)


def quiet_clients(daemon, name="s"):
    """Returns the clients once nothing waits for any of them: a client may have
    its last bytes a moment before the loop notes that they have left."""
    def quiet():
        listed = clients_of(daemon, name)
        return listed if not any(each["waiting"] for each in listed) else None

    return eventually(quiet, "nothing waits")


def test_what_is_shown_of_each(daemon, tmp_path):
    path = tmp_path / "socket"
    stream, datagrams, own = daemon.server(
        "s", listen=["tcp://127.0.0.1:0", "udp://127.0.0.1:0", f"unix://{path}"], mode="echo")
    with Talker(stream) as ann, Peer(datagrams) as bob, Talker(own) as cyd, \
            WebTalker(stream) as dan:
        ann.say(b"hello", b"again")
        assert ann.hear_lines(2) == [b"hello", b"again"]
        bob.say(b"four")
        assert bob.hear() == b"four"
        cyd.say(b"from here")
        assert cyd.hear() == b"from here"
        dan.say("hello")
        assert dan.hear() == "hello"
        await_clients(daemon, 4)
        shown = {each["protocol"]: each for each in quiet_clients(daemon)}
        assert shown.keys() == {"tcp", "udp", "unix", "ws"}
        assert shown["tcp"]["address"] == "{}:{}".format(*ann.socket.getsockname())
        assert shown["udp"]["address"] == "{}:{}".format(*bob.socket.getsockname())
        passed = {name: [each[key] for key in ("messages_in", "bytes_in", "messages_out",
                                               "bytes_out")] for name, each in shown.items()}
        assert passed == {"tcp": [2, 12, 2, 12], "udp": [1, 4, 1, 4], "unix": [1, 10, 1, 10],
                          "ws": [1, 11, 1, 7]}
        for each in shown.values():
            came = datetime.datetime.fromisoformat(each["since"].replace("Z", "+00:00"))
            age = datetime.datetime.now(datetime.timezone.utc) - came
            assert abs(age.total_seconds()) < 60 and each["idle_s"] < 60
            assert each["groups"] == [] and each["tls_subject"] == ""
    # UDP peers are listed until they are forgotten.
    assert [each["protocol"] for each in await_clients(daemon, 1)] == ["udp"]


def test_what_waits(daemon):
    [url] = daemon.server("s", max_buffer=50_000_000)
    with Talker(url) as ann, Talker(url, room=4096) as slow:
        ann.say(b"unfinished" * 10)
        ann.send(b"half a line")
        slow.say(b"x")
        assert ann.hear() == b"x"
        for _ in range(300):
            ann.say(b"m" * 60_000)
        eventually(lambda: max(each["waiting"] for each in clients_of(daemon)) > 100_000,
                   "the slow one's messages wait")


def test_groups_are_those_of_the_script(daemon, tmp_path):
    script = tmp_path / "script.lua"
    script.write_text(SCRIPT)
    [url] = daemon.server("s", lua=str(script), threads=2)
    with Talker(url) as ann, Talker(url):
        await_clients(daemon, 2)
        ann.say(b"red")
        assert ann.hear() == b"red"
        groups = [each["groups"] for each in clients_of(daemon)]
        assert sorted(groups) == [[], ["readers", "red"]]


@pytest.mark.parametrize("threads", [1, 3])
def test_one_is_sent_away_and_the_others_stay(daemon, threads):
    [url] = daemon.server("s", threads=threads, protocol="raw")
    people = [Talker(url) for _ in range(6)]
    try:
        shown = {each["address"]: each["id"] for each in await_clients(daemon, 6)}
        gone = people.pop(2)
        number = shown["{}:{}".format(*gone.socket.getsockname())]
        done = daemon.run("disconnect", "s", str(number))
        assert done.returncode == 0, done.stderr
        assert gone.is_ended()
        gone.close()
        assert number not in [each["id"] for each in await_clients(daemon, 5)]
        people[0].say(b"still here")
        assert [each.hear() for each in people[1:]] == [b"still here"] * 4
        again = daemon.run("disconnect", "s", str(number))
        assert again.returncode == 1 and "no such client is connected" in again.stderr
    finally:
        for each in people:
            each.close()


def test_a_websocket_is_told(daemon):
    [url] = daemon.server("s")
    with WebTalker(url) as ann:
        [shown] = await_clients(daemon, 1)
        daemon.ask("POST", f"/v1/runtimes/s/disconnect?client={shown['id']}")
        with pytest.raises(websockets.ConnectionClosedOK):
            ann.hear()
        assert ann.wire.close_code == 1000


@pytest.mark.parametrize("query, why", [
    ("", "it lacks the parameter 'client'"), ("?client=ann", "ann"), ("?client=1&now=1", "'now'"),
    ("?client=18446744073709551615", "no such client"), ("?client=99999999999999999999", "99999")])
def test_what_cannot_be_is_refused(daemon, query, why):
    daemon.server("s")
    with pytest.raises(Refused, match=why):
        daemon.ask("POST", f"/v1/runtimes/s/disconnect{query}")


def test_the_table(daemon):
    [url] = daemon.server("s", mode="echo", protocol="raw")
    with Talker(url) as ann, Talker(url) as bob:
        bob.say(b"one", b"two")
        assert bob.hear_lines(2) == [b"one", b"two"]
        await_clients(daemon, 2)
        table = daemon.run("clients", "s", "--sort", "in").stdout.splitlines()
        assert table[0].split()[:3] == ["ID", "ADDRESS", "PROTOCOL"] and len(table) == 3
        assert "{}:{}".format(*bob.socket.getsockname()) in table[1]
        listed = json.loads(daemon.run("clients", "s", "--format", "json").stdout)
        assert sorted(each["messages_in"] for each in listed) == [0, 2]
        wrong = daemon.run("clients", "s", "--sort", "height")
        assert wrong.returncode == 2 and "height" in wrong.stderr
        assert ann.socket.fileno() >= 0
    for words in (("disconnect", "s"), ("disconnect", "s", "ann"), ("clients",)):
        assert daemon.run(*words).returncode == 2, words


def test_thousands_are_listed_while_others_are_served(daemon):
    [url] = daemon.server("s", mode="echo", protocol="raw")
    count = 3000
    host, port = url.removeprefix("tcp://").split(":")
    crowd = [socket.create_connection((host, int(port))) for _ in range(count)]
    try:
        assert len({each["id"] for each in await_clients(daemon, count)}) == count
        with Talker(url) as ann:
            ann.say(b"hello")
            assert ann.hear() == b"hello"
    finally:
        for each in crowd:
            each.close()


# --- HTTP and proxy clients

def http_client(port):
    """Returns a connection that has sent one request and stays open."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/index.html")
    assert connection.getresponse().read() == b"hello"
    return connection


def test_connections_of_http_are_clients(daemon, tmp_path):
    (tmp_path / "index.html").write_text("hello")
    [url] = daemon.server("s", listen=["http://127.0.0.1:0"], http=str(tmp_path))
    with contextlib.closing(http_client(port_of(url))) as ann:
        [shown] = await_clients(daemon, 1)
        assert shown["protocol"] == "http"
        assert shown["address"] == "{}:{}".format(*ann.sock.getsockname())
        assert (shown["messages_in"], shown["messages_out"]) == (1, 1)
        assert shown["bytes_in"] > 20 and shown["bytes_out"] > 20
        daemon.cli("disconnect", "s", shown["id"])
        assert ann.sock.recv(1) == b""
    await_clients(daemon, 0)


def test_an_event_stream_is_one_client(daemon):
    [url] = daemon.server("s", listen=["http://127.0.0.1:0"], http_messages=True)
    connection = http.client.HTTPConnection("127.0.0.1", port_of(url), timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("GET", "/", headers={"Accept": "text/event-stream"})
        assert connection.getresponse().status == 200
        [shown] = await_clients(daemon, 1)
        assert shown["protocol"] == "http"


@pytest.mark.parametrize("scheme, kind, messages", [("tcp", Talker, 0), ("udp", Peer, 1)])
def test_clients_of_a_proxy(daemon, scheme, kind, messages):
    [backend] = daemon.server("s", listen=[f"{scheme}://127.0.0.1:0"], mode="echo")
    daemon.create("proxy", "p", listen=[f"{scheme}://127.0.0.1:0"], backend=[backend])
    [front] = daemon.show("p")["endpoints"]
    with kind(front) as ann:
        ann.say(b"hello")
        assert ann.hear() == b"hello"
        [shown] = clients_of(daemon, "p")
        assert shown["protocol"] == scheme
        assert shown["address"] == "{}:{}".format(*ann.socket.getsockname())
        assert (shown["messages_in"], shown["messages_out"]) == (messages, messages)
        assert shown["bytes_in"] == shown["bytes_out"] == (5 if messages else 6)
        daemon.cli("disconnect", "p", shown["id"])
        if kind is Talker:
            assert ann.is_ended()
        eventually(lambda: clients_of(daemon, "p") == [], "it is gone")
        again = daemon.run("disconnect", "p", shown["id"])
        assert again.returncode == 1 and "no such client is connected" in again.stderr


def test_clients_of_a_proxy_for_http(daemon, tmp_path):
    (tmp_path / "index.html").write_text("hello")
    [url] = daemon.server("s", http=str(tmp_path), mode="echo")
    daemon.create("proxy", "p", listen=["http://127.0.0.1:0"], threads=2,
                  backend=[url.replace("tcp:", "http:")])
    [front] = daemon.show("p")["endpoints"]
    with contextlib.closing(http_client(port_of(front))) as ann:
        [shown] = clients_of(daemon, "p")
        assert (shown["protocol"], shown["messages_in"]) == ("http", 1)
        with WebTalker(front.replace("http:", "ws:")) as dan:
            dan.say("hello")
            assert dan.hear() == "hello"
            both = {each["protocol"]: each["id"] for each in clients_of(daemon, "p")}
            assert both.keys() == {"http", "ws"}
            daemon.cli("disconnect", "p", both["ws"])
            with pytest.raises(websockets.ConnectionClosed):
                dan.hear()
        daemon.cli("disconnect", "p", shown["id"])
        assert ann.sock.recv(1) == b""


def test_a_scripts_ids_are_those_of_the_clients(daemon, tmp_path):
    script = tmp_path / "script.lua"
    script.write_text("function on_connect(id) strata.log('client ' .. id) end")
    [backend] = daemon.server("s", mode="echo", protocol="raw")
    daemon.create("proxy", "p", listen=["tcp://127.0.0.1:0"], backend=[backend], lua=str(script))
    [front] = daemon.show("p")["endpoints"]
    with Talker(front) as ann:
        ann.say(b"hello")
        assert ann.hear() == b"hello"
        [shown] = clients_of(daemon, "p")
        assert daemon.logged("p", f"client {shown['id']}")


# --- cache clients

def new_cache(daemon, *flags, name="db"):
    """Makes a cache and returns the port where it listens."""
    daemon.cli("create", "cache", name, "-l", "tcp://127.0.0.1:0", "-s", *flags)
    return int(daemon.show(name)["endpoints"][0].rsplit(":", 1)[1])


@pytest.fixture
def cache(daemon):
    return new_cache(daemon)


@contextlib.contextmanager
def redis_client(port, **options):
    """Yields a client with one connection for all requests."""
    client = redis.Redis(port=port, single_connection_client=True, socket_timeout=PATIENCE,
                         decode_responses=True, **options)
    try:
        client.ping()
        yield client
    finally:
        client.connection_pool.disconnect()


def test_a_caches_clients_are_those_of_client_list(daemon, cache):
    with redis_client(cache, client_name="ann", db=3) as ann, redis_client(cache) as bob:
        ann.set("key", "v" * 1000)
        for _ in range(4):
            assert ann.get("key") == "v" * 1000
        ann.execute_command("ACL", "SETUSER", "carol", "on", "nopass", "+@all", "~*")
        bob.execute_command("AUTH", "carol", "any")
        listed = {int(each["id"]): each for each in ann.client_list()}
        shown = {each["id"]: each for each in quiet_clients(daemon, "db")}
        assert shown.keys() == listed.keys() == {ann.client_id(), bob.client_id()}
        for number, each in shown.items():
            other = listed[number]
            assert (each["address"], each["name"]) == (other["addr"], other["name"])
            assert (each["database"], each["user"]) == (int(other["db"]), other["user"])
            assert (each["protocol"], each["tls_subject"]) == ("tcp", "")
            assert each["groups"] == [] and each["idle_s"] < 60
            came = datetime.datetime.fromisoformat(each["since"].replace("Z", "+00:00"))
            age = datetime.datetime.now(datetime.timezone.utc) - came
            assert abs(age.total_seconds() - int(other["age"])) < 60
        of_ann = shown[ann.client_id()]
        assert of_ann["messages_in"] == of_ann["messages_out"] >= 8
        assert of_ann["bytes_in"] > 1000 and of_ann["bytes_out"] > 4000
        assert shown[bob.client_id()]["bytes_out"] < 1000
        assert of_ann["database"] == 3 and of_ann["name"] == "ann"
        assert (of_ann["user"], shown[bob.client_id()]["user"]) == ("default", "carol")
    eventually(lambda: clients_of(daemon, "db") == [], "they have gone")


def test_a_caches_commands_and_replies_are_counted(daemon, cache):
    with redis_client(cache) as ann, redis_client(cache) as bob:
        def passed(client):
            number = client.client_id()
            [one] = [each for each in clients_of(daemon, "db") if each["id"] == number]
            return one["messages_in"], one["messages_out"]

        begun = passed(bob)
        assert begun[0] == begun[1]
        for number in range(50):
            bob.set(f"key-{number}", number)
        # Including CLIENT ID, which `passed` sends.
        assert passed(bob) == (begun[0] + 51, begun[1] + 51)
        listener = bob.pubsub()
        with contextlib.closing(listener):
            listener.subscribe("news")
            assert listener.get_message(timeout=PATIENCE)["type"] == "subscribe"
            number = max(each["id"] for each in clients_of(daemon, "db"))
            for _ in range(10):
                ann.publish("news", "x")
            for _ in range(10):
                assert listener.get_message(timeout=PATIENCE)["data"] == "x"
            [one] = [each for each in clients_of(daemon, "db") if each["id"] == number]
            assert one["messages_out"] == one["messages_in"] + 10


def test_a_pipeline_is_counted_to_the_byte(daemon, cache):
    ping, pong = b"*1\r\n$4\r\nPING\r\n", b"+PONG\r\n"
    with Talker(f"tcp://127.0.0.1:{cache}") as ann:
        ann.send(ping * 5000)
        assert ann.hear_lines(5000) == [pong.rstrip(b"\n")] * 5000
        [shown] = quiet_clients(daemon, "db")
        assert (shown["messages_in"], shown["messages_out"]) == (5000, 5000)
        assert shown["bytes_in"] == len(ping) * 5000
        assert shown["bytes_out"] == len(pong) * 5000


def test_what_waits_for_a_caches_client(daemon, cache):
    address = f"tcp://127.0.0.1:{cache}"
    with Talker(address, room=4096) as slow, Talker(address) as half, redis_client(cache) as ann:
        ann.set("big", "x" * 500_000)
        half.send(b"*2\r\n$3\r\nGET\r\n$1000\r\nunfinished")
        slow.send(b"*2\r\n$3\r\nGET\r\n$3\r\nbig\r\n" * 20)

        def waiting():
            return {each["address"]: each["waiting"] for each in clients_of(daemon, "db")}

        for client, least in [(slow, 100_000), (half, 10)]:
            where = "{}:{}".format(*client.socket.getsockname())
            eventually(lambda where=where, least=least: waiting()[where] >= least, "it waits")


def test_disconnect_and_client_kill_mean_the_same_one(daemon, cache):
    with redis_client(cache) as ann, redis_client(cache) as bob, redis_client(cache) as cyd:
        number = bob.client_id()
        assert ann.client_kill_filter(_id=cyd.client_id()) == 1
        eventually(lambda: len(clients_of(daemon, "db")) == 2, "one was killed")
        daemon.cli("disconnect", "db", number)
        with pytest.raises(redis.ConnectionError):
            bob.connection.send_command("PING")
            bob.connection.read_response()
        eventually(lambda: [each["id"] for each in clients_of(daemon, "db")] == [ann.client_id()],
                   "only one is left")
        assert ann.client_kill_filter(_id=number) == 0
        again = daemon.run("disconnect", "db", number)
        assert again.returncode == 1 and "no such client is connected" in again.stderr
        assert again.stderr.endswith("; see: strata clients db\n")
        assert ann.ping()


def test_one_that_waits_for_a_key_is_disconnected(daemon, cache):
    waiting = subprocess.Popen(["redis-cli", "-p", str(cache), "BLPOP", "queue", "0"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    [shown] = eventually(lambda: clients_of(daemon, "db"), "it is there")
    with redis_client(cache) as ann:
        eventually(lambda: ann.info("clients")["blocked_clients"] == 1, "it waits")
        daemon.cli("disconnect", "db", shown["id"])
        waiting.communicate(timeout=PATIENCE)
        ann.rpush("queue", "kept")
        assert ann.llen("queue") == 1


def test_disconnect_in_a_transaction_executes_nothing(daemon, cache):
    with redis_client(cache) as ann, Talker(f"tcp://127.0.0.1:{cache}") as bob:
        bob.send(b"MULTI\r\nSET half done\r\n")
        assert bob.hear_lines(2) == [b"ok", b"QUEUED"]
        [number] = [each["id"] for each in clients_of(daemon, "db")
                    if each["id"] != ann.client_id()]
        daemon.cli("disconnect", "db", number)
        assert bob.is_ended()
        assert ann.get("half") is None


@pytest.mark.parametrize("client, why", [
    ("0", "no such client"), ("18446744073709551615", "no such client"), ("-1", "-1"),
    ("ann", "ann")])
def test_a_client_that_a_cache_has_not_is_refused(daemon, cache, client, why):
    with pytest.raises(Refused, match=why):
        daemon.ask("POST", f"/v1/runtimes/db/disconnect?client={client}")
    assert cache


def test_a_caches_clients_by_tls_and_by_a_path(daemon, authority, tmp_path):
    certificate, key = authority.issue("localhost")
    path = tmp_path / "socket"
    daemon.cli("create", "cache", "db", "-s", "-l", "tls://127.0.0.1:0", "-l", f"unix://{path}",
               "--cert", certificate, "--key", key, "--client-ca", authority.ca)
    port = next(int(each.rsplit(":", 1)[1]) for each in daemon.show("db")["endpoints"]
                if each.startswith("tls"))
    own, own_key = authority.issue("ann", into=tmp_path / "ann")
    secure = redis.Redis(host="localhost", port=port, ssl=True, ssl_ca_certs=authority.ca,
                         ssl_certfile=own, ssl_keyfile=own_key, socket_timeout=PATIENCE)
    local = redis.Redis(unix_socket_path=str(path), socket_timeout=PATIENCE)
    with contextlib.closing(secure), contextlib.closing(local):
        assert secure.ping() and local.ping()
        shown = {each["protocol"]: each for each in clients_of(daemon, "db")}
        assert shown.keys() == {"tls", "unix"}
        assert shown["tls"]["tls_subject"] == "CN=ann" and shown["unix"]["tls_subject"] == ""


# --- --filter

def test_filter_keeps_whole_values_alone(daemon, cache):
    def ids(*flags):
        return [each["id"] for each in
                json.loads(daemon.cli("clients", "db", "--format", "json", *flags))]

    with redis_client(cache, client_name="ann") as ann, \
            redis_client(cache, client_name="bob") as bob, \
            redis_client(cache, client_name="ann", db=2) as cyd:
        by_name = ("--filter", "name=ann")
        assert ids(*by_name) == [ann.client_id(), cyd.client_id()]
        assert ids(*by_name, "--filter", "database=2") == [cyd.client_id()]
        assert ids(*by_name, "--filter", "name=bob") == []
        assert ids("--filter", "name=an") == ids("--filter", "name=a*") == []
        assert ids("--filter", f"id={bob.client_id()}") == [bob.client_id()]
        assert len(ids("--filter", "groups=")) == len(ids("--filter", "protocol=tcp")) == 3
        table = daemon.cli("clients", "db", "--columns", "id,name", *by_name, "--sort", "id")
        assert table.split() == ["ID", "NAME", str(cyd.client_id()), "ann", str(ann.client_id()),
                                 "ann"]
        assert daemon.cli("clients", "db", "--filter", "name=eve", "--columns", "id") == "ID\n"


@pytest.mark.parametrize("filter, why", [
    ("height=1", "there is no field 'height' to filter by"),
    ("databse=1", "did you mean 'database'?"),
    ("name", "--filter takes FIELD=VALUE, not 'name'"), ("=x", "--filter takes FIELD=VALUE"),
    ("", "--filter takes FIELD=VALUE")])
def test_a_filter_that_is_none_names_the_fields(daemon, cache, filter, why):
    done = daemon.run("clients", "db", "--filter", filter)
    assert done.returncode == 2 and why in done.stderr and done.stdout == "", done
    assert "id, address, protocol, tls_subject" in done.stderr
    assert cache
