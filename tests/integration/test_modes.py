"""Who receives whose messages: the modes inout, in, out and master."""

import itertools
import socket

import pytest

from strata_daemon import PATIENCE, Refused, eventually
from talker import Peer, Talker, address_of

PASSWORD = "open sesame"


@pytest.fixture
def chat(daemon):
    """Yields a function that makes connected talkers of a server with the given options."""
    opened = []

    def make(count, **options):
        [url] = daemon.server("chat", **options)
        opened.extend(Talker(url) for _ in range(count))
        daemon.wait_connections("chat", count)
        return opened

    yield make
    for each in opened:
        each.close()


def claim(talker, password=PASSWORD):
    talker.say(b"master " + password.encode())
    return talker.hear()


def test_inout_passes_a_line_to_all_others(chat):
    ann, bob, cid = chat(3)
    ann.say(b"from ann")
    bob_heard, cid_heard = bob.hear(), cid.hear()
    bob.say(b"from bob")
    assert bob_heard == cid_heard == b"from ann"
    assert ann.hear() == cid.hear() == b"from bob"


def test_in_is_heard_by_the_daemon_alone(daemon, chat):
    ann, bob = chat(2, mode="in")
    ann.say(b"for the log")
    eventually(lambda: daemon.stats("chat")["messages"]["in"] == 1, "the line is counted")
    with pytest.raises(Refused, match="mode is 'in'") as refused:
        daemon.send("chat", b"hello")
    assert refused.value.code == "conflict"
    daemon.edit("chat", mode="inout")
    daemon.send("chat", b"now")
    assert bob.hear() == b"now"  # nothing arrived before


def test_out_ignores_what_clients_say(daemon, chat):
    ann, bob = chat(2, mode="out")
    ann.say(b"ignored")
    eventually(lambda: daemon.stats("chat")["dropped"]["mode"] == 1, "the line is dropped")
    daemon.send("chat", b"news")
    assert ann.hear() == bob.hear() == b"news"


def test_the_master_is_heard_by_all_and_others_by_none(daemon, chat):
    ann, bob, cid = chat(3, mode="master", master_pw=PASSWORD)
    bob.say(b"too early")
    eventually(lambda: daemon.stats("chat")["dropped"]["mode"] == 1, "nobody is master yet")
    assert claim(ann) == b"master: ok"
    bob.say(b"not master")
    eventually(lambda: daemon.stats("chat")["dropped"]["mode"] == 2, "bob is not master")
    ann.say(b"orders")
    assert bob.hear() == cid.hear() == b"orders"


def test_a_wrong_password_is_denied_with_one_constant_reply(chat):
    ann, bob = chat(2, mode="master", master_pw=PASSWORD)
    for guess in ["", "open", PASSWORD + "x", "\0" * len(PASSWORD)]:
        assert claim(ann, guess) == b"master: denied"
    assert claim(bob) == b"master: ok"


def test_the_password_is_taken_from_a_line_that_ends_with_crlf(chat):
    [ann] = chat(1, mode="master", master_pw=PASSWORD)
    assert claim(ann, PASSWORD + "\r") == b"master: ok"


def test_a_later_right_password_takes_over(daemon, chat):
    ann, bob = chat(2, mode="master", master_pw=PASSWORD)
    assert claim(ann) == claim(bob) == b"master: ok"
    ann.say(b"am I still?")
    eventually(lambda: daemon.stats("chat")["dropped"]["mode"] == 1, "ann is master no more")
    bob.say(b"I am")
    assert ann.hear() == b"I am"


def test_the_master_that_leaves_leaves_the_place_empty(daemon, chat):
    ann, bob = chat(2, mode="master", master_pw=PASSWORD, master_forward=True)
    assert claim(ann) == b"master: ok"
    ann.close()
    daemon.wait_connections("chat", 1)
    bob.say(b"to nobody")
    eventually(lambda: daemon.stats("chat")["dropped"]["mode"] == 1, "there is no master")
    assert claim(bob) == b"master: ok"


def test_master_forward_hands_lines_to_the_master_with_their_senders_id(chat):
    ann, bob, cid = chat(3, mode="master", master_pw=PASSWORD, master_forward=True)
    assert claim(ann) == b"master: ok"
    bob.say(b"hello", b"again")
    first, second = ann.hear_lines(2)
    cid.say(b"cid here")
    third = ann.hear()
    number, text = first.split(b" ", 1)
    assert (number[:1], number[-1:], text) == (b"[", b"]", b"hello")
    assert second == number + b" again"
    assert third.endswith(b"] cid here") and not third.startswith(number)
    ann.say(b"end")
    assert bob.hear() == cid.hear() == b"end"  # neither received the other's messages


