"""The whole contents of a cache or a redis-server, to compare two servers or one
server before and after."""

from resp_wire import Wire, split_replies


def elements(reply):
    """Returns the raw elements of an aggregate reply."""
    return split_replies(reply[reply.index(b"\r\n") + 2:])


def text(reply):
    """Returns the bytes of a bulk string."""
    return reply[reply.index(b"\r\n") + 2:-2]


def parsed(reply):
    """Returns an array as a list, a number as an int, and any other reply as bytes."""
    mark, end = reply[:1], reply.index(b"\r\n")
    if mark == b"*":
        return [parsed(each) for each in split_replies(reply[end + 2:])]
    if mark == b":":
        return int(reply[1:end])
    return text(reply) if mark == b"$" else reply[:end]


def paired(items):
    return dict(zip(items[::2], items[1::2], strict=True))


READS = {
    b"+string\r\n": ["GET"], b"+list\r\n": ["LRANGE", 0, -1], b"+set\r\n": ["SMEMBERS"],
    b"+hash\r\n": ["HGETALL"], b"+zset\r\n": ["ZRANGE", 0, -1, "WITHSCORES"],
    b"+stream\r\n": ["XRANGE", "-", "+"],
}


def ask_each(wire, requests):
    """Sends the requests as one pipeline and returns the list of replies."""
    return split_replies(wire.ask_all(requests))


def value_of(kind, reply):
    """Returns the value of a key in a form that does not depend on the order of a table."""
    if kind == b"+set\r\n":
        return sorted(elements(reply))
    if kind == b"+hash\r\n":
        found = elements(reply)
        return sorted(b"".join(found[i:i + 2]) for i in range(0, len(found), 2))
    return elements(reply) if reply[:1] == b"*" else reply


def contents(port):
    """Returns the type, value and expiry time of each key, by database and key."""
    wire = Wire(port)
    found = {}
    for database in range(16):
        wire.ask("SELECT", database)
        keys = [text(each) for each in elements(wire.ask("KEYS", "*"))]
        kinds = ask_each(wire, [["TYPE", key] for key in keys])
        # A key may expire meanwhile.
        kept = [(key, kind) for key, kind in zip(keys, kinds, strict=True) if kind in READS]
        reads = [[READS[kind][0], key, *READS[kind][1:]] for key, kind in kept]
        values = ask_each(wire, reads)
        times = ask_each(wire, [["PEXPIRETIME", key] for key, _ in kept])
        for (key, kind), value, time in zip(kept, values, times, strict=True):
            found[database, key] = (kind, value_of(kind, value), time)
    wire.close()
    return found


def field_times(port):
    """Returns the expiry time of each field of each hash, by database and key."""
    wire = Wire(port)
    found = {}
    for (database, key), (kind, _, _) in contents(port).items():
        if kind != b"+hash\r\n":
            continue
        wire.ask("SELECT", database)
        fields = [text(each) for each in elements(wire.ask("HKEYS", key))]
        times = parsed(wire.ask("HPEXPIRETIME", key, "FIELDS", len(fields), *fields))
        found[database, key] = dict(zip(fields, times)) if fields else {}
    wire.close()
    return found


class Moment(int):
    """Milliseconds since 1970. A follower that receives one later than its own time takes its own,
    and clocks of caches differ by a millisecond."""

    __hash__ = int.__hash__

    def __eq__(self, other):
        return abs(self - other) <= 5

    def __ne__(self, other):
        return not self == other


def streams(port):
    """Returns all that XINFO says of each stream, by database and key. Left out is what Redis 7.0
    does not replicate: when a consumer was seen, and how many entries a group has read."""
    wire = Wire(port)
    found = {}
    for (database, key), (kind, _, _) in contents(port).items():
        if kind != b"+stream\r\n":
            continue
        wire.ask("SELECT", database)
        stream = paired(parsed(wire.ask("XINFO", "STREAM", key, "FULL", "COUNT", 0)))
        stream[b"groups"] = [paired(group) for group in stream[b"groups"]]
        for group in stream[b"groups"]:
            del group[b"entries-read"], group[b"lag"]
            group[b"pending"] = [[*name, Moment(time), count]
                                 for *name, time, count in group[b"pending"]]
            group[b"consumers"] = [paired(each) for each in group[b"consumers"]]
            for consumer in group[b"consumers"]:
                del consumer[b"seen-time"], consumer[b"pending"]  # the group has the same
                consumer.pop(b"active-time", None)
        found[database, key] = stream
    wire.close()
    return found


def libraries(port):
    """Returns the code of each function library, by name."""
    wire = Wire(port)
    every = [paired(each) for each in parsed(wire.ask("FUNCTION", "LIST", "WITHCODE"))]
    wire.close()
    return {each[b"library_name"]: each[b"library_code"] for each in every}


def first_difference(left, right, where=()):
    """Returns where two unequal values differ, and what is there in each."""
    if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
        items = [(key, left[key], right[key]) for key in left]
    elif isinstance(left, (list, tuple)) and isinstance(right, type(left)) \
            and len(left) == len(right):
        items = [(at, *pair) for at, pair in enumerate(zip(left, right))]
    else:
        return where, left, right
    at, left, right = next(item for item in items if item[1] != item[2])
    return first_difference(left, right, (*where, at))


def assert_same(left, right):
    missing = left.keys() - right.keys()
    added = right.keys() - left.keys()
    assert not missing and not added, f"missing {sorted(missing)[:5]}, added {sorted(added)[:5]}"
    if left != right:
        where, value, other = first_difference(left, right)
        raise AssertionError(f"{where}: {value} became {other}")
