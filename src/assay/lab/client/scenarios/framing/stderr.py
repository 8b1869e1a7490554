"""The server writes to standard error, then answers as if nothing were."""

from __future__ import annotations

from assay.lab.client.checks.framing.stderr import COMPLAINING
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.ordered_channel import LineChannel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import STDIO_ONLY

TEXT = b"Traceback (most recent call last):\nERROR: this is only a log\n"


@client_scenario(
    "Output on standard error is no error",
    brief=Brief(steps=(LIST_TOOLS, call(COMPLAINING), call(AFTER))),
    exercises=("framing.stderr",),
    transports=STDIO_ONLY,
)
async def drive(stage: ClientStage) -> None:
    async def complain(cycle: RequestCycle) -> Answer:
        if isinstance(cycle.channel, LineChannel) and cycle.channel.complain is not None:
            await cycle.channel.complain(TEXT)
        return {"content": [{"type": "text", "text": "all is well"}]}

    stage.host.add_tool({"name": COMPLAINING}, complain)
    stage.host.add_tool({"name": AFTER})
