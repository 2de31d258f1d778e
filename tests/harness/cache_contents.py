"""The whole contents of a cache or a redis-server, to compare two servers or one
server before and after."""

from resp_wire import Wire, split_replies


def elements(reply):
    """Returns the raw elements of an aggregate reply."""
    return split_replies(reply[reply.index(b"\r\n") + 2:])


def text(reply):
    """Returns the bytes of a bulk string."""
    return reply[reply.index(b"\r\n") + 2:-2]


READS = {
    b"+string\r\n": (["GET"], [], False), b"+list\r\n": (["LRANGE"], [0, -1], False),
    b"+set\r\n": (["SMEMBERS"], [], True), b"+hash\r\n": (["HGETALL"], [], True),
    b"+zset\r\n": (["ZRANGE"], [0, -1, "WITHSCORES"], False),
    b"+stream\r\n": (["XRANGE"], ["-", "+"], False),
}


def value_of(wire, kind, key):
    command, options, is_unordered = READS[kind]
    reply = wire.ask(*command, key, *options)
    if not is_unordered:
        return reply
    found = elements(reply)
    if command == ["HGETALL"]:
        found = [b"".join(found[i:i + 2]) for i in range(0, len(found), 2)]
    return sorted(found)


def contents(port):
    """Returns the type, value and expiry time of each key, by database and key."""
    wire = Wire(port)
    found = {}
    for database in range(16):
        wire.ask("SELECT", database)
        for each in elements(wire.ask("KEYS", "*")):
            key = text(each)
            kind = wire.ask("TYPE", key)
            found[database, key] = (kind, value_of(wire, kind, key), wire.ask("PEXPIRETIME", key))
    wire.close()
    return found


def assert_same(left, right):
    missing = left.keys() - right.keys()
    added = right.keys() - left.keys()
    assert not missing and not added, f"missing {sorted(missing)[:5]}, added {sorted(added)[:5]}"
    for where, value in left.items():
        assert right[where] == value, f"{where}: {value} became {right[where]}"
