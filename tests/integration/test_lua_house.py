"""strata run FILE: runtimes as a Lua file describes them."""

import json

import pytest

from strata_daemon import eventually
from talker import free_port

pytestmark = pytest.mark.once


@pytest.fixture
def house(daemon, tmp_path):
    """Returns a function that runs a file with that text; returns its exit code, output and
    errors."""
    path = tmp_path / "house.lua"

    def run(text, *flags):
        path.write_text(text)
        done = daemon.run("run", path, *flags)
        return done.returncode, done.stdout, done.stderr

    run.path = path
    return run


def test_a_file_that_describes_nothing_says_so(house):
    code, output, complaint = house("runtime = {{type = 'server', name = 's', port = 0}}")
    assert (code, output) == (0, "") and "strata.create(TYPE, NAME, OPTIONS)" in complaint
    assert "no list 'runtimes'" in complaint
    assert house("local all = strata.list()") == (0, "", "")
    assert house("x = 1", "-q") == (0, "", "")


def test_a_file_that_runs_twice_changes_nothing(daemon, house, tmp_path):
    (tmp_path / "echo.lua").write_text("function on_message(m, id) self.send(id, m) end")
    port = free_port()
    text = f"""
        print('a house')
        strata.create('cache', 'store', {{listen = 'tcp://127.0.0.1:0', resp = true, group = 'g'}})
        strata.create('server', 'chat', {{port = {port}, ['local'] = true, lua = 'echo.lua',
                                          max_message = '64KiB', idle_timeout = '5m', group = 'g'}})
        strata.create('client', 'ear', {{target = '127.0.0.1:{port}', reconnect = 0,
                                         start = false}})
    """
    assert house(text, "--dry-run") == (
        0, "a house\nstore: would be created\nchat: would be created\near: would be created\n", "")
    assert daemon.names() == []
    assert house(text) == (0, "a house\nstore: created\nchat: created\near: created\n", "")
    assert [daemon.show(name)["state"] for name in ("store", "chat", "ear")] == [
        "running", "running", "created"]
    chat = daemon.show("chat")
    assert chat["options"]["lua"] == str(tmp_path / "echo.lua")
    assert chat["options"]["max_message"] == 65536 and chat["options"]["idle_timeout"] == 300
    events = len(daemon.cli("events").splitlines())
    for _ in range(2):
        assert house(text) == (
            0, "a house\nstore: unchanged\nchat: unchanged\near: unchanged\n", "")
    assert len(daemon.cli("events").splitlines()) == events
    changed = text.replace("64KiB", "32KiB").replace("'5m', group = 'g'", "'5m', threads = 2")
    changed = changed.replace("'g'", "'h'")
    said = ("a house\nstore: {}changed: group\nchat: {}changed: max_message, threads (from the "
            "next start, 'strata restart chat': threads)\near: unchanged\n")
    assert house(changed, "--dry-run") == (0, said.format("would be ", "would be "), "")
    assert daemon.show("chat")["options"]["max_message"] == 65536
    assert house(changed) == (0, said.format("", ""), "")
    assert daemon.show("chat")["options"]["max_message"] == 32768
    code, output, _ = house(changed.replace("threads = 2", "threads = 3"), "--restart")
    assert code == 0 and "chat: changed and restarted: threads\n" in output
    daemon.act("chat", "stop")
    shown = json.loads(house(changed.replace("threads = 2", "threads = 3"), "--format", "json")[1])
    assert [(each["name"], each["what"]) for each in shown] == [
        ("store", "unchanged"), ("chat", "unchanged"), ("chat", "started"), ("ear", "unchanged")]
    assert house("", "-q") == (0, "", "")


def test_the_other_orders(daemon, house):
    daemon.create("server", "old", listen=["tcp://127.0.0.1:0"], protocol="raw")
    text = """
        for _, each in ipairs(strata.list()) do print(each.name .. ' ' .. each.state) end
        assert(strata.get('none') == nil)
        print(strata.get('old').type, strata.send('old', 'hello'))
        strata.edit('old', {group = 'x'})
        strata.stop('old') strata.stop('old') strata.start('old')
        strata.remove('old') strata.remove('old')"""
    assert house(text) == (0, "old running\nserver\t0\nold: changed: group\nold: stopped\n"
                              "old: unchanged\nold: started\nold: removed\nold: unchanged\n", "")
    assert daemon.names() == []
    # Later calls see what was only planned.
    text = """
        strata.create('server', 'a', {port = 0, ['local'] = true})
        strata.create('server', 'b', {port = 0, ['local'] = true, owner = 'a'})
        strata.stop('a') strata.edit('a', {group = 'x'}) strata.remove('b')"""
    assert house(text, "--dry-run")[0] == 0 and daemon.names() == []


