"""An option that would have no effect is refused with the reason; saved runtimes are not
checked."""

import json

import pytest

from strata_daemon import Refused

pytestmark = pytest.mark.once

TCP = {"listen": ["tcp://127.0.0.1:0"]}
UDP = {"listen": ["udp://127.0.0.1:0"]}
RAW = TCP | {"backend": ["127.0.0.1:1"]}
TARGET = {"connect": "tcp://127.0.0.1:1"}
GATEWAY = TCP | {"backend": ["127.0.0.1:1"]}

# The runtime to create, the option without effect, and the option that it needs.
WITHOUT = [
    ("server", TCP, "local", True, "--port"),
    ("server", TCP, "master_pw", "secret", "--mode master"),
    ("server", TCP, "master_forward", True, "--mode master"),
    ("server", TCP, "drain_timeout", 2, "--drain or --write or --http-log"),
    ("server", TCP, "http_listing", True, "--http"),
    ("server", TCP, "http_cache_size", 1 << 20, "--http"),
    ("server", TCP, "http_log_format", "json", "--http-log"),
    ("server", TCP | {"protocol": "raw"}, "detect_timeout", 1, "--protocol auto"),
    ("server", TCP, "on_parent_stop", "remove", "--owner"),
    ("server", TCP | {"restart": "no"}, "restart_limit", 3, "--restart"),
    ("client", TARGET, "reconnect_min", 2, "--reconnect"),
    ("client", TARGET, "reconnect_max", 20, "--reconnect"),
    ("client", TARGET, "reconnect_seed", 7, "--reconnect"),
    ("client", TARGET, "queue", 7, "--reconnect"),
    ("proxy", GATEWAY | {"protocol": "http"}, "access_format", "json", "--access-log"),
    ("cache", TCP, "eviction", "allkeys-lru", "--max-memory"),
    ("cache", TCP, "appendfsync", "always", "--persistent"),
    ("cache", TCP, "follow_password", "secret", "--follow"),
    ("cache", TCP, "ca", "/ca.pem", "--follow"),
]
# The option without effect on such endpoints, and the kind of endpoint that it needs.
ELSEWHERE = [
    *[("server", UDP, key, value, "streams") for key, value in [
        ("framing", "raw"), ("idle_timeout", 5), ("max_buffer", 4096), ("slow_client", "drop"),
        ("drain", True), ("max_connections", 3), ("protocol", "http")]],
    *[("server", TCP, key, value, "UDP") for key, value in [
        ("max_peers", 5), ("peer_timeout", 5), ("udp_join", "long enough"),
        ("udp_allowance", 100), ("receive_buffer", 4096), ("send_buffer", 4096)]],
    ("server", TCP, "tls_min", "1.3", "TLS"),
    ("server", TCP, "handshake_timeout", 3, "TLS or PROXY headers"),
    *[("server", UDP, key, value, "HTTP") for key, value in [
        ("http", "/srv"), ("http_max_head", 4096), ("cors", ["*"]), ("ws_ping", 3)]],
    ("server", TCP | {"protocol": "raw"}, "http_messages", True, "HTTP"),
    ("client", TARGET, "ws_deflate", "off", "WebSockets"),
    ("client", TARGET, "header", ["X-A: b"], "WebSockets"),
    ("client", TARGET, "insecure", True, "TLS"),
    ("client", {"connect": "udp://127.0.0.1:1"}, "max_buffer", 4096, "streams"),
    ("proxy", GATEWAY, "access_log", "/tmp/log", "HTTP"),
    ("cache", TCP, "handshake_timeout", 3, "TLS or PROXY headers"),
    ("proxy", RAW, "sticky", "at", "HTTP"),
    ("proxy", RAW, "retries", 3, "HTTP"),
]


def refusal(act, *words, **options):
    with pytest.raises(Refused) as refused:
        act(*words, **options)
    assert (refused.value.status, refused.value.code) == (400, "invalid_argument")
    return refused.value


