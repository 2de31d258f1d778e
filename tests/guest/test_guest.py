"""AF_XDP on Debian's stock kernels and on virtio-net, in a QEMU guest. `make test-guest`
runs it: a quarter of an hour per kernel, because the guest is emulated. guest.py and
nics.py have the drawings.

STRATA_GUEST_KERNELS="6.1,6.12,7" selects the kernels, STRATA_BUILD the build."""

import json
import os
import shutil
from pathlib import Path

import pytest

import guest
import nics

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STRATA_BUILD", ROOT / "build/release"))
WORK = ROOT / "build/guest"
KERNELS = os.environ.get("STRATA_GUEST_KERNELS", "6.1,6.12,7").split(",")
PATIENCE = 1500  # seconds
HUGE_PAGES = 32
ZERO_COPY_SINCE = (6, 13)  # in virtio-net, both directions
PYTEST = ("python3 -m pytest -q -rs --tb=short -p no:cacheprovider --color=no "
          "test_xdp.py test_broker.py")


@pytest.fixture(scope="session")
def binaries():
    """Copies the binaries, so that a build may run meanwhile. The guest sees them at
    the same path."""
    if ROOT.is_relative_to("/tmp"):
        pytest.skip(f"THERE IS NO GUEST: it has a /tmp of its own, and sees no {ROOT}")
    made = WORK / "bin"
    made.mkdir(parents=True, exist_ok=True)
    for each in [Path(os.environ.get("STRATA_BIN", BUILD / "strata")),
                 BUILD / "tests/strata_unit_tests"]:
        shutil.copy(each, made / each.name)
    return made


@pytest.fixture
def inside(kernel, binaries, request, findings):
    """Runs a script in the guest, and checks that it ends successfully."""
    def run(script, links=(), prefix=()):
        name = f"{kernel.series}-{request.function.__name__}"
        setting = "\n".join([f"export STRATA_BIN={binaries}/strata PYTHONDONTWRITEBYTECODE=1",
                             "modprobe virtio_net", f"cd {ROOT}/tests/integration", ""])
        done = guest.boot(kernel, setting + script, WORK / name, links, PATIENCE, prefix)
        said = done.output.splitlines()
        kept = [line for line in said if line.startswith(("SKIPPED", "FAILED", "THIS KERNEL"))]
        findings.ran.append(f"{kernel.version}: {request.function.__name__}: "
                            f"{said[-1].strip() if said else 'nothing'}")
        findings.ran += [f"    {line}" for line in kept]
        assert done.exit_code == 0, (f"exit code {done.exit_code}\n{done.output[-20000:]}\n"
                                     f"{done.console[-3000:]}\n{done.text('qemu')}")
        return done
    return run


@pytest.fixture
def taps():
    if os.geteuid() != 0:
        pytest.skip("NEEDS ROOT: it makes a network namespace with taps")
    with nics.Taps() as made:
        yield made


def test_unit_tests_on_veth(inside, binaries, findings, kernel):
    """Uses huge pages, so that no test that needs them is skipped."""
    done = inside(f"sysctl -qw vm.nr_hugepages={HUGE_PAGES} && {binaries}/strata_unit_tests "
                  "--gtest_brief=1 --gtest_filter='*xdp_test*:umem_test*'")
    assert "NEEDS HUGE PAGES" not in done.output, done.output
    findings.ran.append(f"{kernel.version}: a UMEM in huge pages: yes")


def test_the_same_tests_on_veth(inside):
    inside(PYTEST)


def test_the_same_tests_on_virtio_net(inside):
    inside(f"export STRATA_TEST_LINKS=eth0,eth1\n{PYTEST}", nics.pair())


def test_without_a_copy_on_virtio_net(inside, kernel):
    """Runs all tests with zero-copy; kernels without it must refuse it."""
    has_it = kernel.number >= ZERO_COPY_SINCE
    inside(f"export STRATA_TEST_LINKS=eth0,eth1 STRATA_TEST_ZEROCOPY={int(has_it)}\n"
           f"{PYTEST} {'' if has_it else '-k without_a_copy'}", nics.pair(nics.ZERO_COPY))


def test_several_queues_on_virtio_net(inside, taps):
    """XDP needs as many additional queues for sending as there are processors."""
    inside(f"export STRATA_TEST_LINKS=eth0,eth1\n{PYTEST} -k each_queue",
           [*taps.tap(4), *taps.tap(4)], taps.prefix)


def test_what_is_available(inside, taps, findings, kernel):
    """Includes the offloads that native XDP cannot use: once the driver may disable them, once
    not."""
    asked = {"vethA": "veth", "eth0": "virtio-net", "eth1": "virtio-net, 4 queues",
             "eth2": "virtio-net, memory mapped", "eth3": "virtio-net, offloads on",
             "eth4": "virtio-net, offloads forced on"}
    links = [*taps.tap(1), *taps.tap(4), *taps.tap(1, nics.ZERO_COPY),
             *taps.tap(4, "guest_tso4=on"), *taps.tap(4, "guest_tso4=on,ctrl_guest_offloads=off")]
    rows = " ".join(f"'{name}={what}'" for name, what in asked.items())
    done = inside("ip link add vethA type veth peer name vethB; ip link set vethB up\n"
                  f"python3 {ROOT}/tests/guest/ask.py /run/out/rows.json {rows} && echo asked",
                  links, taps.prefix)
    found = json.loads(done.text("rows.json"))
    findings.rows += found
    for row in found[:4]:
        assert row["native"] is True and row["generic"] is True, row
    for way in ["zero-copy in", "zero-copy out"]:
        assert [row[way] is True for row in found] == [
            row["interface"] == asked["eth2"] and kernel.number >= ZERO_COPY_SINCE
            for row in found], found
    if kernel.number >= ZERO_COPY_SINCE:
        assert "iommu_platform=on" in found[1]["zero-copy in"], found[1]
    # Multi-buffer came with kernel 6.6; older kernels must report that they lack it.
    has_it = kernel.number >= (6, 6)
    assert (found[0]["multi-buffer native"] is True) == has_it
    if not has_it:
        assert "the kernel is 6.6 or newer" in found[0]["multi-buffer native"]
