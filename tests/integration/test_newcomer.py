"""What the CLI shows at a terminal, to somebody who does not know it yet."""

import pytest

from terminal import screen_of

pytestmark = pytest.mark.once

DONE, FAILED, MISUSED, NOT_FOUND, UNREACHABLE = range(5)


def test_an_empty_list_says_how_to_go_on(daemon):
    screen, code = screen_of(daemon, "ls")
    assert "strata create server" in screen and code == DONE
    for quiet in (["ls", "-q"], ["ls", "--format", "json"]):
        assert "create" not in screen_of(daemon, *quiet)[0]
    daemon.create("server", "idle", start=False, port=0)
    screen, code = screen_of(daemon, "ps")
    assert "none of the 1 runtime " in screen and code == DONE
    assert "none" not in screen_of(daemon, "ls")[0]
    screen, code = screen_of(daemon, "ls", "nobody")
    assert "'nobody'" in screen and "none of" not in screen and code == NOT_FOUND


def test_a_long_cell_is_cut_on_a_terminal_unless_asked_for(daemon):
    group = "g" * 4000
    daemon.create("server", "s", start=False, port=0, group=group)
    screen, _ = screen_of(daemon, "ls", columns=120)
    assert "g" * 59 + "…" in screen and "g" * 60 not in screen
    assert group in screen_of(daemon, "ls", "--columns", "name,group", columns=120)[0]
    assert group in screen_of(daemon, "show", "s")[0]
    assert group in daemon.cli("ls") and group in daemon.cli("ls", "--format", "json")
