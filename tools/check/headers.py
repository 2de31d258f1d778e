"""headers: every header compiles alone and has #pragma once.

A header that a .cpp of src or lib includes first is left to clang-tidy, which reads that .cpp
without the precompiled headers (tools/tidy.py). A header that passed is compiled again only when
it, or something that it includes, has changed.
"""

import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from check.passes import Passes, cache_folder, digest
from check.source import Breach, files, read, without_comments

FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Iinclude", "-Ilib", "-Isrc"]
LUA = "/usr/include/luajit-2.1"  # Debian's path, as pkg-config would report it
CPP = ["g++", "-std=c++23", "-x", "c++"]
C = ["gcc", "-std=c11", "-x", "c"]
PRAGMA = re.compile(r"^#pragma once$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def breaches(root):
    headers = files(root, (".hpp", ".h"), ("include", "lib", "src"))
    found = [
        Breach(str(path), 1, "has no #pragma once; add it")
        for path in headers
        if not PRAGMA.search(read(root, path))
    ]
    passes, proven = Passes(cache_folder("headers"), root), proven_headers(root)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        alone = [path for path in headers if str(path) not in proven]
        results = pool.map(lambda path: _compile_cached(passes, root, path), alone)
    found += [one for one in results if one]
    passes.drop_old()
    return found


def proven_headers(root):
    """Returns the headers that a .cpp read by clang-tidy includes first. A .h is also read
    by C programs."""
    proven = set()
    for path in files(root, (".cpp",), ("lib", "src")):
        first = INCLUDE.search(without_comments(read(root, path)))
        if first and first[1].endswith(".hpp") and not path.stem.endswith("_test"):
            proven.update(f"{top}/{first[1]}" for top in ("include", path.parts[0]))
    return proven


def _compile_cached(passes, root, path):
    subject = f"{path} {_rule()}"
    if passes.has(subject):
        return None
    read_files = set()
    for compiler in (CPP, C) if path.suffix == ".h" else (CPP,):
        names, complaint = _compile(root, path, compiler)
        if complaint:
            language = compiler[-1]
            return Breach(
                str(path), 1, f"does not compile alone as {language}; include what it uses: "
                f"{complaint}"
            )
        read_files.update(names)
    passes.keep(subject, read_files, passes.state(read_files))
    return None


def _compile(root, path, compiler):
    """Returns the files that the compiler read, and its first error; None if it had none."""
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
        return [name for name in names if name != "-"], None
    lines = done.stderr.splitlines()
    return [], next((line for line in lines if "error:" in line), lines[0])


@lru_cache(maxsize=None)
def _rule():
    """Returns what a pass depends on besides the files: the compiler and this module."""
    version = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True)
    return version.stdout.splitlines()[0] + digest(Path(__file__).read_bytes())
