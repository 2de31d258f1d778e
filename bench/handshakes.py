#!/usr/bin/env python3
"""Connects over TLS 1.3 repeatedly, requests one file each time, and prints the number of
connections: full handshakes, or each after the first resumed with the previous connection's
ticket."""

import argparse
import json
import socket
import ssl
import sys
import time


def exchange(context, port, path, session):
    plain = socket.create_connection(("127.0.0.1", port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with context.wrap_socket(plain, server_hostname="localhost", session=session) as secured:
        secured.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                        .encode())
        answer = b""
        while piece := secured.recv(65536):
            answer += piece
        if not answer.startswith(b"HTTP/1.1 200"):
            sys.exit(f"the answer is {answer[:80]!r}")
        return secured.session, secured.session_reused


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=("full", "resumed"))
    parser.add_argument("port", type=int)
    parser.add_argument("path")
    parser.add_argument("seconds", type=float)
    parser.add_argument("ca", help="the authority's certificate")
    asked = parser.parse_args()
    context = ssl.create_default_context(cafile=asked.ca)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    session, count, resumed = None, 0, 0
    end = time.monotonic() + asked.seconds
    while time.monotonic() < end:
        got, was_resumed = exchange(context, asked.port, asked.path, session)
        session = got if asked.mode == "resumed" else None
        resumed += was_resumed
        count += 1
    if resumed != (count - 1 if asked.mode == "resumed" else 0):
        sys.exit(f"{resumed} of {count} handshakes were resumed")
    print(json.dumps({"messages": count}))


if __name__ == "__main__":
    main()
