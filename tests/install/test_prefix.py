"""All that `make install` installs: in a prefix, in a DESTDIR, and in a moved prefix."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from installing import install, run

SOURCE = Path(__file__).resolve().parents[2]
FLAGS = os.environ.get("STRATA_FLAGS", "").split()
C_PROGRAM = """#include <strata/strata.h>
#include <stdio.h>
int main(void) { uint8_t mac[6]; puts(strata_version());
  return strata_mac_parse("02:00:00:00:00:01", mac); }
"""
CPP_PROGRAM = """#include <strata/base/mac_address.hpp>
int main() { return strata::mac_address::from_text("02:00:00:00:00:01") ? 0 : 1; }
"""


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """Installs as packages are made: for /opt/strata, in a folder."""
    folder = tmp_path_factory.mktemp("dest")
    install("/opt/strata", DESTDIR=str(folder))
    return folder / "opt/strata"


@pytest.fixture(scope="module")
def moved(prefix, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere") / "moved here"
    shutil.copytree(prefix, folder, symlinks=True)
    return folder


@pytest.fixture(params=["prefix", "staged", "moved"])
def installed(request):
    return request.getfixturevalue(request.param)


def test_the_program_runs_from_there(installed):
    assert re.match(r"strata \d+\.\d+\.\d+", run(f"{installed}/bin/strata", "--version"))


def test_editors_find_the_schema_of_stacks(installed):
    schema = Path(installed, "share/strata/strata.schema.json").read_text()
    assert schema == run(f"{installed}/bin/strata", "lint", "--schema")
    assert "server" in json.loads(schema)["$defs"]


def test_its_manual_page_is_found(installed):
    path = run("man", "-w", "strata", env={**os.environ, "MANPATH": f"{installed}/share/man"})
    assert path.strip() == f"{installed}/share/man/man1/strata.1"
    wide = {**os.environ, "MANWIDTH": "200"}  # some lists of choices are one long word
    page = run("man", "-l", path.strip(), env=wide)
    for said in ["strata create TYPE NAME [flags]", "strata l2 dump", "--threads", "EXIT STATUS"]:
        assert said in page
    said = subprocess.run(["man", "-l", "--warnings", path.strip()], capture_output=True, text=True,
                          timeout=60, check=True, env=wide).stderr
    assert said == ""


def test_bash_completes_by_it(installed):
    script = f"""
        . '{installed}/share/bash-completion/completions/strata'
        complete_line() {{
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _strata; echo "${{COMPREPLY[@]}}"
        }}
        complete_line strata cre
        complete_line strata create ''
        complete_line strata l2 du
        complete_line strata create server web --max-mes
        complete_line strata nonsense --x"""
    path = f"{installed}/bin:{os.environ['PATH']}"
    said = run("bash", "-c", script, env={**os.environ, "PATH": path}).splitlines()
    assert said == ["create", "cache client program proxy server", "dump", "--max-message", ""]


def test_other_shells_have_theirs(installed):
    assert (installed / "share/zsh/site-functions/_strata").is_file()
    assert (installed / "share/fish/vendor_completions.d/strata.fish").is_file()


def test_netlink_is_called_by_name(installed):
    plain = {name: value for name, value in os.environ.items() if name != "STRATA_YNL_PATH"}
    said = run(f"{installed}/bin/strata", "nl", "call", "ethtool", "features-get", "--attr",
               "header.dev-name=lo", env=plain)
    assert 'dev-name "lo"' in said


def test_the_unit_names_the_program_where_it_is(prefix, staged):
    for folder, program in [(prefix, f"{prefix}/bin/strata"), (staged, "/opt/strata/bin/strata")]:
        unit = (folder / "lib/systemd/system/strata.service").read_text()
        assert f"ExecStart={program} daemon " in unit and "@bin_dir@" not in unit
    done = subprocess.run(["systemd-analyze", "verify", "--man=no",
                           prefix / "lib/systemd/system/strata.service"],
                          capture_output=True, text=True, timeout=60, check=False)
    ours = [line for line in done.stderr.splitlines() if "strata" in line]
    assert done.returncode == 0 and not ours, done.stderr


def exposure(unit):
    """Returns systemd's exposure level of a unit: 0 is safe, 10 is not. Fails above 4."""
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--threshold=40", unit],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return float(re.search(r"exposure level for .*: ([0-9.]+)", done.stdout)[1])


def test_the_unit_and_its_drop_ins_are_hardened(prefix, tmp_path):
    installed = prefix / "lib/systemd/system/strata.service"
    assert exposure(installed) <= 4
    for name, capability in [("l2", "CAP_NET_RAW"), ("xdp", "CAP_BPF")]:
        more = (prefix / f"share/strata/systemd/{name}.conf").read_text()
        assert "AmbientCapabilities=" in more and capability in more
        unit = tmp_path / f"strata-{name}.service"
        unit.write_text(installed.read_text().replace("[Install]", more + "\n[Install]"))
        assert exposure(unit) <= 4


