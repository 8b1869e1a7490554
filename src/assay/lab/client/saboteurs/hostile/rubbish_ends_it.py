"""A line of text ends the client."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving("what is no message ends the client", breaks="HOSTILE-04", scenario="hostile.rubbish")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"][:2])
    raise Failed("the server wrote what is no JSON")
