"""strata bench paths: short runs, and what they leave behind."""

import json
import os
import signal
import subprocess
import time
import xml.etree.ElementTree as xml

import pytest

from strata_daemon import BINARY, eventually
from veth import Veth, end

pytestmark = [pytest.mark.once, pytest.mark.serial]

SHORT = ["--seconds", "0.05", "--runs", "1", "--payloads", "50"]


def bench(*flags, **how):
    return subprocess.run([BINARY, "bench", "paths", *flags], capture_output=True, text=True,
                          timeout=120, **how)


def document(*flags):
    done = bench("--format", "json", *flags)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no progress bar when piped
    return json.loads(done.stdout)


def namespaces():
    """Returns the network namespaces of all processes."""
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.add(os.readlink(f"/proc/{process}/ns/net"))
        except OSError:
            pass  # the process has ended
    return found


def links():
    return sorted(os.listdir("/sys/class/net"))


@pytest.fixture
def left_as_found(root):
    before = namespaces(), links()
    yield
    for _ in range(500):
        if (namespaces() - before[0], links()) == (set(), before[1]):
            return
        time.sleep(0.01)
    assert (namespaces() - before[0], links()) == (set(), before[1])


def check_row(row):
    assert "failure" not in row, row
    assert row["sent"] > 0 and row["delivered"] > 0
    assert row["lost"] == row["sent"] - row["delivered"]
    assert row["duplicates"] == row["strays"] == 0
    assert len(row["figure_of_each_run"]) == 1


def test_every_path_delivers_and_the_document_tells_all(left_as_found):
    paths = ("tcp,tcp_batch,udp,udp_batch,udp_gso,packet,packet_batch,packet_bypass,send_ring,"
             "packet_ring,frame_ring,ipc")
    told = document(*SHORT, "--tagged", "all", "--paths", paths)
    assert told["format"] == "strata bench paths"
    raw = {"packet", "packet_batch", "packet_bypass", "send_ring", "packet_ring"}
    plain = {"tcp", "tcp_batch", "udp", "udp_batch", "udp_gso", "ipc"}
    one_way = {(row["path"], row["tagged"]) for row in told["one_way"]}
    assert one_way == {(name, False) for name in raw | plain} | {(name, True) for name in raw}
    assert {row["wait"] for row in told["round_trip"]} == {"busy", "blocking"}
    for row in told["one_way"] + told["round_trip"] + told["filter"]:
        check_row(row)
    for row in told["one_way"]:
        assert row["packets_per_s"] > 0
        assert row["bytes_per_s"] == pytest.approx(50 * row["packets_per_s"], rel=0.01)
        # Builds with a sanitizer do not count allocations.
        if row["path"] in ("packet_batch", "packet_ring"):
            assert row["allocations"] in (0, None)
        if row["path"] == "ipc":
            assert row["allocations"] is None or row["allocations"] < 0.001
        if row["path"].startswith("tcp"):
            assert row["lost"] == 0
    for row in told["round_trip"]:
        assert 0 < row["median_us"] <= row["p99_us"] * 1.05 <= row["p999_us"] * 1.1
    assert {row["foreign_per_s"] for row in told["filter"]} == {0, 100000}
    assert {row["name"] for row in told["sockets"]} >= {"udp", "tcp", "raw_socket", "raw_dear"}
    assert told["link"]["near"]["machine"]["kernel"] == os.uname().release
    assert isinstance(told["link"]["near"]["offloads"], dict)


def test_figures_have_intervals_and_decide_by_them(left_as_found):
    told = document("--seconds", "0.02", "--runs", "5", "--payloads", "50,200", "--paths",
                    "udp,packet,packet_ring", "--measures", "one-way", "--tagged", "none",
                    "--revision", "abc")
    assert (told["runs"], told["confidence"], told["revision"]) == (5, 0.9375, "abc")
    assert len(told["one_way"]) == 6
    for row in told["one_way"]:
        runs = row["figure_of_each_run"]
        assert row["figure"] == {"median": sorted(runs)[2], "low": min(runs), "high": max(runs)}
        ratio = row["ratio_to_base"]
        if row["path"] == "udp":
            assert ratio is None
            continue
        base = next(each for each in told["one_way"]
                    if each["path"] == "udp" and each["payload"] == row["payload"])
        of_each = sorted(one / other for one, other in zip(runs, base["figure_of_each_run"]))
        assert (ratio["low"], ratio["median"], ratio["high"]) == pytest.approx(
            (of_each[0], of_each[2], of_each[4]), rel=0.002)
    for goal in told["goals"]:
        bound, value = goal["bound"], goal["value"]
        least = goal["relation"] == ">="
        reached = value["low"] >= bound if least else value["high"] <= bound
        missed = value["high"] < bound if least else value["low"] > bound
        assert goal["outcome"] == ("reached" if reached else "missed" if missed else "undecided")


