"""The same raw requests to nginx, h2o, node and strata. After each comes a second request: a server
accepts the first if it finds the second where it begins."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from raw_requests import CANARY, all_requests
from talker import port_of
from web_peers import Peer

PEERS = ("nginx", "h2o", "node")
# A server that waits for more of a request sends nothing in this time.
SILENCE = 1.5

# Requests that strata accepts and another server refuses, and why that is right (sections
# of RFC 9110 and 9112).
RIGHT = {
    b"Content-Length 5 ": "9110 5.5: blanks behind a value are not of it",
    b"Content-Length \t5": "9110 5.6.3: a tab is a blank",
    b"Content-Length 5\t": "9110 5.6.3: a tab is a blank",
    b"Content-Length 0": "the second request's method is helloGET, which is a token (9110 9.1)",
    b"Content-Length 00000000000000000000005": "9110 8.6: any number of digits",
    b"Transfer-Encoding chunked ": "9110 5.5: blanks behind a value are not of it",
    b"Transfer-Encoding \tchunked": "9110 5.6.3: a tab is a blank",
    b"Transfer-Encoding chunked\t": "9110 5.6.3: a tab is a blank",
    b"chunk size 5 ;a=b": "9112 7.1.1: blanks around an extension must be read",
    b"chunk size 5; a = b": "9112 7.1.1: blanks around an extension must be read",
    b"chunk size 00000000000000000000000000000005": "9112 7.1: any number of digits",
    b"chunks with a folded trailer": "9112 5.2: a fold may be read as a blank",
    b"host Host: ": "9110 7.2: empty where the target has no authority",
    b"host Host:": "9110 7.2: empty where the target has no authority",
    b"no Host in HTTP/1.0": "9112 3.2: only HTTP/1.1 needs one",
    b"line GET /canary HTTP/1.2": "9110 2.5: read as the highest minor version that is known",
    b"line GET /canary HTTP/1.9": "9110 2.5: read as the highest minor version that is known",
    b"line CONNECT x:80 HTTP/1.1": "9110 9.3.6: its answer is no 2xx, so the connection goes on",
    b"line OPTIONS * HTTP/1.1": "9112 3.2.4",
    b"line get /canary HTTP/1.1": "9110 9.1: a method as any other, that is not known",
    b"line BREW /canary HTTP/1.1": "9110 9.1: a method as any other, that is not known",
}


def answer_of(port, request):
    """Returns all data until the end, or until the server is silent; and whether that was the
    end."""
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.settimeout(SILENCE)
        raw.sendall(request + CANARY)
        answer = b""
        try:
            while more := raw.recv(65536):
                answer += more
        except TimeoutError:
            return answer, False
        except ConnectionError:
            pass
        return answer, True


def statuses(answer):
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d\d\d)[ \r]", answer)]


def verdict(port, request):
    """Returns `accepts` if the second request was found, else `refuses`, or `waits` for more."""
    answer, ended = answer_of(port, request)
    found = [code for code in statuses(answer) if code != 100]
    if len(found) >= 2 and found[0] not in (400, 408, 413, 414, 431, 501, 505):
        return "accepts"
    return "refuses" if ended else "waits"


@pytest.fixture
def peers(tmp_path):
    running = [Peer(name, tmp_path / name) for name in PEERS]
    yield running
    for each in running:
        each.close()


def test_what_others_refuse_is_refused(daemon, peers):
    [url] = daemon.server("web", protocol="http", http_messages=True)
    ports = {"strata": port_of(url), **{each.name: each.port for each in peers}}

    def ask(case):
        name, request = case
        return name, {peer: verdict(port, request) for peer, port in ports.items()}

    with ThreadPoolExecutor(16) as pool:
        found = dict(pool.map(ask, all_requests()))
    assert len(found) > 200
    accepted = {name for name, said in found.items()
                if said["strata"] == "accepts" and "refuses" in said.values()}
    assert accepted - set(RIGHT) == set(), "accepted here, refused elsewhere; say why, or refuse it"
    assert set(RIGHT) - accepted == set(), "these are not so any more"
    waiting = {name for name, said in found.items()
               if said["strata"] == "waits" and set(said.values()) != {"waits"}}
    assert waiting == {b'chunk size 5;a="b'}  # waits for the closing quote, up to a head's limit
