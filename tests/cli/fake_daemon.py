"""A daemon that speaks the control API (docs/openapi.yaml) and runs nothing.

It makes it possible to test the CLI without the daemon, and records the CLI's requests in
`FakeDaemon.requests`.
"""

import json
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

NEEDS_RESTART = {"port", "listen", "framing", "threads", "write", "target", "connect"}
STATUS = {"not_found": 404, "already_exists": 409, "conflict": 409, "invalid_argument": 400,
          "limit_exceeded": 413, "system": 500}
WHEN = "2026-03-04T12:00:00.000Z"


class ApiError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Runtime:
    def __init__(self, request):
        self.name = request["name"]
        self.type = request["type"]
        self.options = request.get("options", {})
        self.state = "created"
        self.sender = "7"
        self.sent = []
        self.streams = threading.Condition()
        self.messages = []
        self.more_stats = {}
        self.backends = []

    def summary(self):
        running = self.state == "running"
        port = self.options.get("port")
        return {"name": self.name, "type": self.type, "state": self.state, "reason": "",
                "endpoints": [] if port is None else [f"tcp://*:{port}"],
                "reach": "network" if self.type == "server" else None,
                "connections": 2 if running else 0, "group": self.options.get("group", ""),
                "owner": self.options.get("owner", ""), "created_at": WHEN,
                "uptime_s": 65.25 if running else 0}

    def detail(self, others):
        children = [other.name for other in others if other.options.get("owner") == self.name]
        return self.summary() | {"on_parent_stop": "stop", "children": children,
                                 "options": self.options}

    def stats(self):
        return {"name": self.name, "type": self.type, "state": self.state, "uptime_s": 65.25,
                "connections": {"now": 2, "peak": 3, "total": 7, "refused": 0},
                "messages": {"in": 1200, "out": 2400}, "bytes": {"in": 2048, "out": 1536},
                "dropped": {"rate_limit": 4, "slow_client": 1}, "errors": 0,
                "rates": {"in_1s": 10.5, "in_1m": 9.0, "out_1s": 21.0, "out_1m": 18.0},
                "loop": {"lag_us": 12.0, "lag_max_us": 900.0}}

    def act(self, action):
        running = self.state == "running"
        if action == "start" and running:
            raise ApiError("conflict", f"cannot start '{self.name}': it is running; stop it first")
        if action == "stop" and not running:
            raise ApiError("conflict", f"cannot stop '{self.name}': it is not running")
        if action == "start" and self.options.get("port") == 1:
            self.state = "failed"
            raise ApiError("permission_denied", "cannot bind tcp://*:1: Permission denied; "
                                                "take a port from 1024")
        if action in ("start", "restart"):
            self.state = "running"
        elif action == "stop":
            self.state = "stopped"

    def take(self, body):
        if self.state != "running":
            raise ApiError("conflict", f"cannot send through '{self.name}': it is not running")
        if body == b"refuse me":
            raise ApiError("limit_exceeded", "cannot send that")
        with self.streams:
            self.sent.append(body)
            text = "echo " + body.decode(errors="replace")
            echo = {"time": WHEN, "from": self.sender, "text": text}
            self.messages.append(echo)
            self.streams.notify_all()
        return {"delivered": 2, "queued": 0}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def address_string(self):
        return "unix"

    def answer(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def start_lines(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def handle_any(self):
        fake = self.server.fake
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        url = urlsplit(self.path)
        fake.requests.append((self.command, self.path, body))
        self.close_connection = self.close_connection or fake.stopping.is_set()
        try:
            self.route([unquote(part) for part in url.path.split("/")[1:]], parse_qs(url.query),
                       body)
        except ApiError as error:
            self.answer(STATUS.get(error.code, 500),
                        {"error": {"code": error.code, "message": str(error), "remedy": ""}})

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any

    def route(self, path, query, body):
        fake = self.server.fake
        if path == ["v1", "version"]:
            return self.answer(200, {"version": "9.9.9", "api": "1", "pid": 42,
                                     "loop": "io_uring", "loops": 2, "state_dir": "/x",
                                     "uptime_s": 1.5})
        if path == ["v1", "events"]:
            return self.lines(fake.events, query)
        if path == ["v1", "stats"]:
            return self.answer(200, [each.stats() | each.more_stats
                                     for _, each in sorted(fake.runtimes.items())])
        if path == ["v1", "runtimes"]:
            if self.command == "GET":
                return self.answer(200, [fake.runtimes[name].summary()
                                         for name in sorted(fake.runtimes)])
            return self.create(json.loads(body))
        if path[:2] == ["v1", "runtimes"]:
            if path[2] not in fake.runtimes:
                raise ApiError("not_found", f"there is no runtime '{path[2]}'; see 'strata ls'")
            return self.one(fake.runtimes[path[2]], path[3:], query, body)
        raise ApiError("not_found", "no such path")

    def create(self, request):
        fake = self.server.fake
        if request["name"] in fake.runtimes:
            raise ApiError("already_exists", f"cannot create '{request['name']}': it exists")
        runtime = fake.runtimes[request["name"]] = Runtime(request)
        if request.get("start"):
            runtime.act("start")
        self.answer(201, runtime.detail(fake.runtimes.values()))

    def one(self, runtime, rest, query, body):
        fake = self.server.fake
        if rest == []:
            if self.command == "DELETE":
                del fake.runtimes[runtime.name]
                return self.answer(204)
            if self.command == "PATCH":
                return self.edit(runtime, json.loads(body)["options"])
            return self.answer(200, runtime.detail(fake.runtimes.values()))
        if rest == ["stats"]:
            return self.answer(200, runtime.stats() | runtime.more_stats)
        if rest == ["backends"]:
            return self.answer(200, runtime.backends)
        if rest == ["send"]:
            return self.answer(200, runtime.take(body))
        if rest == ["logs"]:
            return self.lines(fake.logs, query)
        if rest == ["messages"]:
            return self.stream_messages(runtime)
        runtime.act(rest[0])
        return self.answer(200, runtime.detail(fake.runtimes.values()))

    def edit(self, runtime, changes):
        for key, value in changes.items():
            runtime.options[key] = value
        later = [key for key in changes if key in NEEDS_RESTART]
        self.answer(200, {"applied": [key for key in changes if key not in later],
                          "needs_restart": later})

    def lines(self, known, query):
        self.start_lines()
        tail = int(query.get("tail", ["1000"])[0])
        for line in known[-tail:] if tail else []:
            self.chunk(json.dumps(line).encode() + b"\n")
        if query.get("follow") == ["true"]:
            self.server.fake.stopping.wait(0.5)
            whole = json.dumps({"time": WHEN, "level": "info", "text": "later", "event": "failed",
                                "runtime": "later", "type": "server", "detail": ""}).encode()
            self.chunk(whole[:9])
            time.sleep(0.05)
            self.chunk(whole[9:] + b"\n")
        self.chunk(b"")

    def stream_messages(self, runtime):
        with runtime.streams:
            shown = len(runtime.messages)  # before the head: later messages must be received
        self.start_lines()
        while not self.server.fake.stopping.is_set() and runtime.state == "running":
            with runtime.streams:
                runtime.streams.wait(0.05)
                fresh = runtime.messages[shown:]
                shown += len(fresh)
            for message in fresh:
                self.chunk(json.dumps(message).encode() + b"\n")
        self.chunk(b"")


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # a client that disconnects midway is part of the tests


class FakeDaemon:
    def __init__(self, socket: Path):
        self.socket = socket
        self.runtimes = {}
        self.requests = []
        self.logs = [{"time": WHEN, "level": level, "text": f"line {number}"}
                     for number, level in enumerate(["info", "warning", "error"])]
        self.events = [{"time": WHEN, "event": "created", "runtime": "web", "type": "server",
                        "detail": ""},
                       {"time": WHEN, "event": "failed", "runtime": "web", "type": "server",
                        "detail": "port in use"}]
        self.stopping = threading.Event()
        self.server = Server(str(socket), Handler)
        self.server.fake = self
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def add(self, kind, name, state="created", **options):
        runtime = Runtime({"type": kind, "name": name, "options": options})
        runtime.state = state
        self.runtimes[name] = runtime
        return runtime

    def asked(self, method):
        return [(path, body) for verb, path, body in self.requests if verb == method]

    def close(self):
        self.stopping.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