@pytest.mark.parametrize("kind, options, key, value, needed", WITHOUT + ELSEWHERE)
def test_an_option_without_effect_is_refused(daemon, kind, options, key, value, needed):
    for act, words in [(daemon.create, (kind, "x", False)), (daemon.edit, ("x",))]:
        given = options if act == daemon.create else {}
        refused = refusal(act, *words, **given, **{key: value})
        flag = "--" + key.replace("_", "-")
        assert f"{flag}: it has no effect" in refused.message
        assert needed in refused.message and "leave it out" in refused.remedy
        if act == daemon.create:
            assert daemon.names() == []
            daemon.create(kind, "x", False, **options)
    assert daemon.edit("x", **{key: None})["applied"] == [key]


def test_a_certificate_has_an_effect_where_tls_is_detected(daemon, authority):
    cert, key = map(str, authority.issue("localhost"))
    for options in [UDP, TCP | {"protocol": "raw"}]:
        assert "no endpoint carries TLS" in refusal(
            daemon.create, "server", "s", **options, cert=[cert], key=[key]).message
    daemon.server("s", **TCP, cert=[cert], key=[key], tls_min="1.3", handshake_timeout=3)
    for kind in ("server", "cache"):
        daemon.create(kind, f"behind-{kind}", **TCP, proxy_protocol=["127.0.0.0/8"],
                      handshake_timeout=3)


def test_a_default_is_never_without_effect(daemon):
    daemon.server("s", drain_timeout=5, master_pw="", local=False, max_peers=10000, tls_min="1.2")
    daemon.create("client", "c", False, **TARGET, reconnect_min=1, header=[], ws_deflate="on")
    daemon.create("cache", "db", **TCP, eviction="noeviction", appendfsync="everysec")


def test_what_an_option_needs_may_come_with_it_and_go_without_it(daemon):
    daemon.server("s")
    daemon.edit("s", drain=True, drain_timeout=2)
    assert daemon.edit("s", drain=False)["applied"] == ["drain"]
    assert daemon.show("s")["options"]["drain_timeout"] == 2
    daemon.edit("s", rate_limit=5)
    assert "--drain" in refusal(daemon.edit, "s", drain_timeout=3).message
    daemon.edit("s", listen=["udp://127.0.0.1:0"], udp_allowance=100)


def test_one_that_was_saved_before_is_loaded(daemon):
    daemon.server("s")
    daemon.create("client", "c", False, **TARGET, reconnect=0)
    daemon.stop()
    for name, old in [("s", {"drain_timeout": 2, "max_peers": 7}),
                      ("c", {"reconnect_min": 60, "reconnect": None})]:
        file = daemon.state_dir / "runtimes" / f"{name}.json"
        saved = json.loads(file.read_text())
        saved["options"] |= old
        file.write_text(json.dumps(saved))
    daemon.start()
    assert daemon.show("s")["state"] == "running"
    assert daemon.show("s")["options"]["max_peers"] == 7
    assert daemon.show("c")["options"]["reconnect_min"] == 60
    daemon.edit("c", connect_timeout=4)


def test_the_first_wait_is_no_longer_than_the_longest(daemon):
    refused = refusal(daemon.create, "client", "c", False, **TARGET, reconnect=0, reconnect_min=60)
    assert "60" in refused.message and "30" in refused.message
    assert "--reconnect-min" in refused.remedy and daemon.names() == []
    daemon.create("client", "c", False, **TARGET, reconnect=0)
    refusal(daemon.edit, "c", reconnect_max=0.5)
    daemon.edit("c", reconnect_min=40, reconnect_max=40)


def test_the_flag_is_named_to_people_too(daemon):
    done = daemon.run("create", "server", "s", "-p", "0", "--local", "--drain-timeout", "3s")
    assert done.returncode != 0
    assert "--drain-timeout" in done.stderr and "add --drain or" in done.stderr
    assert "(with --drain or --write or --http-log; default 5)" in " ".join(
        daemon.cli("create", "server", "--help").split())
