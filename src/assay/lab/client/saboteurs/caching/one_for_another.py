"""One answer for all."""

from __future__ import annotations

from assay.lab.client.checks.caching.reuse import OTHER
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient


@misbehaving("the answer of one resource is used for another", breaks="CA-06")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    # Whoever has an answer already does not ask.
    await client.play([step for step in client.context["steps"] if step.get("uri") != OTHER])
