"""The bindings' own tests against the installed C library; and their tools, run by a user without
privileges through the daemon. veth.py has the drawing of the namespaces."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from broker import NOBODY, refusal_of
from c_library import BUILD, SOURCE, run
from veth import KERNEL

def test_rust(prefix):
    out = run(SOURCE / "bindings/rust/run_tests.sh", prefix, CARGO="/usr/bin/cargo",
              CARGO_TARGET_DIR=str(BUILD / "rust"))
    assert "strata-base, strata-l2, strata-xdp, strata-netlink: all tests passed" in out


def test_ocaml(prefix):
    run(SOURCE / "bindings/ocaml/run_tests.sh", prefix, STRATA_OCAML_BUILD=str(BUILD / "ocaml"))


# --- without the tree: a program with its own copy of the sources, and an installed library

RUST_PROGRAM = """fn main() {
    let tags = strata_l2::VlanTag::new(10, 7).into();
    let frame = strata_l2::Frame {
        destination: strata_l2::MacAddress::BROADCAST,
        source: strata_l2::MacAddress([2, 0, 0, 0, 0, 1]),
        tags,
        ethertype: Some(0x88b5),
        payload: b"hello",
    };
    println!("{}", frame.build(strata_l2::DEFAULT_MTU).unwrap().len());
    println!("{}", strata_netlink::Generic::open().is_ok());
}
"""


def library_environment(prefix):
    found = next(prefix.glob("lib*/**/strata-c.pc"))
    return {"PKG_CONFIG_PATH": str(found.parent), "LD_LIBRARY_PATH": str(found.parent.parent)}


def without_builds(_, names):
    return [name for name in names if name in ("target", "_build")]


def test_a_program_in_rust_vendors_the_crates(prefix, tmp_path):
    shutil.copytree(SOURCE / "bindings/rust", tmp_path / "vendored", ignore=without_builds)
    program = tmp_path / "program"
    (program / "src").mkdir(parents=True)
    (program / "src/main.rs").write_text(RUST_PROGRAM)
    (program / "Cargo.toml").write_text("""[package]
name = "program"
version = "0.1.0"
edition = "2021"
[dependencies]
strata-l2 = { path = "../vendored/l2" }
strata-netlink = { path = "../vendored/netlink" }
""")
    environment = {**library_environment(prefix), "CARGO_TARGET_DIR": str(tmp_path / "target")}
    out = run("/usr/bin/cargo", "run", "--offline", "--quiet", "--manifest-path",
              program / "Cargo.toml", **environment)
    assert out.split() == ["60", "true"], out
    # Archives of the other crates can be made once strata-base is in a registry; their contents can
    # be listed now.
    package = ["/usr/bin/cargo", "package", "--offline", "--allow-dirty", "--manifest-path",
               tmp_path / "vendored/Cargo.toml"]
    run(*package, "-p", "strata-base", **environment)
    assert (tmp_path / "target/package/strata-base-0.1.0.crate").is_file()
    for crate in ["strata-l2", "strata-xdp", "strata-netlink"]:
        listed = run(*package, "-p", crate, "--list", **environment).split()
        assert {"Cargo.toml", "README.md", "src/lib.rs", "src/ffi.rs"} <= set(listed), listed


def test_a_program_in_ocaml_uses_the_installed_package(prefix, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(SOURCE / "bindings/ocaml", copy, ignore=without_builds)
    environment = library_environment(prefix)
    for words in [["build", "@install"], ["install", "--prefix", tmp_path / "installed"]]:
        run("dune", words[0], "--root", copy, *words[1:], **environment)
    shutil.rmtree(copy)
    (tmp_path / "program.ml").write_text("""let () =
  let frame = { Xsk.Frame.destination = Xsk.Mac.broadcast; source = Xsk.Mac.broadcast;
                tags = [ Xsk.Frame.Tag.make 10 ]; ethertype = Some 0x88b5;
                payload = Bytes.empty } in
  Printf.printf "%d " (Bytes.length (Xsk.Frame.build frame));
  print_int (Xsk.Netlink.resolve (Xsk.Netlink.open_ ()) "nlctrl")
""")
    run("ocamlfind", "ocamlopt", "-package", "xsk", "-linkpkg", tmp_path / "program.ml", "-o",
        tmp_path / "program", OCAMLPATH=str(tmp_path / "installed/lib"), **environment)
    assert run(tmp_path / "program", **environment) == "60 16"


# --- through the daemon

ENDS = ["-dmac", "ff:ff:ff:ff:ff:ff", "-smac", "02:00:00:00:00:01", "-dip", "192.0.2.2:9000",
        "-sip", "192.0.2.1:9000"]


@dataclass
class Tools:
    """A binding's programs and their library, where a user without privileges can access them."""

    rxdrop: Path
    udp_pkt_gen: Path
    daemon_echo: Path
    flag: str
    library: Path
    broker: object

    @property
    def environment(self):
        return {"LD_LIBRARY_PATH": str(self.library)}

    def as_nobody(self, *command):
        return self.broker.start_as_nobody(*command, **self.environment)

    def drop(self, *more):
        return self.as_nobody(self.rxdrop, "-d", "vethB", "-q", "0", "-c", "500", "-p", "9000",
                              "-t", "30", *more)

    def generate(self, *more):
        return self.as_nobody(self.udp_pkt_gen, "-d", "vethB", "-q", "0", "-c", "100", *ENDS, *more)


