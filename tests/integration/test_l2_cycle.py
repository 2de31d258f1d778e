"""strata l2 cycle and strata l2 qdisc (harness/veth.py has the drawing of the namespaces). No
test measures how late a machine is: they only check that the figures agree.
tests/guest/test_tsn.py has etf and taprio."""

import json
import signal
import subprocess
import time

import pytest

from strata_daemon import BINARY, eventually
from veth import Veth, end

pytestmark = pytest.mark.once  # no daemon, and so no loop

ORDER = ["min_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns"]


@pytest.fixture
def veth():
    made = Veth()
    yield made
    made.close()


def run(veth, *arguments):
    return subprocess.run(["ip", "netns", "exec", veth.a, BINARY, "l2", "cycle", "vethA",
                           *arguments], capture_output=True, text=True, check=False, timeout=60)


def there(veth):
    return veth.mac(veth.b, "vethB")


def receiver(veth, *arguments):
    before = veth.packet_sockets(veth.b)
    process = veth.start(veth.b, BINARY, "l2", "cycle", "vethB", "--receive", *arguments)
    eventually(lambda: veth.packet_sockets(veth.b) > before, "the receiver listens")
    return process


@pytest.mark.parametrize("clock", ["tai", "mono"])
def test_each_cycle_has_its_frame_at_the_other_end(veth, clock):
    other = receiver(veth, "--format", "json", "--vlan", "10")
    done = run(veth, there(veth), "-c", "200", "--period", "2ms", "--at", "500us", "--clock", clock,
               "--vlan", "10", "--prio", "7", "--format", "json")
    assert done.returncode == 0, done
    told = json.loads(done.stdout)
    assert told["cycles"] == 200 and told["sent"] + told["missed"] == 200
    assert told["not_taken"] == told["dropped"] == 0
    for name in ("wake", "send"):
        values = [told[name][each] for each in ORDER]
        assert values == sorted(values), told
    # The kernel stamps a frame after the time at which the sender woke up.
    assert told["send"]["max_ns"] > 0
    heard = json.loads(end(other)[0])
    assert heard["frames"] == told["sent"]
    # The receiver cannot know of frames missed before the first or after the last.
    assert heard["missing"] <= told["missed"]
    assert heard["disordered"] == 0


def test_deadlines_lie_behind_multiples_of_the_period(veth):
    dump = veth.start(veth.b, BINARY, "l2", "dump", "vethB", "-e", "0x88b5", "-c", "3", "--format",
                      "json")
    eventually(lambda: veth.packet_sockets(veth.b) > 0, "the dump listens")
    # A cycle that begins too late is missed.
    assert run(veth, there(veth), "-c", "30", "--period", "20ms", "--at", "5ms").returncode == 0
    frames = json.loads(dump.communicate(timeout=30)[0])
    payloads = [bytes.fromhex(each["payload_hex"]) for each in frames]
    times = [int.from_bytes(each[24:32], "big") for each in payloads]
    assert [each % 20_000_000 for each in times] == [5_000_000] * 3, times


def test_missed_cycles_are_counted_at_both_ends(veth):
    other = receiver(veth, "--format", "json")
    process = veth.start(veth.a, BINARY, "l2", "cycle", "vethA", there(veth), "-c", "400",
                         "--period", "5ms", "--format", "json")
    time.sleep(0.5)
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.3)
    process.send_signal(signal.SIGCONT)
    told = json.loads(process.communicate(timeout=30)[0])
    assert told["cycles"] == 400 and told["missed"] >= 40, told
    assert told["sent"] == 400 - told["missed"]
    heard = json.loads(end(other)[0])
    assert 40 <= heard["missing"] <= told["missed"], (heard, told)


def await_heed(process, number):
    """Waits until the process no longer ends by the signal of that number itself."""
    def heeds():
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            masks = dict(line.split(":", 1) for line in status)
        return any(int(masks[name], 16) >> number - 1 & 1 for name in ("SigCgt", "SigBlk"))

    eventually(heeds, f"it heeds signal {number}")


def test_ctrl_c_ends_it_with_what_there_is(veth):
    process = veth.start(veth.a, BINARY, "l2", "cycle", "vethA", there(veth), "--period", "10m")
    await_heed(process, signal.SIGINT)
    out, errors = end(process)
    assert process.returncode == 1 and "0 cycles, 0 sent" in out and errors == ""
    process = veth.start(veth.a, BINARY, "l2", "cycle", "vethA", there(veth), "--histogram")
    await_heed(process, signal.SIGINT)
    time.sleep(0.5)
    out, _ = end(process)
    assert process.returncode == 0 and "woken late by: min" in out and "|#" in out


def locks_memory():
    """Reports whether mlockall works: in builds with a sanitizer it does
    nothing and reports success."""
    return b"san.so" not in subprocess.run(["ldd", BINARY], capture_output=True, check=True).stdout


def test_real_time_flags(veth):
    done = run(veth, there(veth), "-c", "20", "--fifo", "10", "--mlock", "--cpu", "0", "-q")
    assert done.returncode == 0, done
    refused = run(veth, there(veth), "-c", "1", "--cpu", "1000")
    assert refused.returncode == 1 and "cannot run on CPU 1000" in refused.stderr
    flags_of = {"CAP_SYS_NICE": ["--fifo", "10"]}
    if locks_memory():
        flags_of["CAP_IPC_LOCK"] = ["--mlock"]
    for said, flags in flags_of.items():
        done = subprocess.run(
            ["ip", "netns", "exec", veth.a, "setpriv", "--bounding-set=-sys_nice,-ipc_lock",
             "--inh-caps=-all", "prlimit", "--rtprio=0", "--memlock=65536", BINARY, "l2", "cycle",
             "vethA", there(veth), "-c", "1", *flags],
            capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 1 and said in done.stderr and done.stdout == "", done


def test_what_cannot_be_is_refused_in_a_sentence(veth):
    for arguments, code, said in [
            ([there(veth), "--txtime"], 1, "no queueing discipline of 'vethA' holds frames until"),
            ([there(veth), "--txtime", "--clock", "ptp:/dev/null"], 1, "it is not a PTP clock"),
            ([there(veth), "--clock", "utc"], 2, "use mono, tai or ptp:/dev/ptpN"),
            ([there(veth), "--clock", "ptp:/dev/none0"], 3, "/dev/none0"),
            ([there(veth), "--period", "1us"], 2, "--period is too short"),
            ([there(veth), "--period", "1ms", "--at", "1ms"], 2, "--at must be shorter"),
            ([], 2, "DST is missing"),
            ([there(veth), "--receive"], 2, "--receive does not take DST")]:
        done = run(veth, *arguments, "-c", "1")
        assert done.returncode == code and said in done.stderr, done


def test_the_discipline_of_an_interface_is_shown(veth):
    veth.inside(veth.a, "tc", "qdisc", "replace", "dev", "vethA", "root", "handle", "5:", "tbf",
                "rate", "1mbit", "burst", "2000", "limit", "3000")
    assert "tbf 5: root" in veth.strata(veth.a, "l2", "qdisc", "vethA")
    [first, *_] = json.loads(veth.strata(veth.a, "l2", "qdisc", "vethA", "--format", "json"))
    assert first == {"kind": "tbf", "handle": "5:", "parent": "root", "holds_frames": False}
