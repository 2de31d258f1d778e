"""layers: files include only what layer_table.py allows, and there is no include cycle."""

import re
from pathlib import Path

from check.layer_table import ALLOWED, LIBRARY
from check.source import CPP_SUFFIXES, Breach, bare_code, files, read, without_comments

TOPS = ("include", "lib", "src")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
URING_IDENTIFIER = re.compile(r"\bio_uring_\w+")
URING_HEADER = re.compile(r"liburing(\.h|/.*)|linux/io_uring\.h")
LUA_HEADER = re.compile(r"(.*/)?(lua|lualib|lauxlib|luajit|luaconf)\.h(pp)?")
SSH_HEADER = re.compile(r"libssh/.*")
ZLIB_HEADER = re.compile(r"z(lib|conf)\.h")
HTTP2_HEADER = re.compile(r"nghttp2/.*")
TLS_HEADER = re.compile(r"openssl/.*")
TEST_HEADER = re.compile(r"(gtest|gmock)/.*")
SYSTEM_HEADER = re.compile(
    r"[a-z0-9_]+"  # C++ standard: no suffix, no folder
    r"|(sys|linux|net|netinet|netpacket|arpa|asm)/[a-z0-9_/]+\.h"
    r"|(assert|endian|errno|fcntl|limits|poll|pthread|sched|signal|stdbool|stddef|stdint|stdio"
    r"|stdlib|string|time|unistd)\.h"
)


def breaches(root):
    found = []
    graph = {}
    for path in files(root, CPP_SUFFIXES, TOPS):
        code = read(root, path)
        graph[path] = []
        if layer_of(path) not in ALLOWED:
            found.append(
                Breach(str(path), 1, "no layer has this folder; name it in tools/check/layers.py")
            )
            continue
        for line, mark, name in includes(code):
            target = resolve(root, path, mark, name)
            if target:
                graph[path].append((line, target))
                message = _inner_breach(path, target)
            else:
                message = _outer_breach(path, mark, name)
            if message:
                found.append(Breach(str(path), line, message))
        found += _uring_identifiers(path, code)
    found += _cycles(graph)
    return found


def includes(code):
    """Yields (line, < or ", name) of every #include."""
    text = without_comments(code)
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1], match[2]


def place_of(path):
    """Returns the path below its top, without suffix: include/strata/wire/arp.hpp -> wire/arp."""
    top, *rest = path.with_suffix("").parts
    if top == "include":
        rest = rest[1:]
    if len(rest) > 1:
        return "/".join(rest)
    return {"src": "main"}.get(top, "abi")


def layer_of(path):
    """Returns the longest key of the table that the path begins with; otherwise its first
    folder."""
    parts = place_of(path).split("/")
    for count in range(len(parts), 0, -1):
        key = "/".join(parts[:count])
        if key in ALLOWED:
            return key
    return parts[0]


def resolve(root, path, mark, name):
    """Returns the file of this tree that an include refers to; None for any other file."""
    tops = ["include"]
    if mark == '"':
        tops.append(path.parts[0])
    for top in tops:
        target = Path(top, name)
        if ".." not in target.parts and (root / target).is_file():
            return target
    return None


def _is_uring(path):
    return path.parts[:3] == ("src", "loop", "backends") and path.name.startswith("uring")


def _probes_kernel(path):
    return re.fullmatch(r"src/cli/system/kernel_checks\.cpp", str(path)) is not None


def _is_test(path):
    return path.stem.endswith("_test") or "testing" in path.parts


def _tests_of(layer, stage):
    """Reports whether `stage` belongs to the layer itself, to one above it, or to one that
    it may include."""
    return layer.split("/")[0] == stage.split("/")[0] or stage in ALLOWED[layer]


def _inner_breach(path, target):
    """Returns what is wrong with including a file of this tree; None if nothing is."""
    layer, below = layer_of(path), layer_of(target)
    if layer == below or below in ALLOWED[layer]:
        return None
    # A test may use the stage that its layers have for it.
    if _is_test(path) and "testing" in target.parts and _tests_of(layer, below):
        return None
    # A test may include loop backends: it runs on one of them or on each.
    if _is_test(path) and str(target).startswith("src/loop/backends/"):
        return None
    # A part of the library is tested against its other parts.
    if _is_test(path) and layer in LIBRARY and below in LIBRARY:
        return None
    may = ", ".join(sorted(ALLOWED[layer])) or "nothing"
    return f"{layer} includes {target}, but beside itself it may include {may}; turn it round"


def _outer_breach(path, mark, name):
    """Returns what is wrong with including a file outside this tree; None if nothing is."""
    if URING_HEADER.fullmatch(name) and not _is_uring(path):
        if not (_probes_kernel(path) and name == "linux/io_uring.h"):
            return f"includes {name}; only src/loop/backends/uring* may, use loop/loop.hpp"
    if LUA_HEADER.fullmatch(name) and layer_of(path) != "script":
        return f"includes {name}; only src/script may, use what script/ offers"
    if SSH_HEADER.fullmatch(name) and not str(path).startswith("src/measure/remote/remote_shell"):
        shell = "measure/remote/remote_shell"
        return f"includes {name}; only src/{shell}* may, use {shell}.hpp"
    if ZLIB_HEADER.fullmatch(name) and not str(path).startswith("src/proto/deflate"):
        return f"includes {name}; only src/proto/deflate* may, use proto/deflate.hpp"
    if HTTP2_HEADER.fullmatch(name) and not str(path).startswith("src/proto/http/http2"):
        return f"includes {name}; only src/proto/http/http2* may, use proto/http/http2.hpp"
    if TLS_HEADER.fullmatch(name) and not str(path).startswith("src/net/tls"):
        return f"includes {name}; only src/net/tls/ may, use net/tls/context.hpp"
    if TEST_HEADER.fullmatch(name) and not _is_test(path):
        return f"includes {name}; only *_test.cpp and testing/ may"
    if mark == '"':
        return (
            f'"{name}" is no file below {path.parts[0]}/ or include/; '
            "write the path from there, or <> for another's header"
        )
    if path.parts[0] == "include" and not SYSTEM_HEADER.fullmatch(name):
        return f"installed header includes {name} of a third party; move it into lib/"
    return None


def _uring_identifiers(path, code):
    if _is_uring(path) or _probes_kernel(path):
        return
    for number, line in enumerate(bare_code(code).splitlines(), 1):
        if URING_IDENTIFIER.search(line) and not INCLUDE.match(line):
            name = URING_IDENTIFIER.search(line)[0]
            yield Breach(str(path), number, f"names {name}; only src/loop/backends/uring* may")


def _cycles(graph):
    """Yields one breach per cycle, at the include that closes it. Depth first, without
    recursion."""
    done = set()
    for start in graph:
        trail, stack = [], [(start, None)]
        while stack:
            path, leave = stack.pop()
            if leave:
                trail.pop()
                done.add(path)
                continue
            if path in done:
                continue
            trail.append(path)
            stack.append((path, True))
            for line, target in graph.get(path, ()):
                if target in trail:
                    ring = " -> ".join(map(str, [*trail[trail.index(target) :], target]))
                    yield Breach(
                        str(path), line, f"include cycle {ring}; move what both need into a third"
                    )
                elif target not in done:
                    stack.append((target, None))
