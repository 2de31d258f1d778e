"""AF_XDP: the xdp verbs and `xdp://` endpoints, beside tshark, ping and TCP. veth.py has the
drawing of the namespaces."""

import json
import os
import signal
import subprocess
import time

import pytest

from strata_daemon import BINARY, eventually
from test_l2 import fields_of, tshark
from veth import KERNEL, DaemonInside, Veth, end

PORT = 9000
MODES = ["native", "generic"]


def attached(veth, space, link):
    [row] = json.loads(veth.strata(space, "xdp", "stats", link, "--format", "json"))
    return row


def drop(veth, space, link, *arguments):
    """Starts strata xdp drop and waits until its program is attached."""
    process = veth.start(space, BINARY, "xdp", "drop", link, "--format", "json", *arguments)
    eventually(lambda: attached(veth, space, link)["program"] == "strata_filter"
               or process.poll() is not None, "the program is attached")
    # Its filter follows a moment later.
    assert "takes frames" in process.stderr.readline()
    return process


def result_of(process):
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return json.loads(out)


def all_are_counted(veth, heard, sent):
    """Checks that each frame was received, dropped by the socket, or lost on the way."""
    assert sent - veth.lost() <= heard["packets"] + heard["dropped"] <= sent


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.once
def test_what_was_sent_arrives_or_is_counted_as_dropped(veth, mode):
    receiver = drop(veth, veth.b, "vethB", "--udp-port", str(PORT), "--mode", mode, "-c", "100000",
                    "--timeout", "1s")
    sent = json.loads(veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "100000", "--format",
                                  "json"))
    heard = result_of(receiver)
    assert sent["packets"] == 100000
    assert heard["native"] == (mode == "native")
    # The kernel chooses the socket's mode, whatever the program's mode is.
    assert heard["zero_copy"] == veth.has_zero_copy
    assert heard["packets"] > 0
    all_are_counted(veth, heard, sent["packets"])


@pytest.mark.parametrize("wakeup", [[], ["--need-wakeup"]], ids=["always awake", "woken"])
@pytest.mark.once
def test_without_a_copy_all_arrive_or_it_is_refused(veth, wakeup):
    ways = ["--zero-copy", *wakeup]
    if not veth.has_zero_copy:
        for verb in ["drop", "gen"]:
            refused = subprocess.run(["ip", "netns", "exec", veth.b, BINARY, "xdp", verb, "vethB",
                                      *ways], capture_output=True, text=True, timeout=60)
            assert refused.returncode == 1 and "does not support zero-copy" in refused.stderr
        return
    receiver = drop(veth, veth.b, "vethB", "--udp-port", str(PORT), "-c", "2000", "--timeout",
                    "20s", *ways)
    for _ in range(10):
        # At most as many frames at once as the card's ring holds.
        sent = json.loads(veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "200", "--format",
                                      "json", *ways))
        assert sent["packets"] == 200 and sent["zero_copy"]
    heard = result_of(receiver)
    assert heard["packets"] == 2000 and heard["dropped"] == 0
    assert heard["zero_copy"] and heard["native"]


