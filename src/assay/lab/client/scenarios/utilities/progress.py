"""Two calls at once, both of which tell how far they are."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

WAITING = 1.0
"""Seconds that the first call waits for the second."""


@client_scenario(
    "Two calls are told apart by their progress tokens",
    brief=Brief(steps=(LIST_TOOLS, step("together", steps=[call("slow", n=1), call("slow", n=2)]))),
    exercises=("utilities.progress-tokens",),
)
async def drive(stage: ClientStage) -> None:
    both = asyncio.Event()
    came = count(1)

    async def slow(cycle: RequestCycle) -> Answer:
        await cycle.progress(1, 2)
        if next(came) == 2:
            both.set()
        with suppress(TimeoutError):  # a client may take one step after the other
            async with asyncio.timeout(WAITING):
                await both.wait()
        await cycle.progress(2, 2)
        return {"content": []}

    stage.host.add_tool({"name": "slow", "inputSchema": {"type": "object"}}, slow)
