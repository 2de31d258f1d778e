"""The proxy's HTTP figures: how long requests took, by backend and by route."""

import json
import re
import threading

from http_backend import OK, client, gateway, get
from strata_daemon import eventually
from test_backends import backends_of
from test_streams import parse_metrics


def metrics(daemon):
    status, text = daemon.exchange("GET", "/metrics")
    assert status == 200
    return text.decode()


def samples(daemon, name):
    """Returns a metric's samples: the labels in braces, and the value."""
    found = re.findall(rf"^{name}{{(.*)}} (\S+)$", metrics(daemon), re.MULTILINE)
    return {labels: float(value) for labels, value in found}


def slow_backend(make_backend, gate):
    def answer(wire, _):
        gate.wait()
        wire.over.sendall(OK)

    return make_backend(answer)


def test_how_long_requests_took(daemon, make_backend):
    gate = threading.Event()
    threading.Timer(0.3, gate.set).start()
    slow, quick = slow_backend(make_backend, gate), make_backend()
    port = gateway(daemon, quick, route=[f"path=/slow -> {slow.where}", "path=/no -> answer=403"])
    for path in ["/slow", "/", "/", "/no"]:
        get(port, path)
    seen = daemon.stats("gw")
    latency = seen["http"]["latency"]
    assert latency["count"] == 4 and latency["max_ms"] >= 200
    assert latency["p50_ms"] <= latency["p90_ms"] <= latency["p99_ms"] == latency["max_ms"]
    assert latency["sum_ms"] >= latency["max_ms"]
    within = {float(ms): count for ms, count in latency["within_ms"].items()}
    assert within[100] <= 3 and within[50000] == 4
    assert sorted(within.values()) == [within[ms] for ms in sorted(within)]
    counts = {(each["route"], each["backend"]): (each["latency"]["count"], each["answers"]["2xx"])
              for each in seen["backends"]}
    assert counts == {("", f"tcp://{quick.where}"): (2, 2),
                      (f"path=/slow -> {slow.where}", f"tcp://{slow.where}"): (1, 1)}
    routes = {each["route"]: each for each in seen["routes"]}
    assert routes["path=/no -> answer=403"]["answers"]["4xx"] == 1
    assert routes[""]["latency"]["count"] == 2
    assert routes[f"path=/slow -> {slow.where}"]["latency"]["max_ms"] == latency["max_ms"]


def test_a_client_that_reads_slowly_counts_until_the_end(daemon, make_backend):
    """An answer ends when the proxy has sent all of it to the client."""
    gate = threading.Event()

    def answer(wire, _):
        wire.over.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha")
        gate.wait()
        wire.over.sendall(b"lf")

    port = gateway(daemon, make_backend(answer))
    with client(port) as wire:
        wire.over.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        wire.until(b"\r\n\r\n")
        assert wire.take(2) == b"ha"
        assert daemon.stats("gw")["http"]["latency"]["count"] == 0
        gate.set()
        assert wire.take(2) == b"lf"
    eventually(lambda: daemon.stats("gw")["http"]["latency"]["count"] == 1, "it is counted")


def test_prometheus_gets_histograms(daemon, make_backend):
    backend = make_backend()
    port = gateway(daemon, backend, route=[f'path=/r method=GET,PUT -> {backend.where}'])
    for path in ["/", "/", "/r"]:
        get(port, path)
    whole = 'name="gw",type="proxy"'
    buckets = samples(daemon, "strata_http_latency_seconds_bucket")
    assert buckets[whole + ',le="+Inf"'] == 3 == buckets[whole + ',le="50"']
    assert list(buckets.values()) == sorted(buckets.values()) and len(buckets) == 19
    assert samples(daemon, "strata_http_latency_seconds_count") == {whole: 3}
    assert 0 <= samples(daemon, "strata_http_latency_seconds_sum")[whole] < 3 * 60
    route = f"path=/r method=GET,PUT -> {backend.where}"
    mine = f'{whole},route="{route}",backend="tcp://{backend.where}"'
    rest = f'{whole},route="",backend="tcp://{backend.where}"'
    assert samples(daemon, "strata_backend_latency_seconds_count") == {mine: 1, rest: 2}
    assert samples(daemon, "strata_backend_answers_total")[rest + ',class="2xx"'] == 2
    assert samples(daemon, "strata_route_latency_seconds_count")[f'{whole},route="{route}"'] == 1
    _, types = parse_metrics(metrics(daemon))
    assert types["strata_backend_latency_seconds"] == "histogram"


def test_retries_are_counted_where_they_came_from(daemon, make_backend):
    broken, whole = make_backend(lambda wire, asked: False), make_backend()
    port = gateway(daemon, broken, whole, balance="first")
    assert get(port) == (200, b"ok")
    assert daemon.stats("gw")["http"]["retries"] == 1
    seen = backends_of(daemon)
    assert (seen[broken.where]["retries"], seen[whole.where]["retries"]) == (1, 0)
    assert seen[broken.where]["latency"]["count"] == 0
    assert (seen[whole.where]["latency"]["count"], seen[whole.where]["answers"]["2xx"]) == (1, 1)


def test_all_loops_are_summed_up_and_edits_keep_what_was_counted(daemon, make_backend):
    backend, other = make_backend(), make_backend()
    port = gateway(daemon, backend, threads=3)
    for _ in range(12):
        get(port)
    daemon.edit("gw", backend=[backend.where + " weight=5", other.where + " backup"])
    eventually(lambda: len(daemon.stats("gw")["backends"]) == 2, "all loops have heard of the edit")
    seen = backends_of(daemon)
    assert seen[backend.where]["latency"]["count"] == 12
    assert seen[other.where]["latency"]["count"] == 0
    daemon.edit("gw", backend=[other.where])
    eventually(lambda: len(daemon.stats("gw")["backends"]) == 1, "the backend has gone")
    assert daemon.stats("gw")["http"]["latency"]["count"] == 12
    daemon.act("gw", "restart")
    seen = daemon.stats("gw")
    assert seen["http"]["latency"]["count"] == 12 and seen["backends"][0]["latency"]["count"] == 0


def test_people_see_them(daemon, make_backend):
    port = gateway(daemon, make_backend())
    get(port)
    shown = daemon.cli("stats", "gw")
    assert "http.latency.p99_ms" in shown and "within" not in shown and "backends" not in shown
    assert "P99" in daemon.cli("stats", "gw", "--columns", "name,p99")
    assert json.loads(daemon.cli("stats", "gw", "--format", "json"))[0]["backends"]
    assert "P99" in daemon.cli("backends", "gw")
    assert "RETRIES" in daemon.cli("backends", "gw", "--columns", "backend,retries,answers,p50,max")


def test_what_becomes_another_protocol_takes_no_time(daemon, make_backend):
    def switch(wire, _):
        wire.over.sendall(b"HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
        return False

    port = gateway(daemon, make_backend(switch))
    with client(port) as wire:
        wire.over.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\n"
                          b"Upgrade: echo\r\n\r\n")
        wire.until(b"\r\n\r\n")
    eventually(lambda: daemon.stats("gw")["http"]["answers"]["1xx"] == 1, "it is counted")
    assert daemon.stats("gw")["http"]["latency"]["count"] == 0