def test_one_run_decides_nothing(left_as_found):
    told = document(*SHORT, "--paths", "udp,packet", "--measures", "one-way")
    assert told["goals"] and {goal["outcome"] for goal in told["goals"]} == {"undecided"}


def test_results_are_compared_in_one_table(left_as_found, tmp_path):
    files = []
    for number in range(2):
        files.append(str(tmp_path / f"{number}.json"))
        told = document("--seconds", "0.02", "--runs", "5", "--payloads", "50", "--paths",
                        "udp,udp_gso,packet", "--measures", "one-way", "--tagged", "none")
        (tmp_path / f"{number}.json").write_text(json.dumps(told))

    def compare(*words):
        return subprocess.run([BINARY, "bench", "compare", *words], capture_output=True, text=True,
                              timeout=60)
    told = json.loads(compare(*files, "--format", "json").stdout)
    assert [host["name"] for host in told["hosts"]] == files
    rows = {row["measurement"]["path"]: row for row in told["rows"]}
    assert list(rows) == ["udp", "udp_gso", "packet"] and rows["udp"]["ratios"] == [None, None]
    one, other = rows["packet"]["ratios"]
    assert rows["packet"]["agree"] == (max(one["low"], other["low"]) <=
                                       min(one["high"], other["high"]))
    # udp_gso hands the kernel 64 messages at once, so its side of 1 is not in doubt.
    assert rows["udp_gso"]["side"] == "above"
    shown = compare(*files)
    assert shown.returncode == 0 and "X udp, HOST 2" in shown.stdout and files[1] in shown.stdout
    (tmp_path / "old.json").write_text('{"format": "strata bench paths", "version": 1}')
    for wrong in ["old.json", "none.json"]:
        refused = compare(files[0], str(tmp_path / wrong))
        assert refused.returncode == 1 and wrong in refused.stderr, refused.stderr
    assert compare(files[0]).returncode == 2


def test_all_share_the_mtu_that_is_told(left_as_found):
    # Messages of 4096 B are split at 1500 and packed together at 65535.
    for mtu in (1500, 65535):
        told = document("--seconds", "0.05", "--runs", "1", "--payloads", "50,4096",
                        "--paths", "tcp,ipc", "--measures", "one-way,round-trip", "--mtu", str(mtu))
        assert {row["mtu"] for row in told["one_way"] + told["round_trip"]} == {mtu}
        assert told["settings"]["mtu"] == mtu
        for row in told["one_way"] + told["round_trip"]:
            check_row(row)


def test_a_packed_message_is_not_kept_back_at_a_rate(left_as_found):
    told = document(*SHORT, "--paths", "udp,ipc", "--rate", "2000")
    for row in told["one_way"]:
        check_row(row)
        assert row["sent"] == row["delivered"] == 100


def test_a_receiver_that_sleeps_shows_up_as_drops(left_as_found):
    told = document("--seconds", "0.1", "--runs", "1", "--payloads", "50", "--tagged",
                    "none", "--measures", "one-way", "--paths", "packet_batch,packet_ring",
                    "--plant", "receiver-sleep")
    assert told["settings"]["planted"] == "receiver-sleep"
    for row in told["one_way"]:
        dropped = row["dropped"]["receiver"] + row["dropped"]["interface"]
        assert dropped > 0
        # The kernel and the receiver count independently of each other.
        assert row["delivered"] + dropped == row["sent"]


def test_at_a_rate_the_delay_is_shown(left_as_found):
    told = document(*SHORT, "--paths", "udp,packet_ring", "--rate", "2000", "--tagged", "none")
    assert told["round_trip"] == []
    for row in told["one_way"]:
        check_row(row)
        assert row["sent"] == 100 and row["rate_per_s"] == 2000
        assert 0 < row["p50_us"] <= row["p999_us"]


def test_the_report_is_written_with_its_plots(left_as_found, tmp_path):
    folder = tmp_path / "made" / "here"
    done = bench(*SHORT, "--measures", "one-way", "--paths", "udp,packet", "-o", str(folder))
    assert done.returncode == 0, done.stderr
    assert "One way, counted at the receiver" in done.stdout
    plots = ["bytes.svg", "cpu.svg", "packets.svg", "ratio-messages.svg",
             "udp-and-raw-messages.svg"]
    assert sorted(os.listdir(folder)) == sorted([*plots, "report.md", "results.json"])
    told = json.loads((folder / "results.json").read_text())
    assert told["command"].startswith("strata bench paths --seconds 0.05")
    assert "(packets.svg)" in (folder / "report.md").read_text()
    for name in plots:
        assert xml.parse(folder / name).getroot().tag.endswith("svg")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_however_it_ends(left_as_found, how):
    before = namespaces()
    running = subprocess.Popen([BINARY, "bench", "paths", "--seconds", "20", "--paths", "packet"],
                               stdout=subprocess.DEVNULL)
    for _ in range(1000):
        if len(namespaces() - before) == 2:
            break
        time.sleep(0.01)
    assert len(namespaces() - before) == 2
    time.sleep(0.2)
    assert links() == sorted(os.listdir("/sys/class/net"))
    running.send_signal(how)
    assert running.wait(timeout=30) == -how


