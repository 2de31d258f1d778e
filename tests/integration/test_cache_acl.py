"""Users and their permissions: each request to a cache and to a real redis-server, byte for
byte."""

import random
import re
import subprocess

import pytest
import redis as redis_py

from resp_wire import RedisServer, Wire, split_replies
from strata_daemon import Refused, eventually
from twin_servers import new_seed

pytestmark = pytest.mark.once



def new_cache(daemon, name="db", **options):
    """Returns its port."""
    [url] = daemon.create("cache", name, listen=["tcp://127.0.0.1:0"], resp=True,
                          **options)["endpoints"]
    return int(url.rsplit(":", 1)[1])


# Each line is a request, after the name of its connection.
STORY = """
0 ACL WHOAMI|0 ACL LIST|0 ACL USERS|0 ACL GETUSER default|0 ACL GETUSER nobody|0 ACL CAT
0 ACL|0 ACL NOSUCH|0 ACL WHOAMI x|0 ACL CAT nosuch|0 ACL CAT read x|0 ACL SETUSER|0 ACL DELUSER
0 ACL DELUSER default|0 ACL DELUSER a default|0 ACL DELUSER nobody|0 ACL GENPASS 0
0 ACL GENPASS 4097|0 ACL GENPASS x|0 ACL LOAD|0 ACL SAVE|0 ACL LOG|0 ACL LOG x|0 ACL LOG -1
0 ACL SETUSER a|0 ACL GETUSER a|0 ACL SETUSER a on >pw ~x* %R~y* %W~z* %rw~q* &c* +get|0 ACL LIST
0 ACL GETUSER a|0 ACL SETUSER a (+set ~s*) (%R~foo &ch +@hash)|0 ACL GETUSER a|0 ACL LIST
0 ACL SETUSER a +@all -get|0 ACL LIST|0 ACL SETUSER a +get|0 ACL LIST|0 ACL SETUSER a -config|set
0 ACL LIST|0 ACL SETUSER a -config|0 ACL LIST|0 ACL SETUSER a clearselectors|0 ACL LIST
0 ACL SETUSER a +config|set|x|0 ACL SETUSER a -get|x|0 ACL SETUSER a +nosuch|0 ACL SETUSER a +@no
0 ACL SETUSER a +get||0 ACL SETUSER a +|0 ACL SETUSER a -|0 ACL SETUSER a +@|0 ACL SETUSER a +|x
0 ACL SETUSER a +set|x|y|0 ACL SETUSER a +config||0 ACL SETUSER a -config||0 ACL SETUSER a nosuch
0 ACL SETUSER a ~*|0 ACL SETUSER a ~z|0 ACL SETUSER a allkeys ~z|0 ACL SETUSER a %R~*|0 ACL LIST
0 ACL SETUSER a resetkeys ~a ~a %R~a %W~b %R~b|0 ACL LIST|0 ACL SETUSER a %~a|0 ACL SETUSER a %X~a
0 ACL SETUSER a %RR~a|0 ACL SETUSER a &* &z|0 ACL SETUSER a allchannels &z|0 ACL SETUSER a <nopw
0 ACL SETUSER a !abc|0 ACL SETUSER a #abc|0 ACL SETUSER a (+get|0 ACL SETUSER a )
0 ACL SETUSER a (on)|0 ACL SETUSER a (+nosuch)|0 ACL SETUSER a (~* ~x)|0 ACL SETUSER a (~a (~b))
0 ACL SETUSER a ()|0 ACL SETUSER a ( ~k +get )|0 ACL LIST|0 ACL SETUSER a reset|0 ACL LIST
0 ACL SETUSER a skip-sanitize-payload nopass ON|0 ACL LIST|0 ACL GETUSER a|0 ACL DELUSER a
0 ACL SETUSER s -@all +select|A +select|b|0 ACL GETUSER s|0 ACL SETUSER s -@all +select|1 +select
0 ACL GETUSER s|0 ACL SETUSER s -@all +config|get +config -config|set|0 ACL GETUSER s
0 ACL SETUSER s -@all +config|get -config|get|0 ACL GETUSER s|0 ACL SETUSER s +GeT +CONFIG|GET
0 ACL DELUSER s
0 ACL SETUSER b on >b ~r* +get +set +mset &c +publish +psubscribe +subscribe +multi +exec +eval
0 ACL SETUSER b +ping +acl|whoami +sort +select|1 +hello +config|get +copy +rename +exists +touch
0 ACL SETUSER b +bitfield +bitfield_ro +unsubscribe +xread +zunionstore +watch +discard +spublish
1 AUTH b x|1 AUTH nobody x|1 AUTH b b|1 ACL WHOAMI|1 GET x|1 GET r|1 DEL r|1 CONFIG GET hz x
1 CONFIG SET maxclients 100|1 CONFIG NOSUCH|1 ACL LIST|1 SELECT 1|1 SELECT 0|1 SELECT|1 EXISTS x
1 SUBSCRIBE d|1 PSUBSCRIBE c*|1 PUBLISH d x|1 PUBLISH c x|1 SPUBLISH d x|1 SPUBLISH c x|1 NOSUCH
1 GET|1 RENAME r x|1 COPY r x|1 MSET r 1 x 2|1 ZUNIONSTORE r 1 x|1 ZUNIONSTORE r 9 r|1 TOUCH r x
1 XREAD STREAMS x 0|1 XREAD STREAMS r 0|1 BITFIELD x GET u8 0|1 BITFIELD_RO x GET u8 0
1 SORT r BY w*|1 SORT r GET r*|1 SORT r GET #|1 SORT r BY nosort|1 SORT r STORE x
1 MULTI|1 GET r|1 GET x|1 EXEC|1 MULTI|1 GET r|1 SET r 1|1 PUBLISH c x
0 ACL SETUSER b -get resetkeys resetchannels|1 EXEC|0 ACL SETUSER b +get ~r* &c
1 MULTI|1 WATCH r|1 DISCARD|1 AUTH b|1 HELLO 2 AUTH b x|1 HELLO 2 AUTH b b|1 PING
0 ACL LOG|0 ACL LOG 2|0 ACL LOG 0|0 ACL LOG RESET|0 ACL LOG
1 SUBSCRIBE c|0 ACL SETUSER b resetchannels|1 PING
2 AUTH b b|0 ACL SETUSER b off|2 PING|2 AUTH b b|0 ACL SETUSER b on|2 AUTH b b|0 ACL DELUSER b
2 PING
3 MULTI|3 AUTH nobody x|3 EXEC|0 ACL LOG
0 ACL DRYRUN nobody get x|0 ACL DRYRUN default get x|0 ACL DRYRUN default get
0 ACL DRYRUN default nosuch|0 ACL DRYRUN default get a b
0 ACL SETUSER m ~a* %R~b* (~b* +set) (+set ~c &d +publish) +get +mget
0 ACL DRYRUN m get a|0 ACL DRYRUN m get b|0 ACL DRYRUN m get c|0 ACL DRYRUN m set b 1
0 ACL DRYRUN m set c 1|0 ACL DRYRUN m set d 1|0 ACL DRYRUN m mget a b c|0 ACL DRYRUN m publish d x
0 ACL DRYRUN m publish e x|0 ACL DRYRUN m del a|0 ACL DRYRUN m set c 1 GET
0 ACL SETUSER n on nopass +client +multi +acl|0 CLIENT KILL USER nosuch|0 CLIENT KILL USER n
4 AUTH n x|0 CLIENT KILL USER n|4 PING
0 CONFIG GET acllog*|0 CONFIG SET acl-pubsub-default allchannels|0 ACL SETUSER q|0 ACL GETUSER q
0 ACL SETUSER q reset|0 ACL GETUSER q|0 CONFIG SET acl-pubsub-default x
0 CONFIG SET acl-pubsub-default resetchannels|0 CONFIG SET acllog-max-len 1|0 CONFIG GET masteruser
0 ACL SETUSER default resetpass
0 ACL GETUSER default|5 PING|5 GET|5 NOSUCH|5 ACL WHOAMI|5 AUTH x|0 ACL LOG
0 CONFIG SET requirepass foo|0 ACL GETUSER default|0 CONFIG GET requirepass|5 AUTH foo|5 PING
5 RESET|5 PING|5 AUTH default foo|5 ACL WHOAMI|0 ACL SETUSER default >bar|6 AUTH bar|6 PING
0 ACL SETUSER default nopass|0 CONFIG GET requirepass|6 AUTH x|7 PING
0 CONFIG SET requirepass ""|0 ACL GETUSER default|0 ACL SETUSER default off|8 PING|8 AUTH default x
8 HELLO 3|8 QUIT|0 ACL SETUSER default on|0 ACL SETUSER default -acl|0 ACL WHOAMI
""".strip().replace("\n", "|")


