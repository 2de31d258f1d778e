"""Command lines of socketley: each works here, or its error names what to write instead."""

import re
import shlex
from pathlib import Path

import pytest

from strata_daemon import Daemon
from talker import free_port

# The lines act on one daemon, in their order.
pytestmark = [pytest.mark.once, pytest.mark.xdist_group("socketley")]

PAGE = Path(__file__).resolve().parents[2] / "docs/from-socketley.md"

# A line, and what its error names; None: it works. {port} is a free one, {dir} a folder with files.
CREATE_LINES = [
    # servers
    ("server api -p {port} -s", None),
    ("server api -p {port}", None),
    ("server api -p {port} --test", "--dry-run"),
    ("server api -p {port} --log {dir}/api.log", "--log-file"),
    ("server api -p {port} -w {dir}/messages.txt", None),
    ("server api -p {port} --lua {dir}/script.lua -s", None),
    ("server api -p {port} -b", "strata tap NAME"),
    ("server api -p {port} -bp", "strata tap NAME"),
    ("server api -p {port} -bt", "strata tap NAME"),
    ("server api -p {port} -bpt", "strata tap NAME"),
    ("server api -p {port} --max-connections 100", None),
    ("server api -p {port} --max-conn 100", "--max-connections"),
    ("server api -p {port} --rate-limit 10", None),
    ("server api -p {port} --global-rate-limit 1000", None),
    ("server api -p {port} --idle-timeout 60", None),
    ("server api -p {port} --drain -s", None),
    ("server api -p {port} --tls --cert {dir}/c.pem --key {dir}/k.pem",
     "--listen tls://HOST:PORT with --cert and --key"),
    ("server api -p {port} -g web", None),
    ("server api -p {port} --group web", None),
    ("server api -p {port} --mode inout", None),
    ("server api -p {port} --mode in", None),
    ("server api -p {port} --mode out", None),
    ("server api -p {port} --mode master --master-pw secret", None),
    ("server api -p {port} --mode master --master-pw secret --master-forward", None),
    ("server api -p {port} --udp", "--listen udp://HOST:PORT"),
    ("server api -p {port} --cache store", None),
    ("server api -p {port} --http {dir} -s", None),
    ("server api -p {port} --http {dir} --http-cache -s", None),
    ("server api -p {port} -u 127.0.0.1:1 --lua {dir}/script.lua", None),
    ("server api -p {port} --upstream '127.0.0.1:1;127.0.0.1:2' --lua {dir}/script.lua", None),
    ("server api", "-p PORT"),
    # clients
    ("client feed -t 127.0.0.1:{port}", None),
    ("client feed", "--connect"),
    ("client feed -t 127.0.0.1:{port} --mode in", None),
    ("client feed -t 127.0.0.1:{port} --mode out", None),
    ("client feed -t 127.0.0.1:{port} --udp", "--connect udp://HOST:PORT"),
    ("client feed -t 127.0.0.1:{port} --reconnect", None),
    ("client feed -t 127.0.0.1:{port} --reconnect 5", None),
    ("client feed -t 127.0.0.1:{port} --tls --ca {dir}/ca.pem", "--connect tls://HOST:PORT"),
    ("client feed -t 127.0.0.1:{port} --lua {dir}/script.lua", None),
    ("client feed -t 127.0.0.1:{port} -w {dir}/feed.txt", None),
    ("client feed -t 127.0.0.1:{port} --rate-limit 10", "--global-rate-limit"),
    ("client feed -t 127.0.0.1:{port} --global-rate-limit 10", None),
    # proxies
    ("proxy gw -p {port} --backend 127.0.0.1:1 -s", None),
    ("proxy gw -p {port} --backend 127.0.0.1:1,127.0.0.1:2", None),
    ("proxy gw -p {port} --backend 127.0.0.1:1 --backend 127.0.0.1:2", None),
    ("proxy gw -p {port} --backend base", None),
    ("proxy gw -p {port} --backend @web", None),
    ("proxy gw -p {port} --backend base --strategy round-robin", "--balance"),
    ("proxy gw -p {port} --backend base --strategy random", "--balance"),
    ("proxy gw -p {port} --lua {dir}/route.lua --backend base --strategy lua", "--balance"),
    ("proxy gw -p {port} --backend base --protocol http", None),
    ("proxy gw -p {port} --backend base --protocol tcp", "raw"),
    ("proxy gw -p {port} --backend base --health-check tcp", "--check"),
    ("proxy gw -p {port} --backend base --health-interval 5", "--check-interval"),
    ("proxy gw -p {port} --backend base --health-path /health", "--check-path"),
    ("proxy gw -p {port} --backend base --health-threshold 3", "--check-fall"),
    ("proxy gw -p {port} --backend base --circuit-threshold 5", "--circuit-failures"),
    ("proxy gw -p {port} --backend base --circuit-timeout 30", "--rest"),
    ("proxy gw -p {port} --backend base --retry 2", "--retries"),
    ("proxy gw -p {port} --backend base --retry-all", "--retries"),
    ("proxy gw -p {port} --backend base --sidecar", None),
    ("proxy gw -p {port} --backend base --drain", None),
    ("proxy gw -p {port} --backend base --client-ca {dir}/ca.pem", "--cert"),
    ("proxy gw -p {port} --backend base --client-cert {dir}/c.pem --client-key {dir}/k.pem", None),
    # caches
    ("cache db -p {port} -s", None),
    ("cache db -p {port} --persistent {dir}/db.aof -s", None),
    ("cache db -p {port} --mode readonly", "--access"),
    ("cache db -p {port} --mode readwrite", "--access"),
    ("cache db -p {port} --mode admin", "--access"),
    ("cache db -p {port} --maxmemory 64M", "--max-memory"),
    ("cache db -p {port} --maxmemory 64M --eviction allkeys-lru", "--max-memory"),
    ("cache db -p {port} --eviction allkeys-lru", "--max-memory"),
    ("cache db -p {port} --eviction noeviction", None),
    ("cache db -p {port} --resp -s", None),
    ("cache db -p {port} --replicate 127.0.0.1:1", "--follow"),
    ("cache db -p {port} --lua {dir}/script.lua", None),
    ("cache db -p {port} --max-connections 10 --rate-limit 5 --global-rate-limit 50", None),
    ("cache db -p {port} -g store", None),
]

