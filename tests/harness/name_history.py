"""The complete history of the names of daemons in etcd, as its watch tells it."""

import base64
import json
import threading
import urllib.request

from background import Background
from strata_daemon import eventually

BEGIN, END = (base64.b64encode(key).decode() for key in (b"/strata/daemons/", b"/strata/daemons0"))


def name_of(entry):
    return base64.b64decode(entry["key"]).decode().rpartition("/")[2]


class NameHistory(Background):
    """Records who holds a name, from the first revision to the end: each change of a lease without
    a removal in between is a clash."""

    def __init__(self, etcd):
        super().__init__()
        self.etcd = etcd
        self.lock = threading.Lock()
        self.generation = 0  # of etcd's data
        self.revision = 0
        self.leases = {}
        self.clashes = []
        self.gaps = []

    def run(self):
        while not self.is_over.wait(0.02):
            for member in self.etcd.members:
                try:
                    self.follow(member)
                except (OSError, ValueError):  # it does not run, or was killed within a line
                    pass

    def follow(self, member):
        generation, begin = self.generation, self.revision + 1
        watch = {"key": BEGIN, "range_end": END, "start_revision": str(begin)}
        request = urllib.request.Request(f"http://127.0.0.1:{member.port}/v3/watch",
                                         json.dumps({"create_request": watch}).encode())
        with urllib.request.urlopen(request, timeout=0.5) as stream:
            for line in stream:
                result = json.loads(line)["result"]
                with self.lock:
                    if generation != self.generation:
                        return
                    if result.get("canceled"):
                        if int(result.get("compact_revision", 0)) > self.revision + 1:
                            self.gaps.append(result)
                        return
                    for event in result.get("events", []):
                        # A member that is behind tells what was before (etcd's issue 20221).
                        if int(event["kv"]["mod_revision"]) >= begin:
                            self.record(event)

    def record(self, event):
        entry = event["kv"]
        name = name_of(entry)
        lease = None if event.get("type") == "DELETE" else entry["lease"]
        before = self.leases.get(name)
        if None not in (lease, before) and lease != before:
            self.clashes.append((self.generation, entry["mod_revision"], name, before, lease))
        self.leases[name] = lease
        self.revision = int(entry["mod_revision"])

    def catch_up(self):
        """Waits until every change is recorded that etcd has now."""
        eventually(self.is_complete, "the history is complete")

    def is_complete(self):
        member = next(each for each in self.etcd.members if each.process)
        answer = member.call("/v3/kv/range", key=BEGIN, range_end=END)
        present = {name_of(each): each["lease"] for each in answer.get("kvs", [])}
        newest = max((int(each["mod_revision"]) for each in answer.get("kvs", [])), default=0)
        with self.lock:
            held = {name: lease for name, lease in self.leases.items() if lease is not None}
            if held != present or self.revision < newest:
                return False
            # What was before may be compacted now.
            self.revision = max(self.revision, int(answer["header"]["revision"]))
            return True

    def begin_again(self):
        """Etcd, which does not run now, has lost its data: nobody holds a name any more."""
        with self.lock:
            self.generation += 1
            self.revision = 0
            self.leases.clear()
