"""Tests for kernel parts that development machines lack: VLAN devices, taprio, etf and a PTP clock,
on Debian's stock kernel, in a QEMU guest that is booted once.

    vethA (4 queues) ===[ the guest's first namespace ]=== vethB      eth0: an e1000e, with a clock

SCRIPT is what the guest runs; each test checks a part of the results. STRATA_GUEST_KERNELS selects
the kernels (default 6.1)."""

import json

import pytest

from parts import KERNELS, part, run_parts  # noqa: F401

CARD = ["-netdev", "user,id=net0,restrict=on", "-device", "e1000e,netdev=net0"]
LATER = 4102444800 * 10**9  # in the year 2100, in ns

# Emulated machines are slow, so the cycles are slow too.
SLOW = "--period 50ms --lead 25ms -c 20"
SCRIPT = f"""
for each in veth 8021q sch_taprio sch_etf macvlan bridge e1000e; do modprobe $each; done
ip link add vethA numtxqueues 4 type veth peer name vethB
sysctl -qw net.ipv6.conf.all.disable_ipv6=1
ip link set vethA up; ip link set vethB up
there=$(cat /sys/class/net/vethB/address)

part vlan.add ./strata l2 link add plc0 --type vlan --parent vethA --vlan 10 --egress-prio 0:7 \
  --egress-prio 4:2 --ingress-prio 7:3 --up --address 10.0.0.1/24
part vlan.list ./strata l2 link list plc0 --format json
part vlan.kernel ip -d -j link show plc0
./strata l2 dump vethB --vlan 10 -c 1 --timeout 60s --format json > /run/out/vlan.seen &
part vlan.send ./strata l2 send plc0 hello -c 40 --interval 100ms
wait
part vlan.again ./strata l2 link add plc1 --type vlan --parent vethA --vlan 10
part vlan.del ./strata l2 link del plc0

tc qdisc add dev vethA root handle 100: taprio num_tc 2 map 0 1 0 queues 1@0 1@1 \
  base-time 1000000000 sched-entry S 01 300000 sched-entry S 02 700000 clockid CLOCK_TAI
part taprio.json ./strata l2 qdisc vethA --format json
part taprio.text ./strata l2 qdisc vethA
tc qdisc replace dev vethA parent root handle 100: taprio base-time {LATER} \
  sched-entry S 03 2000000 clockid CLOCK_TAI
part taprio.next ./strata l2 qdisc vethA --format json
tc qdisc del dev vethA root

part etf.none ./strata l2 cycle vethA $there --txtime -c 1
tc qdisc add dev vethA root etf clockid CLOCK_TAI delta 5000000
part etf.json ./strata l2 qdisc vethA --format json
part etf.text ./strata l2 qdisc vethA
part etf.clock ./strata l2 cycle vethA $there --txtime --clock mono -c 1
./strata l2 cycle vethB --receive --period 50ms --format json > /run/out/etf.heard &
receiver=$!
sleep 3
part etf.cycle ./strata l2 cycle vethA $there --txtime {SLOW} --format json
part etf.late ./strata l2 cycle vethA $there --txtime --lead 0 --period 50ms -c 3 --format json
sleep 1
kill -INT $receiver
wait
tc qdisc del dev vethA root

part ptp.devices sh -c 'ls /dev/ptp*'
part ptp.cycle timeout 20 ./strata l2 cycle vethA $there --clock ptp:/dev/ptp0 --period 50ms -c 5 \
  --format json
part dmesg dmesg
exit 0
"""


@pytest.fixture(scope="session")
def outcome(kernel):
    return run_parts(kernel, SCRIPT, "guest-tsn", CARD)


def test_a_vlan_device_is_made_as_the_kernel_sees_it(outcome):
    part(outcome, "vlan.add")
    [row] = json.loads(part(outcome, "vlan.list"))
    assert (row["kind"], row["on"], row["vlan"]) == ("vlan", "vethA", 10)
    assert row["egress_prio"] == ["0:7", "4:2"] and "7:3" in row["ingress_prio"]
    assert row["addresses"] == ["10.0.0.1/24"] and row["state"] != "down"
    [seen] = json.loads(part(outcome, "vlan.kernel"))
    data = seen["linkinfo"]["info_data"]
    assert (data["protocol"], data["id"]) == ("802.1Q", 10)
    assert [(each["from"], each["to"]) for each in data["egress_qos"]] == [(0, 7), (4, 2)]


