"""A call that is never answered, and that the client gives up."""

from __future__ import annotations

import asyncio

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER, ENDLESS
from assay.lab.harness.scripted_server.answer import SILENCE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

LIMIT, PAUSE = 0.4, 0.3
"""Seconds until the client gives up; and after that, in which it must have hung up where that is the way."""


@client_scenario(
    "A call that is given up is cancelled",
    brief=Brief(steps=(LIST_TOOLS, tried({**call(ENDLESS), "timeout": LIMIT}), call(AFTER))),
    exercises=("framing.cancelled", "streams.cancelled", "lifecycle.timeouts"),
)
async def drive(stage: ClientStage) -> None:
    async def never(cycle: RequestCycle) -> Answer:
        return SILENCE

    stage.host.add_tool({"name": ENDLESS}, never)

    async def linger(cycle: RequestCycle) -> Answer:
        await asyncio.sleep(PAUSE)
        return {"content": [{"type": "text", "text": "done"}]}

    stage.host.add_tool({"name": AFTER}, linger)
