"""How connections end: each cell of the table of docs/endings.md."""

import threading
from pathlib import Path

import pytest

from certificates import Authority
from endings import PEERS
from strata_daemon import eventually

PAGE = Path(__file__).resolve().parents[2] / "docs/endings.md"


def read_table():
    """Returns {(cause, protocol): ending}. "–" marks a combination that does not exist."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in PAGE.read_text().splitlines() if line.startswith("|")]
    columns = rows[0][1:]
    assert columns == list(PEERS)
    return {(row[0], column): cell for row in rows[2:] if len(row) == len(rows[0])
            for column, cell in zip(columns, row[1:])}


TABLE = read_table()


class Causes:
    """Each cause makes the runtime and one connection, and ends the connection."""

    def __init__(self, daemon, peer, folder):
        self.daemon, self.peer, self.folder = daemon, peer, folder

    def begin(self, **options):
        self.peer.make(**options)
        self.peer.connect()

    def during(self, work):
        """Returns what the peer sees while the daemon works; a WebSocket answers meanwhile."""
        thread = threading.Thread(target=work)
        thread.start()
        ending = self.peer.ending()
        thread.join()
        return ending

    def order(self, action, **options):
        self.begin(**options)
        return self.during(lambda: self.daemon.ask("POST", f"/v1/runtimes/s/{action}"))

    def stop(self):
        return self.order("stop")

    def restart(self):
        return self.order("restart")

    def stop_now(self):
        return self.order("stop?timeout=0")

    def stop_drain(self):
        return self.order("stop", drain=True, drain_timeout=1)

    def sigterm(self):
        self.begin()
        return self.during(self.daemon.stop)

    def takeover(self):
        self.begin()
        return self.during(self.daemon.take_over)

    def sigkill(self):
        self.begin()
        return self.during(self.daemon.kill9)

    def idle(self):
        self.begin(**{self.peer.idle_limit: 0.3})
        return self.peer.ending()

    def limit(self):
        other = type(self.peer)(self.daemon, self.peer.trust)
        other.make(max_connections=1)
        other.connect()
        self.peer.url = other.url
        return self.refused()

    def denied(self):
        self.peer.make(deny=["127.0.0.0/8"])
        return self.refused()

    def refused(self):
        """Returns what a client that is not admitted sees."""
        try:
            self.peer.connect()
        except (ConnectionResetError, BrokenPipeError):
            return "RST"
        except (AssertionError, OSError) as error:
            return "FIN" if "EOF" in str(error) or "ended" in str(error) else f"? {error!r}"
        return self.peer.ending()

    def script(self):
        script = self.folder / "s.lua"
        script.write_text("function on_connect(id) strata.set_timeout(100, function()\n"
                          "self.disconnect(id) end) end")
        self.begin(lua=str(script))
        return self.peer.ending()

    def breach(self):
        self.begin(**self.peer.breach_limit)
        self.peer.breach()
        return self.peer.ending()

    def half_close(self):
        self.begin()
        self.peer.half_close()
        return self.peer.ending()

    def leave(self):
        self.begin()
        return self.gone(self.peer.leave)

    def reset(self):
        self.begin()
        return self.gone(self.peer.reset)

    def gone(self, act):
        """Waits until the runtime has noticed the end."""
        act()
        eventually(lambda: self.daemon.stats("s")["connections"]["now"] == 0, "it is gone")
        return "closed"


CAUSES = {"`strata stop`": "stop", "`strata restart`": "restart", "`strata stop --now`": "stop_now",
          "`strata stop`, with `--drain`": "stop_drain", "SIGTERM of the daemon": "sigterm",
          "a takeover": "takeover",
          "SIGKILL of the daemon": "sigkill", "the idle limit": "idle",
          "`--max-connections`": "limit", "`--deny`": "denied",
          "a script's `self.disconnect`": "script", "a breach of the protocol": "breach",
          "the peer's half-close": "half_close", "the peer's close": "leave",
          "the peer's reset": "reset"}


@pytest.mark.parametrize("protocol", PEERS)
@pytest.mark.parametrize("cause", CAUSES)
def test_a_connection_ends_as_the_page_says(daemon, tmp_path, cause, protocol):
    expected = TABLE[cause, protocol]
    peer = PEERS[protocol](daemon, Authority(tmp_path / "authority"))
    if expected.endswith("stays"):
        peer.patience = 1
    seen = "–" if expected == "–" else getattr(Causes(daemon, peer, tmp_path), CAUSES[cause])()
    assert seen in expected.split(" or ")


def test_the_page_has_no_other_rows():
    assert {cause for cause, _ in TABLE} == set(CAUSES)
