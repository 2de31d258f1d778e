"""Chooses the calls that fail and their errors, runs many lives in parallel, and
prints their table.

`python3 -m faults [--sample N] [--only TEXT]` in tests/ does this by hand; STRATA_BIN
names the daemon.
"""

import collections
import concurrent.futures
import errno
import multiprocessing
import os
import random
import shutil
import sys
from pathlib import Path

from .injector import Fault, Place
from .life import Life

# The errors that the manual pages list for each call, for one kind of descriptor or for any.
# Neither errors of our own mistakes (EBADF, EFAULT) nor those that go away by themselves,
# such as EAGAIN.
ERRORS = {
    "accept4": "EMFILE ENOBUFS ECONNABORTED EINTR", "access": "EIO", "bind": "EADDRINUSE ENOMEM",
    "chmod": "EIO", "clone3": "EAGAIN", "connect": "ECONNREFUSED EAGAIN ENOBUFS",
    "dup": "EMFILE", "epoll_create1": "EMFILE ENOMEM", "epoll_ctl(add)": "ENOMEM ENOSPC",
    "epoll_ctl(mod)": "ENOMEM", "epoll_pwait2": "EINTR", "eventfd2": "EMFILE ENOMEM",
    "fchmod": "EIO", "fcntl": "ENOLCK", "fdatasync": "EIO ENOSPC", "flock": "ENOLCK EINTR",
    "fstat": "ENOMEM", "fsync": "EIO ENOSPC", "ftruncate": "EIO", "getdents64": "EIO ENOMEM",
    "getpeername": "ENOBUFS", "getsockname": "ENOBUFS", "getsockopt": "ENOMEM",
    "inotify_add_watch": "ENOSPC ENOMEM", "inotify_init1": "EMFILE ENOMEM",
    "io_uring_enter": "EINTR EAGAIN EBUSY", "io_uring_register": "ENOMEM EINVAL",
    "io_uring_setup": "ENOMEM EMFILE EPERM", "linkat": "EPERM ENOSPC", "listen": "EADDRINUSE",
    "mkdirat": "ENOSPC EACCES", "mmap": "ENOMEM", "newfstatat": "ENOMEM EACCES",
    "open": "EMFILE EACCES", "openat": "EMFILE EIO EACCES", "openat2": "EMFILE EAGAIN",
    "pipe2": "EMFILE", "poll": "EINTR ENOMEM", "pread64": "EIO", "pwrite64": "ENOSPC EIO",
    "read(file)": "EIO", "read(eventfd)": "EINTR", "read(signalfd)": "EINTR",
    "recvfrom": "ENOMEM ECONNRESET EINTR", "recvmsg": "ENOMEM EINTR", "rename": "EIO ENOSPC",
    "renameat": "EIO ENOSPC", "renameat2": "EIO EINVAL", "sendfile": "EIO ENOMEM EINTR",
    "sendmsg": "ENOBUFS EPIPE EINTR", "sendto": "ENOBUFS EPIPE", "setsockopt": "ENOMEM",
    "signalfd4": "EMFILE ENOMEM", "socket": "EMFILE ENOBUFS", "statx": "ENOMEM",
    "unlink": "EIO EPERM", "unlinkat": "EIO EPERM", "write(file)": "ENOSPC EIO EDQUOT",
    "write(log)": "EIO ENOSPC", "write(eventfd)": "EINTR", "writev": "ENOSPC EIO",
}
VERDICTS = ["answered with an error", "connection cut", "refused at start", "no effect seen",
            "not reached", "crash", "hang", "lost"]
BAD = {"crash", "hang", "lost"}


def errors_of(call, kind):
    named = ERRORS.get(f"{call}({kind})") or ERRORS.get(call, "")
    return [getattr(errno, name) for name in named.split()]


class Lives:
    """One worker's folder: a template, and a copy of it for each life."""

    def __init__(self, folder):
        self.folder = Path(folder) / f"w{os.getpid()}"
        self.life = self.folder / "life"
        self.template = self.folder / "template"
        Life(self.life).prepare()
        shutil.copytree(self.life, self.template, ignore=shutil.ignore_patterns("*.sock"))

    def one(self, fault=None):
        shutil.rmtree(self.life)
        shutil.copytree(self.template, self.life)
        life = Life(self.life, fault)
        outcome = life.run()
        return outcome, life.daemon.injector.counts


def begin_worker(folder):
    global lives  # one per worker
    lives = Lives(folder)


def run_one(fault):
    return lives.one(fault)


class Crew:
    """Workers that run many lives in parallel."""

    def __init__(self, folder, workers):
        self.pool = concurrent.futures.ProcessPoolExecutor(
            workers, multiprocessing.get_context("spawn"), begin_worker, (folder,))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pool.shutdown(cancel_futures=True)

    def find_faults(self, rounds=2):
        """Returns every point that lives without a fault pass, in order."""
        most = collections.Counter()
        for outcome, counts in self.pool.map(run_one, [None] * rounds):
            assert outcome.verdict == "no effect seen", f"{outcome.verdict}: {outcome.detail}"
            for key, count in counts.items():
                most[key] = max(most[key], count)
        return [Fault(Place(*key, nth + 1), error) for key, count in sorted(most.items())
                for nth in range(count) for error in errors_of(*key[1:])]

    def try_all(self, faults):
        """Yields outcomes as they complete."""
        trying = [self.pool.submit(run_one, each) for each in faults]
        for each in concurrent.futures.as_completed(trying):
            yield each.result()[0]


def sample(faults, count, seed):
    """Returns a sample with at least one point of each call and of each kind of descriptor."""
    chance = random.Random(seed)
    shuffled = chance.sample(faults, len(faults))
    first = {(each.place.call, each.place.kind): each for each in shuffled}
    others = [each for each in shuffled if each not in first.values()]
    return [*first.values(), *others[:max(count - len(first), 0)]]


def table(outcomes):
    """Returns the table's lines: a call with the number of each of its verdicts."""
    counts = collections.defaultdict(collections.Counter)
    for each in outcomes:
        counts[each.fault.place.call][each.verdict] += 1
        counts["all"][each.verdict] += 1
    heads = ["answered", "cut", "refused", "none", "missed", "crash", "hang", "lost"]
    lines = [f"{'call':18}{'points':>8}" + "".join(f"{head:>10}" for head in heads)]
    for call in [*sorted(counts.keys() - {"all"}), "all"]:
        row = counts[call]
        lines.append(f"{call:18}{row.total():8}" + "".join(f"{row[each]:10}" for each in VERDICTS))
    return "\n".join(lines)


def run(folder, workers, choose, out=sys.stdout):
    """Returns the outcomes of the faults that `choose` selects; prints bad ones at once."""
    outcomes = []
    with Crew(folder, workers) as crew:
        faults = choose(crew.find_faults())
        print(f"{len(faults)} points", file=out, flush=True)
        for outcome in crew.try_all(faults):
            outcomes.append(outcome)
            if len(outcomes) % 250 == 0:
                print(f"{len(outcomes)} tried", file=out, flush=True)
            if outcome.verdict in BAD:
                print(f"{outcome.fault}: {outcome.detail}\n", file=out, flush=True)
    print(table(outcomes), file=out, flush=True)
    return outcomes
