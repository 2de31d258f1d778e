"""headers: every header compiles alone and has #pragma once.

A header that passed is compiled again only when it or something that it includes has changed:
build/check-cache/ keeps, for each, the digests of all files that the compiler read.
"""

import hashlib
import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from check.source import Breach, files, read

JOBS = 2
CACHE = "build/check-cache"
FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Iinclude", "-Ilib", "-Isrc"]
LUA = "/usr/include/luajit-2.1"  # Debian's place, which pkg-config would name
CPP = ["g++", "-std=c++23", "-x", "c++"]
C = ["gcc", "-std=c11", "-x", "c"]
PRAGMA = re.compile(r"^#pragma once$", re.MULTILINE)


def breaches(root):
    headers = files(root, (".hpp", ".h"), ("include", "lib", "src"))
    found = [
        Breach(str(path), 1, "has no #pragma once; add it")
        for path in headers
        if not PRAGMA.search(read(root, path))
    ]
    with ThreadPoolExecutor(JOBS) as pool:
        results = pool.map(lambda path: _compile_cached(root, path), headers)
    return found + [one for one in results if one]


def _compile_cached(root, path):
    entry = root / CACHE / f"{_digest_of(str(path).encode())}.json"
    if _passed_before(entry):
        return None
    # .h is what C programs include too.
    for compiler in (CPP, C) if path.suffix == ".h" else (CPP,):
        read_files, complaint = _compile(root, path, compiler)
        if complaint:
            language = compiler[-1]
            return Breach(
                str(path), 1, f"does not compile alone as {language}; include what it uses: "
                f"{complaint}"
            )
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.write_text(json.dumps({"rule": _rule(), "files": _digests(read_files)}))
    return None


def _compile(root, path, compiler):
    """The files that the compiler read, and its first complaint, None when it had none."""
    with tempfile.NamedTemporaryFile(suffix=".d") as dependencies:
        lua = ["-isystem", LUA] if os.path.isdir(LUA) else []
        done = subprocess.run(
            [*compiler, *FLAGS, *lua, "-MD", "-MF", dependencies.name, "-MT", "x", "-"],
            input=f'#include "{root / path}"\n',
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        names = Path(dependencies.name).read_text().replace("\\\n", " ").split()[1:]
    if done.returncode == 0:
        return [str(root / name) for name in names if name != "-"], None
    lines = done.stderr.splitlines()
    return [], next((line for line in lines if "error:" in line), lines[0])


def _passed_before(entry):
    try:
        cached = json.loads(entry.read_text())
        return cached["rule"] == _rule() and cached["files"] == _digests(cached["files"])
    except (OSError, ValueError):
        return False


def _digests(names):
    return {name: _digest(name) for name in names}


@lru_cache(maxsize=None)
def _digest(name):
    return _digest_of(Path(name).read_bytes())


def _digest_of(content):
    return hashlib.sha256(content).hexdigest()


@lru_cache(maxsize=None)
def _rule():
    """What a pass depends on beside the files: the compiler and this module."""
    version = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True)
    return version.stdout.splitlines()[0] + _digest(__file__)
