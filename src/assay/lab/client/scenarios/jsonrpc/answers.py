"""The host asks in the middle of a call: one thing that every client can answer, and one that none can."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking

PATIENCE = 3.0


@client_scenario(
    "What the host asks is answered, or refused",
    brief=Brief(steps=(LIST_TOOLS, call("asking"), call(AFTER))),
    exercises=("jsonrpc.answers", "jsonrpc.nameless"),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive(stage: ClientStage) -> None:
    async def ask(cycle: RequestCycle) -> Answer:
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await cycle.ask("ping", {})
                await cycle.ask("lab/no-such-method", {})
        return {"content": [{"type": "text", "text": "asked"}]}

    stage.host.add_tool({"name": "asking"}, ask)
    stage.host.add_tool({"name": AFTER})
