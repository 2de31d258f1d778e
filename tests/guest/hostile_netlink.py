"""Sends strata_echo every kind of invalid message, inside the guest, as root or not; and valid ones
at the limits. Functions whose names begin with root_ are only for root. Ends with "all N answered
as they should". The argument "counts" is for its own use, in another network namespace."""

import errno
import os
import struct
import subprocess
import sys
import time
import traceback

import genl
from genl import (ACK, DUMP, ECHO_BATCH, ECHO_MSG, GET_COUNTERS, MSG, MULTI, NOTIFY, PERIOD,
                  REPLY_WITH_NLMSG_ERR, REQUEST, SET_PERIOD, attribute, item, message, resolve,
                  text)

ROOT = os.geteuid() == 0
FAMILY = resolve()
ATTRIBUTES_AT = 20  # offset of the first attribute in a message
POLICY = "Attribute failed policy validation"
UNKNOWN = "Unknown attribute type"
LEFTOVER = "bytes leftover after parsing attributes"


def request(command, body=b"", flags=0, **other):
    return message(FAMILY.id, REQUEST | flags, command, body, **other)


def ask(data):
    with genl.Socket() as asking:
        return asking.ask(data)


def refuse(data, code, words=None, offset=None):
    """Checks that the reply is that error, text and offset, and that nothing follows."""
    with genl.Socket() as asking:
        reply = asking.ask(data)
        got = (reply.errno, reply.words, reply.offset)
        assert got == (-code, words, offset), f"{got} is not {(-code, words, offset)}"
        assert asking.is_silent(), "something more came"
    return reply


def period(value_ms):
    return request(SET_PERIOD, attribute(PERIOD, struct.pack("I", value_ms)), ACK)


def texts(reply):
    return [words.rstrip(b"\0").decode() for kind, words in reply.attributes if kind == MSG]


def counts():
    """Returns the numbers of echoes, bytes, dumps, refusals and events."""
    found = dict(genl.attributes(ask(request(GET_COUNTERS))[genl.COUNTERS]))
    return [struct.unpack("Q", found[number])[0] for number in range(2, 7)]


def echoes(words="still here"):
    reply = ask(request(ECHO_MSG, text(words)))
    assert reply.command == ECHO_MSG and texts(reply) == [words], reply


def test_unknown_attributes():
    # maxattr is 1 for ECHO_MSG, 3 for ECHO_BATCH, 6 for SET_PERIOD, and GET_COUNTERS takes none.
    for command, last in [(ECHO_MSG, 1), (REPLY_WITH_NLMSG_ERR, 1), (NOTIFY, 1), (ECHO_BATCH, 3)]:
        for kind in [0, last + 1, 100, 0x3fff]:
            refuse(request(command, attribute(kind, b"abcd")), errno.EINVAL, UNKNOWN, ATTRIBUTES_AT)
    # The kernel accepts no attribute through a table whose attribute 1 is always refused.
    refuse(request(GET_COUNTERS, text("x")), errno.EINVAL, POLICY, ATTRIBUTES_AT)
    refuse(request(GET_COUNTERS, attribute(2, b"")), errno.EINVAL, UNKNOWN, ATTRIBUTES_AT)


def test_the_last_attribute_of_each_table():
    echoes()
    # Below maxattr and without a policy; this once crashed a kernel.
    refuse(request(ECHO_BATCH, attribute(2, b"abcd")), errno.EINVAL, "Unsupported attribute",
           ATTRIBUTES_AT)
    refuse(request(ECHO_BATCH, text("x", 3)), errno.EINVAL, "NLA_F_NESTED is missing",
           ATTRIBUTES_AT)


def test_texts():
    for wrong in [attribute(MSG, b"no end"), attribute(MSG, b""), text("x" * 8193)]:
        refuse(request(ECHO_MSG, wrong), errno.EINVAL, POLICY, ATTRIBUTES_AT)
    assert refuse(request(ECHO_MSG), errno.EINVAL).missing == MSG
    for right in ["", "x" * 8192, "grüße"]:
        echoes(right)