def test_mistakes_are_told_with_file_and_line(daemon, house):
    for text, line, said in (
            ("strata.create('sever', 'x')", 1, "did you mean 'server'?"),
            ("\nstrata.create('server', 'x', {prot = 1})", 2, "no option 'prot' (did you mean"),
            ("\n\nstrata.create('server', 'x', {port = 'many'})", 3, "port"),
            ("strata.create('server', 'x', {mode = 'odd'})", 1, "mode"),
            ("strata.create('server', 'x', {port = 99999})", 1, "99999"),
            ("strata.create('server', 'x', {1, 2})", 1, "not a table with names"),
            ("strata.create('server', 'a b', {port = 0})", 1, "a b"),
            ("strata.create('server', 'x', {})", 1, "cannot create a server"),
            ("strata.start('none')", 1, "cannot find runtime 'none'"),
            ("strata.edit('none', {})", 1, "cannot find runtime 'none'"),
            ("local x = = 1", 1, "unexpected symbol"),
            ("error('mine')", 1, "mine"),
            ("strata.sleep(1)", 1, "sleep"),
            ("while true do end", 1, "the handler was stopped"),
            ("os.execute('true')", 1, "execute"),
            ("require('missing')", 1, "missing")):
        code, output, complaint = house(text)
        assert code == 1 and output == "" and said in complaint, (text, complaint)
        assert f"/house.lua:{line}:" in complaint, complaint
    daemon.create("cache", "store", listen=["tcp://127.0.0.1:0"])
    assert "is a cache" in house("strata.create('server', 'store', {port = 0})")[2]
    # Changes made before the error are reported.
    code, output, _ = house("strata.stop('store') strata.create('server', 'store')")
    assert (code, output) == (1, "store: stopped\n")
    # A file may handle a refusal.
    assert house("print(pcall(strata.start, 'none'))")[0] == 0
    assert daemon.run("run", "/nowhere/house.lua").returncode == 1


def test_options_are_set_back_to_their_defaults(daemon, house):
    given = {"server": {"listen": ["tcp://127.0.0.1:0"]}, "client": {"target": "127.0.0.1:1"},
             "proxy": {"listen": ["tcp://127.0.0.1:0"], "backend": ["127.0.0.1:1"]},
             "cache": {"listen": ["tcp://127.0.0.1:0"]}}
    for kind, options in given.items():
        daemon.cli("create", kind, kind, *(word for key, value in options.items() for word in (
            f"--{key}", value if isinstance(value, str) else value[0])))
        others = daemon.show(kind)["options"].keys() - options.keys()
        names = ", ".join(f"'{each}'" for each in sorted(others))
        # Options that were never set already have their defaults.
        assert house(f"strata.reset('{kind}', {{{names}}})") == (0, f"{kind}: unchanged\n", "")
    edit = "strata.edit('server', {group = 'g', max_message = 10, max_connections = 3})"
    assert house(edit)[0] == 0
    text = "strata.reset('server', {'group', 'max_message'})"
    said = "server: {}changed: group, max_message\n"
    assert house(text, "--dry-run") == (0, said.format("would be "), "")
    assert house(text) == (0, said.format(""), "")
    assert house(text) == (0, "server: unchanged\n", "")
    assert daemon.show("server")["options"]["max_connections"] == 3
    for wrong, why in (("{'grup'}", "no option 'grup'"), ("{group = 1}", "must be a list"),
                       ("{1}", "must be a list"), ("{'listen'}", "listen")):
        code, output, complaint = house(f"strata.reset('server', {wrong})")
        assert (code, output) == (1, "") and why in complaint, complaint


def test_secrets_that_are_there_stay(daemon, house):
    text = """strata.create('cache', 'store', {listen = 'tcp://127.0.0.1:0', resp = true,
                                               password = 'se/cret'})"""
    assert house(text) == (0, "store: created\n", "")
    assert house(text) == (0, "store: unchanged\n", "")


def test_no_daemon_is_said_as_of_other_verbs(daemon, house):
    daemon.stop()
    code, _, complaint = house("strata.list()")
    assert code == 4 and "house.lua:1:" in complaint
    assert house("local x = 1", "-q") == (0, "", "")


def test_the_flag_alone_is_the_verb(daemon, house):
    house("strata.create('server', 'x', {port = 0, ['local'] = true})")
    assert daemon.cli("--lua", house.path) == "x: unchanged\n"
    eventually(lambda: daemon.show("x")["state"] == "running", "it runs")
