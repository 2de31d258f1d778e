"""What the CLI shows on a terminal to a newcomer."""

import json
import os
import sys

import pytest

from strata_daemon import eventually
from talker import Talker
from terminal import Terminal, screen_of

pytestmark = pytest.mark.once

DONE, FAILED, MISUSED, NOT_FOUND, UNREACHABLE = range(5)


def test_an_empty_list_says_how_to_go_on(daemon):
    screen, code = screen_of(daemon, "ls")
    assert "strata create server" in screen and code == DONE
    for quiet in (["ls", "-q"], ["ls", "--format", "json"]):
        assert "create" not in screen_of(daemon, *quiet)[0]
    daemon.create("server", "idle", start=False, port=0)
    screen, code = screen_of(daemon, "ps")
    assert "none of the 1 runtime matches" in screen and code == DONE
    assert "none" not in screen_of(daemon, "ls")[0]
    screen, code = screen_of(daemon, "ls", "nobody")
    assert "'nobody'" in screen and "none of the" not in screen and code == NOT_FOUND


def test_a_long_cell_is_cut_on_a_terminal_unless_asked_for(daemon):
    group = "g" * 4000
    daemon.create("server", "s", start=False, port=0, group=group)
    screen, _ = screen_of(daemon, "ls", columns=120)
    assert "g" * 59 + "…" in screen and "g" * 60 not in screen
    assert group in screen_of(daemon, "ls", "--columns", "name,group", columns=120)[0]
    assert group in screen_of(daemon, "show", "s")[0]
    assert group in daemon.cli("ls") and group in daemon.cli("ls", "--format", "json")


def test_help_is_as_wide_as_the_terminal(daemon):
    def widest(columns):
        screen, code = screen_of(daemon, "--help", columns=columns)
        assert code == DONE
        return max(len(line) for line in screen.splitlines() if "'" not in line)

    piped = max(len(line) for line in daemon.cli("--help").splitlines())
    assert 90 < piped <= 100
    assert widest(70) <= 70 < widest(100) <= 100 < widest(160) <= 160


def test_a_terminal_is_not_obeying_messages(daemon):
    [url] = daemon.server("s")
    for quiet in ([], ["-q"]):
        with Talker(url) as ann, Terminal(daemon, "start", "-i", "s", *quiet) as terminal:
            eventually(lambda: terminal.follows(ann), "it listens")
            ann.say("\u202egnp.\x1b[2J".encode())
            terminal.shows(b"\\u{202e}gnp.\\x1b[2J")
            assert b"\x1b[2J" not in terminal.screen and "\u202e".encode() not in terminal.screen


class Editor:
    """A person's actions in an editor, as a script that receives the file."""

    def __init__(self, daemon, folder):
        self.daemon = daemon
        self.folder = folder
        self.runtime_dir = folder / "run"
        self.runtime_dir.mkdir(mode=0o700)
        self.variables = {"XDG_RUNTIME_DIR": str(self.runtime_dir)}

    def doing(self, *rounds):
        """Sets, for each round, a script that changes the options' file; `self.seen`
        records what it found."""
        self.seen = self.folder / "seen"
        for number, change in enumerate(rounds):
            (self.folder / f"change{number}.py").write_text(change)
        script = self.folder / "editor"
        script.write_text(f"""#!/bin/sh
            count=$(cat {self.folder}/count 2>/dev/null || echo 0)
            echo $((count + 1)) > {self.folder}/count
            stat -c '%a %n' "$1" >> {self.seen}
            stat -c '%a' "$(dirname "$1")" >> {self.seen}
            cat "$1" >> {self.seen}
            exec {sys.executable} {self.folder}/change$count.py "$1"
        """)
        script.chmod(0o700)
        self.variables["EDITOR"] = str(script)
        return self

    def edit(self, name, *flags):
        return Terminal(self.daemon, "edit", name, *flags, **self.variables)

    def files(self):
        return [path for path in self.runtime_dir.rglob("*") if path.is_file()]


def setting(**options):
    return f"""import json, sys
options = json.load(open(sys.argv[1]))
options.update(json.loads({json.dumps(json.dumps(options))}))
json.dump(options, open(sys.argv[1], "w"))
"""


UNCHANGED = "pass"
BROKEN = "import sys; open(sys.argv[1], 'w').write('{ no')"


@pytest.fixture
def editor(daemon, tmp_path):
    daemon.create("server", "s", start=False, port=0, mode="master", master_pw="secret!")
    return Editor(daemon, tmp_path)


