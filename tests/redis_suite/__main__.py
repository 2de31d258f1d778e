"""Redis's own tests of its commands, from Debian's source package, against a cache.

    STRATA_BIN=build/release/strata python3 tests/redis_suite FOLDER [UNIT...]

FOLDER keeps the sources between runs, and each unit's output. Each unit runs against a daemon of
its own; the table says how many of its tests passed, failed or were not run. skipped.txt names the
tests that are left out, with reasons. The exit code is 1 if a test failed.
"""

import collections
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "harness"))
from strata_daemon import Daemon  # noqa: E402

UNITS = ["protocol", "keyspace", "scan", "info", "introspection", "introspection-2",
         "latency-monitor", "limits", "querybuf", "auth", "acl", "dump", "expire", "multi", "quit",
         "pubsub", "pubsubshard", "slowlog", "scripting", "functions", "sort", "bitops", "bitfield",
         "geo", "hyperloglog", "lazyfree", "maxmemory", "obuf-limits", "tracking",
         "client-eviction", "violations", "type/string", "type/incr", "type/list", "type/list-2",
         "type/list-3", "type/set", "type/zset", "type/hash", "type/stream", "type/stream-cgroups"]
OUTCOME = re.compile(r"\[(ok|err|exception|ignore|skip)\]:? ?(.*)")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LONGEST = 900  # seconds for a unit
SOURCE = "deb-src [trusted=yes] http://deb.debian.org/debian bookworm main\n"


def sources(folder):
    """Returns the folder of Redis's sources, which are fetched if they are not there."""
    if found := list(folder.glob("redis-*/runtest")):
        return found[0].parent
    for name in ("lists/partial", "archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(SOURCE)
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::SourceList={folder}/sources.list",
           "-o", "Dir::Etc::SourceParts=-", "-o", f"Dir::State::Lists={folder}/lists",
           "-o", "APT::Sandbox::User=root"]
    subprocess.run([*apt, "update"], check=True, cwd=folder)
    subprocess.run([*apt, "source", "--download-only", "redis"], check=True, cwd=folder)
    [archive] = folder.glob("redis_*.orig.tar.gz")
    subprocess.run(["tar", "xf", archive], check=True, cwd=folder)
    [made] = folder.glob("redis-*/runtest")
    for program in ("redis-server", "redis-cli", "redis-benchmark"):
        (made.parent / "src" / program).symlink_to(shutil.which(program))
    return made.parent


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def skipped_tests():
    lines = (HERE / "skipped.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def run(unit, redis):
    """Returns the unit's outcomes by their kinds."""
    outcomes = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        daemon = Daemon(place / "daemon").start()
        try:
            port = free_port()
            daemon.cli("create", "cache", "db", "--port", str(port), "--local", "--resp", "--start",
                       "--redis-version", "7.0", "--snapshot", str(place / "dump.rdb"))
            skipped = place / "skipped"
            skipped.write_text("\n".join(skipped_tests()) + "\n")
            words = ["./runtest", "--host", "127.0.0.1", "--port", str(port), "--single",
                     f"unit/{unit}", "--durable", "--clients", "1", "--skipfile", str(skipped)]
            try:
                said = subprocess.run(words, cwd=redis, capture_output=True, text=True,
                                      errors="replace", check=False, timeout=LONGEST).stdout
            except subprocess.TimeoutExpired as over:
                said = (over.stdout or b"").decode(errors="replace") + "[err]: it does not end\n"
        finally:
            daemon.close()
    said = COLOUR.sub("", said)
    if not OUTCOME.search(said):
        said += "[err]: no test ran\n"
    output = redis.parent / "output" / f"{unit.replace('/', '-')}.txt"
    output.parent.mkdir(exist_ok=True)
    output.write_text(said)
    for kind, name in OUTCOME.findall(said):
        if kind == "ok" or name not in outcomes[kind]:  # failures are repeated at the end
            outcomes[kind].append(name)
    return outcomes


def main():
    os.environ.setdefault("STRATA_LOOP", "io_uring")
    folder = pathlib.Path(sys.argv[1]).absolute()
    redis = sources(folder)
    failed = 0
    print(f"{'unit':<24}{'passed':>8}{'failed':>8}{'not run':>9}")
    for unit in sys.argv[2:] or UNITS:
        outcomes = run(unit, redis)
        errors = outcomes["err"] + outcomes["exception"]
        failed += len(errors)
        print(f"{unit:<24}{len(outcomes['ok']):>8}{len(errors):>8}"
              f"{len(outcomes['ignore']) + len(outcomes['skip']):>9}", flush=True)
        for name in errors:
            print(f"    {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
