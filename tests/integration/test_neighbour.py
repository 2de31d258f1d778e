"""A daemon in use beside hostile neighbours (harness/neighbour.py, which also runs by hand, for
minutes): strangers on the same machine as another user, and forgers in another network."""

import neighbour


def test_neighbours_touch_no_file_and_keep_nobody_from_being_served(root):
    seen = neighbour.live_beside_strangers(8)
    tried = {each["role"]: each for each in seen["strangers"]}
    # The neighbours were active.
    assert tried["links"]["tried"] > 100 and tried["control"]["tried"] > 100, tried
    assert tried["hold"]["held"] > 100 and tried["flood"]["connections"] > 10, tried
    assert tried["garbage"]["connections"] > 10, tried
    assert tried["datagrams"]["datagrams"] > 100 and tried["syns"]["syns"] > 100, tried
    assert "allowed" not in tried["control"], tried
    assert (seen["changed"], seen["added"]) == ({}, [])
    assert set(seen["states"].values()) == {"running"}
    for name, user in seen["users"].items():  # each may take long: see the figures by hand
        assert user["well"] == user["tried"] > 1, (name, user)
    assert seen["control_api"]["asked"] > 10
