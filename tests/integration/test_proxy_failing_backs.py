"""Backs of a proxy that are killed, stopped and brought again while requests come."""

import contextlib
import pathlib
import signal
import subprocess
import sys
import threading

import pytest

from http_back import get
from strata_daemon import eventually
from talker import free_port, port_of

SERVER = """
import sys
sys.path.insert(0, sys.argv[2])
import threading
from http_back import Back
Back(port=int(sys.argv[1]))
threading.Event().wait()
"""


class BackProcess:
    """A back that can be killed."""

    def __init__(self):
        self.port = free_port()
        self.where = f"127.0.0.1:{self.port}"
        self.start()

    def start(self):
        harness = pathlib.Path(__file__).parents[1] / "harness"
        self.process = subprocess.Popen([sys.executable, "-c", SERVER, str(self.port),
                                         str(harness)])
        eventually(self.answers, "the back answers")

    def answers(self):
        with contextlib.suppress(OSError):
            return get(self.port) == (200, b"ok")
        return False

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def pair():
    made = [BackProcess() for _ in range(2)]
    yield made
    for each in made:
        each.kill()


@contextlib.contextmanager
def visitors(port, count):
    """Ask all the time; what they got is in the list."""
    over, answers = threading.Event(), []

    def visit():
        while not over.is_set():
            try:
                answers.append(get(port))
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


def more(answers):
    """Twenty more have come since."""
    before = len(answers)
    eventually(lambda: len(answers) >= before + 20, "requests are answered")


def test_no_request_that_may_be_repeated_fails_where_one_back_is_left(daemon, pair):
    ill, well = pair
    [url] = daemon.create("proxy", "gw", listen=["http://127.0.0.1:0"], check="tcp",
                          backend=[ill.where, well.where], answer_timeout=0.3, rest=0.05,
                          check_interval=0.05, check_fall=1, check_rise=1)["endpoints"]
    with visitors(port_of(url), 4) as answers:
        for _ in range(10):
            ill.kill()
            more(answers)
            ill.start()
            more(answers)
            ill.process.send_signal(signal.SIGSTOP)
            more(answers)
            ill.process.send_signal(signal.SIGCONT)
            more(answers)
    failed = [each for each in answers if each != (200, b"ok")]
    assert failed == [] and len(answers) > 800
    # It went down and came up by turns.
    told = [line["text"] for line in daemon.logs("gw") if f"'{ill.where}' is" in line["text"]]
    states = ["down" if "is down" in text else "up" for text in told if "left alone" not in text]
    assert states[:2] == ["down", "up"] and len(states) >= 10
    assert all(one != other for one, other in zip(states, states[1:]))