def story():
    """Returns pairs of a connection's name and a request."""
    # A bar within a rule is not the end of a request.
    for line in re.split(r"\|(?=\d [A-Z])", STORY):
        name, request = line.split(" ", 1)
        yield name, [word.strip('"') for word in request.split(" ")]


def without_figures(reply):
    """Returns a reply without what differs between two servers."""
    reply = re.sub(rb"(age-seconds\r\n)(\$\d+\r\n|,)[0-9.e-]+\r\n", rb"\1", reply)
    reply = re.sub(rb"id\r\n:\d+", b"id", reply)
    return re.sub(rb"\$\d+\r\nid=\d+.*? (cmd=\S+ user=\S*) .*?\r\n", rb"\1\r\n", reply)


class Conversation:
    """Connections by name to one server; each reply is awaited before the next request."""

    def __init__(self, port, protocol):
        self.port, self.protocol, self.wires = port, protocol, {}

    def ask(self, name, words):
        if name not in self.wires:
            self.wires[name] = Wire(self.port)
            # Before a password is needed.
            if self.protocol == 3 and name == "0":
                self.wires[name].ask("HELLO", "3")
        try:
            self.wires[name].send(*words)
            return self.wires[name].receive()
        except (AssertionError, ConnectionError):
            self.wires.pop(name).close()
            return b"closed"

    def close(self):
        for each in self.wires.values():
            each.close()


