"""How long safe requests of an unknown server take, to choose those that are in progress for a moment."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from msgspec import Struct

from assay.lab.harness.driver.choice import SafeRequest, safe_requests_for, slowest_calls
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.subject.facts import Facts

MOST: Final = 5
LONGEST: Final = 0.3
"""Seconds to wait for the first request that lasts longer than a round trip."""
BLOCKING: Final = 1.0
"""Seconds of a round trip after which no more requests are tried: the server serves one after another."""


class Pace(Struct):
    quick: list[SafeRequest] = []
    """Answered within a round trip."""
    lasting: list[SafeRequest] = []
    """Answered soon after it: they are in progress when a later request is answered."""
    running: list[Pending] = []
    """Not yet answered."""


async def measure_pace(peer: Peer, facts: Facts) -> Pace:
    """Send each safe request once. What was measured only selects the next step: it is not evidence."""
    pace = Pace()
    unfinished: list[tuple[SafeRequest, Pending]] = []
    slowest = [safe for safe in slowest_calls(facts) if not facts.is_slow(safe.params)]
    usual = [safe for safe in safe_requests_for(facts) if safe not in slowest]
    for safe in [*slowest, *usual][:MOST]:
        begin = time.monotonic()
        pending = await safe.start(peer)
        await peer.sentinel()
        if pending.over.done():
            pace.quick.append(safe)
        else:
            unfinished.append((safe, pending))
        if time.monotonic() - begin > BLOCKING:
            break
    if unfinished:
        waiting = {pending.over for _, pending in unfinished}
        await asyncio.wait(waiting, timeout=LONGEST, return_when=asyncio.FIRST_COMPLETED)
    for safe, pending in unfinished:
        if pending.over.done():
            pace.lasting.append(safe)
        else:
            pace.running.append(pending)
    return pace
