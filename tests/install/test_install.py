"""The installed library as its users see it: found by CMake and by pkg-config, and in use.

    vethA <=========> vethB        one namespace of the test's own
"""

import os
import secrets
import shutil
import subprocess

import pytest

from installing import run

FLAGS = os.environ.get("STRATA_FLAGS", "")
ALL_EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples")
EXAMPLES = os.path.join(ALL_EXAMPLES, "l2")
CXX = ["g++", "-std=c++23", "-Wall", "-Wextra", "-Werror"]
C = ["gcc", "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def build_examples(source, prefix, folder):
    """Builds the examples with CMake against the installed package."""
    run("cmake", "-S", source, "-B", str(folder), f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_FLAGS={FLAGS}", f"-DCMAKE_C_FLAGS={FLAGS}")
    run("cmake", "--build", str(folder), "-j2")
    return folder


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory):
    return build_examples(EXAMPLES, prefix, tmp_path_factory.mktemp("l2"))


@pytest.fixture(scope="module")
def xdp_examples(prefix, tmp_path_factory):
    return build_examples(os.path.join(ALL_EXAMPLES, "xdp"), prefix,
                          tmp_path_factory.mktemp("xdp"))


@pytest.fixture(scope="module")
def nl_examples(prefix, tmp_path_factory):
    return build_examples(os.path.join(ALL_EXAMPLES, "netlink"), prefix,
                          tmp_path_factory.mktemp("nl"))


@pytest.fixture(scope="module")
def space():
    if os.geteuid() != 0:
        pytest.skip("NEEDS ROOT: it makes a network namespace")
    name = f"strata-i-{secrets.token_hex(4)}"
    run("ip", "netns", "add", name)
    inside = ["ip", "netns", "exec", name]
    run(*inside, "ip", "link", "add", "vethA", "type", "veth", "peer", "name", "vethB")
    for link in ("vethA", "vethB", "lo"):
        run(*inside, "ip", "link", "set", link, "up")
    yield inside
    run("ip", "netns", "del", name)


def hear(space, receiver, sender):
    """Returns the receiver's output; the sender is repeated until the receiver has its message."""
    listening = subprocess.Popen([*space, *receiver], stdout=subprocess.PIPE, text=True)
    while listening.poll() is None:
        run(*space, *sender)
    return listening.communicate(timeout=30)[0]


def test_frames_go_from_program_to_program(space, examples):
    receiver = [f"{examples}/receive_frame", "vethB"]
    assert hear(space, receiver, [f"{examples}/send_frame", "vethA", "hello"]) == "hello\n"
    assert (hear(space, receiver, [f"{examples}/send_vlan_frame", "vethA", "hello"]) ==
            "vlan 10 prio 7: hello\n")
    assert hear(space, receiver, [f"{examples}/send_frame_c", "vethA", "from C"]) == "from C\n"
    assert hear(space, receiver, [f"{examples}/plain_send", "vethA"]) == "hello\n"


def test_frames_go_by_af_xdp(space, xdp_examples):
    sender = [f"{xdp_examples}/send_frames", "vethA", "by XDP"]
    for receiver in ["receive_frame", "receive_frame_c"]:
        assert hear(space, [f"{xdp_examples}/{receiver}", "vethB"], sender) == "by XDP\n"
    echo = [f"{xdp_examples}/echo_frames", "vethB", "3"]
    assert hear(space, echo, sender).endswith(" echoed, native, copied by the kernel\n")


def test_messages_go_from_process_to_process(space, examples):
    receiver = subprocess.Popen([*space, f"{examples}/ipc", "receive", "line"], text=True,
                                stdout=subprocess.PIPE)
    run(*space, f"{examples}/ipc", "send", "line", "hello")
    assert receiver.communicate(timeout=30) == ("hello\n", None)


def test_typed_commands_are_made_of_installed_specifications(nl_examples):
    assert "16 nlctrl" in run(f"{nl_examples}/families").splitlines()
    assert run(f"{nl_examples}/families", "nlctrl").endswith(" notify\n")


@pytest.mark.parametrize("spec,says", [
    ("name: [", "cannot read"),
    ("[]", "it is not a map"),
    ("{name: x, protocol: netlink-raw, operations: {list: []}}", "'netlink-raw'"),
    ("{name: x, operations: {list: [{name: a, value: 300}]}}", "'value' cannot be '300'"),
    ("{name: x, operations: {fixed-header: h, list: [{name: a}]}}", "fixed header"),
    ("{name: x, operations: {list: [{name: a, do: {request: {attributes: [b]}}}]}}",
     "'a' has attributes, but no attribute set"),
    ("{name: x, attribute-sets: [{name: s}], operations: {list: [{name: a, attribute-set: s, "
     "do: {request: {attributes: [b]}}}]}}", "'b' is not an attribute of 's'"),
    ("{name: x, attribute-sets: [{name: s, attributes: [{name: b, type: u24}]}], operations: "
     "{list: [{name: a, attribute-set: s, do: {request: {attributes: [b]}}}]}}", "'u24'"),
])
def test_what_is_no_specification_makes_no_header(prefix, tmp_path, spec, says):
    (tmp_path / "x.yaml").write_text(spec)
    done = subprocess.run([f"{prefix}/bin/strata", "nl", "generate", tmp_path / "x.yaml"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stdout == "" and says in done.stderr, done.stderr


def test_the_program_finds_its_specifications_where_it_lies(prefix, tmp_path):
    """Covers a prefix other than the build's, and a moved one, with README's command."""
    environment = {name: value for name, value in os.environ.items() if name != "STRATA_YNL_PATH"}
    moved = tmp_path / "moved"
    shutil.copytree(prefix / "bin", moved / "bin")
    shutil.copytree(prefix / "share/strata", moved / "share/strata")
    for folder in [prefix, moved]:
        said = run(f"{folder}/bin/strata", "nl", "call", "nlctrl", "getfamily", "--attr",
                   "family-name=nlctrl", env=environment)
        assert 'family-name "nlctrl"' in said
    (moved / "share/strata/ynl/nlctrl.yaml").unlink()
    without = subprocess.run([f"{moved}/bin/strata", "nl", "call", "nlctrl", "getfamily"],
                             capture_output=True, text=True, timeout=60, check=False,
                             env=environment)
    # The test is void if strata is installed on this machine, where it would also look.
    if not os.path.exists("/usr/local/share/strata/ynl/nlctrl.yaml"):
        assert "give a specification with --spec" in without.stderr, without
    for kernels in ["ethtool", "netdev", "devlink", "strata_echo"]:
        assert (prefix / f"share/strata/ynl/{kernels}.yaml").is_file()
    assert "BSD-3-Clause" in (prefix / "share/strata/ynl/LICENSE").read_text()


def test_pkg_config_finds_it_too(space, prefix, examples, tmp_path):
    folder = next(str(each) for each in prefix.glob("lib/**/pkgconfig"))
    environment = {**os.environ, "PKG_CONFIG_PATH": folder}
    flags = run("pkg-config", "--cflags", "--libs", "strata", env=environment).split()
    assert not any("xdp" in flag or "bpf" in flag for flag in flags), flags
    # The shared library has only the C ABI: C++ uses the static one.
    program = str(tmp_path / "send_frame")
    run(*CXX, *FLAGS.split(), f"{EXAMPLES}/send_frame.cpp", "-o", program, *flags)
    receiver = [f"{examples}/receive_frame", "vethB"]
    assert hear(space, receiver, [program, "vethA", "by pkg-config"]) == "by pkg-config\n"
    flags = run("pkg-config", "--cflags", "--libs", "strata-c", env=environment).split()
    program = str(tmp_path / "send_frame_c")
    library_path = next(part[2:] for part in flags if part.startswith("-L"))
    run("gcc", "-Wall", "-Wextra", "-Werror", *FLAGS.split(), f"{EXAMPLES}/send_frame_c.c", "-o",
        program, *flags, f"-Wl,-rpath,{library_path}")
    assert hear(space, receiver, [program, "vethA", "in C"]) == "in C\n"


def test_a_program_in_c_lists_netlink_families(prefix, tmp_path):
    folder = next(str(each) for each in prefix.glob("lib/**/pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", "strata-c",
                env={**os.environ, "PKG_CONFIG_PATH": folder}).split()
    library_path = next(part[2:] for part in flags if part.startswith("-L"))
    program = str(tmp_path / "list_families")
    run(*C, *FLAGS.split(), os.path.join(ALL_EXAMPLES, "netlink", "list_families.c"), "-o", program,
        *flags, f"-Wl,-rpath,{library_path}")
    listed = run(program).splitlines()
    assert "16 nlctrl" in listed
    assert any(line.startswith("nlctrl: number 16, version 2, ") for line in listed), listed
    refused = subprocess.run([program, "no_such"], capture_output=True, text=True, timeout=60,
                             check=False)
    assert refused.returncode == 1 and "'no_such'" in refused.stderr, refused


def test_the_shared_library_shows_the_c_abi_and_nothing_else(prefix):
    library = next(str(each) for each in prefix.glob("lib/**/libstrata-c.so"))
    symbols = [line.split()[-1] for line in
               run("nm", "-D", "--defined-only", library).splitlines()]
    for symbol in ["strata_raw_socket_open", "strata_xdp_port_open", "strata_nl_ask"]:
        assert f"{symbol}@@STRATA_0.1" in symbols
    ours = {symbol for symbol in symbols if not symbol.startswith(("STRATA_0.1", "__asan"))}
    assert all(symbol.startswith("strata_") for symbol in ours), ours


def test_an_older_standard_is_answered_with_the_one_that_is_needed(prefix):
    done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-",
                           f"-I{prefix}/include"], input="#include <strata/l2/raw_socket.hpp>\n",
                          capture_output=True, text=True)
    [first, *_] = [line for line in done.stderr.splitlines() if "error:" in line]
    assert done.returncode != 0 and "strata needs C++23: compile with -std=c++23" in first


def test_every_installed_header_compiles_alone(prefix):
    headers = sorted(str(each.relative_to(prefix / "include"))
                     for each in prefix.glob("include/strata/**/*.h*"))
    assert len(headers) > 20
    source = "".join(f"#include <{header}>\n" for header in headers)
    run(*CXX, "-fsyntax-only", "-x", "c++", "-", f"-I{prefix}/include", input=source)
    in_c = "".join(f"#include <{header}>\n" for header in headers if header.endswith(".h"))
    assert in_c.count("\n") == 5
    for standard in ["c11", "c17"]:
        run(*C, f"-std={standard}", "-fsyntax-only", "-x", "c", "-", f"-I{prefix}/include",
            input=in_c)
