"""A cache's description of its commands, compared with redis-server's."""

import pytest
import redis as redis_py

from resp_wire import Wire
from test_cache import new_cache

pytestmark = pytest.mark.once


def raw_client(port):
    client = redis_py.Redis(port=port)
    # redis-py would convert COMMAND's replies.
    client.set_response_callback("COMMAND", lambda reply, **_: reply)
    return client


def table(port):
    """Returns name -> (arity, flags, first, last, step, categories, key specifications)"""
    rows = {}

    def read(row):
        name, arity, flags, first, last, step, categories, _, keys, subcommands = row
        rows[name.decode()] = (arity, set(flags), first, last, step, set(categories), keys)
        for each in subcommands:
            read(each)

    for row in raw_client(port).execute_command("COMMAND"):
        read(row)
    return rows


def test_every_command_has_the_arity_flags_and_keys_of_redis(daemon, redis):
    ours = table(new_cache(daemon, "--redis-version", "7.0"))
    theirs = table(redis.port)
    names = ("arity", "flags", "first key", "last key", "step", "categories", "key specifications")
    wrong = [f"{name}: {what} is {our!r}, and redis has {their!r}"
             for name in sorted(ours) if name in theirs
             for what, our, their in zip(names, ours[name], theirs[name]) if without_notes(
                 our) != without_notes(their)]
    assert not wrong, "\n".join(wrong)
    assert set(ours) <= set(theirs), f"redis has no {sorted(set(ours) - set(theirs))}"
    missing = sorted(set(theirs) - set(ours))
    assert not missing, f"a cache lacks {missing}"


def without_notes(keys):
    """Returns the key specifications without the notes that some of them carry."""
    if not isinstance(keys, list):
        return keys
    return [[[name, value] for name, value in zip(spec[::2], spec[1::2]) if name != b"notes"]
            for spec in keys]


def test_docs_name_every_command_and_what_it_is_for(daemon):
    client = raw_client(new_cache(daemon))
    docs = client.execute_command("COMMAND", "DOCS")
    names = {row[0] for row in client.execute_command("COMMAND")}
    assert set(docs[::2]) == names
    for name, about in zip(docs[::2], docs[1::2]):
        fields = dict(zip(about[::2], about[1::2]))
        assert fields[b"summary"] and fields[b"since"] and fields[b"group"], name


def test_keys_of_a_command_are_found(daemon):
    client = raw_client(new_cache(daemon))

    def keys(*words):
        return client.execute_command("COMMAND", "GETKEYS", *words)

    assert keys("GET", "a") == [b"a"]
    assert keys("MSET", "a", 1, "b", 2) == [b"a", b"b"]
    assert keys("LMPOP", 2, "a", "b", "LEFT") == [b"a", b"b"]
    assert keys("LMOVE", "a", "b", "LEFT", "LEFT") == [b"a", b"b"]
    assert keys("SORT", "a", "BY", "w*", "STORE", "b") == [b"a", b"b"]
    assert keys("SORT_RO", "a", "GET", "w*") == [b"a"]
    assert keys("LCS", "a", "b", "LEN") == [b"a", b"b"]
    for words in (["PING", "x"], ["SSUBSCRIBE", "a", "b"]):
        with pytest.raises(redis_py.ResponseError, match="no key arguments"):
            keys(*words)


KEYS = """
get a|set a b|set a b get|set a b ex get|mset a 1 b 2|lmove a b left left|smove a b m
zunionstore d 2 a b|zunionstore d 2 a|zunionstore d x a|lmpop 2 a b left|object encoding a
memory usage a|bitfield a get u8 0|bitfield a get u8 0 set u8 0 1|bitfield a overflow wrap get u8 0
bitfield a get u8|bitfield_ro a get u8 0|sort a|sort a store x store y|sort a by x store
sort a limit 0 1 store y|sort a by store store y|sort a get store store y|sort_ro a get store
getdel a|getex a|rename a b|copy a b|del a b c|restore a 0 x|ping x|nosuch x|get
blmove a b left left 0|xread streams a b 0 0|xread count 1 streams a 0|xread streams a b 0
xreadgroup group g c count 1 streams a b > >|xread streams|xread block 0 streams a b c 0 0 0
migrate h 1 k 0 0|migrate h 1 k 0 0 copy|migrate h 1 k 0 0 keys a b
migrate h 1 k 0 0 auth keys|migrate h 1|restore-asking a 0 x
"""