def test_the_benchmark_finds_its_contenders(installed):
    """The contenders are plain C, and the netlink clients if they were built; each is
    listed or measured."""
    assert os.access(installed / "libexec/strata/strata-plain-packet", os.X_OK)
    listed = run(f"{installed}/bin/strata", "bench", "paths", "--help")
    assert "--paths" in listed
    clients = installed / "libexec/strata/clients"
    clients.mkdir(exist_ok=True)
    fake = clients / "pure"
    was = fake.exists()
    if not was:
        fake.write_text("#!/bin/sh\nexit 7\n")
        fake.chmod(0o755)
    done = subprocess.run([f"{installed}/bin/strata", "bench", "netlink", "--times", "1",
                           "--runs", "1"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert "no client program" not in done.stderr, done.stderr
    if not was:
        assert str(fake) in done.stderr, done.stderr
        fake.unlink()


def pages(installed):
    return [each for each in (installed / "share/doc/strata").rglob("*.md")]


def test_links_between_the_pages_lead_somewhere(installed):
    found = pages(installed)
    assert {"README.md", "xdp.md", "netlink.md"} <= {each.name for each in found}
    for page in found:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"`[^`]*`", "", text)):
            # The page describes the sources, which are not installed.
            is_source = page.name == "ARCHITECTURE.md" and target.startswith("src/")
            if not is_source and not re.match(r"[a-z]+:", target):
                assert (page.parent / target).exists(), f"{page}: {target}"


def test_licenses_scripts_and_sources_are_there(installed):
    data, doc = installed / "share/strata", installed / "share/doc/strata"
    for path in [doc / "LICENSE", doc / "docs/openapi.yaml", doc / "examples/lua/rooms.lua",
                 doc / "kernel/Kbuild", doc / "docs/netlink-message.svg",
                 data / "lua/strata.lua", data / "ynl/LICENSE",
                 data / "bindings/rust/Cargo.toml", data / "bindings/ocaml/dune-project"]:
        assert path.is_file(), path
    for path in [data / "bindings/rust/run_tests.sh", doc / "examples/netlink_tutorial/run.sh"]:
        assert os.access(path, os.X_OK), path
    assert not [each for each in data.rglob("*") if each.name in ("target", "_build")]


def pkg_config(installed, *arguments):
    # The library folder, whatever its name on this machine.
    folder = next(each for each in installed.glob("lib*/**/pkgconfig"))
    return run("pkg-config", *arguments, env={**os.environ, "PKG_CONFIG_PATH": str(folder)})


@pytest.mark.parametrize("form", ["shared", "static"])
def test_programs_in_c_are_built_by_pkg_config(prefix, staged, tmp_path, form):
    for folder in [prefix, staged]:
        (tmp_path / "x.c").write_text(C_PROGRAM)
        wanted = ["--cflags", "--libs", *(["--static"] if form == "static" else [])]
        flags = pkg_config(folder, *wanted, "strata-c").split()
        if form == "static":
            flags = ["-static-libgcc", *(flag.replace("-lstrata-c", "-l:libstrata-c.a")
                                         for flag in flags)]
        run("gcc", *FLAGS, tmp_path / "x.c", "-o", tmp_path / "x", *flags)
        library_path = next(flag[2:] for flag in flags if flag.startswith("-L"))
        environment = {**os.environ, "LD_LIBRARY_PATH": library_path}
        assert run(tmp_path / "x", env=environment).count(".") == 2
        linked = run("ldd", tmp_path / "x", env=environment)
        assert ("libstrata-c.so" in linked) == (form == "shared")


def cmake_build(installed, folder, package, target, **environment):
    (folder / "x.cpp").write_text(CPP_PROGRAM)
    (folder / "c.c").write_text(C_PROGRAM)
    (folder / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(x LANGUAGES C CXX)
{package}
add_executable(x x.cpp)
target_link_libraries(x PRIVATE strata::strata)
add_executable(c c.c)
target_link_libraries(c PRIVATE {target})
""")
    flags = " ".join(FLAGS)
    return subprocess.run(
        ["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={installed}",
         f"-DCMAKE_CXX_FLAGS={flags}", f"-DCMAKE_C_FLAGS={flags}"],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, **environment})


@pytest.mark.parametrize("target", ["strata::c", "strata::c_static"])
def test_programs_are_built_by_cmake(installed, tmp_path, target):
    done = cmake_build(installed, tmp_path, "find_package(strata REQUIRED COMPONENTS xdp)", target)
    assert done.returncode == 0, done.stderr
    run("cmake", "--build", tmp_path / "build", "-j2")
    run(tmp_path / "build/x")
    assert run(tmp_path / "build/c").count(".") == 2


def test_a_machine_without_libxdp_has_all_but_af_xdp(prefix, tmp_path):
    """pkg-config finds no packages there, so neither libxdp nor libbpf."""
    nothing = {"PKG_CONFIG_LIBDIR": str(tmp_path), "PKG_CONFIG_PATH": ""}
    refused = cmake_build(prefix, tmp_path, "find_package(strata REQUIRED COMPONENTS xdp)",
                          "strata::c", **nothing)
    assert refused.returncode != 0 and "libxdp-dev" in refused.stderr, refused.stderr
    done = cmake_build(prefix, tmp_path, "find_package(strata REQUIRED)", "strata::c", **nothing)
    assert done.returncode == 0, done.stderr
    run("cmake", "--build", tmp_path / "build", "--target", "x")
    run(tmp_path / "build/x")