OTHER_LINES = [
    ("dashboard", "strata top"),
    ("import base '{{}}'", "strata edit NAME"),
    ("attach server outside 8000", "strata attach NAME PORT"),
    ("ls -j", "--format json"),
    ("ls --json", "--format json"),
    ("ls --silent", "--quiet"),
    ("restart base", None), ("reload base", None), ("stop base", None), ("start 'ba*'", None),
    ("ls", None), ("ps", None), ("show base", None), ("stats base", None), ("owner base", None),
    ("send base hello", None), ("base hello", None), ("edit base --max-connections 9", None),
    ("store set key value", None), ("store get key", None), ("version", None), ("--version", None),
    ("help", None), ("--help", None), ("-h", None), ("--lua {dir}/stack.lua", None),
]


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A daemon with a server `base` and a cache `store`, and a folder with what lines name."""
    folder = tmp_path_factory.mktemp("socketley")
    files = folder / "files"
    files.mkdir()
    (files / "script.lua").write_text("function on_start() end\n")
    (files / "route.lua").write_text("function on_route(request) return 1 end\n")
    (files / "stack.lua").write_text("runtimes = {{type = 'server', name = 'listed', port = 0}}\n")
    (files / "index.html").write_text("<p>hello</p>")
    daemon = Daemon(folder / "daemon").start()
    daemon.server("base", group="web")
    daemon.create("cache", "store", listen=["tcp://127.0.0.1:0"])
    yield daemon, files
    daemon.close()


def words_of(line, files):
    return shlex.split(line.format(port=free_port(), dir=files))


def check(daemon, words, named):
    done = daemon.run(*words)
    if named is None:
        assert (done.returncode, done.stderr) == (0, ""), (words, done)
    else:
        assert done.returncode != 0 and named in done.stderr, (words, done)
    return done


@pytest.mark.parametrize("line, named", CREATE_LINES)
def test_a_line_that_creates_works_or_names_the_right_one(house, line, named):
    daemon, files = house
    words = words_of(f"create {line}", files)
    name = words[2]
    try:
        check(daemon, words, named)
        assert (name in daemon.names()) == (named is None)
    finally:
        if name in daemon.names():
            daemon.remove(name)


@pytest.mark.parametrize("line, named", OTHER_LINES)
def test_another_verb_works_or_names_the_right_one(house, line, named):
    daemon, files = house
    check(daemon, words_of(line, files), named)


def flag_rows():
    """The rows of the page's table of flags: the flags at the left, and the right side."""
    text = PAGE.read_text()
    table = text[text.index("## Flags"):text.index("## Scripts")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            for line in table.splitlines() if line.startswith("|")]
    assert rows[0] == ["there", "here"]
    return rows[2:]