# The single key of MIGRATE is then empty.
MIGRATED = ["keys a b", "auth keys keys a b", "auth2 keys keys keys a", "copy keys keys a",
            "replace", "keys", "auth x keys"]


def test_keys_and_how_they_are_used_are_told_as_redis_tells_them(daemon, redis):
    ours, theirs = Wire(new_cache(daemon), 3), Wire(redis.port, 3)
    for call in KEYS.strip().replace("\n", "|").split("|"):
        for subcommand in ("GETKEYS", "GETKEYSANDFLAGS"):
            words = ["COMMAND", subcommand, *call.split()]
            assert ours.ask(*words) == theirs.ask(*words), words
        for options in MIGRATED:
            words = ["COMMAND", subcommand, "migrate", "h", 1, "", 0, 0, *options.split()]
            assert ours.ask(*words) == theirs.ask(*words), words


def test_a_cache_says_that_it_is_no_node_of_a_cluster(daemon, redis):
    ours, theirs = Wire(new_cache(daemon)), Wire(redis.port)
    for call in ("READONLY|READWRITE|ASKING|CLUSTER|CLUSTER INFO|CLUSTER SLOTS|CLUSTER SHARDS|"
                 "CLUSTER NODES|CLUSTER MYID|CLUSTER KEYSLOT k|CLUSTER KEYSLOT|CLUSTER HELP|"
                 "CLUSTER NOSUCH|CLUSTER RESET HARD|READONLY now").split("|"):
        assert ours.ask(*call.split()) == theirs.ask(*call.split()), call


def test_commands_that_a_cache_can_only_refuse_are_refused_as_in_redis(daemon, redis):
    ours, theirs = Wire(new_cache(daemon)), Wire(redis.port)
    for call in ("MODULE|MODULE LIST|MODULE LIST x|MODULE LOAD|MODULE LOAD /x|MODULE LOAD /x a|"
                 "MODULE LOADEX /x|MODULE LOADEX /x CONFIG a|MODULE UNLOAD x|MODULE UNLOAD|"
                 "MODULE BAD|MODULE HELP x|RESTORE-ASKING|RESTORE-ASKING k 0 x|LOLWUT VERSION x|"
                 "LOLWUT VERSION 5 x|LOLWUT VERSION 6 1 x|CLIENT KILL TYPE bad|"
                 "CLIENT LIST TYPE bad|CLIENT KILL TYPE replica|CLIENT KILL TYPE slave|"
                 "CLIENT KILL TYPE master|CLIENT KILL TYPE pubsub").split("|"):
        assert ours.ask(*call.split()) == theirs.ask(*call.split()), call


def test_errors_show_a_name_up_to_its_first_nul(daemon, redis):
    ours, theirs = Wire(new_cache(daemon)), Wire(redis.port)
    for words in ([b"CONFIG", b"a\0b"], [b"NO\0SUCH", b"a\0b", b"x"],
                  [b"CONFIG", b"\0"], [b"CONFIG", b"x" * 200],
                  [b"CONFIG", b"a\r\nb"], [b"x" * 200, b"y" * 200],
                  [b"x", b"y" * 100, b"z" * 100, b"q"], [b"DEBUG", b"b\0ad"], [b"\0"],
                  [b"PUBSUB", b"CHANNELS", b"a", b"b\0c"], [b"x", b"\0y", b"z" * 200, b"w"]):
        assert ours.ask(*words) == theirs.ask(*words), words


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_picture_has_the_size_that_is_asked_for_and_the_version(daemon, redis, protocol):
    ours, theirs = Wire(new_cache(daemon), protocol), Wire(redis.port, protocol)
    last = theirs.ask("LOLWUT").split(b"\n")[-3]
    assert last.endswith(b"Redis ver. 7.0.15")
    for words, columns, rows in [((), 66, 12), (("VERSION", 5, 10, 3), 10, 3),
                                 (("version", 6, 1, 1), 1, 1), (("VERSION", 5, 0, -5), 1, 1),
                                 (("VERSION", 5, 10**9, 10**9), 1000, 200), ((b"x", 5), 66, 12),
                                 (("VERSION",), 66, 12), (("VERSION", 7, "x"), 66, 12)]:
        reply = ours.ask("LOLWUT", *words)
        assert reply[:1] == theirs.ask("LOLWUT", *words)[:1]
        lines = reply.split(b"\r\n", 1)[1].removeprefix(b"txt:").removesuffix(b"\r\n").split(b"\n")
        assert lines[-2:] == [b"Redis ver. 7.0.15", b""]
        assert [len(line) for line in lines[:-3]] == [columns] * rows, words
