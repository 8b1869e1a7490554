"""A call that is never answered, and that the client gives up."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER, ENDLESS
from assay.lab.harness.hosting.answer import SILENCE, Answer
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY

LIMIT = 0.4


@client_scenario(
    "A call that is given up is cancelled",
    brief=Brief(steps=(LIST_TOOLS, tried({**call(ENDLESS), "timeout": LIMIT}), call(AFTER))),
    exercises=("framing.cancelled", "streams.cancelled"),
    transports=STDIO_ONLY | HTTP_ONLY,
)
async def drive(stage: Hosting) -> None:
    async def never(turn: Turn) -> Answer:
        return SILENCE

    stage.host.add_tool({"name": ENDLESS}, never)
    stage.host.add_tool({"name": AFTER})
