"""strata up, down, diff, export and lint: stacks of runtimes, described in YAML."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from strata_daemon import eventually
from talker import TextTalker as Talker
from talker import free_port

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]

SHOP = """
name: shop
variables: {limit: 7}
runtimes:
  front:
    type: proxy
    listen: tcp://127.0.0.1:0
    backend: api
  api:
    type: server
    listen: [tcp://127.0.0.1:0]
    mode: echo
    max_connections: ${limit}
    label: tier=1
  store: {type: cache, listen: tcp://127.0.0.1:0, resp: true, start: false}
"""

UNCHANGED = "plan: nothing to change\napi: unchanged\nfront: unchanged\nstore: unchanged\n"


@pytest.fixture
def stack(daemon, tmp_path):
    """Returns a function that runs a verb of stacks with that text; it returns the exit code,
    output and errors."""
    path = tmp_path / "strata.yaml"

    def run(verb, text=None, *flags):
        if text is not None:
            path.write_text(text)
        done = daemon.run(verb, *flags, "-f", path)
        return done.returncode, done.stdout, done.stderr

    run.path = path
    return run


def test_a_stack_comes_up_once(daemon, stack):
    assert stack("up", SHOP, "--dry-run") == (
        0, "api: would be created\nfront: would be created\nstore: would be created\n", "")
    assert daemon.names() == []
    assert stack("up") == (
        0, "plan: create api, front, store\napi: created\nfront: created\nstore: created\n", "")
    assert [daemon.show(each)["state"] for each in ("api", "front", "store")] == [
        "running", "running", "created"]
    assert daemon.show("api")["labels"] == {"tier": "1", "strata.stack": "shop"}
    assert daemon.show("api")["options"]["max_connections"] == 7
    with Talker(daemon.show("front")["endpoints"][0]) as ann:
        ann.say("hello")
        assert ann.hear() == "hello"
        events = daemon.cli("events")
        assert stack("up") == (0, UNCHANGED, "")
        assert daemon.cli("events") == events
        ann.say("still here")
        assert ann.hear() == "still here"
    assert stack("diff") == (0, "", "")


def test_variables_come_from_flags_then_the_environment_then_the_stack(daemon, stack):
    stack("up", SHOP)
    changed = "api: changed: max_connections"
    assert stack("up", None, "--set", "limit=8")[1].splitlines()[1] == changed
    daemon.variables["limit"] = "9"
    assert stack("up")[1].splitlines()[1] == changed
    assert daemon.show("api")["options"]["max_connections"] == 9
    assert stack("up", None, "--set", "limit")[0] == 2


def test_a_difference_is_shown_option_by_option(daemon, stack):
    stack("up", SHOP)
    daemon.edit("api", max_connections=1)
    daemon.act("front", "stop")
    daemon.remove("store")
    code, output, _ = stack("diff", None, "--format", "json")
    assert code == 1
    assert json.loads(output) == [
        {"name": "api", "change": "edit", "option": "max_connections", "present": 1, "desired": 7},
        {"name": "front", "change": "start", "option": "", "present": None, "desired": None},
        {"name": "store", "change": "create", "option": "", "present": None, "desired": None}]
    assert stack("diff", None, "api")[0] == 1
    assert stack("up") == (
        0, "plan: create store; change api (max_connections); start front; keep 1\n"
        "api: changed: max_connections\nfront: unchanged\nfront: started\nstore: created\n", "")
    assert stack("diff")[0] == 0


def test_a_stack_removes_only_what_it_has_created(daemon, stack):
    daemon.server("other")
    daemon.server("store", mode="echo")
    without_store = SHOP[:SHOP.index("  store:")]
    stack("up", without_store)
    extended = without_store + "  extra: {type: server, listen: tcp://127.0.0.1:0}\n"
    assert "extra: created" in stack("up", extended)[1]
    assert stack("diff", without_store) == (
        1, "NAME   CHANGE  OPTION  PRESENT  DESIRED\nextra  prune   -       -        -\n", "")
    assert "extra" not in stack("up")[1]
    pruned = stack("up", None, "--prune")[1]
    assert pruned.startswith("plan: remove extra; keep 2\n") and "extra: removed" in pruned
    assert sorted(daemon.names()) == ["api", "front", "other", "store"]
    assert stack("down", None, "--dry-run")[1] == "front: would be removed\napi: would be removed\n"
    assert stack("down") == (0, "front: removed\napi: removed\n", "")
    assert sorted(daemon.names()) == ["other", "store"]
    assert stack("down") == (0, "", "")


def test_what_is_exported_and_comes_up_changes_nothing(daemon, stack, tmp_path):
    stack("up", SHOP)
    daemon.server("own", listen=["udp://127.0.0.1:0"], group="g$1", udp_join="a-secret-token")
    done = daemon.run("export")
    assert "udp_join of 'own'" in done.stderr and "a-secret-token" not in done.stdout
    assert "$$1" in done.stdout
    again = daemon.run("up", "-f", "-", given=done.stdout)
    assert (again.returncode, again.stdout) == (
        0, UNCHANGED.replace("store", "own: unchanged\nstore"))
    assert daemon.show("own")["labels"] == {}
    assert daemon.run("export", "-l", "tier=1").stdout.startswith("name: shop\n")
    # The stack makes the same runtimes elsewhere.
    assert stack("down")[0] == 0
    daemon.remove("own")
    assert daemon.run("up", "-f", "-", given=done.stdout).stdout == (
        "plan: create api, front, own, store\n"
        "api: created\nfront: created\nown: created\nstore: created\n")


def test_a_stack_that_fails_half_way_goes_back(daemon, stack):
    stack("up", SHOP)
    port = free_port()
    daemon.server("holder", listen=[f"tcp://127.0.0.1:{port}"])
    wrong = SHOP.replace("limit: 7", "limit: 9") + (
        f"  first: {{type: server, listen: tcp://127.0.0.1:0}}\n"
        f"  last: {{type: server, listen: 'tcp://127.0.0.1:{port}', depends_on: [first, api]}}\n")
    code, output, complaint = stack("up", wrong, "--rollback")
    assert code == 1 and "'last': " in complaint and str(port) in complaint
    assert "first: created" in output and "as before:" in complaint
    assert sorted(daemon.names()) == ["api", "front", "holder", "store"]
    assert daemon.show("api")["options"]["max_connections"] == 7
    code, _, _ = stack("up")
    assert code == 1 and "first" in daemon.names()


@pytest.mark.parametrize("flags", [[], ["--restart"]])
def test_the_way_back_restarts_what_was_restarted(daemon, stack, flags):
    before, after, taken = free_port(), free_port(), free_port()
    daemon.server("holder", listen=[f"tcp://127.0.0.1:{taken}"])
    text = "runtimes: {api: {type: server, mode: echo, listen: 'tcp://127.0.0.1:%d'}%s}"
    stack("up", text % (before, ""))
    last = f", last: {{type: server, listen: 'tcp://127.0.0.1:{taken}', depends_on: api}}"
    with Talker(f"tcp://127.0.0.1:{before}") as ann:
        ann.say("hello")
        assert ann.hear() == "hello"
        code, output, complaint = stack("up", text % (after, last), "--rollback", *flags)
        assert code == 1 and "as before:" in complaint
        if flags:
            assert "api: changed and restarted" in output
        else:
            ann.say("still here")
            assert ann.hear() == "still here"
    shown = daemon.show("api")
    assert shown["state"] == "running"
    assert shown["options"]["listen"] == shown["endpoints"] == [f"tcp://127.0.0.1:{before}"]


def three_and_one_that_stays(daemon, stack, options):
    """Brings up a stack of x, y and z, then one without them whose y cannot be removed: its data
    cannot be saved. Returns which of the others was removed, and what the command says."""
    folder = daemon.folder / "data"
    folder.mkdir()
    assert stack("up", "name: s\nruntimes:\n" + "".join(
        f"  {name}: {{type: server, group: web, {options}}}\n" for name in "xz")
        + "  y: {type: cache, group: web, listen: tcp://127.0.0.1:0, resp: true, save: 3600 1, "
        + f"snapshot: {folder}/y.rdb}}\n")[0] == 0
    with Talker(daemon.show("y")["endpoints"][0]) as ann:
        ann.say("SET key value")
        assert ann.hear().strip() == "+OK"
    folder.rename(folder.with_name("away"))
    code, output, complaint = stack("up", "name: s", "--prune", "--rollback")
    folder.with_name("away").rename(folder)
    [removed] = [line[0] for line in output.splitlines() if line.endswith(": removed")]
    assert code == 1 and removed in "xz" and "y.rdb" in complaint
    return removed, complaint


def test_the_way_back_creates_what_was_pruned(daemon, stack):
    removed, complaint = three_and_one_that_stays(daemon, stack, "listen: tcp://127.0.0.1:0")
    assert "as before:" in complaint and removed in complaint.rpartition("as before:")[2]
    assert sorted(daemon.names()) == ["x", "y", "z"]
    for name in "xyz":
        shown = daemon.show(name)
        assert shown["state"] == "running" and shown["group"] == "web"
        assert shown["labels"] == {"strata.stack": "s"}


def test_the_way_back_creates_nothing_without_its_secret(daemon, stack):
    removed, complaint = three_and_one_that_stays(
        daemon, stack, "listen: udp://127.0.0.1:0, udp_join: hidden-token")
    assert f"'{removed}' could not be made as it was" in complaint
    assert "had a secret, 'udp_join'" in complaint and "hidden" not in complaint
    assert removed not in daemon.names()


SECRET = "runtimes:\n  own:\n    type: server\n    listen: udp://127.0.0.1:0\n    udp_join: %s\n"


@pytest.mark.parametrize("written", [
    "'hidden$x'", "'x$hidden'", "'${hidden'", "'x${hid den}'", "hidden$(hidden)", "[hidden]",
    "[hidden, 'hidden$x']", "{hidden: hidden}", "*hidden", "hidden: hidden",
    "hidden" * 1000])
def test_a_secret_that_is_wrong_is_not_shown(stack, written):
    for verb, *flags in (["lint"], ["up"], ["up", "--dry-run"], ["diff"], ["down"]):
        code, output, complaint = stack(verb, SECRET % written, *flags)
        assert code == 1 and "strata.yaml:5:" in complaint
        assert "hidden" not in output + complaint, complaint


def test_a_variable_that_is_wrong_is_not_shown(stack):
    for text in ("variables: {token: 'hidden$x'}", "variables: {token: [hidden]}",
                 SECRET % "${token}" + "variables: {token: 'x${hid den}hidden'}"):
        code, output, complaint = stack("lint", text)
        assert code == 1 and "hidden" not in output + complaint, complaint
    # A variable that has no value is named.
    assert "the variable 'token' has no value" in stack("lint", SECRET % "${token}")[2]


def test_secrets_are_not_shown_in_plans(daemon, stack):
    daemon.server("own", listen=["udp://127.0.0.1:0"])
    shown = [stack("lint", SECRET % "hidden-token"), stack("up", None, "--dry-run"), stack("diff"),
             stack("diff", None, "--format", "json"), stack("up", None, "--format", "json"),
             stack("up"), stack("diff"), stack("diff", SECRET % "hidden-other")]
    assert "********" in shown[2][1] and "********" in shown[3][1]
    shown += [(done.returncode, done.stdout, done.stderr)
              for done in (daemon.run("export"), daemon.run("export", "--format", "json"))]
    for code, output, complaint in shown:
        assert code in (0, 1) and "hidden" not in output + complaint, (output, complaint)


def test_it_waits_until_all_run(daemon, stack):
    port = free_port()
    text = ("runtimes: {ear: {type: client, reconnect: 0, reconnect_min: 50ms, "
            f"reconnect_max: 50ms, target: '127.0.0.1:{port}'}}}}")
    assert stack("up", text)[0] == 0
    code, _, complaint = stack("up", None, "--wait", "--wait-timeout", "200ms")
    shown = daemon.show("ear")
    assert code == (0 if shown["state"] == "running" and not shown["warning"] else 1), complaint
    assert stack("up", SHOP, "--wait")[0] == 0


CHECKED = """
runtimes:
  api: {type: server, http: ., listen: "http://127.0.0.1:%s"}
  front: {type: proxy, listen: "http://127.0.0.1:0", backend: "http://127.0.0.1:%s",
          check: http, check_interval: 50ms, check_path: %s}
"""


def test_it_waits_until_backends_have_passed_a_check(daemon, stack):
    port = free_port()
    wait = ["--wait", "--wait-timeout", "20s"]
    (daemon.folder / "page.txt").write_text("a page")
    (stack.path.parent / "page.txt").write_text("a page")
    assert stack("up", CHECKED % (port, port, "/page.txt"), *wait)[0] == 0
    [backend] = daemon.ask("GET", "/v1/runtimes/front/backends")
    assert (backend["state"], backend["check"]) == ("ready", "passed")
    wait[1:] = ["--wait-timeout", "1s"]
    code, _, complaint = stack("up", CHECKED % (port, port, "/missing"), "--restart", *wait)
    assert code == 1 and "not ready within 1 s: 'front': backend" in complaint, complaint
    # Nothing serves there, but without checks, only a client would find out.
    plain = CHECKED.replace("check: http, check_interval: 50ms, check_path: %s", "check: 'off'")
    assert stack("up", plain % (port, free_port()), *wait)[0] == 0


def test_what_would_be_refused_is_known_before_anything_is_changed(daemon, stack):
    stack("up", SHOP)
    wrong = SHOP.replace("limit: 7", "limit: 9") + (
        "  last: {type: server, listen: 'tcp://127.0.0.1:0', mode: master}\n")
    code, output, complaint = stack("up", wrong)
    assert (code, output) == (2, "") and "'last': " in complaint
    assert daemon.show("api")["options"]["max_connections"] == 7


def test_a_plan_is_not_part_of_a_document(daemon, stack):
    made = json.loads(stack("up", SHOP, "--format", "json")[1])
    assert [each["what"] for each in made] == ["created"] * 3
    assert stack("up", None, "--quiet")[1] == ""


def test_mistakes_name_their_place(daemon, stack):
    code, output, complaint = stack("up", "runtimes:\n  a:\n    type: server\n    prot: 1\n")
    assert (code, output) == (1, "")
    assert "strata.yaml:4:5: " in complaint and "did you mean 'port'?" in complaint
    assert stack("up", SHOP, "nope")[0] == 3
    assert stack("down", "x: [")[0] == 1
    stack.path.unlink()
    assert "No such file" in stack("lint")[2]
    daemon.server("api", mode="echo")
    code, _, complaint = stack("up", "runtimes: {api: {type: cache, resp: true}}")
    assert code == 1 and "is a server" in complaint


def test_a_stack_is_checked_without_a_daemon(daemon, stack):
    daemon.stop()
    assert stack("lint", SHOP) == (0, f"{stack.path}: stack 'shop', 3 runtimes\n", "")
    _, _, complaint = stack("lint", SHOP.replace("resp: true", "resp: true, password: secret-1"))
    assert "store" in complaint and "credential:NAME" in complaint and "secret-1" not in complaint
    schema = json.loads(stack("lint", None, "--schema")[1])
    assert set(schema["$defs"]) >= {"server", "client", "proxy", "cache"}
    assert schema["$defs"]["server"]["properties"]["port"]["anyOf"][0]["maximum"] == 65535
    assert stack("up", SHOP)[0] == 4


def test_the_schema_takes_what_strata_takes(daemon, stack):
    schema = json.loads(stack("lint", SHOP, "--schema")[1])
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    stack("up", SHOP)
    assert list(validator.iter_errors(yaml.safe_load(SHOP))) == []
    assert list(validator.iter_errors(yaml.safe_load(daemon.cli("export")))) == []
    placed = "runtimes: {a: {type: server, port: 0, 'on': %s}}"
    for right in ("east", "'west-*'", "[east, tier=1]"):
        assert list(validator.iter_errors(yaml.safe_load(placed % right))) == [], right
    for wrong in (placed % "[]", placed % "{tier: x}",
                  "runtimes: {a: {}}", "runtimes: {a: {type: sever}}", "nam: x",
                  "runtimes: {a: {type: server, prot: 1}}",
                  "runtimes: {a: {type: server, port: 99999}}",
                  "runtimes: {a: {type: server, mode: odd}}"):
        assert list(validator.iter_errors(yaml.safe_load(wrong))), wrong
        assert stack("lint", wrong)[0] == 1, wrong


class PlainLoader(yaml.SafeLoader):
    """YAML 1.2 as editors read it: only true and false are booleans, and nothing is a date."""


PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, shape) for tag, shape in rows if not tag.endswith((":bool", ":timestamp"))]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()}
PlainLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), "tf")

RIGHT = [
    "", "runtimes: ~", "name: 7\nvariables: ~", "x-more: {a: [1]}", SHOP,
    "variables: {a: 1, b: true, c: 1.5, d: text, e: '$$ ${f:-x}'}",
    *("runtimes: {b: {type: server}, a: {type: server, %s}}" % options for options in (
        "depends_on: b", "depends_on: [b]", "depends_on: []", "start: 'true'", "start: false",
        "start: '${x:-true}'", "group: ~", "group: 7", "group: true", "group: 1.5", "port: ~",
        "port: '8080'", "port: '${p:-1}'", "local: true", "local: 'false'", "local: ~",
        "listen: [tcp://127.0.0.1:0]", "listen: tcp://127.0.0.1:0", "listen: []", "listen: ~",
        "label: [a=1, '${x:-b=2}']", "mode: echo", "mode: '${m:-echo}'", "mode: ~",
        "max_message: 64K", "max_message: 1.5MiB", "max_message: 4096", "max_message: '4096'",
        "idle_timeout: 5s", "idle_timeout: 1.5", "idle_timeout: '2'", "udp_join: credential:a",
        "udp_join: 12", "on: east", "on: [west-*, 'disk=ssd,tier=1']", "on: 7", "on: '${d:-a}'")),
    "runtimes: {a: {type: '${t:-server}', port: 1}}",
    "x-usual: &usual {type: server, mode: echo}\nruntimes: {a: {<<: *usual, port: 1}}"]

WRONG = [
    "nam: x", "name: ''", "name: ~", "name: [a]", "- a", "runtimes: []", "variables: {a: ~}",
    "variables: {a: 'x$y'}", "variables: {a: [1]}", "runtimes: {a: {}}", "runtimes: {a: ~}",
    "runtimes: {a: {type: sever}}", "runtimes: {a: {type: ~}}",
    *("runtimes: {a: {type: server, %s}}" % options for options in (
        "prot: 1", "port: 99999", "port: many", "port: [1]", "port: 1.5", "port: -1",
        "port: true", "mode: odd", "mode: [echo]", "local: 1", "local: maybe", "local: [true]",
        "group: [a]", "group: {a: b}", "group: 'x$y'", "listen: [~]", "listen: [[a]]",
        "listen: {a: b}", "label: ['x${y']", "max_message: 1X", "max_message: -1",
        "idle_timeout: soon", "idle_timeout: -1", "start: maybe", "start: 1", "start: ~",
        "depends_on: ~", "depends_on: {a: b}", "depends_on: [~]", "on: []", "on: ~",
        "on: {tier: x}", "on: 'a b'", "on: [a, =x]", "on: 'a,b'"))]


def stacks_of_pages():
    """The stacks that pages of docs/ show."""
    for page in sorted(ROOT.glob("docs/*.md")):
        for text in re.findall(r"```yaml[^\n]*\n(.*?)```", page.read_text(), re.DOTALL):
            if re.search("^runtimes:", text, re.MULTILINE):
                yield text


def test_the_schema_takes_exactly_what_strata_takes(daemon, stack):
    validator = jsonschema.Draft202012Validator(json.loads(stack("lint", None, "--schema")[1]))
    shown = list(stacks_of_pages())
    assert len(shown) >= 2
    for text in [*RIGHT, *shown]:
        code, _, complaint = stack("lint", text)
        assert code == 0, (text, complaint)
        faults = [fault.message for fault in validator.iter_errors(yaml.load(text, PlainLoader))]
        assert faults == [], (text, faults)
    for text in WRONG:
        assert stack("lint", text)[0] == 1, text
        assert list(validator.iter_errors(yaml.load(text, PlainLoader))), text


def test_labels_select_runtimes(daemon):
    for name, labels in (("a", ["app=shop", "tier=1"]), ("b", ["app=shop"]), ("c", [])):
        daemon.server(name, label=labels)
    assert daemon.cli("ls", "-q", "-l", "app=shop") == "a\nb\n"
    assert daemon.cli("ls", "-q", "-l", "app=shop,tier=1", "c") == "a\nc\n"
    assert daemon.cli("stop", "-q", "-l", "tier=1") == "a\n"
    eventually(lambda: daemon.show("a")["state"] == "stopped", "it has stopped")
    missing = daemon.run("stop", "-l", "tier=2")
    assert missing.returncode == 3 and "no runtime has the label 'tier=2'" in missing.stderr
    wrong = daemon.run("create", "server", "d", "-p", "0", "--label", "app")
    assert wrong.returncode != 0 and "write KEY=VALUE" in wrong.stderr
    daemon.edit("c", label=["app=bank"])
    assert daemon.cli("ls", "--columns", "name,labels", "c") == "NAME  LABELS\nc     app bank\n"
