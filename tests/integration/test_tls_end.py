"""RFC 9112 section 9.8: the end of a connection over TLS is announced, and accepted only then."""

import socket
import ssl

import pytest

from strata_daemon import PATIENCE


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_says_the_end_before_it_closes(daemon, authority, version):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = version
    context.load_cert_chain(*authority.issue("localhost"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        daemon.create("client", "c", connect=f"tls://localhost:{listener.getsockname()[1]}",
                      ca=authority.ca, reconnect=0)
        plain = listener.accept()[0]
        plain.settimeout(PATIENCE)
        with context.wrap_socket(plain, server_side=True, suppress_ragged_eofs=False) as heard:
            heard.sendall(b"hello\n")
            daemon.act("c", "stop")
            assert heard.recv(100) == b"", "without close_notify this is an SSLEOFError"
