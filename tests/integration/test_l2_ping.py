"""l2 ping, echo, flood and sink over a veth; veth.py has the drawing of the namespaces."""

import json
import signal
import subprocess

import pytest

from strata_daemon import BINARY, eventually
from veth import end

pytestmark = pytest.mark.once


def listen(veth, space, *arguments):
    before = veth.packet_sockets(space)
    process = veth.start(space, BINARY, "l2", *arguments)
    eventually(lambda: veth.packet_sockets(space) > before, "its socket hears")
    return process


def ping(veth, *arguments):
    """Returns the document of a ping from a to b, whatever its exit code."""
    done = subprocess.run(["ip", "netns", "exec", veth.a, BINARY, "l2", "ping", "vethA",
                           veth.mac(veth.b, "vethB"), "--format", "json", *arguments],
                          capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout), done


def test_each_request_is_answered_and_timed(veth):
    echo = listen(veth, veth.b, "echo", "vethB")
    mac = veth.mac(veth.b, "vethB")
    lines = veth.strata(veth.a, "l2", "ping", "vethA", mac, "-c", "3", "-i", "10ms", "-s", "100",
                        "--histogram").splitlines()
    assert [line.split("time=")[0] for line in lines[1:4]] == [
        f"100 bytes from {mac}: seq={number} " for number in (1, 2, 3)]
    assert lines[4] == "3 sent, 3 received, 0 lost (0.0 %), 0 duplicates"
    assert lines[5].startswith("min ") and "p99" in lines[5]
    assert sum(int(line.split("|")[2]) for line in lines[6:]) == 3
    told, done = ping(veth, "-c", "5", "-i", "1ms")
    assert done.returncode == 0 and (told["sent"], told["received"], told["lost"]) == (5, 5, 0)
    assert 0 < told["min_ns"] <= told["p50_ns"] <= told["p99_ns"] <= told["max_ns"]
    assert told["min_ns"] <= told["avg_ns"] <= told["max_ns"]
    assert end(echo)[0] == "8 answered, 0 answers could not be sent\n"


def test_who_listens_for_messages_sees_a_ping_as_one(veth):
    heard = listen(veth, veth.b, "recv", "vethB", "-c", "1")
    seen = listen(veth, veth.b, "dump", "vethB", "-c", "1")
    ping(veth, "-c", "1", "--timeout", "100ms")
    assert heard.communicate(timeout=30)[0] == "(request 1 of l2 ping)\n"
    assert seen.communicate(timeout=30)[0].endswith(": (request 1 of l2 ping)\n")


def test_request_and_answer_are_in_their_vlan_with_their_priority(veth):
    dump = listen(veth, veth.a, "dump", "vethA", "--vlan", "10", "-c", "1", "--format", "json")
    echo = listen(veth, veth.b, "echo", "vethB", "--vlan", "10", "-c", "1", "--format", "json")
    seen = listen(veth, veth.b, "dump", "vethB", "--vlan", "10", "-c", "1", "--format", "json")
    told, _ = ping(veth, "-c", "1", "--vlan", "10", "--prio", "7")
    assert told["received"] == 1
    for listener in (dump, seen):
        [frame] = json.loads(listener.communicate(timeout=30)[0])
        [tag] = frame["tags"]
        assert (tag["vlan_id"], tag["priority"]) == (10, 7)
    assert json.loads(echo.communicate(timeout=30)[0])["answered"] == 1
    echo = listen(veth, veth.b, "echo", "vethB", "--vlan", "11")
    told, done = ping(veth, "-c", "1", "--vlan", "10", "--timeout", "200ms")
    assert done.returncode == 1 and told["lost"] == 1 and "min_ns" not in told
    assert end(echo)[0].startswith("0 answered")


def test_what_is_lost_is_told(veth):
    echo = listen(veth, veth.b, "echo", "vethB", "-c", "2")
    told, done = ping(veth, "-c", "5", "-i", "10ms", "--timeout", "200ms")
    assert done.returncode == 0
    assert (told["sent"], told["received"], told["lost"], told["duplicates"]) == (5, 2, 3, 0)
    echo.communicate(timeout=30)


