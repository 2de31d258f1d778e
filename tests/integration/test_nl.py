"""Generic netlink through `strata nl`, beside libnl's genl-ctrl-list and the kernel itself. The
guest's tests (tests/guest) have a family of their own."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from strata_daemon import BINARY

pytestmark = pytest.mark.once


ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "kernel/ynl/nlctrl.yaml"
NAMED = ["--spec", str(SPEC)]


def nl(*arguments, exit_code=0, ynl_path=""):
    """Runs strata nl without the specifications installed on this machine."""
    done = subprocess.run([BINARY, "nl", *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "STRATA_YNL_PATH": str(ynl_path)})
    assert done.returncode == exit_code, done.stderr
    return done.stdout if exit_code == 0 else done.stderr


def nl_json(*arguments, **how):
    return json.loads(nl(*arguments, "--format", "json", **how))


def libnl_families():
    """Returns the output of genl-ctrl-list: by name the id, the flags by command,
    and the groups by name."""
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
    """Covers the controller's answer to a name, and ethtool's about lo, which is nested."""
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
    (["show", "nl80211x"], 3, "this kernel has no such family"),
    (["listen", "nlctrl", "nobody"], 3, "has no group 'nobody'"),
    (["call", "nlctrl", "three"], 2, "'three' is not a command"),
    (["call", "nlctrl", "3", "-a", "x=1"], 2, "--attr cannot be 'x=1'"),
    (["call", "nlctrl", "3", "-a", "1=70000"], 2, "its value is not of type u16"),
    (["call", "nlctrl", "3", "-a", "2:colour=red"], 2, "its type must be one of"),
    (["call", "nlctrl", "3", "-a", "2:binary=0"], 2, "its value is not of type binary"),
    (["call", "nlctrl", "3", "-a", "2=sixteen_letters_"], 1, "check attribute 2"),
    (["call", "ethtool", "11"], 1, "add attribute 1"),
    (["call", "nlctrl", "99"], 1, "Operation not supported"),
])
def test_what_cannot_be_is_refused_with_what_to_do(arguments, exit_code, says):
    assert says in nl(*arguments, exit_code=exit_code)


def test_a_listener_hears_what_happens_to_interfaces(veth):
    """ethtool's group `monitor` reports a change of features."""
    listener = veth.start(veth.a, BINARY, "nl", "listen", "ethtool", "monitor", "-c", "2",
                          "--timeout", "20s", "--format", "json")
    assert "listening to 'monitor'" in listener.stderr.readline()
    veth.inside(veth.a, "ip", "link", "set", "vethA", "down")
    for how in ("off", "on"):
        veth.inside(veth.a, "ethtool", "-K", "vethA", "tx", how)
    out, _ = listener.communicate(timeout=60)
    assert len(json.loads(out)) == 2 and "vethA" in out