def test_lengths():
    for wrong in [5, 0xffff, 0, 3]:
        refuse(request(ECHO_MSG, attribute(MSG, b"", wrong)), errno.EINVAL, LEFTOVER)
    cut = struct.pack("IHHII", 18, FAMILY.id, REQUEST, 1, 0) + b"\1\1"
    refuse(cut, errno.EINVAL)
    with genl.Socket() as asking:
        asking.send(b"\x01" * 15)  # less than a header: no reply
        asking.send(message(FAMILY.id, 0, ECHO_MSG, text("x")))  # not a request
        assert asking.is_silent()


def test_headers():
    refuse(request(ECHO_MSG, text("x"), reserved=1), errno.EINVAL,
           "genlmsghdr.reserved field is not 0")
    for command in [0, 7, 9, 255]:
        refuse(request(command, text("x")), errno.EOPNOTSUPP)
    refuse(request(GET_COUNTERS, flags=DUMP), errno.EOPNOTSUPP)


def test_two_requests_in_a_datagram():
    with genl.Socket() as asking:
        asking.send(request(ECHO_MSG, text("one"), sequence=7)
                    + request(ECHO_MSG, text("two"), sequence=8))
        for words, sequence in [("one", 7), ("two", 8)]:
            reply = asking.receive()
            assert (texts(reply), reply.sequence) == ([words], sequence), reply


def read_dump(asking, words="a message of a dump"):
    for index in range(3):
        reply = asking.receive()
        assert reply.flags & MULTI and reply.command == ECHO_MSG, reply
        assert reply[genl.INDEX] == struct.pack("I", index) and texts(reply) == [words], reply
    done = asking.receive()
    assert done.kind == genl.DONE and done.flags & MULTI, done


def test_a_dump_that_is_not_read():
    dump = request(ECHO_MSG, flags=DUMP)
    with genl.Socket() as idle, genl.Socket() as other:
        idle.send(dump)
        idle.send(dump)
        other.send(dump)
        read_dump(other)
        echoes()
        assert resolve("nlctrl").id == genl.CONTROLLER
        replies = [idle.receive() for _ in range(5)]
    assert [reply.errno for reply in replies if reply.kind == genl.ERROR] == [-errno.EBUSY], replies
    assert [reply.command for reply in replies].count(ECHO_MSG) == 3, replies
    with genl.Socket() as long:
        long.send(request(ECHO_MSG, text("y" * 8192), DUMP))
        read_dump(long, "y" * 8192)


def test_parallel_dumps():
    asking = [genl.Socket() for _ in range(100)]
    for each in asking:
        each.send(request(ECHO_MSG, flags=DUMP))
    for each in reversed(asking):
        with each:
            read_dump(each)


def test_batches():
    reply = refuse(request(ECHO_BATCH), errno.EINVAL, "a batch needs an ITEM")
    assert reply.missing == genl.ITEM, reply
    for number in [1, 64]:
        body = b"".join(item(text(f"text {i}")) for i in range(number))
        reply = ask(request(ECHO_BATCH, body))
        assert reply[genl.COUNT] == struct.pack("I", number), reply
        nests = [dict(genl.attributes(data)) for kind, data in reply.attributes
                 if kind == genl.ITEM]
        assert [nest[1] for nest in nests] == [f"text {i}\0".encode() for i in range(number)]
    one = item(text("x"))
    refuse(request(ECHO_BATCH, one * 65), errno.E2BIG, "more than 64 ITEMs",
           ATTRIBUTES_AT + 64 * len(one))
    refuse(request(ECHO_BATCH, one + item()), errno.EINVAL, "an ITEM has no MSG",
           ATTRIBUTES_AT + len(one))
    refuse(request(ECHO_BATCH, item(text("x", 2))), errno.EINVAL, UNKNOWN, ATTRIBUTES_AT + 4)


def test_refusal():
    refuse(request(REPLY_WITH_NLMSG_ERR), errno.EINVAL, "this command always fails")
    refuse(request(REPLY_WITH_NLMSG_ERR, text("x"), ACK), errno.EINVAL, "this command always fails",
           ATTRIBUTES_AT)


