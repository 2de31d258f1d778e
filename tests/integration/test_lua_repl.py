"""strata lua repl: lines that a person types, run in a running script."""

import json
import threading

import pytest

from strata_daemon import eventually
from terminal import Terminal


SCRIPT = """
count = 0
function on_message(message, id) count = count + 1 end
function add(a, b) return a + b end
"""


@pytest.fixture
def scripted(daemon, tmp_path):
    path = tmp_path / "web.lua"
    path.write_text(SCRIPT)
    daemon.create("server", "web", listen=["tcp://127.0.0.1:0"], lua=str(path), lua_time=0.2)
    return daemon


def lines(daemon, text, *flags):
    return daemon.run("lua", "repl", "web", *flags, given=text)


def test_expressions_and_statements(scripted):
    def gives(line):
        return scripted.cli("lua", "repl", "web", "-e", line)

    assert gives("1+1") == "2\n"
    assert gives("add(2, 3), 'text', nil, true") == "5\ntext\nnil\ntrue\n"
    assert gives("{a = {1, 2}, b = 'x'}") == '{"a":[1,2],"b":"x"}\n'
    assert gives("x = {} x.x = 1") == ""
    assert gives("x.x, count") == "1\n0\n"
    assert gives("add").startswith("function: ") and gives("{add}").startswith("table: ")
    assert gives("setmetatable({}, {__tostring = function() return 'mine' end})") == "mine\n"
    assert gives("print('one', 2) print('three') return 4") == "one\t2\nthree\n4\n"
    assert gives("strata.sleep(0.05) return self.name") == "web\n"
    assert gives("function later() print('later') end") == ""
    assert gives("strata.set_timeout(0, later)") in ("1\n", "2\n")
    eventually(lambda: scripted.logged("web", "later"), "the log has it")
    eventually(lambda: scripted.logged("web", "evaluates: 1+1"), "the log has it")
    assert scripted.cli("lua", "repl", "web", "-e", "y = 5", "-e", "y + 1") == "6\n"
    assert json.loads(scripted.cli("lua", "repl", "web", "-e", "print(1) return 2", "--format",
                                   "json")) == {"values": ["2"], "output": ["1"]}


def test_lines_of_standard_input(scripted):
    done = lines(scripted, "a = 1\n\na + 1\nfunction twice(n)\n  return 2 * n\nend\ntwice(21)\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n42\n", "")
    done = lines(scripted, "error('oh')\n1\n")
    assert done.returncode == 1 and done.stdout == "1\n"
    assert "line:1: oh\n  stack traceback:" in done.stderr
    done = lines(scripted, "= 1\n")
    assert done.returncode == 1 and "unexpected symbol" in done.stderr
    done = lines(scripted, "function f()\n")
    assert done.returncode == 1 and "'end' expected" in done.stderr
    assert lines(scripted, "").returncode == 0
    assert scripted.stats("web")["script"]["errors"] == 1  # a syntax error does not count


def test_a_line_that_never_ends_is_stopped_and_one_that_waits_is_left(scripted):
    done = lines(scripted, "while true do end\n")
    assert done.returncode == 1 and "the handler was stopped" in done.stderr
    done = lines(scripted, "setmetatable({}, {__tostring = function() while true do end end})\n")
    assert done.returncode == 1 and "the handler was stopped" in done.stderr
    status, answer = scripted.exchange("POST", "/v1/runtimes/web/eval-lua?timeout=0.05",
                                       b"strata.sleep(0.3) print('it went on')")
    assert status == 504 and b"waits for longer" in answer
    eventually(lambda: scripted.logged("web", "it went on"), "the log has it")
    assert scripted.exchange("POST", "/v1/runtimes/web/eval-lua?timeout=x", b"1")[0] == 400
    done = lines(scripted, "'\\255\\27[2J'\n")
    assert done.returncode == 0


def test_reload_and_stop_end_what_waits(scripted):
    given = []

    def ask(line):
        given.append(scripted.ask("POST", "/v1/runtimes/web/eval-lua", line.encode()))

    for act in ("stop", "restart"):
        waiting = threading.Thread(target=ask, args=("strata.sleep(1000)",))
        waiting.start()
        eventually(lambda: scripted.stats("web")["script"]["waiting"] == 1, "it waits")
        scripted.act("web", act)
        waiting.join()
        assert given.pop() == {"error": "the script was ended"}
        scripted.act("web", "start")
    # The call continues in the script from before the reload.
    waiting = threading.Thread(target=ask, args=("strata.sleep(2) return 'old'",))
    waiting.start()
    eventually(lambda: scripted.stats("web")["script"]["waiting"] == 1, "it waits")
    scripted.cli("reload-lua", "web")
    waiting.join()
    assert given.pop()["values"] == ["old"]
    # The line may wait for the end of its own runtime.
    ask("strata.stop(self.name)")
    assert given.pop() == {"error": "the script was ended"}
    eventually(lambda: scripted.show("web")["state"] == "stopped", "it has stopped")
    assert scripted.run("lua", "repl", "web", "-e", "1").returncode == 1


def test_where_there_is_no_script(daemon, scripted):
    daemon.create("server", "plain", listen=["tcp://127.0.0.1:0"])
    daemon.create("cache", "store", listen=["tcp://127.0.0.1:0"])
    for name in ("plain", "store"):
        done = daemon.run("lua", "repl", name, "-e", "1")
        assert done.returncode == 1 and "runs no script" in done.stderr
    assert daemon.run("lua", "repl", "nobody", "-e", "1").returncode == 3


def test_at_a_terminal(scripted):
    with Terminal(scripted, "lua", "repl", "web", TERM="dumb") as terminal:
        terminal.shows(b"web> ")
        for typed, shown in ((b"1 + 41", b"42"), (b"function f()", b">> "),
                             (b"return 'typed' end", b"web> "),
                             (b"f() .. ' twice'", b"typed twice"),
                             (b"'\\27[2J'", b"\\x1b[2J"), (b"error('oh')", b"stack traceback")):
            terminal.screen = b""
            terminal.type(typed + b"\n")
            terminal.shows(shown)
        terminal.type(b"\x04")
        assert terminal.exit_code() == 0