def test_frames_of_a_vlan_device_have_its_number_and_priority(outcome):
    part(outcome, "vlan.send")
    [frame] = json.loads(outcome.text("vlan.seen"))
    [tag] = frame["tags"]
    assert (tag["vlan_id"], tag["priority"]) == (10, 7)


def test_the_kernels_words_about_a_second_one_are_kept(outcome):
    said = part(outcome, "vlan.again", 1)
    assert "cannot create the vlan interface 'plc1'" in said and "exists" in said, said
    part(outcome, "vlan.del")


def test_the_gates_of_taprio_are_read_back(outcome):
    found = {each["kind"]: each for each in json.loads(part(outcome, "taprio.json"))}
    taprio = found["taprio"]
    assert (taprio["handle"], taprio["parent"], taprio["clock"]) == ("100:", "root", "tai")
    assert taprio["class_of_priority"][:4] == [0, 1, 0, 0] and not taprio["holds_frames"]
    schedule = taprio.get("running") or taprio["next"]
    assert schedule == {
        "base_time_ns": 1000000000, "cycle_time_ns": 1000000, "cycle_extension_ns": 0,
        "entries": [{"command": 0, "gates": 1, "interval_ns": 300000},
                    {"command": 0, "gates": 2, "interval_ns": 700000}]}
    text = part(outcome, "taprio.text")
    assert "taprio 100: root, clock tai" in text and "gates 0x01  300 us" in text, text


def test_a_schedule_that_is_to_come_is_read_too(outcome):
    [taprio] = [each for each in json.loads(part(outcome, "taprio.next"))
                if each["kind"] == "taprio"]
    assert taprio["running"]["cycle_time_ns"] == 1000000
    assert taprio["next"]["base_time_ns"] == LATER
    assert taprio["next"]["entries"] == [{"command": 0, "gates": 3, "interval_ns": 2000000}]


def test_etf_is_read_back(outcome):
    [etf] = [each for each in json.loads(part(outcome, "etf.json")) if each["kind"] == "etf"]
    assert (etf["parent"], etf["clock"], etf["delta_ns"], etf["holds_frames"]) == (
        "root", "tai", 5000000, True)
    assert not etf["deadline"] and not etf["offload"]
    assert "clock tai, delta 5 ms" in part(outcome, "etf.text")


def test_a_frame_with_a_time_needs_a_discipline_that_holds_it(outcome):
    assert "no queueing discipline of 'vethA' holds frames" in part(outcome, "etf.none", 1)
    assert "uses the clock tai: give --clock tai" in part(outcome, "etf.clock", 1)


def test_etf_sends_each_frame_at_its_time(outcome):
    told = json.loads(part(outcome, "etf.cycle"))
    assert told["sent"] + told["not_taken"] + told["missed"] == 20, told
    # etf hands a frame to the driver at its time minus delta, so no frame leaves when the
    # sender wakes up.
    assert told["sent"] >= 10 and "min_ns" in told["send"], told
    heard = json.loads(outcome.text("etf.heard"))
    assert heard["frames"] >= told["sent"] - told["dropped"] - 1, (heard, told)


def test_a_time_that_is_over_is_refused_in_a_sentence(outcome):
    part(outcome, "etf.late", 1)
    told = json.loads(outcome.text("etf.late"))
    assert told["sent"] == 0 and told["not_taken"] == 3, told
    assert "the queueing discipline rejected it" in told["first_refusal"]
    assert told["dropped"] == 3, "the error queue tells of each"


def test_a_cards_clock_is_read_and_waited_for(outcome):
    """QEMU's card before version 8 has a clock that stands still, which strata reports."""
    assert "/dev/ptp0" in part(outcome, "ptp.devices")
    if outcome.text("ptp.cycle.code").strip() == "0":
        told = json.loads(part(outcome, "ptp.cycle"))
        assert told["cycles"] == 5 and told["wake"]["min_ns"] >= 0
    else:
        said = part(outcome, "ptp.cycle", 1)
        assert "cannot wait by the clock ptp:/dev/ptp0: the clock is stopped" in said, said
