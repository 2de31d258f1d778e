"""TLS under attack: weak ciphers and versions, garbage, and clients that never finish."""

import os
import random
import socket
import ssl
import subprocess
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from certificates import client_context, client_hello, connect
from strata_daemon import PATIENCE, eventually
from talker import Talker, port_of
from tls_servers import logged, raw, tls_server


def test_old_versions_are_refused(daemon, authority):
    url = tls_server(daemon, authority)
    strict = tls_server(daemon, authority, name="strict", tls_min="1.3")
    for version, where in ((ssl.TLSVersion.TLSv1, url), (ssl.TLSVersion.TLSv1_1, url),
                           (ssl.TLSVersion.TLSv1_2, strict)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context = client_context(authority.ca)
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = version
            context.maximum_version = version
        with pytest.raises(ssl.SSLError, match="(?i)version"):
            connect(where, context)
    with connect(url, client_context(authority.ca, maximum_version=ssl.TLSVersion.TLSv1_2)) as one:
        assert one.socket.version() == "TLSv1.2"
    with connect(strict, client_context(authority.ca)) as one:
        assert one.socket.version() == "TLSv1.3"
    logged(daemon, "strict", "no version of TLS")


def old_ciphers():
    """Yields name and kind of each cipher below TLS 1.3 that openssl knows and that needs no
    shared key or password: without one the client itself refuses such ciphers."""
    listed = subprocess.run(["openssl", "ciphers", "-v", "ALL:COMPLEMENTOFALL@SECLEVEL=0"],
                            check=True, text=True, capture_output=True).stdout
    for line in listed.splitlines():
        name, version, *kind = line.split()
        if version != "TLSv1.3" and "PSK" not in line and "SRP" not in line:
            yield name, " ".join(kind)


def s_client(url, cipher):
    """Reports whether the server accepts TLS 1.2 with only that cipher."""
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{port_of(url)}", "-servername",
         "localhost", "-tls1_2", "-cipher", cipher + ":@SECLEVEL=0"],
        stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=PATIENCE)
    if done.returncode == 0:
        assert cipher in done.stdout, done
        return True
    # The server refused, not the client.
    assert "alert handshake failure" in done.stderr and "number 40" in done.stderr, done
    return False


@pytest.mark.once
def test_ciphers_that_are_weak_are_refused(daemon, authority):
    url = tls_server(daemon, authority, tls_min="1.2",
                     certificates=[authority.issue("localhost"), authority.issue_rsa("localhost")])
    good = {f"ECDHE-{key}-{cipher}" for key in ("ECDSA", "RSA")
            for cipher in ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305")}
    known = dict(old_ciphers())
    assert good < set(known)
    kinds = " ".join(known.values())
    for weak in ("Enc=None", "Au=None", "Kx=RSA", "Kx=DH ", "Enc=Camellia", "Mac=SHA1"):
        assert weak in kinds  # otherwise this test proves little
    with ThreadPoolExecutor(4) as pool:
        agreed = dict(zip(known, pool.map(lambda cipher: s_client(url, cipher), known)))
    assert {cipher for cipher, is_agreed in agreed.items() if is_agreed} == good
    daemon.wait_gone("s", len(known))
    assert daemon.stats("s")["tls"]["handshakes_failed"] == len(known) - len(good)


def files_of(daemon):
    return len(os.listdir(f"/proc/{daemon.pid}/fd"))


@pytest.mark.serial
def test_10000_that_never_finish_their_handshake_leave_nothing(daemon, authority):
    url = tls_server(daemon, authority, handshake_timeout=12)
    [plain] = daemon.server("plain")
    context = client_context(authority.ca)
    half = client_hello()[:150]
    with connect(url, context) as ann, connect(url, context) as bob, ExitStack() as crowd:
        daemon.wait_clients("s", 2)
        before, files = daemon.resident_mib(), files_of(daemon)
        for number in range(10_000):
            one = crowd.enter_context(raw(url))
            if number % 2:
                one.sendall(half)  # the others send nothing
        eventually(lambda: daemon.stats("s")["connections"]["peak"] >= 10_002,
                   "all are there at once")
        grown = daemon.resident_mib() - before
        print(f"{grown * 1024 / 10_000:.1f} KiB for each")
        assert grown < 10_000 * 128 / 1024  # half of it is a sanitizer's
        # Other clients are served meanwhile.
        ann.say(b"in the crowd")
        assert bob.hear() == b"in the crowd"
        with connect(url, context) as late, Talker(plain):
            late.say(b"come in")
            assert bob.hear() == b"come in"
        daemon.wait_gone("s", 10_003, left=2)
        assert daemon.stats("s")["tls"]["handshakes_failed"] == 10_000
        eventually(lambda: files_of(daemon) <= files, "the descriptors are back")
        ann.say(b"alone again")
        assert bob.hear() == b"alone again"


def test_a_hello_cut_at_each_byte(daemon, authority):
    url = tls_server(daemon, authority)
    hello = client_hello()
    for at in range(1, len(hello)):
        with raw(url) as made:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            made.sendall(hello[:at])
            if at % 3 == 0:
                continue  # the client disconnects in the middle of its hello
            made.sendall(hello[at:])
            assert made.recv(5)[:3] == b"\x16\x03\x03", at
    daemon.wait_gone("s", len(hello) - 1)


def test_garbage_harms_nobody(daemon, authority):
    url = tls_server(daemon, authority)
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    hello = client_hello()
    altered = [bytes(hello[:at]) + bytes([hello[at] ^ 1 << chance.randrange(8)]) + hello[at + 1:]
               for at in (chance.randrange(len(hello)) for _ in range(100))]
    huge = b"".join(b"\x16\x03\x01\x40\x00" + chance.randbytes(0x4000) for _ in range(4))
    endless = b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + bytes(0x3ffc)
    with connect(url, client_context(authority.ca)) as bystander:
        inputs = [b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"\x16", b"\x80\x2e\x01\x03\x01",
                  b"\x15\x03\x03\x00\x02\x02\x28", huge, endless + huge, *altered,
                  *(chance.randbytes(chance.randrange(1, 2000)) for _ in range(100))]
        for each in inputs:
            with raw(url) as made:
                try:
                    made.sendall(each)
                    made.shutdown(socket.SHUT_WR)
                    while made.recv(65536):
                        pass
                except ConnectionError:
                    pass
        daemon.wait_gone("s", len(inputs) + 1, left=1)
        failed = daemon.stats("s")["tls"]["handshakes_failed"]
        assert failed >= len(inputs) - len(altered)
        with connect(url, client_context(authority.ca)) as other:
            other.say(b"as if nothing had been")
            assert bystander.hear() == b"as if nothing had been"
    # One log line per interval, however many handshakes failed.
    told = [line for line in daemon.logs("s") if "complete the TLS handshake" in line["text"]]
    assert 1 <= len(told) < len(inputs) / 4
    assert "127.0.0.1:" in told[0]["text"]


def test_who_never_finishes_the_handshake_is_ended(daemon, authority):
    url = tls_server(daemon, authority, handshake_timeout=1, max_connections=2)
    with raw(url) as silent, raw(url) as half:
        half.sendall(client_hello()[:100])
        eventually(lambda: daemon.stats("s")["connections"]["peak"] == 2,
                   "they take places meanwhile")
        while silent.recv(100):
            pass
        while half.recv(100):
            pass
    daemon.wait_gone("s", 2)
    assert daemon.stats("s")["tls"]["handshakes_failed"] == 2
    logged(daemon, "s", "did not finish its handshake")