@pytest.fixture(params=[2, 3])
def conversations(daemon, redis, request):
    both = [Conversation(port, request.param) for port in (new_cache(daemon), redis.port)]
    yield both
    for each in both:
        each.close()


def test_each_request_gets_the_bytes_of_redis(conversations):
    ours, theirs = conversations
    for name, words in story():
        our, their = (without_figures(each.ask(name, words)) for each in (ours, theirs))
        assert our == their, (name, words)


SCRIPTS = [
    "return redis.call('sort', 'r', 'by', 'w*')", "return redis.call('sort', 'r', 'get', 'x')",
    "return redis.call('get','x')", "return redis.call('del','r')",
    "return redis.call('publish','d','r')", "return redis.pcall('publish','d','r')",
    "return redis.pcall('get','x')", "return redis.call('get','r')",
    "return redis.acl_check_cmd('get','x')", "return redis.acl_check_cmd('get','r')",
    "return redis.acl_check_cmd('get')", "return redis.acl_check_cmd('config','get','x')",
    "return redis.acl_check_cmd('config','set','x','y')",
    "return redis.acl_check_cmd('publish','d','x')", "return redis.acl_check_cmd('nosuch')",
]


def test_a_script_may_do_what_its_user_may(conversations):
    for each in conversations:
        each.ask("0", "ACL SETUSER b on nopass ~r* +get +eval +fcall +sort &c +publish +config|get"
                      .split(" "))
        each.ask("0", ["FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', "
                       "function() return redis.call('get', 'x') end)"])
        each.ask("1", ["AUTH", "b", "x"])
    ours, theirs = conversations
    requests = [("1", ["EVAL", script, "0"]) for script in SCRIPTS]
    requests += [("1", ["EVAL", "return redis.call('get','x')", "1", "x"]),
                 ("1", ["FCALL", "f", "0"]),
                 ("1", ["EVAL", "return redis.call('get','r')", "1", "r"]), ("0", ["ACL", "LOG"])]
    for name, words in requests:
        our, their = (without_figures(each.ask(name, words)) for each in (ours, theirs))
        assert our == their, words


