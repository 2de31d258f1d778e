"""Keeps which subjects passed a check and have not changed since: outside the clone,
for all clones.

A subject is a text that names what was checked and how. Stored with it are the files that the check
read, and for each state of these files in which it passed, one digest of their names and contents.
Files of the clone are named relative to it, so that a clone in another folder shares the passes.
Failures are never kept. As with ccache, a new file that hides a read one is not noticed.
"""

import hashlib
import json
import os
import tempfile
import threading
import time
from pathlib import Path

STATES = 16  # per list of files
LISTS = 4  # per subject
DAYS = 30  # until an unused pass is dropped


def cache_folder(name):
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "strata", name)


def digest(content):
    return hashlib.sha256(content).hexdigest()


class Passes:
    """Any thread may use it. Two processes may share a folder: at worst a pass is lost."""

    def __init__(self, folder, root):
        self._folder, self._root = Path(folder), Path(root)
        self._digests, self._lock = {}, threading.Lock()

    def has(self, subject):
        path = self._path(subject)
        for names, states in _lists(path):
            if self._state(names, self._digest) in states:
                os.utime(path)
                return True
        return False

    def state(self, names):
        """Returns the digest of the current contents: taken before the check, and given to
        `keep` after it."""
        return self._state(sorted(map(self._relative, names)), self._digest_now)

    def keep(self, subject, names, before):
        """Keeps a pass, unless a file has changed during the check."""
        if self.state(names) != before:
            return
        names, path = sorted(map(self._relative, names)), self._path(subject)
        states = next((old for listed, old in _lists(path) if listed == names), [])
        others = [row for row in _lists(path) if row[0] != names]
        rows = [[names, [before, *states][:STATES]], *others][:LISTS]
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as written:
            json.dump(rows, written)
        os.replace(written.name, path)

    def drop_old(self):
        for path in self._folder.glob("*/*"):
            if time.time() - path.stat().st_mtime > DAYS * 86400:
                path.unlink(missing_ok=True)

    def _path(self, subject):
        key = digest(subject.encode())
        return self._folder / key[:2] / key[2:]

    def _relative(self, name):
        path = os.path.normpath(self._root / name)
        below = os.path.relpath(path, self._root)
        return path if below.startswith("..") else below

    def _state(self, names, digest_of):
        try:
            return digest("".join(f"{name}\0{digest_of(name)}\n" for name in names).encode())
        except OSError:
            return ""

    def _digest_now(self, name):
        found = digest((self._root / name).read_bytes())
        with self._lock:
            self._digests[name] = found
        return found

    def _digest(self, name):
        """Reads each file once per run: most files include the same headers."""
        known = self._digests.get(name)
        return known or self._digest_now(name)


def _lists(path):
    """Returns rows of [names, states]; an empty list if they cannot be read."""
    try:
        return [(list(names), list(states)) for names, states in json.loads(path.read_text())]
    except (OSError, ValueError, TypeError):
        return []
