"""strata bench netlink, with the C and C++ clients and the kernel's controller."""

import json
import subprocess
from pathlib import Path

import pytest

from strata_daemon import BINARY

pytestmark = [pytest.mark.once, pytest.mark.xdist_group("bench_netlink")]

ROOT = Path(__file__).resolve().parents[2]


def bench(*arguments):
    return subprocess.run([BINARY, "bench", "netlink", *map(str, arguments)], text=True,
                          capture_output=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def clients(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    subprocess.run(["make", "-s", "-j2", "-C", ROOT / "examples/netlink_exchange", f"OUT={folder}",
                    f"STRATA={BINARY}", "pure", "cpp"], check=True, timeout=300)
    return folder


def test_clients_take_turns_and_their_system_calls_are_counted(clients):
    done = bench("--clients", clients, "--times", 200, "--runs", 5, "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["other_end"] == "nlctrl" and document["times"] == 200
    assert document["absent"] == ["libnl", "neli", "rust"]
    rows = {row["client"]: row for row in document["clients"]}
    assert list(rows) == ["pure", "pure_static", "cpp"]
    assert [row["linking"] for row in rows.values()] == ["dynamic", "static", "static"]
    for row in rows.values():
        assert 0 < row["exchange_ns"]["low"] <= row["exchange_ns"]["median"]
        assert row["exchange_ns"]["median"] <= row["whole_ns"]["median"] <= row["whole_ns"]["high"]
        assert row["exchange_ns"]["median"] <= row["exchange_ns"]["p99"]
        # Socket, send and receive, then another exchange.
        assert 5 <= row["system_calls"]["on_socket"] < row["system_calls"]["all"]
    # The program is static, so the goals compare it with pure_static.
    assert [goal["figure"] for goal in document["goals"]] == [
        "whole_ns to pure_static's", "exchange_ns to pure_static's", "system calls"]
    for goal in document["goals"]:
        value, bound = goal["value"], goal["goal"]
        assert goal["client"] == "cpp"
        assert goal["outcome"] == ("reached" if value["high"] <= bound else
                                   "missed" if value["low"] > bound else "undecided")


def test_the_table_says_what_was_not_measured(clients):
    done = bench("--clients", clients, "--times", 50, "--runs", 1)
    assert done.returncode == 0 and "cpp: system calls: " in done.stdout
    assert "cpp: whole_ns to pure_static's: " in done.stdout and "undecided" in done.stdout
    assert "neli: not measured: its program is missing" in done.stdout


def test_no_clients_is_an_error_that_says_how_to_build_them(tmp_path):
    done = bench("--clients", tmp_path)
    assert done.returncode == 3
    assert f"make -C examples/netlink_exchange OUT={tmp_path}" in done.stderr


@pytest.mark.parametrize("script, message", [
    ("echo '{}'", "it printed no /whole_ns/median"),
    ("exit 7", "exit code 7"),
    ("kill -9 $$", "signal 9"),
])
def test_a_client_that_fails_is_named(tmp_path, script, message):
    program = tmp_path / "pure"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    done = bench("--clients", tmp_path, "--times", 1)
    assert done.returncode == 1 and message in done.stderr and str(program) in done.stderr
