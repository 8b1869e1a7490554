"""A client that breaks down over a schema."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving("an unknown dialect ends the client", breaks="JS-03")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"][:-1])
    raise Failed("no validator for this dialect")
