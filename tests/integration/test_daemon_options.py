"""A daemon's option that has no effect without another one is refused, with the flag that it
needs."""

import subprocess

import pytest

from strata_daemon import BINARY, PATIENCE, Daemon

pytestmark = pytest.mark.once

CLUSTER = ["--cluster", "dir:///none/such"]

# The flags, the one without effect, and the one that it needs.
WITHOUT = [
    (["--name", "a"], "--name", "--cluster"),
    (["--zone", "hall"], "--zone", "--cluster"),
    (["--label", "tier=edge"], "--label", "--cluster"),
    (["--advertise", "127.0.0.1"], "--advertise", "--cluster"),
    (["--cluster-ttl", "5"], "--cluster-ttl", "--cluster"),
    (["--cluster-user", "ann"], "--cluster-user", "--cluster"),
    ([*CLUSTER, "--name", "a", "--cluster-password", "x"], "--cluster-password", "--cluster-user"),
    (["--cluster-ca", "ca.pem"], "--cluster-ca", "--cluster"),
    (["--cluster-cert", "cert.pem"], "--cluster-cert", "--cluster"),
    ([*CLUSTER, "--name", "a", "--cluster-key", "key.pem"], "--cluster-key", "--cluster-cert"),
    (["--cert", "cert.pem"], "--cert", "--listen or --metrics"),
    (["--key", "key.pem"], "--key", "--cert"),
    (["--client-ca", "ca.pem"], "--client-ca", "--listen or --metrics"),
    (["--token-file", "tokens"], "--token-file", "--listen or --metrics"),
    (["--client-role", "read"], "--client-role", "--client-ca"),
    (["--socket-role", "admin"], "--socket-role", "--socket-group"),
    (["--log-size", "1MiB"], "--log-size", "--log-file or --detach"),
    (["--log-keep", "9"], "--log-keep", "--log-file or --detach"),
]


def conditions():
    """What the help says that each flag needs."""
    done = subprocess.run([BINARY, "help", "daemon"], text=True, capture_output=True,
                          timeout=PATIENCE)
    return done.stdout


@pytest.mark.parametrize("flags, flag, needed", WITHOUT, ids=[each[1] for each in WITHOUT])
def test_an_option_without_effect_is_refused(tmp_path, flags, flag, needed):
    daemon = Daemon(tmp_path / "d", *flags)
    process = daemon.launch()
    assert process.wait(PATIENCE) == 1
    assert f"cannot use {flag}: it has no effect without {needed}" in daemon.log()
    assert f"add {needed} or leave it out" in daemon.log()
    assert not daemon.state_dir.exists()  # nothing was begun


def test_the_help_says_what_each_of_them_needs():
    text = " ".join(conditions().split())
    for _, flag, needed in WITHOUT:
        assert f"{flag} " in text and f"with {needed}" in text


def test_a_default_is_never_without_effect(make_daemon):
    make_daemon("--socket-role", "operate", "--log-keep", "5", "--cluster-ttl", "10")


def test_what_an_option_needs_may_come_behind_it(make_daemon, tmp_path):
    make_daemon("--name", "a", "--cluster-ttl", "2", "--cluster", f"dir://{tmp_path}/cluster")
