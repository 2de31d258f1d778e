"""A strata daemon under test: a real process, real sockets, a folder of its own."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

BINARY = os.environ.get("STRATA_BIN", "")
LOOP = os.environ.get("STRATA_LOOP", "io_uring")
CACHE_THREADS = int(os.environ.get("STRATA_CACHE_THREADS", "1"))
PATIENCE = 30  # seconds; the longest that anything may take on a busy machine

SANITIZER_REPORT = re.compile(r"Sanitizer|runtime error:|Assertion|terminate called")


def eventually(condition, what, within=PATIENCE):
    """Waits until `condition()` is true and returns its value."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {within} s: {what}"
        time.sleep(0.02)


class Refused(Exception):
    """The control API's error response; its message as the command line shows it."""

    def __init__(self, status, answer):
        self.status = status
        self.code = answer["error"]["code"]
        self.remedy = answer["error"]["remedy"]
        self.message = "; ".join(filter(None, [answer["error"]["message"], self.remedy]))
        super().__init__(f"{status} {self.code}: {self.message}")


class ControlConnection(http.client.HTTPConnection):
    """HTTP over the control socket."""

    def __init__(self, path, timeout=PATIENCE):
        super().__init__("strata", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Daemon:
    """`strata daemon` in `folder`. It is ended by its process id, and must end successfully."""

    def __init__(self, folder, *flags, files=None, state_dir=None, variables=None, stderr=None,
                 namespace=None):
        self.folder = folder
        self.state_dir = state_dir or folder / "state"
        self.socket = folder / "control.sock"
        self.log_path = folder / "daemon.log"
        self.flags = flags
        self.files = files  # hard limit of open files
        self.variables = variables or {}
        self.stderr = stderr  # a descriptor for its log, instead of the file
        self.namespace = namespace  # network namespace
        self.process = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def environment(self):
        return {"PATH": os.environ["PATH"], "STRATA_SOCKET": str(self.socket),
                "ASAN_OPTIONS": "quarantine_size_mb=16",  # or freed memory counts as resident
                "UBSAN_OPTIONS": "print_stacktrace=1", **self.variables}

    def command(self, *more):
        inside = ["ip", "netns", "exec", self.namespace] if self.namespace else []
        # A separate program lowers the limit, because Python code in a child
        # costs a copy of Python.
        limited = ["prlimit", f"--nofile={self.files}:{self.files}"] if self.files else []
        return [*inside, *limited, BINARY, "daemon", "--state-dir", self.state_dir,
                "--socket", self.socket, "--loop", LOOP, *self.flags, *more]

    def launch(self, *more):
        """Starts the process, without waiting for anything."""
        with open(self.log_path, "ab") as log:
            return subprocess.Popen(self.command(*more), env=self.environment,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=self.stderr or log)

    def start(self):
        before = len(self.log())
        self.process = self.launch()
        eventually(lambda: self.is_ready(before) or self.process.poll() is not None,
                   "the daemon is ready")
        assert self.process.poll() is None, self.log()
        self.await_restored(before)
        return self

    def is_ready(self, before):
        if self.has_log():
            return " ready\n" in self.log()[before:]
        try:
            return self.socket.exists() and self.ask("GET", "/v1/version")
        except ConnectionRefusedError:  # it has the socket's name, and does not listen yet
            return False

    def await_restored(self, before, within=10):
        """Waits until each stored runtime runs or has failed: on a busy machine the
        daemon is ready earlier. Some never do, so the wait has an end."""
        deadline = time.monotonic() + within
        while self.has_log() and " restored\n" not in self.log()[before:]:
            if time.monotonic() > deadline or self.process.poll() is not None:
                return
            time.sleep(0.02)

    def has_log(self):
        return self.stderr is None and "--log-file" not in self.flags

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        if not self.log_path.exists():
            return ""
        return self.log_path.read_text(errors="replace")

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self):
        """Waits for the requested end, and checks that it was a successful one."""
        code = self.process.wait(PATIENCE)
        self.process = None
        report = SANITIZER_REPORT.search(self.log())
        assert report is None, self.log()[-20000:]
        assert code == 0, f"exit code {code}\n{self.log()[-5000:]}"
        assert not self.socket.exists()

    def stop(self):
        self.signal(signal.SIGTERM)
        self.wait()

    def kill9(self):
        self.signal(signal.SIGKILL)
        self.process.wait(PATIENCE)
        self.process = None

    def restart(self):
        self.stop()
        return self.start()

    def take_over(self, *more):
        """Starts a later daemon that takes over, and waits until the earlier one has ended
        successfully."""
        before = len(self.log())
        later = self.launch("--takeover", *more)
        eventually(lambda: self.is_ready(before) or later.poll() is not None,
                   "the later daemon is ready")
        assert later.poll() is None, self.log()[-5000:]
        code = self.process.wait(PATIENCE)
        self.process = later
        assert code == 0, f"exit code {code}\n{self.log()[-5000:]}"
        assert self.socket.exists()

    def close(self):
        if self.process is None:
            assert SANITIZER_REPORT.search(self.log()) is None, self.log()[-20000:]
        else:
            self.stop()

    # --- the CLI ---------------------------------------------------------------------------------

    def run(self, *arguments, given=""):
        """Runs the CLI and returns its result, whatever it is."""
        arguments = [*map(str, arguments)]
        if arguments[:2] == ["create", "cache"] and CACHE_THREADS > 1 \
                and "--threads" not in arguments:
            arguments += ["--threads", str(CACHE_THREADS)]
        return subprocess.run([BINARY, *arguments], env=self.environment, input=given,
                              text=True, capture_output=True, timeout=PATIENCE)

    def begin(self, *arguments):
        """Starts the CLI without waiting for it."""
        return subprocess.Popen([BINARY, *map(str, arguments)], env=self.environment, text=True,
                                stderr=subprocess.PIPE)

    def cli(self, *arguments, given=""):
        """Returns the CLI's output; it must succeed and print nothing on stderr."""
        done = self.run(*arguments, given=given)
        assert done.returncode == 0 and done.stderr == "", done
        return done.stdout

    # --- the control API -------------------------------------------------------------------------

    def connect(self):
        return ControlConnection(self.socket)

    def exchange(self, method, path, body=None, connection=None):
        """Returns status and body of one request; `body` is bytes, or a value that is sent as
        JSON."""
        used = connection or self.connect()
        data = body if body is None or isinstance(body, bytes) else json.dumps(body)
        used.request(method, path, data)
        reply = used.getresponse()
        status, content = reply.status, reply.read()
        if connection is None:
            used.close()
        return status, content

    def ask(self, method, path, body=None, connection=None):
        """Returns the response's JSON. Raises `Refused` for an error response."""
        status, content = self.exchange(method, path, body, connection)
        answer = json.loads(content) if content else None
        if status >= 300:
            raise Refused(status, answer)
        return answer

    def create(self, kind, name, start=True, **options):
        if kind == "cache" and CACHE_THREADS > 1:
            options.setdefault("threads", CACHE_THREADS)
        body = {"type": kind, "name": name, "start": start, "options": options}
        return self.ask("POST", "/v1/runtimes", body)

    def server(self, name, **options):
        """Creates a running server on a free port of 127.0.0.1 (or on `listen`).
        Returns its endpoints."""
        options.setdefault("listen", ["tcp://127.0.0.1:0"])
        return self.create("server", name, **options)["endpoints"]

    def act(self, name, action):
        return self.ask("POST", f"/v1/runtimes/{name}/{action}")

    def edit(self, name, **options):
        return self.ask("PATCH", f"/v1/runtimes/{name}", {"options": options})

    def remove(self, name):
        return self.ask("DELETE", f"/v1/runtimes/{name}")

    def show(self, name):
        return self.ask("GET", f"/v1/runtimes/{name}")

    def names(self):
        return [each["name"] for each in self.ask("GET", "/v1/runtimes")]

    def send(self, name, message):
        return self.ask("POST", f"/v1/runtimes/{name}/send", message)

    def stats(self, name):
        return self.ask("GET", f"/v1/runtimes/{name}/stats")

    def lines(self, path):
        """Returns the objects of a stream that ends."""
        status, content = self.exchange("GET", path)
        assert status == 200, content
        return [json.loads(line) for line in content.splitlines()]

    def logs(self, name):
        return self.lines(f"/v1/runtimes/{name}/logs")

    def logged(self, name, text, level=None):
        """Reports whether the runtime's log contains `text`."""
        return any(text in line["text"] and level in (None, line["level"])
                   for line in self.logs(name))

    def wait_connections(self, name, count):
        eventually(lambda: self.stats(name)["connections"]["now"] == count,
                   f"{name} has {count} connections")

    def wait_clients(self, name, count):
        """Waits until messages reach `count` clients. A connection counts as soon as it is
        accepted, but nothing reaches its client before the TLS handshake is over."""
        eventually(lambda: len(self.ask("GET", f"/v1/runtimes/{name}/clients")) == count,
                   f"{name} has {count} clients")

    def wait_gone(self, name, total, left=0):
        """Waits until all of `total` connections have been served and only `left` remain.
        Connections that wait to be accepted do not count among the current ones."""
        def served():
            connections = self.stats(name)["connections"]
            return (connections["total"], connections["now"]) == (total, left)

        eventually(served, f"of {total} connections to {name}, {left} are left")

    # --- the process -----------------------------------------------------------------------------

    def resident_mib(self):
        with open(f"/proc/{self.pid}/status") as status:
            kib = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        return kib / 1024

    def cpu_ns(self):
        """Returns the processor time of all threads together, in nanoseconds."""
        total = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/schedstat") as figures:
                total += int(figures.read().split()[0])
        return total
