"""Daemons of one cluster, and what they know of each other."""

import json
import urllib.error
import urllib.request

from background import Background
from etcd import Etcd
from strata_daemon import PATIENCE, eventually
from talker import Talker

TTL = 2


class Folder:
    """A registry in a folder."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @property
    def url(self):
        return f"dir://{self.path}"

    def put(self, name, text):
        """Writes a card as a stranger would."""
        (self.path / f"{name}.card").write_bytes(text)

    def holder(self, name):
        """Whoever holds the name as the folder shows it; None: nobody."""
        try:
            return json.loads((self.path / f"{name}.card").read_text())["holder"]
        except OSError:
            return None

    def take_away(self):
        self.path.rename(self.path.with_name("away"))

    def bring_back(self):
        self.path.with_name("away").rename(self.path)


class EtcdRegistry(Etcd):
    """A registry in an etcd of one member."""

    def put(self, name, text):
        super().put(b"/strata/daemons/" + name.encode(), text)

    def take_away(self):
        self.members[0].kill()

    def bring_back(self):
        self.members[0].start()


def registry_of(kind, folder):
    return EtcdRegistry(folder / "etcd") if kind == "etcd" else Folder(folder / "cluster")


class Cluster:
    """Starts daemons that have a registry in common."""

    def __init__(self, make_daemon, url, ttl=TTL):
        self.make_daemon, self.url, self.ttl = make_daemon, url, ttl

    def start(self, name, *flags, url=None):
        return self.make_daemon("--name", name, "--cluster", url or self.url, "--cluster-ttl",
                                str(self.ttl), "--advertise", "127.0.0.1", *flags)


def names(daemon):
    return [each["daemon"] for each in daemon.ask("GET", "/v1/cluster")["daemons"]]


def state(daemon):
    return daemon.ask("GET", "/v1/cluster")["state"]


def all_know(*daemons):
    """Waits until each of the daemons knows all of them."""
    known = sorted(daemon.flags[daemon.flags.index("--name") + 1] for daemon in daemons)
    for each in daemons:
        eventually(lambda daemon=each: names(daemon) == known, f"{known} are known")


def state_on(daemon, place):
    """The state of NAME@DAEMON, as a daemon knows it; None: it does not know it."""
    name, other = place.split("@")
    for each in daemon.ask("GET", "/v1/cluster")["daemons"]:
        for runtime in each["runtimes"]:
            if (runtime["name"], each["daemon"]) == (name, other):
                return runtime["state"]
    return None


def echo(daemon, name, text, **options):
    """A server that answers each line with `text`."""
    script = daemon.folder / f"{name}.lua"
    script.write_text(f"function on_message(message, id) self.send(id, '{text}') end")
    return daemon.create("server", name, listen=["tcp://0.0.0.0:0"], lua=str(script), **options)


def answer(url):
    """What an echo server behind the URL says; None if there is none."""
    try:
        with Talker(url) as talker:
            talker.say(b"who?")
            return talker.hear()
    except ConnectionError:
        return None


def answers(url, count=8):
    return {answer(url) for _ in range(count)}


class Caller(Background):
    """Sends requests all the time, on connections of their own, and counts those that fail."""

    def __init__(self, url):
        super().__init__()
        self.url, self.answered, self.failures = url, 0, []

    def run(self):
        while not self.is_over.is_set():
            try:
                with urllib.request.urlopen(self.url, timeout=PATIENCE) as got:
                    got.read()
                self.answered += 1
            except (OSError, urllib.error.URLError) as error:
                self.failures.append(str(error))


def site(daemon, name, **options):
    """An HTTP server, as others reach it."""
    page = daemon.folder / f"{name}-site"
    page.mkdir()
    (page / "index.html").write_text("hello")
    return daemon.create("server", name, listen=["http://0.0.0.0:0"], http=str(page), **options)
