"""The kernel module strata_echo and its clients on Debian's stock kernels, in a QEMU guest that is
booted once per kernel. `script` is what the guest runs; each test checks a part of the results.

STRATA_GUEST_KERNELS="6.1,6.12" selects the kernels (default 6.1); each needs its headers.
STRATA_NETLINK_MESSAGES is the number of random messages, STRATA_SEED their seed,
STRATA_NETLINK_TIMES the number of timed exchanges."""

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

import guest

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(os.environ.get("STRATA_BUILD", ROOT / "build")) / "guest-netlink"
KERNELS = os.environ.get("STRATA_GUEST_KERNELS", "6.1").split(",")
MESSAGES = int(os.environ.get("STRATA_NETLINK_MESSAGES", "20000"))
SEED = int(os.environ.get("STRATA_SEED", random.SystemRandom().randrange(1 << 32)))
BINARY = Path(os.environ.get("STRATA_BUILD", ROOT / "build/release")) / "strata"
TIMES = int(os.environ.get("STRATA_NETLINK_TIMES", "200"))
PATIENCE = 400 + MESSAGES // 500 + TIMES // 20  # seconds
CLIENTS = ["pure", "libnl", "neli", "cpp", "rust"]
USERS = {"root": "", "user": "setpriv --reuid 1000 --regid 1000 --clear-groups "}
ALARM = re.compile(r"BUG|WARNING|KASAN|UBSAN|Oops|lockdep|INFO: task|Call Trace|general protection")
DEMO = re.compile(r"""resolved strata_echo: family \d+, group "events" \d+
sent ECHO_MSG "hello"
received ECHO_MSG "hello"
sent ECHO_MSG \(dump\)
received ECHO_MSG 0 "a message of a dump"
received ECHO_MSG 1 "a message of a dump"
received ECHO_MSG 2 "a message of a dump"
received NLMSG_DONE
sent REPLY_WITH_NLMSG_ERR "hello"
received NLMSG_ERROR -22 "this command always fails" at offset 20
sent NOTIFY "hello"
received ACK
received EVENT \d+ "hello"
""")


