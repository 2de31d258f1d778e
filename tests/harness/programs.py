"""Programs for the tests of programs, and what the daemon shows of them."""

import json
import os

SERVER = """
import http.server, os, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ["STRATA_INSTANCE"].encode())
    def log_message(self, *_): pass
port = int(sys.argv[1])
print("listening on", port, flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", port), Answer).serve_forever()
"""
NOTIFY = """
import os, socket, time
def tell(text):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.sendto(text.encode(), "\\0" + os.environ["NOTIFY_SOCKET"][1:])
"""
LISTEN = """
import os, socket, sys, time
assert os.environ["LISTEN_FDS"] == "1" and int(os.environ["LISTEN_PID"]) == os.getpid()
listener = socket.socket(fileno=3)
print("serving", flush=True)
while True:
    caller, _ = listener.accept()
    caller.sendall(str(os.getpid()).encode())
    caller.close()
"""


def lines_of(daemon, name):
    return [json.loads(line)["text"]
            for line in daemon.cli("logs", name, "--format", "json").splitlines()]


def instances_of(daemon, name):
    return json.loads(daemon.cli("instances", name, "--format", "json"))


def instance_of(daemon, name, number=1):
    """Returns an instance; empty if the program does not run, as while it waits for a restart."""
    done = daemon.run("instances", name, "--format", "json")
    return json.loads(done.stdout)[number - 1] if done.returncode == 0 else {}


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def keeper_of(pid):
    """Returns the process that keeps a program: its parent."""
    with open(f"/proc/{pid}/stat") as status:
        parent = int(status.read().rsplit(")", 1)[1].split()[1])
    with open(f"/proc/{parent}/comm") as name:
        assert name.read() == "strata-keeper\n"
    return parent


def keeper_files(daemon):
    folder = daemon.state_dir / "programs"
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


def children_of(pid):
    """Returns the ids of a process's children, those that have ended and are not waited for
    included."""
    ids = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as children:
            ids += [int(each) for each in children.read().split()]
    return ids


def pids_of(daemon, name):
    return [each["pid"] for each in instances_of(daemon, name)]


def edit_record(daemon, name, **options):
    """Changes a record while no daemon runs."""
    path = daemon.state_dir / "runtimes" / f"{name}.json"
    record = json.loads(path.read_text())
    record["options"] |= options
    path.write_text(json.dumps(record))
