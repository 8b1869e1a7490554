"""A list without pages is not understood."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving("a list on one page ends the client", breaks="PAG-05", scenario="utilities.all-used")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"][:1])
    raise Failed("there is no cursor")