def test_an_answer_that_comes_twice_is_a_duplicate(veth):
    echoes = [listen(veth, veth.b, "echo", "vethB") for _ in range(2)]
    told, _ = ping(veth, "-c", "3", "-i", "50ms")
    assert told["received"] == 3 and told["duplicates"] >= 2 and told["lost"] == 0
    for echo in echoes:
        end(echo)


def test_a_link_that_goes_down_midway_is_told_and_the_ping_goes_on(veth):
    echo = listen(veth, veth.b, "echo", "vethB")
    process = veth.start(veth.a, BINARY, "l2", "ping", "vethA", veth.mac(veth.b, "vethB"), "-i",
                         "20ms")
    heading = process.stdout.readline()
    assert heading.startswith("ping ") and "seq=1 " in process.stdout.readline()
    veth.inside(veth.a, "ip", "link", "set", "vethA", "down")
    # One error is about receiving and is reported once, so at least one is about a request.
    assert ["down" in process.stderr.readline() for _ in range(2)] == [True, True]
    veth.inside(veth.a, "ip", "link", "set", "vethA", "up")
    lines = iter(process.stdout.readline, "")
    numbers = (int(line.split("seq=")[1].split()[0]) for line in lines)
    before = 1
    for number in numbers:
        if number > before + 1:
            break
        before = number
    out, _ = end(process)
    summary = [line for line in out.splitlines() if " lost " in line]
    assert len(summary) == 1 and ", 0 lost" not in summary[0]
    assert process.returncode == 0
    end(echo)


def test_foreign_frames_are_no_requests_and_no_answers(veth):
    echo = listen(veth, veth.b, "echo", "vethB", "--format", "json")
    veth.strata(veth.a, "l2", "send", "vethA", "hello", "--dst", veth.mac(veth.b, "vethB"))
    other = listen(veth, veth.a, "ping", "vethA", veth.mac(veth.b, "vethB"), "-i", "50ms")
    told, _ = ping(veth, "-c", "100", "-i", "5ms")
    assert (told["received"], told["duplicates"]) == (100, 0)
    end(other)
    veth.strata(veth.b, "l2", "send", "vethB", "hello", "--dst", veth.mac(veth.a, "vethA"))
    out, errors = end(echo)
    assert errors == "" and json.loads(out)["answered"] >= 100


def flood(veth, *arguments):
    return json.loads(veth.strata(veth.a, "l2", "flood", "vethA", veth.mac(veth.b, "vethB"),
                                  "--format", "json", *arguments))


def test_a_sink_counts_what_a_flood_sends(veth):
    sink = listen(veth, veth.b, "sink", "vethB", "--vlan", "10", "-c", "100", "--format", "json")
    told = flood(veth, "-c", "100", "-s", "200", "--vlan", "10", "--prio", "7")
    assert told["frames"] == 100 and told["frames_per_second"] > 0
    assert told["dropped_by_interface"] == 0
    out = json.loads(sink.communicate(timeout=30)[0])
    assert (out["frames"], out["bytes"]) == (100, 100 * (14 + 4 + 200))
    assert [out[each] for each in ("foreign", "missing", "duplicates", "reordered")] == [0, 0, 0, 0]


# Numbered frames, as flood sends them.
NUMBERED = """
import socket, struct, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("vethA", 0))
head = bytes.fromhex(sys.argv[1].replace(":", "")) + bytes.fromhex("02000000009988b5")
for number in map(int, sys.argv[2:]):
    link.send(head + b"sL2P\\3\\0\\0\\0" + struct.pack(">QQQ", 77, number, 0) + bytes(14))
"""


def test_a_sink_tells_gaps_duplicates_and_foreign_frames(veth):
    sink = listen(veth, veth.b, "sink", "vethB", "-c", "7", "--format", "json")
    mac = veth.mac(veth.b, "vethB")
    veth.strata(veth.a, "l2", "send", "vethA", "hello", "--dst", mac)
    veth.inside(veth.a, "python3", "-c", NUMBERED, mac, "5", "6", "9", "9", "8", "11")
    out = json.loads(sink.communicate(timeout=30)[0])
    told = [out[each] for each in ("frames", "foreign", "missing", "duplicates", "reordered")]
    assert told == [7, 1, 2, 1, 1]


