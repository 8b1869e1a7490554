"""The GET stream ends as soon as it is open, each time."""

from __future__ import annotations

import asyncio

from assay.lab.client.checks.hostile.fleeting_stream import BUSY, SECONDS
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.hostility import WELL
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "A stream that ends at once is not opened over and over",
    brief=Brief(steps=(LIST_TOOLS, call(BUSY), call(AFTER)), may_fail=True),
    exercises=("hostile.fleeting-stream",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.resumable,
)
async def drive(stage: ClientStage) -> None:
    async def busy(cycle: RequestCycle) -> Answer:
        await asyncio.sleep(SECONDS)
        return WELL

    stage.host.sessions = True  # without one, some clients open no stream
    stage.host.add_tool({"name": BUSY}, busy)
    stage.host.add_tool({"name": AFTER})

    @stage.host.on_http
    async def end(asked: Asked, reply: HttpReply) -> bool:
        if asked.method == "GET":
            await reply.stream()
            await reply.end()
        return asked.method == "GET"
