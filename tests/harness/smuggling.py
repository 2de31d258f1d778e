"""Sends requests that two programs could read differently through proxies, to backends that record
what they read. By hand, with strata beside nginx and HAProxy, before h11, node, Go and nginx:

    STRATA_BIN=build/release/strata python3 tests/harness/smuggling.py 4000

A proxy marks each request that it has read (X-Forwarded-For). A request without the mark has been
read by the backend alone: the proxy took it for a part of another request. That is smuggling.
"""

import contextlib
import itertools
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile

from concurrent.futures import ThreadPoolExecutor

from peers import Peers, program
from strata_daemon import Daemon
from talker import free_port, port_of

# The first form of each is the usual one.
STARTS = ["POST /{n} HTTP/1.1", "POST /{n} HTTP/1.0", "POST http://h/{n} HTTP/1.1",
          "POST  /{n} HTTP/1.1", "POST\t/{n} HTTP/1.1", "post /{n} HTTP/1.1", "GET /{n} HTTP/1.1",
          "POST /{n} HTTP/1.1 ", "POST /{n} HTTP/1.2", "POST /{n} http/1.1",
          "P\x00ST /{n} HTTP/1.1", "POST /{n}\x01 HTTP/1.1", "\r\nPOST /{n} HTTP/1.1", "POST /{n}"]
LENGTHS = ["Content-Length: {l}", "", "Content-Length: +{l}", "Content-Length: {l}, {l}",
           "Content-Length: 0{l}", "Content-Length: 0x{l}", "Content-Length:{l}\t",
           "Content-Length : {l}", "Content-Length: {l}\r\nContent-Length: {l}",
           "Content-Length: {l}\r\nContent-Length: 0", "Content-Length: 0\r\nContent-Length: {l}",
           "Content-Length: -1", "Content_Length: {l}", "Content-Length\x00: {l}",
           "X: y\r\n Content-Length: {l}", "X: y\nContent-Length: {l}",
           "X: y\rContent-Length: {l}", "Content-Length: {l} ", "Content-Length: {l};",
           "Content-Length: {l}.0", "Content-Length:", "content-length: {l}",
           "Content-Length: \x0b{l}", "Content-Length: 99999999999999999999",
           "Connection: Content-Length\r\nContent-Length: {l}"]
CODINGS = ["", "Transfer-Encoding: chunked", "Transfer-Encoding: Chunked",
           "transfer-encoding:chunked", "Transfer-Encoding : chunked",
           "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity",
           "Transfer-Encoding: identity, chunked", "Transfer-Encoding: gzip, chunked",
           "Transfer-Encoding:\tchunked", "Transfer-Encoding: \x0bchunked",
           "Transfer-Encoding:\r\n chunked", "X: y\nTransfer-Encoding: chunked",
           "X: y\rTransfer-Encoding: chunked", "Transfer-Encoding: \"chunked\"",
           "Transfer-Encoding: chunked;q=1", "Transfer_Encoding: chunked", "TE: chunked",
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
           "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: ",
           "Transfer-Encoding\x00: chunked", "Transfer-Encoding: chunked,",
           "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked",
           " Transfer-Encoding: chunked"]
SIZES = ["{s:x}", "{s:x};a=b", "{s:x} ", "0x{s:x}", "+{s:x}", "0000{s:x}", "{s:X}", "{s:x}\x00",
         "-{s:x}", "{s:x};\"\r\n\"", "{s:x}\t;x", "1{s:016x}"]
ENDS = ["\r\n", "\n", "\r", "\n\n"]


def hidden(number):
    return f"GET /hidden{number} HTTP/1.1\r\nHost: h\r\n\r\n"


def a_request(chance, number):
    """Returns the bytes of one request, which may contain another. Few of its parts are unusual, so
    that not all requests are refused for their first unusual part."""
    def pick(forms, usual):
        return forms[0] if chance.random() < usual else chance.choice(forms)
    inner = hidden(number)
    size = pick(SIZES, 0.7).format(s=len(inner))
    chunk = f"{size}{pick(ENDS, 0.9)}{inner}{pick(ENDS, 0.9)}0\r\n{pick(ENDS, 0.9)}"
    is_chunked = chance.random() < 0.5
    body = chunk if is_chunked else chance.choice([inner, f"0\r\n\r\n{inner}",
                                                   f"0\r\nX: y\r\n{inner}"])
    length = chance.choice([len(body), len(body), len(size) + 2, 0, len(body) - len(inner), 4])
    framed = [pick(LENGTHS, 0.6).format(l=length)] if chance.random() < 0.6 else []
    if is_chunked or chance.random() < 0.3:
        framed.append(CODINGS[1] if chance.random() < 0.5 else chance.choice(CODINGS))
    middle = ["Host: h", *framed]
    chance.shuffle(middle)
    head = "".join(each + pick(ENDS, 0.97)
                   for each in [pick(STARTS, 0.85).format(n=number), *middle] if each)
    return (head + pick(ENDS, 0.97) + body).encode("latin-1")


def send(port, data):
    """Returns the statuses of the responses."""
    with contextlib.suppress(OSError), \
            socket.create_connection(("127.0.0.1", port), timeout=5) as over:
        over.sendall(data)
        over.settimeout(0.3)  # a server that waits for more has sent all its responses
        heard = b""
        with contextlib.suppress(OSError):
            while piece := over.recv(65536):
                heard += piece
        return [part[:3].decode("latin-1") for part in heard.split(b"HTTP/1.1 ")[1:]]
    return []


# --- backends: each appends `METHOD TARGET MARK` to its file for a request that it has read
# ----------

