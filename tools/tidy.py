#!/usr/bin/env python3
"""Runs clang-format and clang-tidy over all C++ of the tree. `tidy.py BUILD_DIR`; exits
1 on a finding.

A file that clang-tidy passed is read again only when it, a header, its compile command,
.clang-tidy or the tool has changed, in any clone: see check/passes.py. Files of one folder are
read together, so that their headers are parsed once; if that finds anything, or names collide,
each file is read alone.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check.passes import Passes, cache_folder, digest
from check.source import files

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "tools/tidy_requirements.txt"
LOST = ("-o", "-MF", "-MT", "-MQ")  # options with a value that name an output
TOGETHER = 8  # number of files that are read as one


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cache", type=Path, default=cache_folder("tidy"))
    parser.add_argument("--clang-tidy", help="the program; else that of tidy_requirements.txt")
    parser.add_argument("--clang-format", default="clang-format-19")
    parser.add_argument("build", type=Path)
    wanted = parser.parse_args()
    root = wanted.root.resolve()
    formatted = check_format(root, wanted.clang_format)
    run = Tidy(root, wanted.clang_tidy or fetch_clang_tidy(), root / wanted.build, wanted.cache)
    return 0 if run.check(wanted.jobs) and formatted else 1


def check_format(root, program):
    begun = time.monotonic()
    every = files(root, (".cpp", ".hpp"))
    done = subprocess.run([program, "--dry-run", "--Werror", *every], cwd=root, check=False)
    if done.returncode == 0:
        print(f"format: passed ({len(every)} files, {time.monotonic() - begun:.0f} s)", flush=True)
    return done.returncode == 0


def fetch_clang_tidy():
    """Fetches PyPI's wheel, kept for all clones until the requirements change."""
    folder = cache_folder("clang-tidy") / digest(REQUIREMENTS.read_bytes())[:16]
    program = folder / "clang_tidy/data/bin/clang-tidy"
    if not program.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as fetched:
            subprocess.run(
                [sys.executable, "-m", "pip", "install", "--quiet", "--root-user-action",
                 "ignore", "--disable-pip-version-check", "--target", f"{fetched}/packages",
                 "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", REQUIREMENTS],
                check=True,
            )
            if not program.exists():  # no other process was faster
                os.rename(f"{fetched}/packages", folder)
    return str(program)


class Tidy:
    def __init__(self, root, program, build, cache):
        self.root, self.program, self.build = root, program, build
        self.passes = Passes(cache, root)
        self.rule = self._rule()

    def check(self, jobs):
        """Prints the findings. Returns whether there were none."""
        begun, failed, done = time.monotonic(), 0, 0
        units = self._units()
        news = [unit for unit in units if not self.passes.has(self._subject(unit))]
        done = known = len(units) - len(news)
        with (tempfile.TemporaryDirectory(dir=self.build) as folder,
              ThreadPoolExecutor(jobs) as pool):
            batches = enumerate(_batches(news))
            for found in pool.map(lambda row: self._check_batch(Path(folder), *row), batches):
                done += len(found)
                for findings in filter(None, found):
                    failed += 1
                    print(findings, flush=True)
                if sys.stderr.isatty():
                    print(f"\rclang-tidy {done}/{len(units)}", end="", file=sys.stderr)
        self.passes.drop_old()
        state = f"{failed} of {len(units)} files have findings" if failed else "passed"
        print(f"clang-tidy: {state} ({len(units)} files, {known} of them known, "
              f"{time.monotonic() - begun:.0f} s)")
        return failed == 0

    def _units(self):
        """Returns (path below the root, folder, command) of our files that are not tests."""
        rows = {}
        for row in json.loads((self.build / "compile_commands.json").read_text()):
            path = Path(row["file"])
            if path.is_relative_to(self.root):
                rows[path.relative_to(self.root)] = row
        listed = [one for one in files(self.root, (".cpp",), ("lib", "src"))
                  if not one.stem.endswith("_test")]
        missing = [str(path) for path in listed if path not in rows]
        if missing:
            sys.exit(f"{', '.join(missing)}: no compile command; does CMakeLists.txt list it?")
        return [(path, rows[path]["directory"], shlex.split(rows[path]["command"]))
                for path in listed]

    def _subject(self, unit):
        path, _, command = unit
        words = [word.replace(str(self.root), ".") for word in command]
        return "\n".join([str(path), self.rule, *words])

    def _check_batch(self, folder, number, units):
        """Returns clang-tidy's findings for each unit, empty if there are none."""
        reads = [self._read_by(unit) for unit in units]
        before = [self.passes.state(names) for names in reads]
        if len(units) > 1 and self._pass_together(folder, number, units):
            found = ["" for _ in units]
        else:
            found = [self._find(["-p", self.build, path]) for path, *_ in units]
        for unit, names, state, findings in zip(units, reads, before, found):
            if names and not findings:
                self.passes.keep(self._subject(unit), names, state)
        return [findings and f"{findings}FAILED {path}"
                for findings, (path, *_) in zip(found, units)]

    def _pass_together(self, folder, number, units):
        # The analyzer follows the paths through functions of an included .cpp only if the name of
        # the file that includes it begins like this (clang's AnalysisConsumer.cpp).
        source = folder / f"UnifiedSource{number}.cpp"
        source.write_text("".join(
            f'#include "{self.root / path}"  // NOLINT(bugprone-suspicious-include)\n'
            for path, *_ in units))
        return not self._find([source, "--", *_flags(units[0])[1:]])

    def _find(self, arguments):
        done = subprocess.run(
            [self.program, "--quiet", *arguments], cwd=self.root,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
        )
        if done.returncode == 0 and not done.stdout.strip():
            return ""
        return done.stdout or done.stderr or f"exit code {done.returncode}\n"

    @staticmethod
    def _read_by(unit):
        """Returns all files that the compiler reads for the unit; an empty list if it
        does not compile."""
        _, folder, command = unit
        done = subprocess.run([*_flags(unit), command[-1], "-M", "-MT", "x"], cwd=folder,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return []
        return [os.path.join(folder, name)
                for name in done.stdout.replace("\\\n", " ").split()[1:]]

    def _rule(self):
        """Returns what a pass depends on besides the files and the command."""
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True,
                                 check=True).stdout
        config = (self.root / ".clang-tidy").read_bytes()
        return digest(version.encode() + config + Path(__file__).read_bytes())


def _flags(unit):
    """Returns the compiler and its options, except those that name the source or the output."""
    command = unit[2][:-1]  # the source is the last
    return [word for number, word in enumerate(command)
            if word not in (*LOST, "-c", "-MD", "-MMD")
            and (number == 0 or command[number - 1] not in LOST)]


def _batches(units):
    """Yields groups of at most TOGETHER units of one folder with the same flags."""
    groups = {}
    for unit in units:
        groups.setdefault((unit[0].parent, *_flags(unit)), []).append(unit)
    for group in groups.values():
        yield from (group[at : at + TOGETHER] for at in range(0, len(group), TOGETHER))


if __name__ == "__main__":
    sys.exit(main())
