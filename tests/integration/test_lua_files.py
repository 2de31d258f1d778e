"""Files that scripts read: strata.read_file, and modules in folders that several share."""

import os

from lua_console import LuaConsole


def read(console, path):
    return console.run(f"return strata.read_file('{path}')")


def test_files_beside_the_script_and_none_elsewhere(daemon, tmp_path):
    folder = tmp_path / "scripts"
    (folder / "deep").mkdir(parents=True)
    outside = tmp_path / "secret"
    outside.write_text("secret")
    (folder / "deep" / "page").write_bytes(b"a page")
    (folder / "bytes").write_bytes(bytes(range(256)) * 1000)
    (folder / "link").symlink_to(outside)
    (folder / "inner").symlink_to("deep/page")
    os.mkfifo(folder / "fifo")
    console = LuaConsole(daemon, folder)
    assert read(console, "deep/page") == read(console, "inner") == ("a page", None)
    assert console.run("local b = strata.read_file('bytes') return #b, b:byte(256)") == (
        256000, 255)
    for path in ("../secret", "link", str(outside), "deep/../../secret", "/etc/passwd"):
        assert "outside the script's folder" in read(console, path)[1]
    assert "No such file" in read(console, "none")[1]
    assert "is a folder" in read(console, "deep")[1]
    assert read(console, "fifo")[0] is None
    with open(folder / "large", "wb") as large:
        large.truncate(17 << 20)
    assert "longer than 16 MiB" in read(console, "large")[1]
    assert "the path is none" in console.fails("strata.read_file('')")
    assert "the path is none" in console.fails("strata.read_file('a\\0b')")
    unsafe = LuaConsole(daemon, folder, "unsafe", lua_unsafe=True)
    assert read(unsafe, str(outside)) == read(unsafe, "../secret") == ("secret", None)
    assert "regular" in read(unsafe, "fifo")[1]


def test_many_read_at_a_time_and_a_reload_meanwhile(daemon, tmp_path):
    (tmp_path / "page").write_bytes(b"x" * 100000)
    console = LuaConsole(daemon, tmp_path)
    console.run("""
        done = 0
        for n = 1, 2000 do
          strata.set_timeout(0, function()
            if #strata.read_file('page') == 100000 then done = done + 1 end
          end)
        end
        while done < 2000 do strata.sleep(0.001) end""")
    console.run("for n = 1, 500 do strata.set_timeout(0, function() "
                "strata.read_file('page') end) end strata.sleep(0)")
    daemon.cli("reload-lua", "console")
    daemon.act("console", "restart")
    assert daemon.show("console")["state"] == "running"


def test_modules_of_folders_that_several_share(daemon, tmp_path):
    library = tmp_path / "data" / "strata" / "lua"
    (library / "deep").mkdir(parents=True)
    (library / "shared.lua").write_text("return {name = 'of the library'}")
    (library / "deep" / "init.lua").write_text("return {name = 'deep'}")
    (library / "strata.lua").write_text("error('lines for editors')")
    folder = tmp_path / "scripts"
    folder.mkdir()
    daemon.variables = {**daemon.variables, "STRATA_LUA_DIR": str(library)}
    daemon.restart()
    console = LuaConsole(daemon, folder)
    assert console.run("return require('shared').name, require('deep').name") == (
        "of the library", "deep")
    assert console.run("return require('strata') == strata") == (True, None)
    (folder / "shared.lua").write_text("return {name = 'its own'}")
    other = LuaConsole(daemon, folder, "other")
    assert other.run("return require('shared').name")[0] == "its own"
    assert str(library) in other.fails("require('none')")
    unsafe = LuaConsole(daemon, folder, "unsafe", lua_unsafe=True)
    assert unsafe.run("return require('shared').name, require('deep').name") == (
        "its own", "deep")
