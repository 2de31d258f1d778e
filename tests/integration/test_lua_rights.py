"""What scripts may do outside their own runtime: --lua-allow, and the errors without it."""

import contextlib
import os
import socket

import pytest

from lua_console import LuaConsole
from strata_daemon import eventually


def refused(console, lua):
    """Returns the reason that a function returns after nil, or the error that it raises."""
    first, second = console.run(f"return select(2, {lua})")
    return first or second


def test_no_way_leads_from_a_script_to_programs_and_files(daemon, tmp_path):
    """Tries each step of writing a script through a client's file and running it with all
    rights."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "made.lua").write_text("os.execute('true')")
    outside = tmp_path / "elsewhere.lua"
    outside.write_text("")
    (folder / "link.lua").symlink_to(outside)
    console = LuaConsole(daemon, folder)
    inside = f"{folder}/made.lua"

    def create(options, kind="server"):
        return refused(console, f"strata.create('{kind}', 'made', {options})")

    listen = "listen = {'tcp://127.0.0.1:0'}"
    assert "--lua-allow write=DIR" in create(f"{{{listen}, write = '{inside}'}}")
    assert "--lua-allow write=DIR" in create(f"{{{listen}, http = '{folder}', http_log = 'log'}}")
    assert "--lua-allow write=DIR" in create("{listen = {'unix://%s/socket'}}" % folder)
    assert "--lua-allow read=DIR" in create(f"{{{listen}, http = '/etc'}}")
    assert "--lua-allow read=DIR" in create(f"{{{listen}, lua = '{outside}'}}")
    assert "--lua-allow read=DIR" in create(f"{{{listen}, lua = 'link.lua'}}")
    assert "--lua-allow read=DIR" in create(f"{{{listen}, lua = '../elsewhere.lua'}}")
    for right in ("lua_unsafe = true", "lua_jit = true", "lua_allow = {'unsafe'}",
                  "lua_allow = {'write=/'}", "lua_allow = {'read=/'}"):
        why = create(f"{{{listen}, lua = 'made.lua', {right}}}")
        assert "exceeds the rights of the calling script" in why, right
    assert "no access to the daemon's credentials" in create(
        f"{{{listen}, resp = true, password = 'credential:x'}}", "cache")
    assert "--lua-allow write=DIR" in create(f"{{{listen}, resp = true, snapshot = 'x.rdb'}}",
                                             "cache")
    assert "--lua-allow write=DIR" in create(
        "{listen = {'http://127.0.0.1:0'}, backend = {'127.0.0.1:1'}, access_log = 'log'}", "proxy")
    assert "--lua-allow write=DIR" in create("{target = '127.0.0.1:1', write = 'x'}", "client")

    def edit(name, options):
        return refused(console, f"strata.edit('{name}', {options})")

    assert "exceeds the rights of the calling script" in edit("console", "{lua_unsafe = true}")
    assert "exceeds the rights of the calling script" in edit("console", "{lua_allow = {'unsafe'}}")
    assert "--lua-allow read=DIR" in edit("console", "{http = '/'}")
    trusted = folder / "trusted.lua"
    trusted.write_text("")
    daemon.create("server", "trusted", listen=["tcp://127.0.0.1:0"], lua=str(trusted),
                  lua_unsafe=True)
    assert "exceeds the rights of the calling script" in edit("trusted", f"{{lua = '{inside}'}}")
    console.run("assert(strata.edit('trusted', {rate_limit = 5}))")
    assert sorted(daemon.names()) == ["console", "trusted"]
    assert not (folder / "log").exists() and not (folder / "x.rdb").exists()


def test_the_daemons_own_socket_is_out_of_reach_by_whatever_path(daemon, tmp_path):
    own = daemon.socket
    near = tmp_path / "near.sock"
    near.symlink_to(own)
    folder = tmp_path / "own"
    folder.mkdir()
    inside = folder / "hard.sock"
    os.link(own, inside)
    usual = LuaConsole(daemon, folder, "usual")
    ways = (own, near, f"/proc/self/root{own}", f"/proc/{daemon.pid}/root{own}",
            f"{tmp_path}/../{os.path.relpath(own, tmp_path.parent)}")
    for path in ways:
        assert "--lua-allow write=DIR" in usual.fails(f"strata.connect('unix://{path}')"), path
        assert "--lua-allow write=DIR" in usual.fails(f"strata.redis('unix://{path}')"), path
    # Even a script that may use every socket may not use this one; nor may what it creates.
    free = LuaConsole(daemon, folder, "free", lua_allow=["net", "runtimes", "read=/"])
    asks = "GET /v1/runtimes HTTP/1.1\\r\\nHost: strata\\r\\n\\r\\n"
    for console, path in [(free, each) for each in (*ways, inside)] + [(usual, inside)]:
        answer = console.run(f"""
            local c = strata.connect('unix://{path}', {{framing = 'raw'}})
            if not c then return '' end
            c:send('{asks}')
            return c:receive(1) or ''""")[0]
        assert "usual" not in answer, (path, answer)
    proxy = free.run(f"return strata.create('proxy', 'way', {{listen = {{'tcp://127.0.0.1:0'}}, "
                     f"backend = {{'unix://{own}'}}}})")[0]
    host, port = proxy["endpoints"][0].removeprefix("tcp://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as through:
        with contextlib.suppress(ConnectionError):
            through.sendall(asks.replace("\\r", "\r").replace("\\n", "\n").encode())
            assert b"usual" not in through.recv(65536)
    assert sorted(daemon.names()) == ["free", "usual", "way"]


@pytest.mark.parametrize("words, may", [
    (["none"], set()),
    (["net"], {"net"}),
    (["runtimes"], {"runtimes"}),
    (["net", "runtimes"], {"net", "runtimes"}),
    ([], {"net", "runtimes"}),
    (["unsafe"], {"net", "runtimes", "unsafe"}),
])
def test_each_right_is_given_by_its_word(daemon, tmp_path, words, may):
    console = LuaConsole(daemon, tmp_path, lua_allow=words)
    calls = {
        "net": ("strata.http{url = 'http://127.0.0.1:1/'}", "strata.resolve('localhost')",
                "strata.connect('tcp://127.0.0.1:1')", "strata.redis('redis://127.0.0.1:1')",
                "strata.netlink('nlctrl', 'getfamily', {family_name = 'nlctrl'})"),
        "runtimes": ("strata.create('server', 'x', {listen = {'tcp://127.0.0.1:0'}})",
                     "strata.edit('x', {rate_limit = 1})", "strata.stop('x')",
                     "strata.start('x')", "strata.send('x', 'hi')", "strata.remove('x')"),
    }
    for right, all_calls in calls.items():
        for call in all_calls:
            answer = console.run("return tostring((select(2, pcall(function() return "
                                 f"{call} end))))")[0]
            assert (f"--lua-allow {right}" in answer) == (right not in may), call
    assert console.run("return io ~= nil")[0] == ("unsafe" in may)
    assert console.run("return #strata.list()")[0] == 1


def test_folders_are_given_to_read_and_to_write(daemon, tmp_path):
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    own.mkdir()
    (shared / "data").write_text("shared")
    (shared / "out").symlink_to("/etc/passwd")
    usual = LuaConsole(daemon, own, "usual")
    reader = LuaConsole(daemon, own, "reader", lua_allow=["read=" + str(shared)])
    writer = LuaConsole(daemon, own, "writer",
                        lua_allow=["runtimes", "net", "write=" + str(shared)])
    read = f"strata.read_file('{shared}/data')"
    assert "lua-allow read=DIR" in refused(usual, read)
    assert reader.run("return " + read) == writer.run("return " + read) == ("shared", None)
    assert "outside" in refused(reader, f"strata.read_file('{shared}/out')")
    assert "outside" in refused(reader, "strata.read_file('/etc/passwd')")
    made = writer.run(f"return strata.create('server', 'made', {{listen = "
                      f"{{'unix://{shared}/made.sock'}}, write = '{shared}/log'}})")[0]
    assert made["state"] == "running" and (shared / "log").exists()


def test_a_child_inherits_what_its_parent_lacks(daemon, tmp_path):
    (tmp_path / "child.lua").write_text(
        "function on_start() strata.log(tostring(pcall(strata.resolve, 'localhost'))) end")
    console = LuaConsole(daemon, tmp_path, lua_allow=["runtimes"])
    made = console.run("return strata.create('server', 'child', "
                       "{listen = {'tcp://127.0.0.1:0'}, lua = 'child.lua'})")[0]
    assert made["state"] == "running"
    assert daemon.show("child")["options"]["lua_allow"] == ["runtimes"]
    eventually(lambda: daemon.logged("child", "--lua-allow net") or
               daemon.logged("child", "false"), "the child may not resolve")


def test_a_module_lies_in_the_scripts_folder_whatever_a_link_says(daemon, tmp_path):
    own = tmp_path / "own"
    (own / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere.lua").write_text("return 'elsewhere'")
    (own / "deep" / "near.lua").write_text("return 'near'")
    (own / "out.lua").symlink_to(tmp_path / "elsewhere.lua")
    (own / "up").symlink_to(tmp_path)
    (own / "inner.lua").symlink_to("deep/near.lua")
    console = LuaConsole(daemon, own)
    assert console.run("return require('deep.near'), require('inner')") == ("near", "near")
    for name in ("out", "up.elsewhere"):
        assert "points outside the script's folder" in console.fails(f"require('{name}')")


def test_a_wrong_word_is_refused_with_those_that_there_are(daemon, tmp_path):
    (tmp_path / "s.lua").write_text("")
    ended = daemon.run("create", "server", "x", "-p", "0", "--local", "--lua",
                       str(tmp_path / "s.lua"), "--lua-allow", "nets")
    assert ended.returncode != 0 and "net, runtimes, read=DIR" in ended.stderr
