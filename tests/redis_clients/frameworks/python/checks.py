"""What the programs of this folder share: they end at what is not as wanted."""

import asyncio
import sys
import time

PATIENCE = 40


def want(subject, got, wanted):
    if got != wanted:
        sys.exit(f"{subject}: got {got!r}, wanted {wanted!r}")


def eventually(subject, holds):
    limit = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > limit:
            sys.exit(f"{subject}: not within {PATIENCE} s")
        time.sleep(0.05)


async def eventually_async(subject, holds):
    """As `eventually`, with a condition that is awaited."""
    limit = time.monotonic() + PATIENCE
    while not await holds():
        if time.monotonic() > limit:
            sys.exit(f"{subject}: not within {PATIENCE} s")
        await asyncio.sleep(0.05)