def build_ocaml(paths):
    programs = ["bench/rxdrop.exe", "bench/udp_pkt_gen.exe", "test/daemon_echo.exe"]
    run("dune", "build", "--root", SOURCE / "bindings/ocaml", "--build-dir", BUILD / "ocaml", "-j",
        "2", *programs, **paths)
    return [BUILD / "ocaml/default" / each for each in programs], "-through-daemon"


def build_rust(paths):
    run("/usr/bin/cargo", "build", "--offline", "--examples", "--manifest-path",
        SOURCE / "bindings/rust/Cargo.toml", CARGO_TARGET_DIR=str(BUILD / "rust"),
        RUSTFLAGS="-D warnings", **paths)
    programs = ["rxdrop", "udp_pkt_gen", "daemon_echo"]
    return [BUILD / "rust/debug/examples" / each for each in programs], "--through-daemon"


@pytest.fixture(params=[build_ocaml, build_rust], ids=["ocaml", "rust"])
def tools(request, prefix, broker):
    if KERNEL < (6, 4):
        pytest.skip("NEEDS LINUX 6.4: before, nobody can map the rings of a bound socket")
    library = next(prefix.rglob("strata-c.pc")).parents[1]
    programs, flag = request.param({"PKG_CONFIG_PATH": str(library / "pkgconfig"),
                                    "LD_LIBRARY_PATH": str(library)})
    lent = broker.folder / "lib"
    lent.mkdir()
    for each in library.glob("libstrata-c.so*"):
        shutil.copy(each, lent)
    return Tools(*[shutil.copy(each, broker.folder) for each in programs], flag, lent, broker)


def has_no_privilege(process):
    """Reports whether a process has no privileges: `ip netns exec` and setpriv become the program
    that they run."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return re.search(rf"^Uid:\t{NOBODY}\t{NOBODY}\t", status, re.M) \
        and "\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n" in status


def output_of(process):
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return out


def received_by(process):
    return int(re.search(r"(?:total|received): (\d+) \(pkts\)", output_of(process))[1])


def test_a_user_without_privileges_receives_through_the_daemon(veth, broker, tools):
    broker.allow("user=nobody iface=vethB queue=0\n").start()
    receiver = tools.drop(tools.flag)
    assert "listen" in receiver.stderr.readline()
    assert has_no_privilege(receiver)
    for _ in range(5):
        # At most as many frames at once as a veth's ring holds.
        veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "100")
    assert received_by(receiver) == 500


def test_the_size_of_frames_is_chosen(veth, broker, tools):
    broker.allow("user=nobody iface=vethB queue=0\n").start()
    for size in ("2048", "4096"):
        receiver = tools.drop(tools.flag, "-f", size)
        assert "listen" in receiver.stderr.readline()
        for _ in range(5):
            veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "100")
        assert received_by(receiver) == 500
    refused = tools.drop(tools.flag, "-f", "1000")
    _, errors = refused.communicate(timeout=60)
    assert refused.returncode != 0 and "1000" in errors


def test_a_user_without_privileges_sends_through_the_daemon(veth, broker, tools):
    broker.allow("user=nobody iface=vethB queue=0\n").start()
    receiver = veth.start(veth.a, tools.rxdrop, "-d", "vethA", "-q", "0", "-c", "100", "-p", "9000",
                          "-t", "30", env={**os.environ, **tools.environment})
    assert "listen" in receiver.stderr.readline()
    assert "[udp_pkt_gen] 100 (pkts)" in output_of(tools.generate(tools.flag))
    assert received_by(receiver) == 100


def test_a_port_of_the_daemon_receives_and_sends(veth, broker, tools):
    """The port is opened after earlier ones, and closed in any order, and twice."""
    broker.allow("user=nobody iface=vethB queue=0\n").start()
    echo = tools.as_nobody(tools.daemon_echo, "vethB", "100")
    assert "listening" in echo.stderr.readline()
    veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "100")
    output_of(echo)
    [link] = json.loads(veth.inside(veth.a, "ip", "-s", "-j", "link", "show", "vethA"))
    assert link["stats64"]["rx"]["packets"] == 100


def test_without_a_rule_there_is_a_refusal_in_the_daemons_words(broker, tools):
    says = refusal_of(tools.drop(tools.flag))
    assert f"{broker.folder}/broker.sock" in says and "check that it runs" in says
    broker.allow("user=daemon iface=vethB\nuser=nobody iface=vethB queue=1\n").start()
    for refused in [tools.drop(tools.flag), tools.generate(tools.flag),
                    tools.as_nobody(tools.daemon_echo, "vethB", "1")]:
        says = refusal_of(refused)
        assert "no rule of the daemon's policy allows it" in says and NOBODY in says
    # Only the flag gives that user a socket.
    assert "CAP_NET_RAW" in refusal_of(tools.drop())