def generated(veth, *arguments):
    """Returns the error of an `xdp gen` that must fail."""
    done = subprocess.run(["ip", "netns", "exec", veth.a, BINARY, "xdp", "gen", "vethA",
                           *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2), done.stdout
    return done.stdout, done.stderr


@pytest.mark.once
def test_frames_that_cannot_leave_are_not_said_to_be_sent(veth):
    veth.needs_virtual("of other links nobody knows where frames went")
    assert "MTU of 1500, so a frame has at most 1514 bytes" in generated(veth, "--size", "1600")[1]
    assert "--size" in generated(veth, "--size", "10")[1]
    assert "--queue" in generated(veth, "-Q", "4294967296")[1]
    veth.inside(veth.b, "ip", "link", "set", "vethB", "mtu", "1000")
    out, errors = generated(veth, "--size", "1514", "-c", "100")
    assert "'vethA' dropped all of 100 frames" in errors and "100 (dropped by 'vethA')" in out
    veth.inside(veth.b, "ip", "link", "set", "vethB", "down")
    out, errors = generated(veth, "-c", "100", "--format", "json")
    assert "'vethA' has no carrier and dropped 100 of 100 frames" in errors
    assert json.loads(out)["dropped_by_interface"] == 100
    veth.inside(veth.a, "ip", "link", "set", "vethA", "down")
    errors = generated(veth, "-c", "100")[1]
    assert "'vethA'" in errors and "ip link set vethA up" in errors


@pytest.mark.once
def test_figures_are_true_when_the_link_goes_down(veth):
    veth.needs_virtual("it counts what the other end has got")
    received = "/sys/class/net/vethB/statistics/rx_packets"
    generator = veth.start(veth.a, BINARY, "xdp", "gen", "vethA", "--format", "json")
    eventually(lambda: int(veth.inside(veth.b, "cat", received)) > 1000, "it sends")
    veth.inside(veth.a, "ip", "link", "set", "vethA", "down")
    out, _ = generator.communicate(timeout=60)
    figures = json.loads(out)
    assert 0 < figures["seconds"] < 600
    assert figures["packets_per_second"] == pytest.approx(
        figures["packets"] / figures["seconds"])


@pytest.mark.parametrize("size", [4096, 4097, 9014])
@pytest.mark.once
def test_frames_of_several_chunks_are_sent_and_counted_as_one(root, size):
    """Kernels before 6.6 cannot do this, and the error says so."""
    veth = Veth(mtu=9000)
    try:
        if KERNEL < (6, 6):
            assert "6.6 or newer" in generated(veth, "--size", "9014")[1]
            return
        receiver = drop(veth, veth.b, "vethB", "--udp-port", str(PORT), "--multi-buffer", "-c",
                        "2000", "--timeout", "1s")
        captured = tshark(veth, veth.b, "vethB", 1, "frame.len", "udp.checksum.status",
                          options=["-o", "udp.check_checksum:TRUE"])
        sent = json.loads(veth.strata(veth.a, "xdp", "gen", "vethA", "--size", str(size), "-c",
                                      "2000", "--format", "json"))
        heard = result_of(receiver)
        assert sent["packets"] == 2000 and heard["packets"] > 0
        all_are_counted(veth, heard, 2000)
        # A receiver without AF_XDP gets the frame whole, with a correct checksum.
        veth.strata(veth.a, "xdp", "gen", "vethA", "--size", str(size), "-c", "1")
        assert fields_of(captured) == [[str(size), "1"]]
    finally:
        veth.close()


@pytest.mark.parametrize("change", ["del vethB", "set vethB netns {a} name vethC"],
                         ids=["removed", "moved"])
@pytest.mark.once
def test_dropping_ends_when_its_interface_is_gone(veth, change):
    veth.needs_virtual("a lent interface stays")
    receiver = drop(veth, veth.b, "vethB", "--udp-port", str(PORT))
    veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "10")
    veth.inside(veth.b, "ip", "link", *change.format(a=veth.a).split())
    out, errors = receiver.communicate(timeout=30)
    assert receiver.returncode == 1 and json.loads(out)["packets"] == 10
    assert "on 'vethB'" in errors and "removed, or moved" in errors


@pytest.mark.once
def test_tshark_finds_every_checksum_right(veth):
    capture = tshark(veth, veth.b, "vethB", 20, "ip.src", "ip.dst", "udp.srcport", "udp.dstport",
                     "ip.checksum.status", "udp.checksum.status", "udp.payload", "eth.dst",
                     options=["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"])
    ends = "--dmac 02:00:00:00:00:02 --dip 192.0.2.2:60001 --sip 192.0.2.1:70000"
    refused = subprocess.run(["ip", "netns", "exec", veth.a, BINARY, "xdp", "gen", "vethA",
                              *ends.split()], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2 and "--sip cannot be '192.0.2.1:70000'" in refused.stderr
    veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "20",
                *ends.replace("70000", "60002").split(), "--size", "99")
    seen = fields_of(capture)
    assert len(seen) == 20
    for number, packet in enumerate(seen):
        assert packet[:4] == ["192.0.2.1", "192.0.2.2", "60002", "60001"]
        assert packet[4:6] == ["1", "1"], "1 is good"
        assert packet[6].startswith(f"{number:016x}") and len(packet[6]) == 2 * (99 - 42)
        assert packet[7] == "02:00:00:00:00:02"