def test_over_interfaces_with_a_node_as_the_far_end(left_as_found):
    # veth.py has the drawing; bench paths runs in a, bench node in b.
    veth = Veth()
    try:
        node = veth.start(veth.b, BINARY, "bench", "node", "vethB", "--listen", "192.0.2.2:4790")
        assert "waiting at 192.0.2.2:4790" in node.stdout.readline()
        flags = [*SHORT, "--tagged", "none", "--format", "json", "--paths",
                 "tcp,udp,udp_gso,packet_ring,frame_ring", "--measures", "one-way,round-trip"]
        told = json.loads(veth.strata(veth.a, "bench", "paths", "--iface", "vethA", "--peer",
                                      "192.0.2.2:4790", *flags))
        assert told["link"]["kind"] == "interface"
        for row in told["one_way"] + told["round_trip"]:
            check_row(row)
        out, errors = end(node)
        assert errors == "" and "a bench has connected" in out
        assert "the bench has disconnected" in out
    finally:
        veth.close()


def test_tagged_frames_have_the_vlan_and_priority_that_are_told(left_as_found):
    veth = Veth()
    try:
        node = veth.start(veth.b, BINARY, "bench", "node", "vethB", "--listen", "192.0.2.2:4790")
        assert "waiting at 192.0.2.2:4790" in node.stdout.readline()
        before = veth.packet_sockets(veth.b)
        dump = veth.start(veth.b, BINARY, "l2", "dump", "vethB", "-e", "0x88b5", "--vlan", "77",
                          "-c", "20", "--format", "json")
        eventually(lambda: veth.packet_sockets(veth.b) > before, "its socket hears")
        veth.strata(veth.a, "bench", "paths", "--iface", "vethA", "--peer", "192.0.2.2:4790",
                    *SHORT, "--paths", "packet", "--measures", "one-way", "--tagged", "all",
                    "--vlan", "77", "--prio", "3", "--format", "json")
        frames = json.loads(dump.communicate(timeout=30)[0])
        end(node)
        assert len(frames) == 20
        tags = {(tag["vlan_id"], tag["priority"]) for frame in frames for tag in frame["tags"]}
        assert tags == {(77, 3)}
    finally:
        veth.close()


def test_a_node_survives_what_is_no_bench(left_as_found):
    import socket
    node = subprocess.Popen([BINARY, "bench", "node", "lo", "--listen", "127.0.0.1:0"], text=True,
                            stdout=subprocess.PIPE)
    port = int(node.stdout.readline().rsplit(":", 1)[1])
    order = {"role": "send", "path": "udp", "payload": 50, "peer_mac": "00:00:00:00:00:00"}
    for line in ["nonsense", "[]", '{"do": 5}', '{"do": "enter"}', '{"do": "finish"}',
                 '{"do": "start"}', '{"do": "start", "order": {"role": [], "payload": -1}}',
                 json.dumps({"do": "start", "order": {**order, "payload": 2**63}}),
                 json.dumps({"do": "start", "order": {**order, "seconds": 1e300}})]:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as bench_line:
            bench_line.sendall(line.encode() + b"\n")
            answer = bench_line.makefile().readline()
            assert answer == "" or "error" in json.loads(answer), (line, answer)
    assert node.poll() is None
    end(node)


def test_without_privileges_it_says_which_it_needs(root):
    done = bench("--paths", "udp", user=65534, group=65534, extra_groups=[])
    assert done.returncode == 1
    assert "cannot create a network namespace" in done.stderr and "CAP_SYS_ADMIN" in done.stderr
    assert "--iface" in done.stderr and len(done.stderr.splitlines()) == 1


def test_what_is_asked_wrongly_is_refused_with_a_remedy():
    for flags, part in [(["--paths", "nonsense"], "choose from tcp"),
                        (["--payloads", "3"], "from 24 to"),
                        (["--measures", "x"], "choose from one-way"),
                        (["--iface", "lo"], "--peer"),
                        (["--iface", "lo", "--peer", "a:1", "--mtu", "9000"], "ip link set"),
                        (["--mtu", "500"], "576"),
                        (["--runs", "0"], "from 1"),
                        (["--base", "nonsense"], "choose from tcp"),
                        (["--vlan", "4095"], "4094"),
                        (["--tagged", "none", "--prio", "3"], "--tagged none"),
                        (["--iface", "lo", "--peer", "nonsense"], "HOST:PORT")]:
        done = bench(*flags)
        assert done.returncode != 0 and part in done.stderr, (flags, done.stderr)


def test_without_privileges_it_says_what_it_needs(root):
    done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps", "-all",
                           BINARY, "bench", "paths", *SHORT], capture_output=True,
                          text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot create a network namespace" in done.stderr
    assert "run it as root" in done.stderr and "--iface" in done.stderr
    assert done.stderr.count("\n") == 1