def make(*arguments):
    done = subprocess.run(["make", *map(str, arguments)], text=True, timeout=500, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def build_module(headers, folder):
    """Builds in a copy, with warnings as errors; then runs sparse, which must report nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "kernel", folder)
    where = ["-s", "-C", folder, f"KDIR={headers}", "KCFLAGS=-Werror"]
    make(*where)
    said = make(*where, "sparse")
    assert not re.search(r"warning|error", said), said
    return folder / "strata_echo.ko"


def script(kernel):
    """Returns the guest's script. Each part has its output and exit code in files of its own, and
    runs even if an earlier part failed. Users other than root have no other access to the
    programs."""
    here = ROOT / "tests/guest"
    lines = ["mkdir /tmp/run && cp /run/out/bin/* /tmp/run && chmod -R a+rX /tmp/run",
             "cd /tmp/run", "export PYTHONDONTWRITEBYTECODE=1", "export STRATA_YNL_PATH=",
             'part() { to=/run/out/$1; shift; "$@" > $to 2>&1; echo $? > $to.code; }']
    for client in CLIENTS:
        lines.append(f"part {client}.missing ./{client} demo")
    lines.append("part insmod insmod ./strata_echo.ko")
    for user, become in USERS.items():
        lines += [f"part {client}.{user} {become}./{client} demo" for client in CLIENTS]
        lines += [f"part {client}.{user}.once {become}./{client} once" for client in CLIENTS]
        lines.append(f"part hostile.{user} {become}python3 ./hostile_netlink.py")
    lines += ["part nl.show ./strata nl show strata_echo --format json",
              "part nl.echo ./strata nl call strata_echo 1 -a 1=hello",
              "part nl.batch ./strata nl call strata_echo 3 -a 3.1=one -a 3.1=two",
              "part nl.refused ./strata nl call strata_echo 2 -a 1=hello",
              "part nl.period ./strata nl call strata_echo 6 -a 6=50",
              "part nl.listen ./strata nl listen strata_echo events -c 2 --timeout 20s",
              "part nl.still ./strata nl call strata_echo 6 -a 6=0"]
    named = "--spec ./strata_echo.yaml"
    lines += [f"part nl.named.echo ./strata nl call strata_echo echo-msg -a msg=hello {named}",
              f"part nl.named.dump ./strata nl call strata_echo echo_msg --dump {named}",
              "part nl.named.batch ./strata nl call strata_echo echo-batch -a item.msg=one "
              f"-a item.msg=two {named}",
              f"part nl.named.counters ./strata nl call strata_echo get-counters {named} "
              "--format json",
              "part nl.named.refused ./strata nl call strata_echo reply-with-nlmsg-err "
              f"-a msg=hello {named}",
              f"part nl.named.missing ./strata nl call strata_echo echo-msg {named}",
              f"part nl.named.period ./strata nl call strata_echo set-period -a period=50 {named}",
              "part nl.named.listen ./strata nl listen strata_echo events -c 2 --timeout 20s "
              f"{named}",
              f"part nl.named.still ./strata nl call strata_echo set-period -a period=0 {named}"]
    lines += [f"part noise python3 ./noise_netlink.py {MESSAGES} {SEED}",
              "part life python3 ./module_life.py ./strata_echo.ko"]
    lines += [f"part bench ./strata bench netlink --clients . --family strata_echo "
              f"--times {TIMES} --runs 1 --format json"]
    return "\n".join([*lines, "part rmmod rmmod strata_echo", "part dmesg dmesg", "exit 0"])


@pytest.fixture(scope="session")
def module(kernel):
    headers = Path("/lib/modules", kernel.version, "build")
    if not headers.exists():
        pytest.skip(f"THERE ARE NO HEADERS: install linux-headers-{kernel.version}, or delete "
                    f"{guest.CACHE}: the guest gets the newest kernel then, as the headers of "
                    "linux-headers-amd64 are")
    return build_module(headers, WORK / f"module-{kernel.version}")


def test_dkms_builds_and_installs_it(module, kernel):
    """Uses trees of the test's own."""
    version = re.search('PACKAGE_VERSION="(.*)"', (ROOT / "kernel/dkms.conf").read_text())[1]
    work = WORK / f"dkms-{kernel.version}"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(ROOT / "kernel", work / f"source/strata_echo-{version}")
    (work / "tree").mkdir()
    (work / "install" / kernel.version).mkdir(parents=True)
    trees = [f"--{name}tree={work / name}" for name in ["source", "install"]]
    for step in ["add", "build", "install"]:
        subprocess.run(["dkms", step, f"strata_echo/{version}", "-k", kernel.version,
                        f"--dkmstree={work / 'tree'}", *trees], check=True, timeout=300)
    assert list((work / "install").rglob("strata_echo.ko*"))


@pytest.fixture(scope="session")
def clients():
    source = ROOT / "examples/netlink_exchange"
    make("-s", "-j2", "-C", source, f"OUT={WORK}/clients", f"STRATA={BINARY}")
    return [WORK / "clients" / name for name in CLIENTS]


@pytest.fixture(scope="session")
def outcome(kernel, module, clients):
    folder = WORK / f"out-{kernel.version}"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    for each in [module, *clients, BINARY, ROOT / "kernel/strata_echo.yaml",
                 *(ROOT / "tests/guest").glob("*.py")]:
        shutil.copy(each, folder / "bin")
    done = guest.boot(kernel, script(kernel), folder, seconds=PATIENCE)
    assert done.exit_code == 0, f"exit code {done.exit_code}\n{done.output}\n{done.console[-5000:]}"
    return done


def part(outcome, name, code=0):
    """Returns the output of that part of the script."""
    said = outcome.text(name)
    assert outcome.text(f"{name}.code").strip() == str(code), f"{name}: {said[-5000:]}"
    return said


@pytest.mark.parametrize("client", CLIENTS)
def test_client_without_the_module(outcome, client):
    said = part(outcome, f"{client}.missing", 3)
    assert re.search("family 'strata_echo'.* module", said), said


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_client(outcome, client, user):
    said = part(outcome, f"{client}.{user}")
    assert DEMO.fullmatch(said), said
    assert part(outcome, f"{client}.{user}.once") == ""


def test_what_an_exchange_costs_is_measured(outcome):
    """Prints the table, in microseconds, for `pytest -s`."""
    document = json.loads(part(outcome, "bench"))
    rows = {row["client"]: row for row in document["clients"]}
    assert document["other_end"] == "strata_echo" and sorted(rows) == sorted(CLIENTS)
    for name, row in rows.items():
        whole, alone = row["whole_ns"], row["exchange_ns"]
        print(f"{name:6} whole {whole['median'] / 1000:.1f} / {whole['p99'] / 1000:.1f}, "
              f"alone {alone['median'] / 1000:.1f} / {alone['p99'] / 1000:.1f}, "
              f"system calls {row['system_calls']}")
        assert 0 < alone["median"] <= whole["median"]
        assert 5 <= row["system_calls"]["on_socket"] < row["system_calls"]["all"]


def test_strata_nl_finds_what_the_specification_says(outcome):
    shown = json.loads(part(outcome, "nl.show"))
    specified = yaml.safe_load((ROOT / "kernel/strata_echo.yaml").read_text())
    wanted = {each["value"]: each for each in specified["operations"]["list"] if "do" in each}
    assert {each["command"] for each in shown["operations"]} == set(wanted)
    assert {each["command"]: (each["do"], each["dump"], each["needs_uns_admin"])
            for each in shown["operations"]} \
        == {number: (True, "dump" in each, "flags" in each) for number, each in wanted.items()}
    assert [each["name"] for each in shown["groups"]] == ["events"]
    numbers = {each["name"]: number for number, each in
               enumerate(specified["attribute-sets"][0]["attributes"], 1)}
    kinds = {"string": "nul-string", "nest": "nested"}
    told = {each["command"]: {one["attribute"]: one["type"] for one in each["do"]}
            for each in shown["policy"] if "do" in each}
    for number, each in wanted.items():
        for name in each["do"].get("request", {}).get("attributes", []):
            kind = specified["attribute-sets"][0]["attributes"][numbers[name] - 1]["type"]
            assert told[number][numbers[name]] == kinds.get(kind, kind), (each, told)


def test_strata_nl_calls_and_listens(outcome):
    assert part(outcome, "nl.echo") == 'command 1\n  1 "hello"\n'
    assert part(outcome, "nl.batch") == ('command 3\n  4 2\n  3\n    1 "one"\n'
                                         '  3\n    1 "two"\n')
    said = part(outcome, "nl.refused", 1)
    assert "this command always fails" in said and "check attribute 1" in said, said
    part(outcome, "nl.period")
    assert part(outcome, "nl.listen").count("command 7\n  7 ") == 2
    part(outcome, "nl.still")


def test_strata_nl_calls_and_listens_by_name(outcome):
    assert part(outcome, "nl.named.echo") == 'command echo-msg\n  msg "hello"\n'
    assert part(outcome, "nl.named.dump").count('  msg "a message of a dump"\n') == 3
    assert part(outcome, "nl.named.batch") == ('command echo-batch\n  count 2\n  item\n'
                                               '    msg "one"\n  item\n    msg "two"\n')
    [reply] = json.loads(part(outcome, "nl.named.counters"))
    [counters] = reply["attributes"]
    told = {each["name"]: each["value"] for each in counters["attributes"]}
    assert set(told) == {"echoes", "bytes", "dumps", "refused", "events"} and told["echoes"] > 0
    said = part(outcome, "nl.named.refused", 1)
    assert "this command always fails" in said and "check attribute msg" in said, said
    assert "add attribute msg" in part(outcome, "nl.named.missing", 1)
    part(outcome, "nl.named.period")
    assert part(outcome, "nl.named.listen").count("command event\n  sequence ") == 2
    part(outcome, "nl.named.still")


@pytest.mark.parametrize("user", USERS)
def test_hostile_requests(outcome, user):
    assert re.search(r"^all \d+ answered as they should$", part(outcome, f"hostile.{user}"), re.M)


def test_random_messages(outcome):
    print(f"seed {SEED}")
    assert part(outcome, "noise").startswith(f"seed {SEED}\n")


def test_the_module_comes_and_goes(outcome):
    part(outcome, "insmod")
    part(outcome, "life")
    part(outcome, "rmmod")


def test_the_kernel_is_well(outcome):
    said = part(outcome, "dmesg")
    # Both ends of the log are there: the module was loaded and unloaded.
    assert "strata_echo: family 'strata_echo' has id" in said, said[-3000:]
    assert said.rstrip().endswith("family 'strata_echo' is gone"), said[-3000:]
    alarms = [line for line in (said + outcome.console).splitlines() if ALARM.search(line)]
    assert not alarms, "\n".join(alarms)