def test_a_sink_tells_what_the_kernel_dropped(veth):
    sink = listen(veth, veth.b, "sink", "vethB", "-c", "10", "--format", "json")
    sink.send_signal(signal.SIGSTOP)
    assert flood(veth, "-c", "20000", "-s", "1000")["frames"] == 20000
    sink.send_signal(signal.SIGCONT)
    out = json.loads(sink.communicate(timeout=30)[0])
    assert out["frames"] == 10 and out["dropped_by_kernel"] > 0


def test_a_flood_goes_on_until_it_is_interrupted(veth):
    sink = listen(veth, veth.b, "sink", "vethB")
    process = veth.start(veth.a, BINARY, "l2", "flood", "vethA", veth.mac(veth.b, "vethB"))
    assert "frames/s" in sink.stdout.readline()
    out, errors = end(process)
    assert " frames in " in out and process.returncode == 0, errors
    out, _ = end(sink)
    assert "numbers missing" in out and sink.returncode == 0


def test_a_flood_into_a_link_without_carrier_is_told(veth):
    veth.needs_virtual("the other end of a cable stays up")
    veth.inside(veth.b, "ip", "link", "set", "vethB", "down")
    done = subprocess.run(["ip", "netns", "exec", veth.a, BINARY, "l2", "flood", "vethA",
                           veth.mac(veth.b, "vethB"), "-c", "100"],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode != 0 and done.stderr != ""


@pytest.mark.parametrize("arguments, complaint", [
    (["ping", "vethA", "nonsense"], "nonsense"),
    (["ping", "nothere", "02:00:00:00:00:01"], "nothere"),
    (["ping", "vethA", "02:00:00:00:00:01", "-s", "2000"], "MTU of 1500"),
    (["ping", "vethA", "02:00:00:00:00:01", "-s", "31"], "--size"),
    (["ping", "vethA", "02:00:00:00:00:01", "--vlan", "4095"], "--vlan"),
    (["ping", "vethA", "02:00:00:00:00:01", "--prio", "8"], "--prio"),
    (["ping", "vethA", "02:00:00:00:00:01", "-c", "0"], "--count"),
    (["echo", "nothere"], "nothere"),
    (["echo", "vethA", "-e", "0x8100"], "--vlan"),
    (["flood", "vethA", "nonsense"], "nonsense"),
    (["flood", "vethA", "02:00:00:00:00:01", "-s", "1501"], "MTU of 1500"),
    (["sink", "nothere"], "nothere"),
])
def test_bad_input_is_told(veth, arguments, complaint):
    done = subprocess.run(["ip", "netns", "exec", veth.a, BINARY, "l2", *arguments],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode not in (0, 1) and complaint in done.stderr, done.stderr


def test_echo_and_sink_end_by_silence(veth):
    """--timeout ends both that long after the last frame; receiving no frame at all is a
    failure."""
    for verb in ("echo", "sink"):
        done = subprocess.run(["ip", "netns", "exec", veth.b, BINARY, "l2", verb, "vethB",
                               "--timeout", "300ms"], capture_output=True, text=True, timeout=20)
        assert done.returncode == 1, done.stderr
    ending = subprocess.Popen(["ip", "netns", "exec", veth.b, BINARY, "l2", "echo", "vethB",
                               "--timeout", "3s"], stdout=subprocess.PIPE, text=True)
    mac = veth.inside(veth.b, "cat", "/sys/class/net/vethB/address").strip()
    eventually(lambda: subprocess.run(
        ["ip", "netns", "exec", veth.a, BINARY, "l2", "ping", "vethA", mac, "-c", "3", "-i", "1ms"],
        capture_output=True, timeout=20).returncode == 0, "it answers")
    said, _ = ending.communicate(timeout=20)
    assert ending.returncode == 0 and " answered" in said