def test_an_exchange_takes_two_system_calls_and_opening_two(tmp_path):
    """The calls are socket, setsockopt (for extended ACKs), and send and receive for each
    exchange."""
    trace = tmp_path / "trace"
    subprocess.run(["strace", "-f", "-e", "trace=network", "-o", trace, BINARY, "nl", "show",
                    "nlctrl"], check=True, capture_output=True, timeout=60,
                   env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    lines = trace.read_text().splitlines()
    calls = [re.search(r"\b(\w+)\(", line)[1] for line in lines if "(" in line]
    # The policy's dump is requested once and received in one or more datagrams.
    assert calls[:5] == ["socket", "setsockopt", "sendto", "recvfrom", "sendto"], calls
    assert set(calls[5:]) == {"recvfrom"}


def values(attributes):
    """Returns the values by name; nested attributes as a list."""
    return {each["name"]: [values(one["attributes"]) for one in each["attributes"]]
            if "attributes" in each else each["value"] for each in attributes}


def test_a_call_by_name_is_answered_by_name():
    [reply] = nl_json("call", "nlctrl", "getfamily", "--attr", "family-name=nlctrl", *NAMED)
    assert (reply["command"], reply["name"]) == (1, "getfamily")
    told = values(reply["attributes"])
    assert (told["family-name"], told["family-id"], told["version"]) == ("nlctrl", 16, 2)
    assert {each["name"] for each in told["mcast-groups"]} == {"notify"}
    [getfamily] = [each for each in told["ops"] if each["id"] == 3]
    assert getfamily["flags"] == ["cmd-cap-do", "cmd-cap-dump", "cmd-cap-haspol"]
    # Numbers and underscores give the same result, and keep all that is reported without names.
    for command, attribute in (("3", "2=nlctrl"), ("getfamily", "family_name=nlctrl")):
        assert nl_json("call", "nlctrl", command, "-a", attribute, *NAMED) == [reply]
    [raw] = nl_json("call", "nlctrl", "3", "-a", "2=nlctrl")
    assert "name" not in raw and len(raw["attributes"]) == len(reply["attributes"])
    for plain, named in zip(raw["attributes"], reply["attributes"]):
        assert plain["attribute"] == named["attribute"] and plain["hex"] == named["hex"]
    said = nl("call", "nlctrl", "getfamily", "-a", "family-name=nlctrl", *NAMED)
    assert said.startswith('command getfamily\n  family-name "nlctrl"\n  family-id 16\n'), said
    assert "flags cmd-cap-do|cmd-cap-dump|cmd-cap-haspol" in said


def test_a_dump_by_name():
    families = nl_json("call", "nlctrl", "getfamily", "--dump", *NAMED)
    assert {values(each["attributes"])["family-name"] for each in families} \
        == {each["name"] for each in nl_json("families")}
    policies = nl_json("call", "nlctrl", "getpolicy", "--dump", "-a", "family-name=nlctrl", *NAMED)
    # policy { number of the policy { number of the attribute { type, … } } }
    types = {one["attribute"]: values(one["attributes"]).get("type")
             for each in policies for top in each["attributes"] if top["name"] == "policy"
             for policy in top["attributes"] for one in policy["attributes"]}
    assert types[2] == "nul-string", types


def test_a_family_is_shown_by_name():
    shown = nl_json("show", "nlctrl", *NAMED)
    assert {each["command"]: each["name"] for each in shown["operations"]} \
        == {3: "getfamily", 10: "getpolicy"}
    assert shown["specification"]["file"] == str(SPEC)
    specified = yaml.safe_load(SPEC.read_text())["operations"]["list"]
    assert [each["name"] for each in shown["specification"]["operations"]] \
        == [each["name"] for each in specified]
    [getfamily] = [each for each in shown["policy"] if each["command"] == 3]
    assert {each["name"] for each in getfamily["do"]} == {"family-id", "family-name"}
    said = nl("show", "nlctrl", *NAMED)
    assert "command 3 getfamily, do:\n  1 family-id u16" in said, said
    assert "2 family-name nul-string, 15 bytes at most" in nl("policy", "nlctrl", *NAMED)


def test_specifications_are_found_by_the_familys_name(tmp_path):
    (tmp_path / "nlctrl.yaml").write_text(SPEC.read_text())
    call = ["call", "nlctrl", "getfamily", "-a", "family-name=nlctrl"]
    assert nl_json(*call, ynl_path=f"/nonexistent::{tmp_path}") == nl_json(*call, *NAMED)
    # A file of another family, or an invalid one, is an error.
    (tmp_path / "nlctrl.yaml").write_text("name: other\noperations: {list: []}\n")
    said = nl(*call, ynl_path=tmp_path, exit_code=1)
    assert f"'{tmp_path}/nlctrl.yaml': it describes the family 'other'" in said
    assert "set STRATA_YNL_PATH= to use no specifications" in said


@pytest.mark.parametrize("arguments,exit_code,says", [
    (["getfamilly"], 2, "not a command of 'nlctrl' (did you mean 'getfamily'?); it has getfamily"),
    (["newfamily"], 2, "receive it with 'strata nl listen nlctrl notify'"),
    (["getpolicy"], 2, "can only be dumped: add --dump"),
    (["getfamily", "-a", "name=lo"], 2, "is not an attribute of 'ctrl-attrs'"),
    (["getfamily", "-a", "family-id=65536"], 2, "its value is not of type u16"),
    (["getfamily", "-a", "mcast-groups.0.nam=x"], 2, "is not an attribute of 'mcast-group-attrs'"),
    (["getfamily", "-a", "family-name=sixteen_letters_"], 1, "check attribute family-name"),
])
def test_what_a_specification_does_not_have_is_refused(arguments, exit_code, says):
    assert says in nl("call", "nlctrl", *arguments, *NAMED, exit_code=exit_code)


def test_a_fixed_header_is_not_written(tmp_path):
    spec = tmp_path / "x.yaml"
    spec.write_text("{name: nlctrl, protocol: genetlink-legacy, operations: {fixed-header: h, "
                    "list: [{name: get, value: 3, do: {request: {}}}]}}")
    said = nl("call", "nlctrl", "get", "--spec", str(spec), exit_code=1)
    assert "'get' begins with a fixed header" in said
    # By number, the result is the same as without a specification.
    [reply] = nl_json("call", "nlctrl", "3", "-a", "2=nlctrl", "--spec", str(spec))
    assert all("name" not in each for each in reply["attributes"])


ETHTOOL = """
name: ethtool
protocol: genetlink-legacy
attribute-sets:
  - {name: header, attributes: [{name: dev-index, type: u32}, {name: dev-name, type: string}]}
  - {name: features, attributes: [{name: header, type: nest, nested-attributes: header}]}
operations:
  enum-model: directional
  list:
    - name: features-get
      attribute-set: features
      do: {request: {value: 11, attributes: [header]}, reply: {value: 11, attributes: [header]}}
    - {name: features-ntf, notify: features-get, value: 13}
"""


def test_what_the_kernel_complains_of_is_told_by_name(tmp_path):
    spec = tmp_path / "ethtool.yaml"
    spec.write_text(ETHTOOL)
    call = ["call", "ethtool", "features-get", "--spec", str(spec)]
    assert "add attribute header" in nl(*call, exit_code=1)
    name = "header.dev-name=averyverylongname12345"
    assert "check attribute header.dev-name" in nl(*call, "-a", name, exit_code=1)
    # Attributes that the specification lacks are shown raw beside the others.
    [reply] = nl_json(*call, "-a", "header.dev-name=lo")
    assert reply["name"] == "features-get"
    [header] = [each for each in reply["attributes"] if each.get("name") == "header"]
    assert values(header["attributes"]) == {"dev-index": 1, "dev-name": "lo"}
    assert any("name" not in each and "hex" in each for each in reply["attributes"])


def test_a_listener_tells_events_by_name(veth, tmp_path):
    spec = tmp_path / "ethtool.yaml"
    spec.write_text(ETHTOOL)
    listener = veth.start(veth.a, BINARY, "nl", "listen", "ethtool", "monitor", "-c", "1",
                          "--timeout", "20s", "--format", "json", "--spec", spec)
    assert "listening to 'monitor'" in listener.stderr.readline()
    veth.inside(veth.a, "ip", "link", "set", "vethA", "down")
    veth.inside(veth.a, "ethtool", "-K", "vethA", "tx", "off")
    out, _ = listener.communicate(timeout=60)
    [event] = json.loads(out)
    assert event["name"] == "features-ntf"
    [header] = [each for each in event["attributes"] if each.get("name") == "header"]
    assert values(header["attributes"])["dev-name"] == "vethA"


def hostile_specs():
    many = ", ".join("{name: a, type: u8}" for _ in range(300))
    return {
        "no such file": (None, 1, "the file does not exist"),
        "empty": ("", 1, "it is not a map"),
        "binary": ("\x00\x01\xff", 1, "cannot read the specification"),
        "no YAML": ("name: [", 1, "line "),
        "deep": ("[" * 500000, 1, "cannot read the specification"),
        "deep maps": ("{a: " * 200000, 1, "cannot read the specification"),
        "another form": ("name: {a: b}", 1, "'name' must be a string"),
        "no operations": ("name: nlctrl", 1, "'operations' is missing"),
        "another protocol": ("name: nlctrl\nprotocol: netlink-raw", 1, "'netlink-raw'"),
        "a huge number": ("name: nlctrl\noperations: {list: [{name: a, value: 1e99}]}", 1,
                          "'value' cannot be '1e99': use a number from 0 to 255"),
        "too large": ("#" * (1 << 20) + "\n", 1, "it is larger than 1 MiB"),
        "many commas": ("[" + "a," * 500000 + "]", 1, "it is not a map"),
        "many keys": ("".join(f"k{i}: {i}\n" for i in range(60000)), 1, "'name' is missing"),
        "aliases": ("name: nlctrl\noperations: {list: []}\nall: &all [" + many
                    + "]\nattribute-sets:\n"
                    + "".join(f"  - {{name: s{i}, attributes: *all}}\n" for i in range(20000)), 1,
                    "it has more than 50000"),
        "an alias of itself": ("name: nlctrl\noperations: &o {list: [*o]}", 1, "line "),
    }


@pytest.mark.parametrize("how", hostile_specs())
def test_a_hostile_specification_is_named_with_what_is_wrong(how, tmp_path):
    text, exit_code, says = hostile_specs()[how]
    spec = tmp_path / "x.yaml"
    if text is not None:
        spec.write_bytes(text.encode("latin-1"))
    said = nl("call", "nlctrl", "3", "--spec", str(spec), exit_code=exit_code)
    assert str(spec) in said and says in said, said[:2000]
    assert len(said) < 2000


@pytest.mark.parametrize("spec", ["tests/ynl/forms.yaml", "kernel/strata_echo.yaml"])
def test_typed_commands_are_those_that_were_looked_at(spec):
    """Generates without clang-format, whose versions differ."""
    made = subprocess.run([BINARY, "nl", "generate", ROOT / spec], capture_output=True, text=True,
                          timeout=60, check=True, env={"PATH": "/nonexistent"}).stdout
    assert made == (ROOT / f"tests/ynl/{Path(spec).stem}.golden").read_text()


def test_what_is_no_file_makes_no_commands(tmp_path):
    assert "the file does not exist" in nl("generate", str(tmp_path / "x.yaml"), exit_code=1)


def test_what_is_no_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        assert "it is not a regular file" in nl("show", "nlctrl", "--spec", str(path), exit_code=1)


def kernel_families():
    """Returns the families of this kernel for which strata has the kernel's specification."""
    here = {each["name"] for each in nl_json("families")}
    return sorted(here & {each.stem for each in (ROOT / "kernel/ynl/linux").glob("*.yaml")})


def test_kernels_specifications_are_found_beside_the_program_of_a_build():
    """Tries what the README shows, and every family of this kernel for which
    strata has a specification."""
    plain = {name: value for name, value in os.environ.items() if name != "STRATA_YNL_PATH"}

    def call(*arguments):
        done = subprocess.run([BINARY, "nl", *arguments, "--format", "json"], capture_output=True,
                              text=True, timeout=60, env=plain)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert '"ethtool"' in call("call", "nlctrl", "getfamily", "--attr", "family-name=ethtool")
    assert '"lo"' in call("call", "ethtool", "features-get", "--attr", "header.dev-name=lo")
    assert '"ifindex"' in call("call", "netdev", "dev-get", "--dump")
    assert {"ethtool", "netdev"} <= set(kernel_families())
    for family in kernel_families():
        names = {each["name"] for each in
                 yaml.safe_load((ROOT / f"kernel/ynl/linux/{family}.yaml").read_text())
                 ["operations"]["list"]}
        shown = call("show", family)
        assert any(f'"{name}"' in shown for name in names), shown


@pytest.mark.parametrize("spec", sorted((ROOT / "kernel/ynl/linux").glob("*.yaml")),
                         ids=lambda each: each.stem)
def test_every_specification_of_the_kernel_can_be_read(spec):
    """All of them make typed commands, except those with a fixed header, and
    one whose reply differs."""
    done = subprocess.run([BINARY, "nl", "generate", str(spec)], capture_output=True, text=True,
                          timeout=60)
    if done.returncode != 0:
        assert re.search("fixed header|have different numbers", done.stderr), done.stderr
        assert spec.stem.startswith("ovs_") or spec.stem == "devlink"
    else:
        assert f"namespace {spec.stem}" in done.stdout
