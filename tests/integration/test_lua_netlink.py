"""strata.netlink: scripts send requests to families of generic netlink, and receive their multicast
messages.

    [ daemon, vethA ]----[ vethB ]
"""

import subprocess
from pathlib import Path

import pytest

from lua_console import LuaConsole
from strata_daemon import eventually

SPECS = Path(__file__).parents[2] / "kernel/ynl"


@pytest.fixture
def start(make_daemon, tmp_path, veth):
    def begin(ynl=SPECS, **options):
        daemon = make_daemon(namespace=veth.a, variables={"STRATA_YNL_PATH": str(ynl)})
        # The console is within the namespace, and the test is not.
        return LuaConsole(daemon, tmp_path, listen=[f"unix://{tmp_path}/console.sock"], **options)

    return begin


def test_a_family_is_asked_by_names(start):
    console = start()
    console.run("one, why = strata.netlink('nlctrl', 'getfamily', {family_name = 'nlctrl'})")
    assert console.run("return why, one and one.family_name") == (None, "nlctrl")
    assert console.run("return one.family_id, one.version") == (16, 2)
    assert console.run("return #one.ops > 0, one.mcast_groups[1].name") == (True, "notify")
    console.run("all = strata.netlink('nlctrl', 'getfamily', nil, {dump = true})")
    names = console.run("local n = {} for i, f in ipairs(all) do n[i] = f.family_name end "
                        "return strata.json.array(n)")[0]
    assert "nlctrl" in names and "ethtool" in names
    # Underscores and dashes are equivalent; numbers may replace names.
    assert console.run("return strata.netlink('nlctrl', '3', {['family-name'] = 'ethtool'})"
                       ".family_name")[0] == "ethtool"


@pytest.mark.parametrize("call, says", [
    ("'no_such', 'x'", "no_such"),
    ("'nlctrl', 'getfamly'", "did you mean 'getfamily'"),
    ("'nlctrl', 'getfamily', {family_nme = 'x'}", "did you mean 'family-name'"),
    ("'nlctrl', 'getfamily', {family_id = 70000}", "family_id: its value is not of type u16"),
    ("'nlctrl', 'getfamily', {family_name = 'no_such'}", "No such file or directory"),
    ("'nlctrl', 'getpolicy', {family_id = 16}", "dump=true"),
    ("'ethtool', 'strset-get'", "no specification with names"),
])
def test_what_is_refused_says_why(start, call, says):
    console = start()
    got, why = console.run(f"return strata.netlink({call})")
    assert got is None and says in why
    assert "no option 'dmp'" in console.fails(
        "strata.netlink('nlctrl', 'getfamily', {}, {dmp = true})")


# ETHTOOL_MSG_FEATURES_SET with only ETHTOOL_A_FEATURES_HEADER, by numbers.
SET = "strata.netlink('ethtool', '12', {['1'] = {['2'] = 'vethA\\0'}})"


def test_what_changes_the_machine_needs_a_trusted_script(start):
    why = start().run(f"return {SET}")[1]
    assert "for administrators" in why and "--lua-allow unsafe" in why


def test_a_trusted_script_may(start):
    assert "for administrators" not in (start(lua_unsafe=True).run(f"return {SET}")[1] or "")


def switch(veth, how):
    subprocess.run(["ip", "netns", "exec", veth.a, "ethtool", "-K", "vethA", "gro", how],
                   check=True)


def test_what_is_multicast_is_heard(start, veth):
    console = start()
    console.run("""heard = {}
        kept, why = strata.netlink_listen('ethtool', 'monitor', function(message)
          table.insert(heard, message)
        end)""")
    assert console.run("return why, kept and kept:is_open()") == (None, True)
    switch(veth, "on")
    switch(veth, "off")
    eventually(lambda: console.run("return #heard")[0] == 2, "both changes are heard")
    # FEATURES_NTF, with the interface's name in its header.
    assert console.run("return heard[1].command, type(heard[1].attributes['1'])") == (13, "string")
    assert console.run("return heard[1].attributes['1']:find('vethA', 1, true) ~= nil")[0]
    console.run("kept:close()")
    switch(veth, "on")
    assert console.run("strata.sleep(0.05) return #heard")[0] == 2
    got, why = console.run("return strata.netlink_listen('ethtool', 'none', print)")
    assert got is None and "there are monitor" in why
    console.reload()
    switch(veth, "off")


def test_a_specification_that_is_none_is_told(start, tmp_path):
    (tmp_path / "ethtool.yaml").write_text("name: [")
    console = start(ynl=tmp_path)
    got, why = console.run("return strata.netlink('ethtool', '1')")
    assert got is None and "cannot read the specification" in why
