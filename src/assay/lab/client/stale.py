"""A list that goes stale while a tool takes its time, and is wanted again after that."""

from __future__ import annotations

import asyncio
from typing import Final

from assay.lab.client.checks.caching.freshness import SLOW
from assay.lab.harness.hosting.answer import Answer
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn

from .evidence import AFTER

BRIEF: Final = Brief(steps=(LIST_TOOLS, call(SLOW), LIST_TOOLS, call(AFTER)))
PAUSE: Final = 0.5


def keep_for(stage: Hosting, milliseconds: int) -> None:
    """The host's lists may be kept for so long, and its slow tool takes longer."""

    async def pause(turn: Turn) -> Answer:
        await asyncio.sleep(PAUSE)
        return {"content": [{"type": "text", "text": "at last"}]}

    stage.host.hints = {"ttlMs": milliseconds, "cacheScope": "private"}
    stage.host.add_tool({"name": SLOW}, pause)
    stage.host.add_tool({"name": AFTER})
