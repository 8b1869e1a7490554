"""A client that does its work and says that it failed."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving("it ends with an error where nothing went wrong", breaks="CLIENT-03")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"])
    raise Failed("nothing went wrong, and it is said nevertheless")
