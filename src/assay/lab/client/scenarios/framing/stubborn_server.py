"""A server that goes on after its input has ended, and after it was asked to end."""

from __future__ import annotations

from assay.lab.client.checks.framing.shutdown import STUBBORN
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import STDIO_ONLY


@client_scenario(
    "A server that does not end is given time, then ended by force",
    brief=Brief(steps=(LIST_TOOLS, call("work"))),
    exercises=("framing.shutdown",),
    transports=STDIO_ONLY,
)
async def drive(stage: ClientStage) -> None:
    stage.host.exit_on_end = stage.host.exit_on_signal = False
    stage.host.mark(STUBBORN)
    stage.host.add_tool({"name": "work"})