@pytest.mark.once
def test_forwarding_into_a_dead_link_is_a_failure(veth):
    """
    a: vethA ---- vethB :b: vethC --//-- vethD :a      vethD is down
    """
    veth.needs_virtual("of other links nobody knows where frames went")
    veth.run("ip", "link", "add", "vethC", "netns", veth.b, "type", "veth", "peer", "name",
             "vethD", "netns", veth.a)
    veth.inside(veth.b, "ip", "link", "set", "vethC", "up")
    forwarding = veth.start(veth.b, BINARY, "xdp", "fwd", "vethB", "vethC", "--udp-port", str(PORT),
                            "-c", "10", "--format", "json")
    eventually(lambda: attached(veth, veth.b, "vethC")["program"] == "strata_filter",
               "it forwards")
    # It may take a moment until the interface accepts frames.
    eventually(lambda: subprocess.run(["ip", "netns", "exec", veth.a, BINARY, "xdp", "gen", "vethA",
                                       "-c", "10"], capture_output=True, timeout=60)
               and forwarding.poll() is not None, "it ends")
    out, errors = forwarding.communicate(timeout=30)
    count = json.loads(out)["forwarded"]["vethB"]
    assert forwarding.returncode == 1 and count >= 10
    assert f"'vethC' has no carrier and dropped {count} of {count} frames" in errors


@pytest.mark.once
def test_frames_are_forwarded_between_two_interfaces(veth):
    """
    a: vethA ---- vethB :b: vethC ---- vethD :a      b forwards between its two
    """
    veth.run("ip", "link", "add", "vethC", "netns", veth.b, "type", "veth", "peer", "name",
             "vethD", "netns", veth.a)
    for space, link in [(veth.b, "vethC"), (veth.a, "vethD")]:
        veth.inside(space, "sysctl", "-qw", f"net.ipv6.conf.{link}.disable_ipv6=1")
        veth.inside(space, "ip", "link", "set", link, "up")
    if veth.has_zero_copy:
        # vethC has no zero-copy mode, and both share one memory, so neither has it.
        refused = subprocess.run(["ip", "netns", "exec", veth.b, BINARY, "xdp", "fwd", "vethB",
                                  "vethC", "-z"], capture_output=True, text=True, timeout=60)
        assert refused.returncode == 1 and "first socket is zero-copy" in refused.stderr
    forwarding = veth.start(veth.b, BINARY, "xdp", "fwd", "vethB", "vethC", "--udp-port", str(PORT),
                            "--format", "json")
    for link in ["vethB", "vethC"]:
        eventually(lambda link=link: attached(veth, veth.b, link)["id"], "both are attached")
    time.sleep(0.2)
    receiver = drop(veth, veth.a, "vethD", "--udp-port", str(PORT), "-c", "3000", "--timeout",
                    "20s")
    for _ in range(30):
        # At most as many frames at once as its rings hold.
        veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "100")
    assert result_of(receiver)["packets"] == 3000
    out, _ = end(forwarding)
    assert json.loads(out) == {"forwarded": {"vethB": 3000, "vethC": 0}, "lost": 0}


@pytest.mark.once
def test_what_is_not_ours_goes_on_working(veth):
    """Ping and TCP work over the same veth in both directions while strata takes its own frames."""
    receiver = drop(veth, veth.b, "vethB", "--udp-port", str(PORT))
    listener = veth.start(veth.b, "nc", "-l", "192.0.2.2", "5000")
    generator = veth.start(veth.a, BINARY, "xdp", "gen", "vethA", "-c", "20000")
    veth.inside(veth.a, "ping", "-c", "3", "-i", "0.2", "-W", "5", "192.0.2.2")
    veth.inside(veth.b, "ping", "-c", "3", "-i", "0.2", "-W", "5", "192.0.2.1")
    text = "over TCP " * 1000
    veth.inside(veth.a, "nc", "-N", "-w", "5", "192.0.2.2", "5000", input=text)
    assert listener.communicate(timeout=30)[0] == text
    generator.communicate(timeout=30)
    out, _ = end(receiver)
    all_are_counted(veth, json.loads(out), 20000)


