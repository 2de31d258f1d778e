"""The operations of every type, as GET /v1/types lists them. Each is called over the control API,
and its answer is validated against the schema in GET /v1/openapi.yaml. Scripts call them too."""

import contextlib
import json

import jsonschema
import pytest
import yaml
from strata_daemon import Refused, eventually
from talker import Talker

SCRIPT = """
function on_message(message, id) self.send(id, message) end
"""
# The options that make a runtime of each type; a new type has to be added here.
OPTIONS = {
    "server": {"listen": ["tcp://127.0.0.1:0"], "protocol": "raw"},
    "client": {"connect": "runtime://of-server", "reconnect": 1000,
               "reconnect_min": 0.01, "queue": 10},
    "proxy": {"listen": ["tcp://127.0.0.1:0"], "backend": ["of-server", "127.0.0.1:1 backup"]},
    "cache": {"listen": ["tcp://127.0.0.1:0"]},
    "program": {"command": "sh -c 'trap : USR1; while :; do sleep 1; done'"},
}
BODIES = {"eval-lua": b"1 + 1", "send": b"hello"}


@contextlib.contextmanager
def a_client(daemon, name):
    def clients():
        return daemon.ask("GET", f"/v1/runtimes/{name}/clients")

    if name in ("of-cache", "of-proxy"):
        with Talker(daemon.show(name)["endpoints"][0]) as caller:
            eventually(clients, "a client is there")
            yield f"client={clients()[0]['id']}"
            assert caller.is_ended()
    else:
        yield f"client={clients()[0]['id']}"


@contextlib.contextmanager
def a_signal(daemon, name):
    yield "signal=USR1"
    assert daemon.show(name)["state"] == "running"


@contextlib.contextmanager
def a_couple(daemon, name):
    def clients():
        return daemon.ask("GET", f"/v1/runtimes/{name}/clients")

    eventually(clients, "a client is there")
    yield f"client={clients()[0]['id']}&runtime={name}&other=1"


REQUIRED = {"disconnect": a_client, "signal": a_signal, "couple": a_couple, "uncouple": a_couple}


@pytest.fixture
def one_of_each(daemon, tmp_path):
    script = tmp_path / "script.lua"
    script.write_text(SCRIPT)
    for kind, options in OPTIONS.items():
        own = {} if kind == "program" else {"lua": str(script)}
        daemon.create(kind, f"of-{kind}", **own, **options)
    return daemon


def json_schema(schema, is_strict):
    """Converts an OpenAPI 3.0 schema to JSON Schema. `is_strict`: objects have no members that
    the schema does not name."""
    if isinstance(schema, list):
        return [json_schema(each, is_strict) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: json_schema(value, is_strict) for key, value in schema.items()}
    if is_strict and schema.get("type") == "object" and "properties" in schema:
        made["additionalProperties"] = False
    return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") is True else made


def check(answer, schema, description, is_strict=True):
    """Validates an answer; references are resolved in the whole document."""
    whole = {**schema, "components": description["components"]}
    jsonschema.validate(answer, json_schema(whole, is_strict))


def schema_for(description, operation):
    method = description["paths"][operation["path"]][operation["method"].lower()]
    [answer] = [each for status, each in method["responses"].items() if status.startswith("2")]
    return answer["content"]["application/json"]["schema"]


def test_each_is_answered_as_its_schema_says(one_of_each):
    daemon = one_of_each
    description = yaml.safe_load(daemon.exchange("GET", "/v1/openapi.yaml")[1])
    types = {each["name"]: each for each in daemon.ask("GET", "/v1/types")}
    assert types.keys() == OPTIONS.keys()
    check(list(types.values()), schema_for(description, {"path": "/v1/types", "method": "GET"}),
          description)
    asked = 0
    for name, kind in types.items():
        for operation in kind["operations"]:
            path = operation["path"].replace("{name}", f"of-{name}")
            body = BODIES[operation["name"]] if operation["body_type"] else None
            if operation["has_session"]:  # test_exec.py opens them
                assert daemon.exchange(operation["method"], path)[0] == 426
                continue
            with contextlib.ExitStack() as stack:
                if operation["required"]:
                    required = REQUIRED[operation["name"]](daemon, f"of-{name}")
                    path += "?" + stack.enter_context(required)
                answer = daemon.ask(operation["method"], path, body)
            # The runtime's detail combines several schemas, each with members of its own.
            check(answer, schema_for(description, operation), description,
                  is_strict=bool(operation["answer"]))
            members = (answer or [{}])[0] if operation["is_list"] else answer
            known = {row["key"] for row in operation["answer"]}
            assert not known or members.keys() <= known, (operation["name"], members)
            asked += 1
    assert asked >= 11, "an operation of each type, at least"


def test_what_a_type_has_not_says_who_has_it(one_of_each):
    daemon = one_of_each
    for path, why in [("of-cache/send", "it is a cache, but only a server or a client has"),
                      ("of-server/backends", "it is a server, but only a proxy has"),
                      ("nobody/backends", "nobody")]:
        method = "GET" if path.endswith("backends") else "POST"
        with pytest.raises(Refused, match=why):
            daemon.ask(method, f"/v1/runtimes/{path}")


@pytest.mark.parametrize("query, why", [
    ("client=ann", "ann"), ("client=-1", "-1"), ("to=7", "takes no parameter 'to'"),
    ("client=7&limit=1", "takes no parameter 'limit'"), ("client=999999", "no such client"),
    ("timeout=1", "takes no parameter 'timeout'")])
def test_parameters_are_held_against_the_row(one_of_each, query, why):
    with pytest.raises(Refused, match=why):
        one_of_each.ask("POST", f"/v1/runtimes/of-server/send?{query}", b"hello")


def test_a_list_takes_no_body(one_of_each):
    with pytest.raises(Refused, match="takes no body"):
        one_of_each.ask("GET", "/v1/runtimes/of-proxy/backends", b"hello")


def evaluated(daemon, line):
    answer = daemon.ask("POST", "/v1/runtimes/of-server/eval-lua", line.encode())
    assert "error" not in answer, answer
    return answer["values"]


def test_scripts_ask_too(one_of_each):
    daemon = one_of_each
    [backends] = evaluated(daemon, "strata.ask('of-proxy', 'backends')")
    assert [each["text"] for each in json.loads(backends)] == OPTIONS["proxy"]["backend"]
    [sent] = evaluated(daemon, "strata.ask('of-server', 'send', {}, 'hello')")
    assert json.loads(sent)["delivered"] >= 1
    for line, why in [("'of-cache', 'backends'", "only a proxy has"),
                      ("'of-proxy', 'dance'", "no type has an operation of this name"),
                      ("'of-server', 'send', {to = 7}, 'x'", "takes no parameter 'to'"),
                      ("'of-client', 'eval-lua', {}, '1'", "no script may"),
                      ("'of-program', 'exec', {command = {'id'}}", "no script may")]:
        nothing, reason = evaluated(daemon, f"strata.ask({line})")
        assert nothing == "nil" and why in reason, line
