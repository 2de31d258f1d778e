"""Name lookups with a silent name server: they make nobody wait, and use few threads.

    netns: lo 127.0.0.1 --- the daemon, what it connects to, and a name server that answers nothing
"""

import os
import time

import pytest

from name_server import namespace
from strata_daemon import PATIENCE, Refused, eventually

LOOKUP_THREADS = 16  # the maximum in src/loop/names/name_lookup.hpp


@pytest.fixture
def silent(root, make_daemon):
    """A daemon for which a lookup takes more than a minute."""
    with namespace("options timeout:30 attempts:5\n") as name:
        daemon = make_daemon(namespace=name)
        yield daemon
        if daemon.process is not None:
            daemon.stop()


def threads_of(daemon):
    return len(os.listdir(f"/proc/{daemon.pid}/task"))


def refused_client(daemon, host):
    with pytest.raises(Refused) as refused:
        daemon.create("client", "c", connect=f"tcp://{host}:80", connect_timeout=0.5)
    return refused.value


def test_a_silent_name_server_is_an_error_at_the_time_limit(silent):
    refused = refused_client(silent, "a.example")
    assert "find the address of 'a.example'" in refused.message
    assert "no name server answered" in refused.message
    assert silent.names() == []


def test_one_that_starts_again_and_again_takes_one_thread(silent):
    silent.create("client", "c", False, connect="tcp://a.example:80", connect_timeout=0.2)
    before = threads_of(silent)
    for _ in range(40):
        with pytest.raises(Refused):
            silent.act("c", "start")
    # Its own loop may be there, and a thread that is about to end.
    assert threads_of(silent) <= before + 3
    silent.remove("c")


def test_many_names_take_a_few_threads_and_the_rest_wait(silent):
    before = threads_of(silent)
    for number in range(LOOKUP_THREADS + 14):
        silent.create("client", f"c{number}", connect=f"tcp://{number}.example:80",
                      connect_timeout=3600, reconnect=0)
    eventually(lambda: threads_of(silent) >= before + LOOKUP_THREADS, "the look-ups have begun")
    assert threads_of(silent) <= before + LOOKUP_THREADS + os.cpu_count() + 1
    assert "no name server answered" in refused_client(silent, "late.example").message
    # An address needs no lookup.
    [url] = silent.server("s")
    silent.create("client", "there", connect=url)
    for number in range(LOOKUP_THREADS + 14):
        silent.remove(f"c{number}")
    assert silent.names() == ["s", "there"]


def test_a_look_up_keeps_neither_a_stop_nor_the_end_waiting(silent):
    began = time.monotonic()
    for number in range(3):
        silent.create("client", f"c{number}", connect=f"tcp://{number}.example:80",
                      connect_timeout=3600, reconnect=0)
    silent.act("c0", "stop")
    silent.remove("c1")
    silent.stop()
    assert time.monotonic() - began < PATIENCE  # the lookups take more than a minute
