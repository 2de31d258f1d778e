"""strata logs of several runtimes: in the order of time, each line with its runtime."""

import json
import subprocess

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


def test_all_are_followed_until_they_are_removed(three, tmp_path):
    path = tmp_path / "out"
    with path.open("w") as file:
        running = subprocess.Popen([BINARY, "logs", "-f", "-n", "0"], stdout=file,
                                   env=three.environment)

    def shows(name, text):
        say(three, name, text)
        return f"{name} " in path.read_text() and text in path.read_text()

    eventually(lambda: shows("a", "five"), "a is followed")
    three.remove("a")
    eventually(lambda: shows("other", "six"), "the others are still followed")
    assert running.poll() is None
    three.remove("other")
    three.remove("long-name")
    eventually(lambda: running.poll() == 0, "it ends with the last of them")
