"""Sends random messages to strata_echo, inside the guest, half of them as uid 1000: valid, altered,
and pure noise. noise_netlink.py COUNT SEED; ends with "N messages, M replies, and it answers"."""

import os
import random
import struct
import sys

import genl
from hostile_netlink import FAMILY, echoes, item, message, period, ask, resolve, text
from genl import attribute

USER = 1000


def valid(dice):
    bodies = [b"", text("hello"), text("y" * dice.randrange(9000)),
              item(text("a")) * dice.randrange(70),
              attribute(genl.PERIOD, struct.pack("I", dice.choice([0, 9, 10, 50, 3600001]))),
              item(item(item(text("deep")))), text("one") + text("two")]
    flags = genl.REQUEST | dice.choice([0, 0, genl.ACK, genl.DUMP, dice.getrandbits(16)])
    return message(FAMILY.id, flags, dice.randrange(9), dice.choice(bodies), dice.getrandbits(32))


def changed(dice, data):
    """Returns the message with changes. The header keeps its type, and nearly always its length, so
    that other families are not affected."""
    data = bytearray(data)
    for _ in range(dice.randrange(1, 5)):
        place = dice.randrange(16, len(data))
        what = dice.randrange(4)
        if what == 0:
            data[place] = dice.getrandbits(8)
        elif what == 1:
            data[place] ^= 1 << dice.randrange(8)
        elif what == 2 and place + 2 <= len(data):
            struct.pack_into("H", data, place, dice.choice([0, 3, 4, 5, 0x7fff, 0xffff]))
        elif place > 20:
            data = data[:place]
    if dice.randrange(10):
        struct.pack_into("I", data, 0, len(data))
    return bytes(data)


def noise(dice):
    body = dice.randbytes(dice.choice([0, 1, 2, 4, 8, 40, dice.randrange(2000)]))
    return struct.pack("IHHII", 16 + len(body), FAMILY.id, dice.getrandbits(16) | genl.REQUEST,
                       dice.getrandbits(32), 0) + body


def send_all(dice, count):
    """Sends `count` messages and returns the number of replies."""
    received = 0
    with genl.Socket() as talking:
        talking.join(FAMILY.groups["events"])
        for _ in range(count):
            made = noise(dice) if dice.randrange(4) == 0 else valid(dice)
            talking.send(changed(dice, made) if dice.randrange(2) and len(made) > 20 else made)
            received += talking.drain()
    return received


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    dice = random.Random(seed)
    print(f"seed {seed}", flush=True)
    received = send_all(dice, count - count // 2)
    assert ask(period(0)).errno == 0
    echoes()
    os.setuid(USER)
    received += send_all(dice, count // 2)
    echoes()
    assert resolve("nlctrl").id == genl.CONTROLLER
    # At least every second request has a reply; otherwise the messages never reached the family.
    assert received > count // 2, f"{count} messages had {received} replies only"
    print(f"{count} messages, {received} replies, and it answers")


if __name__ == "__main__":
    main()