# What a flag of the page is tried with, besides what its type needs.
TYPE_OF = dict.fromkeys(("-t", "--reconnect"), "client")
TYPE_OF |= dict.fromkeys(
    ("--maxmemory", "--eviction", "--persistent", "--resp", "--replicate"), "cache")
TYPE_OF |= dict.fromkeys(
    ("--backend", "--strategy", "--protocol", "--health-check", "--health-interval",
     "--health-path", "--health-threshold", "--circuit-threshold", "--circuit-timeout", "--retry",
     "--retry-all", "--sidecar", "--client-cert", "--client-ca"), "proxy")
VALUE_OF = {"-w": "{dir}/x", "-g": "web", "--lua": "{dir}/script.lua", "--rate-limit": "5",
            "--global-rate-limit": "5", "--idle-timeout": "5", "--log": "{dir}/x",
            "--max-conn": "5", "--master-pw": "secret --mode master", "--http": "{dir}",
            "--master-forward": "--mode master --master-pw secret", "--cache": "store",
            "--http-cache": "--http {dir}",
            "-u": "'127.0.0.1:1;127.0.0.1:2' --lua {dir}/script.lua",
            "--backend": "127.0.0.1:1,127.0.0.1:2", "--strategy": "random", "--health-check": "tcp",
            "--health-interval": "5", "--health-path": "/", "--health-threshold": "3",
            "--circuit-threshold": "5", "--circuit-timeout": "5", "--retry": "2",
            "--mode": "readonly", "--maxmemory": "1M", "--eviction": "noeviction",
            "--persistent": "{dir}/p.aof", "--replicate": "127.0.0.1:1", "-p": "{port}",
            "-t": "127.0.0.1:1", "--client-cert": "{dir}/c --client-key {dir}/k",
            "--client-ca": "{dir}/c"}
NEEDED = {"server": {"-p": "{port}"}, "cache": {"-p": "{port}"}, "client": {"-t": "127.0.0.1:1"},
          "proxy": {"-p": "{port}", "--backend": "base"}}


def parts_of(cell):
    """The flags that a cell quotes, each as words; of flags that go together, the first counts."""
    parts = [part.split() for part in re.findall(r"`([^`]*)`", cell)]
    return [words for words in parts if words[0].startswith("-")]


def cases():
    """Yields flag, type and value, and what the error names; None if it works."""
    for left, right in flag_rows():
        tried, here = parts_of(left), [words[0] for words in parts_of(right)]
        kind = re.search(r"of a (client|cache|server|proxy)", left)
        for number, (flag, *value) in enumerate(tried):
            is_value = value and value[0].isalpha() and value[0].islower()
            named = here[number] if len(here) == len(tried) else here[0] if here else None
            if right.startswith("none"):
                named = f"no flag '{flag}'"
            elif right.startswith(("the same", "`-p PORT`, without", "`-t HOST")) or named == flag:
                named = None
            elif not right.startswith("`-"):
                named = re.match(r"`([^`]*)`", right).group(1)
            yield (flag, kind.group(1) if kind else TYPE_OF.get(flag, "server"),
                   value[0] if is_value else VALUE_OF.get(flag, ""), named)


@pytest.mark.parametrize("flag, kind, value, named", list(cases()))
def test_a_flag_of_the_page_does_as_its_row_says(house, flag, kind, value, named):
    daemon, files = house
    flags = " ".join(f"{key} {text}" for key, text in (NEEDED[kind] | {flag: value}).items())
    try:
        check(daemon, words_of(f"create {kind} tried {flags}", files), named)
    finally:
        if "tried" in daemon.names():
            daemon.remove("tried")


def test_the_help_of_a_proxys_port_leads_to_http(house):
    daemon, _ = house
    help_text = " ".join(daemon.cli("create", "proxy", "--help").split())
    assert "passed as they are; --listen http://HOST:PORT, or --protocol http" in help_text
    # Only there: a server at a port takes both.
    assert "passed as they are" not in daemon.cli("create", "server", "--help")


def test_the_page_has_all_flags_that_differ():
    """What the lines above refuse is in the page."""
    page = PAGE.read_text()
    flags = {word for line, named in CREATE_LINES if named
             for word in line.split() if word.startswith("-")}
    assert [each for each in sorted(flags) if f"`{each}" not in page and each not in page] == []
