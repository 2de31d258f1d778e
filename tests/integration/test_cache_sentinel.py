"""Redis Sentinel over caches, and over caches and real servers: three sentinels watch a leader and
two followers. Whenever the leader is killed or hangs, a follower takes its place, and no write that
a follower had acknowledged is lost. test_cache_sentinel_links.py has the links that break.

STRATA_FAILOVERS=N sets the number of failovers of each test.
"""

import pytest

from sentinel_group import FAILOVERS, KINDS, CacheNode, Group, RedisNode

pytestmark = [pytest.mark.once, pytest.mark.serial]

WAYS = ("killed", "stopped")


@pytest.mark.parametrize("kinds", KINDS)
def test_a_follower_takes_the_place_of_a_leader(make_daemon, sentinels, tmp_path, kinds):
    nodes = [CacheNode(make_daemon) if kind == "s" else RedisNode(tmp_path / f"redis{number}")
             for number, kind in enumerate(KINDS[kinds])]
    try:
        group = Group(nodes, sentinels)
        group.write(20)
        for number in range(FAILOVERS):
            group.fail_over(WAYS[(number + len(kinds)) % 2])
        assert len(group.acknowledged) >= 20
    finally:
        for node in nodes:
            node.close()
