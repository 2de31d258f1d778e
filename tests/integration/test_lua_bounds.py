"""Scripts that request far too much get what is available, or an error."""

from lua_console import LuaConsole
from strata_daemon import eventually
from talker import TextTalker as Talker


def test_what_is_kept_with_a_client_is_bounded(daemon, scripted):
    """A script that stores data under each name that a client sends does not take ever more
    memory."""
    url = scripted("""
        function on_message(message, id)
          local kept, joined = 0, 0
          local more = function() self.set_data(id, 'k' .. kept, ('x'):rep(1e5)) end
          while pcall(more) do kept = kept + 1 end
          while pcall(self.join_group, id, message .. joined) do joined = joined + 1 end
          self.set_data(id, 'k0')
          self.send(id, kept .. ' ' .. joined .. ' ' .. tostring(pcall(more)) .. ' '
                    .. #self.get_data(id, 'k1') .. ' ' .. tostring(self.leave_group(id, message)))
        end""", lua_time=10)
    with Talker(url) as ann, Talker(url) as bob:
        ann.say("a")
        assert ann.hear() == "10 10000 true 100000 false"
        bob.say("b" * 1025)
        assert bob.hear() == "10 0 true 100000 false"


def test_a_wait_of_no_number_is_an_error_and_a_long_one_waits(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          self.send(id, tostring(pcall(strata.sleep, 0 / 0)))
          strata.sleep(-5)
          strata.shared.set('long', 1, 1e300)
          strata.shared.set('gone', 1, -1e300)
          self.send(id, tostring(strata.shared.get('long')) .. ' '
                    .. tostring(strata.shared.get('gone')))
          strata.sleep(1e300)
          self.send(id, 'too soon')
        end""")
    with Talker(url) as ann:
        ann.say("go")
        assert ann.hear() == "false"
        assert ann.hear() == "1 nil"
        eventually(lambda: daemon.stats("web")["script"]["waiting"] == 1, "it waits")
        assert not ann.has_something()


def test_one_message_beyond_the_memory_costs_the_others_nothing(daemon, scripted):
    """A function that exceeds --lua-memory leaves only garbage, which is collected."""
    url = scripted("""
        function on_message(message, id)
          local words = {}
          for word in message:gmatch('%S+') do words[#words + 1] = word .. ' ' end
          self.send(id, #words)
        end""", lua_memory=8 << 20, lua_time=10, max_message=1 << 20)
    with Talker(url) as ann, Talker(url) as bob:
        for _ in range(3):
            bob.say(" ".join(f"{n:x}" for n in range(180_000)))
            for _ in range(20):
                ann.say("one two three")
                assert ann.hear() == "3"
    eventually(lambda: daemon.logged("web", "not enough memory"), "the limit was met")


def test_an_argument_that_cannot_be_taken_is_named(daemon, tmp_path):
    """No function ends the daemon, reads memory out of bounds, or raises an unrelated exception."""
    console = LuaConsole(daemon, tmp_path)
    assert console.run("return strata.json.encode({1}, 2)")[0] == "[\n  1\n]"
    for indent in ("17", "100000", "1e9", "2^53"):
        assert "argument 2 (indent)" in console.fails(f"strata.json.encode({{1}}, {indent})")
        assert "argument 2 (indent)" in console.fails(f"strata.json_encode({{{{1}}}}, {indent})")
    assert "argument 1 (value)" in console.fails("strata.json.encode({x = '\\255'})")
    assert "argument 3 (options)" in console.fails(
        "strata.create('server', 'x', {listen = {'tcp://127.0.0.1:0'}, group = '\\255'})")
    assert "argument 2 (options)" in console.fails("strata.edit('console', {['\\255'] = 1})")
    console.run("strata.log({x = {'\\255'}}) strata.log({'\\255', {a = '\\254'}})")
    url = "url = 'http://127.0.0.1:1/'"
    for header in ("A = {{'\\255'}}", "A = {b = 1}", "A = {strata.json.null}"):
        assert "header field 'A'" in console.fails(f"strata.http{{{url}, headers = {{{header}}}}}")
    for name in ("localhost\\0x", "127.0.0.1\\0.example.com"):
        assert "NUL" in console.run(f"return strata.resolve('{name}')")[1]


def test_why_on_start_failed_is_said_where_it_is_asked(daemon, tmp_path):
    """A runtime that is not created has no log, so the reason is in the reply to the caller."""
    path = tmp_path / "s.lua"
    path.write_text("function on_start()\n  error('no key')\nend\n")
    done = daemon.run("create", "server", "s", "-p", "0", "--local", "--lua", path, "-s")
    assert done.returncode == 2 and "s.lua:2: no key" in done.stderr, done.stderr
