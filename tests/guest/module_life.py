"""Loads and unloads the module, inside the guest, as root: module_life.py strata_echo.ko, which is
loaded at the start and at the end."""

import errno
import subprocess
import sys
import threading

import genl
from genl import ACK, DUMP, ECHO_MSG, NOTIFY, PERIOD, REQUEST, SET_PERIOD, attribute, message, text

MODULE = sys.argv[1]
OTHER = "gnl_foobar_xmpl"  # the longest possible name


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def load(*parameters):
    code, words = run("insmod", MODULE, *parameters)
    assert code == 0, words


def unload():
    code, words = run("rmmod", "strata_echo")
    assert code == 0, words


def name_a_family(name):
    load(f"family={name}")
    with genl.Socket() as asking:
        reply = asking.ask(message(genl.resolve(name).id, REQUEST, ECHO_MSG, text("other")))
        assert reply[genl.MSG] == b"other\0", reply
    assert genl.resolve() is None, "the usual name is there too"
    unload()
    assert genl.resolve(name) is None


def refuse_names():
    for wrong in ["", OTHER + "x"]:
        code, words = run("insmod", MODULE, f"family={wrong}")
        assert code != 0 and "Invalid" in words, (wrong, code, words)
    code, words = run("insmod", MODULE, "family=nlctrl")
    assert code != 0 and "exists" in words, (code, words)


def leave_while_somebody_listens():
    """Unloads the module while a listener waits for periodic events: the events end, and
    nothing else does."""
    family = genl.resolve()
    heard = []
    with genl.Socket() as ear, genl.Socket() as asking:
        ear.wait_at_most(5)
        ear.join(family.groups["events"])

        def listen():
            try:
                while True:
                    heard.append(ear.receive())
            except BlockingIOError:  # nothing for 5 s
                heard.append(None)

        listener = threading.Thread(target=listen)
        listener.start()
        asked = asking.ask(message(family.id, REQUEST | ACK, SET_PERIOD,
                                   attribute(PERIOD, b"\x0a\0\0\0")))
        assert asked.errno == 0, asked
        genl.within(10, "events", lambda: len([event for event in heard if event]) > 2)
        unload()
        listener.join(30)
        assert not listener.is_alive() and heard.pop() is None, heard
        assert all(genl.PERIODIC in dict(event.attributes) for event in heard), heard
        gone = asking.ask(message(family.id, REQUEST | ACK, NOTIFY))
        assert gone.errno == -errno.ENOENT, gone
    assert genl.resolve() is None


def stay_while_a_dump_is_open():
    with genl.Socket() as idle:
        idle.send(message(genl.resolve().id, REQUEST | DUMP, ECHO_MSG))
        code, words = run("rmmod", "strata_echo")
        assert code != 0 and "in use" in words, (code, words)
    unload()


if __name__ == "__main__":
    leave_while_somebody_listens()
    refuse_names()
    name_a_family(OTHER)
    for _ in range(3):
        load()
        stay_while_a_dump_is_open()
    load()
    assert genl.resolve(), "it is not back"
    print("it comes and goes")
