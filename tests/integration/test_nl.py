"""Generic netlink through `strata nl`, beside libnl's genl-ctrl-list and the kernel itself. The
guest's tests (tests/guest) have a family of our own."""

import json
import os
import re
import subprocess

import pytest

from strata_daemon import BINARY


def nl(*arguments, exit_code=0):
    done = subprocess.run([BINARY, "nl", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == exit_code, done.stderr
    return done.stdout if exit_code == 0 else done.stderr


def nl_json(*arguments):
    return json.loads(nl(*arguments, "--format", "json"))


def libnl_families():
    """What genl-ctrl-list says: by name the id, and by command what it can; groups by name."""
    found = {}
    listed = subprocess.run(["genl-ctrl-list", "-d"], capture_output=True, text=True, check=True,
                            timeout=60).stdout
    for line in listed.splitlines():
        if family := re.match(r"(0x[0-9a-f]+) (\S+) version", line):
            operations, groups = {}, {}
            found[family[2]] = (int(family[1], 16), operations, groups)
        elif operation := re.match(r"\s+op .*\((0x[0-9a-f]+)\) <(.*)>", line):
            operations[int(operation[1], 16)] = set(operation[2].split(",")) - {""}
        elif group := re.match(r"\s+grp (\S+) \((0x[0-9a-f]+)\)", line):
            groups[group[1]] = int(group[2], 16)
    return found


def flags_of(operation):
    flags = {"admin_perm": "needs_admin", "has_doit": "do", "has_dump": "dump",
             "has_policy": "policy"}
    return {name for name, key in flags.items() if operation[key]}


def test_the_families_are_as_libnl_finds_them():
    wanted = libnl_families()
    assert len(wanted) > 3 and "nlctrl" in wanted
    assert {each["name"]: each["id"] for each in nl_json("families")} \
        == {name: number for name, (number, _, _) in wanted.items()}
    for name, (_, operations, groups) in wanted.items():
        shown = nl_json("show", name)
        assert {each["command"]: flags_of(each) for each in shown["operations"]} == operations
        assert {each["name"]: each["id"] for each in shown["groups"]} == groups


def test_the_controllers_own_policy_is_shown():
    [getfamily] = [each for each in nl_json("policy", "nlctrl") if each["command"] == 3]
    [by_name] = [each for each in getfamily["do"] if each["attribute"] == 2]
    assert by_name == {"attribute": 2, "type": "nul-string", "max_bytes": 15}
    assert "2 nul-string, 15 bytes at most" in nl("show", "nlctrl")


def test_a_call_writes_attributes_as_the_policy_says():
    """The controller's answer to a name, and ethtool's about lo, a nest."""
    [reply] = nl_json("call", "nlctrl", "3", "--attr", "2=ethtool")
    by_number = {each["attribute"]: each for each in reply["attributes"]}
    assert by_number[2]["text"] == "ethtool"
    assert by_number[1]["number"] == nl_json("show", "ethtool")["id"]
    # ETHTOOL_MSG_FEATURES_GET (11) of ETHTOOL_A_HEADER_DEV_NAME (2) in the header (1).
    [reply] = nl_json("call", "ethtool", "11", "--attr", "1.2=lo")
    [header] = [each for each in reply["attributes"] if each["attribute"] == 1]
    assert [each["text"] for each in header["attributes"] if "text" in each] == ["lo"]
    families = nl_json("call", "nlctrl", "3", "--dump")
    assert len(families) == len(nl_json("families"))


@pytest.mark.parametrize("arguments,exit_code,says", [
    (["show", "nl80211x"], 3, "this kernel has none of that name"),
    (["listen", "nlctrl", "nobody"], 3, "has no group 'nobody'"),
    (["call", "nlctrl", "three"], 2, "'three' is no command"),
    (["call", "nlctrl", "3", "-a", "x=1"], 2, "--attr cannot be 'x=1'"),
    (["call", "nlctrl", "3", "-a", "1=70000"], 2, "its value is no u16"),
    (["call", "nlctrl", "3", "-a", "2:colour=red"], 2, "its type is none of"),
    (["call", "nlctrl", "3", "-a", "2:binary=0"], 2, "its value is no binary"),
    (["call", "nlctrl", "3", "-a", "2=sixteen_letters_"], 1, "see attribute 2"),
    (["call", "nlctrl", "99"], 1, "Operation not supported"),
])
def test_what_cannot_be_is_refused_with_what_to_do(arguments, exit_code, says):
    assert says in nl(*arguments, exit_code=exit_code)


def test_a_listener_hears_what_happens_to_interfaces(veth):
    """ethtool's group `monitor` hears of a change of features."""
    listener = veth.start(veth.a, BINARY, "nl", "listen", "ethtool", "monitor", "-c", "2",
                          "--timeout", "20s", "--format", "json")
    assert "listening to 'monitor'" in listener.stderr.readline()
    veth.inside(veth.a, "ip", "link", "set", "vethA", "down")
    for how in ("off", "on"):
        veth.inside(veth.a, "ethtool", "-K", "vethA", "tx", how)
    out, _ = listener.communicate(timeout=60)
    assert len(json.loads(out)) == 2 and "vethA" in out


def test_an_exchange_takes_two_system_calls_and_opening_two(tmp_path):
    """socket, setsockopt (for extended ACKs), and for each exchange send and receive."""
    trace = tmp_path / "trace"
    subprocess.run(["strace", "-f", "-e", "trace=network", "-o", trace, BINARY, "nl", "show",
                    "nlctrl"], check=True, capture_output=True, timeout=60,
                   env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    lines = trace.read_text().splitlines()
    calls = [re.search(r"\b(\w+)\(", line)[1] for line in lines if "(" in line]
    # The policy's dump is sent once and received in a datagram or more.
    assert calls[:5] == ["socket", "setsockopt", "sendto", "recvfrom", "sendto"], calls
    assert set(calls[5:]) == {"recvfrom"}
