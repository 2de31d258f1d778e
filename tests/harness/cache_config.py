"""Reads a cache through CONFIG and INFO."""

import re

from resp_wire import split_replies


def new_cache(daemon, name="db", **options):
    made = daemon.create("cache", name, listen=["tcp://127.0.0.1:0"], resp=True, **options)
    return int(made["endpoints"][0].rsplit(":", 1)[1])


def bulks(reply):
    """Returns the strings of an array reply."""
    return [each.split(b"\r\n", 1)[1][:-2].decode()
            for each in split_replies(reply[reply.index(b"\r\n") + 2:])]


def config(wire, name):
    """Returns the value that CONFIG GET shows."""
    return bulks(wire.ask("CONFIG", "GET", name))[1]


def set_config(wire, name, value):
    assert wire.ask("CONFIG", "SET", name, value) == b"+OK\r\n"


def info(wire, field):
    found = re.search(rb"\r\n%s:([^\r]*)\r" % field.encode(), wire.ask("INFO", "everything"))
    return int(found.group(1))