def test_events_on_demand():
    with genl.Socket() as ear:
        ear.join(FAMILY.groups["events"])
        assert ask(request(NOTIFY, text("x"), ACK)).errno == 0
        first = ear.receive()
        assert first.command == genl.EVENT and texts(first) == ["x"], first
        assert ask(request(NOTIFY, flags=ACK)).errno == 0
        second = ear.receive()
    assert genl.PERIODIC in dict(second.attributes), second
    one, two = (struct.unpack("I", event[genl.SEQUENCE])[0] for event in [first, second])
    assert two == one + 1, (one, two)


def test_who_may_set_the_period():
    if not ROOT:
        for value_ms in [9, 10, 0]:
            refuse(period(value_ms), errno.EPERM)
    else:
        refuse(period(0), 0)


def root_periods():
    refuse(period(9), errno.ERANGE, "a PERIOD is 0 or 10 ms and more", ATTRIBUTES_AT)
    refuse(period(3600001), errno.ERANGE, "integer out of range", ATTRIBUTES_AT)
    refuse(request(SET_PERIOD, attribute(PERIOD, b"ab")), errno.EINVAL, "invalid attribute length",
           ATTRIBUTES_AT)
    assert refuse(request(SET_PERIOD), errno.EINVAL).missing == PERIOD
    for kind in [0, 7]:
        refuse(request(SET_PERIOD, attribute(kind, b"abcd")), errno.EINVAL, UNKNOWN, ATTRIBUTES_AT)
    with genl.Socket() as ear:
        ear.join(FAMILY.groups["events"])
        assert ask(period(10)).errno == 0
        for _ in range(3):
            event = ear.receive()
            assert genl.PERIODIC in dict(event.attributes), event
        assert ask(period(0)).errno == 0
        ear.waiting.clear()
        # An event on its way may still arrive; then none for ten periods.
        genl.within(5, "periodic events end", lambda: time.sleep(0.1) or ear.drain() == 0)


def test_cookies_and_counts():
    before = counts()
    with genl.Socket() as asking:
        assert texts(asking.ask(request(ECHO_MSG, text("four"), ACK))) == ["four"]
        assert asking.receive().cookie == before[0] + 1
        asking.send(request(ECHO_MSG, flags=DUMP))
        read_dump(asking)
    ask(request(ECHO_BATCH, item(text("ab")) + item(text(""))))
    ask(request(REPLY_WITH_NLMSG_ERR))
    ask(request(NOTIFY, flags=ACK))
    grown = [after - old for after, old in zip(counts(), before)]
    assert grown == [3, 6, 1, 1, 1], grown


def root_in_another_network_namespace():
    """Another namespace has its own counters, and only its administrator may enable
    periodic events there."""
    before = counts()
    for become, answered in [([], 0), (["setpriv", "--reuid", "1000"], -errno.EPERM)]:
        done = subprocess.run(["unshare", "-n", *become, sys.executable, __file__, "counts"],
                              capture_output=True, text=True, timeout=60, check=False)
        wanted = f"[0, 0, 0, 0, 0]\n[1, 1, 0, 0, 0]\n{answered}\n"
        assert done.stdout == wanted, (done.stdout, done.stderr)
    assert counts() == before


def main():
    assert FAMILY, "there is no family strata_echo; insmod strata_echo.ko"
    if sys.argv[1:] == ["counts"]:
        print(counts())
        echoes("x")
        print(counts())
        print(ask(period(10)).errno)
        return
    prefixes = ("test_", "root_") if ROOT else ("test_",)
    tests = [(name, test) for name, test in globals().items() if name.startswith(prefixes)]
    failed = []
    for name, test in tests:
        try:
            test()
            echoes()
        except (AssertionError, OSError, LookupError):
            failed.append(name)
            print(f"uid {os.geteuid()}: {name}: {traceback.format_exc()}", flush=True)
    if failed:
        sys.exit(f"{len(failed)} of {len(tests)} failed: {', '.join(failed)}")
    print(f"all {len(tests)} answered as they should")


if __name__ == "__main__":
    main()
