"""Proxy backends that can be killed and stopped, and visitors that send requests continuously."""

import contextlib
import pathlib
import signal
import subprocess
import sys
import threading
import time

from http_backend import get
from strata_daemon import eventually
from talker import free_port

SERVER = """
import sys
sys.path.insert(0, sys.argv[2])
import collections
import threading
from http_backend import Backend
# Python looks at all that it has kept now and then: a million requests would hold it up for long.
Backend(port=int(sys.argv[1])).requests = collections.deque(maxlen=100)
threading.Event().wait()
"""


class BackProcess:
    """Answers each request with 200 and `ok`."""

    def __init__(self):
        self.port = free_port()
        self.where = f"127.0.0.1:{self.port}"
        self.start()

    def launch(self):
        harness = pathlib.Path(__file__).parent
        return subprocess.Popen([sys.executable, "-c", SERVER, str(self.port), str(harness)])

    def start(self):
        self.process = self.launch()
        eventually(self.answers, "the backend answers")

    def answers(self):
        with contextlib.suppress(OSError):
            return get(self.port) == (200, b"ok")
        return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def be_slow(self, seconds):
        """Runs the backend for a fifth of the time, for `seconds`."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.pause()
            time.sleep(0.02)
            self.go_on()
            time.sleep(0.005)


NGINX = """daemon off; master_process off; pid {folder}/pid; error_log {folder}/error;
events {{}} http {{ access_log off; keepalive_requests 1000000000; {places}
server {{ listen 127.0.0.1:{port}; location / {{ return 200 ok; }} }} }}
"""


class NginxProcess(BackProcess):
    """Does the same for more load than Python can take. Its files are in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        super().__init__()

    def launch(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        places = "".join(f"{each}_temp_path {self.folder}/{each}; " for each in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        config = self.folder / "config"
        config.write_text(NGINX.format(folder=self.folder, port=self.port, places=places))
        return subprocess.Popen(["/usr/sbin/nginx", "-c", config, "-p", self.folder])


@contextlib.contextmanager
def visitors(count, ask):
    """Runs `count` threads that call `ask()` continuously. Yields the list of what the
    calls return or raise."""
    over, answers = threading.Event(), []

    def visit():
        while not over.is_set():
            try:
                answers.append(ask())
            except OSError as trouble:
                answers.append(trouble)
    threads = [threading.Thread(target=visit) for _ in range(count)]
    for each in threads:
        each.start()
    try:
        yield answers
    finally:
        over.set()
        for each in threads:
            each.join()


def more(answers, count=20):
    """Waits until `count` more answers have arrived."""
    before = len(answers)
    eventually(lambda: len(answers) >= before + count, "requests are answered")