@pytest.mark.once
def test_no_program_stays_after_kill_9(veth):
    receiver = drop(veth, veth.b, "vethB")
    # `ip netns exec` becomes the program that it runs.
    os.kill(receiver.pid, signal.SIGKILL)
    receiver.communicate(timeout=30)
    eventually(lambda: attached(veth, veth.b, "vethB")["program"] is None, "it is gone")
    again = drop(veth, veth.b, "vethB", "-c", "10")
    veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "10")
    assert result_of(again)["packets"] == 10


@pytest.mark.once
def test_a_second_program_is_refused_and_the_first_is_named(veth):
    first = drop(veth, veth.b, "vethB", "-Q", "0")
    second = subprocess.run(["ip", "netns", "exec", veth.b, BINARY, "xdp", "drop", "vethB"],
                            capture_output=True, text=True, timeout=60)
    assert second.returncode == 1
    assert "another socket uses this queue" in second.stderr or "strata_filter" in second.stderr
    end(first)


def beside_bpffs(veth, space, *command):
    """Returns a command that sees libxdp's pins: `ip netns exec` has a /sys of its own."""
    return ["nsenter", f"--net=/run/netns/{space}", *command]


@pytest.fixture
def shared(veth):
    """Attaches a program that drops UDP to port 7000 behind vethB's dispatcher."""
    loaded = subprocess.run(beside_bpffs(veth, veth.b, "xdp-filter", "load", "-v", "-f", "udp",
                                         "vethB"), capture_output=True, text=True, timeout=60)
    if loaded.returncode != 0 or "without dispatcher" in loaded.stderr + loaded.stdout:
        veth.inside(veth.b, "ip", "link", "set", "vethB", "xdp", "off")
        subprocess.run(["rm", "-rf", "/sys/fs/bpf/xdp-filter"], check=True)
        pytest.skip(f"THIS KERNEL LETS LIBXDP HAVE NO DISPATCHER: {loaded.stdout}{loaded.stderr}")
    Veth.run(*beside_bpffs(veth, veth.b, "xdp-filter", "port", "-p", "udp", "-m", "dst", "7000"))
    yield veth
    Veth.run(*beside_bpffs(veth, veth.b, "xdp-filter", "unload", "vethB"))


def programs_of(veth, space, link):
    status = Veth.run(*beside_bpffs(veth, space, "xdp-loader", "status", link))
    return [name for name in ("xdp_dispatcher", "strata_filter", "xdpfilt") if name in status]


