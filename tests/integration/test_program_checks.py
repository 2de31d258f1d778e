"""How a program shows that it is ready and alive."""

import os
import socket
import subprocess
import sys
import time

import pytest

from programs import NOTIFY, instances_of, lines_of
from strata_daemon import Refused, eventually
from talker import free_port


def test_a_notification_says_that_it_is_ready(daemon, program):
    shown = program(NOTIFY + "print('up', flush=True)\ntime.sleep(0.3)\n"
                    "tell('STATUS=warming up')\ntell('READY=1\\nSTATUS=serving')\ntime.sleep(1000)",
                    ready="notify")
    assert shown["state"] == "running"
    [one] = instances_of(daemon, "p")
    assert one["status"] in ("warming up", "serving")
    eventually(lambda: instances_of(daemon, "p")[0]["status"] == "serving", "its status is shown")


def test_one_that_never_notifies_is_not_ready(daemon, program):
    with pytest.raises(Refused, match=r"was not ready \(notify\) within 0.5 s"):
        program(NOTIFY + "tell('STATUS=READY=1')\ntime.sleep(1000)",
                ready="notify", ready_timeout=0.5)
    assert daemon.names() == []


def test_what_strangers_send_is_not_heard(daemon, program):
    program(NOTIFY + "print(os.environ['NOTIFY_SOCKET'], flush=True)\ntell('READY=1')\n"
            "time.sleep(1000)", ready="notify")
    [address] = eventually(lambda: [each for each in lines_of(daemon, "p")
                                    if each.startswith("@")], "the address is known")
    sender = ("import os, socket, sys\nos.setuid(65534)\n"
              "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)"
              ".sendto(b'STATUS=' + sys.argv[2].encode(), '\\0' + sys.argv[1][1:])")
    subprocess.run([sys.executable, "-c", sender.replace("os.setuid(65534)", "pass"), address,
                    "root"], check=True)
    eventually(lambda: instances_of(daemon, "p")[0]["status"] == "root", "root's is taken")
    subprocess.run([sys.executable, "-c", sender, address, "stranger"], check=True)
    assert {instances_of(daemon, "p")[0]["status"] for _ in range(10)} == {"root"}


@pytest.mark.parametrize("alive, text", [
    ("notify", NOTIFY + "for _ in range(4): tell('WATCHDOG=1'); time.sleep(0.1)\n"
     "time.sleep(1000)"),
    ("http:/health", """
import http.server, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    asked = 0
    def do_GET(self):
        Answer.asked += 1
        self.send_response(200 if Answer.asked < 4 else 500)
        self.end_headers()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""),
    ("port", """
import socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
for _ in range(4): listener.accept()[0].close()
listener.close()
time.sleep(1000)
""")])
def test_one_that_shows_no_life_is_killed(daemon, program, alive, text):
    options = {} if alive == "notify" else {"port": free_port()}
    words = ["{port}"] if options else []
    program(text, *words, alive=alive, alive_interval=0.2, alive_limit=2, restart="no", **options)
    eventually(lambda: daemon.show("p")["state"] == "failed", "it has failed")
    assert "signal 9" in daemon.show("p")["reason"]
    assert any(f"has failed 2 checks ({alive}) in a row" in line for line in lines_of(daemon, "p"))


def test_one_that_shows_life_goes_on(daemon, program):
    program(NOTIFY + "print(os.environ['WATCHDOG_USEC'], flush=True)\n"
            "while True: tell('WATCHDOG=1'); time.sleep(0.1)",
            alive="notify", alive_interval=1, alive_limit=3)
    [before] = instances_of(daemon, "p")
    eventually(lambda: instances_of(daemon, "p")[0]["uptime_s"] > 4, "it goes on")
    assert instances_of(daemon, "p")[0]["pid"] == before["pid"]
    assert "3000000" in lines_of(daemon, "p")


@pytest.mark.parametrize("options, why", [
    ({"user": "no such"}, "no such user"),
    ({"limit": ["files=1"]}, "there is no limit 'files'"),
    ({"limit": ["nofile=many"]}, "not a value of a limit"),
    ({"limit": ["nofile"]}, "not a value of a limit"),
    ({"ready": "prot", "port": 1}, "--ready prot is not a condition"),
    ({"alive": "started"}, "--alive started is not a condition"),
    ({"alive": "http:/"}, "needs a port"), ({"alive": "http:", "port": 1}, "has no path"),
    ({"alive": "notify", "alive_interval": 0}, "without a pause"),
    ({"port": 1, "keep_socket": True, "ready": "port"}, "says nothing with --keep-socket"),
    ({"keep_socket": True}, "port")])
def test_options_that_cannot_be_are_refused(daemon, options, why):
    with pytest.raises(Refused, match=why):
        daemon.create("program", "p", command="sleep 1000", **options)
    assert daemon.names() == []