def test_a_category_has_the_commands_of_redis(daemon, redis):
    ours, theirs = Wire(new_cache(daemon, redis_version="7.0")), Wire(redis.port)
    for name in redis_py.Redis(port=redis.port).acl_cat():
        our, their = (sorted(split_replies(each.ask("ACL", "CAT", name).split(b"\r\n", 1)[1]))
                      for each in (ours, theirs))
        assert our == their, name


def random_rules(chance):
    """Returns rules that a real server takes, and some that it does not."""
    commands = ("get set del config config|get config|set client client|kill select|1 select|2 "
                "select eval publish acl acl|list xinfo object|freq get|x ping hello").split()
    categories = "read write admin dangerous fast slow keyspace connection all scripting".split()
    rules = []
    for _ in range(chance.randrange(1, 12)):
        kind = chance.randrange(10)
        if kind < 4:
            rules.append(chance.choice("+-") + chance.choice(commands))
        elif kind < 6:
            rules.append(chance.choice("+-") + "@" + chance.choice(categories))
        elif kind < 7:
            rules.append(chance.choice(["~a*", "~b", "%R~c*", "%W~c*", "resetkeys", "allkeys"]))
        elif kind < 8:
            rules.append(chance.choice(["&a*", "&b", "resetchannels", "allchannels"]))
        elif kind < 9:
            rules.append(chance.choice(["on", "off", "nopass", ">x", "<x", "resetpass", "reset"]))
        else:
            rules.append(chance.choice(["(+get ~d*)", "(+@read %R~e &f)", "clearselectors"]))
    return rules


CALLS = ["get a1", "get z", "set b 1", "set c1 1", "set c1 1 get", "config get x", "config set x y",
         "client kill x", "client id", "select 1", "select 2", "select 3", "publish a1 x",
         "publish q x", "acl list", "acl whoami", "del d1", "mget a1 b c1 d1", "object freq a1",
         "eval x 1 e", "eval x 0", "hello", "get x", "xinfo stream a", "ping", "subscribe a1 f",
         "psubscribe a*", "rename a1 b"]


def test_random_rules_mean_what_they_mean_to_redis(daemon, redis):
    """The two describe commands in other words: Redis derives its rules from the commands, and the
    cache keeps the rules that it got. So the cache's description, given to Redis, must make a user
    that Redis describes like the original."""
    seed = new_seed()
    chance = random.Random(seed)
    ours, theirs = Wire(new_cache(daemon)), Wire(redis.port)
    for _ in range(250):
        for wire in (ours, theirs):
            wire.ask("ACL", "DELUSER", "u", "copy")
        for _ in range(chance.randrange(1, 4)):
            rules = random_rules(chance)
            assert ours.ask("ACL", "SETUSER", "u", *rules) == theirs.ask(
                "ACL", "SETUSER", "u", *rules), (seed, rules)
        if b"flags" not in ours.ask("ACL", "GETUSER", "u"):
            continue  # none of its rules was right
        lines = split_replies(ours.ask("ACL", "LIST").split(b"\r\n", 1)[1])
        line = next(each for each in lines if b"user u " in each)
        described = line.split(b"\r\n")[1].split(b" ", 2)[2]
        assert theirs.ask("ACL", "SETUSER", "copy", *described.split(b" ")) == b"+OK\r\n", described
        assert theirs.ask("ACL", "GETUSER", "copy") == theirs.ask("ACL", "GETUSER", "u"), (
            seed, rules, described)
        for call in CALLS:
            request = ["ACL", "DRYRUN", "u", *call.split(" ")]
            assert ours.ask(*request) == theirs.ask(*request), (seed, described, call)


@pytest.mark.parametrize("rules", [["(~a) +get)"], ["(%R~a) +get)"], ["(&a) +get)"],
                                   ["(+get +select|a))"], ["+select|a\t"]])
