"""Files of `strata run` that list their runtimes in a table, as socketley's files do."""

import pytest


@pytest.fixture
def run(daemon, tmp_path):
    path = tmp_path / "file.lua"

    def run(text, *flags):
        path.write_text(text)
        done = daemon.run("run", path, *flags)
        return done.returncode, done.stdout, done.stderr

    return run


def test_what_the_table_lists_is_created(daemon, run):
    text = """runtimes = {
      {type = 'server', name = 's', port = 0, mode = 'in', start = true},
      {type = 'proxy', name = 'p', port = 0, strategy = 'random', backends = {'s'}},
      {type = 'cache', name = 'db', port = 0, mode = 'readonly', maxmemory = '1M', start = true},
      {type = 'client', name = 'c', target = '127.0.0.1:1'},
    }"""
    code, output, complaint = run(text)
    assert (code, complaint) == (0, ""), (output, complaint)
    assert sorted(daemon.names()) == ["c", "db", "p", "s"]
    assert [daemon.show(each)["state"] for each in ("s", "p", "db", "c")] == [
        "running", "created", "running", "created"]
    assert daemon.show("p")["options"]["balance"] == "random"
    assert daemon.show("p")["options"]["backend"] == ["s"]
    assert daemon.show("db")["options"]["access"] == "readonly"
    assert daemon.show("db")["options"]["max_memory"] == 1 << 20
    code, output, _ = run(text)
    assert code == 0 and output.count("unchanged") == 4


def test_commas_separate_backends(daemon, run):
    code, _, complaint = run("runtimes = {{type = 'proxy', name = 'p', port = 0, "
                             "backends = '127.0.0.1:1,127.0.0.1:2 weight=2'}}")
    assert code == 0, complaint
    expected = ["127.0.0.1:1", "127.0.0.1:2 weight=2"]
    assert daemon.show("p")["options"]["backend"] == expected
    daemon.cli("create", "proxy", "q", "-p", "0", "--backend", "127.0.0.1:1,127.0.0.1:2 weight=2")
    assert daemon.show("q")["options"]["backend"] == expected
    refused = daemon.run("create", "proxy", "r", "-p", "0", "--backend", "127.0.0.1:1,,127.0.0.1:2")
    assert refused.returncode != 0 and daemon.names() == ["p", "q"]


@pytest.mark.parametrize("table, flags", [
    ("{name = 'a', cluster = '/shared'}", "--name a --cluster dir:///shared"),
    ("{name = 'a'}", "--name a'"), ("{}", "--name NAME --cluster dir:///DIR")])
def test_a_table_of_the_daemon_is_not_passed_over_in_silence(daemon, run, table, flags):
    code, output, complaint = run(f"daemon = {table}\n"
                                  "runtimes = {{type = 'server', name = 's', port = 0}}")
    assert (code, complaint) == (0, "") and daemon.names() == ["s"]
    assert "'daemon' is not applied" in output and f"strata daemon {flags}" in output


def test_a_table_beside_calls_of_functions(daemon, run):
    code, output, _ = run("strata.create('server', 'a', {port = 0})\n"
                          "runtimes = {{type = 'server', name = 'b', port = 0}}")
    assert code == 0 and "a: created" in output and "b: created" in output


@pytest.mark.parametrize("entry, why", [
    ("{type = 'server'}", "runtimes[1] is not a table with type and name"),
    ("'server'", "runtimes[1] is not a table with type and name"),
    ("{type = 'serve', name = 's'}", "there is no type 'serve'"),
    ("{type = 'server', name = 's', log = 'x.log'}", "runtimes[1] has 'log'"),
    ("{type = 'server', name = 's', strategie = 'random'}", "strategie")])
def test_an_entry_that_cannot_be_is_named(daemon, run, entry, why):
    code, _, complaint = run(f"runtimes = {{{entry}}}")
    assert code != 0 and why in complaint, complaint
    assert daemon.names() == []


def test_a_file_that_describes_nothing_says_so(run):
    code, _, complaint = run("local runtimes = {}")
    assert code == 0 and "describes no runtime" in complaint and "'runtimes'" in complaint
