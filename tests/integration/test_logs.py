"""strata logs of several runtimes: in the order of time, each line with its runtime."""

import contextlib
import json
import subprocess
from pathlib import Path

import pytest

from strata_daemon import BINARY, eventually


def talkative(daemon, tmp_path, *names, **options):
    """Makes servers whose scripts write a line for each message."""
    script = tmp_path / "talkative.lua"
    script.write_text("function on_message(message, id) strata.log(message) end")
    for name in names:
        daemon.server(name, lua=str(script), **options)


def say(daemon, name, text):
    endpoint = daemon.show(name)["endpoints"][0].removeprefix("tcp://")
    daemon.cli("create", "client", "speaker", "-t", endpoint, "-s")
    daemon.cli("send", "speaker", text)
    eventually(lambda: daemon.logged(name, text), "the script has written it")
    daemon.remove("speaker")


@pytest.fixture
def three(daemon, tmp_path):
    talkative(daemon, tmp_path, "a", "long-name", "other", group="g")
    for name, text in (("a", "one"), ("long-name", "two"), ("other", "three"), ("a", "four")):
        say(daemon, name, text)
    return daemon


def spoken(output, *words):
    return [line for line in output.splitlines() if line.split()[-1] in words]


def test_all_logs_are_shown_in_the_order_of_time(three):
    words = ("one", "two", "three", "four")
    lines = spoken(three.cli("logs"), *words)
    assert [line.split()[0] for line in lines] == ["a", "long-name", "other", "a"]
    assert [line.split()[-1] for line in lines] == list(words)
    assert lines[0].startswith("a          20")  # in columns
    for named in (["a", "long-name", "other"], ["@g"], ["*"]):
        assert spoken(three.cli("logs", *named), *words) == lines
    assert [line.split()[0] for line in spoken(three.cli("logs", "a", "other"), *words)] == [
        "a", "other", "a"]


def test_a_single_runtime_needs_no_name(three):
    assert [line[:2] for line in spoken(three.cli("logs", "a"), "one", "four")] == ["20", "20"]
    assert three.cli("logs", "a", "-q", "-n", "1") == "lua: four\n"
    assert three.cli("logs", "a", "other", "-q", "-n", "1") == (
        "other  lua: three\na      lua: four\n")


def test_json_names_the_runtime(three):
    for named in (["a"], ["a", "other"], []):
        lines = [json.loads(line) for line in
                 three.cli("logs", *named, "--format", "json").splitlines()]
        assert {each["runtime"] for each in lines} == set(named or ("a", "long-name", "other"))
        assert [each["time"] for each in lines] == sorted(each["time"] for each in lines)


def test_a_wrong_name_does_not_hide_the_others(three):
    done = three.run("logs", "a", "nobody", "*-name")
    assert done.returncode == 3 and "'nobody'" in done.stderr
    assert len(spoken(done.stdout, "one", "two", "four")) == 3
    done = three.run("logs", "x*")
    assert (done.returncode, done.stdout) == (3, "")


def test_a_daemon_without_runtimes_has_no_logs(daemon):
    assert daemon.cli("logs") == ""


class Following:
    """`strata logs -f`, which writes into a file."""

    def __init__(self, daemon, folder, *words):
        self.path = folder / "out"
        with self.path.open("w") as file:
            self.process = subprocess.Popen([BINARY, "logs", "-f", *words], stdout=file,
                                            env=daemon.environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def sockets(self):
        with contextlib.suppress(FileNotFoundError):  # one was just closed
            folder = Path(f"/proc/{self.process.pid}/fd")
            return sum(each.readlink().name.startswith("socket:") for each in folder.iterdir())
        return 0

    def shows(self, daemon, name, text):
        say(daemon, name, text)
        lines = self.path.read_text().splitlines()
        return any(line.startswith(f"{name} ") and line.endswith(f" {text}") for line in lines)


def test_all_are_followed(three, tmp_path):
    with Following(three, tmp_path, "-n", "0") as following:
        eventually(lambda: following.shows(three, "a", "five"), "a is followed")
        three.remove("a")
        eventually(lambda: following.shows(three, "other", "six"), "the others are followed")
        three.remove("other")
        three.remove("long-name")
        assert following.process.poll() is None


def test_named_ones_are_followed_until_they_are_removed(three, tmp_path):
    with Following(three, tmp_path, "-n", "0", "a", "other") as following:
        eventually(lambda: following.shows(three, "a", "five"), "a is followed")
        talkative(three, tmp_path, "b")
        say(three, "b", "not shown")
        three.remove("a")
        assert following.process.poll() is None
        three.remove("other")
        eventually(lambda: following.process.poll() == 0, "it ends with the last of them")
        assert "not shown" not in following.path.read_text()


@pytest.mark.parametrize("words", [[], ["*"], ["@g"], ["-l", "tier=front"], ["a", "b*"]])
def test_those_that_are_created_later_are_followed_too(daemon, tmp_path, words):
    talkative(daemon, tmp_path, "a", group="g", label=["tier=front"])
    with Following(daemon, tmp_path, "-n", "0", *words) as following:
        eventually(lambda: following.shows(daemon, "a", "one"), "a is followed")
        for text in ("two", "three"):  # a new one of the same name, too
            talkative(daemon, tmp_path, "b", group="g", label=["tier=front"])
            eventually(lambda: following.shows(daemon, "b", text), "b is followed")  # noqa: B023
            daemon.remove("b")
        talkative(daemon, tmp_path, "other")
        say(daemon, "other", "four")
        daemon.remove("a")
        talkative(daemon, tmp_path, "a", group="g", label=["tier=front"])
        eventually(lambda: following.shows(daemon, "a", "five"), "the new a is followed")
        is_named = words in ([], ["*"])
        assert ("four" in following.path.read_text()) == is_named


def test_a_daemon_without_runtimes_is_followed(daemon, tmp_path):
    with Following(daemon, tmp_path) as following:
        # Two connections for requests, the later one when the events are there.
        eventually(lambda: following.sockets() == 3, "it has begun")
        talkative(daemon, tmp_path, "first")
        eventually(lambda: following.shows(daemon, "first", "one"), "the first one is followed")


def test_a_pattern_that_names_nothing_is_an_error(daemon):
    done = daemon.run("logs", "-f", "x*")
    assert (done.returncode, done.stdout) == (3, "") and "x*" in done.stderr