def test_rules_that_a_file_would_change_are_refused(daemon, rules):
    """Redis takes them, and cannot read the file that it writes."""
    wire = Wire(new_cache(daemon))
    refused = wire.ask("ACL", "SETUSER", "u", "+ping", *rules)
    assert refused.startswith(b"-ERR Error in ACL SETUSER modifier") and b"Syntax error" in refused
    assert wire.ask("ACL", "GETUSER", "u") in (b"*-1\r\n", b"$-1\r\n", b"_\r\n")


# --- files

PASSWORD = "#5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"  # "password"
ALLOWED = "-@all +@read +set +acl|whoami +ping"

LINES = f"""user alice on {PASSWORD} ~app:* %R~public:* &news {ALLOWED} (~x +del)
user bob off sanitize-payload resetchannels -@all
user default on nopass ~* &* +@all
"""

WRONG = """user u on >p ~* +nosuch
user u on
foo bar
user

user v +get ~* ~b
user w (+get
 user ok  on   +get
user tt +@nope
user on on on nosuch
user ok on
"""


def test_a_file_of_users_is_read_and_written_by_both(daemon, tmp_path):
    path = tmp_path / "users.acl"
    path.write_text(LINES)
    port = new_cache(daemon, acl_file=str(path))
    cache = redis_py.Redis(port=port, username="alice", password="password")
    assert cache.acl_whoami() == "alice"
    with pytest.raises(redis_py.exceptions.NoPermissionError):
        cache.set("other", 1)
    admin = redis_py.Redis(port=port)
    admin.acl_setuser("carol", enabled=True, passwords=["+secret"], keys=["c:*"],
                      categories=["+@write"], commands=["-flushall", "+config|get"])
    assert admin.acl_save()
    server = RedisServer(tmp_path / "redis", "--aclfile", str(path))
    try:
        theirs = redis_py.Redis(port=server.port)
        assert theirs.acl_users() == admin.acl_users() == ["alice", "bob", "carol", "default"]
        for name in theirs.acl_users():
            ours, other = admin.acl_getuser(name), theirs.acl_getuser(name)
            for each in (ours, other):
                each.pop("commands"), each.pop("categories")
            assert ours == other
        carol = redis_py.Redis(port=server.port, username="carol", password="secret")
        carol.set("c:1", "x")
        with pytest.raises(redis_py.exceptions.NoPermissionError):
            carol.flushall()
        # Redis writes the file, and the cache reads it again: its other users are disconnected.
        theirs.acl_setuser("dave", enabled=True, nopass=True, commands=["+ping"])
        assert theirs.acl_save()
        assert cache.ping()
        waiting = cache.connection_pool.get_connection("x")
        assert admin.acl_load()
        with pytest.raises(redis_py.ConnectionError):
            waiting.read_response()
        assert admin.acl_users() == ["alice", "bob", "carol", "dave", "default"]
    finally:
        server.close()


def test_wrong_lines_are_named_as_redis_names_them(daemon, tmp_path):
    path = tmp_path / "users.acl"
    path.write_text(LINES)
    port = new_cache(daemon, acl_file=str(path))
    server = RedisServer(tmp_path / "redis", "--aclfile", str(path))
    try:
        ours, theirs = Wire(port), Wire(server.port)
        for text in (WRONG, "user default on\nuser default off\n", "\n\nx\n", "user a\tb on\n",
                     "user \x01 on ~" + "k" * 100_000 + "\n"):
            path.write_text(text)
            assert ours.ask("ACL", "LOAD") == theirs.ask("ACL", "LOAD"), text[:200]
        # A selector that does not end ends this version of Redis.
        path.write_text("user a +get (x\n")
        assert b"Unmatched parenthesis" in ours.ask("ACL", "LOAD")
        users = ours.ask("ACL", "USERS")
        path.unlink()
        reply = b"-ERR Error loading ACLs, opening file '%s': " % str(path).encode()
        assert theirs.ask("ACL", "LOAD").startswith(reply)
        assert ours.ask("ACL", "LOAD").startswith(reply)
        assert users == ours.ask("ACL", "USERS")
    finally:
        server.close()
    path.write_text("user a +nosuch\n")
    with pytest.raises(Refused, match="nosuch"):
        new_cache(daemon, "second", acl_file=str(path))
    with pytest.raises(Refused, match="No such file"):
        new_cache(daemon, "third", acl_file=str(tmp_path / "nosuch"))


