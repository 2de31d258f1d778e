"""Requests as bytes, valid and invalid, each with a name: forms that servers may read in two
ways."""

CANARY = b"GET /canary HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def head(*fields, start=b"POST / HTTP/1.1", host=b"Host: x"):
    lines = [start, *([host] if host else []), *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def lengths():
    for value in [b"5", b"05", b"+5", b"-5", b"0x5", b"5 ", b" 5", b"\t5", b"5\t", b"5,5", b"5, 5",
                  b"5,6", b"", b" ", b"5a", b"5.0", b"5;5", b"'5'", b"\"5\"", b"5 5", b"5\x00",
                  b"\xb2", b"18446744073709551621", b"99999999999999999999999", b"1_0", b"5\x0b",
                  b"5\x85", b"NaN", b"5e0", b"0", b"00000000000000000000005"]:
        yield b"Content-Length " + value, head(b"Content-Length: " + value) + b"hello"
    for one, other in [(b"5", b"5"), (b"5", b"6"), (b"6", b"5"), (b"5", b"0"), (b"0", b"5")]:
        yield (b"two Content-Length %s %s" % (one, other),
               head(b"Content-Length: " + one, b"Content-Length: " + other) + b"hello")


def codings():
    chunks = b"5\r\nhello\r\n0\r\n\r\n"
    for value in [b"chunked", b"Chunked", b"CHUNKED", b" chunked", b"chunked ", b"\tchunked",
                  b"chunked\t", b"xchunked", b"chunkedx", b"chunked, chunked", b"chunked,",
                  b",chunked", b"identity", b"identity, chunked", b"chunked, identity", b"gzip",
                  b"gzip, chunked", b"chunked, gzip", b"\"chunked\"", b"chunked;q=1", b"", b"cow",
                  b"chunked\x00", b"\x0bchunked", b"chunked\x0b", b"'chunked'", b"chun ked"]:
        yield b"Transfer-Encoding " + value, head(b"Transfer-Encoding: " + value) + chunks
    both = [b"Content-Length: 5", b"Transfer-Encoding: chunked"]
    yield b"both, length first", head(*both) + chunks
    yield b"both, coding first", head(*reversed(both)) + chunks
    yield (b"two Transfer-Encoding chunked",
           head(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked") + chunks)
    yield (b"two Transfer-Encoding identity chunked",
           head(b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked") + chunks)
    yield (b"chunked in HTTP/1.0",
           head(both[1], b"Connection: keep-alive", start=b"POST / HTTP/1.0") + chunks)
    for name in [b"Transfer-Encoding ", b"Transfer_Encoding", b" Transfer-Encoding",
                 b"Transfer-Encoding\t", b"Transfer Encoding", b"X: y\rTransfer-Encoding",
                 b"X: y\nTransfer-Encoding", b"Transfer-Encoding\x00", b"\xa0Transfer-Encoding"]:
        yield b"coding by name " + name, head(b"Content-Length: 5", name + b": chunked") + b"hello"


def chunk_heads():
    coding = b"Transfer-Encoding: chunked"
    for size in [b"5", b"05", b"0005", b"5 ", b" 5", b"\t5", b"5\t", b"0x5", b"+5", b"-5", b"",
                 b"5;", b"5;a", b"5;a=b", b"5;a=\"b\"", b"5;a=\"b;c\"",
                 b"5 ;a=b", b"5; a = b", b"5;\x00",
                 b"5;a\nb", b"5;a\rb", b"g", b"5g", b"ffffffffffffffff", b"10000000000000005",
                 b"00000000000000000000000000000005", b"5,5", b"5.0", b"0 5", b"5\x0b", b"5;a=\"b"]:
        yield (b"chunk size " + size,
               head(coding) + size + b"\r\nhello\r\n0\r\n\r\n")
    for name, body in [
            (b"LF", b"5\nhello\n0\n\n"), (b"LF behind size", b"5\nhello\r\n0\r\n\r\n"),
            (b"CR behind size", b"5\rhello\r\n0\r\n\r\n"), (b"no end", b"5\r\nhello0\r\n\r\n"),
            (b"LF behind data", b"5\r\nhello\n0\r\n\r\n"),
            (b"long data", b"5\r\nhellox\r\n0\r\n\r\n"),
            (b"short data", b"5\r\nhell\r\n0\r\n\r\n"),
            (b"LF at the end", b"5\r\nhello\r\n0\r\n\n"),
            (b"two noughts", b"5\r\nhello\r\n00\r\n\r\n"),
            (b"a trailer", b"5\r\nhello\r\n0\r\nA: b\r\n\r\n"),
            (b"a length as trailer", b"5\r\nhello\r\n0\r\nContent-Length: 7\r\n\r\n"),
            (b"no trailer", b"5\r\nhello\r\n0\r\nnonsense\r\n\r\n"),
            (b"a folded trailer", b"5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n")]:
        yield b"chunks with " + name, head(coding) + body


def fields():
    get = b"GET /canary HTTP/1.1"
    for field in [b"A: b", b"A:b", b"A:", b"A: ", b"A : b", b" A: b", b"\tA: b", b"A", b": b", b":",
                  b"A: b\x00c", b"A\x00: b", b"A: \x01", b"A: b\x7f", b"A: \xff", b"A\xff: b",
                  b"A: b\rc", b"A: b\nc", b"A: b\r\n c", b"A: b\r\n\tc", b"A@: b", b"A(: b",
                  b"A b: c",
                  b"A[]: b", b"A\": b", b"\"A\": b", b"A: \"b", b"A;: b", b"A/: b", b"\x0bA: b",
                  b"\x00", b"\r", b"A: b\r\r"]:
        yield b"field " + field, head(field, start=get)
    for host in [b"Host: x", b"Host:x", b"Host: ", b"Host:", b"Host: x:80", b"Host: [::1]:80",
                 b"Host: x\r\nHost: x", b"Host: x\r\nHost: y", b"Host: x y", b"Host: x, y",
                 b"Host: x/y", b"Host: a@x", b"Host: x:y", b"Host: x#y", b"Host: \xff", b"Host : x",
                 b""]:
        yield b"host " + host, head(start=get, host=host)
    yield b"a line of LF", b"GET /canary HTTP/1.1\nHost: x\n\n"
    yield b"a field of LF", b"GET /canary HTTP/1.1\r\nHost: x\nA: b\r\n\r\n"
    yield b"an end of LF", b"GET /canary HTTP/1.1\r\nHost: x\r\n\n"
    yield b"a folded first field", b"GET /canary HTTP/1.1\r\n A: b\r\nHost: x\r\n\r\n"
    yield b"no Host in HTTP/1.0", b"GET /canary HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"


def start_lines():
    for line in [b"GET /canary HTTP/1.1", b"GET  /canary HTTP/1.1", b"GET /canary  HTTP/1.1",
                 b" GET /canary HTTP/1.1", b"GET\t/canary HTTP/1.1", b"GET /canary\tHTTP/1.1",
                 b"GET /canary HTTP/1.1 ", b"GET /canary HTTP/1.1\t", b"GET /canary",
                 b"GET /canary HTTP/1.10", b"GET /canary HTTP/1.2", b"GET /canary HTTP/1.9",
                 b"GET /canary HTTP/2.0", b"GET /canary HTTP/3.0", b"GET /canary HTTP/0.9",
                 b"GET /canary HTTP/11", b"GET /canary HTTP/1", b"GET /canary HTTP/1.",
                 b"GET /canary HTTP/.1", b"GET /canary HTTP/ 1.1", b"GET /canary HTTP/1 .1",
                 b"GET /canary http/1.1", b"GET /canary HTTPS/1.1", b"GET /canary HTTP/01.1",
                 b"GET /canary HTTP/1.01", b"GET /canary HTTP/+1.1", b"GET canary HTTP/1.1",
                 b"GET * HTTP/1.1", b"GET /can ary HTTP/1.1", b"GET /can\x00ary HTTP/1.1",
                 b"GET /can\x01ary HTTP/1.1", b"GET /can\xffary HTTP/1.1",
                 b"GET /can\x7fary HTTP/1.1",
                 b"GET /can%ary HTTP/1.1", b"GET /can%0 HTTP/1.1", b"GET /%zz HTTP/1.1",
                 b"GET /canary#x HTTP/1.1", b"GET /canary?a=b HTTP/1.1",
                 b"GET /canary?\x00 HTTP/1.1",
                 b"GET http://x/canary HTTP/1.1", b"GET http:// HTTP/1.1", b"GET ftp://x/ HTTP/1.1",
                 b"GET x:80 HTTP/1.1", b"CONNECT x:80 HTTP/1.1", b"OPTIONS * HTTP/1.1",
                 b"get /canary HTTP/1.1", b"G\x00T /canary HTTP/1.1", b"GE(T /canary HTTP/1.1",
                 b"GET@ /canary HTTP/1.1", b"\x16\x03\x01 /canary HTTP/1.1", b" / HTTP/1.1", b"GET",
                 b"", b"HTTP/1.1 200 OK", b"BREW /canary HTTP/1.1"]:
        yield b"line " + line, line + b"\r\nHost: x\r\n\r\n"


def all_requests():
    for kind in (lengths, codings, chunk_heads, fields, start_lines):
        yield from kind()