H11 = """
import socket, sys, threading, h11
def serve(one):
    wire = h11.Connection(h11.SERVER)
    try:
        while True:
            event = wire.next_event()
            if event is h11.NEED_DATA:
                wire.receive_data(one.recv(65536))
            elif isinstance(event, h11.Request):
                mark = any(name == b"x-forwarded-for" for name, _ in event.headers)
                with open(sys.argv[2], "a") as notes:
                    notes.write(f"{event.method.decode()} {event.target.decode()} {int(mark)}\\n")
            elif isinstance(event, h11.EndOfMessage):
                head = h11.Response(status_code=200, headers=[("Content-Length", "2")])
                one.sendall(wire.send(head) + wire.send(h11.Data(data=b"ok"))
                            + wire.send(h11.EndOfMessage()))
                wire.start_next_cycle()
            elif isinstance(event, h11.ConnectionClosed):
                return
    except Exception:
        pass
    finally:
        one.close()
server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
"""
NODE = """
const fs = require("fs");
require("http").createServer((request, response) => {
  const mark = "x-forwarded-for" in request.headers ? 1 : 0;
  fs.appendFileSync(process.argv[2], `${request.method} ${request.url} ${mark}\\n`);
  request.resume();
  request.on("end", () => { response.setHeader("Content-Length", 2); response.end("ok"); });
}).listen(Number(process.argv[1]), "127.0.0.1");
"""
GO = """
package main

import ("fmt"; "io"; "net/http"; "os"; "sync")

func main() {
	var lock sync.Mutex
	http.HandleFunc("/", func(to http.ResponseWriter, from *http.Request) {
		mark := 0
		if from.Header.Get("X-Forwarded-For") != "" { mark = 1 }
		lock.Lock()
		notes, _ := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0600)
		fmt.Fprintf(notes, "%s %s %d\\n", from.Method, from.RequestURI, mark)
		notes.Close()
		lock.Unlock()
		io.Copy(io.Discard, from.Body)
		to.Write([]byte("ok"))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
"""
NGINX_BACKEND = """daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error;
events {{}} http {{ {places} log_format notes '$request_method $request_uri $mark';
map $http_x_forwarded_for $mark {{ default 1; "" 0; }}
access_log {notes} notes; server {{ listen 127.0.0.1:{port}; location / {{ return 200 ok; }} }} }}
"""
NGINX_PROXY = """daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error;
events {{}} http {{ {places} access_log off; upstream b {{ server 127.0.0.1:{backend}; keepalive 8;
}} server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://b; proxy_http_version 1.1;
proxy_set_header Connection ""; proxy_set_header X-Forwarded-For $remote_addr; }} }} }}
"""
HAPROXY = """defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
  option forwardfor
  http-reuse always
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  server s 127.0.0.1:{backend}
"""


class Stage(Peers):
    """Backends and proxies, as processes that end with the stage."""

    def __init__(self, folder):
        super().__init__(folder)
        self.daemon = None

    def backend(self, kind):
        """Starts a backend and returns its port and its notes."""
        port, notes = free_port(), self.folder / f"notes-{kind}"
        notes.touch()
        notes.chmod(0o666)
        if kind == "h11":
            self.run(port, sys.executable, "-c", H11, port, notes)
        elif kind == "node":
            self.run(port, program("node"), "-e", NODE, port, notes)
        elif kind == "nginx":
            self.nginx("backend-nginx", NGINX_BACKEND, port=port, notes=notes)
        else:
            source = self.place("go") / "main.go"
            source.write_text(GO)
            built = source.with_suffix("")
            subprocess.run([program("go"), "build", "-o", built, source], check=True,
                           env={**os.environ, "GO111MODULE": "off", "HOME": str(self.folder)})
            self.run(port, built, port, notes)
        return port, notes

    def proxy(self, kind, backend):
        port = free_port()
        if kind == "nginx":
            return self.nginx(f"nginx-{backend}", NGINX_PROXY, port=port, backend=backend)
        if kind == "haproxy":
            return self.haproxy(f"haproxy-{backend}", HAPROXY, port=port, backend=backend)
        if self.daemon is None:
            self.daemon = Daemon(self.folder / "daemon")
            self.daemon.start()
        [url] = self.daemon.create("proxy", f"to-{backend}", listen=["http://127.0.0.1:0"],
                                   backend=[f"127.0.0.1:{backend}"])["endpoints"]
        return port_of(url)

    def close(self):
        super().close()
        if self.daemon is not None:
            self.daemon.close()


def tried(proxies, backends, count, seed):
    """Returns what each proxy let through to each backend, and what only the backend has read."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="strata-smuggling-"))
    stage = Stage(folder)
    found = []
    try:
        for backend, proxy in itertools.product(backends, proxies):
            if proxy == proxies[0]:
                at, notes = stage.backend(backend)
            notes.write_text("")
            port = stage.proxy(proxy, at)
            chance = random.Random(seed)
            requests = [a_request(chance, number) for number in range(count)]
            statuses = {}
            with ThreadPoolExecutor(16) as pool:
                for got in pool.map(lambda data, to=port: send(to, data), requests):
                    key = " ".join(got) or "none"
                    statuses[key] = statuses.get(key, 0) + 1
            seen = notes.read_text().splitlines()
            # nginx logs a connection that sent nothing without a method.
            alone = [line for line in seen if line.endswith(" 0") and not line.startswith("- ")]
            found.append({"proxy": proxy, "backend": backend, "sent": count, "read": len(seen),
                          "smuggled": len(alone), "first": alone[:3],
                          "answers": dict(sorted(statuses.items(), key=lambda each: -each[1])[:6])})
        return found
    finally:
        stage.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    print(json.dumps(tried(["strata", "nginx", "haproxy"], ["h11", "node", "go", "nginx"],
                           int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 1),
                     indent=2))
