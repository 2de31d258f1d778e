"""A web site to serve, and clients that request its files: curl, and raw sockets."""

import socket
import subprocess

from strata_daemon import PATIENCE
from talker import address_of

DIGITS = b"0123456789" * 1000
PAGE = b"<html><head><title>x</title></head><body>hello</body></html>\n"


def make_site(folder):
    """Makes a folder to serve, and beside it files that must not be served."""
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / ".well-known").mkdir()
    (folder / "index.html").write_bytes(PAGE)
    (folder / "digits.bin").write_bytes(DIGITS)
    (folder / "sub" / "index.html").write_bytes(b"sub")
    (folder / "sub" / "page.txt").write_bytes(b"page")
    (folder / "style.css").write_bytes(b"a { color: red }\n" * 1000)
    (folder / "empty").write_bytes(b"")
    (folder / ".secret").write_bytes(b"secret")
    (folder / ".well-known" / "security.txt").write_bytes(b"contact")
    (folder.parent / "outside.txt").write_bytes(b"outside")
    return folder


def http_url(url):
    return url.replace("tcp://", "http://").replace("*", "127.0.0.1")


def serve(daemon, site, **options):
    [url] = daemon.server("web", http=str(site), **options)
    return url


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            self.fields[name.lower()] = value
        self.lines = lines


def ask(url, target, *fields, method="GET"):
    """Sends one request, byte for byte as given, and returns all data until the connection ends."""
    return Answer(talk(url, request(target, *fields, "Connection: close", method=method)))


def request(target, *fields, method="GET"):
    target = target if isinstance(target, bytes) else target.encode("latin-1")
    lines = "".join(f"{field}\r\n" for field in fields).encode("latin-1")
    return method.encode() + b" " + target + b" HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n"


def open_socket(url):
    family, kind, address = address_of(url)
    raw = socket.socket(family, kind)
    raw.settimeout(PATIENCE)
    raw.connect(address)
    return raw


def talk(url, bytes_):
    with open_socket(url) as raw:
        raw.sendall(bytes_)
        answer = b""
        try:
            while more := raw.recv(1 << 20):
                answer += more
        except ConnectionResetError:
            pass
        return answer


def curl(url, path, *flags):
    done = subprocess.run(["curl", "-sS", "--path-as-is", *map(str, flags), http_url(url) + path],
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done
    return done.stdout


def status_of(url, path, *flags):
    return int(curl(url, path, "-o", "/dev/null", "-w", "%{http_code}", *flags))
