"""A list that is stale at once, wanted again after a while."""

from __future__ import annotations

import asyncio

from assay.lab.client.checks.caching.freshness import SLOW
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.hosting.answer import Answer
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn

TTL, PAUSE = 0, 0.5


@client_scenario(
    "A list that is stale at once is fetched again",
    brief=Brief(steps=(LIST_TOOLS, call(SLOW), LIST_TOOLS, call(AFTER))),
    exercises=("caching.freshness",),
)
async def drive(stage: Hosting) -> None:
    async def pause(turn: Turn) -> Answer:
        await asyncio.sleep(PAUSE)
        return {"content": [{"type": "text", "text": "at last"}]}

    stage.host.hints = {"ttlMs": TTL, "cacheScope": "private"}
    stage.host.add_tool({"name": SLOW}, pause)
    stage.host.add_tool({"name": AFTER})
