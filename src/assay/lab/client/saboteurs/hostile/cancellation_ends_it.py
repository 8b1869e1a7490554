"""A cancellation of what it never was asked ends the client."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving("a cancellation of nothing ends the client", breaks="CAN-09", scenario="hostile.unknown")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"][:2])
    raise Failed("there is no such request to cancel")
