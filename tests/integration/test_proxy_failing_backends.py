"""Backends of a proxy that are killed, stopped and restarted while requests arrive."""

import pytest

from backend_process import BackProcess, more, visitors
from chaos import try_backends
from http_backend import get
from talker import port_of


@pytest.fixture
def pair():
    made = [BackProcess() for _ in range(2)]
    yield made
    for each in made:
        each.kill()


def test_no_request_that_may_be_repeated_fails_where_one_backend_is_left(daemon, pair):
    ill, well = pair
    [url] = daemon.create("proxy", "gw", listen=["http://127.0.0.1:0"], check="tcp",
                          backend=[ill.where, well.where], answer_timeout=0.3, rest=0.05,
                          check_interval=0.05, check_fall=1, check_rise=1)["endpoints"]
    with visitors(4, lambda: get(port_of(url))) as answers:
        for _ in range(10):
            ill.kill()
            more(answers)
            ill.start()
            more(answers)
            ill.pause()
            more(answers)
            ill.go_on()
            more(answers)
    failed = [each for each in answers if each != (200, b"ok")]
    assert failed == [] and len(answers) > 800
    # It went down and came up in turn.
    prefix = f"backend '{ill.where}' is "
    told = [line["text"].removeprefix(prefix) for line in daemon.logs("gw")
            if line["text"].startswith((prefix + "down:", prefix + "up:"))]
    states = [text.partition(":")[0] for text in told]
    assert states[:2] == ["down", "up"] and len(states) >= 10
    assert all(one != other for one, other in zip(states, states[1:]))


def test_under_wrk_no_request_fails_and_the_circuit_keeps_its_order(daemon):
    """Does what `chaos.py backends 100` does by hand."""
    found = try_backends(daemon, 4)
    assert (found["failed"], found["out_of_order"]) == (0, []), found
    assert found["requests"] > 4 * 5 * 500 and found["events"]["open"] >= 4
