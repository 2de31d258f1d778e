"""TLS servers, and helpers of their tests."""

import socket

from certificates import connect
from strata_daemon import PATIENCE, eventually
from talker import address_of


def tls_server(daemon, authority, name="s", certificates=None, **options):
    """Returns a running server's URL. It has a certificate for localhost unless
    `certificates` is given."""
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
