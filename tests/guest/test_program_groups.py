"""Limits of programs by control groups (cgroup2), on Debian's stock kernel in a QEMU guest, where
version 2 has the controllers.

SCRIPT is what the guest runs; each test checks a part of the results."""

import json

import pytest

from parts import KERNELS, part, run_parts  # noqa: F401

EAT = """
import time
time.sleep(0.5)
eaten = bytearray(200 << 20)
time.sleep(1000)
"""
FORK = """
import os, time
made = 0
try:
    while made < 50:
        if os.fork() == 0: time.sleep(1000)
        made += 1
except BlockingIOError: pass
print("made", made, flush=True)
time.sleep(1000)
"""
# Keeps processes of a group in one that systemd would have delegated to the service.
DELEGATE = """
import os, sys
os.mkdir("/sys/fs/cgroup/service")
os.setxattr("/sys/fs/cgroup/service", "trusted.delegate", b"1")
with open("/sys/fs/cgroup/service/cgroup.procs", "w") as door: door.write(str(os.getpid()))
os.execv(sys.argv[1], sys.argv[1:])
"""
SCRIPT = f"""
await() {{ for turn in $(seq 300); do "$@" > /dev/null 2>&1 && return; sleep 0.2; done; }}
logged() {{ ./strata logs $1 | grep -q "$2"; }}
export STRATA_SOCKET=/tmp/run/s/control STRATA_STATE_DIR=/tmp/run/state
export ASAN_OPTIONS=detect_leaks=0
mkdir -m 700 s state
mount -t cgroup2 none /sys/fs/cgroup
cat > eat.py <<'END'{EAT}END
cat > fork.py <<'END'{FORK}END
cat > delegate.py <<'END'{DELEGATE}END

./strata daemon --cgroup /sys/fs/cgroup/strata 2> /run/out/daemon.log &
daemon=$!
await ./strata ps
part eat.create ./strata create program eat --command "python3 /tmp/run/eat.py" --memory 50MiB -s
await logged eat "has ended"
part eat.log ./strata logs eat
./strata rm eat
part fork.create ./strata create program fork --command "python3 /tmp/run/fork.py" --tasks 10 -s
await logged fork made
part fork.log ./strata logs fork
part fork.stop ./strata rm fork
part burn.create ./strata create program burn --command "while :; do :; done" --shell --cpus 0.2 -s
await grep -q "nr_throttled [1-9]" /sys/fs/cgroup/strata/burn.1/cpu.stat
part burn.limit cat /sys/fs/cgroup/strata/burn.1/cpu.max
part burn.used cat /sys/fs/cgroup/strata/burn.1/cpu.stat
part burn.exec ./strata exec burn cat /proc/self/cgroup
kill $daemon; wait $daemon
part left ls /sys/fs/cgroup/strata

rmdir /sys/fs/cgroup/strata && echo -pids > /sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/bare
./strata daemon --cgroup /sys/fs/cgroup/bare/strata 2> /run/out/bare.log &
daemon=$!
await ./strata ps
part bare.start ./strata create program tasks --command "sleep 1000" --tasks 10 -s
part bare.none ./strata create program free --command "sleep 1000" -s
kill $daemon; wait $daemon

python3 delegate.py ./strata daemon 2> /run/out/delegated.log &
daemon=$!
await ./strata ps
part service.create ./strata create program eat2 --command "python3 /tmp/run/eat.py" \\
  --memory 300MiB -s
part service.daemon cat /proc/$daemon/cgroup
part service.program cat /sys/fs/cgroup/service/eat2.1/memory.max
kill -USR2 $daemon
wait $daemon
await ./strata ps
part service.later cat /sys/fs/cgroup/service/daemon/cgroup.procs
part service.version ./strata version --format json
part service.stop ./strata rm eat2
part service.left ls /sys/fs/cgroup/service
exit 0
"""


@pytest.fixture(scope="session")
def outcome(kernel):
    return run_parts(kernel, SCRIPT, "guest-program-groups", seconds=300)


def test_the_kernel_kills_one_that_needs_too_much_memory(outcome):
    part(outcome, "eat.create")
    log = part(outcome, "eat.log")
    assert "together they needed more memory than --memory 52428800" in log, log
    assert "has ended with signal 9" in log, log


def test_a_fork_bomb_stays_small(outcome):
    part(outcome, "fork.create")
    assert "made 9" in part(outcome, "fork.log")
    part(outcome, "fork.stop")


def test_a_busy_loop_gets_its_share(outcome):
    part(outcome, "burn.create")
    assert part(outcome, "burn.limit") == "20000 100000\n"
    used = dict(line.split() for line in part(outcome, "burn.used").splitlines())
    assert int(used["nr_throttled"]) > 0
    # A command beside it is not limited with it.
    assert part(outcome, "burn.exec") == "0::/\n"


def test_no_group_stays(outcome):
    left = part(outcome, "left").split()
    assert not [each for each in left if "." in each and each.rpartition(".")[2].isdigit()], left


def test_a_missing_controller_is_named(outcome):
    said = part(outcome, "bare.start", 1)
    assert "have no controller 'pids'" in said and "leave --tasks out" in said, said
    part(outcome, "bare.none")


def test_a_delegated_group_is_used(outcome):
    part(outcome, "service.create")
    assert part(outcome, "service.daemon") == "0::/service/daemon\n"
    assert part(outcome, "service.program") == f"{300 << 20}\n"
    later = json.loads(part(outcome, "service.version"))
    assert str(later["daemon"]["pid"]) in part(outcome, "service.later").split()
    part(outcome, "service.stop")
    left = part(outcome, "service.left").split()
    assert "daemon" in left and "eat2.1" not in left, left
