"""An answer that nobody waits for ends the client."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed
from assay.lab.harness.scripted_server.brief import LIST_TOOLS
from assay.lab.harness.transport import ONE_CHANNEL


@misbehaving(
    "an answer that was given up ends the client",
    breaks="CAN-08",
    scenario="utilities.late-answer",
    transports=ONE_CHANNEL,
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"][:-1])
    await client.play([LIST_TOOLS])  # on one channel, the late answer comes before this one
    raise Failed("an answer came that nobody waits for")