def test_five_wrong_guesses_disconnect(daemon, chat):
    ann, bob = chat(2, mode="master", master_pw=PASSWORD)
    ann.say(*[b"master guess"] * 5, b"master " + PASSWORD.encode())
    assert ann.is_ended()
    daemon.wait_connections("chat", 1)
    assert daemon.logged("chat", "too many wrong master passwords", "warning")
    eventually(lambda: claim(bob) == b"master: ok", "the pause of their address is over")


def guess(url, host, password, count=1):
    """Returns the replies to the claims of a connection from `host`."""
    _, _, address = address_of(url)
    with socket.create_connection(address, PATIENCE, (host, 0)) as connection:
        talker = Talker.__new__(Talker).over(connection)
        talker.say(*[b"master " + password.encode()] * count)
        return talker.hear_lines(count)


def test_an_address_that_guesses_is_denied_for_a_while(daemon):
    [url] = daemon.server("chat", mode="master", master_pw=PASSWORD)
    assert guess(url, "127.0.0.1", "wrong", 3) == [b"master: denied"] * 3
    assert not daemon.logged("chat", "denied for")
    # Each guess uses a new connection: the address counts.
    eventually(lambda: guess(url, "127.0.0.1", "wrong") and
               daemon.logged("chat", "denied for 4 s", "warning"), "the pauses grow")
    assert guess(url, "127.0.0.1", PASSWORD) == [b"master: denied"]
    assert any("127.0.0.1" in line["text"] and "denied for 1 s" in line["text"]
               for line in daemon.logs("chat"))
    assert guess(url, "127.0.0.2", PASSWORD) == [b"master: ok"]
    eventually(lambda: guess(url, "127.0.0.1", PASSWORD) == [b"master: ok"], "the pause is over")
    # A correct password clears the count: one more wrong guess causes no pause.
    assert guess(url, "127.0.0.1", "wrong", 4) == [b"master: denied"] * 4
    assert guess(url, "127.0.0.1", PASSWORD) == [b"master: ok"]


def test_guesses_from_many_addresses_have_a_limit_together(daemon):
    [url] = daemon.server("chat", mode="master", master_pw=PASSWORD)

    hosts = itertools.count(1)

    def is_denied():
        """Sends many wrong guesses, a few from each address. Reports whether a
        correct one is then denied."""
        for _ in range(40):
            number = next(hosts)
            guess(url, f"127.1.{number // 250}.{number % 250 + 1}", "wrong", 4)
        return guess(url, "127.0.3.1", PASSWORD) == [b"master: denied"]

    eventually(is_denied, "there were more than a hundred a second")
    eventually(lambda: guess(url, "127.0.3.1", PASSWORD) == [b"master: ok"], "that is over")


@pytest.mark.parametrize("threads", [1, 2])
def test_another_password_ends_the_mastership(daemon, chat, threads):
    ann, bob = chat(2, mode="master", master_pw=PASSWORD, threads=threads)
    assert claim(ann) == b"master: ok"
    daemon.edit("chat", master_pw="another one")
    ann.say(b"am I still?")
    eventually(lambda: daemon.stats("chat")["dropped"]["mode"] == 1, "ann is master no more")
    assert claim(ann) == b"master: denied"
    assert claim(bob, "another one") == b"master: ok"
    daemon.edit("chat", master_forward=True)  # another option does not end the mastership
    bob.say(b"I am")
    assert ann.hear() == b"I am"
    daemon.edit("chat", mode="inout", master_pw="")
    daemon.edit("chat", mode="master", master_pw="a third")
    bob.say(b"am I still?")
    ann.say(b"nobody is")
    eventually(lambda: daemon.stats("chat")["dropped"]["mode"] == 3, "nobody is master")


def test_a_udp_peer_can_be_master(daemon):
    udp, tcp = daemon.server("chat", mode="master", master_pw=PASSWORD,
                             listen=["udp://127.0.0.1:0", "tcp://127.0.0.1:0"])
    with Peer(udp) as ann, Talker(tcp) as bob:
        daemon.wait_connections("chat", 1)
        ann.say(b"master " + PASSWORD.encode())
        assert ann.hear() == b"master: ok"
        ann.say(b"orders")
        assert bob.hear() == b"orders"


def test_master_needs_a_password(daemon):
    with pytest.raises(Refused, match="--master-pw") as refused:
        daemon.server("chat", mode="master")
    assert refused.value.code == "invalid_argument"


def test_master_works_across_threads(daemon, chat):
    talkers = chat(8, mode="master", master_pw=PASSWORD, master_forward=True, threads=2)
    ann, others = talkers[0], talkers[1:]
    assert claim(ann) == b"master: ok"
    for number, each in enumerate(others):
        each.say(b"%d" % number)
    heard = ann.hear_lines(len(others))
    assert sorted(line.split(b"] ")[1] for line in heard) == [b"%d" % n for n in range(7)]
    ann.say(b"orders")
    assert [each.hear() for each in others] == [b"orders"] * 7