# --- options

HASH = "#2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # of "x"


def test_users_are_options_and_last(daemon):
    port = new_cache(daemon, "db", user=[f"alice on {HASH} ~a:* +@read +@write"], password="p")
    admin = redis_py.Redis(port=port, password="p")
    alice = redis_py.Redis(port=port, username="alice", password="x")
    alice.set("a:1", "1")
    with pytest.raises(redis_py.exceptions.NoPermissionError):
        alice.get("b")
    # A client's change lasts until the cache stops, or for good after CONFIG REWRITE.
    admin.acl_setuser("bob", enabled=True, nopass=True, commands=["+ping"])
    daemon.act("db", "restart")
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    admin = redis_py.Redis(port=port, password="p")
    assert admin.acl_users() == ["alice", "default"]
    admin.acl_setuser("bob", enabled=True, nopass=True, commands=["+ping"])
    admin.config_rewrite()
    eventually(lambda: len(daemon.show("db")["options"]["user"]) == 2, "the record has both")
    daemon.act("db", "restart")
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    admin = redis_py.Redis(port=port, password="p")
    assert admin.acl_users() == ["alice", "bob", "default"]
    # An edit takes effect at once: bob's client is disconnected, alice's goes on.
    alice = redis_py.Redis(port=port, username="alice", password="x", single_connection_client=True)
    bob = redis_py.Redis(port=port, username="bob", password="", single_connection_client=True,
                         retry=None)
    assert alice.set("a:1", "2") and bob.ping()
    daemon.edit("db", user=[f"alice on {HASH} ~c:* +@read"])
    with pytest.raises(redis_py.ConnectionError):
        bob.connection.send_command("PING")
        bob.connection.read_response()
        bob.connection.send_command("PING")
        bob.connection.read_response()
    with pytest.raises(redis_py.exceptions.NoPermissionError):
        alice.get("a:1")
    assert alice.get("c:1") is None
    assert admin.acl_users() == ["alice", "default"]


def test_what_is_no_option_cannot_be_kept(daemon):
    wire = Wire(new_cache(daemon, "db"))
    assert wire.ask("ACL", "SETUSER", "a", b"~\xff", b"+get|\xfe") == b"+OK\r\n"
    assert b"not UTF-8" in wire.ask("CONFIG", "REWRITE")
    assert daemon.show("db")["options"].get("user", []) == []
    # A long one is kept.
    assert wire.ask("ACL", "SETUSER", "a", "reset", "~" + "k" * 100_000) == b"+OK\r\n"
    assert wire.ask("CONFIG", "REWRITE") == b"+OK\r\n"
    eventually(lambda: len(daemon.show("db")["options"]["user"]) == 1, "the record has it")
    daemon.restart()
    wire = Wire(int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1]))
    assert b"k" * 100_000 in wire.ask("ACL", "GETUSER", "a")
    rules = [f"{sign}{name}" for sign in "+-+" for name in ("get", "@read", "set")] * 1000
    many = [f"+select|{number}" for number in range(3000)]
    assert wire.ask("ACL", "SETUSER", "b", *rules, *many, *rules) == b"+OK\r\n"
    assert wire.ask("ACL", "DRYRUN", "b", "SELECT", "2999") == b"+OK\r\n"
    assert b"no permissions" in wire.ask("ACL", "DRYRUN", "b", "SELECT", "3000")


@pytest.mark.parametrize("options, reason", [
    ({"user": ["a on >secret"]}, "clear text"), ({"user": ["a +nosuch"]}, "nosuch"),
    ({"user": ["a on", "a off"]}, "twice"), ({"user": [""]}, "name"),
    ({"user": ["a (+get"]}, "parenthesis"),
    ({"acl_file": "users.acl"}, "relative"), ({"user": ["a on"], "acl_file": "/x"}, "one place")])