def test_edit_opens_an_editor_and_sends_what_differs(daemon, editor):
    editor.doing(setting(group="blue", framing="raw", write="said"))
    with editor.edit("s") as terminal:
        assert terminal.exit_code() == DONE
        assert b"group" in terminal.screen and b"saved" not in terminal.screen
    options = daemon.show("s")["options"]
    assert (options["group"], options["framing"]) == ("blue", "raw")
    assert options["write"] == os.path.join(os.getcwd(), "said")  # as a flag would set it
    seen = editor.seen.read_text()
    assert seen.startswith(f"600 {editor.runtime_dir}/strata-edit/options-")
    assert seen.splitlines()[1] == "700"
    assert "master_pw" not in seen and "secret!" not in seen and '"mode": "master"' in seen
    assert daemon.show("s")["options"]["mode"] == "master"
    assert editor.files() == []


def test_an_option_that_is_taken_out_gets_its_default(daemon, editor):
    daemon.edit("s", group="blue")
    editor.doing("""import json, sys
options = json.load(open(sys.argv[1]))
del options["group"]
json.dump(options, open(sys.argv[1], "w"))
""")
    with editor.edit("s") as terminal:
        assert terminal.exit_code() == DONE
    assert daemon.show("s")["options"]["group"] == ""


def test_nothing_edited_changes_nothing(daemon, editor):
    before = daemon.show("s")["options"]
    with editor.doing(UNCHANGED).edit("s") as terminal:
        assert terminal.exit_code() == DONE
        assert b"nothing was changed" in terminal.screen
    assert daemon.show("s")["options"] == before and editor.files() == []


def test_a_wrong_value_is_edited_again_or_given_up(daemon, editor):
    editor.doing(setting(threads=-1), BROKEN, "import sys; open(sys.argv[1], 'w').write('[1]')",
                 "import sys; open(sys.argv[1], 'w').write('[' * 200000)",
                 BROKEN,
                 "import sys; open(sys.argv[1], 'w').write('{\"group\": \"red\", \"port\": 0, "
                 "\"mode\": \"master\"}')")
    with editor.edit("s") as terminal:
        for message in (b"threads", b"JSON", b"a JSON object", b"deep", b"JSON"):
            terminal.shows(message)
            terminal.shows(b"(q)? ")
            terminal.screen = b""
            terminal.type(b"what\n")  # it asks again
            terminal.shows(b"(q)? ")
            terminal.screen = b""
            terminal.type(b"e\n")
        assert terminal.exit_code() == DONE
    assert daemon.show("s")["options"]["group"] == "red" and editor.files() == []


@pytest.mark.parametrize("leave, code", [(b"q\n", FAILED), (b"\x04", FAILED), (b"\x03", 130)])
def test_a_wrong_value_that_is_given_up_changes_nothing(daemon, editor, leave, code):
    with editor.doing(setting(nonsense=1)).edit("s") as terminal:
        terminal.shows(b"nonsense")
        terminal.shows(b"(q)? ")
        assert len(editor.files()) == 1
        terminal.type(leave)
        assert terminal.exit_code() == code
    assert editor.files() == []


def test_an_editor_that_fails_or_is_not_there_changes_nothing(daemon, editor, tmp_path):
    for command in ("false", "/nonexistent/editor", f"rm -f {tmp_path}/run/strata-edit/*; true",
                    "mkfifo-or-not; ln -sf /etc/passwd"):
        editor.variables["VISUAL"] = command
        with editor.edit("s") as terminal:
            terminal.type(b"q\n")
            assert terminal.exit_code() == FAILED, terminal.screen
        assert editor.files() == []
    assert "root:" not in str(daemon.show("s"))


def test_a_folder_that_others_made_is_not_used(daemon, editor, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (editor.runtime_dir / "strata-edit").symlink_to(tmp_path / "elsewhere")
    with editor.doing(UNCHANGED).edit("s") as terminal:
        assert terminal.exit_code() == FAILED
        assert b"link" in terminal.screen
    assert list((tmp_path / "elsewhere").iterdir()) == []
    editor.runtime_dir.chmod(0o777)  # not private: the state folder is used instead
    editor.variables["STRATA_STATE_DIR"] = str(tmp_path / "state")
    with editor.edit("s") as terminal:
        assert terminal.exit_code() == DONE
    assert f"{tmp_path}/state/strata-edit/options-" in editor.seen.read_text()


def test_edit_of_what_is_not_there_opens_no_editor(daemon, editor):
    with editor.doing(UNCHANGED).edit("nobody") as terminal:
        assert terminal.exit_code() == NOT_FOUND
    assert not editor.seen.exists() and editor.files() == []
