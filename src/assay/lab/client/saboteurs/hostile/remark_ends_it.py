"""A notification of a kind that it does not know ends the client."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving("an unknown notification ends the client", breaks="HOSTILE-16", scenario="hostile.unknown")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"][:2])
    raise Failed("the server told something that is not known here")