def test_wrong_users_are_refused(daemon, options, reason):
    with pytest.raises(Refused, match=reason):
        new_cache(daemon, **options)


# --- followers

def test_a_follower_logs_in_as_a_user(daemon, redis):
    """A cache follows a Redis that has users, and Redis such a cache."""
    rules = ["on", ">secret", "+psync", "+replconf", "+ping"]
    theirs = redis_py.Redis(port=redis.port)
    theirs.execute_command("ACL", "SETUSER", "follower", *rules)
    theirs.config_set("requirepass", "p")
    theirs = redis_py.Redis(port=redis.port, password="p")
    theirs.set("k", "v")
    port = new_cache(daemon, "copy", follow=f"tcp://127.0.0.1:{redis.port}",
                     follow_user="follower", follow_password="secret")
    copy = redis_py.Redis(port=port)
    eventually(lambda: copy.get("k") == b"v", "the cache has the data")
    leader = new_cache(daemon, "leader", password="p")
    ours = redis_py.Redis(port=leader, password="p")
    ours.execute_command("ACL", "SETUSER", "follower", *rules)
    ours.set("other", "w")
    theirs.config_set("masteruser", "follower")
    theirs.config_set("masterauth", "secret")
    theirs.replicaof("127.0.0.1", leader)
    eventually(lambda: theirs.get("other") == b"w", "redis has the data")


# --- hostile input

def test_many_users_selectors_and_denials_cost_little(daemon):
    wire = Wire(new_cache(daemon))
    wire.ask_all([("ACL", "SETUSER", f"user{i}", "on", f">p{i}", f"~{i}:*", "+@read", "-@admin")
                  for i in range(2000)])
    assert wire.ask("ACL", "USERS").startswith(b"*2001\r\n")
    selectors = [f"(+get ~{i})" for i in range(3000)]
    wire.ask("ACL", "SETUSER", "wide", "on", "nopass", "+echo", *selectors)
    other = Wire(int(wire.socket.getpeername()[1]))
    assert other.ask("AUTH", "wide", "x") == b"+OK\r\n"
    assert other.ask("GET", "2999") == b"$-1\r\n"
    other.ask_all([("GET", f"no{i}") for i in range(3000)])
    assert wire.ask("ACL", "LOG", "1000").startswith(b"*128\r\n")
    assert wire.ask("ACL", "SETUSER", "wide", "~" + "a*" * 200_000) == b"+OK\r\n"
    assert b"NOPERM" in other.ask("GET", "a" * 200_000 + "b")
    for word in ("\0", "a\0b", " ", "a\nb", "a\rb"):
        assert wire.ask("ACL", "SETUSER", word).startswith(b"-ERR Usernames can't")
        for sign in ("~", "&", "%R~", "+get|"):
            assert wire.ask("ACL", "SETUSER", "x", sign + word).startswith(b"-ERR Error in ACL")
    assert wire.ask("PING") == b"+PONG\r\n"


def test_redis_cli_logs_in_as_a_user(daemon):
    port = new_cache(daemon, user=[f"alice on {HASH} ~a:* +@all"])
    done = subprocess.run(["redis-cli", "-p", str(port), "--user", "alice", "--pass", "x",
                           "--no-auth-warning", "ACL", "WHOAMI"], capture_output=True, text=True,
                          timeout=60)
    assert done.stdout == "alice\n" and not done.stderr


def test_secrets_are_in_no_log(daemon):
    wire = Wire(new_cache(daemon))
    wire.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
    wire.ask("ACL", "SETUSER", "a", "on", ">geheim", "+@all")
    wire.ask("AUTH", "a", "geheim")
    wire.ask("HELLO", "2", "AUTH", "default", "geheim")
    wire.ask("CONFIG", "SET", "masteruser", "geheim", "masterauth", "geheim")
    assert b"geheim" not in wire.ask("SLOWLOG", "GET", "100") + wire.ask("ACL", "LOG")
