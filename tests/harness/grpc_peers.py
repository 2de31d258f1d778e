"""A gRPC server, and a client that tries each kind of call. They are separate programs because a
process that has used gRPC can no longer fork.

    grpc_peers.py serve             prints its port
    grpc_peers.py try ADDRESS [CA]  over TLS if CA is given
"""

import hashlib
import sys
import threading

from concurrent.futures import ThreadPoolExecutor

import grpc

PATIENCE = 30


class Echo(grpc.GenericRpcHandler):
    """A service of bytes that returns what it receives."""

    def service(self, details):
        def one(request, context):
            context.set_trailing_metadata((("behind", "yes"), ("digest-bin", b"\0\xff")))
            return request[::-1]

        def many(request, _context):
            for count in range(int(request)):
                yield str(count).encode()

        def gathered(requests, _context):
            digest = hashlib.sha256()
            for each in requests:
                digest.update(each)
            return digest.hexdigest().encode()

        def both(requests, _context):
            yield from requests

        def refused(_request, context):
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not today: \N{SNOWMAN}")

        def slow(_request, _context):
            threading.Event().wait(PATIENCE)
            return b""

        return {"/echo/One": grpc.unary_unary_rpc_method_handler(one),
                "/echo/Many": grpc.unary_stream_rpc_method_handler(many),
                "/echo/Gathered": grpc.stream_unary_rpc_method_handler(gathered),
                "/echo/Both": grpc.stream_stream_rpc_method_handler(both),
                "/echo/Refused": grpc.unary_unary_rpc_method_handler(refused),
                "/echo/Slow": grpc.unary_unary_rpc_method_handler(slow)}.get(details.method)


def failure_of(channel, method, timeout):
    try:
        channel.unary_unary(method)(b"", timeout=timeout)
    except grpc.RpcError as failed:
        return failed
    raise AssertionError(f"{method} went well")


def try_all(channel):
    """Makes each kind of call over that channel."""
    reply, call = channel.unary_unary("/echo/One").with_call(b"abc", timeout=PATIENCE)
    assert reply == b"cba" and call.code() == grpc.StatusCode.OK
    assert ("behind", "yes") in [tuple(each) for each in call.trailing_metadata()]
    assert ("digest-bin", b"\0\xff") in [tuple(each) for each in call.trailing_metadata()]
    got = list(channel.unary_stream("/echo/Many")(b"1000", timeout=PATIENCE))
    assert got == [str(count).encode() for count in range(1000)]
    pieces = [bytes([count % 256]) * 100_000 for count in range(50)]
    digest = channel.stream_unary("/echo/Gathered")(iter(pieces), timeout=PATIENCE)
    assert digest.decode() == hashlib.sha256(b"".join(pieces)).hexdigest()

    # The client waits for each answer before it sends the next message, so
    # nothing depends on an end.
    heard, said = [], threading.Semaphore(1)

    def say():
        for count in range(20):
            assert said.acquire(timeout=PATIENCE)
            yield str(count).encode()
    for each in channel.stream_stream("/echo/Both")(say(), timeout=PATIENCE):
        heard.append(each)
        said.release()
    assert heard == [str(count).encode() for count in range(20)]

    refused = failure_of(channel, "/echo/Refused", PATIENCE)
    assert refused.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert refused.details() == "not today: \N{SNOWMAN}"
    assert failure_of(channel, "/echo/Nothing", PATIENCE).code() == grpc.StatusCode.UNIMPLEMENTED
    assert failure_of(channel, "/echo/Slow", 0.3).code() == grpc.StatusCode.DEADLINE_EXCEEDED


def serve():
    made = grpc.server(ThreadPoolExecutor(8))
    made.add_generic_rpc_handlers((Echo(),))
    print(made.add_insecure_port("127.0.0.1:0"), flush=True)
    made.start()
    made.wait_for_termination()


def try_at(address, *trusted):
    if trusted:
        with open(trusted[0], "rb") as authority:
            credentials = grpc.ssl_channel_credentials(authority.read())
        channel = grpc.secure_channel(address, credentials)
    else:
        channel = grpc.insecure_channel(address)
    with channel:
        try_all(channel)
    print("all kinds of calls")


if __name__ == "__main__":
    {"serve": serve, "try": try_at}[sys.argv[1]](*sys.argv[2:])