@pytest.mark.xdist_group("bpffs")  # its pins have fixed names
@pytest.mark.once
def test_it_joins_the_dispatcher_of_libxdp_and_leaves_it(shared):
    """The existing program continues; frames that ours does not take reach it and the kernel."""
    receiver = subprocess.Popen(
        beside_bpffs(shared, shared.b, BINARY, "xdp", "drop", "vethB", "--udp-port", str(PORT),
                     "--format", "json", "-c", "100"),
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "takes frames" in receiver.stderr.readline(), receiver.communicate(timeout=30)
    assert programs_of(shared, shared.b, "vethB") == ["xdp_dispatcher", "strata_filter", "xdpfilt"]
    listeners = [shared.start(shared.b, "timeout", "20", "nc", "-u", "-l", "-W", "1", port)
                 for port in ("7000", "7001")]
    time.sleep(1)
    for port in (b"7000", b"7001"):
        shared.inside(shared.a, "nc", "-u", "-w", "1", "192.0.2.2", port.decode(), input="hello\n")
    shared.strata(shared.a, "xdp", "gen", "vethA", "-c", "100")
    assert result_of(receiver)["packets"] == 100
    stopped, heard = (each.communicate(timeout=60)[0] for each in listeners)
    assert (stopped, heard) == ("", "hello\n")
    assert programs_of(shared, shared.b, "vethB") == ["xdp_dispatcher", "xdpfilt"]
    assert "rtt" in shared.inside(shared.a, "ping", "-c", "1", "-W", "5", "192.0.2.2")


@pytest.mark.xdist_group("bpffs")  # its pins have fixed names
@pytest.mark.once
def test_a_dispatcher_of_another_mode_is_named(shared):
    refused = subprocess.run(beside_bpffs(shared, shared.b, BINARY, "xdp", "drop", "vethB",
                                          "--mode", "generic"),
                             capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1
    assert "it is attached in native mode" in refused.stderr


@pytest.mark.parametrize("arguments,exit_code,says", [
    (["drop", "none0"], 3, "no interface has this name"),
    (["drop", "vethB", "-Q", "7"], 1, "check that the queue exists"),
    (["drop", "vethB", "--mode", "fast"], 2, "say automatic, native or generic"),
    (["drop", "vethB", "--ethertype", "7"], 2, "--ethertype"),
    (["gen", "vethB", "--dip", "nowhere"], 2, "--dip cannot be 'nowhere'"),
    (["gen", "vethB", "--dmac", "x"], 2, "--dmac"),
    (["gen", "vethB", "--size", "5000"], 2, "MTU of 1500"),
    (["fwd", "vethB", "vethB"], 2, "name two interfaces"),
    (["fwd", "vethB", "lo", "--through-daemon"], 2, "--through-daemon"),
    (["stats", "none0"], 3, "none0"),
])
@pytest.mark.once
def test_what_cannot_be_is_refused_with_what_to_do(veth, arguments, exit_code, says):
    refused = subprocess.run(["ip", "netns", "exec", veth.b, BINARY, "xdp", *arguments],
                             capture_output=True, text=True, timeout=60)
    assert refused.returncode == exit_code, refused.stderr
    assert says in refused.stderr


# --- xdp:// endpoints


@pytest.mark.parametrize("mode", MODES)
def test_a_server_and_a_client_talk_by_xdp(veth, daemons, mode):
    server, other = daemons
    url = f"xdp://vethA/0?ethertype=0x88b5&mode={mode}"
    server.cli("create", "server", "hub", "--listen", url, "-s")
    assert server.show("hub")["endpoints"] == [url]
    other.cli("create", "client", "guest", "--connect",
              f"xdp://vethB/0?mode={mode}&dst={veth.mac(veth.a, 'vethA')}", "-s")
    other.send("guest", b"I am here")
    eventually(lambda: server.stats("hub")["messages"]["in"] == 1, "it is heard")
    for number in range(200):
        server.send("hub", b"number %d" % number)
    eventually(lambda: other.stats("guest")["messages"]["in"] == 200, "all arrive")
    other.send("guest", b"x" * 1500)
    eventually(lambda: server.stats("hub")["bytes"]["in"] == len("I am here") + 1500, "a whole MTU")
    assert set(other.stats("guest")["dropped"].values()) == {0}
    veth.inside(veth.a, "ping", "-c", "1", "-W", "5", "192.0.2.2")
    server.cli("stop", "hub")
    assert attached(veth, veth.a, "vethA")["program"] is None


def test_l2_and_xdp_understand_each_other_in_a_vlan(veth, daemons):
    server, other = daemons
    server.cli("create", "server", "hub", "--listen", "xdp://vethA/0?vlan=10&prio=7", "-s")
    other.cli("create", "client", "guest", "--connect",
              f"l2://vethB/0x88b5?dst={veth.mac(veth.a, 'vethA')}&vlan=10", "-s")
    other.cli("create", "client", "stranger", "--connect",
              f"l2://vethB/0x88b5?dst={veth.mac(veth.a, 'vethA')}&vlan=11", "-s")
    other.send("stranger", b"not for you")
    other.send("guest", b"hello")
    eventually(lambda: server.stats("hub")["messages"]["in"] == 1, "hello")
    server.send("hub", b"and you")
    eventually(lambda: other.stats("guest")["messages"]["in"] == 1, "and you")
    assert other.stats("stranger")["messages"]["in"] == 0
    assert server.stats("hub")["bytes"]["in"] == len("hello")


def test_jumbo_frames_need_no_setting(root, tmp_path):
    """Kernels before 6.6 cannot do this, and the error says so."""
    veth = Veth(mtu=9000)
    daemons = [DaemonInside(veth.a, tmp_path / "a"), DaemonInside(veth.b, tmp_path / "b")]
    create = ["create", "server", "hub", "--listen", "xdp://vethA", "-s"]
    try:
        for each in daemons:
            each.start()
        if KERNEL < (6, 6):
            refused = daemons[0].run(*create)
            assert refused.returncode == 1
            assert "the kernel is 6.6 or newer, as multi-buffer needs" in refused.stderr
            return
        daemons[0].cli(*create)
        daemons[1].cli("create", "client", "guest", "--connect",
                       f"xdp://vethB?dst={veth.mac(veth.a, 'vethA')}", "-s")
        daemons[1].send("guest", b"x" * 8999)
        eventually(lambda: daemons[0].stats("hub")["bytes"]["in"] == 8999, "it arrives whole")
    finally:
        for each in daemons:
            each.close()
        veth.close()


@pytest.mark.parametrize("mode", MODES)
def test_each_queue_has_a_socket_of_its_own(root, tmp_path, mode):
    """
    16 flows: vethA, queues 0 and 1 ==== vethB, queues 0, 1, ...: a server on each
    """
    veth = Veth(queues=2)
    daemon = DaemonInside(veth.b, tmp_path)
    servers = []

    def heard():
        return [daemon.stats(each)["messages"]["in"] for each in servers]

    try:
        daemon.start()
        # virtio-net enables more queues, also for receiving, with the first program.
        while len(servers) < max(2, veth.queues(veth.b, "vethB")):
            number = len(servers)
            servers.append(f"queue-{number}")
            daemon.cli("create", "server", servers[-1], "--listen",
                       f"xdp://vethB/{number}?ethertype=0x0800&mode={mode}", "-s")
        for flow in range(16):
            veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "20", "-Q", str(flow % 2), "--sip",
                        f"192.0.2.1:{7000 + flow}")
        eventually(lambda: sum(heard()) == 16 * 20, "all arrive")
        each = heard()
        if not veth.is_virtual:
            assert sorted(each)[-2] > 0, "a device chooses the queue by the flow"
        elif mode == "native":
            assert each == [8 * 20, 8 * 20], "on a veth what one queue sent comes by the same"
        # In generic mode, all frames of a veth arrive at the first queue.
    finally:
        daemon.close()
        veth.close()


def test_a_busy_queue_is_an_error_that_says_so(veth, daemons):
    server = daemons[0]
    server.cli("create", "server", "one", "--listen", "xdp://vethA", "-s")
    server.cli("create", "server", "two", "--listen", "xdp://vethA?ethertype=0x88b6")
    refused = server.run("start", "two")
    assert refused.returncode == 1
    assert "another socket uses this queue" in refused.stderr


def test_an_interface_that_is_removed_and_made_again_works_again(veth, daemons):
    veth.needs_virtual("it removes the interface")
    server, other = daemons
    server.cli("create", "server", "hub", "--listen", "xdp://vethA", "-s")
    veth.inside(veth.a, "ip", "link", "del", "vethA")
    eventually(lambda: server.logged("hub", "the interface 'vethA' was removed"), "the log says so")
    veth.run("ip", "link", "add", "vethA", "netns", veth.a, "type", "veth", "peer", "name", "vethB",
             "netns", veth.b)
    veth.inside(veth.a, "ip", "link", "set", "vethA", "up")
    veth.inside(veth.b, "ip", "link", "set", "vethB", "up")

    def heard():
        veth.strata(veth.b, "l2", "send", "vethB", "again")
        return server.stats("hub")["messages"]["in"] > 0

    eventually(heard, "again")
    assert attached(veth, veth.a, "vethA")["program"] == "strata_filter"
