"""An etcd behind TLS, with users, and shared by two clusters."""

import pytest

from certificates import Authority
from cluster import Cluster, all_know, answer, echo, names, state
from etcd import Etcd, EtcdTls
from strata_daemon import PATIENCE, Daemon, eventually


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "authority")


def test_two_daemons_over_tls(make_daemon, tmp_path, authority):
    with Etcd(tmp_path / "etcd", tls=EtcdTls(authority)) as etcd:
        assert etcd.url.startswith("etcds://")
        cluster = Cluster(make_daemon, etcd.url)
        first, second = (cluster.start(name, "--cluster-ca", authority.ca) for name in "ab")
        echo(first, "api", "one", group="api")
        [front] = second.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                                backend=["@api"])["endpoints"]
        all_know(first, second)
        eventually(lambda: answer(front) == b"one", "it answers")
        etcd.members[0].kill()
        eventually(lambda: state(second) == "unconfirmed", "the daemon says so")
        etcd.members[0].start()
        eventually(lambda: {state(first), state(second)} == {"held"}, "they come back")


def refused(cluster, *flags, url=None):
    """Starts a daemon that cannot join; returns what its log says of that."""
    daemon = cluster.start("a", *flags, url=url)
    line = eventually(lambda: next((line for line in daemon.log().splitlines()
                                    if " cluster: cannot" in line), None), "the log says why")
    assert state(daemon) == "joining" and names(daemon) == []
    assert "'a' is joining" in daemon.run("cluster", "ls").stderr
    return line


def test_an_etcd_that_cannot_be_trusted_is_not_used(make_daemon, tmp_path, authority):
    other = Authority(tmp_path / "other")
    other.issue("somebody")
    with Etcd(tmp_path / "etcd", tls=EtcdTls(authority)) as etcd:
        cluster = Cluster(make_daemon, etcd.url)
        port = etcd.members[0].port
        for line in (refused(cluster, "--cluster-ca", other.ca), refused(cluster)):
            assert f"connect to https://127.0.0.1:{port}" in line and "authority" in line, line
        wrong_host = refused(cluster, "--cluster-ca", authority.ca,
                             url=f"etcds://localhost:{port}")
        assert "localhost" in wrong_host and "certificate" in wrong_host, wrong_host


def test_etcd_may_ask_for_a_certificate(make_daemon, tmp_path, authority):
    certificate, key = authority.issue("daemon")
    tls = EtcdTls(authority, asks_clients=True)
    with Etcd(tmp_path / "etcd", tls=tls) as etcd:
        cluster = Cluster(make_daemon, etcd.url)
        trust = ("--cluster-ca", authority.ca)
        first, second = (cluster.start(name, *trust, "--cluster-cert", certificate,
                                       "--cluster-key", key) for name in "bc")
        all_know(first, second)
        assert "certificate" in refused(cluster, *trust)
        assert names(first) == ["b", "c"]


def test_a_user_of_etcd(make_daemon, tmp_path):
    with Etcd(tmp_path / "etcd") as etcd:
        etcd.add_user("ann", "pa$$ word")
        cluster = Cluster(make_daemon, etcd.url)
        first, second = (cluster.start(name, "--cluster-user", "ann", "--cluster-password",
                                       "pa$$ word") for name in "bc")
        all_know(first, second)
        # A new etcd process knows no token of the old one.
        etcd.members[0].kill()
        etcd.members[0].start()
        eventually(lambda: etcd.members[0].is_healthy(), "etcd serves")
        echo(first, "late", "one")
        eventually(lambda: "late" in second.run("cluster", "ps", "-q").stdout, "they log in again")
        eventually(lambda: {state(first), state(second)} == {"held"}, "both hold their names")
        wrong = refused(cluster, "--cluster-user", "ann", "--cluster-password", "unguessed")
        assert "authentication failed" in wrong and "--cluster-password" in wrong, wrong
        assert "unguessed" not in wrong
        nobody = refused(cluster)
        assert "give --cluster-user and --cluster-password" in nobody, nobody


def test_a_prefix_separates_clusters(make_daemon, tmp_path):
    with Etcd(tmp_path / "etcd") as etcd:
        north, south = (Cluster(make_daemon, f"{etcd.url}/{plant}") for plant in ("north", "south"))
        first, second = north.start("a"), north.start("b")
        other = south.start("a")
        all_know(first, second)
        all_know(other)
        eventually(lambda: state(other) == "held", "it has the same name in its own cluster")
        echo(first, "api", "one")
        eventually(lambda: "api" in second.run("cluster", "ps", "-q").stdout, "it is known")
        assert other.run("cluster", "ps", "-q").stdout == ""


@pytest.mark.parametrize("flags, why", [
    (["--cluster-ca", "none.pem"], "none.pem"),
    (["--cluster-cert", "none.pem", "--cluster-key", "none.pem"], "none.pem"),
    (["--cluster-key", "none.pem"], "--cluster-cert"),
    (["--cluster-password", "x"], "--cluster-user")])
def test_flags_that_cannot_be_are_refused(tmp_path, flags, why):
    refuses(tmp_path, "etcds://127.0.0.1:1", flags, why)


@pytest.mark.parametrize("url, flags", [
    ("etcd://127.0.0.1:1", ["--cluster-ca", "none.pem"]),
    ("etcd://127.0.0.1:1", ["--cluster-cert", "none.pem", "--cluster-key", "none.pem"]),
    ("dir:///tmp/none", ["--cluster-ca", "none.pem"]),
    ("dir:///tmp/none", ["--cluster-user", "ann", "--cluster-password", "x"])])
def test_flags_that_a_registry_has_no_use_for_are_refused(tmp_path, url, flags):
    refuses(tmp_path, url, flags, f"{flags[0]} has no effect there")


def refuses(folder, url, flags, why):
    daemon = Daemon(folder / "d", "--name", "a", "--cluster", url, *flags)
    process = daemon.launch()
    assert process.wait(timeout=PATIENCE) != 0
    assert why in daemon.log()
