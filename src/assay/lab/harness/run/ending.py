"""How a run ends: by itself, by Ctrl-C, or by its deadline. In each case the results so far are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from enum import Enum
from typing import Final

from assay.lab.harness.reason import Reason, ReasonKind

DEADLINE: Final = 3600.0
"""Seconds for a whole run. The largest suite takes minutes with a slow server that is started anew for every
scenario; only a subject that delays every answer takes longer."""
INTERRUPTED: Final = Reason(ReasonKind.INTERRUPTED, "interrupted")


class Ending(Enum):
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    EXPIRED = "expired"


async def run_until(deadline: float, work: Awaitable[None]) -> Ending:
    """Do the work, which is cancelled at the deadline. A cancellation from outside ends it, too, in order."""
    try:
        async with asyncio.timeout(deadline) as limit:
            await work
    except asyncio.CancelledError:
        return Ending.INTERRUPTED
    except TimeoutError:
        if not limit.expired():
            raise
        return Ending.EXPIRED
    return Ending.COMPLETE


def expired(deadline: float) -> Reason:
    text = f"the deadline of the run passed, {deadline:g} s: a longer one is set with --deadline"
    return Reason(ReasonKind.DEADLINE, text, ("--deadline",))


def reason_of(ending: Ending, deadline: float) -> Reason:
    """Why a scenario of the run has no result."""
    return expired(deadline) if ending is Ending.EXPIRED else INTERRUPTED
