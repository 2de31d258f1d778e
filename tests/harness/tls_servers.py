"""Servers with TLS, and what tests of them look at."""

import socket

from certificates import connect
from strata_daemon import PATIENCE, eventually
from talker import address_of


def tls_server(daemon, authority, name="s", certificates=None, **options):
    """A running server's URL. It shows a certificate for localhost, if no other is given."""
    pairs = certificates or [authority.issue("localhost", "127.0.0.1")]
    options.setdefault("listen", ["tls://127.0.0.1:0"])
    [url] = daemon.server(name, cert=[each for each, _ in pairs], key=[each for _, each in pairs],
                          **options)
    assert url.startswith(("tls://", "https://"))
    return url


def raw(url):
    family, kind, address = address_of(url)
    made = socket.socket(family, kind)
    made.settimeout(PATIENCE)
    made.connect(address)
    return made


def logged(daemon, name, text):
    eventually(lambda: daemon.logged(name, text), f"the log says '{text}'")


def authority_of(authority):
    authority.issue("somebody")
    return authority.ca


def serial_of(url, context):
    with connect(url, context) as one:
        return one.socket.getpeercert()["serialNumber"]
